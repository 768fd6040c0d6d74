"""Subgroup and fold sections: differences between subgroups, parity of rates, and variation over folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from scorespace.errors import DataError
from scorespace.inference.estimate import Estimate
from scorespace.report.chart_theme import COLOURS, INK, SOFT, Spec, datum, field, layered, mark, themed
from scorespace.report.document import Block, Grid, Picture, Text
from scorespace.report.protocol import EvaluationView
from scorespace.results import decimals, format_p_cell, grouped

if TYPE_CHECKING:
    from scorespace.comparisons.folds import FoldSummary
    from scorespace.comparisons.slice_gap import SliceGap
    from scorespace.comparisons.slices import Slices
_MAX_MEASURES_IN_TEXT: Final = 4
"""Measures per model in text output."""


def fold_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Mean and standard deviation of every measure over folds, and the pooled value."""
    summaries = evaluation.over_folds
    return [Text(describe_folds(summaries)), fold_grid(summaries)] if summaries else []


def fold_brief(evaluation: EvaluationView) -> Sequence[Block]:
    """The first measures only."""
    summaries = evaluation.over_folds
    few = [
        summary
        for model in evaluation.models
        for summary in [candidate for candidate in summaries if candidate.model == model][:_MAX_MEASURES_IN_TEXT]
    ]
    return [fold_grid(few)] if few else []


def fold_grid(summaries: Sequence[FoldSummary]) -> Grid:
    """One row per model and measure."""
    has_many_models = len({summary.model for summary in summaries}) > 1
    has_undefined = any(summary.undefined for summary in summaries)
    rows = [
        (
            f"{summary.model} {summary.spec}" if has_many_models else str(summary.spec),
            summary.text,
            decimals(summary.pooled),
            *([f"{grouped(summary.undefined)} of {grouped(summary.folds)}"] if has_undefined else []),
        )
        for summary in summaries
    ]
    columns = ("over folds", "mean ± sd", "pooled", *(["undefined folds"] if has_undefined else []))
    count = grouped(summaries[0].folds)
    caption = f"Mean and standard deviation over {count} folds; pooled: value over the cases of all folds together."
    return Grid(columns, tuple(rows), caption)


def describe_folds(summaries: Sequence[FoldSummary]) -> str:
    """The first measure of each model, in a sentence."""
    first = {summary.model: summary for summary in reversed(summaries)}
    values = [f"{summary.model} has {summary.spec} {summary.text}" for summary in reversed(first.values())]
    return f"Over {grouped(summaries[0].folds)} folds, {', '.join(values)}."


def slices_chart(slices: Slices, gaps: Sequence[SliceGap], overall: Estimate) -> Spec:
    """A measure in every subgroup with its interval; hollow points do not differ significantly from the rest."""
    if not gaps:
        raise DataError("there is no subgroup to draw.", hint="at least one")
    first = gaps[0].estimate
    tooltip = [
        field("slice:N", title=slices.title),
        field("text:N", title=str(first.spec)),
        field("gap:N", title="Gap"),
    ]
    encoding = {
        "y": field("label:N", sort=None, title=None, axis={"labelColor": INK, "labelLimit": 240, "ticks": False}),
        "tooltip": tooltip,
    }
    title = f"{first.spec} of {first.model} ({100 * first.level:g} % confidence interval)"
    value = field("value:Q", title=title, axis={"tickCount": 6}, scale={"zero": False, "padding": 12})
    fill = {"condition": {"test": "datum.sure", "value": COLOURS[0]}, "value": "white"}
    layers = [
        mark("rule", [{"whole": datum(overall.value)}], {"x": "whole:Q"}, color=SOFT, strokeDash=[4, 3]),
        mark("rule", None, {**encoding, "x": "low:Q", "x2": "high"}, strokeWidth=2.4, color=COLOURS[0]),
        mark("point", None, {**encoding, "x": value, "fill": fill}, size=110, opacity=1, stroke=COLOURS[0]),
    ]
    rows = [
        {
            "slice": gap.slice,
            "label": f"{gap.slice} ({grouped(slices.rows_of[gap.slice])})",
            "text": gap.estimate.text,
            "gap": gap.test.size,
            "sure": gap.is_significant,
            "value": datum(gap.estimate.value),
            "low": datum(gap.estimate.low),
            "high": datum(gap.estimate.high),
        }
        for gap in gaps
    ]
    values = "; ".join(f"{gap.slice} {gap.estimate.text}" for gap in gaps)
    description = f"{first.spec} of {first.model} by {slices.title}: {values}; all cases {overall.text}."
    return themed(layered(layers, 420, {"step": 30}, data={"values": rows}, description=description))


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """The leading measure of each model as chart and table, parity, and all other measures collapsed."""
    slices = evaluation.slices
    if slices is None:
        return []
    content: list[Block] = [Text(slices.words)]
    overall = {(estimate.model, estimate.spec): estimate for estimate in evaluation.shown}
    for model, spec in slices.leads.items():
        gaps = slices.of(model, spec)
        caption = f"{spec.shown} of {model} in each subgroup with confidence interval; dashed line: all cases."
        legend = "Filled points differ significantly from the rest."
        content += [
            Picture(partial(slices_chart, slices, gaps, overall[model, spec]), caption, f"{caption} {legend}"),
            *grids(slices, gaps, overall[model, spec]),
        ]
    content += parity_grid(slices)
    for model in slices.leads:
        others = [gap for gap in slices.of(model) if gap.estimate.spec != slices.leads[model]]
        content += [every_grid(slices, model, others)] if others else []
    return content


def brief(evaluation: EvaluationView) -> Sequence[Block]:
    """The requested measures of each model, else the leading one, and parity."""
    slices = evaluation.slices
    if slices is None:
        return []
    overall = {(estimate.model, estimate.spec): estimate for estimate in evaluation.shown}
    tables = [
        grid
        for (model, spec), estimate in overall.items()
        if evaluation.requested or slices.leads[model] == spec
        for grid in grids(slices, slices.of(model, spec), estimate)
    ]
    return [*tables, *parity_grid(slices)]


def grids(slices: Slices, gaps: Sequence[SliceGap], overall: Estimate) -> list[Grid]:
    """One measure of a model: a table per column, with a row for all cases and one for each subgroup."""
    return [
        _grid(slices, title, [gap for gap in gaps if gap.slice in names], overall)
        for title, names in slices.by_column.items()
    ]


def _grid(slices: Slices, title: str, gaps: Sequence[SliceGap], overall: Estimate) -> Grid:
    has_many_models = len(slices.leads) > 1
    spec, arrow = overall.spec, overall.spec.arrow
    head = f"{overall.model} {spec.shown} {arrow}".strip() if has_many_models else f"{spec.shown} {arrow}".strip()
    rows = [("all cases", grouped(slices.cases), overall.text, "", "")]
    rows += [(slices.label(gap.slice), grouped(slices.rows_of[gap.slice]), *_cells(gap)) for gap in gaps]
    is_adjusted = any(not math.isnan(gap.test.p_adjusted) for gap in gaps)
    adjustment_note = ", adjusted over subgroups and measures; intervals are not adjusted" if is_adjusted else ""
    columns = (title, "cases", head, "difference to rest", "p adjusted" if is_adjusted else "p")
    return Grid(columns, tuple(rows), f"p of the difference{adjustment_note}.")


def every_grid(slices: Slices, model: str, gaps: Sequence[SliceGap]) -> Grid:
    """All other measures of a model, collapsed."""
    rows = [(f"{gap.estimate.spec.shown}, {gap.slice}", *_cells(gap)) for gap in gaps]
    title = f"All measures of {model} by {slices.title}"
    p = "p adjusted" if any(not math.isnan(gap.test.p_adjusted) for gap in gaps) else "p"
    return Grid(("measure, subgroup", "value", "difference to rest", p), tuple(rows), folded=title)


def _cells(gap: SliceGap) -> tuple[str, str, str]:
    value = gap.estimate.text if not math.isnan(gap.estimate.value) else f"– {gap.estimate.reason or 'undefined'}"
    if math.isnan(gap.test.p):
        return value, "" if math.isnan(gap.test.difference) else gap.test.size, ""
    return value, gap.test.size, format_p_cell(gap.test.reported_p)


def parity_grid(slices: Slices) -> list[Grid]:
    """Parity criteria: the largest difference and the smallest ratio between subgroups."""
    if not slices.parity:
        return []
    has_many_models = len({parity.model for parity in slices.parity}) > 1
    rows = [
        (
            f"{parity.model}: {parity.criterion}" if has_many_models else parity.criterion,
            parity.size if not math.isnan(parity.difference) else f"– {parity.reason}",
            parity.share,
            f"{parity.lowest} – {parity.highest}" if parity.highest else "",
        )
        for parity in slices.parity
    ]
    caption = "Highest minus lowest rate and lowest / highest rate over all subgroups; simultaneous intervals."
    return [Grid(("parity", "difference", "ratio", "low – high"), tuple(rows), caption)]
