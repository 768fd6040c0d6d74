"""The values of a column as every engine holds them alike: numbers, labels, names and gaps, and their way to NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, WeightError, listing
from scorespace.frames.source import Frame, Source
from scorespace.tables.labels import label_text

_LOOKED_AT: Final = 20_480  # rows among which a value is looked for that makes a column text

GONE: Final = {
    *("?", "??", "n/a", "#n/a", "na", "nan", "null", "nil", "-", "--", ".", "..", "", "missing", "(null)", "<na>"),
    *("#value!", "#null!", "not available", "no data", "k.a.", "*"),
}
"""What people write where nothing is known, in small letters; of these, files are read with NA, NaN and NULL alone."""


def number(column: str) -> nw.Expr:
    """A column as doubles: booleans are 0 and 1, and Decimals lose their own arithmetic."""
    return nw.col(column).cast(nw.Float64)


def label(frame: Frame, column: str) -> nw.Expr:
    """A column as labels that every engine groups alike and NumPy can hold."""
    kind = frame.collect_schema()[column]
    if kind.is_temporal():
        return nw.col(column).cast(nw.String)
    if kind.is_decimal():
        return number(column)
    # pyarrow groups -0.0 apart from 0.0; adding 0.0 makes them one.
    return nw.col(column) + 0.0 if kind.is_float() else nw.col(column)


def name(column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """A column that names cases, as NumPy can hold it: times as text, for a zone would ask for a further library."""
    refuse_nested(column, kind, "names")
    return nw.col(column).cast(nw.String) if kind.is_temporal() else nw.col(column)


def gap(column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Whether a value is missing: null and NaN alike, for pandas does not tell them apart, so no engine may.

    The kind is that of the column where its numbers are not read as they are written.
    """
    absent = nw.col(column).is_null()
    return absent | number(column).is_nan() if kind.is_float() else absent


def choose(condition: Any, one: Any, other: Any) -> Any:
    """What np.where is for arrays; where the condition is unknown, because a value is missing, so is the outcome."""
    return nw.when(condition).then(one).otherwise(other)


def holds_numbers(kind: nw.dtypes.DType) -> bool:
    """Whether values of that kind can be counted with: yes and no are 1 and 0."""
    return kind.is_numeric() or kind == nw.Boolean


def single_precision(source: Source, columns: Iterable[str]) -> bool:
    """Whether one of these columns holds float32 numbers."""
    kinds = source.frame.collect_schema()
    return any(kinds[column] == nw.Float32 for column in columns)


# --- in NumPy


def doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers as doubles, NaN where they are missing, and one zero: DuckDB masks values, and -0.0 is 0.0."""
    numbers = array.astype(np.float64)
    return (np.ma.filled(numbers, np.nan) if hasattr(array, "mask") else numbers) + 0.0


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Missing values as NaN or None."""
    if not hasattr(array, "mask"):  # np.ma itself takes 15 ms to load
        return array
    if array.dtype.kind == "f":
        return np.ma.filled(array, np.nan)
    values = np.ma.getdata(array).astype(object)
    values[np.ma.getmaskarray(array)] = None  # filled(None) would mean NumPy's own filling
    return values


# --- what a column cannot be


def refuse_text(source: Source, column: str, kind: nw.dtypes.DType, role: str, *, starred: bool = False) -> None:
    """Refuse a column that holds no numbers, `starred` if a pattern took it; without any value it is missing."""
    if _is_number(source.frame, column, kind) or not (values := some_values(source, column, odd=True)):
        return
    words = {"String": "text", "Categorical": "categories", "Enum": "categories", "Object": "mixed values"}
    held = words.get(type(kind).__name__, "dates" if kind.is_temporal() else f"values of type {kind}")
    if held in ("text", "categories") and all(map(_is_numeric, values)):
        percent = all(text.rstrip().endswith("%") for text in values)
        hint = "it looks like numbers: write them as 1234.5"
        hint = "write them as numbers, without the percent sign" if percent else hint
    elif held in ("text", "categories") and all(text.strip().casefold() in GONE for text in values):
        hint = "leave missing values empty, or write NA"
    elif starred:
        hint = "the pattern of the scores takes it: rename it, so that the star stands for classes alone"
    else:
        hint = f'decisions="{column}" if these are labels' if role == "score" else "a column of numbers"
    error = WeightError if role == "weight" else ColumnError
    raise error(f"column {column!r} holds {held}, not {role}s.", seen=listing(values), hint=hint)


def refuse_nested(column: str, kind: nw.dtypes.DType, what: str) -> None:
    """Refuse lists, records and bytes where labels or names are wanted."""
    if kind.is_nested() or kind == nw.Binary or kind == nw.Unknown:
        held = "bytes" if kind == nw.Binary else "nested values" if kind.is_nested() else "values of an unknown type"
        raise ColumnError(f"column {column!r} holds {held}, not {what}.", seen=str(kind), hint="a column of labels")


def _is_number(frame: Frame, column: str, kind: nw.dtypes.DType) -> bool:
    if kind == nw.Object and isinstance(frame, nw.DataFrame):  # pandas: Decimals, or booleans with gaps
        try:
            frame.select(number(column))
        except (TypeError, ValueError):
            return False
        return True
    return holds_numbers(kind)


def _is_numeric(text: str) -> bool:
    """Whether people would read the text as a number, also with a decimal comma or a percent sign."""
    try:
        float(text.strip().removesuffix("%").replace(",", "."))
    except ValueError:
        return False
    return True


def some_values(source: Source, column: str, odd: bool = False) -> list[str]:
    """The first values of a column, as text; `odd`: those that are no numbers, if there are such."""
    frame = source.frame.filter(~nw.col(column).is_null())
    values = source.arrays(frame.select(nw.col(column)).head(_LOOKED_AT if odd else 3))[column]
    texts = list(dict.fromkeys(map(label_text, values)))
    return ([text for text in texts if not _is_numeric(text)] or texts)[:3]
