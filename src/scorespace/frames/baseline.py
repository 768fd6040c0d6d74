"""Saved evaluations: what was found as JSON, and beside it the tables of the models, in one readable file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError
from scorespace.files import check_target, remember, write_file
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, Note, Row, plain
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.stored import LABELS, NUMBERS, restored, stored
from scorespace.tables.table import Stored

_MARK: Final = "saved_evaluation"
_SCHEMA: Final = 1
_BEGINNING: Final = re.compile(rb'\s*\{\s*"' + _MARK.encode() + rb'"\s*:')
_AGAIN: Final = "save it again: scorespace evaluate DATA --save FILE.json"


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file of a saved evaluation holds.

    `asked` is how it was asked for, `result` what was found, as `--format json` writes it. `tables` are those of the
    models, and `without` says of the others why they have none.
    """

    asked: Row
    result: Row
    tables: Mapping[str, Table]
    without: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    name: str = ""
    date: str = ""

    @property
    def rows(self) -> int:
        return int(self.result["data"]["rows"])


def write_saved(saved: Saved, path: str | os.PathLike[str]) -> Path:
    """Write a saved evaluation in one step: JSON, each table on a line of its own."""
    from importlib.metadata import version  # which loads what parses e-mail

    target = Path(path)
    check_target(target, (".json",))
    told = {
        _MARK: _SCHEMA,
        "scorespace": version("scorespace"),
        "date": _today().isoformat(),
        "asked": saved.asked,
        **saved.result,
        "found_on_the_way": [one.to_dict() for one in saved.notes],
        "without_table": dict(saved.without),
    }
    text = json.dumps(plain(told), indent=2, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join(f"    {json.dumps(name)}: {_line(table)}" for name, table in saved.tables.items())
    text = f'{text.removesuffix("}").rstrip()},\n  "tables": {{\n{lines}\n  }}\n}}\n'
    return write_file(target, text.encode("utf-8", "backslashreplace"))


def why_not_stored(table: Table) -> str | None:
    """Why a table is not written; None where it is."""
    try:
        stored(table)
    except NoTableError:
        return f"{table.described()} keep the cases themselves"
    return None


def holds_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a saved evaluation does."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return _BEGINNING.match(file.read(200)) is not None
    except (OSError, ValueError):
        return False


def read_saved(path: str | os.PathLike[str]) -> Saved:
    """The saved evaluation in a file, refused where it is none, is of a later version, or is damaged."""
    name = os.path.basename(os.fspath(path))
    if not os.path.isfile(path):
        seen = "a folder" if os.path.isdir(path) else "no such file"
        raise DataError(f"{name!r} cannot be read.", seen=seen, hint="a file that was written by --save FILE.json")
    if not holds_saved(path):
        raise DataError(
            f"{name!r} is no saved evaluation.", hint="scorespace evaluate DATA --save FILE.json writes one"
        )
    remember(path)
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse)
        if told[_MARK] != _SCHEMA or told["schema"] != SCHEMA:
            seen = f"schema {told[_MARK]!r:.20} of scorespace {told.get('scorespace')!r:.20}"
            raise DataError(f"{name!r} was saved by another version.", seen=seen, hint="the version that wrote it")
        notes = tuple(Note(str(n["code"]), str(n["level"]), str(n["text"])) for n in told.pop("found_on_the_way"))
        tables = {str(model): _restored(about) for model, about in told.pop("tables").items()}
        result = {key: told[key] for key in ("data", "rows")}
        if not isinstance(result["rows"], list) or not all(isinstance(row, dict) for row in result["rows"]):
            raise ValueError("rows")
        if not isinstance(told["asked"].get("measures", []), list):
            raise ValueError("measures")
        data, at = result["data"], told["asked"].get("thresholds", {})
        told["asked"]["thresholds"] = {str(model): float(value) for model, value in at.items()}
        if float(data["rows"]) < 0 or sum(map(float, (data["classes"] or {}).values())) < 0:
            raise ValueError("cases")
        without = {str(model): str(why) for model, why in told["without_table"].items()}
        day = date.fromisoformat(told["date"]).isoformat()
        return Saved(dict(told["asked"]), told, tables, without, notes, name, day)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError, MemoryError) as error:
        said = "it nests too deeply" if isinstance(error, RecursionError) else str(error)[:160]
        raise DataError(f"{name!r} is damaged.", seen=said, hint=_AGAIN) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, DataError) and error.hint == "the version that wrote it":
            raise
        said = str(error.seen if isinstance(error, DataError) else error)
        raise DataError(f"{name!r} is damaged.", seen=f"wrong: {said.removeprefix('wrong: ')}", hint=_AGAIN) from None


def _today() -> date:
    """The day of saving, or that of SOURCE_DATE_EPOCH where files are to be the same each time they are made."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(stated), UTC).date() if stated.isdecimal() else date.today()


def _refuse(token: str) -> float:
    raise ValueError(f"{token} is no number of JSON")


def _line(table: Table) -> str:
    """A table on a line: what is to be known of it, and the columns that are not all zero."""
    kept = stored(table)
    exact = ("high", "first", "second") if kept.about.get("exact") else ()  # which of scores follow from these
    columns = {
        name: _written(column)
        for name, column in kept.columns.items()
        if name == "weight" or (column.any() and name not in exact)
    }
    return json.dumps({**kept.about, "columns": columns}, allow_nan=False)


def _written(column: Array) -> list[float]:
    """Numbers as short as they are exact: whole ones without a decimal point."""
    whole = bool(np.all(column == np.floor(column))) and bool(np.all(np.abs(column) < 2**53))
    numbers: list[float] = (column.astype(np.int64) if whole else column).tolist()
    return numbers


def _restored(about: Mapping[str, Any]) -> Table:
    columns = {name: np.asarray(column) for name, column in about["columns"].items()}
    size = columns["weight"].size
    if not all(one.shape == (size,) and (one.dtype.kind in "iuf" or not size) for one in columns.values()):
        raise ValueError("columns of a table")
    every = {"high": columns.get("low", np.zeros(size)), **columns} if about.get("exact") else columns
    return restored(Stored(about, {name: every.get(name, np.zeros(size)) for name in (*LABELS, *NUMBERS)}))
