"""The logistic fit: that of another program, of every replicate at once, and of many rows in few steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import brentq
from sklearn.linear_model import LogisticRegression

import scorespace as ss
from scorespace.measures.logistic_recalibration import logistic_fit, logits, neighbours, offset_fit


def test_extreme_scores_have_a_fit():
    rng = np.random.default_rng(0)
    score = np.concatenate([10.0 ** -rng.uniform(1, 300, 60), rng.random(60)])
    truth = rng.integers(0, 2, 120)
    x, pos, neg = logits(ss.score_table(truth, score))
    fit, offset = logistic_fit(x, pos, neg), offset_fit(x, pos, neg)
    cases = pos.astype(float) + neg
    for mean, weight in [
        (1 / (1 + np.exp(-(fit.intercept + fit.slope * x))), np.ones_like(x)),
        (1 / (1 + np.exp(-(fit.intercept + fit.slope * x))), x),
        (1 / (1 + np.exp(-(offset + x))), np.ones_like(x)),
    ]:
        assert abs(np.sum((pos - cases * mean) * weight)) < 1e-6 * np.abs(weight).max()


def test_many_rows_have_the_fit_of_the_likelihood():
    rng = np.random.default_rng(1)
    score = rng.random(150_000)
    truth = (rng.random(score.size) < score**2).astype(int)
    t = ss.score_table(truth, score)
    a, b = ss.cal_intercept(t), ss.cal_slope(t)
    x = np.log(score / (1 - score))
    left = truth - 1 / (1 + np.exp(-(a + b * x)))
    assert np.abs([left.mean(), (left * x).mean()]).max() < 1e-10
    assert abs(np.mean(truth - 1 / (1 + np.exp(-(ss.cal_offset(t) + x))))) < 1e-10


X = np.array([2.0, 0.5, -0.25, -1.5])
POS, NEG = np.array([8.0, 6.0, 2.0, 1.0]), np.array([2.0, 5.0, 6.0, 9.0])


def test_intercept_slope_and_error_are_those_of_scikit_learn():
    # Without a penalty; the error is from the information matrix, which scikit-learn leaves to its user.
    x, y, weight = np.tile(X, 2), np.repeat([1, 0], 4), np.append(POS, NEG)
    theirs = LogisticRegression(C=np.inf, tol=1e-12).fit(x[:, None], y, sample_weight=weight)
    found = logistic_fit(X, POS, NEG)
    assert (float(found.intercept), float(found.slope)) == pytest.approx(
        (theirs.intercept_[0], theirs.coef_[0, 0]), abs=1e-6
    )
    chance = theirs.predict_proba(X[:, None])[:, 1]
    design = np.stack([np.ones(4), X], axis=1)
    information = design.T @ (design * ((POS + NEG) * chance * (1 - chance))[:, None])
    assert float(found.slope_error) == pytest.approx(math.sqrt(np.linalg.inv(information)[1, 1]), abs=1e-6)


def test_the_offset_makes_the_mean_chance_the_share_of_positives():
    root = brentq(lambda a: np.sum((POS + NEG) / (1 + np.exp(-(a + X)))) - POS.sum(), -9, 9, xtol=1e-13)
    assert float(offset_fit(X, POS, NEG)) == pytest.approx(root, abs=1e-9)


@given(hnp.arrays(np.int64, (4, 2, 5), elements=st.integers(0, 4)))
def test_replicates_at_once_are_each_alone(drawn):
    x, pos, neg = np.array([3.0, 1.0, 0.2, -1.0, -2.5]), drawn[:, 0], drawn[:, 1]
    together, offset = logistic_fit(x, pos, neg), offset_fit(x, pos, neg)
    for k in range(4):
        alone = logistic_fit(x, pos[k], neg[k])
        for ours, its in ((together.intercept, alone.intercept), (together.slope, alone.slope)):
            assert ours[k] == pytest.approx(float(its), rel=1e-6, abs=1e-6, nan_ok=True)
        assert offset[k] == pytest.approx(float(offset_fit(x, pos[k], neg[k])), abs=1e-8, nan_ok=True)
        # A fit is there when the classes overlap in both directions, and only then.
        mine, others = x[pos[k] > 0], x[neg[k] > 0]
        overlap = mine.size and others.size and mine.max() > others.min() and others.max() > mine.min()
        assert bool(np.isfinite(alone.slope)) == bool(overlap)


def test_neighbours_keep_the_weights_and_the_sum_of_x():
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=200_001))[::-1]
    pos, neg = rng.integers(1, 3, (2, x.size))
    few, few_pos, few_neg = neighbours(x, pos, neg)
    assert few.size < x.size / 2
    assert (few_pos.sum(), few_neg.sum()) == (pos.sum(), neg.sum())
    assert few @ (few_pos + few_neg) == pytest.approx(x @ (pos + neg))
    assert np.all(np.diff(few) < 0)
    assert neighbours(x[:1000], pos[:1000], neg[:1000]) is None


def test_logits_leave_out_what_has_none():
    x, pos, neg = logits(ss.score_table([1, 0, 1, 0, 1], [1.0, 0.75, 0.5, 0.0, 0.25]))
    assert x == pytest.approx(np.log([3, 1, 1 / 3]))
    assert (pos.tolist(), neg.tolist()) == ([0, 1, 1], [1, 0, 0])
