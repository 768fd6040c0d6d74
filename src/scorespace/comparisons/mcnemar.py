"""Decisions on the same cases: McNemar's test for two models, Cochran's Q for several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, get_args

import numpy as np
from scipy.special import chdtrc

from scorespace.comparisons.datasets import sign_p
from scorespace.comparisons.design import ACCURACY, MultipleModels, PairedModels
from scorespace.comparisons.difference import mover_interval
from scorespace.comparisons.eligibility import (
    discourages_folds,
    discourages_groups,
    requires_decisions,
    requires_joint_cases,
    requires_single_cases,
    requires_threshold,
    requires_two_sided_omnibus,
    requires_unweighted,
)
from scorespace.comparisons.result import Alternative, Comparison
from scorespace.comparisons.test import test
from scorespace.errors import ScoreSpaceError
from scorespace.inference.proportion import wilson
from scorespace.results import grouped, note
from scorespace.tables import Array, Table

Method = Literal["corrected", "uncorrected", "exact", "midp"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
FEW_DISCORDANT: Final = 25
"""Discordant cases below which the χ² approximation is poor, and mid-p is the default."""

_NO_DISCORDANT: Final = "there are no discordant cases: all models are right or wrong on the same cases"
_MIN_DISCORDANT: Final = 10  # discordant cases below which a note warns of low power


@test(
    title="McNemar's test",
    for_="decisions: counts discordant cases, on which only one of two models is right",
    suits=(
        requires_decisions,
        requires_threshold,
        requires_single_cases,
        requires_unweighted,
        discourages_folds,
        discourages_groups,
    ),
    directed=True,
    spellings={f"mcnemar_{method}": {"method": method} for method in METHODS},
)
def mcnemar(
    design: PairedModels[Table],
    *,
    method: Annotated[
        Literal["auto", "corrected", "uncorrected", "exact", "midp"],
        "χ² corrected or not, exact binomial, or mid-p; auto: mid-p below 25 discordant cases, else corrected",
    ] = "auto",
) -> Comparison:
    """Discordant cases n₁₀ and n₀₁, on which only one model is right: (|n₁₀ − n₀₁| − 1)² / (n₁₀ + n₀₁), or binomial."""
    right = [design.right(model) for model in design.names]
    stated = None if method == "auto" else method
    times = design.cases.times
    settings: dict[str, Any] = {"method": stated, "level": design.level, "alternative": design.alternative}
    comparison = replace(mcnemar_test(*right, names=design.names, times=times, **settings), measure=design.of)
    ((_, only_a), (only_b, _)) = comparison.table or ((0, 0), (0, 0))
    if only_a + only_b >= _MIN_DISCORDANT:
        return comparison
    names = f"{comparison.a} and {comparison.b}"
    text = f"{names} have only {grouped(only_a + only_b)} discordant cases: the test has little power."
    return replace(comparison, notes=(note("SS014", text),))


@mcnemar.on(
    requires_decisions,
    requires_joint_cases,
    requires_threshold,
    requires_single_cases,
    requires_unweighted,
    requires_two_sided_omnibus,
)
def _cochran(design: MultipleModels[Table]) -> Comparison:
    """Cochran's Q."""
    right = np.stack([design.right(model) for model in design.models])
    return replace(cochran_q(right, names=design.models), measure=design.of)


def mcnemar_test(
    a_right: Array,
    b_right: Array,
    *,
    names: tuple[str, str] = ("a", "b"),
    method: Method | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    times: Array | None = None,
) -> Comparison:
    """Test whether two models have the same accuracy; only discordant cases matter (McNemar 1947).

    The table counts both right, only a; only b, neither. Without a method: mid-p below 25 discordant cases, else χ²
    with continuity correction. One-sided alternatives use the binomial; χ² is two-sided. The interval is Newcombe's for
    paired proportions. A row may represent `times` cases.

    >>> right = np.array([True] * 12 + [False] * 4)
    >>> mcnemar_test(right, right[::-1]).table
    ((8, 4), (4, 0))
    """
    a_right, b_right = np.asarray(a_right, dtype=bool), np.asarray(b_right, dtype=bool)
    counts = np.bincount(2 * a_right + b_right, times, minlength=4).astype(np.int64).tolist()
    neither, only_b, only_a, both = counts
    total, discordant = sum(counts), only_a + only_b
    chosen = method or ("midp" if discordant < FEW_DISCORDANT else "corrected")
    is_chi2 = chosen in ("corrected", "uncorrected")
    sided = "two-sided" if is_chi2 else alternative
    statistic, p = mcnemar_p(only_a, only_b, chosen, sided)
    low, high = newcombe_paired(both, only_a, only_b, neither, level)
    return Comparison(
        *names,
        f"mcnemar, {chosen}",
        ACCURACY.name,
        (only_a - only_b) / total,
        low,
        high,
        level,
        statistic,
        1.0 if is_chi2 else math.nan,
        p,
        reason=None if discordant else _NO_DISCORDANT,
        table=((both, only_a), (only_b, neither)),
        alternative=sided,
    )


MAX_CASES: Final = 10_000_000
CELLS: Final = ("both wrong", "only {a} right", "only {b} right", "both right")
"""What n00, n01, n10 and n11 count: n01 are the cases that only the first model gets right."""


def decisions_from_counts(counts: Sequence[Any], names: tuple[str, str] = ("a", "b")) -> dict[str, Array]:
    """Return the truth and the decisions of two models from the counts n00, n01, n10, n11.

    >>> {name: found.tolist() for name, found in decisions_from_counts([0, 2, 1, 0]).items()}["a"]
    ['right', 'right', 'wrong']
    """
    try:
        sizes = [int(part) for part in counts]
        exact = all(float(part) == size for part, size in zip(counts, sizes, strict=True))
    except (TypeError, ValueError, OverflowError):
        sizes, exact = [], False
    text = ",".join(map(str, counts))
    if not exact or len(sizes) != 4 or min(sizes) < 0 or not sum(sizes):
        raise ScoreSpaceError(
            f"counts={text} are not four counts.",
            hint="both wrong, only a right, only b right, both right: 20,40,20,120",
        )
    if sum(sizes) > MAX_CASES:
        raise ScoreSpaceError(
            f"counts={text} are too many cases.",
            seen=f"{sum(sizes)} cases",
            hint="smaller counts in the same proportions",
        )
    if "truth" in names or len(set(names)) < 2:
        raise ScoreSpaceError(f"names={','.join(names)} do not name two models.", hint='names=("a", "b")')
    label = np.array(["wrong", "right"])
    right = dict(zip(names, ([0, 1, 0, 1], [0, 0, 1, 1]), strict=True))
    decisions = {model: np.repeat(label[np.array(marks)], sizes) for model, marks in right.items()}
    return {"truth": np.repeat(label[1:], sum(sizes)), **decisions}


def name_cells(counts: Sequence[Any], names: tuple[str, str]) -> str:
    """Describe the four counts."""
    a, b = names
    parts = (f"{cell.format(a=a, b=b)} {grouped(int(count))}" for cell, count in zip(CELLS, counts, strict=True))
    return ", ".join(parts)


def newcombe_paired(both: int, only_a: int, only_b: int, neither: int, level: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval for the difference of two paired proportions (1998, method 10).

    Wilson's intervals of both proportions are combined with their correlation φ, with a continuity correction if it is
    positive. It has positive width also without discordant cases.

    >>> tuple(round(x, 4) for x in newcombe_paired(36, 12, 2, 0))
    (0.0569, 0.3404)
    """
    total = both + only_a + only_b + neither
    a, b = both + only_a, both + only_b
    product = float(a) * (total - a) * b * (total - b)
    excess = float(both * neither - only_a * only_b)
    if excess > 0:
        excess = max(0.0, excess - total / 2)
    phi = excess / math.sqrt(product) if product > 0 else 0.0
    return mover_interval(a / total, wilson(a, total, level), b / total, wilson(b, total, level), phi)


def mcnemar_p(only_a: int, only_b: int, method: Method, alternative: Alternative = "two-sided") -> tuple[float, float]:
    """Statistic and p value from the two discordant counts; p = 1 without any; χ² is always two-sided.

    >>> mcnemar_p(6, 16, "corrected")[0]
    3.6818181818181817
    """
    if method not in METHODS:
        raise ScoreSpaceError(f"method={method!r} is unknown.", seen=f"{METHODS}", hint="one of these")
    total, difference = only_a + only_b, abs(only_a - only_b)
    if total == 0:
        return math.nan, 1.0
    if method in ("corrected", "uncorrected"):
        # Equal counts need no correction.
        statistic = max(0, difference - (method == "corrected")) ** 2 / total
        return statistic, float(chdtrc(1, statistic))
    return math.nan, sign_p(only_a, only_b, alternative, share=1.0 if method == "exact" else 0.5)


def cochran_q(right: Array, *, names: Sequence[str]) -> Comparison:
    """Cochran's Q (1950): whether several models have the same accuracy (rows models, columns cases).

    Q = (k−1)·(k·Σ Gⱼ² − (Σ Gⱼ)²) / (k·Σ Lᵢ − Σ Lᵢ²), χ² with k − 1 degrees of freedom; for two models it is
    McNemar's uncorrected statistic.
    """
    correct = np.asarray(right, dtype=np.float64)
    k = correct.shape[0]
    by_model, by_case = correct.sum(axis=1), correct.sum(axis=0)
    denominator = float(k * by_case.sum() - (by_case**2).sum())
    comparison = Comparison(names[0], ", ".join(names[1:]), "cochran q", ACCURACY.name, df=float(k - 1), several=True)
    if denominator == 0:
        return replace(comparison, statistic=0.0, p=1.0, reason=_NO_DISCORDANT)
    q = (k - 1) * float(k * (by_model**2).sum() - by_model.sum() ** 2) / denominator
    return replace(comparison, statistic=q, p=float(chdtrc(k - 1, q)))
