"""What an interval is, each declared once with what it suits; here those of replicates, as they are or on a scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from scorespace.declaration import Declaration, Registry, declaring
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.request import Request
from scorespace.resampling import limits
from scorespace.resampling.draw import Draws
from scorespace.results import grouped
from scorespace.tables import Array, ScoreTable, Table, Top, ratio

WORLD_ROWS: Final = 512  # rows of a table on which labels are drawn again
_NEGATIVES: Final = 20  # that positives must outweigh for their precision to be known at a stated prevalence
_HARDLY_ANY: Final = 0.5  # cases of the rarer class, times the share of pairs in the wrong order


@dataclass(frozen=True)
class Interval:
    """Bounds, how they were found, and what has to be said about them; no method: there are none.

    `chance` is what the value would be by chance alone, where the interval is of what is beyond that.
    """

    low: float
    high: float
    method: str | None
    reason: str | None = None
    chance: float = math.nan


class UndefinedError(Exception):
    """No replicate has a value: there is no interval, however it would be made."""


@dataclass(frozen=True)
class Plan:
    """What an interval is for: a request on a model's table, its value there, the level, and the replicates."""

    request: Request
    model: str
    table: Table
    value: float
    level: float
    draws: Draws
    worlds: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What labels drawn again showed last, by how they were drawn: measures of one table share it."""

    @property
    def tails(self) -> Array:
        return limits.tails(self.level)

    @property
    def rarer(self) -> float:
        """How many cases the rarer class has, or as many equal ones as are worth their weights; two at least."""
        kept = self.table.__dict__
        if "rarer" not in kept:
            cells = self.table.cells.astype(np.float64)
            kept["rarer"] = max(2.0, limits.rarest(self.table.strata, cells, self.table.cell_squares))
        rarer: float = kept["rarer"]
        return rarer

    def replicates(self) -> tuple[Array, str | None]:
        """The value in every replicate where it is defined, and how many had to be left out; there is one at least."""
        values = self.draws.of(self.model, self.request)
        defined = values[np.isfinite(values)]
        if not defined.size:
            raise UndefinedError
        return defined, left_out(values.size, defined.size)

    @property
    def how(self) -> str:
        """What was drawn, where it was not all cases one by one."""
        return self.draws.how(self.model)


@dataclass(frozen=True, eq=False, repr=False)
class IntervalKind(Declaration):
    """A way to make intervals: what it is called, what it suits, and the function that makes one from a plan.

    `declared`: it is for measures alone that are declared to have it. `replicates`: it draws cases again, and so allows
    for groups; `weighted`: it allows for cases that weigh more or less than one. `instead` is used where cases come in
    groups or have weights that it does not allow for, `in_time` where they are in time order, `uneven` where outcomes
    weigh differently. A `general` one is tried where the declared one does not suit, the last first.
    """

    function: Callable[[Plan], Interval]
    name: str
    title: str
    _: KW_ONLY
    suits: Callable[[Request], bool] = lambda request: True
    declared: bool = False
    general: bool = False
    replicates: bool = False
    weighted: bool = False
    instead: str = "bootstrap"
    in_time: str = "block-t"
    uneven: str = ""
    aliases: tuple[str, ...] = ()

    def fits(self, request: Request) -> bool:
        """Whether it can be the interval of a request."""
        return (not self.declared or declared(request) == self.name) and self.suits(request)

    def of(self, plan: Plan) -> Interval:
        """The interval of a plan, or why there is none."""
        try:
            return self.function(plan)
        except UndefinedError:
            return none("the measure is undefined in every replicate")


INTERVALS: Registry[IntervalKind] = Registry("method of intervals", "evaluate --help", MeasureError)
"""Every declared kind of interval."""


interval = declaring(INTERVALS, IntervalKind)

by_replicates = partial(interval, replicates=True, weighted=True)
"""Declare a kind that draws cases again, whatever they weigh."""


def declared(request: Request) -> str:
    """The kind of interval that a measure is declared to have on this table."""
    return request.measure.intervals.get(type(request.table), request.measure.interval)


def counted(request: Request) -> bool:
    """Whether a request is a share of a count."""
    ranked = isinstance(request.spec.at, Top)  # then the cut moves with the cases, and shares vary more
    return (request.measure.trials is not None and not request.averaged and request.table.counts_outcomes) and not (
        ranked or request.stated
    )


def labelled(request: Request) -> bool:
    return request.table.thresholded and not request.averaged


def of_area(request: Request) -> bool:
    return request.measure.area is not None and request.table.thresholded and not request.averaged


def usual(request: Request, draws: Draws | None = None) -> IntervalKind:
    """The interval that a measure is declared to have, where it suits this table; else the bootstrap.

    Cases that come in groups are drawn whole, whatever the measure.
    """
    first = INTERVALS.find(declared(request))
    if not first.fits(request):
        first = next((one for one in reversed(list(INTERVALS)) if one.general and one.fits(request)), first)
    grouped = request.table.grouping is not None or (draws is not None and draws.grouped)
    in_time = draws is not None and draws.time is not None and not grouped
    weighted = request.table.cell_squares is not None
    if not first.fits(request):
        return bootstrap_interval
    if in_time:
        return INTERVALS.find(first.in_time)
    if grouped or (weighted and not first.weighted):
        return INTERVALS.find(first.instead)
    # A stated prevalence weighs the classes, and its intervals resample within them.
    other = INTERVALS.find(first.uneven) if weighted and first.uneven and not request.stated else first
    return other if other is not first and other.fits(request) and _weighs_unevenly(request) else first


_CELLS_OF: Final = {"p": (0, 1), "n": (2, 3), "pp": (0, 2), "pn": (1, 3), "union": (0, 1, 2)}


def _weighs_unevenly(request: Request) -> bool:
    """Whether the outcomes that a share is of weigh differently, seen or not; of other measures, whether cases do."""
    table = request.table
    if not table.counts_outcomes:
        cells, squares = table.cells, np.asarray(table.cell_squares)
        unit = squares[cells > 0] / cells[cells > 0]
    else:
        unit = limits.unit_weights(table.strata, table.cells, np.asarray(table.cell_squares))
        part = _CELLS_OF.get(request.measure.trials or "") if unit.size == 4 else None
        unit = unit if part is None else unit[list(part)]
    return bool(np.ptp(unit) > 1e-9 * unit.max()) if unit.size else False


def suiting(request: Request, draws: Draws | None = None) -> tuple[str, ...]:
    """The methods that suit a request, the usual one first."""
    first = usual(request, draws)
    return first.name, *(one.name for one in INTERVALS if one is not first and one.fits(request))


def chosen(request: Request, method: str | None, draws: Draws | None = None, *, strict: bool = True) -> IntervalKind:
    """The method asked for, refused when it does not suit; the usual one when none is asked for.

    Not `strict`, the usual one where it does not suit.
    """
    if method is None:
        return usual(request, draws)
    asked = INTERVALS.find(method)
    if asked.suits is _never:  # none is wanted, and no reason need be told
        return replace(asked, function=lambda plan: Interval(math.nan, math.nan, None, None))
    if not asked.fits(request):
        if not strict:
            return usual(request, draws)
        suitable = suiting(request)
        raise MeasureError(
            f"method={method!r} does not suit {request.spec}.", hint=f"{', '.join(suitable[:-1])} or {suitable[-1]}"
        )
    return asked


def left_out(drawn: int, used: int, what: str = "undefined replicates") -> str | None:
    """What to say of replicates that an interval had to leave out."""
    lost = drawn - used
    return f"interval leaves out {grouped(lost)} of {grouped(drawn)} {what}" if lost else None


def none(why: str) -> Interval:
    return Interval(math.nan, math.nan, None, f"no interval: {why}")


def within(plan: Plan, low: float, high: float, method: str, reason: str | None = None) -> Interval:
    """Bounds cut to the range of the measure; what corrects a bias may leave out the value, which then is its end."""
    lowest, highest = plan.request.range
    low, high = min(float(low), plan.value), max(float(high), plan.value)
    return Interval(max(low, lowest), min(high, highest), method, reason)


@by_replicates("bootstrap", "percentiles of the bootstrap", aliases=("percentile",))
def bootstrap_interval(plan: Plan) -> Interval:
    """The quantiles of the replicates at (1 ∓ level) / 2; moved onto the value when they leave it out."""
    defined, reason = plan.replicates()
    low, high = np.quantile(defined, plan.tails)
    method = "bootstrap"
    if not low <= plan.value <= high:  # drawing cases twice lifts maxima such as KS above the value itself
        method, middle = "bootstrap, centred", float(np.median(defined))
        low, high = low - middle + plan.value, high - middle + plan.value
    return within(plan, low, high, method + plan.how, reason)


def _unit(request: Request) -> bool:
    return not request.averaged and tuple(request.range) == (0.0, 1.0)


@by_replicates("logit-t", "bootstrap on the logit scale with Student's t", suits=_unit)
def logit_interval(plan: Plan) -> Interval:
    """expit(logit v ± t · sd of the replicates' logits), t with the degrees of freedom of the rarer class."""
    defined, reason = plan.replicates()
    low, high = limits.on_logit(plan.value, defined, plan.rarer, plan.level)
    return within(plan, low, high, f"logit-t{plan.how}", reason)


@by_replicates(
    "precision-t",
    "as logit-t, for as many cases as bear the precision",
    suits=labelled,
    declared=True,
    uneven="corrected",
)
def precision_interval(plan: Plan) -> Interval:
    """As logit-t, with t for as many cases as bear the spread: of a rare class, and near 1, a few at the top do."""
    if plan.request.stated and (few := _too_few_negatives(plan)):
        return none(few)
    defined, reason = plan.replicates()
    borne = min(plan.rarer, max(2.0, _borne(plan.request.table.inside(ScoreTable))))
    low, high = limits.on_logit(plan.value, defined, plan.rarer, plan.level, borne=borne)
    return within(plan, low, high, f"precision-t{plan.how}", reason)


def _too_few_negatives(plan: Plan) -> str | None:
    """Why precision at a stated prevalence is not known: a negative outweighs too large a share of the positives.

    Where n · p / (1 − p) of n negatives was 2, 10 and 20, intervals held the truth in 73, 86 and 88 to 92 % of samples.
    """
    share, own = plan.request.spec.prevalence or 0.0, plan.request.table.inside(ScoreTable).positive_name
    share = share if own == plan.table.positive_name else 1 - share
    table = plan.table.inside(ScoreTable, plan.request.spec.of)
    if float(table.n_neg) * share >= _NEGATIVES * (1 - share):
        return None
    return f"{grouped(float(table.n_neg))} negatives are too few to know the precision at a prevalence of {share:.3g}"


def _borne(table: ScoreTable) -> float:
    """How many cases bear the spread of an average precision, by the influence U of each: 1 + 2k / (1 − k/n).

    k = (Σ U²)² / Σ U⁴. So many degrees of freedom, and one, has a sum of squares that spreads as Σ U² does; if U were
    normal, n. A positive adds its own precision and lifts those below it, a negative lowers them.
    """
    pos, neg = table.pos.astype(np.float64), table.neg.astype(np.float64)
    tp, called = np.cumsum(pos), np.cumsum(pos + neg)
    precision, step = ratio(tp, called), ratio(pos, called)

    def from_below(values: Array) -> Array:
        return np.asarray(np.cumsum(values[::-1])[::-1])

    mean = ratio(pos @ precision, pos.sum())
    influence = np.stack([-from_below(step * precision), precision - mean + from_below(step * (1 - precision))])
    cases = np.stack([neg, pos])
    if table.squares is not None:  # as many equal cases as are worth the weights of a cell, each of their weight
        own = table.squares[table.positive]
        squares = np.stack([table.squares.sum(axis=0) - own, own])
        influence = influence * ratio(squares, cases)
        cases = limits.kish(cases, squares)
    share = np.where(cases > 0, influence**2, 0.0)
    fourth = float((cases * share**2).sum())
    if not fourth > 0:
        return float(cases.sum())
    k = float((cases * share).sum()) ** 2 / fourth
    return 1 + 2 * k / max(1e-9, 1 - k / float(cases.sum()))


def _loss(request: Request) -> bool:
    return request.measure.best == "low" and request.range[0] == 0


@by_replicates("log-t", "bootstrap on the log scale", suits=_loss, aliases=("log",))
def log_interval(plan: Plan) -> Interval:
    """v · exp(± z · sd of the replicates' logarithms): losses are skewed, a few cases bear most of them."""
    defined, reason = plan.replicates()
    if not (plan.value > 0 and (defined > 0).any()):
        return bootstrap_interval.function(plan)
    low, high = limits.on_log(plan.value, defined, plan.level)
    return within(plan, low, high, f"log-t{plan.how}", reason)


def like_an_area(request: Request) -> bool:
    """Areas over several classes, and what is read like an area of two."""
    return request.measure.area == (1, 0) if request.averaged else request.measure.beside is not None


@by_replicates("class-area", "area on the logit scale", suits=like_an_area, general=True)
def class_area_interval(plan: Plan) -> Interval:
    """As logit-t; near 1, where hardly any pair is in the wrong order, at least as wide as Newcombe's."""
    defined, reason = plan.replicates()
    low, high = limits.on_logit(plan.value, defined, plan.rarer, plan.level)
    if plan.rarer * (1 - plan.value) < _HARDLY_ANY:
        rest = max(2.0, plan.table.cases - plan.rarer)
        wider = limits.newcombe_auc(plan.value, plan.rarer, rest, plan.level)
        low, high = min(low, wider[0]), max(high, wider[1])
    return within(plan, low, high, f"logit-t{plan.how}", reason)


@by_replicates("shifted", "percentiles less twice the bias of the bootstrap")
def shifted_interval(plan: Plan) -> Interval:
    """The percentiles moved down by twice what the replicates have too much: the bootstrap shows half of the bias."""
    defined, reason = plan.replicates()
    low, high = limits.shifted(plan.value, defined, plan.level)
    return within(plan, low, high, f"shifted{plan.how}", reason)


def _never(request: Request) -> bool:
    return False


@interval("none", "no interval, where none is known to cover", suits=_never, weighted=True)
def no_interval(plan: Plan) -> Interval:
    """Left out: with cases in groups, no interval of such a measure is known to cover."""
    return none("with cases in groups none is known to hold the true value often enough")
