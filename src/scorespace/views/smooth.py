"""Smooth ROC on the page: the curves, the numbers beside AUC, the zones; and the page of hard and easy cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from scorespace.curves.smooth import SmoothCurve, gaps, smooth
from scorespace.decisions.cases import SETS, ZONES, Cases, Margins, SubSample, Zones, set_sizes, zones
from scorespace.later import later
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import prob_auc, sauc, smauc
from scorespace.results import Note, Row, decimals, grouped, percent
from scorespace.tables import ScoreTable
from scorespace.tables.pair import two_names
from scorespace.tables.threshold import threshold_text
from scorespace.views.answers import Answers, told
from scorespace.views.document import Block, Document, Grid, Picture, Section, Text, one_section

if TYPE_CHECKING:
    from scorespace.views.charts import smooth as charts
else:  # the cases of a model need no picture
    charts = later("scorespace.views.charts.smooth")

MOST: Final = 10
"""How many cases of a kind are listed unless more are asked for."""

MOST_ZONES: Final = 4
"""Models of which each has a picture of its zones."""

_ROWS: Final = 100_000  # of a table whose hulls are drawn for three decimals

_ABOUT: Final = {
    "easy": "easy: right, no doubt",
    "rescued": "rescued: in doubt, and right",
    "hard": "hard: in doubt, and wrong",
    "error": "error: sure and wrong",
}
_HINTS: Final = (
    ("sd of AUC", "Standard deviation over resamples of all cases."),
    ("sd of smAUC", "The same over the same resamples: the smaller one is the steadier measure."),
    ("midpoint", "Scores above it count as high: by default the mean of all scores."),
    ("on their side", "Positives above the midpoint and negatives at or below it: appropriate scores."),
    ("on the wrong side", "Positives at or below the midpoint and negatives above it: inappropriate scores."),
    *((f"– {one}", "One of the four sets: scorespace cases --set lists its cases.") for one in SETS),
    ("τv", "Sum of the soft labels c: the height of the curve before it is scaled to 1."),
    ("τh", "Sum of 1 − c: the width of the curve before it is scaled to 1."),
    ("rotation τv / τh", "How far the two axes are scaled apart; 1 is no rotation."),
    ("rotation, calibrated", "The same after isotonic calibration of the scores on these cases."),
    ("gap of ROC", "Area of the ROC hull less that of the curve: what isotonic calibration would gain in rank."),
    ("gap of smooth ROC", "Area of its hull less that of the smooth curve: a distance from calibration."),
)


def blocks(evaluation: Answers) -> Sequence[Block]:
    """The section of a report, for the models whose scores lie between 0 and 1."""
    tables = {
        name: table
        for name in evaluation.models.thresholded
        for table in [evaluation.in_use.score_table(name)]
        if table.probabilities and table.n_pos * table.n_neg > 0
    }
    if not tables:
        return []
    curves = {name: smooth(table) for name, table in tables.items()}
    found = {name: zones(table) for name, table in tables.items()}
    answer, others = told(evaluation, _words(tables, found))
    return [
        answer,
        _curves(curves),
        *others,
        _grid(tables, curves, evaluation.spread(auc.name, smauc.name)),
        *(_zones(name, table, found[name]) for name, table in tables.items() if len(tables) <= MOST_ZONES),
    ]


def document(
    name: str,
    model: str,
    found: Cases,
    zone: str | None = None,
    most: int = MOST,
    notes: tuple[Note, ...] = (),
    *,
    sets: Sequence[str] | None = None,
    at: float = 0.5,
    part: SubSample | None = None,
) -> Document:
    """The page of hard and easy cases: how many of each kind, the natural cut, and the most telling ones.

    Or the cases by `sets`, all where none is named, against decisions at a threshold; or a `part` of the cases.
    """
    kinds = ZONES[::-1] if zone is None else (zone,)
    page: list[Block]
    words = found.words
    if part is not None:
        rows = [found.rows()[place] for place in part.places]
        page, words = [_case_grid("proposed cases", rows, most)], part.words
    elif sets is not None:
        listed = [_case_grid(one, found.members(one), most) for one in sets or SETS if found.sets[one]]
        page, words = [_decision_grid(found, at), *listed], _set_words(found, at)
    else:
        listed = [_case_grid(kind, found.of(kind), most, "{} most telling") for kind in kinds if found.counts[kind]]
        page = [_count_grid(found), *listed, Text(_margin_words(found.margins))]
    table = found.table
    share = percent(float(found.positive.mean()))
    positive = f"{table.classes[table.positive]} ({grouped(float(table.n_pos))}, {share})"
    facts = f"{grouped(found.score.size)} cases   positive = {positive}   model = {model}"
    return one_section(name, facts, "Cases", page, words, (*notes, *found.notes))


def spread_section(spreads: Mapping[str, Mapping[str, float]]) -> Section:
    """The standard deviations of measures over the same resamples, side by side."""
    names = dict.fromkeys(name for of_model in spreads.values() for name in of_model)
    rows = tuple((name, *(decimals(one[name], 4) if name in one else "" for one in spreads.values())) for name in names)
    grid = Grid(("sd over resamples", *spreads), rows, "Over the same resamples of all cases.")
    return Section("spread", "Spread", (grid,), brief=True)


def _curves(curves: Mapping[str, SmoothCurve]) -> Picture:
    return Picture(
        lambda: charts.smooth_chart(curves),
        "Smooth ROC curve of each model with its hull, and its ROC curve as a thin line.",
        "Every case moves the smooth curve (thick) up and across, by as much as its score says. Where it falls far "
        "below the ROC curve (thin), cases are ranked well but scored without conviction.",
    )


def _grid(
    tables: Mapping[str, ScoreTable], curves: Mapping[str, SmoothCurve], spread: Mapping[str, Mapping[str, float]]
) -> Grid:
    columns = []
    for model, table in tables.items():
        curve, gap = curves[model], gaps(table.condensed(_ROWS))
        sizes = set_sizes(table, curve.midpoint)
        columns.append(
            {
                "auc ↑": decimals(auc(table)),
                "smauc ↑": decimals(smauc(table)),
                "sd of AUC": decimals(spread[model][auc.name]),
                "sd of smAUC": decimals(spread[model][smauc.name]),
                "sauc ↑": decimals(sauc(table)),
                "prob_auc ↑": decimals(prob_auc(table)),
                "midpoint": decimals(curve.midpoint),
                "on their side": grouped(curve.appropriate),
                **{f"– {one}": grouped(sizes[one]) for one in SETS[:2]},
                "on the wrong side": grouped(curve.inappropriate),
                **{f"– {one}": grouped(sizes[one]) for one in SETS[2:]},
                "τv": grouped(curve.tau_v),
                "τh": grouped(curve.tau_h),
                "rotation τv / τh": decimals(gap.rotation),
                "rotation, calibrated": decimals(gap.rotation_calibrated),
                "gap of ROC": decimals(gap.roc),
                "gap of smooth ROC": decimals(gap.smooth),
            }
        )
    rows = tuple((name, *(column[name] for column in columns)) for name in columns[0])
    measures = ((f"{one.name} ↑", f"{one.title}. {one.summary}") for one in (auc, smauc, sauc, prob_auc))
    return Grid(("", *tables), rows, "The smooth area beside AUC.", (*measures, *_HINTS))


def _zones(name: str, table: ScoreTable, found: Zones) -> Picture:
    return Picture(
        lambda: charts.zones_chart(table, found),
        f"Scores of both classes for {name}, coloured by how hard the cases are.",
        f"{name}: cases in doubt lie in the grey band, nearer to the midpoint than to 0 or 1. Outside it, a score on "
        "the wrong side is a confident error.",
    )


def _words(tables: Mapping[str, ScoreTable], found: Mapping[str, Zones]) -> dict[str, str]:
    """How sure and how right each model is, in a sentence."""
    sentences = {}
    for name, table in tables.items():
        counts, total = found[name].counts, float(table.total)
        sentences[name] = (
            f"{name} is right without doubt about {percent(counts['easy'] / total, 0)} of the cases, sure and wrong "
            f"about {percent(counts['error'] / total, 0)}; of those in doubt it gets "
            f"{grouped(counts['rescued'])} right and {grouped(counts['hard'])} wrong."
        )
    return sentences


def _count_grid(found: Cases) -> Grid:
    negative, positive = two_names(found.table.classes, found.table.positive)
    rows = tuple(
        (
            _ABOUT[zone],
            grouped(found.zones.positives[k]),
            grouped(found.zones.negatives[k]),
            grouped(found.counts[zone]),
        )
        for k, zone in enumerate(ZONES)
    )
    return Grid(("cases", positive, negative, "all"), rows)


def _decision_grid(found: Cases, at: float) -> Grid:
    """Appropriate and inappropriate scores against the decisions at a threshold."""
    negative, positive = two_names(found.table.classes, found.table.positive)
    cells = found.contingency(at)
    rows = []
    for first, title in ((0, "appropriate"), (2, "inappropriate")):
        for place in (first, first + 1):
            side, _, kind = SETS[place].partition(" and ")
            rows.append((f"{side} and {positive if kind == 'positive' else negative}", *cells[place]))
        rows.append((title, *cells[first : first + 2].sum(axis=0)))
    shown = tuple((name, *(grouped(int(count)) for count in (*counts, sum(counts)))) for name, *counts in rows)
    return Grid(("scores", f"decided {positive}", f"decided {negative}", "all"), shown)


def _set_words(found: Cases, at: float) -> str:
    cells = found.contingency(at)
    fitting, total = int(cells[:2].sum()), int(cells.sum())
    right = int(cells[0, 0] + cells[1, 1])
    return (
        f"{grouped(fitting)} of {grouped(total)} scores are appropriate: on their class's side of the midpoint "
        f"{decimals(found.zones.midpoint)}. Decisions at {threshold_text(at)} are right for {grouped(right)} of them, "
        f"and for {grouped(int(cells[2, 0] + cells[3, 1]))} of the {grouped(total - fitting)} inappropriate ones."
    )


def _case_grid(title: str, found: Sequence[Row], most: int, which: str = "first {}") -> Grid:
    rows = tuple(
        (
            str(row["id"]),
            decimals(row["score"], 4),
            f"{row['rank']:g}",
            row["label"],
            "∞" if row["slope"] is None else f"{row['slope']:.3g}",
        )
        for row in found[:most]
    )
    shown = "" if len(found) <= most else f", the {which.format(most)} of {grouped(len(found))}"
    return Grid((f"{title}{shown}", "score", "rank", "label", "slope"), rows)


def _margin_words(found: Margins) -> str:
    if not found.gap.size:
        return "All cases have the same score."
    where = f"The widest gap between neighbouring scores is {found.widest:.3g}, around {found.cut:.3g}"
    if len(found.clusters) == 1:
        return f"{where}: no gap stands out, so the scores have no natural cut."
    spans = ", ".join(
        f"{one.low:.3g} to {one.high:.3g} ({grouped(one.positives + one.negatives)})" for one in found.clusters
    )
    return f"{where}: a natural cut. The scores form {len(found.clusters)} clusters: {spans}."
