"""McNemar's test and Cochran's Q on decisions; R's numbers are in tests/oracles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import stats

from scorespace.comparisons.mcnemar import FEW_DISCORDANT, METHODS, cochran_q, mcnemar_p, mcnemar_test, newcombe_paired
from scorespace.comparisons.paired import compare
from scorespace.errors import ScoreSpaceError
from scorespace.tables.paired import pair_table

counts = st.integers(0, 60)


def right(models):
    return st.integers(1, 40).flatmap(lambda n: hnp.arrays(np.bool_, (models, n)))


def decisions(both, only_a, only_b, neither):
    parts = ((True, True, both), (True, False, only_a), (False, True, only_b), (False, False, neither))
    return np.array([(a, b) for a, b, n in parts for _ in range(n)]).T


# --- McNemar


@given(right(2))
def test_the_table_counts_every_case_once(models):
    a, b = models
    found = mcnemar_test(a, b)
    ((both, only_a), (only_b, neither)) = found.table
    assert both + only_a + only_b + neither == a.size
    assert both + only_a == a.sum()
    assert both + only_b == b.sum()
    assert found.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)


@given(counts, counts, st.sampled_from(METHODS))
def test_p_is_a_probability_and_does_not_depend_on_the_order(b, c, method):
    _, p = mcnemar_p(b, c, method)
    assert 0 < p <= 1
    assert p == mcnemar_p(c, b, method)[1]
    if b == c:
        assert p == 1


@given(counts, counts)
def test_exact_is_the_sign_test_and_mid_p_counts_half_of_the_observed(b, c):
    if b + c == 0:
        return
    exact, mid = mcnemar_p(b, c, "exact")[1], mcnemar_p(b, c, "midp")[1]
    assert exact == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)
    binomial = stats.binom(b + c, 0.5)
    both_tails = 2 * binomial.cdf(min(b, c) - 1) + binomial.pmf(min(b, c))
    assert mid == pytest.approx(min(1, both_tails), rel=1e-9)
    assert mid <= exact  # which is why mid-p is offered: the exact test is conservative


@given(counts, counts, st.sampled_from(["greater", "less"]))
def test_one_side_alone_is_the_tail_of_the_binomial(b, c, side):
    if b + c == 0:
        return
    truth = np.append(np.ones(5 + b + c), [0, 0])
    pairs = pair_table(
        truth, {name: np.append(of, [0, 0]) for name, of in zip("ab", decisions(3, b, c, 2), strict=True)}
    )
    exact, mid = (
        compare(pairs, at=0.5, test=f"mcnemar(method={method})", alternative=side)[0].p for method in ("exact", "midp")
    )
    tail = stats.binomtest(b, b + c, alternative=side).pvalue
    assert exact == pytest.approx(tail, rel=1e-9)
    assert mid == pytest.approx(tail - stats.binom(b + c, 0.5).pmf(b) / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("discordant", "method"), [(FEW_DISCORDANT - 1, "midp"), (FEW_DISCORDANT, "corrected"), (0, "midp")]
)
def test_the_default_depends_on_the_discordant_cases(discordant, method):
    found = mcnemar_test(*decisions(50, discordant, 0, 5))
    assert found.test == f"mcnemar, {method}"
    assert found.measure == "acc"


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), 2635-2650, table II, method 10.
    [((36, 12, 2, 0), 0.0569, 0.3404), ((20, 12, 2, 16), 0.0562, 0.3292)],
)
def test_the_interval_is_that_of_newcombe(counts, low, high):
    assert_allclose(newcombe_paired(*counts), (low, high), atol=5e-5)
    found = mcnemar_test(*decisions(*counts))
    assert_allclose((found.low, found.high), (low, high), atol=5e-5)


def test_of_many_cases_the_interval_is_near_that_of_a_normal_difference():
    # Per case the difference is 1, 0 or −1; its mean has the variance of these numbers over n.
    a, b = decisions(30_000, 2500, 2400, 35_000)
    found = mcnemar_test(a, b, level=0.9)
    gaps = a.astype(float) - b
    half = stats.norm.ppf(0.95) * gaps.std() / math.sqrt(gaps.size)
    assert_allclose((found.low, found.high), (gaps.mean() - half, gaps.mean() + half), atol=0.01 * half)
    assert found.level == 0.9


@given(counts, counts, counts, counts)
def test_the_interval_lies_within_the_range_of_differences_and_has_width(both, only_a, only_b, neither):
    total = both + only_a + only_b + neither
    if total == 0:
        return
    low, high = newcombe_paired(both, only_a, only_b, neither)
    assert -1 <= low <= (only_a - only_b) / total <= high <= 1
    assert low < high


@pytest.mark.parametrize("method", METHODS)
def test_models_that_are_right_together_are_alike(method):
    a, _ = decisions(8, 0, 0, 3)
    found = mcnemar_test(a, a, method=method)
    assert (found.difference, found.p) == (0, 1)
    assert found.low < 0 < found.high  # eleven cases do not show that two models never differ
    assert found.reason == "there are no discordant cases: all models are right or wrong on the same cases"


def test_all_cases_discordant():
    found = mcnemar_test(*decisions(0, 12, 0, 0))
    assert (found.difference, found.high) == (1, 1)
    assert 0 < found.low < 1
    assert found.p == pytest.approx(0.5**12)


def test_an_unknown_method():
    with pytest.raises(ScoreSpaceError) as caught:
        mcnemar_p(1, 2, "midpoint")
    assert str(caught.value) == (
        "method='midpoint' is unknown.\n  seen: ('corrected', 'uncorrected', 'exact', 'midp')\n  hint: one of these"
    )


# --- Cochran's Q


@given(right(2))
def test_of_two_models_q_is_mcnemar_without_correction(models):
    found = cochran_q(models, names=("a", "b"))
    expected = mcnemar_test(*models, method="uncorrected")
    assert found.p == pytest.approx(expected.p, rel=1e-9)
    assert found.df == 1
    if expected.reason is None:
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    else:
        assert (found.statistic, found.reason) == (0, expected.reason)


@given(right(4))
def test_q_is_the_spread_of_models_over_that_within_cases(models):
    # Cochran (1950): k (k − 1) Σ (G_j − G)² / Σ L_i (k − L_i).
    k = 4
    by_model, by_case = models.sum(axis=1), models.sum(axis=0)
    within = (by_case * (k - by_case)).sum()
    found = cochran_q(models, names=tuple("abcd"))
    assert found.df == 3
    if within == 0:
        assert (found.statistic, found.p) == (0, 1)
        assert found.reason == "there are no discordant cases: all models are right or wrong on the same cases"
        return
    q = k * (k - 1) * ((by_model - by_model.mean()) ** 2).sum() / within
    assert found.statistic == pytest.approx(q, rel=1e-9, abs=1e-12)
    assert found.p == pytest.approx(stats.chi2.sf(q, 3), rel=1e-9)
    assert (found.a, found.b, found.several) == ("a", "b, c, d", True)


def test_cases_on_which_all_agree_do_not_count():
    models = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    padded = np.hstack([models, np.ones((3, 50), dtype=bool), np.zeros((3, 7), dtype=bool)])
    first, second = (cochran_q(each, names=tuple("abc")) for each in (models, padded))
    assert second.statistic == pytest.approx(first.statistic, rel=1e-12)
