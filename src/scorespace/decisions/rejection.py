"""Reject option: Chow's rule for every model; randomised mixtures of two classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from scorespace.costs import Condition, CostMatrix
from scorespace.curves import HullVertex, Mixture, RejectRule, chow, hull, rejection
from scorespace.curves.hull import ALWAYS, NEVER, TRIVIAL
from scorespace.curves.rejection import DECIDE_ALL, REJECT_ALL, multiclass_chow
from scorespace.decisions.alternatives import Alternative, RejectionCosts, of_prices
from scorespace.decisions.cross_fitting import Models
from scorespace.decisions.minimum_cost import decide
from scorespace.decisions.out_of_sample import (
    OUTCOMES,
    UNKNOWN_COST,
    CostEstimate,
    OutOfSampleCounts,
    add_independent,
    class_labels,
    clip_interval,
    model_at_threshold,
    per_1000_text,
    widen_by_repeats,
)
from scorespace.errors import ConditionError, ScoreError
from scorespace.inference.proportion import rare_proportion
from scorespace.results import Result, Row, decimals, format_interval, percent
from scorespace.tables import ClassTable, ScoreTable
from scorespace.tables.models import class_weights
from scorespace.tables.paired import PairTable
from scorespace.tables.threshold import round_threshold, threshold_text

EMPTY_FACTS: Row = {
    **dict.fromkeys(("model", "threshold", "slope", "cost_per_case", "tp", "fp", "fn", "tn")),
    "dominated": [],
    "regions": [],
}
"""Empty values of the facts that every decision has."""


_IMPERATIVES: Final = {"rejecting": "Reject", "using": "Use", "calling": "Call"}


@dataclass(frozen=True, repr=False)
class RejectChoice(Result):
    """Chow's rule (1970) for each model, where a rejection costs a fraction of an error, or is priced with other costs.

    `spent` is the out-of-sample cost per case of each with its interval. `alternatives` reject all cases or none, with
    the decisions of a model or the same for all cases. `gain` is the cross-fitted saving of the best rule against the
    cheapest of them.
    """

    cost: float
    rules: Mapping[str, RejectRule]
    condition: Condition | CostMatrix | None = None
    spent: Mapping[str, CostEstimate] = field(default_factory=dict)
    alternatives: Mapping[str, Alternative] = field(default_factory=dict)
    gain: CostEstimate = UNKNOWN_COST
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The model of minimum cost per case, apparent where its rule was chosen on these cases."""
        return min(self.rules, key=lambda name: self.rules[name].cost)

    @property
    def cheapest(self) -> str:
        """The cheapest of the rules that reject all cases or none."""
        return min(self.alternatives, key=lambda name: self.alternatives[name].cost.value)

    @property
    def shown(self) -> bool:
        """Whether the best rule is significantly cheaper than each of the alternatives."""
        return self.gain.low > 0

    @property
    def recommended(self) -> str:
        """The recommendation: the best rule where it is significantly cheaper, else the cheapest alternative."""
        return self.best if self.shown else self.cheapest

    @property
    def words(self) -> str:
        rule, estimate = self.rules[self.best], self.spent.get(self.best, UNKNOWN_COST)
        value, separator, interval = format_interval(_rule_cost(rule), estimate.low, estimate.high).partition(" ")
        costs = f"{value} per case{separator}{interval}"
        if rule.lead is not None:
            costs = f"cross-fitted cost {costs} (apparent {decimals(rule.cost)})"
        accuracy = "" if math.isnan(rule.accuracy) else f", accuracy of the rest {decimals(rule.accuracy)}"
        rejects = f"rejecting the cases {self._zone(rule)} ({percent(rule.rejected)} of them{accuracy})"
        assumes = "" if rule.lead is not None else " The rule assumes calibrated probabilities."
        alternative, gain = self._action_text(self.cheapest), self._gain_text()
        price = f"{decimals(self.alternatives[self.cheapest].cost.value)} per case"
        if self.shown:
            text = (
                f"Use {self.best}, {rejects}: {self._costs_text}, {costs}. That is {gain} than {alternative} ({price})."
            )
            return text + assumes
        remark = f"{self.best}, {rejects}, is not clearly cheaper: {costs}, {gain}."
        verb, _, rest = alternative.partition(" ")
        return f"{_IMPERATIVES[verb]} {rest}: {self._costs_text}, {price}. {remark}{assumes}"

    def _zone(self, rule: RejectRule) -> str:
        """Describe the cases that a rule rejects."""
        if rule.lead is not None:
            return f"whose best class leads the second by less than {threshold_text(rule.lead)}"
        if isinstance(self.condition, CostMatrix):
            return f"in which every decision is expected to cost more than {self.cost:g}"
        return f"it scores between {threshold_text(rule.low)} and {threshold_text(rule.high)}"

    @property
    def _costs_text(self) -> str:
        if isinstance(self.condition, Condition):
            return f"a false positive counting {self.condition.fp:g} and a false negative {self.condition.fn:g}"
        return "each decision counting as stated" if self.condition is not None else "an error counting 1"

    def _action_text(self, name: str) -> str:
        """Describe an alternative as an action."""
        if name == REJECT_ALL:
            return "rejecting every case"
        model, _, decides = name.rpartition(f", {DECIDE_ALL}")
        return (
            f"using {model} for every case"
            if model and not decides
            else f"predicting every case to be {self.labels[name]}"
        )

    def _gain_text(self) -> str:
        """Difference in cost between the best rule and the cheapest alternative."""
        gain, direction = self.gain, "less" if self.gain.value > 0 else "more"
        if math.isnan(gain.value):
            return f"at an unknown difference ({gain.reason})"
        amount = (
            f"{number} per 1 000 {direction}" if (number := per_1000_text(abs(gain.value))) != "0" else "no difference"
        )
        low, high = (gain.low, gain.high) if gain.value > 0 else (-gain.high, -gain.low)
        return (
            f"{amount} [{per_1000_text(low)}, {per_1000_text(high)}]"
            if gain.known
            else f"{amount}, without an interval"
        )

    def rows(self) -> list[Row]:
        """Return one row per model, then the alternatives."""
        rows = [
            {
                "model": name,
                **{field: getattr(rule, field) for field in ("low", "high", "rejected", "accuracy", "cost")},
                **(
                    {}
                    if rule.lead is None
                    else dict.fromkeys(("cross_fitted_cost", "honest_cost"), rule.out_of_sample) | {"lead": rule.lead}
                ),
                **({"cost_low": spent.low, "cost_high": spent.high} if (spent := self.spent.get(name)) else {}),
            }
            for name, rule in self.rules.items()
        ]
        for name, alternative in self.alternatives.items():
            start = {"model": name, "low": math.nan, "high": math.nan, "rejected": alternative.rejected}
            limits_ = (
                {"cost_low": alternative.cost.low, "cost_high": alternative.cost.high} if alternative.cost.known else {}
            )
            rows.append({**start, "accuracy": alternative.accuracy, "cost": alternative.cost.value, **limits_})
        return rows

    def facts(self) -> Row:
        best = {"model": self.best, "cost_per_case": self.rules[self.best].cost}
        return {**EMPTY_FACTS, **best, "recommended": self.recommended, **self.gain.row("gain")}


def _rule_cost(rule: RejectRule) -> float:
    """Out-of-sample cost of a rule."""
    return rule.cost if rule.out_of_sample is None or math.isnan(rule.out_of_sample) else rule.out_of_sample


def choose_rejection(
    models: Mapping[str, Any],
    cost: float,
    condition: Condition | CostMatrix | None = None,
    *,
    pairs: PairTable | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> RejectChoice:
    """Choose Chow's rule for every model whose scores are probabilities, an error costing 1, or as stated.

    For multiclass models, by expected cost where a cost matrix is given; else the margin between the best and second
    class below which rejecting is cheapest. `pairs`: the cell of each case in the tables, for cross-fitting.

    >>> from scorespace.tables import score_table
    >>> choose_rejection({"nb": score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])}, 0.2).rules["nb"].rejected
    0.5
    """
    binary = {name: table.inside(ScoreTable) for name, table in models.items() if table.thresholded}
    multiclass = [name for name, table in models.items() if table.scores_classes]
    if multiclass and isinstance(condition, Condition):
        raise ConditionError(
            "false positives and false negatives are defined for two classes only.", hint="a cost matrix, or none"
        )
    if binary and isinstance(condition, CostMatrix):
        raise ConditionError("the cost matrix is multiclass, and the scores are binary.", hint="cost-fp and cost-fn")
    rules, spent, by_margin = {}, {}, {}
    for name, table in binary.items():
        rules[name] = _round_zone(chow(table, cost, condition if isinstance(condition, Condition) else None), table)
    for name in multiclass:
        if isinstance(condition, CostMatrix):
            rules[name] = multiclass_chow(models[name].inside(ClassTable), cost, condition)
        else:
            by_margin[name] = _choose_margin(_margins(models[name]), cost, seed, level)
            rules[name], spent[name] = by_margin[name].rule, by_margin[name].out_of_sample
    if not rules:
        raise ScoreError("a reject option needs scores, not hard decisions.", hint="a model with scores")
    share = condition.prevalence if isinstance(condition, Condition) else None
    counted = [name for name, rule in rules.items() if rule.outcomes and models[name].whole]
    fixed = {name: _fixed_rule_cost(rules[name], share, level) for name in counted}
    spent |= {name: alternatives for name, alternatives in fixed.items() if alternatives is not None}
    choice = RejectChoice(cost, rules, condition, spent)
    best = choice.best
    if by_margin:
        alternatives, gain = _margin_alternatives(by_margin, models, best, cost, level)
    else:
        accounts = RejectionCosts(rules, share, level, all(models[name].whole for name in rules))
        alternatives, gain = accounts.alternatives, accounts.gain(best, pairs, seed)
    labels = {name: name.removeprefix("always ") for name in alternatives}
    labels |= dict(zip((ALWAYS, NEVER), class_labels(next(iter(binary.values()))), strict=True)) if binary else {}
    return replace(choice, alternatives=alternatives, gain=gain, labels=labels)


def _fixed_rule_cost(rule: RejectRule, prevalence: float | None, level: float) -> CostEstimate | None:
    """Cost per case of a fixed rule with its confidence interval; None where a class has no cases."""
    if not all(sum(outcomes.values()) for outcomes in rule.outcomes):
        return None
    shares = (1.0,) if prevalence is None else (prevalence, 1 - prevalence)
    return reduce(
        add_independent,
        (of_prices(outcomes, share, level) for share, outcomes in zip(shares, rule.outcomes, strict=True)),
    )


class _MarginRule(NamedTuple):
    """A rejection rule by margin, its out-of-sample cost, and the outcomes."""

    rule: RejectRule
    out_of_sample: CostEstimate
    out_of_sample_counts: OutOfSampleCounts


def _choose_margin(margins: ScoreTable, cost: float, seed: int, level: float) -> _MarginRule:
    """Choose the margin below which to reject, an error costing 1, as a decision to accept or reject."""
    if not 0 < cost < 1:
        raise ConditionError(
            f"the cost of a rejection must be below that of an error, not {cost:g}.", hint="between 0 and 1"
        )
    # An accepted error costs 1; a rejection costs the same, whether the decision would have been right or wrong.
    condition = Condition(fp=1, fn=cost, tn=cost)
    decision = decide({"": margins}, condition, seed=seed, level=level)
    (choice,) = decision.choices
    accepted = float(choice.counts.pp)
    rejected = 1 - accepted / float(margins.total)
    accuracy = float(choice.counts.tp) / accepted if accepted else math.nan
    out_of_sample = _out_of_sample_cost(choice.out_of_sample_counts, (0.0, 1.0, cost, cost), level)
    rule = RejectRule(
        math.nan, math.nan, rejected, accuracy, choice.cost_per_case, choice.threshold, out_of_sample.value
    )
    return _MarginRule(rule, out_of_sample, choice.out_of_sample_counts)


def _out_of_sample_cost(
    outcomes: OutOfSampleCounts, prices: tuple[float, float, float, float], level: float
) -> CostEstimate:
    """Mean out-of-sample cost per case, given the price of each outcome (tp, fp, fn, tn)."""
    if outcomes.outcomes is None or outcomes.counts is None:
        return CostEstimate(reason=outcomes.reason)
    cases: dict[float, float] = dict.fromkeys(prices, 0.0)
    for price, name in zip(prices, OUTCOMES, strict=True):
        cases[price] += float(getattr(outcomes.counts, name))
    estimate = of_prices(cases, 1.0, level, outcomes.spread)
    total = outcomes.outcomes.total
    repeat_costs = np.sum(
        [p * getattr(outcomes.outcomes, name) for p, name in zip(prices, OUTCOMES, strict=True)], axis=0
    )
    return clip_interval(widen_by_repeats(estimate, repeat_costs / total, level), (min(prices), max(prices)))


def _margin_alternatives(
    leads: Mapping[str, _MarginRule], tables: Mapping[str, Any], best: str, cost: float, level: float
) -> tuple[dict[str, Alternative], CostEstimate]:
    """Return the rules that reject all cases or none, an error costing 1, and the saving of the best margin rule."""
    alternatives = {REJECT_ALL: Alternative(1.0, math.nan, CostEstimate(cost))}
    for name in leads:
        margins = _margins(tables[name])
        alternatives[f"{name}, {DECIDE_ALL}"] = _no_rejection(
            float(margins.n_neg), float(margins.total), level, margins.whole
        )
    weights = class_weights(tables[best])
    total = sum(weights.values())
    for name, weight in weights.items():
        alternatives[f"always {name}"] = _no_rejection(total - weight, total, level, tables[best].whole)
    level = 1 - (1 - level) / len(leads)  # Bonferroni, as the best of several rules is chosen
    outcomes = leads[best].out_of_sample_counts
    best_cost = _out_of_sample_cost(outcomes, (0.0, 1.0, cost, cost), level)
    paired_savings = {
        REJECT_ALL: _out_of_sample_cost(outcomes, (cost, cost - 1, 0.0, 0.0), level),
        f"{best}, {DECIDE_ALL}": _out_of_sample_cost(outcomes, (0.0, 0.0, -cost, 1 - cost), level),
    }
    savings = [
        paired_savings.get(name) or add_independent(alternative.cost, -best_cost)
        for name, alternative in alternatives.items()
    ]
    cheapest = min(savings, key=lambda alternative: alternative.value)
    return alternatives, replace(cheapest, low=min(alternative.low for alternative in savings))


def _margins(table: Any) -> ScoreTable:
    """Return the margin between the best and the second class of each case, and whether the best is correct."""
    fitted: Any = rejection.fit(table).table
    margins: ScoreTable = fitted.margins
    return margins


def _no_rejection(errors: float, total: float, level: float, whole: bool) -> Alternative:
    """A rule that rejects nothing, from its number of errors."""
    share = errors / total
    limits_ = rare_proportion(errors, total, level) if whole else (math.nan, math.nan)
    return Alternative(0.0, 1 - share, CostEstimate(share, *limits_))


def _round_zone(rule: RejectRule, table: ScoreTable) -> RejectRule:
    """Round the limits of the rejection zone so that no decision changes: scores ≤ low and ≥ high are accepted."""
    if table.coarse or table.resolution:
        return rule
    lower = float(table.score[table.score <= rule.low].max(initial=-math.inf))
    return replace(
        rule, low=round_threshold(rule.low, math.nextafter(lower, -math.inf)), high=table.threshold(rule.high)
    )


@dataclass(frozen=True, repr=False)
class MixtureChoice(Result):
    """The randomised mixture of two classifiers that realises a point of the hull."""

    mixture: Mixture

    @property
    def words(self) -> str:
        mixture = self.mixture
        point = f"false positive rate {decimals(mixture.fpr)} and true positive rate {decimals(mixture.tpr)}"
        if mixture.share in (0.0, 1.0):
            return f"Use {_vertex_text(mixture.first if mixture.share else mixture.second)}: {point}."
        return (
            f"For each case draw at random: use {_vertex_text(mixture.first)} with probability "
            f"{decimals(mixture.share)}, "
            f"else {_vertex_text(mixture.second)}. On average that gives {point}."
        )

    def rows(self) -> list[Row]:
        shares = ((self.mixture.first, self.mixture.share), (self.mixture.second, 1 - self.mixture.share))
        return [
            {"model": c.model, "threshold": c.threshold, "probability": share, "fpr": c.fpr, "tpr": c.tpr}
            for c, share in shares
        ]

    def facts(self) -> Row:
        return {**EMPTY_FACTS, "fpr": self.mixture.fpr, "tpr": self.mixture.tpr}


def choose_mixture(models: Models, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
    """Return the randomised mixture that reaches the joint ROC convex hull of the models at an FPR or a TPR.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> choose_mixture({"nb": t}, fpr=0.25).mixture.tpr
    0.6666666666666666
    """
    joint_hull = hull(models)
    if math.isnan(joint_hull.area()):
        raise ConditionError(
            "a mixture needs cases of both classes.", seen="one class only", hint="cases of the other class, too"
        )
    mixture = joint_hull.mixture(fpr=fpr, tpr=tpr)
    return MixtureChoice(
        replace(mixture, first=_round_vertex(mixture.first, models), second=_round_vertex(mixture.second, models))
    )


def _round_vertex(corner: HullVertex, models: Models) -> HullVertex:
    """Round the threshold of a hull vertex so that no decision changes."""
    table = models.get(corner.model)
    if table is None or not table.thresholded or math.isnan(corner.threshold):
        return corner
    return replace(corner, threshold=table.inside(ScoreTable).threshold(corner.threshold))


def _vertex_text(corner: HullVertex) -> str:
    return (
        f'the rule "{corner.model}"' if corner.model in TRIVIAL else model_at_threshold(corner.model, corner.threshold)
    )
