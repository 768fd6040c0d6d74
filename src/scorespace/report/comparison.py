"""Comparison of models: matrix of differences, tests, and the change from a baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scorespace.report.chart_theme import FAINT, INK, Spec, datum, field, layered, mark, themed
from scorespace.report.document import Block, Document, Grid, Picture, Text, left_out, one_section
from scorespace.report.protocol import MAX_SENTENCES, EvaluationView, facts
from scorespace.results import decimals, format_p_cell, grouped, p_text

if TYPE_CHECKING:
    from scorespace.comparisons.baseline import BaselineChanges
    from scorespace.comparisons.result import Comparison, Comparisons, TestStatistic
    from scorespace.comparisons.slice_gap import SliceGap


def document(
    evaluation: EvaluationView,
    comparisons: Comparisons,
    other: EvaluationView | None = None,
    *,
    full: bool = True,
    every_note: bool = True,
) -> Document:
    """Document of a comparison, on one sample or with a second one; unless `full`, one table with all pairs."""
    blocks: list[Block] = [] if other is None else [Text(f"with {other.models.name}   {facts(other.models)}")]
    blocks += grids(comparisons) if full else [short_grid(comparisons), *letter_grids(comparisons)]
    notes, more = comparisons.notes, ""
    if not every_note:
        notes, more = left_out(notes, *([] if full else ["all tables: --all"]))
    verdict = comparisons.words if full else summarise(comparisons)
    return one_section(evaluation.models.name, facts(evaluation.models), "Comparison", blocks, verdict, notes, more)


def report(evaluation: EvaluationView, comparisons: Comparisons, other: EvaluationView | None = None) -> Document:
    """The HTML report of a comparison: differences as a chart, all tables, all notes."""
    whole = document(evaluation, comparisons, other)
    (section,) = whole.sections
    alt = "Difference of each pair with its confidence interval, and a line at zero."
    drawn = any(not math.isnan(one.difference) for one in comparisons)
    chart = [Picture(lambda: differences_chart(comparisons), alt, key="differences")] if drawn else []
    return replace(whole, sections=(replace(section, blocks=(*chart, *section.blocks)),))


def differences_chart(comparisons: Comparisons) -> Spec:
    """The difference of each pair with its interval, on one axis per measure."""
    names = list(map(_names, comparisons)) if comparisons.sides is None else list(comparisons.models)
    rows = [
        {
            "label": " ".join(name.replace(", ", " − ").split()),
            "of": one.of,
            "x": datum(one.difference),
            "low": datum(one.low),
            "high": datum(one.high),
            "text": difference_text(one),
        }
        for name, one in zip(names, comparisons, strict=True)
        if not math.isnan(one.difference)
    ]
    tooltip = [field("label:N", title="Models"), field("of:N", title="Measure"), field("text:N", title="Difference")]
    encoding = {"y": field("label:N", sort=None, title=None, axis={"labelLimit": 260, "labelColor": INK})}
    x = field("x:Q", title="Difference", axis={"tickCount": 7}, scale={"zero": True, "padding": 12})
    layers = [
        mark("rule", [{"x": 0}], {"x": "x:Q"}, color=FAINT),
        mark("rule", rows, {**encoding, "x": "low:Q", "x2": "high"}, color=INK, strokeWidth=2.4),
        mark("point", rows, {**encoding, "x": x, "tooltip": tooltip}, color=INK, filled=True, size=110, opacity=1),
    ]
    description = "; ".join(f"{row['label']}: {row['text']}" for row in rows)
    return themed(layered(layers, 420, {"step": 36}, description=f"Differences. {description}."))


def short_grid(comparisons: Comparisons) -> Grid:
    """One row per pair or model: values, difference with its interval, p, and the test; the verdict tells the rest."""
    rows = []
    names = list(map(_names, comparisons)) if comparisons.sides is None else list(comparisons.models)
    measures = {one.of for one in comparisons}
    is_pair = {one.several for one in comparisons} == {True, False}
    for name, one in zip(names, comparisons, strict=True):
        if is_pair and one.several:
            continue
        pair = name if one.several or comparisons.sides is not None else f"{one.a} − {one.b}"
        cells = ["" if math.isnan(value) else decimals(value) for value in (one.value_a, one.value_b)]
        size = "" if math.isnan(one.difference) else one.size
        rows.append(
            (pair, one.of if len(measures) > 1 else "", *cells, size, format_p_cell(one.reported_p, ""), one.test)
        )
    adjusted = any(not math.isnan(one.p_adjusted) for one in comparisons)
    sides = comparisons.sides or ("first", "second")
    first = "models" if comparisons.sides is None else "model"
    head = (measures.pop() if len(measures) == 1 else first, "of", *sides, "difference")
    grid = Grid((*head, "p adjusted" if adjusted else "p", "test"), tuple(rows)).without_blanks()
    return replace(grid, optional=1)


def page(name: str, facts_line: str, comparisons: Comparisons, *first_blocks: Block) -> Document:
    """Document of a comparison under a given title, with blocks above its tables."""
    blocks = [*first_blocks, *grids(comparisons)]
    return one_section(name, facts_line, "Comparison", blocks, comparisons.words, comparisons.notes)


def grids(comparisons: Comparisons, *, folded: bool = False) -> Sequence[Block]:
    """Matrix of differences, tests, and tables of discordant predictions; all but the first may be collapsed."""
    tables = [discordance_grid(pair) for pair in comparisons if pair.table is not None]
    if len({one.of for one in comparisons}) > 1:
        first = short_grid(comparisons)
    else:
        first = matrix_grid(comparisons) if comparisons.sides is None else sides_grid(comparisons, comparisons.sides)
    tests = test_grid(comparisons)
    if folded:
        tests = replace(tests, folded="Tests")
        tables = [replace(table, folded="Discordant predictions") for table in tables]
    return [first, tests, *letter_grids(comparisons), *tables]


def letter_grids(comparisons: Comparisons) -> list[Grid]:
    """Letters of three models or more, best first."""
    letters = comparisons.letters
    if not letters:
        return []
    caption = "Models that share a letter are not shown to differ, which does not show that they are equal."
    return [Grid(("best first", "group"), tuple(letters.items()), caption)]


def summarise(comparisons: Comparisons) -> str:
    """One sentence per pair of models; for many pairs, the number of significant ones."""
    pairs = [comparison for comparison in comparisons if not comparison.several]
    if len(pairs) <= MAX_SENTENCES:
        return " ".join(comparison.words for comparison in comparisons)
    names = f"the {len(comparisons.models)} models"
    overall = [
        comparison.words.replace(f"{comparison.a}, {comparison.b}", names)
        for comparison in comparisons
        if comparison.several
    ]
    n_significant = sum(pair.is_significant for pair in pairs)
    several = len({pair.of for pair in pairs}) > 1
    found = "differences are significant" if several else "pairs differ significantly"
    return " ".join([*overall, f"{n_significant} of {len(pairs)} {found} ({pairs[0].mark})."])


def matrix_grid(comparisons: Comparisons) -> Grid:
    """Matrix of differences, row minus column, with intervals; a star marks significant ones."""
    by_pair = {
        (comparison.a, comparison.b): comparison for comparison in comparisons if not math.isnan(comparison.difference)
    }
    columns = comparisons.models[1:]
    rows = [(row, *(_cell(by_pair.get((row, column))) for column in columns)) for row in comparisons.models[:-1]]
    caption = f"Row minus column with confidence interval; {_significance_mark(comparisons)}."
    return Grid(("row − column", *columns), tuple(rows), caption)


def sides_grid(comparisons: Comparisons, sides: tuple[str, str]) -> Grid:
    """Both values of each model and their difference, with interval and star as in the matrix."""
    rows = [
        (model, decimals(comparison.value_a), decimals(comparison.value_b), _cell(comparison))
        for model, comparison in zip(comparisons.models, comparisons, strict=True)
    ]
    columns = ("model", *sides, "difference")
    return Grid(
        columns, tuple(rows), f"First minus second with confidence interval; {_significance_mark(comparisons)}."
    )


def test_grid(comparisons: Comparisons) -> Grid:
    """Tests: statistic, degrees of freedom, p, adjusted p, and columns specific to a test."""
    extra_columns = tuple(dict.fromkeys(heading for comparison in comparisons for heading in comparison.columns))
    names = list(map(_names, comparisons)) if comparisons.sides is None else list(comparisons.models)
    rows = [
        (
            name,
            comparison.test,
            comparison.of,
            "" if math.isnan(comparison.statistic) else decimals(comparison.statistic, 3),
            degrees(comparison),
            format_p_cell(comparison.p, ""),
            format_p_cell(comparison.p_adjusted, ""),
            *(comparison.columns.get(heading, "") for heading in extra_columns),
        )
        for name, comparison in zip(names, comparisons, strict=True)
    ]
    first = "models" if comparisons.sides is None else "model"
    columns = (first, "test", "of", "statistic", "df", "p", "p adjusted", *extra_columns)
    return Grid(columns, tuple(rows)).without_blanks(keep=3)


def _names(comparison: Comparison) -> str:
    names = f"{comparison.a}, {comparison.b}"
    return f"{names.count(', ') + 1} models" if comparison.several and names.count(", ") > MAX_SENTENCES else names


def discordance_grid(comparison: Comparison) -> Grid:
    """Two-by-two table of correct and wrong predictions of two models."""
    ((both_correct, only_a), (only_b, neither)) = comparison.table or ((0, 0), (0, 0))
    columns = ("cases", f"{comparison.b} correct", f"{comparison.b} wrong")
    rows = (
        (f"{comparison.a} correct", grouped(both_correct), grouped(only_a)),
        (f"{comparison.a} wrong", grouped(only_b), grouped(neither)),
    )
    return Grid(columns, rows)


def difference_text(comparison: Comparison) -> str:
    """A difference with its interval and p-value; empty if it is undefined."""
    if math.isnan(comparison.difference):
        return ""
    return comparison.size + ("" if math.isnan(comparison.p) else f"  {p_text(comparison.p)}")


def _cell(comparison: Comparison | None) -> str:
    if comparison is None or math.isnan(comparison.difference):
        return ""
    return comparison.size + ("*" if comparison.is_significant else "")


def _significance_mark(comparisons: Comparisons) -> str:
    """Meaning of the star."""
    marks = [comparison.mark for comparison in comparisons if not comparison.several]
    return f"* marks {marks[0] if marks else 'p < 0.05'}"


def degrees(result: Comparison | TestStatistic) -> str:
    """Degrees of freedom, one number or two; empty if there are none."""
    if isinstance(result.df, tuple):
        return ", ".join(f"{round(value)}" if value >= 100 else f"{value:.4g}" for value in result.df)
    return "" if math.isnan(result.df) else grouped(round(result.df)) if result.df >= 10_000 else f"{result.df:.4g}"


def grid(changes: BaselineChanges) -> Grid:
    """Measures of each model now and in the baseline, with the change and its test."""
    has_many_models = len({gap.estimate.model for gap in changes.gaps}) > 1
    rows = tuple(
        ((gap.estimate.model,) if has_many_models else ()) + (f"{spec.shown} {spec.arrow}".strip(), *_cells(gap))
        for gap in changes.gaps
        for spec in [gap.estimate.spec]
    )
    adjusted = (
        f" p is adjusted by Holm's method over {changes.tested} tests; intervals are not adjusted."
        if changes.tested > 1
        else ""
    )
    caption = f"Now and in {changes.before.called}, treated as two independent samples.{adjusted}"
    header = (*(("model",) if has_many_models else ()), "measure", "baseline", "now", "change", "p")
    return Grid(header, rows, caption).without_blanks()


def _cells(gap: SliceGap) -> tuple[str, str, str, str]:
    value = decimals(gap.estimate.value)
    if math.isnan(gap.test.difference):
        return decimals(gap.rest), value, f"– {gap.test.reason or gap.estimate.reason or 'undefined'}", ""
    return (
        decimals(gap.rest),
        value,
        gap.test.size,
        "" if math.isnan(gap.test.p) else format_p_cell(gap.test.reported_p),
    )
