"""Ledger of looks at a test set: one JSON line a look, each with the hash of the line before."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError
from scorespace.results import Row

SCHEMA: Final = 1
_HASH, _PREVIOUS = "line_hash", "previous"


def read_ledger(path: str | os.PathLike[str]) -> list[Row]:
    """The looks of a ledger; empty if there is no file. A line that was edited or added by hand is an error."""
    file = Path(path)
    if not file.exists():
        return []
    try:
        lines = file.read_text("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the ledger {file.name} cannot be read.", seen=str(error)) from None
    lines = lines if lines != [""] else []
    looks: list[Row] = []
    previous = ""
    for number, line in enumerate(lines, start=1):
        look = _parsed(line, file.name, number)
        if look[_HASH] != _hash(look) or look[_PREVIOUS] != previous:
            raise DataError(
                f"line {number} of the ledger {file.name} was edited, or a line before it was removed.",
                hint="restore the file, or start a new ledger",
            )
        previous = look[_HASH]
        looks.append(look)
    return looks


def append_looks(path: str | os.PathLike[str], known: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Append looks to a ledger, each linked with the line before; returns all of them."""
    looks = list(known)
    lines = []
    for content in new:
        look = {"schema": SCHEMA, **content, _PREVIOUS: looks[-1][_HASH] if looks else ""}
        look = json.loads(json.dumps(look, allow_nan=False))
        look[_HASH] = _hash(look)
        looks.append(look)
        lines.append(json.dumps(look, ensure_ascii=False, separators=(",", ":")) + "\n")
    if lines:
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write("".join(lines))
        except OSError as error:
            raise DataError(f"the ledger {Path(path).name} cannot be written.", seen=str(error)) from None
    return looks


def _parsed(line: str, name: str, number: int) -> Row:
    try:
        look: Any = json.loads(line)
    except ValueError:
        look = None
    needed = {"schema", "truth_hash", "scores_hash", "measures", _HASH, _PREVIOUS}
    if not isinstance(look, dict) or not needed <= set(look):
        raise DataError(f"line {number} of {name} is no look of a ledger.", hint="a file that --ledger wrote")
    if look["schema"] != SCHEMA:
        raise DataError(f"the ledger {name} has schema {look['schema']}.", seen=f"this version reads {SCHEMA}")
    return dict(look)


def _hash(look: Row) -> str:
    content = {name: value for name, value in look.items() if name != _HASH}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
