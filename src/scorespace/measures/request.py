"""A request bound to a table: the measure, its derived table, and how it is evaluated on replicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.average import ALL_AVERAGES, average, averaging_table
from scorespace.measures.bounds import certified
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.measure import ONE_CLASS, Bounds, Formula, Measure
from scorespace.tables import Array, At, Counts, Table, TopCases
from scorespace.tables.labels import unquote_label
from scorespace.tables.table import ResolvedTable


@dataclass(frozen=True)
class Request:
    """A measure with its options, and the derived table that it is computed from.

    `within`: the value does not depend on the prevalence of that table, or is for a stated prevalence, so the bootstrap
    is stratified. `stated`: it is for the prevalence of its spec; `share` is then, for outcomes at a threshold, the
    share of positives that the formula assumes. Otherwise `table` is already reweighted. `point` is its operating point
    on tables with more or fewer cases: a number of top cases becomes a share. `certified` are bounds of its value on
    binned scores, if known.
    """

    spec: MeasureSpec
    formula: Formula
    table: Table
    within: bool
    averaged: bool = field(default=False)
    point: At | None = None
    certified: Bounds | None = None
    stated: bool = False
    share: float | None = None

    @property
    def measure(self) -> Measure:
        return self.spec.measure

    @property
    def per_period(self) -> bool:
        """Whether the operating point limits the cases of each period."""
        return isinstance(self.spec.at, TopCases) and self.spec.at.per is not None

    @property
    def value(self) -> float:
        """Value on the bound table, clipped to its certified bounds."""
        value = float(np.asarray(self.formula(self.table)))
        return value if self.certified is None else float(np.clip(value, *self.certified))

    def on(self, other: Any) -> Array:
        """Value on another table of the same kind, or on replicates."""
        if not self.stated:
            resolved = _resolve(self._rescaled, other)
            return np.asarray(resolved.function(resolved.table), dtype=np.float64)
        if self.share is not None:
            return np.asarray(self.formula(_resolve(self._rescaled, other).table), dtype=np.float64)
        resolved = _resolve(self._rescaled, other.at_prevalence(self.spec.prevalence))
        return np.where(other.both_classes, resolved.function(resolved.table), np.nan)

    @cached_property
    def _rescaled(self) -> MeasureSpec:
        """The request for other tables, which may have another number of cases."""
        return replace(self.spec, at=self.point)

    def reason(self, value: float) -> str | None:
        """Why a value is undefined or infinite; None for a finite number."""
        has_one_class = self.stated and np.isnan(value) and not bool(np.all(self.table.both_classes))
        return f"undefined: {ONE_CLASS}" if has_one_class else self.measure.reason(value)

    @property
    def range(self) -> tuple[float, float]:
        """Range of the measure on this table, with its options."""
        if self.measure.range_with is not None:
            return self.measure.range_with(**self.spec.arguments)
        return self.measure.ranges.get(type(self.table), self.measure.range)


def bind(spec: MeasureSpec, table: Table) -> Request:
    """Bind a request to a table; raise MeasureError with the reason if that is not possible.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> bind(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])).value
    0.6666666666666666
    """
    resolved, averaged, reweighted, share = _resolve(spec, table), spec.of in ALL_AVERAGES, table, None
    # A one-vs-rest value of three or more classes depends on the mixture of the rest.
    is_binary = int(np.ptp(table.strata)) <= 1
    within = spec.within and (averaged or is_binary)
    stated = spec.prevalence is not None and not spec.within and table.has_positive
    if stated and spec.prevalence is not None:
        within, reweighted = is_binary, _reweighted(table, spec.prevalence)
        if is_binary and resolved.table.four_outcomes and not isinstance(spec.at, TopCases):
            is_positive = spec.of is None or unquote_label(spec.of) == table.positive_name
            share = spec.prevalence if is_positive else 1 - spec.prevalence
            resolved = replace(resolved, function=partial(_at_prevalence, resolved.function, share))
        else:
            resolved = _resolve(spec, reweighted)
            resolved = resolved if table.both_classes else replace(resolved, function=lambda _: np.nan)
    point = spec.at
    if isinstance(point, TopCases) and not (point.percent or point.per or table.by_query):
        point = TopCases(100 * point.size / float(table.total), percent=True)
    bounds = certified(spec, reweighted) if table.coarse else None
    return Request(spec, resolved.function, resolved.table, within, averaged, point, bounds, stated, share)


def _reweighted(table: Any, share: float) -> Any:
    """The table at a stated prevalence; cached, so that measures share its replicates."""
    cache = table.__dict__.setdefault("for_prevalence", {})
    if share not in cache:
        cache[share] = table.at_prevalence(share)
    return cache[share]


def _at_prevalence(formula: Formula, share: float, counts: Counts) -> Array:
    """A measure of binary decisions at a prevalence; NaN if a class has no cases."""
    return np.where(counts.both_classes, formula(counts.at_prevalence(share)), np.nan)


def operating_point(spec: MeasureSpec | None, table: Table, default: float | None = None) -> At | None:
    """Operating point of a request: the stated one, else the default; None if the table needs none.

    All commands use this function, so that a stated threshold or rank always precedes a default.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0], [0.9, 0.4])
    >>> operating_point(parse("acc@0.3"), table, 0.5), operating_point(parse("acc"), table, 0.5)
    (0.3, 0.5)
    """
    if spec is not None and spec.at is not None:
        return spec.at
    return default if table.thresholded else None


def stated_threshold(requests: Iterable[MeasureSpec]) -> float | None:
    """The first threshold stated among the requests, ignoring ranks."""
    return next((spec.at for spec in requests if spec.at is not None and not isinstance(spec.at, TopCases)), None)


def can_compute(spec: MeasureSpec, table: Table) -> bool:
    """Whether a request can be computed from this table."""
    try:
        bind(spec, table)
    except MeasureError:
        return False
    return True


def _resolve(spec: MeasureSpec, table: Table) -> ResolvedTable:
    """The formula with its options, or its average over classes, and the table that it is applied to."""
    measure, options = spec.measure, spec.arguments
    if spec.of in ALL_AVERAGES:
        over = averaging_table(measure, table, spec.of, str(spec))
        if spec.at is not None:
            raise MeasureError(f"{spec}: an average has no single threshold.", hint=f"{spec.label}[{spec.of}]")
        return ResolvedTable(average(measure, spec.of, **options), type(over), over)
    resolved = measure.fit(table, spec.of, spec.at, spec, options=options)
    return replace(resolved, function=partial(resolved.function, **options))
