"""Columns of numbers become points, and columns of labels the clusters that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, ScoreError, WeightError, listing
from scorespace.frames.check import check_missing, told_gaps
from scorespace.frames.read import read
from scorespace.frames.roles import check_columns, matching
from scorespace.frames.source import Source, no_rows
from scorespace.frames.values import doubles, holds_numbers, label, number, refuse_nested, some_values, unmasked
from scorespace.frozen import dataclass
from scorespace.results import Note, grouped
from scorespace.tables.columns import MOST_SIZE, refuse_sizes, refuse_uncountable
from scorespace.tables.labels import encode, is_missing


@dataclass(frozen=True, eq=False)
class Points:
    """The rows of a source in use as points (n, d), with the text of each label column and of the truth."""

    name: str
    features: tuple[str, ...]
    point: NDArray[np.float64]
    labels: Mapping[str, NDArray[np.object_]]
    truth: NDArray[np.object_] | None
    weight: NDArray[np.float64] | None
    group: NDArray[np.int32] | None
    notes: tuple[Note, ...]


def points(
    data: Any,
    *,
    labels: Sequence[str],
    features: Sequence[str],
    truth: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    missing: str = "error",
) -> Points:
    """The points of a source; `features` are columns or patterns such as x*, which take no column of another role.

    >>> points({"x1": [0, 1], "x2": [2.5, 3], "k": ["a", "b"]}, labels=["k"], features=["x*"]).point.tolist()
    [[0.0, 2.5], [1.0, 3.0]]
    """
    check_missing(missing)
    source = read(data)
    other = [name for name in (*labels, truth, weight, group) if name is not None]
    check_columns(other, source)
    chosen = _features(source, features, other)
    check_columns(chosen, source)
    numeric = [*chosen, *([weight] if weight else [])]
    named = [*labels, *(name for name in (truth, group) if name is not None)]
    schema = source.frame.collect_schema()
    for name in numeric:
        _refuse_text(source, name, schema[name])
    for name in named:
        refuse_nested(name, schema[name], "labels")
    wanted = {name: number(name) for name in numeric}
    wanted |= {name: label(source.frame, name) for name in named}
    found = source.arrays(source.frame.select(*(each.alias(name) for name, each in wanted.items())))
    rows = next(iter(found.values())).size
    source.accounts_for(rows)
    if not rows:
        raise no_rows(source.where)
    numbers = {name: doubles(found[name]) for name in numeric}
    texts = {name: _texts(found[name]) for name in dict.fromkeys(named)}
    kept, notes = _complete(numbers, texts, rows, missing)
    if weight is not None:
        _refuse_weights(weight, numbers[weight][kept])
        kept &= ~(numbers[weight] == 0)
    point = np.stack([numbers[name][kept] for name in chosen], axis=1)
    _refuse_values(chosen, point)
    held = {name: values[kept] for name, values in texts.items()}
    groups = None if group is None else encode(held[group], group)[0].astype(np.int32)
    return Points(
        source.name,
        tuple(chosen),
        point,
        {name: held[name] for name in labels},
        None if truth is None else held[truth],
        None if weight is None else numbers[weight][kept],
        groups,
        notes,
    )


def _features(source: Source, patterns: Sequence[str], other: Sequence[str]) -> list[str]:
    """The columns that the patterns name; a column that is named itself must have no other role."""
    if not patterns:
        raise ColumnError("no feature is named.", seen=listing(source.columns), hint="features=… such as 'x*'")
    chosen = matching(patterns, source, other)
    for name in chosen:
        if name in other:
            raise ColumnError(f"column {name!r} is a feature and has another role.", hint="name it once")
    return chosen


def _refuse_text(source: Source, name: str, kind: nw.dtypes.DType) -> None:
    if holds_numbers(kind) or kind == nw.Object:
        return
    seen = listing(some_values(source, name, odd=True))
    raise ColumnError(f"column {name!r} holds no numbers.", seen=seen, hint="features=… columns of numbers")


def _texts(array: NDArray[Any]) -> NDArray[np.object_]:
    """Labels as objects, missing ones as None."""
    values = unmasked(array)
    numbers = values.dtype.kind == "f"
    gone = np.isnan(values) if numbers else np.fromiter(map(is_missing, values), dtype=bool, count=values.size)
    texts = values.astype(object)
    texts[gone] = None
    return texts


def _complete(
    numbers: Mapping[str, NDArray[np.float64]], texts: Mapping[str, NDArray[np.object_]], rows: int, missing: str
) -> tuple[NDArray[np.bool_], tuple[Note, ...]]:
    """Which rows have all values; gaps are refused, or told where they are dropped."""
    absent = {name: np.isnan(values) for name, values in numbers.items()}
    absent |= {name: np.asarray(values == None, dtype=bool) for name, values in texts.items()}  # noqa: E711 - each of them
    kept = ~np.any(list(absent.values()), axis=0)
    gaps = {name: int(gone.sum()) for name, gone in absent.items()}
    return kept, told_gaps(gaps, rows, rows - int(kept.sum()), missing)


def _refuse_weights(column: str, values: NDArray[np.float64]) -> None:
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        raise WeightError(
            f"column {column!r} has negative or infinite weights.",
            seen=f"{grouped(int(wrong.sum()))} of {grouped(values.size)} rows",
            hint="weights ≥ 0; weight 0 leaves a point out",
        )
    if not values.sum() > 0:
        raise WeightError(f"all weights in column {column!r} are zero: there are no points.", hint="weights ≥ 0")
    refuse_uncountable(values, f"the weights in column {column!r}")


def _refuse_values(features: Sequence[str], point: NDArray[np.float64]) -> None:
    wrong = ~(np.abs(point) <= MOST_SIZE)
    if wrong.any():
        column = int(np.flatnonzero(wrong.any(axis=0))[0])
        raise ScoreError(
            f"column {features[column]!r} has infinite or huge values.",
            seen=f"{grouped(int(wrong[:, column].sum()))} beyond 1e70",
            hint="leave them out, or divide the column by a number",
        )
    refuse_sizes(point, "the features hold numbers")
