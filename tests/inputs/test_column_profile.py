"""A survey: what each column holds, from any source, in the order of the rows."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from scorespace.errors import ColumnError, DataError
from scorespace.io.column_profile import read_columns, recode_by_appearance

TABLE = {"n": [2.5, 1.0, None, 2.5], "s": ["b", "a", "b", None], "f": [True, False, None, True]}


def sources(tmp_path):
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    pl.DataFrame(TABLE).write_parquet(tmp_path / "t.parquet")
    relation = duckdb.sql(f"SELECT * FROM '{tmp_path / 't.parquet'}'")
    return [
        TABLE,
        pl.DataFrame(TABLE),
        pl.DataFrame(TABLE).lazy(),
        relation,
        tmp_path / "t.csv",
        tmp_path / "t.parquet",
    ]


def test_the_same_from_every_source(tmp_path):
    for source in sources(tmp_path):
        found = read_columns(source)
        assert (found.rows, found.columns) == (4, ("n", "s", "f"))
        numbers, texts = found.held("n"), found.held("s")
        assert (numbers.stored, numbers.values.tolist(), numbers.counts.tolist()) == ("number", [1.0, 2.5], [1, 2])
        assert numbers.codes.tolist() == [1, 0, -1, 1]
        assert (texts.stored, texts.values.tolist(), texts.codes.tolist()) == ("text", ["b", "a"], [0, 1, 0, -1])
        assert (numbers.missing, texts.missing, texts.distinct) == (1, 1, 2)


def test_dates_stored_or_written():
    days = [dt.date(2020, 1, 31), dt.date(2021, 5, 1)]
    for values in (np.array(days, dtype="M8[D]"), ["2020-01-31", "2021-05-01"], ["31.01.2020", "01.05.2021"]):
        held = read_columns({"d": values}).held("d")
        assert held.stored == "date"
        assert held.values.tolist() == [1580428800.0, 1619827200.0]  # seconds since 1970, by `date -u +%s`


def test_numbers_first_and_text_later(tmp_path):
    """DuckDB judges a column by its first rows; an audit must not fail where it is most needed."""
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1,0\n" * 30_000 + "unknown,1\n")
    held = read_columns(path).held("x")
    assert (held.stored, held.values.tolist(), held.numeric) == ("text", ["1", "unknown"], 30_000)


def test_whole_numbers_longer_than_doubles_stay_apart():
    held = read_columns({"id": np.array([2**62, 2**62 + 1, 2**62 + 2])}).held("id")
    assert (held.stored, held.distinct) == ("text", 3)


def test_minus_zero_is_zero():
    assert read_columns({"x": [0.0, -0.0]}).held("x").distinct == 1


def test_very_many_texts_keep_their_codes():
    texts = [f"t{place % 3000}" for place in range(9000)] + ["common"] * 10
    held = read_columns({"s": texts}).held("s")
    assert (held.distinct, held.values[0], int(held.counts[0])) == (3001, "common", 10)
    codes = dict(zip(texts, held.codes.tolist(), strict=True))
    assert len(set(codes.values())) == 3001
    assert all(codes[text] == code for text, code in zip(texts, held.codes.tolist(), strict=True))


def test_row_digests_are_the_same_in_every_table(tmp_path):
    table = {"n": np.array([1, 2, 3]), "s": ["a", "b", "c"]}
    pd.DataFrame(table).iloc[::-1].to_csv(tmp_path / "t.csv", index=False)
    here, there = read_columns(table), read_columns(tmp_path / "t.csv")
    assert here.row_digests(["n", "s"]).tolist() == there.row_digests(["n", "s"]).tolist()[::-1]


def test_rough_digests_forgive_digits_case_and_blanks():
    found = read_columns({"n": [1.2341, 1.2339, 1.29, 0.0], "s": ["New  York", " new york", "x", "x"]})
    exact, rough = found.row_digests(["n", "s"]), found.row_digests(["n", "s"], rough=True)
    assert len(set(exact.tolist())) == 4
    assert rough[0] == rough[1]
    assert len(set(rough.tolist())) == 3


def test_digits_of_identifiers():
    found = read_columns({"id": ["C-0017", "C-0420", "none"]}).digits("id")
    assert found[:2].tolist() == [17, 420]
    assert np.isnan(found[2])


def test_hostile_names_are_quoted():
    name = 'x"; DROP TABLE settled; --'
    assert read_columns({name: [1, 2], "s": ["a", "b"]}).held(name).values.tolist() == [1, 2]


def test_mistakes(tmp_path):
    with pytest.raises(ColumnError, match="column 'truht'"):
        read_columns({"truth": [1]}).held("truht")
    with pytest.raises(DataError, match="no rows"):
        read_columns(pl.DataFrame({"a": []}, schema={"a": pl.Float64}))


def test_codes_by_appearance_are_those_of_pandas():
    source = np.random.default_rng(0)
    for _ in range(20):
        codes = source.integers(-1, 8, 50).astype(np.int32)
        _, codes = np.unique(np.append(codes, -1), return_inverse=True)
        codes = (codes[:-1] - 1).astype(np.int32)  # without gaps, -1 for missing
        expected = pd.factorize(np.where(codes < 0, np.nan, codes))[0]
        assert recode_by_appearance(codes).tolist() == expected.tolist()


def test_long_identifiers_of_a_file_keep_their_digits(tmp_path):
    (tmp_path / "long.csv").write_text("id,x\n" + "".join(f"{10**17 + n},{n}\n" for n in range(50)))
    found = read_columns(tmp_path / "long.csv")
    assert (found.held("id").distinct, found.held("x").stored) == (50, "number")
