"""One number with its interval, by the method that suits it or the one asked for; many of them from one draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.certain import UNCERTAIN
from scorespace.measures.measure import Bounds
from scorespace.measures.request import Request, bind
from scorespace.resampling import bca, closed, corrected, fitted, influence, jackknife, jeffreys, multiclass
from scorespace.resampling.draw import REPLICATES, Draws, asked
from scorespace.resampling.interval import INTERVALS, Interval, IntervalKind, Plan, chosen
from scorespace.results import CERTIFIED, SCHEMA, Note, Progress, Row, html_table, limits, plain
from scorespace.tables import Table, Top
from scorespace.tables.pieces import threads

_BESIDE: Final = (bca, closed, corrected, fitted, influence, jackknife, jeffreys, multiclass)  # declare intervals, too
STATED: Final = "no interval: it follows from the stated prevalence alone"
UNCOUNTED: Final = "no interval: the weights are not whole numbers, so they are no copies of cases"


@dataclass(frozen=True)
class Estimate:
    """One number with its interval, and the reason when either is undefined.

    `chance` is what perfect scores would show by chance alone, where that is more than nothing.
    """

    model: str
    spec: MeasureSpec
    value: float
    low: float
    high: float
    level: float
    method: str | None
    reason: str | None
    chance: float = math.nan
    certified: Bounds | None = None
    """On coarse scores: what the value lies between, whatever the order inside the bins; NaN where that is unknown."""

    def row(self) -> Row:
        """The row of tidy output; undefined and infinite numbers are None, with the reason."""
        certain = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return plain(
            {
                "model": self.model,
                "measure": self.spec.label,
                "at": str(self.spec.at) if isinstance(self.spec.at, Top) else self.spec.at,
                "class": self.spec.of,
                **{name: getattr(self, name) for name in ("value", "low", "high", "level", "method", "reason")},
                **({} if self.spec.prevalence is None else {"prevalence": self.spec.prevalence}),
                **({} if math.isnan(self.chance) else {"chance": self.chance}),
                **certain,
            }
        )

    def __repr__(self) -> str:
        name = f"{self.model} {self.spec}" if self.model else str(self.spec)
        return f"{name} {self.text}" + (f"  ({self.reason})" if self.reason else "")

    @property
    def text(self) -> str:
        """Value and interval for people: `0.787 [0.757, 0.817]`."""
        certain = ""
        if self.certified is not None:
            open_ = (self.certified[1] - self.certified[0]) / 2
            certain = "" if math.isnan(open_) else f" ±{open_:.1g}"
        return limits(self.value, self.low, self.high) + certain


@dataclass(frozen=True)
class Estimates:
    """Estimates of measures for models, as tidy rows."""

    estimates: tuple[Estimate, ...]
    notes: tuple[Note, ...] = ()
    as_frame: Callable[[list[Row]], Any] | None = field(default=None, compare=False)

    def rows(self) -> list[Row]:
        return [estimate.row() for estimate in self.estimates]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "rows": self.rows(), "notes": [note.to_dict() for note in self.notes]}

    def to_frame(self) -> Any:
        """The rows as a data frame, of the caller's library where they came from one."""
        if self.as_frame is None:
            raise ScoreSpaceError("these estimates know no frame library.", hint="use .rows()")
        return self.as_frame(self.rows())

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, index: int) -> Estimate:
        return self.estimates[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.estimates))

    def _repr_html_(self) -> str:
        rows = [
            {
                "model": one.model,
                "measure": str(one.spec),
                "value": one.text,
                "method": one.method,
                "reason": one.reason,
            }
            for one in self.estimates
        ]
        return html_table(rows)


def estimate(
    spec: MeasureSpec,
    table: Table,
    *,
    model: str = "",
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    method: str | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """The measure's value on the table with the interval that suits it, or with that of the method asked for.

    `method`: wilson or clopper-pearson for proportions, delong or delong-logit for the AUC, and
    bootstrap (percentiles), bca or studentised for every measure.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]))
    ppv@0.5 0.667 [0.208, 0.939]
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]), method="clopper-pearson")
    ppv@0.5 0.667 [0.094, 0.992]
    """
    draws = Draws({model: table}, replicates=replicates, seed=seed, progress=progress)
    return estimates({model: [spec]}, draws, level=level, method=method)[0]


def estimates(
    wanted: Mapping[str, Sequence[MeasureSpec]],
    draws: Draws,
    *,
    level: float = 0.95,
    method: str | None = None,
    strict: bool = True,
) -> list[Estimate]:
    """The wanted measures of every model with their intervals, all from one draw.

    A method that was asked for and does not suit a measure is refused; not `strict`, the measure has its usual one.
    """
    check_level(level)
    alone: dict[tuple[str, str | None], Draws] = {}
    plans = [
        _Planned(model, request, chosen(own, method, source, strict=strict), request.value, own, source)
        for model, specs in wanted.items()
        for spec in specs
        for request in [bind(spec, draws.tables[model])]
        for own, source in [_drawn_from(request, model, draws, alone)]
    ]
    for source in (draws, *alone.values()):  # all at once; the intervals then find them there
        among = [one for one in plans if one.source is source and one.reason is None]
        if any(one.kind.replicates for one in among):
            source.all([asked(one.model, one.own) for one in among if one.kind.replicates])
    of_models = [list(own) for _, own in groupby(plans, key=attrgetter("model"))]
    if len(of_models) < 2 or all(not one.kind.replicates or one.reason for one in plans):
        return [found for own in of_models for found in _of_model(own, draws, level)]
    with threads() as pool:  # labels are drawn again for each model apart
        return [found for own in pool.map(lambda own: _of_model(own, draws, level), of_models) for found in own]


def _of_model(plans: list[_Planned], draws: Draws, level: float) -> list[Estimate]:
    """The estimates of a model, whose worlds are shared by its measures."""
    worlds: dict[int, dict[str, Any]] = {}
    return [_estimated(one, draws, level, worlds.setdefault(id(one.source), {})) for one in plans]


def _drawn_from(
    request: Request, model: str, draws: Draws, alone: dict[tuple[str, str | None], Draws]
) -> tuple[Request, Draws]:
    """The request and what it is drawn from: scores of one class that were counted apart hold all cases by themselves.

    So the measures of that class are drawn from its own table, and share the draws.
    """
    apart = draws.tables[model].undrawn(request.table) and request.table.thresholded and not request.averaged
    if not apart or draws.grouped:
        return request, draws
    of = request.spec.of
    own = alone.setdefault((model, of), Draws({model: request.table}, replicates=draws.replicates, seed=draws.seed))
    return bind(replace(request.spec, of=None), own.tables[model]), own


@dataclass(frozen=True)
class _Planned:
    """A request of a model with the kind of interval that it gets, and the same on the table that is drawn for it."""

    model: str
    request: Request
    kind: IntervalKind
    value: float
    own: Request
    source: Draws

    @property
    def reason(self) -> str | None:
        """Why there is no value, or no interval."""
        found, table = self.request.reason(self.value), self.source.tables[self.model]
        undrawn = table.undrawn(self.own.table) if self.kind.replicates else None
        return found or undrawn or (None if table.counted else UNCOUNTED)


def _estimated(one: _Planned, draws: Draws, level: float, worlds: dict[str, Any]) -> Estimate:
    reason, table = one.reason, draws.tables[one.model]
    found = Interval(math.nan, math.nan, None, reason)
    if reason is None:
        held = one.source.tables[one.model]
        found = one.kind.of(Plan(one.own, one.model, held, one.value, level, one.source, worlds))
        if one.own.stated and math.isclose(found.low, found.high, rel_tol=1e-9) and _from_totals(one.own, held):
            found = Interval(math.nan, math.nan, None, STATED)
    low, high, reason = found.low, found.high, found.reason
    certain = None
    if any(each.coarse for each in draws.tables.values()):
        certain = one.request.certified or ((math.nan, math.nan) if table.coarse else (one.value, one.value))
        if table.coarse and one.request.certified is None:
            reason = reason or UNCERTAIN
        elif not math.isnan(one.value):  # wherever in its bounds the value is, the interval around it is as wide
            low, high = low - (one.value - certain[0]), high + (certain[1] - one.value)
            low, high = (min(max(end, one.request.range[0]), one.request.range[1]) for end in (low, high))
    bounds = low, high, level, found.method, reason, found.chance, certain
    return Estimate(one.model, one.request.spec, one.value, *bounds)


def _from_totals(request: Request, table: Table) -> bool:
    """Whether a value depends on the sizes of the classes alone: it is the same where their cases are spread evenly."""
    cells, strata = table.cells.astype(np.float64), table.strata
    even = (np.bincount(strata, cells) / np.maximum(1, np.bincount(strata)))[strata]
    return math.isclose(float(request.on(table.with_cells(even))), request.value, rel_tol=1e-9)


def check_method(method: str | None) -> str | None:
    """The method of intervals under its own name; one that there is not is refused."""
    return None if method is None else INTERVALS.find(method).name


def check_level(level: float) -> None:
    """Refuse a level of confidence that is no probability."""
    if not 0 < level < 1:
        raise ScoreSpaceError(f"level={level:g} is not a level of confidence.", hint="between 0 and 1, such as 0.95")
