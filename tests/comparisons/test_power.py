"""Power and sample size: against the published formulas written out again, the paper's example, and simulation."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from scorespace.comparisons.delong import auc_against, delong_covariance, delong_pair, delong_unpaired
from scorespace.comparisons.power import (
    PowerTarget,
    auc_width,
    hanley_variance,
    obuchowski_variance,
    sample_size,
    sample_size_of_share,
    sample_size_of_width,
    share_width,
    solve_for,
    solve_for_prevalence,
    split_by_prevalence,
)
from scorespace.errors import ConditionError
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

z = stats.norm.ppf


def two(auc, against, correlation, sides=2):
    """Two models, on different cases where they have no correlation."""
    return PowerTarget(auc=auc, against=against, correlation=correlation, unpaired=correlation is None, sides=sides)


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


# Obuchowski (2004), table 4, as in the tests of pROC (power 0.9, one-sided at 0.05): cases of both classes by their
# ratio. Each class is rounded up by itself there; here the rarer one is, and the other follows by the ratio.
OBUCHOWSKI = [
    (0.6, 0.25, 334, 84),
    (0.6, 0.5, 202, 101),
    (0.7, 0.5, 49, 25),
    (0.6, 1, 135, 135),
    (0.7, 1, 33, 33),
    (0.8, 1, 14, 14),
    (0.6, 2, 102, 203),
    (0.7, 2, 25, 50),
    (0.8, 2, 11, 21),
    (0.6, 4, 85, 340),
    (0.7, 4, 21, 84),
]


@pytest.mark.parametrize(("auc", "ratio", "n_pos", "n_neg"), OBUCHOWSKI)
def test_sample_sizes_of_obuchowski(auc, ratio, n_pos, n_neg):
    aim = PowerTarget(auc=auc, against=0.5, sides=1, variance="obuchowski")
    found = sample_size(aim, 1 / (1 + ratio), 0.9)
    assert min(found.n_pos, found.n_neg) == min(n_pos, n_neg)
    assert found.n_pos + found.n_neg == pytest.approx(n_pos + n_neg, abs=max(ratio, 1 / ratio) - 1)


@pytest.mark.parametrize(("auc", "power"), [(0.7313686, 0.9904833), (0.73, 0.9897453)])
def test_power_of_proc(auc, power):
    # power.roc.test of 41 cases and 72 controls; it leaves out the far side, which here is below 1e-9.
    found = PowerTarget(auc=auc, against=0.5, variance="obuchowski").with_cases(41, 72)
    assert found.power == pytest.approx(power, abs=1e-6)
    assert found.rows()[0]["variance"] == "obuchowski"


def test_hanleys_variance_is_the_nearer_one_also_of_normal_classes():
    # The null variance of ranks is (P + N + 1) / (12 P N): Hanley and McNeil's is exact there, Obuchowski's 5 % less.
    assert obuchowski_variance(0.5, 40, 60) == pytest.approx(hanley_variance(0.5, 40, 60), rel=0.06)
    rng = np.random.default_rng(0)
    pos, neg = rng.normal(stats.norm.ppf(0.8) * math.sqrt(2), 1, (4000, 60)), rng.normal(0, 1, (4000, 90))
    seen = (pos[:, :, None] > neg[:, None, :]).mean(axis=(1, 2)).var()
    assert seen < hanley_variance(0.8, 60, 90) < obuchowski_variance(0.8, 60, 90) < 1.35 * seen


def test_widths_follow_the_variance():
    for name, variance in (("hanley", hanley_variance), ("obuchowski", obuchowski_variance)):
        found = sample_size_of_width(0.8, 0.05, 0.3, variance=name)
        assert found.half_width == pytest.approx(z(0.975) * math.sqrt(variance(0.8, found.n_pos, found.n_neg)))


# --- power


def test_power_of_one_area_is_the_formula():
    null, auc, n_pos, n_neg = 0.7, 0.82, 40, 90

    def spread(a):
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        return math.sqrt((a * (1 - a) + (n_pos - 1) * (q1 - a * a) + (n_neg - 1) * (q2 - a * a)) / n_pos / n_neg)

    expected = stats.norm.cdf((auc - null - z(0.95) * spread(null)) / spread(auc))
    assert PowerTarget(auc=auc, against=null, sides=1).with_cases(n_pos, n_neg).power == pytest.approx(expected)


def test_power_without_a_difference_is_alpha():
    assert PowerTarget(auc=0.7, against=0.7, alpha=0.03).with_cases(40, 60).power == pytest.approx(0.03)
    assert PowerTarget(auc=0.7, against=0.7, alpha=0.03, sides=1).with_cases(40, 60).power == pytest.approx(0.03)
    assert PowerTarget(auc=0.7, against=0.7, correlation=0.4).with_cases(40, 60).power == pytest.approx(0.05)


@pytest.mark.parametrize("correlation", [None, 0.0, 0.6])
def test_power_is_the_same_either_way_round(correlation):
    there, back = (two(*areas, correlation).with_cases(50, 70) for areas in ((0.8, 0.7), (0.7, 0.8)))
    assert there.power == pytest.approx(back.power)


def test_power_grows_with_cases_difference_correlation_and_alpha():
    start = PowerTarget(auc=0.8, against=0.75, correlation=0.3).with_cases(100, 100).power
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.3).with_cases(200, 100).power > start
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.3).with_cases(100, 200).power > start
    assert PowerTarget(auc=0.82, against=0.75, correlation=0.3).with_cases(100, 100).power > start
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.5).with_cases(100, 100).power > start
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.3, alpha=0.1).with_cases(100, 100).power > start
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.3, sides=1).with_cases(100, 100).power > start


def test_different_cases_are_same_cases_without_correlation_and_twice_as_many():
    unpaired, paired = (two(0.8, 0.7, r).with_cases(50, 50) for r in (None, 0.0))
    assert unpaired.power == paired.power
    assert (unpaired.cases, paired.cases) == (200, 100)


# --- sample size


@pytest.mark.parametrize(("low", "high"), [(0.7, 0.75), (0.75, 0.8), (0.8, 0.9), (0.85, 0.9)])
@pytest.mark.parametrize("power", [0.8, 0.9, 0.95])
def test_sample_size_of_a_difference_is_hanley_and_mcneils(low, high, power):
    # n = ((z_α √2V₁ + z_β √(V₁ + V₂)) / δ)², one-sided: what their Table III is computed from, for large n.
    v1, v2 = large_sample_variance(low), large_sample_variance(high)
    published = ((z(0.95) * math.sqrt(2 * v1) + z(power) * math.sqrt(v1 + v2)) / (high - low)) ** 2
    found = sample_size(PowerTarget(auc=high, against=low, unpaired=True, sides=1), 0.5, power)
    assert found.n_pos == found.n_neg
    assert found.n_pos == pytest.approx(published, rel=0.01, abs=2)


def test_sample_size_of_paired_areas_shrinks_with_the_correlation():
    sizes = [sample_size(PowerTarget(auc=0.8, against=0.75, correlation=r), 0.5).n_pos for r in (0.0, 0.25, 0.5)]
    assert sizes[1] == pytest.approx(0.75 * sizes[0], rel=0.01)
    assert sizes[2] == pytest.approx(0.5 * sizes[0], rel=0.01)


def test_sample_size_of_one_area_is_the_formula_for_large_samples():
    v0, v1 = large_sample_variance(0.8), large_sample_variance(0.83)
    published = ((z(0.975) * math.sqrt(v0) + z(0.9) * math.sqrt(v1)) / 0.03) ** 2
    assert sample_size(PowerTarget(auc=0.83, against=0.8), 0.5, 0.9).n_pos == pytest.approx(published, rel=0.01)


def test_half_width_is_the_formula_for_large_samples():
    published = (z(0.975) / 0.02) ** 2 * large_sample_variance(0.75)
    found = sample_size_of_width(0.75, 0.02, 0.5)
    assert found.n_pos == pytest.approx(published, rel=0.01)
    assert found.half_width <= 0.02


@pytest.mark.parametrize("prevalence", [0.01, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("correlation", [None, 0.5])
def test_the_sample_is_the_smallest_that_is_enough(prevalence, correlation):
    found = sample_size(two(0.8, 0.7, correlation), prevalence)
    assert found.power >= 0.8
    assert found.n_pos / (found.n_pos + found.n_neg) == pytest.approx(prevalence, rel=0.05)
    ratio = (1 - prevalence) / prevalence
    if ratio >= 1:
        fewer = found.n_pos - 1, math.ceil((found.n_pos - 1) * ratio - 1e-9)
    else:
        fewer = math.ceil((found.n_neg - 1) / ratio - 1e-9), found.n_neg - 1
    assert two(0.8, 0.7, correlation).with_cases(*fewer).power < 0.8


def test_an_area_below_one_half_is_as_easily_told():
    assert (
        sample_size(PowerTarget(auc=0.2, against=0.5), 0.5).n_pos
        == sample_size(PowerTarget(auc=0.8, against=0.5), 0.5).n_pos
    )


def test_a_tiny_difference_takes_millions():
    assert sample_size(PowerTarget(auc=0.8001, against=0.8), 0.5).n_pos > 10**6


def test_split():
    assert split_by_prevalence(100, 0.3) == (30, 70)
    assert split_by_prevalence(2, 0.01) == (1, 1)
    assert split_by_prevalence(10, 0.999) == (9, 1)


# --- simulation of the tests themselves


@pytest.mark.slow
def test_power_of_one_area_is_reached_by_delongs_test():
    plan = sample_size(PowerTarget(auc=0.75, against=0.6), 0.4)
    truth = np.repeat([1, 0], [plan.n_pos, plan.n_neg])
    rng, gap = np.random.default_rng(2), z(0.75) * math.sqrt(2)
    found = [auc_against(score_table(truth, gap * truth + rng.normal(size=truth.size)), 0.6).p for _ in range(400)]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.08)


@pytest.mark.slow
def test_power_of_a_difference_is_reached_by_delongs_test():
    plan = sample_size(PowerTarget(auc=0.85, against=0.7, unpaired=True), 0.5)
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
    plan = sample_size(PowerTarget(auc=0.85, against=0.75, correlation=correlation), 0.5)
    found = [
        delong_pair(*delong_covariance(pairs(plan.n_pos, plan.n_neg)), ("a", "b"), 0, 1, 0.95).p for _ in range(400)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.8, abs=0.08)


# --- mistakes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: PowerTarget(auc=1.2, against=0.5).with_cases(10, 10),
            "auc=1.2 is not an AUC strictly between 0 and 1.",
        ),
        (
            lambda: PowerTarget(auc=0.8, against=1).with_cases(10, 10),
            "against=1 is not an AUC strictly between 0 and 1.",
        ),
        (
            lambda: PowerTarget(auc=math.nan, against=0.5).with_cases(10, 10),
            "auc=nan is not an AUC strictly between 0 and 1.",
        ),
        (
            lambda: PowerTarget(auc=0.8, against=0.5).with_cases(0, 10),
            "n_pos=0, n_neg=10 are not cases of two classes.",
        ),
        (
            lambda: PowerTarget(auc=0.8, against=0.5, alpha=5).with_cases(10, 10),
            "alpha=5 is not a significance level.",
        ),
        (lambda: PowerTarget(auc=0.8, against=0.5, sides=3).with_cases(10, 10), "sides=3 is not a number of sides."),
        (lambda: sample_size_of_width(0.8, 0, 0.5), "half_width=0 is not a half width."),
        (lambda: sample_size(PowerTarget(auc=0.8, against=0.5), 1), "prevalence=1 is not a prevalence."),
        (
            lambda: sample_size(PowerTarget(auc=0.8, against=0.8), 0.5),
            "no number of cases distinguishes an AUC of 0.8 from 0.8.",
        ),
        (lambda: sample_size(PowerTarget(auc=0.8, against=0.5), 0.5, 1), "power=1 is not a possible power."),
        (lambda: sample_size(PowerTarget(auc=0.8, against=0.5), 0.5, 0.01), "power=0.01 is not a possible power."),
        (
            lambda: PowerTarget(auc=0.8, against=0.7, correlation=1).with_cases(9, 9),
            "correlation=1 is not a correlation.",
        ),
        (lambda: split_by_prevalence(1, 0.5), "cases=1 are not cases of two classes."),
    ],
)
def test_message(call, message):
    with pytest.raises(ConditionError) as caught:
        call()
    assert caught.value.problem == message


# --- results


def test_words():
    found = sample_size(PowerTarget(auc=0.8, against=0.7, correlation=0.5), 0.5)
    assert repr(found) == (
        f"With {found.n_pos} positive and {found.n_neg} negative cases, a two-sided test at 0.05 has power "
        "0.803 to detect a difference between AUCs of 0.8 and 0.7 on the same cases (correlation 0.5)."
    )
    assert "cases for each model" in repr(PowerTarget(auc=0.8, against=0.7, unpaired=True).with_cases(30, 30))
    assert "on different cases" in repr(PowerTarget(auc=0.8, against=0.7, unpaired=True).with_cases(30, 30))


def test_few_cases_are_noted():
    assert [note.code for note in PowerTarget(auc=0.9, against=0.5).with_cases(10, 50).notes] == ["SS001"]
    assert PowerTarget(auc=0.9, against=0.5).with_cases(20, 50).notes == ()


def test_a_plan_is_a_row():
    content = json.loads(json.dumps(sample_size_of_width(0.8, 0.05, 1 / 3).to_dict(), allow_nan=False))
    (row,) = content["rows"]
    assert (row["design"], row["power"], row["against"]) == ("width", None, None)
    assert row["cases"] == row["n_pos"] + row["n_neg"]


# --- any other term


@pytest.mark.parametrize("design", [{"correlation": 0.4}, {"unpaired": True}, {}], ids=["paired", "unpaired", "one"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("term", "stated"), [("against", {"auc": 0.8}), ("auc", {"against": 0.7})])
def test_the_area_that_can_just_be_told_apart(design, sides, term, stated):
    found = solve_for(term, PowerTarget(sides=sides, **stated, **design), 120, 280, 0.9)
    assert found.power == pytest.approx(0.9, abs=1e-6)
    value = getattr(found, term)
    assert value < 0.8 if term == "against" else value > 0.7
    if "correlation" in design or "unpaired" in design:
        again = two(found.auc, found.against, design.get("correlation"), sides).with_cases(120, 280)
    else:
        again = PowerTarget(auc=found.auc, against=found.against, sides=sides).with_cases(120, 280)
    assert again.power == pytest.approx(0.9, abs=1e-6)


def test_the_correlation_and_the_alpha_that_are_needed():
    found = solve_for("correlation", PowerTarget(auc=0.8, against=0.75), 200, 200, 0.8)
    assert PowerTarget(auc=0.8, against=0.75, correlation=found.correlation).with_cases(
        200, 200
    ).power == pytest.approx(0.8, abs=1e-6)
    loose = solve_for("alpha", PowerTarget(auc=0.8, against=0.75, correlation=0.2), 200, 200, 0.8)
    assert loose.alpha > 0.05
    assert PowerTarget(auc=0.8, against=0.75, correlation=0.2, alpha=loose.alpha).with_cases(
        200, 200
    ).power == pytest.approx(0.8, abs=1e-6)


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
            return PowerTarget(auc=0.8, against=more["against"], sides=sides).with_cases(*sizes).power
        return two(0.8, more["against"], more.get("correlation"), sides).with_cases(*sizes).power

    enough = [n_pos for n_pos in range(1, cases) if power(n_pos) >= 0.75]
    found = solve_for_prevalence(PowerTarget(auc=0.8, sides=sides, **more), cases, 0.75)
    assert found.prevalences == (enough[0] / cases, enough[-1] / cases)
    assert (found.n_pos, found.n_neg, found.power) == (enough[0], cases - enough[0], power(enough[0]))
    assert enough == list(range(enough[0], enough[-1] + 1))


def test_no_share_of_positives_is_enough_for_few_cases():
    with pytest.raises(ConditionError) as caught:
        solve_for_prevalence(PowerTarget(auc=0.8, against=0.7), 100)
    aim = PowerTarget(auc=0.8, against=0.7)
    best = max(range(1, 100), key=lambda n_pos: aim.with_cases(n_pos, 100 - n_pos).power)
    assert str(caught.value) == (
        "no prevalence gives 100 cases a power of 0.8.\n"
        f"  seen: at most {aim.with_cases(best, 100 - best).power:.3f}, with {best} % positive\n"
        "  hint: more cases, or another power"
    )
    whole = solve_for_prevalence(PowerTarget(auc=0.8, against=0.7, correlation=0.5), 10**9)
    assert whole.n_pos == sample_size(two(0.8, 0.7, 0.5), whole.n_pos / 10**9).n_pos


def test_what_cannot_be_solved():
    with pytest.raises(ConditionError) as caught:
        solve_for("auc", PowerTarget(against=0.9), 2, 2)
    assert str(caught.value).startswith("no auc gives these cases a power of 0.8.\n  seen: from 0.")
    with pytest.raises(ConditionError, match="solved for 'corelation'"):
        solve_for("corelation", PowerTarget(), 30, 30)
    with pytest.raises(ConditionError, match="solving for alpha"):
        solve_for("alpha", PowerTarget(auc=0.8), 30, 30)
    with pytest.raises(ConditionError, match="models on different"):
        solve_for("correlation", PowerTarget(auc=0.8, against=0.7, unpaired=True), 30, 30)


# --- a share


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("within", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_the_fewest_cases_of_a_share_solve_the_quadratic(share, within, alpha):
    # w (n + z²) = z √(p(1 − p) n + z²/4), squared: a quadratic in n, whose larger root is the answer.
    square = z(1 - alpha / 2) ** 2
    roots = np.roots([1, 2 * square - square * share * (1 - share) / within**2, square**2 * (1 - 0.25 / within**2)])
    assert sample_size_of_share(share, within, alpha=alpha).n == math.ceil(max(roots.real) - 1e-9)


def test_one_half_within_five_points_takes_four_cases_less_than_walds():
    # The textbook's 385 = ⌈z²/4w²⌉ is of Wald's interval; at one half Wilson's needs z² cases less.
    assert sample_size_of_share(0.5, 0.05).n == math.ceil(z(0.975) ** 2 * (1 / (4 * 0.05**2) - 1)) == 381


@pytest.mark.parametrize(("hits", "n"), [(90, 100), (126, 140), (135, 150), (20, 20)])
def test_the_interval_of_a_share_is_scipys(hits, n):
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    plan = share_width(hits / n, n)
    assert (plan.low, plan.high) == pytest.approx((theirs.low, theirs.high))
    assert plan.half_width == pytest.approx((theirs.high - theirs.low) / 2)


def test_all_cases_of_a_share_follow_from_its_prevalence():
    plan = sample_size_of_share(0.9, 0.05, prevalence=0.3)
    assert (plan.n, plan.cases) == (141, 470)
    assert plan.words == (
        "With 141 cases, of 470 in all, the 95 % Wilson interval of a share of 0.9 is 0.839 to 0.939, half of which is "
        "0.050."
    )
    assert share_width(0.9, 141).cases is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share_width(1.2, 10), "share=1.2 is not a proportion."),
        (lambda: share_width(0.9, 0), "n=0 is not a number of cases."),
        (lambda: share_width(0.9, 10, prevalence=1.5), "prevalence=1.5 is not a prevalence."),
        (lambda: sample_size_of_share(0.9, 0.5), "within=0.5 is not a half width of a proportion."),
        (lambda: sample_size_of_share(0.9, 1e-9), "no study is large enough for this target."),
    ],
)
def test_shares_that_cannot_be_planned(call, message):
    with pytest.raises(ConditionError) as found:
        call()
    assert str(found.value).startswith(message)
