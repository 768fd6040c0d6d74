"""The confusion table."""

import numpy as np
import pytest

from scorespace.errors import ColumnError, DataError, PositiveError, WeightError
from scorespace.measures.confusion import acc, kappa, tpr
from scorespace.measures.ranking import auc
from scorespace.tables import Counts, confusion

TRUTH = ["a", "b", "b", "c", "c", "c"]
DECISION = ["a", "b", "c", "c", "c", "a"]


def test_rows_are_actual_and_columns_decided():
    table = confusion(TRUTH, DECISION)
    assert table.classes == ("a", "b", "c")
    assert table.matrix.tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 2]]


def test_from_a_matrix():
    table = confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="cancer")
    assert table.counts_of(0) == Counts(tp=6, fp=1, fn=2, tn=3)


def test_other_class_as_positive():
    table = confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="healthy")
    assert table.counts_of(table.positive) == Counts(tp=3, fp=2, fn=1, tn=6)


def test_each_class_takes_its_turn():
    rest = confusion(TRUTH, DECISION).one_vs_rest
    assert rest == Counts(tp=[1, 1, 2], fp=[1, 0, 1], fn=[0, 1, 1], tn=[4, 4, 2])


def test_weights():
    table = confusion(TRUTH, DECISION, weight=[1, 2, 0.5, 1, 1, 0])
    assert table.matrix.tolist() == [[1, 0, 0], [0, 2, 0.5], [0, 0, 2]]


def test_weights_of_the_wrong_length_are_refused():
    with pytest.raises(WeightError):
        confusion(TRUTH, DECISION, weight=[1, 2])


def test_weights_beside_a_matrix_are_not_ignored():
    # A weight vector that is silently ignored is PyCM's mistake.
    with pytest.raises((WeightError, DataError)):
        confusion([[1, 2], [3, 4]], weight=[1, 2])


def test_numbers_are_ordered_as_numbers():
    assert confusion([10, 9, 2], [10, 9, 2]).classes == ("2", "9", "10")


def test_a_class_that_is_only_decided():
    table = confusion(["a", "b"], ["a", "z"])
    assert table.classes == ("a", "b", "z")
    assert table.class_totals.tolist() == [1, 1, 0]


def test_given_classes_set_the_order():
    assert confusion(TRUTH, DECISION, classes=["c", "b", "a"]).matrix.tolist() == [[2, 0, 1], [1, 1, 0], [0, 0, 1]]


def test_a_label_outside_the_given_classes_is_refused():
    with pytest.raises(ColumnError) as caught:
        confusion(["a", "x"], ["a", "a"], classes=["a", "b"])
    assert (
        str(caught.value) == "the label 'x' is not one of the classes.\n  seen: classes ('a', 'b')\n"
        "  hint: classes=… must include every label that occurs"
    )


def test_merged():
    merged = confusion(["a", "b"], ["a", "a"]) + confusion(["b", "c"], ["b", "c"])
    assert merged.classes == ("a", "b", "c")
    assert merged.matrix.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_different_positive_classes_do_not_merge():
    a, b = (confusion(["a", "b"], ["a", "b"], positive=name) for name in "ab")
    with pytest.raises(
        DataError,
        match="cannot be merged",
    ):
        a + b


def test_crisp_decisions_as_scores():
    table = confusion([[6, 2], [1, 3]], classes=["p", "n"], positive="p")
    assert table.score_table().at(1) == table.counts_of(0)
    assert auc(table) == pytest.approx((6 / 8 + 3 / 4) / 2)


def test_three_classes_are_no_score():
    with pytest.raises(DataError) as caught:
        confusion(TRUTH, DECISION).score_table()
    assert (
        str(caught.value) == "only a binary decision can become a score table.\n"
        "  seen: 3 classes\n  hint: two classes, one of them positive"
    )


def test_counts_beyond_2_to_24():
    # Counts in float32 are wrong above 2^24 (scikit-learn 34975).
    assert confusion([[2**24 + 1, 0], [0, 1]]).total == 2**24 + 2


@pytest.mark.parametrize("measure", [acc, kappa])
def test_measures_of_several_classes_need_no_positive_one(measure):
    assert np.isfinite(measure(confusion(TRUTH, DECISION)))


def test_a_measure_of_one_class_says_what_to_state():
    with pytest.raises(ValueError, match="tpr cannot be computed from a confusion table of 3 classes") as caught:
        tpr(confusion(TRUTH, DECISION))
    assert caught.value.hint == "state the positive class, or name a class or an average: tpr[macro]"


@pytest.mark.parametrize("matrix", [[[1, 2]], [1, 2, 3], [[[1]]]])
def test_a_matrix_must_be_square(matrix):
    with pytest.raises(DataError) as caught:
        confusion(matrix)
    shape = np.shape(matrix)
    assert str(caught.value) == (
        f"a confusion matrix must be square.\n  seen: shape {shape}\n  hint: rows actual, columns decided"
    )


@pytest.mark.parametrize("matrix", [[[1, -1], [0, 1]], [[0, 0], [0, 0]], [[1, float("nan")], [0, 1]]])
def test_a_matrix_must_hold_counts(matrix):
    with pytest.raises(DataError, match="must hold counts"):
        confusion(matrix)


@pytest.mark.parametrize("classes", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_classes_must_name_each_row_once(classes):
    with pytest.raises(DataError, match="matrix once"):
        confusion([[1, 2], [3, 4]], classes=classes)


def test_lengths_must_agree():
    with pytest.raises(DataError) as caught:
        confusion(["a", "b"], ["a"])
    assert (
        str(caught.value)
        == "truth and decision differ in length.\n  seen: 2 and 1 labels\n  hint: one decision for each label"
    )


def test_a_positive_class_that_never_occurs_is_refused():
    with pytest.raises(PositiveError) as caught:
        confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"], positive="ill")
    assert str(caught.value) == (
        "positive='ill' never occurs in the truth.\n"
        "  seen: 'cancer' (8 rows), 'healthy' (4 rows)\n"
        '  hint: positive="healthy"'
    )


def test_text_of_a_table():
    table = confusion([[1200, 2], [1, 3]], classes=["cancer", "ok"])
    assert repr(table) == (
        "ConfusionTable: 1 206 cases, rows actual, columns decided\n"
        "        cancer      ok\n"
        "cancer   1 200       2\n"
        "ok           1       3"
    )


def test_another_prevalence_weighs_the_cases_of_each_class_alike():
    truth, decided = ["b", "a", "b", "a", "a"], ["b", "b", "a", "a", "a"]
    weight = np.array([0.5, 2.0, 1.5, 1.0, 3.0])
    factor = np.where(np.array(truth) == "b", 0.1 * 8 / 2, 0.9 * 8 / 6)
    found = confusion(truth, decided, positive="b", weight=weight).at_prevalence(0.1)
    expected = confusion(truth, decided, positive="b", weight=weight * factor)
    assert found.matrix == pytest.approx(expected.matrix)
    assert found.squares == pytest.approx(expected.squares)
