"""Estimates: values with confidence intervals, by the method that suits each measure or by the requested one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.inference import (
    analytic,
    any_look,
    bca,
    bias_corrected,
    case_values,
    divergence,
    isotonic_bootstrap,
    jackknife,
    jeffreys,
    multiclass_calibration,
    periods,
    skew_k,
)
from scorespace.inference import analytic as influence
from scorespace.inference.bootstrap import REPLICATES, BootstrapDraws, replicate_request
from scorespace.inference.interval import INTERVALS, Interval, IntervalKind, IntervalRequest, resolve_interval
from scorespace.measures.bounds import NOT_CERTIFIED
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.measure import Bounds
from scorespace.measures.request import Request, bind
from scorespace.results import (
    CERTIFIED,
    SCHEMA,
    Note,
    Progress,
    Row,
    format_interval,
    frame_of,
    html_table,
    latex_of,
    round_count,
    to_json_types,
)
from scorespace.tables import Table, TopCases
from scorespace.tables.chunks import thread_pool

_INTERVAL_MODULES: Final = (
    bca,
    case_values,
    analytic,
    any_look,
    bias_corrected,
    isotonic_bootstrap,
    influence,
    jackknife,
    jeffreys,
    multiclass_calibration,
    skew_k,
    periods,
    divergence,
)  # importing these modules declares their intervals
STATED: Final = "no interval: the value depends on the stated prevalence alone"
UNCOUNTED: Final = "no interval: the weights are not whole numbers, so they are not numbers of copies"


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval, and the reason when either is undefined.

    `chance` is the expected value of a perfectly calibrated model in such a sample, for measures biased upwards.
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
    """Certified bounds of the value on binned scores, for any order within the bins; NaN where unknown."""

    def row(self) -> Row:
        """Return a tidy row; undefined and infinite numbers are None, with the reason."""
        certified = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return to_json_types(
            {
                "model": self.model,
                "measure": self.spec.label,
                "at": str(self.spec.at) if isinstance(self.spec.at, TopCases) else self.spec.at,
                "class": self.spec.of,
                "value": round_count(self.value) if self.spec.measure.count else self.value,
                **{name: getattr(self, name) for name in ("low", "high", "level", "method", "reason")},
                **({} if self.spec.prevalence is None else {"prevalence": self.spec.prevalence}),
                **({} if math.isnan(self.chance) else {"chance": self.chance}),
                **certified,
            }
        )

    def __repr__(self) -> str:
        name = f"{self.model} {self.spec}" if self.model else str(self.spec)
        return f"{name} {self.text}" + (f"  ({self.reason})" if self.reason else "")

    @property
    def text(self) -> str:
        """Value and interval as text: `0.787 [0.757, 0.817]`."""
        certified = ""
        if self.certified is not None:
            half_width = (self.certified[1] - self.certified[0]) / 2
            certified = "" if math.isnan(half_width) else f" ±{half_width:.1g}"
        return format_interval(self.value, self.low, self.high, count=self.spec.measure.count) + certified

    @property
    def value_text(self) -> str:
        """The value alone, with the same digits."""
        return self.text.partition(" [")[0].partition(" ±")[0]


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
        """The rows as a data frame of the library that the input came from."""
        return frame_of(self.rows()) if self.as_frame is None else self.as_frame(self.rows())

    def to_latex(self) -> str:
        """The rows as a LaTeX table with booktabs."""
        return latex_of([{"model": one.model, "measure": str(one.spec), "value": one.text} for one in self])

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
                "model": estimate.model,
                "measure": str(estimate.spec),
                "value": estimate.text,
                "method": estimate.method,
                "reason": estimate.reason,
            }
            for estimate in self.estimates
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
    """Return the value of a measure on a table with a confidence interval.

    `method`: wilson or clopper-pearson for proportions, delong or delong-logit for the AUC, and bootstrap
    (percentiles), bca or studentised for every measure; by default the method that the measure declares.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]))
    ppv@0.5 0.667 [0.208, 0.939]
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]), method="clopper-pearson")
    ppv@0.5 0.667 [0.094, 0.992]
    """
    draws = BootstrapDraws({model: table}, replicates=replicates, seed=seed, progress=progress)
    return estimates({model: [spec]}, draws, level=level, method=method)[0]


def estimates(
    wanted: Mapping[str, Sequence[MeasureSpec]],
    draws: BootstrapDraws,
    *,
    level: float = 0.95,
    method: str | None = None,
    strict: bool = True,
) -> list[Estimate]:
    """Return the measures of every model with their intervals, all from one set of replicates.

    A requested method that does not suit a measure is an error; if not `strict`, the measure has its default method.
    """
    check_level(level)
    separate: dict[tuple[str, str | None], BootstrapDraws] = {}
    plans = [
        _PlannedEstimate(
            model, request, resolve_interval(resampled, method, source, strict=strict), request.value, resampled, source
        )
        for model, specs in wanted.items()
        for spec in specs
        for request in [bind(spec, draws.tables[model])]
        for resampled, source in [_drawn_from(request, model, draws, separate)]
    ]
    for source in (draws, *separate.values()):  # draw for all at once; the intervals find the values in the cache
        pending = [plan for plan in plans if plan.source is source and plan.reason is None]
        if any(plan.kind.replicates for plan in pending):
            source.all([replicate_request(plan.model, plan.own) for plan in pending if plan.kind.replicates])
    by_model = [list(group) for _, group in groupby(plans, key=attrgetter("model"))]
    if len(by_model) < 2 or all(not plan.kind.replicates or plan.reason for plan in plans):
        return [result for group in by_model for result in _estimate_model(group, draws, level)]
    with thread_pool() as pool:  # the parametric bootstrap of each model is independent
        results = pool.map(lambda group: _estimate_model(group, draws, level), by_model)
        return [result for group in results for result in group]


def _estimate_model(plans: list[_PlannedEstimate], draws: BootstrapDraws, level: float) -> list[Estimate]:
    """Return the estimates of a model, whose measures share parametric bootstrap replicates."""
    parametric: dict[int, dict[str, Any]] = {}
    return [_estimated(plan, draws, level, parametric.setdefault(id(plan.source), {})) for plan in plans]


def _drawn_from(
    request: Request, model: str, draws: BootstrapDraws, separate: dict[tuple[str, str | None], BootstrapDraws]
) -> tuple[Request, BootstrapDraws]:
    """Return the request and the draws for it: the scores of one class that were binned separately hold all cases.

    So the measures of that class are resampled from its own table, and share the draws.
    """
    is_separate = (
        draws.tables[model].reason_not_resampled(request.table) and request.table.thresholded and not request.averaged
    )
    if not is_separate or draws.grouped:
        return request, draws
    label = request.spec.of
    class_draws = separate.setdefault(
        (model, label), BootstrapDraws({model: request.table}, replicates=draws.replicates, seed=draws.seed)
    )
    return bind(replace(request.spec, of=None), class_draws.tables[model]), class_draws


@dataclass(frozen=True)
class _PlannedEstimate:
    """A measure of a model, its interval method, and the same request on the table that is resampled."""

    model: str
    request: Request
    kind: IntervalKind
    value: float
    own: Request
    source: BootstrapDraws

    @property
    def reason(self) -> str | None:
        """Why there is no value, or no interval."""
        undefined, table = self.request.reason(self.value), self.source.tables[self.model]
        reason_not_resampled = table.reason_not_resampled(self.own.table) if self.kind.replicates else None
        return undefined or reason_not_resampled or (None if table.counted else UNCOUNTED)


def _estimated(plan: _PlannedEstimate, draws: BootstrapDraws, level: float, parametric: dict[str, Any]) -> Estimate:
    reason, table = plan.reason, draws.tables[plan.model]
    result = Interval(math.nan, math.nan, None, reason)
    if reason is None:
        resampled = plan.source.tables[plan.model]
        result = plan.kind.of(
            IntervalRequest(plan.own, plan.model, resampled, plan.value, level, plan.source, parametric)
        )
        if (
            plan.own.stated
            and math.isclose(result.low, result.high, rel_tol=1e-9)
            and _from_totals(plan.own, resampled)
        ):
            result = Interval(math.nan, math.nan, None, STATED)
    low, high, reason = result.low, result.high, result.reason
    bounds = None
    if any(model_table.coarse for model_table in draws.tables.values()):
        bounds = plan.request.certified or ((math.nan, math.nan) if table.coarse else (plan.value, plan.value))
        if table.coarse and plan.request.certified is None:
            reason = reason or NOT_CERTIFIED
        elif not math.isnan(plan.value):  # the interval is as wide wherever the value is in its bounds
            low, high = low - (plan.value - bounds[0]), high + (bounds[1] - plan.value)
            low, high = (min(max(end, plan.request.range[0]), plan.request.range[1]) for end in (low, high))
    return Estimate(
        plan.model,
        plan.request.spec,
        plan.value,
        low,
        high,
        level,
        result.method,
        reason,
        result.chance,
        bounds,
    )


def _from_totals(request: Request, table: Table) -> bool:
    """Whether a value depends on the class sizes alone: it is the same with each class spread evenly."""
    cells, strata = table.cells.astype(np.float64), table.strata
    even = (np.bincount(strata, cells) / np.maximum(1, np.bincount(strata)))[strata]
    return math.isclose(float(request.on(table.with_cells(even))), request.value, rel_tol=1e-9)


def check_method(method: str | None) -> str | None:
    """Return the canonical name of an interval method; an unknown one is an error."""
    return None if method is None else str(INTERVALS.parse(method))


def check_level(level: float) -> None:
    """Raise an error unless the confidence level is between 0 and 1."""
    if not 0 < level < 1:
        raise ScoreSpaceError(f"level={level:g} is not a confidence level.", hint="between 0 and 1, such as 0.95")
