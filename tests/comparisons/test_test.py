"""The right test for each question, adjustment, notes and errors; at last, whether the tests keep their promise."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scorespace.comparisons.compare import OVER_FOLDS, TESTS, compare
from sklearn.metrics import roc_auc_score

import scorespace as ss
from oracles.load import columns, reference
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures import parse
from scorespace.tables.pair import pair_table

ROOT = Path(__file__).parents[2]
HALF = {"a": 0.5, "b": 0.5, "c": 0.5}
WEIGHTLESS = "paired=True, two classes and no weights"


def sample(models="abc", size=120, group=None, gap=0.5):
    rng = np.random.default_rng(1)
    label = (rng.random(size) < 0.4).astype(int)
    shared = rng.normal(size=size) + label
    scores = {name: shared + gap * k * label + rng.normal(size=size) for k, name in enumerate(models)}
    return pair_table(label, scores, group=group)


def data(**more):
    """Columns for `evaluate`: two scores, two decisions."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    a, b = (1 / (1 + np.exp(-(y + rng.normal(size=60)))) for _ in "ab")
    return {"y": y, "a": a, "b": b, "d": (a > 0.6).astype(int), "e": (b > 0.4).astype(int), **more}


def codes(found):
    return [note.code for note in found.notes]


# --- which test


@pytest.mark.parametrize(
    ("spec", "thresholds", "grouped", "test", "measure"),
    [
        (None, None, False, "delong", "auc"),
        ("auc", None, False, "delong", "auc"),
        ("auc", None, True, "bootstrap of groups", "auc"),
        (None, None, True, "bootstrap of groups", "auc"),
        ("pauc(fpr_high=0.2)", None, False, "bootstrap", "pauc(fpr_high=0.2)"),
        ("f1@0.3", None, False, "bootstrap", "f1@0.3"),
        ("gini", None, False, "bootstrap", "gini"),
        (None, HALF, False, "mcnemar, corrected", "acc"),
    ],
)
def test_the_test_suits_the_question(spec, thresholds, grouped, test, measure):
    pairs = sample("ab", group=np.arange(120) // 3 if grouped else None)
    (found,) = compare(pairs, spec=spec and parse(spec), thresholds=thresholds, replicates=100)
    assert (found.test, found.measure) == (test, measure)


@pytest.mark.parametrize("test", [test for test in TESTS if test not in OVER_FOLDS])
def test_a_named_test_is_used(test):
    (found,) = compare(sample("ab"), test=test, thresholds=HALF if "mcnemar" in test else None, replicates=100)
    if test == "mcnemar":
        assert found.test == "mcnemar, corrected"
    else:
        assert found.test == test.replace("mcnemar-", "mcnemar, ")


def test_level_reaches_every_interval():
    wide, narrow = (compare(sample("ab"), level=level)[0] for level in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (wide.level, wide.p) == (0.99, narrow.p)


# --- several models


@pytest.mark.parametrize(
    ("test", "thresholds", "together"),
    [("delong", None, "delong, all equal"), ("mcnemar", HALF, "cochran q"), ("bootstrap", None, None)],
)
def test_several_models_are_first_tested_together(test, thresholds, together):
    found = compare(sample(), test=test, thresholds=thresholds, replicates=100)
    assert [one.test for one in found if one.several] == ([together] if together else [])
    pairs = [one for one in found if not one.several]
    assert [(one.a, one.b) for one in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found[0].several == bool(together)


def test_p_is_adjusted_by_holm_and_it_is_said():
    found = compare(sample())
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
    assert note.text == "p-values of the 3 pairs are adjusted by Holm's method."
    assert found.to_dict()["adjustment"] == "holm"


def test_a_single_pair_is_not_adjusted():
    found = compare(sample("ab"))
    assert (found.adjustment, codes(found), len(found)) == (None, [], 1)
    assert math.isnan(found[0].p_adjusted)


def test_a_pair_that_cannot_be_tested_does_not_count_in_the_adjustment():
    scores = {"perfect": [9, 8, 7, 1, 2, 3], "constant": [1] * 6, "other": [3, 9, 4, 5, 1, 2]}
    found = compare(pair_table([1, 1, 1, 0, 0, 0], scores))
    first, second, third = (one for one in found if not one.several)
    assert math.isnan(first.p)
    assert math.isnan(first.p_adjusted)
    smaller, larger = sorted((second.p, third.p))
    assert sorted((second.p_adjusted, third.p_adjusted)) == pytest.approx([2 * smaller, max(2 * smaller, larger)])


def test_chosen_models_in_the_order_chosen():
    found = compare(sample(), chosen=("c", "a"))
    assert found.models == ("c", "a")
    assert [(one.a, one.b) for one in found] == [("c", "a")]
    assert found[0].difference > 0


def test_progress_ends_at_one():
    told = []
    compare(sample(), test="bootstrap", replicates=50, progress=told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


# --- notes


@pytest.mark.parametrize(("discordant", "told"), [(9, True), (10, False)])
def test_few_discordant_cases_are_noted(discordant, told):
    label = np.array([1] * 20 + [0] * 20)
    other = label.copy()
    other[:discordant] = 0
    found = compare(pair_table(label, {"a": label, "b": other}), thresholds=HALF)
    assert codes(found) == (["SS014"] if told else [])
    if told:
        (note,) = found.notes
        assert note.level == "warning"
        assert note.text == "a and b disagree on 9 cases only: from so few no test tells much."


def test_groups_are_noted():
    found = compare(sample("ab", group=np.arange(120) // 3), replicates=50)
    assert codes(found) == ["SS016"]
    assert found.notes[0].text.startswith("cases of a group are not independent, so whole groups are drawn")


@pytest.mark.parametrize("test", ["delong", "mcnemar", "permutation"])
def test_groups_are_not_said_to_be_drawn_where_they_are_not(test):
    pairs = sample("ab", group=np.arange(120) // 3)
    found = compare(pairs, test=test, thresholds=HALF if test == "mcnemar" else None, replicates=50)
    assert not any("groups are drawn" in note.text for note in found.notes)


@pytest.mark.parametrize("test", ["delong", "mcnemar", "permutation"])
def test_a_test_that_overlooks_groups_is_noted(test):
    pairs = sample("ab", group=np.arange(120) // 3)
    found = compare(pairs, test=test, thresholds=HALF if test == "mcnemar" else None, replicates=50)
    assert any("group" in note.text for note in found.notes)


# --- errors


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        (
            {"test": "delon"},
            ScoreSpaceError,
            "there is no test 'delon'.\n  seen: 'delong', 'bootstrap', 'permutation', 'mcnemar', 'mcnemar-corrected', "
            "'mcnemar-uncorrected', 'mcnemar-exact', 'mcnemar-midp', 'corrected-t', 'paired-t', '5x2cv-t', "
            "'5x2cv-f', 'bayes-t'\n"
            "  hint: did you mean delong?",
        ),
        (
            {"test": "z"},
            ScoreSpaceError,
            "there is no test 'z'.\n  seen: 'delong', 'bootstrap', 'permutation', 'mcnemar', 'mcnemar-corrected', "
            "'mcnemar-uncorrected', 'mcnemar-exact', 'mcnemar-midp', 'corrected-t', 'paired-t', '5x2cv-t', "
            "'5x2cv-f', 'bayes-t'",
        ),
        (
            {"test": "delong", "spec": parse("f1@0.5")},
            MeasureError,
            "DeLong's test is for auc, not for f1@0.5.\n  hint: test bootstrap, which is for any measure",
        ),
        (
            {"test": "delong", "spec": parse("pauc(fpr_high=0.2)")},
            MeasureError,
            "DeLong's test is for auc, not for pauc(fpr_high=0.2).\n  hint: test bootstrap, which is for any measure",
        ),
        (
            {"test": "mcnemar"},
            ScoreSpaceError,
            "McNemar's test compares decisions.\n  hint: state the threshold: at=0.5",
        ),
        ({"chosen": ("b",)}, ScoreSpaceError, "a comparison needs two models.\n  seen: 'b'"),
        ({"chosen": ("b", "q")}, ScoreSpaceError, "there is no model 'q'.\n  seen: 'a', 'b', 'c'"),
        (
            {"level": 95},
            ScoreSpaceError,
            "level=95 is not a level of confidence.\n  hint: between 0 and 1, such as 0.95",
        ),
    ],
    ids=["misspelt", "unknown", "f1", "partial area", "no threshold", "one model", "no such model", "level"],
)
def test_errors(named, error, message):
    with pytest.raises(error) as caught:
        compare(sample(), **named)
    assert str(caught.value) == message


def test_a_measure_of_decisions_needs_its_threshold():
    with pytest.raises(MeasureError, match="f1 of a score needs a threshold"):
        compare(sample(), spec=parse("f1"))


# --- through Evaluation


def asah(**named):
    given = {name: values for name, values in columns("asah").items() if name in ("outcome", "s100b", "ndka")}
    return ss.evaluate(given, truth="outcome", scores=["s100b", "ndka"], positive="Poor", **named)


def test_evaluation_gives_the_numbers_of_proc():
    theirs = reference("proc_asah")["paired_tests"][0]
    (found,) = asah().compare()
    assert (found.test, found.a, found.b) == ("delong", "s100b", "ndka")
    assert (found.statistic, found.p) == pytest.approx((theirs["delong_Z"], theirs["delong_p"]), abs=1e-9)


def test_level_and_seed_are_those_of_the_evaluation():
    first, again, other = (asah(level=0.9, seed=seed).compare(measure="gini")[0] for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.level == 0.9


@pytest.mark.parametrize(
    ("roles", "named", "tests"),
    [
        ({"scores": ["a", "b"]}, {}, ["delong"]),
        ({"scores": ["a", "b"]}, {"at": 0.5}, ["mcnemar"]),
        ({"decisions": ["d", "e"]}, {}, ["mcnemar"]),
        ({"scores": "a", "decisions": "d"}, {}, ["mcnemar"]),
        ({"scores": ["a", "b"]}, {"test": "mcnemar-exact"}, ["mcnemar, exact"]),
        ({"scores": ["a", "b"]}, {"measure": "ks"}, ["bootstrap"]),
        ({"decisions": ["d", "e"]}, {"measure": "f1@0.5"}, ["bootstrap"]),
    ],
)
def test_evaluation_chooses_the_test(roles, named, tests):
    found = ss.evaluate(data(), truth="y", **roles).compare(**named)
    assert [re.sub(", (corrected|midp)$", "", one.test) for one in found] == tests


def test_decisions_are_right_where_they_equal_the_truth():
    given = data()
    (found,) = ss.evaluate(given, truth="y", decisions=["d", "e"]).compare()
    right = [given[name] == given["y"] for name in "de"]
    assert found.table[0][1] == (right[0] & ~right[1]).sum()
    assert found.table[1][0] == (right[1] & ~right[0]).sum()
    assert found.difference == pytest.approx(right[0].mean() - right[1].mean())


def test_scores_beside_decisions_are_cut_at_the_threshold_stated():
    given = data()
    (found,) = ss.evaluate(given, truth="y", scores="a", decisions="e").compare(at=0.7)
    right = [(given["a"] >= 0.7) == given["y"], given["e"] == given["y"]]
    assert found.difference == pytest.approx(right[0].mean() - right[1].mean())


def test_named_models_only():
    found = ss.evaluate(data(), truth="y", scores=["a", "b"], decisions=["d", "e"]).compare("b", "a")
    assert [(one.a, one.b, one.test) for one in found] == [("b", "a", "delong")]


def test_an_unknown_model_gets_a_suggestion():
    with pytest.raises(ScoreSpaceError, match="did you mean 's100b'"):
        asah().compare("s100", "ndka")


@pytest.mark.parametrize("why", ["weights", "paired=False", "tables"])
def test_what_cannot_be_compared_says_so(why):
    if why == "tables":
        evaluation = ss.evaluate(dict(asah().models))
    else:
        named = {"weight": "w"} if why == "weights" else {"paired": False}
        evaluation = ss.evaluate(data(w=np.arange(60) % 3 + 1), truth="y", scores=["a", "b"], **named)
    with pytest.raises(ScoreSpaceError) as caught:
        evaluation.compare()
    assert str(caught.value) == (
        "these models cannot be compared case by case.\n"
        "  seen: weights, tables, several classes, or more rows than are kept\n"
        f"  hint: {WEIGHTLESS}"
    )


def test_one_model_alone_is_told_that_a_comparison_needs_two():
    with pytest.raises(ScoreSpaceError, match=r"a comparison needs two models\.\n  seen: 'a'"):
        ss.evaluate(data(), truth="y", scores="a").compare()


@pytest.mark.parametrize(
    "named",
    [
        {"at": 0.5, "measure": "f1"},
        {"test": "mcnemar", "measure": "f1@0.5"},
        {"at": 0.5, "test": "bootstrap"},
        {"at": 0.5, "test": "permutation"},
        {"at": 0.5, "test": "delong"},
    ],
    ids=lambda named: " ".join(f"{key}={value}" for key, value in named.items()),
)
def test_what_was_asked_is_what_is_tested(named):
    # A measure or a threshold that the test leaves out must be refused, and not be overlooked.
    evaluation = ss.evaluate(data(), truth="y", scores=["a", "b"])
    try:
        (found,) = evaluation.compare(**named)
    except ScoreSpaceError:
        return
    asked = named.get("measure", "@").split("@")[0]
    assert "@0.5" in found.measure
    assert found.measure.startswith(asked)


def test_folds_are_compared_by_the_corrected_t():
    # The differences within folds, by scikit-learn's areas, through the formula of Nadeau and Bengio.
    rng = np.random.default_rng(8)
    truth, fold = rng.integers(0, 2, 200), np.arange(200) % 5
    scores = {name: truth + rng.normal(size=200) for name in "ab"}
    pairs = replace(pair_table(truth, scores), fold=fold.astype(np.int32))
    (found,) = compare(pairs)
    gaps = [
        roc_auc_score(truth[fold == k], scores["a"][fold == k])
        - roc_auc_score(truth[fold == k], scores["b"][fold == k])
        for k in range(5)
    ]
    t = np.mean(gaps) / np.sqrt((1 / 5 + 1 / 4) * np.var(gaps, ddof=1))
    assert (found.difference, found.statistic) == pytest.approx((np.mean(gaps), t), abs=1e-12)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 4), abs=1e-12)


def test_folds_without_a_class_are_counted_and_left_out():
    truth, score = np.array([1, 0, 1, 0, 1, 1]), np.array([0.9, 0.2, 0.4, 0.6, 0.8, 0.1])
    pairs = replace(
        pair_table(truth, {"a": score, "b": score**2 - score}), fold=np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    )
    found = compare(pairs)
    assert found[0].count == 2
    assert "1 of 3 folds are left out: auc is undefined there." in [note.text for note in found.notes]


def test_a_test_over_folds_needs_folds():
    with pytest.raises(ScoreSpaceError) as caught:
        compare(sample("ab"), test="corrected-t")
    assert str(caught.value) == "corrected-t compares folds, but no fold is named.\n  hint: fold=…"
