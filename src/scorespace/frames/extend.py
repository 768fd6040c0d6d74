"""The rows of a source with further columns, written as they were and in their order."""

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
from scorespace.files import check_target, refuse_overwriting, replacing
from scorespace.frames.check import Sample
from scorespace.frames.engine import identifier, literal, unreadable
from scorespace.frames.files import read_path
from scorespace.frames.memory import rows_of
from scorespace.frames.paths import Copy, files_read
from scorespace.frames.read import Chosen, path_text, read
from scorespace.frames.roles import check_columns
from scorespace.frames.source import Source
from scorespace.frames.values import doubles, holds_numbers, number
from scorespace.results import grouped

ENDINGS: Final = (".csv", ".tsv", ".parquet")


def rows_in_use(sample: Sample) -> NDArray[np.bool_]:
    """For every row of the source whether the sample has it, in the order of the rows.

    >>> from scorespace.frames import check, read, roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, None]})
    >>> rows_in_use(check(source, roles(source, truth="y", scores="nb"), missing="drop")).tolist()
    [True, True, False]
    """
    return sample.source.arrays(sample.source.frame.select(used=sample.used))["used"].astype(bool)


def score_columns(
    source: Source, names: Sequence[str], missing: str = "error"
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_]]:
    """Columns of scores without a truth, and which rows have a value in all of them.

    >>> score_columns(read({"nb": [0.5, None]}), ["nb"], missing="drop")
    ({'nb': array([0.5])}, array([ True, False]))
    """
    schema = source.frame.collect_schema()
    check_columns(names, source)
    for name in names:
        if not holds_numbers(schema[name]):
            raise ColumnError(
                f"column {name!r} holds no numbers, so no scores.", seen=str(schema[name]), hint="a column of numbers"
            )
    found = source.arrays(source.frame.select(*(number(name) for name in names)))
    source.accounts_for(next(iter(found.values())).size)
    values = {name: doubles(found[name]) for name in names}
    used = np.all([~np.isnan(column) for column in values.values()], axis=0)
    gaps = int((~used).sum())
    if gaps and missing != "drop":
        seen = f"{grouped(gaps)} of {grouped(used.size)} rows"
        raise DataError(
            f"{listing(names)} {'has' if len(names) == 1 else 'have'} missing values.",
            seen=seen,
            hint='missing="drop" leaves them empty',
        )
    for name, column in values.items():
        if np.isinf(column).any():
            raise ScoreError(
                f"column {name!r} has infinite scores.",
                seen=grouped(int(np.isinf(column).sum())),
                hint="finite scores; infinity has no place among probabilities",
            )
    return {name: column[used] for name, column in values.items()}, used


def write_extended(data: Any, columns: Mapping[str, NDArray[np.float64]], path: Path) -> None:
    """Write the rows of a path or frame with the columns added; NaN becomes an empty field.

    A CSV file written as CSV keeps every value as it stood there, identifiers such as 007 included.
    """
    check_target(path, ENDINGS)
    refuse_overwriting(path, files_read(data.data if isinstance(data, Chosen) else data))
    with replacing(path) as temporary:
        # Read as text, so that nothing is lost: 007 stays 007, and long whole numbers keep all digits.
        source = (
            read_path(path_text(data), as_text=True, writing=temporary)
            if isinstance(data, (str, os.PathLike, Copy, list))
            else read(data, writing=temporary)
        )
        if isinstance(data, Chosen) and source.as_text is not None:
            source = replace(source, frame=source.as_text(source.columns))
        folded = {name.casefold() for name in source.columns}
        taken = [name for name in columns if name.casefold() in folded]
        if taken:
            raise ColumnError(
                f"column {taken[0]!r} is there already.", seen=listing(source.columns), hint="names={column: model}"
            )
        rows = rows_of(source)
        if any(column.size != rows for column in columns.values()):
            raise DataError(
                f"{source.where} has changed while it was read.",
                seen=f"{grouped(rows)} rows",
                hint="read it again when nobody writes to it",
            )
        _write(source, columns, path, temporary)


def _write(source: Source, columns: Mapping[str, NDArray[np.float64]], path: Path, temporary: Path) -> None:
    ending = path.suffix.lower()
    if source.connection is None:
        eager = source.frame.collect() if isinstance(source.frame, nw.LazyFrame) else source.frame
        library = eager.implementation
        told = {name: [None if one != one else float(one) for one in values] for name, values in columns.items()}
        added = [nw.new_series(name, values, nw.Float64, backend=library) for name, values in told.items()]
        joined = eager.with_columns(*added)
        if ending == ".parquet":
            joined.write_parquet(temporary)
        elif ending == ".csv":
            joined.write_csv(temporary)
        else:  # no library's own way to set the separator is everybody's; its CSV knows what is missing
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter="\t", lineterminator="\n")
                writer.writerows(csv.reader(io.StringIO(joined.write_csv(), newline="")))
        return
    import duckdb  # already loaded where the source is one of its relations

    source.connection.register("added", {name: np.ma.masked_invalid(values) for name, values in columns.items()})
    given = source.frame.to_native()
    try:
        if ending == ".parquet":
            given = _with_kinds(given)
        given.create_view("given")
        # Without a temporary file of its own: this one is ours already, and removed if need be.
        how = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER", ".tsv": "FORMAT csv, HEADER, DELIM '\t'"}
        rows = "SELECT * FROM given POSITIONAL JOIN added"
        source.connection.execute(f"COPY ({rows}) TO {literal(str(temporary))} ({how[ending]}, USE_TMP_FILE false)")
    except duckdb.Error as error:
        if "write" in str(error).casefold():
            seen = re.sub(r'^(\w+ )+Error: |(?: to)? file "[^"]*"', "", str(error).splitlines()[0])
            raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint="another file or folder") from error
        raise unreadable(source.where, error) from error


def _with_kinds(given: Any) -> Any:
    """Columns of text as whole numbers or doubles, where every value of them is one and would be written the same."""
    texts = [name for name, kind in zip(given.columns, given.types, strict=True) if str(kind) == "VARCHAR"]
    if not texts:
        return given
    quoted = {name: identifier(name) for name in given.columns}
    whole = "bool_and({0} IS NULL OR coalesce(CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}, false))"
    # Neither 007 nor digits that a double would lose.
    code = "regexp_matches({0}, '^[-+]?(0[0-9]|[0-9]{{16}})')"
    number = f"bool_and({{0}} IS NULL OR (TRY_CAST({{0}} AS DOUBLE) IS NOT NULL AND NOT {code}))"
    asked = ", ".join(f"{whole}, {number}".format(quoted[name]) for name in texts)
    (answers,) = given.query("given", f"SELECT {asked} FROM given").fetchall()
    wholes, numbers = dict(zip(texts, answers[::2], strict=True)), dict(zip(texts, answers[1::2], strict=True))
    kinds = {name: "BIGINT" if wholes[name] else "DOUBLE" for name in texts if wholes[name] or numbers[name]}
    chosen = ", ".join(f"CAST({q} AS {kinds[name]}) AS {q}" if name in kinds else q for name, q in quoted.items())
    return given.query("given", f"SELECT {chosen} FROM given")
