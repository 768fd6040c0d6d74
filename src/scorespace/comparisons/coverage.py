"""Tests of prediction intervals of one model: is their coverage the nominal level, and do misses cluster in time?

References: Kupiec (1995), "Techniques for verifying the accuracy of risk measurement models", Journal of Derivatives 3;
Christoffersen (1998), "Evaluating interval forecasts", International Economic Review 39.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from scipy.special import chdtrc, gammaln, xlog1py, xlogy

from scorespace.comparisons.design import Design
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import test
from scorespace.results import Row, p_text, to_json_types
from scorespace.tables import Array
from scorespace.tables.regression import IntervalTable

_DRAWS: Final = 2000
_MIN_CASES: Final = 2
_TIE: Final = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalsOfModel(Design[IntervalTable]):
    """The prediction intervals of one model; `order` sorts the cases in time, if there is a time column."""

    model: str
    sample: IntervalTable
    order: Array | None = None
    seed: int = 0
    asks: ClassVar[str] = "test whether prediction intervals cover at their nominal level"

    @property
    def misses(self) -> Array:
        """Whether each true value is outside its interval, in time order where known."""
        missed = ~self.sample.is_covered
        return np.asarray(missed if self.order is None else missed[self.order])

    @property
    def reason(self) -> str | None:
        """Why no test is possible."""
        if self.sample.level is None:
            return "undefined: the nominal level is unknown"
        if self.sample.cell_squares is not None:
            return "undefined: cases are weighted"
        return None if self.sample.truth.size >= _MIN_CASES else "undefined: fewer than two cases"

    @property
    def nominal(self) -> float:
        """Nominal share of misses."""
        return 1 - (self.sample.level or math.nan)


@dataclass(frozen=True, kw_only=True, repr=False)
class CoverageTest(Comparison):
    """A test of the prediction intervals of model `a`; `difference` is coverage minus nominal level, where tested."""

    def row(self) -> Row:
        names = ("test", "measure", "difference", "statistic", "df", "p", "reason")
        return {"model": self.a, **to_json_types({name: getattr(self, name) for name in names})}

    @property
    def words(self) -> str:
        """Whether the test rejects."""
        if math.isnan(self.p):
            return f"{self.a}: {self.test} is undefined: {self.reason}."
        what = "independent misses" if self.measure == "independence" else "the nominal coverage"
        doubt = f"{'' if self.is_significant else 'no '}evidence against {what}"
        return f"{self.a}: {doubt} ({self.test}, {p_text(self.p)})."

    def __repr__(self) -> str:
        return self.words


def _result(design: IntervalsOfModel, name: str, compute: Callable[[Array], tuple[float, float, float]]) -> Comparison:
    """Run a test that gives statistic, degrees of freedom and p, unless none is possible."""
    if design.reason is not None:
        return CoverageTest(design.model, "", name, "coverage", level=design.level, reason=design.reason)
    missed = design.misses
    statistic, df, p = compute(missed)
    gap = design.nominal - float(missed.mean())
    return CoverageTest(design.model, "", name, "coverage", gap, level=design.level, statistic=statistic, df=df, p=p)


@test(title="exact test of the coverage", for_="prediction intervals: the share of misses against the nominal share")
def binomial_coverage(design: IntervalsOfModel) -> Comparison:
    """Probability of a number of misses that is at most as likely as the observed one, under the nominal level."""

    def compute(missed: Array) -> tuple[float, float, float]:
        n, x = missed.size, int(missed.sum())
        k = np.arange(n + 1)
        log_p = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        log_p += xlogy(k, design.nominal) + xlog1py(n - k, -design.nominal)
        return float(x), math.nan, min(1.0, float(np.exp(log_p[log_p <= log_p[x] + 1e-7]).sum()))

    return _result(design, binomial_coverage.name, compute)


@test(title="Kupiec's test", for_="prediction intervals: likelihood ratio of the share of misses", aliases=("pof",))
def kupiec(design: IntervalsOfModel) -> Comparison:
    """LR = −2 ln[L(α) / L(x/n)] of x misses in n cases with the nominal share α, χ² with 1 df.

    Its true level at 5 % is 0.014 to 0.095 for 50 to 1 000 cases; `binomial_coverage` is exact.
    """

    def compute(missed: Array) -> tuple[float, float, float]:
        statistic = _of_share(np.asarray(missed.sum()), missed.size, design.nominal)
        return float(statistic), 1.0, float(chdtrc(1, statistic))

    return _result(design, kupiec.name, compute)


@test(
    title="Christoffersen's test",
    for_="prediction intervals over time: whether misses follow each other",
    aliases=("conditional_coverage",),
)
def christoffersen(
    design: IntervalsOfModel,
    *,
    joint: Annotated[bool, "test coverage and independence together"] = False,
    reference: Annotated[
        Literal["simulated", "chi2"],
        "2000 series with as many misses (joint: with the nominal share), or the χ² distribution",
    ] = "simulated",
) -> Comparison:
    """LR of misses after a miss against misses after a hit, from the transitions in time; `joint` adds Kupiec's LR."""
    name = f"christoffersen{'(joint=true)' if joint else ''}"
    what = "coverage" if joint else "independence"

    def undefined(reason: str) -> Comparison:
        return CoverageTest(design.model, "", name, what, level=design.level, reason=reason)

    if design.reason is not None or design.order is None:
        return undefined(design.reason or "undefined: there is no time column")
    missed = design.misses
    if not joint and (not missed.any() or missed.all()):
        return undefined("undefined: no interval misses" if not missed.any() else "undefined: all intervals miss")

    def statistic(series: Array) -> Array:
        total = _of_transitions(series)
        return total + _of_share(series.sum(axis=-1), series.shape[-1], design.nominal) if joint else total

    value, df = float(statistic(missed)), 2.0 if joint else 1.0
    p = float(chdtrc(df, value))
    if reference == "simulated":
        rng = np.random.default_rng([design.seed, 16])
        drawn = rng.random((_DRAWS, missed.size))
        shuffled = drawn < design.nominal if joint else rng.permuted(np.tile(missed, (_DRAWS, 1)), axis=1)
        p = (1 + float((statistic(shuffled) >= value - _TIE).sum())) / (1 + _DRAWS)
    gap = design.nominal - float(missed.mean())
    return CoverageTest(design.model, "", name, what, gap, level=design.level, statistic=value, df=df, p=p)


def _of_share(misses: Array, cases: int, nominal: float) -> Array:
    """Likelihood ratio statistic of a share of misses."""
    hits = cases - misses
    found = xlogy(misses, misses / cases) + xlogy(hits, hits / cases)
    return np.asarray(np.maximum(2 * (found - xlogy(misses, nominal) - xlog1py(hits, -nominal)), 0.0))


def _of_transitions(series: Array) -> Array:
    """Likelihood ratio statistic of the transitions of a series of misses, or of several (…, n)."""
    before, after = series[..., :-1], series[..., 1:]
    counts = [[(a & b).sum(axis=-1) for b in (~after, after)] for a in (~before, before)]
    (n00, n01), (n10, n11) = counts

    def log_likelihood(none: Array, miss: Array) -> Array:
        total = np.maximum(none + miss, 1)
        return np.asarray(xlogy(none, none / total) + xlogy(miss, miss / total))

    separate = log_likelihood(n00, n01) + log_likelihood(n10, n11)
    return np.asarray(np.maximum(2 * (separate - log_likelihood(n00 + n10, n01 + n11)), 0.0))
