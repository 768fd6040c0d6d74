"""How many records a file holds, counted without the engine that reads it: what is read must add up to it."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.frames.engine import LINES
from scorespace.frozen import dataclass
from scorespace.results import grouped, so_many

_PIECE: Final = 2**22


@dataclass(frozen=True)
class CsvFile:
    """A CSV file: where it is, what parts its values, and the names of its columns."""

    path: str
    separator: str
    header: tuple[str, ...]

    def records(self) -> int:
        """The lines below the header, where a line may go on within quotes; empty ones at the end are none.

        Without quotes, counting bytes is enough; with them, an end of line counts after an even number of quotes. That
        is a quick count, and −1 where values are not as many as told: where it differs from what was read,
        `look_closely` goes value by value.
        """
        ends, returns, quotes, separators = 0, 0, 0, 0
        lines = 0
        separator = ord(self.separator)
        returns_only: int | None = None
        for piece in _pieces(self.path):
            values = np.frombuffer(piece, dtype=np.uint8)
            held = len(piece.rstrip(b"\r\n"))
            if quotes == 0 and b'"' not in piece:
                new, back = _count(values, "\n"), 0 if ends else _count(values, "\r")
                if held:
                    rest = piece[held:]
                    lines = ends + new - rest.count(b"\n") + 1
                    returns_only = returns + back - rest.count(b"\r") + 1
                ends, returns = ends + new, returns + back
                separators += int(np.count_nonzero(values == separator))
                continue
            marks = np.flatnonzero(values == ord('"'))
            newlines, carriages = np.flatnonzero(values == ord("\n")), np.flatnonzero(values == ord("\r"))
            outside = newlines[(np.searchsorted(marks, newlines) + quotes) % 2 == 0]
            outside_returns = carriages[(np.searchsorted(marks, carriages) + quotes) % 2 == 0]
            if held:
                lines = ends + int((outside < held).sum()) + 1
                returns_only = returns + int((outside_returns < held).sum()) + 1
            ends, returns, quotes = ends + outside.size, returns + outside_returns.size, quotes + marks.size
        if not ends and returns_only is not None:  # as on old Macintoshes
            lines = returns_only
        if not quotes and separators != (len(self.header) - 1) * lines:
            return -1
        return lines - 1

    def look_closely(self, name: str) -> int:
        """The records counted value by value; an empty line between others, or one of another length, is refused."""
        records, width = 0, len(self.header)
        empty: int | None = None
        with opened(self.path) as raw, _text(raw) as file:
            lines = csv.reader(file, delimiter=self.separator)
            try:
                for values in lines:
                    if not values:
                        empty = empty or lines.line_num
                    elif empty is not None:
                        raise _refused(name, f"line {grouped(empty)} is empty")
                    elif len(values) != width:
                        found = so_many(len(values), "value")
                        raise _refused(name, f"line {grouped(lines.line_num)} has {found}, the header {width}")
                    else:
                        records += 1
            except csv.Error as error:
                raise _refused(name, f"line {grouped(lines.line_num)}: {error}") from None
        return records - 1


def _refused(name: str, seen: str) -> DataError:
    return DataError(f"{name} cannot be read as CSV.", seen=seen, hint=LINES)


def opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def _text(raw: IO[bytes]) -> IO[str]:
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")


def _pieces(path: str) -> Iterator[bytes]:
    with opened(path) as file:
        while piece := file.read(_PIECE):
            yield piece


def _count(values: NDArray[np.uint8], sign: str) -> int:
    return int(np.count_nonzero(values == ord(sign)))


def count_json(path: str) -> int:
    """The records of a JSON file: the elements of the array, or the objects one after the other."""
    depth, inside, escaped = 0, False, False
    objects = commas = 0
    array: bool | None = None
    content = False  # of the array: whether anything stands in it
    for piece in _pieces(path):
        data = piece
        if array is None:
            begun = data.removeprefix(b"\xef\xbb\xbf").lstrip()
            if not begun:
                continue
            array = begun.startswith(b"[")
        # An escaped quote ends no text, and an escaped backslash escapes nothing.
        if escaped:
            data = b"_" + data[1:]
        data = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        escaped = data.endswith(b"\\")
        values = np.frombuffer(data, dtype=np.uint8)
        marks = np.flatnonzero(values == ord('"'))
        places = np.flatnonzero(_STRUCTURE[values])
        kept = places[(np.searchsorted(marks, places) + inside) % 2 == 0]
        signs = values[kept]
        steps = _STEP[signs].astype(np.int64)
        after = depth + np.cumsum(steps)
        before = after - steps
        if array:
            commas += int(((signs == ord(",")) & (before == 1)).sum())
            content = content or _holds(data, kept, signs, before, depth)
        objects += int(((signs == ord("{")) & (before == 0)).sum())
        inside = bool((marks.size + inside) % 2)
        depth = int(after[-1]) if after.size else depth
    return (commas + 1 if content else 0) if array else objects


def _holds(data: bytes, kept: NDArray[Any], signs: NDArray[Any], before: NDArray[Any], depth: int) -> bool:
    """Whether a piece of a file has anything in its array: something deeper, or more than blanks and brackets."""
    if (before > 1).any() or depth > 1 or ((before == 1) & np.isin(signs, (ord("{"), ord("[")))).any():
        return True
    return bool(data.strip(b"\xef\xbb\xbf \t\r\n[]"))


_STRUCTURE: Final = np.zeros(256, dtype=bool)
_STRUCTURE[[ord(sign) for sign in "{}[],"]] = True
_STEP: Final = np.zeros(256, dtype=np.int8)
_STEP[[ord("{"), ord("[")]] = 1
_STEP[[ord("}"), ord("]")]] = -1
