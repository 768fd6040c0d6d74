"""Write the rows of a source with additional columns, unchanged and in their order."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, ScoreError, listing
from scorespace.files import atomic_write, check_not_an_input, check_target
from scorespace.io.column_values import as_number, is_numeric_type, to_doubles
from scorespace.io.duckdb_engine import identifier, literal, read_error
from scorespace.io.files import read_path
from scorespace.io.memory import count_rows
from scorespace.io.paths import LocalCopy, input_files
from scorespace.io.read import FilteredData, normalise_path, read
from scorespace.io.roles import check_columns
from scorespace.io.source import Source
from scorespace.io.validation import Sample
from scorespace.results import grouped

OUTPUT_EXTENSIONS: Final = (".csv", ".tsv", ".parquet")


def used_rows(sample: Sample) -> NDArray[np.bool_]:
    """Return a boolean per row of the source: whether the row is in the sample.

    >>> from scorespace.io import read, resolve_roles, validate
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, None]})
    >>> used_rows(validate(source, resolve_roles(source, truth="y", scores="nb"), missing="drop")).tolist()
    [True, True, False]
    """
    return sample.source.arrays(sample.source.frame.select(used=sample.used))["used"].astype(bool)


def read_score_columns(
    source: Source, names: Sequence[str], missing: str = "error"
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_]]:
    """Read score columns without a truth, and whether each row has a value in all of them.

    >>> read_score_columns(read({"nb": [0.5, None]}), ["nb"], missing="drop")
    ({'nb': array([0.5])}, array([ True, False]))
    """
    schema = source.frame.collect_schema()
    check_columns(names, source)
    for name in names:
        if not is_numeric_type(schema[name]):
            raise ColumnError(
                f"column {name!r} is not numeric, so it cannot hold scores.",
                seen=str(schema[name]),
                hint="a column of numbers",
            )
    arrays = source.arrays(source.frame.select(*(as_number(name) for name in names)))
    source.accounts_for(next(iter(arrays.values())).size)
    values = {name: to_doubles(arrays[name]) for name in names}
    used = np.all([~np.isnan(column) for column in values.values()], axis=0)
    gaps = int((~used).sum())
    if gaps and missing != "drop":
        seen = f"{grouped(gaps)} of {grouped(used.size)} rows"
        raise DataError(
            f"{listing(names)} {'has' if len(names) == 1 else 'have'} missing values.",
            seen=seen,
            hint='missing="drop" leaves these rows empty',
        )
    for name, column in values.items():
        if np.isinf(column).any():
            raise ScoreError(
                f"column {name!r} has infinite scores.",
                seen=grouped(int(np.isinf(column).sum())),
                hint="replace infinite scores by finite ones",
            )
    return {name: column[used] for name, column in values.items()}, used


def write_with_columns(data: Any, columns: Mapping[str, NDArray[np.float64]], path: Path) -> None:
    """Write the rows of a path or frame with additional columns; NaN becomes an empty field.

    A CSV file written as CSV keeps every value exactly as written, such as the identifier 007.
    """
    check_target(path, OUTPUT_EXTENSIONS)
    check_not_an_input(path, input_files(data.data if isinstance(data, FilteredData) else data))
    with atomic_write(path) as temporary:
        # Read as text to preserve values such as 007 and integers of many digits.
        source = (
            read_path(normalise_path(data), as_text=True, writing=temporary)
            if isinstance(data, (str, os.PathLike, LocalCopy, list))
            else read(data, writing=temporary)
        )
        if isinstance(data, FilteredData) and source.as_text is not None:
            source = replace(source, frame=source.as_text(source.columns))
        lower_names = {name.casefold() for name in source.columns}
        existing = [name for name in columns if name.casefold() in lower_names]
        if existing:
            raise ColumnError(
                f"column {existing[0]!r} already exists in the data.",
                seen=listing(source.columns),
                hint="names={column: model}",
            )
        rows = count_rows(source)
        if any(column.size != rows for column in columns.values()):
            raise DataError(
                f"{source.where} changed while it was being read.",
                seen=f"{grouped(rows)} rows",
                hint="try again when no other program writes to it",
            )
        _write(source, columns, path, temporary)


def _write(source: Source, columns: Mapping[str, NDArray[np.float64]], path: Path, temporary: Path) -> None:
    ending = path.suffix.lower()
    if source.connection is None:
        eager = source.frame.collect() if isinstance(source.frame, nw.LazyFrame) else source.frame
        library = eager.implementation
        nullable = {
            name: [None if value != value else float(value) for value in values] for name, values in columns.items()
        }
        added = [nw.new_series(name, values, nw.Float64, backend=library) for name, values in nullable.items()]
        joined = eager.with_columns(*added)
        if ending == ".parquet":
            joined.write_parquet(temporary)
        elif ending == ".csv":
            joined.write_csv(temporary)
        else:  # Narwhals has no common option for the separator
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter="\t", lineterminator="\n")
                writer.writerows(csv.reader(io.StringIO(joined.write_csv(), newline="")))
        return
    import duckdb  # already loaded, since the source is a DuckDB relation

    source.connection.register("added", {name: np.ma.masked_invalid(values) for name, values in columns.items()})
    relation = source.frame.to_native()
    try:
        if ending == ".parquet":
            relation = _infer_column_types(relation)
        relation.create_view("given")
        # The target is already a temporary file, so DuckDB needs none.
        formats = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER", ".tsv": "FORMAT csv, HEADER, DELIM '\t'"}
        joined_rows = "SELECT * FROM given POSITIONAL JOIN added"
        source.connection.execute(
            f"COPY ({joined_rows}) TO {literal(str(temporary))} ({formats[ending]}, USE_TMP_FILE false)"
        )
    except duckdb.Error as error:
        if "write" in str(error).casefold():
            seen = re.sub(r'^(\w+ )+Error: |(?: to)? file "[^"]*"', "", str(error).splitlines()[0])
            raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint="another file or folder") from error
        raise read_error(source.where, error) from error


def _infer_column_types(relation: Any) -> Any:
    """Cast text columns to BIGINT or DOUBLE where every value converts without loss."""
    text_columns = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "VARCHAR"]
    if not text_columns:
        return relation
    identifiers = {name: identifier(name) for name in relation.columns}
    integer_check = "bool_and({0} IS NULL OR coalesce(CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}, false))"
    # Leading zeros and more than 15 digits would be lost.
    lossy = "regexp_matches({0}, '^[-+]?(0[0-9]|[0-9]{{16}})')"
    number_check = f"bool_and({{0}} IS NULL OR (TRY_CAST({{0}} AS DOUBLE) IS NOT NULL AND NOT {lossy}))"
    checks = ", ".join(f"{integer_check}, {number_check}".format(identifiers[name]) for name in text_columns)
    (flags,) = relation.query("given", f"SELECT {checks} FROM given").fetchall()
    is_integer, is_number = (
        dict(zip(text_columns, flags[::2], strict=True)),
        dict(zip(text_columns, flags[1::2], strict=True)),
    )
    types = {
        name: "BIGINT" if is_integer[name] else "DOUBLE" for name in text_columns if is_integer[name] or is_number[name]
    }
    selection = ", ".join(
        f"CAST({q} AS {types[name]}) AS {q}" if name in types else q for name, q in identifiers.items()
    )
    return relation.query("given", f"SELECT {selection} FROM given")
