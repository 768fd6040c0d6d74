"""Venn-Abers calibration: isotonic regression with the case to be predicted added as positive and as negative.

References: Vovk and Petej (2014), "Venn-Abers predictors", UAI; Vovk, Petej and Fedorova (2015), "Large-scale
probabilistic predictors with and without guarantees of validity", NIPS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.calibration.maps import KINDS, ScoreMap, check_array, check_column, is_outside, map_error
from scorespace.results import ByValue, decimals
from scorespace.tables import Array, ScoreTable

_Stack = tuple[list[float], list[float], list[int]]
"""Positives, cases and parent of the last block of the isotonic regression of every prefix (or suffix) of scores."""


@dataclass(frozen=True, eq=False)
class VennAbersMap(ScoreMap, ByValue):
    """Probability p₁ / (1 − p₀ + p₁), from the isotonic values of a score that is added as a positive and a negative.

    `score` holds the distinct scores in increasing order, `positive` and `cases` the weights at each. p₁ − p₀ says how
    well the probability is known.

    >>> VennAbersMap([0.2, 0.8], [0.0, 1.0], [1.0, 1.0]).limits([0.5])
    (array([0.]), array([1.]))
    """

    kind: ClassVar[str] = "venn_abers"
    title: ClassVar[str] = "Venn-Abers calibration"
    beyond: ClassVar[str] = "they get the interval at the end of the range"
    score: Array
    positive: Array
    cases: Array

    def __post_init__(self) -> None:
        for name in ("score", "positive", "cases"):
            object.__setattr__(self, name, check_array(getattr(self, name), f"{name} of a venn_abers map"))
        if not (self.score.size and self.score.shape == self.positive.shape == self.cases.shape):
            raise map_error("a venn_abers map needs as many scores as positives and cases, at least one.")
        if not (np.diff(self.score) > 0).all():
            raise map_error("the scores of a venn_abers map must increase.")
        if not ((self.positive >= 0) & (self.positive <= self.cases) & (self.cases > 0)).all():
            raise map_error("the positives of a venn_abers map lie between 0 and the cases.")

    def apply(self, scores: ArrayLike) -> Array:
        low, high = self.limits(scores)
        return high / (1 - low + high)

    def limits(self, scores: ArrayLike) -> tuple[Array, Array]:
        """The isotonic values p₀ and p₁ of each score, added as a negative and as a positive."""
        values = check_column(scores)
        before = np.searchsorted(self.score, values, side="left")
        after = np.searchsorted(self.score, values, side="right")
        places, index = np.unique(np.stack([before, after]), axis=1, return_inverse=True)
        pairs = list(zip(*places.tolist(), strict=True))
        low, high = (np.array([self._value(left, right, label) for left, right in pairs]) for label in (0.0, 1.0))
        return low[index.ravel()], high[index.ravel()]

    def remarks(self, scores: ArrayLike) -> Iterator[str]:
        low, high = self.limits(scores)
        if low.size:
            width = decimals(float(np.mean(high - low)))
            yield f"the two probabilities of a case differ by {width} on average (p₁ − p₀)."

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return is_outside(scores, float(self.score[0]), float(self.score[-1]))

    def _value(self, before: int, after: int, label: float) -> float:
        """Isotonic value of a case between the scores before `before` and those from `after` on, which it ties with."""
        positive = label + float(self.positive[before:after].sum())
        cases = 1.0 + float(self.cases[before:after].sum())
        below, above = self._stacks
        left, right = before - 1, self.score.size - after - 1
        while True:
            if left >= 0 and below[0][left] * cases >= positive * below[1][left]:
                positive, cases, left = positive + below[0][left], cases + below[1][left], below[2][left]
            elif right >= 0 and above[0][right] * cases <= positive * above[1][right]:
                positive, cases, right = positive + above[0][right], cases + above[1][right], above[2][right]
            else:
                return positive / cases

    @cached_property
    def _stacks(self) -> tuple[_Stack, _Stack]:
        """Blocks of all prefixes from below, and of all suffixes from above."""
        return (
            _blocks(self.positive.tolist(), self.cases.tolist(), 1.0),
            _blocks(self.positive[::-1].tolist(), self.cases[::-1].tolist(), -1.0),
        )


def _blocks(positive: list[float], cases: list[float], sign: float) -> _Stack:
    """Pool adjacent violators, keeping for every prefix its last block and a pointer to the one before."""
    positives: list[float] = []
    sizes: list[float] = []
    parents: list[int] = []
    for pos, size in zip(positive, cases, strict=True):  # each block depends on those before
        parent = len(positives) - 1
        while parent >= 0 and sign * (positives[parent] * size - pos * sizes[parent]) >= 0:
            pos, size, parent = pos + positives[parent], size + sizes[parent], parents[parent]
        positives.append(pos)
        sizes.append(size)
        parents.append(parent)
    return positives, sizes, parents


def fit_venn_abers(table: ScoreTable) -> VennAbersMap:
    """Keep the distinct scores with their positives and cases."""
    pos, cases = table.pos.astype(np.float64)[::-1], (table.pos + table.neg).astype(np.float64)[::-1]
    filled = cases > 0
    return VennAbersMap(np.asarray(table.score, dtype=np.float64)[::-1][filled], pos[filled], cases[filled])


KINDS[VennAbersMap.kind] = VennAbersMap
