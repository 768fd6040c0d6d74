"""The rows of a source in batches: those of each value of a column, in the order of the values."""

from __future__ import annotations

from typing import Final

import narwhals as nw
import numpy as np

from scorespace.errors import DataError
from scorespace.frames.slices import check_dates, cut_of, label_of
from scorespace.frames.source import Source
from scorespace.frames.values import refuse_nested
from scorespace.results import grouped
from scorespace.tables.labels import natural_order

MOST: Final = 10_000


def in_batches(source: Source, by: str) -> dict[str, Source]:
    """A source for each value of a column, by what it reads; or for each day, week, month or year of dates.

    Numbers are in their order, and so are those in words: week 9 comes before week 10.

    >>> from scorespace.frames import read
    >>> list(in_batches(read({"week": [10, 9, 10], "s": [0.1, 0.2, 0.3]}), "week"))
    ['9', '10']
    """
    cut = cut_of(by, source)
    column, kind = cut.column, source.frame.collect_schema()[cut.column]
    refuse_nested(column, kind, "names of batches")
    if cut.bins is not None:
        raise DataError("parts of numbers are no batches over time.", seen=by, hint=f'by="{column}"')
    check_dates(source, cut)
    value = label_of(source.frame, column, kind, cut.every) if cut.every else nw.col(column).cast(nw.String)
    counted = source.arrays(source.frame.select(value.alias("value")).group_by("value").agg(nw.len().alias("rows")))
    source.accounts_for(int(counted["rows"].sum()))
    if np.ma.is_masked(counted["value"]) or any(not isinstance(one, str) for one in counted["value"].tolist()):
        raise DataError(f"some rows have no value in column {column!r}.", hint="leave them out: --where")
    names = sorted(map(str, counted["value"].tolist()), key=float if kind.is_numeric() else natural_order)
    if len(names) > MOST:
        raise DataError(
            f"column {column!r} makes {grouped(len(names))} batches.", hint="days or weeks: a column of fewer values"
        )
    # A CSV file does not tell 7 from 7.0.
    shown = [name.removesuffix(".0") if kind.is_float() else name for name in names]
    return {said: source.filtered(value == name) for said, name in zip(shown, names, strict=True)}
