"""The section on folds: means over them beside pooled values, each the plain mean of the folds."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.views import folds
from scorespace.views.document import Grid, Text


@pytest.fixture(scope="module")
def evaluation():
    chance = np.random.default_rng(0)
    truth = np.arange(90) % 2
    data = {"y": truth, "s": chance.normal(truth), "t": chance.normal(truth), "f": np.arange(90) % 3}
    return ss.evaluate(data, truth="y", scores=["s", "t"], fold="f", measures="auc, ks")


def test_means_are_those_of_the_folds(evaluation):
    answer, grid = folds.blocks(evaluation)
    assert isinstance(answer, Text)
    assert isinstance(grid, Grid)
    first = evaluation.over_folds[0]
    assert answer.text.startswith(f"Over 3 folds s has auc {first.text}")
    assert [row[0] for row in grid.rows] == ["s auc", "s ks", "t auc", "t ks"]
    assert grid.columns == ("over folds", "mean ± sd", "pooled")
    assert grid.rows[0][2] == f"{evaluation.measures('auc', model='s')[0].value:.3f}"


def test_without_folds_there_is_nothing_to_say():
    plain = ss.evaluate({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores="s")
    assert not list(folds.blocks(plain)) + list(folds.brief(plain))
