"""Brier curves, their best possible form, and net benefit."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from laws.strategies import samples
from scorespace.curves import brier_curve, net_benefit, optimal_curve
from scorespace.curves.brier import interventions_avoided, standardised_net_benefit
from scorespace.errors import ScoreError
from scorespace.evaluation.curves import find as find_curve
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

some = settings(max_examples=60)
both = samples(both=True)
REFUSED = "these scores are not probabilities.\n  seen: values from -0.5 to 1.25\n  hint: recalibrate them first"


def brier_score(sample, probability):
    return np.average((np.asarray(probability) - sample.truth) ** 2, weights=sample.weight)


def recalibrated(sample):
    """Isotonic regression by its min-max formula, over all runs of scores around each case's own."""
    score, truth, weight = map(np.asarray, (sample.score, sample.truth, sample.weight))
    levels = np.unique(score)

    def mean(low, high):
        inside = (score >= low) & (score <= high)
        return np.average(truth[inside], weights=weight[inside])

    return [
        max(min(mean(low, high) for high in levels[levels >= own]) for low in levels[levels <= own]) for own in score
    ]


# --- areas


@given(samples())
@some
def test_area_is_the_brier_score(sample):
    assert brier_curve(sample.table()).area() == pytest.approx(brier_score(sample, sample.score), abs=1e-12)


@given(samples(most=8))
@some
def test_area_of_the_optimal_curve_is_the_brier_score_after_recalibration(sample):
    expected = brier_score(sample, recalibrated(sample))
    assert optimal_curve(sample.table()).area() == pytest.approx(expected, abs=1e-12)


@given(both)
@some
def test_no_threshold_beats_the_optimal_curve(sample):
    table = sample.table()
    best = optimal_curve(table)
    share = np.linspace(0, 1, 41)
    c = table.sweep
    losses = 2 * ((1 - share[:, None]) * c.fn + share[:, None] * c.fp) / c.total
    assert_allclose(np.interp(share, best.x, best.y), losses.min(axis=1), atol=1e-12)


@given(both)
@some
def test_scores_taken_as_probabilities_never_beat_the_optimal_curve(sample):
    driven, best = brier_curve(sample.table()), optimal_curve(sample.table())
    assert (driven.y >= np.interp(driven.x, best.x, best.y) - 1e-12).all()


@given(both)
@some
def test_loss_is_that_of_the_threshold_equal_to_the_cost_share(sample):
    table = sample.table()
    driven = brier_curve(table)
    share = (driven.x[:-1] + driven.x[1:])[np.diff(driven.x) > 1e-9] / 2  # between the jumps
    c = table.at(share)
    expected = 2 * ((1 - share) * c.fn + share * c.fp) / c.total
    assert_allclose(np.interp(share, driven.x, driven.y), expected, atol=1e-9)


def test_scores_that_are_their_own_recalibration_lose_nothing():
    table = score_table([1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4)
    assert brier_curve(table).area() == pytest.approx(optimal_curve(table).area())
    assert optimal_curve(table).area() == pytest.approx(3 / 16)


def test_thresholds_of_the_optimal_curve():
    assert optimal_curve(score_table([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])).threshold.tolist() == [
        -np.inf,
        0.1,
        0.7,
        0.9,
        np.inf,
    ]


# --- losses when the rate of positive decisions is chosen instead of the threshold (METHODS §7)


def rate_losses(table):
    """Predicted positive rate, and π₁·FNR and π₀·FPR there; straight lines between, also inside a tie."""
    c = table.sweep
    return c.pp / c.total, c.fn / c.total, c.fp / c.total


@given(both)
@some
def test_a_uniform_rate_costs_what_auc_says(sample):
    table = sample.table()
    rate, missed, alarmed = rate_losses(table)
    pi1 = float(table.n_pos / table.total)
    expected = pi1 * (1 - pi1) * (1 - 2 * auc(table)) + 1 / 2
    assert np.trapezoid(missed + alarmed, rate) == pytest.approx(expected, abs=1e-12)


@given(both)
@some
def test_a_rate_driven_by_the_cost_costs_what_auc_says(sample):
    table = sample.table()
    rate, missed, alarmed = rate_losses(table)
    pi1 = float(table.n_pos / table.total)

    def loss(r, fn, fp):
        return 2 * (r * fn + (1 - r) * fp)

    ends = loss(rate, missed, alarmed)
    middle = loss(*((values[:-1] + values[1:]) / 2 for values in (rate, missed, alarmed)))
    area = (np.diff(rate) * (ends[:-1] + 4 * middle + ends[1:]) / 6).sum()  # Simpson: exact for parabolas
    assert area == pytest.approx(pi1 * (1 - pi1) * (1 - 2 * auc(table)) + 1 / 3, abs=1e-12)


# --- net benefit


@given(samples())
@some
def test_net_benefit_at_each_threshold(sample):
    truth, score, weight = map(np.asarray, (sample.truth, sample.score, sample.weight))
    curve = net_benefit(sample.table())
    assert curve.threshold.tolist() == sorted({s for s in sample.score if s < 1}, reverse=True)
    for t, benefit in zip(curve.x, curve.y, strict=True):
        tp, fp = weight[(score >= t) & (truth == 1)].sum(), weight[(score >= t) & (truth == 0)].sum()
        assert benefit == pytest.approx((tp - fp * t / (1 - t)) / weight.sum(), rel=1e-9)


def test_no_net_benefit_at_threshold_one():
    # At t = 1 a false alarm weighs infinitely much (rtichoke 43).
    curve = net_benefit(score_table([0, 1, 1, 0], [1.0, 1.0, 0.5, 0.2]))
    assert curve.x.tolist() == [0.5, 0.2]
    assert np.isfinite(curve.y).all()


def test_net_benefit_of_acting_on_everybody():
    # At the lowest score all are treated: π − (1 − π)·t/(1 − t).
    curve = net_benefit(score_table([1, 0, 1, 0, 0], [0.9, 0.8, 0.4, 0.3, 0.2]))
    assert curve.y[-1] == pytest.approx(0.4 - 0.6 * 0.2 / 0.8)


@pytest.mark.parametrize("curve", [brier_curve, net_benefit])
def test_scores_that_are_not_probabilities_are_refused(curve):
    with pytest.raises(ScoreError) as caught:
        curve(score_table([1, 0, 1], [1.25, 0.3, -0.5]))
    assert str(caught.value) == REFUSED


def test_the_optimal_curve_takes_any_scores():
    logits = score_table([1, 0, 1, 0], [2, 1, -1, -3])
    ranks = score_table([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    assert optimal_curve(logits).y.tolist() == optimal_curve(ranks).y.tolist()


def test_net_benefit_standardised_and_as_interventions_avoided():
    table = score_table([1, 0, 1, 0, 0], [0.9, 0.8, 0.4, 0.3, 0.2])
    plainly, share = net_benefit(table), 0.4
    assert_allclose(standardised_net_benefit(table).y, plainly.y / share)
    t = plainly.x
    of_all = share - (1 - share) * t / (1 - t)
    assert_allclose(interventions_avoided(table).y, (plainly.y - of_all) * (1 - t) / t)
    assert find_curve("standardized net benefit").name == "snb"


def test_the_brier_curve_is_the_murphy_diagram():
    rng = np.random.default_rng(4)
    truth, score = rng.integers(0, 2, 50), rng.random(50).round(3)
    curve = find_curve("murphy")(score_table(truth, score))
    for theta in (0.1234, 0.5006, 0.87654):  # between scores; elementary scores of Ehm et al. (2016), written out
        elementary = np.where(truth == 1, (1 - theta) * (score <= theta), theta * (score > theta)).mean()
        assert np.interp(theta, curve.x, curve.y) == pytest.approx(2 * elementary)
