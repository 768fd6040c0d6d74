"""Measures of probabilities on the scores of every class."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, log_loss, roc_auc_score, top_k_accuracy_score

import scorespace as ss
from oracles.load import columns, reference
from scorespace.errors import DataError, MeasureError
from scorespace.inference.estimate import estimate
from scorespace.measures import find, parse
from scorespace.measures.confusion import kappa
from scorespace.measures.multiclass import class_distance, rps, zero_probability_weight
from scorespace.measures.probability import brier
from scorespace.measures.request import bind
from scorespace.tables import class_table, confusion, score_table

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
    with pytest.raises(MeasureError, match="k=0 must"):
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
    monkeypatch.setattr("scorespace.inference.subsampling.MAX_CLASS_SCORES", 30_000)
    part = estimate(parse("auc[hand_till]"), table, replicates=200)
    monkeypatch.setattr("scorespace.inference.subsampling.MAX_CLASS_SCORES", 200_000)
    monkeypatch.setattr("scorespace.inference.subsampling.MAX_JOINT_CASES", 200_000)
    whole = estimate(parse("auc[hand_till]"), table, replicates=200)
    assert (part.method, whole.method) == ("logit-t, part of the cases", "logit-t")
    assert part.value == whole.value
    assert part.low < part.value < part.high
    assert 0.7 < (part.high - part.low) / (whole.high - whole.low) < 1.4


def test_the_weight_of_cases_whose_class_was_given_no_chance():
    scores = {"a": [1.0, 0.5, 0.0], "b": [0.0, 0.5, 0.4], "c": [0.0, 0.0, 0.6]}
    assert zero_probability_weight(class_table(["a", "c", "a"], scores, weight=[1.0, 2.0, 0.5])) == 2.5


STEPS = ("low", "medium", "high")


def graded(rng, cases, noise=0.8):
    """Actual and decided grades 0, 1, 2, and probabilities of them."""
    truth = rng.integers(0, 3, cases)
    seen = truth + noise * rng.normal(size=cases)
    weight = np.exp(-((seen[:, None] - np.arange(3)) ** 2))
    return truth, weight.argmax(axis=1), weight / weight.sum(axis=1, keepdims=True)


def named(codes):
    return np.array(STEPS)[codes]


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(weights):
    truth, decided, _ = graded(np.random.default_rng(1), 200)
    table = confusion(named(truth), named(decided)).in_order(STEPS)
    assert kappa(table, weights=weights) == pytest.approx(cohen_kappa_score(truth, decided, weights=weights))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=30))
def test_of_two_classes_all_weights_are_alike(cases):
    truth, decided = map(np.array, zip(*cases, strict=True))
    matrix = np.zeros((2, 2))
    np.add.at(matrix, (truth, decided), 1)
    table = confusion(matrix, classes=["1", "2"])
    for weights in ("linear", "quadratic"):
        assert kappa(table, weights=weights) == pytest.approx(kappa(table), nan_ok=True)


def test_mean_class_distance():
    truth, decided, _ = graded(np.random.default_rng(2), 100)
    table = confusion(named(truth), named(decided)).in_order(STEPS)
    assert class_distance(table) == pytest.approx(np.abs(truth - decided).mean())


def test_the_ranked_probability_score():
    # Epstein's, over K − 1: cumulated 0.2, 0.7 against 0, 1 for the middle class
    table = class_table(["medium"], {"low": [0.2], "medium": [0.5], "high": [0.3]}).in_order(STEPS)
    assert rps(table) == pytest.approx((0.2**2 + 0.3**2) / 2)


def test_of_two_classes_it_is_the_brier_score():
    rng = np.random.default_rng(3)
    truth, p = rng.integers(0, 2, 50), rng.random(50)
    table = class_table(truth, {"0": 1 - p, "1": p})
    assert rps(table) == pytest.approx(brier(score_table(truth, p)))


def test_areas_for_at_least_a_class():
    truth, decided, p = graded(np.random.default_rng(4), 200)
    table = class_table(named(truth), dict(zip(STEPS, p.T, strict=True))).in_order(STEPS)
    for step, name in ((1, "medium"), (2, "high")):
        area = bind(parse(f"auc[>={name}]"), table).value
        assert area == pytest.approx(roc_auc_score(truth >= step, p[:, step:].sum(axis=1)))
        found = bind(parse(f"tpr[>={name}]"), confusion(named(truth), named(decided)).in_order(STEPS)).value
        assert found == pytest.approx((decided[truth >= step] >= step).mean())


def test_an_order_keeps_the_cases():
    table = confusion([[3, 1, 0], [2, 5, 1], [0, 1, 4]], classes=["high", "low", "medium"])
    ordered = table.in_order(STEPS)
    assert ordered.classes == STEPS
    assert ordered.matrix.tolist() == [[5, 1, 2], [1, 4, 0], [1, 0, 3]]
    wider = table.in_order(["none", *STEPS])  # a class that never occurs still lies between others
    assert wider.class_totals.tolist() == [0, 8, 5, 4]


@pytest.mark.parametrize("measure", ["class_distance", "kappa(weights=linear)", "tpr[>=medium]"])
def test_words_have_no_order_of_their_own(measure):
    table = confusion([[3, 1, 0], [2, 5, 1], [0, 1, 4]], classes=["high", "low", "medium"])
    with pytest.raises(DataError) as found:
        bind(parse(measure), table).value  # noqa: B018
    assert str(found.value) == (
        "an ordinal measure needs the order of the classes.\n  seen: classes 'high', 'low', 'medium'\n"
        '  hint: order="high,low,medium", lowest first'
    )


def test_numbers_have_an_order():
    assert class_distance(confusion([[3, 1], [2, 5]], classes=["1", "2"])) == pytest.approx(3 / 11)


def test_results_come_in_the_stated_order():
    truth, decided, _ = graded(np.random.default_rng(5), 60)
    data = {"y": named(truth), "d": named(decided), "e": named(truth)}
    ev = ss.evaluate(data, truth="y", decisions=["d", "e"], order="low,medium,high")
    assert list(ev.models.classes) == list(STEPS)
    assert [str(one.spec) for one in ev.summary if one.model == "d"][-2:] == [
        "kappa(weights=quadratic)",
        "class_distance",
    ]
    assert ev.compare(measure="class_distance")[0].difference == pytest.approx(np.abs(truth - decided).mean())


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            "low,high",
            "the class 'medium' is not in the order.\n"
            "  seen: the order 'low', 'high'; classes 'high', 'low', 'medium'\n"
            "  hint: name every class, lowest first",
        ),
        ("low,low,high", "the order names a class twice.\n  seen: 'low', 'low', 'high'\n  hint: name each class once"),
    ],
)
def test_orders_that_are_none(order, message):
    with pytest.raises(DataError) as found:
        ss.evaluate({"y": list(STEPS), "d": list(STEPS)}, truth="y", decisions="d", order=order)
    assert str(found.value) == message


@pytest.mark.parametrize("measure", ["kappa(weights=quadratic)", "class_distance", "rps"])
def test_intervals_hold_the_truth(measure):
    # A slice of a simulation; see docs/lectures.md.
    rng = np.random.default_rng(6)

    def table(cases):
        truth, decided, p = graded(rng, cases)
        if measure == "rps":
            return class_table(truth, {str(k): p[:, k] for k in range(3)})
        return confusion(truth, decided, classes=[0, 1, 2])

    true = bind(parse(measure), table(200_000)).value
    found = [estimate(parse(measure), table(150), replicates=300) for _ in range(80)]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.88
