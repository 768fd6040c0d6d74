"""The midpoint of smooth ROC: the score that parts high from low."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np

from scorespace.errors import ScoreError, did_you_mean, listing
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.order import median


def _mean(pos: Array, neg: Array, n_pos: Array, n_neg: Array) -> Array:
    return ratio(pos + neg, n_pos + n_neg)


def _cross_weighted(pos: Array, neg: Array, n_pos: Array, n_neg: Array) -> Array:
    return ratio(n_neg * ratio(pos, n_pos) + n_pos * ratio(neg, n_neg), n_pos + n_neg)


_OF_SUMS: Final = {"mean": _mean, "class_weighted": _mean, "cross_weighted": _cross_weighted}
"""From the sums of the scores of both classes, and from their cases."""
_OF_ORDER: Final[dict[str, Callable[[Array, Array, Array], Array]]] = {
    "median": lambda score, pos, neg: _median(score, pos + neg),
    "class_medians": lambda score, pos, neg: (_median(score, pos) + _median(score, neg)) / 2,
}
"""From the scores, and the cases of both classes at each."""
MIDPOINTS: Final = (*_OF_SUMS, *_OF_ORDER, "half")
"""The rules for the midpoint; a number states it."""

Midpoint = Annotated[float | str, f"what parts high from low scores: {', '.join(MIDPOINTS)}, or a number"]
Recentre = Annotated[bool, "move the midpoint to 0.5 first, by two straight lines"]

_SAME: Final = 1e-12  # sums of scores are rounded: a midpoint this near to a score is that score


def midpoint_of(table: ScoreTable, how: str | float = "mean") -> float:
    """The score that parts high from low: by a rule over the scores, or the number given.

    mean (also named class_weighted: the class means weighted by the sizes of their classes),
    cross_weighted (weighted by the size of the other class), median, class_medians (their mean), half (0.5).

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 0], [0.9, 0.6, 0.0])
    >>> midpoint_of(t), midpoint_of(t, "median"), midpoint_of(t, "class_medians"), midpoint_of(t, 0.4)
    (0.5, 0.6, 0.6, 0.4)
    """
    return defined(midpoints(table.score, table.pos, table.neg, how), how)


def learn_midpoint(table: ScoreTable) -> float:
    """The midpoint, from a validation sample, with the highest Youden index TPR − FPR there.

    It lies halfway between two neighbouring scores; of several equally good gaps the widest is taken.

    >>> from scorespace.tables import score_table
    >>> learn_midpoint(score_table([1, 1, 0, 1, 0], [0.9, 0.8, 0.4, 0.3, 0.1]))
    0.6
    """
    if table.score.size < 2 or not (table.n_pos > 0 and table.n_neg > 0):
        raise ScoreError(
            "a midpoint is learned from cases of both classes with different scores.",
            seen=f"{table.n_pos:g} positive and {table.n_neg:g} negative cases, {table.score.size} different scores",
            hint="another validation sample",
        )
    counts = table.sweep
    index = (ratio(counts.tp, counts.p) - ratio(counts.fp, counts.n))[1:-1]  # between the scores, not outside them
    gap = table.score[:-1] - table.score[1:]
    best = int(np.argmax(np.where(index >= index.max() - _SAME, gap, -1.0)))
    return float((table.score[best] + table.score[best + 1]) / 2)


def midpoints(score: Array, pos: Array, neg: Array, how: str | float) -> Array:
    """The midpoint of each replicate (or of the only table)."""
    if not isinstance(how, str):
        if not 0 <= how <= 1:
            raise ScoreError(f"midpoint={how} is not a score between 0 and 1.", hint="such as 0.5, or mean")
        return np.asarray(float(how))
    if how == "half":
        return np.asarray(0.5)
    if how in _OF_SUMS:
        found = _OF_SUMS[how](pos @ score, neg @ score, pos.sum(axis=-1), neg.sum(axis=-1))
    elif how in _OF_ORDER:
        found = _OF_ORDER[how](score, pos, neg)
    else:
        raise ScoreError(
            f"there is no midpoint {how!r}.",
            seen=f"{listing(MIDPOINTS, most=len(MIDPOINTS))}, or a number",
            hint=did_you_mean(how, MIDPOINTS, "one of these"),
        )
    return _snapped(score, found)


def midpoint_ends(table: ScoreTable, how: str | float) -> tuple[float, float]:
    """What the midpoint of a coarse table lies between, whatever the order inside its bins.

    Sums of scores are known, so means are certain but for rounding; a median lies within its bin.

    >>> from scorespace.tables import score_table
    >>> midpoint_ends(score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51), "median")
    (0.4, 0.41)
    """
    low, high, pos, neg = table.binned.low, table.binned.high, table.pos, table.neg
    if not isinstance(how, str) or how not in _OF_SUMS:
        least, most = (float(midpoints(score, pos, neg, how)) for score in (low, high))
        return least, most
    of_pos = float(table.binned.first[table.positive].sum())
    of_neg = float(table.binned.first.sum()) - of_pos
    middle = _OF_SUMS[how](*map(np.asarray, (of_pos, of_neg, table.n_pos, table.n_neg)))
    return float(middle) - 2 * _SAME, float(middle) + 2 * _SAME


def defined(found: Array, how: str | float) -> float:
    """The midpoint as a number, refused where a class that it needs has no cases."""
    if np.isnan(found):
        raise ScoreError(f"the midpoint {how} is undefined: a class has no cases.", hint="mean, half or a number")
    return float(found)


def _median(score: Array, weight: Array) -> Array:
    """The weighted median, halfway between two scores when half of the weight lies on each side."""
    if not score.size:
        return np.full(weight.shape[:-1], np.nan)
    return median(score[::-1], weight[..., ::-1])


def _snapped(score: Array, found: Array) -> Array:
    """The midpoint, or the score that it equals up to rounding: such a score must count as low."""
    if not score.size:
        return found
    rising = score[::-1]
    place = np.searchsorted(rising, found - _SAME)
    near = rising[np.minimum(place, score.size - 1)]
    return np.where(np.abs(near - found) <= _SAME, near, found)


def count_high(score: Array, middle: float) -> int:
    """How many of the falling scores lie above the midpoint."""
    return int(score.size - np.searchsorted(score[::-1], middle, side="right"))
