"""Sums of errors: those of the columns, from whatever origin they are counted, and merged."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorespace.tables import residual_table
from scorespace.tables.error_sums import TERMS, ErrorSums

RNG = np.random.default_rng(3)
TRUTH = RNG.normal(50, 9, 60)
PREDICTED = TRUTH + RNG.normal(1, 4, 60)
WEIGHT = RNG.integers(1, 5, 60).astype(float)


def sums(**more) -> ErrorSums:
    return residual_table(TRUTH, PREDICTED, **more).sums


def test_the_sums_are_those_of_the_columns():
    error, found = PREDICTED - TRUTH, sums(weight=WEIGHT)
    assert found.error == pytest.approx(np.average(error, weights=WEIGHT))
    assert found.squared == pytest.approx(np.average(error**2, weights=WEIGHT))
    assert found.truth_spread == pytest.approx(np.cov(TRUTH, fweights=WEIGHT.astype(int), ddof=0))
    assert found.together == pytest.approx(np.cov(TRUTH, error, fweights=WEIGHT.astype(int), ddof=0)[0, 1])
    assert found.over - found.under == pytest.approx(float(found.error))


def test_sums_counted_from_another_origin_are_the_same_numbers():
    found = sums()
    moved = found.moved((0.0, 0.0))
    assert moved.sums[TERMS.index("truth")] == pytest.approx(TRUTH.sum())
    assert moved.sums[TERMS.index("error·truth")] == pytest.approx(((PREDICTED - TRUTH) * TRUTH).sum())
    assert moved.truth_spread == pytest.approx(float(found.truth_spread))
    truth, error = TRUTH - 30.0, PREDICTED - TRUTH + 7.0
    columns = np.stack([np.ones(60), error, error**2, truth, truth**2, error * truth])
    places = [TERMS.index(name) for name in ("weight", "error", "error²", "truth", "truth²", "error·truth")]
    held = np.full((len(TERMS), len(TERMS)), np.nan)
    held[np.ix_(places, places)] = columns @ columns.T
    there = replace(moved.moved((30.0, -7.0)), products=held)
    assert_allclose(there.sums[places], columns.sum(axis=1))
    back = there.moved((48.0, 2.0))
    assert_allclose(back.sums[places], found.moved((48.0, 2.0)).sums[places])
    truth, error = TRUTH - 48.0, PREDICTED - TRUTH - 2.0
    columns = np.stack([np.ones(60), error, error**2, truth, truth**2, error * truth])
    assert_allclose(back.products[np.ix_(places, places)], columns @ columns.T, rtol=1e-9, atol=1e-6)
    assert np.isnan(back.products[TERMS.index("absolute")]).all()


def test_no_digits_are_lost_far_from_zero():
    far = residual_table(TRUTH + 1e9, PREDICTED + 1e9).sums
    assert far.error_spread == pytest.approx(float(sums().error_spread), rel=1e-6)


def test_merged_sums_are_the_sums_of_all_cases_but_for_two_baselines():
    a, b = residual_table(TRUTH[:20], PREDICTED[:20]).sums, residual_table(TRUTH[20:], PREDICTED[20:]).sums
    both = a + b
    assert both.squared == pytest.approx(float(sums().squared))
    assert both.truth_spread == pytest.approx(float(sums().truth_spread))
    assert np.isnan(both.mean("off"))
    stated = [residual_table(TRUTH[part], PREDICTED[part], baseline=48.0).sums for part in (slice(20), slice(20, None))]
    assert (stated[0] + stated[1]).off == pytest.approx(float(sums(baseline=48.0).off))
