"""The interval of an area: DeLong's variance as its definition has it, plain and on the logit scale."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit, logit, ndtri

from scorespace.inference.auc_variance import (
    delong_interval,
    delong_logit,
    delong_variance,
    delong_variances,
    weighted_variance,
)
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

TRUTH = [1, 0, 1, 1, 0, 0, 1, 0]
SCORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
TABLE = score_table(TRUTH, SCORE)


def test_delong_is_cut_at_one():
    assert delong_interval(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))[1] == 1


def test_delong_of_perfect_scores_has_no_width():
    assert delong_interval(score_table([0, 0, 1, 1], [1, 2, 3, 4])) == (1, 1)


def test_delong_does_not_depend_on_which_class_is_positive():
    assert delong_interval(TABLE.swapped()) == pytest.approx(delong_interval(TABLE))


@pytest.mark.parametrize("truth", [[1, 0, 0], [0, 1, 1]])
def test_delong_needs_two_cases_of_each_class(truth):
    assert math.isnan(delong_variance(score_table(truth, [1, 2, 3])))


def test_delong_needs_whole_weights():
    assert math.isnan(delong_variance(score_table(TRUTH, SCORE, weight=[0.5] * 8)))


def test_delong_of_float32_scores_stays_below_one():
    # float32 midranks gave areas above 1 (confidenceinterval 15).
    score = np.linspace(0, 1, 20_001, dtype=np.float32)
    low, high = delong_interval(score_table((score > 0.5).astype(int), score))
    assert low <= 1
    assert high <= 1


def test_delong_logit_is_the_closed_form():
    area, error = auc(TABLE), math.sqrt(delong_variance(TABLE))
    half = ndtri(0.975) * error / (area * (1 - area))
    assert delong_logit(TABLE) == pytest.approx((expit(logit(area) - half), expit(logit(area) + half)))
    assert 0 < delong_logit(TABLE, 0.999999)[0] < delong_logit(TABLE, 0.999999)[1] < 1


def test_delong_logit_of_the_other_class_is_the_same():
    assert delong_logit(TABLE.swapped()) == pytest.approx(delong_logit(TABLE))


def test_delong_variances_of_replicates_are_those_of_each():
    rng = np.random.default_rng(0)
    drawn = replace(TABLE, counts=rng.multinomial(4, [TABLE.neg / 4, TABLE.pos / 4], size=(20, 2)))
    one_by_one = [delong_variance(replace(TABLE, counts=counts)) for counts in drawn.counts]
    assert delong_variances(drawn) == pytest.approx(np.array(one_by_one), rel=1e-12)


@given(hnp.arrays(np.int64, st.integers(2, 6), elements=st.integers(0, 3)), st.data())
def test_the_variance_is_that_of_the_mean_placements(positives, data):
    """By the definition: the sample variance of each case's share of pairs in the right order, over its class."""
    negatives = data.draw(hnp.arrays(np.int64, st.integers(2, 6), elements=st.integers(0, 3)))
    kernel = (positives[:, None] > negatives) + (positives[:, None] == negatives) / 2
    expected = kernel.mean(axis=1).var(ddof=1) / positives.size + kernel.mean(axis=0).var(ddof=1) / negatives.size
    truth = np.repeat([1, 0], [positives.size, negatives.size])
    assert delong_variance(score_table(truth, np.append(positives, negatives))) == pytest.approx(expected, abs=1e-15)


def test_delong_is_the_area_and_so_many_errors():
    low, high = delong_interval(TABLE, 0.5)
    area, half = auc(TABLE), 0.6744897501960817 * math.sqrt(delong_variance(TABLE))
    assert (low, high) == pytest.approx((area - half, area + half))


@pytest.mark.parametrize("table", [score_table([0, 0, 1, 1], [1, 2, 3, 4]), score_table([1, 0, 0], [1, 2, 3])])
def test_the_logit_scale_has_no_ends_and_no_single_cases(table):
    assert all(map(math.isnan, delong_logit(table)))


# --- weights


def test_the_weighted_variance_is_that_of_its_definition():
    rng = np.random.default_rng(8)
    truth, score, weight = rng.random(60) < 0.4, rng.normal(size=60).round(1), rng.exponential(size=60)
    found = weighted_variance(score_table(truth, score, positive=True, weight=weight))
    pos, neg = score[truth], score[~truth]
    w_pos, w_neg = weight[truth], weight[~truth]
    above = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    area = w_pos @ above @ w_neg / w_pos.sum() / w_neg.sum()
    influences = (
        w_pos * (above @ w_neg / w_neg.sum() - area) / w_pos.sum(),
        w_neg * (w_pos @ above / w_pos.sum() - area) / w_neg.sum(),
    )
    worth = [w.sum() ** 2 / (w @ w) for w in (w_pos, w_neg)]
    expected = sum(u @ u * size / (size - 1) for u, size in zip(influences, worth, strict=True))
    # Tied cases of one class stand in one cell, as cases of their mean weight: that moves the variance a little.
    assert found.variance == pytest.approx(expected, rel=0.1)
    assert found.sizes == pytest.approx(tuple(worth))
    one = np.concatenate(influences)
    k = (one @ one) ** 2 / (one**4).sum()
    assert found.df_cases == pytest.approx(min(1 + 2 * k / (1 - k / 60), truth.sum(), (~truth).sum()), rel=0.2)


def test_equal_weights_have_delongs_variance():
    rng = np.random.default_rng(9)
    truth, score = rng.random(80) < 0.3, rng.normal(size=80)
    plain = score_table(truth, score, positive=True)
    heavy = score_table(truth, score, positive=True, weight=np.full(80, 7.0))
    assert weighted_variance(heavy).variance == pytest.approx(delong_variance(plain))


def test_areas_of_verified_samples_are_covered():
    # One in ten of the lower half is verified and weighs ten: percentiles of the bootstrap held 0.80 in 87 %.
    rng, held = np.random.default_rng(10), 0
    for _ in range(150):
        truth = rng.random(400) < 0.3
        score = rng.normal(size=400) + math.sqrt(2) * ndtri(0.8) * truth
        chance = np.where(score > 0.6, 1.0, 0.1)
        kept = rng.random(400) < chance
        table = score_table(truth[kept], score[kept], positive=True, weight=1 / chance[kept])
        one = estimate(parse("auc"), table)
        held += one.low <= 0.8 <= one.high
    assert held >= 0.92 * 150
