"""Power and sample size: against the published formulas written out again, the paper's example, and simulation."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from scorespace.comparisons.delong import auc_against, delong_covariance, delong_pair, delong_unpaired
from scorespace.comparisons.power import (
    auc_power,
    auc_sample_size,
    auc_width,
    difference_power,
    difference_sample_size,
    hanley_variance,
    solved,
    solved_prevalence,
    split,
)
from scorespace.errors import ConditionError
from scorespace.tables import score_table
from scorespace.tables.pair import pair_table

z = stats.norm.ppf


def large_sample_variance(area):
    """Hanley and McNeil (1982): n times the variance with n positives and n negatives, n large: Q1 + Q2 − 2θ²."""
    return area / (2 - area) + 2 * area**2 / (1 + area) - 2 * area**2


# --- variance


def test_variance_of_the_papers_example():
    # Hanley and McNeil (1982): 51 abnormal and 58 normal images, area 0.893, standard error 0.032.
    assert math.sqrt(hanley_variance(0.893, 51, 58)) == pytest.approx(0.0325, abs=0.0005)


def test_variance_of_a_useless_score_is_that_of_mann_whitney():
    assert hanley_variance(0.5, 12, 30) == pytest.approx((12 + 30 + 1) / (12 * 12 * 30))


def test_variance_of_exponential_scores():
    # For exponential scores Q1 and Q2 are exact: area θ = λ₀/(λ₀ + λ₁) with scores of means 1/λ₁ and 1/λ₀.
    rng = np.random.default_rng(0)
    pos, neg = rng.exponential(4, (4000, 15)), rng.exponential(1, (4000, 25))
    areas = (pos[:, :, None] > neg[:, None, :]).mean(axis=(1, 2))
    assert areas.mean() == pytest.approx(0.8, abs=0.005)
    assert areas.var() == pytest.approx(hanley_variance(0.8, 15, 25), rel=0.08)


@pytest.mark.parametrize("auc", [0.1, 0.3, 0.6, 0.9])
def test_the_other_class_has_the_same_variance(auc):
    assert hanley_variance(auc, 20, 50) == pytest.approx(hanley_variance(1 - auc, 50, 20))


# --- power


def test_power_of_one_area_is_the_formula():
    null, auc, n_pos, n_neg = 0.7, 0.82, 40, 90

    def spread(a):
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        return math.sqrt((a * (1 - a) + (n_pos - 1) * (q1 - a * a) + (n_neg - 1) * (q2 - a * a)) / n_pos / n_neg)

    expected = stats.norm.cdf((auc - null - z(0.95) * spread(null)) / spread(auc))
    assert auc_power(auc, n_pos, n_neg, null=null, sides=1).power == pytest.approx(expected)


def test_power_without_a_difference_is_alpha():
    assert auc_power(0.7, 40, 60, null=0.7, alpha=0.03).power == pytest.approx(0.03)
    assert auc_power(0.7, 40, 60, null=0.7, alpha=0.03, sides=1).power == pytest.approx(0.03)
    assert difference_power(0.7, 0.7, 40, 60, correlation=0.4).power == pytest.approx(0.05)


@pytest.mark.parametrize("correlation", [None, 0.0, 0.6])
def test_power_is_the_same_either_way_round(correlation):
    there, back = (difference_power(*areas, 50, 70, correlation=correlation) for areas in ((0.8, 0.7), (0.7, 0.8)))
    assert there.power == pytest.approx(back.power)


def test_power_grows_with_cases_difference_correlation_and_alpha():
    start = difference_power(0.8, 0.75, 100, 100, correlation=0.3).power
    assert difference_power(0.8, 0.75, 200, 100, correlation=0.3).power > start
    assert difference_power(0.8, 0.75, 100, 200, correlation=0.3).power > start
    assert difference_power(0.82, 0.75, 100, 100, correlation=0.3).power > start
    assert difference_power(0.8, 0.75, 100, 100, correlation=0.5).power > start
    assert difference_power(0.8, 0.75, 100, 100, correlation=0.3, alpha=0.1).power > start
    assert difference_power(0.8, 0.75, 100, 100, correlation=0.3, sides=1).power > start


def test_different_cases_are_same_cases_without_correlation_and_twice_as_many():
    unpaired, paired = (difference_power(0.8, 0.7, 50, 50, correlation=r) for r in (None, 0.0))
    assert unpaired.power == paired.power
    assert (unpaired.cases, paired.cases) == (200, 100)


# --- sample size


@pytest.mark.parametrize(("low", "high"), [(0.7, 0.75), (0.75, 0.8), (0.8, 0.9), (0.85, 0.9)])
@pytest.mark.parametrize("power", [0.8, 0.9, 0.95])
def test_sample_size_of_a_difference_is_hanley_and_mcneils(low, high, power):
    # n = ((z_α √2V₁ + z_β √(V₁ + V₂)) / δ)², one-sided: what their Table III is computed from, for large n.
    v1, v2 = large_sample_variance(low), large_sample_variance(high)
    published = ((z(0.95) * math.sqrt(2 * v1) + z(power) * math.sqrt(v1 + v2)) / (high - low)) ** 2
    found = difference_sample_size(high, low, ratio=1, power=power, sides=1)
    assert found.n_pos == found.n_neg
    assert found.n_pos == pytest.approx(published, rel=0.01, abs=2)


def test_sample_size_of_paired_areas_shrinks_with_the_correlation():
    sizes = [difference_sample_size(0.8, 0.75, ratio=1, correlation=r).n_pos for r in (0.0, 0.25, 0.5)]
    assert sizes[1] == pytest.approx(0.75 * sizes[0], rel=0.01)
    assert sizes[2] == pytest.approx(0.5 * sizes[0], rel=0.01)


def test_sample_size_of_one_area_is_the_formula_for_large_samples():
    v0, v1 = large_sample_variance(0.8), large_sample_variance(0.83)
    published = ((z(0.975) * math.sqrt(v0) + z(0.9) * math.sqrt(v1)) / 0.03) ** 2
    assert auc_sample_size(0.83, null=0.8, ratio=1, power=0.9).n_pos == pytest.approx(published, rel=0.01)


def test_half_width_is_the_formula_for_large_samples():
    published = (z(0.975) / 0.02) ** 2 * large_sample_variance(0.75)
    found = auc_sample_size(0.75, half_width=0.02, ratio=1)
    assert found.n_pos == pytest.approx(published, rel=0.01)
    assert found.half_width <= 0.02


@pytest.mark.parametrize("prevalence", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("correlation", [None, 0.5])
def test_the_sample_is_the_smallest_that_is_enough(prevalence, correlation):
    found = difference_sample_size(0.8, 0.7, prevalence=prevalence, correlation=correlation)
    assert found.power >= 0.8
    assert found.n_pos / (found.n_pos + found.n_neg) == pytest.approx(prevalence, rel=0.05)
    ratio = (1 - prevalence) / prevalence
    if ratio >= 1:
        fewer = found.n_pos - 1, math.ceil((found.n_pos - 1) * ratio - 1e-9)
    else:
        fewer = math.ceil((found.n_neg - 1) / ratio - 1e-9), found.n_neg - 1
    assert difference_power(0.8, 0.7, *fewer, correlation=correlation).power < 0.8


def test_prevalence_and_ratio_say_the_same():
    assert auc_sample_size(0.8, null=0.6, prevalence=0.25) == auc_sample_size(0.8, null=0.6, ratio=3)


def test_an_area_below_one_half_is_as_easily_told():
    assert auc_sample_size(0.2, null=0.5, ratio=1).n_pos == auc_sample_size(0.8, null=0.5, ratio=1).n_pos


def test_a_tiny_difference_takes_millions():
    assert auc_sample_size(0.8001, null=0.8, ratio=1).n_pos > 10**6


def test_split():
    assert split(100, 0.3) == (30, 70)
    assert split(2, 0.01) == (1, 1)
    assert split(10, 0.999) == (9, 1)


# --- simulation of the tests themselves


@pytest.mark.slow
def test_power_of_one_area_is_reached_by_delongs_test():
    plan = auc_sample_size(0.75, null=0.6, prevalence=0.4)
    truth = np.repeat([1, 0], [plan.n_pos, plan.n_neg])
    rng, gap = np.random.default_rng(2), z(0.75) * math.sqrt(2)
    found = [auc_against(score_table(truth, gap * truth + rng.normal(size=truth.size)), 0.6).p for _ in range(400)]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.08)


@pytest.mark.slow
def test_power_of_a_difference_is_reached_by_delongs_test():
    plan = difference_sample_size(0.85, 0.7, prevalence=0.5)
    truth, rng = np.repeat([1, 0], [plan.n_pos, plan.n_neg]), np.random.default_rng(2)

    def table(area):
        return score_table(truth, z(area) * math.sqrt(2) * truth + rng.normal(size=truth.size))

    found = [delong_unpaired(table(0.85), table(0.7), ("a", "b")).p for _ in range(400)]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.08)


@pytest.mark.slow
def test_power_of_a_paired_difference_is_reached_by_delongs_test():
    rng, gaps = np.random.default_rng(4), z([0.85, 0.75]) * math.sqrt(2)
    noise = [[1, 0.6], [0.6, 1]]

    def pairs(n_pos, n_neg):
        truth = np.repeat([1, 0], [n_pos, n_neg])
        scores = gaps * truth[:, None] + rng.multivariate_normal([0, 0], noise, truth.size)
        return pair_table(truth, {"a": scores[:, 0], "b": scores[:, 1]})

    _, covariance = delong_covariance(pairs(20_000, 20_000))
    correlation = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    plan = difference_sample_size(0.85, 0.75, prevalence=0.5, correlation=correlation)
    found = [
        delong_pair(*delong_covariance(pairs(plan.n_pos, plan.n_neg)), ("a", "b"), 0, 1, 0.95).p for _ in range(400)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.08)


# --- mistakes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_power(1.2, 10, 10), "auc=1.2 is not an area that varies."),
        (lambda: auc_power(0.8, 10, 10, null=1), "null=1 is not an area that varies."),
        (lambda: auc_power(math.nan, 10, 10), "auc=nan is not an area that varies."),
        (lambda: auc_power(0.8, 0, 10), "n_pos=0, n_neg=10 are not cases of two classes."),
        (lambda: auc_power(0.8, 10, 10, alpha=5), "alpha=5 is not a probability of error."),
        (lambda: auc_power(0.8, 10, 10, sides=3), "sides=3 is not a number of sides."),
        (lambda: auc_sample_size(0.8, prevalence=0.5), "state one aim of the sample."),
        (lambda: auc_sample_size(0.8, null=0.5, half_width=0.1, ratio=1), "state one aim of the sample."),
        (lambda: auc_sample_size(0.8, half_width=0, ratio=1), "half_width=0 is not a half width."),
        (lambda: auc_sample_size(0.8, null=0.5), "state how many cases are positive."),
        (lambda: auc_sample_size(0.8, null=0.5, ratio=1, prevalence=0.5), "state how many cases are positive."),
        (lambda: auc_sample_size(0.8, null=0.5, ratio=0), "ratio=0 is not a ratio of negatives to positives."),
        (lambda: auc_sample_size(0.8, null=0.5, prevalence=1), "prevalence=1 is not the share of a class."),
        (lambda: auc_sample_size(0.8, null=0.8, ratio=1), "no number of cases tells an AUC of 0.8 from 0.8."),
        (lambda: auc_sample_size(0.8, null=0.5, ratio=1, power=1), "power=1 is not a power to reach."),
        (lambda: auc_sample_size(0.8, null=0.5, ratio=1, power=0.01), "power=0.01 is not a power to reach."),
        (lambda: difference_power(0.8, 0.7, 9, 9, correlation=1), "correlation=1 is not a correlation."),
        (lambda: split(1, 0.5), "cases=1 are not cases of two classes."),
    ],
)
def test_message(call, message):
    with pytest.raises(ConditionError) as caught:
        call()
    assert caught.value.problem == message


# --- results


def test_words():
    found = difference_sample_size(0.8, 0.7, prevalence=0.5, correlation=0.5)
    assert repr(found) == (
        f"With {found.n_pos} positive and {found.n_neg} negative cases, a two-sided test at 0.05 has power "
        "0.803 to tell AUCs of 0.8 and 0.7 apart on the same cases (correlation 0.5)."
    )
    assert "cases for each model" in repr(difference_power(0.8, 0.7, 30, 30))
    assert "on different cases" in repr(difference_power(0.8, 0.7, 30, 30))


def test_few_cases_are_noted():
    assert [note.code for note in auc_power(0.9, 10, 50).notes] == ["SS001"]
    assert auc_power(0.9, 20, 50).notes == ()


def test_a_plan_is_a_row():
    content = json.loads(json.dumps(auc_sample_size(0.8, half_width=0.05, ratio=2).to_dict(), allow_nan=False))
    (row,) = content["rows"]
    assert (row["design"], row["power"], row["against"]) == ("width", None, None)
    assert row["cases"] == row["n_pos"] + row["n_neg"]


# --- any other term


@pytest.mark.parametrize("design", [{"correlation": 0.4}, {"unpaired": True}, {}], ids=["paired", "unpaired", "one"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("term", "stated"), [("against", {"auc": 0.8}), ("auc", {"against": 0.7})])
def test_the_area_that_can_just_be_told_apart(design, sides, term, stated):
    found = solved(term, 120, 280, **stated, **design, sides=sides, power=0.9)
    assert found.power == pytest.approx(0.9, abs=1e-6)
    value = getattr(found, term)
    assert value < 0.8 if term == "against" else value > 0.7
    if "correlation" in design or "unpaired" in design:
        again = difference_power(found.auc, found.against, 120, 280, correlation=design.get("correlation"), sides=sides)
    else:
        again = auc_power(found.auc, 120, 280, null=found.against, sides=sides)
    assert again.power == pytest.approx(0.9, abs=1e-6)


def test_the_correlation_and_the_alpha_that_are_needed():
    found = solved("correlation", 200, 200, auc=0.8, against=0.75, power=0.8)
    assert difference_power(0.8, 0.75, 200, 200, correlation=found.correlation).power == pytest.approx(0.8, abs=1e-6)
    loose = solved("alpha", 200, 200, auc=0.8, against=0.75, correlation=0.2, power=0.8)
    assert loose.alpha > 0.05
    assert difference_power(0.8, 0.75, 200, 200, correlation=0.2, alpha=loose.alpha).power == pytest.approx(
        0.8, abs=1e-6
    )


def test_a_width_is_that_of_its_interval():
    found = auc_width(0.8931, 51, 58)
    assert found.half_width == pytest.approx(stats.norm.ppf(0.975) * 0.0325, abs=1e-4)  # Hanley and McNeil's error


@pytest.mark.parametrize(
    ("cases", "more"),
    [(60, {"against": 0.55}), (200, {"against": 0.7, "correlation": 0.6}), (240, {"against": 0.65, "unpaired": True})],
)
@pytest.mark.parametrize("sides", [1, 2])
def test_the_shares_of_positives_by_brute_force(cases, more, sides):
    def power(n_pos):
        sizes = n_pos, cases - n_pos
        if len(more) == 1:
            return auc_power(0.8, *sizes, null=more["against"], sides=sides).power
        return difference_power(0.8, more["against"], *sizes, correlation=more.get("correlation"), sides=sides).power

    enough = [n_pos for n_pos in range(1, cases) if power(n_pos) >= 0.75]
    found = solved_prevalence(cases, auc=0.8, power=0.75, sides=sides, **more)
    assert found.prevalences == (enough[0] / cases, enough[-1] / cases)
    assert (found.n_pos, found.n_neg, found.power) == (enough[0], cases - enough[0], power(enough[0]))
    assert enough == list(range(enough[0], enough[-1] + 1))


def test_no_share_of_positives_is_enough_for_few_cases():
    with pytest.raises(ConditionError) as caught:
        solved_prevalence(100, auc=0.8, against=0.7)
    best = max(range(1, 100), key=lambda n_pos: auc_power(0.8, n_pos, 100 - n_pos, null=0.7).power)
    assert str(caught.value) == (
        "no share of positives gives 100 cases a power of 0.8.\n"
        f"  seen: at most {auc_power(0.8, best, 100 - best, null=0.7).power:.3f}, with {best} % positive\n"
        "  hint: more cases, or another power"
    )
    whole = solved_prevalence(10**9, auc=0.8, against=0.7, correlation=0.5)
    assert whole.n_pos == difference_sample_size(0.8, 0.7, ratio=10**9 / whole.n_pos - 1, correlation=0.5).n_pos


def test_what_cannot_be_solved():
    with pytest.raises(ConditionError) as caught:
        solved("auc", 2, 2, against=0.9)
    assert str(caught.value).startswith("no auc gives these cases a power of 0.8.\n  seen: from 0.")
    with pytest.raises(ConditionError, match="a plan cannot be solved for 'corelation'"):
        solved("corelation", 30, 30)
    with pytest.raises(ConditionError, match="the alpha follows from the against, which is not stated"):
        solved("alpha", 30, 30, auc=0.8)
    with pytest.raises(ConditionError, match="models on different cases are not correlated"):
        solved("correlation", 30, 30, auc=0.8, against=0.7, unpaired=True)
