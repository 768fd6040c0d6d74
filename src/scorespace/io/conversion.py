"""Convert spreadsheets, blank-separated text and Windows-1252 files to temporary CSV files in UTF-8."""

from __future__ import annotations

import codecs
import csv
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError, did_you_mean, listing
from scorespace.files import close_temporary_file, open_temporary_file
from scorespace.io.csv_format import SEPARATORS, open_bytes
from scorespace.results import Note, note

_MAX_CHECKED_BYTES: Final = 2**26
"""Bytes of a text file that are checked for UTF-8; beyond them the engine refuses other encodings."""
_CHUNK_BYTES: Final = 2**20
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class ReadOptions:
    """How files are read: whether the first line holds column names, and the sheet of a spreadsheet."""

    header: bool = True
    sheet: str | None = None


_DEFAULT: Final = ReadOptions()
_options: ContextVar[ReadOptions] = ContextVar("read options", default=_DEFAULT)


def read_options() -> ReadOptions:
    """The options of files read from now on."""
    return _options.get()


@contextmanager
def reading(**options: Any) -> Iterator[None]:
    """Read files with other options until the context ends."""
    before = _options.set(replace(read_options(), **options))
    try:
        yield
    finally:
        _options.reset(before)


@contextmanager
def to_csv(path: str, name: str, kind: str) -> Iterator[tuple[str, tuple[Note, ...]]]:
    """Yield a path that the CSV reader understands and notes; a temporary copy is removed only after an error."""
    encoding = None if kind == "spreadsheet" else _encoding(path, name)
    rows: Iterable[list[str]] | None
    if kind == "spreadsheet":
        rows, notes = _sheet_rows(path, name)
    elif kind == "TXT" and _is_separated_by_blanks(path, encoding):
        rows, notes = _blank_separated(path, encoding), _encoding_notes(path, name, encoding)
    elif encoding == "utf-8-sig":
        yield path, ()
        return
    else:
        rows, notes = None, _encoding_notes(path, name, encoding)
    copy = open_temporary_file(".csv")
    try:
        _write(copy, rows if rows is not None else _lines(path, encoding), quoted=rows is not None)
        yield str(copy), notes
    except BaseException:
        close_temporary_file(copy)
        raise


def _write(path: Path, rows: Iterable[Any], *, quoted: bool) -> None:
    """Write rows as CSV, or lines as they are."""
    with path.open("w", encoding="utf-8", newline="") as file:
        if quoted:
            csv.writer(file, lineterminator="\n").writerows(rows)
        else:
            file.writelines(rows)


# --- Encodings


def _encoding(path: str, name: str) -> str:
    """UTF-8, or Windows-1252 for a file that is not UTF-8; a file that mixes both is refused."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    invalid = letters = False
    checked = 0
    try:
        with open_bytes(path) as file:
            while checked < _MAX_CHECKED_BYTES and (chunk := file.read(_CHUNK_BYTES)):
                if not checked and chunk.startswith(_UTF16):
                    return "utf-8-sig"  # refused with its own message
                checked += len(chunk)
                if chunk.isascii():
                    continue
                text = decoder.decode(chunk)
                invalid = invalid or "\ufffd" in text
                letters = letters or any(letter > "\x7f" and letter not in "\ufffd\ufeff" for letter in text)
    except (OSError, EOFError, zlib.error):
        return "utf-8-sig"  # refused with its own message
    if not invalid:
        return "utf-8-sig"
    problem = f"{name} cannot be read as CSV."
    if letters:
        raise DataError(problem, seen="bytes of UTF-8 and of another encoding", hint="save the file as UTF-8")
    try:
        for _ in _lines(path, "cp1252"):
            pass
    except UnicodeDecodeError as error:
        seen = f"the byte 0x{error.object[error.start]:02x}, which is neither UTF-8 nor Windows-1252"
        raise DataError(problem, seen=seen, hint="save the file as UTF-8") from None
    return "cp1252"


def _lines(path: str, encoding: str | None) -> Iterator[str]:
    with open_bytes(path) as raw, codecs.getreader(encoding or "utf-8-sig")(raw) as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _encoding_notes(path: str, name: str, encoding: str | None) -> tuple[Note, ...]:
    if encoding != "cp1252":
        return ()
    words = (re.search(r"\w*[^\x00-\x7f]\w*", chunk) for chunk in _lines(path, encoding))
    word = next((found[0] for found in words if found), "")
    return (note("SS101", f"{name} is not UTF-8 and was read as Windows-1252: check a word such as {word!r}."),)


# --- Text separated by blanks


def _is_separated_by_blanks(path: str, encoding: str | None) -> bool:
    """Whether blanks split the first lines into several values, and no other separator does."""
    lines = [line for line in "".join(islice(_lines(path, encoding), 1)).splitlines()[:50] if line.strip()]
    return bool(lines) and len(lines[0].split()) > 1 and not any(sign in lines[0] for sign in SEPARATORS)


def _blank_separated(path: str, encoding: str | None) -> Iterator[list[str]]:
    """Values of lines separated by blanks; a header one value shorter, as R writes it, lacks the name of the rows."""
    with open_bytes(path) as raw, codecs.getreader(encoding or "utf-8-sig")(raw) as file:
        rows = csv.reader(
            (line.strip().replace("\t", " ") + "\n" for line in file if line.strip()),
            delimiter=" ",
            skipinitialspace=True,
        )
        first, second = next(rows, []), next(rows, None)
        if second is not None and len(second) == len(first) + 1:
            first = ["row", *first]
        yield first
        if second is not None:
            yield second
        yield from rows


# --- Spreadsheets


def _sheet_rows(path: str, name: str) -> tuple[list[list[str]], tuple[Note, ...]]:
    """Values of a sheet as text, without empty rows and columns; formulas have the values that were saved."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(path)
        chosen, notes = _choose_sheet(book.sheet_names, name)
        values = book.get_sheet_by_name(chosen).to_python()
    except (CalamineError, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{name} cannot be read as a spreadsheet.", seen=str(error).splitlines()[0], hint="save it as .xlsx or .csv"
        ) from None
    rows = [[_cell_text(value) for value in row] for row in values]
    rows = [row for row in rows if any(row)]
    used = [k for k in range(len(rows[0]) if rows else 0) if any(row[k] for row in rows)]
    if not used:
        hint = f"another sheet: {listing(book.sheet_names)}"
        raise DataError(f"the sheet {chosen!r} of {name} is empty.", hint=hint)
    return [[row[k] for k in used] for row in rows], notes


def _choose_sheet(sheets: list[str], name: str) -> tuple[str, tuple[Note, ...]]:
    """The stated sheet, by name or number from 1; by default the first, with a note if there are others."""
    stated = read_options().sheet
    if stated is None:
        others = f"{name} has {len(sheets)} sheets; read was {sheets[0]!r}, not {listing(sheets[1:])}."
        return sheets[0], (note("SS101", others),) if len(sheets) > 1 else ()
    if stated in sheets:
        return stated, ()
    if stated.isdecimal() and 1 <= int(stated) <= len(sheets):
        return sheets[int(stated) - 1], ()
    hint = did_you_mean(stated, sheets, f'sheet="{sheets[0]}"')
    raise DataError(f"{name} has no sheet {stated!r}.", seen=f"sheets {listing(sheets)}", hint=hint)


def _cell_text(value: Any) -> str:
    """A cell as text: whole numbers without decimals, dates in ISO form.

    >>> from datetime import date
    >>> [_cell_text(value) for value in (3.0, 0.25, True, date(2026, 1, 5), " x ")]
    ['3', '0.25', 'true', '2026-01-05', 'x']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value).strip()
