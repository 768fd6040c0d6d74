"""Count a checked sample that fits into memory into tables, and fetch columns of its rows as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.costs import CostMatrix
from scorespace.errors import ColumnError, PositiveError, listing
from scorespace.io.column_values import as_identifier, as_label, as_number, unmask
from scorespace.io.roles import Roles, missing_column_error
from scorespace.io.validation import MAX_CLASSES, Sample, sort_labels, too_many_labels_error
from scorespace.tables import ClassTable, ConfusionTable, Table, score_table
from scorespace.tables.case_costs import MAX_CASES, cost_columns, cost_table
from scorespace.tables.columns import MAX_EXACT_INTEGER
from scorespace.tables.labels import encode, label_text, positive_index
from scorespace.tables.paired import PairTable, build_pair_table
from scorespace.tables.rankings import rank_table
from scorespace.tables.table_kind import TABLE_KINDS
from scorespace.tables.values import value_table

Groups = dict[str, NDArray[Any]]
"""Aggregates of a group-by: one array per key and per sum."""

TablesWithCells = dict[str, tuple[Table, NDArray[np.int32]]]
"""The table of each model, and the index of each case's cell in it."""


def count_tables(sample: Sample, *, costs: CostMatrix | None = None) -> dict[str, Table]:
    """Count the table of each model: score tables first, then confusion tables of decisions.

    Multiclass scores give a class table; with costs, a second table holds the minimum-cost decisions.

    >>> from scorespace.io import read, resolve_roles, validate
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> count_tables(validate(source, resolve_roles(source, truth="y", scores="nb")))["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    """
    roles, tables = sample.roles, dict[str, Table]()
    if roles.numbers and (roles.query or not roles.truth):
        return {model: table for model, (table, _) in _value_tables(sample).items()}
    score_columns = positive_score_columns(sample)
    class_columns = [] if sample.positive is not None else roles.class_columns()
    if roles.numbers or score_columns or class_columns:
        extra_columns = [column for column in (roles.weight, roles.group if class_columns else None) if column]
        arrays = fetch_columns(
            sample, [roles.truth, *roles.number_columns(), *score_columns.values(), *class_columns, *extra_columns]
        )
        weight = arrays[roles.weight] if roles.weight else None
        options: dict[str, Any] = {"classes": sample.classes, "positive": sample.positive_name, "copies": roles.copies}
        for model, column in score_columns.items():
            tables[model] = score_table(arrays[roles.truth], arrays[column], weight=weight, **options)
        other_tables = (
            _regression_tables(sample, arrays) if roles.numbers else _multiclass_tables(sample, arrays, costs)
        )
        tables |= {model: table for model, (table, _) in other_tables.items()}
    tables |= {
        model: confusion_table(sample, *count_decisions(sample, decision_column))
        for model, decision_column in roles.decisions.items()
    }
    return tables if roles.costs is None else _with_costs(sample, tables)


def _with_costs(sample: Sample, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables of scores with the costs of each case; those of more than a million cases as sums."""
    roles, columns = sample.roles, positive_score_columns(sample)
    if roles.costs is None or sample.positive is None:
        return dict(tables)
    names = [roles.truth, *columns.values(), *roles.costs.columns, *([roles.weight] if roles.weight else [])]
    arrays = fetch_columns(sample, names)
    costs, label = cost_columns(roles.costs, arrays), arrays[roles.truth] == sample.positive
    options: dict[str, Any] = {"weight": arrays[roles.weight] if roles.weight else None, "copies": roles.copies}

    def costed(table: Any, score: NDArray[Any]) -> Table:
        found = cost_table(costs, label, score, single=table.single, **options)
        return replace(table, costs=found.as_sums() if label.size > MAX_CASES else found)

    return {name: costed(one, arrays[columns[name]]) if name in columns else one for name, one in tables.items()}


def pair_models(sample: Sample, *, costs: CostMatrix | None = None) -> PairTable:
    """Count all models case by case, with their tables; the scores of each model are sorted once."""
    roles = sample.roles
    if roles.numbers and (roles.query or not roles.truth):
        return _paired_values(sample)
    arrays = fetch_columns(sample, [column for _, column in roles.columns()])
    weight = arrays[roles.weight] if roles.weight else None
    group, fold, repeat, time = (
        _encode_column(arrays, column) for column in (roles.group, roles.fold, roles.repeat, roles.time)
    )
    if roles.numbers:
        tables, cells = zip(*_regression_tables(sample, arrays).values(), strict=True)
        codes, models = np.zeros(cells[0].size, dtype=np.uint8), tuple(roles.numbers)
        return PairTable(models, tables, np.stack(cells), codes, (), None, group, fold, repeat, weight, time)
    codes, tables_by_model = arrays[roles.truth], TablesWithCells()
    scores_by_model = {
        model: arrays[column].astype(np.float64) for model, column in positive_score_columns(sample).items()
    }
    if scores_by_model and sample.positive is not None:
        joint = build_pair_table(codes, scores_by_model, None, sample.classes, sample.positive, weight, roles.copies)
        tables_by_model |= dict(zip(joint.models, zip(joint.tables, joint.cell, strict=True), strict=True))
    tables_by_model |= _multiclass_tables(sample, arrays, costs)
    for model, column in roles.decisions.items():
        table = confusion_table(sample, *count_decisions(sample, column))
        label_codes, labels = encode(arrays[column], column)
        decided_index = np.array([table.classes.index(label) for label in labels], dtype=np.int32)[label_codes]
        tables_by_model[model] = table, codes.astype(np.int32) * np.int32(len(table.classes)) + decided_index
    tables, cells = zip(*tables_by_model.values(), strict=True)
    classes, positive = tables[0].class_names, _positive_index(sample, tables[0].class_names)
    pairs = PairTable(
        tuple(tables_by_model), tables, np.stack(cells), codes, classes, positive, group, fold, repeat, weight
    )
    pairs = pairs if roles.costs is None else pairs.with_costs(cost_columns(roles.costs, arrays))
    if roles.period is None:
        return pairs
    period, names = encode(_as_days(arrays[roles.period]), roles.period)
    return pairs.with_periods(period.astype(np.int32), tuple(names))


def _as_days(values: NDArray[Any]) -> NDArray[Any]:
    """Times as dates; other values are names of periods."""
    if values.dtype.kind == "M":
        return values.astype("M8[D]").astype(str)
    first = values[0] if values.dtype == object and values.size else None
    if isinstance(first, datetime):
        return np.array([value.date().isoformat() for value in values.tolist()], dtype=object)
    if isinstance(first, str) and _TIME.match(first):
        return np.array([value[:10] for value in values.tolist()], dtype=object)
    return values


_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:")
"""Start of a time as text, whose first ten characters are the date."""


def _encode_column(found: Mapping[str, NDArray[Any]], column: str | None) -> NDArray[np.int32] | None:
    return None if column is None else encode(found[column], column)[0].astype(np.int32)


def positive_score_columns(sample: Sample) -> dict[str, str]:
    """Columns that score the positive class, by model."""
    positive, scores = sample.positive_name, dict(sample.roles.scores)
    return scores if positive is None else scores | {m: of[positive] for m, of in sample.roles.class_scores.items()}


def _regression_tables(sample: Sample, arrays: Mapping[str, NDArray[Any]]) -> TablesWithCells:
    """Tables of models whose truth is a number, with one cell per case."""
    roles, tables = sample.roles, TablesWithCells()
    weight = arrays[roles.weight] if roles.weight else None
    options: dict[str, Any] = {"copies": True} if roles.copies else {}
    if roles.baseline is not None:
        options["baseline"] = arrays[roles.baseline] if isinstance(roles.baseline, str) else roles.baseline
    if roles.history is not None:
        options["history"] = roles.history
    for model, (kind, column) in roles.numbers.items():
        ends = roles.intervals.get(model)
        model_options = (
            options if ends is None else {**options, "interval": (arrays[ends[0]], arrays[ends[1]], ends[2])}
        )
        if model in roles.distributions:
            columns, levels = roles.distributions[model]
            model_options = {**model_options, "quantiles": ([arrays[one] for one in columns], levels)}
        table = TABLE_KINDS.find(kind).read(arrays[roles.truth], arrays[column], weight, **model_options)
        tables[model] = table, np.arange(arrays[column].size, dtype=np.int32)
    return tables


def _value_tables(sample: Sample) -> TablesWithCells:
    """Tables of values per case, with one cell per case: a row, the mean of a repeated item, or a query."""
    roles = sample.roles
    arrays = fetch_columns(sample, [column for _, column in roles.columns()])
    options: dict[str, Any] = {"weight": arrays[roles.weight] if roles.weight else None, "copies": roles.copies}
    if roles.query is not None:
        relevance, query = arrays[roles.truth], arrays[roles.query]
        ranked = {
            model: rank_table(relevance, arrays[column], query, name=model, **options)
            for model, (_, column) in roles.numbers.items()
        }
        return {model: (table, np.arange(table.data.queries, dtype=np.int32)) for model, table in ranked.items()}
    if roles.repeat and roles.group:
        options |= {"item": arrays[roles.group], "run": arrays[roles.repeat]}
    tables = {
        model: value_table(arrays[column], limits=roles.limits, lower=roles.lower_is_better, name=model, **options)
        for model, (_, column) in roles.numbers.items()
    }
    return {model: (table, np.arange(table.cells.size, dtype=np.int32)) for model, table in tables.items()}


def _paired_values(sample: Sample) -> PairTable:
    """The values of all models case by case; the mean of an item, and a query, have no group."""
    roles = sample.roles
    tables, cells = zip(*_value_tables(sample).values(), strict=True)
    codes, models, group, weight = np.zeros(cells[0].size, dtype=np.uint8), tuple(roles.numbers), None, None
    if roles.query is not None:
        weight = None if roles.weight is None else tables[0].weight
    elif roles.repeat is None and (roles.group or roles.weight):
        arrays = fetch_columns(sample, [column for column in (roles.group, roles.weight) if column])
        group = _encode_column(arrays, roles.group)
        weight = arrays[roles.weight] if roles.weight else None
    return PairTable(models, tables, np.stack(cells), codes, (), None, group, weight=weight)


def _multiclass_tables(sample: Sample, arrays: Mapping[str, NDArray[Any]], costs: CostMatrix | None) -> TablesWithCells:
    """Tables of multiclass scores, and of their minimum-cost decisions."""
    roles, tables = sample.roles, TablesWithCells()
    if sample.positive is not None or not roles.class_scores:
        return tables
    weight, group = arrays[roles.weight] if roles.weight else None, _encode_column(arrays, roles.group)
    codes = arrays[roles.truth]
    for model, by_class in roles.class_scores.items():
        classes = sample.with_classes(by_class)
        score = np.stack([arrays[by_class[name]] for name in classes])
        table = ClassTable(score, codes.astype(np.intp), classes, weight, group, roles.copies)
        tables[model] = table, np.arange(codes.size, dtype=np.int32)
        if costs is not None and table.probabilities:
            best = costs.aligned(classes).decide(score.T)
            groups = {"truth": codes, "place": best}
            groups |= {} if weight is None else {"weight": weight, "squares": weight**2}
            cell = codes.astype(np.int32) * np.int32(len(classes)) + best.astype(np.int32)
            tables[f"{model} (least cost)"] = confusion_table(sample, classes, groups), cell
    return tables


# --- decisions


def count_decisions(sample: Sample, column: str, by: nw.Expr | None = None) -> tuple[tuple[str, ...], Groups]:
    """Classes of a decision column, and the weight of each pair of truth and decision.

    Counted inside the engine; `by` is a further key.
    """
    keys = {"truth": class_codes(sample), "value": as_label(sample.source.frame, column)}
    keys |= {} if by is None else {"slice": by}
    weights, total = weight_columns(sample.roles)
    groups = sample.source.arrays(sample.frame.select(*weights, **keys).group_by(*keys).agg(**total))
    values = groups.pop("value").tolist()
    labels = sort_labels(list(dict.fromkeys(values)))
    if len(labels) > MAX_CLASSES:
        raise too_many_labels_error(column, labels, f'scores="{column}" for numbers')
    texts = list(dict.fromkeys(map(label_text, labels)))
    if len(sample.classes) > 1 and not set(texts) & set(sample.classes):
        raise ColumnError(
            f"column {column!r} shares no label with column {sample.roles.truth!r}.",
            seen=f"{listing(texts)} and {listing(sample.classes)}",
            hint="use the same labels in both columns",
        )
    classes = sample.with_classes(texts)
    return classes, groups | {"place": np.array([classes.index(label_text(value)) for value in values], dtype=np.int64)}


def confusion_table(sample: Sample, classes: tuple[str, ...], groups: Groups) -> ConfusionTable:
    """Build the confusion table from weights of pairs of truth and decided class."""
    cell, size = groups["truth"].astype(np.int64) * len(classes) + groups["place"].astype(np.int64), len(classes)

    def matrix(name: str) -> NDArray[np.float64]:
        # DuckDB sums in types that NumPy may lack; doubles hold every count up to 2^53.
        weight = groups[name].astype(np.float64) if name in groups else None
        return np.bincount(cell, weight, minlength=size**2).reshape(size, size).astype(np.float64)

    squares = matrix("squares") if "squares" in groups and not sample.roles.copies else None
    return ConfusionTable(matrix("weight"), classes, _positive_index(sample, classes), squares)


def _positive_index(sample: Sample, classes: tuple[str, ...]) -> int | None:
    """Index of the positive class: that of the sample, or one that only the decisions reveal."""
    if sample.positive is not None:
        return sample.positive
    try:
        return positive_index(classes)
    except PositiveError:
        return None


def weight_columns(roles: Roles) -> tuple[list[nw.Expr], dict[str, nw.Expr]]:
    """Columns of weights and squared weights, and their sums per group; without weights, the row count."""
    if roles.weight is None:
        return [], {"weight": nw.len()}
    w = as_number(roles.weight)  # squared as a column, since some engines only sum plain columns
    return [w.alias("weight"), (w * w).alias("squares")], {name: nw.col(name).sum() for name in ("weight", "squares")}


def class_codes(sample: Sample) -> nw.Expr:
    """The truth as class indices, mapped inside the engine."""
    truth: nw.Expr = as_label(sample.source.frame, sample.roles.truth)
    values, indices = list(sample.labels), list(sample.labels.values())
    if sorted(indices) == [0, 1]:  # one comparison is several times faster than a lookup
        return (truth == values[indices.index(1)]).cast(nw.Int8)
    return truth.replace_strict(values, indices, default=-1, return_dtype=nw.Int16)


# --- columns of the rows


def fetch_columns(sample: Sample, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Fetch columns of the rows in use, aligned: truth as class indices, scores and weights as doubles."""
    numeric = {
        column
        for role, column in sample.roles.columns()
        if role in ("score", "number", "weight", "cost", "value", "ranked")
    }
    requested = list(dict.fromkeys(names))
    if requested and all(column in sample.kept for column in requested):
        return {column: sample.kept[column] for column in requested}
    absent = [column for column in requested if column not in sample.source.columns]
    if absent:
        raise missing_column_error(absent[0], sample.source)
    schema = sample.source.frame.collect_schema()
    expressions = {one: as_number(one) if one in numeric else as_identifier(one, schema[one]) for one in requested}
    if sample.roles.truth in expressions and not sample.roles.numbers:
        expressions[sample.roles.truth] = class_codes(sample)
    fetched = sample.source.arrays(
        sample.frame.select(*(expression.alias(column) for column, expression in expressions.items()))
    )
    arrays = {one: unmask(fetched[one]) for one in requested}
    long_columns = [one for one in requested if one not in numeric and _may_have_lost_digits(arrays[one])]
    if long_columns:
        text_sample = replace(sample, source=sample.source.written_out(long_columns))
        text_arrays = text_sample.source.arrays(text_sample.frame.select(*long_columns))
        arrays |= {one: unmask(text_arrays[one]) for one in long_columns}
    result = {one: array if one in numeric else _as_integers(array) for one, array in arrays.items()}
    if sample.roles.truth in result and not sample.roles.numbers:
        sample.kept[sample.roles.truth] = result[sample.roles.truth]
    return result


def _may_have_lost_digits(array: NDArray[Any]) -> bool:
    """Whether doubles are so large that integers may have lost digits."""
    return array.dtype.kind == "f" and bool(np.any(np.abs(array[np.isfinite(array)]) >= MAX_EXACT_INTEGER))


def _as_integers(array: NDArray[Any]) -> NDArray[Any]:
    """Convert integral doubles to integers, since files are read as doubles: identifier 7, not 7.0."""
    if array.dtype.kind != "f" or not np.all(np.abs(array) < MAX_EXACT_INTEGER) or np.any(array != np.floor(array)):
        return array
    return array.astype(np.int64)
