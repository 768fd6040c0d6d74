"""Detect the header and separator of CSV files and count their records, without guessing by an engine."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.io.duckdb_engine import CSV_RULES
from scorespace.io.source import duplicate_column_error
from scorespace.results import count_noun, grouped

_CHUNK_BYTES: Final = 2**22


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with its separator and column names."""

    path: str
    separator: str
    header: tuple[str, ...]
    has_header: bool = True
    """Whether the first line holds the names."""

    def records(self) -> int:
        """Count the records below the header; line breaks within quotes do not count, nor do trailing empty lines.

        A fast count of bytes; -1 where the number of separators does not match. If it differs from the rows read,
        `count_records_strictly` parses every value.
        """
        newlines_seen, returns_seen, quotes, separators = 0, 0, 0, 0
        lines = 0
        separator = ord(self.separator)
        returns_only: int | None = None
        for chunk in _chunks(self.path):
            values = np.frombuffer(chunk, dtype=np.uint8)
            content_end = len(chunk.rstrip(b"\r\n"))
            if quotes == 0 and b'"' not in chunk:
                n_newlines, n_returns = _count_byte(values, "\n"), 0 if newlines_seen else _count_byte(values, "\r")
                if content_end:
                    trailing = chunk[content_end:]
                    lines = newlines_seen + n_newlines - trailing.count(b"\n") + 1
                    returns_only = returns_seen + n_returns - trailing.count(b"\r") + 1
                newlines_seen, returns_seen = newlines_seen + n_newlines, returns_seen + n_returns
                separators += int(np.count_nonzero(values == separator))
                continue
            quote_positions = np.flatnonzero(values == ord('"'))
            newlines, carriages = np.flatnonzero(values == ord("\n")), np.flatnonzero(values == ord("\r"))
            outside = newlines[(np.searchsorted(quote_positions, newlines) + quotes) % 2 == 0]
            outside_returns = carriages[(np.searchsorted(quote_positions, carriages) + quotes) % 2 == 0]
            if content_end:
                lines = newlines_seen + int((outside < content_end).sum()) + 1
                returns_only = returns_seen + int((outside_returns < content_end).sum()) + 1
            newlines_seen, returns_seen, quotes = (
                newlines_seen + outside.size,
                returns_seen + outside_returns.size,
                quotes + quote_positions.size,
            )
        if not newlines_seen and returns_only is not None:  # classic Mac line endings
            lines = returns_only
        if not quotes and separators != (len(self.header) - 1) * lines:
            return -1
        return lines - self.has_header

    def count_records_strictly(self, name: str) -> int:
        """Count records value by value; refuse an empty line between others or a line of another length."""
        records, width = 0, len(self.header)
        first_empty: int | None = None
        with open_bytes(self.path) as raw, _decode(raw) as file:
            lines = csv.reader(file, delimiter=self.separator)
            try:
                for values in lines:
                    if not values:
                        first_empty = first_empty or lines.line_num
                    elif first_empty is not None:
                        raise _csv_error(name, f"line {grouped(first_empty)} is empty")
                    elif len(values) != width:
                        n_values = count_noun(len(values), "value")
                        raise _csv_error(name, f"line {grouped(lines.line_num)} has {n_values}, the header {width}")
                    else:
                        records += 1
            except csv.Error as error:
                raise _csv_error(name, f"line {grouped(lines.line_num)}: {error}") from None
        return records - self.has_header


def _csv_error(name: str, seen: str) -> DataError:
    return DataError(f"{name} cannot be read as CSV.", seen=seen, hint=CSV_RULES)


def open_bytes(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def _decode(raw: IO[bytes]) -> IO[str]:
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")


def _chunks(path: str) -> Iterator[bytes]:
    with open_bytes(path) as file:
        while piece := file.read(_CHUNK_BYTES):
            yield piece


def _count_byte(values: NDArray[np.uint8], sign: str) -> int:
    return int(np.count_nonzero(values == ord(sign)))


def count_json_records(path: str) -> int:
    """Count the records of a JSON file: elements of the top-level array, or concatenated objects."""
    depth, in_string, escaped = 0, False, False
    objects = commas = 0
    is_array: bool | None = None
    has_content = False  # whether the array has any element
    for chunk in _chunks(path):
        data = chunk
        if is_array is None:
            start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start:
                continue
            is_array = start.startswith(b"[")
        # Mask escaped backslashes first, then escaped quotes, which do not end a string.
        if escaped:
            data = b"_" + data[1:]
        data = data.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        escaped = data.endswith(b"\\")
        values = np.frombuffer(data, dtype=np.uint8)
        quote_positions = np.flatnonzero(values == ord('"'))
        positions = np.flatnonzero(_IS_STRUCTURAL[values])
        structural = positions[(np.searchsorted(quote_positions, positions) + in_string) % 2 == 0]
        characters = values[structural]
        depth_changes = _DEPTH_CHANGE[characters].astype(np.int64)
        after = depth + np.cumsum(depth_changes)
        before = after - depth_changes
        if is_array:
            commas += int(((characters == ord(",")) & (before == 1)).sum())
            has_content = has_content or _has_content(data, structural, characters, before, depth)
        objects += int(((characters == ord("{")) & (before == 0)).sum())
        in_string = bool((quote_positions.size + in_string) % 2)
        depth = int(after[-1]) if after.size else depth
    return (commas + 1 if has_content else 0) if is_array else objects


def _has_content(
    data: bytes, structural: NDArray[Any], characters: NDArray[Any], before: NDArray[Any], depth: int
) -> bool:
    """Whether a chunk of a JSON array holds an element: something nested, or more than blanks and brackets."""
    if (before > 1).any() or depth > 1 or ((before == 1) & np.isin(characters, (ord("{"), ord("[")))).any():
        return True
    return bool(data.strip(b"\xef\xbb\xbf \t\r\n[]"))


_IS_STRUCTURAL: Final = np.zeros(256, dtype=bool)
_IS_STRUCTURAL[[ord(sign) for sign in "{}[],"]] = True
_DEPTH_CHANGE: Final = np.zeros(256, dtype=np.int8)
_DEPTH_CHANGE[[ord("{"), ord("[")]] = 1
_DEPTH_CHANGE[[ord("}"), ord("]")]] = -1


SEPARATORS: Final = (",", ";", "\t", "|")
_HEAD_BYTES: Final = 2**16
_MAX_HEADER_BYTES: Final = 2**24


def detect_dialect(path: str, name: str, separator: str | None = None, *, has_header: bool = True) -> CsvFile:
    """Detect the separator and the column names of a CSV file; without a header they are column_1, column_2 ….

    Nothing above the header is skipped, there are no comments, and quotes are escaped by doubling them.
    """
    head, is_whole_file = _read_head(path, name)
    detected = separator or _detect_separator(head, is_whole_file)
    header = _parse_records(head, detected, 1)
    if header and not has_header:
        return CsvFile(path, detected, tuple(f"column_{k + 1}" for k in range(len(header[0]))), has_header=False)
    if not header or not any(cell.strip() for cell in header[0]):
        raise DataError(
            f"{name} cannot be read as CSV.", seen="the first line is empty", hint="column names in the first line"
        )
    # Engines do not accept NUL in names.
    names = [cell.strip().replace("\x00", "␀") or f"column{k}" for k, cell in enumerate(header[0])]
    if _looks_like_data(header[0], _parse_records(head, detected, 50)[1:]):
        first = detected.join(header[0])
        seen, hint = (
            first if len(first) <= 60 else f"{first[:60]}…",
            "header=False names the columns column_1, column_2 …",
        )
        raise DataError(f"the first line of {name} looks like data, not like column names.", seen=seen, hint=hint)
    if len({column.casefold() for column in names}) < len(names):
        raise duplicate_column_error(names, name)
    return CsvFile(path, detected, tuple(names))


def _looks_like_data(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether a first line has fractions among at most four numbers, or unordered ones, or only values found below it.

    Classes 0, 1, 2, years and wavelengths are column names.

    >>> _looks_like_data(["yes", "0.9"], []), _looks_like_data(["y", "0", "1", "2"], [["1", "0.5", "0.3", "0.2"]])
    (True, False)
    >>> _looks_like_data(["ill", "3"], [["well", "3"], ["ill", "7"]]), _looks_like_data(["2019", "2020"], [])
    (True, False)
    """
    numbers = []
    for cell in first:
        with suppress(ValueError):
            numbers.append(float(cell))
    is_ordered = len(numbers) > 4 and all(low < high for low, high in pairwise(numbers))
    if any(number % 1 for number in numbers) and not is_ordered:
        return True
    rows = [row for row in others if row != first]  # a header that is repeated is none
    found_below = [any(k < len(row) and row[k] == cell for row in rows) for k, cell in enumerate(first)]
    return len(first) > 1 and all(found_below)


def _read_head(path: str, name: str) -> tuple[str, bool]:
    """Return the first lines as text, and whether that is the whole file; more if the header is longer."""
    size = _HEAD_BYTES
    while True:
        try:
            with open_bytes(path) as file:
                data = file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{name} cannot be read as CSV.",
                seen=getattr(error, "strerror", None) or str(error),
                hint="check that the file is complete and that its extension matches its format",
            ) from None
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{name} cannot be read as CSV.", seen="text in UTF-16", hint="save the file as UTF-8")
        is_whole_file = len(data) < size
        text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(data, final=is_whole_file)
        if is_whole_file or size >= _MAX_HEADER_BYTES or _has_complete_header(text):
            return text, is_whole_file
        size *= 4


def _has_complete_header(text: str) -> bool:
    """Whether the text contains a line break outside quotes, so that the first line is complete."""
    quotes = 0
    for line in text.splitlines(keepends=True):
        quotes += line.count('"')
        if quotes % 2 == 0 and line.endswith(("\n", "\r")):
            return True
    return False


def _detect_separator(head: str, is_whole_file: bool) -> str:
    """Choose the separator that gives most columns, preferring those with the same number in all lines."""
    # Strict mode: otherwise a wrong separator can join lines after a closing quote.
    widths_by = {
        sign: [len(values) for values in _parse_records(head, sign, 50, strict=True) if values] for sign in SEPARATORS
    }
    if not is_whole_file:
        widths_by = {
            sign: widths[:-1] or widths for sign, widths in widths_by.items()
        }  # the last line may be incomplete
    candidates = [sign for sign in SEPARATORS if widths_by[sign] and widths_by[sign][0] > 1]
    consistent = [sign for sign in candidates if len(set(widths_by[sign])) == 1]
    return max(consistent or candidates or [","], key=lambda sign: widths_by[sign][0] if widths_by[sign] else 0)


def _parse_records(text: str, separator: str, max_records: int, *, strict: bool = False) -> Sequence[list[str]]:
    records: list[list[str]] = []
    with suppress(csv.Error):  # the engine reports the error with its line
        for values in islice(
            csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict), max_records
        ):
            records.append(values)
    return records
