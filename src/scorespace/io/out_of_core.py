"""Tables counted inside the engine by bins of scores, in one pass per model that also validates the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorespace.case_costs import SIDES
from scorespace.errors import DataError
from scorespace.io.binned_scan import BinnedScan, counted_rows
from scorespace.io.column_values import as_identifier, as_label, as_number, if_else, unmask
from scorespace.io.error_aggregates import Needs, aggregate_errors, error_sums
from scorespace.io.roles import Roles
from scorespace.io.slices import SLICE_COLUMN, SlicedSample
from scorespace.io.source import Frame, Source
from scorespace.io.tabulate import (
    Groups,
    class_codes,
    confusion_table,
    count_decisions,
    positive_score_columns,
    weight_columns,
)
from scorespace.io.validation import MAX_CLASSES, Sample, refuse_wrong_kinds, validate
from scorespace.tables import ClassBins, ScoreTable, Table
from scorespace.tables.bins import BITS, bin_of_score, split_at_edge
from scorespace.tables.case_costs import CostTable, cost_terms
from scorespace.tables.labels import encode
from scorespace.tables.margin import MOST_CLASSES as MOST_LED
from scorespace.tables.margin import MarginTable, margin_table
from scorespace.tables.paired import PAIR_BITS, PairTable, binned_pair

_MAX_RANGES: Final = 32
"""Maximum number of score ranges that the second pass filters by."""

_MAX_GROUP_ROWS: Final = 20_000_000
"""Maximum number of rows of group, class and bin; beyond it there are about as many as cases."""


def count_in_engine(
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
    """Return the sample and the tables of its models from one pass per model inside the engine.

    Bins drop this many bits of the scores (0 means no bins), and no bin contains an edge. If the counts show invalid
    values, a second pass finds and reports them. With `precision`, further passes split the bins that leave the AUC
    uncertain by more than this. `needs` lists the terms of regression measures that will be used; None means all.

    >>> from scorespace.io import read, resolve_roles
    >>> source = read({"y": [1, 0, 1], "nb": [0.9, 0.4, 0.4]})
    >>> count_in_engine(source, resolve_roles(source, truth="y", scores="nb"))[1]["nb"]
    ScoreTable: 3 cases, 2 '1' (positive), 1 '0', 2 bins
    """
    if roles.summed:
        sample_of_numbers, sums = aggregate_errors(source, roles, missing=missing, order=order, needs=needs)
        return sample_of_numbers, dict(sums)
    refuse_wrong_kinds(source, roles)
    scan, groups = BinnedScan(source, roles, bits, tuple(edges)), dict[str, Groups]()
    has_only_scores = roles.scores and not (
        roles.decisions or roles.class_scores or roles.numbers or roles.group or roles.fold
    )
    if has_only_scores and len(first := _first_labels(source, roles.truth)) <= MAX_CLASSES:
        groups = {column: scan.bins(source.frame, column, first) for column in roles.scores.values()}
    counted = counted_rows(roles, groups)
    sample = validate(source, roles, missing, order, counted)
    score_columns = positive_score_columns(sample)
    if counted is None:
        first = list(sample.labels)
        groups = {column: scan.bins(sample.frame, column, first) for column in dict.fromkeys(score_columns.values())}
    tables: dict[str, Table] = {}
    for model, column in score_columns.items():
        table = scan.table(sample, groups[column])
        tables[model] = scan.exact(table if precision is None else _refine(sample, column, table, precision))
    if sample.roles.costs is not None:
        tables = {model: _with_cost_sums(sample, score_columns[model], one, scan) for model, one in tables.items()}
    tables |= _bin_class_scores(sample, bits)
    return sample, tables | {
        model: confusion_table(sample, *count_decisions(sample, column)) for model, column in roles.decisions.items()
    }


def _with_cost_sums(sample: Sample, column: str, table: Any, scan: BinnedScan) -> Table:
    """The table with sums of the costs of each case by bin, from one more group-by inside the engine."""
    costs, weighted = sample.roles.costs, sample.roles.weight is not None and not sample.roles.copies
    if costs is None or sample.positive is None:
        return cast(Table, table)
    terms = cost_terms(weighted)
    is_positive = nw.col("truth") == sample.positive
    sides = {
        name: as_number(value) if isinstance(value, str) else nw.lit(float(value))
        for name, value in ((side, getattr(costs, side)) for side in SIDES)
    }
    weight = nw.lit(1.0) if sample.roles.weight is None else as_number(sample.roles.weight)
    frame = sample.frame.select(
        class_codes(sample).cast(nw.Int64).alias("truth"), as_number(column).alias("score"), weight.alias("w"), **sides
    )
    frame = frame.select(
        "score",
        "w",
        if_else(is_positive, nw.col("tp"), nw.col("fp")).alias("a"),
        if_else(is_positive, nw.col("fn"), nw.col("tn")).alias("b"),
        bin_of_score(nw.col("score"), scan.bits, if_else).alias("cell"),
    )
    for edge in scan.edges:
        frame = frame.with_columns(split_at_edge(nw.col("cell"), nw.col("score"), edge, if_else).alias("cell"))
    powers = {name: [nw.lit(1.0)] for name in "wab"}
    for name, found in powers.items():
        for _ in range(4):
            found.append(nw.col(name) if len(found) == 1 else found[-1] * nw.col(name))
    names = [f"sum {k}" for k in range(len(terms))]
    products = {
        name: powers["w"][j] * powers["a"][p] * powers["b"][q] for name, (j, p, q) in zip(names, terms, strict=True)
    }
    keyed = frame.select("cell", "score", "a", "b", **products).group_by("cell")
    groups = sample.source.arrays(
        keyed.agg(
            low=nw.col("score").min(),
            least_a=nw.col("a").min(),
            least_b=nw.col("b").min(),
            **{name: nw.col(name).sum() for name in names},
        )
    )
    low, order = groups["low"].astype(np.float64), np.argsort(-groups["low"].astype(np.float64))
    sums = np.stack([groups[name].astype(np.float64) for name in names], axis=1)
    nonnegative = bool(min(groups["least_a"].astype(np.float64).min(), groups["least_b"].astype(np.float64).min()) >= 0)
    return replace(
        table, costs=CostTable(costs, low[order], sums=sums[order], nonnegative=nonnegative, edges=scan.edges)
    )


def count_slices_in_engine(
    sliced: SlicedSample, *, bits: int = BITS, edges: Sequence[float] = ()
) -> dict[str, dict[str, Table]]:
    """Return the tables of every slice, by one group-by for all slices inside the engine.

    Error sums and bins of multiclass scores take a pass for each slice.
    """
    sample, roles, key = sliced.sample, sliced.sample.roles, nw.col(SLICE_COLUMN)
    if roles.numbers:
        return {name: dict(error_sums(sliced.part(code))) for code, name in sliced.names.items()}
    scan = BinnedScan(sample.source, roles, bits, tuple(edges))
    tables: dict[int, dict[str, Table]] = {code: {} for code in sliced.names}
    if roles.costs is not None:
        raise DataError(
            "costs per case in slices need single cases.",
            seen="more data than the memory limit",
            hint="raise --memory, or use --where for one slice",
        )
    for model, column in positive_score_columns(sample).items():
        groups = scan.grouped(sample.frame, as_number(column), as_label(sample.frame, roles.truth), by=key)
        for code in sliced.names:
            tables[code][model] = scan.exact(scan.table(sample, _select_slice(groups, code)))
    for model, column in roles.decisions.items():
        classes, groups = count_decisions(sample, column, by=key)
        for code in sliced.names:
            tables[code][model] = confusion_table(sample, classes, _select_slice(groups, code))
    if roles.class_scores:
        for code in sliced.names:
            tables[code] |= _bin_class_scores(sliced.part(code), bits)
    return {name: tables[code] for code, name in sliced.names.items()}


def _first_labels(source: Source, truth: str) -> list[Any]:
    """Labels of the first rows; too many of them mean that the truth is not a class."""
    first = source.frame.select(as_label(source.frame, truth).alias("label")).head(20 * MAX_CLASSES)
    return list(dict.fromkeys(source.arrays(first.unique(subset=["label"]))["label"].tolist()))


def _select_slice(groups: Groups, code: int) -> Groups:
    is_in_slice = np.asarray(groups["slice"]).astype(np.int64) == code
    return {name: column[is_in_slice] for name, column in groups.items() if name != "slice"}


# --- multiclass scores


def _bin_class_scores(sample: Sample, bits: int) -> dict[str, Table]:
    """Binned tables of multiclass scores, if no class is positive."""
    if sample.positive is not None:
        return {}
    scan = BinnedScan(sample.source, sample.roles, bits)
    return {model: _bin_one_model(sample, scan, by_class) for model, by_class in sample.roles.class_scores.items()}


def _bin_one_model(sample: Sample, scan: BinnedScan, by_class: Mapping[str, str]) -> ClassBins:
    """Count by class score, by highest score, and by decision, with one group-by each.

    The last also returns how far the scores are from summing to one.
    """
    classes = sample.with_classes(by_class)
    scores = [as_number(by_class[name]) for name in classes]
    highest = nw.max_horizontal(*scores)
    decided_index: nw.Expr = nw.lit(len(classes) - 1)
    for k in reversed(range(len(classes) - 1)):  # ties go to the first class
        decided_index = if_else(scores[k] == highest, nw.lit(k), decided_index)
    # The second highest score, which equals the highest in a tie.
    others = (if_else(nw.col("the decision") == k, nw.lit(None), score) for k, score in enumerate(scores))
    frame = sample.frame.with_columns(
        class_codes(sample).cast(nw.Int64).alias("the truth"),
        decided_index.cast(nw.Int64).alias("the decision"),
        highest.alias("the highest"),
        (nw.sum_horizontal(*scores) - 1).abs().alias("the excess"),
    )
    frame = frame.with_columns((nw.col("the highest") - nw.max_horizontal(*others)).alias("the lead"))
    truth, decision = nw.col("the truth"), nw.col("the decision")
    identity = {code: code for code in range(len(classes))}
    tables = (
        scan.exact(scan.table_of(scan.grouped(frame, score, truth), identity, classes, name))
        for name, score in zip(classes, scores, strict=True)
    )
    groups = scan.grouped(frame, nw.col("the highest"), (truth == decision).cast(nw.Int64))
    top = scan.exact(scan.table_of(groups, {0: 0, 1: 1}, ("wrong", "right"), "right"))
    weights, total = weight_columns(sample.roles)
    keyed = frame.select("the excess", *weights, truth=truth, place=decision).group_by("truth", "place")
    groups_by_decision = sample.source.arrays(keyed.agg(excess=nw.col("the excess").max(), **total))
    excess = float(groups_by_decision["excess"].astype(np.float64).max(initial=0.0))
    leads = _bin_margins(sample, frame, classes) if len(classes) <= MOST_LED else None
    return ClassBins(tuple(tables), confusion_table(sample, classes, groups_by_decision), top, excess, leads)


def _bin_margins(sample: Sample, frame: Frame, classes: tuple[str, ...]) -> MarginTable:
    """Count decisions by the margin between the highest and the second highest score."""
    lead, (weights, total) = nw.col("the lead"), weight_columns(sample.roles)
    keyed = frame.select(
        "the truth", "the decision", "the lead", *weights, bin_of_score(lead, PAIR_BITS, if_else).alias("cell")
    )
    groups = keyed.group_by("the truth", "the decision", "cell").agg(
        low=lead.min(), high=lead.max(), weight=total["weight"]
    )
    arrays = sample.source.arrays(groups)
    low, high, weight = (arrays[name].astype(np.float64) for name in ("low", "high", "weight"))
    truth, place = (arrays[name].astype(np.int64) for name in ("the truth", "the decision"))
    return margin_table(low, truth, place, weight, classes, high)


# --- joint counts of several models


def count_model_pairs(
    sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()
) -> dict[tuple[str, str], PairTable]:
    """Joint bin counts for every two models with scores, by class.

    One group-by per pair inside the engine, with some hundred bins per model.
    """
    scored = {model for model, table in tables.items() if table.thresholded}
    columns = {model: column for model, column in positive_score_columns(sample).items() if model in scored}
    if sample.positive is None or sample.roles.weight is not None:
        return {}
    return {
        pair: _count_jointly(sample, {model: columns[model] for model in pair}, tables, edges)
        for pair in combinations(columns, 2)
    }


def count_groups(sample: Sample, tables: Mapping[str, Table], *, edges: Sequence[float] = ()) -> PairTable:
    """Joint bin counts of all models by group and class, so that whole groups can be resampled."""
    return _count_jointly(sample, positive_score_columns(sample), tables, edges, sample.roles.group)


def _count_jointly(
    sample: Sample,
    columns: Mapping[str, str],
    tables: Mapping[str, Table],
    edges: Sequence[float],
    group: str | None = None,
) -> PairTable:
    """Count rows by class, by the bin of each model, and by group if there is one."""
    keys = {model: f"bin {k}" for k, model in enumerate(columns)}
    scores = {model: nw.col(f"score {k}") for k, model in enumerate(columns)}
    group_column = (
        [] if group is None else [as_identifier(group, sample.source.frame.collect_schema()[group]).alias("group")]
    )
    frame = sample.frame.select(
        class_codes(sample).alias("truth"),
        *group_column,
        *(as_number(columns[m]).alias(f"score {k}") for k, m in enumerate(columns)),
    )
    frame = frame.with_columns(*(bin_of_score(scores[m], PAIR_BITS, if_else).alias(key) for m, key in keys.items()))
    for edge in edges:
        split_bins = (split_at_edge(nw.col(key), scores[m], edge, if_else).alias(key) for m, key in keys.items())
        frame = frame.with_columns(*split_bins)
    names = ["truth", *([] if group is None else ["group"]), *keys.values()]
    rows = frame.select(*names).group_by(*names).agg(rows=nw.len())
    if group is not None:
        n_rows = int(sample.source.arrays(rows.select(nw.len().alias("size")))["size"][0])
        if n_rows > _MAX_GROUP_ROWS:
            raise DataError(
                f"column {group!r} has too many groups to count in bins.",
                seen=f"{n_rows} combinations of group, class and bin",
                hint="raise the memory limit, use fewer and larger groups, or sample whole groups",
            )
    groups = sample.source.arrays(rows)
    table = tables[next(iter(columns))]
    truth = np.array([table.class_names.index(name) for name in sample.classes])[groups["truth"].astype(np.intp)]
    group_codes = None if group is None else encode(unmask(groups["group"]), group)[0].astype(np.int32)
    bins, counts = {model: groups[key] for model, key in keys.items()}, groups["rows"].astype(np.int64)
    positive = table.class_names.index(table.positive_name or "")
    return binned_pair(bins, truth, counts, table.class_names, positive, group_codes)


# --- refinement


def _refine(sample: Sample, column: str, table: ScoreTable, precision: float) -> ScoreTable:
    """Split the bins that leave the AUC uncertain by more than `precision`, in one more pass over their rows.

    Dropping one bit less halves the uncertainty unless scores crowd in part of a bin; then a further pass follows.
    """
    while table.bins is not None and table.bins.bits and (share := table.open_pairs).sum() > precision:
        order = np.argsort(share)
        to_split = np.zeros(share.size, dtype=bool)
        to_split[order[np.cumsum(share[order]) > precision / 2]] = True
        starts, ends = _merge_runs(to_split)
        for start, end in zip(starts, ends, strict=True):
            to_split[start : end + 1] = True
        ranges = zip(table.bins.low[ends].tolist(), table.bins.high[starts].tolist(), strict=True)
        score = as_number(column)
        in_ranges = nw.any_horizontal(*((score >= low) & (score <= high) for low, high in ranges), ignore_nulls=True)
        extra_bits = 1 + math.ceil(math.log2(float(share[to_split].sum()) / (precision / 2))) if precision else BITS
        scan = BinnedScan(sample.source, sample.roles, max(0, table.bins.bits - max(4, extra_bits)), table.bins.edges)
        groups = scan.bins(sample.frame.filter(in_ranges), column)
        table = table.refined(to_split, scan.table(sample, groups))
    return table


def _merge_runs(selected: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Starts and ends of runs of selected bins; if there are too many, runs with the shortest gaps are merged.

    >>> _merge_runs(np.array([True, False, True, True]))
    (array([0, 2]), array([0, 3]))
    """
    change = np.diff(np.concatenate([[0], selected.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1) - 1
    if starts.size <= _MAX_RANGES:
        return starts, ends
    widest_gaps = np.sort(np.argsort(starts[1:] - ends[:-1])[-(_MAX_RANGES - 1) :])
    return np.append(starts[0], starts[1:][widest_gaps]), np.append(ends[:-1][widest_gaps], ends[-1])
