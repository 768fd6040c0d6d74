"""Measures of decisions: exact with large counts, undefined where they should be."""

import math
from fractions import Fraction

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.measures import find
from scorespace.measures.confusion import bacc, dor, f1, fbeta, kappa, lr_neg, lr_pos, mcc, ppv, tpr
from scorespace.tables import Counts, confusion, score_table

NOTHING_POSITIVE = Counts(tp=0, fp=0, fn=3, tn=5)
LARGE = [
    (10**9, 10**9 - 1, 3, 10**9),
    (10**9, 1, 1, 10**9),
    (1, 10**9, 10**9, 1),
    (123_456_789, 987_654_321, 555_555_555, 2_000_000_000),
    (10**9, 0, 0, 10**9),
    (0, 10**9, 10**9, 0),
    (1, 1, 1, 10**9),
    (5, 0, 2, 10**12),
]


def exact_mcc(tp, fp, fn, tn):
    """The root of an exact fraction, with the sign of the numerator."""
    top = tp * tn - fp * fn
    square = Fraction(top * top, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return math.copysign(math.sqrt(square), top)


def exact_kappa(tp, fp, fn, tn):
    total = tp + fp + fn + tn
    by_chance = (tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)
    return float(Fraction((tp + tn) * total - by_chance, total * total - by_chance))


# --- number width


@pytest.mark.parametrize("cells", LARGE)
def test_mcc_of_large_counts_is_exact(cells):
    # 32-bit products made it 1.76 (scikit-learn 2806, 9622).
    assert mcc(Counts(*cells)) == pytest.approx(exact_mcc(*cells), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("cells", LARGE)
def test_kappa_of_large_counts_is_exact(cells):
    # 32-bit products made it 5.2 (scikit-learn 8354).
    assert kappa(Counts(*cells)) == pytest.approx(exact_kappa(*cells), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("measure", [mcc, kappa])
@pytest.mark.parametrize("cells", LARGE)
def test_large_counts_stay_in_the_range(measure, cells):
    assert -1 <= measure(Counts(*cells)) <= 1


@pytest.mark.parametrize("measure", [mcc, kappa])
@pytest.mark.parametrize("cells", LARGE)
def test_large_counts_of_several_classes_are_exact(measure, cells):
    tp, fp, fn, tn = cells
    expected = {"mcc": exact_mcc, "kappa": exact_kappa}[measure.name](*cells)
    assert measure(confusion([[tp, fn], [fp, tn]], classes=["p", "n"])) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ["acc", "tpr", "mcc", "kappa", "f1"])
def test_narrow_integers_do_not_overflow(name):
    cells = np.full(4, 120, dtype=np.int8)
    assert find(name)(Counts(*cells)) == find(name)(Counts(120, 120, 120, 120))


@pytest.mark.parametrize("measure", [mcc, kappa])
@pytest.mark.parametrize("cells", [(3, 0, 0, 7), (1, 0, 0, 3), (1, 0, 0, 2)])
def test_perfect_agreement_is_exactly_one(measure, cells):
    assert measure(Counts(*cells)) == 1


@pytest.mark.parametrize("cells", [(0, 3, 7, 0), (0, 1, 3, 0)])
def test_perfect_disagreement_is_exactly_minus_one(cells):
    assert mcc(Counts(*cells)) == -1


# --- undefined


def test_precision_is_undefined_when_nothing_is_predicted_positive():
    assert math.isnan(ppv(NOTHING_POSITIVE))


def test_f1_exists_while_precision_does_not():
    # 2TP / (2TP + FP + FN) needs no precision (scikit-learn 27189).
    assert f1(NOTHING_POSITIVE) == 0


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("ppv", (0, 0, 3, 5), "undefined: nothing is predicted positive"),
        ("npv", (3, 5, 0, 0), "undefined: nothing is predicted negative"),
        ("tpr", (0, 2, 0, 5), "undefined: there are no positive cases"),
        ("tnr", (3, 0, 5, 0), "undefined: there are no negative cases"),
        ("bacc", (0, 2, 0, 5), "undefined: a class has no cases"),
        ("f1", (0, 0, 0, 5), "undefined: there are neither positives nor predicted positives"),
        ("mcc", (0, 0, 3, 5), "undefined: a row or column of the confusion table is empty"),
        ("kappa", (0, 0, 0, 5), "undefined: truth and decision are the same single class"),
        ("lr_pos", (2, 0, 3, 5), "infinite: there are no false positives"),
        ("lr_neg", (2, 5, 3, 0), "infinite: there are no true negatives"),
        ("dor", (2, 0, 3, 5), "infinite: there are no false positives or no false negatives"),
    ],
)
def test_reason(name, cells, reason):
    measure = find(name)
    assert measure.reason(measure(Counts(*cells))) == reason


@pytest.mark.filterwarnings("error")
def test_undefined_values_do_not_warn():
    for name in ("ppv", "mcc", "kappa", "lr_pos", "lr_neg", "dor", "lift", "fm", "gmean", "markedness"):
        find(name)(Counts(0, 0, 0, 0))


@pytest.mark.parametrize("measure", [lr_pos, dor])
def test_infinite_is_not_undefined(measure):
    assert measure(Counts(2, 0, 3, 5)) == math.inf


def test_lr_neg_of_a_perfect_decision_is_zero():
    assert lr_neg(Counts(3, 0, 0, 5)) == 0


# --- names


def test_fallout_is_the_false_positive_rate():
    # WEKA prints FP / (TP + FP) under that name; that is the false discovery rate.
    assert find("fallout").name == "fpr"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("recall", "tpr"),
        ("sensitivity", "tpr"),
        ("hit_rate", "tpr"),
        ("power", "tpr"),
        ("specificity", "tnr"),
        ("precision", "ppv"),
        ("macro_accuracy", "bacc"),
        ("phi", "mcc"),
        ("pcfall", "fdr"),
        ("rpp", "pp_rate"),
        ("informedness", "youden"),
    ],
)
def test_synonyms(alias, name):
    assert find(alias).name == name


# --- options


@pytest.mark.parametrize(("beta", "expected"), [(0, 0.75), (1, 2 / 3), (2, 0.625)])
def test_fbeta_moves_from_precision_towards_recall(beta, expected):
    # tp 3, fp 1, fn 2: precision 3/4, recall 3/5, and (1+β²)·3 / ((1+β²)·3 + 1 + β²·2).
    assert fbeta(Counts(3, 1, 2, 9), beta=beta) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [-1, float("nan"), float("inf")])
def test_fbeta_refuses_what_is_no_weight(beta):
    with pytest.raises(MeasureError) as caught:
        fbeta(Counts(3, 1, 2, 9), beta=beta)
    assert str(caught.value) == f"beta={beta} is not a weight of recall.\n  hint: a number ≥ 0, such as beta=2"


def test_balanced_accuracy_of_several_classes_leaves_out_those_that_never_occur():
    assert bacc(confusion(["a", "b"], ["a", "z"])) == 0.5
    assert math.isnan(bacc(Counts(tp=2, fp=0, fn=1, tn=0)))


def test_a_measure_of_a_score_needs_a_threshold():
    with pytest.raises(MeasureError) as caught:
        tpr(score_table([1, 0], [0.2, 0.1]))
    assert str(caught.value) == "tpr of a score needs a threshold.\n  hint: tpr@0.5"


def test_the_margins_are_measures_too():
    truth, decision = [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]
    found = [ss.measure(name, truth=truth, decision=decision) for name in ("P", "N", "PP", "PN")]
    assert found == [3, 2, 2, 3]


def test_the_prevalence_threshold_is_as_published():
    # A screening test of 2 030 people: TPR 2/3, FPR 9 %. (√(TPR·FPR) − FPR) / (TPR − FPR), as Balayla writes it.
    screened = Counts(20, 180, 10, 1820)
    tpr_, fpr_ = 2 / 3, 0.09
    assert find("prevalence threshold")(screened) == pytest.approx(
        (math.sqrt(tpr_ * fpr_) - fpr_) / (tpr_ - fpr_), abs=1e-12
    )
    assert find("pt")(Counts(5, 5, 5, 5)) == pytest.approx(0.5)  # where the published form is 0/0
    assert math.isnan(find("pt")(Counts(0, 0, 5, 5)))


def test_errors_of_both_classes_and_of_no_information():
    counts = Counts(3, 1, 1, 15)
    assert find("half total error rate")(counts) == pytest.approx((1 / 4 + 1 / 16) / 2)
    assert find("no-information rate")(counts) == 16 / 20
    table = confusion([[5, 0, 1], [0, 2, 2], [1, 1, 3]], classes=["a", "b", "c"])
    assert find("ber")(table) == pytest.approx(1 - bacc(table))
    assert find("nir")(table) == 6 / 15
