"""Every two classes by their scores: the ROC curves behind the cells of what is taken for what."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures.average import by_class
from scorespace.measures.ranking import auc
from scorespace.results import Row, decimals
from scorespace.tables import Array, ratio
from scorespace.views.panel import packed

POINTS: Final = 60_000
"""Of all curves of a page; each has at least forty, and at most two hundred."""

TWO: Final = "{} against {}: area {} by the score of {} (solid), {} by that of {} (dashed)."
REST: Final = "{} against all others: area {}."
NONE: Final = "{} has no scores, and so no curve of two classes."
_FINE: Final = 2**16 - 1


@dataclass(frozen=True)
class Pairs:
    """Of every class (row) against every other (column), and against all others (diagonal), the ROC by its score.

    `x` and `y` hold one curve after the other, that of the cell (i, k) from `start[i·K + k]` on.
    """

    classes: tuple[str, ...]
    x: Array
    y: Array
    start: Array
    areas: Array

    def curve(self, row: int, column: int) -> tuple[Array, Array]:
        cell = row * len(self.classes) + column
        among = slice(int(self.start[cell]), int(self.start[cell + 1]))
        return self.x[among], self.y[among]

    def said(self, row: int, column: int) -> str:
        """The two classes of a cell and the areas of both curves, in a sentence."""
        a, b = self.classes[row], self.classes[column]
        one, other = decimals(float(self.areas[row, column])), decimals(float(self.areas[column, row]))
        return REST.format(a, one) if row == column else TWO.format(a, b, one, a, other, b)

    def rows(self, row: int, column: int) -> list[Row]:
        """The points of the curves of a cell, for a chart."""
        cells = {"row": (row, column), "column": (column, row)}
        if row == column:
            del cells["column"]
        return [
            {"name": name, "place": place, "x": x, "y": y}
            for name, cell in cells.items()
            for place, (x, y) in enumerate(zip(*(side.tolist() for side in self.curve(*cell)), strict=True))
        ]

    def packed(self) -> Row:
        """For the script of the page: points to a 65 535th, which no screen shows."""
        points = {name: packed(np.rint(side * _FINE), "u2") for name, side in (("x", self.x), ("y", self.y))}
        return {**points, "start": packed(self.start, "u4"), "areas": packed(self.areas.ravel())}


def pairs_of(table: Any, models: int = 1) -> Pairs | None:
    """The curves of a table that scores several classes; None of one that only decides."""
    if not table.scores_classes:
        return None
    size = len(table.classes)
    each = int(np.clip(POINTS // (2 * models * size**2), 20, 100))
    curves = []
    for row in range(size):
        held = [(score, np.append(0.0, np.cumsum(weight))) for score, weight in table.spread(row)]
        cuts = [_quantiles(*one, each) for one in held]
        every = np.unique(np.concatenate(cuts))[::-1]
        above = np.stack([_above(*one, every) for one in held])
        for column in range(size):
            rest = above.sum(axis=0) - above[row] if column == row else above[column]
            own = np.isin(every, np.concatenate([cuts[row], cuts[column]])) if column != row else _even(every, 4 * each)
            sides = (np.append(0.0, _share(side)[own]) for side in (rest, above[row]))
            curves.append(tuple(sides))
    x, y = (np.concatenate(sides) for sides in zip(*curves, strict=True))
    start = np.append(0, np.cumsum([one[0].size for one in curves]))
    areas = np.array(table.pair_areas())
    np.fill_diagonal(areas, by_class(auc, table))
    return Pairs(table.classes, x, y, start, areas)


def _quantiles(score: Array, reached: Array, number: int) -> Array:
    """The scores of a class at even shares of its cases, with the lowest; all of few."""
    if score.size <= number:
        return score
    place = np.searchsorted(reached, np.linspace(0, reached[-1], number + 1)[1:])
    return score[np.unique((place - 1).clip(0, score.size - 1))]


def _even(every: Array, most: int) -> Array:
    kept = np.zeros(every.size, dtype=bool)
    kept[np.unique(np.linspace(0, every.size - 1, min(most, every.size)).astype(np.intp))] = True
    return kept


def _above(score: Array, reached: Array, cuts: Array) -> Array:
    """The weight of the cases of a class that score at least so much."""
    return np.asarray(reached[np.searchsorted(-score, -cuts, side="right")])


def _share(weight: Array) -> Array:
    return np.asarray(np.nan_to_num(ratio(weight, weight[-1:].max(initial=0.0))))
