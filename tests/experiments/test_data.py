"""Data sets: roles, kinds of columns, digests."""

import numpy as np
import pytest

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.experiments.data import Dataset, Nominal, dataset, resolve_datasets

TABLE = {
    "size": [1.0, 2.0, None, 4.0],
    "colour": ["red", "blue", None, "red"],
    "speaker": ["a", "a", "b", "b"],
    "day": [3, 1, 2, 1],
    "risk": ["good", "bad", "good", "bad"],
}


def test_columns_without_another_role_are_features():
    found = dataset(TABLE, "risk", name="t", groups=["speaker"], order="day", positive="bad")
    assert list(found.features) == ["size", "colour"]
    assert found.nominal.tolist() == [False, True]
    assert found.classes == ("bad", "good")
    assert found.codes.tolist() == [1, 0, 1, 0]
    assert found.truth.tolist() == ["good", "bad", "good", "bad"]
    assert found.groups["speaker"][0] == found.groups["speaker"][1] != found.groups["speaker"][2]
    assert found.order.tolist() == [3, 1, 2, 1]
    assert np.isnan(found.matrix[2]).all()
    colour = found.features["colour"]
    assert isinstance(colour, Nominal)
    assert colour.texts().tolist() == ["red", "blue", None, "red"]
    assert found.frame()["colour"].tolist()[:2] == ["red", "blue"]


@pytest.mark.parametrize(
    ("truth", "task"),
    [(["a", "b"], "classes"), ([0, 1], "classes"), ([True, False], "classes"), ([1.5, 2.5, 3.5], "numbers")],
)
def test_the_task_is_read_from_the_target(truth, task):
    assert dataset({"x": list(range(len(truth))), "y": truth}, "y").task == task


def test_whole_numbers_are_classes_only_when_said():
    table = {"x": [1.0, 2, 3], "y": [1, 2, 3]}
    assert dataset(table, "y").task == "numbers"
    stated = dataset(table, "y", task="classes")
    assert stated.classes == ("1", "2", "3")
    assert stated.truth.tolist() == [1, 2, 3]


def test_from_a_file(tmp_path):
    (tmp_path / "credit.csv").write_text("x,y\n1,a\n2,b\n")
    found = dataset(tmp_path / "credit.csv", "y")
    assert (found.name, found.rows) == ("credit", 2)


def test_the_digest_is_of_the_contents():
    one = dataset(TABLE, "risk", name="t")
    assert one.digest == dataset(TABLE, "risk", name="another").digest
    changed = {**TABLE, "size": [1.0, 2.0, None, 4.5]}
    assert one.digest != dataset(changed, "risk").digest
    assert one.digest != dataset({**TABLE, "risk": ["bad", "bad", "good", "bad"]}, "risk").digest
    assert one.digest != dataset(TABLE, "risk", groups=["speaker"]).digest
    renamed = {**TABLE, "colour": ["red", "green", None, "red"]}
    assert one.digest != dataset(renamed, "risk").digest


def test_rows_with_the_same_features_share_a_digest():
    data = dataset({"x": [1.0, 1.0, 2.0, -0.0, 0.0, None, None], "y": ["a", "b"] * 3 + ["a"]}, "y")
    found = data.row_digests
    assert found[0] == found[1]
    assert found[3] == found[4]
    assert found[5] == found[6]
    assert np.unique(found).size == 4


def test_pairs_of_arrays_and_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "c": ["u", "v"]})
    first, second = resolve_datasets({"a": (np.eye(3), [0, 1, 0]), "b": (frame, ["p", "q"])})
    assert list(first.features) == ["x1", "x2", "x3"]
    assert second.nominal.tolist() == [False, True]
    assert resolve_datasets(first) == (first,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dataset(TABLE, "size"), "the target 'size' is missing in 1 rows."),
        (lambda: dataset(TABLE, "risk", groups=["risk"]), "column 'risk' has two roles."),
        (lambda: dataset(TABLE, "risk", task="numbers"), "the target 'risk' holds text, not numbers."),
        (lambda: dataset({"y": [0, 1]}, "y"), "arrays has no features."),
        (
            lambda: dataset(TABLE, "risk", positive="ugly", name="t"),
            "positive='ugly' does not occur in the target of t.",
        ),
        (lambda: dataset(TABLE, "risk", groups=["colour"]), "the group is missing in 1 rows of column 'colour'."),
        (lambda: dataset(TABLE, "risk", order="speaker"), "column 'speaker' holds text, not times."),
        (lambda: resolve_datasets("iris"), "these are not data sets."),
        (lambda: resolve_datasets({"a": (np.eye(3), [0, 1])}), "features and target of 'a' differ in length."),
        (lambda: resolve_datasets([tiny("a"), tiny("a")]), "two data sets have the same name."),
    ],
)
def test_what_cannot_be_used_is_told(call, words):
    with pytest.raises(ScoreSpaceError) as caught:
        call()
    assert caught.value.problem == words


def tiny(name: str) -> Dataset:
    return Dataset(name, {"x": np.arange(4.0)}, np.array([0, 1, 0, 1]), "classes")


def test_numbers_have_no_positive_class():
    with pytest.raises(DataError) as told:
        dataset({"x": [1.0, 2.0, 4.0], "y": [0.1, 0.2, 0.3]}, "y", name="tiny", positive="0.1")
    assert str(told.value) == (
        "positive='0.1' is a class, but the target of tiny is a number.\n"
        '  hint: use task="classes", or omit the positive class'
    )


def test_a_class_with_a_sign_that_no_file_can_name():
    with pytest.raises(DataError) as caught:
        dataset({"x": [1.0, 2.0], "y": ["a\0b", "a"]}, "y", name="d")
    assert str(caught.value) == (
        "a class of d has a NUL character in its name.\n  seen: 'a\\x00b'\n  hint: use names without it"
    )
