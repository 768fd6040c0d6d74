"""The same table from every engine, and by both paths."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from scorespace.errors import ColumnError, ScoreSpaceError
from scorespace.frames import Sample, check, columns, count, read, roles, tally
from scorespace.tables import ConfusionTable, ScoreTable, confusion, score_table

Data = dict[str, list[Any]]


def arrow(data: Data) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in data.items()})


def csv_text(data: Data, separator: str = ",") -> str:
    lines = [separator.join(data)]
    for row in zip(*data.values(), strict=True):
        lines.append(separator.join("" if value is None else str(value) for value in row))
    return "\n".join(lines) + "\n"


def as_csv(data: Data, folder: Path) -> str:
    (folder / "sample.csv").write_text(csv_text(data))
    return str(folder / "sample.csv")


def as_csv_gz(data: Data, folder: Path) -> str:
    (folder / "sample.csv.gz").write_bytes(gzip.compress(csv_text(data).encode()))
    return str(folder / "sample.csv.gz")


def as_tsv(data: Data, folder: Path) -> Path:
    (folder / "sample.tsv").write_text(csv_text(data, "\t"))
    return folder / "sample.tsv"


def as_parquet(data: Data, folder: Path) -> str:
    parquet.write_table(arrow(data), folder / "sample.parquet")
    return (folder / "sample.parquet").as_uri()


def as_parquet_glob(data: Data, folder: Path) -> str:
    table = arrow(data)
    parquet.write_table(table.slice(0, 3), folder / "part-0.parquet")
    # The columns in another order: files are joined by name.
    parquet.write_table(table.slice(3).select(table.column_names[::-1]), folder / "part-1.parquet")
    return str(folder / "part-*.parquet")


def as_csv_glob(data: Data, folder: Path) -> str:
    (folder / "part-0.csv").write_text(csv_text({name: values[:3] for name, values in data.items()}))
    (folder / "part-1.csv").write_text(csv_text({name: data[name][3:] for name in reversed(data)}))
    return str(folder / "part-*.csv")


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


def as_rows(data: Data) -> list[dict[str, Any]]:
    return [plain(dict(zip(data, row, strict=True))) for row in zip(*data.values(), strict=True)]


def as_json(data: Data, folder: Path) -> str:
    (folder / "sample.json").write_text(json.dumps(as_rows(data)))
    return str(folder / "sample.json")


def as_jsonl(data: Data, folder: Path) -> str:
    (folder / "sample.jsonl").write_text("\n".join(map(json.dumps, as_rows(data))))
    return str(folder / "sample.jsonl")


def as_arrow(data: Data, folder: Path) -> str:
    feather.write_feather(arrow(data), folder / "sample.arrow")
    return str(folder / "sample.arrow")


def as_stdin(data: Data, _: Path) -> str:
    sys.stdin = io.TextIOWrapper(io.BytesIO(csv_text(data).encode()))
    return "-"


def as_relation(data: Data, _: Path) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("sample", arrow(data))
    return connection.table("sample")


def as_arrays(data: Data, _: Path) -> dict[str, Any]:
    return {name: np.array(values, dtype=object) for name, values in data.items()}


def as_series(data: Data, _: Path) -> dict[str, Any]:
    kinds: list[Callable[[list[Any]], Any]] = [
        lambda values: pl.Series(values, strict=False),
        lambda values: pd.Series(values).convert_dtypes(),
        pa.array,
    ]
    return {name: kinds[i % 3](values) for i, (name, values) in enumerate(data.items())}


ENGINES: dict[str, Callable[[Data, Path], Any]] = {
    "lists": lambda data, _: data,
    "arrays": as_arrays,
    "series": as_series,
    "pandas": lambda data, _: pd.DataFrame(data),
    "pandas object": lambda data, _: pd.DataFrame(data, dtype=object),
    "pandas nullable": lambda data, _: pd.DataFrame(data).convert_dtypes(),
    "pandas pyarrow": lambda data, _: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "pandas lazy": lambda data, _: nw.from_native(pd.DataFrame(data)).lazy(),
    "polars": lambda data, _: pl.DataFrame(data, strict=False),
    "polars lazy": lambda data, _: pl.LazyFrame(data, strict=False),
    "pyarrow": lambda data, _: arrow(data),
    "pyarrow lazy": lambda data, _: nw.from_native(arrow(data)).lazy(),
    "duckdb": as_relation,
    "csv": as_csv,
    "csv.gz": as_csv_gz,
    "csv glob": as_csv_glob,
    "tsv": as_tsv,
    "parquet": as_parquet,
    "parquet glob": as_parquet_glob,
    "json": as_json,
    "jsonl": as_jsonl,
    "arrow": as_arrow,
    "stdin": as_stdin,
}


@pytest.fixture(autouse=True)
def _stdin_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", sys.stdin)


def sampled(data: Any, missing: str = "error", **named: Any) -> Sample:
    source = read(data)
    return check(source, roles(source, **named), missing)


def same(found: ScoreTable | ConfusionTable, expected: ScoreTable) -> None:
    assert isinstance(found, ScoreTable)
    assert found.score.tolist() == expected.score.tolist()
    assert not np.signbit(found.score[found.score == 0]).any()
    np.testing.assert_allclose(found.pos, expected.pos, rtol=1e-12)
    np.testing.assert_allclose(found.neg, expected.neg, rtol=1e-12)
    assert found.whole == expected.whole
    assert found.classes[found.positive] == expected.classes[expected.positive]


TIES = [0.5, -0.0, 0.0, 0.5, 0.25, -1.5, 0.0, 0.5]
TRUTHS: dict[str, list[Any]] = {
    "whole": [1, 0, 1, 0, 1, 0, 1, 1],
    "signed": [1, -1, 1, -1, 1, -1, -1, 1],
    "float": [1.0, -0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0],
    "boolean": [True, False, True, False, True, False, True, True],
    "text": ["bad", "good", "bad", "good", "bad", "good", "bad", "bad"],
    "yes or no": ["yes", "no", "yes", "no", "yes", "no", "yes", "yes"],
    "three": ["b", "a", "c", "b", "a", "c", "b", "b"],
    "three floats": [0.0, -0.0, 1.0, 2.0, 1.0, 0.0, 2.0, 1.0],
}
POSITIVES = {"text": "bad", "yes or no": "yes", "three": "b", "three floats": "0"}


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_is_the_same_on_every_engine(engine: str, kind: str, in_memory: bool, tmp_path: Path) -> None:
    truth, positive = TRUTHS[kind], POSITIVES.get(kind)
    data: Data = {"y": truth, "s": TIES}
    sample = sampled(ENGINES[engine](data, tmp_path), truth="y", scores="s", positive=positive)
    table = count(sample, **({} if in_memory else {"rows_in_memory": 0}))["s"]
    same(table, score_table(truth, TIES, positive=positive))
    assert table.whole
    assert sample.rows == 8
    assert sum(sample.class_counts) == 8


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("engine", ENGINES)
def test_missing_rows_and_weights(engine: str, in_memory: bool, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", None, "bad", "good", "bad", "good", "bad", "odd"],
        "s": [0.5, -0.0, 0.5, None, 0.0, math.nan, 0.25, 0.0, math.nan],
        "w": [2.0, 1.5, 1.0, 1.0, 3.0, 1.0, None, 0.5, 0.0],
    }
    named = {"truth": "y", "scores": "s", "weight": "w", "positive": "bad"}
    sample = sampled(ENGINES[engine](data, tmp_path), "drop", **named)
    table = count(sample, **({} if in_memory else {"rows_in_memory": 0}))["s"]
    # The last row has weight 0: it is absent, so neither its class nor its missing score exists.
    same(
        table,
        score_table(["bad", "good", "good", "bad"], [0.5, 0.0, 0.0, 0.0], positive="bad", weight=[2, 1.5, 3, 0.5]),
    )
    assert (sample.rows, sample.dropped, sample.classes, sample.class_counts) == (4, 4, ("bad", "good"), (2, 2))
    weightless, dropped = sample.notes
    assert weightless.text == "1 of 9 rows weighs nothing and is not in use."
    assert dropped.to_dict() == {
        "code": "SS009",
        "level": "warning",
        "text": "4 of 8 rows were dropped for missing values in 'y' (1), 's' (2), 'w' (1).",
    }


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0, 1]),
            st.sampled_from([-1.0, -0.0, 0.0, 0.1, 0.30000000000000004, 0.3, 5e-324, 1e140]) | st.floats(-1e6, 1e6),
            st.integers(0, 4),
        ),
        min_size=4,
        max_size=30,
    ).filter(lambda rows: {y for y, _, w in rows if w} == {0, 1}),
    weighted=st.booleans(),
)
@pytest.mark.parametrize("engine", ENGINES)
def test_any_scores_and_weights(
    engine: str, rows: list[tuple[int, float, int]], weighted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    truth, score, weight = (list(column) for column in zip(*rows, strict=True))
    data: Data = {"y": truth, "s": score, "w": weight}
    made = ENGINES[engine](data, tmp_path_factory.mktemp("any"))
    sample = sampled(made, truth="y", scores="s", weight="w" if weighted else None)
    expected = score_table(truth, score, weight=weight if weighted else None)
    same(count(sample)["s"], expected)
    same(count(sample, rows_in_memory=0)["s"], expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_decisions_become_confusion_tables(engine: str, tmp_path: Path) -> None:
    data: Data = {
        "y": ["a", "b", "a", "b", "a"],
        "d": ["a", "b", "b", "b", "a"],
        "e": ["a", "c", "b", "b", "a"],
        "w": [1.0, 2.0, 0.5, 0.0, 1.0],
    }
    made = ENGINES[engine](data, tmp_path)
    source = read(made)
    tables = count(check(source, roles(source, truth="y", decisions=["d", "e"])))
    assert list(tables) == ["d", "e"]
    assert tables["d"] == confusion(data["y"], data["d"])
    assert tables["e"].classes == ("a", "b", "c")
    assert isinstance(tables["e"], ConfusionTable)
    assert tables["e"].matrix.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert tables["e"].positive is None
    weighted = count(check(source, roles(source, truth="y", decisions="e", weight="w", positive="b")))["e"]
    assert isinstance(weighted, ConfusionTable)
    assert weighted.matrix.tolist() == [[2, 0.5, 0], [0, 0, 2], [0, 0, 0]]
    assert weighted.positive == 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("truth", "score", "weight", "decision"),
    [("weight", "truth", "value", "label"), ("value", "weight", "truth", "rows"), ("label", "rows", "complete", "n")],
)
def test_columns_named_as_we_name_ours(
    engine: str, truth: str, score: str, weight: str, decision: str, tmp_path: Path
) -> None:
    data: Data = {truth: [0, 1, 1, 0], score: [0.5, 0.5, 0.75, 0.25], weight: [1, 2, 3, 4], decision: [0, 1, 0, 0]}
    sample = sampled(ENGINES[engine](data, tmp_path), truth=truth, scores=score, weight=weight, decisions=decision)
    for rows_in_memory in (0, 100):
        tables = count(sample, rows_in_memory=rows_in_memory)
        same(tables[score], score_table(data[truth], data[score], weight=data[weight]))
        assert tables[decision] == confusion(data[truth], data[decision], weight=data[weight])


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_are_aligned_and_checked(engine: str, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", "bad", "good"],
        "s": [0.5, None, 0.25, 0.75],
        "u": [1.0, 2.0, None, 4.0],
        "g": ["x", "x", "z", None],
    }
    sample = sampled(ENGINES[engine](data, tmp_path), "drop", truth="y", scores="s", positive="bad")
    found = columns(sample, ["u", "s", "y", "g"])
    assert list(found) == ["u", "s", "y", "g"]
    assert found["y"].tolist() == [0, 0, 1]
    assert found["s"].tolist() == [0.5, 0.25, 0.75]
    assert found["s"].dtype == np.float64
    np.testing.assert_array_equal(found["u"].astype(float), [1.0, math.nan, 4.0])
    assert found["g"].tolist()[:2] == ["x", "z"]


def test_an_unknown_column() -> None:
    with pytest.raises(ColumnError) as caught:
        columns(sampled({"y": [0, 1], "s": [0.1, 0.2]}, truth="y", scores="s"), ["z"])
    assert (
        str(caught.value) == "column 'z' is not in the dict of arrays.\n  seen: 'y', 's'\n  hint: one of these columns"
    )


def test_scores_come_before_decisions() -> None:
    data = {"y": [0, 1, 1], "d": [0, 1, 0], "s": [0.1, 0.2, 0.3], "t": [1, 1, 0]}
    tables = count(sampled(data, truth="y", scores={"b": "s", "a": "t"}, decisions={"tree": "d"}))
    assert [(model, type(table).__name__) for model, table in tables.items()] == [
        ("b", "ScoreTable"),
        ("a", "ScoreTable"),
        ("tree", "ConfusionTable"),
    ]


def test_one_model_column_under_two_names() -> None:
    tables = count(sampled({"y": [0, 1, 1], "s": [0.1, 0.2, 0.3]}, truth="y", scores={"a": "s", "b": "s"}))
    assert tables["a"] == tables["b"]


@pytest.mark.parametrize("rows_in_memory", [0, 100])
@pytest.mark.parametrize("label", [0, 1, -1, True, False])
def test_one_class_only(label: Any, rows_in_memory: int) -> None:
    sample = sampled(pl.LazyFrame({"y": [label, label], "s": [0.5, 0.25]}), truth="y", scores="s")
    table = count(sample, rows_in_memory=rows_in_memory)["s"]
    same(table, score_table([label, label], [0.5, 0.25]))
    assert sample.classes == (str(label),)


def test_one_class_of_truth_and_both_of_decisions() -> None:
    table = count(sampled({"y": [0, 0], "d": [0, 1]}, truth="y", decisions="d"))["d"]
    assert isinstance(table, ConfusionTable)
    assert (table.classes, table.positive, table.matrix.tolist()) == (("0", "1"), 1, [[1, 1], [0, 0]])


CATEGORIES: dict[str, Callable[[], Any]] = {
    "pandas category": lambda: pd.DataFrame({"y": pd.Categorical(["b", "a", "b"], categories=["z", "b", "a"])}),
    "pandas ordered": lambda: pd.DataFrame({"y": pd.Categorical(["b", "a", "b"], ["z", "b", "a"], ordered=True)}),
    "pandas string": lambda: pd.DataFrame({"y": pd.Series(["b", "a", "b"], dtype="string")}),
    "polars categorical": lambda: pl.DataFrame({"y": ["b", "a", "b"]}, schema={"y": pl.Categorical}),
    "polars enum": lambda: pl.LazyFrame({"y": ["b", "a", "b"]}, schema={"y": pl.Enum(["z", "b", "a"])}),
    "pyarrow dictionary": lambda: pa.table({"y": pa.array(["b", "a", "b"]).dictionary_encode()}),
    "duckdb enum": lambda: duckdb.sql("SELECT unnest(['b', 'a', 'b'])::ENUM('z', 'b', 'a') AS y, 0.5 AS s"),
    "polars series": lambda: {"y": pl.Series(["b", "a", "b"], dtype=pl.Categorical)},
    "pandas series": lambda: {"y": pd.Series(["b", "a", "b"], dtype="category")},
    "numpy bytes": lambda: {"y": np.array([b"b", b"a", b"b"])},
    "numpy text": lambda: {"y": np.array(["b", "a", "b"])},
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories(kind: str) -> None:
    data = CATEGORIES[kind]()
    if isinstance(data, dict):
        data["s"] = [0.5, 0.5, 0.5]
    elif isinstance(data, pa.Table):
        data = data.append_column("s", pa.array([0.5, 0.5, 0.5]))
    elif isinstance(data, (pl.DataFrame, pl.LazyFrame)):
        data = data.with_columns(s=0.5)
    elif isinstance(data, pd.DataFrame):
        data["s"] = 0.5
    sample = sampled(data, truth="y", scores="s", positive="b")
    assert (sample.classes, sample.class_counts, sample.positive) == (("a", "b"), (1, 2), 1)
    assert count(sample)["s"].class_totals.tolist() == [1, 2]
    assert count(sample, rows_in_memory=0)["s"].class_totals.tolist() == [1, 2]


NUMBERS: dict[str, Any] = {
    "float32": np.array([0.5, 0.1, 1.0], dtype=np.float32),
    "float16": np.array([0.5, 0.1, 1.0], dtype=np.float16),
    "long double": np.array([0.5, 0.1, 1.0], dtype=np.longdouble),
    "boolean": np.array([True, False, True]),
    "int8": np.array([1, 0, 2], dtype=np.int8),
    "uint64": np.array([1, 0, 2], dtype=np.uint64),
    "big-endian": np.array([1.5, 0, 2], dtype=">f8"),
    "backwards": np.array([1.5, 0, 2])[::-1],
    "every other": np.arange(6.0)[::2],
    "decimal": [Decimal("0.5"), Decimal("0.1"), Decimal(1)],
    "tuple": (1, 0, 2),
    "range": range(3),
    "huge": [10**18, 1, 2],
    "masked": np.ma.array([1.5, 0, 2], mask=[False, False, False]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_kinds_of_numbers(kind: str) -> None:
    values = NUMBERS[kind]
    expected = score_table([1, 0, 1], [float(value) for value in values])
    same(count(sampled({"y": [1, 0, 1], "s": values}, truth="y", scores="s"))["s"], expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_decimals_in_frames(kind: str) -> None:
    data: Data = {"y": [Decimal(1), Decimal(0)], "s": [Decimal("0.5"), Decimal("0.25")], "w": [Decimal(2), Decimal(3)]}
    sample = sampled(ENGINES[kind](data, Path()), truth="y", scores="s", weight="w")
    assert sample.classes == ("0", "1")
    same(count(sample)["s"], score_table([1, 0], [0.5, 0.25], weight=[2, 3]))
    same(count(sample, rows_in_memory=0)["s"], score_table([1, 0], [0.5, 0.25], weight=[2, 3]))


def test_dates_as_labels() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01"])
    for data in (pd.DataFrame({"y": days, "s": 0.5}), pl.DataFrame({"y": list(days.date), "s": 0.5})):
        sample = sampled(data, truth="y", scores="s", positive="2024-01-01")
        assert (sample.class_counts, count(sample)["s"].class_totals.tolist()) == ((2, 1), [2, 1])


def test_a_late_fraction_is_not_rounded(tmp_path: Path) -> None:
    """DuckDB judges the kind of a column by its first rows, and would round what comes later."""
    data: Data = {"y": [0, 1] * 15_000 + [1], "s": [0, 1] * 15_000 + [0.5]}
    for engine in ("csv", "json", "jsonl"):
        table = count(sampled(ENGINES[engine](data, tmp_path), truth="y", scores="s"))["s"]
        same(table, score_table(data["y"], data["s"]))


def test_counts_of_groups_are_whole_numbers() -> None:
    table = count(sampled(pl.LazyFrame({"y": [0, 1, 1], "s": [1, 1, 1]}), truth="y", scores="s"), rows_in_memory=0)["s"]
    assert isinstance(table, ScoreTable)
    assert table.counts.dtype == np.int64


def test_decisions_of_another_vocabulary() -> None:
    with pytest.raises(ColumnError) as caught:
        count(sampled({"y": [0, 1, 1], "d": [True, False, True]}, truth="y", decisions="d"))
    assert str(caught.value) == (
        "column 'd' shares no label with column 'y'.\n"
        "  seen: 'False', 'True' and '0', '1'\n"
        "  hint: the same labels in both columns"
    )


def test_decisions_that_are_no_labels() -> None:
    data = {"y": [0, 1] * 600, "d": list(range(1200))}
    with pytest.raises(ColumnError) as caught:
        count(sampled(data, truth="y", decisions="d"))
    assert str(caught.value) == (
        "column 'd' looks like a number, not a class.\n"
        "  seen: more than 1 000 distinct values, such as 0, 1, 2\n"
        '  hint: scores="d" for numbers'
    )


# --- coarse, inside the engine


def tallied(data: Any, missing: str = "error", bits: int = 49, **named: Any) -> tuple[Sample, ScoreTable]:
    source = read(data)
    more = {name: named.pop(name) for name in ("edges", "precision") if name in named}
    sample, tables = tally(source, roles(source, **named), missing=missing, bits=bits, **more)
    return sample, tables["s"]


def same_bins(found: ScoreTable, expected: ScoreTable) -> None:
    """The same bins to the bit; sums of scores may differ by the order in which engines add."""
    same(found, expected)
    assert found.bins is not None
    assert expected.bins is not None
    assert found.bins.low.tolist() == expected.bins.low.tolist()
    assert found.bins.high.tolist() == expected.bins.high.tolist()
    np.testing.assert_allclose(found.bins.first, expected.bins.first, rtol=1e-12)
    np.testing.assert_allclose(found.bins.second, expected.bins.second, rtol=1e-12)


SCORES = [*np.linspace(0, 1, 60), -0.0, 5e-324, 1e-7, 1 - 1e-9, -3.25, 1e140, 0.5, 0.30000000000000004, 0.3]
LABELS = [int(k % 3 == 0) for k in range(len(SCORES))]


@pytest.mark.parametrize("bits", [38, 49])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_bins_are_the_same_to_the_bit_on_every_engine(engine: str, bits: int, tmp_path: Path) -> None:
    data: Data = {"y": LABELS, "s": SCORES}
    sample, table = tallied(ENGINES[engine](data, tmp_path), bits=bits, edges=[0.7], truth="y", scores="s")
    same_bins(table, score_table(LABELS, SCORES).rounded(bits, [0.7]))
    assert sample.rows == len(SCORES)


@pytest.mark.parametrize("group", [2, 100])
@pytest.mark.parametrize("bits", [0, 38])
def test_nan_is_seen_in_parquet_although_no_range_tells_of_it(group: int, bits: int, tmp_path: Path) -> None:
    data: Data = {"y": [1, 0, 1, 0, 1, 0], "s": [0.5, math.nan, 0.25, 0.3, 0.9, 0.01]}
    parquet.write_table(arrow(data), tmp_path / "sample.parquet", row_group_size=group)
    path = str(tmp_path / "sample.parquet")
    with pytest.raises(ScoreSpaceError, match=r"'s' \(1\) of 6 rows"):
        tallied(path, bits=bits, truth="y", scores="s")
    sample, table = tallied(path, "drop", bits, truth="y", scores="s")
    assert sample.dropped == 1
    exact = score_table([1, 1, 0, 1, 0], [0.5, 0.25, 0.3, 0.9, 0.01])
    assert table.score.tolist() == exact.score.tolist()
    assert table.counts.tolist() == exact.counts.tolist()


def test_nan_in_a_frame_of_duckdb_over_parquet_is_no_score(tmp_path: Path) -> None:
    parquet.write_table(arrow({"y": [1, 0, 1], "s": [0.5, math.nan, 0.5]}), tmp_path / "sample.parquet")
    frame = duckdb.read_parquet(str(tmp_path / "sample.parquet"))
    with pytest.raises(ScoreSpaceError, match=r"NaN|missing"):
        tallied(frame, truth="y", scores="s")


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("engine", ["pandas", "polars lazy", "pyarrow", "duckdb", "csv", "parquet"])
def test_labels_of_any_kind_are_read_in_the_pass_that_counts(engine: str, kind: str, tmp_path: Path) -> None:
    truth, positive = TRUTHS[kind], POSITIVES.get(kind)
    made = ENGINES[engine]({"y": truth, "s": TIES}, tmp_path)
    sample, table = tallied(made, bits=38, edges=[0.4, 0.41], truth="y", scores="s", positive=positive)
    same_bins(table, score_table(truth, TIES, positive=positive).rounded(38, [0.4, 0.41]))
    assert sum(sample.class_counts) == 8


@pytest.mark.parametrize("bits", [38, 49])
@pytest.mark.parametrize("engine", ENGINES)
def test_coarse_with_missing_rows_and_weights(engine: str, bits: int, tmp_path: Path) -> None:
    data: Data = {
        "y": ["bad", "good", None, "bad", "good", "bad", "good", "bad", "odd"],
        "s": [0.5, -0.0, 0.5, None, 0.0, math.nan, 0.25, 0.0, math.nan],
        "w": [2.0, 1.5, 1.0, 1.0, 3.0, 1.0, None, 0.5, 0.0],
    }
    named = {"truth": "y", "scores": "s", "weight": "w", "positive": "bad"}
    sample, table = tallied(ENGINES[engine](data, tmp_path), "drop", bits, **named)
    weight = [2, 1.5, 3, 0.5]
    exact = score_table(["bad", "good", "good", "bad"], [0.5, 0.0, 0.0, 0.0], positive="bad", weight=weight)
    same_bins(table, exact.rounded(bits))
    np.testing.assert_allclose(table.squares, exact.squares)
    assert (sample.rows, sample.dropped, sample.classes) == (4, 4, ("bad", "good"))


def test_the_pass_that_counts_sees_what_is_not_in_order(tmp_path: Path) -> None:
    good: Data = {"y": [0, 1, 1, 0], "s": [0.1, 0.7, 0.2, 0.9], "w": [1.0, 2.0, 1.0, 3.0]}
    for column, value, said in (
        ("s", math.inf, "infinite scores"),
        ("s", 1e160, "scores beyond 1e150"),
        ("s", None, "missing values"),
        ("y", None, "missing values"),
        ("y", 0.5, "looks like a number, not a class"),
        ("w", -1.0, "negative weights"),
        ("w", None, "missing values"),
        ("w", 1e18, "more than can be counted"),
    ):
        data = {**good, column: [*good[column][:3], value]}
        with pytest.raises(ScoreSpaceError, match=said):
            tallied(pl.LazyFrame(data, strict=False), truth="y", scores="s", weight="w", positive=1)


def test_rows_of_weight_zero_are_absent_but_accounted_for(tmp_path: Path) -> None:
    data: Data = {"y": [0, 1, 1, 2], "s": [0.1, 0.7, 0.2, 0.9], "w": [1.0, 2.0, 1.0, 0.0]}
    sample, table = tallied(as_parquet(data, tmp_path), truth="y", scores="s", weight="w")
    assert (sample.rows, sample.classes) == (3, ("0", "1"))
    same_bins(table, score_table([0, 1, 1], [0.1, 0.7, 0.2], weight=[1, 2, 1]).rounded(49))


@pytest.mark.parametrize("engine", ["parquet", "polars lazy", "duckdb"])
def test_without_rounding_the_table_is_exact(engine: str, tmp_path: Path) -> None:
    _, table = tallied(ENGINES[engine]({"y": LABELS, "s": SCORES}, tmp_path), bits=0, truth="y", scores="s")
    assert table == score_table(LABELS, SCORES)


@pytest.mark.parametrize("precision", [1e-2, 1e-4, 0.0])
@pytest.mark.parametrize("engine", ["parquet", "polars lazy"])
def test_a_second_pass_splits_the_bins_that_matter(engine: str, precision: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 3000)
    score = np.where(rng.random(3000) < 0.5, rng.random(3000), 0.5 + rng.random(3000) / 1000)
    data: Data = {"y": truth.tolist(), "s": score.tolist()}
    made = ENGINES[engine](data, tmp_path)
    _, once = tallied(made, bits=47, truth="y", scores="s", edges=[0.3])
    _, table = tallied(made, bits=47, truth="y", scores="s", edges=[0.3], precision=precision)
    exact = score_table(truth, score)
    assert float(table.open_pairs.sum()) <= precision
    assert float(once.open_pairs.sum()) > 1e-3
    assert table.class_totals.tolist() == exact.class_totals.tolist()
    assert table.bins is not None
    assert np.all(table.bins.low[:-1] > table.bins.high[1:])
    assert table.at(0.3).tp == exact.at(0.3).tp
    assert table.at(table.score).fp.tolist() == exact.at(table.score).fp.tolist()
    if precision:
        assert table.score.size < exact.score.size  # only those that matter were split


@pytest.mark.parametrize("label", ["bad", 1, 0])
def test_coarse_with_one_class_only(label: Any) -> None:
    _, table = tallied(pl.LazyFrame({"y": [label] * 3, "s": [0.1, 0.5, 0.5]}), truth="y", scores="s", positive=label)
    assert float(table.n_pos) == 3
    assert float(table.n_neg) == 0


def test_a_truth_of_names_is_refused_before_it_is_grouped_by() -> None:
    data = pl.LazyFrame({"y": [f"case {k}" for k in range(3000)], "s": np.linspace(0, 1, 3000)})
    with pytest.raises(ColumnError, match="looks like a name or free text"):
        tallied(data, truth="y", scores="s")


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    ("labels", "late"),
    [((0, 1), 0), ((1, 0), 1), ((0, 2), 2), ((0.0, 1.0), 1.0), (("good", "bad"), "bad"), ((False, True), True)],
)
def test_parquet_is_counted_by_number_as_by_hash(
    labels: tuple[Any, Any], late: Any, weight: str | None, tmp_path: Path
) -> None:
    """The same scores from a file, which tells ranges, and from a frame, which does not."""
    rng = np.random.default_rng(3)
    truth = [*(labels[k] for k in rng.integers(0, 2, 3000)), late]
    frame = pa.table({"y": truth, "s": rng.uniform(-0.1, 1.1, 3001), "w": rng.integers(0, 3, 3001) / 2})
    parquet.write_table(frame, tmp_path / "frame.parquet")

    def counted(data: Any) -> ScoreTable:
        source = read(data)
        named = roles(source, truth="y", scores="s", weight=weight, positive=labels[1])
        table = tally(source, named, edges=(0.3,))[1]["s"]
        assert isinstance(table, ScoreTable)
        return table

    found, expected = counted(str(tmp_path / "frame.parquet")), counted(frame)
    same(found, expected)
    assert found.bins is not None
    assert expected.bins is not None
    assert found.bins.high.tolist() == expected.bins.high.tolist()
    assert found.bins.first == pytest.approx(expected.bins.first, rel=1e-12)


@pytest.mark.parametrize("late", [2, -1])
def test_a_label_beyond_those_of_the_first_rows(late: int, tmp_path: Path) -> None:
    truth = [*[0, 1] * 3000, late]
    parquet.write_table(pa.table({"y": truth, "s": np.linspace(0.2, 0.8, 6001)}), tmp_path / "frame.parquet")
    source = read(str(tmp_path / "frame.parquet"))
    sample, _ = tally(source, roles(source, truth="y", scores="s", positive=1))
    assert sorted(zip(sample.classes, sample.class_counts, strict=True)) == [
        *sorted([("0", 3000), ("1", 3000), (str(late), 1)])
    ]
