"""Tables of results: one value per data set and model, wide (a column per model) or long (a row per value)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.io.column_values import as_identifier, as_number, is_numeric_type, refuse_nested, to_doubles, unmask
from scorespace.io.read import read
from scorespace.io.roles import check_columns
from scorespace.io.source import Source, no_rows_error
from scorespace.results import ByValue, Note, grouped, note
from scorespace.tables.labels import encode, label_text

_DATASET_COLUMN_NAMES: Final = frozenset(
    {"dataset", "data_set", "data set", "data", "task", "problem", "name", "id", "index", ""}
    | {"seed", "fold", "run", "repeat", "row"}
)
"""First columns with these names identify the data set, even if numeric."""


@dataclass(frozen=True, eq=False)
class ResultTable(ByValue):
    """Values (data sets × models) with the names of both, and notes on dropped data sets."""

    name: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    values: NDArray[np.float64]
    notes: tuple[Note, ...] = ()


def read_results(
    data: Any,
    *,
    dataset: str | None = None,
    model: str | None = None,
    value: str | None = None,
    missing: str = "error",
) -> ResultTable:
    """Read results; in long format if columns of models and values are named, otherwise in wide format.

    In wide format every column is a model except the data set column: the named one, or the first if it holds text.

    >>> found = read_results({"data": ["iris", "vote"], "nb": [0.9, 0.8], "tree": [0.8, 0.7]})
    >>> found.models, found.values.tolist()
    (('nb', 'tree'), [[0.9, 0.8], [0.8, 0.7]])
    """
    source = read(data)
    check_columns((dataset, model, value), source)
    if model is None and value is None:
        table = _read_wide(source, dataset)
    elif dataset is None or model is None or value is None:
        raise ColumnError(
            "a long table needs the columns of data sets, models and values.",
            seen=listing(source.columns),
            hint=_long_format_hint(source, dataset, model, value),
        )
    else:
        table = _read_long(source, dataset, model, value)
    if not table.datasets:
        raise no_rows_error(source.where)
    return _drop_incomplete(table, missing)


def _read_wide(source: Source, dataset: str | None) -> ResultTable:
    schema = source.frame.collect_schema()
    first = source.columns[0]
    if dataset is None and (not is_numeric_type(schema[first]) or first.strip().casefold() in _DATASET_COLUMN_NAMES):
        dataset = first
    models = tuple(column for column in source.columns if column != dataset)
    for column in models:
        if not is_numeric_type(schema[column]):
            raise _not_numeric_error(source, column)
    if dataset is None and len(models) > 2:
        _refuse_ambiguous_index(source, first)
    check_columns(source.columns, source)
    named = [as_identifier(dataset, schema[dataset])] if dataset else []
    arrays = source.arrays(source.frame.select(*named, *map(as_number, models)))
    rows = max((array.size for array in arrays.values()), default=0)
    source.accounts_for(rows)
    values = np.stack([to_doubles(arrays[column]) for column in models], axis=1) if models else np.empty((0, 0))
    names = tuple(map(label_text, arrays[dataset].tolist() if dataset else range(1, rows + 1)))
    for dataset_name, times in Counter(names).items():
        if times > 1:
            hint = "one row per data set, such as the mean over folds"
            raise DataError(f"the data set {dataset_name!r} has {times} rows.", hint=hint)
    return ResultTable(source.name, names, models, values)


def _long_format_hint(source: Source, *stated: str | None) -> str:
    """Hint for long format, with the columns not yet named in their order."""
    others = iter([column for column in source.columns if column not in stated])
    a, b, c = (name or next(others, "…") for name in stated)
    return f'dataset="{a}", model="{b}" and value="{c}"'


def _refuse_ambiguous_index(source: Source, first: str) -> None:
    """Refuse a first column of distinct integers beside fractional columns: model or data set index?"""
    integer_checks = {
        f"whole {k}": (as_number(name) == as_number(name).floor()).all() for k, name in enumerate(source.columns)
    }
    distinct, rows, is_integer, *others = source.counts(
        distinct=nw.col(first).n_unique(), rows=nw.len(), **integer_checks
    ).values()
    if is_integer and not any(others) and distinct == rows > 1:
        raise ColumnError(
            f"the first column {first!r} holds distinct integers and may be an index rather than a model.",
            seen=listing(source.columns),
            hint=f'dataset="{first}" if it identifies the data sets, otherwise put another column first',
        )


def _read_long(source: Source, dataset: str, model: str, value: str) -> ResultTable:
    schema = source.frame.collect_schema()
    if not is_numeric_type(schema[value]):
        raise _not_numeric_error(source, value)
    expressions = (as_identifier(dataset, schema[dataset]), as_identifier(model, schema[model]), as_number(value))
    arrays = source.arrays(source.frame.select(*expressions))
    source.accounts_for(arrays[value].size)
    if not arrays[value].size:
        raise no_rows_error(source.where)
    (row, datasets), (column, models) = (_encode_by_appearance(arrays[name], name) for name in (dataset, model))
    cells = row * len(models) + column
    distinct, times = np.unique(cells, return_counts=True)
    if (times > 1).any():
        first, second = divmod(int(distinct[times > 1][0]), len(models))
        raise DataError(
            f"{models[second]} has {times[times > 1][0]} values on the data set {datasets[first]!r}.",
            hint="one value per data set and model, such as the mean over folds",
        )
    values = np.full((len(datasets), len(models)), np.nan)
    values.flat[cells] = to_doubles(arrays[value])
    return ResultTable(source.name, datasets, models, values)


def _encode_by_appearance(labels: NDArray[Any], column: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Encode labels in the order of first appearance."""
    codes, names = encode(unmask(labels), column)
    order = np.argsort(np.unique(codes, return_index=True)[1])
    return np.argsort(order)[codes], tuple(names[k] for k in order)


def _drop_incomplete(table: ResultTable, missing: str) -> ResultTable:
    """Drop data sets with missing values, or raise an error that names the first."""
    gaps = ~np.isfinite(table.values)
    if not gaps.any():
        return table
    is_incomplete = gaps.any(axis=1)
    row, column = np.argwhere(gaps)[0]
    if missing != "drop" or is_incomplete.all():
        raise DataError(
            f"{grouped(int(gaps.sum()))} of the {grouped(gaps.size)} values "
            f"{'is' if gaps.sum() == 1 else 'are'} missing or infinite.",
            seen=f"no value for {table.models[column]} on the data set {table.datasets[row]!r}",
            hint='missing="drop" drops such data sets for all models' if not is_incomplete.all() else "fill the values",
        )
    kept = tuple(table.datasets[k] for k in np.flatnonzero(~is_incomplete))
    n_dropped = len(table.datasets) - len(kept)
    text = (
        f"{grouped(n_dropped)} of {grouped(len(table.datasets))} data sets were dropped because a model has no value."
    )
    return ResultTable(table.name, kept, table.models, table.values[~is_incomplete], (note("SS009", text),))


def _not_numeric_error(source: Source, column: str) -> ColumnError:
    kind = source.frame.collect_schema()[column]
    refuse_nested(column, kind, "results")
    values = dict.fromkeys(source.arrays(source.frame.select(as_identifier(column, kind)).head(3))[column].tolist())
    is_numeric = [is_numeric_type(dtype) for dtype in source.frame.collect_schema().values()]
    long = not any(is_numeric[:2]) and any(is_numeric)
    value = source.columns[is_numeric.index(True)] if is_numeric.count(True) == 1 else "…"
    return ColumnError(
        f"column {column!r} holds text, not numeric results.",
        seen=listing(values),
        hint="one numeric column per model; leave missing values empty"
        + (f"; for long format {_long_format_hint(source, None, None, value)}" if long else ""),
    )
