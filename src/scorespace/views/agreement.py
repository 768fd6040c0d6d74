"""The page of raters: each of them, every pair, and the instances on which a pair agrees in one way only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scorespace.resampling.estimate import Estimate
from scorespace.results import Row, decimals, grouped, percent
from scorespace.samples.agreement import Agreement
from scorespace.samples.raters import Ratings
from scorespace.views.charts.agreement import agreement_chart, agreement_panels
from scorespace.views.document import Block, Document, Grid, Picture, Section, one_section

_SHOWN = 8  # instances of a kind that a page lists for a pair
_NAMED = "instances"


def document(agreement: Agreement, name: str = "Agreement") -> Document:
    """The whole page; the picture shows where there is room for one."""
    facts = f"{grouped(agreement.cases)} instances   {len(agreement.raters)} raters   positive = {agreement.positive}"
    facts += f"   tolerance {agreement.tolerance:g}"
    page = one_section(name, facts, "Agreement", grids(agreement), agreement.words, agreement.notes)
    shown = tuple(Picture(draw, "Raters side by side.") for draw in agreement_panels(agreement))
    return replace(page.add(Section("charts", "Raters side by side", shown)), names=_NAMED)


def rating_document(found: Ratings, name: str = "Agreement") -> Document:
    """The page of raters who give classes and no scores."""
    rows = tuple((_title(one), one.text) for one in found.together)
    blocks: list[Block] = [Grid(("all raters", "agreement"), rows)]
    columns = tuple(map(_title, found.pairs[0][2]))
    shown: list[tuple[str, ...]]
    if len(found.pairs) == 1:
        ((a, b, of_two),) = found.pairs
        shown = [(title, one.text) for title, one in zip(columns, of_two, strict=True)]
        blocks.append(Grid((f"{a}, {b}", "agreement"), tuple(shown)))
    else:
        shown = [(f"{a}, {b}", *(one.text for one in of_two)) for a, b, of_two in found.pairs]
        blocks.append(Grid(("raters", *columns), tuple(shown)))
    if found.differing:
        listed = tuple(tuple(str(cell or "–") for cell in row.values()) for row in found.differing[:_SHOWN])
        more = len(found.differing) - _SHOWN
        listed += ((f"… {grouped(more)} more", *("" for _ in found.table.raters)),) if more > 0 else ()
        blocks.append(Grid(("instance", *found.table.raters), listed))
    order = " < " if found.ordered else ", "
    facts = [f"{grouped(found.cases)} instances", f"{len(found.table.raters)} raters", order.join(found.table.classes)]
    page = one_section(name, "   ".join(facts), "Agreement", blocks, found.words, found.notes)
    return replace(page, names=_NAMED if found.differing else "")


def _title(one: Estimate) -> str:
    """The title of a measure, with the options that were stated."""
    stated = ", ".join(str(value) for _, value in one.spec.options)
    title = one.spec.measure.title.removesuffix(" of two raters").removesuffix(" of raters")
    return f"{title}, {stated}" if stated else title


def grids(agreement: Agreement) -> Sequence[Block]:
    """The raters, the pairs, for several raters the matrix of distances, and the instances."""
    found = [rater_grid(agreement), pair_grid(agreement), *([chance_grid(agreement)] if agreement.chance else [])]
    if len(agreement.raters) > 2:
        found.append(matrix_grid(agreement))
    listed = instance_grid(agreement)
    return [*found, *([listed] if listed.rows else [])]


def rater_grid(agreement: Agreement) -> Grid:
    """How each rater decides, and how the rater's scores back the decisions."""
    known = any(not math.isnan(rater.auc) for rater in agreement.raters)
    columns = ("rater", "decides positive", "midpoint", "smAUC", "inappropriate", *(["AUC"] if known else []))
    rows = [
        (
            rater.name,
            percent(rater.positive),
            decimals(rater.curve.midpoint),
            decimals(rater.curve.area()),
            grouped(rater.curve.inappropriate),
            *([decimals(rater.auc)] if known else []),
        )
        for rater in agreement.raters
    ]
    caption = "Inappropriate: a score on the other side of the midpoint than the rater's own decision."
    return Grid(columns, tuple(rows), caption)


def pair_grid(agreement: Agreement) -> Grid:
    """Agreement of decisions, of the order of scores, and of the curves."""
    columns = ("raters", "same decision", "kappa", "Spearman", "Kendall", "area between", "largest gap")
    rows = [
        (
            f"{pair.a}, {pair.b}",
            pair.agreement.text,
            pair.kappa.text,
            decimals(pair.spearman),
            decimals(pair.kendall),
            decimals(pair.distance.area),
            decimals(pair.distance.largest),
        )
        for pair in agreement.pairs
    ]
    return Grid(columns, tuple(rows), "Area and largest vertical gap between the smooth ROC curves of two raters.")


def chance_grid(agreement: Agreement) -> Grid:
    """The decisions of all raters together: agreement beyond chance."""
    rows = tuple((one.spec.measure.title, one.text) for one in agreement.chance)
    return Grid(("beyond chance", "all raters"), rows, "How far all raters agree beyond what chance would bring.")


def matrix_grid(agreement: Agreement) -> Grid:
    """The area between the curves of every two raters."""
    names = tuple(rater.name for rater in agreement.raters)
    matrix = agreement.matrix()
    rows = tuple((name, *(decimals(float(value)) for value in row)) for name, row in zip(names, matrix, strict=True))
    return Grid(("area between", *names), rows)


def instance_grid(agreement: Agreement) -> Grid:
    """The first instances of each kind for each pair; all of them are in the data."""
    shown: dict[tuple[str, str, str], list[Row]] = {}
    for row in agreement.instances():
        shown.setdefault((row["a"], row["b"], row["kind"]), []).append(row)
    rows: list[tuple[str, ...]] = []
    for (a, b, kind), found in shown.items():
        what = "close scores, other decision" if kind == "alike" else "same decision, scores apart"
        judged = ((row, _judged(agreement, row, "a"), _judged(agreement, row, "b")) for row in found[:_SHOWN])
        rows += [(str(row["id"]), f"{a}, {b}", first, second, what) for row, first, second in judged]
        if len(found) > _SHOWN:
            rows.append((f"… {grouped(len(found) - _SHOWN)} more", f"{a}, {b}", "", "", what))
    return Grid(("instance", "raters", "first", "second", "what"), tuple(rows))


def _judged(agreement: Agreement, row: Row, side: str) -> str:
    label = agreement.positive if row[f"decision_{side}"] else agreement.negative
    return f"{label} {decimals(row[f'score_{side}'], 2)}"


def picture(agreement: Agreement) -> Picture:
    """Their curves together, and their scores instance by instance."""
    return Picture(
        lambda: agreement_chart(agreement), "Smooth ROC curves of the raters, and the scores of each pair of them."
    )
