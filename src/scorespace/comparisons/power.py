"""Power and sample size: for one AUC, for the difference of two, and for a proportion."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from scipy.special import ndtr, ndtri

from scorespace.errors import ConditionError, did_you_mean, listing
from scorespace.inference.proportion import wilson
from scorespace.results import Note, Result, Row, decimals, grouped, note, to_json_types

MIN_CLASS_CASES: Final = 20
"""Cases of a class below which the normal approximation is rough."""

TERMS: Final = ("auc", "against", "correlation", "alpha")
"""Quantities a plan can be solved for, besides cases, power and interval width."""

Variance = Literal["hanley", "obuchowski"]
"""Variance formula of an AUC: Hanley and McNeil (1982), or Obuchowski (1994) as in pROC."""

_MAX_CASES: Final = 10**12  # more than in any study; larger numbers would overflow


@dataclass(frozen=True, repr=False)
class Power(Result):
    """Cases of each class (per model) and the power or interval width they give.

    `design` is one (an AUC and a fixed value), width (half width of an interval), paired (two models on the same cases)
    or unpaired (on different cases). `prevalences`, if solved for, are the lowest and highest prevalence at which this
    number of cases reaches the power.
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
    variance: Variance = "hanley"
    prevalences: tuple[float, float] | None = None

    @property
    def cases(self) -> int:
        """Total number of cases, of both models if unpaired."""
        return (self.n_pos + self.n_neg) * (2 if self.design == "unpaired" else 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        fewest = min(self.n_pos, self.n_neg)
        if fewest >= MIN_CLASS_CASES:
            return ()
        cases = "case" if fewest == 1 else "cases"
        words = f"with {grouped(fewest)} {cases} of a class, the variance and the normal approximation are rough."
        return (note("SS001", words),)

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        per_model = " for each model" if self.design == "unpaired" else ""
        cases = f"{grouped(self.n_pos)} positive and {grouped(self.n_neg)} negative cases{per_model}"
        if self.design == "width":
            level = f"{100 * (1 - self.alpha):g} %"
            return f"With {cases}, the {level} interval of an AUC of {self.auc:.4g} is ± {decimals(self.half_width)}."
        if self.design == "one":
            goal = f"distinguish an AUC of {self.auc:.4g} from {self.against:.4g}"
        else:
            cases_text = "on the same cases" if self.design == "paired" else "on different cases"
            goal = f"detect a difference between AUCs of {self.auc:.4g} and {self.against:.4g} {cases_text}"
            goal += f" (correlation {self.correlation:.4g})" if self.design == "paired" else ""
        sided = "one-sided" if self.sides == 1 else "two-sided"
        text = f"With {cases}, a {sided} test at {self.alpha:.4g} has power {decimals(self.power)} to {goal}."
        if self.prevalences is None:
            return text
        low, high = (f"{100 * share:.3g} %" for share in self.prevalences)
        return f"{text} This holds for a prevalence of {low} to {high}."

    def rows(self) -> list[Row]:
        fields = ("design", "auc", "against", "half_width", "correlation", "alpha", "sides", "variance")
        row = {name: getattr(self, name) for name in (*fields, "power", "n_pos", "n_neg", "cases")}
        if self.prevalences is not None:
            row |= {"prevalence": self.prevalences[0], "prevalence_most": self.prevalences[1]}
        return [to_json_types(row)]


@dataclass(frozen=True, repr=False)
class SharePlan(Result):
    """Half width of the Wilson interval of a proportion, such as a sensitivity, for the given denominator.

    `cases` is the total number of cases needed for that denominator, where the `prevalence` of the class is stated.
    """

    share: float
    n: int
    half_width: float
    alpha: float
    low: float
    high: float
    prevalence: float = math.nan
    cases: int | None = None

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        total = "" if self.cases is None else f", of {grouped(self.cases)} in all"
        unit = "case" if self.n == 1 else "cases"
        return (
            f"With {grouped(self.n)} {unit}{total}, the {100 * (1 - self.alpha):g} % Wilson interval of a share of "
            f"{self.share:.4g} is {decimals(self.low)} to {decimals(self.high)}, half of which is "
            f"{decimals(self.half_width)}."
        )

    def rows(self) -> list[Row]:
        stated = ("share", "half_width", "low", "high", "alpha", "prevalence", "n", "cases")
        return [to_json_types({"design": "share"} | {name: getattr(self, name) for name in stated})]


def share_width(share: float, n: int, *, prevalence: float = math.nan, alpha: float = 0.05) -> SharePlan:
    """Half width of Wilson's interval of a proportion of n cases: z √(p(1 − p)/n + z²/4n²) / (1 + z²/n).

    >>> share_width(0.9, 150)
    With 150 cases, the 95 % Wilson interval of a share of 0.9 is 0.842 to 0.938, half of which is 0.048.
    """
    if not 0 <= share <= 1:
        raise ConditionError(f"share={share:g} is not a proportion.", hint="between 0 and 1, such as 0.9")
    _check_plan(alpha)
    if n < 1:
        raise ConditionError(f"n={n} is not a number of cases.", hint="at least 1")
    cases = None
    if not math.isnan(prevalence):
        _check_prevalence(prevalence)
        cases = math.ceil(n / prevalence - 1e-9)  # a rounding error must not add a case
    low, high = wilson(share * n, n, 1 - alpha)
    return SharePlan(share, n, (high - low) / 2, alpha, low, high, prevalence, cases)


def sample_size_of_share(
    share: float, within: float, *, prevalence: float = math.nan, alpha: float = 0.05
) -> SharePlan:
    """Return the fewest cases whose Wilson interval of a proportion, of level 1 − alpha, has half width `within`.

    >>> sample_size_of_share(0.9, 0.05, prevalence=0.2).n
    141
    """
    if not 0 < within < 0.5:
        raise ConditionError(f"within={within:g} is not a half width of a proportion.", hint="such as 0.05")

    def enough(n: int) -> bool:
        return share_width(share, n, prevalence=prevalence, alpha=alpha).half_width <= within

    return share_width(share, _first_sufficient(enough, 1), prevalence=prevalence, alpha=alpha)


def hanley_variance(auc: float, n_pos: float, n_neg: float) -> float:
    """Hanley and McNeil (1982): V = [A(1−A) + (P−1)(Q₁−A²) + (N−1)(Q₂−A²)] / PN, Q₁ = A/(2−A), Q₂ = 2A²/(1+A).

    >>> round(hanley_variance(0.8931, 51, 58) ** 0.5, 4)
    0.0325
    """
    square = auc * auc
    pos_term, neg_term = auc / (2 - auc) - square, 2 * square / (1 + auc) - square
    return (auc * (1 - auc) + (n_pos - 1) * pos_term + (n_neg - 1) * neg_term) / (n_pos * n_neg)


def obuchowski_variance(auc: float, n_pos: float, n_neg: float) -> float:
    """Obuchowski (1994): V = 0.0099 e^(−a²/2) [(5a² + 8)/P + (a² + 8)/N], a = 1.414 Φ⁻¹(A).

    >>> round(obuchowski_variance(0.5, 100, 100) * 100, 4)
    0.1584
    """
    squared_distance = (1.414 * float(ndtri(auc))) ** 2
    return (
        0.0099 * math.exp(-squared_distance / 2) * ((5 * squared_distance + 8) / n_pos + (squared_distance + 8) / n_neg)
    )


VARIANCES: Final[dict[Variance, Callable[[float, float, float], float]]] = {
    "hanley": hanley_variance,
    "obuchowski": obuchowski_variance,
}


@dataclass(frozen=True, kw_only=True)
class PowerTarget:
    """Target of a study: an AUC against a fixed value, or against the AUC of another model on the same or other cases.

    `correlation` is that of the two estimated AUCs if both models score the same cases; `unpaired` models have separate
    cases.
    """

    auc: float = math.nan
    against: float = math.nan
    correlation: float | None = None
    unpaired: bool = False
    alpha: float = 0.05
    sides: int = 2
    variance: Variance = "hanley"

    def with_cases(self, n_pos: int, n_neg: int) -> Power:
        """Return the power with the given cases: Φ((|A − B| − z √V₀) / √V), plus the other tail if two-sided.

        For one model, V₀ is the variance at the fixed value and V that at the AUC; for two models,
        V = V_A + V_B − 2r √(V_A V_B), and V₀ = 2 V (1 − r) with the larger variance (Hanley and McNeil 1983).

        >>> round(PowerTarget(auc=0.8, against=0.7).with_cases(30, 70).power, 3)
        0.368
        >>> round(PowerTarget(auc=0.8, against=0.7, correlation=0.5).with_cases(100, 100).power, 3)
        0.79
        """
        _check_plan(self.alpha, self.sides, n_pos, n_neg, auc=self.auc, against=self.against)
        variance, under_null = (VARIANCES[self.variance](area, n_pos, n_neg) for area in (self.auc, self.against))
        design, r = "one", math.nan
        if self.unpaired or self.correlation is not None:
            design = "unpaired" if self.correlation is None else "paired"
            r = self.correlation or 0.0
            if not -1 < r < 1:
                raise ConditionError(f"correlation={r:g} is not a correlation.", hint="between −1 and 1, such as 0.5")
            first_variance, second_variance = variance, under_null
            variance, under_null = (
                first_variance + second_variance - 2 * r * math.sqrt(first_variance * second_variance),
                2 * max(first_variance, second_variance) * (1 - r),
            )
        difference, error = abs(self.auc - self.against), math.sqrt(variance)
        bound = float(ndtri(1 - self.alpha / self.sides)) * math.sqrt(under_null)
        power = float(ndtr((difference - bound) / error))
        power += 0.0 if self.sides == 1 else float(ndtr((-difference - bound) / error))
        plan = Power(design, self.auc, n_pos, n_neg, self.alpha, power, self.against)
        return replace(plan, correlation=r, sides=self.sides, variance=self.variance)

    def check(self, power: float) -> None:
        """Raise an error for a power that cannot be reached by any number of cases."""
        _check_plan(self.alpha, auc=self.auc, against=self.against)
        if not self.alpha < power < 1:
            hint = f"between {self.alpha:g} and 1, such as 0.8"
            raise ConditionError(f"power={power:g} is not a possible power.", hint=hint)
        if self.auc == self.against:
            problem = f"no number of cases distinguishes an AUC of {self.auc:g} from {self.against:g}."
            raise ConditionError(problem, hint="two AUCs that differ")


def sample_size(aim: PowerTarget, prevalence: float, power: float = 0.8) -> Power:
    """Return the fewest cases (per model, if unpaired) at a prevalence that reach the power for a target.

    >>> sample_size(PowerTarget(auc=0.75, against=0.7, unpaired=True, sides=1), 0.5).n_pos
    654
    """
    aim.check(power)
    return aim.with_cases(*_fewest_cases(lambda *cases: aim.with_cases(*cases).power >= power, prevalence))


def auc_width(auc: float, n_pos: int, n_neg: int, *, alpha: float = 0.05, variance: Variance = "hanley") -> Power:
    """Half width of the confidence interval of an AUC: z √V.

    >>> auc_width(0.8, 128, 299)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    _check_plan(alpha, 2, n_pos, n_neg, auc=auc)
    width = float(ndtri(1 - alpha / 2)) * math.sqrt(VARIANCES[variance](auc, n_pos, n_neg))
    return Power("width", auc, n_pos, n_neg, alpha, half_width=width, variance=variance)


def sample_size_of_width(
    auc: float, half_width: float, prevalence: float, *, alpha: float = 0.05, variance: Variance = "hanley"
) -> Power:
    """Return the fewest cases at a prevalence whose interval of an AUC, of level 1 − alpha, has the given half width.

    >>> sample_size_of_width(0.8, 0.05, 0.3)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    _check_plan(alpha, auc=auc)
    if not 0 < half_width < 1:
        raise ConditionError(f"half_width={half_width:g} is not a half width.", hint="such as 0.05")

    def width(n_pos: int, n_neg: int) -> Power:
        return auc_width(auc, n_pos, n_neg, alpha=alpha, variance=variance)

    return width(*_fewest_cases(lambda *cases: width(*cases).half_width <= half_width, prevalence))


def solve_for(term: str, aim: PowerTarget, n_pos: int, n_neg: int, power: float = 0.8) -> Power:
    """Return the plan with the auc, against, correlation or alpha at which the given cases reach the power.

    The AUC is searched below the other one as `against`, above it as `auc`.

    >>> solve_for("against", PowerTarget(auc=0.8, correlation=0.5), 200, 200).against.__round__(3)
    0.731
    """
    if term not in TERMS:
        hint = did_you_mean(term, TERMS)
        raise ConditionError(f"a plan cannot be solved for {term!r}.", seen=f"it can for {listing(TERMS)}", hint=hint)
    missing = [name for name in ("auc", "against") if math.isnan(getattr(aim, name)) and name != term]
    if missing:
        raise ConditionError(f"solving for {term} needs {missing[0]}, which is not stated.", hint=f"{missing[0]}=…")
    if term == "correlation" and aim.unpaired:
        raise ConditionError("models on different cases are not correlated.", hint="omit unpaired")

    def plan(value: float) -> Power:
        changed: dict[str, Any] = {term: value}
        return replace(aim, **changed).with_cases(n_pos, n_neg)

    # The ends of the search range with the lowest and with the highest power.
    ends = {"auc": (aim.against, 1.0), "against": (aim.auc, 0.0), "correlation": (-1.0, 1.0), "alpha": (0.0, 1.0)}
    low_power_end, high_power_end = ends[term]
    step = 1e-9 * (high_power_end - low_power_end)
    below, above = low_power_end + step, high_power_end - step
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


def solve_for_prevalence(aim: PowerTarget, cases: int, power: float = 0.8) -> Power:
    """Return the plan with the lowest prevalence at which the given cases (per model, if unpaired) reach the power.

    The power is highest for about equal classes and decreases on both sides: `prevalences` has both ends.

    >>> solve_for_prevalence(PowerTarget(auc=0.8, against=0.7, correlation=0.5), 400).prevalences
    (0.1875, 0.8875)
    """
    aim.check(power)
    split_by_prevalence(cases, 0.5)
    variance = VARIANCES[aim.variance]

    def plan(n_pos: int) -> Power:
        return aim.with_cases(n_pos, cases - n_pos)

    def power_and_precision(n_pos: int) -> tuple[float, float]:
        """The power, and the negative variance where the power is 0 or 1 to the last digit."""
        return plan(n_pos).power, -sum(variance(area, n_pos, cases - n_pos) for area in (aim.auc, aim.against))

    best = 1 + bisect_left(
        range(1, cases - 1), True, key=lambda n_pos: power_and_precision(n_pos) >= power_and_precision(n_pos + 1)
    )
    if plan(best).power < power:
        raise ConditionError(
            f"no prevalence gives {grouped(cases)} cases a power of {power:g}.",
            seen=f"at most {decimals(plan(best).power)}, with {100 * best / cases:.3g} % positive",
            hint="more cases, or another power",
        )
    lowest = 1 + bisect_left(range(1, best), True, key=lambda n_pos: plan(n_pos).power >= power)
    highest = best + bisect_left(range(best + 1, cases), True, key=lambda n_pos: plan(n_pos).power < power)
    return replace(plan(lowest), prevalences=(lowest / cases, highest / cases))


def split_by_prevalence(cases: int, prevalence: float) -> tuple[int, int]:
    """Split cases into positives and negatives, at least one of each.

    >>> split_by_prevalence(100, 0.3)
    (30, 70)
    """
    _check_prevalence(prevalence)
    if cases < 2:
        raise ConditionError(f"cases={cases} are not cases of two classes.", hint="at least 2")
    n_pos = min(max(1, round(cases * prevalence)), cases - 1)
    return n_pos, cases - n_pos


def _fewest_cases(enough: Callable[[int, int], bool], prevalence: float) -> tuple[int, int]:
    """Return the smallest numbers of positives and negatives at a prevalence that satisfy a condition."""
    _check_prevalence(prevalence)
    ratio = (1 - prevalence) / prevalence

    def sizes(rarer: int) -> tuple[int, int]:
        # A rounding error must not add a case.
        other = max(1, math.ceil(rarer * max(ratio, 1 / ratio) - 1e-9))
        return (rarer, other) if ratio >= 1 else (other, rarer)

    return sizes(_first_sufficient(lambda rarer: enough(*sizes(rarer)), 2, int(_MAX_CASES / max(ratio, 1 / ratio))))


def _first_sufficient(enough: Callable[[int], bool], least: int, most: int = _MAX_CASES) -> int:
    """Return the first number in a range that satisfies a monotone condition."""
    number = least + bisect_left(range(least, most), True, key=enough)
    if number >= most:
        seen = f"more than {grouped(_MAX_CASES)} cases"
        raise ConditionError("no study is large enough for this target.", seen=seen, hint="a less ambitious target")
    return number


def _check_prevalence(prevalence: float) -> None:
    if not 0 < prevalence < 1:
        raise ConditionError(f"prevalence={prevalence:g} is not a prevalence.", hint="between 0 and 1")


def _check_plan(alpha: float, sides: int = 2, n_pos: int = 2, n_neg: int = 2, **areas: float) -> None:
    for name, area in areas.items():
        if not 0 < area < 1:
            raise ConditionError(
                f"{name}={area:g} is not an AUC strictly between 0 and 1.", hint="between 0 and 1, such as 0.8"
            )
    if not 0 < alpha < 1:
        raise ConditionError(f"alpha={alpha:g} is not a significance level.", hint="such as 0.05")
    if sides not in (1, 2):
        raise ConditionError(f"sides={sides} is not a number of sides.", hint="1 or 2")
    if n_pos < 1 or n_neg < 1:
        raise ConditionError(f"n_pos={n_pos}, n_neg={n_neg} are not cases of two classes.", hint="at least 1 of each")
