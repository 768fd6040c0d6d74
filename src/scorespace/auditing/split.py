"""Two samples that should be strangers: rows and groups in both, numbers that part them, columns that moved."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding, first_rows
from scorespace.auditing.free import torn_apart
from scorespace.auditing.kinds import number_text
from scorespace.auditing.rows import beyond_chance
from scorespace.comparisons.adjust import holm
from scorespace.errors import listing
from scorespace.frames.survey import Held
from scorespace.frozen import dataclass
from scorespace.results import Row, decimals, grouped, p_text

_MOVED = 0.1


@dataclass(frozen=True)
class Moved:
    """How far a column moved between two samples: the largest gap of distributions, and new labels."""

    column: str
    distance: float
    p: float
    new_labels: tuple[str, ...] = ()
    new_rows: int = 0


@dataclass(frozen=True)
class Shared:
    """A column of identifiers or groups beside its counterpart: how many of its values are in both samples."""

    column: str
    values: int
    of: int
    group: bool
    apart: bool
    ranges: str = ""


@dataclass(frozen=True)
class Split:
    """This sample beside another one."""

    other: str
    rows: int
    same: int
    near: int
    near_expected: float
    expected: float
    fine: bool
    examples: tuple[Row, ...]
    shared: tuple[Shared, ...]
    moved: tuple[Moved, ...]
    absent: tuple[str, ...]
    new: tuple[str, ...]


def moved(ours: Column, theirs: Column) -> Moved:
    """The distance of the two distributions of a column: Kolmogorov-Smirnov for numbers, total variation for labels."""
    a, b = ours.held, theirs.held
    if a.stored in ("number", "date") and b.stored in ("number", "date"):
        return Moved(ours.name, *_smirnov(a, b))
    left = {ours.text(code): int(a.counts[code]) for code in range(a.values.size)}
    right = {theirs.text(code): int(b.counts[code]) for code in range(b.values.size)}
    labels = list(dict.fromkeys([*left, *right]))
    table = np.array([[left.get(label, 0) for label in labels], [right.get(label, 0) for label in labels]])
    new = tuple(label.strip("'") for label in right if label not in left) if a.values.size == a.distinct else ()
    gained = sum(right[label] for label in right if label not in left) if new else 0
    if len(labels) < 2 or not table.sum(axis=1).all() or len(labels) > 200:
        return Moved(ours.name, 0.0, 1.0, new, gained)
    shares = table / table.sum(axis=1, keepdims=True)
    p = float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0])[1])
    return Moved(ours.name, float(np.abs(shares[0] - shares[1]).sum() / 2), p, new, gained)


def _smirnov(a: Held, b: Held) -> tuple[float, float]:
    if not a.known or not b.known:
        return 0.0, 1.0
    every = np.unique(np.concatenate([a.values, b.values]))
    ours, theirs = (
        np.append(0, np.cumsum(one.counts))[np.searchsorted(one.values, every, side="right")] / one.known
        for one in (a, b)
    )
    distance = float(np.abs(ours - theirs).max())
    size = a.known * b.known / (a.known + b.known)
    return distance, float(stats.kstwobign.sf(distance * math.sqrt(size)))


def shared(
    ours: Column, theirs: Column, digests: tuple[NDArray[np.uint64], NDArray[np.uint64]], *, group: bool
) -> Shared:
    """How the identifiers (or groups) of two samples overlap, from the digests of their values."""
    a, b = ours.held, theirs.held
    here, there = map(np.unique, digests)
    apart, ranges = False, ""
    if a.stored == b.stored == "number" and a.distinct > 5 and b.distinct > 5:
        apart = bool(a.values[-1] < b.values[0] or b.values[-1] < a.values[0])
        ends = (f"{number_text(float(each.values[0]))} to {number_text(float(each.values[-1]))}" for each in (a, b))
        ranges = " and from ".join(ends)
    return Shared(ours.name, int(np.isin(there, here).sum()), int(there.size), group, apart, ranges)


@finding("SS160", "warning", "rows that are in both samples", "Take them out of one, else what was learnt is tested.")
def overlap(split: Split) -> Iterator[Seen]:
    if split.same:
        unexpected = split.fine and beyond_chance(split.same, split.expected)
        share = split.same / split.rows
        yield Seen(
            (),
            f"{grouped(split.same)} of {grouped(split.rows)} rows of {split.other} ({100 * share:.2g} %) are here too, "
            "the same in every column but identifiers.",
            {"rows": split.same, "share": share, "expected": split.expected},
            split.examples,
            level="" if unexpected else "info",
        )


@finding(
    "SS161", "warning", "rows that are nearly in both samples", "They may be the same cases, rounded or typed again."
)
def near_overlap(split: Split) -> Iterator[Seen]:
    more = split.near - split.same
    if split.fine and more > 3 * split.near_expected + 2:
        yield Seen(
            (),
            f"{grouped(more)} further rows of {split.other} are here to three digits, whatever case and blanks.",
            {"rows": more, "share": more / split.rows, "expected": split.near_expected},
        )


@finding(
    "SS162", "info", "a number that parts the samples", "They were taken one after the other: drift is to be expected."
)
def parted(split: Split) -> Iterator[Seen]:
    for one in split.shared:
        if one.apart:
            yield Seen((one.column,), f"{one.column!r} runs from {one.ranges}: the two samples do not mix.")


@finding("SS163", "warning", "groups that span the split", "Keep all rows of a group in one sample.")
def spanning(split: Split) -> Iterator[Seen]:
    for one in split.shared:
        if one.values:
            what = "groups" if one.group else "identifiers"
            yield Seen(
                (one.column,),
                f"{grouped(one.values)} of {grouped(one.of)} {what} of {one.column!r} in {split.other} are here too.",
                {"values": one.values, "of": one.of},
            )


@finding("SS164", "warning", "a column that moved", "A model learnt here meets other values there.")
def drifted(split: Split) -> Iterator[Seen]:
    adjusted = holm([one.p for one in split.moved]).tolist() if split.moved else []
    for one, p in zip(split.moved, adjusted, strict=True):
        if p < 0.01 and one.distance >= _MOVED / 2:
            yield Seen(
                (one.column,),
                f"{one.column!r} is distributed differently in {split.other}: distance {decimals(one.distance)}, "
                f"{p_text(p)} after correction for {len(split.moved)} columns.",
                {"distance": one.distance, "p": one.p, "p_adjusted": p},
                level="" if one.distance >= _MOVED else "info",
            )


@finding("SS165", "warning", "labels that only the other sample has", "A model learnt here does not know them.")
def new_labels(split: Split) -> Iterator[Seen]:
    for one in split.moved:
        if one.new_labels:
            yield Seen(
                (one.column,),
                f"{one.column!r} holds {listing(one.new_labels, 4)} only in {split.other} "
                f"({grouped(one.new_rows)} rows).",
                {"labels": len(one.new_labels), "rows": one.new_rows},
                level="" if one.new_rows >= 0.01 * split.rows else "info",
            )


@dataclass(frozen=True)
class Folds:
    """A column of folds beside a column of groups."""

    fold: Held
    group: Held


@finding("SS167", "warning", "groups that span folds", "Draw the folds anew, with all rows of a group in one of them.")
def torn_groups(folds: Folds) -> Iterator[Seen]:
    """Groups whose rows are in several folds.

    >>> from scorespace.frames.survey import survey
    >>> source = survey({"fold": [0, 1, 1], "patient": [7, 7, 8]})
    >>> next(torn_groups(Folds(source.held("fold"), source.held("patient")))).numbers
    {'groups': 1, 'of': 2}
    """
    inverse, _, torn = torn_apart(folds.fold.codes, folds.group.codes)
    spanning = int(torn.sum())
    if spanning:
        yield Seen(
            (folds.group.name, folds.fold.name),
            f"{grouped(spanning)} of {grouped(torn.size)} groups of {folds.group.name!r} have rows in several folds "
            f"of {folds.fold.name!r}: a case is tested by a model that learnt its relatives.",
            {"groups": spanning, "of": torn.size},
            first_rows(inverse == np.argmax(torn)),
        )


@finding("SS166", "info", "columns that one sample lacks", "A model needs the same columns in both.")
def lacking(split: Split) -> Iterator[Seen]:
    if split.absent:
        yield Seen(split.absent, f"{split.other} has no {listing(split.absent, 4)}.")
    if split.new:
        yield Seen(split.new, f"only {split.other} has {listing(split.new, 4)}.")
