"""The page of a comparison: the matrix of differences and one sentence per pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scorespace.comparisons.comparison import LIKELY, Comparison, Comparisons, p_text, signed
from scorespace.results import decimals, grouped
from scorespace.views.decision import facts
from scorespace.views.document import Block, Document, Grid, Notes, Section, Verdict

if TYPE_CHECKING:
    from scorespace.evaluation import Evaluation


def document(evaluation: Evaluation, comparisons: Comparisons) -> Document:
    """The whole page of a comparison."""
    blocks = [*grids(comparisons), Verdict(comparisons.words)]
    if comparisons.notes:
        blocks.append(Notes(comparisons.notes))
    section = Section("comparison", "Comparison", tuple(blocks), brief=True)
    return Document(evaluation.name, facts(evaluation), (section,))


def grids(comparisons: Comparisons) -> Sequence[Block]:
    """The matrix, the tests behind it, and the tables of discordant decisions."""
    tables = [discordance_grid(one) for one in comparisons if one.table is not None]
    return [matrix_grid(comparisons), test_grid(comparisons), *tables]


def matrix_grid(comparisons: Comparisons) -> Grid:
    """Row minus column, with its interval; a star marks what chance hardly explains."""
    found = {(one.a, one.b): one for one in comparisons if not math.isnan(one.difference)}
    columns = comparisons.models[1:]
    rows = [(row, *(_cell(found.get((row, column))) for column in columns)) for row in comparisons.models[:-1]]
    caption = f"Row minus column with its interval; * marks p < {LIKELY:g}."
    return Grid(("row − column", *columns), tuple(rows), caption)


def test_grid(comparisons: Comparisons) -> Grid:
    """The tests: statistic, degrees of freedom, p and adjusted p."""
    rows = [
        (
            f"{one.a}, {one.b}",
            one.test,
            one.measure,
            "" if math.isnan(one.statistic) else decimals(one.statistic),
            _degrees(one),
            "" if math.isnan(one.p) else p_text(one.p).removeprefix("p = ").removeprefix("p "),
            "" if math.isnan(one.p_adjusted) else p_text(one.p_adjusted).removeprefix("p = ").removeprefix("p "),
        )
        for one in comparisons
    ]
    columns = ("models", "test", "of", "statistic", "df", "p", "p adjusted")
    kept = [place for place in range(len(columns)) if place < 3 or any(row[place] for row in rows)]
    return Grid(tuple(columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in rows))


def discordance_grid(one: Comparison) -> Grid:
    """How often both, one or neither of two models is right."""
    ((both, only_a), (only_b, neither)) = one.table or ((0, 0), (0, 0))
    columns = ("cases", f"{one.b} right", f"{one.b} wrong")
    rows = ((f"{one.a} right", grouped(both), grouped(only_a)), (f"{one.a} wrong", grouped(only_b), grouped(neither)))
    return Grid(columns, rows)


def difference_text(one: Comparison) -> str:
    """A difference with its interval and p-value, in one cell."""
    interval = "" if math.isnan(one.low) else f" [{signed(one.low)}, {signed(one.high)}]"
    tested = "" if math.isnan(one.p) else f"  {p_text(one.p)}"
    return f"{signed(one.difference)}{interval}{tested}"


def _cell(one: Comparison | None) -> str:
    if one is None:
        return ""
    mark = "*" if one.telling_p < LIKELY else ""
    if math.isnan(one.low):
        return f"{signed(one.difference)}{mark}"
    return f"{signed(one.difference)} [{signed(one.low)}, {signed(one.high)}]{mark}"


def _degrees(one: Comparison) -> str:
    if isinstance(one.df, tuple):
        return ", ".join(f"{value:g}" for value in one.df)
    return "" if math.isnan(one.df) else f"{one.df:.4g}"
