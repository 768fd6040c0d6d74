"""The operating condition of two classes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.costs import Asymmetry, Condition, CostMatrix, condition_from_flags
from scorespace.errors import ConditionError


def test_slope_of_the_valve():
    # The lecture's valve: a miss costs 2000, a false alarm 100, one of 200 is broken.
    assert Condition(fp=100, fn=2000, prevalence=0.005).slope() == pytest.approx(9.95)


def test_slope_of_equal_costs_is_the_odds_against():
    assert Condition(prevalence=0.2).slope() == pytest.approx(4)


def test_the_sample_lends_its_prevalence():
    assert Condition(fp=1, fn=5).slope(0.3) == Condition(fp=1, fn=5, prevalence=0.3).slope()


def test_a_stated_prevalence_comes_first():
    assert Condition(prevalence=0.5).slope(0.1) == 1


def test_right_decisions_may_cost_too():
    assert Condition(fp=5, fn=9, tp=-1, tn=1, prevalence=0.5).slope() == pytest.approx(4 / 10)


def test_calibrated_threshold():
    assert Condition(fp=1, fn=4).calibrated_threshold == pytest.approx(0.2)


costs = st.floats(0.01, 100)


@given(fp=costs, fn=costs, prevalence=st.floats(0.01, 0.99))
def test_only_the_ratio_of_costs_matters(fp, fn, prevalence):
    one = Condition(fp=fp, fn=fn, prevalence=prevalence)
    assert Condition(fp=8 * fp, fn=8 * fn, prevalence=prevalence).slope() == pytest.approx(one.slope())


@given(fp=costs, fn=costs, prevalence=st.floats(0.01, 0.99))
def test_the_threshold_is_where_the_expected_costs_meet(fp, fn, prevalence):
    p = Condition(fp=fp, fn=fn, prevalence=prevalence).calibrated_threshold
    assert p * fn == pytest.approx((1 - p) * fp)


def test_conditions_are_equal_by_value():
    assert Condition(fp=1, fn=2) == Condition(fp=1.0, fn=2.0)


@pytest.mark.parametrize("cost", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", ["fp", "fn", "tp", "tn"])
def test_costs_must_be_finite(name, cost):
    with pytest.raises(ConditionError) as caught:
        Condition(**{name: cost})
    assert str(caught.value) == f"{name}={cost} is not a cost.\n  hint: a finite number, such as {name}=1"


@pytest.mark.parametrize("prevalence", [0, 1, -0.1, 1.5, math.nan])
def test_prevalence_must_be_a_share(prevalence):
    with pytest.raises(ConditionError) as caught:
        Condition(prevalence=prevalence)
    assert str(caught.value) == (
        f"prevalence={prevalence:g} is not between 0 and 1.\n  hint: a share of positives, such as prevalence=0.3"
    )


@pytest.mark.parametrize(
    ("costs", "always"), [({"fp": 0}, "positive"), ({"fn": 0}, "negative"), ({"tn": 2}, "positive")]
)
def test_costs_that_need_no_model(costs, always):
    with pytest.raises(ConditionError, match=rf"^with these costs, always deciding {always} is optimal"):
        Condition(**costs)


def test_message_for_costs_that_need_no_model():
    with pytest.raises(ConditionError) as caught:
        Condition(fp=1, fn=2, tp=3)
    assert str(caught.value) == (
        "with these costs, always deciding negative is optimal, so no model is needed.\n"
        "  seen: fp=1, tn=0, fn=2, tp=3\n"
        "  hint: an error must cost more than the correct decision on the same case: fp > tn and fn > tp"
    )


def test_errors_that_pay_do_not_make_one_decision_best():
    # Under fp = fn = −1 the opposite of the truth is best, so neither constant decision is.
    with pytest.raises(ConditionError) as caught:
        Condition(fp=-1, fn=-1)
    assert "is optimal" not in str(caught.value)


def test_a_slope_needs_a_prevalence():
    with pytest.raises(ConditionError) as caught:
        Condition(fp=1, fn=5).slope()
    assert str(caught.value) == "the slope depends on the prevalence.\n  hint: Condition(fp=1, fn=5, prevalence=0.3)"


def test_what_is_stated_makes_the_condition():
    matrix = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    assert condition_from_flags({"cost-fp": None, "prevalence": None}) is None
    assert condition_from_flags({"cost-fp": 1, "cost-fn": 5, "cost-tn": -2}) == Condition(fp=1, fn=5, tn=-2)
    assert condition_from_flags({"cost-under": 2, "cost-over": 1}) == Asymmetry(2, 1)
    assert condition_from_flags({}, lambda: matrix) is matrix


@pytest.mark.parametrize(
    ("stated", "file", "message"),
    [
        (
            {"cost-fp": 1},
            False,
            "the costs of both errors are needed.\n  seen: --cost-fp 1\n  hint: --cost-fp 1 --cost-fn 5",
        ),
        (
            {"cost-fp": 1, "cost-fn": 5},
            True,
            "costs are given twice.\n  hint: either --costs FILE.csv or --cost-fp and --cost-fn",
        ),
        (
            {"cost-over": 1},
            False,
            "--cost-under and --cost-over must be given together.\n  hint: --cost-under 2 --cost-over 1",
        ),
        (
            {"cost-under": 2, "cost-over": 1},
            True,
            "costs of classification and of regression cannot be combined.\n  hint: --cost-under 2 --cost-over 1",
        ),
    ],
)
def test_costs_that_are_stated_by_halves_or_twice(stated, file, message):
    matrix = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    with pytest.raises(ConditionError) as told:
        condition_from_flags(stated, (lambda: matrix) if file else None)
    assert str(told.value) == message
