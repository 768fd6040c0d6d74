"""Decisions of an evaluation: by cost, under constraints, by rejection and by lot."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import ConditionError, ScoreSpaceError
from scorespace.evaluation.decisions import bounds, condition_of, threshold_of


def test_decide(small):
    found = small.decide(ss.Condition(fp=1, fn=5))
    assert (found.best.model, found.best.threshold) == ("s", 0.4)
    assert found.best.cost_per_case == pytest.approx(1 / 6)
    assert found.to_dict()["honest_cost"] > found.best.cost_per_case


def test_a_notebook_shows_what_the_terminal_does(small):
    found = small.decide(ss.Condition(fp=1, fn=5))
    page = found._repr_html_()
    assert f'<p class="verdict">{found.words}</p>' in page
    assert "<th>at least cost</th>" in page
    assert max(row.count("<td>") for row in page.split("</tr>")) < 8


def test_a_cost_matrix_of_two_classes_is_a_condition(small):
    matrix = ss.CostMatrix(("1", "0"), [[0, 5], [1, 0]])
    assert small.decide(matrix).to_dict() == small.decide(ss.Condition(fp=1, fn=5)).to_dict()


def test_costs_of_several_classes_need_decisions():
    evaluation = ss.evaluate({"y": list("abc"), "s": [1, 2, 3]}, truth="y", scores="s", positive="a")
    costs = ss.CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    with pytest.raises(ConditionError, match="need decisions"):
        evaluation.decide(costs)


def test_choose(small):
    # To find all three positives, s must be cut at 0.4, where one of four alarms is false.
    found = small.choose("ppv", at_least={"tpr": 1.0}).best
    assert (found.model, found.threshold, found.value) == ("s", 0.4, 3 / 4)
    # d always raises a false alarm; s cut at 0.9 raises none.
    assert small.choose("tpr", at_most={"fpr": 0.0}).best.threshold == 0.9


def test_choose_needs_a_positive_class():
    evaluation = ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d")
    with pytest.raises(ConditionError, match="positive class"):
        evaluation.choose("ppv")


# --- one sample chooses, another judges


OTHER = {"y": [1, 0, 1, 0, 1, 0], "s": [0.6, 0.5, 0.3, 0.45, 0.8, 0.2], "d": [1, 1, 1, 0, 0, 0]}


def test_what_was_chosen_elsewhere_is_judged_here(small):
    other = ss.evaluate(OTHER, truth="y", scores="s", decisions="d")
    found = other.decide(ss.Condition(fp=1, fn=5), fit=small)
    # Chosen on six cases at 0.4; here that makes two false alarms and one miss.
    assert (found.best.model, found.best.threshold) == ("s", 0.4)
    told = found.to_dict()
    assert (told["cost_per_case"], told["honest_cost"]) == pytest.approx((1 / 6, (2 * 1 + 1 * 5) / 6))
    chosen = other.choose("ppv", at_least={"tpr": 1.0}, fit=small).best
    assert (chosen.threshold, chosen.value, chosen.honest.value) == pytest.approx((0.4, 3 / 4, 2 / 4))


def told(ask):
    with pytest.raises(ScoreSpaceError) as caught:
        ask()
    return str(caught.value)


def test_samples_that_cannot_choose_for_each_other(small):
    swapped = ss.evaluate(OTHER, truth="y", scores="s", decisions="d", positive=0)
    assert told(lambda: swapped.decide(ss.Condition(1, 5), fit=small)) == (
        "the sample that chooses and the one that judges have different positive classes.\n  seen: '1', '0'\n"
        "  hint: the same positive class in both"
    )
    fewer = ss.evaluate(OTHER, truth="y", scores="s")
    assert told(lambda: fewer.decide(ss.Condition(1, 5), fit=small)) == (
        "there is no model 'd' in arrays.\n  seen: 's'\n  hint: the same columns in both samples"
    )
    three = ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d")
    costs = ss.CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    assert told(lambda: three.decide(costs, fit=three)) == (
        "costs of several classes choose no threshold.\n  hint: no fit=…"
    )
    assert three.decide(costs).to_dict()["cost_per_case"] == pytest.approx(1 / 3)


def test_bounds_as_users_state_them():
    assert [str(one) for one in bounds({"tpr": 0.9}, {"fpr@0.5": 0.1})] == ["tpr ≥ 0.9", "fpr@0.5 ≤ 0.1"]


def test_rejection_and_lot(small):
    # s is unsure of 0.7, 0.4 and 0.3; of the other three it decides 0.8 wrong.
    found = small.reject(0.25)
    assert (found.rules["s"].rejected, found.rules["s"].cost) == pytest.approx((0.5, (1 + 3 * 0.25) / 6))
    assert small.mix(fpr=0.0).mixture.tpr == pytest.approx(1 / 3)


def test_the_threshold_of_a_model_in_a_decision(small):
    found = small.decide(ss.Condition(fp=1, fn=5))
    assert (threshold_of(found, "s"), threshold_of(found, "d"), threshold_of(found, "x")) == (0.4, None, None)
    assert condition_of(found) == ss.Condition(fp=1, fn=5)
