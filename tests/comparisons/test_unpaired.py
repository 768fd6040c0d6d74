"""Two independent samples, and one against a value: pROC's numbers, replicates by hand, samples without an answer."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from oracles.load import columns, reference
from scorespace.comparisons.answer import Comparison
from scorespace.comparisons.paired import judged
from scorespace.comparisons.unpaired import against_value, compare_models, compare_samples, compare_with_value
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures import parse
from scorespace.resampling import draw as bootstrap
from scorespace.tables import confusion, score_table
from scorespace.tables.pair import pair_table

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

    rejected = [compare_samples(sample(), sample(), parse("ap"), replicates=400, seed=k).p < 0.05 for k in range(800)]
    assert 0.03 < np.mean(rejected) < 0.07


# --- bootstrap


def test_the_bootstrap_is_near_delong():
    first, second = table(1), table(2, size=260)
    exact = compare_samples(first, second)
    found = compare_samples(first, second, test="bootstrap", replicates=6000)
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
    found = compare_samples(*(score_table(*each) for each in samples), test="bootstrap", replicates=4000)
    assert found.difference / found.statistic == pytest.approx(np.std(gaps, ddof=1), rel=0.06)
    assert (found.low, found.high) == pytest.approx(np.quantile(gaps, [0.025, 0.975]), abs=0.02)


def test_the_same_sample_twice_is_not_drawn_the_same_way_twice():
    found = compare_samples(table(1), table(1), parse("ks"))
    assert (found.difference, found.p) == (0, pytest.approx(1, abs=0.06))
    assert found.low < -0.05 < 0.05 < found.high


def test_cases_are_drawn_within_classes():
    # MLstatkit drops replicates of one class in silence; here no area loses one, and other measures count them.
    data = score_table([1, 0, 0, 0], [4, 3, 2, 1]), score_table([1, 0, 0, 0], [3, 4, 2, 1])
    assert "undefined replicates" in compare_samples(*data, parse("ap")).reason
    tested = compare_samples(*data, test="bootstrap")
    assert tested.reason is None
    assert tested.low < tested.high


def test_turning_the_samples_turns_the_sign():
    first, second = table(1), table(2)
    one, other = compare_samples(first, second, AUC), compare_samples(second, first, AUC)
    assert (one.difference, one.low, one.p) == pytest.approx((-other.difference, -other.high, other.p), abs=1e-12)


def test_the_seed_decides_and_the_number_of_processors_does_not(monkeypatch):
    def found(seed):
        return compare_samples(table(1), table(2), parse("ap"), seed=seed, replicates=300)

    monkeypatch.setattr(bootstrap, "_CELLS_AT_ONCE", 9000)  # several pieces of work
    first = found(1)
    assert first == found(1) != found(2)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert found(1) == first


def test_decisions_are_compared_by_any_measure():
    first = confusion([1] * 40 + [0] * 60, [1] * 30 + [0] * 10 + [0] * 48 + [1] * 12)
    second = confusion([1] * 40 + [0] * 60, [1] * 20 + [0] * 20 + [0] * 40 + [1] * 20)
    found = compare_samples(first, second, parse("acc"), replicates=4000)
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
    assert "zero" in found.reason or "same in every replicate" in found.reason


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


def test_fractional_weights_are_not_drawn():
    light = score_table([1, 0, 1, 0], [4, 3, 2, 1], weight=[0.5, 1, 1, 1])
    found = compare_samples(light, PERFECT, parse("ap"))
    assert math.isnan(found.p)
    assert "whole numbers" in found.reason


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"test": "mcnemar"}, ScoreSpaceError, "not two models on the same cases"),
        ({"test": "permutation"}, ScoreSpaceError, "not two models on the same cases"),
        ({"test": "delong", "spec": parse("ks")}, MeasureError, "DeLong's test is for auc, not for ks"),
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
    assert " from 0.6, more than chance explains (p = " in found.words


def test_the_bootstrap_against_a_value_is_near_delong():
    exact, found = against_value(table(1), 0.7), against_value(table(1), 0.7, test="bootstrap", replicates=6000)
    assert found.statistic == pytest.approx(exact.statistic, rel=0.05)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.01)


def test_any_measure_against_a_value():
    # 30 of 40 positives found: the binomial error.
    data = score_table([1] * 40 + [0] * 10, [1] * 30 + [0] * 20)
    found = against_value(data, 0.9, parse("tpr@0.5"), replicates=4000)
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
    assert against_value(CONSTANT, 0.5).reason == "DeLong's variance is zero, as with constant scores"
    assert against_value(PERFECT, 0.5).reason == "DeLong's variance is zero, as with perfect separation"


@pytest.mark.parametrize(("value", "message"), [(1.5, "no value of auc"), (math.nan, "not a value to test against")])
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
    assert found.values["a"] == pytest.approx((ss.auc(table(1)), ss.auc(table(3))))
    assert found[0].a == "a in before"


def test_the_same_cases_twice_are_noted():
    found = compare_models({"a": table(1)}, {"a": table(1)})
    assert [note.code for note in found.notes] == ["SS032"]
    assert "compare models on the same cases as columns of one file" in found.notes[0].text
    assert compare_models({"a": table(1)}, {"a": table(2)}).notes == ()


def test_several_models_against_a_value():
    found = compare_with_value({"a": table(1), "b": table(2)}, 0.5)
    assert (found.adjustment, found.sides) == ("holm", ("auc", "value"))
    assert found.values["b"] == (ss.auc(table(2)), 0.5)


# --- evaluations


def evaluation(seed, name="a"):
    label, score = drawn(seed)
    return ss.evaluate({"y": label, name: score}, truth="y", scores=name)


def test_evaluations_are_compared_model_by_model():
    (found,) = evaluation(1).compare_with(evaluation(2))
    expected = compare_samples(table(1), table(2))
    assert (found.statistic, found.df, found.p) == (expected.statistic, expected.df, expected.p)
    assert (found.a, found.b) == ("a in the first sample", "a in the second sample")


def test_groups_of_an_evaluation_are_drawn():
    label, score = drawn(1)
    data = {"y": label, "a": score, "g": np.arange(label.size) // 3}
    grouped = ss.evaluate(data, truth="y", scores="a", group="g")
    found = grouped.compare_with(evaluation(2))
    assert found[0].test == "bootstrap of groups, unpaired"
    assert [note.code for note in found.notes] == ["SS016"]
    assert grouped.compare_against(0.5)[0].test == "bootstrap of groups"


def test_the_other_sample_must_have_the_models():
    with pytest.raises(ScoreSpaceError, match="there is no model 'a' in arrays"):
        evaluation(1).compare_with(evaluation(2, "b"))


def test_the_other_sample_must_have_the_same_positive_class():
    label, score = drawn(1)
    turned = ss.evaluate({"y": label, "a": score}, truth="y", scores="a", positive=0)
    with pytest.raises(ScoreSpaceError, match="different positive classes"):
        evaluation(1).compare_with(turned)


def test_dropped_rows_are_noted():
    label, score = drawn(1)
    gaps = {"y": label, "a": np.where(np.arange(label.size) < 3, np.nan, score), "b": score[::-1]}
    found = ss.evaluate(gaps, truth="y", scores=["a", "b"], missing="drop")
    for tested in (found.compare(), found.compare_with(found), found.compare_against(0.5)):
        assert "SS009" in [note.code for note in tested.notes]


def test_a_result_is_a_comparison_like_any_other():
    found = against_value(table(1), 0.5, name="a")
    assert {"a", "b", "test", "measure", "difference", "low", "high", "statistic", "df", "p", "reason"} <= set(
        found.row()
    )
    assert replace(found, p_adjusted=0.9).words.endswith("not distinguishable from chance here (p = 0.900, adjusted).")


def test_replicates_that_leave_the_difference_out_are_centred_on_it():
    # Drawing cases twice lifts maxima such as KS: here every replicate lies above the value itself.
    found = judged(Comparison("a", "b", "bootstrap", "ks", 0.1), np.linspace(0.2, 0.3, 101))
    assert found.test == "bootstrap, centred"
    assert (found.low, found.high) == pytest.approx((0.1 - 0.0475, 0.1 + 0.0475))
    assert found.p == pytest.approx(2 / 102)


def test_measures_may_be_named():
    assert ss.compare_samples(table(1), table(2), "ks", replicates=50) == compare_samples(
        table(1), table(2), parse("ks"), replicates=50
    )
    assert against_value(table(1), 0.5, "tpr@0.5", replicates=50).measure == "tpr@0.5"
