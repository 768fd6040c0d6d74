"""From a checked sample to tables: the only group-bys, and the place that knows what engines get wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import CostMatrix
from scorespace.errors import ColumnError, PositiveError, listing
from scorespace.frames.check import (
    MOST_CLASSES,
    Sample,
    in_order,
    label,
    number,
    refuse_nested,
    too_many_labels,
)
from scorespace.frames.roles import absent_column
from scorespace.tables import ClassTable, ConfusionTable, ScoreTable, Table, score_table
from scorespace.tables.labels import encode, label_text, positive_index
from scorespace.tables.pair import PairTable, paired, two_names
from scorespace.tables.score import MOST_EXACT


def count(sample: Sample, *, costs: CostMatrix | None = None, rows_in_memory: int = 50_000_000) -> dict[str, Table]:
    """The table of each model: score tables first, then confusion tables of the decisions.

    Scores of several classes make a class table; with costs, a second table decides by least cost.

    A lazy frame with more rows than `rows_in_memory` is grouped by score inside its engine; otherwise
    the columns come to NumPy, whose sort is faster. The tables are the same.

    >>> from scorespace.frames import check, read, roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> count(check(source, roles(source, truth="y", scores="nb")))["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    """
    in_engine = isinstance(sample.frame, nw.LazyFrame) and sample.rows > rows_in_memory
    scored = _score_tables_in_engine(sample) if in_engine else _score_tables_in_memory(sample)
    decided = {model: _confusion_table(sample, column) for model, column in sample.roles.decisions.items()}
    return {**scored, **_tables_of_classes(sample, costs), **decided}


def pair(sample: Sample) -> PairTable | None:
    """All two-class models side by side, case by case; None where cases are weighted or no class is positive."""
    roles = sample.roles
    if roles.weight is not None or sample.positive is None:
        return None
    positive = sample.classes[sample.positive]
    of_positive = {model: by_class[positive] for model, by_class in roles.class_scores.items() if positive in by_class}
    scored = {**roles.scores, **of_positive}
    others = [name for name in (roles.group, roles.fold, roles.repeat) if name]
    found = columns(sample, [roles.truth, *scored.values(), *roles.decisions.values(), *others])
    scores = {model: found[column].astype(np.float64) for model, column in scored.items()}
    for model, column in roles.decisions.items():
        codes, labels = encode(found[column], column)
        scores[model] = (np.array(labels) == positive)[codes].astype(np.float64)
    label = (found[roles.truth] == sample.positive).astype(np.uint8)
    group, fold, repeat = (
        encode(found[name], name)[0].astype(np.int32) if name is not None else None
        for name in (roles.group, roles.fold, roles.repeat)
    )
    table = paired(label, scores, group, two_names(sample.classes, sample.positive))
    return replace(table, fold=fold, repeat=repeat)


def right(sample: Sample) -> dict[str, NDArray[np.bool_]]:
    """Which decisions between several classes are right, by model and case; none where cases are weighted.

    Scores of the classes decide by the highest.
    """
    roles = sample.roles
    if roles.weight is not None or sample.positive is not None:
        return {}
    of_classes = [column for by_class in roles.class_scores.values() for column in by_class.values()]
    found = columns(sample, [roles.truth, *of_classes, *roles.decisions.values()])
    codes, held = found[roles.truth], {}
    for model, by_class in roles.class_scores.items():
        # In the order of the class table, so that equal scores are decided alike.
        names = dict.fromkeys([*sample.classes, *by_class])
        held[model] = np.stack([found[by_class[name]] for name in names]).argmax(axis=0) == codes
    for model, column in roles.decisions.items():
        decided, labels = encode(found[column], column)
        place = np.array([sample.classes.index(name) if name in sample.classes else -1 for name in labels])
        held[model] = place[decided] == codes
    return held


def columns(sample: Sample, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Columns of the rows in use, aligned: the truth as codes into the classes, scores and weight as doubles."""
    numbers = {column for role, column in sample.roles.columns() if role in ("score", "weight")}
    wanted = list(dict.fromkeys(names))
    absent = [name for name in wanted if name not in sample.source.columns]
    if absent:
        raise absent_column(absent[0], sample.source)
    schema = sample.source.frame.collect_schema()
    checked = {name: number(name) if name in numbers else _named(name, schema[name]) for name in wanted}
    if sample.roles.truth in checked:
        checked[sample.roles.truth] = _codes(sample)
    found = sample.source.arrays(sample.frame.select(*(each.alias(name) for name, each in checked.items())))
    arrays = {name: _unmasked(found[name]) for name in wanted}
    long = [name for name in wanted if name not in numbers and _is_long(arrays[name])]
    if long:
        whole = replace(sample, source=sample.source.written_out(long))
        again = whole.source.arrays(whole.frame.select(*long))
        arrays |= {name: _unmasked(again[name]) for name in long}
    return {name: array if name in numbers else _as_written(array) for name, array in arrays.items()}


def _score_tables_in_memory(sample: Sample) -> dict[str, ScoreTable]:
    roles = sample.roles
    if not roles.scores:
        return {}
    found = columns(sample, [roles.truth, *roles.scores.values(), *([roles.weight] if roles.weight else [])])
    weight = found[roles.weight] if roles.weight else None
    codes = found[roles.truth]
    return {model: _score_table(sample, codes, found[column], weight) for model, column in roles.scores.items()}


def _score_tables_in_engine(sample: Sample) -> dict[str, ScoreTable]:
    tables = {}
    for model, column in sample.roles.scores.items():
        groups = _groups(sample, number(column))
        # -0.0 and 0.0 may still be apart here; the table merges equal scores.
        table = _score_table(sample, groups["truth"], groups["value"], groups["weight"])
        whole = sample.roles.weight is None
        tables[model] = replace(table, counts=table.counts.astype(np.int64)) if whole else table
    return tables


def _score_table(sample: Sample, codes: NDArray[Any], score: NDArray[Any], weight: NDArray[Any] | None) -> ScoreTable:
    positive = None if sample.positive is None else sample.classes[sample.positive]
    return score_table(codes, score, classes=sample.classes, positive=positive, weight=weight)


def _tables_of_classes(sample: Sample, costs: CostMatrix | None) -> dict[str, Table]:
    """The tables of models that score every class: where one is positive, its own score is enough."""
    tables: dict[str, Table] = {}
    roles = sample.roles
    for model, by_class in roles.class_scores.items():
        beside = [name for name in (roles.weight, roles.group) if name]
        found = columns(sample, [roles.truth, *by_class.values(), *beside])
        weight = found[roles.weight] if roles.weight else None
        group = encode(found[roles.group], roles.group)[0].astype(np.int32) if roles.group else None
        codes = found[roles.truth]
        if sample.positive is not None:
            score = found[by_class[sample.classes[sample.positive]]]
            tables[model] = _score_table(sample, codes, score, weight)
            continue
        classes = tuple(dict.fromkeys([*sample.classes, *by_class]))  # new labels last, as for decisions
        score = np.stack([found[by_class[name]] for name in classes])
        tables[model] = table = ClassTable(score, codes.astype(np.intp), classes, weight, group)
        if costs is not None and table.probabilities:
            best = costs.aligned(classes).decide(score.T)
            tables[f"{model} (least cost)"] = _decided(sample, classes, codes, best, weight)
    return tables


def _decided(
    sample: Sample, classes: tuple[str, ...], codes: NDArray[Any], decided: NDArray[Any], weight: NDArray[Any] | None
) -> ConfusionTable:
    cell = codes.astype(np.int64) * len(classes) + decided
    matrix = np.bincount(cell, weight, minlength=len(classes) ** 2).reshape(len(classes), len(classes))
    return ConfusionTable(matrix.astype(np.float64), classes, _positive_of(sample, classes))


def _confusion_table(sample: Sample, column: str) -> ConfusionTable:
    groups = _groups(sample, label(sample.source.frame, column))
    values = groups["value"].tolist()
    labels = in_order(list(dict.fromkeys(values)))
    if len(labels) > MOST_CLASSES:
        raise too_many_labels(column, labels, f'scores="{column}" for numbers')
    decided = list(dict.fromkeys(map(label_text, labels)))
    if len(sample.classes) > 1 and not set(decided) & set(sample.classes):
        raise ColumnError(
            f"column {column!r} shares no label with column {sample.roles.truth!r}.",
            seen=f"{listing(decided)} and {listing(sample.classes)}",
            hint="the same labels in both columns",
        )
    # New labels come last, so that the indices of the sample hold for all its tables.
    classes = tuple(dict.fromkeys([*sample.classes, *decided]))
    place = np.array([classes.index(label_text(value)) for value in values], dtype=np.int64)
    return _decided(sample, classes, groups["truth"], place, groups["weight"])


def _positive_of(sample: Sample, classes: tuple[str, ...]) -> int | None:
    """That of the sample, or the one that only the decisions revealed."""
    if sample.positive is not None:
        return sample.positive
    try:
        return positive_index(classes)
    except PositiveError:
        return None


def _groups(sample: Sample, value: nw.Expr) -> dict[str, NDArray[Any]]:
    """The weight of each pair of class and value, summed inside the engine."""
    weight = sample.roles.weight
    chosen = [_codes(sample).alias("truth"), value.alias("value")]
    chosen += [number(weight).alias("weight")] if weight else []
    total = nw.col("weight").sum() if weight else nw.len()
    found = sample.source.arrays(sample.frame.select(*chosen).group_by("truth", "value").agg(weight=total))
    # DuckDB adds up in types that NumPy may not have; doubles hold every count up to 2^53.
    return {**found, "weight": found["weight"].astype(np.float64)}


def _codes(sample: Sample) -> nw.Expr:
    """The truth as codes into the classes, mapped inside the engine."""
    truth: nw.Expr = label(sample.source.frame, sample.roles.truth)
    values, codes = list(sample.labels), list(sample.labels.values())
    if sorted(codes) == [0, 1]:  # the commonest case: one comparison is several times faster than a lookup
        return (truth == values[codes.index(1)]).cast(nw.Int8)
    return truth.replace_strict(values, codes, default=-1, return_dtype=nw.Int16)


def _named(name: str, kind: nw.dtypes.DType) -> nw.Expr:
    """A column that names cases, as NumPy can hold it: times as text, for a zone would ask for a further library."""
    refuse_nested(name, kind, "names")
    return nw.col(name).cast(nw.String) if kind.is_temporal() else nw.col(name)


def _is_long(array: NDArray[Any]) -> bool:
    """Whether doubles are so large that they may have lost digits."""
    return array.dtype.kind == "f" and bool(np.any(np.abs(array[np.isfinite(array)]) >= MOST_EXACT))


def _as_written(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such: files are read as doubles, and nobody calls case 7 "7.0"."""
    if array.dtype.kind != "f" or not np.all(np.abs(array) < 2**53) or np.any(array != np.floor(array)):
        return array
    return array.astype(np.int64)


def _unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Missing values as NaN or None: DuckDB masks them."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if array.dtype.kind == "f":
        return array.filled(np.nan)
    values = np.ma.getdata(array).astype(object)
    values[np.ma.getmaskarray(array)] = None  # filled(None) would mean NumPy's own filling
    return values
