"""The residual table: sums from cases, merged, weighted, and refused where the columns are no numbers."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorespace.errors import DataError, ScoreSpaceError, WeightError
from scorespace.measures import find
from scorespace.tables import NoTableError, residual_table
from scorespace.tables import regression as module
from scorespace.tables.regression import IntervalTable

RNG = np.random.default_rng(3)
TRUTH = RNG.normal(50, 9, 60)
PREDICTED = TRUTH + RNG.normal(1, 4, 60)
WEIGHT = RNG.integers(1, 5, 60).astype(float)


def test_merged_tables_are_the_table_of_all_cases():
    a, b = residual_table(TRUTH[:20], PREDICTED[:20]), residual_table(TRUTH[20:], PREDICTED[20:], weight=WEIGHT[20:])
    both = residual_table(TRUTH, PREDICTED, weight=np.append(np.ones(20), WEIGHT[20:]))
    assert (a + b).sums.squared == pytest.approx(float(both.sums.squared))
    assert (a + b).sums.off == pytest.approx(float(both.sums.off))


def test_weight_zero_is_the_case_absent():
    weight = np.where(np.arange(60) < 30, WEIGHT, 0.0)
    absent = residual_table(TRUTH, PREDICTED, weight=weight)
    assert absent.numbers.truth.size == 30
    assert absent.sums.error == pytest.approx(np.average((PREDICTED - TRUTH)[:30], weights=WEIGHT[:30]))


def test_replicates_are_summed_one_by_one():
    table = residual_table(TRUTH, PREDICTED)
    cells = RNG.integers(0, 3, (4, 60))
    found = table.with_cells(cells).sums.sums
    assert_allclose(found, [table.with_cells(one).sums.sums for one in cells])


def test_without_each_is_the_table_without_that_case():
    table = residual_table(TRUTH, PREDICTED, weight=WEIGHT)
    found = table.without_each(slice(None))
    for case in (0, 17, 59):
        kept = np.arange(60) != case
        other = residual_table(TRUTH[kept], PREDICTED[kept], weight=WEIGHT[kept]).sums
        assert found.squared[case] == pytest.approx(float(other.squared))


def test_a_truth_of_zero_counts_where_it_was_drawn():
    table = residual_table([0.0, 2.0, 4.0], [1.0, 3.0, 4.0])
    assert np.isinf(table.sums.mean("relative"))
    drawn = table.with_cells(np.array([[0, 1, 2], [1, 1, 1]]))
    assert_allclose(drawn.sums.mean("relative"), [0.5 / 3, np.inf])
    assert residual_table([0.0, 2.0], [0.0, 3.0]).sums.mean("relative") == 0.25


def test_intervals_are_inside_where_there_are_such():
    with_ends = residual_table([1, 2], [1, 2], interval=([0, 0], [2, 1], 0.9))
    assert with_ends.inside(IntervalTable).cases == 2
    with pytest.raises(NoTableError, match="needs prediction intervals"):
        residual_table([1, 2], [1, 2]).inside(IntervalTable)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"truth": [1, 2], "predicted": [1]}, DataError, "truth and prediction differ in length"),
        ({"truth": ["a", "b"], "predicted": [1, 2]}, DataError, "truth must be numeric"),
        ({"truth": [1, 2], "predicted": [1, np.nan]}, DataError, "prediction has missing or infinite values"),
        ({"truth": [[1, 2], [2, 3]], "predicted": [1, 2]}, DataError, "truth is not one column"),
        ({"truth": [1, 2], "predicted": [1, 2], "weight": [0, 0]}, WeightError, "all weights are zero"),
        ({"truth": [1], "predicted": [1], "interval": ([2], [1], 0.9)}, DataError, "exceed the upper"),
    ],
)
def test_what_is_no_column_of_numbers_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        residual_table(**given)


def test_prediction_intervals_of_one_of_two_samples_are_gone_in_both_together():
    a = residual_table([1, 2], [1, 3], interval=([0, 1], [2, 4], 0.9))
    both = a + residual_table([3, 4], [3, 5])
    assert (both.numbers.low, both.numbers.high) == (None, None)
    assert both.numbers.truth.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("size", "said"), [(1e150, "beyond 1e70"), (1e-170, "of at most 1e-70")])
def test_numbers_whose_squares_are_none_are_refused(size, said):
    with pytest.raises(ScoreSpaceError, match=said):
        residual_table([size, 2 * size], [2 * size, size])


@pytest.mark.parametrize("size", [1e-69, 1e69])
def test_numbers_of_extreme_sizes_give_what_their_ratios_give(size):
    truth, predicted = np.array([1.0, 2.0, 4.0, 3.5]), np.array([1.5, 3.0, 3.0, 3.2])
    far, near = residual_table(truth * size, predicted * size), residual_table(truth, predicted)
    r2, pearson, rmse = (find(name) for name in ("r2", "pearson", "rmse"))
    for measure in (r2, pearson):
        assert float(measure(far)) == pytest.approx(float(measure(near)), rel=1e-12)
    assert float(rmse(far)) == pytest.approx(size * float(rmse(near)), rel=1e-12)


def test_millions_of_cases_have_the_sums_of_few(monkeypatch):
    truth = RNG.normal(3e8, 9, 700_001)
    truth[5] = 0.0
    predicted = truth + RNG.normal(1, 4, truth.size)
    predicted[5] = 0.0  # 0 / 0 is no error
    few = residual_table(truth, predicted).sums
    monkeypatch.setattr(module, "_MAX_CACHED_CASES", 1000)
    many = residual_table(truth, predicted).sums
    assert_allclose(many.sums, few.sums, rtol=1e-9, atol=1e-4)
    assert float(many.squared) == pytest.approx(math.fsum((predicted - truth) ** 2) / truth.size, rel=1e-12)
