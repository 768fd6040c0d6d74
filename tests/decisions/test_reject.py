"""Doubtful cases handed over, and decisions by lot: what each costs, in words, rows and JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.decisions import choose_mixture, choose_rejection
from scorespace.errors import ConditionError, ScoreError
from scorespace.tables import confusion, score_table

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


def test_the_model_of_least_cost_is_used():
    found = choose_rejection({"torn": TORN, "sure": SURE, "rule": CRISP}, 0.2)
    assert (found.best, list(found.rules)) == ("sure", ["torn", "sure"])  # a crisp decision is never in doubt
    assert repr(found) == (
        "Use sure and hand over the cases it scores between 0.2 and 0.8: 25 % of them. Of the rest it gets 100 % "
        "right; an error counting 1, that costs 0.050 per case. The rule assumes calibrated probabilities."
    )
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["model"], told["cost_per_case"], told["verdict"]) == ("sure", 0.05, found.words)
    assert told["rows"] == json.loads(json.dumps(found.rows()).replace("NaN", "null"))
    assert found.notes == ()


def test_a_rule_that_hands_over_everything_says_so():
    found = choose_rejection({"torn": TORN}, 0.2)
    assert repr(found) == (
        "Hand over all cases: torn scores them all between 0.2 and 0.8. An error counting 1, that costs 0.200 per "
        "case. The rule assumes calibrated probabilities."
    )
    assert found.to_dict()["rows"][0]["accuracy"] is None


def test_decisions_alone_are_never_in_doubt():
    with pytest.raises(ScoreError) as caught:
        choose_rejection({"rule": CRISP}, 0.2)
    assert (
        str(caught.value)
        == "a rejection needs scores: a crisp decision is never in doubt.\n  hint: a model with scores"
    )


def test_a_mixture_of_two_thresholds():
    # Points of the hull at (0, ½) and (½, 1): half of the way is a coin.
    table = score_table([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    found = choose_mixture({"nb": table}, fpr=0.25)
    assert (found.mixture.fpr, found.mixture.tpr, found.mixture.share) == (0.25, 0.75, 0.5)
    assert repr(found) == (
        "For each case draw by lot: use nb at threshold 0.9 with probability 0.500, else nb at threshold 0.5. "
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
            'For each case draw by lot: use the rule "always negative" with probability 0.500, else rule. '
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
