"""Saved evaluations: the same when read again, readable, and refused when they are none."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.strategies import samples
from scorespace.errors import DataError
from scorespace.io import is_table_file, load_tables
from scorespace.io.saved_evaluations import (
    SavedEvaluation,
    is_saved_evaluation,
    read_saved_evaluation,
    reason_not_stored,
    write_saved_evaluation,
)
from scorespace.tables import class_table, confusion, score_table

RESULT = {"schema": 1, "data": {"rows": 4, "classes": {}, "positive": None}, "rows": [], "verdict": "", "notes": []}
TABLE = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.6])


def saved(tables=None, **more):
    return SavedEvaluation({"measures": ["auc"]}, RESULT, {"nb": TABLE} if tables is None else tables, **more)


@given(sample=samples(both=True), bits=st.sampled_from([0, 38]), weighted=st.booleans())
@settings(max_examples=15)
def test_a_table_is_the_same_when_read_again(sample, bits, weighted, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "e.json"
    table = sample.table() if weighted else sample.unweighted()
    table = table.rounded(bits, [0.3]) if bits else table
    write_saved_evaluation(saved({"nb": table}), path)
    found = read_saved_evaluation(path).tables["nb"]
    assert found == table
    if weighted:
        np.testing.assert_array_equal(found.squares, table.squares)


def test_it_is_plain_json_with_a_line_for_each_table(tmp_path):
    matrix = confusion(["a'b", 'ü"', "a'b"], ['ü"', 'ü"', "a'b"])
    write_saved_evaluation(
        saved({'it\'s "mine"\u2028': matrix, "nb": TABLE}, without={"big": "why"}), tmp_path / "e.json"
    )
    text = (tmp_path / "e.json").read_text()
    told = json.loads(text)
    assert list(told)[:4] == ["saved_evaluation", "scorespace", "date", "asked"]
    assert told["tables"]["nb"]["columns"] == {
        "actual": [0, 0, 0, 1, 1, 1],
        "low": [0.9, 0.6, 0.4, 0.9, 0.6, 0.4],
        "weight": [0, 1, 1, 1, 1, 0],
    }
    assert sum('"columns"' in line for line in text.splitlines()) == 2
    assert read_saved_evaluation(tmp_path / "e.json").tables == {'it\'s "mine"\u2028': matrix, "nb": TABLE}


def test_it_is_read_like_a_file_of_tables(tmp_path):
    write_saved_evaluation(saved(), tmp_path / "e.json")
    assert is_table_file(tmp_path / "e.json")
    assert load_tables(tmp_path / "e.json").tables == {"nb": TABLE}
    write_saved_evaluation(saved(without={"big": "cases come in groups"}), tmp_path / "f.json")
    with pytest.raises(DataError, match=r"'f\.json' holds results"):
        load_tables(tmp_path / "f.json")


def test_why_a_table_is_not_written():
    classes = class_table(["a", "b", "c"], np.eye(3))
    assert reason_not_stored(TABLE) is None
    assert reason_not_stored(classes) == "scores of 3 classes store the individual cases"


def damaged(change):
    def write(path):
        write_saved_evaluation(saved(), path)
        told = json.loads(path.read_text())
        change(told)
        path.write_text(json.dumps(told))

    return write


def put(*keys):
    *inner, last, value = keys

    def change(told):
        for key in inner:
            told = told[key]
        told[last] = value

    return damaged(change)


COLUMNS = ("tables", "nb", "columns")
WRONG = {
    "cut off": (lambda path: path.write_text('{"saved_evaluation": 1, "scor'), "is damaged"),
    "not UTF-8": (lambda path: path.write_bytes(b'{"saved_evaluation": 1, "a": "\xff"}'), "is damaged"),
    "too deep": (lambda path: path.write_text('{"saved_evaluation": 1, "a": ' + "[" * 100_000), "is damaged"),
    "NaN": (put(*COLUMNS, "weight", 0, float("nan")), "NaN is not valid JSON"),
    "no tables": (damaged(lambda told: told.pop("tables")), "wrong: 'tables'"),
    "a text for a number": (put(*COLUMNS, "low", 0, "0.9"), "columns of a table"),
    "other lengths": (put(*COLUMNS, "actual", [0]), "columns of a table"),
    "huge numbers": (put(*COLUMNS, "weight", 0, 10**400), "is damaged"),
    "negative weights": (put(*COLUMNS, "weight", 0, -1), "invalid weights"),
    "no such kind": (put("tables", "nb", "kind", "code"), "invalid 'code'"),
    "weights without squares": (put("tables", "nb", "weighted", True), "invalid squared weights"),
    "labels beyond whole numbers": (put(*COLUMNS, "actual", 0, 2**63), "invalid labels: no such class"),
    "measures that are none": (put("asked", "measures", 3), "wrong: measures"),
    "no rows": (put("data", "rows", None), "is damaged"),
    "rows that are none": (put("rows", [1]), "wrong: rows"),
    "no date": (put("date", "yesterday"), "is damaged"),
    "a list": (put("asked", 3), "is damaged"),
    "later": (put("saved_evaluation", 2), "was saved by another version.\n  seen: schema 2"),
    "later result": (put("schema", 2), "was saved by another version"),
    "another file": (lambda path: path.write_text('{"rows": []}'), "is not a saved evaluation"),
    "a folder": (lambda path: path.mkdir(), "seen: a folder"),
    "absent": (lambda path: None, "seen: no such file"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_refused(wrong, tmp_path):
    write, words = WRONG[wrong]
    write(tmp_path / "e.json")
    with pytest.raises(DataError) as error:
        read_saved_evaluation(tmp_path / "e.json")
    assert words in str(error.value)
    assert error.value.hint


def test_only_such_a_file_begins_so(tmp_path):
    (tmp_path / "a.json").write_text(' {\n "saved_evaluation" : 1}')
    (tmp_path / "b.json").write_text('[{"saved_evaluation": 1}]')
    assert [is_saved_evaluation(tmp_path / name) for name in ("a.json", "b.json", "absent", ".")] == [
        True,
        False,
        False,
        False,
    ]
    assert not is_saved_evaluation("nul\0")


def test_another_ending_and_no_folder(tmp_path):
    with pytest.raises(DataError, match="known file extension"):
        write_saved_evaluation(saved(), tmp_path / "e.pickle")
    with pytest.raises(DataError, match=r"nowhere' for e\.json does"):
        write_saved_evaluation(saved(), tmp_path / "nowhere" / "e.json")
