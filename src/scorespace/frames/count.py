"""From a checked sample that fits into memory to its tables, and the columns of its rows as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import CostMatrix
from scorespace.errors import ColumnError, PositiveError, listing
from scorespace.frames.check import MOST_CLASSES, Sample, in_order, too_many_labels
from scorespace.frames.roles import Roles, absent_column
from scorespace.frames.values import label, name, number, unmasked
from scorespace.tables import ClassTable, ConfusionTable, Table, score_table
from scorespace.tables.columns import MOST_EXACT
from scorespace.tables.kind import TABLE_KINDS
from scorespace.tables.labels import encode, label_text, positive_index
from scorespace.tables.pair import PairTable, paired

Groups = dict[str, NDArray[Any]]
"""What an engine adds up of rows that are alike, a column for each sum."""

Celled = dict[str, tuple[Table, NDArray[np.int32]]]
"""The table of each model, and the cell of each case in it."""


def count(sample: Sample, *, costs: CostMatrix | None = None) -> dict[str, Table]:
    """The table of each model: score tables first, then confusion tables of the decisions.

    Scores of several classes make a class table; with costs, a second table decides by least cost.

    >>> from scorespace.frames import check, read, roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> count(check(source, roles(source, truth="y", scores="nb")))["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 distinct scores
    """
    roles, tables = sample.roles, dict[str, Table]()
    ranked = ranking(sample)
    of_classes = [] if sample.positive is not None else roles.class_columns()
    if roles.numbers or ranked or of_classes:
        beside = [one for one in (roles.weight, roles.group if of_classes else None) if one]
        found = columns(sample, [roles.truth, *roles.number_columns(), *ranked.values(), *of_classes, *beside])
        weight = found[roles.weight] if roles.weight else None
        how: dict[str, Any] = {"classes": sample.classes, "positive": sample.positive_name, "copies": roles.copies}
        for model, column in ranked.items():
            tables[model] = score_table(found[roles.truth], found[column], weight=weight, **how)
        further = _of_numbers(sample, found) if roles.numbers else _of_classes(sample, found, costs)
        tables |= {model: table for model, (table, _) in further.items()}
    return tables | {model: confusion_table(sample, *decided(sample, one)) for model, one in roles.decisions.items()}


def pair(sample: Sample, *, costs: CostMatrix | None = None) -> PairTable:
    """All models side by side, case by case, with their tables: every model is sorted once."""
    roles = sample.roles
    found = columns(sample, [column for _, column in roles.columns()])
    weight = found[roles.weight] if roles.weight else None
    group, fold, repeat, time = (_coded(found, one) for one in (roles.group, roles.fold, roles.repeat, roles.time))
    if roles.numbers:
        tables, cells = zip(*_of_numbers(sample, found).values(), strict=True)
        codes, models = np.zeros(cells[0].size, dtype=np.uint8), tuple(roles.numbers)
        return PairTable(models, tables, np.stack(cells), codes, (), None, group, fold, repeat, weight, time)
    codes, held = found[roles.truth], Celled()
    ranked = {model: found[column].astype(np.float64) for model, column in ranking(sample).items()}
    if ranked and sample.positive is not None:
        together = paired(codes, ranked, None, sample.classes, sample.positive, weight, roles.copies)
        held |= dict(zip(together.models, zip(together.tables, together.cell, strict=True), strict=True))
    held |= _of_classes(sample, found, costs)
    for model, column in roles.decisions.items():
        table = confusion_table(sample, *decided(sample, column))
        each, labels = encode(found[column], column)
        place = np.array([table.classes.index(one) for one in labels], dtype=np.int32)[each]
        held[model] = table, codes.astype(np.int32) * np.int32(len(table.classes)) + place
    tables, cells = zip(*held.values(), strict=True)
    classes, positive = tables[0].class_names, _positive_of(sample, tables[0].class_names)
    return PairTable(tuple(held), tables, np.stack(cells), codes, classes, positive, group, fold, repeat, weight)


def _coded(found: Mapping[str, NDArray[Any]], column: str | None) -> NDArray[np.int32] | None:
    return None if column is None else encode(found[column], column)[0].astype(np.int32)


def ranking(sample: Sample) -> dict[str, str]:
    """The columns that score the positive class, by model: where one is positive, its own score is enough."""
    positive, scores = sample.positive_name, dict(sample.roles.scores)
    return scores if positive is None else scores | {m: of[positive] for m, of in sample.roles.class_scores.items()}


def _of_numbers(sample: Sample, found: Mapping[str, NDArray[Any]]) -> Celled:
    """The tables of models whose truth is a number, each cell a case."""
    roles, held = sample.roles, Celled()
    weight = found[roles.weight] if roles.weight else None
    more: dict[str, Any] = {"copies": True} if roles.copies else {}
    if roles.baseline is not None:
        more["baseline"] = found[roles.baseline] if isinstance(roles.baseline, str) else roles.baseline
    for model, (kind, column) in roles.numbers.items():
        ends = roles.intervals.get(model)
        own = more if ends is None else {**more, "interval": (found[ends[0]], found[ends[1]], ends[2])}
        table = TABLE_KINDS.find(kind).read(found[roles.truth], found[column], weight, **own)
        held[model] = table, np.arange(found[column].size, dtype=np.int32)
    return held


def _of_classes(sample: Sample, found: Mapping[str, NDArray[Any]], costs: CostMatrix | None) -> Celled:
    """The tables of models that score every class, and their least-cost decisions."""
    roles, held = sample.roles, Celled()
    if sample.positive is not None or not roles.class_scores:
        return held
    weight, group = found[roles.weight] if roles.weight else None, _coded(found, roles.group)
    codes = found[roles.truth]
    for model, by_class in roles.class_scores.items():
        classes = sample.with_classes(by_class)
        score = np.stack([found[by_class[one]] for one in classes])
        table = ClassTable(score, codes.astype(np.intp), classes, weight, group, roles.copies)
        held[model] = table, np.arange(codes.size, dtype=np.int32)
        if costs is not None and table.probabilities:
            best = costs.aligned(classes).decide(score.T)
            groups = {"truth": codes, "place": best}
            groups |= {} if weight is None else {"weight": weight, "squares": weight**2}
            cell = codes.astype(np.int32) * np.int32(len(classes)) + best.astype(np.int32)
            held[f"{model} (least cost)"] = confusion_table(sample, classes, groups), cell
    return held


# --- decisions


def decided(sample: Sample, column: str, by: nw.Expr | None = None) -> tuple[tuple[str, ...], Groups]:
    """The classes that a column of decisions knows, and the weight of each pair of truth and decision (a place).

    They are added up inside the engine; `by` is a further key.
    """
    keys = {"truth": codes(sample), "value": label(sample.source.frame, column)}
    keys |= {} if by is None else {"slice": by}
    weights, total = weighing(sample.roles)
    groups = sample.source.arrays(sample.frame.select(*weights, **keys).group_by(*keys).agg(**total))
    values = groups.pop("value").tolist()
    labels = in_order(list(dict.fromkeys(values)))
    if len(labels) > MOST_CLASSES:
        raise too_many_labels(column, labels, f'scores="{column}" for numbers')
    texts = list(dict.fromkeys(map(label_text, labels)))
    if len(sample.classes) > 1 and not set(texts) & set(sample.classes):
        raise ColumnError(
            f"column {column!r} shares no label with column {sample.roles.truth!r}.",
            seen=f"{listing(texts)} and {listing(sample.classes)}",
            hint="the same labels in both columns",
        )
    classes = sample.with_classes(texts)
    return classes, groups | {"place": np.array([classes.index(label_text(one)) for one in values], dtype=np.int64)}


def confusion_table(sample: Sample, classes: tuple[str, ...], groups: Groups) -> ConfusionTable:
    """The table of pairs of truth and place among the classes, with their weights where they have some."""
    cell, size = groups["truth"].astype(np.int64) * len(classes) + groups["place"].astype(np.int64), len(classes)

    def matrix(name: str) -> NDArray[np.float64]:
        # DuckDB adds up in types that NumPy may not have; doubles hold every count up to 2^53.
        weight = groups[name].astype(np.float64) if name in groups else None
        return np.bincount(cell, weight, minlength=size**2).reshape(size, size).astype(np.float64)

    squares = matrix("squares") if "squares" in groups and not sample.roles.copies else None
    return ConfusionTable(matrix("weight"), classes, _positive_of(sample, classes), squares)


def _positive_of(sample: Sample, classes: tuple[str, ...]) -> int | None:
    """That of the sample, or the one that only the decisions revealed."""
    if sample.positive is not None:
        return sample.positive
    try:
        return positive_index(classes)
    except PositiveError:
        return None


def weighing(roles: Roles) -> tuple[list[nw.Expr], dict[str, nw.Expr]]:
    """The weight of a row and its square as columns, and how a group adds them up; without weights its rows count."""
    if roles.weight is None:
        return [], {"weight": nw.len()}
    w = number(roles.weight)  # squared before it is added up: some engines add up plain columns only
    return [w.alias("weight"), (w * w).alias("squares")], {one: nw.col(one).sum() for one in ("weight", "squares")}


def codes(sample: Sample) -> nw.Expr:
    """The truth as codes into the classes, mapped inside the engine."""
    truth: nw.Expr = label(sample.source.frame, sample.roles.truth)
    values, places = list(sample.labels), list(sample.labels.values())
    if sorted(places) == [0, 1]:  # the commonest case: one comparison is several times faster than a lookup
        return (truth == values[places.index(1)]).cast(nw.Int8)
    return truth.replace_strict(values, places, default=-1, return_dtype=nw.Int16)


# --- the rows themselves


def columns(sample: Sample, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Columns of the rows in use, aligned: the truth as codes into the classes, scores and weight as doubles."""
    numbers = {column for role, column in sample.roles.columns() if role in ("score", "number", "weight")}
    wanted = list(dict.fromkeys(names))
    if wanted and all(one in sample.kept for one in wanted):
        return {one: sample.kept[one] for one in wanted}
    absent = [one for one in wanted if one not in sample.source.columns]
    if absent:
        raise absent_column(absent[0], sample.source)
    schema = sample.source.frame.collect_schema()
    checked = {one: number(one) if one in numbers else name(one, schema[one]) for one in wanted}
    if sample.roles.truth in checked and not sample.roles.numbers:
        checked[sample.roles.truth] = codes(sample)
    found = sample.source.arrays(sample.frame.select(*(each.alias(one) for one, each in checked.items())))
    arrays = {one: unmasked(found[one]) for one in wanted}
    long = [one for one in wanted if one not in numbers and _is_long(arrays[one])]
    if long:
        whole = replace(sample, source=sample.source.written_out(long))
        again = whole.source.arrays(whole.frame.select(*long))
        arrays |= {one: unmasked(again[one]) for one in long}
    told = {one: array if one in numbers else _as_written(array) for one, array in arrays.items()}
    if sample.roles.truth in told and not sample.roles.numbers:
        sample.kept[sample.roles.truth] = told[sample.roles.truth]
    return told


def _is_long(array: NDArray[Any]) -> bool:
    """Whether doubles are so large that they may have lost digits."""
    return array.dtype.kind == "f" and bool(np.any(np.abs(array[np.isfinite(array)]) >= MOST_EXACT))


def _as_written(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such: files are read as doubles, and nobody calls case 7 "7.0"."""
    if array.dtype.kind != "f" or not np.all(np.abs(array) < MOST_EXACT) or np.any(array != np.floor(array)):
        return array
    return array.astype(np.int64)
