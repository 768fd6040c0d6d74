"""Moments that cancel, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

import scorespace as ss
from scorespace.tables import residual_table
from scorespace.tables.exact_sums import covariances


def exact(x, y, w):
    x, y, w = ([Fraction(float(v)) for v in column] for column in (x, y, w))

    def mean(values):
        return sum(a * b for a, b in zip(w, values, strict=True)) / sum(w)

    mx, my = mean(x), mean(y)
    pairs = ((x, mx, x, mx), (x, mx, y, my), (y, my, y, my))
    return [float(mean([(a - i) * (b - j) for a, b in zip(u, v, strict=True)])) for u, i, v, j in pairs]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("offset", [0.0, 1e7 + 0.2, 1e15])
def test_moments_are_those_of_fractions(seed, offset):
    rng = np.random.default_rng(seed)
    y = offset + rng.normal(size=50)
    x = offset - (y - offset) * 1e-6 + rng.normal(size=50)
    weight = rng.random(50)
    assert covariances(x, y, None) == pytest.approx(exact(x, y, np.ones(50)), rel=1e-14)
    assert covariances(x, y, weight) == pytest.approx(exact(x, y, weight), rel=1e-14)


def test_the_correlation_of_almost_uncorrelated_numbers():
    y, x = np.array([1.0, 2.0, 3.0, 4.0]) + 1e6, np.array([1.0, -1.0, -1.0, 1.0 + 1e-9])
    xx, xy, yy = exact(x, y, np.ones(4))
    assert float(ss.pearson(y, x)) == pytest.approx(xy / np.sqrt(xx * yy), rel=1e-14)


def test_replicates_do_not_take_the_moments_of_the_sample():
    table = residual_table([1.0, 2, 3, 4], [1.0, -1, -1, 1.0001])
    drawn = table.with_cells(np.array([[2.0, 1, 1, 0], [0, 1, 1, 2]]))
    expected = [
        float(ss.pearson(np.repeat(table.numbers.truth, n), np.repeat(table.numbers.predicted, n)))
        for n in ([2, 1, 1, 0], [0, 1, 1, 2])
    ]
    assert ss.pearson(drawn) == pytest.approx(expected)
    assert float(ss.pearson(table.sums + table.sums)) == pytest.approx(float(ss.pearson(table)), rel=1e-9)
