"""Store tables in Parquet files, to be merged and evaluated where the cases themselves may not go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError, listing
from scorespace.files import atomic_write, check_target
from scorespace.io.duckdb_engine import connect, read_footers, read_parquet, write_parquet
from scorespace.io.paths import file_format, is_single_use, resolve_paths
from scorespace.io.saved_evaluations import is_saved_evaluation, read_saved_evaluation
from scorespace.results import Note
from scorespace.tables import NoTableError, Table
from scorespace.tables.paired import PairTable
from scorespace.tables.serialization import (
    LABELS,
    NUMBERS,
    from_stored_pair,
    from_stored_table,
    merge_tables,
    to_stored_pair,
    to_stored_table,
)
from scorespace.tables.table import StoredTable

_KEY: Final = "scorespace.tables"
_SCHEMA: Final = 1
_COLUMNS: Final = (*LABELS, *NUMBERS)


@dataclass(frozen=True)
class TableCollection:
    """Tables by model, the number of rows they were counted from, and notes.

    `couples` holds joint bin counts of every two models, for comparing them; no bin contains an edge.
    """

    tables: Mapping[str, Table]
    rows: int
    notes: tuple[Note, ...] = ()
    couples: Mapping[tuple[str, str], PairTable] = field(default_factory=dict)
    edges: tuple[float, ...] = ()


def save_tables(collection: TableCollection | Mapping[str, Table], path: str | os.PathLike[str]) -> Path:
    """Write tables of models to a Parquet file, which `scorespace evaluate` reads like data.

    Parameters
    ----------
    collection : TableCollection or mapping of str to Table
        The table of each model.
    path : path
        The Parquet file to write.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scorespace.tables import score_table
    >>> with TemporaryDirectory() as folder:
    ...     save_tables({"nb": score_table([1, 0, 1], [0.9, 0.4, 0.6])}, f"{folder}/nb.parquet").name
    'nb.parquet'
    """
    if not isinstance(collection, TableCollection):
        collection = TableCollection(collection, int(max(float(table.total) for table in collection.values())))
    target = Path(path)
    check_target(target, (".parquet",))
    stored_tables = {}
    for name, table in collection.tables.items():
        try:
            stored_tables[name] = to_stored_table(table)
        except NoTableError as error:
            raise DataError(f"{name} {error.reason}.", hint="save tables of scores or decisions") from None
    stored_pairs = [to_stored_pair(pairs, collection.edges) for pairs in collection.couples.values()]
    all_parts = [*stored_tables.values(), *stored_pairs]
    columns: dict[str, Any] = {name: np.concatenate([part.columns[name] for part in all_parts]) for name in _COLUMNS}
    sizes = [part.columns["weight"].size for part in all_parts]
    columns["model"] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    models = [{"name": name, **part.about} for name, part in stored_tables.items()]
    notes = [note.to_dict() for note in collection.notes]
    metadata = {"schema": _SCHEMA, "rows": collection.rows, "models": models, "notes": notes}
    metadata |= {"couples": [dict(pair.about) for pair in stored_pairs]} if stored_pairs else {}
    with atomic_write(target) as temporary, closing(connect(writing=temporary)) as connection:
        connection.register("tables", columns)
        write_parquet(connection, "FROM tables", temporary, target, _KEY, metadata, "another file or folder")
    return target


def load_tables(path: str | os.PathLike[str]) -> TableCollection:
    """Load tables from a Parquet file, a saved evaluation, or all files of a pattern, merged by model.

    Parameters
    ----------
    path : path
        The file, or a pattern such as ``"shards/*.parquet"``.

    Returns
    -------
    TableCollection
        The table of each model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scorespace.tables import score_table
    >>> with TemporaryDirectory() as folder:
    ...     file = save_tables({"nb": score_table([1, 0, 1], [0.9, 0.4, 0.6])}, f"{folder}/nb.parquet")
    ...     load_tables(file).tables["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 3 distinct scores
    """
    if is_saved_evaluation(path):
        return _tables_of_saved_evaluation(path)
    loaded = [_load_file(file, os.fspath(path)) for file in resolve_paths(os.fspath(path))]
    collections = [collection for collection, _ in loaded]
    names = collections[0].tables
    if any(collection.tables.keys() != names.keys() for collection in collections):
        raise DataError(
            "the files hold tables of different models.",
            seen="; ".join(listing(collection.tables) for collection in collections[:3]),
            hint="merge tables of the same models",
        )
    tables = {name: merge_tables(collection.tables[name] for collection in collections) for name in names}
    notes = tuple(dict.fromkeys(note for collection in collections for note in collection.notes))
    stored_couples = [couples for _, couples in loaded]
    shared = [key for key in stored_couples[0] if all(key in pairs for pairs in stored_couples)]
    merged_couples = {key: from_stored_pair([pairs[key] for pairs in stored_couples]) for key in shared}
    couples = {key: pairs for key, pairs in merged_couples.items() if pairs is not None}
    edges = tuple(stored_couples[0][shared[0]].about["edges"]) if couples else ()
    return TableCollection(tables, sum(collection.rows for collection in collections), notes, couples, edges)


def is_table_file(data: Any) -> bool:
    """Whether the data is the path of a file with stored tables."""
    path = os.fspath(data) if isinstance(data, os.PathLike) else data
    if not isinstance(path, str) or is_single_use(path):
        return False
    if is_saved_evaluation(path):
        return True
    try:
        paths = resolve_paths(path)
        return file_format(os.path.basename(paths[0])) == "Parquet" and _read_metadata(paths[0]) is not None
    except DataError:
        return False  # reading reports the error


def _tables_of_saved_evaluation(path: str | os.PathLike[str]) -> TableCollection:
    saved = read_saved_evaluation(path)
    if saved.without:
        name, why = next(iter(saved.without.items()))
        raise DataError(
            f"{saved.name!r} holds results of {name}, but no table.",
            seen=why,
            hint="it can still be used as --baseline",
        )
    return TableCollection(saved.tables, saved.rows, saved.notes)


def _read_metadata(path: str) -> Any:
    """Metadata of the tables in a file's footer; None if there are none."""
    try:
        return read_footers([os.path.abspath(path)], _KEY).get(os.path.abspath(path))
    except ValueError:  # not Parquet, or no JSON in the footer
        return None


def _load_file(path: str, requested: str) -> tuple[TableCollection, dict[tuple[str, str], StoredTable]]:
    """Load the tables of a file, and its stored pair tables; `requested` is the requested path or pattern."""
    metadata = _read_metadata(path)
    if not isinstance(metadata, dict):
        raise DataError(f"{requested!r} holds no tables.", hint="scorespace table DATA --out FILE.parquet")
    name = os.path.basename(path)
    if metadata.get("schema") != _SCHEMA:
        raise DataError(
            f"{name} was written by another version.",
            seen=f"schema {metadata.get('schema')}",
            hint="use the version that wrote it, or write the tables again: scorespace table",
        )
    columns = read_parquet([os.path.abspath(path)], name)
    try:
        plain = {key: _refuse_masked(column) for key, column in columns.items()}
        entries = [*metadata["models"], *metadata.get("couples", ())]
        row_masks = [plain["model"] == number for number in range(len(entries))]
        parts = [
            StoredTable(entry, {key: plain[key][rows] for key in _COLUMNS})
            for entry, rows in zip(entries, row_masks, strict=True)
        ]
        first = len(metadata["models"])
        tables = {str(part.about["name"]): from_stored_table(part) for part in parts[:first]}
        couples = {(str(a), str(b)): part for part in parts[first:] for a, b in [part.about["models"]]}
        notes = tuple(Note(str(n["code"]), str(n["level"]), str(n["text"])) for n in metadata.get("notes", ()))
        return TableCollection(tables, int(metadata["rows"]), notes), couples
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"the tables in {name} cannot be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


def _refuse_masked(column: Any) -> Any:
    if np.ma.is_masked(column):
        raise ValueError("missing values")
    return np.ma.getdata(column)
