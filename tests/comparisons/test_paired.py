"""Bootstrap and permutation of differences: pROC's numbers, enumeration, groups, seeds."""

import math
import os
import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from oracles.load import columns, reference
from scorespace.comparisons.mcnemar import mcnemar_p
from scorespace.comparisons.paired import compare
from scorespace.curves import roc
from scorespace.measures import parse
from scorespace.resampling import draw as bootstrap
from scorespace.tables import score_table
from scorespace.tables.pair import pair_table

AUC = parse("auc")


def paired_bootstrap(pairs, i, j, spec, *, level=0.95, replicates=2000, **named):
    models = (pairs.models[i], pairs.models[j])
    return compare(pairs, spec=spec, test=f"bootstrap(replicates={replicates})", models=models, level=level, **named)[0]


def permutation(pairs, i, j, spec, *, replicates=2000, **named):
    models = (pairs.models[i], pairs.models[j])
    return compare(pairs, spec=spec, test=f"permutation(replicates={replicates})", models=models, **named)[0]


EARLY = parse("pauc(fpr_high=0.2)")


def asah():
    given = columns("asah")
    scores = {name: given[name] for name in ("s100b", "ndka")}
    return pair_table(given["outcome"], scores, positive="Poor")


def proc():
    return reference("proc_asah")["paired_tests"][0]


def sample(seed=0, size=100, gap=0.4):
    """Labels and two related models, the first better by the gap."""
    rng = np.random.default_rng(seed)
    label = (rng.random(size) < 0.4).astype(int)
    shared = rng.normal(size=size) + label
    return label, {"a": shared + gap * label + rng.normal(size=size), "b": shared + rng.normal(size=size)}


def area(label, score):
    pos, neg = score[label == 1], score[label == 0]
    return float(((pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)).mean())


# --- against pROC


def test_bootstrap_is_near_that_of_proc():
    found = paired_bootstrap(asah(), 0, 1, AUC, replicates=10_000)
    assert found.statistic == pytest.approx(proc()["boot_D"], abs=0.05)
    assert found.p == pytest.approx(proc()["boot_p"], abs=0.02)
    assert_allclose((found.low, found.high), proc()["delong_ci_diff"], atol=0.02)


def test_what_is_tested_of_partial_areas_is_partial():
    # pROC's roc.test silently tests the whole area when the curves hold no partial one.
    pairs = asah()
    part, whole = (paired_bootstrap(pairs, 0, 1, spec, replicates=10_000) for spec in (EARLY, AUC))
    given = columns("asah")
    curves = [roc(score_table(given["outcome"], given[name], positive="Poor")) for name in pairs.models]
    expected = curves[0].partial_area(fpr_high=0.2) - curves[1].partial_area(fpr_high=0.2)
    assert part.difference == pytest.approx(expected, abs=1e-12)
    assert part.measure == "pauc(fpr_high=0.2)"
    assert part.statistic == pytest.approx(proc()["boot_partial_1_08_D"], abs=0.1)
    assert part.p == pytest.approx(proc()["boot_partial_1_08_p"], abs=0.03)
    assert abs(part.p - whole.p) > 0.05


# --- bootstrap


def test_cases_are_drawn_together_for_both_models():
    # Models that differ by a rank-preserving map differ by nothing in every replicate.
    label, scores = sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = paired_bootstrap(pair_table(label, {"a": scores["a"], "b": np.exp(scores["a"])}), 0, 1, AUC)
    assert (found.difference, found.low, found.high, found.statistic, found.p) == (0, 0, 0, 0, 1)
    assert found.reason == "both models behave alike on every case"


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_is_that_of_replicates_drawn_one_by_one(seed):
    label, scores = sample(seed)
    found = paired_bootstrap(pair_table(label, scores), 0, 1, AUC, replicates=4000)
    rng, gaps = np.random.default_rng(seed), []
    classes = [np.flatnonzero(label == each) for each in (0, 1)]
    for _ in range(1500):
        rows = np.concatenate([rng.choice(members, members.size) for members in classes])
        gaps.append(area(label[rows], scores["a"][rows]) - area(label[rows], scores["b"][rows]))
    assert_allclose((found.low, found.high), np.quantile(gaps, [0.025, 0.975]), atol=0.15 * np.std(gaps))
    assert found.statistic == pytest.approx(found.difference / np.std(gaps), rel=0.08)


@pytest.mark.parametrize("digits", [1, 12])
def test_the_short_way_to_areas_gives_those_of_the_drawn_tables(digits):
    # AUC needs no table per replicate; gini, 2 · AUC − 1, takes the way that fills one.
    label, scores = sample()
    pairs = pair_table(label, {name: np.round(score, digits) for name, score in scores.items()})
    areas, ginis = (paired_bootstrap(pairs, 0, 1, parse(name), replicates=300, seed=5) for name in ("auc", "gini"))
    assert_allclose((2 * areas.low, 2 * areas.high), (ginis.low, ginis.high), atol=1e-12)
    assert areas.p == ginis.p


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_p_and_interval_agree_about_zero(level):
    agreed = set()
    for seed in range(60):
        pairs = pair_table(*sample(seed, size=60, gap=0.8))
        found = paired_bootstrap(pairs, 0, 1, AUC, level=level, replicates=500)
        if abs(found.p - (1 - level)) > 0.01:  # but for one replicate more or less
            outside = found.low > 0 or found.high < 0
            assert outside == (found.p < 1 - level)
            agreed.add(outside)
    assert agreed == {True, False}


def test_p_is_never_zero():
    label = np.repeat([1, 0], 30)
    scores = {"a": label + np.linspace(0, 0.9, 60), "b": np.tile([0.0, 1.0], 30)}
    found = paired_bootstrap(pair_table(label, scores), 0, 1, AUC, replicates=200)
    assert found.p == pytest.approx(2 / 201)


def test_a_certain_difference_is_not_judged_by_rounding():
    # 0.2 − 0.02 in every replicate; the standard deviation of equal numbers need not be 0 in floating point.
    pairs = pair_table([1] * 4 + [0] * 6, {"a": [9] * 4 + [1] * 6, "b": [1] * 10})
    found = paired_bootstrap(pairs, 0, 1, EARLY, replicates=300)
    assert found.difference == pytest.approx(0.18)
    assert (found.low, found.high) == pytest.approx((0.18, 0.18))
    assert math.isnan(found.p)
    assert math.isnan(found.statistic)
    assert found.reason == "the difference is the same in every replicate"


def test_undefined_replicates_are_not_left_out_in_silence():
    # One of two positives is above 8.5 for each model: often nothing is called positive, and ppv is undefined.
    pairs = pair_table([1, 1, 0, 0, 0, 0], {"a": [9, 8, 3, 4, 1, 2], "b": [3, 9, 1, 9, 2, 1]})
    found = paired_bootstrap(pairs, 0, 1, parse("ppv@8.5"), replicates=500)
    assert found.reason is not None
    assert "undefined" in found.reason


def test_groups_that_hold_one_class_only_are_not_left_out_in_silence():
    pairs = pair_table([1, 1, 0, 0, 0, 0], {"a": [9, 8, 3, 4, 1, 2], "b": [3, 9, 1, 8, 2, 1]}, group=[0, 0, 1, 1, 2, 2])
    found = paired_bootstrap(pairs, 0, 1, AUC, replicates=500)
    assert found.reason is not None
    assert "undefined" in found.reason


@pytest.mark.parametrize("test", [paired_bootstrap, permutation])
def test_one_class_alone(test):
    found = test(pair_table([1, 1, 1], {"a": [4, 3, 2], "b": [1, 2, 3]}, positive=1), 0, 1, AUC)
    assert math.isnan(found.difference)
    assert math.isnan(found.p)
    assert found.reason == "undefined: only one class is present"


@pytest.mark.parametrize("test", [paired_bootstrap, permutation])
def test_constant_scores_are_alike(test):
    found = test(pair_table([1, 0, 1, 0], {"a": [1] * 4, "b": [2] * 4}), 0, 1, AUC, replicates=50)
    assert (found.difference, found.p) == (0, 1)


def test_a_single_positive_is_in_every_replicate():
    label = [1, *[0] * 20]
    found = paired_bootstrap(pair_table(label, {"a": range(21, 0, -1), "b": [15.5, *range(20)]}), 0, 1, AUC)
    assert found.difference == pytest.approx(1 - 16 / 20)
    assert 0 < found.low < found.difference < found.high < 1
    assert 0 < found.p < 0.05


# --- permutation


def tiny():
    rng = np.random.default_rng(4)
    label = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    return label, np.round(rng.normal(size=9) + 2 * label, 1), np.round(100 * rng.normal(size=9), -1)


def test_permutation_is_near_the_enumeration_of_all_swaps():
    label, a, b = tiny()
    found = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, AUC, replicates=20_000)
    ranks = np.array([stats.rankdata(a), stats.rankdata(b)])
    observed = abs(area(label, a) - area(label, b))
    extreme = []
    for swaps in product([False, True], repeat=label.size):
        first, second = np.where(swaps, ranks[1], ranks[0]), np.where(swaps, ranks[0], ranks[1])
        extreme.append(abs(area(label, first) - area(label, second)) >= observed - 1e-12)
    exact = np.mean(extreme)
    assert 0.02 < exact < 0.9
    assert found.difference == pytest.approx(area(label, a) - area(label, b), abs=1e-12)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_permutation_of_accuracy_is_the_exact_mcnemar_test():
    # a is wrong on 4 cases, b on 13 others.
    label = np.tile([1, 0], 30)
    a, b = (np.where(np.isin(np.arange(60), wrong), 1 - label, label) for wrong in (range(4), range(20, 33)))
    _, exact = mcnemar_p(13, 4, "exact")
    found = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, parse("acc@0.5"), replicates=20_000)
    assert found.difference == pytest.approx(9 / 60)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_permutation_of_ranks_does_not_see_the_scale():
    label, a, b = tiny()
    plain = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, AUC, replicates=500)
    mapped = permutation(pair_table(label, {"a": 1e6 * a + 5, "b": np.exp(b / 100)}), 0, 1, AUC, replicates=500)
    assert mapped == plain


def test_permutation_p_is_never_zero():
    label = np.repeat([1, 0], 40)
    pairs = pair_table(label, {"a": label + np.linspace(0, 0.9, 80), "b": np.linspace(0, 1, 80)})
    found = permutation(pairs, 0, 1, AUC, replicates=200)
    assert found.p == 1 / 201


def test_no_difference_is_never_extreme_also_where_swaps_leave_it_undefined():
    pairs = pair_table([1, 1, 0, 0, 0, 0], {"a": [9, 8, 3, 4, 1, 2], "b": [3, 9, 1, 8, 2, 1]})
    found = permutation(pairs, 0, 1, parse("ppv@8.5"), replicates=300)
    assert (found.difference, found.p) == (0, 1)


def test_identical_models_survive_every_swap():
    label, scores = sample()
    found = permutation(pair_table(label, {"a": scores["a"], "b": scores["a"]}), 0, 1, AUC, replicates=100)
    assert (found.difference, found.p) == (0, 1)


# --- seeds, threads and progress


@pytest.mark.parametrize("test", [paired_bootstrap, permutation])
def test_the_seed_decides_and_the_number_of_processors_does_not(test, monkeypatch):
    pairs = pair_table(*sample(size=1000, gap=0.05))
    pieces = []
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    alone = test(pairs, 0, 1, AUC, replicates=1200, seed=3, progress=pieces.append)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert test(pairs, 0, 1, AUC, replicates=1200, seed=3) == alone
    assert test(pairs, 0, 1, AUC, replicates=1200, seed=4) != alone
    assert len(pieces) > 1  # so that there was work to share
    assert pieces[-1] == 1
    assert bootstrap.os.cpu_count() == 4


def test_the_order_of_the_models_turns_the_sign_only():
    pairs = pair_table(*sample())
    one, other = paired_bootstrap(pairs, 0, 1, AUC), paired_bootstrap(pairs, 1, 0, AUC)
    assert (other.a, other.b) == ("b", "a")
    assert other.difference == -one.difference
    assert (other.low, other.high, other.p) == pytest.approx((-one.high, -one.low, one.p), abs=1e-12)


# --- groups


def test_copies_within_a_group_add_no_certainty():
    label, scores = sample(5, size=120)
    cases = np.arange(120)
    four = np.repeat(cases, 4)
    copied = {name: score[four] for name, score in scores.items()}
    once = paired_bootstrap(pair_table(label, scores, group=cases), 0, 1, AUC)
    grouped = paired_bootstrap(pair_table(label[four], copied, group=four), 0, 1, AUC)
    loose = paired_bootstrap(pair_table(label[four], copied), 0, 1, AUC)
    assert (once.test, grouped.test, loose.test) == ("bootstrap of groups", "bootstrap of groups", "bootstrap")
    assert grouped.difference == pytest.approx(once.difference, abs=1e-12)
    assert grouped.high - grouped.low == pytest.approx(once.high - once.low, rel=0.1)
    assert loose.high - loose.low == pytest.approx((once.high - once.low) / 2, rel=0.15)
    assert loose.p < grouped.p


def test_whole_groups_are_drawn():
    # Two groups that cancel each other: a replicate holds one twice or both, so three differences are possible.
    label = np.tile([1, 0], 10)
    better, worse = label + np.linspace(0, 0.5, 20), -label + np.linspace(0, 0.5, 20)
    scores = {"a": np.where(np.arange(20) < 10, better, worse), "b": np.where(np.arange(20) < 10, worse, better)}
    found = paired_bootstrap(pair_table(label, scores, group=np.arange(20) // 10), 0, 1, AUC, replicates=400)
    assert (found.low, found.high) == (-1, 1)


def test_accuracy_is_tested_about_as_by_mcnemar():
    # One model finds nearly all positives, the other nearly all negatives: the shares of the classes are chance too.
    label = np.repeat([1, 0], 100)
    first = np.r_[np.ones(98), np.zeros(2), np.ones(56), np.zeros(44)]
    second = np.r_[np.ones(27), np.zeros(73), np.ones(4), np.zeros(96)]
    found = paired_bootstrap(pair_table(label, {"a": first, "b": second}), 0, 1, parse("acc@0.5"))
    assert 0.05 < found.p < 0.2  # drawn within the classes it would be 0.003
