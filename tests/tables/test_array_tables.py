import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import DataError, MeasureError, PositiveError, ScoreError
from scorespace.tables import ClassTable, ConfusionTable, Counts, ResidualTable, ScoreTable
from scorespace.tables.array_tables import by_class, has_labels, is_regression_truth, table_of_arrays


def test_what_arrays_are():
    assert is_regression_truth([1.5, 2.0])
    assert not is_regression_truth([1.0, 2.0])
    assert not is_regression_truth(["a", "b"])
    assert has_labels(["a", "b"])
    assert has_labels([True, False])
    assert not has_labels(np.array([0.1, 0.9], dtype=object))


def test_each_kind_of_table():
    assert isinstance(table_of_arrays([1, 0, 1], [0.3, 0.2, 0.1]), ScoreTable)
    assert isinstance(table_of_arrays(["a", "b"], ["a", "a"]), ConfusionTable)
    assert isinstance(table_of_arrays([1, 0, 1], [1, 0, 0], [Counts]), ConfusionTable)
    assert isinstance(table_of_arrays([1.5, 0, 1], [1, 0, 0]), ResidualTable)
    assert isinstance(table_of_arrays([1, 0, 1], [1, 0, 0], [ResidualTable]), ResidualTable)
    three = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    assert isinstance(table_of_arrays(["x", "y", "z"], three), ClassTable)
    assert isinstance(table_of_arrays(["x", "y", "z"], three, positive="y"), ScoreTable)


def test_of_two_classes_the_positive_one_is_scored():
    both = [[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]]
    assert table_of_arrays(["bad", "good", "good"], both, positive="bad").positive_name == "bad"
    assert table_of_arrays([0, 1, 0], both).positive_name == "1"
    assert isinstance(table_of_arrays(["bad", "good", "good"], both), ClassTable)
    with pytest.raises(PositiveError):
        table_of_arrays(["bad", "good", "good"], both, positive="worst")


def test_columns_whose_classes_are_not_sure_are_refused():
    with pytest.raises(DataError) as error:
        by_class(["10", "9"], [[0.9, 0.1], [0.4, 0.6]])
    assert str(error.value) == (
        "the order of the score columns is ambiguous.\n  seen: '9', '10'\n  hint: scores by class: {class: …}"
    )
    assert [*by_class(["10", "9"], [[0.9, 0.1], [0.4, 0.6]], ["10", "9"])] == ["10", "9"]
    with pytest.raises(DataError, match="2 columns and 3 classes"):
        by_class(["a", "b", "c"], [[0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])


def test_measures_take_arrays():
    y, p = [1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]
    assert ss.auc(y, p) == 0.75
    assert ss.auc(y, np.stack([1 - np.array(p), p], axis=-1)) == 0.75
    assert ss.auc(["bad", "good", "bad", "good"], p, positive="bad") == 0.75
    assert ss.auc(y, p, weight=[1, 1, 1, 0]) == 1.0
    assert ss.acc(y, [1, 0, 0, 0]) == 0.75
    assert ss.mae([1, 2, 3], [1, 2, 5]) == pytest.approx(2 / 3)
    assert ss.pauc(y, p, fpr_high=0.5) == pytest.approx(ss.pauc(ss.score_table(y, p), fpr_high=0.5))


def test_a_table_knows_its_positive_class_itself():
    with pytest.raises(MeasureError, match="positive"):
        ss.auc(ss.score_table([1, 0], [0.9, 0.4]), positive=1)
    with pytest.raises(MeasureError, match=r"ss\.auc\(truth, score\) takes arrays"):
        ss.auc([1, 0])


def test_what_a_masked_array_hides_is_missing_and_no_value():
    hidden = np.ma.array([1, 0, 1, 0], mask=[True, False, False, False])
    with pytest.raises(DataError, match="missing values"):
        ss.auc(hidden, [0.9, 0.4, 0.6, 0.7])
    with pytest.raises(ScoreError, match="score has missing"):
        ss.measure("auc", truth=[1, 0, 1, 0], score=np.ma.array([0.9, 0.4, 0.6, 0.7], mask=hidden.mask))
    with pytest.raises(DataError, match="missing"):
        ss.measure("mae", truth=[1, 0, 1, 0], prediction=np.ma.array([0.9, 0.4, 0.6, 0.7], mask=hidden.mask))
    assert ss.auc(np.ma.array([1, 0, 1, 0]), [0.9, 0.4, 0.6, 0.7]) == 0.75


def test_a_column_of_an_array_is_a_column():
    truth, score = np.array([[1], [0], [1], [0]]), np.array([[0.9], [0.4], [0.6], [0.7]])
    assert ss.auc(truth, score) == ss.measure("auc", truth=truth, score=score) == 0.75
    assert ss.measure("mae", truth=truth, prediction=score) == pytest.approx(0.4)


def test_scores_of_both_classes_are_read_alike_by_every_function():
    truth, score = [1, 0, 1, 0], np.array([0.9, 0.4, 0.6, 0.7])
    both = np.stack([1 - score, score], axis=1)
    assert ss.measure("auc", truth=truth, score=both) == ss.auc(truth, both) == ss.auc(truth, score)
    assert ss.measure("tpr@0.5", truth=truth, score=both) == 1
