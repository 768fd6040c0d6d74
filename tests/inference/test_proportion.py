"""The interval of a share: Wilson's and the exact one, as SciPy has them."""

import math

import numpy as np
import pytest
from scipy import stats

from scorespace.inference.proportion import clopper_pearson, normal_quantile, rare_proportion, wilson


@pytest.mark.parametrize("trials", [1, 7, 10**9])
def test_wilson_touches_the_ends(trials):
    assert wilson(0, trials)[0] == 0
    assert wilson(trials, trials)[1] == 1


def test_wilson_without_trials_is_undefined():
    assert all(map(math.isnan, wilson(0, 0)))


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (7, 7), (3, 7), (1, 2), (499, 1000), (0, 1)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_proportions_as_in_scipy(hits, trials, level):
    test = stats.binomtest(hits, trials)
    for ours, theirs in ((clopper_pearson, "exact"), (wilson, "wilson")):
        bounds = test.proportion_ci(level, theirs)
        assert ours(hits, trials, level) == pytest.approx((bounds.low, bounds.high), abs=1e-12)


def test_clopper_pearson_covers_at_least_the_level():
    share = np.linspace(0.01, 0.99, 99)
    bounds = np.array([clopper_pearson(k, 12, 0.9) for k in range(13)])
    held = (bounds[:, :1] <= share) & (share <= bounds[:, 1:])
    chance = stats.binom.pmf(np.arange(13)[:, None], 12, share)
    assert (held * chance).sum(axis=0).min() >= 0.9


def test_clopper_pearson_without_trials_is_undefined():
    assert all(map(math.isnan, clopper_pearson(0, 0)))


def test_a_share_times_its_trials_is_whole_but_for_rounding():
    # 0.07 · 100 is 7.000000000000001, and no hit more.
    for share, trials in ((0.07, 100), (0.29, 100), (1 - 0.9, 10)):
        hits = round(share * trials)
        assert clopper_pearson(share * trials, trials) == clopper_pearson(hits, trials)


def test_the_quantile_leaves_half_the_rest_on_either_side():
    for level in (0.5, 0.95, 0.999):
        assert normal_quantile(level) == pytest.approx(stats.norm.isf((1 - level) / 2), abs=1e-12)


def test_a_rare_share_is_exact_below_and_that_of_jeffreys_above():
    assert rare_proportion(3, 20, 0.9) == pytest.approx(
        (clopper_pearson(3, 20, 0.9)[0], stats.beta.ppf(0.95, 3.5, 17.5))
    )
    assert rare_proportion(0, 7)[0] == 0
    assert rare_proportion(7, 7)[1] == 1
    assert all(map(math.isnan, rare_proportion(0, 0)))
