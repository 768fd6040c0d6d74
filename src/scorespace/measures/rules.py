"""Measures of association rules: frequency, reliability, and dependence of the two sides."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorespace.measures.measure import INF, NOT_SIMULATED, measure
from scorespace.tables import Array, ratio
from scorespace.tables.rules import RuleTable

_NO_TRANSACTIONS: Final = "there are no transactions"
_NEVER: Final = "the antecedent never occurs"
_rule = partial(
    measure,
    range=(0, INF),
    best="high",
    undefined="the antecedent or the consequent never occurs",
    coverage_note=NOT_SIMULATED,
)


@_rule(title="Support", range=(0, 1), undefined=_NO_TRANSACTIONS, trials="total")
def support(rule: RuleTable) -> Array:
    """Share of transactions with both sides: P(A and B).

    >>> support(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    0.2
    """
    return ratio(rule.both, rule.total)


@_rule(title="Confidence", range=(0, 1), undefined=_NEVER, trials="antecedent")
def confidence(rule: RuleTable) -> Array:
    """Share of transactions with the antecedent that also have the consequent: P(B | A).

    >>> confidence(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    0.5
    """
    return ratio(rule.both, rule.antecedent)


@_rule(title="Lift of a rule", aliases=("interest",))
def rule_lift(rule: RuleTable) -> Array:
    """Frequency of both sides together relative to independence: P(A and B) / (P(A) · P(B)).

    >>> round(rule_lift(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    1.6667
    """
    return ratio(rule.both * rule.total, rule.antecedent * rule.consequent)


@_rule(title="Leverage", range=(-0.25, 0.25), undefined=_NO_TRANSACTIONS, aliases=("piatetsky_shapiro", "novelty"))
def leverage(rule: RuleTable) -> Array:
    """Share of transactions with both sides in excess of independence: P(A and B) − P(A) · P(B).

    >>> round(leverage(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    0.08
    """
    return ratio(rule.both * rule.total - rule.antecedent * rule.consequent, rule.total * rule.total)


@_rule(
    title="Conviction",
    undefined=f"{_NEVER}, or the consequent always occurs",
    infinite="the antecedent never occurs without the consequent",
)
def conviction(rule: RuleTable) -> Array:
    """Expected failures of the rule under independence relative to the observed ones: P(not B) / P(not B | A).

    >>> conviction(RuleTable(both=2, antecedent=4, consequent=3, total=10))
    1.4
    """
    failures = rule.antecedent - rule.both
    return ratio(rule.antecedent * (rule.total - rule.consequent), rule.total * failures)


@_rule(title="Kulczynski's measure", range=(0, 1), aliases=("kulc", "mean_confidence"))
def kulczynski(rule: RuleTable) -> Array:
    """Mean of the confidences of both directions, independent of other transactions: (P(B | A) + P(A | B)) / 2.

    >>> round(kulczynski(RuleTable(both=2, antecedent=4, consequent=3, total=10)), 4)
    0.5833
    """
    return (ratio(rule.both, rule.antecedent) + ratio(rule.both, rule.consequent)) / 2
