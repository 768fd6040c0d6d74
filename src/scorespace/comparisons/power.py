"""How many cases it takes: power and sample size for one AUC, for the difference of two, and for a share."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal

from scorespace.errors import ConditionError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.resampling.share import wilson
from scorespace.results import Note, Result, Row, decimals, grouped, note, plain
from scorespace.special import ndtr, ndtri

FEW: Final = 20
"""Below so many cases of a class the normal approximation is rough."""

TERMS: Final = ("auc", "against", "correlation", "alpha")
"""What a plan can be solved for beside its cases, its power and the width of its interval."""

Variance = Literal["hanley", "obuchowski"]
"""How much an AUC varies: after Hanley and McNeil, or after Obuchowski, as pROC has it."""

_MOST_CASES: Final = 10**12  # beyond any study, and before numbers overflow


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
    variance: Variance = "hanley"
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
        stated = ("design", "auc", "against", "half_width", "correlation", "alpha", "sides", "variance")
        row = {name: getattr(self, name) for name in (*stated, "power", "n_pos", "n_neg", "cases")}
        if self.prevalences is not None:
            row |= {"prevalence": self.prevalences[0], "prevalence_most": self.prevalences[1]}
        return [plain(row)]


@dataclass(frozen=True, repr=False)
class SharePlan(Result):
    """How narrow the Wilson interval of a share, such as a sensitivity, is with so many cases that it is a share of.

    `cases` are all cases that give so many of the class, where its `prevalence` is stated.
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
        """The answer in a sentence."""
        of = "" if self.cases is None else f", of {grouped(self.cases)} in all"
        many = "case" if self.n == 1 else "cases"
        return (
            f"With {grouped(self.n)} {many}{of}, the {100 * (1 - self.alpha):g} % Wilson interval of a share of "
            f"{self.share:.4g} is {decimals(self.low)} to {decimals(self.high)}, half of which is "
            f"{decimals(self.half_width)}."
        )

    def rows(self) -> list[Row]:
        stated = ("share", "half_width", "low", "high", "alpha", "prevalence", "n", "cases")
        return [plain({"design": "share"} | {name: getattr(self, name) for name in stated})]


def share_width(share: float, n: int, *, prevalence: float = math.nan, alpha: float = 0.05) -> SharePlan:
    """The half width of Wilson's interval of a share of n cases: z √(p(1 − p)/n + z²/4n²) / (1 + z²/n).

    >>> share_width(0.9, 150)
    With 150 cases, the 95 % Wilson interval of a share of 0.9 is 0.842 to 0.938, half of which is 0.048.
    """
    if not 0 <= share <= 1:
        raise ConditionError(f"share={share:g} is not a share.", hint="between 0 and 1, such as 0.9")
    _check(alpha)
    if n < 1:
        raise ConditionError(f"n={n} are no cases.", hint="at least 1")
    cases = None
    if not math.isnan(prevalence):
        _check_share(prevalence)
        cases = math.ceil(n / prevalence - 1e-9)  # rounding up must not take 300.0000000001 for more than 300
    low, high = wilson(share * n, n, 1 - alpha)
    return SharePlan(share, n, (high - low) / 2, alpha, low, high, prevalence, cases)


def sample_size_of_share(
    share: float, within: float, *, prevalence: float = math.nan, alpha: float = 0.05
) -> SharePlan:
    """The fewest cases whose Wilson interval of a share, of level 1 − alpha, is no wider than twice `within`.

    >>> sample_size_of_share(0.9, 0.05, prevalence=0.2).n
    141
    """
    if not 0 < within < 0.5:
        raise ConditionError(f"within={within:g} is not a half width of a share.", hint="such as 0.05")

    def enough(n: int) -> bool:
        return share_width(share, n, prevalence=prevalence, alpha=alpha).half_width <= within

    return share_width(share, _first(enough, 1), prevalence=prevalence, alpha=alpha)


def hanley_variance(auc: float, n_pos: float, n_neg: float) -> float:
    """Variance of an AUC: [A(1−A) + (P−1)(Q₁−A²) + (N−1)(Q₂−A²)] / PN, Q₁ = A/(2−A), Q₂ = 2A²/(1+A).

    >>> round(hanley_variance(0.8931, 51, 58) ** 0.5, 4)
    0.0325
    """
    square = auc * auc
    of_pos, of_neg = auc / (2 - auc) - square, 2 * square / (1 + auc) - square
    return (auc * (1 - auc) + (n_pos - 1) * of_pos + (n_neg - 1) * of_neg) / (n_pos * n_neg)


def obuchowski_variance(auc: float, n_pos: float, n_neg: float) -> float:
    """Variance of an AUC of ratings, as pROC plans by: 0.0099 e^(−a²/2) [(5a² + 8)/P + (a² + 8)/N], a = 1.414 Φ⁻¹(A).

    >>> round(obuchowski_variance(0.5, 100, 100) * 100, 4)
    0.1584
    """
    apart = (1.414 * float(ndtri(auc))) ** 2
    return 0.0099 * math.exp(-apart / 2) * ((5 * apart + 8) / n_pos + (apart + 8) / n_neg)


VARIANCES: Final[dict[Variance, Callable[[float, float, float], float]]] = {
    "hanley": hanley_variance,
    "obuchowski": obuchowski_variance,
}


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What a study is to tell: an AUC from a value, or from the AUC of another model on the same or on other cases.

    `correlation` is that of the two estimated AUCs when both models score the same cases; `unpaired` models have so
    many cases of their own.
    """

    auc: float = math.nan
    against: float = math.nan
    correlation: float | None = None
    unpaired: bool = False
    alpha: float = 0.05
    sides: int = 2
    variance: Variance = "hanley"

    def with_cases(self, n_pos: int, n_neg: int) -> Power:
        """The power of so many cases: Φ((|A − B| − z √V₀) / √V), two-sided in either direction.

        Of one model, V₀ is the variance at the value and V that at the AUC; of two, V = V_A + V_B − 2r √(V_A V_B),
        and when they are equal, both vary like the less certain of the two (Hanley and McNeil's V₀ = 2 V).

        >>> Aim(auc=0.8, against=0.7).with_cases(30, 70)
        With 30 positive and 70 negative cases, a two-sided test at 0.05 has power 0.368 to tell an AUC of 0.8 from 0.7.
        >>> round(Aim(auc=0.8, against=0.7, correlation=0.5).with_cases(100, 100).power, 3)
        0.79
        """
        _check(self.alpha, self.sides, n_pos, n_neg, auc=self.auc, against=self.against)
        variance, under_null = (VARIANCES[self.variance](area, n_pos, n_neg) for area in (self.auc, self.against))
        design, r = "one", math.nan
        if self.unpaired or self.correlation is not None:
            design = "unpaired" if self.correlation is None else "paired"
            r = self.correlation or 0.0
            if not -1 < r < 1:
                raise ConditionError(f"correlation={r:g} is not a correlation.", hint="between −1 and 1, such as 0.5")
            of_a, of_b = variance, under_null
            variance, under_null = of_a + of_b - 2 * r * math.sqrt(of_a * of_b), 2 * max(of_a, of_b) * (1 - r)
        gap, error = abs(self.auc - self.against), math.sqrt(variance)
        bound = float(ndtri(1 - self.alpha / self.sides)) * math.sqrt(under_null)
        power = float(ndtr((gap - bound) / error))
        power += 0.0 if self.sides == 1 else float(ndtr((-gap - bound) / error))
        plan = Power(design, self.auc, n_pos, n_neg, self.alpha, power, self.against)
        return replace(plan, correlation=r, sides=self.sides, variance=self.variance)

    def check(self, power: float) -> None:
        """Refuse a power that cannot be reached, or not by cases."""
        _check(self.alpha, auc=self.auc, against=self.against)
        if not self.alpha < power < 1:
            hint = f"between {self.alpha:g} and 1, such as 0.8"
            raise ConditionError(f"power={power:g} is not a power to reach.", hint=hint)
        if self.auc == self.against:
            problem = f"no number of cases tells an AUC of {self.auc:g} from {self.against:g}."
            raise ConditionError(problem, hint="two AUCs that differ")


def sample_size(aim: Aim, prevalence: float, power: float = 0.8) -> Power:
    """The fewest cases (of each model, when unpaired) with that share of positives that reach an aim with the power.

    >>> sample_size(Aim(auc=0.75, against=0.7, unpaired=True, sides=1), 0.5).n_pos
    654
    """
    aim.check(power)
    return aim.with_cases(*_fewest(lambda *cases: aim.with_cases(*cases).power >= power, prevalence))


def auc_width(auc: float, n_pos: int, n_neg: int, *, alpha: float = 0.05, variance: Variance = "hanley") -> Power:
    """The half width of the interval of an AUC: z √V.

    >>> auc_width(0.8, 128, 299)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    _check(alpha, 2, n_pos, n_neg, auc=auc)
    width = float(ndtri(1 - alpha / 2)) * math.sqrt(VARIANCES[variance](auc, n_pos, n_neg))
    return Power("width", auc, n_pos, n_neg, alpha, half_width=width, variance=variance)


def sample_size_of_width(
    auc: float, half_width: float, prevalence: float, *, alpha: float = 0.05, variance: Variance = "hanley"
) -> Power:
    """The fewest cases with that share of positives whose interval of an AUC, of level 1 − alpha, is that narrow.

    >>> sample_size_of_width(0.8, 0.05, 0.3)
    With 128 positive and 299 negative cases, the 95 % interval of an AUC of 0.8 is ± 0.050.
    """
    _check(alpha, auc=auc)
    if not 0 < half_width < 1:
        raise ConditionError(f"half_width={half_width:g} is not a half width.", hint="such as 0.05")

    def width(n_pos: int, n_neg: int) -> Power:
        return auc_width(auc, n_pos, n_neg, alpha=alpha, variance=variance)

    return width(*_fewest(lambda *cases: width(*cases).half_width <= half_width, prevalence))


def solved(term: str, aim: Aim, n_pos: int, n_neg: int, power: float = 0.8) -> Power:
    """The plan with the auc, against, correlation or alpha at which so many cases reach the power.

    An AUC to tell from another is looked for below it as `against`, above it as `auc`.

    >>> solved("against", Aim(auc=0.8, correlation=0.5), 200, 200).against.__round__(3)
    0.731
    """
    if term not in TERMS:
        hint = did_you_mean(term, TERMS)
        raise ConditionError(f"a plan cannot be solved for {term!r}.", seen=f"it can for {listing(TERMS)}", hint=hint)
    missing = [name for name in ("auc", "against") if math.isnan(getattr(aim, name)) and name != term]
    if missing:
        raise ConditionError(f"the {term} follows from the {missing[0]}, which is not stated.", hint=f"{missing[0]}=…")
    if term == "correlation" and aim.unpaired:
        raise ConditionError("models on different cases are not correlated.", hint="leave out unpaired")

    def plan(value: float) -> Power:
        found: dict[str, Any] = {term: value}
        return replace(aim, **found).with_cases(n_pos, n_neg)

    # Each with the end at which the power is least, and the one at which it is most.
    ends = {"auc": (aim.against, 1.0), "against": (aim.auc, 0.0), "correlation": (-1.0, 1.0), "alpha": (0.0, 1.0)}
    least, most = ends[term]
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


def solved_prevalence(aim: Aim, cases: int, power: float = 0.8) -> Power:
    """The plan with the least share of positives at which so many cases (of each model, if unpaired) reach the power.

    The power is largest where classes are about equally large, and falls to both sides: `prevalences` has both ends.

    >>> solved_prevalence(Aim(auc=0.8, against=0.7, correlation=0.5), 400).prevalences
    (0.1875, 0.8875)
    """
    aim.check(power)
    split(cases, 0.5)
    variance = VARIANCES[aim.variance]

    def plan(n_pos: int) -> Power:
        return aim.with_cases(n_pos, cases - n_pos)

    def sure(n_pos: int) -> tuple[float, float]:
        """By the power; where it is 0 or 1 to the last digit, by the variances."""
        return plan(n_pos).power, -sum(variance(area, n_pos, cases - n_pos) for area in (aim.auc, aim.against))

    best = 1 + bisect_left(range(1, cases - 1), True, key=lambda n_pos: sure(n_pos) >= sure(n_pos + 1))
    if plan(best).power < power:
        raise ConditionError(
            f"no share of positives gives {grouped(cases)} cases a power of {power:g}.",
            seen=f"at most {decimals(plan(best).power)}, with {100 * best / cases:.3g} % positive",
            hint="more cases, or another power",
        )
    least = 1 + bisect_left(range(1, best), True, key=lambda n_pos: plan(n_pos).power >= power)
    most = best + bisect_left(range(best + 1, cases), True, key=lambda n_pos: plan(n_pos).power < power)
    return replace(plan(least), prevalences=(least / cases, most / cases))


def split(cases: int, prevalence: float) -> tuple[int, int]:
    """So many cases in positives and negatives, at least one of each.

    >>> split(100, 0.3)
    (30, 70)
    """
    _check_share(prevalence)
    if cases < 2:
        raise ConditionError(f"cases={cases} are not cases of two classes.", hint="at least 2")
    n_pos = min(max(1, round(cases * prevalence)), cases - 1)
    return n_pos, cases - n_pos


def _fewest(enough: Callable[[int, int], bool], prevalence: float) -> tuple[int, int]:
    """The least numbers of positives and negatives in that proportion that are enough; the rarer class counts up."""
    _check_share(prevalence)
    ratio = (1 - prevalence) / prevalence

    def sizes(rarer: int) -> tuple[int, int]:
        # Rounding up must not take 3.0000000001 for more than 3.
        other = max(1, math.ceil(rarer * max(ratio, 1 / ratio) - 1e-9))
        return (rarer, other) if ratio >= 1 else (other, rarer)

    return sizes(_first(lambda rarer: enough(*sizes(rarer)), 2, int(_MOST_CASES / max(ratio, 1 / ratio))))


def _first(enough: Callable[[int], bool], least: int, most: int = _MOST_CASES) -> int:
    """The first number from the least to the most that is enough, as all beyond it are."""
    found = least + bisect_left(range(least, most), True, key=enough)
    if found >= most:
        seen = f"more than {grouped(_MOST_CASES)} cases"
        raise ConditionError("no study is large enough for this aim.", seen=seen, hint="a lesser aim")
    return found


def _check_share(prevalence: float) -> None:
    if not 0 < prevalence < 1:
        raise ConditionError(f"prevalence={prevalence:g} is not the share of a class.", hint="between 0 and 1")


def _check(alpha: float, sides: int = 2, n_pos: int = 2, n_neg: int = 2, **areas: float) -> None:
    for name, area in areas.items():
        if not 0 < area < 1:
            raise ConditionError(f"{name}={area:g} is not an area that varies.", hint="between 0 and 1, such as 0.8")
    if not 0 < alpha < 1:
        raise ConditionError(f"alpha={alpha:g} is not a probability of error.", hint="such as 0.05")
    if sides not in (1, 2):
        raise ConditionError(f"sides={sides} is not a number of sides.", hint="1 or 2")
    if n_pos < 1 or n_neg < 1:
        raise ConditionError(f"n_pos={n_pos}, n_neg={n_neg} are not cases of two classes.", hint="at least 1 of each")
