"""Leaderboard of models: table with ranges of ranks and letters, and chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorespace.comparisons.leaderboard import Leaderboard
from scorespace.report.chart_theme import INK, SOFT, Spec, datum, field, layered, mark, themed
from scorespace.report.comparison import matrix_grid
from scorespace.report.document import Block, Document, Grid, Picture, one_section
from scorespace.results import Note

_WIDTH: Final = 440
_STEP: Final = 24
_ALL_PAIRS: Final = 45  # beyond which the table of pairs is left out
CAPTION: Final = "Models that share a letter do not differ clearly; the ranks hold jointly for all models."


def leaderboard_grid(board: Leaderboard) -> Grid:
    """A row per model, the best first."""
    arrow = board.entries[0].estimate.spec.arrow
    rows = [(one.model, one.estimate.text, one.ranks, one.letters) for one in board.entries]
    return Grid(("model", f"{board.measure} {arrow}", "ranks", "letters"), tuple(rows), CAPTION)


def leaderboard_chart(board: Leaderboard) -> Spec:
    """Values with their intervals, the best model above, and its letters."""
    rows = [
        {
            "model": one.model,
            "value": datum(one.estimate.value),
            "low": datum(one.estimate.low),
            "high": datum(one.estimate.high),
            "ranks": one.ranks,
            "letters": one.letters,
        }
        for one in board.entries
    ]
    order = [one.model for one in board.entries]
    y = field("model:N", sort=order, title=None, axis={"labelLimit": 200, "grid": False})
    x = field("value:Q", title=board.measure, scale={"zero": False})
    names = {"model": "Model", "value": board.measure, "low": "Low", "high": "High"}
    shown = names | {"ranks": "Ranks", "letters": "Letters"}
    tooltip = {"tooltip": [field(column, title=title) for column, title in shown.items()]}
    ends = {"y": y, "x": field("low:Q", title=board.measure, scale={"zero": False}), "x2": field("high")}
    letters = {"y": y, "x": field("high:Q"), "text": field("letters:N")}
    layers = [
        mark("rule", rows, ends | tooltip, color=SOFT, strokeWidth=2),
        mark("point", rows, {"y": y, "x": x} | tooltip, filled=True, size=55, color=INK, opacity=1),
        mark("text", rows, letters, align="left", dx=7, color=INK),
    ]
    described = "; ".join(f"{one.model} {one.estimate.text}, ranks {one.ranks}, {one.letters}" for one in board.entries)
    return themed(layered(layers, _WIDTH, _STEP * len(rows), description=f"Leaderboard: {described}."))


def picture(board: Leaderboard) -> Picture:
    """The chart with its description."""
    described = ", ".join(f"{one.model} {one.estimate.text} ({one.letters})" for one in board.entries)
    return Picture(lambda: leaderboard_chart(board), f"Leaderboard: {described}.", CAPTION, key="leaderboard")


def blocks(board: Leaderboard) -> Sequence[Block]:
    """The table and the chart."""
    return [leaderboard_grid(board), picture(board)]


def document(board: Leaderboard, title: str, facts: str, notes: Sequence[Note] = ()) -> Document:
    """The leaderboard as a document of its own, with the differences of all pairs unless they are many."""
    pairs = [matrix_grid(board.pairs)] if len(board.pairs) <= _ALL_PAIRS else []
    return one_section(title, facts, "Leaderboard", [*blocks(board), *pairs], board.words, notes)
