"""Worlds with known truth: smooth rates that follow the data, and labels drawn from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit, ndtri

from scorespace.inference import parametric_bootstrap
from scorespace.measures.ranking import ks
from scorespace.tables import score_table


def test_rates_by_rank_find_a_logistic_rate_again():
    # So many cases per score that the penalty is nothing, and rates that are exactly of the fitted form.
    cases = np.full(200, 10_000.0)
    z = -ndtri((np.cumsum(cases) - cases / 2) / cases.sum())
    rates = expit(-1 + 1.5 * z - 0.2 * z**2)
    assert_allclose(parametric_bootstrap.rates_by_rank(cases, cases * rates), rates, atol=1e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_rates_keep_the_number_of_positives_and_stay_shares(cells):
    hits, misses = np.array(cells, dtype=float).T
    held = hits + misses > 0
    hits, cases = hits[held], (hits + misses)[held]
    if 0 < hits.sum() < cases.sum():
        rates = parametric_bootstrap.rates_by_rank(cases, hits)
        assert np.all((rates >= 0) & (rates <= 1))
        assert cases @ rates == pytest.approx(hits.sum(), rel=1e-3)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30), st.integers(1, 8))
def test_rates_in_steps_keep_the_positives_and_never_rise_towards_lower_scores(cells, steps):
    hits, misses = np.array(cells, dtype=float).T
    held = hits + misses > 0
    hits, cases = hits[held], (hits + misses)[held]
    if cases.size:
        rates = parametric_bootstrap.rates_in_steps(cases, hits, steps)
        assert np.all((rates >= 0) & (rates <= 1) & (np.diff(rates, append=0) <= 1e-12))
        assert np.unique(rates).size <= steps
        assert cases @ rates == pytest.approx(hits.sum())


def test_rates_in_steps_find_steps_again():
    rates = np.repeat([0.9, 0.6, 0.5, 0.2, 0.1], 20)
    assert_allclose(parametric_bootstrap.rates_in_steps(np.full(100, 50.0), 50 * rates), rates)


def test_separated_classes_have_finite_rates():
    hits = np.repeat([1.0, 0.0], [5, 95])
    rates = parametric_bootstrap.rates_by_rank(np.ones(100), hits)
    assert rates[0] > 0.9
    assert np.median(rates) < 0.05
    assert np.isfinite(logit(rates)).all()


def test_worlds_begin_with_the_scores_and_pass_their_recalibration():
    score = np.linspace(0.99, 0.01, 99)
    cases = np.full(99, 10_000.0)
    truth = expit(0.5 + 0.6 * logit(score))
    rates = parametric_bootstrap.recalibration_path(score, cases, cases * truth, (0.0, 1.0, 2.0))
    assert_allclose(rates[0], score, atol=1e-12)
    assert_allclose(rates[1], truth, atol=1e-4)
    assert_allclose(logit(rates[2]), logit(score) + 2 * (logit(truth) - logit(score)), atol=1e-3)


@pytest.mark.parametrize("score", [np.array([1.0, 0.5, 0.0]), np.array([0.4])])
def test_scores_of_0_and_1_and_a_single_score_have_worlds(score):
    rates = parametric_bootstrap.recalibration_path(score, np.full(score.size, 10.0), np.full(score.size, 4.0))
    assert rates.shape == (len(parametric_bootstrap.STEPS), score.size)
    assert np.isfinite(rates).all()


def test_labels_again_have_the_rates_they_were_drawn_from():
    cases, rates = np.array([1, 20]), np.array([[0.5, 0.1], [0.9, 0.2]])
    hits = parametric_bootstrap.draw_labels(cases, rates, np.random.default_rng(1), 20_000)
    assert hits.shape == (20_000, 2, 2)
    assert_allclose(hits.mean(axis=0), cases * rates, atol=0.05)
    assert np.all(hits <= cases)


@pytest.mark.parametrize("most", [1, 3, 12, 30])
def test_labels_again_are_those_of_numpys_binomial(most):
    seeds = np.random.default_rng(most)
    cases, rates = seeds.integers(1, most + 1, 300), seeds.uniform(0.001, 0.999, (2, 300))
    found = parametric_bootstrap.draw_labels(cases, rates, np.random.default_rng(7), 50)
    assert np.array_equal(found, np.random.default_rng(7).binomial(cases, rates, (50, 2, 300)))


def test_a_world_shows_the_bias_of_ks():
    # 150 samples of 50 + 50 normal scores: KS is too high by about 0.06, and the world of each sample says so.
    rng = np.random.default_rng(2)
    label = np.repeat([1, 0], 50)
    truth = 2 * 0.7257468822499265 - 1  # Φ(0.6) twice less 1, for classes 1.2 apart
    apart, shown = [], []
    for _ in range(150):
        table = score_table(label, rng.normal(size=100) + 1.2 * label)
        cases = table.pos + table.neg
        rates = parametric_bootstrap.rates_by_rank(cases, table.pos)
        hits = parametric_bootstrap.draw_labels(cases, rates, rng, 60)
        soft = ks.function(_with(table, cases, cases * rates))
        shown.append(ks.function(_with(table, cases, hits)).mean() - soft)
        apart.append(ks(table) - truth)
    assert np.mean(apart) == pytest.approx(np.mean(shown), abs=0.02)
    assert np.mean(shown) > 0.03


def _with(table, cases, hits):
    return type(table)(table.score, np.stack([cases - hits, hits], axis=-2), table.classes, 1)


def test_a_rate_that_rounds_to_one_changes_no_other_draw():
    def drawn(rate):
        return parametric_bootstrap.draw_labels(np.ones(3), np.array([rate, 0.5, 0.5]), np.random.default_rng(0), 200)

    assert (drawn(1 - 2**-53) == drawn(1.0)).all()


def test_the_fit_of_rare_positives_ends_where_its_slopes_are_nought():
    # Plain steps of Newton's overshoot in the tails of the fifth power, and ended far from the fit.
    rng = np.random.default_rng(1)
    z = np.sort(rng.normal(size=2000))[::-1]
    hits = (rng.random(2000) < expit(1.2 * z - 4.5)).astype(float)
    rates = parametric_bootstrap.rates_by_rank(np.ones(2000), hits)
    assert rates.sum() == pytest.approx(hits.sum(), rel=1e-6)  # the slope in the intercept, which has no penalty
    ranks = -ndtri((np.arange(2000) + 0.5) / 2000)
    assert abs((hits - rates) @ ranks) < 1.0  # in the power of one, but for the penalty
