"""Pictures of errors as data: each is what its columns say, with weights and ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from scorespace.curves import error_size, predicted, quantiles, residuals
from scorespace.errors import CurveError
from scorespace.tables import residual_table

TRUTH = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
PREDICTED = np.array([1.0, 3, 2, 4, 7, 5, 7, 10])
TABLE = residual_table(TRUTH, PREDICTED)


def test_each_case_at_its_prediction():
    points = sorted(zip(predicted(TABLE).x, predicted(TABLE).y, strict=True))
    assert points == sorted(zip(PREDICTED, TRUTH, strict=True))
    assert_allclose(residuals(TABLE).y, (residuals(TABLE).x - predicted(TABLE).y))


def test_quantiles_are_those_of_a_normal_distribution():
    found = quantiles(TABLE)
    assert_allclose(found.y, np.sort(PREDICTED - TRUTH))
    assert_allclose(found.x, stats.norm.ppf((np.arange(8) + 0.5) / 8))


def test_sizes_by_parts_of_equal_weight():
    found = error_size(TABLE, parts=2)
    size = np.abs(PREDICTED - TRUTH)
    assert_allclose(found.x, [TRUTH[:4].mean(), TRUTH[4:].mean()])
    assert_allclose(found.y, [size[:4].mean(), size[4:].mean()])
    assert found.threshold.tolist() == [4, 4]


def test_equal_truths_are_in_one_part():
    found = error_size(residual_table([5.0, 5, 5, 5, 9, 9], [5.0, 6, 7, 8, 9, 10]), parts=3)
    assert found.x.tolist() == [5, 9]
    assert_allclose(found.y, [1.5, 0.5])


def test_weight_zero_is_no_point_and_no_part_is_refused():
    weighted = residual_table(TRUTH, PREDICTED, weight=[1, 1, 0, 1, 1, 1, 1, 1])
    assert predicted(weighted).x.size == 7
    with pytest.raises(CurveError, match="parts=0"):
        error_size(TABLE, parts=0)


def test_more_parts_than_cases_are_one_for_each_truth():
    found = error_size(residual_table([1.0, 2.0, 2.0], [1.5, 2.0, 4.0]), parts=10**12)
    assert found.x.tolist() == [1.0, 2.0]
    assert found.y.tolist() == [0.5, 1.0]
