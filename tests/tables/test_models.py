"""The models of a sample: found by name and class, weighed to another prevalence, and refused with the reason."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.tables import ConfusionTable, Counts, class_table, confusion, residual_table, score_table
from scorespace.tables.models import Models, class_weights, models_from_tables
from scorespace.tables.paired import pair_table

TRUTH = ["bad", "good", "bad", "good", "good"]
SCORES = score_table(TRUTH, [0.9, 0.4, 0.6, 0.7, 0.1], positive="bad")
CRISP = confusion(TRUTH, ["bad", "good", "good", "good", "good"], positive="bad")
THREE = class_table(["x", "y", "z"], {"x": [0.6, 0.2, 0.1], "y": [0.3, 0.5, 0.3], "z": [0.1, 0.3, 0.6]})
TWO = models_from_tables({"nb": SCORES, "rule": CRISP})
CLASSES = models_from_tables({"net": THREE})


def told(ask):
    with pytest.raises(ScoreSpaceError) as caught:
        ask()
    return str(caught.value)


def test_it_is_a_mapping_of_tables_by_name():
    assert dict(TWO) == {"nb": SCORES, "rule": CRISP}
    assert ("nb" in TWO, "net" in TWO, len(TWO)) == (True, False, 2)
    assert told(lambda: TWO["rul"]) == "there is no model 'rul'.\n  seen: 'nb', 'rule'\n  hint: did you mean 'rule'?"


def test_models_of_one_sample_have_its_classes():
    assert (TWO.rows, TWO.classes, TWO.positive, TWO.prevalence) == (5, {"bad": 2, "good": 3}, "bad", 0.4)
    assert (TWO.two_class, TWO.thresholded, TWO.of_classes) == (["nb", "rule"], ["nb"], [])
    assert (CLASSES.two_class, CLASSES.of_classes, CLASSES.present) == ([], ["net"], ["x", "y", "z"])
    assert math.isnan(CLASSES.prevalence)
    assert type(CLASSES.deciding["net"]) is ConfusionTable
    other = score_table(["bad", "good"], [0.5, 0.5], positive="bad")
    with pytest.raises(DataError) as caught:
        models_from_tables({"nb": SCORES, "other": other})
    assert str(caught.value) == (
        "nb and other are not evaluated on the same cases.\n"
        "  seen: 'bad' (2 rows), 'good' (3 rows); 'bad' (1 row), 'good' (1 row)\n"
        "  hint: evaluate tables of different samples separately"
    )


def test_weights_that_are_whole_are_shown_as_such():
    weighed = score_table([1, 0, 1], [0.9, 0.4, 0.2], weight=[0.5, 2.0, 0.75])
    assert class_weights(weighed) == {"0": 2, "1": 1.25}
    assert type(class_weights(weighed)["0"]) is int


def test_a_class_in_brackets():
    assert CLASSES.split_class("net[y]") == ("net", "y")
    assert CLASSES.split_class("tree[y]") == ("tree[y]", None)
    odd = models_from_tables({"net[1]": SCORES})
    assert odd.split_class("net[1]") == ("net[1]", None)
    assert odd.split_class("net[1][bad]") == ("net[1]", "bad")
    # One class against the rest: its own column of scores, and that class as the positive one.
    assert CLASSES.score_table("net[y]").score.tolist() == [0.5, 0.3]
    assert CLASSES.score_table("net[y]").pos.tolist() == [1, 0]
    assert told(lambda: CLASSES.score_table("net")) == "net scores 3 classes.\n  hint: name one: net[x]"
    assert told(lambda: CLASSES.score_table("net[w]")) == (
        "net[w]: names a class that does not occur.\n  seen: classes 'x', 'y', 'z'\n  hint: net[x]"
    )


def test_tables_that_part_no_classes_have_no_scores_of_them():
    numbers = models_from_tables({"m": residual_table([1.0, 2.0], [1.5, 2.5])})
    hint = "hint: a model with scores or decisions"
    assert told(lambda: numbers.score_table("m")) == f"m has no class scores: it is numeric predictions.\n  {hint}"
    assert (
        told(lambda: numbers.counts("m", 0.5))
        == f"m has no outcomes of decisions: it is numeric predictions.\n  {hint}"
    )


def test_the_model_that_is_meant_when_none_is_named():
    assert CLASSES.only() == "net"
    assert told(TWO.only) == "several models: specify one.\n  seen: 'nb', 'rule'\n  hint: model='nb'"


def test_outcomes_at_a_threshold_and_of_decisions():
    assert TWO.counts("nb", 0.5) == Counts(tp=2, fp=1, fn=0, tn=2)
    assert TWO.counts("rule", 0.5) == Counts(tp=1, fp=0, fn=1, tn=3)
    assert (
        told(lambda: CLASSES.counts("net", 0.5))
        == "net decides between 3 classes, none of them positive.\n  hint: specify the positive class: positive=…"
    )


@given(st.floats(0.01, 0.99))
def test_another_prevalence_weighs_the_same_cases(share):
    pairs = pair_table(TRUTH, {"nb": [0.9, 0.4, 0.6, 0.7, 0.1]}, positive="bad")
    found = Models("some", 5, {"bad": 2, "good": 3}, "bad", {"nb": pairs.tables[0]}, pairs).at_prevalence(share)
    assert found.prevalence == pytest.approx(share)
    assert sum(found.classes.values()) == pytest.approx(5)
    weighed = found["nb"]
    assert float(weighed.n_pos / weighed.total) == pytest.approx(share)
    assert np.average(found.pairs.label, weights=found.pairs.weight) == pytest.approx(share)
    # Within a class all cases keep the same weight, so rates within classes stay.
    assert weighed.at(0.5).tp / weighed.at(0.5).p == pytest.approx(1)
    assert weighed.at(0.5).fp / weighed.at(0.5).n == pytest.approx(1 / 3)


def test_without_a_positive_class_the_prevalence_stays():
    assert CLASSES.at_prevalence(0.3) is CLASSES


def test_groups_and_pairs():
    alone = pair_table(TRUTH, {"nb": [0.9, 0.4, 0.6, 0.7, 0.1]}, positive="bad", group=[1, 1, 2, 2, 3])
    both = pair_table(TRUTH, {"nb": [0.9, 0.4, 0.6, 0.7, 0.1], "b": [1, 2, 3, 4, 5]}, positive="bad")
    assert [(one.comparable, one.grouped) for one in (TWO, held(alone), held(both))] == [
        (False, False),
        (False, True),
        (True, False),
    ]


def held(pairs):
    return Models("some", 5, {"bad": 2, "good": 3}, "bad", dict(zip(pairs.models, pairs.tables, strict=True)), pairs)


def test_tables_without_classes_have_no_outcomes():
    numbers = ss.evaluate({"y": [1.5, 2.5, 3.0], "p": [1.0, 2.0, 3.0]}, truth="y", predictions="p")
    with pytest.raises(ScoreSpaceError) as caught:
        numbers.counts("p")
    assert (
        str(caught.value) == f"p has no outcomes of decisions: it is {numbers.models['p'].described()}.\n"
        "  hint: a model with scores or decisions"
    )


def test_sums_of_fractional_weights_are_the_same_cases_in_any_order():
    rng = np.random.default_rng(0)
    label, weight = rng.integers(0, 2, 999), rng.random(999)
    tables = {name: score_table(label, rng.random(999), weight=weight) for name in "abcdef"}
    assert list(models_from_tables(tables)) == list("abcdef")
    with pytest.raises(DataError, match="same cases"):
        models_from_tables({"a": tables["a"], "b": score_table(label, label, weight=weight * 1.001)})
