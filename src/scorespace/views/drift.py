"""The page of two samples: what was compared, what moved, and the verdict on why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.results import decimals, grouped, p_cell, signed
from scorespace.samples.match import Matches
from scorespace.samples.moved import FAMILY, Aspect, Drift, ModelDrift
from scorespace.views.charts.drift import drift_chart, drift_panels
from scorespace.views.document import Block, Document, Grid, Picture, Section, Text, one_section

_OF_BOTH = "Adjusted: after, at the prevalence before; change = adjusted − before."


def document(drift: Drift, names: tuple[str, str] = ("before", "after")) -> Document:
    """The whole page; the picture shows where there is room for one."""
    blocks = (block for one in drift.models for block in grids(drift, one))
    page = one_section("Drift", facts(drift, names), "Drift", blocks, drift.words, drift.notes)
    shown = tuple(
        Picture(draw, "Distributions of the scores and curves, before and after.") for draw in drift_panels(drift)
    )
    return page.add(Section("charts", "Before and after", shown))


def match_document(found: Matches) -> Document:
    """The page of several samples beside one: a line for each, the nearest first."""
    some = next(iter(found.drifts.values()))
    lines = tuple(
        (
            name,
            grouped(one.sizes[1]),
            decimals(one.prevalence.after),
            decimals(found.distance(name)),
            p_cell(least_p(one)),
            "yes" if not one.moved else f"no: {one.cause}",
        )
        for name in found.ranked
        for one in (found.drifts[name],)
    )
    columns = ("sample", "cases", "share of positives", "distance", "least p", "matches")
    about = "Distance: the area between the smooth ROC curves, or the KS of the scores. p is adjusted for all tests."
    line = f"{found.before}: {grouped(some.sizes[0])} cases   {len(found.drifts)} samples   positive = {some.positive}"
    return one_section("Drift", line, "Drift", [Grid(columns, lines, about)], found.words, found.notes)


def least_p(one: Drift) -> float:
    """The least adjusted p of all tests that the verdict rests on."""
    tested = (aspect for model in one.models for aspect in model.aspects if aspect.name in FAMILY)
    known = [each.p_adjusted for each in (one.prevalence, *tested) if not math.isnan(each.p_adjusted)]
    return min(known, default=math.nan)


def facts(drift: Drift, names: tuple[str, str]) -> str:
    parts = [f"{name}: {grouped(size)} cases" for name, size in zip(names, drift.sizes, strict=True)]
    return "   ".join([*parts, f"positive = {drift.positive}"])


def grids(drift: Drift, one: ModelDrift) -> Sequence[Block]:
    """The tests that the verdict rests on, the other aspects, and why some are undefined."""
    family = [drift.prevalence, *(aspect for aspect in one.aspects if aspect.name in FAMILY)]
    others = [aspect for aspect in one.aspects if aspect.name not in FAMILY]
    of_model = f" of {one.model}" if len(drift.models) > 1 else ""
    blocks: list[Block] = [
        Grid((f"tests{of_model}", "before", "after", "change", "p", "p adjusted"), tuple(map(_test, family)))
    ]
    if others:
        columns = (f"aspects{of_model}", "before", "after", "adjusted", "change", "p")
        blocks += [Grid(columns, tuple(map(_aspect, others))), Text(_OF_BOTH)]
    reasons: dict[str, dict[str, None]] = {}  # what several aspects share is told once
    for aspect in (*family, *others):
        if aspect.reason:
            reasons.setdefault(aspect.reason, {})[aspect.title] = None
    if reasons:
        told = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())
        blocks.append(Text(f"Undefined: {told}."))
    return blocks


def _test(aspect: Aspect) -> tuple[str, ...]:
    change = signed(aspect.change) if aspect.name in ("prevalence", "meaning") else decimals(aspect.change)
    known = aspect.name == "prevalence"
    values = (decimals(aspect.before), decimals(aspect.after)) if known else ("", "")
    return aspect.title, *values, change, p_cell(aspect.p), p_cell(aspect.p_adjusted)


def _aspect(aspect: Aspect) -> tuple[str, ...]:
    distance = math.isnan(aspect.before) and not math.isnan(aspect.change)
    values = ("", "", "") if distance else map(decimals, (aspect.before, aspect.after, aspect.same))
    change = decimals(aspect.change) if distance else signed(aspect.change)
    return aspect.title, *values, change, p_cell(aspect.p)


def picture(drift: Drift) -> Picture:
    """The scores and the curves of both samples."""
    return Picture(lambda: drift_chart(drift), "Distributions of the scores and curves, before and after.")
