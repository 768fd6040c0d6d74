"""The intervals there are, each declared once with what it suits: closed forms, and replicates of a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np

from scorespace.declaration import Option, Registry
from scorespace.errors import MeasureError
from scorespace.measures.average import EVENLY, mean_of
from scorespace.measures.request import Request
from scorespace.resampling import limits, worlds
from scorespace.resampling.area import delong, delong_logit, delong_variance, delong_variances
from scorespace.resampling.draw import REPLICATES, Alone, Draws, blocks
from scorespace.resampling.share import clopper_pearson, normal_quantile, wilson
from scorespace.results import grouped
from scorespace.special import ndtr, ndtri
from scorespace.tables import Array, ClassBins, Counts, ScoreTable, Table, Top, ratio
from scorespace.tables.pieces import threads

Function = Callable[[Any], Array]
_CELLS_AT_ONCE: Final = 2_000_000
_WORLD_ROWS: Final = 512  # rows of a table on which labels are drawn again
_WORLD_DRAWS: Final = 250
_PLACES_AT_ONCE: Final = 16  # operating points whose outcomes are drawn together
_INVERTED_DRAWS: Final = 100
_HARDLY_ANY: Final = 0.5  # cases of the rarer class, times the share of pairs in the wrong order
_MOST_INNER_CELLS: Final = 200_000_000  # counts to go through for a jackknife in every replicate: some seconds


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


@dataclass(frozen=True)
class Plan:
    """What an interval is for: a request on a model's table, its value there, the level, and the replicates."""

    request: Request
    model: str
    table: Table
    value: float
    level: float
    draws: Draws
    worlds: dict[str, _Worlds] = field(default_factory=dict, repr=False, compare=False)
    """What labels drawn again showed last, by how they were drawn: measures of one table share it."""

    @property
    def tails(self) -> Array:
        return np.array([(1 - self.level) / 2, (1 + self.level) / 2])

    @property
    def rarer(self) -> float:
        """How many cases the rarer class has, or as many equal ones as are worth their weights; found once."""
        kept = self.table.__dict__
        if "rarer" not in kept:
            strata, cells = self.table.strata, self.table.cells.astype(np.float64)
            totals = np.bincount(strata, cells)
            squares = self.table.cell_squares
            sizes = totals if squares is None else limits.kish(totals, np.bincount(strata, squares))
            kept["rarer"] = float(sizes[totals > 0].min(initial=math.inf))
        rarer: float = kept["rarer"]
        return rarer if math.isfinite(rarer) else 0.0

    def replicates(self) -> tuple[Array, str | None]:
        """The value in every replicate where it is defined, and how many had to be left out."""
        values = self.draws.of(self.model, self.request)
        defined = values[np.isfinite(values)]
        return defined, left_out(values.size, defined.size)

    @property
    def how(self) -> str:
        """What was drawn, where it was not all cases one by one."""
        return self.draws.how(self.model)


@dataclass(frozen=True)
class IntervalKind:
    """A way to make intervals: what it is called, what it suits, and the function that makes one from a plan.

    `replicates`: it draws cases again, and so allows for groups; `weighted`: it allows for cases that weigh more or
    less than one. `instead` is used where cases come in groups or have weights that it does not allow for.
    """

    name: str
    title: str
    suits: Callable[[Request], bool]
    function: Callable[[Plan], Interval]
    replicates: bool
    weighted: bool
    instead: str
    aliases: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


INTERVALS: Registry[IntervalKind] = Registry("method of intervals", "measures", MeasureError)
"""Every declared kind of interval."""


def interval(
    name: str,
    title: str,
    *,
    suits: Callable[[Request], bool],
    replicates: bool = False,
    weighted: bool = False,
    instead: str = "bootstrap",
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[[Plan], Interval]], IntervalKind]:
    """Declare a kind of interval and the requests that it suits."""

    def declare(function: Callable[[Plan], Interval]) -> IntervalKind:
        return INTERVALS.add(IntervalKind(name, title, suits, function, replicates, weighted, instead, aliases))

    return declare


def counted(request: Request) -> bool:
    """Whether a request is a share of a count."""
    ranked = isinstance(request.spec.at, Top)  # then the cut moves with the cases, and shares vary more
    return (
        request.measure.trials is not None and not request.averaged and hasattr(request.table, "effective")
    ) and not ranked


def _of_area(request: Request) -> bool:
    return request.measure.area is not None and request.table.thresholded and not request.averaged


def _celled(request: Request) -> bool:
    """Whether cases stand in cells, so that one can be left out; a lookup in every replicate must be affordable."""
    return request.table.grouping is None and not request.table.by_case


def usual(request: Request, draws: Draws | None = None) -> IntervalKind:
    """The interval that a measure is declared to have, where it suits this table; else the bootstrap.

    Cases that come in groups are drawn whole, whatever the measure.
    """
    declared = INTERVALS.find(request.measure.intervals.get(type(request.table), request.measure.interval))
    if not declared.suits(request):
        others = (jeffreys_interval, binned_area_interval, class_area_interval)
        declared = next((one for one in others if one.suits(request)), declared)
    grouped = request.table.grouping is not None or (draws is not None and draws.grouped)
    weighted = request.table.cell_squares is not None
    fits = declared.suits(request) and not grouped and (declared.weighted or not weighted)
    if fits:
        return declared
    return INTERVALS.find(declared.instead) if declared.suits(request) else bootstrap_interval


def suiting(request: Request, draws: Draws | None = None) -> tuple[str, ...]:
    """The methods that suit a request, the usual one first."""
    first = usual(request, draws)
    return first.name, *(one.name for one in INTERVALS if one is not first and one.suits(request))


def chosen(request: Request, method: str | None, draws: Draws | None = None, *, strict: bool = True) -> IntervalKind:
    """The method asked for, refused when it does not suit; the usual one when none is asked for.

    Not `strict`, the usual one where it does not suit.
    """
    if method is None:
        return usual(request, draws)
    asked = INTERVALS.find(method)
    if asked.suits is _never:  # none is wanted, and no reason need be told
        return replace(asked, function=lambda plan: Interval(math.nan, math.nan, None, None))
    if not asked.suits(request):
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


def _none(why: str) -> Interval:
    return Interval(math.nan, math.nan, None, f"no interval: {why}")


def _within(plan: Plan, low: float, high: float, method: str, reason: str | None = None) -> Interval:
    """Bounds cut to the range of the measure; what corrects a bias may leave out the value, which then is its end."""
    lowest, highest = plan.request.range
    low, high = min(float(low), plan.value), max(float(high), plan.value)
    return Interval(max(low, lowest), min(high, highest), method, reason)


# --- closed forms


def _share(plan: Plan, bounds: Callable[[float, float, float], tuple[float, float]], method: str) -> Interval:
    measure, table = plan.request.measure, plan.request.table
    trials = table.effective(measure.trials or "")  # type: ignore[attr-defined]
    to_share, back = measure.share or (float, float)
    low, high = bounds(to_share(plan.value) * trials, trials, plan.level)
    return Interval(back(low), back(high), method)


@interval("wilson", "Wilson's interval of a share", suits=counted, weighted=True)
def wilson_interval(plan: Plan) -> Interval:
    """Wilson's interval; of weighted cases, for as many equal ones as are worth the weights."""
    return _share(plan, wilson, "wilson")


@interval(
    "clopper-pearson", "exact interval of a share", suits=counted, weighted=True, aliases=("clopper_pearson", "exact")
)
def clopper_pearson_interval(plan: Plan) -> Interval:
    """The exact interval of Clopper and Pearson."""
    return _share(plan, clopper_pearson, "clopper-pearson")


def _area(plan: Plan, bounds: Callable[[ScoreTable, float], tuple[float, float]], method: str) -> Interval:
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table = plan.request.table.inside(ScoreTable)
    low, high = bounds(table, plan.level)
    if math.isnan(low):
        few = math.isnan(delong_variance(table))
        why = "a class has fewer than two cases" if few else "the logit of an area of 0 or 1 is infinite"
        why = why if table.cell_squares is None else "cases have weights"
        return Interval(low, high, None, f"no {'DeLong' if method == 'delong' else 'DeLong-logit'} interval: {why}")
    return Interval(slope * low + start, slope * high + start, method)


@interval("delong", "DeLong's interval of an area", suits=_of_area)
def delong_interval(plan: Plan) -> Interval:
    """DeLong's interval, cut to the range."""
    return _area(plan, delong, "delong")


@interval("delong-logit", "DeLong's interval on the logit scale", suits=_of_area, aliases=("delong_logit",))
def delong_logit_interval(plan: Plan) -> Interval:
    """DeLong's interval on the logit scale."""
    return _area(plan, delong_logit, "delong-logit")


@interval("newcombe", "Newcombe's score interval of an area, for few cases", suits=_of_area)
def newcombe_interval(plan: Plan) -> Interval:
    """Newcombe's interval, never narrower than DeLong's variance asks for: it has width also at 0 and 1."""
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table = plan.request.table.inside(ScoreTable)
    area = (plan.value - start) / slope
    sizes = float(table.n_pos), float(table.n_neg)
    low, high = limits.newcombe_auc(area, *sizes, plan.level, variance=delong_variance(table))
    return Interval(slope * low + start, slope * high + start, "newcombe")


@interval("area", "DeLong's interval of an area where it covers, else Newcombe's", suits=_of_area)
def area_interval(plan: Plan) -> Interval:
    """DeLong's interval from ten cases of the rarer class times min(A, 1 − A) on; Newcombe's below."""
    slope, start = plan.request.measure.area or (1.0, 0.0)
    table = plan.request.table.inside(ScoreTable)
    suits = limits.delong_suits((plan.value - start) / slope, float(table.n_pos), float(table.n_neg))
    return (delong_interval if suits else newcombe_interval).function(plan)


def _of_binned_areas(request: Request) -> bool:
    evenly = request.averaged and request.spec.of in ("macro", *EVENLY)
    return evenly and _like_an_area(request) and request.table.undrawn(request.table) is not None


@interval("delong-mean", "DeLong's errors of areas over classes, as if all moved together", suits=_of_binned_areas)
def binned_area_interval(plan: Plan) -> Interval:
    """The mean of the errors of the classes, or of the pairs of them: no sum spreads more than its parts together.

    How they move together is not known of bins, so it is the widest that it can be.
    """
    table, how = cast(ClassBins, plan.request.table), str(plan.request.spec.of)
    size = len(table.classes)
    if how in EVENLY:
        errors = np.full((size, size), np.nan)
        for i, j, one in table.pairwise(ScoreTable):
            errors[i, j] = math.sqrt(delong_variance(one))
    else:
        errors = np.array([math.sqrt(delong_variance(one)) for one in table.each(ScoreTable)])
    half = normal_quantile(plan.level) * float(mean_of(errors, table.class_totals, how))
    if math.isnan(half):
        return _none("classes have fewer than two cases")
    return _within(plan, plan.value - half, plan.value + half, "delong, at most")


# --- decisions: the cells as they may be


def _of_decisions(request: Request) -> bool:
    return hasattr(request.table, "effective") and not request.table.by_case


@interval("jeffreys", "percentiles over the outcomes as they may be", suits=_of_decisions, weighted=True)
def jeffreys_interval(plan: Plan) -> Interval:
    """Percentiles of the measure on outcomes drawn from Dirichlet(counts + ½): a cell without cases is not impossible.

    Of K classes, one error in all is added instead, 1 / (K (K − 1)) to each cell. For measures within classes, the
    outcomes of each class apart. At an operating point by rank, the cut moves so that the places stay.
    """
    table = plan.request.table
    cells = table.cells.astype(np.float64) * (table.cases / float(table.total))
    drawn = _outcomes(plan.request, cells, plan.draws.seed, plan.draws.replicates)
    if isinstance(plan.request.spec.at, Top):
        drawn = _cut_again(plan, drawn)
    values = np.asarray(plan.request.formula(table.with_cells(drawn)), dtype=np.float64)
    defined = values[np.isfinite(values)]
    if not defined.size:
        return _none("the measure is undefined in every draw")
    low, high = np.quantile(defined, plan.tails)
    reason = left_out(values.size, defined.size, "undefined draws")
    return _within(plan, low, high, "jeffreys", reason)


def _outcomes(request: Request, cells: Array, seed: int, replicates: int) -> Array:
    """Cells (replicates, m) as they may be where these were seen; for measures within classes, of each class apart."""
    table = request.table
    prior = limits.cell_prior(max(2, len(table.class_names)))
    rng = np.random.default_rng([seed, 2])
    if not request.within:
        return np.asarray(limits.posterior(cells, rng, replicates, prior=prior) * cells.sum())
    totals = np.bincount(table.strata, cells)
    drawn = np.empty((replicates, cells.size))
    for stratum in np.unique(table.strata):
        own = table.strata == stratum
        drawn[:, own] = totals[stratum] * limits.posterior(cells[own], rng, replicates, prior=prior)
    return drawn


Outcomes = dict[tuple[bool, bytes], Array]


def jeffreys_along(
    request: Request, cells: Array, level: float, seed: int = 0, kept: Outcomes | None = None
) -> tuple[Array, Array]:
    """The limits of that interval where a request's table holds each of many rows of cells (places, m) in turn.

    Every place is drawn from the seed anew, so that its limits are those that the interval of this one place has.
    What is drawn of a place is `kept` for further measures there.

    >>> from scorespace.measures.catalog import parse
    >>> from scorespace.measures.request import bind
    >>> low, high = jeffreys_along(bind(parse("mcc"), Counts(9, 2, 1, 8)), np.array([[9, 1, 2, 8], [5, 5, 5, 5]]), 0.95)
    >>> low.round(2), high.round(2)
    (array([ 0.29, -0.38]), array([0.88, 0.39]))
    """
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    cells, known = np.asarray(cells, dtype=np.float64), {} if kept is None else kept

    def drawn(row: Array) -> Array:
        key = request.within, row.tobytes()
        if key not in known:
            known[key] = _outcomes(request, row, seed, REPLICATES)
        return known[key]

    def limits_of(rows: Array) -> Array:
        outcomes = np.stack([drawn(row) for row in rows])
        values = np.asarray(request.formula(request.table.with_cells(outcomes)), dtype=np.float64)
        if np.isfinite(values).all():
            return np.quantile(values, tails, axis=1).T
        defined = [row[np.isfinite(row)] for row in values]
        return np.array([np.quantile(row, tails) if row.size else (np.nan, np.nan) for row in defined])

    pieces = np.array_split(cells, max(1, len(cells) // _PLACES_AT_ONCE))
    with threads() as pool:
        found = np.concatenate(list(pool.map(limits_of, pieces)))
    value = np.asarray(request.formula(request.table.with_cells(cells)))
    lowest, highest = request.range
    return np.maximum(np.fmin(found[:, 0], value), lowest), np.minimum(np.fmax(found[:, 1], value), highest)


def _cut_again(plan: Plan, drawn: Array) -> Array:
    """Outcomes (draws, 4) drawn at a fixed cut, with the cut moved to where it leaves as many places as there are.

    What lies between both cuts is positive at the rate that is smooth along the ranks, read off at the cut.
    """
    spec = plan.request.spec
    scores = plan.table.inside(ScoreTable, spec.of if len(plan.table.class_names) > 2 else None)
    light = scores.condensed(_WORLD_ROWS) if scores.score.size > 2 * _WORLD_ROWS else scores
    cases = light.counts.sum(axis=-2, dtype=np.float64)
    rates = worlds.rates_by_rank(cases, light.pos, degree=2)
    flagged = np.array([1, 0, 1, 0])  # TP, FN, FP and TN; of the other class of two, those that are left alone
    positive = np.array([1, 1, 0, 0])
    if spec.of is not None and len(plan.table.class_names) == 2 and spec.of != plan.table.positive_name:
        flagged, positive = 1 - flagged, 1 - positive
    places = float(cast(Top, plan.request.point).of(1.0))
    middle = (np.cumsum(cases) - cases / 2) / cases.sum()
    rate = float(np.interp(places, middle, rates))
    size = drawn.sum(axis=-1)
    short = places * size - (drawn * flagged).sum(axis=-1)  # so many more have to be flagged
    moved = drawn.copy()
    for own, part in ((1, rate), (0, 1 - rate)):
        yes, no = (int(np.flatnonzero((positive == own) & (flagged == one))[0]) for one in (1, 0))
        step = np.clip(short * part, -drawn[:, yes], drawn[:, no])
        moved[:, yes] += step
        moved[:, no] -= step
    return moved


# --- replicates


def _any(request: Request) -> bool:
    return True


@interval(
    "bootstrap", "percentiles of the bootstrap", suits=_any, replicates=True, weighted=True, aliases=("percentile",)
)
def bootstrap_interval(plan: Plan) -> Interval:
    """The quantiles of the replicates at (1 ∓ level) / 2; moved onto the value when they leave it out."""
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    low, high = np.quantile(defined, plan.tails)
    method = "bootstrap"
    if not low <= plan.value <= high:  # drawing cases twice lifts maxima such as KS above the value itself
        method, middle = "bootstrap, centred", float(np.median(defined))
        low, high = low - middle + plan.value, high - middle + plan.value
    return _within(plan, low, high, method + plan.how, reason)


def _unit(request: Request) -> bool:
    return not request.averaged and tuple(request.range) == (0.0, 1.0)


@interval("logit-t", "bootstrap on the logit scale with Student's t", suits=_unit, replicates=True, weighted=True)
def logit_interval(plan: Plan) -> Interval:
    """expit(logit v ± t · sd of the replicates' logits), t with the degrees of freedom of the rarer class."""
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    low, high = limits.on_logit(plan.value, defined, max(2.0, plan.rarer), plan.level)
    return _within(plan, low, high, f"logit-t{plan.how}", reason)


def _of_precision(request: Request) -> bool:
    return request.measure.interval == "precision-t" and _labelled(request)


@interval(
    "precision-t",
    "as logit-t, for as many cases as bear the precision",
    suits=_of_precision,
    replicates=True,
    weighted=True,
)
def precision_interval(plan: Plan) -> Interval:
    """As logit-t, with t for as many cases as bear the spread: of a rare class, and near 1, a few at the top do."""
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    rarer = max(2.0, plan.rarer)
    borne = min(rarer, max(2.0, _borne(plan.request.table.inside(ScoreTable))))
    low, high = limits.on_logit(plan.value, defined, rarer, plan.level, borne=borne)
    return _within(plan, low, high, f"precision-t{plan.how}", reason)


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


@interval("log-t", "bootstrap on the log scale", suits=_loss, replicates=True, weighted=True, aliases=("log",))
def log_interval(plan: Plan) -> Interval:
    """v · exp(± z · sd of the replicates' logarithms): losses are skewed, a few cases bear most of them."""
    defined, reason = plan.replicates()
    if not (plan.value > 0 and (defined > 0).any()):
        return bootstrap_interval.function(plan)
    low, high = limits.on_log(plan.value, defined, plan.level)
    return _within(plan, low, high, f"log-t{plan.how}", reason)


def _like_an_area(request: Request) -> bool:
    """Areas over several classes, and what is read like an area of two."""
    return request.measure.area == (1, 0) if request.averaged else request.measure.beside is not None


@interval("class-area", "area on the logit scale", suits=_like_an_area, replicates=True, weighted=True)
def class_area_interval(plan: Plan) -> Interval:
    """As logit-t; near 1, where hardly any pair is in the wrong order, at least as wide as Newcombe's."""
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    rarer = max(2.0, plan.rarer)
    low, high = limits.on_logit(plan.value, defined, rarer, plan.level)
    if rarer * (1 - plan.value) < _HARDLY_ANY:
        rest = max(2.0, plan.table.cases - rarer)
        wider = limits.newcombe_auc(plan.value, rarer, rest, plan.level)
        low, high = min(low, wider[0]), max(high, wider[1])
    return _within(plan, low, high, f"logit-t{plan.how}", reason)


@interval("shifted", "percentiles less twice the bias of the bootstrap", suits=_any, replicates=True, weighted=True)
def shifted_interval(plan: Plan) -> Interval:
    """The percentiles moved down by twice what the replicates have too much: the bootstrap shows half of the bias."""
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    low, high = limits.shifted(plan.value, defined, plan.level)
    return _within(plan, low, high, f"shifted{plan.how}", reason)


def _never(request: Request) -> bool:
    return False


@interval("none", "no interval, where none is known to cover", suits=_never, weighted=True)
def no_interval(plan: Plan) -> Interval:
    """Left out: with cases in groups, no interval of such a measure is known to cover."""
    return _none("with cases in groups none is known to hold the true value often enough")


# --- worlds in which the truth is known


def _labelled(request: Request) -> bool:
    return request.table.thresholded and not request.averaged


def _bounded(request: Request) -> bool:
    return _labelled(request) and all(map(math.isfinite, request.range))


def _again(table: ScoreTable, hits: Array) -> ScoreTable:
    """The table with so many positives (…, scores) at each score, and the rest negative."""
    cases = table.counts.sum(axis=-2, dtype=np.float64).astype(hits.dtype)
    counts = np.stack([cases - hits, hits], axis=-2)
    return ScoreTable(table.score, counts, ("0", "1"), 1)


def _worth(table: ScoreTable, cases: Array) -> tuple[Array, float]:
    """How many equal cases tell as much as those at each score, at least one, and as all of them per unit of weight."""
    if table.cell_squares is None:
        return cases, 1.0
    squares = table.cell_squares.reshape(-1, cases.size).sum(axis=0)
    number = np.where(cases > 0, np.maximum(1.0, np.round(limits.kish(cases, squares))), 0.0)
    return number, float(limits.kish(cases.sum(), squares.sum()) / cases.sum())


@dataclass(frozen=True)
class _Worlds:
    """Tables of worlds in which the rates of positives are known, and of labels drawn again from these rates.

    `of` is the table that they are near to, `light` the one whose labels were drawn: a condensed one leaves chance less
    to fit, so a value is compared as it is there.
    """

    of: ScoreTable
    light: ScoreTable
    known: ScoreTable
    drawn: ScoreTable

    def values(self, request: Request) -> tuple[float, Array, Array]:
        """The measure as it is, in every world, and on labels drawn from it (worlds, draws)."""
        seen, known, drawn = (np.asarray(request.formula(each), dtype=np.float64) for each in self._tables)
        return float(seen), known, drawn.reshape(-1, known.size).T

    @property
    def _tables(self) -> tuple[ScoreTable, ...]:
        return self.light, self.known, self.drawn


def _worlds(plan: Plan, name: str, rates_of: Callable[[ScoreTable, float], Array], draws: int, stream: int) -> _Worlds:
    """The worlds that such rates make, drawn once for all measures of a table that ask in turn."""
    table = plan.request.table.inside(ScoreTable)
    kept = plan.worlds.get(name)
    if kept is None or kept.of is not table:
        light = table.condensed(_WORLD_ROWS) if table.score.size > 2 * _WORLD_ROWS else table
        cases = light.counts.sum(axis=-2, dtype=np.float64)
        number, worth = _worth(light, cases)
        rates = rates_of(light, worth)
        rng = np.random.default_rng([plan.draws.seed, stream])
        hits = worlds.labels_again(number, rates, rng, draws).reshape(-1, cases.size)
        drawn = _again(light, hits if number is cases else hits * (cases / np.maximum(number, 1)))
        kept = plan.worlds[name] = _Worlds(table, light, _again(light, cases * rates), drawn)
    return kept


@interval(
    "corrected",
    "corrected for the bias seen where the truth is known",
    suits=_bounded,
    replicates=True,
    weighted=True,
    instead="shifted",
)
def corrected_interval(plan: Plan) -> Interval:
    """The bias and spread of the measure are seen on labels drawn from smooth rates, whose own value is known.

    A value such as KS is the best of many on the same cases, so chance makes it too good; the bootstrap shows about
    half of that. Where labels without any relation to the scores would show such a value, theirs belongs to it.
    """
    table = plan.request.table.inside(ScoreTable)
    if table.score.size == 1:
        # Then no labels change the value, and what others would score is not known.
        return _none("every case has the same score: nothing says how others would be ranked")
    if min(table.n_pos, table.n_neg) == 0:
        return _none("only one class is present: nothing says how the other would be scored")
    seen, known, values = _worlds(plan, "smooth", _smooth_and_noise, _WORLD_DRAWS, stream=3).values(plan.request)
    defined, reason = plan.replicates()
    if not (defined.size and np.isfinite(values).any(axis=1).all() and np.isfinite(known).all()):
        return _none("the measure is undefined in every replicate")
    low, high = _corrected(plan, seen, known[0], values[0])
    if limits.as_by_chance(seen, known[1], values[1], max(2.0, plan.rarer), plan.level):
        low, high = min(low, known[1]), max(high, known[1])
    return _within(plan, low, high, f"corrected{plan.how}", reason)


def _corrected(plan: Plan, seen: float, known: Array, values: Array) -> tuple[float, float]:
    """The limits for the bias and the error that one world shows."""
    rarer, spread, within = max(2.0, plan.rarer), float(plan.replicates()[0].std()), plan.request.range
    low, high = limits.corrected(seen, known, values, rarer, plan.level, spread=spread, within=within)
    return low, high


def _of_hull(request: Request) -> bool:
    return request.measure.interval == "corrected-hull" and _bounded(request)


@interval(
    "corrected-hull",
    "corrected also for the bias where rates have humps",
    suits=_of_hull,
    replicates=True,
    weighted=True,
    instead="shifted",
)
def corrected_hull_interval(plan: Plan) -> Interval:
    """As corrected, and at least what a world of a few steps asks for: where a curve is straight, a hull bends most."""
    found = corrected_interval.function(plan)
    if found.method is None:
        return found
    seen, known, values = _worlds(plan, "steps", _in_steps, _WORLD_DRAWS, stream=7).values(plan.request)
    low, high = _corrected(plan, seen, known[0], values[0])
    return _within(plan, min(low, found.low), max(high, found.high), f"corrected-hull{plan.how}", found.reason)


def _in_steps(table: ScoreTable, worth: float) -> Array:
    """Rates (1, scores) that are the same in each of a few parts of the ranks."""
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    return worlds.rates_in_steps(cases * worth, table.pos * worth)[None]


def _smooth_and_noise(table: ScoreTable, worth: float) -> Array:
    """Rates (2, scores): smooth along the ranks, and the same at every score."""
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    noise = np.full(cases.size, float(table.n_pos / table.total))
    return np.stack([worlds.rates_by_rank(cases * worth, table.pos * worth), noise])


def _recalibrated(table: ScoreTable, worth: float) -> Array:
    """Rates (steps, scores) from the scores as they stand to ever stronger recalibrations of them."""
    cases = table.counts.sum(axis=-2, dtype=np.float64)
    return worlds.recalibrated(table.score, cases * worth, table.pos * worth)


def _at_their_word(table: ScoreTable, worth: float) -> Array:
    """The same, but scores of 0 and 1 are taken at their word."""
    return np.where((table.score == 0) | (table.score == 1), table.score, _recalibrated(table, worth))


@interval(
    "inverted",
    "the truths that the value agrees with",
    suits=_labelled,
    replicates=True,
    weighted=True,
    instead="none",
)
def inverted_interval(plan: Plan) -> Interval:
    """For measures that chance alone lifts above zero: which miscalibrations would show such a value.

    Labels are drawn from the scores as they stand and from ever stronger recalibrations of them.
    """
    seen, known, values = _worlds(plan, "recalibrated", _recalibrated, _INVERTED_DRAWS, stream=4).values(plan.request)
    if not np.isfinite(known).all():  # a score of 0 or 1 that is wrong costs infinity
        sure = _worlds(plan, "at their word", _at_their_word, _INVERTED_DRAWS, stream=4)
        seen, known, values = sure.values(plan.request)
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    spread = float(defined.std())
    low, high = limits.inverted(seen, known, values, max(2.0, plan.rarer), plan.level, spread=spread)
    found = _within(plan, low, high, f"inverted{plan.how}", reason)
    return replace(found, chance=float(np.nanmean(values[0])))


@interval("bca", "bias-corrected and accelerated bootstrap", suits=_celled, replicates=True)
def bca_interval(plan: Plan) -> Interval:
    """Quantiles at Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))): z₀ from the share of replicates below the value.

    The acceleration a = Σ U³ / 6 (Σ U²)^1.5 is the skewness of the cases' influence U on the value,
    by leaving out each in turn. Replicates equal to the value count half to either side.
    """
    defined, reason = plan.replicates()
    if not defined.size:
        return _none("the measure is undefined in every replicate")
    beyond = _signs(defined, plan.value)
    if not beyond.any():
        return Interval(plan.value, plan.value, f"bca{plan.how}", "the measure is the same in every replicate")
    share = 0.5 - beyond.mean() / 2  # below, and half of those equal
    if not 0 < share < 1:
        return _none("all replicates lie on one side of the value, so BCa cannot correct their bias")
    light = plan.draws.source(plan.model).tables[plan.model]
    accelerated = acceleration(plan.request.on, light, plan.request.within)
    if math.isnan(accelerated):
        return _none("leaving out one case makes the measure undefined, so BCa has no acceleration")
    bias = ndtri(share)
    steps = bias + ndtri(plan.tails)
    stretch = 1 - accelerated * steps
    if not (stretch > 0).all():
        return _none("the cases' influence is too skewed for BCa")
    low, high = np.quantile(defined, ndtr(bias + steps / stretch))
    return _within(plan, low, high, f"bca{plan.how}", reason)


@interval("studentised", "bootstrap-t", suits=_celled, replicates=True, aliases=("studentized", "bootstrap-t"))
def studentised_interval(plan: Plan) -> Interval:
    """Bootstrap-t: value − t·se, with t the quantiles of (replicate − value) / se of the replicate.

    A constant factor of the error cancels.
    """
    table = plan.request.table
    light = table.condensed(2048) if table.cells.size > 20_000 else table
    error, kind = _error(plan.request, light)
    if kind == "jackknife" and not jackknife_is_affordable(light, plan.draws.replicates):
        raise MeasureError(
            f"method='studentised' takes too long for {plan.request.spec} of so many cases.", hint="bootstrap or bca"
        )
    formula = plan.request.formula
    centre, spread = (float(np.asarray(each(light))) for each in (formula, error))
    if not (math.isfinite(spread) and spread > 0):
        why = "is zero" if spread == 0 else "is undefined"
        return _none(f"the standard error ({kind}) {why}, so nothing can be studentised")

    def both(drawn: Any) -> list[Array]:
        return [np.asarray(formula(drawn[""]), dtype=np.float64), error(drawn[""])]

    source = Alone({"": light}, False)
    cost = light.cells.size * (1 + (case_cells(light).size if kind == "jackknife" else 0))
    draw, seed = source.drawer(plan.request.within, False), [plan.draws.seed, int(plan.request.within)]
    values, errors = blocks(draw, both, cost, replicates=plan.draws.replicates, seed=seed, progress=plan.draws.progress)
    usable = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
    if not usable.any():
        return _none(f"the standard error ({kind}) is zero or undefined in every replicate")
    ratios = (values[usable] - centre) / errors[usable]
    high, low = plan.value - np.quantile(ratios, plan.tails) * spread
    reason = left_out(values.size, int(usable.sum()), "replicates without a standard error")
    if not _signs(values[usable], centre).any():
        reason = "the measure is the same in every replicate"
    low, high = np.clip([low, high], *plan.request.range)
    name = f"studentised, {kind}" + ("" if light is table else ", condensed")
    return Interval(float(low), float(high), name, reason)


def _error(request: Request, light: Any) -> tuple[Function, str]:
    """The standard error of a request as a function of replicates, and its name."""
    if _of_area(request):
        slope = abs((request.measure.area or (1.0, 0.0))[0])
        return (lambda drawn: slope * np.sqrt(delong_variances(drawn))), "delong"
    if counted(request):
        trials = request.measure.trials or ""

        def binomial(drawn: Counts) -> Array:
            # Half a hit and half a miss more, or replicates of hits alone would have no error.
            count = getattr(drawn, trials)
            share = (request.formula(drawn) * count + 0.5) / (count + 1)
            return np.sqrt(ratio(share * (1 - share), count))

        return binomial, "binomial"
    return jackknife_error(request.formula, light, request.within), "jackknife"


# --- leaving out one case


def acceleration(function: Function, table: Any, within: bool = True) -> float:
    """BCa's acceleration a = Σ U³ / 6 (Σ U²)^1.5, with U = (n − 1)(mean − left out)/n within each class.

    0 when no case has influence; NaN when the measure needs a case that is left out.

    >>> from scorespace.tables import Counts
    >>> round(acceleration(lambda c: c.tp / c.p, Counts(tp=9, fp=0, fn=1, tn=0)), 4)
    -0.1405
    """
    counts, strata = table.cells, _strata(table, within)
    cells = case_cells(table, within)
    values = _left_out_values(function, table, counts, cells)
    if not np.isfinite(values).all():
        return math.nan
    weights, row = counts[cells], strata[cells]
    sizes = np.bincount(strata, counts)
    means = np.bincount(row, weights * values, minlength=sizes.size) / np.maximum(sizes, 1)
    influence = (sizes - 1)[row] / sizes[row] * (means[row] - values)
    squares = float(weights @ influence**2)
    return float(weights @ influence**3) / (6 * squares**1.5) if squares > 0 else 0.0


def jackknife_error(function: Function, base: Any, within: bool = True) -> Function:
    """Standard errors √Σ (n − 1)/n Σ (left out − mean)², summed over classes, of replicates of a table.

    Cases of one cell have the same value when left out, so there is one evaluation per cell of the
    base table that holds cases. NaN when a left-out case makes the measure undefined.

    >>> from scorespace.tables import Counts
    >>> table = Counts(tp=8, fp=0, fn=2, tn=0)
    >>> round(float(jackknife_error(lambda c: c.tp / c.p, table)(table)), 4)
    0.1333
    """
    cells, strata = case_cells(base, within), _strata(base, within)
    member = (strata[cells][:, None] == np.arange(strata.max(initial=0) + 1)).astype(np.float64)
    of_class = (strata[:, None] == np.arange(member.shape[1])).astype(np.float64)

    def error(table: Any) -> Array:
        counts = table.cells
        weights = counts[..., cells].astype(np.float64)
        values = np.asarray(function(table.with_cells(_without_one(counts, cells))), dtype=np.float64)
        values = np.where(weights > 0, values, 0.0)  # a cell without cases has none to leave out
        sizes = counts @ of_class
        means = (weights * values) @ member / np.maximum(sizes, 1)
        spread = (weights * (values - means @ member.T) ** 2) @ member
        return np.sqrt((spread * (1 - 1 / np.maximum(sizes, 1))).sum(axis=-1))

    return error


def jackknife_is_affordable(table: Any, replicates: int) -> bool:
    """Whether leaving out every case of every replicate takes seconds and not hours."""
    work = replicates * table.cells.size
    return work <= _MOST_INNER_CELLS and work * case_cells(table).size <= _MOST_INNER_CELLS


def case_cells(table: Any, within: bool = True) -> Array:
    """The cells that hold cases which can be left out: of classes of at least two."""
    strata = _strata(table, within)
    sizes = np.bincount(strata, table.cells)
    return np.flatnonzero((table.cells > 0) & (sizes[strata] > 1))


def _strata(table: Any, within: bool) -> Array:
    return np.asarray(table.strata if within else np.zeros_like(table.strata))


def _left_out_values(function: Function, table: Any, counts: Array, cells: Array) -> Array:
    """The value without one case of each cell, in pieces of bounded size."""
    size = max(1, _CELLS_AT_ONCE // max(1, counts.size))
    pieces = [cells[start : start + size] for start in range(0, cells.size, size)]

    def piece(chosen: Array) -> Array:
        return np.asarray(function(table.with_cells(_without_one(counts, chosen))), dtype=np.float64)

    if len(pieces) <= 1:
        return piece(cells) if cells.size else np.empty(0)
    with threads() as pool:
        return np.concatenate(list(pool.map(piece, pieces)))


def _without_one(counts: Array, cells: Array) -> Array:
    """The counts (…, cells) once for each chosen cell, with one case fewer there if it holds any."""
    copies = np.repeat(counts[..., None, :], cells.size, axis=-2)
    copy = np.arange(cells.size)
    copies[..., copy, cells] -= (copies[..., copy, cells] > 0).astype(copies.dtype)
    return copies


def _signs(values: Array, value: float) -> Array:
    """1 above the value, −1 below, 0 when equal but for rounding, which must not decide a tie."""
    gaps = values - value
    return np.where(np.abs(gaps) <= 1e-12 * max(1.0, abs(value)), 0.0, np.sign(gaps))
