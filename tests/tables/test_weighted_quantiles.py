"""Order statistics of weighted cases agree with NumPy's and SciPy's on the copies of the cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scorespace.tables.weighted_quantiles import concordance, midranks, quantile

values = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(values=values, data=st.data())
@settings(max_examples=60)
def test_the_median_is_that_of_the_copies(values, data):
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    if not weight.any():
        weight[0] = 1
    ordered = np.sort(np.array(values, dtype=float))
    assert quantile(ordered, weight, 0.5) == np.median(np.repeat(ordered, weight))


@given(values=values)
@settings(max_examples=40)
def test_midranks_are_scipys_less_a_half(values):
    given = np.array(values, dtype=float)
    found = midranks(given, np.argsort(given, kind="stable"), np.ones(given.size))
    np.testing.assert_allclose(found, stats.rankdata(given) - 0.5)


@given(pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=14), data=st.data())
@settings(max_examples=80)
def test_pairs_are_counted_as_by_brute_force(pairs, data):
    y, f = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    w = np.array(data.draw(st.lists(st.integers(0, 3), min_size=y.size, max_size=y.size)), dtype=float)
    found = concordance(y, f, np.stack([w, np.ones(y.size)]))
    for row, weight in enumerate((w, np.ones(y.size))):
        product = np.triu(np.outer(weight, weight), 1)
        signs = np.sign(y[:, None] - y) * np.sign(f[:, None] - f)
        assert found.right[row] == pytest.approx((product * (signs > 0)).sum())
        assert found.wrong[row] == pytest.approx((product * (signs < 0)).sum())
        assert found.truth_apart[row] == pytest.approx((product * (y[:, None] != y)).sum())
