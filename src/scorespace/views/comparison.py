"""The page of a comparison: the matrix of differences and one sentence per pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scorespace.results import decimals, grouped, p_cell, p_text
from scorespace.views.answers import FEW, Answers, facts
from scorespace.views.document import Block, Document, Grid, Text, one_section

if TYPE_CHECKING:
    from scorespace.comparisons.answer import Comparison, Comparisons, Statistic


def document(evaluation: Answers, comparisons: Comparisons, other: Answers | None = None) -> Document:
    """The whole page of a comparison, perhaps with another sample."""
    second = [] if other is None else [Text(f"with {other.models.name}   {facts(other.models)}")]
    return page(evaluation.models.name, facts(evaluation.models), comparisons, *second)


def page(name: str, about: str, comparisons: Comparisons, *above: Block) -> Document:
    """The page of a comparison under a name, with what stands above its tables."""
    blocks = [*above, *grids(comparisons)]
    return one_section(name, about, "Comparison", blocks, comparisons.words, comparisons.notes)


def grids(comparisons: Comparisons, *, folded: bool = False) -> Sequence[Block]:
    """The matrix, the tests behind it, and the tables of discordant decisions; all but the first may be folded."""
    tables = [discordance_grid(one) for one in comparisons if one.table is not None]
    first = matrix_grid(comparisons) if comparisons.sides is None else sides_grid(comparisons, comparisons.sides)
    tests = test_grid(comparisons)
    if folded:
        tests = replace(tests, folded="The tests")
        tables = [replace(one, folded="Which cases the models decide differently") for one in tables]
    return [first, tests, *tables]


def summed_up(comparisons: Comparisons) -> str:
    """Few comparisons in a sentence each; of many, how many are more than chance explains."""
    pairs = [one for one in comparisons if not one.several]
    if len(pairs) <= FEW:
        return " ".join(one.words for one in comparisons)
    names = f"the {len(comparisons.models)} models"
    together = [one.words.replace(f"{one.a}, {one.b}", names) for one in comparisons if one.several]
    sure = sum(one.sure for one in pairs)
    return " ".join([*together, f"{sure} of {len(pairs)} pairs differ by more than chance explains ({pairs[0].mark})."])


def matrix_grid(comparisons: Comparisons) -> Grid:
    """Row minus column, with its interval; a star marks what chance hardly explains."""
    found = {(one.a, one.b): one for one in comparisons if not math.isnan(one.difference)}
    columns = comparisons.models[1:]
    rows = [(row, *(_cell(found.get((row, column))) for column in columns)) for row in comparisons.models[:-1]]
    return Grid(("row − column", *columns), tuple(rows), f"Row minus column with its interval; {_mark(comparisons)}.")


def sides_grid(comparisons: Comparisons, sides: tuple[str, str]) -> Grid:
    """Both numbers of each model and their difference, with its interval and a star as in the matrix."""
    rows = [
        (model, *map(decimals, comparisons.values[model]), _cell(one))
        for model, one in zip(comparisons.models, comparisons, strict=True)
    ]
    columns = ("model", *sides, "difference")
    return Grid(columns, tuple(rows), f"First minus second with its interval; {_mark(comparisons)}.")


def test_grid(comparisons: Comparisons) -> Grid:
    """The tests: statistic, degrees of freedom, p and adjusted p, and what a kind of test has beside."""
    own = tuple(dict.fromkeys(heading for one in comparisons for heading in one.columns))
    names = list(map(_names, comparisons)) if comparisons.sides is None else list(comparisons.models)
    rows = [
        (
            name,
            one.test,
            one.of,
            "" if math.isnan(one.statistic) else decimals(one.statistic, 3),
            degrees(one),
            p_cell(one.p, ""),
            p_cell(one.p_adjusted, ""),
            *(one.columns.get(heading, "") for heading in own),
        )
        for name, one in zip(names, comparisons, strict=True)
    ]
    first = "models" if comparisons.sides is None else "model"
    columns = (first, "test", "of", "statistic", "df", "p", "p adjusted", *own)
    return Grid(columns, tuple(rows)).without_blanks(keep=3)


def _names(one: Comparison) -> str:
    both = f"{one.a}, {one.b}"
    return f"{both.count(', ') + 1} models" if one.several and both.count(", ") > FEW else both


def discordance_grid(one: Comparison) -> Grid:
    """How often both, one or neither of two models is right."""
    ((both, only_a), (only_b, neither)) = one.table or ((0, 0), (0, 0))
    columns = ("cases", f"{one.b} right", f"{one.b} wrong")
    rows = ((f"{one.a} right", grouped(both), grouped(only_a)), (f"{one.a} wrong", grouped(only_b), grouped(neither)))
    return Grid(columns, rows)


def difference_text(one: Comparison) -> str:
    """A difference with its interval and p-value, in one cell; blank where there is none."""
    if math.isnan(one.difference):
        return ""
    return one.size + ("" if math.isnan(one.p) else f"  {p_text(one.p)}")


def _cell(one: Comparison | None) -> str:
    if one is None or math.isnan(one.difference):
        return ""
    return one.size + ("*" if one.sure else "")


def _mark(comparisons: Comparisons) -> str:
    """What a star says."""
    marks = [one.mark for one in comparisons if not one.several]
    return f"* marks {marks[0] if marks else 'p < 0.05'}"


def degrees(one: Comparison | Statistic) -> str:
    """Degrees of freedom, one number or two; blank where there are none."""
    if isinstance(one.df, tuple):
        return ", ".join(f"{round(value)}" if value >= 100 else f"{value:.4g}" for value in one.df)
    return "" if math.isnan(one.df) else grouped(round(one.df)) if one.df >= 10_000 else f"{one.df:.4g}"
