"""Tables in Parquet files: written here, merged and evaluated elsewhere, where the cases themselves may not go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError, listing
from scorespace.files import check_target, replacing
from scorespace.frames.baseline import holds_saved, read_saved
from scorespace.frames.engine import connect, footers, read_parquet, write_parquet
from scorespace.frames.paths import kind_of, local_paths, read_once
from scorespace.frozen import dataclass
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
    about = {"schema": _SCHEMA, "rows": held.rows, "models": models, "notes": notes}
    about |= {"couples": [dict(one.about) for one in both]} if both else {}
    with replacing(target) as temporary, closing(connect(writing=temporary)) as connection:
        connection.register("tables", columns)
        write_parquet(connection, "FROM tables", temporary, target, _KEY, about, "another file or folder")
    return target


def load_tables(path: str | os.PathLike[str]) -> Tables:
    """The tables in a Parquet file, or those of all files that a pattern names, merged model by model.

    Those of a saved evaluation, too.
    """
    if holds_saved(path):
        return _of_saved(path)
    loaded = [_loaded(each, os.fspath(path)) for each in local_paths(os.fspath(path))]
    found = [one for one, _ in loaded]
    names = found[0].tables
    if any(one.tables.keys() != names.keys() for one in found):
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
    path = os.fspath(data) if isinstance(data, os.PathLike) else data
    if not isinstance(path, str) or read_once(path):
        return False
    if holds_saved(path):
        return True
    try:
        paths = local_paths(path)
        return kind_of(os.path.basename(paths[0])) == "Parquet" and _about(paths[0]) is not None
    except DataError:
        return False  # reading says what is wrong with it


def _of_saved(path: str | os.PathLike[str]) -> Tables:
    saved = read_saved(path)
    if saved.without:
        name, why = next(iter(saved.without.items()))
        raise DataError(
            f"{saved.name!r} holds the numbers of {name}, and no table.",
            seen=why,
            hint="--baseline takes it nevertheless",
        )
    return Tables(saved.tables, saved.rows, saved.notes)


def _about(path: str) -> Any:
    """What the footer of a file says of the tables in it; nothing where there are none."""
    try:
        return footers([os.path.abspath(path)], _KEY).get(os.path.abspath(path))
    except ValueError:  # no Parquet, or no JSON in it
        return None


def _loaded(path: str, asked: str) -> tuple[Tables, dict[tuple[str, str], Stored]]:
    """The tables of a file, and those of couples as they are stored; `asked` is the pattern that names it."""
    about = _about(path)
    if not isinstance(about, dict):
        raise DataError(f"{asked!r} holds no tables.", hint="scorespace table DATA --out FILE.parquet")
    name = os.path.basename(path)
    if about.get("schema") != _SCHEMA:
        raise DataError(
            f"{name} was written by another version.",
            seen=f"schema {about.get('schema')}",
            hint="the version that wrote it, or the tables again: scorespace table",
        )
    columns = read_parquet([os.path.abspath(path)], name)
    try:
        plain = {key: _plain(column) for key, column in columns.items()}
        told = [*about["models"], *about.get("couples", ())]
        own = [plain["model"] == number for number in range(len(told))]
        parts = [Stored(one, {key: plain[key][rows] for key in _COLUMNS}) for one, rows in zip(told, own, strict=True)]
        first = len(about["models"])
        tables = {str(part.about["name"]): restored(part) for part in parts[:first]}
        couples = {(str(a), str(b)): part for part in parts[first:] for a, b in [part.about["models"]]}
        notes = tuple(Note(str(n["code"]), str(n["level"]), str(n["text"])) for n in about.get("notes", ()))
        return Tables(tables, int(about["rows"]), notes), couples
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{name} holds no tables that can be read.",
            seen=f"wrong: {error}",
            hint="write it again: scorespace table DATA --out FILE.parquet",
        ) from None


def _plain(column: Any) -> Any:
    if np.ma.is_masked(column):
        raise ValueError("values that are missing")
    return np.ma.getdata(column)
