"""Gap between a value of one sample and that of another, such as a slice and all other cases, with its test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from scorespace.comparisons.delong import delong
from scorespace.comparisons.design import IndependentSamples
from scorespace.comparisons.difference import interval_at, mover_interval
from scorespace.comparisons.result import UNTESTED, Comparison
from scorespace.comparisons.test import chosen
from scorespace.comparisons.unpaired import by_intervals
from scorespace.errors import listing
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import Estimate
from scorespace.measures.average import MACRO, PAIR_AVERAGES
from scorespace.results import Row, to_json_types
from scorespace.tables import Table
from scorespace.tables.models import class_weights
from scorespace.tables.threshold import TopCases

REST: Final = "the rest"
_DEPENDS_ON_SIZE: Final = f"{UNTESTED}: the measure depends on the number of cases"


@dataclass(frozen=True)
class SliceGap:
    """A value of a slice with its interval, and its difference from that of all other cases."""

    slice: str
    estimate: Estimate
    rest: float
    test: Comparison

    @property
    def is_significant(self) -> bool:
        return self.test.is_significant

    @property
    def worse(self) -> bool:
        """Whether it is worse than the rest; False for measures without a better direction."""
        best, gap = self.estimate.spec.best, self.test.difference
        return (best == "high" and gap < 0) or (best == "low" and gap > 0)

    def row(self) -> Row:
        """Return the row of the estimate with the slice and the gap."""
        return {"slice": self.slice, **self.beside("rest", "gap")}

    def beside(self, rest: str, gap: str) -> Row:
        """Return the row of the estimate with the other value and the difference under these names."""
        test = self.test
        sizes = {gap: test.difference, f"{gap}_low": test.low, f"{gap}_high": test.high}
        test_fields = {
            "test": test.test or None,
            "p": test.p,
            "p_adjusted": test.reported_p,
            f"{gap}_reason": test.reason,
        }
        return {**self.estimate.row(), **to_json_types({rest: self.rest, **sizes, **test_fields})}


def gap_between(
    name: str,
    estimate: Estimate,
    first: BootstrapDraws,
    second: BootstrapDraws,
    level: float,
    *,
    other: str = REST,
    reason: str | None = None,
) -> SliceGap:
    """Compare a value of one sample with that of another, unless there is a `reason` not to.

    Values that depend on the number of cases are not tested.
    """
    design: IndependentSamples[Table] = IndependentSamples(
        spec=estimate.spec, level=level, first=first, second=second, names=(name, other)
    )
    if design.constant is not None:
        test = design.answer("interval, unpaired", asked=str(estimate.spec))
        if design.bound[0].table.constant:  # otherwise the other side is constant
            estimate = replace(estimate, low=math.nan, high=math.nan, method=None, reason=design.constant)
        return SliceGap(name, estimate, design.bound[1].value, test)
    if reason is not None:
        test = design.answer("interval, unpaired", reason=reason, asked=str(estimate.spec))
        return SliceGap(name, estimate, design.bound[1].value, test)
    # Measures biased in small samples differ between a small slice and a large rest without any true gap, and tests
    # would reject (in 9 % of 400 samples without a gap, for ks). The top 200 of a small slice are a larger share of it
    # than the top 200 of the rest, so there is a gap without a true one.
    # The top documents of a query are not: the number of queries does not matter.
    at, by_query = estimate.spec.at, design.bound[0].table.by_query
    is_top_count = isinstance(at, TopCases) and not at.percent and other == REST and not by_query
    # A predicted class without actual cases lowers a mean over classes without any true gap.
    if estimate.spec.of in (MACRO, *PAIR_AVERAGES) and (
        one_sided_classes := _present_classes(first) ^ _present_classes(second)
    ):
        absence = (
            f"{listing(sorted(one_sided_classes))} {'is' if len(one_sided_classes) == 1 else 'are'} absent on one side"
        )
        comparison = design.answer(
            "interval, unpaired", reason=estimate.reason or f"{absence}, and the mean is over other classes"
        )
        return SliceGap(name, estimate, design.bound[1].value, replace(comparison, asked=str(estimate.spec)))
    if estimate.spec.measure.biased is not None or is_top_count:
        return SliceGap(
            name,
            estimate,
            design.bound[1].value,
            replace(_interval_only(design, estimate), asked=str(estimate.spec)),
        )
    choice = chosen(None, design)
    if choice.kind is delong and other == REST:
        # AUCs of a small slice are skewed and those of a large rest are not: DeLong's Z rejected in 8 to 15 % of
        # samples without a gap (6 slices, 600 to 2 400 cases, AUC 0.80 and 0.94), the displayed intervals in 1 to 3 %.
        choice = chosen(by_intervals.name, design)
    test = choice.kind(design, **choice.call.options)
    return SliceGap(name, estimate, design.bound[1].value, replace(test, asked=str(estimate.spec)))


def _present_classes(draws: BootstrapDraws) -> set[str]:
    """Return the classes that occur in a sample."""
    (table,) = draws.tables.values()
    return {name for name, weight in class_weights(table).items() if weight}


def _interval_only(design: IndependentSamples[Table], estimate: Estimate) -> Comparison:
    """Return the gap with an interval but no test, from the bias-corrected intervals of both values."""
    request = design.bound[1]
    comparison = design.answer("interval, unpaired", reason=estimate.reason or request.reason(request.value))
    if comparison.reason is not None:
        return comparison
    other_interval = interval_at(request, estimate.model, design.second, estimate.level)
    low, high = mover_interval(
        estimate.value, (estimate.low, estimate.high), request.value, (other_interval.low, other_interval.high)
    )
    return replace(comparison, low=low, high=high, reason=_DEPENDS_ON_SIZE)


def mirror_pair(gaps: Sequence[SliceGap]) -> Sequence[SliceGap]:
    """Return the gaps of one measure; for two slices the second is the mirror image of the first."""
    if len(gaps) != 2:
        return gaps
    first, second = gaps
    test = first.test
    mirrored = replace(
        test,
        a=second.slice,
        difference=-test.difference,
        low=-test.high,
        high=-test.low,
        statistic=-test.statistic,
        reason=second.test.reason,
        certified=None if test.certified is None else (-test.certified[1], -test.certified[0]),
    )
    return first, replace(second, test=mirrored)
