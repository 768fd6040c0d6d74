"""R, WEKA and scmamp: tests over folds and over data sets."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import reference
from scorespace.comparisons.datasets import (
    bayes_signed_rank,
    dataset_table,
    normal_p,
    sign_test,
    signed_ranks,
    wilcoxon,
)
from scorespace.comparisons.friedman import against_control, friedman, nemenyi
from scorespace.comparisons.multiple_testing import adjust
from scorespace.comparisons.t_tests import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t

SIGNED_RANK = ("demsar_c45_vs_c45m", "paired_random", "tied")


def folds():
    theirs = reference("r_ttests")["paired"]
    return theirs["a"], theirs["b"], theirs


def demsar(best="high"):
    theirs = reference("r_friedman_nemenyi")
    return dataset_table(theirs["data"], theirs["names"], best=best), theirs


def signed_rank(name):
    theirs = reference("r_wilcoxon")["signed_rank"][name]
    return dataset_table({"x": theirs["x"], "y": theirs["y"]}, best="high"), theirs


# Folds


def test_paired_t():
    a, b, theirs = folds()
    found = paired_t(a, b)
    assert found.difference == pytest.approx(theirs["mean_diff"], abs=1e-12)
    assert found.statistic == pytest.approx(theirs["t"], abs=1e-9)
    assert found.df == theirs["df"]
    assert found.p == pytest.approx(theirs["p"], abs=1e-9)
    assert_allclose((found.low, found.high), theirs["ci95"], atol=1e-9)


@pytest.mark.parametrize("place", range(3))
def test_corrected_t(place):
    a, b, _ = folds()
    theirs = reference("r_ttests")["nadeau_bengio"][place]
    found = corrected_t(a, b, ratio=theirs["test_train_ratio"])
    assert found.statistic == pytest.approx(theirs["t"], abs=1e-9)
    assert found.df == theirs["df"]
    assert found.p == pytest.approx(theirs["p"], abs=1e-9)


def test_corrected_t_of_three_times_ten_folds_is_that_of_weka_and_scmamp():
    # WEKA's PairedStatsCorrected(1/9), scmamp's correlatedTtest(rho = 0.1).
    a, b, _ = folds()
    assert corrected_t(np.reshape(a, (3, 10)), np.reshape(b, (3, 10))).p == pytest.approx(0.619310, abs=1e-6)
    assert corrected_t(a, b, folds=10).p == pytest.approx(0.619310, abs=1e-6)


@pytest.mark.parametrize(
    ("test", "statistic", "p"), [(five_by_two_t, "t_dietterich", "p_t_df5"), (five_by_two_f, "F_alpaydin", "p_F_10_5")]
)
def test_five_by_two(test, statistic, p):
    theirs = reference("r_ttests")["five_by_two"]
    found = test(theirs["diffs"])
    assert found.statistic == pytest.approx(theirs[statistic], abs=1e-9)
    assert found.p == pytest.approx(theirs[p], abs=1e-9)


def test_without_a_rope_the_posterior_is_the_one_sided_corrected_t():
    a, b, _ = folds()
    (theirs, _, _) = reference("r_ttests")["nadeau_bengio"]
    found = bayes_correlated_t(a, b, folds=10, rope=0)
    assert found.left == pytest.approx(theirs["p"] / 2, abs=1e-9)
    assert found.right == pytest.approx(1 - theirs["p"] / 2, abs=1e-9)
    assert found.rope == pytest.approx(0, abs=1e-12)


# Two models over data sets


@pytest.mark.parametrize("name", SIGNED_RANK)
def test_signed_rank_statistic(name):
    table, theirs = signed_rank(name)
    found = wilcoxon(table)
    assert found.statistic == theirs["V"]
    assert found.higher + found.lower == theirs["n_nonzero"]


@pytest.mark.parametrize("name", SIGNED_RANK)
def test_signed_rank_normal(name):
    table, theirs = signed_rank(name)
    assert normal_p(*signed_ranks(table.gaps, "drop"), "two-sided") == pytest.approx(theirs["p_normal"], abs=1e-9)


@pytest.mark.parametrize("name", SIGNED_RANK)
def test_signed_rank_is_exact(name):
    """As R's where it has an exact p; with ties and zeros, as all signs of the shared ranks tried one by one."""
    table, theirs = signed_rank(name)
    found = wilcoxon(table)
    assert found.method == "exact"
    if theirs["p_exact"] is not None:
        assert found.p == pytest.approx(theirs["p_exact"], abs=1e-9)
        return
    value, ranks = signed_ranks(table.gaps, "drop")
    sums = np.array(list(product((0, 1), repeat=ranks.size))) @ ranks
    one_sided = min((sums >= value - 1e-9).mean(), (sums <= value + 1e-9).mean())
    assert found.p == pytest.approx(min(1.0, 2 * one_sided), abs=1e-9)


def test_demsar_splits_the_ranks_of_zeros():
    # Demšar (2006) finds T = 12 in these data; scmamp's p of 0.0055 is one-sided.
    table, _ = demsar()
    found = wilcoxon(table.only("C4.5+m", "C4.5"), zeros="split")
    assert min(found.statistic, 14 * 15 / 2 - found.statistic) == 12
    assert found.p == pytest.approx(2 * 0.0055, abs=1e-4)
    assert wilcoxon(table.only("C4.5", "C4.5+m"), zeros="split", alternative="less").p == pytest.approx(
        0.0055, abs=5e-5
    )


def test_sign_test_of_demsars_data():
    # pbinom(2, 12, 1/2) and pbinom(3, 14, 1/2), twice.
    table, _ = demsar()
    assert sign_test(table.only("C4.5+m", "C4.5")).p == pytest.approx(2 * 79 / 2**12, abs=1e-12)
    assert sign_test(table.only("C4.5+m", "C4.5"), zeros="split").p == pytest.approx(2 * 470 / 2**14, abs=1e-12)


def test_bayesian_signed_rank_as_scmamp_defines_it():
    # Its sum over pairs, draw by draw; the same prior and rope, other random numbers.
    table, _ = demsar()
    z = np.concatenate([[0.0], np.round(table.values[:, 1] - table.values[:, 0], 12)])
    sums = np.round(z[:, None] + z, 12)
    regions = [sums < -0.02, np.abs(sums) <= 0.02, sums > 0.02]
    won = np.zeros(3)
    for weights in np.random.default_rng(9).dirichlet([0.5] + [1] * 14, 10_000):
        pairs = np.outer(weights, weights)
        won[np.argmax([pairs[region].sum() for region in regions])] += 1
    found = bayes_signed_rank(table.only("C4.5+m", "C4.5"), rope=0.01)
    assert_allclose([found.left, found.rope, found.right], won / 10_000, atol=0.02)


# Several models over data sets


def test_average_ranks():
    table, theirs = demsar()
    assert_allclose(table.average_ranks, theirs["avg_ranks"], atol=1e-12)


@pytest.mark.parametrize(
    ("ours", "value", "p"),
    [
        ("chi2", "friedman_test_chi2_tie_corrected", "friedman_p"),
        ("chi2_uncorrected", "chi2_no_tie_correction", "p_no_tie"),
        ("f", "iman_davenport_tie", "iman_davenport_p_tie"),
        ("f_uncorrected", "iman_davenport_no_tie", "iman_davenport_p_no_tie"),
    ],
)
def test_friedman(ours, value, p):
    table, theirs = demsar()
    found = getattr(friedman(table), ours)
    assert found.value == pytest.approx(theirs[value], abs=1e-9)
    assert found.p == pytest.approx(theirs[p], abs=1e-9)


@pytest.mark.parametrize("percent", ["05", "10"])
def test_critical_difference(percent):
    # R's qtukey ends its search early: at k = 4 its quantile is 5e-9 too high.
    table, theirs = demsar()
    found = nemenyi(table, level=1 - int(percent) / 100)
    assert found.q == pytest.approx(theirs["nemenyi"][f"q_{percent}"], abs=1e-8)
    assert found.critical_difference == pytest.approx(theirs["nemenyi"][f"CD_{percent}"], abs=1e-8)


def test_nemenyi_p():
    table, theirs = demsar()
    expected = [[1.0 if p is None else p for p in row] for row in theirs["nemenyi"]["p_matrix"]]
    assert_allclose(nemenyi(table).p, expected, atol=1e-9)


@pytest.mark.parametrize("percent", ["05", "10"])
def test_quantiles_for_2_to_20_models(percent):
    theirs = reference("r_friedman_nemenyi")[f"q_table_alpha{percent}"]
    for k, q in zip(theirs["k"], theirs["q"], strict=True):
        table = dataset_table([range(k)], [f"m{place}" for place in range(k)], best="high")
        assert nemenyi(table, level=1 - int(percent) / 100).q == pytest.approx(q, abs=3e-7)


def test_the_critical_difference_has_infinite_degrees_of_freedom():
    # scmamp takes k (N − 1) = 52 degrees of freedom and gets 1.2951.
    table, _ = demsar()
    assert nemenyi(table).critical_difference == pytest.approx(1.2536, abs=1e-4)


@pytest.mark.parametrize(
    ("column", "ours"), [("z", "statistic"), ("p", "p"), ("holm", "p_adjusted"), ("hochberg", "hochberg")]
)
def test_against_control(column, ours):
    table, theirs = demsar()
    found = against_control(table, "C4.5")
    assert [one.a for one in found.comparisons] == theirs["vs_control_first"]["names"]
    assert_allclose([row[ours] for row in found.rows()], theirs["vs_control_first"][column], atol=1e-9)


@pytest.mark.parametrize("method", ["bonferroni", "holm", "hochberg"])
def test_adjust(method):
    theirs = reference("r_friedman_nemenyi")["vs_control_first"]
    assert_allclose(adjust(theirs["p"], method), theirs[method], atol=1e-12)


@pytest.mark.parametrize("control", range(4))
def test_pairwise_p_unadjusted(control):
    table, theirs = demsar()
    expected = [p for p in theirs["pairwise_z_p_unadjusted"][control] if p is not None]
    found = against_control(table, theirs["names"][control])
    assert_allclose([one.p for one in found.comparisons], expected, atol=1e-9)
