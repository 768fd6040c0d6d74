"""Slices on the screen and on the page."""

import io

import numpy as np
from rich.console import Console

import scorespace as ss
from scorespace.views import slices, terminal
from scorespace.views.document import Grid, Picture, Text


def evaluation() -> ss.Evaluation:
    truth = np.tile([1, 0], 60)
    score = np.where(np.arange(120) < 60, truth * 0.5 + 0.25, 0.4) + np.arange(120) % 7 / 100
    return ss.evaluate(
        {"y": truth, "s": score, "ward": ["A"] * 60 + ["B"] * 60}, truth="y", scores="s", by="ward", measures="auc"
    )


def test_the_screen_fits_eighty_columns() -> None:
    page = io.StringIO()
    terminal.show(evaluation().brief, Console(file=page, width=80, highlight=False))
    text = page.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "ward        cases   auc ↑ " in text
    assert "gap to the rest" in text
    assert "demographic parity" in text
    assert "low – high" in text


def test_the_page_has_words_a_picture_and_tables() -> None:
    blocks = slices.blocks(evaluation())
    assert [type(one) for one in blocks] == [Text, Picture, Grid, Grid]
    grid = blocks[2]
    assert isinstance(grid, Grid)
    assert [row[0] for row in grid.rows] == ["all cases", "A", "B"]
    assert grid.rows[1][3].startswith("+")


def test_without_slices_there_is_no_section() -> None:
    plain = ss.evaluate({"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}, truth="y", scores="s", measures="auc")
    assert slices.blocks(plain) == slices.brief(plain) == []
