"""The model and threshold of least cost under an operating condition, and what they cost on other cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace

import numpy as np

from scorespace.conditions import Condition
from scorespace.curves.hull import ALWAYS, NEVER, TRIVIAL, Hull, Region, hull
from scorespace.decisions.honest import Criterion, Crossfit, Models, apart, crossfit, least
from scorespace.decisions.judged import (
    NOTHING_CHOSEN,
    OUTCOMES,
    UNJUDGED,
    UNKNOWN,
    Judged,
    Value,
    check_judged,
    costs_of,
    estimand_of,
    labels_of,
    of_1000,
    placed,
)
from scorespace.decisions.threshold import closed_threshold
from scorespace.errors import ConditionError, DataError
from scorespace.frozen import dataclass
from scorespace.results import CERTIFIED, Note, Result, Row, decimals, joined, limits, note, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable
from scorespace.tables.pair import PairTable

SUPPORTED = 0.9
"""The share of resamples in which a model must be dominated before it is called never the better choice."""


@dataclass(frozen=True)
class Choice:
    """A model used at a threshold (none for a crisp one), with what that does and costs.

    All thresholds above `above`, up to and including `threshold`, decide alike. `counts` and
    `cost_per_case` are on the cases that chose the threshold, and so too good; `judged` are the outcomes
    on cases that did not, and `honest` is the cost there. `gain` is what it spares against the better rule
    that needs no model. `calibrated_cost` is the cost at the closed-form threshold for calibrated
    probabilities, where the scores can be such. `certified`, of coarse scores: no threshold costs less than the
    first, whatever the order inside the bins, and this one costs the second.
    """

    model: str
    threshold: float
    above: float
    counts: Counts
    cost_per_case: float
    relative_cost: float
    calibrated_threshold: float = math.nan
    calibrated_cost: float = math.nan
    threshold_interval: tuple[float, float] = (math.nan, math.nan)
    judged: Judged = UNJUDGED
    honest: Value = UNKNOWN
    gain: Value = UNKNOWN
    certified: tuple[float, float] | None = None

    def row(self) -> Row:
        certain = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return plain(
            {
                "model": self.model,
                "threshold": self.threshold,
                "cost_per_case": self.cost_per_case,
                "relative_cost": self.relative_cost,
                **{name: float(getattr(self.counts, name)) for name in OUTCOMES},
                "threshold_low": self.threshold_interval[0],
                "threshold_high": self.threshold_interval[1],
                **self.honest.row("honest", "honest_cost"),
                **self.gain.row("gain"),
                "calibrated_threshold": self.calibrated_threshold,
                "calibrated_cost": self.calibrated_cost,
                **certain,
            }
        )


@dataclass(frozen=True, repr=False)
class Decision(Result):
    """The choice of least cost, what the alternatives would cost, and where each model is best.

    Equal costs go to the model named first, and a model beats a trivial rule of equal cost, unless it
    decides alike for every case: then it is the trivial rule.

    `judged`, `honest` and `gain` are of the whole procedure, which takes the model and threshold of least cost,
    on cases that did not choose them; `over` is what it spares against each model alone. `support` is the share of
    resamples in which a dominated model stays so. `fitted` names the sample that chose, where it is another. `closed`
    is the threshold of least cost for calibrated probabilities.
    """

    condition: Condition
    prevalence: float
    choices: tuple[Choice, ...]
    trivial: tuple[Choice, ...]
    dominated: Mapping[str, str]
    hull: Hull
    labels: tuple[str, str] = ("positive", "negative")
    judged: Judged = UNJUDGED
    honest: Value = UNKNOWN
    gain: Value = UNKNOWN
    over: Mapping[str, Value] = field(default_factory=dict)
    support: Mapping[str, float] = field(default_factory=dict)
    fitted: str | None = None
    closed: float = math.nan

    @property
    def best(self) -> Choice:
        """The cheapest choice; a trivial rule only when it is cheaper than every model that does more."""
        useful = [choice for choice in self.choices if choice.counts.pp > 0 and choice.counts.pn > 0]
        return min((*useful, *self.trivial), key=lambda choice: choice.cost_per_case)

    @property
    def shown(self) -> bool:
        """Whether the choice is shown to cost less, on other cases, than the rules that need no model."""
        return self.best.model not in TRIVIAL and self.gain.low > 0

    @property
    def recommended(self) -> Choice:
        """What the verdict says to use: the best choice where it is shown to be worth its trouble."""
        return self.best if self.shown else self.better_trivial

    @property
    def better_trivial(self) -> Choice:
        """The cheaper of the rules that need no model."""
        return min(self.trivial, key=lambda choice: choice.honest.value)

    @property
    def slope(self) -> float:
        """Slope of the lines of equal cost in ROC space."""
        return self.condition.slope(self.prevalence)

    @property
    def regions(self) -> list[Region]:
        """For each corner of the hull of all models, the slopes for which it is best."""
        return self.hull.regions()

    @property
    def never(self) -> list[str]:
        """The dominated models of which resamples say so too."""
        return [name for name in self.dominated if self.support.get(name, 0.0) >= SUPPORTED]

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self._chosen_here, *self._left_open)

    @property
    def _left_open(self) -> tuple[Note, ...]:
        """How much less another threshold may cost, where scores were counted in bins."""
        gaps = {one.model: one.certified[1] - one.certified[0] for one in self.choices if one.certified is not None}
        if not gaps:
            return ()
        model = max(gaps, key=lambda name: gaps[name])
        by = f" by more than {gaps[model]:.1g} per case" if gaps[model] > 0 else ""
        text = "scores were counted in bins: costs at the thresholds told are exact"
        return (note("SS008", f"{text}, and no other threshold of {model} costs less{by}."),)

    @property
    def _chosen_here(self) -> tuple[Note, ...]:
        if self.fitted is not None or self.best.model in TRIVIAL or math.isnan(self.best.threshold):
            return ()
        text = f"the threshold of {self.best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.honest.value):
            return (note("SS013", f"{text}; the cost on other cases is unknown, as {self.honest.reason}."),)
        return (note("SS013", f"{text}: {_price(self)}."),)

    def model_ranges(self) -> list[tuple[str, float, float]]:
        """The slopes, from high to low, in which each model is best: neighbouring corners of one model joined."""
        ranges: list[tuple[str, float, float]] = []
        for region in self.regions:
            if ranges and ranges[-1][0] == region.model:
                ranges[-1] = (region.model, region.slope_low, ranges[-1][2])
            else:
                ranges.append((region.model, region.slope_low, region.slope_high))
        return ranges

    def cost_ratio(self, slope: float) -> float:
        """How many false positives a false negative costs on a line of that slope: (1 − π) / (π · slope)."""
        share = self.condition.share(self.prevalence)
        return (1 - share) / (share * slope) if slope else math.inf

    def per_thousand(self, choice: Choice) -> dict[str, float]:
        """Outcomes among 1 000 cases that did not choose the threshold, at the stated prevalence."""
        return {name: 1000 * share for name, share in choice.judged.shares(self.condition).items()}

    def rows(self) -> list[Row]:
        """One row per model, then the trivial rules, each at its least cost."""
        return [self._row(choice) for choice in (*self.choices, *self.trivial)]

    @property
    def estimand(self) -> str:
        """What `honest` and `gain` are estimates of: the whole procedure, and how its choices are kept apart."""
        chosen = ["model"] if len(self.choices) > 1 else []
        chosen += ["threshold"] if any(not math.isnan(one.threshold) for one in self.choices) else []
        return estimand_of(chosen, self.fitted)

    def _row(self, choice: Choice) -> Row:
        shares = {f"{name}_per_1000": one for name, one in self.per_thousand(choice).items()}
        counts = choice.counts if self.fitted is None else choice.judged.counts
        estimand = {"estimand": estimand_of([] if math.isnan(choice.threshold) else ["threshold"], self.fitted)}
        return choice.row() | estimand | plain({**{name: float(getattr(counts, name)) for name in OUTCOMES}, **shares})

    def facts(self) -> Row:
        chosen = self._row(self.best)
        return {
            **{name: chosen[name] for name in ("model", "threshold", "cost_per_case", *OUTCOMES)},
            "slope": self.slope,
            "estimand": self.estimand,
            **self.honest.row("honest", "honest_cost"),
            **self.gain.row("gain"),
            "recommended": self.recommended.model,
            "reason": self.honest.reason,
            "fitted": self.fitted,
            "dominated": [
                {"model": name, "reason": reason, "support": self.support.get(name, math.nan)}
                for name, reason in self.dominated.items()
            ],
            "regions": [region.row() for region in self.regions],
        }

    @property
    def words(self) -> str:
        """What to use, what it costs, how much worse the alternatives are, and which models never pay."""
        told = _use_none if self.best.model in TRIVIAL else _use if self.shown else _not_shown
        return " ".join(filter(None, [told(self), _never(self)]))


def decide(
    models: Models, condition: Condition, *, pairs: PairTable | None = None, level: float = 0.95, seed: int = 0
) -> Decision:
    """The least-cost model and threshold of several two-class models, and their cost on cases that did not choose.

    `pairs`: each case's place in the tables, so that models are compared and kept apart case by case.

    >>> from scorespace.tables import score_table
    >>> nb = score_table([1, 0, 1, 0] * 90, [0.9, 0.4, 0.3, 0.1] * 90)
    >>> decide({"nb": nb}, Condition(fp=1, fn=5)).honest
    0.25 [0.206, 0.3]
    """
    chosen = choose(models, condition)
    found = crossfit(
        models, least_cost(condition), pairs=pairs, within_classes=condition.prevalence is not None, seed=seed
    )
    return judge(chosen, found, level)


def choose(models: Models, condition: Condition) -> Decision:
    """The model and threshold of least cost on these cases; what they cost on others is not asked."""
    tables = {name: _scores(name, table) for name, table in models.items()}
    if not tables:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    first = next(iter(tables.values()))
    if not (first.n_pos and first.n_neg):
        raise ConditionError(
            "a decision needs cases of both classes.", seen="one class only", hint="cases of the other class, too"
        )
    prevalence = float(first.n_pos / first.total)
    closed = closed_threshold([tables[name] for name in tables if models[name].thresholded], condition, prevalence)
    choices = tuple(
        _choice(name, table, condition, closed, crisp=not models[name].thresholded) for name, table in tables.items()
    )
    trivial = tuple(_trivial(name, first, condition) for name in TRIVIAL)
    together = hull(models)
    dominated = together.dominated(models)
    return Decision(condition, prevalence, choices, trivial, dominated, together, labels_of(first), closed=closed)


def judge(decision: Decision, found: Crossfit, level: float = 0.95) -> Decision:
    """The decision with its numbers on cases that did not choose it."""
    condition = decision.condition

    def judged(choice: Choice, by: Judged) -> Choice:
        return replace(choice, judged=by, honest=by.cost(condition, level), gain=_gain(by, decision, level))

    return replace(
        decision,
        choices=tuple(judged(one, found.models[one.model]) for one in decision.choices),
        trivial=tuple(_judged_trivial(one, found.models.get(one.model), condition) for one in decision.trivial),
        judged=found.chosen,
        honest=found.chosen.cost(condition, level),
        gain=_gain(found.chosen, decision, level),
        over={one.model: found.over(one.model, condition, level) for one in decision.choices},
    )


def judge_on(
    decision: Decision, models: Models, *, fitted: str, pairs: PairTable | None = None, level: float = 0.95
) -> Decision:
    """A decision made on one sample, which `fitted` names, judged on another: by the plain outcomes there."""
    check_judged((one.model for one in decision.choices), models)
    tables = {one.model: _scores(one.model, models[one.model]) for one in decision.choices}
    first = next(iter(tables.values()))
    cuts = {one.model: 0.5 if math.isnan(one.threshold) else one.threshold for one in decision.choices}
    here = {name: Judged(table.at(cuts[name])) for name, table in tables.items()}
    here |= {NEVER: Judged(first.sweep[0]), ALWAYS: Judged(first.sweep[-1])}
    best = decision.best.model
    differ = {}
    if pairs is not None and best not in TRIVIAL:
        alarms = {name: pairs.decisions(pairs.index(name), cut)[None] for name, cut in cuts.items()}
        differ = {name: apart(pairs.label, alarms[best], its) for name, its in alarms.items()}
    return replace(judge(decision, Crossfit(here, here[best], differ), level), fitted=fitted)


def least_cost(condition: Condition) -> Criterion:
    """The cost under a condition, as what decides between thresholds."""

    def price(counts: Counts) -> tuple[Array, Array]:
        costs = costs_of(counts, condition)
        return np.zeros_like(costs), costs

    return price


def _gain(judged: Judged, decision: Decision, level: float) -> Value:
    """What is spared against the better of the two trivial rules.

    Which is better is read off all cases: nothing is fitted but one share, and reading it off the cases it is
    judged on flatters the trivial rule, not the model. To be shown, a gain must hold against both.
    """
    condition = decision.condition
    always = judged.gain(condition, always=True, level=level), judged.gain(condition, always=False, level=level)
    least_gain = min(always, key=lambda one: one.value)
    return replace(least_gain, low=min(one.low for one in always))


def _scores(name: str, table: ScoreTable | ConfusionTable) -> ScoreTable:
    if table.positive_name is None:
        raise ConditionError(
            f"{name} decides between {len(table.classes)} classes without a positive one.",
            hint="a cost matrix (--costs FILE.csv) for several classes, or state the positive class",
        )
    return table.inside(ScoreTable)


def _choice(name: str, table: ScoreTable, condition: Condition, closed: float, crisp: bool) -> Choice:
    place = 1 if crisp else int(least(*least_cost(condition)(table.sweep)))
    thresholds = table.thresholds
    below = thresholds[place + 1] if place + 1 < thresholds.size else -np.inf
    limits = (math.nan, math.nan) if crisp else (table.threshold(float(thresholds[place])), float(below))
    counts = table.sweep[place]
    if crisp or table.score[0] > 1 or table.score[-1] < 0:
        closed = math.nan
    closed_cost = math.nan if math.isnan(closed) else float(costs_of(table.at(closed), condition))
    price = float(costs_of(counts, condition))
    lowest = None
    if table.coarse and not crisp:
        lowest = float(costs_of(table.ordered(best=True).sweep, condition).min()), price
    return Choice(name, *limits, counts, price, _relative(counts, condition), closed, closed_cost, certified=lowest)


def _trivial(name: str, table: ScoreTable, condition: Condition) -> Choice:
    counts = table.sweep[0 if name == NEVER else -1]
    price = float(costs_of(counts, condition))
    relative, honest = _relative(counts, condition), Value(price)  # no case chooses what a trivial rule does
    return Choice(name, math.nan, math.nan, counts, price, relative, judged=Judged(counts), honest=honest)


def _judged_trivial(choice: Choice, by: Judged | None, condition: Condition) -> Choice:
    """A trivial rule on the sample that judges; its cost follows from the prevalence, and needs no interval."""
    if by is None or by.counts is None:
        return choice
    return replace(choice, judged=by, honest=Value(float(costs_of(by.counts, condition))))


def _relative(counts: Counts, condition: Condition) -> float:
    fpr, tpr = float(counts.fp / counts.n), float(counts.tp / counts.p)
    return float(condition.relative_cost(fpr, tpr, float(counts.p / counts.total)))


def _use(decision: Decision) -> str:
    others = sorted((one for one in decision.choices if one is not decision.best), key=lambda one: one.cost_per_case)
    trivial = decision.better_trivial
    gains = [_less(decision.over[other.model], other.model) for other in others[:3]]
    gains += [_less(decision.gain, _called(trivial, decision))]
    return f"Use {_where(decision)}: {_price(decision)}. That is {joined(gains)}."


def _use_none(decision: Decision) -> str:
    best = decision.recommended
    others = sorted(decision.choices, key=lambda one: one.cost_per_case)[:3]
    gains = [_less(-one.gain, one.model) for one in others if one.judged.outcomes is not None]
    other = next(one for one in decision.trivial if one is not best)
    gains += [_less(Value(other.honest.value - best.honest.value), _called(other, decision))]
    price = decimals(best.honest.value)
    return f"Use no model: {_called(best, decision)}: {price} per case. That is {joined(gains)}."


def _not_shown(decision: Decision) -> str:
    """That no model is shown to beat doing nothing, and how near the cheapest comes."""
    trivial, gain = decision.better_trivial, decision.gain
    nothing = f"{_called(trivial, decision)}, which costs {decimals(trivial.honest.value)} per case"
    single = len(decision.choices) == 1
    cheapest = _where(decision) if single else f"The cheapest, {_where(decision)},"
    opening = f"{decision.best.model} is not shown" if single else "No model is shown"
    if math.isnan(gain.value):
        apparent = decimals(decision.best.cost_per_case)
        reason = f"the cost on other cases is unknown, as {decision.honest.reason or 'it was not asked'}"
        return f"{opening} to beat {nothing}. {cheapest} has apparent cost {apparent} per case; {reason}."
    near = _less(gain, "that") + (", which may be nothing" if gain.value > 0 else "")
    has = "costs" if decision.estimand == NOTHING_CHOSEN else "has"
    return f"{opening} to beat {nothing}. {cheapest} {has} {_price(decision)}: {near}."


def _where(decision: Decision) -> str:
    return placed(decision.best.model, decision.best.threshold, decision.fitted)


def _price(decision: Decision) -> str:
    """The cost under the name of what it is an estimate of, with its interval and the apparent one."""
    honest, (kind, _, chosen) = decision.honest, decision.estimand.partition(": ")
    value, between, interval = limits(honest.value, honest.low, honest.high).partition(" ")
    if not chosen:
        return f"{value} per case{between}{interval}"
    of = f" of choosing {chosen.removesuffix(' chosen')}" if len(decision.choices) > 1 and not decision.fitted else ""
    apparent = f" (apparent {decimals(decision.best.cost_per_case)})"
    return f"{kind} cost{of} {value} per case{between}{interval}{apparent}"


def _less(gain: Value, than: str) -> str:
    """How much less than something a case costs, in thousands of cases; never "0 less"."""
    size = of_1000(abs(gain.value))
    side = "less" if gain.value > 0 else "more"
    words = f"as much as {than}" if size == "0" else f"{size} per 1 000 {side} than {than}"
    if not gain.known:
        return words
    low, high = (gain.low, gain.high) if gain.value > 0 or size == "0" else (-gain.high, -gain.low)
    return f"{words} [{of_1000(low)}, {of_1000(high)}]"


def _called(choice: Choice, decision: Decision) -> str:
    """A model by its name, a trivial rule by what it does."""
    if choice.model not in TRIVIAL:
        return choice.model
    return f"calling every case {decision.labels[0] if choice.model == ALWAYS else decision.labels[1]}"


def _never(decision: Decision) -> str:
    names = decision.never
    if not names:
        return ""
    share = min(decision.support[name] for name in names)
    sure = f"so it is in {100 * share:.0f} % of resamples"
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'} never the better choice, whatever the costs: {sure}."
