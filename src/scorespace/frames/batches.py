"""The rows of a source in batches: those of each value of a column, in the order of the values."""

from __future__ import annotations

from typing import Final

import narwhals as nw

from scorespace.errors import DataError
from scorespace.frames.slices import slicing
from scorespace.frames.source import Source

MOST: Final = 10_000


def in_batches(source: Source, by: str) -> dict[str, Source]:
    """A source for each slice that a column makes: of each value, or with (every=month) of each month.

    >>> from scorespace.frames import read
    >>> list(in_batches(read({"week": [10, 9, 10], "s": [0.1, 0.2, 0.3]}), "week"))
    ['9', '10']
    """
    key, *others = slicing(source, by, MOST).keys
    if others:
        raise DataError("batches are made by one column.", seen=by, hint=f'by="{key.column}"')
    if key.edges:  # which move with every batch that is added
        raise DataError("parts of numbers are no batches over time.", seen=by, hint=f'by="{key.column}"')
    source.accounts_for(source.counts(rows=nw.len())["rows"])
    if len(key.values) < len(key.names):
        raise DataError(f"some rows have no value in column {key.column!r}.", hint="leave them out: --where")
    return {name: source.filtered(key.holds(source.frame, place)) for place, name in enumerate(key.names)}
