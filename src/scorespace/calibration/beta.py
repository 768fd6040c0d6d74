"""Beta calibration: a logistic regression on ln s and ln(1 − s).

Reference: Kull, Silva Filho and Flach (2017), "Beyond sigmoids: how to obtain well-calibrated probabilities from binary
classifiers with beta calibration", Electronic Journal of Statistics 11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from scorespace.calibration.maps import KINDS, ScoreMap, check_column, check_probabilities, map_error
from scorespace.curves.smooth_calibration import RIDGE, penalised_logistic
from scorespace.tables import Array, ScoreTable

_CLIP: Final = 1e-12  # scores of 0 and 1 have no logarithm
_MAX_COEFFICIENT: Final = 1e3  # beyond it the classes are separated, and the fit is penalised


@dataclass(frozen=True)
class BetaMap(ScoreMap):
    """Probability 1 / (1 + exp(−(c + a ln s − b ln(1 − s)))), with a, b ≥ 0; scores are clipped to 1e-12.

    With a = b it is Platt's map of the logit.

    >>> BetaMap(1.0, 1.0, 0.0).apply([0.2, 0.9])
    array([0.2, 0.9])
    """

    kind: ClassVar[str] = "beta"
    title: ClassVar[str] = "Beta calibration"
    a: float
    b: float
    c: float

    def __post_init__(self) -> None:
        if not (self.a >= 0 and self.b >= 0 and math.isfinite(self.a + self.b + self.c)):
            raise map_error("a beta map needs a and b of at least 0.", f"{self.a:g}, {self.b:g}, {self.c:g}")

    def apply(self, scores: ArrayLike) -> Array:
        return np.asarray(expit(_features(check_column(scores)) @ np.array([self.c, self.a, self.b])))


def fit_beta(table: ScoreTable) -> BetaMap:
    """Fit by maximum likelihood; a negative coefficient is set to 0 and the other fitted again.

    Separated classes get the ridge penalty of the smooth calibration curve.
    """
    columns = _features(table.score)
    positives = table.pos.astype(np.float64)
    cases = positives + table.neg

    def fit(used: list[int]) -> Array:
        found = np.zeros(3)
        for ridge in (0.0, RIDGE):
            values, _ = penalised_logistic(np.zeros(len(columns)), columns[:, used], positives, cases, ridge)
            if np.abs(values).max() < _MAX_COEFFICIENT:
                break
        found[used] = values
        return found

    used = [0, 1, 2]
    coefficients = fit(used)
    while (coefficients[1:] < 0).any():
        used.remove(int(np.argmin(coefficients[1:])) + 1)
        coefficients = fit(used)
    c, a, b = coefficients.tolist()
    return BetaMap(a, b, c)


def _features(score: Array) -> Array:
    """Columns 1, ln s and −ln(1 − s)."""
    check_probabilities(score)
    inside = np.clip(score, _CLIP, 1 - _CLIP)
    return np.stack([np.ones_like(inside), np.log(inside), -np.log1p(-inside)], axis=1)


KINDS[BetaMap.kind] = BetaMap
