"""Duplicate rows, and identical rows with different targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.cheap_checks import find_split_groups
from scorespace.audit.column import AuditedColumn
from scorespace.audit.finding import Occurrence, finding, first_rows
from scorespace.audit.target import Target
from scorespace.results import Row, grouped

_MAX_AGREEMENT_OF_OTHERS = 0.4


@dataclass(frozen=True)
class DuplicateRows:
    """Rows that are equal in all columns except identifiers, and rows that differ only in the target.

    `expected` is the number of equal pairs expected for independent columns; `alike` and `expected_alike` are the same
    without the target. `fine`: some column is so fine that equal rows should be rare. `labelled`: the target has
    classes, so that different targets for one case conflict.
    """

    target: str
    rows: int
    repeated: int
    pairs: float
    expected: float
    alike: float
    expected_alike: float
    fine: bool
    conflicting: int
    labelled: bool
    examples: tuple[Row, ...] = ()
    conflict_examples: tuple[Row, ...] = ()


def find_duplicate_rows(
    row_digests: NDArray[np.uint64],
    features: NDArray[np.uint64],
    chances: Sequence[tuple[float, bool]],
    target: Target | None,
) -> DuplicateRows:
    """Find duplicates from digests of whole rows and of features, and the agreement of each feature."""
    _, first, inverse, counts = np.unique(row_digests, return_index=True, return_inverse=True, return_counts=True)
    examples: tuple[Row, ...] = ()
    if first.size < row_digests.size:
        largest = int(np.argmin(np.where(counts == counts.max(), first, row_digests.size)))
        examples = first_rows(inverse == largest)
    conflicting, conflict_examples, alike, of_target = (
        0,
        examples[:0],
        _count_pairs(counts),
        (row_digests.size * (row_digests.size - 1) / 2, False),
    )
    if target is not None:
        codes = target.column.held.codes
        cases, sizes, has_conflict = find_split_groups(np.where(codes < 0, np.nan, codes), features)
        conflicting, conflict_examples = (
            int(sizes[has_conflict].sum()),
            first_rows(cases == np.argmax(has_conflict)) if has_conflict.any() else (),
        )
        alike, of_target = _count_pairs(sizes), column_agreement(target.column)
    return DuplicateRows(
        target.column.name if target else "",
        row_digests.size,
        int(row_digests.size - first.size),
        _count_pairs(counts),
        expected_pairs(row_digests.size, [pairs for pairs, _ in (*chances, of_target)], alike),
        alike,
        expected_pairs(row_digests.size, [pairs for pairs, _ in chances], alike),
        any(fine for _, fine in (*chances, of_target)),
        conflicting,
        target is not None and bool(target.classes),
        examples,
        conflict_examples,
    )


def _count_pairs(counts: NDArray[np.int64]) -> float:
    return float(np.sum(counts.astype(np.float64) * (counts - 1) / 2))


def expected_pairs(rows: int, agreeing: Sequence[float], alike: float = 0.0) -> float:
    """Expected number of equal pairs of rows for independent columns: N · Π (pairs / N).

    Pairs equal in all columns are first removed from each column, so that copies do not explain themselves, but only if
    the other columns make agreement rare.

    >>> round(expected_pairs(101, [505, 505]), 6)
    50.5
    """
    n_pairs = rows * (rows - 1) / 2
    if not n_pairs or not agreeing:
        return n_pairs
    agreement_of_others = math.prod(pairs / n_pairs for pairs in sorted(agreeing)[1:])
    copies = alike if agreement_of_others < _MAX_AGREEMENT_OF_OTHERS else 0.0
    return n_pairs * math.prod(max(pairs - copies, 0.5) / n_pairs for pairs in agreeing)


def column_agreement(column: AuditedColumn) -> tuple[float, bool]:
    """Number of pairs of rows that agree in a column, and whether the column is fine enough to make that rare."""
    agree = _count_pairs(np.append(column.held.counts, column.held.missing))
    return agree, column.spread == "continuous" and column.held.distinct > 0.2 * column.known


def exceeds_chance(pairs: float, expected: float) -> bool:
    """Whether pairs exceed twice the expected number significantly; twice, since columns are dependent."""
    return float(stats.poisson.sf(pairs - 1, 2 * expected)) < 0.01


@finding(
    "SS140",
    "warning",
    "duplicate rows",
    "Remove duplicates before splitting, or test rows may also be in training.",
)
def duplicates(repeats: DuplicateRows) -> Iterator[Occurrence]:
    if not repeats.repeated:
        return
    unexpected = repeats.fine and exceeds_chance(repeats.pairs, repeats.expected)
    share = repeats.repeated / repeats.rows
    shown = float(f"{100 * share:.2g}")
    words = "" if unexpected else " With few distinct values this may be chance."
    yield Occurrence(
        (),
        f"{grouped(repeats.repeated)} of {grouped(repeats.rows)} rows ({shown:g} %) duplicate another row in "
        f"all columns except identifiers.{words}",
        {"rows": repeats.repeated, "share": share, "pairs": repeats.pairs, "expected_pairs": repeats.expected},
        repeats.examples,
        level="" if unexpected else "info",
    )


@finding(
    "SS141",
    "warning",
    "identical cases with different targets",
    "Check which target is right: no model can predict both.",
)
def conflicts(repeats: DuplicateRows) -> Iterator[Occurrence]:
    if not repeats.conflicting or not repeats.labelled:
        return
    unexpected = repeats.fine and exceeds_chance(repeats.alike, repeats.expected_alike)
    yield Occurrence(
        (repeats.target,),
        f"{grouped(repeats.conflicting)} of {grouped(repeats.rows)} rows equal another row in every column, but "
        f"differ in {repeats.target!r}.",
        {"rows": repeats.conflicting, "share": repeats.conflicting / repeats.rows},
        repeats.conflict_examples,
        level="" if unexpected else "info",
    )


@finding("SS142", "warning", "repeated identifiers", "Keep one row per case.")
def repeated_identifier(column: AuditedColumn) -> Iterator[Occurrence]:
    """Identifiers of which a few repeat; many repeats would mean groups."""
    values = column.held
    n_repeated = column.known - values.distinct
    if column.kind.name == "identifier" and 0 < n_repeated <= 0.05 * column.known:
        code = int(np.argmax(values.counts))
        text = f"{grouped(n_repeated)} rows repeat an identifier of {column.name!r}, such as {column.text(code)}."
        yield column.seen(text, {"rows": n_repeated}, code)
