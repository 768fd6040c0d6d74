"""The test of independence equals SciPy's exact test, and χ² where that is used."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency, fisher_exact

from scorespace.comparisons.fisher import MIN_EXPECTED_FOR_CHI2, independence
from scorespace.tables.rules import RuleTable


def rules(rng, size, most):
    n = rng.integers(1, most, size)
    a, b = rng.integers(0, n + 1), rng.integers(0, n + 1)
    both = rng.integers(np.maximum(0, a + b - n), np.minimum(a, b) + 1)
    return RuleTable(both, a, b, n)


@pytest.mark.parametrize("most", [8, 60, 1500])
def test_equals_fishers_exact_test(most):
    table = rules(np.random.default_rng(most), 150, most)
    found = independence(table)
    for p, cells in zip(found, table.cells, strict=True):
        both, one, other, neither = cells
        if 0 in (both + one, other + neither, both + other, one + neither):
            assert np.isnan(p)
        else:
            expected = fisher_exact([[both, one], [other, neither]])[1]
            assert p == pytest.approx(expected, rel=1e-7, abs=1e-30)  # beyond, the far tail alone


def test_rare_items_among_many_transactions():
    for both in (3, 10, 40):
        expected = fisher_exact([[both, 3000 - both], [3000 - both, 994_000 + both]])[1]
        assert independence(RuleTable(both, 3000, 3000, 10**6)) == pytest.approx(expected, rel=1e-6)


def test_large_counts_are_tested_by_chi_squared():
    rule = RuleTable([10_100, 9_800], 100_000, 100_000, 10**6)
    assert MIN_EXPECTED_FOR_CHI2 < 100_000**2 / 10**6
    expected = [chi2_contingency(cells.reshape(2, 2), correction=False)[1] for cells in rule.cells]
    assert_allclose(independence(rule), expected, rtol=1e-9)
    assert_allclose(expected, [fisher_exact(cells.reshape(2, 2))[1] for cells in rule.cells], rtol=0.02)


def test_far_beyond_chance_the_chance_is_tiny_and_not_zero():
    p = float(independence(RuleTable(90, 100, 100, 5000)))
    assert 0 < p < 1e-100
