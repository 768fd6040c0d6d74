"""Conditions on rows: the same rows on every engine, three-valued where values are missing, and clear complaints."""

import datetime as dt
import math
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.io import read
from scorespace.io.where import WhereError, filter_rows, parse_condition

DATA: dict[str, list[Any]] = {
    "n": [1, 2, 3, 4, 5],
    "age": [70, 50, None, 30, 81],
    "sex": ["f", "m", "f", None, "m"],
    "ok": [True, False, True, True, False],
    "x": [0.5, math.nan, 2.0, -1.0, 3.5],
    "day": [dt.date(2024, 1, k) for k in range(1, 6)],
    "time": [dt.datetime(2024, 1, k, 12) for k in range(1, 6)],
    "blood type": ["A", "B", "0", "A", "it's"],
}
CONDITIONS = {
    "age >= 65": [1, 5],
    "not age >= 65": [2, 4],
    "not (age >= 65 or sex = 'm')": [],
    "age < 65 or sex is missing": [2, 4],
    "sex in ('f', 'x')": [1, 3],
    "sex not in ('f')": [2, 5],
    "x between 0 and 2": [1, 3],
    "x not between 0 and 2": [4, 5],
    "x is missing": [2],
    "x is not missing and n != 3": [1, 4, 5],
    "ok": [1, 3, 4],
    "ok = false": [2, 5],
    "OK = 1": None,
    "n in (1, 2.0, 7)": [1, 2],
    "day in ('2024-01-01', '2024-01-03')": [1, 3],
    "time >= '2024-01-03'": [3, 4, 5],
    "x < n": [1, 3, 4, 5],
    "n <= 3.5 and (sex = 'f' or sex is missing)": [1, 3],
    "\"blood type\" = 'A' AND NOT n > 3": [1],
    "`blood type` == 'it''s'": [5],
}


def engines() -> dict[str, Any]:
    arrow = pa.table({name: pa.array(values) for name, values in DATA.items()})
    connection = duckdb.connect()
    connection.register("given", arrow)
    return {
        "pandas": pd.DataFrame(DATA),
        "polars": pl.DataFrame(DATA, strict=False),
        "lazy": pl.DataFrame(DATA, strict=False).lazy(),
        "pyarrow": arrow,
        "duckdb": connection.table("given"),
    }


def kept(data: Any, text: str) -> list[int]:
    source = filter_rows(read(data), text)
    return sorted(int(one) for one in source.arrays(source.frame.select("n"))["n"].tolist())


@pytest.mark.parametrize("engine", engines())
def test_rows_are_the_same_on_every_engine(engine: str) -> None:
    data = engines()[engine]
    for text, rows in CONDITIONS.items():
        if rows:
            assert kept(data, text) == rows, text
        else:
            with pytest.raises(ScoreSpaceError):
                kept(data, text)


def test_no_row_vanishes_silently() -> None:
    (told,) = filter_rows(read(DATA), "age >= 65").notes
    assert told.code == "SS090"
    assert told.text == "2 of 5 rows are included: age >= 65; of the others, 1 has a missing value."
    evaluation = ss.evaluate(
        {"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7], "k": [1, 1, 1, 2]}, truth="y", scores="s", where="k = 1"
    )
    assert evaluation.models.rows == 3
    assert "3 of 4 rows are included: k = 1." in [one.text for one in evaluation.notes]


def test_a_csv_file_keeps_its_long_numbers_and_its_rows(tmp_path: Any) -> None:
    path = tmp_path / "long.csv"
    path.write_text("y,s,id\n1,0.9,9007199254740993\n0,0.2,9007199254740992\n1,0.7,9007199254740994\n0,0.5,3\n")
    evaluation = ss.evaluate(path, truth="y", scores="s", group="id", where="id > 3")
    assert evaluation.models.rows == 3
    assert np.unique(evaluation.models.pairs.group).size == 3  # as doubles two of them would be one


MESSAGES = {
    "": "where='' cannot be read: the condition ends where a column is needed (position 1).\n"
    "  hint: such as \"age >= 65 and sex = 'f'\"",
    "age >": "where='age >' cannot be read: the condition ends where a value is needed (position 6).\n"
    "  hint: such as \"age >= 65 and sex = 'f'\"",
    "age > 3 age": "where='age > 3 age' cannot be read: 'age' is not expected (position 9).\n"
    '  hint: join conditions by "and" or "or"',
    "(age > 3": "where='(age > 3' cannot be read: a parenthesis is not closed (position 9).\n"
    "  hint: close every parenthesis",
    "3 < age": (
        "where='3 < age' cannot be read: '3' is not a column (position 1).\n"
        "  hint: write the column first, such as \"age >= 65 and sex = 'f'\""
    ),
    "sex = 'f": 'where="sex = \'f" cannot be read: "\'" is not understood (position 7).\n  hint: a closing quote',
    "sex in (f)": (
        "where='sex in (f)' cannot be read: 'f' is not a value (position 9).\n  hint: text in single quotes: 'f'"
    ),
    "age is 3": (
        'where=\'age is 3\' cannot be read: "is" must be followed by "missing" (position 8).\n'
        "  hint: age is missing, or age = …"
    ),
    "sex = 3": "column 'sex' holds text, but 3 is not.\n  hint: sex = '3', in quotes",
    "age = 'x'": "column 'age' holds numbers, but 'x' is not.\n  hint: age = 1, without quotes",
    "day > 'soon'": "column 'day' holds dates or times, but 'soon' is not.\n  hint: day >= '2024-01-31'",
    "age = sex": "columns 'age' and 'sex' have different types.\n"
    "  seen: numbers and text\n  hint: compare columns of the same type, or a column with a value",
    "n > 9": "where='n > 9' is true for no row.\n  seen: 5 rows\n  hint: a condition that is true for some rows",
}


@pytest.mark.parametrize("text", MESSAGES)
def test_complaints(text: str) -> None:
    with pytest.raises(WhereError) as caught:
        filter_rows(read(pl.DataFrame(DATA, strict=False)), text)
    assert str(caught.value) == MESSAGES[text]


def test_unknown_columns_suggest_the_nearest() -> None:
    with pytest.raises(ColumnError, match=r"column 'agee' \(position 14\)") as caught:
        parse_condition("sex = 'f' or agee > 3", ["age", "sex"])
    assert caught.value.hint == "did you mean 'age'?"
    with pytest.raises(ColumnError) as caught:
        parse_condition("sex = f", ["age", "sex"])
    assert caught.value.hint == "a column, or text in single quotes: 'f'"


@given(st.text(max_size=40))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    try:
        parse_condition(text, list(DATA))
    except ScoreSpaceError:
        return


LEAF = st.sampled_from(["a < 2", "a = 1", "b >= 1", "b is missing", "a in (0, 2)", "not b between 0 and 1"])
TREES = st.recursive(
    LEAF,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | inner.map(lambda one: f"not ({one})")
    ),
    max_leaves=5,
)


@given(TREES)
def test_logic_is_that_of_sql(text: str) -> None:
    rows = [{"a": a, "b": b} for a in (None, 0, 1, 2) for b in (None, 0, 1, 2)]
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}).with_row_index("n")
    sql = text.replace("is missing", "is null")
    expected = [row[0] for row in duckdb.sql(f"select n from frame where {sql} order by n").fetchall()]
    held = nw.from_native(frame).filter(parse_condition(text, ["a", "b"]).on(dict(nw.from_native(frame).schema)))
    assert held["n"].to_list() == expected
