"""Tables in Parquet files: written here, merged and evaluated elsewhere, where the cases themselves may not go."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError, listing
from scorespace.files import check_target, replacing
from scorespace.frames.files import kind_of, local_paths, read_once
from scorespace.frames.source import connect, unreadable
from scorespace.results import Note
from scorespace.tables import NoTableError, Table
from scorespace.tables.pair import PairTable
from scorespace.tables.stored import LABELS, NUMBERS, merged, restored, restored_pair, stored, stored_pair
from scorespace.tables.table import Stored

_KEY: Final = "scorespace.tables"
_SCHEMA: Final = 1
_COLUMNS: Final = (*LABELS, *NUMBERS)


@dataclass(frozen=True)
class Tables:
    """The tables of a sample by model, how many rows they are of, and what was found on the way.

    `couples` holds bins of every two models together, so that they can be compared; no bin straddles an edge.
    """

    tables: Mapping[str, Table]
    rows: int
    notes: tuple[Note, ...] = ()
    couples: Mapping[tuple[str, str], PairTable] = field(default_factory=dict)
    edges: tuple[float, ...] = ()


def save_tables(held: Tables | Mapping[str, Table], path: str | os.PathLike[str]) -> Path:
    """Write the tables of models to a Parquet file; `scorespace evaluate` reads it like the data they came from."""
    import duckdb  # only here and for reading: whoever evaluates a frame need not load it

    if not isinstance(held, Tables):
        held = Tables(held, int(max(float(table.total) for table in held.values())))
    target = Path(path)
    check_target(target, (".parquet",))
    parts = {}
    for name, table in held.tables.items():
        try:
            parts[name] = stored(table)
        except NoTableError as error:
            raise DataError(f"{name} {error.reason}.", hint="scores of one class, or decisions") from None
    both = [stored_pair(pairs, held.edges) for pairs in held.couples.values()]
    every = [*parts.values(), *both]
    columns: dict[str, Any] = {name: np.concatenate([part.columns[name] for part in every]) for name in _COLUMNS}
    sizes = [part.columns["weight"].size for part in every]
    columns["model"] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    models = [{"name": name, **part.about} for name, part in parts.items()]
    notes = [note.to_dict() for note in held.notes]
    told = {"schema": _SCHEMA, "rows": held.rows, "models": models, "notes": notes}
    about = json.dumps(told | ({"couples": [dict(one.about) for one in both]} if both else {}))
    with replacing(target) as temporary:
        connection = connect(writing=temporary)
        connection.register("tables", columns)
        quoted = [text.replace("'", "''") for text in (str(temporary), about)]
        how = f"FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, KV_METADATA {{'{_KEY}': '{quoted[1]}'}}"
        try:
            connection.execute(f"COPY tables TO '{quoted[0]}' ({how})")
        except duckdb.Error as error:
            raise DataError(
                f"{str(path)!r} cannot be written.", seen=str(error).splitlines()[0], hint="another file or folder"
            ) from error
        finally:
            connection.close()
    return target


def load_tables(path: str | os.PathLike[str]) -> Tables:
    """The tables in a Parquet file, or those of all files that a pattern names, merged model by model."""
    paths = local_paths(os.fspath(path))
    loaded = [one for each in paths for one in [_loaded(each)] if one is not None]
    found = [one for one, _ in loaded]
    if len(found) < len(paths):
        raise DataError(f"{os.fspath(path)!r} holds no tables.", hint="scorespace table DATA --out FILE.parquet")
    names = {name: None for one in found for name in one.tables}
    for one in found:
        if one.tables.keys() != names.keys():
            raise DataError(
                "the files hold tables of different models.",
                seen="; ".join(listing(each.tables) for each in found[:3]),
                hint="the same models in each",
            )
    tables = {name: merged(one.tables[name] for one in found) for name in names}
    notes = tuple(dict.fromkeys(note for one in found for note in one.notes))
    several = [couples for _, couples in loaded]
    shared = [key for key in several[0] if all(key in one for one in several)]
    merged_couples = {key: restored_pair([one[key] for one in several]) for key in shared}
    couples = {key: pairs for key, pairs in merged_couples.items() if pairs is not None}
    edges = tuple(several[0][shared[0]].about["edges"]) if couples else ()
    return Tables(tables, sum(one.rows for one in found), notes, couples, edges)


def holds_tables(data: Any) -> bool:
    """Whether the data is the path of a file that tables were written to."""
    if not isinstance(data, (str, os.PathLike)):
        return False
    path = os.fspath(data)
    if not isinstance(path, str) or read_once(path):
        return False
    try:
        paths = local_paths(path)
        return kind_of(os.path.basename(paths[0])) == "Parquet" and _about(paths[0]) is not None
    except DataError:
        return False  # reading says what is wrong with it


def _about(path: str) -> Any:
    """What the footer of a file says of the tables in it; nothing where there are none."""
    import duckdb

    connection = connect([os.path.abspath(path)])
    try:
        told = "SELECT value FROM parquet_kv_metadata($path) WHERE key = $key::BLOB"
        found = connection.execute(told, {"path": glob.escape(os.path.abspath(path)), "key": _KEY}).fetchall()
        return json.loads(found[0][0]) if found else None
    except (duckdb.Error, ValueError):
        return None
    finally:
        connection.close()


def _loaded(path: str) -> tuple[Tables, dict[tuple[str, str], Stored]] | None:
    import duckdb

    about = _about(path)
    if not isinstance(about, dict):
        return None
    name = os.path.basename(path)
    if about.get("schema") != _SCHEMA:
        raise DataError(
            f"{name} was written by another version.",
            seen=f"schema {about.get('schema')}",
            hint="the version that wrote it, or the tables again: scorespace table",
        )
    connection = connect([os.path.abspath(path)])
    try:
        columns = connection.read_parquet([glob.escape(os.path.abspath(path))]).fetchnumpy()
        plain = {key: _plain(column) for key, column in columns.items()}
        tables = dict(_restored(about, plain))
        notes = tuple(Note(str(n["code"]), str(n["level"]), str(n["text"])) for n in about.get("notes", ()))
        couples = dict(_couples(about, plain))
        return Tables(tables, int(about["rows"]), notes), couples
    except (duckdb.Error, MemoryError) as error:
        raise unreadable(name, error, "Parquet") from error
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{name} holds no tables that can be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None
    finally:
        connection.close()


def _plain(column: Any) -> Any:
    if np.ma.is_masked(column):
        raise ValueError("values that are missing")
    return np.ma.getdata(column)


def _restored(about: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    for number, one in enumerate(about["models"]):
        own = columns["model"] == number
        yield str(one["name"]), restored(Stored(one, {name: columns[name][own] for name in _COLUMNS}))


def _couples(about: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Stored]]:
    for number, one in enumerate(about.get("couples", ()), start=len(about["models"])):
        own = columns["model"] == number
        first, second = one["models"]
        yield (str(first), str(second)), Stored(one, {name: columns[name][own] for name in _COLUMNS})
