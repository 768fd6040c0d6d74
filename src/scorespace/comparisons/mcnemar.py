"""Decisions on the same cases: McNemar's test for two models, Cochran's Q for several."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
from scipy.special import bdtr, chdtrc

from scorespace.comparisons.comparison import Comparison
from scorespace.errors import ScoreSpaceError
from scorespace.resampling.estimate import normal_quantile
from scorespace.tables import Array

Method = Literal["corrected", "uncorrected", "exact", "midp"]
METHODS: Final[tuple[Method, ...]] = ("corrected", "uncorrected", "exact", "midp")
FEW_DISCORDANT: Final = 25
"""Below it the chi-squared approximation is poor, and mid-p is the default."""


def mcnemar(
    a_right: Array,
    b_right: Array,
    *,
    names: tuple[str, str] = ("a", "b"),
    method: Method | None = None,
    level: float = 0.95,
) -> Comparison:
    """Whether two models are right on the same share of cases; only cases on which they differ tell.

    The table counts both right, only a; only b, neither. Without a method: mid-p below 25 discordant
    cases, else the chi-squared with continuity correction, (|n₁₀ − n₀₁| − 1)² / (n₁₀ + n₀₁).

    >>> right = np.array([True] * 12 + [False] * 4)
    >>> mcnemar(right, right[::-1]).table
    ((8, 4), (4, 0))
    """
    a_right, b_right = np.asarray(a_right, dtype=bool), np.asarray(b_right, dtype=bool)
    both, only_a = int((a_right & b_right).sum()), int((a_right & ~b_right).sum())
    only_b, neither = int((~a_right & b_right).sum()), int((~a_right & ~b_right).sum())
    total, discordant = a_right.size, only_a + only_b
    chosen = method or ("midp" if discordant < FEW_DISCORDANT else "corrected")
    statistic, p = mcnemar_p(only_a, only_b, chosen)
    difference = (only_a - only_b) / total
    error = math.sqrt(max(0.0, discordant - (only_a - only_b) ** 2 / total)) / total
    half = normal_quantile(level) * error
    reason = "there are no discordant cases: the decisions are right and wrong together" if not discordant else None
    return Comparison(
        *names,
        f"mcnemar, {chosen}",
        "acc",
        difference,
        difference - half,
        difference + half,
        level,
        statistic,
        1.0 if chosen in ("corrected", "uncorrected") else math.nan,
        p,
        reason=reason,
        table=((both, only_a), (only_b, neither)),
    )


def mcnemar_p(only_a: int, only_b: int, method: Method) -> tuple[float, float]:
    """Statistic and p-value from the two discordant counts; without any, p = 1.

    >>> mcnemar_p(6, 16, "corrected")[0]
    3.6818181818181817
    """
    if method not in METHODS:
        raise ScoreSpaceError(f"method={method!r} is unknown.", seen=f"{METHODS}")
    total, gap, fewer = only_a + only_b, abs(only_a - only_b), min(only_a, only_b)
    if total == 0:
        return math.nan, 1.0
    if method in ("corrected", "uncorrected"):
        # Equal counts leave nothing to correct.
        statistic = max(0, gap - (method == "corrected")) ** 2 / total
        return statistic, float(chdtrc(1, statistic))
    if method == "exact":
        return math.nan, min(1.0, 2 * float(bdtr(fewer, total, 0.5)))
    below = float(bdtr(fewer - 1, total, 0.5)) if fewer else 0.0
    return math.nan, min(1.0, below + float(bdtr(fewer, total, 0.5)))


def cochran_q(right: Array, *, names: tuple[str, ...]) -> Comparison:
    """Whether several models are right on the same share of cases (rows models, columns cases).

    Q = (k−1)·(k·Σ Gⱼ² − (Σ Gⱼ)²) / (k·Σ Lᵢ − Σ Lᵢ²), χ² with k − 1 degrees of freedom; for two models it is
    McNemar's uncorrected statistic.
    """
    hits = np.asarray(right, dtype=np.float64)
    k = hits.shape[0]
    by_model, by_case = hits.sum(axis=1), hits.sum(axis=0)
    spread = float(k * by_case.sum() - (by_case**2).sum())
    label = (names[0], ", ".join(names[1:]))
    if spread == 0:
        reason = "there are no discordant cases: the decisions are right and wrong together"
        return Comparison(
            *label, "cochran q", "acc", statistic=0.0, df=float(k - 1), p=1.0, reason=reason, several=True
        )
    q = (k - 1) * float(k * (by_model**2).sum() - by_model.sum() ** 2) / spread
    return Comparison(*label, "cochran q", "acc", statistic=q, df=float(k - 1), p=float(chdtrc(k - 1, q)), several=True)
