"""Doubtful cases handed over, and decisions by lot: what each costs, in words, rows and JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.costs import Condition, CostMatrix
from scorespace.decisions import choose_mixture, choose_rejection
from scorespace.errors import ConditionError, ScoreError
from scorespace.inference.proportion import rare_proportion
from scorespace.tables import class_table, confusion, score_table

SURE = score_table([1, 1, 0, 0], [0.95, 0.9, 0.4, 0.05])
TORN = score_table([1, 1, 0, 0], [0.6, 0.5, 0.45, 0.4])
CRISP = confusion([[3, 1], [1, 3]], classes=["a", "b"], positive="a")


@given(samples(), st.integers(1, 50))
def test_the_cost_is_that_of_every_case_by_itself(sample, percent):
    cost = percent / 100
    truth, score, weight = map(np.array, (sample.truth, sample.score, sample.weight))
    handed = np.maximum(score, 1 - score) < 1 - cost
    each = np.where(handed, cost, (score >= 0.5) != truth)
    found = choose_rejection({"m": sample.table()}, cost).rules["m"]
    assert found.cost == pytest.approx(np.average(each, weights=weight))
    assert found.rejected == pytest.approx(np.average(handed, weights=weight))


def test_the_interval_is_that_of_what_cases_cost():
    """The interval of the errors, and of the cases handed over, though none was; weighed cases have none."""
    table = score_table([1] * 8 + [0] * 2, [0.9] * 10)
    found = choose_rejection({"nb": table}, 0.2)
    low, high = rare_proportion(2, 10)
    high = 0.2 + np.hypot(high - 0.2, 0.2 * rare_proportion(0, 10)[1])
    assert (found.spent["nb"].value, found.spent["nb"].low, found.spent["nb"].high) == pytest.approx((0.2, low, high))
    assert found.rows()[0]["cost_low"] == pytest.approx(low)
    weighed = score_table([1, 0], [0.9, 0.1], weight=[1.5, 0.5])
    assert choose_rejection({"nb": weighed}, 0.2).spent == {}


def test_the_interval_at_a_stated_share_of_positives():
    """The classes are drawn apart, so their distances add up by squares."""
    table = score_table([1] * 10 + [0] * 10, [0.9] * 16 + [0.1] * 4)
    found = choose_rejection({"nb": table}, 0.3, Condition(prevalence=0.25)).spent["nb"]
    # Of the negatives most are errors: what the right ones save, and handing over would, is left to chance.
    low, high = rare_proportion(4, 10)
    _, none = rare_proportion(0, 10)
    assert found.value == pytest.approx(0.75 * 0.6)
    assert found.low == pytest.approx(0.75 * (0.6 - np.hypot(high - 0.4, 0.7 * none)))
    of_positives, of_negatives = np.hypot(none, 0.3 * none), 0.4 - low
    assert found.high == pytest.approx(0.75 * 0.6 + np.hypot(0.25 * of_positives, 0.75 * of_negatives))


def test_costs_are_as_often_below_their_interval_as_it_says():
    """Rare and dear errors: Wilson's limits were above the true cost in 12 % of these samples, and twice as far up."""
    rng = np.random.default_rng(5)
    names, prices = ("a", "b", "c"), np.array([[0, 1, 5], [1, 0, 2], [3, 2, 0.0]])
    true = np.minimum(0.2, (rng.dirichlet([1] * 3, 100_000) @ prices).min(axis=1)).mean()
    costs = CostMatrix(names, prices)
    below = above = 0
    for _ in range(300):
        p = rng.dirichlet([1] * 3, 300)
        truth = (p.cumsum(axis=1) < rng.random(300)[:, None]).sum(axis=1)
        spent = choose_rejection({"nb": class_table([names[k] for k in truth], p, classes=names)}, 0.2, costs).spent[
            "nb"
        ]
        below, above = below + (true < spent.low), above + (true > spent.high)
    assert below <= 0.085 * 300
    assert above <= 0.05 * 300


def test_costs_are_not_taken_for_certain_where_right_decisions_are_rare():
    """A share of 1.6 % that costs nothing is often not seen: the cost was below its interval in 12 % of them."""
    rng = np.random.default_rng(6)
    condition, shares = Condition(fp=1, fn=50), np.array([0.016, 0.591, 0.002, 0.391])  # tp; handed over; of both; fp
    true = 0.8 * (0.591 + 0.002) + 0.391
    missed = 0
    for _ in range(300):
        found, handed, of_positives, alarms = rng.multinomial(60, shares)
        truth = [1] * (found + of_positives) + [0] * (handed + alarms)
        table = score_table(truth, [0.9] * found + [0.05] * (of_positives + handed) + [0.9] * alarms, positive=1)
        spent = choose_rejection({"nb": table}, 0.8, condition).spent["nb"]
        missed += not spent.low <= true <= spent.high
    assert missed <= 0.05 * 300


def test_the_cost_at_a_chosen_lead_is_not_taken_for_certain_where_most_is_handed_over():
    """Leads that are tied, and handing over for a tenth of an error: 23 % of such samples were above the true cost."""
    rng = np.random.default_rng(7)
    names, true = ("a", "b", "c"), 0.1  # handing over all of them; keeping some pays at no lead
    missed = 0
    for seed in range(100):
        p = rng.multinomial(5, [0.5, 0.3, 0.2], 100) / 5
        truth = (0.8 * p + 0.2 / 3).cumsum(axis=1) < rng.random(100)[:, None]
        table = class_table([names[k] for k in truth.sum(axis=1).clip(0, 2)], p, classes=names)
        spent = choose_rejection({"nb": table}, 0.1, seed=seed).spent["nb"]
        missed += not spent.low <= true <= spent.high
    assert missed <= 0.08 * 100


def test_the_interval_at_a_lead_is_of_the_level_that_is_asked():
    table = class_table(["a", "b", "c", "a"] * 20, [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]] * 40, classes=("a", "b", "c"))
    wide, narrow = (choose_rejection({"nb": table}, 0.3, level=level).spent["nb"] for level in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_a_rejection_that_is_dearer_than_any_decision_widens_nothing():
    table = class_table(["a", "b", "b"] * 30, [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]] * 30, classes=("a", "b"))
    costs = CostMatrix(("a", "b"), [[0, 1], [2, 0]])
    dear, dearer = (choose_rejection({"nb": table}, cost, costs).spent["nb"] for cost in (3, 100))
    assert (dear.low, dear.high) == (dearer.low, dearer.high)


def test_costs_of_several_classes():
    table = class_table(["a", "b", "c"], [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]], classes=("a", "b", "c"))
    costs = CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    found = choose_rejection({"nb": table}, 0.3, costs)
    assert found.rules["nb"].cost == pytest.approx(0.1)
    assert (found.cheapest, found.recommended) == ("reject all", "reject all")  # three cases show nothing
    assert found.words.startswith(
        "Reject every case: each decision counting as stated, 0.300 per case. nb, rejecting the cases in which every "
        "decision is expected to cost more than 0.3 (33.3 % of them, accuracy of the rest 1.000), is not clearly "
        "cheaper: 0.100 per case ["
    )
    assert choose_rejection({"nb": table}, 0.01, costs).words.startswith(
        "Reject every case: each decision counting as stated, 0.010 per case. nb, rejecting the cases in which every "
        "decision is expected to cost more than 0.01 (100.0 % of them), is not clearly cheaper: 0.010 per case"
    )
    with pytest.raises(ConditionError, match="two classes only"):
        choose_rejection({"nb": table}, 0.2, Condition(fp=1, fn=5))
    with pytest.raises(ConditionError, match="scores are binary"):
        choose_rejection({"nb": SURE}, 0.2, costs)


def test_the_model_of_least_cost_is_used():
    found = choose_rejection({"torn": TORN, "sure": SURE, "rule": CRISP}, 0.2)
    assert (found.best, list(found.rules)) == ("sure", ["torn", "sure"])  # a crisp decision is never in doubt
    assert repr(found).startswith(  # at 0.5 torn decides all cases right
        "Use torn for every case: an error counting 1, 0.000 per case. sure, rejecting the cases it scores between 0.2 "
        "and 0.8 (25.0 % of them, accuracy of the rest 1.000), is not clearly cheaper: 0.050 per case ["
    )
    doubtful = score_table([1, 1, 1, 0] * 100, [0.95, 0.9, 0.4, 0.4] * 100)
    many = choose_rejection({"sure": doubtful}, 0.2)
    assert many.recommended == "sure"
    assert repr(many).startswith(
        "Use sure, rejecting the cases it scores between 0.2 and 0.8 (50.0 % of them, accuracy of the rest 1.000): an "
        "error counting 1, 0.100 per case ["
    )
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["model"], told["cost_per_case"], told["verdict"]) == ("sure", 0.05, found.words)
    assert told["rows"] == json.loads(json.dumps(found.rows()).replace("NaN", "null"))
    assert found.notes == ()


def test_a_rule_that_hands_over_everything_says_so():
    found = choose_rejection({"torn": TORN}, 0.2)
    assert found.recommended == "torn, decide all"  # it is right about all of them
    wrong = choose_rejection({"torn": score_table([0, 1, 1, 0], [0.6, 0.5, 0.45, 0.4], positive=1)}, 0.2)
    assert wrong.recommended == "reject all"
    assert repr(wrong).startswith("Reject every case: an error counting 1, 0.200 per case. torn, rejecting the cases")
    assert "(100.0 % of them), is not clearly cheaper: 0.200 per case [" in repr(wrong)
    assert ", no difference [" in repr(wrong)
    assert found.to_dict()["rows"][0]["accuracy"] is None


def test_decisions_alone_are_never_in_doubt():
    with pytest.raises(ScoreError) as caught:
        choose_rejection({"rule": CRISP}, 0.2)
    assert str(caught.value) == "a reject option needs scores, not hard decisions.\n  hint: a model with scores"


def test_a_mixture_of_two_thresholds():
    # Points of the hull at (0, ½) and (½, 1): half of the way is a coin.
    table = score_table([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    found = choose_mixture({"nb": table}, fpr=0.25)
    assert (found.mixture.fpr, found.mixture.tpr, found.mixture.share) == (0.25, 0.75, 0.5)
    assert repr(found) == (
        "For each case draw at random: use nb at threshold 0.9 with probability 0.500, else nb at threshold 0.5. "
        "On average that gives false positive rate 0.250 and true positive rate 0.750."
    )
    assert [(row["threshold"], row["probability"], row["fpr"], row["tpr"]) for row in found.rows()] == [
        (0.9, 0.5, 0.0, 0.5),
        (0.5, 0.5, 0.5, 1.0),
    ]
    told = found.to_dict()
    assert (told["model"], told["fpr"], told["tpr"], told["notes"]) == (None, 0.25, 0.75, [])
    assert choose_mixture({"nb": table}, tpr=0.75) == found


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ({"fpr": 0.25}, "Use rule: false positive rate 0.250 and true positive rate 0.750."),
        ({"fpr": 0.0}, 'Use the rule "always negative": false positive rate 0.000 and true positive rate 0.000.'),
        (
            {"fpr": 0.125},
            'For each case draw at random: use the rule "always negative" with probability 0.500, else rule. '
            "On average that gives false positive rate 0.125 and true positive rate 0.375.",
        ),
    ],
)
def test_a_corner_of_the_hull_is_used_as_it_is(rate, words):
    assert repr(choose_mixture({"rule": CRISP}, **rate)) == words


@pytest.mark.parametrize("models", [["nb"], ["nb", "tree"]])
def test_one_class_alone_has_no_mixture(models):
    table = score_table(["b", "b", "b"], [0.1, 0.5, 0.2], positive="b")
    with pytest.raises(ConditionError) as caught:
        choose_mixture(dict.fromkeys(models, table), fpr=0.5)
    assert str(caught.value) == (
        "a mixture needs cases of both classes.\n  seen: one class only\n  hint: cases of the other class, too"
    )
