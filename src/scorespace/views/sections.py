"""The sections of an evaluation's page: one decorated function each, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from scorespace.conditions import Condition
from scorespace.decisions import CostChoice, Decision, Value, decide
from scorespace.measures import confusion
from scorespace.results import decimals, grouped, limits
from scorespace.tables import At, ScoreTable, Top
from scorespace.views import classes
from scorespace.views.answers import Answers, facts
from scorespace.views.calibration import blocks as calibration_blocks
from scorespace.views.comparison import difference_text
from scorespace.views.comparison import grids as comparison_grids
from scorespace.views.decision import grids, region_grid
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict
from scorespace.views.smooth import blocks as smooth_blocks

if TYPE_CHECKING:
    from scorespace.comparisons.answer import Comparison
    from scorespace.resampling.estimate import Estimate

HONEST: Final = "cost/case"
HERE: Final = "cost here"
"""The two costs of a chosen threshold: that to expect, and that on the cases that chose it."""
BY_CHANCE: Final = "– by chance"
"""The row below a measure that even perfect scores have above nothing."""

Builder = Callable[[Answers], Sequence[Block]]
SECTIONS: list[tuple[str, str, bool | Builder, Builder]] = []


def section(title: str, *, brief: bool | Builder = False) -> Callable[[Builder], Builder]:
    """Add a section to every page; it is left out where its function returns no blocks.

    `brief`: whether it is also shown where there is little room, or what is shown there instead.
    """

    def add(builder: Builder) -> Builder:
        SECTIONS.append((builder.__name__, title, brief, builder))
        return builder

    return add


def document(evaluation: Answers) -> Document:
    """The whole page of an evaluation."""
    built = (
        (name, title, tuple(builder(evaluation)), brief, tuple(brief(evaluation)) if callable(brief) else ())
        for name, title, brief, builder in SECTIONS
    )
    sections = (
        Section(name, title, blocks, brief is True or bool(short), short)
        for name, title, blocks, brief, short in built
        if blocks
    )
    return Document(evaluation.models.name, facts(evaluation.models), tuple(sections))


def brief_document(evaluation: Answers) -> Document:
    """What fits one screen of text, without building the rest of the page."""
    built = (
        (name, title, tuple(brief(evaluation) if callable(brief) else builder(evaluation)))
        for name, title, brief, builder in SECTIONS
        if brief
    )
    sections = (Section(name, title, blocks, True) for name, title, blocks in built if blocks)
    return Document(evaluation.models.name, facts(evaluation.models), tuple(sections))


@section("Measures", brief=True)
def measures(evaluation: Answers) -> Sequence[Block]:
    grid = measure_grid(list(evaluation.shown), list(evaluation.models), _short_names(evaluation))
    if isinstance(evaluation.decision, Decision):
        grid = with_honest_costs(grid, evaluation.decision)
    if evaluation.differences:
        grid = with_differences(grid, evaluation.differences)
    blank = undifferent(evaluation.differences, [str(one.spec) for one in evaluation.shown])
    level = f"Value and {100 * evaluation.level:g} % interval; ↑ higher is better, ↓ lower is better."
    return [*_forest(evaluation), Grid(grid.columns, grid.rows, level, grid.hints), *([Text(blank)] if blank else [])]


@section("Classes", brief=classes.short_blocks)
def class_by_class(evaluation: Answers) -> Sequence[Block]:
    """Rates, areas and curves of each of several classes, and what is taken for what."""
    return classes.blocks(evaluation)


@section("Verdict", brief=True)
def verdict(evaluation: Answers) -> Sequence[Block]:
    return [Verdict(evaluation.verdict)]


@section("Notes", brief=True)
def notes(evaluation: Answers) -> Sequence[Block]:
    return [Notes(evaluation.notes)] if evaluation.notes else []


@section("Curves")
def curves(evaluation: Answers) -> Sequence[Block]:
    if not evaluation.models.two_class:
        return []
    banded = _banded(evaluation)

    level = f" The band holds the whole true curve at {100 * evaluation.level:g} %." if banded else ""
    return [
        Picture(
            lambda: evaluation.drawing("roc", band=banded),
            "True positive rate against false positive rate of each model, with the diagonal of chance.",
            "ROC: how many positives are found (up) for how many false alarms (right), over all thresholds." + level,
        ),
        Picture(
            lambda: evaluation.drawing("pr", band=banded),
            "Precision against recall of each model, with the prevalence as the level of chance.",
            "How many alarms are right (up) when so many positives are found (right). Chance reaches the prevalence.",
        ),
    ]


@section("Decision")
def decision(evaluation: Answers) -> Sequence[Block]:
    """What to use under the costs, and which model is best under which costs."""
    if isinstance(evaluation.decision, CostChoice):
        return grids(evaluation.decision)
    if not evaluation.models.two_class or not 0 < evaluation.models.prevalence < 1:
        return []
    stated = isinstance(evaluation.decision, Decision)
    # Without costs, the ranges of costs in which each model is best still hold: they need the hull alone.
    models = {name: evaluation.models.deciding[name] for name in evaluation.models.two_class}
    found = evaluation.decision if isinstance(evaluation.decision, Decision) else decide(models, Condition())

    def draw_hull() -> Any:
        from scorespace.views.charts import hull_chart

        return hull_chart(evaluation.curves("roc"), found.hull, found if stated else None)

    def draw_costs() -> Any:
        from scorespace.views.charts import cost_chart

        return cost_chart(evaluation.curves("cost"), found, chosen=stated)

    hull_words = "The hull (dark) is the best that mixing thresholds and models can reach."
    line_words = " All points of the dashed line cost the same; the dot is the cheapest point." if stated else ""
    pictures = [
        Picture(draw_hull, "ROC curves of all models with their common convex hull.", hull_words + line_words),
        Picture(
            draw_costs,
            "Normalised expected cost of each model over all operating conditions.",
            "Cost of each model at its best threshold, from false alarms mattering most (left) to misses mattering "
            "most (right). The band names the best model; grey needs no model.",
        ),
    ]
    return [*pictures, *(grids(found) if stated else [region_grid(found)])]


@section("Comparison")
def comparison(evaluation: Answers) -> Sequence[Block]:
    """Whether the models differ by more than chance, where their cases are known pair by pair."""
    if not evaluation.models.comparable:
        return []
    found = evaluation.comparisons
    return [*comparison_grids(found), *(Text(one.words) for one in found)]


@section("Calibration")
def calibration(evaluation: Answers) -> Sequence[Block]:
    """Whether the scores can be taken as probabilities."""
    return calibration_blocks(evaluation)


@section("Score distributions")
def distributions(evaluation: Answers) -> Sequence[Block]:
    tables = _score_tables(evaluation)
    if not tables:
        return []

    def draw() -> Any:
        from scorespace.views.charts import distribution_chart

        return distribution_chart(tables)

    about = "Where the scores of positives and negatives lie. The less they overlap, the better the model separates."
    return [Picture(draw, "Histograms of the scores of positives and negatives, one panel per model.", about)]


@section("Smooth ROC")
def smooth(evaluation: Answers) -> Sequence[Block]:
    """What the size of the scores adds to their order."""
    return smooth_blocks(evaluation)


@section("Thresholds")
def thresholds(evaluation: Answers) -> Sequence[Block]:
    return [
        _threshold_picture(name, table, evaluation.threshold(name)) for name, table in _score_tables(evaluation).items()
    ]


@section("Outcomes")
def outcomes(evaluation: Answers) -> Sequence[Block]:
    names = evaluation.models.two_class
    if not names:
        return classes.confusion_blocks(evaluation)
    rows = []
    for name in names:
        counts, table = evaluation.counts(name), evaluation.models[name]
        at = f"{evaluation.threshold(name):g}" if table.thresholded else "–"
        rows.append((name, at, *(grouped(float(n)) for n in (counts.tp, counts.fp, counts.fn, counts.tn))))
    columns = ("model", "threshold", "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)")
    return [
        Grid(columns, tuple(rows), "What happens to the cases when scores at or above the threshold raise an alarm.")
    ]


def _short_names(evaluation: Answers) -> dict[str, str]:
    """The cost under the evaluation's own condition needs no restatement of that condition."""
    decision = evaluation.decision
    if decision is None:
        return {}
    two = isinstance(decision, Decision)
    stated = (decision.condition if isinstance(decision, Decision) else decision.costs).stated
    own = (
        str(replace(one.spec, at=None))
        for one in evaluation.summary
        if one.spec.name == "cost" and dict(one.spec.options) == stated(evaluation.models[one.model].class_names)
    )
    return dict.fromkeys(own, HERE if two else HONEST)


def with_honest_costs(grid: Grid, decision: Decision) -> Grid:
    """The grid with the cost on cases that did not choose the threshold above that on those that did."""
    here = [place for place, row in enumerate(grid.rows) if row[0].startswith(HERE)]
    by_model = {choice.model: choice.honest for choice in decision.choices}
    known = [by_model[name] for name in grid.columns[1:] if name in by_model and by_model[name].known]
    if not here or not known:
        return grid
    cells = [_value_text(by_model[name]) if name in by_model else "" for name in grid.columns[1:]]
    rows = list(grid.rows)
    rows.insert(here[0], (f"{HONEST} ↓", *cells))
    hint = "What it costs to choose a threshold so, on cases that had no part in the choice (repeated cross-fitting)."
    return replace(grid, rows=tuple(rows), hints=(*grid.hints, (f"{HONEST} ↓", hint)))


def _value_text(value: Value) -> str:
    return limits(value.value, value.low, value.high)


def measure_grid(
    estimates: Sequence[Estimate], models: Sequence[str], short_names: Mapping[str, str] | None = None
) -> Grid:
    """Measures as rows and models as columns; `short_names` replaces row names.

    A threshold that all models share joins the row name; where theirs differ, a row of its own shows them.
    """
    rows: list[tuple[str, ...]] = []
    hints: list[tuple[str, str]] = []
    shown_thresholds: tuple[str, ...] = ()
    for key in dict.fromkeys(_row_key(one, estimates) for one in estimates):
        found = {one.model: one for one in estimates if _row_key(one, estimates) == key}
        spec = next(iter(found.values())).spec
        thresholds = tuple(_threshold(found[model]) if model in found else "" for model in models)
        if spec.at is not None and not key.endswith("@") and thresholds != shown_thresholds:
            rows.append(("threshold", *thresholds))
            shown_thresholds = thresholds
        bare = str(replace(spec, at=None))
        name = f"{(short_names or {}).get(bare, bare)}{key.rstrip('@').removeprefix(bare)} {spec.measure.arrow}"
        rows.append((name, *(_cell(found[model]) if model in found else "" for model in models)))
        own = "" if spec.asked is None else f"{spec.name}: "
        hints.append((name, f"{own}{spec.measure.title}. {spec.measure.summary}"))
        if not all(isnan(one.chance) for one in found.values()):
            rows.append((BY_CHANCE, *(_chance(found[model]) if model in found else "" for model in models)))
            hints.append((BY_CHANCE, "What calibrated scores would show; the interval is of what is beyond that."))
    return Grid(("", *models), tuple(rows), hints=tuple(hints))


def with_differences(grid: Grid, differences: Mapping[str, Comparison]) -> Grid:
    """The grid with a last column for the first model minus the second."""
    first = next(iter(differences.values()))
    by_row = {name.rsplit(" ", 1)[0]: name for name, *_ in grid.rows}
    cells = {by_row[spec]: difference_text(one) for spec, one in differences.items() if spec in by_row}
    rows = tuple((*row, cells.get(row[0], "")) for row in grid.rows)
    return Grid((*grid.columns, f"{first.a} − {first.b}"), rows, grid.caption, grid.hints)


def undifferent(differences: Mapping[str, Comparison], shown: Sequence[str] = ()) -> str:
    """Which differences are blank, and why: those for one reason in one sentence."""
    reasons: dict[str, list[str]] = {}
    for name, one in differences.items():
        if isnan(one.difference):
            why = (one.reason or "it is undefined for one of the models").removeprefix("undefined: ")
            reasons.setdefault(why, []).append(name)
    said = [f"No difference of {', '.join(names)}: {why}." for why, names in reasons.items()]
    if differences and len(differences) < len(dict.fromkeys(shown)):
        said.append("Of so many scores only the first difference is told: compare --measure NAME has others.")
    return " ".join(said)


def _row_key(one: Estimate, estimates: Sequence[Estimate]) -> str:
    """The row an estimate belongs to; it ends in @ when the threshold is part of its name."""
    spec = one.spec
    bare = replace(spec, at=None)
    alike = [other for other in estimates if replace(other.spec, at=None) == bare]
    by_model = {model: {o.spec.at for o in alike if o.model == model} for model in {o.model for o in alike}}
    if spec.at is None:
        return str(spec)
    shared = len(set(map(frozenset, by_model.values()))) == 1
    return (
        f"{spec}@" if shared and (len(by_model) > 1 or len(by_model[one.model]) > 1 or _plain(spec.at)) else str(bare)
    )


def _cell(one: Estimate) -> str:
    """Value and interval, or why there is none."""
    return f"{one.text} {one.reason.removeprefix('undefined: ')}" if isnan(one.value) and one.reason else one.text


def _chance(one: Estimate) -> str:
    return "" if isnan(one.chance) else decimals(one.chance)


def _plain(point: At) -> bool:
    """Whether an operating point is short enough to stand in a row name."""
    return isinstance(point, Top) or len(f"{point!r}") <= 5


def _threshold(one: Estimate) -> str:
    return "" if one.spec.at is None else f"{one.spec.at:.4g}"


def _banded(evaluation: Answers) -> bool:
    """Whether curves are shown with bands: up to three models stay readable, and cases must be countable."""
    names = evaluation.models.two_class
    counted = all(evaluation.models[name].counted for name in names)
    return len(names) <= 3 and counted and 0 < evaluation.models.prevalence < 1


def _score_tables(evaluation: Answers) -> dict[str, ScoreTable]:
    return {name: evaluation.models[name] for name in evaluation.models.thresholded}


def _forest(evaluation: Answers) -> Sequence[Block]:
    """A picture of the first measure's intervals, when there are models to compare."""
    if len(evaluation.models) < 2:
        return []
    first = str(evaluation.summary[0].spec)
    found = [one for one in evaluation.summary if str(one.spec) == first]
    if len(found) < 2:
        return []

    def draw() -> Any:
        from scorespace.views.charts import interval_chart

        return interval_chart(found)

    return [Picture(draw, f"{first} of each model with its interval.", found[0].spec.measure.title)]


def _threshold_picture(name: str, table: ScoreTable, at: float) -> Picture:
    shown = (confusion.tpr, confusion.fpr, confusion.ppv, confusion.f1)

    def draw() -> Any:
        from scorespace.views.charts import threshold_chart

        return threshold_chart(table, shown, at)

    words = ", ".join(measure.name for measure in shown)
    return Picture(draw, f"{words} of {name} against the threshold.", f"{name}: what each threshold would give.")
