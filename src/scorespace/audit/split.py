"""Comparison of training and test samples: shared rows and groups, and shifted columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.cheap_checks import find_split_groups
from scorespace.audit.column import AuditedColumn
from scorespace.audit.column_kinds import number_text
from scorespace.audit.finding import Occurrence, finding, first_rows
from scorespace.audit.rows import exceeds_chance
from scorespace.comparisons.multiple_testing import holm
from scorespace.errors import listing
from scorespace.io.column_profile import ColumnValues
from scorespace.results import Row, decimals, grouped, p_text

_RELEVANT_DISTANCE = 0.1


@dataclass(frozen=True)
class ColumnShift:
    """Difference of a column between two samples: distance of distributions, and new labels."""

    column: str
    distance: float
    p: float
    new_labels: tuple[str, ...] = ()
    new_rows: int = 0


@dataclass(frozen=True)
class SharedValues:
    """Number of identifiers or groups that occur in both samples."""

    column: str
    values: int
    of: int
    group: bool
    apart: bool
    ranges: str = ""


@dataclass(frozen=True)
class SamplePair:
    """Comparison of this sample with another one."""

    other: str
    rows: int
    same: int
    near: int
    near_expected: float
    expected: float
    fine: bool
    examples: tuple[Row, ...]
    shared: tuple[SharedValues, ...]
    moved: tuple[ColumnShift, ...]
    absent: tuple[str, ...]
    new: tuple[str, ...]


def measure_shift(ours: AuditedColumn, theirs: AuditedColumn) -> ColumnShift:
    """Distance of a column between samples: Kolmogorov–Smirnov for numbers, total variation for labels."""
    a, b = ours.held, theirs.held
    if a.stored in ("number", "date") and b.stored in ("number", "date"):
        return ColumnShift(ours.name, *_kolmogorov_smirnov(a, b))
    left = {ours.text(code): int(a.counts[code]) for code in range(a.values.size)}
    right = {theirs.text(code): int(b.counts[code]) for code in range(b.values.size)}
    labels = list(dict.fromkeys([*left, *right]))
    table = np.array([[left.get(label, 0) for label in labels], [right.get(label, 0) for label in labels]])
    new = tuple(label.strip("'") for label in right if label not in left) if a.values.size == a.distinct else ()
    n_new = sum(right[label] for label in right if label not in left) if new else 0
    if len(labels) < 2 or not table.sum(axis=1).all() or len(labels) > 200:
        return ColumnShift(ours.name, 0.0, 1.0, new, n_new)
    shares = table / table.sum(axis=1, keepdims=True)
    p = float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0])[1])
    return ColumnShift(ours.name, float(np.abs(shares[0] - shares[1]).sum() / 2), p, new, n_new)


def _kolmogorov_smirnov(a: ColumnValues, b: ColumnValues) -> tuple[float, float]:
    if not a.known or not b.known:
        return 0.0, 1.0
    all_values = np.unique(np.concatenate([a.values, b.values]))
    ours, theirs = (
        np.append(0, np.cumsum(column.counts))[np.searchsorted(column.values, all_values, side="right")] / column.known
        for column in (a, b)
    )
    distance = float(np.abs(ours - theirs).max())
    size = a.known * b.known / (a.known + b.known)
    return distance, float(stats.kstwobign.sf(distance * math.sqrt(size)))


def count_shared_values(
    ours: AuditedColumn, theirs: AuditedColumn, digests: tuple[NDArray[np.uint64], NDArray[np.uint64]], *, group: bool
) -> SharedValues:
    """Overlap of the identifiers or groups of two samples, from digests of their values."""
    a, b = ours.held, theirs.held
    here, there = map(np.unique, digests)
    is_separated, ranges = False, ""
    if a.stored == b.stored == "number" and a.distinct > 5 and b.distinct > 5:
        is_separated = bool(a.values[-1] < b.values[0] or b.values[-1] < a.values[0])
        ends = (
            f"{number_text(float(column.values[0]))} to {number_text(float(column.values[-1]))}" for column in (a, b)
        )
        ranges = " and from ".join(ends)
    return SharedValues(ours.name, int(np.isin(there, here).sum()), int(there.size), group, is_separated, ranges)


@finding("SS160", "warning", "rows in both samples", "Remove them from one sample, or training rows are tested.")
def shared_rows(split: SamplePair) -> Iterator[Occurrence]:
    if split.same:
        unexpected = split.fine and exceeds_chance(split.same, split.expected)
        share = split.same / split.rows
        shown = float(f"{100 * share:.2g}")
        yield Occurrence(
            (),
            f"{grouped(split.same)} of {grouped(split.rows)} rows of {split.other} ({shown:g} %) are also "
            "here, equal in all columns except identifiers.",
            {"rows": split.same, "share": share, "expected": split.expected},
            split.examples,
            level="" if unexpected else "info",
        )


@finding("SS161", "warning", "nearly equal rows in both samples", "They may be the same cases, rounded or retyped.")
def nearly_shared_rows(split: SamplePair) -> Iterator[Occurrence]:
    more = split.near - split.same
    if split.fine and more > 3 * split.near_expected + 2:
        yield Occurrence(
            (),
            f"{grouped(more)} further rows of {split.other} are also here up to three digits, case and whitespace.",
            {"rows": more, "share": more / split.rows, "expected": split.near_expected},
        )


@finding(
    "SS162",
    "info",
    "non-overlapping ranges in the samples",
    "They were probably taken at different times: expect drift.",
)
def separated_ranges(split: SamplePair) -> Iterator[Occurrence]:
    for item in split.shared:
        if item.apart:
            yield Occurrence((item.column,), f"{item.column!r} ranges from {item.ranges}: the samples do not overlap.")


@finding("SS163", "warning", "groups in both samples", "Keep all rows of a group in one sample.")
def shared_groups(split: SamplePair) -> Iterator[Occurrence]:
    for item in split.shared:
        if item.values:
            what = "groups" if item.group else "identifiers"
            yield Occurrence(
                (item.column,),
                f"{grouped(item.values)} of {grouped(item.of)} {what} of {item.column!r} in {split.other} "
                "are also here.",
                {"values": item.values, "of": item.of},
            )


@finding("SS164", "warning", "a shifted column", "A model trained here meets different values there.")
def shifted_columns(split: SamplePair) -> Iterator[Occurrence]:
    adjusted = holm([shift.p for shift in split.moved]).tolist() if split.moved else []
    for shift, p in zip(split.moved, adjusted, strict=True):
        if p < 0.01 and shift.distance >= _RELEVANT_DISTANCE / 2:
            yield Occurrence(
                (shift.column,),
                f"{shift.column!r} is distributed differently in {split.other}: distance {decimals(shift.distance)}, "
                f"{p_text(p)} after Holm's correction for {len(split.moved)} columns.",
                {"distance": shift.distance, "p": shift.p, "p_adjusted": p},
                level="" if shift.distance >= _RELEVANT_DISTANCE else "info",
            )


@finding("SS165", "warning", "labels only in the other sample", "A model trained here does not know them.")
def unseen_labels(split: SamplePair) -> Iterator[Occurrence]:
    for shift in split.moved:
        if shift.new_labels:
            yield Occurrence(
                (shift.column,),
                f"{shift.column!r} has {listing(shift.new_labels, 4)} only in {split.other} "
                f"({grouped(shift.new_rows)} rows).",
                {"labels": len(shift.new_labels), "rows": shift.new_rows},
                level="" if shift.new_rows >= 0.01 * split.rows else "info",
            )


@dataclass(frozen=True)
class FoldGroups:
    """A column of folds and a column of groups."""

    fold: ColumnValues
    group: ColumnValues


@finding("SS167", "warning", "groups in several folds", "Assign all rows of a group to one fold.")
def groups_in_several_folds(folds: FoldGroups) -> Iterator[Occurrence]:
    """Groups whose rows are in several folds.

    >>> from scorespace.io.column_profile import read_columns
    >>> source = read_columns({"fold": [0, 1, 1], "patient": [7, 7, 8]})
    >>> next(groups_in_several_folds(FoldGroups(source.held("fold"), source.held("patient")))).numbers
    {'groups': 1, 'of': 2}
    """
    inverse, _, torn = find_split_groups(folds.fold.codes, folds.group.codes)
    spanning = int(torn.sum())
    if spanning:
        yield Occurrence(
            (folds.group.name, folds.fold.name),
            f"{grouped(spanning)} of {grouped(torn.size)} groups of {folds.group.name!r} have rows in several folds "
            f"of {folds.fold.name!r}, so cases are tested by models trained on related cases.",
            {"groups": spanning, "of": torn.size},
            first_rows(inverse == np.argmax(torn)),
        )


@finding("SS166", "info", "columns missing in one sample", "A model needs the same columns in both.")
def missing_columns(split: SamplePair) -> Iterator[Occurrence]:
    if split.absent:
        yield Occurrence(split.absent, f"{split.other} lacks {listing(split.absent, 4)}.")
    if split.new:
        yield Occurrence(split.new, f"only {split.other} has {listing(split.new, 4)}.")
