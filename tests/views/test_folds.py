import numpy as np

import scorespace as ss
from scorespace.views import folds


def evaluated(**roles):
    draws = np.random.default_rng(0)
    truth = draws.integers(0, 2, 120)
    data = {"y": truth, "nb": truth + draws.normal(size=120), "tree": draws.random(120), "fold": np.arange(120) % 4}
    return ss.evaluate(data, truth="y", scores=["nb", "tree"], measures="auc, ks, h, auprc, gini", **roles)


def test_both_numbers_are_labelled():
    found = evaluated(fold="fold")
    text, grid = folds.blocks(found)
    assert grid.columns == ("over folds", "mean ± sd", "pooled")
    assert len(grid.rows) == 10
    assert text.text.startswith("Over 4 folds nb has auc 0.")
    assert "pooled is the value of all cases thrown together" in grid.caption


def test_a_screen_shows_the_first_ones():
    (grid,) = folds.brief(evaluated(fold="fold"))
    assert [row[0] for row in grid.rows] == [
        f"{model} {name}" for model in ("nb", "tree") for name in ("auc", "ks", "h", "auprc")
    ]


def test_undefined_folds_are_told():
    data = {"y": [1, 0, 1, 0, 1, 1], "s": [3, 1, 4, 2, 5, 6], "fold": [1, 1, 2, 2, 3, 3]}
    found = ss.evaluate(data, truth="y", scores="s", fold="fold", measures="auc")
    (grid,) = folds.brief(found)
    assert grid.rows == (("auc", "1.000 ± 0.000", "1.000", "1 of 3"),)


def test_without_folds_there_is_no_section():
    assert folds.blocks(evaluated()) == []
    assert folds.brief(evaluated()) == []
