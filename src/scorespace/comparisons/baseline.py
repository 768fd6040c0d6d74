"""Changes since a baseline: every value, the saved one, their difference, and a test.

A baseline is saved as tables, not case by case, so both are treated as independent samples, even if they contain the
same cases: then p is too large rather than too small. All p values are adjusted together (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from scipy.special import ndtr

from scorespace.comparisons.design import IndependentSamples
from scorespace.comparisons.difference import Bounds, add_interval_test, interval_at, least_p, mover_interval
from scorespace.comparisons.multiple_testing import holm
from scorespace.comparisons.result import UNTESTED, Comparison
from scorespace.comparisons.slice_gap import SliceGap, gap_between
from scorespace.decisions.out_of_sample import OutOfSampleCounts
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import BootstrapDraws, stream_seed
from scorespace.inference.estimate import Estimate
from scorespace.inference.proportion import normal_quantile
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import Note, Result, Row, decimals, format_interval, note, p_text, percent
from scorespace.tables import Counts, Table, TopCases

NOW, THEN = "now", "baseline"
_MAX_NAMES: Final = 6
_CHOSEN_ON_BASELINE: Final = "the threshold was chosen on the cases of the baseline"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A saved baseline: tables of its models where available, reported values, and settings.

    `without` says why a model has no table, `thresholds` are those reported, `differs` lists changed settings. `chosen`
    returns the out-of-sample outcomes of a model whose threshold was chosen on the cases of the baseline.
    """

    name: str
    date: str = ""
    tables: Mapping[str, Table] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    positive: str | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()
    chosen: Callable[[str], OutOfSampleCounts | None] = field(default=lambda model: None, compare=False)

    @property
    def models(self) -> tuple[str, ...]:
        return (*self.tables, *(name for name in self.without if name not in self.tables))

    @property
    def called(self) -> str:
        return f"the baseline of {self.date}" if self.date else f"the baseline {self.name}"

    def row(self, model: str, spec: MeasureSpec) -> Row | None:
        """Return the reported row of a measure of a model, if any."""
        at = str(spec.at) if isinstance(spec.at, TopCases) else spec.at
        key = model, spec.label, at, spec.of, None, spec.prevalence
        names = ("model", "measure", "at", "class", "slice", "prevalence")
        return next((row for row in self.rows if tuple(map(row.get, names)) == key), None)


@dataclass(frozen=True, repr=False)
class BaselineChanges(Result):
    """Current and baseline values and their differences; `besides` lists other differences between the samples."""

    before: Baseline = field(compare=False)
    gaps: tuple[SliceGap, ...]
    leads: Mapping[str, MeasureSpec]
    besides: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        return [gap.beside("baseline", "difference") for gap in self.gaps]

    def facts(self) -> Row:
        before = self.before
        return {"baseline": {"name": before.name, "date": before.date or None, "classes": dict(before.classes)}}

    def of(self, model: str, spec: MeasureSpec) -> SliceGap | None:
        """Return the change of a measure of a model."""
        return next((gap for gap in self.gaps if gap.estimate.model == model and gap.estimate.spec == spec), None)

    def by_chance(self, change: SliceGap) -> bool:
        """Whether a change is not significant after adjustment; without a test, according to its interval.

        False where there is neither a test nor an interval.
        """
        adjusted = holm([_p_value(gap.test) for gap in self.gaps])[self.gaps.index(change)]
        return bool(adjusted >= round(1 - change.test.level, 12))

    @property
    def tested(self) -> int:
        """Number of tests for which p values are adjusted."""
        return sum(not math.isnan(gap.test.p) for gap in self.gaps)

    @property
    def words(self) -> str:
        """Whether the leading measure of each model changed significantly."""
        changes_ = [change for model, spec in self.leads.items() if (change := self.of(model, spec)) is not None]
        adjustment = f" (p after Holm over {self.tested} tests, intervals single)" if self.tested > 1 else ""
        return f"Since {self.before.called}{adjustment}: {'; '.join(map(change_text, changes_))}." if changes_ else ""

    @property
    def notes(self) -> tuple[Note, ...]:
        notes = [note("SS096", text) for text in (*self.before.differs, *self.besides)]
        for model in dict.fromkeys(gap.estimate.model for gap in self.gaps):
            worse = [
                f"{gap.estimate.spec.shown} ({gap.test.size})"
                for gap in self.gaps
                if gap.estimate.model == model
                and gap.is_significant
                and gap.worse
                and gap.estimate.spec != self.leads.get(model)
            ]
            if worse:
                text = f"{model} is worse than in {self.before.called}, significantly, in {', '.join(worse)}."
                notes.insert(0, note("SS095", text))
        return tuple(notes)


def _p_value(test: Comparison) -> float:
    """p value of a change; without a test, from a normal distribution with the half width of its interval.

    So p is below one minus the level exactly where zero is outside the interval.
    """
    if not math.isnan(test.p) or math.isnan(test.low) or math.isnan(test.high):
        return test.p
    half_width = test.difference - (test.low if test.difference > 0 else test.high)
    if not half_width:
        return 0.0 if test.difference else 1.0
    return 2 * float(ndtr(-normal_quantile(test.level) * abs(test.difference / half_width)))


def change_text(gap: SliceGap) -> str:
    """Describe a change: its size, its significance, and if not significant, what the interval excludes."""
    what, test = f"{gap.estimate.spec.shown} of {gap.estimate.model}", gap.test
    if math.isnan(test.difference):
        return f"{what} cannot be compared: {test.reason or gap.estimate.reason or 'it is undefined'}"
    if math.isnan(test.p):
        return f"{what} changed by {test.size} ({test.reason})"
    if gap.is_significant:
        ends = (test.low, test.high) if test.difference > 0 else (-test.high, -test.low)
        change = f"{'rose' if test.difference > 0 else 'fell'} by {format_interval(abs(test.difference), *ends)}"
        return f"{what} {change}, statistically significant ({p_text(test.reported_p)})"
    best = gap.estimate.spec.best
    loss = -test.low if best == "high" else test.high if best == "low" else math.nan
    direction = "fall" if best == "high" else "rise"
    excluded = f", which excludes a {direction} by more than {decimals(loss)}" if loss > 0 else ""
    return f"{what} shows no significant change, {test.size}{excluded} ({p_text(test.reported_p)})"


def baseline_changes(
    before: Baseline,
    now: Mapping[str, Sequence[Estimate]],
    drawn: Callable[[str], BootstrapDraws],
    *,
    classes: Mapping[str, float],
    leads: Mapping[str, MeasureSpec],
    level: float = 0.95,
    seed: int = 0,
) -> BaselineChanges:
    """Compare the values of every model that the baseline also has.

    `drawn` returns the bootstrap of the current cases of a model; `classes` counts the current cases.
    """

    @cache
    def baseline_draws(model: str) -> BootstrapDraws | None:
        table = before.tables.get(model)
        return None if table is None else BootstrapDraws({model: table}, seed=stream_seed(seed, 1))

    gaps = [
        _change(before, estimate, drawn(estimate.model), baseline_draws(estimate.model), level)
        for estimates in now.values()
        for estimate in estimates
    ]
    adjusted = holm([estimate.test.p for estimate in gaps]).tolist() if gaps else []
    if sum(not math.isnan(p) for p in adjusted) > 1:
        gaps = [
            replace(estimate, test=replace(estimate.test, p_adjusted=p))
            for estimate, p in zip(gaps, adjusted, strict=True)
        ]
    besides = _sample_differences(before, classes, gaps, level)
    return BaselineChanges(before, tuple(gaps), {model: lead for model, lead in leads.items() if model in now}, besides)


def _change(
    before: Baseline, estimate: Estimate, first: BootstrapDraws, second: BootstrapDraws | None, level: float
) -> SliceGap:
    if second is not None:
        try:
            counts = _out_of_sample_counts(before, estimate)
            if counts is not None and counts.outcomes is not None:
                return _compare_out_of_sample(estimate, first, second, counts, level)
            gap = gap_between(NOW, estimate, first, second, level, other=THEN)
            reason = gap.test.reason or f"{UNTESTED}: {_CHOSEN_ON_BASELINE}"
            return gap if counts is None else replace(gap, test=replace(gap.test, p=math.nan, reason=reason))
        except MeasureError as error:
            return _undefined_change(estimate, error.problem.rstrip("."))
    row = before.row(estimate.model, estimate.spec)
    if row is None or row.get("value") is None:
        saved_reason = row.get("reason") if row else None
        return _undefined_change(estimate, str(saved_reason or "neither the value nor a table was saved"))
    value = float(row["value"])
    comparison = Comparison(
        NOW, THEN, "interval, unpaired", estimate.spec.canonical, estimate.value - value, level=level
    )
    comparison = replace(
        comparison, independent=True, asked=str(estimate.spec), reason=f"{UNTESTED}: the baseline has no table"
    )
    if row.get("low") is not None and row.get("high") is not None and row.get("level") == level:
        low, high = mover_interval(
            estimate.value, (estimate.low, estimate.high), value, (float(row["low"]), float(row["high"]))
        )
        comparison = replace(comparison, low=low, high=high)
    return SliceGap(NOW, estimate, value, comparison)


def _out_of_sample_counts(before: Baseline, estimate: Estimate) -> OutOfSampleCounts | None:
    """Return the out-of-sample outcomes at the threshold of a value, where the baseline chose that threshold."""
    is_at_threshold = estimate.spec.measure.table is Counts and estimate.spec.at == before.thresholds.get(
        estimate.model
    )
    return before.chosen(estimate.model) if is_at_threshold and estimate.spec.at is not None else None


def _compare_out_of_sample(
    estimate: Estimate, first: BootstrapDraws, second: BootstrapDraws, counts: OutOfSampleCounts, level: float
) -> SliceGap:
    """Compare a value with the out-of-sample value of the baseline, whose apparent value is too optimistic.

    Without a change, the apparent value would be significantly better in some 20 % of samples of 100 cases (Youden's
    index at its best threshold).
    """
    design: IndependentSamples[Table] = IndependentSamples(
        spec=estimate.spec, level=level, first=first, second=second, names=(NOW, THEN)
    )
    then = counts.measure(estimate.spec, level)
    comparison = Comparison(
        NOW, THEN, "interval, unpaired", estimate.spec.canonical, estimate.value - then.value, level=level
    )
    comparison = replace(comparison, independent=True, asked=str(estimate.spec), reason=estimate.reason or then.reason)

    def bounds(level: float) -> Bounds:
        now, other = interval_at(design.bound[0], estimate.model, first, level), counts.measure(estimate.spec, level)
        return mover_interval(estimate.value, (now.low, now.high), then.value, (other.low, other.high))

    low, high = bounds(level)
    if not math.isnan(low):
        comparison = add_interval_test(replace(comparison, low=low, high=high), bounds, 0.0, least_p(design.units))
    return SliceGap(NOW, estimate, then.value, comparison)


def _undefined_change(estimate: Estimate, reason: str) -> SliceGap:
    test = Comparison(NOW, THEN, "", estimate.spec.canonical, reason=reason, independent=True, asked=str(estimate.spec))
    return SliceGap(NOW, estimate, math.nan, test)


def _sample_differences(
    before: Baseline, classes: Mapping[str, float], gaps: Sequence[SliceGap], level: float
) -> tuple[str, ...]:
    """List differences between the two samples other than the values."""
    texts = []
    chosen = dict.fromkeys(
        gap.estimate.model for gap in gaps if _out_of_sample_counts(before, gap.estimate) is not None
    )
    if chosen:
        texts.append(
            f"the threshold of {', '.join(chosen)} was chosen on the cases of the baseline, so apparent values are "
            "too optimistic: out-of-sample values are shown instead."
        )
    if classes and dict(classes) == dict(before.classes):
        texts.append(
            "the baseline has as many cases of each class: if they are the same cases, the evidence is stronger than p "
            "suggests; compare the old and the new model as two columns of one file."
        )
    shares = _prevalence(classes, before.positive), _prevalence(before.classes, before.positive)
    specs = dict.fromkeys(gap.estimate.spec for gap in gaps)
    affected = list(dict.fromkeys(spec.shown for spec in specs if not spec.within and spec.prevalence is None))
    if affected and _prevalence_p(classes, before.classes, before.positive) < 1 - level:
        names = ", ".join(affected[:_MAX_NAMES]) + (", …" if len(affected) > _MAX_NAMES else "")
        texts.append(
            f"{before.positive} is {percent(shares[0])} of the cases here and {percent(shares[1])} of those of the "
            f"baseline, a significant difference: {names} {'changes' if len(affected) == 1 else 'change'} with it. "
            "--prevalence compares at a common prevalence."
        )
    return tuple(texts)


def _prevalence(classes: Mapping[str, float], positive: str | None) -> float:
    total = sum(classes.values())
    return classes.get(positive or "", 0.0) / total if total and positive is not None else math.nan


def _prevalence_p(a: Mapping[str, float], b: Mapping[str, float], positive: str | None) -> float:
    """p value of the z test for two proportions of positives; 1 where undefined."""
    sizes = sum(a.values()), sum(b.values())
    first, second = _prevalence(a, positive), _prevalence(b, positive)
    if math.isnan(first) or math.isnan(second):
        return 1.0
    pooled = (first * sizes[0] + second * sizes[1]) / sum(sizes)
    error = math.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1]))
    return 2 * float(ndtr(-abs(first - second) / error)) if error else 1.0
