"""Bootstrap and permutation of differences: pROC's numbers, enumeration, groups, seeds."""

import math
import os
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from oracles.load import columns, reference
from scorespace.comparisons.mcnemar import mcnemar_p, mcnemar_test
from scorespace.comparisons.paired import compare, default_measure, differences
from scorespace.curves import roc
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.tables import class_table, confusion, score_table
from scorespace.tables.paired import PairTable, pair_table

AUC = parse("auc")


def paired_bootstrap(pairs, i, j, spec, *, level=0.95, replicates=2000, **named):
    models = (pairs.models[i], pairs.models[j])
    return compare(pairs, spec=spec, test=f"bootstrap(replicates={replicates})", models=models, level=level, **named)[0]


def permutation(pairs, i, j, spec, *, replicates=2000, null="exchangeable", **named):
    models = (pairs.models[i], pairs.models[j])
    test = f"permutation(replicates={replicates}, null={null})"
    return compare(pairs, spec=spec, test=test, models=models, **named)[0]


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
    assert found.reason == "both models are equal on every case"


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_is_that_of_replicates_drawn_one_by_one(seed):
    label, scores = sample(seed)
    found = paired_bootstrap(pair_table(label, scores), 0, 1, AUC, replicates=4000)
    rng = np.random.default_rng(seed)
    pos, neg = (np.flatnonzero(label == each) for each in (1, 0))
    wins = [score[pos][:, None] > score[neg] for score in scores.values()]
    times = [rng.multinomial(each.size, np.full(each.size, 1 / each.size), 20_000) for each in (pos, neg)]
    gaps = ((times[0] @ (wins[0].astype(float) - wins[1])) * times[1]).sum(axis=1) / (pos.size * neg.size)
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
    assert -1 <= found.low < found.difference < found.high <= 1
    assert found.p > 0.05  # one positive proves nothing


# --- permutation


def tiny():
    rng = np.random.default_rng(4)
    label = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
    return label, np.round(rng.normal(size=9) + 2 * label, 1), np.round(100 * rng.normal(size=9), -1)


def enumerated(label, a, b, ties="average"):
    """The share of all swaps of ranks after which the areas differ as much as they do."""
    ranks = np.array([stats.rankdata(each, method=ties) for each in (a, b)])
    observed = abs(area(label, a) - area(label, b))
    extreme = []
    for swaps in product([False, True], repeat=label.size):
        first, second = np.where(swaps, ranks[1], ranks[0]), np.where(swaps, ranks[0], ranks[1])
        extreme.append(abs(area(label, first) - area(label, second)) >= observed - 1e-12)
    return np.mean(extreme)


def test_few_cases_are_swapped_in_all_ways():
    label, a, b = tiny()
    found = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, AUC)
    assert found.test == "permutation, exact"
    assert found.difference == pytest.approx(area(label, a) - area(label, b), abs=1e-12)
    assert found.p == pytest.approx(enumerated(label, a, b), abs=1e-12)


def test_random_swaps_are_near_the_enumeration_of_all():
    label, a, b = tiny()
    exact = enumerated(label, a, b)
    found = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, AUC, replicates=255)  # 256 would be all
    assert found.test == "permutation"
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 255) + 1 / 256)


def test_tied_cases_swap_their_mean_rank():
    # The lowest rank of a tie instead would put tied cases of one model below untied ones of the other.
    label = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    a, b = np.array([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]), np.array([9, 3, 8, 2, 7, 6, 5, 4, 1, 0])
    average, lowest, highest = (enumerated(label, a, b, ties) for ties in ("average", "min", "max"))
    assert min(abs(average - lowest), abs(average - highest)) > 0.01  # so that this test can tell
    found = permutation(pair_table(label, {"a": a, "b": b}), 0, 1, AUC)
    assert found.p == pytest.approx(average, abs=1e-12)


def test_groups_are_swapped_whole():
    label, a, b = tiny()
    group = np.arange(9) // 3
    found = permutation(pair_table(label, {"a": a, "b": b}, group=group), 0, 1, AUC)
    ranks = [stats.rankdata(each) for each in (a, b)]
    extreme = []
    for swaps in product([False, True], repeat=3):
        swapped = np.array(swaps)[group]
        gap = area(label, np.where(swapped, *ranks[::-1])) - area(label, np.where(swapped, *ranks))
        extreme.append(abs(gap) >= abs(found.difference) - 1e-12)
    assert found.p == np.mean(extreme) >= 0.25


def test_copies_of_a_case_in_a_group_add_no_certainty_to_swaps():
    label, scores = sample(3, size=40)
    four = np.repeat(np.arange(40), 4)
    once = permutation(pair_table(label, scores), 0, 1, AUC)
    copied = pair_table(label[four], {name: score[four] for name, score in scores.items()}, group=four)
    assert permutation(copied, 0, 1, AUC).p == pytest.approx(once.p, abs=0.05)
    loose = replace(copied, group=None)
    assert permutation(loose, 0, 1, AUC).p < once.p - 0.1


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


def test_p_of_equal_measures_is_not_below_that_of_the_interval_shown():
    label, a, b = tiny()
    pairs = pair_table(label, {"a": a, "b": b})
    swaps, both = (permutation(pairs, 0, 1, AUC, null=null) for null in ("exchangeable", "equal"))
    assert both.p >= swaps.p
    assert (both.low, both.high) == (swaps.low, swaps.high)
    # at one minus its p the interval just reaches zero, if the interval is what decided
    touching = permutation(pairs, 0, 1, AUC, null="equal", level=1 - both.p) if both.p > swaps.p else None
    assert touching is None or min(abs(touching.low), abs(touching.high)) < 1e-6
    sides = [permutation(pairs, 0, 1, AUC, null="equal", alternative=side).p for side in ("greater", "less")]
    assert min(sides) <= both.p
    assert max(sides) >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("positives", "negatives", "spread", "area"), [(5, 40, 4.0, 0.8), (15, 60, 4.0, 0.92)])
def test_equal_areas_of_unequal_spread_are_rejected_no_more_than_5_times_in_100(positives, negatives, spread, area):
    # Swaps alone reject 11 to 14 % of them: they are exact for exchangeable models.
    rng = np.random.default_rng(2)
    label = np.repeat([1, 0], [positives, negatives])
    middle = stats.norm.ppf(area)
    rejected = []
    for _ in range(200):
        noise = rng.normal(size=(2, label.size))
        wide = np.where(label, middle * math.hypot(1, spread) + spread * noise[0], noise[0])
        even = np.where(label, middle * math.sqrt(2) + noise[1], noise[1])
        pairs = pair_table(label, {"a": wide, "b": even})
        rejected.append(compare(pairs, test="permutation(replicates=200)", spec=AUC)[0].p < 0.05)
    assert np.mean(rejected) <= 0.065


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


# --- few cases


@pytest.mark.parametrize("spec", ["auc", "ks", "brier", "acc@0.5", "f1@0.5"])
@pytest.mark.parametrize("test", [None, "bootstrap", "permutation"])
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_handful_of_cases_never_gives_a_small_p(spec, test, size):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        label = np.append([1, 0], rng.integers(0, 2, size - 2))
        pairs = pair_table(label, {"a": np.where(label, 0.9, 0.1) + rng.random(size) / 100, "b": rng.random(size)})
        (found,) = compare(pairs, spec=parse(spec), test=test)
        assert not found.p < 0.05


def test_few_cases_are_swapped_and_it_is_said():
    label = np.repeat([1, 0], [12, 200])
    rng = np.random.default_rng(1)
    pairs = pair_table(label, {name: label + rng.normal(size=212) for name in "ab"})
    found = compare(pairs)
    assert found[0].test == "permutation, interval"
    told = "12 cases of the rarest class are too few for DeLong's test, whose p would be too small"
    assert told in found[0].reason
    assert found.notes[0].code == "SS001"
    assert found.notes[0].text == f"{told}; the permutation test is used instead."
    assert found[0].low < found[0].difference < found[0].high
    asked = compare(pairs, test="delong")
    assert (asked[0].test, asked[0].reason) == ("delong", None)
    assert asked.notes[0].text == f"{told}."


@pytest.mark.slow
@pytest.mark.parametrize(("n_pos", "n_neg"), [(3, 100), (5, 60)])
def test_few_cases_of_noise_are_rejected_no_more_than_5_times_in_100(n_pos, n_neg):
    # DeLong's test rejects 14 % with 3 positives and 10 % with 5.
    rng = np.random.default_rng(6)
    label = np.repeat([1, 0], [n_pos, n_neg])
    rejected = []
    for _ in range(300):
        shared = rng.normal(size=label.size)
        pairs = pair_table(label, {name: shared + rng.normal(size=label.size) for name in "ab"})
        rejected.append(compare(pairs, test="permutation(replicates=100)", spec=AUC)[0].p < 0.05)
    assert np.mean(rejected) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize("spec", ["auc", "gini", "mcc@0.5", "brier", "tpr@0.5"])
@pytest.mark.parametrize("test", [None, "bootstrap", "permutation"])
@pytest.mark.parametrize("size", [6, 20, 100])
def test_an_interval_lies_within_the_range_of_a_difference(spec, test, size):
    rng = np.random.default_rng(size)
    label = np.arange(size) % 2
    pairs = pair_table(
        label, {"a": 0.8 * label + 0.2 * rng.random(size), "b": 0.8 * (1 - label) + 0.2 * rng.random(size)}
    )
    (found,) = compare(pairs, spec=parse(spec), test=test)
    low, high = parse(spec).measure.range
    assert low - high - 1e-12 <= found.low <= found.high <= high - low + 1e-12


# --- other tables


def scored(strength, seed, size=240):
    rng = np.random.default_rng(seed)
    raw = rng.random((size, 3)) + strength * (labels(size)[:, None] == np.arange(3))
    return class_table(labels(size), raw / raw.sum(axis=1, keepdims=True))


def labels(size=240):
    return np.random.default_rng(5).integers(0, 3, size)


def side_by_side(**tables):
    """Models of several classes on the same cases."""
    size = next(iter(tables.values())).label.size
    cells = np.tile(np.arange(size, dtype=np.int32), (len(tables), 1))
    return PairTable(tuple(tables), tuple(tables.values()), cells, labels(size), ("0", "1", "2"), None)


GOOD, POOR = scored(0.8, 1), scored(0.2, 2)


def test_scores_of_classes_are_compared_by_the_mean_of_pairs_of_classes():
    (found,) = compare(side_by_side(good=GOOD, poor=POOR))
    areas = [np.nanmean(table.pair_areas()) for table in (GOOD, POOR)]
    assert (found.test, found.measure) == ("bootstrap", "auc[hand_till]")
    assert found.difference == pytest.approx(areas[0] - areas[1])
    assert found.low > 0
    assert found.p < 0.01


@pytest.mark.parametrize("name", ["brier", "f1[macro]", "auc[1]", "tpr[2]@0.4", "cal"])
@pytest.mark.parametrize("test", ["bootstrap(replicates=100)", "permutation(replicates=100)"])
def test_any_measure_of_classes_is_compared(name, test):
    (found,) = compare(side_by_side(a=GOOD, b=POOR), spec=parse(name), test=test)
    assert found.measure == name
    assert found.low <= found.difference <= found.high


def test_swapped_scores_of_classes_are_those_of_the_other_model():
    # With one case that differs, half of all swaps turn the sign and half do not: none is less extreme.
    other = replace(
        GOOD, score=np.roll(GOOD.score, 1, axis=0) * (np.arange(240) == 7) + GOOD.score * (np.arange(240) != 7)
    )
    (found,) = compare(side_by_side(a=GOOD, b=other), test="permutation(replicates=50)", spec=parse("brier"))
    assert found.difference != 0
    assert found.p == 1


def test_decisions_between_several_classes_are_compared_by_mcnemar():
    (found,) = compare(side_by_side(a=GOOD, b=POOR), test="mcnemar")
    wanted = mcnemar_test(GOOD.decided == GOOD.label, POOR.decided == POOR.label, names=("a", "b"))
    assert (found.p, found.table, found.measure) == (wanted.p, wanted.table, "acc")


def test_groups_of_cases_with_scores_of_classes_are_drawn_whole():
    pairs = replace(side_by_side(a=GOOD, b=POOR), group=np.arange(240, dtype=np.int32) // 4)
    assert compare(pairs)[0].test == "bootstrap of groups"


def crisp(*decided, label=None):
    label = np.tile([0, 1], 60) if label is None else label
    tables = [confusion(label, each, classes=["0", "1"], positive=1) for each in decided]
    cells = np.stack([label * 2 + each for each in decided]).astype(np.int32)
    return PairTable(tuple("abc"[: len(decided)]), tuple(tables), cells, label, ("0", "1"), 1)


def test_decisions_are_compared_as_such_or_by_any_measure():
    rng = np.random.default_rng(2)
    label = np.tile([0, 1], 60)
    pairs = crisp(*(np.where(rng.random(120) < share, label, 1 - label) for share in (0.9, 0.6)))
    assert compare(pairs)[0].test == "mcnemar, corrected"
    for name in ("f1", "auc", "tpr@0.5"):
        (found,) = compare(pairs, spec=parse(name))
        first, second = (1.0 * (cell % 2) for cell in pairs.cell)
        tables = [score_table(label, each) for each in (first, second)]
        spec = parse(name) if parse(name).measure.area else parse(f"{parse(name).label}@0.5")
        assert found.difference == pytest.approx(np.subtract(*(bind(spec, table).value for table in tables)))


def test_usual_measures():
    assert str(default_measure([GOOD])) == "auc[hand_till]"
    assert str(default_measure([confusion([0, 1, 2], [0, 2, 1])])) == "acc"


# --- the column of differences


def test_one_measure_is_tested_and_the_others_have_intervals():
    pairs = pair_table(*sample(4, size=150))
    draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs)
    specs = [parse(name) for name in ("auc", "ks", "f1@0.5")]
    found = differences(pairs, draws, "a", "b", specs)
    assert list(found) == specs
    assert found[AUC] == compare(pairs, spec=AUC)[0]
    for spec in specs[1:]:
        one, alone = found[spec], compare(pairs, spec=spec)[0]
        assert (one.difference, one.low, one.high) == (alone.difference, alone.low, alone.high)
        assert math.isnan(one.p)
        assert one.reason == "interval only: the test is of auc"
        assert one.words.endswith("(interval only: the test is of auc).")


def test_differences_over_folds_are_tested_as_compare_does():
    pairs = replace(pair_table(*sample(4, size=200)), fold=(np.arange(200) % 5).astype(np.int32))
    draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs)
    found = differences(pairs, draws, "a", "b", [AUC, parse("ks")])
    assert found[AUC] == compare(pairs)[0]
    assert [one.test for one in found.values()] == ["corrected t", "corrected t"]
    assert math.isnan(found[parse("ks")].p)


def test_all_differences_come_from_one_draw(monkeypatch):
    label, scores = sample(4, size=150)
    pairs = pair_table(label, {name: 1 / (1 + np.exp(-score)) for name, score in scores.items()})
    draws = BootstrapDraws(dict(zip(pairs.models, pairs.tables, strict=True)), pairs)
    calls = []
    monkeypatch.setattr(
        BootstrapDraws,
        "_draw",
        lambda self, alike, progress, own=BootstrapDraws._draw: (calls.append(alike), own(self, alike, progress)),
    )
    differences(
        pairs, draws, "a", "b", [parse(name) for name in ("ks", "h", "youden@0.5", "tpr@0.5", "brier", "logloss")]
    )
    assert len(calls) <= 2  # within classes, and from all cases


# --- all pairs of models

HALF = 0.5


def several(models="abc", size=120, group=None, gap=0.5):
    rng = np.random.default_rng(1)
    label = (rng.random(size) < 0.4).astype(int)
    shared = rng.normal(size=size) + label
    scores = {name: shared + gap * k * label + rng.normal(size=size) for k, name in enumerate(models)}
    return pair_table(label, scores, group=group)


def codes(found):
    return [note.code for note in found.notes]


@pytest.mark.parametrize(
    ("test", "thresholds", "together"),
    [("delong", None, "delong, all equal"), ("mcnemar", HALF, "cochran q"), ("bootstrap(replicates=100)", None, None)],
)
def test_several_models_are_first_tested_together(test, thresholds, together):
    found = compare(several(), test=test, at=thresholds)
    assert [one.test for one in found if one.several] == ([together] if together else [])
    pairs = [one for one in found if not one.several]
    assert [(one.a, one.b) for one in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found[0].several == bool(together)


def test_p_is_adjusted_by_holm_and_it_is_said():
    found = compare(several())
    pairs = [one for one in found if not one.several]
    ordered = sorted(pairs, key=lambda one: one.p)
    expected, highest = {}, 0.0
    for place, one in enumerate(ordered):  # 3 p, 2 p, p, never falling and never above 1
        highest = max(highest, min(1.0, (3 - place) * one.p))
        expected[one.a, one.b] = highest
    assert {(one.a, one.b): one.p_adjusted for one in pairs} == pytest.approx(expected, rel=1e-12)
    assert found.adjustment == "holm"
    assert math.isnan(found[0].p_adjusted)  # one test of all at once needs no adjustment
    (note,) = found.notes
    assert (note.code, note.level) == ("SS015", "info")
    assert note.text == (
        "p-values of the 3 pairs are adjusted by Holm's method; intervals are those of single differences."
    )
    assert found.to_dict()["adjustment"] == "holm"


def test_a_single_pair_is_not_adjusted():
    found = compare(several("ab"))
    assert (found.adjustment, codes(found), len(found)) == (None, [], 1)
    assert math.isnan(found[0].p_adjusted)


def test_a_pair_that_cannot_be_tested_does_not_count_in_the_adjustment():
    scores = {"perfect": [9, 8, 7, 1, 2, 3], "constant": [1] * 6, "other": [3, 9, 4, 5, 1, 2]}
    found = compare(pair_table([1, 1, 1, 0, 0, 0], scores), test="delong")
    first, second, third = (one for one in found if not one.several)
    assert math.isnan(first.p)
    assert math.isnan(first.p_adjusted)
    smaller, larger = sorted((second.p, third.p))
    assert sorted((second.p_adjusted, third.p_adjusted)) == pytest.approx([2 * smaller, max(2 * smaller, larger)])


def test_chosen_models_in_the_order_chosen():
    found = compare(several(), models=("c", "a"))
    assert found.models == ("c", "a")
    assert [(one.a, one.b) for one in found] == [("c", "a")]
    assert found[0].difference > 0


def test_progress_ends_at_one():
    told = []
    compare(several(), test="bootstrap(replicates=50)", progress=told.append)
    assert told[-1] == 1


# --- notes


@pytest.mark.parametrize(("discordant", "told"), [(9, True), (10, False)])
def test_few_discordant_cases_are_noted(discordant, told):
    label = np.array([1] * 20 + [0] * 20)
    other = label.copy()
    other[:discordant] = 0
    found = compare(pair_table(label, {"a": label, "b": other}), at=HALF)
    assert codes(found) == (["SS014"] if told else [])
    if told:
        (note,) = found.notes
        assert note.level == "warning"
        assert note.text == "a and b have only 9 discordant cases: the test has little power."


def test_groups_are_noted():
    found = compare(several("ab", group=np.arange(120) // 3))
    assert codes(found) == ["SS016"]
    assert found.notes[0].text.startswith("cases of a group are not independent, so whole groups are drawn")


@pytest.mark.parametrize("test", ["delong", "mcnemar"])
def test_groups_are_not_said_to_be_drawn_where_they_are_not(test):
    pairs = several("ab", group=np.arange(120) // 3)
    found = compare(pairs, test=test, at=HALF if test == "mcnemar" else None)
    assert not any("groups are drawn" in note.text for note in found.notes)


@pytest.mark.parametrize("test", ["delong", "mcnemar"])
def test_a_test_that_overlooks_groups_is_noted(test):
    pairs = several("ab", group=np.arange(120) // 3)
    found = compare(pairs, test=test, at=HALF if test == "mcnemar" else None)
    assert any("group" in note.text for note in found.notes)


# --- errors


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        (
            {"test": "delon"},
            ScoreSpaceError,
            "there is no test 'delon'.\n  hint: did you mean delong?",
        ),
        (
            {"test": "z"},
            ScoreSpaceError,
            "there is no test 'z'.\n  hint: scorespace tests lists them all",
        ),
        (
            {"test": "delong", "spec": parse("f1@0.5")},
            MeasureError,
            'DeLong\'s test is for auc or gini, not for f1@0.5.\n  hint: test="bootstrap", which is for any measure',
        ),
        (
            {"test": "mcnemar"},
            ScoreSpaceError,
            "McNemar's test compares decisions.\n  seen: a score table of a\n  hint: state the threshold: at=0.5",
        ),
        (
            {"test": "mcnemar", "spec": parse("f1@0.5")},
            MeasureError,
            'McNemar\'s test is for acc, not for f1@0.5.\n  hint: test="bootstrap", which is for any measure',
        ),
        (
            {"test": "bootstrap", "at": 0.5},
            ScoreSpaceError,
            'The bootstrap compares a measure, and a threshold alone does not name one.\n  hint: measure="acc@0.5"',
        ),
        (
            {"spec": parse("f1"), "at": 0.5},
            MeasureError,
            'at=0.5 requests decisions, and f1 is a measure.\n  hint: measure="f1@0.5"',
        ),
        (
            {"test": "bootstrap(replicates=0)", "spec": parse("ks")},
            ScoreSpaceError,
            "replicates=0 is too few.\n  hint: replicates=2000",
        ),
        (
            {"test": "bootstrap(replicates=1000000000)", "spec": parse("ks")},
            ScoreSpaceError,
            "replicates=1000000000 is too large.\n  hint: at most 10000000",
        ),
        (
            {"test": "bootstrap(rope=1)"},
            ScoreSpaceError,
            "bootstrap has no option 'rope'.\n  seen: its options: 'replicates'\n  hint: one of these",
        ),
        (
            {"test": "interval"},
            ScoreSpaceError,
            "interval cannot compare two models on the same cases.\n  seen: 'delong', 'corrected_t', 'paired_t', "
            "'five_by_two_t', 'five_by_two_f', 'bayes_t', 'mcnemar', 'mcnemar_prices' and 9 more can\n"
            '  hint: test="permutation"',
        ),
        (
            {"models": ("b",)},
            ScoreSpaceError,
            "a comparison needs two models.\n  seen: 'b'\n  hint: name another model",
        ),
        (
            {"models": ("b", "q")},
            ScoreSpaceError,
            "there is no model 'q'.\n  seen: 'a', 'b', 'c'\n  hint: one of these",
        ),
        (
            {"level": 95},
            ScoreSpaceError,
            "level=95 is not a confidence level.\n  hint: between 0 and 1, such as 0.95",
        ),
        (
            {"test": "corrected-t"},
            ScoreSpaceError,
            "corrected_t compares folds, but there is no fold column.\n  hint: fold=…",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_errors(named, error, message):
    with pytest.raises(error) as caught:
        compare(several(), **named)
    assert str(caught.value) == message


def test_a_measure_of_decisions_needs_its_threshold():
    with pytest.raises(MeasureError, match="f1 of a score"):
        compare(several(), spec=parse("f1"))
