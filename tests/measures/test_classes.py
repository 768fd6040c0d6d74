"""Measures of probabilities on the scores of several classes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss, top_k_accuracy_score

from oracles.load import columns, reference
from scorespace.errors import MeasureError
from scorespace.measures import find, parse
from scorespace.measures.classes import impossible_cases
from scorespace.measures.request import bind
from scorespace.resampling.estimate import estimate
from scorespace.tables import class_table, score_table

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")


@pytest.fixture(scope="module")
def iris():
    given = columns("weka_iris_nb_predictions")
    return class_table(given["actual"], {name: given[f"p_{name}"] for name in CLASSES})


def value(text, table):
    return bind(parse(text), table).value


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("auc[hand_till]", "pROC_hand_till"),
        ("auc[hand_till]", "au1u"),
        ("auc[hand_till_weighted]", "au1p"),
        ("auc[macro]", "aunu"),
        ("auc[weighted]", "aunp"),
        ("brier", "mbrier"),
        ("logloss", "logloss"),
        ("acc", "acc"),
        ("bacc", "bacc"),
        ("mcc", "mcc"),
        ("sauc[hand_till]", "scored_auc_1v1"),
        ("prob_auc[hand_till]", "probabilistic_auc_1v1"),
    ],
)
def test_iris_equals_proc_and_mlr3measures(iris, measure, name):
    assert value(measure, iris) == pytest.approx(reference("mlr3measures_iris")["iris_NB"][name], abs=1e-9)


@st.composite
def tables(draw):
    count = draw(st.integers(1, 15))
    truth = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    cells = draw(st.lists(st.integers(1, 6), min_size=3 * count, max_size=3 * count))
    scores = np.reshape(cells, (count, 3)).astype(float)
    weight = draw(st.lists(st.integers(1, 8), min_size=count, max_size=count))
    return class_table(
        truth,
        dict(zip("abc", (scores / scores.sum(axis=1, keepdims=True)).T, strict=True)),
        weight=np.array(weight) / 4,
    )


@given(tables())
@settings(max_examples=40)
def test_calibration_and_refinement_make_up_the_brier_score(table):
    cal, ref, brier = (value(name, table) for name in ("cal", "ref", "brier"))
    assert cal >= 0
    assert ref >= 0
    assert cal + ref == pytest.approx(brier, abs=1e-12)


@given(tables())
@settings(max_examples=30)
def test_brier_is_the_sum_of_the_classes_each_against_the_rest(table):
    each = [find("brier")(table.one_vs_rest(k)) for k in range(3)]
    assert value("brier", table) == pytest.approx(sum(each), abs=1e-12)
    assert 0 <= value("brier", table) <= 2


@given(tables())
@settings(max_examples=30)
def test_two_classes_double_the_brier_score_and_keep_the_log_loss(table):
    p = table.score[0]
    truth = np.where(table.label == 0, "a", "b")
    two = class_table(truth, {"a": p, "b": 1 - p}, weight=table.weight)
    one = score_table(truth == "a", p, positive=True, weight=table.weight)
    assert value("brier", two) == pytest.approx(2 * find("brier")(one), abs=1e-12)
    assert value("logloss", two) == pytest.approx(find("logloss")(one), abs=1e-12)
    assert value("logloss(base=2)", two) == pytest.approx(find("logloss")(one) / math.log(2), abs=1e-12)


def test_log_loss_equals_that_of_scikit_learn(iris):
    truth = [iris.classes[k] for k in iris.label]
    assert value("logloss", iris) == pytest.approx(log_loss(truth, iris.score.T, labels=list(iris.classes)), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_equals_that_of_scikit_learn(k):
    source = np.random.default_rng(3)  # no two scores tie: there scikit-learn goes by the order of the labels
    truth, scores = source.integers(0, 4, 200), source.dirichlet(np.ones(4), 200)
    table = class_table(np.array(list("abcd"))[truth], scores, classes=list("abcd"))
    assert find("top_k")(table, k=k) == pytest.approx(top_k_accuracy_score(truth, scores, k=k))


def test_tied_scores_share_the_places_of_top_k():
    table = class_table(["a", "b", "c"], [[1 / 3, 1 / 3, 1 / 3]] * 3, classes=list("abc"))
    assert [find("top_k")(table, k=k) for k in (1, 2, 3, 9)] == pytest.approx([1 / 3, 2 / 3, 1, 1])
    with pytest.raises(MeasureError, match="k=0 names no class"):
        find("top_k")(table, k=0)


def test_a_class_given_no_chance_makes_the_log_loss_infinite_and_clipping_ends_that():
    table = class_table(["a", "b"], [[1.0, 0.0], [1.0, 0.0]])
    assert value("logloss", table) == math.inf
    assert value("logloss(eps=0.01)", table) == pytest.approx(-math.log(0.01) / 2, abs=1e-12)
    assert value("logloss", table.with_cells(np.array([1.0, 0.0]))) == 0


def test_ece_is_that_of_the_highest_score(iris):
    assert value("ece", iris) == find("ece")(iris.top)
    assert value("mce(bins=5)", iris) == find("mce")(iris.top, bins=5)
    each = [find("ece")(iris.one_vs_rest(k)) for k in range(3)]
    assert value("ece[macro]", iris) == pytest.approx(np.mean(each))


def test_skill_is_against_the_base_rates(iris):
    assert value("unc", iris) == pytest.approx(2 / 3)
    assert value("brier_skill", iris) == pytest.approx(1 - value("brier", iris) / (2 / 3))


def test_a_measure_of_one_score_needs_a_class_or_an_average(iris):
    with pytest.raises(MeasureError, match=r"name a class or an average: auc\[macro\]"):
        bind(parse("auc"), iris)
    with pytest.raises(MeasureError, match=r"f1\[Iris-setosa\]@0.5"):
        bind(parse("f1@0.5"), iris)
    with pytest.raises(MeasureError, match="no single threshold"):
        bind(parse("f1[macro]@0.5"), iris)


def test_a_class_at_a_threshold_is_decided_by_its_own_score(iris):
    assert value("tpr[Iris-virginica]@0.5", iris) == 0.92
    assert value("tpr[Iris-virginica]@0", iris) == 1


@pytest.mark.parametrize("name", ["brier", "logloss", "ece", "cal[macro]", "smauc[macro]"])
def test_scores_that_do_not_sum_to_one_are_no_probabilities(name):
    table = class_table(["a", "b"], [[0.9, 0.8], [0.2, 0.9]])
    with pytest.raises(MeasureError, match="needs probabilities"):
        bind(parse(name), table)


@pytest.mark.parametrize(
    "name", ["auc[hand_till]", "auc[weighted]", "ap[macro]", "brier", "logloss", "ece", "cal", "auc[Iris-versicolor]"]
)
def test_every_measure_has_an_interval(iris, name):
    found = estimate(parse(name), iris, replicates=200)
    assert found.low <= found.value <= found.high
    assert found.low < found.high
    assert found.method


def test_brier_scores_above_one_keep_their_interval():
    wrong = class_table(["a", "b", "c"] * 10, np.tile([[0, 1, 0], [0, 0.1, 0.9], [0.8, 0.1, 0.1]], (10, 1)))
    found = estimate(parse("brier"), wrong, replicates=50)
    assert found.value > 1
    assert found.high > 1


def test_many_scores_are_resampled_in_part(monkeypatch):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 40_000)
    score = rng.random((label.size, 3)) + 0.2 * (label[:, None] == np.arange(3))
    table = class_table(label, score / score.sum(axis=1, keepdims=True))
    monkeypatch.setattr("scorespace.resampling.lighter.MOST_SCORES", 30_000)
    part = estimate(parse("auc[hand_till]"), table, replicates=200)
    monkeypatch.setattr("scorespace.resampling.lighter.MOST_SCORES", 200_000)
    monkeypatch.setattr("scorespace.resampling.lighter.MOST_ROWS", 200_000)
    whole = estimate(parse("auc[hand_till]"), table, replicates=200)
    assert (part.method, whole.method) == ("logit-t, part of the cases", "logit-t")
    assert part.value == whole.value
    assert part.low < part.value < part.high
    assert 0.7 < (part.high - part.low) / (whole.high - whole.low) < 1.4


def test_the_weight_of_cases_whose_class_was_given_no_chance():
    scores = {"a": [1.0, 0.5, 0.0], "b": [0.0, 0.5, 0.4], "c": [0.0, 0.0, 0.6]}
    assert impossible_cases(class_table(["a", "c", "a"], scores, weight=[1.0, 2.0, 0.5])) == 2.5
