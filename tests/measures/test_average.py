"""Averages over classes: what is averaged is said."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import scorespace as ss
from scorespace.measures import average, find, parse
from scorespace.measures.average import undefined_classes
from scorespace.measures.confusion import acc, ppv, tpr
from scorespace.measures.ranking import auc
from scorespace.tables import class_table, confusion, score_table

TABLE = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
LACKING = confusion(["a", "a", "b"], ["a", "b", "b"], classes=["a", "b", "z"])


def test_macro_is_the_plain_mean():
    assert average(tpr, "macro")(TABLE) == pytest.approx((5 / 6 + 2 / 4 + 3 / 5) / 3)


def test_weighted_is_the_mean_by_class_size():
    assert average(ppv, "weighted")(TABLE) == pytest.approx((6 * 5 / 6 + 4 * 2 / 3 + 5 * 3 / 6) / 15)


def test_micro_is_of_the_summed_outcomes():
    assert average(ppv, "micro")(TABLE) == pytest.approx(10 / 15)


def test_weighted_recall_is_accuracy():
    assert average(tpr, "weighted")(TABLE) == pytest.approx(find("acc")(TABLE))


@pytest.mark.parametrize("how", ["macro", "weighted"])
def test_a_class_without_cases_does_not_count_as_zero(how):
    # It did in torchmetrics (1664).
    assert average(tpr, how)(LACKING) == pytest.approx({"macro": (1 / 2 + 1) / 2, "weighted": 2 / 3}[how])


def test_classes_left_out_are_named():
    assert undefined_classes(tpr, LACKING) == ["z"]


def test_nothing_is_left_out_of_a_full_table():
    assert undefined_classes(tpr, TABLE) == []


def test_an_average_of_nothing_is_undefined():
    nothing = confusion([[0, 0], [0, 3]], classes=["p", "n"])
    assert np.isnan(average(find("lr_pos"), "macro")(nothing))


# --- scores of several classes

RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, 4, 80)
SCORED = RNG.integers(1, 9, (80, 4)) + 6 * (LABELS[:, None] == np.arange(4)) * RNG.random((80, 1))
SCORED = SCORED / SCORED.sum(axis=1, keepdims=True)
CLASSED = class_table(LABELS, SCORED)


@pytest.mark.parametrize(
    ("how", "of_peer"),
    [
        ("hand_till", {"multi_class": "ovo"}),
        ("hand_till_weighted", {"multi_class": "ovo", "average": "weighted"}),
        ("macro", {"multi_class": "ovr"}),
        ("weighted", {"multi_class": "ovr", "average": "weighted"}),
        ("micro", {"multi_class": "ovr", "average": "micro"}),
    ],
)
def test_areas_equal_those_of_scikit_learn(how, of_peer):
    wanted = roc_auc_score(LABELS, SCORED, **of_peer)
    found = float(average(auc, how)(CLASSED))
    assert found == pytest.approx(wanted, abs=1e-12)


def test_a_class_that_never_occurs_is_left_out_of_the_areas():
    wider = class_table(LABELS, {**{k: SCORED[:, k] for k in range(4)}, "9": np.zeros(80)})
    for how in ("hand_till", "hand_till_weighted", "macro", "weighted"):
        assert float(average(auc, how)(wider)) == pytest.approx(float(average(auc, how)(CLASSED)), abs=1e-12)
    assert undefined_classes(auc, wider) == ["9"]


@pytest.mark.parametrize("name", ["ap", "pauc", "ks"])
def test_any_measure_of_scores_is_averaged_over_the_classes(name):
    each = [find(name)(score_table(np.equal(LABELS, k), SCORED[:, k])) for k in range(4)]
    assert float(average(find(name), "macro")(CLASSED)) == pytest.approx(np.mean(each), abs=1e-12)
    share = np.bincount(LABELS) / LABELS.size
    assert float(average(find(name), "weighted")(CLASSED)) == pytest.approx(np.dot(each, share), abs=1e-12)


def test_partial_areas_are_averaged_over_pairs():
    pairs = []
    for i in range(4):
        for j in range(4):
            if i != j:
                among = np.isin(LABELS, [i, j])
                pairs.append(find("pauc")(score_table(LABELS[among] == i, SCORED[among, i])))
    assert float(average(find("pauc"), "hand_till")(CLASSED)) == pytest.approx(np.mean(pairs), abs=1e-12)


def test_areas_of_replicates_are_those_of_each():
    drawn = np.random.default_rng(0).integers(0, 3, (3, LABELS.size)).astype(float)
    for name in ("auc", "ap"):
        for how in ("micro", "macro", "weighted", "hand_till", "hand_till_weighted"):
            together = average(find(name), how)(CLASSED.with_cells(drawn))
            alone = [float(average(find(name), how)(CLASSED.with_cells(one))) for one in drawn]
            np.testing.assert_allclose(together, alone, atol=1e-12)


# --- classes with the names of averages

TRUTH = ["top", "b", "macro", "top", "b", "macro"]
SCORES = {
    "top": [0.8, 0.2, 0.1, 0.3, 0.3, 0.2],
    "b": [0.1, 0.6, 0.2, 0.5, 0.4, 0.5],
    "macro": [0.1, 0.2, 0.7, 0.2, 0.3, 0.3],
}


def renamed(name, names):
    """The same measure after the classes got other names, which nothing can confuse."""
    truth = [names.get(label, label) for label in TRUTH]
    return ss.measure(name, truth=truth, score={names.get(label, label): column for label, column in SCORES.items()})


@pytest.mark.parametrize(
    ("asked", "plainly"),
    [
        ("f1[macro]", "f1[macro]"),
        ('f1["macro"]', "f1[M]"),
        ("auc[macro]", "auc[macro]"),
        ('auc["macro"]', "auc[M]"),
        ("ece", "ece"),
        ('ece["top"]', "ece[T]"),
        ('auc["top"]', "auc[T]"),
        ("bacc", "bacc"),
    ],
)
def test_quotes_tell_a_class_from_an_average(asked, plainly):
    found = ss.measure(asked, truth=TRUTH, score=SCORES)
    assert found == pytest.approx(renamed(plainly, {"macro": "M", "top": "T"}))
    assert str(parse(asked)) == asked


def test_the_page_of_such_classes_keeps_them_apart():
    data = {"y": TRUTH * 5, **{f"m_{name}": column * 5 for name, column in SCORES.items()}}
    found = ss.evaluate(data, truth="y", scores="m_*")
    assert set(found.class_calibrations["m"]) == {"top", '"top"', "b", "macro"}
    assert set(found.curves("calibration")) == {'m["top"]', "m[b]", "m[macro]", "m[top]"}


def test_balanced_accuracy_is_the_mean_recall_of_the_classes_there_are():
    truth, decision = ["a", "a", "b"], ["a", "b", "c"]
    assert ss.measure("bacc", truth=truth, decision=decision) == 0.25
    assert ss.measure("tpr[macro]", truth=truth, decision=decision) == 0.25


@pytest.mark.parametrize("how", ["one_vs_one", "hand_till"])
def test_decisions_one_against_one(how):
    # Of the pairs (a, b), (a, c) and (b, c): the cases of both classes that are decided for either.
    table = confusion([[5, 2, 1], [1, 3, 2], [1, 0, 4]], classes=["a", "b", "c"])
    pairs = {("a", "b"): ((5, 2), (1, 3)), ("a", "c"): ((5, 1), (1, 4)), ("b", "c"): ((3, 2), (0, 4))}
    rates = [(hit / (hit + miss) + right / (false + right)) / 2 for (hit, miss), (false, right) in pairs.values()]
    assert float(average(tpr, how)(table)) == pytest.approx(np.mean(rates))
    accuracy = [(hit + right) / (hit + miss + false + right) for (hit, miss), (false, right) in pairs.values()]
    assert float(average(acc, how)(table)) == pytest.approx(np.mean(accuracy))
