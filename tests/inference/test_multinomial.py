"""Multinomial counts: block by block, in large cells, and only of what occurs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorespace.inference.multinomial import _draw_cases, _draw_large_cells, present_codes


def test_many_cases_drawn_block_by_block_are_drawn_evenly():
    total, count = 100_003, 40  # the last block is short
    chosen = _draw_cases(total, np.random.Generator(np.random.SFC64(3)), count)
    assert chosen.shape == (count, total)
    assert chosen.max() < total
    times = np.bincount(chosen.ravel(), minlength=total)
    # Each case is drawn Binomial(count · total, 1 / total) times: mean and variance are both 40.
    assert times.mean() == count
    assert times.var() == pytest.approx(count, rel=0.03)
    by_block = np.add.reduceat(times, np.arange(0, total, 4096)) / np.diff([*range(0, total, 4096), total])
    assert_allclose(by_block, count, atol=6 * np.sqrt(count / (total % 4096)))


def test_large_cells_spread_like_the_multinomial_that_they_stand_for():
    weights = np.concatenate([np.full(100, 400.0), [3.0, 7.0]])
    counts = _draw_large_cells(weights, int(weights.sum()), np.random.default_rng(2), 4000)
    share = weights / weights.sum()
    assert_allclose(counts.sum(axis=1), weights.sum(), rtol=1e-3)
    assert_allclose(counts.mean(axis=0), weights, atol=4 * np.sqrt(400 / 4000))
    assert_allclose(counts.std(axis=0), np.sqrt(weights * (1 - share)), rtol=0.08)


def test_codes_that_occur_are_told_once_each():
    assert present_codes(np.array([4, 1, 4, 1, 1])).tolist() == [1, 4]
    assert not present_codes(np.array([], dtype=int)).size
