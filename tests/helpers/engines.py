"""The same data in every form that can be read, and when two tables are the same."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import feather, parquet

from scorespace.io import Sample, read, resolve_roles, validate
from scorespace.tables import ConfusionTable, ScoreTable

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


def sampled(data: Any, missing: str = "error", **named: Any) -> Sample:
    source = read(data)
    return validate(source, resolve_roles(source, **named), missing)


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
