"""Stability between two samples: the tables of indices, changes of measures and migrations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.drift.stability import Migration, Stability
from scorespace.report.document import Block, Document, Grid, one_section
from scorespace.results import decimals, format_p_cell, grouped, percent


def document(stability: Stability, names: tuple[str, str]) -> Document:
    """The document of a comparison of two samples."""
    sizes = f"{grouped(stability.sizes[0])} and {grouped(stability.sizes[1])} cases"
    title = f"{names[0]} and {names[1]}"
    return one_section(title, sizes, "Stability", blocks(stability), stability.words, stability.notes)


def blocks(stability: Stability) -> Sequence[Block]:
    """Indices with what chance explains, changes of measures, and a matrix for each migration."""
    found: list[Block] = []
    if stability.indices:
        rows = tuple(
            (
                f"{one.measure} {one.name}",
                one.text,
                decimals(one.expected, 4),
                str(one.df),
                format_p_cell(one.p),
                one.rule,
            )
            for one in stability.indices
        )
        caption = "The rule of thumb (0.1, 0.25) ignores the numbers of cases; the test does not."
        found.append(Grid(("", "index", "by chance", "df", "p", "rule of thumb"), rows, caption))
        if len(stability.indices) == 1:
            found.append(_bins(stability))
    if stability.changes:
        changed = tuple(
            (f"{one.measure} {one.name}", one.before, one.after, one.text, format_p_cell(one.p))
            for one in stability.changes
        )
        found.append(Grid(("", "before", "after", "difference", "p"), changed))
    return [*found, *(block for one in stability.migrations for block in _matrix(one))]


def _bins(stability: Stability) -> Grid:
    """Shares of the bins of one index in both samples."""
    one = stability.indices[0]
    totals = sum(one.before), sum(one.after)
    rows = tuple(
        (name, grouped(a), grouped(b), percent(a / totals[0]), percent(b / totals[1]))
        for name, a, b in zip(one.bins, one.before, one.after, strict=True)
    )
    return Grid((one.name, "before", "after", "share before", "share after"), rows)


def _matrix(one: Migration) -> list[Block]:
    """The migration matrix with shares of each row, and the shares that moved."""
    rows = []
    for grade, counts in zip(one.grades, one.matrix, strict=True):
        total = sum(counts)
        cells = ("" if not total else f"{grouped(count)} ({100 * count / total:.0f} %)" for count in counts)
        rows.append((grade, *cells))
    heading = (f"{one.name} before", *(f"{grade} after" for grade in one.grades))
    caption = f"{grouped(one.only_before)} cases only before, {grouped(one.only_after)} only after."
    words = {"same": "same grade", "up": "later in the order", "down": "earlier in the order"}
    shares = tuple(
        (words[name], f"{percent(value)} [{percent(low)}, {percent(high)}]")
        for name, (value, low, high) in one.shares.items()
        if not math.isnan(value)
    )
    return [Grid(heading, tuple(rows), caption), Grid(("cases", "share"), shares)]
