"""Tables in Parquet files: the same when read again, merged like the cases, and refused when they are none."""

import json

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorespace as ss
from laws.strategies import samples
from scorespace.errors import DataError
from scorespace.io import TableCollection, is_table_file, load_tables, save_tables
from scorespace.tables import class_table, confusion, score_table

some = settings(max_examples=25)


@given(sample=samples(both=True), bits=st.sampled_from([0, 38, 49]), weighted=st.booleans())
@some
def test_a_score_table_is_the_same_when_read_again(sample, bits, weighted, tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "t.parquet"
    table = sample.table() if weighted else sample.unweighted()
    table = table.rounded(bits, [0.3]) if bits else table
    save_tables({"nb": table}, path)
    found = load_tables(path).tables["nb"]
    assert found == table
    assert (found.squares is None) is (not weighted)
    if weighted:
        np.testing.assert_array_equal(found.squares, table.squares)


def test_decisions_and_names_of_any_kind(tmp_path):
    table = confusion(["a'b", "ü;--", "a'b"], ["ü;--", "ü;--", "a'b"])
    save_tables(TableCollection({'it\'s "mine"': table}, 3), tmp_path / "t.parquet")
    found = load_tables(tmp_path / "t.parquet")
    assert found.tables == {'it\'s "mine"': table}
    assert found.rows == 3


@given(a=samples(both=True), b=samples(both=True))
@some
def test_shards_evaluate_like_the_whole(a, b, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for name, part in (("one", a), ("two", b)):
        save_tables({"nb": part.table().rounded(49)}, folder / f"{name}.parquet")
    found = ss.evaluate(str(folder / "*.parquet")).measures("auc")[0]
    whole = (a + b).table()
    exact = ss.auc(whole)
    assert found.certified[0] - 1e-12 <= exact <= found.certified[1] + 1e-12
    merged = load_tables(folder / "*.parquet").tables["nb"]
    assert merged.bins.low.tolist() == whole.rounded(49).bins.low.tolist()


def test_the_whole_way_from_a_file(tmp_path):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 500)
    score = np.clip(truth * 0.2 + rng.random(500) * 0.8, 0, 1)
    held = ss.count_tables({"y": truth, "s": score}, truth="y", scores="s", bins=True, at=[0.3])
    save_tables(held, tmp_path / "t.parquet")
    evaluation = ss.evaluate(tmp_path / "t.parquet", measures="auc, tpr@0.3, brier")
    rows = {row["measure"]: row for row in evaluation.to_dict()["rows"]}
    exact = score_table(truth, score)
    assert rows["auc"]["certified_low"] <= ss.auc(exact) <= rows["auc"]["certified_high"]
    assert rows["tpr"]["certified_low"] == rows["tpr"]["value"] == ss.tpr(exact.at(0.3))
    assert rows["brier"]["value"] == pytest.approx(ss.brier(exact), abs=1e-14)
    assert evaluation.models.rows == 500
    assert evaluation.notes[-1].code  # what was found on the way comes along
    assert any(note.code == "SS010" for note in evaluation.notes)


def test_a_table_that_keeps_its_cases_is_not_stored(tmp_path):
    table = class_table(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    with pytest.raises(DataError, match="3 classes keep individual"):
        save_tables({"nb": table}, tmp_path / "t.parquet")


def test_an_ordinary_file_holds_no_tables(tmp_path):
    duckdb.sql("SELECT 1 AS y, 0.5 AS s").write_parquet(str(tmp_path / "a.parquet"))
    assert not is_table_file(str(tmp_path / "a.parquet"))
    assert not is_table_file({"y": [1]})
    assert not is_table_file("nowhere.parquet")
    with pytest.raises(DataError, match="holds no tables"):
        load_tables(tmp_path / "a.parquet")


BROKEN = {
    "negative": lambda columns, about: columns.update(weight=[-1.0] * len(columns["weight"])),
    "not finite": lambda columns, about: columns.update(low=[float("inf")] * len(columns["low"])),
    "missing": lambda columns, about: columns.update(high=[None] * len(columns["high"])),
    "overlapping": lambda columns, about: columns.update(low=[0.0] * len(columns["low"])),
    "a class too many": lambda columns, about: columns.update(actual=[7] * len(columns["actual"])),
    "a row too few": lambda columns, about: [column.pop() for column in columns.values()],
    "another kind": lambda columns, about: about["models"][0].update(kind="os.system"),
    "no classes": lambda columns, about: about["models"][0].update(classes="ab"),
    "no positive": lambda columns, about: about["models"][0].update(positive=9),
    "no models": lambda columns, about: about.pop("models"),
    "a later version": lambda columns, about: about.update(schema=99),
}


@pytest.mark.parametrize("how", BROKEN)
def test_what_was_tampered_with_is_refused_in_our_words(how, tmp_path):
    table = score_table([1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1]).rounded(49)
    path = save_tables({"nb": table}, tmp_path / "t.parquet")
    whole = pq.read_table(path)
    columns, about = whole.to_pydict(), json.loads(whole.schema.metadata[b"scorespace.tables"])
    BROKEN[how](columns, about)
    again = type(whole).from_pydict(columns).replace_schema_metadata({"scorespace.tables": json.dumps(about)})
    pq.write_table(again, path)
    with pytest.raises(DataError):
        load_tables(path)


def test_files_of_other_models_are_not_merged(tmp_path):
    table = score_table([1, 0], [0.9, 0.5])
    save_tables({"nb": table}, tmp_path / "a.parquet")
    save_tables({"tree": table}, tmp_path / "b.parquet")
    with pytest.raises(DataError, match="tables of different"):
        load_tables(tmp_path / "*.parquet")
