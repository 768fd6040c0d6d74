"""Decisions on the same cases: McNemar's test for two models, Cochran's Q for several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, get_args

import numpy as np

from scorespace.comparisons.answer import Alternative, Comparison
from scorespace.comparisons.datasets import sign_p
from scorespace.comparisons.difference import combined
from scorespace.comparisons.question import RIGHT, Paired, Several
from scorespace.comparisons.suits import (
    any_of_several,
    case_by_case,
    decided,
    each_case_once,
    not_in_folds,
    of_decisions,
    ungrouped,
    unweighted,
)
from scorespace.comparisons.test import test
from scorespace.errors import ScoreSpaceError
from scorespace.resampling.share import wilson
from scorespace.results import grouped, note
from scorespace.special import chdtrc
from scorespace.tables import Array, Table

Method = Literal["corrected", "uncorrected", "exact", "midp"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)
FEW_DISCORDANT: Final = 25
"""Below it the chi-squared approximation is poor, and mid-p is the default."""

_TOGETHER: Final = "there are no discordant cases: the decisions are right and wrong together"
_HARDLY_ANY: Final = 10  # discordant cases from which no test tells much


@test(
    title="McNemar's test",
    for_="decisions: counts the cases on which only one of two models is right",
    suits=(of_decisions, decided, each_case_once, unweighted, not_in_folds, ungrouped),
    directed=True,
    spellings={f"mcnemar_{method}": {"method": method} for method in METHODS},
)
def mcnemar(
    question: Paired[Table],
    *,
    method: Annotated[
        Literal["auto", "corrected", "uncorrected", "exact", "midp"],
        "χ² corrected or not, exact binomial, or mid-p; auto: mid-p below 25 discordant cases, else corrected",
    ] = "auto",
) -> Comparison:
    """Cases on which only one model is right, n₁₀ and n₀₁: (|n₁₀ − n₀₁| − 1)² / (n₁₀ + n₀₁), or their binomial."""
    right = [question.right(model) for model in question.names]
    stated = None if method == "auto" else method
    times = question.cases.times
    asked: dict[str, Any] = {"method": stated, "level": question.level, "alternative": question.alternative}
    found = replace(mcnemar_test(*right, names=question.names, times=times, **asked), measure=question.of)
    ((_, only_a), (only_b, _)) = found.table or ((0, 0), (0, 0))
    if only_a + only_b >= _HARDLY_ANY:
        return found
    text = f"{found.a} and {found.b} disagree on {grouped(only_a + only_b)} cases only: from so few no test tells much."
    return replace(found, notes=(note("SS014", text),))


@mcnemar.on(of_decisions, case_by_case, decided, each_case_once, unweighted, any_of_several)
def _all_decisions(question: Several[Table]) -> Comparison:
    """Cochran's Q."""
    right = np.stack([question.right(model) for model in question.models])
    return replace(cochran_q(right, names=question.models), measure=question.of)


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
    """Whether two models are right on the same share of cases; only cases on which they differ tell.

    The table counts both right, only a; only b, neither. Without a method: mid-p below 25 discordant
    cases, else the chi-squared with continuity correction. One side alone is asked of the binomial, whose two tails
    share the count that was seen; of χ² both are. The interval is Newcombe's for paired shares. A row may stand for so
    many `times` cases.

    >>> right = np.array([True] * 12 + [False] * 4)
    >>> mcnemar_test(right, right[::-1]).table
    ((8, 4), (4, 0))
    """
    a_right, b_right = np.asarray(a_right, dtype=bool), np.asarray(b_right, dtype=bool)
    counted = np.bincount(2 * a_right + b_right, times, minlength=4).astype(np.int64).tolist()
    neither, only_b, only_a, both = counted
    total, discordant = sum(counted), only_a + only_b
    chosen = method or ("midp" if discordant < FEW_DISCORDANT else "corrected")
    of_chi2 = chosen in ("corrected", "uncorrected")
    sided = "two-sided" if of_chi2 else alternative
    statistic, p = mcnemar_p(only_a, only_b, chosen, sided)
    low, high = newcombe_paired(both, only_a, only_b, neither, level)
    return Comparison(
        *names,
        f"mcnemar, {chosen}",
        RIGHT.name,
        (only_a - only_b) / total,
        low,
        high,
        level,
        statistic,
        1.0 if of_chi2 else math.nan,
        p,
        reason=None if discordant else _TOGETHER,
        table=((both, only_a), (only_b, neither)),
        alternative=sided,
    )


MOST_COUNTED: Final = 10_000_000
CELLS: Final = ("both wrong", "only {a} right", "only {b} right", "both right")
"""What n00, n01, n10 and n11 count: 1 stands for right, and n01 are the cases that the first model gets right alone."""


def decisions_from_counts(counts: Sequence[Any], names: tuple[str, str] = ("a", "b")) -> dict[str, Array]:
    """The truth and the decisions of two models of which n00, n01, n10, n11 cases are known.

    >>> {name: found.tolist() for name, found in decisions_from_counts([0, 2, 1, 0]).items()}["a"]
    ['right', 'right', 'wrong']
    """
    try:
        sizes = [int(part) for part in counts]
        exact = all(float(part) == size for part, size in zip(counts, sizes, strict=True))
    except (TypeError, ValueError, OverflowError):
        sizes, exact = [], False
    written = ",".join(map(str, counts))
    if not exact or len(sizes) != 4 or min(sizes) < 0 or not sum(sizes):
        raise ScoreSpaceError(
            f"counts={written} are no four counts.",
            hint="both wrong, only a right, only b right, both right: 20,40,20,120",
        )
    if sum(sizes) > MOST_COUNTED:
        raise ScoreSpaceError(
            f"counts={written} are more cases than can be listed.",
            seen=f"{sum(sizes)} cases",
            hint="smaller counts in the same proportions",
        )
    if "truth" in names or len(set(names)) < 2:
        raise ScoreSpaceError(f"names={','.join(names)} do not name two models.", hint='names=("a", "b")')
    label = np.array(["wrong", "right"])
    right = dict(zip(names, ([0, 1, 0, 1], [0, 0, 1, 1]), strict=True))
    told = {model: np.repeat(label[np.array(marks)], sizes) for model, marks in right.items()}
    return {"truth": np.repeat(label[1:], sum(sizes)), **told}


def name_cells(counts: Sequence[Any], names: tuple[str, str]) -> str:
    """The four counts with what each of them counts, for people."""
    a, b = names
    told = (f"{cell.format(a=a, b=b)} {grouped(int(count))}" for cell, count in zip(CELLS, counts, strict=True))
    return ", ".join(told)


def newcombe_paired(both: int, only_a: int, only_b: int, neither: int, level: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval for the difference of two shares of the same cases (1998, method 10).

    Wilson's intervals of both shares, combined with the correlation φ of the two; where the cases agree more than
    they disagree, φ is corrected for continuity. It has width also when no case is discordant.

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
    return combined(a / total, wilson(a, total, level), b / total, wilson(b, total, level), phi)


def mcnemar_p(only_a: int, only_b: int, method: Method, alternative: Alternative = "two-sided") -> tuple[float, float]:
    """Statistic and p-value from the two discordant counts; without any, p = 1; of χ² two-sided whatever is asked.

    >>> mcnemar_p(6, 16, "corrected")[0]
    3.6818181818181817
    """
    if method not in METHODS:
        raise ScoreSpaceError(f"method={method!r} is unknown.", seen=f"{METHODS}", hint="one of these")
    total, gap = only_a + only_b, abs(only_a - only_b)
    if total == 0:
        return math.nan, 1.0
    if method in ("corrected", "uncorrected"):
        # Equal counts leave nothing to correct.
        statistic = max(0, gap - (method == "corrected")) ** 2 / total
        return statistic, float(chdtrc(1, statistic))
    return math.nan, sign_p(only_a, only_b, alternative, share=1.0 if method == "exact" else 0.5)


def cochran_q(right: Array, *, names: Sequence[str]) -> Comparison:
    """Whether several models are right on the same share of cases (rows models, columns cases).

    Q = (k−1)·(k·Σ Gⱼ² − (Σ Gⱼ)²) / (k·Σ Lᵢ − Σ Lᵢ²), χ² with k − 1 degrees of freedom; for two models it is
    McNemar's uncorrected statistic.
    """
    hits = np.asarray(right, dtype=np.float64)
    k = hits.shape[0]
    by_model, by_case = hits.sum(axis=1), hits.sum(axis=0)
    spread = float(k * by_case.sum() - (by_case**2).sum())
    found = Comparison(names[0], ", ".join(names[1:]), "cochran q", RIGHT.name, df=float(k - 1), several=True)
    if spread == 0:
        return replace(found, statistic=0.0, p=1.0, reason=_TOGETHER)
    q = (k - 1) * float(k * (by_model**2).sum() - by_model.sum() ** 2) / spread
    return replace(found, statistic=q, p=float(chdtrc(k - 1, q)))
