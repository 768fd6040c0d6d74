"""Sections of the evaluation report, in reading order; each is registered by a decorated function.

First performance and warnings, then changes and differences, operating points, costs and subgroups. Sections for
specialists are collapsed; data and methods come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan

from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.inference.estimate import Estimate
from scorespace.report import (
    asymmetric_loss,
    clinical,
    confusion,
    confusion_matrix,
    credit,
    decision,
    linked_charts,
    multiclass_panel,
    operating,
    ranked_targeting,
    regression,
)
from scorespace.report import calibration as calibration_view
from scorespace.report import comparison as comparison_view
from scorespace.report import leaderboard as leaderboard_view
from scorespace.report import measures as measures_view
from scorespace.report import slices as slices_view
from scorespace.report import smooth as smooth_view
from scorespace.report.comparison import grids as comparison_grids
from scorespace.report.comparison import summarise
from scorespace.report.document import Block, Document, Grid, Notes, Panel, Picture, Section, Text, Verdict
from scorespace.report.document import provenance as made
from scorespace.report.protocol import MAX_SENTENCES, EvaluationView, facts
from scorespace.results import grouped
from scorespace.tables.threshold import threshold_text

SUMMARY, THRESHOLD, COMPARISON, TRUST, DETAILS = PARTS = ("Summary", "Threshold", "Comparison", "Trust", "Details")
"""Entries of the navigation, in reading order."""

Builder = Callable[[EvaluationView], Sequence[Block]]


@dataclass(frozen=True)
class SectionKind:
    """A registered section: its title, the question it answers, and the function that builds it."""

    name: str
    title: str
    brief: bool | Builder
    builder: Builder
    question: str = ""
    folded: bool = False
    part: str = DETAILS
    printed: bool = False


SECTIONS: list[SectionKind] = []


def section(
    title: str,
    *,
    name: str = "",
    question: str = "",
    brief: bool | Builder = False,
    folded: bool = False,
    part: str = DETAILS,
    printed: bool = False,
) -> Callable[[Builder], Builder]:
    """Register a section of the report, by default under the name of its function.

    A section without blocks is left out. `question` is the question it answers; if its first block is a text, that is
    the short answer. `brief`: also shown in text output, or the function that builds its text version. `folded`:
    collapsed, for specialists. `part`: its entry in the navigation; sections have the order of the profile, then that
    of registration. `printed`: on the printed summary.
    """

    def add(builder: Builder) -> Builder:
        kind = SectionKind(name or builder.__name__, title, brief, builder, question, folded, part, printed)
        SECTIONS.append(kind)
        return builder

    return add


def document(
    evaluation: EvaluationView, title: str | None = None, names: Sequence[str] = (), command: str | None = None
) -> Document:
    """The full report of an evaluation, or only the verdict and the named sections."""
    first = evaluation.profile.sections
    places = {name: place - len(first) for place, name in enumerate(first)}
    sections_in_order = sorted(
        SECTIONS, key=lambda kind: (PARTS.index(kind.part), places.get(kind.name, 0), kind.name == method.__name__)
    )
    known_names = [kind.name for kind in sections_in_order]
    for name in names:
        if name not in known_names:
            hint = did_you_mean(name, known_names, quoted=True)
            raise ScoreSpaceError(f"there is no section {name!r}.", seen=listing(known_names), hint=hint)
    built = [
        (kind, tuple(kind.builder(evaluation)), tuple(kind.brief(evaluation)) if callable(kind.brief) else ())
        for kind in sections_in_order
        if not names or kind.name in (*names, verdict.__name__)
    ]
    every = [
        Section(
            kind.name,
            kind.title,
            blocks,
            kind.brief is True or bool(short),
            short,
            kind.question,
            kind.folded and kind.name not in names,
            kind.part,
            kind.printed,
        )
        for kind, blocks, short in built
        if blocks
    ]
    models = evaluation.models
    made_from = (models.name, f"{grouped(models.rows)} rows", f"seed {evaluation.seed}")
    provenance = made(*made_from, f"level {100 * evaluation.level:g} %", command=command)
    return Document(title or models.name, facts(models), tuple(_without_charts_of_panel(every)), provenance)


def _without_charts_of_panel(sections: Sequence[Section]) -> Iterator[Section]:
    """The sections without the charts that the panel shows; a section with `printed` keeps its own."""
    first = [block for section in sections if section.name == panel.__name__ for block in section.blocks]
    pictures = [picture for block in first if isinstance(block, Panel) for picture in block.pictures]
    shown = {picture.key for picture in [*pictures, *(block for block in first if isinstance(block, Picture))]} - {""}
    for section in sections:
        if section.name == panel.__name__:
            yield section
            continue
        blocks = [block for block in section.blocks if not (isinstance(block, Picture) and block.key in shown)]
        if section.printed or len(blocks) == len(section.blocks):
            yield section
        elif any(not isinstance(block, Text) for block in blocks):
            yield replace(section, blocks=tuple(blocks))


def brief_document(evaluation: EvaluationView) -> Document:
    """The part of the report that fits one screen of text, without building the rest."""
    built = (
        (kind, tuple(kind.brief(evaluation) if callable(kind.brief) else kind.builder(evaluation)))
        for kind in SECTIONS
        if kind.brief
    )
    sections = (Section(kind.name, kind.title, blocks, True) for kind, blocks in built if blocks)
    return Document(evaluation.models.name, facts(evaluation.models), tuple(sections)).brief()


@section("Verdict", brief=True, part=SUMMARY, printed=True)
def verdict(evaluation: EvaluationView) -> Sequence[Block]:
    return [Verdict(evaluation.verdict, *evaluation.headline)]


def _rank_by_first_measure(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Estimates of the first defined measure, best model first."""
    defined = [estimate for estimate in estimates if not isnan(estimate.value)]
    first = [estimate for estimate in defined if replace(estimate.spec, at=None) == replace(defined[0].spec, at=None)]
    return sorted(first, key=lambda estimate: estimate.value if estimate.spec.best == "low" else -estimate.value)


@section("Models", brief=measures_view.measure_blocks, part=SUMMARY, printed=True)
def models(evaluation: EvaluationView) -> Sequence[Block]:
    """A row per model, the best first."""
    return [measures_view.model_grid(evaluation)]


@section("Operating point", part=SUMMARY, printed=True)
def panel(evaluation: EvaluationView) -> Sequence[Block]:
    """What each operating point does: an interactive panel, or for decisions their matrix and their points."""
    builders = (
        *(multiclass_panel.multiclass_blocks, operating.threshold_panel, confusion_matrix.decision_blocks),
        *(regression.predicted_blocks, asymmetric_loss.shift_panel),
    )
    return [block for build in builders for block in build(evaluation)]


def _notes(evaluation: EvaluationView) -> Sequence[Block]:
    return [Notes(evaluation.notes)] if evaluation.notes else []


@section(
    "Notes",
    brief=_notes,
    question="What should be known before using the results?",
    part=TRUST,
    printed=True,
)
def notes(evaluation: EvaluationView) -> Sequence[Block]:
    """Findings that affect the interpretation of results, warnings first."""
    warnings = sum(note.level != "info" for note in evaluation.notes)
    counts = {"warning": warnings, "remark": len(evaluation.notes) - warnings}
    summary = " and ".join(f"{count} {label}{'s' * (count != 1)}" for label, count in counts.items() if count)
    return [Text(f"{summary}."), *_notes(evaluation)] if evaluation.notes else []


def _baseline_grid(evaluation: EvaluationView) -> Sequence[Block]:
    return [] if evaluation.changes is None else [comparison_view.grid(evaluation.changes)]


@section(
    "Change from baseline",
    name="since",
    question="What changed since the baseline?",
    brief=_baseline_grid,
    part=COMPARISON,
)
def baseline_changes(evaluation: EvaluationView) -> Sequence[Block]:
    """All measures compared with a saved evaluation."""
    changes = evaluation.changes
    return [] if changes is None else [Text(changes.words), *_baseline_grid(evaluation)]


def _board_grid(evaluation: EvaluationView) -> Sequence[Block]:
    board = evaluation.leaderboard
    return [] if board is None else [leaderboard_view.leaderboard_grid(board)]


@section("Leaderboard", question="Which models differ?", brief=_board_grid, part=COMPARISON, printed=True)
def leaderboard(evaluation: EvaluationView) -> Sequence[Block]:
    """Models by a mean over cases, with ranges of ranks and letters."""
    board = evaluation.leaderboard
    return [] if board is None else [Text(board.words), *leaderboard_view.blocks(board)]


@section("Differences", question="Do the models differ?", part=COMPARISON)
def comparison(evaluation: EvaluationView) -> Sequence[Block]:
    """Paired tests between models on the same cases."""
    if not evaluation.models.comparable:
        return []
    comparisons = evaluation.comparisons
    return [Text(summarise(comparisons)), *comparison_grids(comparisons, folded=len(comparisons) > MAX_SENTENCES + 1)]


@section("Thresholds", question="Which threshold?", part=THRESHOLD)
def thresholds(evaluation: EvaluationView) -> Sequence[Block]:
    """Measures over all thresholds, and confusion counts at the selected one."""
    panel = evaluation.operating
    if not evaluation.models.two_class or (panel is not None and panel.classes):
        # The panel and the charts of the classes show the same counts.
        title = "Counts of all cells"
        return [replace(block, folded=title) if isinstance(block, Grid) else block for block in outcomes(evaluation)]
    if panel is None:  # predicted labels only: there is no threshold to choose
        first = next(iter(evaluation.models.two_class))
        return [Text(f"{first} {_describe_predictions(evaluation, first)}"), *outcomes(evaluation)]
    model = panel.models[panel.start]
    measures = [model.measures[place].spec.measure for place in panel.drawn]
    threshold = threshold_text(evaluation.threshold(model.name))
    text = f"At threshold {threshold}, {model.name} {_describe_predictions(evaluation, model.name)}"
    return [Text(text), operating.threshold_picture(evaluation, measures), *outcomes(evaluation)]


def _describe_predictions(evaluation: EvaluationView, model: str) -> str:
    """Number of predicted positives of a model and its confusion counts, as the end of a sentence."""
    counts = evaluation.counts(model)
    predicted, total, tp, fp, fn, tn = (
        grouped(float(count)) for count in (counts.pp, counts.total, counts.tp, counts.fp, counts.fn, counts.tn)
    )
    label = evaluation.models.positive
    return f"predicts {predicted} of {total} cases as {label} (TP {tp}, FP {fp}, FN {fn}, TN {tn})."


@section("Ranking", question="How well do the scores rank the cases?", part=COMPARISON)
def curves(evaluation: EvaluationView) -> Sequence[Block]:
    if not evaluation.models.two_class or not evaluation.models.thresholded:  # decisions are points
        return []
    has_bands = operating.has_bands(evaluation)
    level = f" The shaded area is the {100 * evaluation.level:g} % simultaneous confidence band." if has_bands else ""
    roc_caption = "ROC curve: true positive rate against false positive rate over all thresholds."
    return [
        *([Text(text)] if (text := _ranking_text(evaluation)) else []),
        linked_charts.curves_picture(
            evaluation,
            "roc",
            "ROC curve: true positive rate against false positive rate of each model, with the chance diagonal.",
            roc_caption + level,
            band=has_bands,
        ),
        linked_charts.curves_picture(
            evaluation,
            "pr",
            "Precision against recall of each model, with the prevalence as chance level.",
            "Precision-recall curve. The chance level is the prevalence.",
            band=has_bands,
        ),
    ]


# --- sections built in other modules; a lambda imports its module only with the full report

section("Discrimination", name="discrimination", question="How well do the scores separate good from bad?", part=TRUST)(
    credit.discrimination
)
section("Grades", name="grades", question="Do the grades have the stated default rates?", part=TRUST)(credit.grades)
section("Stability", name="stability", question="Is the population still that of the reference?", part=TRUST)(
    credit.stability
)
section("Concentration", name="concentration", question="How are cases spread over the grades?", part=TRUST)(
    credit.concentration
)
section("Calibration", name="calibration", question="Are the probabilities calibrated?", part=TRUST, printed=True)(
    lambda evaluation: calibration_view.blocks(evaluation)
)
section(
    "Classes", name="class_by_class", brief=confusion.short_blocks, question="How good is each class?", part=COMPARISON
)(confusion.blocks)
section(
    "Costs", name="decision", question="What does it cost, and which model is best for which costs?", part=THRESHOLD
)(lambda evaluation: decision.blocks(evaluation))
section("Over- and underprediction", name="rroc", question="What do over- and underprediction cost?", part=THRESHOLD)(
    lambda evaluation: regression.rroc_blocks(evaluation)
)
section(
    "Subgroups", name="slices", question="In which subgroups are the models worse?", brief=slices_view.brief, part=TRUST
)(slices_view.blocks)
section("Errors", name="errors", question="How large are the errors, and where do they occur?", part=COMPARISON)(
    lambda evaluation: regression.error_blocks(evaluation)
)
section("Calibration of predictions", name="believed", question="Are the numeric predictions calibrated?", part=TRUST)(
    lambda evaluation: regression.reliability_blocks(evaluation)
)
section("Predictive distributions", name="predictive", question="Is the stated uncertainty right?", part=TRUST)(
    lambda evaluation: regression.distribution_blocks(evaluation)
)
section(
    "Folds",
    name="folds",
    question="How much do the measures vary between folds?",
    brief=slices_view.fold_brief,
    part=TRUST,
)(slices_view.fold_blocks)
section("Targeting", name="targeting", question="Which cases should be treated first?", folded=True, part=THRESHOLD)(
    lambda evaluation: ranked_targeting.blocks(evaluation)
)


@section("Scores", question="How are the scores distributed?", folded=True)
def distributions(evaluation: EvaluationView) -> Sequence[Block]:
    if not evaluation.models.thresholded:
        return []
    alt = "Histograms of the scores of positive and negative cases, one panel per model."
    caption = "Distribution of scores by class. The smaller the overlap, the better the discrimination."
    return [
        Text("The smaller the overlap between the classes, the better a model discriminates."),
        Picture(lambda: evaluation.drawing("distribution"), alt, caption),
    ]


@section("Uncertain cases", question="Which cases are uncertain?", folded=True)
def smooth(evaluation: EvaluationView) -> Sequence[Block]:
    """What score magnitudes add to their order, and the accuracy if uncertain cases are rejected."""
    blocks = smooth_view.blocks(evaluation)
    caption = "Accuracy on the remaining cases when those nearest to the threshold are rejected."
    alt = "Accuracy of the accepted cases against the share of rejected cases, by model."
    first = next(
        (position for position, block in enumerate(blocks, start=1) if isinstance(block, Picture)), len(blocks)
    )
    rejection = [Picture(lambda: evaluation.drawing("rejection"), alt, caption)] if blocks else []
    return [*blocks[:first], *rejection, *blocks[first:]]


@section("All measures", question="What are the values of all measures?", folded=True)
def measures(evaluation: EvaluationView) -> Sequence[Block]:
    """The requested measures, or all usual ones, of all models."""
    shown = evaluation.shown if evaluation.requested else evaluation.everything
    count = len({replace(estimate.spec, at=None) for estimate in shown})
    n_models = "one model" if len(evaluation.models) == 1 else f"{len(evaluation.models)} models"
    text = Text(f"{count} {'measure' if count == 1 else 'measures'} of {n_models}.")
    return [text, *measures_view.measure_blocks(evaluation, shown)]


section("Flow of participants", name="flow", question="Who was analysed, and who was left out?")(clinical.flow_blocks)
section("Reporting checklists", name="checklist", question="What do STARD and TRIPOD+AI ask for?")(
    clinical.checklist_blocks
)


@section("Data and methods", question="Which data and methods were used?", folded=True, printed=True)
def method(evaluation: EvaluationView) -> Sequence[Block]:
    """The sample, and the interval method of each measure."""
    measures_by_method: dict[str, list[str]] = {}
    for estimate in evaluation.summary:
        measures_by_method.setdefault(estimate.method or "none", []).append(str(replace(estimate.spec, at=None)))
    rows = tuple((name, ", ".join(dict.fromkeys(names))) for name, names in measures_by_method.items())
    tables = tuple((name, f"{table!r}".splitlines()[0]) for name, table in evaluation.models.items())
    sample = facts(evaluation.models).replace("   ", ", ")
    return [
        Text(f"{evaluation.models.name}: {sample}; level {100 * evaluation.level:g} %."),
        Grid(("model", "table"), tables, prose=True),
        Grid(("interval method", "measures"), rows, prose=True),
    ]


def outcomes(evaluation: EvaluationView) -> Sequence[Block]:
    """Confusion counts of each model at its threshold, or the multiclass confusion matrices."""
    names = evaluation.models.two_class
    if not names:
        return confusion.confusion_blocks(evaluation)
    rows, has_scores = [], evaluation.models.thresholded
    for name in names:
        counts, table = evaluation.counts(name), evaluation.models[name]
        threshold = threshold_text(evaluation.threshold(name)) if table.thresholded else "–" if has_scores else ""
        rows.append(
            (name, threshold, *(grouped(float(count)) for count in (counts.tp, counts.fp, counts.fn, counts.tn)))
        )
    columns = ("model", "threshold", "true positives", "false positives", "false negatives", "true negatives")
    rule = " Scores at or above the threshold are predicted positive." if has_scores else ""
    return [Grid(columns, tuple(rows), f"Confusion counts.{rule}").without_blanks()]


def _ranking_text(evaluation: EvaluationView) -> str:
    """Models in the order of an area under a curve, if one is among the measures."""
    ranked = _rank_by_first_measure([estimate for estimate in evaluation.summary if estimate.spec.measure.area])
    listed = ranked if len(ranked) <= MAX_SENTENCES + 1 else [*ranked[:MAX_SENTENCES], ranked[-1]]
    parts = [f"{estimate.model} {estimate.text}" for estimate in listed]
    if len(listed) < len(ranked):
        parts[-1] = f"…, {parts[-1]}"
    return f"{ranked[0].spec.measure.title}: {', '.join(parts)}." if ranked else ""
