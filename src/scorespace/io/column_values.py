"""Convert arrays to types that DuckDB reads without loss, and columns to numbers, labels and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, WeightError, listing
from scorespace.io.source import Frame, Source
from scorespace.results import grouped
from scorespace.tables.labels import is_missing, label_text

_UNSUPPORTED_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "complex numbers": (complex, np.complexfloating),
    "nested values": (tuple, list, dict, set, frozenset, np.ndarray),
    "bytes": (bytes, bytearray),
}


def to_plain_arrays(data: Mapping[Any, Any]) -> dict[str, NDArray[Any]]:
    """Convert columns to arrays of booleans, numbers, times or text, masked where a value is missing.

    >>> to_plain_arrays({"truth": ["good", None], "nb": [0.5, 0.25]})["nb"]
    array([0.5 , 0.25])
    """
    if not data:
        raise DataError("the dict of arrays is empty.", hint='{"truth": [1, 0], "score": [0.9, 0.2]}')
    for name in map(str, data):
        if name.encode(errors="ignore").decode() != name:
            raise ColumnError(f"the name {name!r} of an array is not Unicode.", hint="rename it")
    columns = {str(name): _to_plain(str(name), values) for name, values in data.items()}
    # Column names in DuckDB are case-insensitive: it would rename the second one.
    if len({name.casefold() for name in columns}) < len(data):
        raise ColumnError(
            "two arrays have the same name (names are case-insensitive).",
            seen=listing(data),
            hint="give each array its own name",
        )
    if len({column.size for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name!r} ({grouped(column.size)})" for name, column in columns.items())
        raise DataError("the arrays differ in length.", seen=sizes, hint="one value per case in every array")
    return columns


def _to_plain(name: str, values: Any) -> NDArray[Any]:
    array = values if isinstance(values, np.ma.MaskedArray) else _to_array(name, values)
    if array.ndim != 1:
        raise DataError(
            f"array {name!r} is not one-dimensional.",
            seen=f"{type(values).__name__} of shape {array.shape}",
            hint="a one-dimensional array with one value per case",
        )
    if isinstance(array, np.ma.MaskedArray):
        inner = np.ma.array(_to_plain(name, np.ma.getdata(array)))
        return np.ma.array(inner, mask=np.ma.getmaskarray(array) | np.ma.getmaskarray(inner))
    if array.dtype.kind in "biuf":
        # DuckDB supports neither foreign byte order nor long doubles nor negative strides.
        wide = np.dtype(np.float64) if array.dtype.itemsize > 8 else array.dtype.newbyteorder("=")
        return np.ascontiguousarray(array, dtype=wide)
    if array.dtype.kind == "M":
        return np.ascontiguousarray(array, dtype="M8[us]")
    if array.dtype.kind in "USm":
        array = array.astype(str)
    return _convert_objects(name, array.astype(object))


def _to_array(name: str, values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "U" and isinstance(values, (list, tuple)):
            array = np.array(values, dtype=object)  # NumPy would turn a missing value among texts into 'nan'
    except ValueError:  # lists of different lengths
        raise DataError(
            f"array {name!r} is not one-dimensional.",
            seen="nested lists",
            hint="a one-dimensional array with one value per case",
        ) from None
    except Exception:  # a type that NumPy lacks, such as 128-bit integers
        if not hasattr(values, "to_list"):
            raise
        array = np.fromiter(values.to_list(), dtype=object, count=len(values))
    return array


def _convert_objects(name: str, array: NDArray[np.object_]) -> NDArray[Any]:
    """Convert objects to booleans or numbers if all of them are, else to text; DuckDB infers from a sample."""
    if str in (types := set(map(type, array.tolist()))) and types <= {str, type(None)}:
        return _check_unicode(name, array)  # shortcut for columns of text
    missing = np.fromiter(map(is_missing, array), dtype=bool, count=array.size)
    kinds = {type(value) for value in array[~missing]}
    for description, unsupported in _UNSUPPORTED_TYPES.items():
        if any(issubclass(kind, unsupported) for kind in kinds):
            raise DataError(f"array {name!r} holds {description}.", hint="one number or text per case")
    converted = array.copy()
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        converted[missing] = False
        return np.ma.array(converted.astype(bool), mask=missing)
    if all(issubclass(kind, (int, float, Decimal, np.number)) for kind in kinds):
        converted[missing] = 0
        is_integer = all(issubclass(kind, (int, np.integer)) for kind in kinds)
        try:
            return np.ma.array(converted.astype(np.int64 if is_integer else np.float64), mask=missing)
        except OverflowError:
            pass  # larger than any NumPy integer: keep the digits as text
    converted[:] = [None if absent else label_text(value) for value, absent in zip(array, missing, strict=True)]
    return _check_unicode(name, converted)


def _check_unicode(name: str, texts: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return the texts, or refuse lone surrogates, which no engine can store."""
    try:
        "".join(set(texts.tolist()) - {None}).encode()
    except UnicodeEncodeError as error:
        seen = ascii(error.object[error.start : error.end])
        raise DataError(f"array {name!r} holds text that is not Unicode.", seen=seen, hint="clean the text") from None
    return texts


_ROWS_SEARCHED_FOR_TEXT: Final = 20_480  # first rows searched for a value that is not a number

MISSING_VALUE_TEXTS: Final = {
    *("?", "??", "n/a", "#n/a", "na", "nan", "null", "nil", "-", "--", ".", "..", "", "missing", "(null)", "<na>"),
    *("#value!", "#null!", "not available", "no data", "k.a.", "*"),
}
"""Common spellings of a missing value, in lower case; readers themselves accept only NA, NaN, NULL and empty."""


def as_number(column: str) -> nw.Expr:
    """Cast a column to doubles; booleans become 0 and 1, decimals lose their exact arithmetic."""
    return nw.col(column).cast(nw.Float64)


def as_label(frame: Frame, column: str) -> nw.Expr:
    """Cast a column to labels that every engine groups alike and NumPy can hold."""
    kind = frame.collect_schema()[column]
    if kind.is_temporal():
        return nw.col(column).cast(nw.String)
    if kind.is_decimal():
        return as_number(column)
    # pyarrow groups -0.0 and 0.0 separately; adding 0.0 merges them.
    return nw.col(column) + 0.0 if kind.is_float() else nw.col(column)


def as_identifier(column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Cast a column of identifiers to a type NumPy can hold; times become text, since time zones need pytz."""
    refuse_nested(column, kind, "names")
    return nw.col(column).cast(nw.String) if kind.is_temporal() else nw.col(column)


def is_missing_value(column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Whether a value is null or NaN, which count alike because pandas does not distinguish them.

    The type is that of the column as numbers, even where the frame holds it as text.
    """
    absent = nw.col(column).is_null()
    return absent | as_number(column).is_nan() if kind.is_float() else absent


def if_else(condition: Any, value: Any, other: Any) -> Any:
    """Lazy equivalent of np.where; missing where the condition is missing."""
    return nw.when(condition).then(value).otherwise(other)


def is_numeric_type(dtype: nw.dtypes.DType) -> bool:
    """Whether a type is numeric or boolean."""
    return dtype.is_numeric() or dtype == nw.Boolean


def has_single_precision(source: Source, columns: Iterable[str]) -> bool:
    """Whether any of these columns holds float32 numbers."""
    kinds = source.frame.collect_schema()
    return any(kinds[column] == nw.Float32 for column in columns)


# --- NumPy arrays


def to_doubles(array: NDArray[Any]) -> NDArray[np.float64]:
    """Convert to doubles with NaN for masked values and 0.0 for -0.0."""
    numbers = array.astype(np.float64)
    return (np.ma.filled(numbers, np.nan) if hasattr(array, "mask") else numbers) + 0.0


def unmask(array: NDArray[Any]) -> NDArray[Any]:
    """Replace masked values by NaN or None."""
    if not hasattr(array, "mask"):  # importing np.ma takes 15 ms
        return array
    if array.dtype.kind == "f":
        return np.ma.filled(array, np.nan)
    values = np.ma.getdata(array).astype(object)
    values[np.ma.getmaskarray(array)] = None  # filled(None) would use NumPy's default fill value
    return values


# --- checks


def refuse_text(source: Source, column: str, kind: nw.dtypes.DType, role: str, *, starred: bool = False) -> None:
    """Refuse a column that is not numeric; `starred` says that a pattern selected it. An empty column passes."""
    if _is_number(source.frame, column, kind) or not (values := sample_values(source, column, odd=True)):
        return
    names = {"String": "text", "Categorical": "categories", "Enum": "categories", "Object": "mixed values"}
    content = names.get(type(kind).__name__, "dates" if kind.is_temporal() else f"values of type {kind}")
    if content in ("text", "categories") and all(map(_is_numeric, values)):
        percent = all(text.rstrip().endswith("%") for text in values)
        hint = "these look like numbers: write them as 1234.5"
        hint = "write them as numbers, without the percent sign" if percent else hint
    elif content in ("text", "categories") and all(text.strip().casefold() in MISSING_VALUE_TEXTS for text in values):
        hint = "leave missing values empty, or write NA"
    elif starred:
        hint = "the score pattern matches this column too: rename it, so that * matches only classes"
    else:
        hint = f'decisions="{column}" if these are labels' if role == "score" else "a column of numbers"
    error = WeightError if role == "weight" else ColumnError
    raise error(f"column {column!r} holds {content}, not {role}s.", seen=listing(values), hint=hint)


def refuse_nested(column: str, kind: nw.dtypes.DType, expected: str) -> None:
    """Refuse lists, structs and bytes where labels or identifiers are needed."""
    if kind.is_nested() or kind == nw.Binary or kind == nw.Unknown:
        content = "bytes" if kind == nw.Binary else "nested values" if kind.is_nested() else "values of an unknown type"
        raise ColumnError(
            f"column {column!r} holds {content}, not {expected}.", seen=str(kind), hint="a column of labels"
        )


def _is_number(frame: Frame, column: str, dtype: nw.dtypes.DType) -> bool:
    if dtype == nw.Object and isinstance(frame, nw.DataFrame):  # pandas: decimals, or booleans with missing values
        try:
            frame.select(as_number(column))
        except (TypeError, ValueError):
            return False
        return True
    return is_numeric_type(dtype)


def _is_numeric(text: str) -> bool:
    """Whether a text is a number, also with a decimal comma or a percent sign."""
    try:
        float(text.strip().removesuffix("%").replace(",", "."))
    except ValueError:
        return False
    return True


def sample_values(source: Source, column: str, odd: bool = False) -> list[str]:
    """Return up to three values of a column as text; with `odd`, those that are not numbers if there are any."""
    frame = source.frame.filter(~nw.col(column).is_null())
    values = source.arrays(frame.select(nw.col(column)).head(_ROWS_SEARCHED_FOR_TEXT if odd else 3))[column]
    texts = list(dict.fromkeys(map(label_text, values)))
    return ([text for text in texts if not _is_numeric(text)] or texts)[:3]
