"""Handing over the doubtful cases: Chow's rule for every model, and mixtures of two classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from functools import reduce
from typing import Any

from scorespace.conditions import Condition, CostMatrix
from scorespace.curves import Corner, Mixture, RejectRule, chow, hull, rejection
from scorespace.curves.hull import TRIVIAL
from scorespace.curves.rejection import chow_of_classes
from scorespace.decisions.honest import Models
from scorespace.decisions.judged import Judged, Value, added, costs_of, placed, shaken, sum_of_shares, within
from scorespace.decisions.model import decide
from scorespace.errors import ConditionError, ScoreError
from scorespace.frozen import dataclass
from scorespace.resampling.share import rare_share
from scorespace.results import Result, Row, decimals, percent
from scorespace.tables import ClassTable, ScoreTable

NOTHING_DECIDED: Row = {
    **dict.fromkeys(("model", "threshold", "slope", "cost_per_case", "tp", "fp", "fn", "tn")),
    "dominated": [],
    "regions": [],
}
"""What every decision carries, where there is nothing to say."""


@dataclass(frozen=True, repr=False)
class RejectChoice(Result):
    """Chow's rule for each scoring model when a rejection costs a share of an error, or as much beside other costs.

    `spent` is the cost per case of each with its interval, on cases that did not choose the rule.
    """

    cost: float
    rules: Mapping[str, RejectRule]
    condition: Condition | CostMatrix | None = None
    spent: Mapping[str, Value] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The model of least cost per case."""
        return min(self.rules, key=lambda name: self.rules[name].cost)

    @property
    def words(self) -> str:
        rule = self.rules[self.best]
        which = f"it scores between {rule.low:.3g} and {rule.high:.3g}"
        counting = "an error counting 1"
        if isinstance(self.condition, Condition):
            counting = f"a false positive counting {self.condition.fp:g} and a false negative {self.condition.fn:g}"
        if isinstance(self.condition, CostMatrix):
            which = f"in which every decision is expected to cost more than {self.cost:g}"
            counting = "each decision counting as stated"
        if rule.lead is not None:
            which = f"whose best class leads the second by less than {rule.lead:.3g}"
        if rule.accuracy != rule.accuracy and rule.lead is None:  # nothing is left that could be right
            zone = which.removeprefix("it scores ").removeprefix("in which ")
            said = f"{self.best} scores them all {zone}" if zone.startswith("between") else f"in all {zone}"
            costs = f"{counting[0].upper()}{counting[1:]}, that costs {decimals(rule.cost)} per case"
            return f"Hand over all cases: {said}. {costs}. The rule assumes calibrated probabilities."
        rest = f"{percent(rule.rejected, 0)} of them. Of the rest it gets {percent(rule.accuracy, 0)} right"
        spent, end = f"{decimals(rule.cost)} per case", "The rule assumes calibrated probabilities."
        if rule.lead is not None:
            end = "The lead was chosen on these cases."
            if rule.honest is not None and not math.isnan(rule.honest):
                honest, here = decimals(rule.honest), decimals(rule.cost)
                spent = f"{honest} per case that did not choose the lead ({here} on these)"
                end = ""
        return f"Use {self.best} and hand over the cases {which}: {rest}; {counting}, that costs {spent}. {end}".strip()

    def rows(self) -> list[Row]:
        return [
            {
                "model": name,
                **{field: getattr(rule, field) for field in ("low", "high", "rejected", "accuracy", "cost")},
                **({} if rule.lead is None else {"lead": rule.lead, "honest_cost": rule.honest}),
                **({"cost_low": spent.low, "cost_high": spent.high} if (spent := self.spent.get(name)) else {}),
            }
            for name, rule in self.rules.items()
        ]

    def facts(self) -> Row:
        return {**NOTHING_DECIDED, "model": self.best, "cost_per_case": self.rules[self.best].cost}


def choose_rejection(
    models: Mapping[str, Any],
    cost: float,
    condition: Condition | CostMatrix | None = None,
    *,
    seed: int = 0,
    level: float = 0.95,
) -> RejectChoice:
    """Chow's rule for every model whose scores are probabilities, an error costing 1, or as stated.

    Of several classes, by expected costs where a matrix states them; else the lead of the best over the second below
    which handing over is cheapest.

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
    rules, spent = {}, {}
    for name, table in two.items():
        rules[name] = chow(table, cost, condition if isinstance(condition, Condition) else None)
    for name in several:
        if isinstance(condition, CostMatrix):
            rules[name] = chow_of_classes(models[name].inside(ClassTable), cost, condition)
        else:
            leading: Any = rejection.fit(models[name]).table
            rules[name], spent[name] = _by_lead(leading.margins, cost, seed, level)
    if not rules:
        raise ScoreError("a rejection needs scores: a crisp decision is never in doubt.", hint="a model with scores")
    share = condition.prevalence if isinstance(condition, Condition) else None
    counted = [name for name, rule in rules.items() if rule.outcomes and models[name].whole]
    stated = {name: _spent(rules[name], share, level) for name in counted}
    spent |= {name: found for name, found in stated.items() if found is not None}
    return RejectChoice(cost, rules, condition, spent)


def _spent(rule: RejectRule, prevalence: float | None, level: float) -> Value | None:
    """What a rule that was stated costs per case, with the interval of shares; None where a class has no cases."""
    if not all(sum(one.values()) for one in rule.outcomes):
        return None
    shares = (1.0,) if prevalence is None else (prevalence, 1 - prevalence)
    return reduce(added, (_of_prices(one, share, level) for share, one in zip(shares, rule.outcomes, strict=True)))


def _of_prices(outcomes: Mapping[float, float], share: float, level: float, spread: float = 1.0) -> Value:
    """What the cases of one sample cost on average, times a share: the most common price, and what others add to it.

    Put together from zero instead, what costs nothing would seem to be certainly absent where it is rare and was not
    seen: then the true cost lay below 12 % of the intervals of 60 cases, and below 23 % at a lead that hands over most.
    """
    common = max(outcomes, key=lambda price: outcomes[price])
    cells, total = tuple(outcomes.values()), sum(outcomes.values())
    losses = tuple(share * (price - common) for price in outcomes)
    found = sum_of_shares(cells, losses, total, spread, level, rare_share)
    base = share * common
    return Value(base + found.value, base + found.low, base + found.high)


def _by_lead(margins: ScoreTable, cost: float, seed: int, level: float) -> tuple[RejectRule, Value]:
    """The lead below which to hand over, an error costing 1: a decision between keeping a case and not."""
    if not 0 < cost < 1:
        raise ConditionError(f"a rejection that costs {cost:g} errors is no choice.", hint="between 0 and 1")
    # Kept and wrong costs 1; what is handed over costs the same, whether it would have been right or wrong.
    condition = Condition(fp=1, fn=cost, tn=cost)
    found = decide({"": margins}, condition, seed=seed, level=level)
    (choice,) = found.choices
    kept = float(choice.counts.pp)
    share = 1 - kept / float(margins.total)
    accuracy = float(choice.counts.tp) / kept if kept else math.nan
    honest = _on_others(choice.judged, condition, level)
    return RejectRule(math.nan, math.nan, share, accuracy, choice.cost_per_case, choice.threshold, honest.value), honest


def _on_others(judged: Judged, condition: Condition, level: float) -> Value:
    """What handing over costs per case that did not choose the lead, wider by how far the repeats differ."""
    if judged.outcomes is None or judged.counts is None:
        return Value(reason=judged.reason)
    counts = judged.counts
    prices = {condition.tp: counts.tp, condition.fp: counts.fp, condition.fn: counts.fn + counts.tn}
    found = _of_prices({price: float(cases) for price, cases in prices.items()}, 1.0, level, judged.spread)
    return within(shaken(found, costs_of(judged.outcomes, condition), level), (condition.tp, condition.fp))


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
