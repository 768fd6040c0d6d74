"""Saved evaluations: results as JSON with the tables of the models, in one readable file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from scorespace.errors import DataError
from scorespace.files import check_target, record_read, write_file
from scorespace.results import SCHEMA, Note, Row, to_json_types
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.serialization import LABELS, NUMBERS, from_stored_table, to_stored_table
from scorespace.tables.table import StoredTable

_FORMAT_KEY: Final = "saved_evaluation"
_SCHEMA: Final = 1
_FILE_START: Final = re.compile(rb'\s*\{\s*"' + _FORMAT_KEY.encode() + rb'"\s*:')
_SAVE_AGAIN_HINT: Final = "save it again: scorespace evaluate DATA --save FILE.json"


@dataclass(frozen=True, eq=False)
class SavedEvaluation:
    """Contents of a saved evaluation.

    `asked` is the request and `result` the answer as written by `--format json`. `tables` holds the table of each
    model, and `without` the reason for each model that has none.
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


def write_saved_evaluation(saved: SavedEvaluation, path: str | os.PathLike[str]) -> Path:
    """Write a saved evaluation atomically: JSON with each table on one line."""
    from importlib.metadata import version  # slow to import

    target = Path(path)
    check_target(target, (".json",))
    content = {
        _FORMAT_KEY: _SCHEMA,
        "scorespace": version("scorespace"),
        "date": _today().isoformat(),
        "asked": saved.asked,
        **saved.result,
        "found_on_the_way": [note.to_dict() for note in saved.notes],
        "without_table": dict(saved.without),
    }
    text = json.dumps(to_json_types(content), indent=2, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join(f"    {json.dumps(name)}: {_table_json(table)}" for name, table in saved.tables.items())
    text = f'{text.removesuffix("}").rstrip()},\n  "tables": {{\n{lines}\n  }}\n}}\n'
    return write_file(target, text.encode("utf-8", "backslashreplace"))


def reason_not_stored(table: Table) -> str | None:
    """Why a table cannot be saved; None if it can."""
    try:
        to_stored_table(table)
    except NoTableError:
        return f"{table.described()} store the individual cases"
    return None


def is_saved_evaluation(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a saved evaluation."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return _FILE_START.match(file.read(200)) is not None
    except (OSError, ValueError):
        return False


def read_saved_evaluation(path: str | os.PathLike[str]) -> SavedEvaluation:
    """Read a saved evaluation; refuse other files, other versions and damaged files."""
    name = os.path.basename(os.fspath(path))
    if not os.path.isfile(path):
        seen = "a folder" if os.path.isdir(path) else "no such file"
        raise DataError(f"{name!r} cannot be read.", seen=seen, hint="a file written by --save FILE.json")
    if not is_saved_evaluation(path):
        raise DataError(
            f"{name!r} is not a saved evaluation.", hint="scorespace evaluate DATA --save FILE.json writes one"
        )
    record_read(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        if content[_FORMAT_KEY] != _SCHEMA or content["schema"] != SCHEMA:
            seen = f"schema {content[_FORMAT_KEY]!r:.20} of scorespace {content.get('scorespace')!r:.20}"
            raise DataError(f"{name!r} was saved by another version.", seen=seen, hint="use the version that wrote it")
        notes = tuple(Note(str(n["code"]), str(n["level"]), str(n["text"])) for n in content.pop("found_on_the_way"))
        tables = {str(model): _restore_table(about) for model, about in content.pop("tables").items()}
        result = {key: content[key] for key in ("data", "rows")}
        if not isinstance(result["rows"], list) or not all(isinstance(row, dict) for row in result["rows"]):
            raise ValueError("rows")
        if not isinstance(content["asked"].get("measures", []), list):
            raise ValueError("measures")
        data, thresholds = result["data"], content["asked"].get("thresholds", {})
        known = {
            str(model): value for model, value in thresholds.items() if value is not None
        }  # None: infinite, in older files
        content["asked"]["thresholds"] = {model: float(value) for model, value in known.items()}
        if float(data["rows"]) < 0 or sum(map(float, (data["classes"] or {}).values())) < 0:
            raise ValueError("cases")
        without = {str(model): str(why) for model, why in content["without_table"].items()}
        day = date.fromisoformat(content["date"]).isoformat()
        return SavedEvaluation(dict(content["asked"]), content, tables, without, notes, name, day)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError, MemoryError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:160]
        raise DataError(f"{name!r} is damaged.", seen=reason, hint=_SAVE_AGAIN_HINT) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, DataError) and error.hint == "use the version that wrote it":
            raise
        reason = str(error.seen if isinstance(error, DataError) else error)
        raise DataError(
            f"{name!r} is damaged.", seen=f"wrong: {reason.removeprefix('wrong: ')}", hint=_SAVE_AGAIN_HINT
        ) from None


def _today() -> date:
    """Today, or the date of SOURCE_DATE_EPOCH for reproducible files."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(stated), UTC).date() if stated.isdecimal() else date.today()


def _refuse_constant(token: str) -> float:
    raise ValueError(f"{token} is not valid JSON")


def _table_json(table: Table) -> str:
    """JSON of a table on one line: its metadata, and the columns that are not all zero."""
    contents = to_stored_table(table)
    implied = ("high", "first", "second") if contents.about.get("exact") else ()  # these follow from the scores
    columns = {
        name: _shortest_numbers(column)
        for name, column in contents.columns.items()
        if name == "weight" or (column.any() and name not in implied)
    }
    return json.dumps({**contents.about, "columns": columns}, allow_nan=False)


def _shortest_numbers(column: Array) -> list[float]:
    """Numbers for JSON, integers without a decimal point."""
    is_integer = bool(np.all(column == np.floor(column))) and bool(np.all(np.abs(column) < 2**53))
    numbers: list[float] = (column.astype(np.int64) if is_integer else column).tolist()
    return numbers


def _restore_table(content: Mapping[str, Any]) -> Table:
    columns = {name: np.asarray(column) for name, column in content["columns"].items()}
    size = columns["weight"].size
    if not all(column.shape == (size,) and (column.dtype.kind in "iuf" or not size) for column in columns.values()):
        raise ValueError("columns of a table")
    all_columns = {"high": columns.get("low", np.zeros(size)), **columns} if content.get("exact") else columns
    return from_stored_table(
        StoredTable(content, {name: all_columns.get(name, np.zeros(size)) for name in (*LABELS, *NUMBERS)})
    )
