"""The section on slices: what each of them is like beside the rest, and how far the rates of decisions are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from scorespace.later import later
from scorespace.results import grouped, p_cell
from scorespace.views.answers import Answers
from scorespace.views.document import Block, Grid, Picture, Text

if TYPE_CHECKING:
    from scorespace.comparisons.slices import Gap, Slices
    from scorespace.resampling.estimate import Estimate
    from scorespace.views.charts import slices as charts
else:
    charts = later("scorespace.views.charts.slices")


def blocks(evaluation: Answers) -> Sequence[Block]:
    """Of each model the leading measure as a picture and a table, parity, and all other measures on request."""
    found = evaluation.slices
    if found is None:
        return []
    shown: list[Block] = [Text(found.words)]
    whole = {(one.model, one.spec): one for one in evaluation.shown}
    for model, spec in found.leads.items():
        gaps = found.of(model, spec)
        about = f"{spec.shown} of {model} in each slice, with its interval; the dashed line is that of all cases."
        picture = "A filled dot differs from the rest by more than chance explains."
        shown += [
            Picture(partial(charts.slices_chart, found, gaps, whole[model, spec]), about, f"{about} {picture}"),
            *grids(found, gaps, whole[model, spec]),
        ]
    shown += parity_grid(found)
    for model in found.leads:
        others = [one for one in found.of(model) if one.estimate.spec != found.leads[model]]
        shown += [every_grid(found, model, others)] if others else []
    return shown


def brief(evaluation: Answers) -> Sequence[Block]:
    """The leading measure of each model, and parity."""
    found = evaluation.slices
    if found is None:
        return []
    whole = {(one.model, one.spec): one for one in evaluation.shown}
    shown = [
        one for model, spec in found.leads.items() for one in grids(found, found.of(model, spec), whole[model, spec])
    ]
    return [*shown, *parity_grid(found)]


def grids(found: Slices, gaps: Sequence[Gap], whole: Estimate) -> list[Grid]:
    """One measure of a model: for each column that makes slices, a row for the whole and one for each slice."""
    return [
        _grid(found, title, [one for one in gaps if one.slice in names], whole)
        for title, names in found.by_column.items()
    ]


def _grid(found: Slices, title: str, gaps: Sequence[Gap], whole: Estimate) -> Grid:
    several = len(found.leads) > 1
    spec, arrow = whole.spec, whole.spec.measure.arrow
    head = f"{whole.model} {spec.shown} {arrow}".strip() if several else f"{spec.shown} {arrow}".strip()
    rows = [("all cases", grouped(found.cases), whole.text, "", "")]
    rows += [(found.label(one.slice), grouped(found.rows_of[one.slice]), *_cells(one)) for one in gaps]
    adjusted = any(not math.isnan(one.test.p_adjusted) for one in gaps)
    over = ", adjusted over the slices; intervals are those of single gaps" if adjusted else ""
    return Grid((title, "cases", head, "gap to the rest", "p"), tuple(rows), f"p of the gap{over}.")


def every_grid(found: Slices, model: str, gaps: Sequence[Gap]) -> Grid:
    """All other measures of a model, on request."""
    rows = [(f"{one.estimate.spec.shown}, {one.slice}", *_cells(one)) for one in gaps]
    title = f"All measures of {model} by {found.title}"
    return Grid(("measure, slice", "value", "gap to the rest", "p"), tuple(rows), folded=title)


def _cells(one: Gap) -> tuple[str, str, str]:
    value = one.estimate.text if not math.isnan(one.estimate.value) else f"– {one.estimate.reason or 'undefined'}"
    if math.isnan(one.test.p):
        return value, "" if math.isnan(one.test.difference) else one.test.size, ""
    return value, one.test.size, p_cell(one.test.telling_p)


def parity_grid(found: Slices) -> list[Grid]:
    """How far the slices are apart by each criterion: the widest difference, the least ratio."""
    if not found.parity:
        return []
    several = len({one.model for one in found.parity}) > 1
    rows = [
        (
            f"{one.model}: {one.criterion}" if several else one.criterion,
            one.size if not math.isnan(one.difference) else f"– {one.reason}",
            one.share,
            f"{one.lowest} – {one.highest}" if one.highest else "",
        )
        for one in found.parity
    ]
    caption = "Highest minus lowest and lowest over highest rate of all slices; the intervals hold for all pairs."
    return [Grid(("parity", "difference", "ratio", "low – high"), tuple(rows), caption)]
