"""Costs of decisions: case by case, at another prevalence, and as a distance from perfection."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.costs import CostMatrix
from scorespace.errors import ConditionError
from scorespace.measures.cost import corner, cost, nec
from scorespace.tables import Counts, confusion


def test_gains_are_negative_costs():
    assert cost(Counts(tp=4, fp=1, fn=2, tn=3), fp=10, fn=20, tp=-5, tn=-1) == (10 + 40 - 20 - 3) / 10


outcomes = st.tuples(*[st.integers(0, 20)] * 4)
prices = st.tuples(*[st.floats(-5, 50)] * 4)


@given(outcomes.filter(any), prices)
def test_the_cost_is_the_mean_over_cases(cells, price):
    # Case by case, in the order tp, fp, fn, tn.
    each = [value for count, value in zip(cells, price, strict=True) for _ in range(count)]
    tp, fp, fn, tn = price
    assert cost(Counts(*cells), tp=tp, fp=fp, fn=fn, tn=tn) == pytest.approx(np.mean(each), abs=1e-9)


@given(outcomes.filter(lambda c: c[0] + c[2] and c[1] + c[3]), st.integers(1, 99))
def test_at_another_prevalence_cases_weigh_so_much(cells, percent):
    tp, fp, fn, tn = cells
    share = percent / 100
    pos, neg = share / (tp + fn), (1 - share) / (fp + tn)
    expected = 3 * fp * neg + 7 * fn * pos + tp * pos - 2 * tn * neg
    assert cost(Counts(*cells), fp=3, fn=7, tp=1, tn=-2, prevalence=share) == pytest.approx(expected, abs=1e-12)
    # As a share of the cost of making every error.
    worst = 3 * (1 - share) + 7 * share
    errors = cost(Counts(*cells), fp=3, fn=7, prevalence=share)
    assert nec(Counts(*cells), fp=3, fn=7, prevalence=share) == pytest.approx(errors / worst, abs=1e-12)


def test_normalised_cost_without_a_prevalence_is_at_that_of_the_data():
    cells = Counts(tp=4, fp=1, fn=2, tn=3)
    assert nec(cells, fp=3, fn=7) == pytest.approx((3 * 1 + 7 * 2) / (3 * 4 + 7 * 6))
    assert nec(cells) == pytest.approx(cost(cells))


def test_the_distance_to_the_corner_is_pythagoras():
    assert corner(Counts(tp=1, fp=3, fn=4, tn=2)) == pytest.approx(1.0)  # legs 3/5 and 4/5
    assert corner(Counts(tp=0, fp=2, fn=2, tn=0)) == pytest.approx(math.sqrt(2))
    assert corner(Counts(tp=5, fp=0, fn=0, tn=5)) == 0


@pytest.mark.parametrize(
    ("measure", "cells", "options", "reason"),
    [
        (cost, (0, 0, 0, 0), {}, "undefined: there are no cases, or a class of stated share has none"),
        (
            cost,
            (0, 3, 0, 4),
            {"prevalence": 0.5},
            "undefined: there are no cases, or a class of stated share has none",
        ),
        (nec, (0, 3, 0, 4), {}, "undefined: a class has no cases"),
        (corner, (2, 0, 1, 0), {}, "undefined: a class has no cases"),
    ],
)
def test_without_cases_of_a_class(measure, cells, options, reason):
    value = measure(Counts(*cells), **options)
    assert math.isnan(value)
    assert measure.reason(value) == reason


@pytest.mark.parametrize("measure", [cost, nec])
@pytest.mark.parametrize("prevalence", [-0.1, 1.5, math.nan])
def test_a_prevalence_is_a_share(measure, prevalence):
    with pytest.raises(ConditionError, match=f"prevalence={prevalence:g}"):
        measure(Counts(1, 1, 1, 1), prevalence=prevalence)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fn": 1e300}, "fn=1e+300 is too large.\n  hint: use a larger currency unit"),
        ({"fp": math.inf}, "fp=inf is not a cost.\n  hint: a finite number, such as fp=1"),
    ],
)
@pytest.mark.parametrize("measure", [cost, nec])
def test_costs_whose_squares_are_no_numbers_are_refused(measure, options, problem):
    with pytest.raises(ConditionError, match=f"^{re.escape(problem)}$"):
        measure(Counts(tp=4, fp=1, fn=2, tn=3), **options)


def test_cells_whose_squares_are_no_numbers_are_refused():
    table = confusion([[6, 2, 1], [1, 3, 1], [0, 0, 4]], classes=["a", "b", "c"])
    with pytest.raises(ConditionError, match=r"cell=1e\+300 is too large"):
        cost(table, matrix="0 1 1; 1 0 1; 1e300 1 0")
    with pytest.raises(ConditionError, match=r"cell=1e\+300 is too large"):
        CostMatrix(("a", "b"), [[0, 1], [-1e300, 0]])
