"""Slices on the screen and on the page."""

import io

import numpy as np
import pytest
from rich.console import Console

import scorespace as ss
from scorespace.errors import DataError
from scorespace.report import slices, terminal
from scorespace.report.document import Grid, Picture, Text
from scorespace.report.slices import slices_chart


def evaluation(measures: str = "auc", parity: bool = True) -> ss.Evaluation:
    truth = np.tile([1, 0], 60)
    score = np.where(np.arange(120) < 60, truth * 0.5 + 0.25, 0.4) + np.arange(120) % 7 / 100
    return ss.evaluate(
        {"y": truth, "s": score, "ward": ["A"] * 60 + ["B"] * 60},
        truth="y",
        scores="s",
        by="ward",
        measures=measures,
        settings={"parity": parity},
    )


def test_the_screen_fits_eighty_columns() -> None:
    page = io.StringIO()
    terminal.show(evaluation().brief, Console(file=page, width=80, highlight=False))
    text = page.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "ward        cases   auc ↑ " in text
    assert "difference to rest" in text
    assert "demographic parity" in text
    assert "low – high" in text


def test_the_page_has_words_a_picture_and_tables() -> None:
    blocks = slices.blocks(evaluation())
    assert [type(one) for one in blocks] == [Text, Picture, Grid, Grid]
    grid = blocks[2]
    assert isinstance(grid, Grid)
    assert [row[0] for row in grid.rows] == ["all cases", "A", "B"]
    assert grid.rows[1][3].startswith("+")


def test_parity_is_shown_on_request_or_by_the_profile() -> None:
    plain = evaluation(parity=False)
    assert plain.slices is not None
    assert plain.slices.parity == ()
    assert len(slices.brief(plain)) == 1
    settings = {"profile": "credit"}
    data = {"y": [1, 0, 1, 0] * 20, "s": np.arange(80), "ward": ["A", "B"] * 40}
    credit = ss.evaluate(data, truth="y", scores="s", by="ward", settings=settings).slices
    assert credit is not None
    assert credit.parity


def test_every_requested_measure_is_shown() -> None:
    found = slices.brief(evaluation("auc, f1@0.5, brier", parity=False))
    assert [grid.columns[2] for grid in found if isinstance(grid, Grid)] == ["auc ↑", "f1@0.5 ↑", "brier ↓"]


def test_without_slices_there_is_no_section() -> None:
    plain = ss.evaluate({"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}, truth="y", scores="s", measures="auc")
    assert slices.blocks(plain) == slices.brief(plain) == []


def evaluated(**roles):
    draws = np.random.default_rng(0)
    truth = draws.integers(0, 2, 120)
    data = {"y": truth, "nb": truth + draws.normal(size=120), "tree": draws.random(120), "fold": np.arange(120) % 4}
    return ss.evaluate(data, truth="y", scores=["nb", "tree"], measures="auc, ks, h, auprc, gini", **roles)


def test_both_numbers_are_labelled():
    found = evaluated(fold="fold")
    text, grid = slices.fold_blocks(found)
    assert grid.columns == ("over folds", "mean ± sd", "pooled")
    assert len(grid.rows) == 10
    assert text.text.startswith("Over 4 folds, nb has auc 0.")
    assert "pooled: value over the cases of all folds together" in grid.caption


def test_a_screen_shows_the_first_ones():
    (grid,) = slices.fold_brief(evaluated(fold="fold"))
    assert [row[0] for row in grid.rows] == [
        f"{model} {name}" for model in ("nb", "tree") for name in ("auc", "ks", "h", "auprc")
    ]


def test_undefined_folds_are_told():
    data = {"y": [1, 0, 1, 0, 1, 1], "s": [3, 1, 4, 2, 5, 6], "fold": [1, 1, 2, 2, 3, 3]}
    found = ss.evaluate(data, truth="y", scores="s", fold="fold", measures="auc")
    (grid,) = slices.fold_brief(found)
    assert grid.rows == (("auc", "1.000 ± 0.000", "1.000", "1 of 3"),)


def test_without_folds_there_is_no_section():
    assert slices.fold_blocks(evaluated()) == []
    assert slices.fold_brief(evaluated()) == []


def test_the_chart_draws_what_the_table_says() -> None:
    truth = np.tile([1, 0], 40)
    data = {"y": truth, "s": truth + np.arange(80) % 9, "ward": ["<b>A</b>"] * 40 + ["B"] * 40}
    evaluation = ss.evaluate(data, truth="y", scores="s", by="ward", measures="auc")
    found, (whole,) = evaluation.slices, tuple(evaluation.summary)
    assert found is not None
    spec = slices_chart(found, found.gaps, whole)
    rows = next(values for values in spec["datasets"].values() if "slice" in values[0])
    assert [row["label"] for row in rows] == ["<b>A</b> (40)", "B (40)"]
    assert rows[0]["value"] == pytest.approx(found.gaps[0].estimate.value, abs=1e-4)
    assert spec["description"].startswith("auc of s by ward: <b>A</b> ")
    with pytest.raises(DataError):
        slices_chart(found, [], whole)
