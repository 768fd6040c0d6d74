"""Scores of several classes per model: decisions by the highest score, and by least cost."""

import numpy as np
import polars as pl
import pytest

from scorespace.costs import CostMatrix
from scorespace.errors import ColumnError
from scorespace.io import count_tables, read, resolve_roles, validate
from scorespace.tables import ClassTable, ScoreTable, confusion, score_table

TRUTH = ["a", "b", "c", "a", "c"]
SCORES = np.array([[0.8, 0.1, 0.1], [0.4, 0.3, 0.3], [0.2, 0.2, 0.6], [0.3, 0.5, 0.2], [0.45, 0.15, 0.4]])
COLUMNS = {"y": TRUTH, "nb_a": SCORES[:, 0], "nb_b": SCORES[:, 1], "nb_c": SCORES[:, 2]}
COSTS = CostMatrix(("c", "a", "b"), [[0, 1, 1], [1, 0, 1], [9, 9, 0]])


def counted(data, costs=None, **named):
    source = read(data)
    return count_tables(validate(source, resolve_roles(source, truth="y", scores="nb_*", **named)), costs=costs)


@pytest.mark.parametrize("data", [COLUMNS, pl.DataFrame(COLUMNS), pl.LazyFrame(COLUMNS)])
def test_the_highest_score_decides(data):
    decided = [("a", "b", "c")[k] for k in SCORES.argmax(axis=1)]
    assert counted(data)["nb"].decisions == confusion(TRUTH, decided)


def test_costs_add_the_decisions_of_least_cost():
    aligned = np.array([[0, 1, 1], [9, 0, 9], [1, 1, 0]])  # rows and columns a, b, c
    decided = [min("abc", key=lambda k: float(row @ aligned[:, "abc".index(k)])) for row in SCORES]
    assert decided != [("a", "b", "c")[k] for k in SCORES.argmax(axis=1)]
    assert counted(COLUMNS, COSTS)["nb (least cost)"] == confusion(TRUTH, decided)


def test_weights_count_in_the_decisions():
    found = counted(COLUMNS | {"w": [2, 1, 1, 0, 1]}, weight="w")["nb"].decisions
    assert found.matrix.tolist() == [[2, 0, 0], [1, 0, 0], [1, 0, 1]]


def test_two_classes_work_from_the_column_of_the_positive_one():
    data = {"y": ["bad", "good", "bad"], "nb_bad": [0.9, 0.3, 0.3], "nb_good": [0.1, 0.7, 0.7]}
    found = counted(data, positive="bad")["nb"]
    assert isinstance(found, ScoreTable)
    assert found == score_table(data["y"], data["nb_bad"], positive="bad")


def test_a_class_without_a_score_is_refused():
    with pytest.raises(ColumnError) as caught:
        counted({"y": ["a", "b", "d"], "nb_a": [1, 0, 0], "nb_b": [0, 1, 1]})
    assert str(caught.value) == (
        "model 'nb' has no score for the class 'd'.\n"
        "  seen: scores for 'a', 'b'\n"
        "  hint: add a score column for each class of the truth"
    )


def test_a_scored_class_that_never_occurs_keeps_its_column():
    data = {"y": ["a", "b"], "nb_a": [0.6, 0.1], "nb_b": [0.3, 0.2], "nb_z": [0.1, 0.7]}
    assert counted(data)["nb"].decisions.matrix.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_an_absent_class_does_not_make_two_of_three_a_positive_one():
    data = {"y": [0, 1, 1], "nb_0": [0.6, 0.1, 0.2], "nb_1": [0.3, 0.2, 0.7], "nb_2": [0.1, 0.7, 0.1]}
    found = counted(data)["nb"]
    assert isinstance(found, ClassTable)
    assert found.classes == ("0", "1", "2")
    with pytest.raises(ColumnError, match="'nb' may") as asked:
        counted(data, positive=1)
    assert 'order="0,1,2" if all are classes' in str(asked.value)
