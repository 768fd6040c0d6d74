"""Pooling: what SciPy's isotonic regression gives, and SciPy itself where that is quicker."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from scorespace.curves import isotonic
from scorespace.curves.isotonic import pool_adjacent_violators
from scorespace.tables import residual_table

steps = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=60)


def fitted(value, weight, starts):
    """The mean of each pool, at each of its places."""
    sums = [np.add.reduceat(column, starts[:-1]) for column in (value * weight, weight)]
    return np.repeat(sums[0] / sums[1], np.diff(starts))


@given(steps)
def test_the_fit_is_that_of_scipy(pairs):
    value, weight = np.array(pairs, float).T
    found = pool_adjacent_violators(value, weight)
    assert (found[0], found[-1]) == (0, value.size)
    expected = isotonic_regression(value, weights=weight, increasing=False)
    assert_allclose(fitted(value, weight, found), expected.x, rtol=1e-12, atol=1e-12)


@given(steps)
def test_pools_fall(pairs):
    value, weight = np.array(pairs, float).T
    found = pool_adjacent_violators(value, weight)
    assert (np.diff(fitted(value, weight, found)[found[:-1]]) < 0).all()


def test_equal_neighbours_are_one_pool():
    assert_array_equal(pool_adjacent_violators(np.array([3.0, 3.0, 1.0, 1.0]), np.ones(4)), [0, 2, 4])


def test_what_takes_too_many_passes_goes_on_to_scipy(monkeypatch):
    value = np.append(np.arange(200.0, 0, -1), 900.0)  # the last one draws the others in, one by one
    alone = pool_adjacent_violators(value, np.ones(201))
    monkeypatch.setattr(import_module("scorespace.curves.isotonic"), "MAX_TOTAL_WORK", 300)
    assert_array_equal(pool_adjacent_violators(value, np.ones(201)), alone)
    assert 0 < alone[-2] < 190


def test_long_input_goes_to_scipy_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    value, weight = rng.random(500), rng.integers(1, 5, 500)
    ours = pool_adjacent_violators(value, weight)
    monkeypatch.setattr(import_module("scorespace.curves.isotonic"), "MAX_DIRECT_SIZE", 100)
    assert_array_equal(pool_adjacent_violators(value, weight), ours)


@pytest.mark.parametrize("cases", [1000, 10_000])
def test_usual_scores_do_without_scipys_optimisers(cases):
    code = (
        "import sys, numpy as np\nfrom scorespace.curves import hull\nfrom scorespace.tables import score_table\n"
        f"rng = np.random.default_rng(0)\ntruth = rng.integers(0, 2, {cases})\n"
        "hull(score_table(truth, rng.normal(truth)))\nprint('scipy.optimize' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


RNG = np.random.default_rng(6)


def test_it_is_scikit_learns():
    truth = RNG.normal(0, 3, 120)
    predicted = np.round(truth + RNG.normal(0, 3, 120))
    weight = RNG.integers(1, 5, 120).astype(float)
    found = isotonic(residual_table(truth, predicted, weight=weight))
    theirs = IsotonicRegression().fit(predicted, truth, sample_weight=weight).predict(found.x)
    assert_allclose(found.y, theirs, atol=1e-9)
    assert (np.diff(found.x) > 0).all()
    assert (np.diff(found.y) >= -1e-12).all()


def test_calibrated_predictions_stay():
    found = isotonic(residual_table([0.0, 2.0, 3.0, 5.0], [1.0, 1.0, 4.0, 4.0]))
    assert found.x.tolist() == found.y.tolist() == [1.0, 4.0]
