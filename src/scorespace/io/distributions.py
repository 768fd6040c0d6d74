"""Columns of predictive distributions: quantiles, whose levels their names state, or members of an ensemble."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scorespace.errors import ColumnError, listing
from scorespace.io.derived_scores import add_mean, match_columns
from scorespace.io.source import Source

DistributionColumns = Mapping[str, tuple[tuple[str, ...], tuple[float, ...] | None]]
"""Columns of each model, and the levels of quantiles; None for members of an ensemble."""

_LEVEL: Final = re.compile(r"(\d*\.?\d+)\D*$")
_MEDIAN: Final = 0.5


def add_distributions(
    source: Source, quantiles: Any, ensembles: Any, predictions: Any
) -> tuple[Source, Any, dict[str, tuple[tuple[str, ...], tuple[float, ...] | None]]]:
    """Resolve patterns of columns by model; a model without a prediction gets the median, or the mean of its members.

    >>> from scorespace.io import read
    >>> data = read({"y": [1.0, 2.0], "q10": [0.5, 1.0], "q50": [1.0, 2.0], "q90": [2.0, 3.0]})
    >>> source, predictions, found = add_distributions(data, "q*", (), ())
    >>> predictions, found["q"]
    (['q'], (('q10', 'q50', 'q90'), (0.1, 0.5, 0.9)))
    """
    found: dict[str, tuple[tuple[str, ...], tuple[float, ...] | None]] = {}
    listed = [predictions] if isinstance(predictions, str) else predictions or []
    named, models = list(listed), list(listed)
    for stated, has_levels in ((quantiles, True), (ensembles, False)):
        for name, pattern in _by_model(stated, named).items():
            columns, levels = _columns_and_levels(source, pattern) if has_levels else (_columns(source, pattern), None)
            model = name or _model_name(pattern, source)
            if model in found:
                raise ColumnError(f"the distribution of {model!r} is stated twice.", hint="one pattern for each model")
            if model not in models:
                source = add_mean(source, model, _point_columns(model, columns, levels))
                models.append(model)
                listed = {**listed, model: model} if isinstance(listed, Mapping) else [*listed, model]
            found[model] = columns, levels
    return source, listed, found


def _by_model(stated: Any, models: Sequence[str]) -> dict[str, Any]:
    """Pattern of each model; without a name it is of the only prediction, or of a model of its own (empty name)."""
    if not stated:
        return {}
    if isinstance(stated, Mapping):
        return {str(name): pattern for name, pattern in stated.items()}
    if len(models) > 1:
        raise ColumnError(
            "a predictive distribution needs a model, since there are several.", seen=listing(models), hint="MODEL=q*"
        )
    return {models[0] if models else "": stated}


def _columns(source: Source, pattern: Any) -> tuple[str, ...]:
    text = pattern if isinstance(pattern, str) else ",".join(pattern)
    columns = tuple(match_columns(source, text))
    if len(columns) < 2:
        raise ColumnError(f"{text!r} is one column.", seen=listing(columns), hint="a pattern such as member_*")
    return columns


def _columns_and_levels(source: Source, pattern: Any) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Columns of quantiles, and the levels in their names or stated by a mapping of level to column."""
    if isinstance(pattern, Mapping):
        return _columns(source, [str(column) for column in pattern.values()]), tuple(map(float, pattern))
    columns = _columns(source, pattern)
    numbers = {column: float(match[1]) for column in columns if (match := _LEVEL.search(column))}
    if "*" in str(pattern):
        columns = tuple(numbers)
    largest = max(numbers.values(), default=0.0)
    unit = 1 if largest < 1 else 100 if largest < 100 else 1000  # q0.05, q05 or q025
    levels = tuple(numbers.get(column, 0.0) / unit for column in columns)
    if len(columns) < 2 or not all(0 < level < 1 for level in levels) or len(set(levels)) < len(levels):
        raise ColumnError(
            f"the levels of the quantiles {pattern!r} are not clear.",
            seen=listing(columns),
            hint="columns that end in their level, such as q0.05,q0.5,q0.95 or q05,q50,q95",
        )
    return columns, levels


def _point_columns(model: str, columns: tuple[str, ...], levels: tuple[float, ...] | None) -> tuple[str, ...]:
    """Columns whose mean is the point prediction: the median, or all members."""
    if levels is None:
        return columns
    median = [column for column, level in zip(columns, levels, strict=True) if abs(level - _MEDIAN) < 1e-9]
    if not median:
        raise ColumnError(
            f"the quantiles of {model!r} have no median, and there is no prediction of that name.",
            seen=listing(levels),
            hint="predictions=… the column of the point prediction",
        )
    return tuple(median)


def _model_name(pattern: Any, source: Source) -> str:
    stem = pattern.partition("*")[0].rstrip("_.- ") if isinstance(pattern, str) and "*" in pattern else ""
    return stem if stem and stem not in source.columns else "forecast"
