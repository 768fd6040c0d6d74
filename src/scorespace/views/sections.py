"""The sections of an evaluation's page: one decorated function each, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scorespace.measures import MeasureSpec, confusion
from scorespace.results import grouped
from scorespace.tables import ConfusionTable, ScoreTable
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict

if TYPE_CHECKING:
    from scorespace.comparisons.interval import Estimate
    from scorespace.evaluation import Evaluation

Builder = Callable[["Evaluation"], Sequence[Block]]
SECTIONS: list[tuple[str, str, bool, Builder]] = []


def section(title: str, *, brief: bool = False) -> Callable[[Builder], Builder]:
    """Add a section to every page; it is left out where its function returns no blocks."""

    def add(builder: Builder) -> Builder:
        SECTIONS.append((builder.__name__, title, brief, builder))
        return builder

    return add


def document(evaluation: Evaluation) -> Document:
    """The whole page of an evaluation."""
    built = ((name, title, tuple(builder(evaluation)), brief) for name, title, brief, builder in SECTIONS)
    return Document(
        title=evaluation.name,
        facts=_facts(evaluation),
        sections=tuple(Section(name, title, blocks, brief) for name, title, blocks, brief in built if blocks),
    )


def _facts(evaluation: Evaluation) -> str:
    total = sum(evaluation.classes.values())
    facts = [f"{grouped(evaluation.rows)} cases"]
    if evaluation.positive is None:
        facts += [f"{name} ({grouped(count)})" for name, count in evaluation.classes.items()]
    else:
        positives = evaluation.classes.get(evaluation.positive, 0)
        facts.append(f"positive = {evaluation.positive} ({grouped(positives)}, {100 * positives / total:.1f} %)")
        rest = [f"{name} ({grouped(n)})" for name, n in evaluation.classes.items() if name != evaluation.positive]
        facts.append("negative = " + ", ".join(rest))
    return "   ".join(facts)


@section("Measures", brief=True)
def measures(evaluation: Evaluation) -> Sequence[Block]:
    grid = measure_grid(list(evaluation.summary), list(evaluation.models))
    level = f"Value and {100 * evaluation.level:g} % interval; ↑ higher is better, ↓ lower is better."
    return [Grid(grid.columns, grid.rows, level, grid.hints), *_forest(evaluation)]


@section("Verdict", brief=True)
def verdict(evaluation: Evaluation) -> Sequence[Block]:
    return [Verdict(evaluation.verdict)]


@section("Notes", brief=True)
def notes(evaluation: Evaluation) -> Sequence[Block]:
    return [Notes(evaluation.notes)] if evaluation.notes else []


@section("ROC curve")
def roc(evaluation: Evaluation) -> Sequence[Block]:
    return _curve_blocks(
        evaluation,
        "roc",
        "True positive rate against false positive rate of each model, with the diagonal of chance.",
        "How many positives are found (up) for how many false alarms (right), over all thresholds.",
    )


@section("Precision and recall")
def pr(evaluation: Evaluation) -> Sequence[Block]:
    return _curve_blocks(
        evaluation,
        "pr",
        "Precision against recall of each model, with the prevalence as the level of chance.",
        "How many alarms are right (up) when so many positives are found (right). The level line is the prevalence.",
    )


@section("Score distributions")
def distributions(evaluation: Evaluation) -> Sequence[Block]:
    tables = _score_tables(evaluation)
    if not tables:
        return []

    def draw() -> Any:
        from scorespace.views.charts import distribution_chart

        return distribution_chart(tables)

    about = "Where the scores of positives and negatives lie. The less they overlap, the better the model separates."
    return [Picture(draw, "Histograms of the scores of positives and negatives, one panel per model.", about)]


@section("Thresholds")
def thresholds(evaluation: Evaluation) -> Sequence[Block]:
    return [
        _threshold_picture(name, table, evaluation.threshold(name)) for name, table in _score_tables(evaluation).items()
    ]


@section("Outcomes")
def outcomes(evaluation: Evaluation) -> Sequence[Block]:
    names = evaluation.two_class_models
    if not names:
        return _confusion_grids(evaluation)
    rows = []
    for name in names:
        counts, table = evaluation.counts(name), evaluation.models[name]
        at = f"{evaluation.threshold(name):g}" if isinstance(table, ScoreTable) else "–"
        rows.append((name, at, *(grouped(float(n)) for n in (counts.tp, counts.fp, counts.fn, counts.tn))))
    columns = ("model", "threshold", "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)")
    return [
        Grid(columns, tuple(rows), "What happens to the cases when scores at or above the threshold raise an alarm.")
    ]


def measure_grid(estimates: Sequence[Estimate], models: Sequence[str]) -> Grid:
    """Measures as rows and models as columns.

    A threshold that all models share joins the row name; where theirs differ, a row of its own shows them.
    """
    by_model: dict[str, list[Estimate]] = {name: [one for one in estimates if one.model == name] for name in models}
    shared = _thresholds_shared(by_model)
    names = list(dict.fromkeys(_row_name(one.spec, shared) for several in by_model.values() for one in several))
    rows: list[tuple[str, ...]] = []
    hints: list[tuple[str, str]] = []
    for name in names:
        found = {one.model: one for one in estimates if _row_name(one.spec, shared) == name}
        spec = next(iter(found.values())).spec
        if spec.at is not None and not shared and not any(row[0] == "threshold" for row in rows):
            rows.append(("threshold", *(_threshold_of(by_model[model]) for model in models)))
        rows.append((name, *(found[model].text if model in found else "" for model in models)))
        hints.append((name, f"{spec.measure.title}. {spec.measure.summary}"))
    return Grid(("", *models), tuple(rows), hints=tuple(hints))


def _thresholds_shared(by_model: dict[str, list[Estimate]]) -> bool:
    """Whether all models that have thresholds have the same ones."""
    of_models = [tuple(one.spec.at for one in several if one.spec.at is not None) for several in by_model.values()]
    return len({ats for ats in of_models if ats}) <= 1


def _threshold_of(estimates: Sequence[Estimate]) -> str:
    return next((f"{one.spec.at:g}" for one in estimates if one.spec.at is not None), "")


def _row_name(spec: MeasureSpec, with_threshold: bool) -> str:
    shown = spec if with_threshold else MeasureSpec(spec.name, spec.options, spec.of)
    return f"{shown} {spec.measure.arrow}"


def _score_tables(evaluation: Evaluation) -> dict[str, ScoreTable]:
    return {name: table for name, table in evaluation.models.items() if isinstance(table, ScoreTable)}


def _forest(evaluation: Evaluation) -> Sequence[Block]:
    """A picture of the first measure's intervals, when there are models to compare."""
    if len(evaluation.models) < 2:
        return []
    first = str(evaluation.summary[0].spec)
    found = [one for one in evaluation.summary if str(one.spec) == first]

    def draw() -> Any:
        from scorespace.views.charts import interval_chart

        return interval_chart(found)

    return [Picture(draw, f"{first} of each model with its interval.", found[0].spec.measure.title)]


def _curve_blocks(evaluation: Evaluation, kind: str, alt: str, caption: str) -> Sequence[Block]:
    if not evaluation.two_class_models:
        return []
    return [Picture(lambda: evaluation.plot(kind), alt, caption)]


def _threshold_picture(name: str, table: ScoreTable, at: float) -> Picture:
    shown = (confusion.tpr, confusion.fpr, confusion.ppv, confusion.f1)

    def draw() -> Any:
        from scorespace.views.charts import threshold_chart

        return threshold_chart(table, shown, at)

    words = ", ".join(measure.name for measure in shown)
    return Picture(draw, f"{words} of {name} against the threshold.", f"{name}: what each threshold would give.")


def _confusion_grids(evaluation: Evaluation) -> Sequence[Block]:
    blocks: list[Block] = []
    for name, table in evaluation.models.items():
        if isinstance(table, ConfusionTable):
            rows = [
                (actual, *(grouped(float(n)) for n in line))
                for actual, line in zip(table.classes, table.matrix, strict=True)
            ]
            blocks += [Text(name), Grid(("actual \\ decided", *table.classes), tuple(rows))]
    return blocks
