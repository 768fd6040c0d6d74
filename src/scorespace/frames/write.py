"""Rows as a data frame of the caller's library."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final, Literal

import narwhals as nw

from scorespace.errors import DataError
from scorespace.results import Row

Library = Literal["pandas", "polars", "pyarrow"]
_EAGER: Final[tuple[Library, ...]] = ("pandas", "polars", "pyarrow")


def library_of(frame: Any) -> Library | None:
    """The eager frame library that a Narwhals frame belongs to, if it is one."""
    return next((name for name in _EAGER if name == frame.implementation.name.lower()), None)


def frame_of(rows: list[Row], library: Library | None = None) -> Any:
    """The rows as a native frame; without a library, of the first installed of pandas, polars, pyarrow.

    >>> frame_of([{"a": 1}, {"a": 2}], "polars").shape
    (2, 1)
    """
    chosen = library or next((name for name in _EAGER if find_spec(name)), None)
    if chosen is None:
        raise DataError("no data frame library is installed.", hint="install pandas, polars or pyarrow, or use .rows()")
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
    return nw.from_dict(columns, backend=chosen).to_native()
