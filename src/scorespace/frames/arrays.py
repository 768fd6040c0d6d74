"""Arrays of any kind become the few kinds of NumPy array that DuckDB reads faithfully."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.results import grouped
from scorespace.tables.labels import is_missing, label_text

_UNUSABLE: Final[dict[str, tuple[type, ...]]] = {
    "complex numbers": (complex, np.complexfloating),
    "nested values": (tuple, list, dict, set, frozenset, np.ndarray),
    "bytes": (bytes, bytearray),
}


def plain_arrays(data: Mapping[Any, Any]) -> dict[str, NDArray[Any]]:
    """The columns by name, as booleans, numbers, times or text, masked where a value is missing.

    >>> plain_arrays({"truth": ["good", None], "nb": [0.5, 0.25]})["nb"]
    array([0.5 , 0.25])
    """
    if not data:
        raise DataError("the dict holds no arrays.", hint='{"truth": [1, 0], "score": [0.9, 0.2]}')
    for name in map(str, data):
        if name.encode(errors="ignore").decode() != name:
            raise ColumnError(f"the name {name!r} of an array is not Unicode.", hint="rename it")
    columns = {str(name): _plain(str(name), values) for name, values in data.items()}
    # DuckDB does not tell upper from lower case in names, and would rename the second of two.
    if len({name.casefold() for name in columns}) < len(data):
        raise ColumnError(
            "two arrays have the same name (upper and lower case count as the same).",
            seen=listing(data),
            hint="give each array its own name",
        )
    if len({column.size for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name!r} ({grouped(column.size)})" for name, column in columns.items())
        raise DataError("the arrays differ in length.", seen=sizes, hint="one value per case in each array")
    return columns


def _plain(name: str, values: Any) -> NDArray[Any]:
    array = values if isinstance(values, np.ma.MaskedArray) else _array(name, values)
    if array.ndim != 1:
        raise DataError(
            f"array {name!r} is not one column.",
            seen=f"{type(values).__name__} of shape {array.shape}",
            hint="one value per case",
        )
    if isinstance(array, np.ma.MaskedArray):
        inner = np.ma.array(_plain(name, np.ma.getdata(array)))
        return np.ma.array(inner, mask=np.ma.getmaskarray(array) | np.ma.getmaskarray(inner))
    if array.dtype.kind in "biuf":
        # DuckDB knows neither foreign byte orders nor long doubles nor negative strides.
        wide = np.dtype(np.float64) if array.dtype.itemsize > 8 else array.dtype.newbyteorder("=")
        return np.ascontiguousarray(array, dtype=wide)
    if array.dtype.kind == "M":
        return np.ascontiguousarray(array, dtype="M8[us]")
    if array.dtype.kind in "USm":
        array = array.astype(str)
    return _from_objects(name, array.astype(object))


def _array(name: str, values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind == "U" and isinstance(values, (list, tuple)):
            array = np.array(values, dtype=object)  # else a missing value among texts becomes the text 'nan'
    except ValueError:  # lists of different lengths
        raise DataError(f"array {name!r} is not one column.", seen="lists in it", hint="one value per case") from None
    except Exception:  # a type that NumPy has not, such as whole numbers of 128 bits
        if not hasattr(values, "to_list"):
            raise
        array = np.fromiter(values.to_list(), dtype=object, count=len(values))
    return array


def _from_objects(name: str, array: NDArray[np.object_]) -> NDArray[Any]:
    """Objects as booleans or numbers when all are, and as text otherwise; DuckDB would judge by a sample."""
    if str in (held := set(map(type, array.tolist()))) and held <= {str, type(None)}:
        return _utf8(name, array)  # the commonest case needs no look at each value
    missing = np.fromiter(map(is_missing, array), dtype=bool, count=array.size)
    kinds = {type(value) for value in array[~missing]}
    for words, wrong in _UNUSABLE.items():
        if any(issubclass(kind, wrong) for kind in kinds):
            raise DataError(f"array {name!r} holds {words}.", hint="one number or text per case")
    filled = array.copy()
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        filled[missing] = False
        return np.ma.array(filled.astype(bool), mask=missing)
    if all(issubclass(kind, (int, float, Decimal, np.number)) for kind in kinds):
        filled[missing] = 0
        whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
        try:
            return np.ma.array(filled.astype(np.int64 if whole else np.float64), mask=missing)
        except OverflowError:
            pass  # too long for any number of NumPy: as text, they keep every digit
    filled[:] = [None if gone else label_text(value) for value, gone in zip(array, missing, strict=True)]
    return _utf8(name, filled)


def _utf8(name: str, texts: NDArray[np.object_]) -> NDArray[np.object_]:
    """The texts, if an engine can hold them: half a surrogate pair is none."""
    try:
        "".join(set(texts.tolist()) - {None}).encode()
    except UnicodeEncodeError as error:
        seen = ascii(error.object[error.start : error.end])
        raise DataError(f"array {name!r} holds text that is not Unicode.", seen=seen, hint="clean the text") from None
    return texts
