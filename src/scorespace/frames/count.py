"""From a checked sample to tables: the only group-bys, and the place that knows what engines get wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.conditions import CostMatrix
from scorespace.errors import ColumnError, DataError, PositiveError, listing
from scorespace.frames.check import (
    MOST_CLASSES,
    MOST_SCORE,
    Sample,
    Seen,
    check,
    in_order,
    label,
    number,
    refuse_nested,
    refuse_wrong_kinds,
    too_many_labels,
)
from scorespace.frames.memory import rows_of
from scorespace.frames.roles import Roles, absent_column
from scorespace.frames.slices import SLICE, Sliced
from scorespace.frames.source import Frame, Source
from scorespace.frames.sums import Needs, error_sums, tally_numbers
from scorespace.tables import ClassBins, ClassTable, ConfusionTable, ScoreTable, Table, score_table
from scorespace.tables.bins import BITS, MIDDLE, cell, numbered, parted
from scorespace.tables.kind import TABLE_KINDS
from scorespace.tables.labels import encode, label_text, positive_index
from scorespace.tables.lead import MOST_CLASSES as MOST_LED
from scorespace.tables.lead import LeadTable, lead_table
from scorespace.tables.pair import PAIR_BITS, PairTable, binned_pair, paired
from scorespace.tables.score import LEAST_SIZE, MOST_EXACT, coarse_table


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
    if sample.roles.numbers:
        if in_engine and sample.roles.summed:
            return dict(error_sums(sample))
        return {model: table for model, (table, _) in _of_numbers(sample).items()}
    scored = _score_tables_in_engine(sample) if in_engine else _score_tables_in_memory(sample)
    decided = {model: _confusion_table(sample, column) for model, column in sample.roles.decisions.items()}
    return {**scored, **_tables_of_classes(sample, costs), **decided}


def pair(sample: Sample, *, costs: CostMatrix | None = None) -> PairTable:
    """All models side by side, case by case, with their tables: every model is sorted once."""
    roles, positive = sample.roles, sample.positive
    of_classes = [column for by_class in roles.class_scores.values() for column in by_class.values()]
    beside = [name for name in (roles.weight, roles.group, roles.fold, roles.repeat, roles.time) if name]
    found = columns(sample, [roles.truth, *roles.scores.values(), *of_classes, *roles.decisions.values(), *beside])
    codes, weight = found[roles.truth], found[roles.weight] if roles.weight else None
    if roles.numbers:
        return _paired_numbers(sample, found)
    held: dict[str, tuple[Table, NDArray[np.int32]]] = {}
    ranked = {model: found[column].astype(np.float64) for model, column in _ranking(sample).items()}
    if ranked and positive is not None:
        together = paired(codes, ranked, None, sample.classes, positive, weight, roles.copies)
        held |= dict(zip(together.models, zip(together.tables, together.cell, strict=True), strict=True))
    for model, table, cells_of in _of_classes(sample, found, costs):
        held[model] = table, cells_of
    for model, column in roles.decisions.items():
        table = _confusion_table(sample, column)
        decided, labels = encode(found[column], column)
        place = np.array([table.classes.index(name) for name in labels], dtype=np.int32)[decided]
        held[model] = table, codes.astype(np.int32) * np.int32(len(table.classes)) + place
    tables, cells = zip(*held.values(), strict=True)
    group, fold, repeat = (
        encode(found[name], name)[0].astype(np.int32) if name is not None else None
        for name in (roles.group, roles.fold, roles.repeat)
    )
    classes, positive = tables[0].class_names, _positive_of(sample, tables[0].class_names)
    return PairTable(tuple(held), tables, np.stack(cells), codes, classes, positive, group, fold, repeat, weight)


def _of_numbers(sample: Sample) -> dict[str, tuple[Table, NDArray[np.int32]]]:
    """The tables of models whose truth is a number, each cell a case."""
    roles = sample.roles
    found = columns(sample, [column for role, column in roles.columns() if role in ("number", "weight")])
    weight = found[roles.weight] if roles.weight else None
    more: dict[str, Any] = {"copies": True} if roles.copies else {}
    if roles.baseline is not None:
        more["baseline"] = found[roles.baseline] if isinstance(roles.baseline, str) else roles.baseline
    held = {}
    for model, (kind, column) in roles.numbers.items():
        ends = roles.intervals.get(model)
        own = more if ends is None else {**more, "interval": (found[ends[0]], found[ends[1]])}
        table = TABLE_KINDS.find(kind).function(found[roles.truth], found[column], weight, **own)
        held[model] = table, np.arange(found[column].size, dtype=np.int32)
    return held


def _paired_numbers(sample: Sample, found: Mapping[str, NDArray[Any]]) -> PairTable:
    roles = sample.roles
    tables, cells = zip(*_of_numbers(sample).values(), strict=True)
    code = np.zeros(cells[0].size, dtype=np.uint8)
    group, fold, repeat, time = (
        encode(found[name], name)[0].astype(np.int32) if name is not None else None
        for name in (roles.group, roles.fold, roles.repeat, roles.time)
    )
    weight = found[roles.weight] if roles.weight else None
    held = np.stack(cells)
    return PairTable(tuple(roles.numbers), tables, held, code, (), None, group, fold, repeat, weight, time)


def _ranking(sample: Sample) -> dict[str, str]:
    """The columns that score the positive class, by model: where one is positive, its own score is enough."""
    of_positive: dict[str, str] = {}
    if sample.positive is not None:
        positive = sample.classes[sample.positive]
        of_positive = {model: by_class[positive] for model, by_class in sample.roles.class_scores.items()}
    return {**sample.roles.scores, **of_positive}


def columns(sample: Sample, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Columns of the rows in use, aligned: the truth as codes into the classes, scores and weight as doubles."""
    numbers = {column for role, column in sample.roles.columns() if role in ("score", "number", "weight")}
    wanted = list(dict.fromkeys(names))
    if wanted and all(name in sample.kept for name in wanted):
        return {name: sample.kept[name] for name in wanted}
    absent = [name for name in wanted if name not in sample.source.columns]
    if absent:
        raise absent_column(absent[0], sample.source)
    schema = sample.source.frame.collect_schema()
    checked = {name: number(name) if name in numbers else _named(name, schema[name]) for name in wanted}
    if sample.roles.truth in checked and not sample.roles.numbers:
        checked[sample.roles.truth] = _codes(sample)
    found = sample.source.arrays(sample.frame.select(*(each.alias(name) for name, each in checked.items())))
    arrays = {name: _unmasked(found[name]) for name in wanted}
    long = [name for name in wanted if name not in numbers and _is_long(arrays[name])]
    if long:
        whole = replace(sample, source=sample.source.written_out(long))
        again = whole.source.arrays(whole.frame.select(*long))
        arrays |= {name: _unmasked(again[name]) for name in long}
    told = {name: array if name in numbers else _as_written(array) for name, array in arrays.items()}
    if sample.roles.truth in told and not sample.roles.numbers:
        sample.kept[sample.roles.truth] = told[sample.roles.truth]
    return told


def _score_tables_in_memory(sample: Sample) -> dict[str, ScoreTable]:
    ranked, roles = _ranking(sample), sample.roles
    if not ranked:
        return {}
    found = columns(sample, [roles.truth, *ranked.values(), *([roles.weight] if roles.weight else [])])
    weight = found[roles.weight] if roles.weight else None
    codes = found[roles.truth]
    return {model: _score_table(sample, codes, found[column], weight) for model, column in ranked.items()}


def _score_tables_in_engine(sample: Sample) -> dict[str, ScoreTable]:
    tables = {}
    for model, column in _ranking(sample).items():
        groups = _groups(sample, number(column))
        # -0.0 and 0.0 may still be apart here; the table merges equal scores.
        table = _score_table(sample, groups["truth"], groups["value"], groups["weight"])
        if sample.roles.weight is None:  # a group of cases is as many, and not one that weighs more
            tables[model] = replace(table, counts=table.counts.astype(np.int64), squares=None)
        else:
            squares = _score_table(sample, groups["truth"], groups["value"], groups["squares"]).counts
            tables[model] = replace(table, squares=None if sample.roles.copies else squares)
    return tables


def _score_table(sample: Sample, codes: NDArray[Any], score: NDArray[Any], weight: NDArray[Any] | None) -> ScoreTable:
    positive = None if sample.positive is None else sample.classes[sample.positive]
    copies = sample.roles.copies
    return score_table(codes, score, classes=sample.classes, positive=positive, weight=weight, copies=copies)


def _tables_of_classes(sample: Sample, costs: CostMatrix | None) -> dict[str, Table]:
    roles = sample.roles
    if sample.positive is not None or not roles.class_scores:
        return {}
    of_classes = [column for by_class in roles.class_scores.values() for column in by_class.values()]
    beside = [name for name in (roles.weight, roles.group) if name]
    found = columns(sample, [roles.truth, *of_classes, *beside])
    return {model: table for model, table, _ in _of_classes(sample, found, costs)}


def _of_classes(
    sample: Sample, found: Mapping[str, NDArray[Any]], costs: CostMatrix | None
) -> Iterator[tuple[str, Table, NDArray[np.int32]]]:
    """The tables of models that score every class, and their least-cost decisions, with the cell of each case."""
    roles = sample.roles
    if sample.positive is not None:
        return
    weight = found[roles.weight] if roles.weight else None
    group = encode(found[roles.group], roles.group)[0].astype(np.int32) if roles.group else None
    codes = found[roles.truth]
    for model, by_class in roles.class_scores.items():
        classes = tuple(dict.fromkeys([*sample.classes, *by_class]))  # new labels last, as for decisions
        score = np.stack([found[by_class[name]] for name in classes])
        table = ClassTable(score, codes.astype(np.intp), classes, weight, group, roles.copies)
        yield model, table, np.arange(codes.size, dtype=np.int32)
        if costs is not None and table.probabilities:
            best = costs.aligned(classes).decide(score.T)
            cell = codes.astype(np.int32) * np.int32(len(classes)) + best.astype(np.int32)
            squares = None if weight is None else weight**2
            yield f"{model} (least cost)", _decided(sample, classes, codes, best, weight, squares), cell


def _decided(
    sample: Sample,
    classes: tuple[str, ...],
    codes: NDArray[Any],
    decided: NDArray[Any],
    weight: NDArray[Any] | None,
    squares: NDArray[Any] | None,
) -> ConfusionTable:
    cell, shape = codes.astype(np.int64) * len(classes) + decided, (len(classes), len(classes))
    matrix = np.bincount(cell, weight, minlength=len(classes) ** 2).reshape(shape)
    own = squares is not None and sample.roles.weight is not None and not sample.roles.copies
    squared = np.bincount(cell, squares, minlength=len(classes) ** 2).reshape(shape) if own else None
    return ConfusionTable(matrix.astype(np.float64), classes, _positive_of(sample, classes), squared)


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
    return _decided(sample, classes, groups["truth"], place, groups["weight"], groups["squares"])


def _positive_of(sample: Sample, classes: tuple[str, ...]) -> int | None:
    """That of the sample, or the one that only the decisions revealed."""
    if sample.positive is not None:
        return sample.positive
    try:
        return positive_index(classes)
    except PositiveError:
        return None


# --- inside the engine


_RANGES: Final = 32
"""Into how many stretches of scores the second pass looks."""


def tally(
    source: Source,
    roles: Roles,
    *,
    missing: str = "error",
    order: Sequence[Any] = (),
    bits: int = BITS,
    edges: Sequence[float] = (),
    precision: float | None = None,
    costs: CostMatrix | None = None,
    whole: bool = False,
    needs: Needs | None = None,
) -> tuple[Sample, dict[str, Table]]:
    """The sample and the tables of its models from one pass for each model, inside the engine.

    Scores fall into bins of so many bits less, or into none (0); no bin straddles an edge. The pass that counts
    also sees whether all is in order, and only if it is not, a further one looks for what is wrong. With `precision`,
    a second pass splits the bins that leave more of the AUC open. `whole` brings the cases of models that score several
    classes here. `needs` lists the terms of the measures of predicted numbers that will be asked for, None is any.

    >>> from scorespace.frames import read, roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> tally(source, roles(source, truth="y", scores="nb"))[1]["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 bins
    """
    if roles.summed:
        numbers, sums = tally_numbers(source, roles, missing=missing, order=order, needs=needs)
        return numbers, dict(sums)
    refuse_wrong_kinds(source, roles)
    counted: dict[str, Groups] = {}
    alone = roles.scores and not (roles.decisions or roles.class_scores or roles.numbers or roles.group or roles.fold)
    if alone and len(first := _first_labels(source, roles.truth)) <= MOST_CLASSES:
        counted = {c: _bins(source, source.frame, roles, c, bits, edges, first=first) for c in roles.scores.values()}
    seen = _seen(roles, counted)
    sample = check(source, roles, missing, order, seen)
    ranked = _ranking(sample)
    if seen is None:
        first = list(sample.labels)
        counted = {
            c: _bins(source, sample.frame, roles, c, bits, edges, first=first) for c in dict.fromkeys(ranked.values())
        }
    tables: dict[str, Table] = {}
    for model, column in ranked.items():
        table = _binned_table(sample, counted[column], bits, edges)
        table = table if precision is None else _refined(sample, column, table, precision)
        tables[model] = table if bits else table.uncertain()  # nothing was rounded away: it is exact
    decided = {model: _confusion_table(sample, column) for model, column in roles.decisions.items()}
    several = _tables_of_classes(sample, costs) if whole else _class_bins(sample, bits)
    return sample, {**tables, **several, **decided}


def tally_slices(found: Sliced, *, bits: int = BITS, edges: Sequence[float] = ()) -> dict[str, dict[str, Table]]:
    """The tables of every slice of a sample, inside the engine: scores and decisions by one group-by for all slices.

    Sums of errors and bins of several classes take a pass for each slice.
    """
    sample, roles, key = found.sample, found.sample.roles, nw.col(SLICE)
    tables: dict[int, dict[str, Table]] = {code: {} for code in found.names}
    if roles.numbers:
        return {name: dict(error_sums(found.part(code))) for code, name in found.names.items()}
    for model, column in _ranking(sample).items():
        labels = label(sample.frame, roles.truth)
        groups = _grouped(sample.source, sample.frame, roles, number(column), labels, bits, edges, by=key)
        for code in found.names:
            table = _binned_table(sample, _of_slice(groups, code), bits, edges)
            tables[code][model] = table if bits else table.uncertain()
    for model, column in roles.decisions.items():
        value = label(sample.source.frame, column)
        groups, classes = _groups(sample, value, by=key), _confusion_table(sample, column).classes
        for code in found.names:
            own = _of_slice(groups, code)
            place = np.array([classes.index(label_text(one)) for one in own["value"].tolist()], dtype=np.int64)
            tables[code][model] = _decided(sample, classes, own["truth"], place, own["weight"], own["squares"])
    if roles.class_scores:
        for code in found.names:
            tables[code] |= _class_bins(found.part(code), bits)
    return {name: tables[code] for code, name in found.names.items()}


def _of_slice(groups: Groups, code: int) -> Groups:
    """The groups of one slice."""
    own = np.asarray(groups["slice"]).astype(np.int64) == code
    return {name: column[own] for name, column in groups.items() if name != "slice"}


def _class_bins(sample: Sample, bits: int) -> dict[str, Table]:
    """The bins of models that score every class: a group-by for each class, the highest score, and the decisions."""
    roles, found = sample.roles, dict[str, Table]()
    if sample.positive is not None:
        return found
    for model, by_class in roles.class_scores.items():
        classes = tuple(dict.fromkeys([*sample.classes, *by_class]))
        scores = [number(by_class[name]) for name in classes]
        highest = nw.max_horizontal(*scores)
        decided = nw.lit(len(classes) - 1)
        for k in reversed(range(len(classes) - 1)):  # of several that are highest, the first
            decided = nw.when(scores[k] == highest).then(nw.lit(k)).otherwise(decided)
        # The highest of the others; where two are highest, that is the highest itself.
        others = (
            nw.when(nw.col("the decision") == k).then(nw.lit(None)).otherwise(score) for k, score in enumerate(scores)
        )
        off = (nw.sum_horizontal(*scores) - 1).abs()
        frame = sample.frame.with_columns(
            _codes(sample).cast(nw.Int64).alias("the truth"),
            decided.cast(nw.Int64).alias("the decision"),
            highest.alias("the highest"),
            off.alias("the excess"),
        )
        frame = frame.with_columns((nw.col("the highest") - nw.max_horizontal(*others)).alias("the lead"))
        truth, right = nw.col("the truth"), (nw.col("the truth") == nw.col("the decision")).cast(nw.Int64)
        tables = []
        for k, score in enumerate(scores):
            groups = _grouped(sample.source, frame, roles, score, truth, bits)
            table = _table_of(groups, {code: code for code in range(len(classes))}, classes, classes[k], roles, bits)
            tables.append(table if bits else table.uncertain())
        groups = _grouped(sample.source, frame, roles, nw.col("the highest"), right, bits)
        top = _table_of(groups, {0: 0, 1: 1}, ("wrong", "right"), "right", roles, bits)
        found[model] = _with_decisions(sample, frame, classes, tables, top if bits else top.uncertain())
    return found


def _with_decisions(
    sample: Sample, frame: Frame, classes: tuple[str, ...], tables: Sequence[ScoreTable], top: ScoreTable
) -> ClassBins:
    """The tables of the classes with the decisions by the highest score, and how far scores are from adding up."""
    weight = sample.roles.weight
    chosen = [nw.col(name) for name in ("the truth", "the decision", "the excess")]
    if weight:
        chosen += [number(weight).alias("weight"), (number(weight) * number(weight)).alias("squares")]
    total = {"weight": nw.col("weight").sum(), "squares": nw.col("squares").sum()} if weight else {"weight": nw.len()}
    grouped = (
        frame.select(*chosen).group_by("the truth", "the decision").agg(excess=nw.col("the excess").max(), **total)
    )
    found = sample.source.arrays(grouped)
    sums = {name: found[name].astype(np.float64) for name in total}
    codes, decided = (found[name].astype(np.int64) for name in ("the truth", "the decision"))
    matrix = _decided(sample, classes, codes, decided, sums["weight"], sums.get("squares"))
    excess = float(found["excess"].astype(np.float64).max(initial=0.0))
    leads = _leads(sample, frame, classes) if len(classes) <= MOST_LED else None
    return ClassBins(tuple(tables), matrix, top, excess, leads)


def _leads(sample: Sample, frame: Frame, classes: tuple[str, ...]) -> LeadTable:
    """The decisions by how far the highest score is ahead: one more group-by."""
    lead, weight = nw.col("the lead"), sample.roles.weight
    chosen = [nw.col(name) for name in ("the truth", "the decision", "the lead")]
    chosen += [number(weight).alias("weight")] if weight else []
    total = nw.col("weight").sum() if weight else nw.len()
    held = frame.select(*chosen, cell(lead, PAIR_BITS, _choose).alias("cell"))
    groups = held.group_by("the truth", "the decision", "cell").agg(weight=total, low=lead.min(), high=lead.max())
    found = sample.source.arrays(groups)
    low, high, weights = (found[name].astype(np.float64) for name in ("low", "high", "weight"))
    codes, decided = (found[name].astype(np.int64) for name in ("the truth", "the decision"))
    return lead_table(low, codes, decided, weights, classes, high)


def couples(
    sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()
) -> dict[tuple[str, str], PairTable]:
    """Of every two models with scores, how many cases of each class share a bin of the one and a bin of the other.

    One group-by for every two of them, inside the engine, by some hundred bins of each model.
    """
    scored = {model for model, table in tables.items() if table.thresholded}
    held = {model: column for model, column in _ranking(sample).items() if model in scored}
    if sample.positive is None or sample.roles.weight is not None:
        return {}
    return {couple: _together(sample, {m: held[m] for m in couple}, tables, edges) for couple in combinations(held, 2)}


_MOST_ROWS: Final = 20_000_000
"""Of groups and bins, beyond which they are as many as the cases."""


def grouped_bins(sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()) -> PairTable:
    """How many cases of each group and class share a bin of every model, so that groups can be drawn whole."""
    return _together(sample, _ranking(sample), tables, edges, sample.roles.group)


def _together(
    sample: Sample,
    held: Mapping[str, str],
    tables: Mapping[str, Table],
    edges: Sequence[float],
    group: str | None = None,
) -> PairTable:
    """The one group-by of several models: by their bins and the class, and by the group where one is named."""
    keys = {model: f"bin {k}" for k, model in enumerate(held)}
    scores = {model: nw.col(f"score {k}") for k, model in enumerate(held)}
    own = [] if group is None else [_named(group, sample.source.frame.collect_schema()[group]).alias("group")]
    frame = sample.frame.select(
        _codes(sample).alias("truth"), *own, *(number(held[m]).alias(f"score {k}") for k, m in enumerate(held))
    )
    frame = frame.with_columns(*(cell(scores[m], PAIR_BITS, _choose).alias(key) for m, key in keys.items()))
    for edge in edges:
        frame = frame.with_columns(
            *(parted(nw.col(key), scores[m], edge, _choose).alias(key) for m, key in keys.items())
        )
    names = ["truth", *([] if group is None else ["group"]), *keys.values()]
    rows = frame.select(*names).group_by(*names).agg(rows=nw.len())
    if group is not None:
        size = int(sample.source.arrays(rows.select(nw.len().alias("size")))["size"][0])
        if size > _MOST_ROWS:
            raise DataError(
                f"column {group!r} names so many groups that they are not counted in bins.",
                seen=f"{size} rows of a group, a class and a bin",
                hint="more memory, fewer and larger groups, or a sample of whole groups",
            )
    groups = sample.source.arrays(rows)
    table = tables[next(iter(held))]
    codes = np.array([table.class_names.index(name) for name in sample.classes])[groups["truth"].astype(np.intp)]
    numbers = None if group is None else encode(_unmasked(groups["group"]), group)[0].astype(np.int32)
    bins, times = {model: groups[key] for model, key in keys.items()}, groups["rows"].astype(np.int64)
    positive = table.class_names.index(table.positive_name or "")
    return binned_pair(bins, codes, times, table.class_names, positive, numbers)


Groups = dict[str, NDArray[Any]]
"""Of each bin and label: the rows and their weight, the lowest and highest score, and sums of the scores."""


def _bins(
    source: Source,
    frame: Frame,
    roles: Roles,
    column: str,
    bits: int,
    edges: Sequence[float],
    among: Any = None,
    first: Sequence[Any] = (),
) -> Groups:
    """The bins of a column of scores by label; `first` are the labels of the first rows."""
    score, labels = number(column), label(frame, roles.truth)
    if source.ranged is not None and frame is source.ranged[0] and bits == BITS and among is None:
        found = _numbered(source, source.ranged[1](), roles, score, labels, edges, first)
        if found is not None:
            return found
    return _grouped(source, frame if among is None else frame.filter(among), roles, score, labels, bits, edges)


def _numbered(
    source: Source,
    frame: Frame,
    roles: Roles,
    score: nw.Expr,
    labels: nw.Expr,
    edges: Sequence[float],
    first: Sequence[Any],
) -> Groups | None:
    """The bins of the middle by their number, which takes half the time of hashing them; a second scan sees the others.

    Only where files tell the range of each column, and of two labels. NaN is in no range, so that it fails or is not
    seen, as a third label is not: then None.
    """
    if first and all(type(one) is int and one in (0, 1) for one in first):
        two, known, code = [0, 1], (labels >= 0) & (labels <= 1), labels  # a range that files tell takes no time
    elif len(first) == 2 and not any(one is None or one != one for one in first):
        two = list(first)
        known, code = labels.is_in(two), _choose(labels == two[1], 1, 0)
    else:
        return None
    low, high = MIDDLE
    inner, outer = (score >= low) & (score <= high) & known, (score < low) | (score > high) | score.is_null()
    try:
        middle = _grouped(source, frame.filter(inner), roles, score, code, BITS, edges, numbers=True)
        rest = _grouped(source, frame.filter(outer), roles, score, labels, BITS, edges)
    except DataError:
        return None
    key = middle.pop("key")
    if hasattr(key, "mask"):
        return None
    if roles.weight is not None:
        key, middle["used"] = key // 2, key % 2 == 1
    middle |= {"cell": (key // 2).astype(np.float64), "label": np.array(two, rest["label"].dtype)[key % 2]}
    found = {name: _end_to_end([middle[name], column]) for name, column in rest.items()}
    return found if int(found["rows"].sum()) == rows_of(source) else None


def _end_to_end(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if any(hasattr(part, "mask") for part in parts):  # np.ma itself takes 15 ms to load
        joined: NDArray[Any] = np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
        return joined
    return np.concatenate(parts)


def _grouped(
    source: Source,
    chosen: Frame,
    roles: Roles,
    score: nw.Expr,
    labels: nw.Expr,
    bits: int,
    edges: Sequence[float] = (),
    numbers: bool = False,
    by: nw.Expr | None = None,
) -> Groups:
    """The one group-by of scores: by bin and label, whether a row has any weight, and a further key where there is one.

    Where bins have a number and labels are 0 and 1, one whole number for the first three: rows that are added up alike
    then lie close together, which takes two thirds of the time.
    """
    weight = None if roles.weight is None else number(roles.weight)
    named = [score.alias("score"), labels.alias("label")]
    if weight is not None:
        named += [weight.alias("weight"), (weight != 0).alias("used")]
    if by is not None:
        named.append(by.alias("slice"))
    # Step by step: an expression that stands in another one twice would be computed twice.
    held = chosen.select(*named, (numbered(score, bits) if numbers else cell(score, bits, _choose)).alias("cell"))
    x, w = nw.col("score"), nw.col("weight")
    for edge in edges:
        # A bin has one number more for each edge below: so those of the parts of a bin differ.
        above = nw.col("cell") + _choose(x >= edge, 1, 0)
        held = held.with_columns((above if numbers else parted(nw.col("cell"), x, edge, _choose)).alias("cell"))
    # Products are made here: some engines add up plain columns only.
    products = {"first": x, "second": x * x}
    found: dict[str, nw.Expr] = {"rows": nw.len(), "low": x.min(), "high": x.max()}
    if weight is not None:
        products = {**{name: one * w for name, one in products.items()}, "squares": w * w}
        found |= {"weight": w.sum(), "least": w.min()}
    found |= {name: nw.col(name).sum() for name in products}
    names = ["cell", "label", *(["used"] if weight is not None else [])]
    further = ["slice"] if by is not None else []
    kept = [nw.col(name) for name in [*names, *further, "score", *(["weight"] if weight is not None else [])]]
    if numbers:
        key = nw.col("cell") * 2 + nw.col("label")
        key = key if weight is None else key * 2 + nw.col("used").cast(nw.Int8)
        names, kept = ["key"], [key.cast(nw.Int64).alias("key"), *kept[len(names) :]]
    names += further
    made = held.select(*kept, *(one.alias(name) for name, one in products.items()))
    return source.arrays(made.group_by(*names).agg(**found))


def _choose(condition: Any, one: Any, other: Any) -> Any:
    """What np.where is for arrays; where the condition is unknown, because a value is missing, so is the outcome."""
    return nw.when(condition).then(one).otherwise(other)


def _first_labels(source: Source, truth: str) -> list[Any]:
    """The labels of the first rows: where they are more than classes can be, the truth is none, and not grouped by."""
    first = source.frame.select(label(source.frame, truth).alias("label")).head(20 * MOST_CLASSES)
    return list(dict.fromkeys(source.arrays(first.unique(subset=["label"]))["label"].tolist()))


def _seen(roles: Roles, counted: Mapping[str, Groups]) -> Seen | None:
    """What the groups tell of the rows, if all of them are in order; else nothing, and the rows are looked at."""
    if not counted or not all(_ordinary(groups, roles.weight is not None) for groups in counted.values()):
        return None
    groups = next(iter(counted.values()))
    used = _used(groups)
    labels, place = _distinct(groups["label"][used])
    if not labels or len(labels) > MOST_CLASSES:
        return None
    sizes = np.zeros(len(labels), dtype=np.int64)
    np.add.at(sizes, place, groups["rows"][used])
    return Seen(int(groups["rows"].sum()), int(sizes.sum()), dict(zip(labels, sizes.tolist(), strict=True)))


def _distinct(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The labels that occur, and which of them each is: text is not sorted, for hashing it is quicker."""
    if labels.dtype != object:
        values, place = np.unique(labels, return_inverse=True)
        return values.tolist(), place
    found: dict[Any, int] = {}
    place = np.fromiter((found.setdefault(one, len(found)) for one in labels.tolist()), np.intp, labels.size)
    return list(found), place


def _ordinary(groups: Groups, weighted: bool) -> bool:
    """Whether no score, label or weight in the groups is missing, infinite, or otherwise to be complained about."""
    if any(hasattr(column, "mask") and np.ma.is_masked(column) for column in groups.values()):
        return False
    ends = [np.asarray(groups[name], dtype=np.float64) for name in ("low", "high", "cell")]
    if not all(np.all(np.abs(end) <= MOST_SCORE) for end in ends):  # NaN is not, either
        return False
    labels = groups["label"]
    if labels.dtype.kind == "f" and not np.all((np.abs(labels) < MOST_EXACT) & (labels == np.floor(labels))):
        return False
    if labels.dtype == object and any(value is None or value != value for value in labels.tolist()):
        return False
    if not weighted:
        return True
    weight = np.asarray(groups["weight"], dtype=np.float64)
    positive = bool(np.all(np.asarray(groups["least"], dtype=np.float64) >= 0))
    sized = bool(np.all((weight == 0) | (weight >= LEAST_SIZE)))
    return positive and sized and bool(np.isfinite(weight).all()) and float(weight.sum()) < MOST_EXACT


def _used(groups: Groups) -> NDArray[np.bool_]:
    """The groups of rows that have a weight."""
    return np.asarray(groups["used"], dtype=bool) if "used" in groups else np.ones(groups["rows"].size, dtype=bool)


def _binned_table(sample: Sample, groups: Groups, bits: int, edges: Sequence[float]) -> ScoreTable:
    """The table of the groups."""
    positive = None if sample.positive is None else sample.classes[sample.positive]
    return _table_of(groups, sample.labels, sample.classes, positive, sample.roles, bits, edges)


def _table_of(
    groups: Groups,
    labels: Mapping[Any, int],
    classes: tuple[str, ...],
    positive: str | None,
    roles: Roles,
    bits: int,
    edges: Sequence[float] = (),
) -> ScoreTable:
    used = _used(groups)
    values, place = _distinct(groups["label"][used])
    codes = np.array([labels[value] for value in values], dtype=np.intp)[place]
    rows = groups["rows"][used].astype(np.int64)
    weight = groups["weight"][used].astype(np.float64) if "weight" in groups else rows
    squares = groups["squares"][used].astype(np.float64) if "weight" in groups and not roles.copies else None
    low, high, first, second = (groups[name][used].astype(np.float64) for name in ("low", "high", "first", "second"))
    if np.isnan(low).any():
        raise DataError(
            "some scores are NaN, which DuckDB overlooks in Parquet.",
            seen="a frame of DuckDB, whose settings are its own",
            hint="the path of the file instead of the frame",
        )
    return coarse_table(codes, weight, squares, low, high, first, second, classes, positive, bits, edges)


def _refined(sample: Sample, column: str, table: ScoreTable, precision: float) -> ScoreTable:
    """The table with the bins split that leave more of the AUC open than is asked: one more pass over their rows.

    A bit less halves what a bin leaves open, unless its scores crowd in a part of it: then a further pass follows.
    """
    while table.bins is not None and table.bins.bits and (share := table.open_pairs).sum() > precision:
        order = np.argsort(share)
        chosen = np.zeros(share.size, dtype=bool)
        chosen[order[np.cumsum(share[order]) > precision / 2]] = True
        starts, ends = _stretches(chosen)
        for start, end in zip(starts, ends, strict=True):
            chosen[start : end + 1] = True
        stretches = zip(table.bins.low[ends].tolist(), table.bins.high[starts].tolist(), strict=True)
        score = number(column)
        among = nw.any_horizontal(*((score >= low) & (score <= high) for low, high in stretches), ignore_nulls=True)
        more = 1 + math.ceil(math.log2(float(share[chosen].sum()) / (precision / 2))) if precision else BITS
        bits, edges = max(0, table.bins.bits - max(4, more)), table.bins.edges
        groups = _bins(sample.source, sample.frame, sample.roles, column, bits, edges, among)
        table = table.refined(chosen, _binned_table(sample, groups, bits, edges))
    return table


def _stretches(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of chosen bins begin and end; of many runs, those with the shortest gaps between them become one.

    >>> _stretches(np.array([True, False, True, True]))
    (array([0, 2]), array([0, 3]))
    """
    change = np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1) - 1
    if starts.size <= _RANGES:
        return starts, ends
    widest = np.sort(np.argsort(starts[1:] - ends[:-1])[-(_RANGES - 1) :])
    return np.append(starts[0], starts[1:][widest]), np.append(ends[:-1][widest], ends[-1])


def _groups(sample: Sample, value: nw.Expr, by: nw.Expr | None = None) -> dict[str, NDArray[Any]]:
    """The weight of each pair of class and value, summed inside the engine; `by` is a further key."""
    weight = sample.roles.weight
    chosen = [_codes(sample).alias("truth"), value.alias("value")]
    chosen += [] if by is None else [by.alias("slice")]
    if weight:  # squared here: some engines add up plain columns only
        chosen += [number(weight).alias("weight"), (number(weight) * number(weight)).alias("squares")]
    total = nw.col("weight").sum() if weight else nw.len()
    squares = nw.col("squares").sum() if weight else nw.len()
    keys = ["truth", "value", *([] if by is None else ["slice"])]
    grouped = sample.frame.select(*chosen).group_by(*keys).agg(weight=total, squares=squares)
    found = sample.source.arrays(grouped)
    # DuckDB adds up in types that NumPy may not have; doubles hold every count up to 2^53.
    return {**found, **{name: found[name].astype(np.float64) for name in ("weight", "squares")}}


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
    if not hasattr(array, "mask"):  # np.ma itself takes 15 ms to load
        return array
    if array.dtype.kind == "f":
        return np.ma.filled(array, np.nan)
    values = np.ma.getdata(array).astype(object)
    values[np.ma.getmaskarray(array)] = None  # filled(None) would mean NumPy's own filling
    return values
