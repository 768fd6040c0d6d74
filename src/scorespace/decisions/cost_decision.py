"""Result of a decision by minimum cost: the choice, its alternatives, and a recommendation in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scorespace.costs import Condition
from scorespace.curves.hull import ALWAYS, TRIVIAL, Hull, Region
from scorespace.decisions.out_of_sample import (
    NO_OUTCOMES,
    NOTHING_CHOSEN,
    OUTCOMES,
    UNKNOWN_COST,
    CostEstimate,
    FormerlyHonest,
    OutOfSampleCounts,
    describe_estimand,
    model_at_threshold,
    per_1000_text,
)
from scorespace.results import (
    CERTIFIED,
    Note,
    Result,
    Row,
    decimals,
    format_interval,
    join_words,
    note,
    round_count,
    to_json_types,
)
from scorespace.tables import Counts

MIN_SUPPORT = 0.9
"""Share of bootstrap replicates in which a model must be dominated before it is called never the better choice."""


@dataclass(frozen=True)
class ModelAtThreshold(FormerlyHonest):
    """A model at a threshold (NaN for hard decisions), with its outcomes and cost.

    All thresholds above `above`, up to and including `threshold`, make the same decisions. `counts` and `cost_per_case`
    are apparent: on the cases that the threshold was chosen on. `out_of_sample_counts` are the out-of-sample outcomes
    and `out_of_sample` is the out-of-sample cost. `gain` is the saving against the better trivial rule.
    `calibrated_cost` is the cost at the closed-form threshold for calibrated probabilities, where scores can be
    probabilities. `certified` holds bounds for binned scores: the lowest cost possible at any threshold, and the cost
    at this one.
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
    out_of_sample_counts: OutOfSampleCounts = NO_OUTCOMES
    out_of_sample: CostEstimate = UNKNOWN_COST
    gain: CostEstimate = UNKNOWN_COST
    certified: tuple[float, float] | None = None

    def row(self) -> Row:
        certified = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return to_json_types(
            {
                "model": self.model,
                "threshold": self.threshold,
                "cost_per_case": self.cost_per_case,
                "relative_cost": self.relative_cost,
                **{name: round_count(float(getattr(self.counts, name))) for name in OUTCOMES},
                "threshold_low": self.threshold_interval[0],
                "threshold_high": self.threshold_interval[1],
                **self.out_of_sample.named_row("cost"),
                **self.gain.row("gain"),
                "calibrated_threshold": self.calibrated_threshold,
                "calibrated_cost": self.calibrated_cost,
                **certified,
            }
        )


@dataclass(frozen=True, repr=False)
class Decision(FormerlyHonest, Result):
    """The choice of minimum cost, the cost of the alternatives, and where each model is best.

    Ties go to the model named first, and a model beats a trivial rule of equal cost unless it makes the same decision
    for every case: then it is the trivial rule.

    `out_of_sample_counts`, `out_of_sample` and `gain` are out-of-sample results of the whole procedure, which chooses
    model and threshold; `over` is its saving against each single model. `support` is the share of bootstrap replicates
    in which a dominated model is dominated. `fitted` names the sample used for the choice, if it is another one.
    `closed` is the threshold of minimum cost for calibrated probabilities.
    """

    condition: Condition
    prevalence: float
    choices: tuple[ModelAtThreshold, ...]
    trivial: tuple[ModelAtThreshold, ...]
    dominated: Mapping[str, str]
    hull: Hull
    labels: tuple[str, str] = ("positive", "negative")
    out_of_sample_counts: OutOfSampleCounts = NO_OUTCOMES
    out_of_sample: CostEstimate = UNKNOWN_COST
    gain: CostEstimate = UNKNOWN_COST
    over: Mapping[str, CostEstimate] = field(default_factory=dict)
    support: Mapping[str, float] = field(default_factory=dict)
    fitted: str | None = None
    closed: float = math.nan

    @property
    def best(self) -> ModelAtThreshold:
        """The cheapest choice; a trivial rule only when it is cheaper than every model that differs from it."""
        useful = [choice for choice in self.choices if choice.counts.pp > 0 and choice.counts.pn > 0]
        return min((*useful, *self.trivial), key=lambda choice: choice.cost_per_case)

    @property
    def shown(self) -> bool:
        """Whether the out-of-sample cost is significantly lower than that of the trivial rules."""
        return self.best.model not in TRIVIAL and self.gain.low > 0

    @property
    def recommended(self) -> ModelAtThreshold:
        """The best choice where it is significantly better than the trivial rules, else the better rule."""
        return self.best if self.shown else self.better_trivial

    @property
    def better_trivial(self) -> ModelAtThreshold:
        """The cheaper of the trivial rules."""
        return min(self.trivial, key=lambda choice: choice.out_of_sample.value)

    @property
    def slope(self) -> float:
        """Slope of the iso-cost lines in ROC space."""
        return self.condition.slope(self.prevalence)

    @property
    def regions(self) -> list[Region]:
        """The range of slopes in which each vertex of the joint ROC convex hull is best."""
        return self.hull.regions()

    @property
    def never(self) -> list[str]:
        """The models that are dominated in at least 90 % of the bootstrap replicates."""
        return [name for name in self.dominated if self.support.get(name, 0.0) >= MIN_SUPPORT]

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self._apparent_notes, *self._binning_notes)

    @property
    def _binning_notes(self) -> tuple[Note, ...]:
        """Note on how much less another threshold may cost, for binned scores."""
        gaps = {
            choice.model: choice.certified[1] - choice.certified[0]
            for choice in self.choices
            if choice.certified is not None
        }
        if not gaps:
            return ()
        model = max(gaps, key=lambda name: gaps[name])
        by = f" by more than {gaps[model]:.1g} per case" if gaps[model] > 0 else ""
        text = "scores were binned: costs at the thresholds shown are exact"
        return (note("SS008", f"{text}, and no other threshold of {model} costs less{by}."),)

    @property
    def _apparent_notes(self) -> tuple[Note, ...]:
        if self.fitted is not None or self.best.model in TRIVIAL or math.isnan(self.best.threshold):
            return ()
        text = f"the threshold of {self.best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.out_of_sample.value):
            return (note("SS013", f"{text}; the out-of-sample cost is unknown: {self.out_of_sample.reason}."),)
        return (note("SS013", f"{text}: {_cost_text(self)}."),)

    def model_ranges(self) -> list[tuple[str, float, float]]:
        """The ranges of slopes, from high to low, in which each model is best, vertices of a model merged."""
        ranges: list[tuple[str, float, float]] = []
        for region in self.regions:
            if ranges and ranges[-1][0] == region.model:
                ranges[-1] = (region.model, region.slope_low, ranges[-1][2])
            else:
                ranges.append((region.model, region.slope_low, region.slope_high))
        return ranges

    def cost_ratio(self, slope: float) -> float:
        """Cost ratio FN : FP on an iso-cost line of that slope: (1 − π) / (π · slope)."""
        share = self.condition.share(self.prevalence)
        return (1 - share) / (share * slope) if slope else math.inf

    def per_thousand(self, choice: ModelAtThreshold) -> dict[str, float]:
        """Out-of-sample outcomes per 1 000 cases, at the stated prevalence."""
        return {name: 1000 * share for name, share in choice.out_of_sample_counts.shares(self.condition).items()}

    def rows(self) -> list[Row]:
        """Return one row per model, then the trivial rules, each at its minimum cost."""
        return [self._row(choice) for choice in (*self.choices, *self.trivial)]

    @property
    def estimand(self) -> str:
        """What `out_of_sample` and `gain` estimate: the choices of the procedure, and how they are validated."""
        chosen = ["model"] if len(self.choices) > 1 else []
        chosen += ["threshold"] if any(not math.isnan(choice.threshold) for choice in self.choices) else []
        return describe_estimand(chosen, self.fitted)

    def _row(self, choice: ModelAtThreshold) -> Row:
        shares = {f"{name}_per_1000": count for name, count in self.per_thousand(choice).items()}
        counts = choice.counts if self.fitted is None else choice.out_of_sample_counts.counts
        estimand = {"estimand": describe_estimand([] if math.isnan(choice.threshold) else ["threshold"], self.fitted)}
        return (
            choice.row()
            | estimand
            | to_json_types({**{name: round_count(float(getattr(counts, name))) for name in OUTCOMES}, **shares})
        )

    def facts(self) -> Row:
        chosen = self._row(self.best)
        return {
            **{name: chosen[name] for name in ("model", "threshold", "cost_per_case", *OUTCOMES)},
            "slope": self.slope,
            "estimand": self.estimand,
            **self.out_of_sample.named_row("cost"),
            **self.gain.row("gain"),
            "recommended": self.recommended.model,
            "reason": self.out_of_sample.reason,
            "fitted": self.fitted,
            "dominated": [
                {"model": name, "reason": reason, "support": self.support.get(name, math.nan)}
                for name, reason in self.dominated.items()
            ],
            "regions": [region.row() for region in self.regions],
        }

    @property
    def words(self) -> str:
        """The recommendation, its cost, the difference to the alternatives, and dominated models."""
        describe = (
            _recommend_trivial
            if self.best.model in TRIVIAL
            else _recommend_model
            if self.shown
            else _recommend_trivial_over_model
        )
        return " ".join(filter(None, [describe(self), _dominated_text(self)]))

    @property
    def is_clear(self) -> bool:
        """Whether the chosen model is better than the trivial rules, and clearly cheaper than every other model."""
        return self.shown and all(self.over[other.model].low > 0 for other in _others(self))

    @property
    def headline(self) -> str:
        """The recommendation in one short sentence, without costs."""
        if self.best.model in TRIVIAL or not self.shown:
            subject = "no model" if len(self.choices) > 1 else self.best.model
            negated = "not " * (len(self.choices) == 1)
            return f"At these costs {subject} is {negated}clearly better than {_rule_text(self.better_trivial, self)}."
        unclear = [other.model for other in _others(self) if not self.over[other.model].low > 0]
        rest = f"; no clear difference to {join_words(unclear)}" if unclear else ""
        return f"At these costs use {_model_text(self)}{rest}."

    @property
    def brief(self) -> str:
        """The recommendation with its cost, and how it compares with the other models and the better trivial rule."""
        best, trivial = self.best, self.better_trivial
        if math.isnan(best.out_of_sample.value) or math.isnan(self.gain.value):
            return self.words
        rule = f"{_rule_text(trivial, self)} ({decimals(trivial.out_of_sample.value)} per case)"
        if best.model in TRIVIAL:
            return f"At these costs no model is better than {rule}."
        kind, _, chosen = self.estimand.partition(": ")
        cost = f"{value_text(best.out_of_sample)} per case{f', {kind}' if chosen else ''}"
        if not self.shown:
            subject = "no model" if len(self.choices) > 1 else best.model
            cheapest = "the cheapest is " if len(self.choices) > 1 else ""
            opening = f"At these costs {subject} is {'not ' * (len(self.choices) == 1)}clearly better than {rule}"
            return f"{opening}: {cheapest}{_model_text(self)}, {cost}."
        saved = _clear_texts(self, _others(self)[:3])
        price = decimals(trivial.out_of_sample.value)
        saved += [f"predicting every case {self.labels[trivial.model != ALWAYS]} costs {price}"]
        return f"At these costs use {_model_text(self)}: {cost}; {'; '.join(saved)}."


def _recommend_model(decision: Decision) -> str:
    others = _others(decision)
    trivial = decision.better_trivial
    gains = [_difference_text(decision.over[other.model], other.model) for other in others[:3]]
    gains += [_difference_text(decision.gain, _rule_text(trivial, decision))]
    cheaper = "".join(f" {_cheaper_text(other)}." for other in others if _is_cheaper(other, decision.best))
    return f"Use {_model_text(decision)}: {_cost_text(decision)}. That is {join_words(gains)}.{cheaper}"


def _others(decision: Decision) -> list[ModelAtThreshold]:
    """The models that were not chosen, by apparent cost."""
    others = (choice for choice in decision.choices if choice is not decision.best)
    return sorted(others, key=lambda choice: choice.cost_per_case)


def _is_cheaper(other: ModelAtThreshold, best: ModelAtThreshold) -> bool:
    """Whether a model that was not chosen costs less out of sample, in the digits shown."""
    return other.out_of_sample.value < best.out_of_sample.value and value_text(other.out_of_sample) != value_text(
        best.out_of_sample
    )


def _cheaper_text(other: ModelAtThreshold) -> str:
    return f"{other.model} has the lower out-of-sample cost, {value_text(other.out_of_sample)}"


def _clear_texts(decision: Decision, others: Sequence[ModelAtThreshold]) -> list[str]:
    """Which models clearly cost more or less than the choice, and which do not."""
    texts: dict[str, list[str]] = {"less than": [], "more than": [], "no clear difference to": []}
    for other in others:
        gain = decision.over[other.model]
        side = "less than" if gain.low > 0 else "more than" if gain.high < 0 else "no clear difference to"
        texts[side].append(f"{other.model} ({value_text(other.out_of_sample)})")
    return [f"{side} {join_words(names)}" for side, names in texts.items() if names]


def value_text(cost: CostEstimate) -> str:
    """A cost with the digits that it has beside its interval."""
    return format_interval(cost.value, cost.low, cost.high).partition(" [")[0]


def _recommend_trivial(decision: Decision) -> str:
    best = decision.recommended
    others = sorted(decision.choices, key=lambda choice: choice.cost_per_case)[:3]
    gains = [
        _difference_text(-choice.gain, choice.model)
        for choice in others
        if choice.out_of_sample_counts.outcomes is not None
    ]
    other = next(choice for choice in decision.trivial if choice is not best)
    gains += [
        _difference_text(
            CostEstimate(other.out_of_sample.value - best.out_of_sample.value), _rule_text(other, decision)
        )
    ]
    cost = decimals(best.out_of_sample.value)
    return f"Use no model: {_rule_text(best, decision)}: {cost} per case. That is {join_words(gains)}."


def _recommend_trivial_over_model(decision: Decision) -> str:
    """Say that no model is significantly better than the trivial rules, and how close the cheapest is."""
    trivial, gain = decision.better_trivial, decision.gain
    trivial_text = f"{_rule_text(trivial, decision)}, which costs {decimals(trivial.out_of_sample.value)} per case"
    single = len(decision.choices) == 1
    cheapest = _model_text(decision) if single else f"The cheapest, {_model_text(decision)},"
    opening = f"{decision.best.model} is not clearly better" if single else "No model is clearly better"
    if math.isnan(gain.value):
        apparent = decimals(decision.best.cost_per_case)
        reason = f"the out-of-sample cost is unknown: {decision.out_of_sample.reason or 'it was not estimated'}"
        return f"{opening} than {trivial_text}. {cheapest} has apparent cost {apparent} per case; {reason}."
    difference = _difference_text(gain, "that") + (", which is not significant" if gain.value > 0 else "")
    verb = "costs" if decision.estimand == NOTHING_CHOSEN else "has"
    return f"{opening} than {trivial_text}. {cheapest} {verb} {_cost_text(decision)}: {difference}."


def _model_text(decision: Decision) -> str:
    return model_at_threshold(decision.best.model, decision.best.threshold, decision.fitted)


def _cost_text(decision: Decision) -> str:
    """Cost with its kind (cross-fitted or external), interval and apparent value."""
    out_of_sample, (kind, _, chosen) = decision.out_of_sample, decision.estimand.partition(": ")
    value, separator, interval = format_interval(out_of_sample.value, out_of_sample.low, out_of_sample.high).partition(
        " "
    )
    if not chosen:
        return f"{value} per case{separator}{interval}"
    procedure = (
        f" of choosing {chosen.removesuffix(' chosen')}" if len(decision.choices) > 1 and not decision.fitted else ""
    )
    apparent = f" (apparent {decimals(decision.best.cost_per_case)})"
    return f"{kind} cost{procedure} {value} per case{separator}{interval}{apparent}"


def _difference_text(gain: CostEstimate, than: str) -> str:
    """Difference in cost per 1 000 cases to an alternative."""
    amount = per_1000_text(abs(gain.value))
    direction = "less" if gain.value > 0 else "more"
    text = f"the same as {than}" if amount == "0" else f"{amount} per 1 000 {direction} than {than}"
    if not gain.known:
        return text
    low, high = (gain.low, gain.high) if gain.value > 0 or amount == "0" else (-gain.high, -gain.low)
    return f"{text} [{per_1000_text(low)}, {per_1000_text(high)}]"


def _rule_text(choice: ModelAtThreshold, decision: Decision) -> str:
    """Return the name of a model, or the description of a trivial rule."""
    if choice.model not in TRIVIAL:
        return choice.model
    return f"predicting every case to be {decision.labels[0] if choice.model == ALWAYS else decision.labels[1]}"


def _dominated_text(decision: Decision) -> str:
    names = decision.never
    if not names:
        return ""
    share = min(decision.support[name] for name in names)
    support = f"dominated in {100 * share:.0f} % of bootstrap replicates"
    verb = "is" if len(names) == 1 else "are"
    return f"{join_words(names)} {verb} never the better choice, whatever the costs: {support}."
