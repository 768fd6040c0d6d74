"""Rows that occur again, and rows that agree in all but the target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding, first_rows
from scorespace.auditing.free import torn_apart
from scorespace.auditing.target import Target
from scorespace.frozen import dataclass
from scorespace.results import Row, grouped

_RARE = 0.4


@dataclass(frozen=True)
class Repeats:
    """Rows that are the same in all columns but identifiers, and those that differ in the target alone.

    `expected` is how many pairs of equal rows chance would bring if the columns were independent; `alike` and
    `expected_alike` are the same without the target. `fine`: some column is so fine that equal rows should be rare.
    `labelled`: the target has classes, so that two targets for one case contradict each other.
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


def repeats(
    whole: NDArray[np.uint64],
    features: NDArray[np.uint64],
    chances: Sequence[tuple[float, bool]],
    target: Target | None,
) -> Repeats:
    """From digests of whole rows and of their features, and (pairs of rows that agree, fine) of each feature."""
    _, first, inverse, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    examples: tuple[Row, ...] = ()
    if first.size < whole.size:
        largest = int(np.argmin(np.where(counts == counts.max(), first, whole.size)))
        examples = first_rows(inverse == largest)
    conflicting, others, alike, of_target = 0, examples[:0], _pairs(counts), (whole.size * (whole.size - 1) / 2, False)
    if target is not None:
        codes = target.column.held.codes
        cases, sizes, torn = torn_apart(np.where(codes < 0, np.nan, codes), features)
        conflicting, others = int(sizes[torn].sum()), first_rows(cases == np.argmax(torn)) if torn.any() else ()
        alike, of_target = _pairs(sizes), agreement(target.column)
    return Repeats(
        target.column.name if target else "",
        whole.size,
        int(whole.size - first.size),
        _pairs(counts),
        expected_pairs(whole.size, [pairs for pairs, _ in (*chances, of_target)], alike),
        alike,
        expected_pairs(whole.size, [pairs for pairs, _ in chances], alike),
        any(fine for _, fine in (*chances, of_target)),
        conflicting,
        target is not None and bool(target.classes),
        examples,
        others,
    )


def _pairs(counts: NDArray[np.int64]) -> float:
    return float(np.sum(counts.astype(np.float64) * (counts - 1) / 2))


def expected_pairs(rows: int, agreeing: Sequence[float], alike: float = 0.0) -> float:
    """How many pairs of rows would agree in all columns if these were independent: N · Π (pairs / N).

    Pairs that agree throughout are first taken out of each column, for copies must not explain themselves; but only
    where the columns beside the finest make agreement rare, else its own repeats would be taken out.

    >>> round(expected_pairs(101, [505, 505]), 6)
    50.5
    """
    every = rows * (rows - 1) / 2
    if not every or not agreeing:
        return every
    beside = math.prod(pairs / every for pairs in sorted(agreeing)[1:])
    copies = alike if beside < _RARE else 0.0
    return every * math.prod(max(pairs - copies, 0.5) / every for pairs in agreeing)


def agreement(column: Column) -> tuple[float, bool]:
    """How many pairs of rows agree in a column, and whether it is fine enough to make that rare."""
    agree = _pairs(np.append(column.held.counts, column.held.missing))
    return agree, column.spread == "continuous" and column.held.distinct > 0.2 * column.known


def beyond_chance(pairs: float, expected: float) -> bool:
    """Whether so many pairs are more than chance brings; twice the expected, for columns do depend on each other."""
    return float(stats.poisson.sf(pairs - 1, 2 * expected)) < 0.01


@finding(
    "SS140",
    "warning",
    "rows that occur again",
    "Keep one of each before splitting, else a copy is tested that was learnt.",
)
def duplicates(repeats: Repeats) -> Iterator[Seen]:
    if not repeats.repeated:
        return
    unexpected = repeats.fine and beyond_chance(repeats.pairs, repeats.expected)
    share = repeats.repeated / repeats.rows
    words = "" if unexpected else " With so few different values, chance alone can bring that."
    yield Seen(
        (),
        f"{grouped(repeats.repeated)} of {grouped(repeats.rows)} rows ({100 * share:.2g} %) repeat another one in all "
        f"columns but identifiers.{words}",
        {"rows": repeats.repeated, "share": share, "pairs": repeats.pairs, "expected_pairs": repeats.expected},
        repeats.examples,
        level="" if unexpected else "info",
    )


@finding(
    "SS141", "warning", "the same case with different targets", "No model can be right on both: look which is wrong."
)
def conflicts(repeats: Repeats) -> Iterator[Seen]:
    if not repeats.conflicting or not repeats.labelled:
        return
    unexpected = repeats.fine and beyond_chance(repeats.alike, repeats.expected_alike)
    yield Seen(
        (repeats.target,),
        f"{grouped(repeats.conflicting)} of {grouped(repeats.rows)} rows agree with another one in every column, yet "
        f"differ in {repeats.target!r}.",
        {"rows": repeats.conflicting, "share": repeats.conflicting / repeats.rows},
        repeats.conflict_examples,
        level="" if unexpected else "info",
    )


@finding("SS142", "warning", "an identifier that repeats", "One row per case: look which of them counts.")
def repeated_identifier(column: Column) -> Iterator[Seen]:
    """Nearly all identifiers are different, and a few are not; where many repeat, they name groups."""
    held = column.held
    again = column.known - held.distinct
    if column.kind.name == "identifier" and 0 < again <= 0.05 * column.known:
        code = int(np.argmax(held.counts))
        text = f"{grouped(again)} rows repeat an identifier of {column.name!r}, such as {column.text(code)}."
        yield column.seen(text, {"rows": again}, code)
