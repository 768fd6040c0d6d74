"""One-vs-one ROC curves behind the cells of a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scorespace.evaluation.panel_measures import encode_array
from scorespace.measures.average import by_class
from scorespace.measures.ranking import auc
from scorespace.results import Row, decimals
from scorespace.tables import Array, ratio

MAX_POINTS: Final = 60_000
"""Maximum number of points of all curves of a report; each curve has between 40 and 200."""

PAIR_TEXT: Final = "{} against {}: AUC {} by the score of {} (solid), {} by that of {} (dashed)."
REST_TEXT: Final = "{} against the rest: AUC {}."
NO_SCORES_TEXT: Final = "{} has no scores and therefore no ROC curve of two classes."
_RESOLUTION: Final = 2**16 - 1


@dataclass(frozen=True)
class ClassPairs:
    """ROC curves of every class (row) against every other (column), and the rest (diagonal), by the row's score.

    `x` and `y` are concatenated curves; the curve of cell (i, k) starts at `start[i·K + k]`.
    """

    classes: tuple[str, ...]
    x: Array
    y: Array
    start: Array
    areas: Array

    def curve(self, row: int, column: int) -> tuple[Array, Array]:
        cell = row * len(self.classes) + column
        points = slice(int(self.start[cell]), int(self.start[cell + 1]))
        return self.x[points], self.y[points]

    def describe(self, row: int, column: int) -> str:
        """The classes of a cell and the areas of both curves, in a sentence."""
        a, b = self.classes[row], self.classes[column]
        area, reverse_area = decimals(float(self.areas[row, column])), decimals(float(self.areas[column, row]))
        return REST_TEXT.format(a, area) if row == column else PAIR_TEXT.format(a, b, area, a, reverse_area, b)

    def rows(self, row: int, column: int) -> list[Row]:
        """Points of the curves of a cell, for a chart."""
        cells = {"row": (row, column), "column": (column, row)}
        if row == column:
            del cells["column"]
        return [
            {"name": name, "place": index, "x": x, "y": y}
            for name, cell in cells.items()
            for index, (x, y) in enumerate(zip(*(side.tolist() for side in self.curve(*cell)), strict=True))
        ]

    def encode(self) -> Row:
        """Data for the script, with coordinates rounded to 16 bits."""
        points = {
            name: encode_array(np.rint(side * _RESOLUTION), "u2") for name, side in (("x", self.x), ("y", self.y))
        }
        return {**points, "start": encode_array(self.start, "u4"), "areas": encode_array(self.areas.ravel())}


def pairs_of(table: Any, n_models: int = 1) -> ClassPairs | None:
    """One-vs-one curves of a multiclass score table; None without scores."""
    if not table.scores_classes:
        return None
    size = len(table.classes)
    n_quantiles = int(np.clip(MAX_POINTS // (2 * n_models * size**2), 20, 100))
    curves = []
    for row in range(size):
        cumulative = [(score, np.append(0.0, np.cumsum(weight))) for score, weight in table.spread(row)]
        cuts = [_quantiles(*scores_and_weights, n_quantiles) for scores_and_weights in cumulative]
        thresholds = np.unique(np.concatenate(cuts))[::-1]
        above = np.stack([_weight_above(*scores_and_weights, thresholds) for scores_and_weights in cumulative])
        for column in range(size):
            others = above.sum(axis=0) - above[row] if column == row else above[column]
            selected = (
                np.isin(thresholds, np.concatenate([cuts[row], cuts[column]]))
                if column != row
                else _evenly_spaced(thresholds, 4 * n_quantiles)
            )
            sides = (np.append(0.0, _share(side)[selected]) for side in (others, above[row]))
            curves.append(tuple(sides))
    x, y = (np.concatenate(sides) for sides in zip(*curves, strict=True))
    start = np.append(0, np.cumsum([curve[0].size for curve in curves]))
    areas = np.array(table.pair_areas())
    np.fill_diagonal(areas, by_class(auc, table))
    return ClassPairs(table.classes, x, y, start, areas)


def _quantiles(score: Array, cumulative: Array, n_quantiles: int) -> Array:
    """Scores of a class at evenly spaced quantiles, with the lowest; all scores if there are few."""
    if score.size <= n_quantiles:
        return score
    index = np.searchsorted(cumulative, np.linspace(0, cumulative[-1], n_quantiles + 1)[1:])
    return score[np.unique((index - 1).clip(0, score.size - 1))]


def _evenly_spaced(thresholds: Array, max_points: int) -> Array:
    """Mask of at most `max_points` evenly spaced thresholds."""
    selected = np.zeros(thresholds.size, dtype=bool)
    selected[np.unique(np.linspace(0, thresholds.size - 1, min(max_points, thresholds.size)).astype(np.intp))] = True
    return selected


def _weight_above(score: Array, cumulative: Array, thresholds: Array) -> Array:
    """Weight of the cases of a class with a score of at least each threshold."""
    return np.asarray(cumulative[np.searchsorted(-score, -thresholds, side="right")])


def _share(weight: Array) -> Array:
    return np.asarray(np.nan_to_num(ratio(weight, weight[-1:].max(initial=0.0))))
