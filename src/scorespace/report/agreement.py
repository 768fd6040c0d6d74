"""Agreement of raters: each rater, every pair, and the instances on which a pair disagrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from scorespace.agreement.raters import RaterAgreement
from scorespace.agreement.scored_raters import VERDICTS, Agreement, RaterPair
from scorespace.comparisons.judge import AlternativeAnnotator
from scorespace.comparisons.margin import MarginTest
from scorespace.comparisons.result import Comparison, Comparisons
from scorespace.measures import MeasureSpec, parse
from scorespace.report.chart_files import curve_panel
from scorespace.report.chart_theme import (
    COLOURS,
    FAINT,
    UNIT,
    Spec,
    axis,
    datum,
    field,
    layered,
    mark,
    panel_title,
    scale,
    themed,
)
from scorespace.report.comparison import differences_chart
from scorespace.report.document import Block, Document, Grid, Picture, Section, one_section
from scorespace.results import Row, decimals, format_p_cell, grouped, percent

INSTANCES: Final = 2000
"""Maximum number of instances in the scatter plot of a pair."""

_SAME, _DIFFERENT = "same decision", "different decisions"


def agreement_chart(agreement: Agreement) -> Spec:
    """Smooth ROC curves of all raters, and scatter plots of the scores of each pair."""
    panels = [draw() for draw in _panels(agreement)]
    independent = {"color": "independent", "strokeDash": "independent", "shape": "independent"}
    description = f"Smooth ROC curves and scores of the raters {', '.join(rater.name for rater in agreement.raters)}."
    return themed(
        {"concat": panels, "columns": 2, "spacing": 40, "resolve": {"scale": independent}, "description": description}
    )


def agreement_panels(agreement: Agreement) -> list[Callable[[], Spec]]:
    """The same panels as separate charts, which narrow pages do not shrink."""
    return [lambda draw=draw: themed(draw()) for draw in _panels(agreement)]  # type: ignore[misc]


def _panels(agreement: Agreement) -> list[Callable[[], Spec]]:
    curves = {rater.name: rater.curve for rater in agreement.raters if np.isfinite(rater.curve.y).all()}
    curve_panels = (
        [partial(curve_panel, curves, "Smooth ROC of each rater's decisions", 360, "rater")] if curves else []
    )
    return [*curve_panels, *(partial(_scatter, agreement, pair) for pair in agreement.pairs)]


def _scatter(agreement: Agreement, pair: RaterPair) -> Spec:
    """Scores of two raters for each instance; within the band they differ by at most the tolerance."""
    rows, tolerance = _instances(agreement, pair), agreement.tolerance
    band_limits = [
        {"x": datum(x), "low": datum(max(0.0, x - tolerance)), "high": datum(min(1.0, x + tolerance))}
        for x in sorted({0.0, tolerance, 1 - tolerance, 1.0})
    ]
    band = mark("area", band_limits, {"x": "x:Q", "y": "low:Q", "y2": "high"}, color=FAINT, opacity=0.18, aria=False)
    kinds = [_SAME, _DIFFERENT]
    instances = mark(
        "point",
        rows,
        {
            "x": field("a:Q", title=f"Score of {pair.a}", axis=axis(UNIT), scale=scale(UNIT)),
            "y": field("b:Q", title=f"Score of {pair.b}", axis=axis(UNIT), scale=scale(UNIT)),
            "color": field(
                "kind:N",
                title=None,
                scale={"domain": kinds, "range": [COLOURS[4], COLOURS[1]]},
                legend={"symbolSize": 90, "symbolStrokeWidth": 0},
            ),
            "shape": field("kind:N", title=None, scale={"domain": kinds, "range": ["circle", "diamond"]}),
            "tooltip": [
                field("id:N", title="Instance"),
                field("a:Q", title="First score", format=".3f"),
                field("b:Q", title="Second score", format=".3f"),
                field("kind:N", title="Decisions"),
            ],
        },
        filled=True,
        size=70,
        opacity=0.75,
    )
    title = f"{pair.a} and {pair.b}; band: difference up to {tolerance:g}"
    return layered([band, instances], 360, 360, title=panel_title(title))


def _instances(agreement: Agreement, pair: RaterPair) -> list[Row]:
    """All instances, or evenly spaced ones if there are too many to draw."""
    raters = {rater.name: rater for rater in agreement.raters}
    a, b = raters[pair.a], raters[pair.b]
    selected = np.unique(np.linspace(0, agreement.cases - 1, min(agreement.cases, INSTANCES)).astype(np.int64))
    is_same = a.decision == b.decision
    return [
        {
            "id": str(agreement.ids[k]),
            "a": datum(float(a.score[k])),
            "b": datum(float(b.score[k])),
            "kind": _SAME if is_same[k] else _DIFFERENT,
        }
        for k in selected.tolist()
    ]


_MAX_LISTED = 8  # instances of a kind listed per pair
_LISTED_ROWS = "instances"


def document(agreement: Agreement, name: str = "Agreement") -> Document:
    """Document of raters with scores, with charts."""
    facts = f"{grouped(agreement.cases)} instances   {len(agreement.raters)} raters   positive = {agreement.positive}"
    facts += f"   tolerance {agreement.tolerance:g}"
    page = one_section(name, facts, "Agreement", grids(agreement), agreement.words, agreement.notes)
    charts = tuple(Picture(draw, "Raters side by side.") for draw in agreement_panels(agreement))
    return replace(page.add(Section("charts", "Raters side by side", charts)), names=_LISTED_ROWS)


def rating_document(agreement: RaterAgreement, name: str = "Agreement") -> Document:
    """Document of raters with labels and no scores."""
    rows = tuple((_title(estimate.spec), estimate.text) for estimate in agreement.together)
    blocks: list[Block] = [*_judge_grids(agreement), Grid(("all raters", "agreement"), rows)]
    columns = tuple(_title(one.spec) for one in agreement.pairs[0][2])
    pair_rows: list[tuple[str, ...]]
    if len(agreement.pairs) == 1:
        ((a, b, estimates),) = agreement.pairs
        pair_rows = [(title, estimate.text) for title, estimate in zip(columns, estimates, strict=True)]
        blocks.append(Grid((f"{a}, {b}", "agreement"), tuple(pair_rows)))
    else:
        pair_rows = [(f"{a}, {b}", *(estimate.text for estimate in estimates)) for a, b, estimates in agreement.pairs]
        blocks.append(Grid(("raters", *columns), tuple(pair_rows)))
    if agreement.differing and not agreement.judged:
        instance_rows = tuple(
            tuple(str(cell or "–") for cell in row.values()) for row in agreement.differing[:_MAX_LISTED]
        )
        n_hidden = len(agreement.differing) - _MAX_LISTED
        instance_rows += (
            ((f"… {grouped(n_hidden)} more", *("" for _ in agreement.table.raters)),) if n_hidden > 0 else ()
        )
        blocks.append(Grid(("instance", *agreement.table.raters), instance_rows))
    separator = " < " if agreement.ordered else ", "
    facts = [
        f"{grouped(agreement.cases)} instances",
        f"{len(agreement.table.raters)} raters",
        separator.join(agreement.table.classes),
    ]
    page = one_section(name, "   ".join(facts), "Agreement", blocks, agreement.words, agreement.notes)
    if agreement.judged:
        alt = "Agreement of each judge with people minus that among people, with its confidence interval."
        page = page.add(Section("charts", "Judge and people", (Picture(lambda: judge_chart(agreement), alt),)))
    return replace(page, names=_LISTED_ROWS if agreement.differing else "")


def _judge_grids(agreement: RaterAgreement) -> list[Grid]:
    """Each judge against people: by measure, and beside each person."""
    found: list[Grid] = []
    for judge in dict.fromkeys(one.a for one in agreement.judged):
        tests = [one for one in agreement.judged if one.a == judge]
        compared = [one for one in tests if not isinstance(one, AlternativeAnnotator)]
        rows = tuple(
            (
                _title(parse(one.measure)),
                decimals(one.value_a),
                decimals(one.value_b),
                one.size,
                format_p_cell(one.reported_p),
                *_shown(one),
            )
            for one in compared
        )
        adjusted = "" if all(math.isnan(one.p_adjusted) for one in compared) else ", adjusted"
        tail = (f"p{adjusted}", *([compared[0].margin.kind] if isinstance(compared[0], MarginTest) else []))
        caption = "Means over pairs of raters: the judge with each person, and people with each other."
        found.append(Grid((judge, "with people", "among people", "difference", *tail), rows, caption))
        for one in tests:
            if isinstance(one, AlternativeAnnotator):
                found.append(_alternative_grid(one))
    return found


def _shown(one: Comparison) -> tuple[str, ...]:
    return (("shown" if one.is_significant else "not shown"),) if isinstance(one, MarginTest) else ()


def _alternative_grid(found: AlternativeAnnotator) -> Grid:
    """The alternative annotator test beside each person."""
    columns = (f"{found.a} beside", f"{found.a} as good", "person as good", "p adjusted", "may replace")
    rows = tuple(
        (
            one.b,
            percent(one.value_a, 0),
            percent(one.value_b, 0),
            format_p_cell(one.reported_p),
            "–" if math.isnan(one.p) else "shown" if one.is_significant else "not shown",
        )
        for one in found.people
    )
    caption = "As good: share of instances with at least the other's agreement with the remaining people; ties count."
    return Grid(columns, rows, caption)


def judge_chart(agreement: RaterAgreement) -> Spec:
    """Differences of the agreement of judges with people and among people, with intervals."""
    tests = tuple(one for one in agreement.judged if not isinstance(one, AlternativeAnnotator))
    has_several = len({one.a for one in tests}) > 1
    titles = (_title(parse(one.measure)) for one in tests)
    names = tuple(f"{one.a}, {title}" if has_several else title for one, title in zip(tests, titles, strict=True))
    return differences_chart(Comparisons(names, tests, sides=("with people", "among people")))


def _title(spec: MeasureSpec) -> str:
    """Title of a measure with its stated options."""
    options = ", ".join(str(value) for _, value in spec.options)
    title = spec.measure.title.removesuffix(" of two raters").removesuffix(" of raters")
    return f"{title}, {options}" if options else title


def grids(agreement: Agreement) -> Sequence[Block]:
    """Tables of raters, pairs, distances between several raters, and instances."""
    tables = [rater_grid(agreement), pair_grid(agreement), *([chance_grid(agreement)] if agreement.chance else [])]
    if len(agreement.raters) > 2:
        tables.append(matrix_grid(agreement))
    instances = instance_grid(agreement)
    return [*tables, *([instances] if instances.rows else [])]


def rater_grid(agreement: Agreement) -> Grid:
    """Decisions of each rater, and how well the rater's scores match them."""
    has_truth = any(not math.isnan(rater.auc) for rater in agreement.raters)
    columns = ("rater", "decides positive", "midpoint", "smAUC", "inappropriate", *(["AUC"] if has_truth else []))
    rows = [
        (
            rater.name,
            percent(rater.positive),
            decimals(rater.curve.midpoint),
            decimals(rater.curve.area()),
            grouped(rater.curve.inappropriate),
            *([decimals(rater.auc)] if has_truth else []),
        )
        for rater in agreement.raters
    ]
    caption = "Inappropriate: scores on the other side of the midpoint than the rater's own decision."
    return Grid(columns, tuple(rows), caption)


def pair_grid(agreement: Agreement) -> Grid:
    """Agreement of decisions, rank correlation of scores, and distance of the curves."""
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
    return Grid(columns, tuple(rows), "Area and largest vertical distance between the smooth ROC curves of two raters.")


def chance_grid(agreement: Agreement) -> Grid:
    """Chance-corrected agreement of all raters on decisions."""
    rows = tuple((estimate.spec.measure.title, estimate.text) for estimate in agreement.chance)
    return Grid(("chance-corrected agreement", "all raters"), rows, "Agreement of all raters beyond chance.")


def matrix_grid(agreement: Agreement) -> Grid:
    """Area between the smooth ROC curves of every two raters."""
    names = tuple(rater.name for rater in agreement.raters)
    matrix = agreement.matrix()
    rows = tuple((name, *(decimals(float(value)) for value in row)) for name, row in zip(names, matrix, strict=True))
    return Grid(("area between", *names), rows)


def instance_grid(agreement: Agreement) -> Grid:
    """The first instances of each kind for each pair; the data output lists all."""
    rows_by_kind: dict[tuple[str, str, str], list[Row]] = {}
    for row in agreement.instances():
        rows_by_kind.setdefault((row["a"], row["b"], row["kind"]), []).append(row)
    rows: list[tuple[str, ...]] = []
    for (a, b, kind), instances in rows_by_kind.items():
        description = str(VERDICTS[1 if kind == "alike" else 2])
        ratings = (
            (row, _rating_text(agreement, row, "a"), _rating_text(agreement, row, "b"))
            for row in instances[:_MAX_LISTED]
        )
        rows += [(str(row["id"]), f"{a}, {b}", first, second, description) for row, first, second in ratings]
        if len(instances) > _MAX_LISTED:
            rows.append((f"… {grouped(len(instances) - _MAX_LISTED)} more", f"{a}, {b}", "", "", description))
    return Grid(("instance", "raters", "first", "second", "disagreement"), tuple(rows))


def _rating_text(agreement: Agreement, row: Row, side: str) -> str:
    label = agreement.positive if row[f"decision_{side}"] else agreement.negative
    return f"{label} {decimals(row[f'score_{side}'], 2)}"


def picture(agreement: Agreement) -> Picture:
    """Smooth ROC curves of the raters, and scores of each pair."""
    return Picture(
        lambda: agreement_chart(agreement), "Smooth ROC curves of the raters, and the scores of each pair of them."
    )
