"""Comparisons without matched cases: a model on two independent samples, and a model against a fixed value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from scorespace.comparisons.design import Design, FixedValue, IndependentSamples, model_of
from scorespace.comparisons.difference import (
    SAME_IN_ALL,
    Bounds,
    add_interval_test,
    add_replicate_test,
    interval_at,
    least_p,
    mover_interval,
)
from scorespace.comparisons.eligibility import (
    discourages_bootstrap,
    discourages_few_cases,
    only_on_request,
    requires_measure,
)
from scorespace.comparisons.margin import Margin
from scorespace.comparisons.paired import default_measure
from scorespace.comparisons.resampling_tests import Replicates, bootstrap, grouped_notes
from scorespace.comparisons.result import Alternative, Comparison, Comparisons, adjust_tests, check_alternative
from scorespace.comparisons.test import chosen, test
from scorespace.errors import ScoreSpaceError
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws, stream_seed
from scorespace.inference.estimate import UNCOUNTED, check_level
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.results import Note, Progress, note
from scorespace.tables import Table
from scorespace.tables.paired import PairTable

Sample = Table | PairTable | BootstrapDraws
"""A table, the pair table of one model with grouped cases, or the bootstrap of either."""

# --- tests


@test(
    title="test by intervals",
    for_="one value against a fixed value, or two samples: agrees with the displayed intervals",
    suits=(requires_measure,),
    name="interval",
    general=True,
    directed=True,
)
def by_intervals(design: FixedValue[Table]) -> Comparison:
    """p is one minus the level at which the interval of the measure just reaches the fixed value."""
    request = design.bound[0]

    def bounds(level: float) -> Bounds:
        comparison = interval_at(request, design.model, design.draws, level)
        return comparison.low, comparison.high

    default_interval = interval_at(request, design.model, design.draws, design.level)
    comparison = _difference_only(design, default_interval.method or "interval")
    if comparison.reason is not None:
        return comparison
    if default_interval.method is None:
        return replace(comparison, reason=default_interval.reason)
    comparison = replace(comparison, low=default_interval.low - design.value, high=default_interval.high - design.value)
    return _invert_interval(comparison, bounds, design.value, design)


@by_intervals.on(requires_measure)
def _two_interval_test(design: IndependentSamples[Table]) -> Comparison:
    """MOVER interval of both samples; p is one minus the level at which it just reaches zero."""
    requests = design.bound
    a, b = (request.value for request in requests)

    def bounds(level: float) -> Bounds:
        first, second = (
            interval_at(request, model_of(draws), draws, level)
            for request, draws in zip(requests, design.samples, strict=True)
        )
        return mover_interval(a, (first.low, first.high), b, (second.low, second.high))

    comparison = _difference_only(design, "interval, unpaired")
    if comparison.reason is not None:
        return comparison
    low, high = bounds(design.level)
    if math.isnan(low):
        return replace(comparison, reason="one of the two values has no interval")
    return _invert_interval(replace(comparison, low=low, high=high), bounds, 0.0, design)


def _invert_interval(comparison: Comparison, bounds: Any, target: float, design: Design[Table]) -> Comparison:
    if not design.tested:
        return comparison
    if comparison.high - comparison.low <= 1e-12:
        return replace(comparison, low=math.nan, high=math.nan, reason=SAME_IN_ALL)
    resolution = 2 / (1 + REPLICATES) if "bootstrap" in comparison.test else 0.0
    return add_interval_test(comparison, bounds, target, max(least_p(design.units), _min_rank_p(design), resolution))


def _min_rank_p(design: Design[Table]) -> float:
    """Smallest p value of a rank test of AUCs with r of n cases: 2 / C(n, r)."""
    if design.bound[0].measure.area is None or design.bound[0].averaged:
        return 0.0
    return 2 / math.comb(max(1, design.units), int(design.fewest))


@bootstrap.on(requires_measure, discourages_bootstrap, discourages_few_cases)
def _bootstrap_two_samples(design: IndependentSamples[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """Bootstrap of both samples, with independent streams."""
    return _bootstrap_test(design, f"bootstrap{' of groups' if design.grouped else ''}, unpaired", replicates)


@bootstrap.on(requires_measure, only_on_request)
def _bootstrap_one_sample(design: FixedValue[Table], *, replicates: Replicates = REPLICATES) -> Comparison:
    """Bootstrap of one sample."""
    return _bootstrap_test(design, f"bootstrap{' of groups' if design.grouped else ''}", replicates)


def _bootstrap_test(design: IndependentSamples[Table] | FixedValue[Table], test: str, replicates: int) -> Comparison:
    comparison = _difference_only(design, test)
    if comparison.reason is not None:
        return comparison
    replicates_ = design.differences(replicates)
    return add_replicate_test(
        comparison, replicates_, range=design.range, least=least_p(design.units), fewest=design.fewest
    )


def _difference_only(design: IndependentSamples[Table] | FixedValue[Table], test: str) -> Comparison:
    """Return the difference without a test, or the reason why there is none."""
    reasons = [request.reason(request.value) for request in design.bound]
    if not all(table.counted for table in design.tables):
        reasons.append(UNCOUNTED.removeprefix("no interval: "))
    return design.answer(test, reason=next(filter(None, reasons), None), notes=grouped_notes(design))


# --- comparisons


def compare_samples(
    a: Sample,
    b: Sample,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    names: tuple[str, str] = ("the first sample", "the second sample"),
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    margin: Margin | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a measure on two independent samples, by the requested or the first applicable test.

    Cases are resampled within the classes of each sample, or by group, with independent streams.

    Parameters
    ----------
    a, b : Table, PairTable or BootstrapDraws
        The two samples.
    spec : str or MeasureSpec, optional
        What is compared, such as ``"ppv@0.3"``; the default depends on the tables.
    test : str, optional
        Name of the test; by default the first one that applies.
    names : tuple of str
        Names of the two samples.
    level : float
        Confidence level of the intervals.
    alternative : {"two-sided", "greater", "less"}
        Whether the first sample differs, has the greater, or has the lesser value.
    margin : Margin, optional
        Margin of non-inferiority or equivalence that the difference is compared with.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    Comparison
        Difference, interval and p-value.

    Examples
    --------
    >>> from scorespace.tables import score_table
    >>> first = score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.5, 0.2, 0.1])
    >>> second = score_table([1, 1, 0, 0, 0], [0.7, 0.3, 0.6, 0.4, 0.1])
    >>> compare_samples(first, second, names=("before", "after")).test
    'interval, unpaired'
    """
    check_level(level)
    check_alternative(alternative)
    first, second = (_bootstrap_of(sample, "", seed, k, progress) for k, sample in enumerate((a, b)))
    measure = _measure_or_default(spec, [*first.tables.values(), *second.tables.values()])
    design: IndependentSamples[Table] = IndependentSamples(
        spec=measure, level=level, alternative=alternative, margin=margin, first=first, second=second, names=names
    )
    return _run_test(design, test)


def against_value(
    sample: Sample,
    value: float,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    name: str = "",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    margin: Margin | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Test whether a measure differs from a fixed value: by its displayed interval, unless a test is requested.

    >>> from scorespace.tables import score_table
    >>> found = against_value(score_table([1, 0] * 30, range(60)), 0.5, name="nb")
    >>> round(found.difference, 4), found.p > 0.5
    (-0.0167, True)
    """
    check_level(level)
    check_alternative(alternative)
    if not math.isfinite(value):
        raise ScoreSpaceError(f"against={value:g} is not a value to test against.", hint="against=0.5")
    draws = _bootstrap_of(sample, name, seed, 0, progress)
    model = name if name in draws.tables else model_of(draws)
    measure = _measure_or_default(spec, [draws.tables[model]])
    low, high = bind(measure, draws.tables[model]).range
    if not low <= value <= high:
        raise ScoreSpaceError(
            f"against={value:g} is not a possible value of {measure}.", hint=f"from {low:g} to {high:g}"
        )
    design: FixedValue[Table] = FixedValue(
        spec=measure, level=level, alternative=alternative, margin=margin, draws=draws, model=model, value=value
    )
    return _run_test(design, test)


def _run_test(design: IndependentSamples[Table] | FixedValue[Table], test: str | None) -> Comparison:
    """Run the requested or the first applicable test, and add why it was chosen and its notes."""
    choice = chosen(test, design)
    comparison = choice.kind(design, **choice.call.options)
    return replace(comparison, reason=comparison.reason or choice.reason, notes=(*comparison.notes, *choice.notes))


def compare_models(
    first: Mapping[str, Sample],
    second: Mapping[str, Sample],
    spec: MeasureSpec | None = None,
    *,
    sides: tuple[str, str] = ("first", "second"),
    test: str | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    margin: Margin | None = None,
    adjust: str = "holm",
) -> Comparisons:
    """Compare each model on one sample with itself on another, adjusted by Holm or as stated.

    Without a measure, scores are compared by AUC and decisions by accuracy.
    """
    settings: dict[str, Any] = {"test": test, "level": level, "alternative": alternative, "margin": margin}
    comparisons, values, identical = [], {}, []
    for model, first_sample in first.items():
        second_sample = second[model]
        names = (f"{model} in {sides[0]}", f"{model} in {sides[1]}")
        comparisons.append(compare_samples(first_sample, second_sample, spec, names=names, **settings))
        tables = _first_table(first_sample), _first_table(second_sample)
        measure = _measure_or_default(spec, tables)
        values[model] = (bind(measure, tables[0]).value, bind(measure, tables[1]).value)
        if tables[0].cells.size > tables[0].strata.max(initial=0) + 1 and tables[0] == tables[1]:
            identical.append(model)
    text = (
        f"the scores of {', '.join(identical)} are the same in both samples, class by class: these look like the same "
        "cases, which are not independent; compare models on the same cases as columns of one file."
    )
    return _combine(comparisons, [note("SS032", text)] if identical else [], sides, values, adjust)


def compare_with_value(
    samples: Mapping[str, Sample],
    value: float,
    spec: MeasureSpec | None = None,
    *,
    test: str | None = None,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    margin: Margin | None = None,
    adjust: str = "holm",
) -> Comparisons:
    """Compare each model with a fixed value, adjusted by Holm or as stated."""
    settings: dict[str, Any] = {"test": test, "level": level, "alternative": alternative, "margin": margin}
    comparisons = [against_value(sample, value, spec, name=model, **settings) for model, sample in samples.items()]
    values = {
        model: (bind(_measure_or_default(spec, [_first_table(sample)]), _first_table(sample)).value, value)
        for model, sample in samples.items()
    }
    sides = (" or ".join(dict.fromkeys(sample.measure for sample in comparisons)), "value")
    return _combine(comparisons, [], sides, values, adjust)


def _combine(
    comparisons: Sequence[Comparison],
    notes: Sequence[Note],
    sides: tuple[str, str],
    values: Mapping[str, tuple[float, float]],
    adjust: str,
) -> Comparisons:
    comparisons = [
        replace(comparison, value_a=pair[0], value_b=pair[1])
        for comparison, pair in zip(comparisons, values.values(), strict=True)
    ]
    adjusted_comparisons, method, adjustment_notes = adjust_tests(comparisons, "models", adjust)
    all_notes = dict.fromkeys(
        (*notes, *(note_ for comparison in comparisons for note_ in comparison.notes), *adjustment_notes)
    )
    return Comparisons(tuple(values), tuple(adjusted_comparisons), method, tuple(all_notes), sides)


@singledispatch
def _bootstrap_of(sample: Any, model: str, seed: int, stream: int, progress: Progress | None) -> BootstrapDraws:
    """Return the bootstrap of a sample; the second of two samples has its own stream."""
    return BootstrapDraws({model: sample}, seed=stream_seed(seed, stream), progress=progress)


@_bootstrap_of.register
def _(sample: PairTable, model: str, seed: int, stream: int, progress: Progress | None) -> BootstrapDraws:
    one = replace(sample, models=(model,))
    return BootstrapDraws({model: sample.tables[0]}, one, seed=stream_seed(seed, stream), progress=progress)


@_bootstrap_of.register
def _(sample: BootstrapDraws, model: str, seed: int, stream: int, progress: Progress | None) -> BootstrapDraws:
    return sample if stream == 0 else replace(sample, seed=stream_seed(sample.seed, stream), kept={})


def _first_table(sample: Sample) -> Any:
    return next(iter(_bootstrap_of(sample, "", 0, 0, None).tables.values()))


def _measure_or_default(spec: MeasureSpec | str | None, tables: Sequence[Table]) -> MeasureSpec:
    return parse(spec) if isinstance(spec, str) else spec or default_measure(tables)
