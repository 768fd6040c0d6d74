"""How many cases it takes: power and sample size for one AUC and for the difference of two (Hanley and McNeil)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from scorespace.errors import ConditionError, did_you_mean, listing
from scorespace.results import Note, Result, Row, decimals, grouped, note, plain
from scorespace.special import ndtr, ndtri

FEW: Final = 20
"""Below so many cases of a class the normal approximation is rough."""


_MOST_CASES: Final = 10**12
"""Beyond any study, and before numbers overflow."""


@dataclass(frozen=True, repr=False)
class Power(Result):
    """Cases of each class (for each model), and what they can show; `design` says of what.

    `design` is one (an AUC and a fixed value), width (the half width of an interval), paired (two
    models on the same cases) or unpaired (on different ones). `prevalences`, where they were looked for, are the least
    and the largest share of positives with which as many cases reach the power.
    """

    design: str
    auc: float
    n_pos: int
    n_neg: int
    alpha: float
    power: float = math.nan
    against: float = math.nan
    half_width: float = math.nan
    correlation: float = math.nan
    sides: int = 2
    prevalences: tuple[float, float] | None = None

    @property
    def cases(self) -> int:
        """All cases, those of both models when they are judged on different ones."""
        return (self.n_pos + self.n_neg) * (2 if self.design == "unpaired" else 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        fewest = min(self.n_pos, self.n_neg)
        if fewest >= FEW:
            return ()
        cases = "case" if fewest == 1 else "cases"
        words = f"with {grouped(fewest)} {cases} of a class, the variance and the normal approximation are rough."
        return (note("SS001", words),)

    @property
    def words(self) -> str:
        """The answer in a sentence."""
        each = " for each model" if self.design == "unpaired" else ""
        cases = f"{grouped(self.n_pos)} positive and {grouped(self.n_neg)} negative cases{each}"
        if self.design == "width":
            level = f"{100 * (1 - self.alpha):g} %"
            return f"With {cases}, the {level} interval of an AUC of {self.auc:.4g} is ± {decimals(self.half_width)}."
        if self.design == "one":
            aim = f"tell an AUC of {self.auc:.4g} from {self.against:.4g}"
        else:
            same = "on the same cases" if self.design == "paired" else "on different cases"
            aim = f"tell AUCs of {self.auc:.4g} and {self.against:.4g} apart {same}"
            aim += f" (correlation {self.correlation:.4g})" if self.design == "paired" else ""
        sided = "one-sided" if self.sides == 1 else "two-sided"
        found = f"With {cases}, a {sided} test at {self.alpha:.4g} has power {decimals(self.power)} to {aim}."
        if self.prevalences is None:
            return found
        low, high = (f"{100 * share:.3g} %" for share in self.prevalences)
        return f"{found} So many cases do where {low} to {high} of them are positive."

    def rows(self) -> list[Row]:
        row = {
            "design": self.design,
            "auc": self.auc,
            "against": self.against,
            "half_width": self.half_width,
            "correlation": self.correlation,
            "alpha": self.alpha,
            "sides": self.sides,
            "power": self.power,
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "cases": self.cases,
        }
        if self.prevalences is not None:
            row |= {"prevalence": self.prevalences[0], "prevalence_most": self.prevalences[1]}
        return [plain(row)]


def hanley_variance(auc: float, n_pos: float, n_neg: float) -> float:
    """Variance of an AUC: [A(1−A) + (P−1)(Q₁−A²) + (N−1)(Q₂−A²)] / PN, Q₁ = A/(2−A), Q₂ = 2A²/(1+A).

    >>> round(hanley_variance(0.8931, 51, 58) ** 0.5, 4)
    0.0325
    """
    square = auc * auc
    of_pos, of_neg = auc / (2 - auc) - square, 2 * square / (1 + auc) - square
    return (auc * (1 - auc) + (n_pos - 1) * of_pos + (n_neg - 1) * of_neg) / (n_pos * n_neg)


def auc_power(auc: float, n_pos: int, n_neg: int, *, null: float = 0.5, alpha: float = 0.05, sides: int = 2) -> Power:
    """The power to tell an AUC from a fixed value: Φ((|A − A₀| − z √V₀) / √V), V₀ at the value, V at the AUC.

    >>> auc_power(0.8, 30, 70, null=0.7)
    With 30 positive and 70 negative cases, a two-sided test at 0.05 has power 0.368 to tell an AUC of 0.8 from 0.7.
    """
    _check(alpha=alpha, sides=sides, n_pos=n_pos, n_neg=n_neg, auc=auc, null=null)
    power = _power(auc - null, hanley_variance(null, n_pos, n_neg), hanley_variance(auc, n_pos, n_neg), alpha, sides)
    return Power("one", auc, n_pos, n_neg, alpha, power, null, sides=sides)


def auc_sample_size(
    auc: float,
    *,
    null: float | None = None,
    half_width: float | None = None,
    prevalence: float | None = None,
    ratio: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """The fewest cases that tell an AUC from a fixed value with the power, or whose interval is that narrow.

    State `null` or `half_width` (of the interval of level 1 − alpha), and the `prevalence` of positives
    or the `ratio` of negatives to positives.

    >>> auc_sample_size(0.8, half_width=0.05, prevalence=0.3)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    if (null is None) == (half_width is None):
        raise ConditionError("state one aim of the sample.", hint="null=0.5 to test, or half_width=0.05")
    negatives = _ratio(prevalence, ratio)
    if half_width is not None:
        _check(alpha=alpha, auc=auc)
        if not 0 < half_width < 1:
            raise ConditionError(f"half_width={half_width:g} is not a half width.", hint="such as 0.05")
        wanted = half_width

        n_pos, n_neg = _fewest(lambda p, n: auc_width(auc, p, n, alpha=alpha).half_width <= wanted, negatives)
        return auc_width(auc, n_pos, n_neg, alpha=alpha)
    value = 0.5 if null is None else null
    _check_aim(power, alpha, auc, value)
    n_pos, n_neg = _fewest(
        lambda n_pos, n_neg: auc_power(auc, n_pos, n_neg, null=value, alpha=alpha, sides=sides).power >= power,
        negatives,
    )
    return auc_power(auc, n_pos, n_neg, null=value, alpha=alpha, sides=sides)


def difference_power(
    a: float,
    b: float,
    n_pos: int,
    n_neg: int,
    *,
    correlation: float | None = None,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """The power to tell two AUCs apart: Φ((|A − B| − z √V₀) / √V), V = V_A + V_B − 2r √(V_A V_B).

    `correlation` r is that of the two estimated AUCs when both models score the same cases; without
    it, each model has so many cases of its own. When they are equal, both vary like the less certain
    of the two (Hanley and McNeil's V₀ = 2 V).

    >>> round(difference_power(0.8, 0.7, 100, 100, correlation=0.5).power, 3)
    0.79
    """
    _check(alpha=alpha, sides=sides, n_pos=n_pos, n_neg=n_neg, auc=a, against=b)
    r = 0.0 if correlation is None else correlation
    if not -1 < r < 1:
        raise ConditionError(f"correlation={r:g} is not a correlation.", hint="between −1 and 1, such as 0.5")
    of_a, of_b = hanley_variance(a, n_pos, n_neg), hanley_variance(b, n_pos, n_neg)
    under_null = 2 * max(of_a, of_b) * (1 - r)
    power = _power(a - b, under_null, of_a + of_b - 2 * r * math.sqrt(of_a * of_b), alpha, sides)
    design = "unpaired" if correlation is None else "paired"
    return Power(design, a, n_pos, n_neg, alpha, power, b, correlation=r, sides=sides)


def difference_sample_size(
    a: float,
    b: float,
    *,
    correlation: float | None = None,
    prevalence: float | None = None,
    ratio: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """The fewest cases (of each model, when unpaired) that tell two AUCs apart with the power.

    >>> difference_sample_size(0.75, 0.7, ratio=1, alpha=0.05, sides=1).n_pos
    654
    """
    _check_aim(power, alpha, a, b)
    n_pos, n_neg = _fewest(
        lambda n_pos, n_neg: (
            difference_power(a, b, n_pos, n_neg, correlation=correlation, alpha=alpha, sides=sides).power >= power
        ),
        _ratio(prevalence, ratio),
    )
    return difference_power(a, b, n_pos, n_neg, correlation=correlation, alpha=alpha, sides=sides)


TERMS: Final = ("auc", "against", "correlation", "alpha")
"""What a plan can be solved for beside its cases, its power and the width of its interval."""


def auc_width(auc: float, n_pos: int, n_neg: int, *, alpha: float = 0.05) -> Power:
    """The half width of the interval of an AUC: z √V.

    >>> auc_width(0.8, 128, 299)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    _check(alpha=alpha, auc=auc, n_pos=n_pos, n_neg=n_neg)
    width = float(ndtri(1 - alpha / 2)) * math.sqrt(hanley_variance(auc, n_pos, n_neg))
    return Power("width", auc, n_pos, n_neg, alpha, half_width=width)


def solved(
    term: str,
    n_pos: int,
    n_neg: int,
    *,
    auc: float | None = None,
    against: float | None = None,
    correlation: float | None = None,
    unpaired: bool = False,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """The plan with the auc, against, correlation or alpha at which so many cases reach the power.

    Two models are meant where a correlation is stated or looked for, or `unpaired`. An AUC to tell from another is
    looked for below it as `against`, above it as `auc`.

    >>> solved("against", 200, 200, auc=0.8, correlation=0.5).against.__round__(3)
    0.731
    """
    if term not in TERMS:
        near = did_you_mean(term, TERMS)
        hint = f"did you mean {near}?" if near else None
        raise ConditionError(f"a plan cannot be solved for {term!r}.", seen=f"it can for {listing(TERMS)}", hint=hint)
    stated = {"auc": auc, "against": against, "correlation": correlation, "alpha": alpha}
    missing = [name for name in ("auc", "against") if stated[name] is None and name != term]
    if missing:
        raise ConditionError(f"the {term} follows from the {missing[0]}, which is not stated.", hint=f"{missing[0]}=…")
    if term == "correlation" and unpaired:
        raise ConditionError("models on different cases are not correlated.", hint="leave out unpaired")
    two = unpaired or term == "correlation" or correlation is not None

    def plan(value: float) -> Power:
        one, other, together, error = (value if name == term else stated[name] for name in stated)
        one, other, error = float(one or 0), float(other or 0), float(error or 0)
        return _planned(two, one, other, n_pos, n_neg, together, error, sides)

    # Each with the end at which the power is least, and the one at which it is most.
    ends = {"auc": (against, 1.0), "against": (auc, 0.0), "correlation": (-1.0, 1.0), "alpha": (0.0, 1.0)}[term]
    least, most = float(ends[0] or 0.0), float(ends[1] or 0.0)
    step = 1e-9 * (most - least)
    below, above = least + step, most - step
    if not plan(below).power < power <= plan(above).power:
        raise ConditionError(
            f"no {term} gives these cases a power of {power:g}.",
            seen=f"from {decimals(plan(below).power)} to {decimals(plan(above).power)}",
            hint="other cases, or another power",
        )
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (below, middle) if plan(middle).power >= power else (middle, above)
    return plan(above)


def solved_prevalence(
    cases: int,
    *,
    auc: float,
    against: float,
    correlation: float | None = None,
    unpaired: bool = False,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
) -> Power:
    """The plan with the least share of positives at which so many cases (of each model, if unpaired) reach the power.

    The power is largest where classes are about equally large, and falls to both sides: `prevalences` has both ends.

    >>> solved_prevalence(400, auc=0.8, against=0.7, correlation=0.5).prevalences
    (0.1875, 0.8875)
    """
    _check_aim(power, alpha, auc, against)
    split(cases, 0.5)
    two = unpaired or correlation is not None

    def plan(n_pos: int) -> Power:
        return _planned(two, auc, against, n_pos, cases - n_pos, correlation, alpha, sides)

    def sure(n_pos: int) -> tuple[float, float]:
        """By the power; where it is 0 or 1 to the last digit, by the variances."""
        return plan(n_pos).power, -sum(hanley_variance(area, n_pos, cases - n_pos) for area in (auc, against))

    below, above = 1, cases - 1
    while above - below > 2:
        third = (above - below) // 3
        left, right = below + third, above - third
        below, above = (below, right) if sure(left) >= sure(right) else (left, above)
    best = max(range(below, above + 1), key=sure)
    if plan(best).power < power:
        raise ConditionError(
            f"no share of positives gives {grouped(cases)} cases a power of {power:g}.",
            seen=f"at most {decimals(plan(best).power)}, with {100 * best / cases:.3g} % positive",
            hint="more cases, or another power",
        )
    least, most = (_last(best, end, lambda n_pos: plan(n_pos).power >= power) for end in (1, cases - 1))
    return replace(plan(least), prevalences=(least / cases, most / cases))


def _planned(
    two: bool, a: float, b: float, n_pos: int, n_neg: int, correlation: float | None, alpha: float, sides: int
) -> Power:
    """The power for an AUC against another one: that of a second model, or a value."""
    if two:
        return difference_power(a, b, n_pos, n_neg, correlation=correlation, alpha=alpha, sides=sides)
    return auc_power(a, n_pos, n_neg, null=b, alpha=alpha, sides=sides)


def _last(start: int, end: int, enough: Callable[[int], bool]) -> int:
    """The last number from the start to the end that is enough, as the start is."""
    if enough(end):
        return end
    while abs(end - start) > 1:
        middle = (start + end) // 2
        start, end = (middle, end) if enough(middle) else (start, middle)
    return start


def split(cases: int, prevalence: float) -> tuple[int, int]:
    """So many cases in positives and negatives, at least one of each.

    >>> split(100, 0.3)
    (30, 70)
    """
    _ratio(prevalence, None)
    if cases < 2:
        raise ConditionError(f"cases={cases} are not cases of two classes.", hint="at least 2")
    n_pos = min(max(1, round(cases * prevalence)), cases - 1)
    return n_pos, cases - n_pos


def _power(gap: float, under_null: float, variance: float, alpha: float, sides: int) -> float:
    """The chance that a normal test statistic is beyond its bound; two-sided, in either direction."""
    bound, error = float(ndtri(1 - alpha / sides)) * math.sqrt(under_null), math.sqrt(variance)
    expected = float(ndtr((abs(gap) - bound) / error))
    return expected if sides == 1 else expected + float(ndtr((-abs(gap) - bound) / error))


def _fewest(enough: Callable[[int, int], bool], ratio: float) -> tuple[int, int]:
    """The least numbers of positives and negatives in that ratio that are enough; the rarer class counts up."""

    def sizes(rarer: int) -> tuple[int, int]:
        # Rounding up must not take 3.0000000001 for more than 3.
        other = max(1, math.ceil(rarer * max(ratio, 1 / ratio) - 1e-9))
        return (rarer, other) if ratio >= 1 else (other, rarer)

    above = 2
    while max(sizes(above)) <= _MOST_CASES and not enough(*sizes(above)):
        above *= 2
    if max(sizes(above)) > _MOST_CASES:
        seen = f"more than {grouped(_MOST_CASES)} cases"
        raise ConditionError("no study is large enough for this aim.", seen=seen, hint="a lesser aim")
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(*sizes(middle)) else (middle, above)
    return sizes(above)


def _ratio(prevalence: float | None, ratio: float | None) -> float:
    """Negatives for each positive."""
    if (prevalence is None) == (ratio is None):
        raise ConditionError(
            "state how many cases are positive.", hint="prevalence=0.3, or ratio=2 of negatives to positives"
        )
    if prevalence is not None:
        if not 0 < prevalence < 1:
            raise ConditionError(f"prevalence={prevalence:g} is not the share of a class.", hint="between 0 and 1")
        return (1 - prevalence) / prevalence
    if ratio is None or not (ratio > 0 and math.isfinite(ratio)):
        raise ConditionError(f"ratio={ratio:g} is not a ratio of negatives to positives.", hint="a number above 0")
    return ratio


def _check_aim(power: float, alpha: float, auc: float, against: float) -> None:
    _check(alpha=alpha, auc=auc, against=against)
    if not alpha < power < 1:
        raise ConditionError(f"power={power:g} is not a power to reach.", hint=f"between {alpha:g} and 1, such as 0.8")
    if auc == against:
        raise ConditionError(
            f"no number of cases tells an AUC of {auc:g} from {against:g}.", hint="two AUCs that differ"
        )


def _check(*, alpha: float, sides: int = 2, n_pos: int = 2, n_neg: int = 2, **areas: float) -> None:
    for name, area in areas.items():
        if not 0 < area < 1:
            raise ConditionError(f"{name}={area:g} is not an area that varies.", hint="between 0 and 1, such as 0.8")
    if not 0 < alpha < 1:
        raise ConditionError(f"alpha={alpha:g} is not a probability of error.", hint="such as 0.05")
    if sides not in (1, 2):
        raise ConditionError(f"sides={sides} is not a number of sides.", hint="1 or 2")
    if n_pos < 1 or n_neg < 1:
        raise ConditionError(f"n_pos={n_pos}, n_neg={n_neg} are not cases of two classes.", hint="at least 1 of each")
