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
    assert found.to_dict()["cross_fitted_cost"] > found.best.cost_per_case


def test_a_notebook_shows_what_the_terminal_does(small):
    found = small.decide(ss.Condition(fp=1, fn=5))
    page = found._repr_html_()
    assert f'<p class="verdict">{found.words}</p>' in page
    assert "<th>at minimum cost</th>" in page
    assert max(row.count("<td>") for row in page.split("</tr>")) < 8


def test_a_cost_matrix_of_two_classes_is_a_condition(small):
    matrix = ss.CostMatrix(("1", "0"), [[0, 5], [1, 0]])
    assert small.decide(matrix).to_dict() == small.decide(ss.Condition(fp=1, fn=5)).to_dict()


def test_costs_of_several_classes_need_decisions():
    evaluation = ss.evaluate({"y": list("abc"), "s": [1, 2, 3]}, truth="y", scores="s", positive="a")
    costs = ss.CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    with pytest.raises(ConditionError, match="multiclass"):
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
    assert (told["cost_per_case"], told["cross_fitted_cost"]) == pytest.approx((1 / 6, (2 * 1 + 1 * 5) / 6))
    chosen = other.choose("ppv", at_least={"tpr": 1.0}, fit=small).best
    assert (chosen.threshold, chosen.value, chosen.out_of_sample.value) == pytest.approx((0.4, 3 / 4, 2 / 4))


def told(ask):
    with pytest.raises(ScoreSpaceError) as caught:
        ask()
    return str(caught.value)


def test_samples_that_cannot_choose_for_each_other(small):
    swapped = ss.evaluate(OTHER, truth="y", scores="s", decisions="d", positive=0)
    assert "  seen: '1', '0'\n" in told(lambda: swapped.decide(ss.Condition(1, 5), fit=small))
    fewer = ss.evaluate(OTHER, truth="y", scores="s")
    assert "model 'd' in arrays.\n  seen: 's'\n" in told(lambda: fewer.decide(ss.Condition(1, 5), fit=small))
    three = ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d")
    costs = ss.CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    assert "fit=…" in told(lambda: three.decide(costs, fit=three))
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


def test_the_level_reaches_the_interval_of_the_threshold():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 120)
    rows = {"y": truth, "s": np.round(np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0, 1), 3)}
    found = [ss.evaluate(rows, truth="y", scores="s", level=level).decide(fp=1, fn=2) for level in (0.95, 0.5)]
    (low, high), (above, below) = (one.choices[0].threshold_interval for one in found)
    assert low <= above <= below <= high
    assert high - low > below - above


def test_the_level_reaches_the_costs_of_a_decision_that_another_sample_made():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, (2, 200))
    samples = [{"y": y, "s": np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1)} for y in truth]
    widths = []
    for level in (0.95, 0.5):
        fit, here = (ss.evaluate(rows, truth="y", scores="s", level=level) for rows in samples)
        gain = here.decide(fp=1, fn=2, fit=fit).gain
        widths.append(gain.high - gain.low)
    assert widths[0] > 1.5 * widths[1]
