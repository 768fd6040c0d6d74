"""Class labels of any kind."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorespace as ss
from scorespace.errors import DataError, PositiveError, ScoreSpaceError
from scorespace.tables.labels import encode, is_missing, label_text, list_classes, positive_index

KINDS = {
    "list of int": [0, 1, 1],
    "list of float": [0.0, 1.0, 1.0],
    "list of text": ["0", "1", "1"],
    "int8": np.array([0, 1, 1], dtype=np.int8),
    "uint64": np.array([0, 1, 1], dtype=np.uint64),
    "float32": np.array([0, 1, 1], dtype=np.float32),
    "object": np.array([0, 1, 1], dtype=object),
    "numpy text": np.array(["0", "1", "1"]),
    "pandas int": pd.Series([0, 1, 1]),
    "pandas Int64": pd.Series([0, 1, 1], dtype="Int64"),
    "pandas Float64": pd.Series([0, 1, 1], dtype="Float64"),
    "pandas category": pd.Series([0, 1, 1], dtype="category"),
    "pandas string": pd.Series(["0", "1", "1"], dtype="string"),
    "pandas pyarrow": pd.Series([0, 1, 1], dtype="int64[pyarrow]"),
    "polars int": pl.Series([0, 1, 1]),
    "polars text": pl.Series(["0", "1", "1"]),
    "polars category": pl.Series(["0", "1", "1"], dtype=pl.Categorical),
    "polars enum": pl.Series(["0", "1", "1"], dtype=pl.Enum(["1", "0"])),
    "pyarrow int": pa.array([0, 1, 1]),
    "pyarrow chunks": pa.chunked_array([[0, 1], [1]]),
    "pyarrow dictionary": pa.array(["0", "1", "1"]).dictionary_encode(),
}
BOOLEANS = {
    "list": [False, True, True],
    "numpy": np.array([False, True, True]),
    "pandas boolean": pd.Series([False, True, True], dtype="boolean"),
    "polars": pl.Series([False, True, True]),
    "pyarrow": pa.array([False, True, True]),
}
MISSING = {
    "None": ["a", None],
    "NaN": [0.0, float("nan")],
    "pandas NA": pd.Series([1, None], dtype="Int64"),
    "pandas NaT": pd.Series(pd.to_datetime(["2020-01-01", None])).astype(object),
    "polars null": pl.Series(["a", None]),
    "pyarrow null": pa.array([1, None]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_zeros_and_ones_of_every_kind_are_the_same_classes(kind):
    codes, classes = encode(KINDS[kind])
    assert (codes.tolist(), classes) == ([0, 1, 1], ("0", "1"))


@pytest.mark.parametrize("kind", BOOLEANS)
def test_booleans_of_every_kind_are_the_same_classes(kind):
    codes, classes = encode(BOOLEANS[kind])
    assert (codes.tolist(), classes) == ([0, 1, 1], ("False", "True"))


@pytest.mark.parametrize("kind", MISSING)
def test_missing_labels_are_refused(kind):
    with pytest.raises(DataError) as caught:
        encode(MISSING[kind])
    assert str(caught.value) == "truth has missing values.\n  seen: 1 of 2 cases\n  hint: drop or impute those cases"


def test_the_text_none_is_a_label_and_not_missing():
    # Strings such as "None" used as values broke arithmetic in PyCM; as labels they are ordinary.
    assert encode(["None", "nan", "a"])[1] == ("None", "a", "nan")


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_marks_of_missing_values(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, False, "", "nan", "None"])
def test_values_that_are_there(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (1.0, "1"), (np.float32(2), "2"), (0.5, "0.5"), (True, "True"), ("bad", "bad")]
)
def test_label_text(value, text):
    assert label_text(value) == text


def test_codes_of_many_classes_do_not_overflow():
    codes, classes = encode(np.arange(300))
    assert codes.max() == 299
    assert len(classes) == 300


@pytest.mark.parametrize(("classes", "positive"), [(("0", "1"), "1"), (("-1", "1"), "1"), (("False", "True"), "True")])
def test_positive_is_inferred_for_customary_labels(classes, positive):
    assert classes[positive_index(classes)] == positive


@pytest.mark.parametrize("classes", [("1", "2"), ("no", "yes"), ("0", "1", "2"), ("bad", "good"), ("0", "2")])
def test_positive_is_never_guessed(classes):
    with pytest.raises(PositiveError):
        positive_index(classes)


@pytest.mark.parametrize("positive", [True, "True", "true", np.True_])
def test_positive_boolean_of_any_spelling(positive):
    assert positive_index(("false", "true"), positive) == 1


def test_unstated_positive():
    with pytest.raises(PositiveError) as caught:
        positive_index(["bad", "good"], codes=np.array([0, 1, 1]))
    assert str(caught.value) == (
        "the positive class is not stated and cannot be inferred from the labels of the truth.\n"
        "  seen: 'bad' (1 row), 'good' (2 rows)\n"
        '  hint: positive="bad"'
    )


def test_positive_that_never_occurs():
    # An unknown positive label went unnoticed in scikit-learn (31633).
    with pytest.raises(PositiveError) as caught:
        positive_index(["bad", "good"], 1, np.array([0] * 612 + [1] * 1188))
    assert str(caught.value) == (
        "positive=1 never occurs in the truth.\n  seen: 'bad' (612 rows), 'good' (1 188 rows)\n  hint: positive=\"bad\""
    )


def test_misspelt_positive_hints_at_the_nearest_class():
    with pytest.raises(PositiveError, match='positive="good"'):
        positive_index(["bad", "good"], "goood")


def test_listing_of_many_classes_is_cut():
    assert list_classes("abcdefghij", range(10)).endswith("'h' (7 rows) and 2 more")


def test_labels_must_be_a_column():
    with pytest.raises(DataError) as caught:
        encode([[1, 0], [0, 1]])
    assert (
        str(caught.value)
        == "truth must be one column of labels.\n  seen: an array of shape (2, 2)\n  hint: one label for each case"
    )


def test_labels_must_not_be_empty():
    with pytest.raises(DataError, match=r"^truth is empty: there is nothing to evaluate.\n  hint: at least one case$"):
        encode([])


def test_equal_values_of_different_kinds_are_different_labels():
    codes, classes = encode(np.array([True, 1, 1.0, "1"], dtype=object))
    assert [classes[k] for k in codes] == ["True", "1", "1", "1"]


# --- arrays are guarded like files


def refused(call):
    with pytest.raises(ScoreSpaceError) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


def test_labels_that_share_nothing_are_refused():
    assert refused(lambda: ss.measure("acc", truth=[True, False], decision=[1, 0])) == (
        "ColumnError: truth and decision share no label.\n"
        "  seen: 'False', 'True' and '0', '1'\n"
        "  hint: the same labels in both"
    )
    assert ss.measure("acc", truth=[0, 0], decision=[1, 1]) == 0.0  # one class: wrong, but possible
    assert ss.measure("acc", truth=["a", "b"], decision=["b", "a"]) == 0.0


@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, dtype=object)])
def test_probabilities_are_no_decisions(kind):
    assert refused(lambda: ss.measure("acc", truth=[1, 0, 1], decision=kind([0.9, 0.2, 0.4]))) == (
        "ColumnError: decision looks like a number, not a class.\n"
        "  seen: values such as 0.2, 0.4, 0.9\n"
        "  hint: score=… for numbers"
    )
    assert ss.measure("acc", truth=[1, 0, 1], decision=kind([1.0, 0.0, 1.0])) == 1.0


@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, dtype=object)])
def test_infinite_labels_are_refused(kind):
    assert refused(lambda: ss.measure("auc", truth=kind([1, 0, math.inf]), score=[0.9, 0.2, 0.4], positive=1)) == (
        "ColumnError: truth holds infinite values, not classes.\n  seen: 'inf'\n  hint: one label for each case"
    )
    data = {"y": kind([1, 0, math.inf]), "s": [0.9, 0.2, 0.4]}
    message = refused(lambda: ss.evaluate(data, truth="y", scores="s", positive=1))
    assert message.startswith("ColumnError: column 'y' ")
    assert "infinite" in message
    assert "1 of 3 rows" in message


@pytest.mark.parametrize("truth", [[[1], [0, 2]], np.array([(1,), (0, 2)], dtype=object), [frozenset({1}), 0]])
def test_nested_labels_are_refused(truth):
    assert refused(lambda: ss.measure("acc", truth=truth, decision=[1, 0])) == (
        "DataError: truth holds values that cannot be labels.\n  hint: one number or text per case"
    )


def test_complex_numbers_are_neither_labels_nor_weights():
    truth, score = [1, 0, 1], [0.9, 0.2, 0.4]
    assert refused(lambda: ss.measure("acc", truth=[1j, 0], decision=[1, 0])) == (
        "ColumnError: truth holds complex numbers, not classes.\n  seen: '0j', '1j'\n  hint: one label for each case"
    )
    assert refused(lambda: ss.measure("auc", truth=truth, score=score, weight=np.ones(3, complex))) == (
        "WeightError: weights must be numbers.\n  seen: array([1.+0.j, 1.+0.j, 1.+0.j])\n"
        "  hint: one number for each case"
    )
    data = {"y": truth, "s": score, "w": np.ones(3, complex)}
    assert refused(lambda: ss.evaluate(data, truth="y", scores="s", weight="w")) == (
        "DataError: array 'w' holds complex numbers.\n  hint: one number or text per case"
    )


@pytest.mark.parametrize(
    ("truth", "positive", "hint"),
    [
        ([True, False, True], 1, "True"),
        ([True, False, True], 0, "False"),
        ([1, 0, 1], True, "1"),
        (["y", "n", "y"], "yes", "y"),
        (["good", "bad", "good"], 1, "bad"),  # nothing near: the rarest
    ],
)
def test_the_hint_names_the_class_that_was_meant(truth, positive, hint):
    message = refused(lambda: ss.measure("auc", truth=truth, score=[0.9, 0.2, 0.4], positive=positive))
    assert message.endswith(f'\n  hint: positive="{hint}"')


def test_ascii_bytes_are_text():
    assert encode(np.array([b"bad", b"good"]))[1] == ("bad", "good")


def test_a_missing_date_is_missing():
    with pytest.raises(DataError, match="missing values"):
        encode(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"))
