"""Tables counted where the rows are: by bins of scores, from one pass for each model that also checks the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError
from scorespace.frames.check import MOST_CLASSES, Sample, Seen, check, refuse_wrong_kinds
from scorespace.frames.count import Groups, codes, confusion_table, decided, ranking, weighing
from scorespace.frames.memory import rows_of
from scorespace.frames.roles import Roles
from scorespace.frames.slices import SLICE, Sliced
from scorespace.frames.source import Frame, Source
from scorespace.frames.sums import Needs, error_sums, tally_numbers
from scorespace.frames.values import choose, label, name, number, unmasked
from scorespace.frozen import dataclass
from scorespace.tables import ClassBins, ScoreTable, Table
from scorespace.tables.bins import BITS, MIDDLE, cell, numbered, parted
from scorespace.tables.columns import LEAST_SIZE, MOST_EXACT
from scorespace.tables.labels import encode
from scorespace.tables.lead import MOST_CLASSES as MOST_LED
from scorespace.tables.lead import LeadTable, lead_table
from scorespace.tables.pair import PAIR_BITS, PairTable, binned_pair
from scorespace.tables.score import coarse_table

_RANGES: Final = 32
"""Into how many stretches of scores the second pass looks."""

_MOST_ROWS: Final = 20_000_000
"""Of groups and bins, beyond which they are as many as the cases."""


def tally(
    source: Source,
    roles: Roles,
    *,
    missing: str = "error",
    order: Sequence[Any] = (),
    bits: int = BITS,
    edges: Sequence[float] = (),
    precision: float | None = None,
    needs: Needs | None = None,
) -> tuple[Sample, dict[str, Table]]:
    """The sample and the tables of its models from one pass for each model, inside the engine.

    Scores fall into bins of so many bits less, or into none (0); no bin straddles an edge. The pass that counts
    also sees whether all is in order, and only if it is not, a further one looks for what is wrong. With `precision`,
    a second pass splits the bins that leave more of the AUC open. `needs` lists the terms of the measures of predicted
    numbers that will be asked for, None is any.

    >>> from scorespace.frames import read, roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> tally(source, roles(source, truth="y", scores="nb"))[1]["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 bins
    """
    if roles.summed:
        numbers, sums = tally_numbers(source, roles, missing=missing, order=order, needs=needs)
        return numbers, dict(sums)
    refuse_wrong_kinds(source, roles)
    scan, counted = _Scan(source, roles, bits, tuple(edges)), dict[str, Groups]()
    alone = roles.scores and not (roles.decisions or roles.class_scores or roles.numbers or roles.group or roles.fold)
    if alone and len(first := _first_labels(source, roles.truth)) <= MOST_CLASSES:
        counted = {column: scan.bins(source.frame, column, first) for column in roles.scores.values()}
    seen = _seen(roles, counted)
    sample = check(source, roles, missing, order, seen)
    ranked = ranking(sample)
    if seen is None:
        first = list(sample.labels)
        counted = {column: scan.bins(sample.frame, column, first) for column in dict.fromkeys(ranked.values())}
    tables: dict[str, Table] = {}
    for model, column in ranked.items():
        table = scan.table(sample, counted[column])
        tables[model] = scan.exact(table if precision is None else _refined(sample, column, table, precision))
    tables |= _class_bins(sample, bits)
    return sample, tables | {m: confusion_table(sample, *decided(sample, one)) for m, one in roles.decisions.items()}


def tally_slices(found: Sliced, *, bits: int = BITS, edges: Sequence[float] = ()) -> dict[str, dict[str, Table]]:
    """The tables of every slice of a sample, inside the engine: scores and decisions by one group-by for all slices.

    Sums of errors and bins of several classes take a pass for each slice.
    """
    sample, roles, key = found.sample, found.sample.roles, nw.col(SLICE)
    if roles.numbers:
        return {name: dict(error_sums(found.part(code))) for code, name in found.names.items()}
    scan = _Scan(sample.source, roles, bits, tuple(edges))
    tables: dict[int, dict[str, Table]] = {code: {} for code in found.names}
    for model, column in ranking(sample).items():
        groups = scan.grouped(sample.frame, number(column), label(sample.frame, roles.truth), by=key)
        for code in found.names:
            tables[code][model] = scan.exact(scan.table(sample, _of_slice(groups, code)))
    for model, column in roles.decisions.items():
        classes, groups = decided(sample, column, by=key)
        for code in found.names:
            tables[code][model] = confusion_table(sample, classes, _of_slice(groups, code))
    if roles.class_scores:
        for code in found.names:
            tables[code] |= _class_bins(found.part(code), bits)
    return {name: tables[code] for code, name in found.names.items()}


def _of_slice(groups: Groups, code: int) -> Groups:
    own = np.asarray(groups["slice"]).astype(np.int64) == code
    return {name: column[own] for name, column in groups.items() if name != "slice"}


# --- several classes


def _class_bins(sample: Sample, bits: int) -> dict[str, Table]:
    """The bins of models that score every class, where none of them is positive."""
    if sample.positive is not None:
        return {}
    scan = _Scan(sample.source, sample.roles, bits)
    return {model: _binned(sample, scan, by_class) for model, by_class in sample.roles.class_scores.items()}


def _binned(sample: Sample, scan: _Scan, by_class: Mapping[str, str]) -> ClassBins:
    """A group-by for each class, one for the highest score, and one for the decisions by it.

    The last also tells how far the scores are from adding up to one.
    """
    classes = sample.with_classes(by_class)
    scores = [number(by_class[name]) for name in classes]
    highest = nw.max_horizontal(*scores)
    place: nw.Expr = nw.lit(len(classes) - 1)
    for k in reversed(range(len(classes) - 1)):  # of several that are highest, the first
        place = choose(scores[k] == highest, nw.lit(k), place)
    # The highest of the others; where two are highest, that is the highest itself.
    others = (choose(nw.col("the decision") == k, nw.lit(None), score) for k, score in enumerate(scores))
    frame = sample.frame.with_columns(
        codes(sample).cast(nw.Int64).alias("the truth"),
        place.cast(nw.Int64).alias("the decision"),
        highest.alias("the highest"),
        (nw.sum_horizontal(*scores) - 1).abs().alias("the excess"),
    )
    frame = frame.with_columns((nw.col("the highest") - nw.max_horizontal(*others)).alias("the lead"))
    truth, decision = nw.col("the truth"), nw.col("the decision")
    same = {code: code for code in range(len(classes))}
    tables = (
        scan.exact(scan.table_of(scan.grouped(frame, score, truth), same, classes, name))
        for name, score in zip(classes, scores, strict=True)
    )
    groups = scan.grouped(frame, nw.col("the highest"), (truth == decision).cast(nw.Int64))
    top = scan.exact(scan.table_of(groups, {0: 0, 1: 1}, ("wrong", "right"), "right"))
    weights, total = weighing(sample.roles)
    held = frame.select("the excess", *weights, truth=truth, place=decision).group_by("truth", "place")
    found = sample.source.arrays(held.agg(excess=nw.col("the excess").max(), **total))
    excess = float(found["excess"].astype(np.float64).max(initial=0.0))
    leads = _leads(sample, frame, classes) if len(classes) <= MOST_LED else None
    return ClassBins(tuple(tables), confusion_table(sample, classes, found), top, excess, leads)


def _leads(sample: Sample, frame: Frame, classes: tuple[str, ...]) -> LeadTable:
    """The decisions by how far the highest score is ahead: one more group-by."""
    lead, (weights, total) = nw.col("the lead"), weighing(sample.roles)
    held = frame.select("the truth", "the decision", "the lead", *weights, cell(lead, PAIR_BITS, choose).alias("cell"))
    groups = held.group_by("the truth", "the decision", "cell").agg(
        low=lead.min(), high=lead.max(), weight=total["weight"]
    )
    found = sample.source.arrays(groups)
    low, high, weight = (found[one].astype(np.float64) for one in ("low", "high", "weight"))
    truth, place = (found[one].astype(np.int64) for one in ("the truth", "the decision"))
    return lead_table(low, truth, place, weight, classes, high)


# --- several models together


def couples(
    sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()
) -> dict[tuple[str, str], PairTable]:
    """Of every two models with scores, how many cases of each class share a bin of the one and a bin of the other.

    One group-by for every two of them, inside the engine, by some hundred bins of each model.
    """
    scored = {model for model, table in tables.items() if table.thresholded}
    held = {model: column for model, column in ranking(sample).items() if model in scored}
    if sample.positive is None or sample.roles.weight is not None:
        return {}
    return {couple: _together(sample, {m: held[m] for m in couple}, tables, edges) for couple in combinations(held, 2)}


def grouped_bins(sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()) -> PairTable:
    """How many cases of each group and class share a bin of every model, so that groups can be drawn whole."""
    return _together(sample, ranking(sample), tables, edges, sample.roles.group)


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
    own = [] if group is None else [name(group, sample.source.frame.collect_schema()[group]).alias("group")]
    frame = sample.frame.select(
        codes(sample).alias("truth"), *own, *(number(held[m]).alias(f"score {k}") for k, m in enumerate(held))
    )
    frame = frame.with_columns(*(cell(scores[m], PAIR_BITS, choose).alias(key) for m, key in keys.items()))
    for edge in edges:
        cut = (parted(nw.col(key), scores[m], edge, choose).alias(key) for m, key in keys.items())
        frame = frame.with_columns(*cut)
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
    truth = np.array([table.class_names.index(one) for one in sample.classes])[groups["truth"].astype(np.intp)]
    numbers = None if group is None else encode(unmasked(groups["group"]), group)[0].astype(np.int32)
    bins, times = {model: groups[key] for model, key in keys.items()}, groups["rows"].astype(np.int64)
    positive = table.class_names.index(table.positive_name or "")
    return binned_pair(bins, truth, times, table.class_names, positive, numbers)


# --- bins


@dataclass(frozen=True)
class _Scan:
    """How the rows of a source are grouped: into bins of so many bits less, none of which straddles an edge.

    Groups have, of each bin and label, the rows and their weight, the lowest and highest score, and sums of scores.
    """

    source: Source
    roles: Roles
    bits: int
    edges: tuple[float, ...] = ()

    def bins(self, frame: Frame, column: str, first: Sequence[Any] = ()) -> Groups:
        """The bins of a column of scores by label; `first` are the labels of the first rows."""
        score, labels, ranged = number(column), label(frame, self.roles.truth), self.source.ranged
        if ranged is not None and frame is ranged[0] and self.bits == BITS:
            found = self._numbered(ranged[1](), score, labels, first)
            if found is not None:
                return found
        return self.grouped(frame, score, labels)

    def _numbered(self, frame: Frame, score: nw.Expr, labels: nw.Expr, first: Sequence[Any]) -> Groups | None:
        """The bins of the middle by number, which takes half the time of hashing them; a second scan sees the others.

        Only where files tell the range of each column, and of two labels. NaN is in no range, so that it fails or is
        not seen, as a third label is not: then None.
        """
        if first and all(type(one) is int and one in (0, 1) for one in first):
            two, known, code = [0, 1], (labels >= 0) & (labels <= 1), labels  # a range that files tell takes no time
        elif len(first) == 2 and not any(one is None or one != one for one in first):
            two = list(first)
            known, code = labels.is_in(two), choose(labels == two[1], 1, 0)
        else:
            return None
        low, high = MIDDLE
        inner, outer = (score >= low) & (score <= high) & known, (score < low) | (score > high) | score.is_null()
        try:
            middle = self.grouped(frame.filter(inner), score, code, numbers=True)
            rest = self.grouped(frame.filter(outer), score, labels)
        except DataError:
            return None
        key = middle.pop("key")
        if hasattr(key, "mask"):
            return None
        if self.roles.weight is not None:
            key, middle["used"] = key // 2, key % 2 == 1
        middle |= {"cell": (key // 2).astype(np.float64), "label": np.array(two, rest["label"].dtype)[key % 2]}
        found = {name: _end_to_end([middle[name], column]) for name, column in rest.items()}
        return found if int(found["rows"].sum()) == rows_of(self.source) else None

    def grouped(
        self, chosen: Frame, score: nw.Expr, labels: nw.Expr, *, numbers: bool = False, by: nw.Expr | None = None
    ) -> Groups:
        """The one group-by of scores: by bin and label, whether a row has any weight, and a further key.

        Where bins have a number and labels are 0 and 1, one whole number for the first three: rows that are added up
        alike then lie close together, which takes two thirds of the time.
        """
        named = {"score": score, "label": labels}
        if self.roles.weight is not None:
            weight = number(self.roles.weight)
            named |= {"weight": weight, "used": weight != 0}
        if by is not None:
            named["slice"] = by
        # Step by step: an expression that stands in another one twice would be computed twice.
        place = numbered(score, self.bits) if numbers else cell(score, self.bits, choose)
        held = chosen.select(**named, cell=place)
        x, w = nw.col("score"), nw.col("weight")
        for edge in self.edges:
            # A bin has one number more for each edge below: so those of the parts of a bin differ.
            above = nw.col("cell") + choose(x >= edge, 1, 0)
            held = held.with_columns((above if numbers else parted(nw.col("cell"), x, edge, choose)).alias("cell"))
        # Products are made here: some engines add up plain columns only.
        products = {"first": x, "second": x * x}
        found: dict[str, nw.Expr] = {"rows": nw.len(), "low": x.min(), "high": x.max()}
        if "weight" in named:
            products = {**{name: one * w for name, one in products.items()}, "squares": w * w}
            found |= {"weight": w.sum(), "least": w.min()}
        found |= {name: nw.col(name).sum() for name in products}
        kept = {name: nw.col(name) for name in named if name in ("score", "weight")}
        keys = {name: nw.col(name) for name in ("cell", *named) if name not in kept}
        if numbers:
            key = nw.col("cell") * 2 + nw.col("label")
            key = key * 2 + nw.col("used").cast(nw.Int8) if "used" in named else key
            keys = {"key": key.cast(nw.Int64)}
        made = held.select(**keys, **kept, **products)
        return self.source.arrays(made.group_by(*keys).agg(**found))

    def exact(self, table: ScoreTable) -> ScoreTable:
        """The table, without bins where nothing was rounded away."""
        return table if self.bits else table.uncertain()

    def table(self, sample: Sample, groups: Groups) -> ScoreTable:
        return self.table_of(groups, sample.labels, sample.classes, sample.positive_name)

    def table_of(
        self, groups: Groups, labels: Mapping[Any, int], classes: tuple[str, ...], positive: str | None
    ) -> ScoreTable:
        """The table of groups whose labels are these classes."""
        used = _used(groups)
        values, place = _distinct(groups["label"][used])
        code = np.array([labels[value] for value in values], dtype=np.intp)[place]
        rows = groups["rows"][used].astype(np.int64)
        weight = groups["weight"][used].astype(np.float64) if "weight" in groups else rows
        own = "weight" in groups and not self.roles.copies
        squares = groups["squares"][used].astype(np.float64) if own else None
        low, high, first, second = (groups[one][used].astype(np.float64) for one in ("low", "high", "first", "second"))
        if np.isnan(low).any():
            raise DataError(
                "some scores are NaN, which DuckDB overlooks in Parquet.",
                seen="a frame of DuckDB, whose settings are its own",
                hint="the path of the file instead of the frame",
            )
        scores = low, high, first, second
        return coarse_table(code, weight, squares, *scores, classes, positive, self.bits, self.edges)


def _end_to_end(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if any(hasattr(part, "mask") for part in parts):  # np.ma itself takes 15 ms to load
        joined: NDArray[Any] = np.ma.concatenate(parts)  # type: ignore[no-untyped-call]
        return joined
    return np.concatenate(parts)


def _first_labels(source: Source, truth: str) -> list[Any]:
    """The labels of the first rows: where they are more than classes can be, the truth is none, and not grouped by."""
    first = source.frame.select(label(source.frame, truth).alias("label")).head(20 * MOST_CLASSES)
    return list(dict.fromkeys(source.arrays(first.unique(subset=["label"]))["label"].tolist()))


def _used(groups: Groups) -> NDArray[np.bool_]:
    """The groups of rows that have a weight."""
    return np.asarray(groups["used"], dtype=bool) if "used" in groups else np.ones(groups["rows"].size, dtype=bool)


def _distinct(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The labels that occur, and which of them each is: text is not sorted, for hashing it is quicker."""
    if labels.dtype != object:
        values, place = np.unique(labels, return_inverse=True)
        return values.tolist(), place
    found: dict[Any, int] = {}
    place = np.fromiter((found.setdefault(one, len(found)) for one in labels.tolist()), np.intp, labels.size)
    return list(found), place


# --- whether all is in order


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


def _ordinary(groups: Groups, weighted: bool) -> bool:
    """Whether no score, label or weight in the groups is missing, infinite, or otherwise to be complained about."""
    if any(hasattr(column, "mask") and np.ma.is_masked(column) for column in groups.values()):
        return False
    ends = [np.asarray(groups[name], dtype=np.float64) for name in ("low", "high", "cell")]
    if not all(np.all(np.abs(end) < MOST_EXACT) for end in ends):  # NaN is not, either
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


# --- a second pass


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
        scan = _Scan(sample.source, sample.roles, max(0, table.bins.bits - max(4, more)), table.bins.edges)
        groups = scan.bins(sample.frame.filter(among), column)
        table = table.refined(chosen, scan.table(sample, groups))
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
