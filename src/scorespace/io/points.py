"""Read numeric columns as points, and label columns as cluster assignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, ScoreError, WeightError, listing
from scorespace.io.column_values import (
    as_label,
    as_number,
    is_numeric_type,
    refuse_nested,
    sample_values,
    to_doubles,
    unmask,
)
from scorespace.io.read import read
from scorespace.io.roles import check_columns, match_columns
from scorespace.io.source import Source, no_rows_error
from scorespace.io.validation import check_missing, note_missing_values
from scorespace.results import Note, grouped
from scorespace.tables.columns import MAX_MAGNITUDE, check_magnitudes, check_weight_sum
from scorespace.tables.labels import encode, is_missing


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Points (n, d) of the rows in use, with each label column, truth, weight and group."""

    name: str
    features: tuple[str, ...]
    point: NDArray[np.float64]
    labels: Mapping[str, NDArray[np.object_]]
    truth: NDArray[np.object_] | None
    weight: NDArray[np.float64] | None
    group: NDArray[np.int32] | None
    notes: tuple[Note, ...]


def read_points(
    data: Any,
    *,
    labels: Sequence[str],
    features: Sequence[str],
    truth: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    missing: str = "error",
) -> LabelledPoints:
    """Read points; `features` are columns or patterns such as x*, which match no column with another role.

    >>> read_points({"x1": [0, 1], "x2": [2.5, 3], "k": ["a", "b"]}, labels=["k"], features=["x*"]).point.tolist()
    [[0.0, 2.5], [1.0, 3.0]]
    """
    check_missing(missing)
    source = read(data)
    other = [name for name in (*labels, truth, weight, group) if name is not None]
    check_columns(other, source)
    feature_columns = _match_features(source, features, other)
    check_columns(feature_columns, source)
    numeric = [*feature_columns, *([weight] if weight else [])]
    named = [*labels, *(name for name in (truth, group) if name is not None)]
    schema = source.frame.collect_schema()
    for name in numeric:
        _refuse_text(source, name, schema[name])
    for name in named:
        refuse_nested(name, schema[name], "labels")
    expressions = {name: as_number(name) for name in numeric}
    expressions |= {name: as_label(source.frame, name) for name in named}
    arrays = source.arrays(source.frame.select(*(expression.alias(name) for name, expression in expressions.items())))
    rows = next(iter(arrays.values())).size
    source.accounts_for(rows)
    if not rows:
        raise no_rows_error(source.where)
    numbers = {name: to_doubles(arrays[name]) for name in numeric}
    texts = {name: _to_labels(arrays[name]) for name in dict.fromkeys(named)}
    is_used, notes = _find_complete_rows(numbers, texts, rows, missing)
    if weight is not None:
        _refuse_weights(weight, numbers[weight][is_used])
        is_used &= ~(numbers[weight] == 0)
    point = np.stack([numbers[name][is_used] for name in feature_columns], axis=1)
    _refuse_huge_values(feature_columns, point)
    used_labels = {name: values[is_used] for name, values in texts.items()}
    groups = None if group is None else encode(used_labels[group], group)[0].astype(np.int32)
    return LabelledPoints(
        source.name,
        tuple(feature_columns),
        point,
        {name: used_labels[name] for name in labels},
        None if truth is None else used_labels[truth],
        None if weight is None else numbers[weight][is_used],
        groups,
        notes,
    )


def _match_features(source: Source, patterns: Sequence[str], reserved: Sequence[str]) -> list[str]:
    """Columns that match the patterns; a column named explicitly must have no other role."""
    if not patterns:
        raise ColumnError("no features are given.", seen=listing(source.columns), hint="features=… such as 'x*'")
    matches = match_columns(patterns, source, reserved)
    for name in matches:
        if name in reserved:
            raise ColumnError(f"column {name!r} is a feature and has another role.", hint="give each column one role")
    return matches


def _refuse_text(source: Source, name: str, kind: nw.dtypes.DType) -> None:
    if is_numeric_type(kind) or kind == nw.Object:
        return
    seen = listing(sample_values(source, name, odd=True))
    raise ColumnError(f"column {name!r} is not numeric.", seen=seen, hint="features=… numeric columns")


def _to_labels(array: NDArray[Any]) -> NDArray[np.object_]:
    """Labels as objects, None where missing."""
    values = unmask(array)
    numbers = values.dtype.kind == "f"
    is_absent = np.isnan(values) if numbers else np.fromiter(map(is_missing, values), dtype=bool, count=values.size)
    texts = values.astype(object)
    texts[is_absent] = None
    return texts


def _find_complete_rows(
    numbers: Mapping[str, NDArray[np.float64]], texts: Mapping[str, NDArray[np.object_]], rows: int, missing: str
) -> tuple[NDArray[np.bool_], tuple[Note, ...]]:
    """Which rows have all values; missing values are refused, or counted in a note if dropped."""
    absent = {name: np.isnan(values) for name, values in numbers.items()}
    absent |= {name: np.asarray(values == None, dtype=bool) for name, values in texts.items()}  # noqa: E711 - elementwise
    is_complete = ~np.any(list(absent.values()), axis=0)
    gaps = {name: int(is_absent.sum()) for name, is_absent in absent.items()}
    return is_complete, note_missing_values(gaps, rows, rows - int(is_complete.sum()), missing)


def _refuse_weights(column: str, values: NDArray[np.float64]) -> None:
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        raise WeightError(
            f"column {column!r} has negative or infinite weights.",
            seen=f"{grouped(int(wrong.sum()))} of {grouped(values.size)} rows",
            hint="use weights ≥ 0; weight 0 excludes a point",
        )
    if not values.sum() > 0:
        raise WeightError(
            f"all weights in column {column!r} are zero, so there are no points.", hint="use some weights above 0"
        )
    check_weight_sum(values, f"the weights in column {column!r}")


def _refuse_huge_values(features: Sequence[str], point: NDArray[np.float64]) -> None:
    wrong = ~(np.abs(point) <= MAX_MAGNITUDE)
    if wrong.any():
        column = int(np.flatnonzero(wrong.any(axis=0))[0])
        raise ScoreError(
            f"column {features[column]!r} has infinite or huge values.",
            seen=f"{grouped(int(wrong[:, column].sum()))} beyond 1e70",
            hint="remove these rows, or rescale the column",
        )
    check_magnitudes(point, "the features hold numbers")
