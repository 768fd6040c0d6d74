"""The panel of several classes: what it says is what users get from the cases that are left, and from `reject`."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import scorespace as ss
from helpers.binned import class_bins
from scorespace.evaluation.multiclass_panel import MAX_CLASSES, multiclass_panel
from scorespace.tables import class_table

IRIS = str(files("scorespace.data") / "iris.csv")


def sample(size, classes, seed=0):
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, classes, size)
    score = chance.dirichlet(np.ones(classes), size)
    score[np.arange(size), truth] += 0.4
    return np.array([f"c{k:02}" for k in range(classes)])[truth], score / score.sum(axis=1, keepdims=True)


OF_A_CLASS = "tpr[virginica], ppv[virginica], jaccard[versicolor], f1[setosa], mcc[versicolor]"


@pytest.fixture(scope="module", params=["", OF_A_CLASS], ids=["usual", "of a class"])
def iris(request):
    return ss.evaluate(IRIS, truth="species", scores=["nb_*", "forest_*"], measures=request.param)


def test_what_is_left_when_cases_are_handed_over_is_what_the_others_give(iris):
    panel = multiclass_panel(iris)
    model = panel.models[0]
    table = iris.models["nb"]
    for place in (0, 7, model.lead.size // 2, model.lead.size - 1):
        left = table.taken(np.flatnonzero(table.lead >= model.lead[place]))
        assert model.cells[place].tolist() == left.decisions.matrix.ravel().tolist()
        again = ss.evaluate({"nb": left.decisions})
        said = panel.texts(0, place)
        for k, each in enumerate(model.measures):
            value = again.measures(each.spec)[0].text.partition(" [")[0]
            assert said[f"measure {k}"].partition(" [")[0] == value
        assert said["handed"] == f"{100 * (1 - float(left.total) / 150):.0f} %"


def test_where_all_are_decided_the_numbers_are_those_of_the_evaluation(iris):
    panel = multiclass_panel(iris)
    for number, model in enumerate(panel.models):
        for k, each in enumerate(model.measures):
            assert panel.texts(number, 0)[f"measure {k}"] == iris.measures(each.spec, model=model.name)[0].text


def test_wilson_and_simulated_limits_are_those_of_the_cases_left(iris):
    panel = multiclass_panel(iris)
    one, table = panel.models[0], iris.models["nb"]
    for place in (20, 60):
        again = ss.evaluate({"nb": table.taken(np.flatnonzero(table.lead >= one.lead[place])).decisions})
        for each in one.measures:
            held = again.measures(each.spec)[0]
            near = 1e-12 if held.method == "wilson" else 0.02  # limits run straight between simulated ones
            assert (each.low[place], each.high[place]) == pytest.approx((held.low, held.high), abs=near)


@pytest.mark.parametrize("hand", [0.05, 0.2, 0.45])
def test_the_cheapest_place_is_the_lead_that_reject_chooses(iris, hand):
    panel, rules = multiclass_panel(iris), iris.reject(hand).rules
    for number, one in enumerate(panel.models):
        place, rule = panel.best(number, reject_cost=hand), rules[one.name]
        assert panel.cost(number, place, reject_cost=hand) == pytest.approx(rule.cost)
        assert one.rejection_rates[place] == pytest.approx(rule.rejected)
        assert place == 0 or one.lead[place] == pytest.approx(rule.lead)


def test_costs_are_those_of_decide():
    costs = ss.CostMatrix(("setosa", "versicolor", "virginica"), [[0, 1, 5], [2, 0, 1], [9, 3, 0]])
    ev = ss.evaluate(IRIS, truth="species", scores=["nb_*", "forest_*"], condition=costs)
    panel = multiclass_panel(ev)
    assert panel.stated
    assert panel.models[panel.start].name == ev.decision.best
    for number, one in enumerate(panel.models):
        assert panel.cost(number, 0) == pytest.approx(ev.decision.per_case[one.name])


def test_many_cases_and_classes_keep_few_numbers_and_no_corner_is_lost():
    truth, score = sample(6000, 10)
    table = class_table(truth, score)
    ev = ss.evaluate({"m": table})
    (one,) = multiclass_panel(ev).models
    assert one.cells.size <= 60_000
    rule = ev.reject(0.3).rules["m"]
    panel = multiclass_panel(ev)
    assert panel.cost(0, panel.best(0, reject_cost=0.3), reject_cost=0.3) == pytest.approx(rule.cost)


def test_too_many_classes_have_no_cells_but_a_cost():
    truth, score = sample(400, MAX_CLASSES + 3)
    panel = multiclass_panel(ss.evaluate({"m": class_table(truth, score)}))
    assert not panel.small
    assert panel.content()["models"][0]["cells"] is None
    assert not any(name.startswith("cell") for name in panel.initial_texts())
    assert float(panel.initial_texts()["cost"]) == pytest.approx(1 - panel.models[0].right[0], abs=6e-4)


def test_decisions_without_scores_have_one_place():
    data = {"y": ["a", "b", "c"] * 5, "d": ["a", "b", "b"] * 5}
    panel = multiclass_panel(ss.evaluate(data, truth="y", decisions="d"))
    assert not panel.movable
    assert panel.initial_texts()["cost"] == "0.333"
    assert panel.initial_texts()["cell 2 1"] == "5"


def test_perfect_decisions_and_two_classes():
    perfect = class_table(["a", "b", "c"], np.eye(3))
    assert multiclass_panel(ss.evaluate({"m": perfect})).initial_texts()["cost"] == "0.000"
    two = ss.evaluate({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores="s")
    assert multiclass_panel(two) is None


def test_scores_in_bins_are_handed_over_as_their_cases_are():
    truth, score = sample(3000, 4)
    table = class_table(truth, score)
    ev = ss.evaluate({"m": class_bins(table)})
    panel = multiclass_panel(ev)
    (one,) = panel.models
    assert panel.movable
    assert one.lead.size > 100
    for place in (0, 30, one.lead.size // 2, one.lead.size - 1):
        left = table.taken(np.flatnonzero(table.exact_lead >= one.lead[place]))
        assert one.cells[place].tolist() == left.decisions.cells.tolist()
    rule, exact = ev.reject(0.3).rules["m"], ss.evaluate({"m": table}).reject(0.3).rules["m"]
    assert rule.cost == pytest.approx(exact.cost, abs=0.002)
    assert panel.cost(0, panel.best(0, reject_cost=0.3), reject_cost=0.3) == pytest.approx(rule.cost)


def test_bins_of_very_many_classes_are_not_counted_by_their_lead():
    table = class_table(*sample(300, 45))
    assert class_bins(table).leads is None
    assert class_bins(class_table(*sample(300, 12))).leads.matrix.sum() == 300


def test_bins_without_leads_are_decided_alone(iris):
    table = iris.models["nb"]
    panel = multiclass_panel(ss.evaluate({"m": replace(class_bins(table), leads=None)}))
    assert not panel.movable
    assert panel.models[0].cells[0].tolist() == table.decisions.cells.tolist()
