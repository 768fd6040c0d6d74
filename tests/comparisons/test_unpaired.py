"""Two independent samples, and one against a value: pROC's numbers, replicates by hand, samples without an answer."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from oracles.load import columns, reference
from scorespace.comparisons.unpaired import against_value, compare_models, compare_samples, compare_with_value
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference import bootstrap
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.measures import parse
from scorespace.tables import confusion, score_table
from scorespace.tables.paired import pair_table

AUC = parse("auc")
PERFECT = score_table([1, 1, 0, 0], [4, 3, 2, 1])
CONSTANT = score_table([1, 1, 0, 0], [5, 5, 5, 5])
ONE_CLASS = score_table([1, 1, 1], [4, 3, 2], positive=1)


def asah(name):
    given = columns("asah")
    return score_table(given["outcome"], given[name], positive="Poor")


def drawn(seed, size=150, gap=1.0):
    rng = np.random.default_rng(seed)
    label = (rng.random(size) < 0.4).astype(int)
    return label, label * gap + rng.normal(size=size)


def table(seed, **named):
    return score_table(*drawn(seed, **named))


# --- DeLong


def test_delong_is_that_of_proc():
    theirs = reference("proc_asah")["paired_tests"][0]
    found = compare_samples(asah("s100b"), asah("ndka"), names=("s100b", "ndka"))
    assert (found.test, found.independent) == ("delong, unpaired", True)
    assert found.statistic == pytest.approx(theirs["unpaired_delong_D"], abs=1e-9)
    assert found.df == pytest.approx(theirs["unpaired_df"], abs=1e-9)
    assert found.p == pytest.approx(theirs["unpaired_p"], abs=1e-9)
    assert "two independent samples, p = 0.120" in found.words


def test_an_unpaired_test_rejects_a_true_null_5_times_in_100():
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1], [70, 30])
    rejected = [
        compare_samples(*(score_table(label, label + rng.normal(size=100)) for _ in "ab")).p < 0.05 for _ in range(1500)
    ]
    assert 0.03 < np.mean(rejected) < 0.07


@pytest.mark.slow
def test_an_unpaired_bootstrap_rejects_a_true_null_5_times_in_100():
    rng = np.random.default_rng(4)

    def sample():
        label = (rng.random(200) < 0.3).astype(int)
        return score_table(label, label + rng.normal(size=200))

    rejected = [
        compare_samples(sample(), sample(), parse("ap"), test="bootstrap(replicates=400)", seed=k).p < 0.05
        for k in range(800)
    ]
    assert 0.03 < np.mean(rejected) < 0.07


@pytest.mark.parametrize("measure", ["ppv@0.5", "tpr@0.5", "f1@0.5", "bacc@0.5", "mcc@0.5"])
def test_outcomes_of_two_samples_are_judged_by_the_intervals_that_are_shown(measure):
    # 1 alarm of 28 positives, and that false: all replicates agree that ppv is 0, which one case cannot know.
    few = score_table([1] * 28 + [0] * 272, [0.1] * 299 + [0.9])
    many = score_table([1] * 200 + [0] * 2000, [0.9] * 19 + [0.1] * 181 + [0.9] * 9 + [0.1] * 1991)
    found = compare_samples(few, many, parse(measure))
    assert found.test == "interval, unpaired"
    shown = [estimates({"": [parse(measure)]}, BootstrapDraws({"": table}))[0] for table in (few, many)]
    gap, (a, b) = found.difference, shown
    apart = [math.hypot(a.value - a.low, b.high - b.value), math.hypot(a.high - a.value, b.value - b.low)]
    if a.method == "wilson":  # Newcombe's interval of two independent shares
        assert (found.low, found.high) == pytest.approx((gap - apart[0], gap + apart[1]))
    if measure == "ppv@0.5":
        assert found.p > 0.05
        assert compare_samples(few, many, parse(measure), test="bootstrap").p < 0.01  # on request


# --- bootstrap


def test_the_bootstrap_is_near_delong():
    first, second = table(1), table(2, size=260)
    exact = compare_samples(first, second)
    found = compare_samples(first, second, test="bootstrap(replicates=6000)")
    assert found.test == "bootstrap, unpaired"
    assert found.difference == exact.difference
    assert found.statistic == pytest.approx(exact.statistic, rel=0.05)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.012)
    assert found.p == pytest.approx(exact.p, abs=0.04)


def test_the_spread_is_that_of_replicates_drawn_one_by_one():
    samples = [drawn(5, size=80), drawn(6, size=60)]
    rng = np.random.default_rng(7)

    def again(label, score):
        rows = np.concatenate([rng.choice(np.flatnonzero(label == k), (label == k).sum()) for k in (0, 1)])
        pos, neg = (score[rows][label[rows] == k] for k in (1, 0))
        return float((pos[:, None] > neg).mean())

    gaps = [again(*samples[0]) - again(*samples[1]) for _ in range(2000)]
    found = compare_samples(*(score_table(*each) for each in samples), test="bootstrap(replicates=4000)")
    assert found.difference / found.statistic == pytest.approx(np.std(gaps, ddof=1), rel=0.06)
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]), abs=0.02)


def test_the_same_sample_twice_is_not_drawn_the_same_way_twice():
    found = compare_samples(table(1), table(1), parse("ks"))
    assert (found.difference, found.p) == (0, pytest.approx(1, abs=0.06))
    assert found.low < -0.05 < 0.05 < found.high


def test_cases_are_drawn_within_classes():
    # MLstatkit drops replicates of one class in silence; here no area loses one, and other measures count them.
    data = score_table([1, 0, 0, 0], [4, 3, 2, 1]), score_table([1, 0, 0, 0], [3, 4, 2, 1])
    assert "undefined replicates" in compare_samples(*data, parse("ap"), test="bootstrap").reason
    tested = compare_samples(*data, test="bootstrap")
    assert tested.reason is None
    assert tested.low < tested.high


def test_turning_the_samples_turns_the_sign():
    first, second = table(1), table(2)
    one, other = compare_samples(first, second, AUC), compare_samples(second, first, AUC)
    assert (one.difference, one.low, one.p) == pytest.approx((-other.difference, -other.high, other.p), abs=1e-12)


def test_the_seed_decides_and_the_number_of_processors_does_not(monkeypatch):
    def found(seed):
        return compare_samples(table(1), table(2), parse("ap"), seed=seed, test="bootstrap(replicates=300)")

    monkeypatch.setattr(bootstrap, "_COUNTS_PER_BLOCK", 9000)  # several pieces of work
    first = found(1)
    assert first == found(1) != found(2)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert found(1) == first


def test_decisions_are_compared_by_any_measure():
    first = confusion([1] * 40 + [0] * 60, [1] * 30 + [0] * 10 + [0] * 48 + [1] * 12)
    second = confusion([1] * 40 + [0] * 60, [1] * 20 + [0] * 20 + [0] * 40 + [1] * 20)
    found = compare_samples(first, second, parse("acc"), test="bootstrap(replicates=4000)")
    assert found.difference == pytest.approx(0.78 - 0.60)
    # Within classes: 0.4² (0.75·0.25 + 0.5·0.5)/40 + 0.6² (0.8·0.2 + ⅔·⅓)/60
    error = math.sqrt(0.16 * (0.1875 + 0.25) / 40 + 0.36 * (0.16 + 2 / 9) / 60)
    assert found.difference / found.statistic == pytest.approx(error, rel=0.05)


def test_copies_within_a_group_add_no_certainty():
    label, score = drawn(8, size=60)
    single = compare_samples(score_table(label, score), table(9), AUC, test="bootstrap")
    group = np.tile(np.arange(60), 4)
    fourfold = pair_table(np.tile(label, 4), {"a": np.tile(score, 4)}, group=group)
    by_group = compare_samples(fourfold, table(9), AUC)
    ignoring = compare_samples(fourfold.tables[0], table(9), AUC, test="bootstrap")
    assert by_group.test == "bootstrap of groups, unpaired"
    assert by_group.high - by_group.low == pytest.approx(single.high - single.low, rel=0.15)
    assert ignoring.high - ignoring.low < 0.85 * (by_group.high - by_group.low)


# --- samples without an answer


@pytest.mark.parametrize("test", ["delong", "bootstrap"])
@pytest.mark.parametrize("other", [PERFECT, CONSTANT])
def test_samples_without_variance_are_not_tested(test, other):
    # Perfect separation: DeLong variance 0, say so; replicates that never change are no certainty either.
    found = compare_samples(PERFECT, other, test=test)
    assert found.difference == (0 if other is PERFECT else 0.5)
    assert math.isnan(found.p)
    reasons = (
        ("zero", "replicates gave the same value") if other is PERFECT else ("are the same, so they rank nothing",)
    )
    assert any(one in found.reason for one in reasons)


@pytest.mark.parametrize(("test", "reason"), [("delong", "fewer than two cases"), ("bootstrap", "only one class")])
def test_one_class_has_no_area(test, reason):
    found = compare_samples(ONE_CLASS, PERFECT, test=test)
    assert math.isnan(found.difference)
    assert math.isnan(found.p)
    assert reason in found.reason


def test_an_infinite_measure_is_not_compared():
    found = compare_samples(PERFECT, CONSTANT, parse("dor@2.5"))
    assert math.isnan(found.difference)
    assert found.reason.startswith(("infinite", "undefined"))


def test_fractions_of_copies_are_not_drawn():
    light = score_table([1, 0, 1, 0], [4, 3, 2, 1], weight=[0.5, 1, 1, 1], copies=True)
    found = compare_samples(light, PERFECT, parse("ap"))
    assert math.isnan(found.p)
    assert "whole numbers" in found.reason


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"test": "mcnemar"}, ScoreSpaceError, "mcnemar cannot compare two independent samples"),
        ({"test": "permutation"}, ScoreSpaceError, "permutation cannot compare two independent samples"),
        ({"test": "delong", "spec": parse("ks")}, MeasureError, "DeLong's test is for auc or gini, not for ks"),
        ({"level": 95}, ScoreSpaceError, "level=95"),
    ],
)
def test_errors(named, error, message):
    with pytest.raises(error, match=message):
        compare_samples(PERFECT, CONSTANT, **named)


# --- against a value


def test_an_area_against_a_value_is_delongs_z():
    theirs = reference("proc_asah")["per_predictor"]["s100b"]
    found = against_value(asah("s100b"), 0.6, name="s100b")
    z = (theirs["auc"] - 0.6) / math.sqrt(theirs["delong_var"])
    assert found.statistic == pytest.approx(z, rel=1e-9)
    assert found.p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)
    assert found.words.startswith("s100b: auc is 0.731, +0.131 [")
    assert " from 0.6, statistically significant (p = " in found.words


@pytest.mark.parametrize(("m", "n"), [(2, 3), (3, 3), (2, 6), (4, 4)])
def test_an_area_is_no_surer_than_the_exact_test_of_its_ranks(m, n):
    pos, neg = np.arange(m) + 10.0, np.arange(n) + 0.0
    perfect = score_table(np.repeat([1, 0], [m, n]), np.concatenate([pos, neg]))
    exact = stats.mannwhitneyu(pos, neg, method="exact").pvalue
    assert against_value(perfect, 0.5).p >= exact - 1e-12
    assert compare_samples(perfect, score_table(*drawn(3, gap=0.0))).p >= exact - 1e-12


def test_the_bootstrap_against_a_value_is_near_delong():
    exact, found = against_value(table(1), 0.7), against_value(table(1), 0.7, test="bootstrap(replicates=6000)")
    assert found.statistic == pytest.approx(exact.statistic, rel=0.05)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.01)


def test_any_measure_against_a_value():
    # 30 of 40 positives found: the binomial error.
    data = score_table([1] * 40 + [0] * 10, [1] * 30 + [0] * 20)
    found = against_value(data, 0.9, parse("tpr@0.5"), test="bootstrap(replicates=4000)")
    assert found.difference == pytest.approx(-0.15)
    assert found.difference / found.statistic == pytest.approx(math.sqrt(0.75 * 0.25 / 40), rel=0.05)
    assert found.test == "bootstrap"


@pytest.mark.parametrize("data", [PERFECT, CONSTANT, ONE_CLASS])
@pytest.mark.parametrize("test", ["delong", "bootstrap"])
def test_nothing_to_test_against_a_value(data, test):
    found = against_value(data, 0.5, test=test, name="nb")
    assert math.isnan(found.p)
    assert found.reason
    assert found.words.startswith("nb: ")
    assert "nan" not in found.words


def test_the_reason_tells_constant_scores_from_perfect_ones():
    for table, why in ((CONSTANT, "constant scores"), (PERFECT, "perfect separation")):
        assert against_value(table, 0.5, test="delong").reason == f"DeLong's variance is zero, as with {why}"


@pytest.mark.parametrize(
    ("value", "message"), [(1.5, "not a possible value of auc"), (math.nan, "not a value to test against")]
)
def test_values_that_cannot_be_tested(value, message):
    with pytest.raises(ScoreSpaceError, match=message):
        against_value(PERFECT, value)


# --- several models


def test_several_models_are_adjusted_by_holm():
    first = {"a": table(1), "b": table(2)}
    found = compare_models(first, {"a": table(3), "b": table(4, gap=0.1)}, sides=("before", "after"))
    assert (found.adjustment, found.models, found.sides) == ("holm", ("a", "b"), ("before", "after"))
    small, large = sorted(one.p for one in found)
    assert sorted(one.p_adjusted for one in found) == pytest.approx([2 * small, max(2 * small, large)])
    assert [note.code for note in found.notes] == ["SS015"]
    assert (found[0].value_a, found[0].value_b) == pytest.approx((ss.auc(table(1)), ss.auc(table(3))))
    assert found[0].a == "a in before"


def test_the_same_cases_twice_are_noted():
    found = compare_models({"a": table(1)}, {"a": table(1)})
    assert [note.code for note in found.notes] == ["SS032"]
    assert "compare models on the same cases as columns of one file" in found.notes[0].text
    assert compare_models({"a": table(1)}, {"a": table(2)}).notes == ()


def test_several_models_against_a_value():
    found = compare_with_value({"a": table(1), "b": table(2)}, 0.5)
    assert (found.adjustment, found.sides) == ("holm", ("auc", "value"))
    assert (found[1].value_a, found[1].value_b) == (ss.auc(table(2)), 0.5)


# --- by intervals


@pytest.mark.parametrize(
    ("measure", "table", "value"),
    [
        ("auc", table(1), 0.7),
        ("auc", score_table([1, 1, 1, 0, 0, 0, 0], [7, 6, 3, 5, 4, 2, 1]), 0.5),
        ("tpr@0.5", table(3), 0.62),
        ("brier", score_table([1, 0] * 30, np.linspace(0.1, 0.9, 60)), 0.26),
    ],
)
def test_p_is_where_the_interval_that_is_shown_reaches_the_value(measure, table, value):
    found = against_value(table, value, measure)
    for level, holds in ((1 - found.p + 0.01, True), (1 - found.p - 0.01, False)):
        (shown,) = estimates({"": [parse(measure)]}, BootstrapDraws({"": table}), level=level)
        assert (shown.low <= value <= shown.high) == holds
        assert against_value(table, value, measure, level=level).test == shown.method


def test_the_score_test_of_a_share_is_that_of_wilson():
    # 30 of 40: the normal deviate with the variance of the value tested, as in a test of one proportion.
    data = score_table([1] * 40 + [0] * 10, [1] * 30 + [0] * 20)
    found = against_value(data, 0.6, "tpr@0.5")
    z = (0.75 - 0.6) / math.sqrt(0.6 * 0.4 / 40)
    assert (found.test, found.statistic) == ("wilson", pytest.approx(z, rel=1e-9))
    assert found.p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


def test_few_cases_of_two_samples_are_judged_by_their_intervals():
    few = score_table([1, 1, 1, 0, 0, 0], [6, 5, 3, 4, 2, 1])
    found = compare_samples(few, table(2))
    assert found.test == "interval, unpaired"
    assert "too few for DeLong's test" in found.reason
    assert -1 <= found.low <= found.difference <= found.high <= 1


@pytest.mark.parametrize("test", [None, "bootstrap", "interval"])
def test_two_cases_never_give_a_small_p(test):
    best, worst = score_table([1, 0], [2, 1]), score_table([1, 0], [1, 2])
    for found in (compare_samples(best, worst, test=test), against_value(best, 0.0, test=test)):
        assert not found.p < 0.05


def test_few_cases_of_two_samples_reject_a_true_null_seldom():
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1], [60, 6])
    rejected = [
        compare_samples(*(score_table(label, label + rng.normal(size=66)) for _ in "ab")).p < 0.05 for _ in range(150)
    ]
    assert np.mean(rejected) <= 0.09


def test_a_result_is_a_comparison_like_any_other():
    found = against_value(table(1), 0.5, name="a")
    assert {"a", "b", "test", "measure", "difference", "low", "high", "statistic", "df", "p", "reason"} <= set(
        found.row()
    )
    assert replace(found, p_adjusted=0.9).words.endswith("not statistically significant (p = 0.900, adjusted).")


def test_measures_may_be_named():
    assert ss.compare_samples(table(1), table(2), "ks", test="bootstrap(replicates=50)") == compare_samples(
        table(1), table(2), parse("ks"), test="bootstrap(replicates=50)"
    )
    assert against_value(table(1), 0.5, "tpr@0.5", test="bootstrap(replicates=50)").measure == "tpr@0.5"


@pytest.mark.parametrize("test", ["interval", "bootstrap"])
def test_an_undefined_measure_leaves_nothing_to_test(test):
    reason = "undefined: nothing is predicted positive"
    for found in (
        against_value(table(1), 0.5, "ppv@99", test=test),
        compare_samples(table(1), table(2), "ppv@99", test=test),
    ):
        assert (found.reason, math.isnan(found.difference), math.isnan(found.p)) == (reason, True, True)
