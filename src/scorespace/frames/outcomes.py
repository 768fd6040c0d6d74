"""A table of results: one number per data set and model, wide (a column per model) or long (a row per number)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, listing
from scorespace.frames.read import read
from scorespace.frames.roles import check_columns
from scorespace.frames.source import Source, no_rows
from scorespace.frames.values import doubles, holds_numbers, name, number, refuse_nested, unmasked
from scorespace.frozen import dataclass
from scorespace.results import ByValue, Note, grouped, note
from scorespace.tables.labels import encode, label_text

_NAMES: Final = frozenset(
    {"dataset", "data_set", "data set", "data", "task", "problem", "name", "id", "index", ""}
    | {"seed", "fold", "run", "repeat", "row"}
)
"""First columns of these names say which data set a row is about, even if they hold numbers."""


@dataclass(frozen=True, eq=False)
class Outcomes(ByValue):
    """Values (data sets × models) with the names of both, and what was left out."""

    name: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    values: NDArray[np.float64]
    notes: tuple[Note, ...] = ()


def read_outcomes(
    data: Any,
    *,
    dataset: str | None = None,
    model: str | None = None,
    value: str | None = None,
    missing: str = "error",
) -> Outcomes:
    """The results in a file or frame; long where columns of models and values are named, otherwise wide.

    Wide, every column is a model but the one of the data sets: that named, or the first if it holds text.

    >>> found = read_outcomes({"data": ["iris", "vote"], "nb": [0.9, 0.8], "tree": [0.8, 0.7]})
    >>> found.models, found.values.tolist()
    (('nb', 'tree'), [[0.9, 0.8], [0.8, 0.7]])
    """
    source = read(data)
    check_columns((dataset, model, value), source)
    if model is None and value is None:
        found = _wide(source, dataset)
    elif dataset is None or model is None or value is None:
        raise ColumnError(
            "a long table needs the columns of data sets, models and values.",
            seen=listing(source.columns),
            hint=_all_three(source, dataset, model, value),
        )
    else:
        found = _long(source, dataset, model, value)
    if not found.datasets:
        raise no_rows(source.where)
    return _complete(found, missing)


def _wide(source: Source, dataset: str | None) -> Outcomes:
    schema = source.frame.collect_schema()
    first = source.columns[0]
    if dataset is None and (not holds_numbers(schema[first]) or first.strip().casefold() in _NAMES):
        dataset = first
    models = tuple(column for column in source.columns if column != dataset)
    for column in models:
        if not holds_numbers(schema[column]):
            raise _not_numbers(source, column)
    if dataset is None and len(models) > 2:
        _refuse_numbered(source, first)
    check_columns(source.columns, source)
    named = [name(dataset, schema[dataset])] if dataset else []
    found = source.arrays(source.frame.select(*named, *map(number, models)))
    rows = max((array.size for array in found.values()), default=0)
    source.accounts_for(rows)
    values = np.stack([doubles(found[column]) for column in models], axis=1) if models else np.empty((0, 0))
    names = tuple(map(label_text, found[dataset].tolist() if dataset else range(1, rows + 1)))
    for each, times in Counter(names).items():
        if times > 1:
            hint = "one row per data set, such as the mean over folds"
            raise DataError(f"the data set {each!r} has {times} rows.", hint=hint)
    return Outcomes(source.name, names, models, values)


def _all_three(source: Source, *stated: str | None) -> str:
    """How the columns of a long table are named, those that are not stated in the order in which they stand."""
    others = iter([column for column in source.columns if column not in stated])
    a, b, c = (one or next(others, "…") for one in stated)
    return f'dataset="{a}", model="{b}" and value="{c}"'


def _refuse_numbered(source: Source, first: str) -> None:
    """Refuse a first column of distinct whole numbers beside others with fractions: is it a model, or a name?"""
    wholly = {f"whole {k}": (number(name) == number(name).floor()).all() for k, name in enumerate(source.columns)}
    distinct, rows, own, *others = source.counts(distinct=nw.col(first).n_unique(), rows=nw.len(), **wholly).values()
    if own and not any(others) and distinct == rows > 1:
        raise ColumnError(
            f"the first column {first!r} holds distinct whole numbers, and the others do not: is it a model?",
            seen=listing(source.columns),
            hint=f'dataset="{first}" if it names the data sets, else another column first',
        )


def _long(source: Source, dataset: str, model: str, value: str) -> Outcomes:
    schema = source.frame.collect_schema()
    if not holds_numbers(schema[value]):
        raise _not_numbers(source, value)
    asked = (name(dataset, schema[dataset]), name(model, schema[model]), number(value))
    found = source.arrays(source.frame.select(*asked))
    source.accounts_for(found[value].size)
    if not found[value].size:
        raise no_rows(source.where)
    (row, datasets), (column, models) = (_in_order_of_appearance(found[one], one) for one in (dataset, model))
    cells = row * len(models) + column
    distinct, times = np.unique(cells, return_counts=True)
    if (times > 1).any():
        first, second = divmod(int(distinct[times > 1][0]), len(models))
        raise DataError(
            f"{models[second]} has {times[times > 1][0]} values on the data set {datasets[first]!r}.",
            hint="one value per data set and model, such as the mean over folds",
        )
    values = np.full((len(datasets), len(models)), np.nan)
    values.flat[cells] = doubles(found[value])
    return Outcomes(source.name, datasets, models, values)


def _in_order_of_appearance(labels: NDArray[Any], column: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Codes into the distinct labels, the first to appear first."""
    codes, names = encode(unmasked(labels), column)
    order = np.argsort(np.unique(codes, return_index=True)[1])
    return np.argsort(order)[codes], tuple(names[k] for k in order)


def _complete(found: Outcomes, missing: str) -> Outcomes:
    """The results without data sets that lack a value, or the error that names the first."""
    gaps = ~np.isfinite(found.values)
    if not gaps.any():
        return found
    short = gaps.any(axis=1)
    row, column = np.argwhere(gaps)[0]
    if missing != "drop" or short.all():
        raise DataError(
            f"{grouped(int(gaps.sum()))} of the {grouped(gaps.size)} values "
            f"{'is' if gaps.sum() == 1 else 'are'} missing or infinite.",
            seen=f"none for {found.models[column]} on the data set {found.datasets[row]!r}",
            hint='missing="drop" leaves out such data sets for all models' if not short.all() else "fill the values",
        )
    kept = tuple(found.datasets[k] for k in np.flatnonzero(~short))
    lost = len(found.datasets) - len(kept)
    text = f"{grouped(lost)} of {grouped(len(found.datasets))} data sets were left out: a model has no value there."
    return Outcomes(found.name, kept, found.models, found.values[~short], (note("SS009", text),))


def _not_numbers(source: Source, column: str) -> ColumnError:
    kind = source.frame.collect_schema()[column]
    refuse_nested(column, kind, "results")
    values = dict.fromkeys(source.arrays(source.frame.select(name(column, kind)).head(3))[column].tolist())
    kinds = [holds_numbers(one) for one in source.frame.collect_schema().values()]
    long = not any(kinds[:2]) and any(kinds)
    value = source.columns[kinds.index(True)] if kinds.count(True) == 1 else "…"
    return ColumnError(
        f"column {column!r} holds text, not results.",
        seen=listing(values),
        hint="columns of numbers, one per model; missing values empty"
        + (f"; of a long table {_all_three(source, None, None, value)}" if long else ""),
    )
