"""How a CSV file is written: its header and what parts its values, read by ourselves and guessed by no engine."""

from __future__ import annotations

import codecs
import csv
import io
import zlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from scorespace.errors import DataError
from scorespace.frames.records import CsvFile, opened
from scorespace.frames.source import named_twice

SEPARATORS: Final = (",", ";", "\t", "|")
_HEAD: Final = 2**16
_WIDEST: Final = 2**24


def dialect(path: str, name: str, separator: str | None = None) -> CsvFile:
    """The file as it is to be read: what parts its values, and the names of its columns.

    Nothing above the header is skipped, nothing is a comment, and quotes are doubled within quotes.
    """
    head, whole = _head(path, name)
    found = separator or _separator(head, whole)
    header = _records(head, found, 1)
    if not header or not any(cell.strip() for cell in header[0]):
        raise DataError(
            f"{name} cannot be read as CSV.", seen="the first line is empty", hint="the names of the columns first"
        )
    # No engine takes a NUL, and no command line can type one.
    names = [cell.strip().replace("\x00", "␀") or f"column{k}" for k, cell in enumerate(header[0])]
    if len({each.casefold() for each in names}) < len(names):
        raise named_twice(names, name)
    return CsvFile(path, found, tuple(names))


def _head(path: str, name: str) -> tuple[str, bool]:
    """The first lines as text, and whether that is all; more where the header itself is longer."""
    size = _HEAD
    while True:
        try:
            with opened(path) as file:
                data = file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{name} cannot be read as CSV.",
                seen=getattr(error, "strerror", None) or str(error),
                hint="check that the file is complete and that its ending says what it is",
            ) from None
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{name} cannot be read as CSV.", seen="text in UTF-16", hint="save the file as UTF-8")
        whole = len(data) < size
        text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(data, final=whole)
        if whole or size >= _WIDEST or _complete(text):
            return text, whole
        size *= 4


def _complete(text: str) -> bool:
    """Whether the text has a second line outside quotes, so that the first is whole."""
    quotes = 0
    for line in text.splitlines(keepends=True):
        quotes += line.count('"')
        if quotes % 2 == 0 and line.endswith(("\n", "\r")):
            return True
    return False


def _separator(head: str, whole: bool) -> str:
    """The sign that cuts the header into most pieces; of several, the first that cuts all lines alike."""
    # Strictly: else a wrong sign goes on behind a closing quote, and may swallow whole lines.
    cut = {sign: [len(values) for values in _records(head, sign, 50, strict=True) if values] for sign in SEPARATORS}
    if not whole:
        cut = {sign: widths[:-1] or widths for sign, widths in cut.items()}  # the last line may be half of one
    several = [sign for sign in SEPARATORS if cut[sign] and cut[sign][0] > 1]
    alike = [sign for sign in several if len(set(cut[sign])) == 1]
    return max(alike or several or [","], key=lambda sign: cut[sign][0] if cut[sign] else 0)


def _records(text: str, separator: str, most: int, *, strict: bool = False) -> Sequence[list[str]]:
    found: list[list[str]] = []
    with suppress(csv.Error):  # the engine says what is wrong, and in which line
        for values in islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict), most):
            found.append(values)
    return found
