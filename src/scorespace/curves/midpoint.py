"""Midpoint rules of smooth ROC: the score that separates high from low scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np

from scorespace.errors import ScoreError, did_you_mean, listing
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.weighted_quantiles import median


def _mean(pos: Array, neg: Array, n_pos: Array, n_neg: Array) -> Array:
    return ratio(pos + neg, n_pos + n_neg)


def _cross_weighted(pos: Array, neg: Array, n_pos: Array, n_neg: Array) -> Array:
    return ratio(n_neg * ratio(pos, n_pos) + n_pos * ratio(neg, n_neg), n_pos + n_neg)


_RULES_BY_SUMS: Final = {"mean": _mean, "class_weighted": _mean, "cross_weighted": _cross_weighted}
"""Rules based on the sums of scores and the numbers of cases of both classes."""
_RULES_BY_ORDER: Final[dict[str, Callable[[Array, Array, Array], Array]]] = {
    "median": lambda score, pos, neg: _median(score, pos + neg),
    "class_medians": lambda score, pos, neg: (_median(score, pos) + _median(score, neg)) / 2,
}
"""Rules based on the scores and the numbers of cases of both classes at each."""
MIDPOINTS: Final = (*_RULES_BY_SUMS, *_RULES_BY_ORDER, "half")
"""Names of the midpoint rules; a number states the midpoint directly."""

Midpoint = Annotated[float | str, f"what separates high from low scores: {', '.join(MIDPOINTS)}, or a number"]
Recentre = Annotated[bool, "map the midpoint to 0.5 first, piecewise linearly"]

_TOLERANCE: Final = 1e-12  # sums of scores are rounded: a midpoint this close to a score equals it


def midpoint_of(table: ScoreTable, how: str | float = "mean") -> float:
    """The score that separates high from low scores, by a rule or as the given number.

    mean (also named class_weighted: the class means weighted by the sizes of their classes),
    cross_weighted (weighted by the size of the other class), median, class_medians (their mean), half (0.5).

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 0], [0.9, 0.6, 0.0])
    >>> midpoint_of(t), midpoint_of(t, "median"), midpoint_of(t, "class_medians"), midpoint_of(t, 0.4)
    (0.5, 0.6, 0.6, 0.4)
    """
    return require_midpoint(midpoints(table.score, table.pos, table.neg, how), how)


def learn_midpoint(table: ScoreTable) -> float:
    """The midpoint with the highest Youden index TPR − FPR on a validation sample.

    It lies halfway between two neighbouring scores; the widest of equally good gaps is chosen.

    Parameters
    ----------
    table : ScoreTable
        The scores of a model with the classes of the cases; see `score_table`.

    Returns
    -------
    float
        The midpoint.

    References
    ----------
    Youden, W. J. (1950). Index for rating diagnostic tests. Cancer, 3(1), 32-35.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> learn_midpoint(score_table([1, 1, 0, 1, 0], [0.9, 0.8, 0.4, 0.3, 0.1]))
    0.6
    """
    if table.score.size < 2 or not (table.n_pos > 0 and table.n_neg > 0):
        raise ScoreError(
            "a midpoint can only be learned from cases of both classes with different scores.",
            seen=f"{table.n_pos:g} positive and {table.n_neg:g} negative cases, {table.score.size} different scores",
            hint="use another validation sample",
        )
    counts = table.sweep
    youden = (ratio(counts.tp, counts.p) - ratio(counts.fp, counts.n))[1:-1]  # between scores only
    gap = table.score[:-1] - table.score[1:]
    best = int(np.argmax(np.where(youden >= youden.max() - _TOLERANCE, gap, -1.0)))
    return float((table.score[best] + table.score[best + 1]) / 2)


def midpoints(score: Array, pos: Array, neg: Array, how: str | float) -> Array:
    """Midpoint of each replicate, or of a single table."""
    if not isinstance(how, str):
        if not 0 <= how <= 1:
            raise ScoreError(f"midpoint={how} is not a score between 0 and 1.", hint="such as 0.5, or mean")
        return np.asarray(float(how))
    if how == "half":
        return np.asarray(0.5)
    if how in _RULES_BY_SUMS:
        middle = _RULES_BY_SUMS[how](pos @ score, neg @ score, pos.sum(axis=-1), neg.sum(axis=-1))
    elif how in _RULES_BY_ORDER:
        middle = _RULES_BY_ORDER[how](score, pos, neg)
    else:
        raise ScoreError(
            f"there is no midpoint rule {how!r}.",
            seen=f"{listing(MIDPOINTS, most=len(MIDPOINTS))}, or a number",
            hint=did_you_mean(how, MIDPOINTS, "one of these"),
        )
    return _snap_to_score(score, middle)


def midpoint_ends(table: ScoreTable, how: str | float) -> tuple[float, float]:
    """Bounds of the midpoint of a binned table, for any order inside its bins.

    Sums of scores are known, so means are exact up to rounding; a median lies within its bin.

    >>> from scorespace.tables import score_table
    >>> midpoint_ends(score_table([1, 0, 1], [0.9, 0.41, 0.4]).rounded(51), "median")
    (0.4, 0.41)
    """
    low, high, pos, neg = table.binned.low, table.binned.high, table.pos, table.neg
    if not isinstance(how, str) or how not in _RULES_BY_SUMS:
        least, most = (float(midpoints(score, pos, neg, how)) for score in (low, high))
        return least, most
    of_pos = float(table.binned.first[table.positive].sum())
    of_neg = float(table.binned.first.sum()) - of_pos
    middle = _RULES_BY_SUMS[how](*map(np.asarray, (of_pos, of_neg, table.n_pos, table.n_neg)))
    return float(middle) - 2 * _TOLERANCE, float(middle) + 2 * _TOLERANCE


def require_midpoint(midpoint: Array, how: str | float) -> float:
    """Return the midpoint as a number; raise an error if a class that it needs has no cases."""
    if np.isnan(midpoint):
        raise ScoreError(f"the midpoint {how} is undefined: a class has no cases.", hint="mean, half or a number")
    return float(midpoint)


def _median(score: Array, weight: Array) -> Array:
    """Weighted median; halfway between two scores if half of the weight is on each side."""
    if not score.size:
        return np.full(weight.shape[:-1], np.nan)
    return median(score[::-1], weight[..., ::-1])


def _snap_to_score(score: Array, middle: Array) -> Array:
    """Replace a midpoint that equals a score up to rounding by that score, which must count as low."""
    if not score.size:
        return middle
    ascending = score[::-1]
    place = np.searchsorted(ascending, middle - _TOLERANCE)
    near = ascending[np.minimum(place, score.size - 1)]
    return np.where(np.abs(near - middle) <= _TOLERANCE, near, middle)


def count_high(score: Array, middle: float) -> int:
    """Number of scores, in descending order, that exceed the midpoint."""
    return int(score.size - np.searchsorted(score[::-1], middle, side="right"))
