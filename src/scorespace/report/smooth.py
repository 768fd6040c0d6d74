"""Smooth ROC curves and uncertain cases: section of the report, and the document of hard and easy cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scorespace.curves.smooth import SmoothCurve
from scorespace.decisions.hard_cases import SETS, ZONES, HardCases, ScoreGaps, SubSample
from scorespace.report.document import Block, Document, Grid, Picture, Section, Text, one_section
from scorespace.report.protocol import EvaluationView, model_sentences
from scorespace.report.section_numbers import SmoothModel
from scorespace.report.smooth_charts import smooth_chart, zones_chart
from scorespace.results import Note, Row, decimals, grouped, percent
from scorespace.tables.paired import binary_class_names
from scorespace.tables.threshold import threshold_text

MOST: Final = 10
"""Default number of listed cases per zone."""

MAX_ZONE_CHARTS: Final = 4
"""Maximum number of models with a chart of zones."""

_ZONE_TITLES: Final = {
    "easy": "easy: certain and correct",
    "rescued": "rescued: uncertain but correct",
    "hard": "hard: uncertain and wrong",
    "error": "error: certain but wrong",
}
_HINTS: Final = (
    ("sd of AUC", "Standard deviation over bootstrap resamples."),
    ("sd of smAUC", "Standard deviation over the same resamples."),
    ("midpoint", "Scores above it count as high: by default the mean of all scores."),
    ("appropriate", "Positives above the midpoint and negatives at or below it."),
    ("inappropriate", "Positives at or below the midpoint and negatives above it."),
    *((f"– {set_name}", "One of the four sets: scorespace cases --set lists its cases.") for set_name in SETS),
    ("τv", "Sum of the soft labels c: the height of the curve before normalisation."),
    ("τh", "Sum of 1 − c: the width of the curve before normalisation."),
    ("rotation τv / τh", "Ratio of the two normalisations; 1 is no rotation."),
    ("rotation, calibrated", "The same after isotonic calibration of the scores on these cases."),
    ("gap of ROC", "Area of the ROC hull minus the AUC: the gain by isotonic calibration."),
    ("gap of smooth ROC", "Area of the hull of the smooth curve minus its area: a distance from calibration."),
)


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Section of uncertain cases, for models with scores between 0 and 1."""
    models: Mapping[str, SmoothModel] = evaluation.smooth_models
    if not models:
        return []
    answer, others = model_sentences(evaluation, _zone_sentences(models))
    charts = [_zones(name, model) for name, model in models.items() if len(models) <= MAX_ZONE_CHARTS]
    return [answer, _curves({name: model.curve for name, model in models.items()}), *others, _grid(models), *charts]


def document(
    name: str,
    model: str,
    cases: HardCases,
    zone: str | None = None,
    max_rows: int = MOST,
    notes: tuple[Note, ...] = (),
    *,
    sets: Sequence[str] | None = None,
    subsample: SubSample | None = None,
) -> Document:
    """Document of hard and easy cases: counts by zone, gaps between scores, and the most extreme cases.

    Or the cases of `sets` (all four if empty) against predicted classes; or a `subsample`.
    """
    kinds = ZONES[::-1] if zone is None else (zone,)
    page: list[Block]
    verdict = cases.words
    if subsample is not None:
        rows = [cases.rows()[index] for index in subsample.places]
        page, verdict = [_case_grid("proposed cases", rows, max_rows)], subsample.words
    elif sets is not None:
        tables = [
            _case_grid(set_name, cases.members(set_name), max_rows) for set_name in sets or SETS if cases.sets[set_name]
        ]
        page, verdict = [_decision_grid(cases), *tables], _describe_sets(cases)
    else:
        tables = [_case_grid(kind, cases.of(kind), max_rows, "{} most extreme") for kind in kinds if cases.counts[kind]]
        page = [_count_grid(cases), *tables, Text(_describe_gaps(cases.margins))]
    table = cases.table
    share = percent(float(cases.positive.mean()))
    positive = f"{table.classes[table.positive]} ({grouped(float(table.n_pos))}, {share})"
    facts = f"{grouped(cases.score.size)} cases   positive = {positive}   model = {model}"
    return one_section(name, facts, "Cases", page, verdict, (*notes, *cases.notes))


def spread_section(spreads: Mapping[str, Mapping[str, float]]) -> Section:
    """Standard deviations of measures over common bootstrap resamples."""
    names = dict.fromkeys(name for deviations in spreads.values() for name in deviations)
    rows = tuple(
        (name, *(decimals(deviations[name], 4) if name in deviations else "" for deviations in spreads.values()))
        for name in names
    )
    grid = Grid(("sd over resamples", *spreads), rows, "Over the same bootstrap resamples.")
    return Section("spread", "Standard deviations", (grid,), brief=True)


def _curves(curves: Mapping[str, SmoothCurve]) -> Picture:
    return Picture(
        lambda: smooth_chart(curves),
        "Smooth ROC curve of each model with its hull, and its ROC curve as a thin line.",
        "Smooth ROC curve (thick): each case contributes by the magnitude of its score. Far below the ROC curve "
        "(thin), cases are ranked correctly but with scores near the midpoint.",
    )


def _grid(models: Mapping[str, SmoothModel]) -> Grid:
    columns = []
    for model in models.values():
        curve, gap, sizes = model.curve, model.gaps, model.set_sizes
        columns.append(
            {
                **{f"{measure.name} ↑": decimals(value) for measure, value in model.areas},
                "sd of AUC": decimals(model.sd_auc),
                "sd of smAUC": decimals(model.sd_smauc),
                "midpoint": decimals(curve.midpoint),
                "appropriate": grouped(curve.appropriate),
                **{f"– {set_name}": grouped(sizes[set_name]) for set_name in SETS[:2]},
                "inappropriate": grouped(curve.inappropriate),
                **{f"– {set_name}": grouped(sizes[set_name]) for set_name in SETS[2:]},
                "τv": grouped(curve.tau_v),
                "τh": grouped(curve.tau_h),
                "rotation τv / τh": decimals(gap.rotation),
                "rotation, calibrated": decimals(gap.rotation_calibrated),
                "gap of ROC": decimals(gap.roc),
                "gap of smooth ROC": decimals(gap.smooth),
            }
        )
    rows = tuple((name, *(column[name] for column in columns)) for name in columns[0])
    areas = next(iter(models.values())).areas
    measures = ((f"{measure.name} ↑", f"{measure.title}. {measure.summary}") for measure, _ in areas)
    return Grid(
        ("", *models),
        rows,
        "Areas under the ROC and the smooth ROC curve, and related statistics.",
        (*measures, *_HINTS),
    )


def _zones(name: str, model: SmoothModel) -> Picture:
    return Picture(
        lambda: zones_chart(model.table, model.zones),
        f"Scores of both classes for {name}, coloured by zone.",
        f"{name}: uncertain cases lie in the grey band, nearer to the midpoint than to 0 or 1. Outside it, a score on "
        "the wrong side is a confident error.",
    )


def _zone_sentences(models: Mapping[str, SmoothModel]) -> dict[str, str]:
    """Proportions of certain and uncertain, correct and wrong cases of each model, in a sentence."""
    sentences = {}
    for name, model in models.items():
        counts, total = model.zones.counts, float(model.table.total)
        sentences[name] = (
            f"{name}: {percent(counts['easy'] / total, 0)} of the cases are certain and correct, "
            f"{percent(counts['error'] / total, 0)} certain but wrong; of the uncertain ones, "
            f"{grouped(counts['rescued'])} correct and {grouped(counts['hard'])} wrong."
        )
    return sentences


def _count_grid(cases: HardCases) -> Grid:
    negative, positive = binary_class_names(cases.table.classes, cases.table.positive)
    rows = tuple(
        (
            _ZONE_TITLES[zone],
            grouped(cases.zones.positives[k]),
            grouped(cases.zones.negatives[k]),
            grouped(cases.counts[zone]),
        )
        for k, zone in enumerate(ZONES)
    )
    return Grid(("cases", positive, negative, "all"), rows)


def _decision_grid(cases: HardCases) -> Grid:
    """Appropriate and inappropriate scores against predicted classes at a threshold."""
    negative, positive = binary_class_names(cases.table.classes, cases.table.positive)
    cells = cases.contingency()
    rows = []
    for first, title in ((0, "appropriate"), (2, "inappropriate")):
        for set_index in (first, first + 1):
            side, _, kind = SETS[set_index].partition(" and ")
            rows.append((f"{side} and {positive if kind == 'positive' else negative}", *cells[set_index]))
        rows.append((title, *cells[first : first + 2].sum(axis=0)))
    formatted = tuple((name, *(grouped(int(count)) for count in (*counts, sum(counts)))) for name, *counts in rows)
    return Grid(("scores", f"predicted {positive}", f"predicted {negative}", "all"), formatted)


def _describe_sets(cases: HardCases) -> str:
    cells = cases.contingency()
    n_appropriate, total = int(cells[:2].sum()), int(cells.sum())
    n_correct = int(cells[0, 0] + cells[1, 1])
    return (
        f"{grouped(n_appropriate)} of {grouped(total)} scores are appropriate, on the side of the midpoint "
        f"{decimals(cases.zones.midpoint)} that matches their class. At threshold {threshold_text(cases.at)}, "
        f"{grouped(n_correct)} of them and {grouped(int(cells[2, 0] + cells[3, 1]))} of the "
        f"{grouped(total - n_appropriate)} inappropriate ones are classified correctly."
    )


def _case_grid(title: str, case_rows: Sequence[Row], max_rows: int, selection: str = "first {}") -> Grid:
    rows = tuple(
        (
            str(row["id"]),
            decimals(row["score"], 4),
            f"{row['rank']:g}",
            row["label"],
            "∞" if row["slope"] is None else f"{row['slope']:.3g}",
        )
        for row in case_rows[:max_rows]
    )
    selection_text = (
        "" if len(case_rows) <= max_rows else f", the {selection.format(max_rows)} of {grouped(len(case_rows))}"
    )
    return Grid((f"{title}{selection_text}", "score", "rank", "label", "slope"), rows)


def _describe_gaps(score_gaps: ScoreGaps) -> str:
    if not score_gaps.gap.size:
        return "All cases have the same score."
    widest_text = f"The largest gap between adjacent scores is {score_gaps.widest:.3g}, around {score_gaps.cut:.3g}"
    if len(score_gaps.clusters) == 1:
        return f"{widest_text}: no gap is unusually large, so the scores have no natural threshold."
    clusters = ", ".join(
        f"{cluster.low:.3g} to {cluster.high:.3g} ({grouped(cluster.positives + cluster.negatives)})"
        for cluster in score_gaps.clusters
    )
    return f"{widest_text}: a natural threshold. The scores form {len(score_gaps.clusters)} clusters: {clusters}."
