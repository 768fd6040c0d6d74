"""A request bound to a table: what a user asked for, and how it follows from that table and from others like it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.average import ALL_AVERAGES, average, averaging_table
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.certain import certified
from scorespace.measures.measure import ONE_CLASS, Bounds, Formula, Measure
from scorespace.tables import Array, At, Counts, Table, Top
from scorespace.tables.labels import bare
from scorespace.tables.table import Way


@dataclass(frozen=True)
class Request:
    """A measure with its options, and the table inside a given one that it is computed from.

    `within`: its value stays when one class of that table is multiplied, or holds for a stated prevalence, so cases are
    drawn within classes. `stated`: it holds for the prevalence of its spec; `share`, of outcomes at a threshold, is the
    share of their positives then, which the formula gives them. Otherwise `table` is weighed for it already.
    `point` is its operating point on tables with more or fewer cases: so many by rank are a share there. `certified`
    bounds its value on coarse scores, where bounds are known.
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
    def value(self) -> float:
        """The value on the table it is bound to, which no order inside bins takes out of its bounds."""
        value = float(np.asarray(self.formula(self.table)))
        return value if self.certified is None else float(np.clip(value, *self.certified))

    def on(self, other: Any) -> Array:
        """The value on another table, or on replicates, of the kind that it was bound to."""
        if not self.stated:
            found = _way(self._placed, other)
            return np.asarray(found.function(found.table), dtype=np.float64)
        if self.share is not None:
            return np.asarray(self.formula(_way(self._placed, other).table), dtype=np.float64)
        found = _way(self._placed, other.at_prevalence(self.spec.prevalence))
        return np.where(other.both_classes, found.function(found.table), np.nan)

    @cached_property
    def _placed(self) -> MeasureSpec:
        """What is asked of other tables, which may hold another number of cases."""
        return replace(self.spec, at=self.point)

    def reason(self, value: float) -> str | None:
        """Why a value is undefined or infinite, or None for an ordinary number."""
        lone = self.stated and np.isnan(value) and not bool(np.all(self.table.both_classes))
        return f"undefined: {ONE_CLASS}" if lone else self.measure.reason(value)

    @property
    def range(self) -> tuple[float, float]:
        """The range of the measure on this table, with its options."""
        if self.measure.range_with is not None:
            return self.measure.range_with(**dict(self.spec.options))
        return self.measure.ranges.get(type(self.table), self.measure.range)


def bind(spec: MeasureSpec, table: Table) -> Request:
    """The request on a table; what does not suit is refused with the reason.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.tables import score_table
    >>> bind(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])).value
    0.6666666666666666
    """
    found, averaged, held, share = _way(spec, table), spec.of in ALL_AVERAGES, table, None
    # One class of several against the rest changes when another class of the rest is multiplied.
    two = int(np.ptp(table.strata)) <= 1
    within = spec.within and (averaged or two)
    stated = spec.prevalence is not None and not spec.within and table.has_positive
    if stated and spec.prevalence is not None:
        within, held = two, _weighed(table, spec.prevalence)
        if two and found.table.four_outcomes and not isinstance(spec.at, Top):
            own = spec.of is None or bare(spec.of) == table.positive_name
            share = spec.prevalence if own else 1 - spec.prevalence
            found = replace(found, function=partial(_for_share, found.function, share))
        else:
            found = _way(spec, held)
            found = found if table.both_classes else replace(found, function=lambda _: np.nan)
    point = spec.at
    if isinstance(point, Top) and not point.percent:
        point = Top(100 * point.size / float(table.total), percent=True)
    bounds = certified(spec, held) if table.coarse else None
    return Request(spec, found.function, found.table, within, averaged, point, bounds, stated, share)


def _weighed(table: Any, share: float) -> Any:
    """The table for a stated prevalence, made once: measures of one table share what is drawn of it."""
    kept = table.__dict__.setdefault("for_prevalence", {})
    if share not in kept:
        kept[share] = table.at_prevalence(share)
    return kept[share]


def _for_share(formula: Formula, share: float, counts: Counts) -> Array:
    """A measure of decisions where positives have that share; undefined where a class has no cases."""
    return np.where(counts.both_classes, formula(counts.at_prevalence(share)), np.nan)


def operating_point(spec: MeasureSpec | None, table: Table, default: float | None = None) -> At | None:
    """Where a model decides for a request: as the request states, else at the default; None where none is needed.

    Every verb asks here, so that a stated threshold or rank comes before every default.

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
    """The first threshold that is stated among requests; a rank is none."""
    return next((spec.at for spec in requests if spec.at is not None and not isinstance(spec.at, Top)), None)


def suits(spec: MeasureSpec, table: Table) -> bool:
    """Whether a request makes sense for this kind of table, beside others of another kind."""
    try:
        bind(spec, table)
    except MeasureError:
        return False
    return True


def _way(spec: MeasureSpec, table: Table) -> Way:
    """The formula with its options, or its average over classes, and the table it takes."""
    measure, options = spec.measure, dict(spec.options)
    if spec.of in ALL_AVERAGES:
        over = averaging_table(measure, table, spec.of, str(spec))
        if spec.at is not None:
            raise MeasureError(f"{spec}: an average has no single threshold.", hint=f"{spec.label}[{spec.of}]")
        return Way(average(measure, spec.of, **options), type(over), over)
    found = measure.fit(table, spec.of, spec.at, spec)
    return replace(found, function=partial(found.function, **options))
