"""Handing over the doubtful cases: Chow's rule for every model, and mixtures of two classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from scorespace.conditions import Condition, CostMatrix
from scorespace.curves import Corner, Mixture, RejectRule, chow, hull, rejection
from scorespace.curves.hull import ALWAYS, NEVER, TRIVIAL
from scorespace.curves.rejection import DECIDE_ALL, REJECT_ALL, chow_of_classes
from scorespace.decisions.alternatives import Accounts, Alternative, of_prices
from scorespace.decisions.honest import Models
from scorespace.decisions.judged import (
    OUTCOMES,
    UNKNOWN,
    Judged,
    Value,
    added,
    labels_of,
    of_1000,
    placed,
    shaken,
    within,
)
from scorespace.decisions.model import decide
from scorespace.errors import ConditionError, ScoreError
from scorespace.frozen import dataclass
from scorespace.resampling.share import rare_share
from scorespace.results import Result, Row, decimals, limits, percent
from scorespace.tables import ClassTable, ScoreTable
from scorespace.tables.models import class_weights
from scorespace.tables.pair import PairTable
from scorespace.tables.threshold import rounded_threshold, threshold_text

NOTHING_DECIDED: Row = {
    **dict.fromkeys(("model", "threshold", "slope", "cost_per_case", "tp", "fp", "fn", "tn")),
    "dominated": [],
    "regions": [],
}
"""What every decision carries, where there is nothing to say."""


_IMPERATIVE: Final = {"rejecting": "Reject", "using": "Use", "calling": "Call"}


@dataclass(frozen=True, repr=False)
class RejectChoice(Result):
    """Chow's rule for each scoring model when a rejection costs a share of an error, or as much beside other costs.

    `spent` is the cost per case of each with its interval, on cases that did not choose the rule. `alternatives` reject
    all cases, or none: those that a model decides, or that are all called alike. `gain` is what the best rule spares
    against the cheapest of them, on cases that chose neither the rule nor its model.
    """

    cost: float
    rules: Mapping[str, RejectRule]
    condition: Condition | CostMatrix | None = None
    spent: Mapping[str, Value] = field(default_factory=dict)
    alternatives: Mapping[str, Alternative] = field(default_factory=dict)
    gain: Value = UNKNOWN
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The model of least cost per case, apparent where its rule was chosen on these cases."""
        return min(self.rules, key=lambda name: self.rules[name].cost)

    @property
    def cheapest(self) -> str:
        """The cheapest of the rules that reject all cases, or none."""
        return min(self.alternatives, key=lambda name: self.alternatives[name].cost.value)

    @property
    def shown(self) -> bool:
        """Whether the best rule is shown to cost less than each of the alternatives."""
        return self.gain.low > 0

    @property
    def recommended(self) -> str:
        """What the verdict says to use: the best rule where it is shown to be worth its trouble."""
        return self.best if self.shown else self.cheapest

    @property
    def words(self) -> str:
        rule, found = self.rules[self.best], self.spent.get(self.best, UNKNOWN)
        value, between, interval = limits(_price_of(rule), found.low, found.high).partition(" ")
        costs = f"{value} per case{between}{interval}"
        if rule.lead is not None:
            costs = f"cross-fitted cost {costs} (apparent {decimals(rule.cost)})"
        of_rest = "" if math.isnan(rule.accuracy) else f", accuracy of the rest {decimals(rule.accuracy)}"
        rejects = f"rejecting the cases {self._zone(rule)} ({percent(rule.rejected)} of them{of_rest})"
        assumes = "" if rule.lead is not None else " The rule assumes calibrated probabilities."
        instead, gain = self._told(self.cheapest), self._gain()
        price = f"{decimals(self.alternatives[self.cheapest].cost.value)} per case"
        if self.shown:
            text = f"Use {self.best}, {rejects}: {self._counting}, {costs}. That is {gain} than {instead} ({price})."
            return text + assumes
        near = f"{self.best}, {rejects}, is not shown to cost less: {costs}, {gain}."
        verb, _, rest = instead.partition(" ")
        return f"{_IMPERATIVE[verb]} {rest}: {self._counting}, {price}. {near}{assumes}"

    def _zone(self, rule: RejectRule) -> str:
        """Which cases a rule rejects."""
        if rule.lead is not None:
            return f"whose best class leads the second by less than {threshold_text(rule.lead)}"
        if isinstance(self.condition, CostMatrix):
            return f"in which every decision is expected to cost more than {self.cost:g}"
        return f"it scores between {threshold_text(rule.low)} and {threshold_text(rule.high)}"

    @property
    def _counting(self) -> str:
        if isinstance(self.condition, Condition):
            return f"a false positive counting {self.condition.fp:g} and a false negative {self.condition.fn:g}"
        return "each decision counting as stated" if self.condition is not None else "an error counting 1"

    def _told(self, name: str) -> str:
        """An alternative as what one does."""
        if name == REJECT_ALL:
            return "rejecting every case"
        model, _, decides = name.rpartition(f", {DECIDE_ALL}")
        return f"using {model} for every case" if model and not decides else f"calling every case {self.labels[name]}"

    def _gain(self) -> str:
        """How much less the best rule costs than the cheapest alternative."""
        gain, side = self.gain, "less" if self.gain.value > 0 else "more"
        if math.isnan(gain.value):
            return f"by how much more or less is unknown, as {gain.reason}"
        size = f"{number} per 1 000 {side}" if (number := of_1000(abs(gain.value))) != "0" else "as much"
        low, high = (gain.low, gain.high) if gain.value > 0 else (-gain.high, -gain.low)
        return f"{size} [{of_1000(low)}, {of_1000(high)}]" if gain.known else f"{size}, without an interval"

    def rows(self) -> list[Row]:
        """One row per model, then those that reject all cases, or none."""
        every = [
            {
                "model": name,
                **{field: getattr(rule, field) for field in ("low", "high", "rejected", "accuracy", "cost")},
                **({} if rule.lead is None else {"lead": rule.lead, "honest_cost": rule.honest}),
                **({"cost_low": spent.low, "cost_high": spent.high} if (spent := self.spent.get(name)) else {}),
            }
            for name, rule in self.rules.items()
        ]
        for name, one in self.alternatives.items():
            found = {"model": name, "low": math.nan, "high": math.nan, "rejected": one.rejected}
            limits_ = {"cost_low": one.cost.low, "cost_high": one.cost.high} if one.cost.known else {}
            every.append({**found, "accuracy": one.accuracy, "cost": one.cost.value, **limits_})
        return every

    def facts(self) -> Row:
        best = {"model": self.best, "cost_per_case": self.rules[self.best].cost}
        return {**NOTHING_DECIDED, **best, "recommended": self.recommended, **self.gain.row("gain")}


def _price_of(rule: RejectRule) -> float:
    """The cost of a rule on cases that did not choose it."""
    return rule.cost if rule.honest is None or math.isnan(rule.honest) else rule.honest


def choose_rejection(
    models: Mapping[str, Any],
    cost: float,
    condition: Condition | CostMatrix | None = None,
    *,
    pairs: PairTable | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> RejectChoice:
    """Chow's rule for every model whose scores are probabilities, an error costing 1, or as stated.

    Of several classes, by expected costs where a matrix states them; else the lead of the best over the second below
    which rejecting is cheapest. `pairs`: each case's cell in the tables, so that the model is chosen on other cases.

    >>> from scorespace.tables import score_table
    >>> choose_rejection({"nb": score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.1])}, 0.2).rules["nb"].rejected
    0.5
    """
    two = {name: table.inside(ScoreTable) for name, table in models.items() if table.thresholded}
    several = [name for name, table in models.items() if table.scores_classes]
    if several and isinstance(condition, Condition):
        raise ConditionError("false positives and negatives are errors of two classes.", hint="a cost matrix, or none")
    if two and isinstance(condition, CostMatrix):
        raise ConditionError("these costs are of several classes, and the scores of two.", hint="cost-fp and cost-fn")
    rules, spent, leading = {}, {}, {}
    for name, table in two.items():
        rules[name] = _with_text(chow(table, cost, condition if isinstance(condition, Condition) else None), table)
    for name in several:
        if isinstance(condition, CostMatrix):
            rules[name] = chow_of_classes(models[name].inside(ClassTable), cost, condition)
        else:
            leading[name] = _by_lead(_margins(models[name]), cost, seed, level)
            rules[name], spent[name] = leading[name].rule, leading[name].honest
    if not rules:
        raise ScoreError("a rejection needs scores: a crisp decision is never in doubt.", hint="a model with scores")
    share = condition.prevalence if isinstance(condition, Condition) else None
    counted = [name for name, rule in rules.items() if rule.outcomes and models[name].whole]
    stated = {name: _spent(rules[name], share, level) for name in counted}
    spent |= {name: found for name, found in stated.items() if found is not None}
    choice = RejectChoice(cost, rules, condition, spent)
    best = choice.best
    if leading:
        found, gain = _beside_lead(leading, models, best, cost, level)
    else:
        accounts = Accounts(rules, share, level, all(models[name].whole for name in rules))
        found, gain = accounts.alternatives, accounts.gain(best, pairs, seed)
    labels = {name: name.removeprefix("always ") for name in found}
    labels |= dict(zip((ALWAYS, NEVER), labels_of(next(iter(two.values()))), strict=True)) if two else {}
    return replace(choice, alternatives=found, gain=gain, labels=labels)


def _spent(rule: RejectRule, prevalence: float | None, level: float) -> Value | None:
    """What a rule that was stated costs per case, with the interval of shares; None where a class has no cases."""
    if not all(sum(one.values()) for one in rule.outcomes):
        return None
    shares = (1.0,) if prevalence is None else (prevalence, 1 - prevalence)
    return reduce(added, (of_prices(one, share, level) for share, one in zip(shares, rule.outcomes, strict=True)))


class _Lead(NamedTuple):
    """A rule by lead, what it costs on cases that did not choose the lead, and the outcomes there."""

    rule: RejectRule
    honest: Value
    judged: Judged


def _by_lead(margins: ScoreTable, cost: float, seed: int, level: float) -> _Lead:
    """The lead below which to reject, an error costing 1: a decision between keeping a case and not."""
    if not 0 < cost < 1:
        raise ConditionError(f"a rejection that costs {cost:g} errors is no choice.", hint="between 0 and 1")
    # Kept and wrong costs 1; what is rejected costs the same, whether it would have been right or wrong.
    condition = Condition(fp=1, fn=cost, tn=cost)
    found = decide({"": margins}, condition, seed=seed, level=level)
    (choice,) = found.choices
    kept = float(choice.counts.pp)
    share = 1 - kept / float(margins.total)
    accuracy = float(choice.counts.tp) / kept if kept else math.nan
    honest = _on_others(choice.judged, (0.0, 1.0, cost, cost), level)
    rule = RejectRule(math.nan, math.nan, share, accuracy, choice.cost_per_case, choice.threshold, honest.value)
    return _Lead(rule, honest, choice.judged)


def _on_others(judged: Judged, prices: tuple[float, float, float, float], level: float) -> Value:
    """The mean of what each outcome (tp, fp, fn, tn) costs per case that did not choose the lead."""
    if judged.outcomes is None or judged.counts is None:
        return Value(reason=judged.reason)
    cases: dict[float, float] = dict.fromkeys(prices, 0.0)
    for price, name in zip(prices, OUTCOMES, strict=True):
        cases[price] += float(getattr(judged.counts, name))
    found = of_prices(cases, 1.0, level, judged.spread)
    total = judged.outcomes.total
    again = np.sum([p * getattr(judged.outcomes, name) for p, name in zip(prices, OUTCOMES, strict=True)], axis=0)
    return within(shaken(found, again / total, level), (min(prices), max(prices)))


def _beside_lead(
    leads: Mapping[str, _Lead], tables: Mapping[str, Any], best: str, cost: float, level: float
) -> tuple[dict[str, Alternative], Value]:
    """The rules that reject all cases, or none, an error costing 1, and what the best lead spares against them."""
    found = {REJECT_ALL: Alternative(1.0, math.nan, Value(cost))}
    for name in leads:
        margins = _margins(tables[name])
        found[f"{name}, {DECIDE_ALL}"] = _constant(float(margins.n_neg), float(margins.total), level, margins.whole)
    weights = class_weights(tables[best])
    total = sum(weights.values())
    for name, weight in weights.items():
        found[f"always {name}"] = _constant(total - weight, total, level, tables[best].whole)
    level = 1 - (1 - level) / len(leads)  # the best of several leads must hold for all
    judged = leads[best].judged
    own = _on_others(judged, (0.0, 1.0, cost, cost), level)
    spared = {
        REJECT_ALL: _on_others(judged, (cost, cost - 1, 0.0, 0.0), level),
        f"{best}, {DECIDE_ALL}": _on_others(judged, (0.0, 0.0, -cost, 1 - cost), level),
    }
    every = [spared.get(name) or added(one.cost, -own) for name, one in found.items()]
    cheapest = min(every, key=lambda one: one.value)
    return found, replace(cheapest, low=min(one.low for one in every))


def _margins(table: Any) -> ScoreTable:
    """How far the best class of a case leads the second, and whether it is right."""
    leads: Any = rejection.fit(table).table
    found: ScoreTable = leads.margins
    return found


def _constant(errors: float, total: float, level: float, whole: bool) -> Alternative:
    """A rule that rejects nothing, by how many errors it makes."""
    share = errors / total
    ends = rare_share(errors, total, level) if whole else (math.nan, math.nan)
    return Alternative(0.0, 1 - share, Value(share, *ends))


def _with_text(rule: RejectRule, table: ScoreTable) -> RejectRule:
    """The rule with the digits of its zone that keep every case on its side: outside are scores ≤ low and ≥ high."""
    if table.coarse or table.resolution:
        return rule
    lower = float(table.score[table.score <= rule.low].max(initial=-math.inf))
    return replace(
        rule, low=rounded_threshold(rule.low, math.nextafter(lower, -math.inf)), high=table.threshold(rule.high)
    )


@dataclass(frozen=True, repr=False)
class MixtureChoice(Result):
    """The randomised mixture of two classifiers that realises a point of the hull."""

    mixture: Mixture

    @property
    def words(self) -> str:
        found = self.mixture
        point = f"false positive rate {decimals(found.fpr)} and true positive rate {decimals(found.tpr)}"
        if found.share in (0.0, 1.0):
            return f"Use {_called(found.first if found.share else found.second)}: {point}."
        return (
            f"For each case draw by lot: use {_called(found.first)} with probability {decimals(found.share)}, "
            f"else {_called(found.second)}. On average that gives {point}."
        )

    def rows(self) -> list[Row]:
        shares = ((self.mixture.first, self.mixture.share), (self.mixture.second, 1 - self.mixture.share))
        return [
            {"model": c.model, "threshold": c.threshold, "probability": share, "fpr": c.fpr, "tpr": c.tpr}
            for c, share in shares
        ]

    def facts(self) -> Row:
        return {**NOTHING_DECIDED, "fpr": self.mixture.fpr, "tpr": self.mixture.tpr}


def choose_mixture(models: Models, *, fpr: float | None = None, tpr: float | None = None) -> MixtureChoice:
    """The mixture that reaches the common hull of the models at an FPR or a TPR.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> choose_mixture({"nb": t}, fpr=0.25).mixture.tpr
    0.6666666666666666
    """
    found = hull(models)
    if math.isnan(found.area()):
        raise ConditionError(
            "a mixture needs cases of both classes.", seen="one class only", hint="cases of the other class, too"
        )
    mixed = found.mixture(fpr=fpr, tpr=tpr)
    return MixtureChoice(replace(mixed, first=_told(mixed.first, models), second=_told(mixed.second, models)))


def _told(corner: Corner, models: Models) -> Corner:
    """A corner whose threshold has the digits that keep every case on its side."""
    table = models.get(corner.model)
    if table is None or not table.thresholded or math.isnan(corner.threshold):
        return corner
    return replace(corner, threshold=table.inside(ScoreTable).threshold(corner.threshold))


def _called(corner: Corner) -> str:
    return f'the rule "{corner.model}"' if corner.model in TRIVIAL else placed(corner.model, corner.threshold)
