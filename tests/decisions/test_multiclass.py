"""Least-cost decisions between several classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorespace.costs import CostMatrix
from scorespace.decisions import decide_multiclass, least_cost_decisions
from scorespace.errors import ColumnError, ConditionError, DataError, ScoreError
from scorespace.tables import confusion

ABC = ("a", "b", "c")
COSTS = CostMatrix(ABC, [[0, 1, 2], [5, 0, 1], [9, 4, 0]])
rows = st.lists(st.tuples(st.sampled_from(ABC), *[st.integers(1, 16)] * 3), min_size=1, max_size=10)


def columns(cases):
    truth = [case[0] for case in cases]
    return truth, np.array([np.array(case[1:]) / sum(case[1:]) for case in cases])


def simulated(size=4000, seed=3):
    """Classes drawn from the very probabilities that are given: perfectly calibrated."""
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet([1, 1, 1], size)
    truth = np.array(ABC)[(rng.random((size, 1)) > np.cumsum(probability, axis=1)).sum(axis=1).clip(0, 2)]
    return truth, probability


# --- decisions from probabilities


@given(rows)
@settings(max_examples=50)
def test_every_decision_has_the_least_expected_cost(cases):
    truth, probability = columns(cases)
    for p, decided in zip(probability, least_cost_decisions(truth, probability, COSTS).decision, strict=True):
        expected = {k: sum(p[j] * COSTS.matrix[j, ABC.index(k)] for j in range(3)) for k in ABC}
        assert expected[decided] == pytest.approx(min(expected.values()))


@given(rows)
@settings(max_examples=50)
def test_equal_costs_of_all_errors_decide_the_likeliest(cases):
    truth, probability = columns(cases)
    found = least_cost_decisions(truth, probability, CostMatrix(ABC, 1 - np.eye(3)))
    assert probability[np.arange(len(truth)), [ABC.index(k) for k in found.decision]] == pytest.approx(
        probability.max(axis=1)
    )
    assert found.total <= len(truth)


@given(rows)
@settings(max_examples=50)
def test_totals_case_by_case(cases):
    truth, probability = columns(cases)
    found = least_cost_decisions(truth, probability, COSTS)

    def total(decisions):
        return sum(COSTS.matrix[ABC.index(y), ABC.index(k)] for y, k in zip(truth, decisions, strict=True))

    assert found.total == total(found.decision)
    assert found.total_by_probability == total([ABC[k] for k in probability.argmax(axis=1)])


def test_calibrated_probabilities_pay():
    truth, probability = simulated()
    found = least_cost_decisions(truth, probability, COSTS)
    assert found.total < found.total_by_probability
    # No decision could have been expected to cost less than the cheapest of each case.
    expected = COSTS.expected(probability).min(axis=1)
    assert found.total / len(truth) == pytest.approx(expected.mean(), abs=4 * 3 / np.sqrt(len(truth)))


def test_words():
    # One actual b with p = (0.6, 0.4): the likeliest class costs 5, deciding b costs nothing.
    costs = CostMatrix(("a", "b"), [[0, 1], [5, 0]])
    assert repr(least_cost_decisions(["b", "a"], [[0.6, 0.4], [0.9, 0.1]], costs)) == (
        "Deciding by least expected cost costs 0.000 per case; deciding by the highest probability 2.500: "
        "2 500 per 1 000 less."
    )


def test_labels_need_not_be_text():
    found = least_cost_decisions([0, 1, 2], np.eye(3), CostMatrix((0, 1, 2), 1 - np.eye(3)))
    assert found.decision.tolist() == ["0", "1", "2"]
    assert found.total == 0


def test_a_column_for_each_class():
    with pytest.raises(ScoreError) as caught:
        least_cost_decisions(["a"], [[0.5, 0.5]], COSTS)
    assert str(caught.value) == (
        "probability needs one column for each class.\n  seen: shape (1, 2) for the classes ('a', 'b', 'c')\n"
        "  hint: an array of cases × classes, in the order of the costs"
    )


@pytest.mark.parametrize("cell", [-0.1, np.nan, np.inf])
def test_columns_must_be_probabilities(cell):
    with pytest.raises(ScoreError) as caught:
        least_cost_decisions(["a"], [[0.5, 0.5, cell]], COSTS)
    assert str(caught.value) == (
        "probabilities must be finite and not negative.\n  hint: least-cost decisions need probabilities"
    )


def test_an_unknown_class_is_refused():
    with pytest.raises(ColumnError, match=r"^the label 'd' is not one of the classes\."):
        least_cost_decisions(["d"], [[0.5, 0.3, 0.2]], COSTS)


# --- decisions that are given

SURE = confusion([[8, 1, 1], [2, 6, 2], [0, 3, 7]], classes=ABC)
SHY = confusion([[4, 4, 2], [0, 8, 2], [0, 0, 10]], classes=ABC)


def test_the_cheapest_of_several_models():
    found = decide_multiclass({"sure": SURE, "shy": SHY}, COSTS)
    assert found.totals == {"sure": 1 + 2 + 10 + 2 + 12, "shy": 4 + 4 + 2}
    assert found.per_case == pytest.approx({"sure": 27 / 30, "shy": 10 / 30})
    assert found.best == "shy"
    assert found.words == "Use shy: 0.333 per case, 10 in all. sure would cost 567 per 1 000 more."


def test_a_model_that_is_dearer_than_no_model_is_not_recommended():
    table = confusion([[0, 0, 4], [0, 4, 0], [2, 0, 0]], classes=ABC)
    found = decide_multiclass({"nb": table}, CostMatrix(ABC, [[0, 1, 9], [1, 0, 1], [1, 1, 0]]))
    assert found.trivial == {"a": 0.6, "b": 0.6, "c": 4.0}
    assert found.words == (
        "No model beats predicting every case to be a, which costs 0.600 per case. The cheapest, nb, costs 3.800 per "
        "case, "
        "38 in all."
    )
    assert found.to_dict()["trivial"] == found.trivial


def test_models_may_order_the_classes_differently():
    turned = confusion(SHY.matrix[::-1, ::-1], classes=ABC[::-1])
    assert decide_multiclass({"sure": SURE, "turned": turned}, COSTS).totals == {"sure": 27, "turned": 10}
    assert decide_multiclass({"turned": turned, "sure": SURE}, COSTS).totals == {"turned": 10, "sure": 27}


def test_dictionary_and_rows():
    given = decide_multiclass({"sure": SURE, "shy": SHY}, COSTS).to_dict()
    assert (given["schema"], given["model"], given["total_cost"]) == (1, "shy", 10)
    assert given["cost_per_case"] == pytest.approx(1 / 3)
    assert given["rows"][0] == {"model": "sure", "total_cost": 27, "cost_per_case": pytest.approx(0.9)}


def test_classes_must_agree_for_every_model():
    other = confusion(np.eye(3), classes=["a", "b", "d"])
    with pytest.raises(ConditionError, match=r"class 'd'\."):
        decide_multiclass({"sure": SURE, "other": other}, COSTS)


def test_no_models():
    with pytest.raises(DataError, match=r"model to decide between\."):
        decide_multiclass({}, COSTS)
