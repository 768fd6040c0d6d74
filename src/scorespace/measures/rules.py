"""Measures of association rules: how often, how reliably, and how much more than chance two sides go together."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.rule import RuleTable

_NO_TRANSACTIONS: Final = "there are no transactions"
_NEVER: Final = "the antecedent never occurs"
_rule = partial(
    measure,
    range=(0, INF),
    best="high",
    undefined="the antecedent or the consequent never occurs",
    covers=NOT_SIMULATED,
)


@_rule(title="Support", range=(0, 1), undefined=_NO_TRANSACTIONS, trials="total")
def support(rule: RuleTable) -> Array:
    """Share of the transactions with both sides: P(A and B).

    >>> support(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    0.2
    """
    return ratio(rule.both, rule.total)


@_rule(title="Confidence", range=(0, 1), undefined=_NEVER, trials="antecedent")
def confidence(rule: RuleTable) -> Array:
    """Share of the transactions with the antecedent that have the consequent, too: P(B | A).

    >>> confidence(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    0.5
    """
    return ratio(rule.both, rule.antecedent)


@_rule(title="Lift of a rule", aliases=("interest",))
def rule_lift(rule: RuleTable) -> Array:
    """How many times as often both sides go together as they would by chance: P(A and B) / (P(A) · P(B)).

    >>> round(rule_lift(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    1.6667
    """
    return ratio(rule.both * rule.total, rule.antecedent * rule.consequent)


@_rule(title="Leverage", range=(-0.25, 0.25), undefined=_NO_TRANSACTIONS, aliases=("piatetsky_shapiro", "novelty"))
def leverage(rule: RuleTable) -> Array:
    """Share of the transactions with both sides beyond what chance explains: P(A and B) − P(A) · P(B).

    >>> round(leverage(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    0.08
    """
    return ratio(rule.both * rule.total - rule.antecedent * rule.consequent, rule.total * rule.total)


@_rule(
    title="Conviction",
    undefined=f"{_NEVER}, or the consequent always does",
    infinite="the antecedent never occurs without the consequent",
)
def conviction(rule: RuleTable) -> Array:
    """How many times as often the rule would fail by chance as it does: P(not B) / P(not B | A).

    >>> conviction(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    1.4
    """
    fails = rule.antecedent - rule.both
    return ratio(rule.antecedent * (rule.total - rule.consequent), rule.total * fails)


@_rule(title="Kulczynski's measure", range=(0, 1), aliases=("kulc", "mean_confidence"))
def kulczynski(rule: RuleTable) -> Array:
    """The mean of the confidence in both directions, whatever else was bought: (P(B | A) + P(A | B)) / 2.

    >>> round(kulczynski(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    0.5833
    """
    return (ratio(rule.both, rule.antecedent) + ratio(rule.both, rule.consequent)) / 2
