"""The sections of an evaluation's page: one decorated function each, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from scorespace.conditions import Condition
from scorespace.curves import roc
from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.later import later
from scorespace.measures import confusion
from scorespace.results import decimals, grouped, limits, threshold_text
from scorespace.tables import At, ScoreTable, Top
from scorespace.views import classes
from scorespace.views import folds as folds_view
from scorespace.views.answers import FEW, Answers, facts
from scorespace.views.comparison import difference_text, summed_up
from scorespace.views.comparison import grids as comparison_grids
from scorespace.views.document import Block, Document, Grid, Notes, Panel, Picture, Section, Text, Verdict

if TYPE_CHECKING:
    from scorespace import decisions
    from scorespace.comparisons.answer import Comparison
    from scorespace.decisions import Decision, Value
    from scorespace.measures import MeasureSpec
    from scorespace.resampling.estimate import Estimate
    from scorespace.views import calibration as calibration_view
    from scorespace.views import decision as decision_view
    from scorespace.views import numbers, shift
    from scorespace.views import several as several_view
    from scorespace.views import slices as slices_view
    from scorespace.views import smooth as smooth_view
else:  # of the whole page; a screen of text needs none of it
    decisions = later("scorespace.decisions")
    calibration_view = later("scorespace.views.calibration")
    decision_view = later("scorespace.views.decision")
    numbers = later("scorespace.views.numbers")
    shift = later("scorespace.views.shift")
    several_view = later("scorespace.views.several")
    slices_view = later("scorespace.views.slices")
    smooth_view = later("scorespace.views.smooth")

HONEST: Final = "cost/case"
HERE: Final = "cost here"
"""The two costs of a chosen threshold: that to expect, and that on the cases that chose it."""
BY_CHANCE: Final = "– by chance"
"""The row below a measure that even perfect scores have above nothing."""

_LEADING: Final = ("auc", "auc[hand_till]", "brier", "tpr", "ppv", "acc", "mcc", "f1[macro]")
_FEW: Final = 4
_OF_1000: Final = "Outcomes and costs of 1 000 cases, model by model"

Builder = Callable[[Answers], Sequence[Block]]


@dataclass(frozen=True)
class SectionKind:
    """A declared section: its title, the question it answers as a sentence, and what builds it."""

    name: str
    title: str
    brief: bool | Builder
    builder: Builder
    question: str = ""
    folded: bool = False
    last: int = 0


SECTIONS: list[SectionKind] = []


def section(
    title: str, *, question: str = "", brief: bool | Builder = False, folded: bool = False, last: int = 0
) -> Callable[[Builder], Builder]:
    """Add a section to every page; it is left out where its function returns no blocks.

    `question`: what it answers, as a sentence; where its first block is a text, that is the answer in short. `brief`:
    whether it is also shown where there is little room, or what is shown there instead. `folded`: for specialists,
    opened on request. Sections stand in the order of their declaration, those with a higher `last` behind the others.
    """

    def add(builder: Builder) -> Builder:
        SECTIONS.append(SectionKind(builder.__name__, title, brief, builder, question, folded, last))
        return builder

    return add


def document(
    evaluation: Answers, title: str | None = None, names: Sequence[str] = (), command: str | None = None
) -> Document:
    """The whole page of an evaluation, or of it the named sections under the verdict."""
    kinds = sorted(SECTIONS, key=lambda kind: kind.last)
    for name in names:
        if name not in [kind.name for kind in kinds]:
            near = did_you_mean(name, [kind.name for kind in kinds])
            raise ScoreSpaceError(
                f"there is no section {name!r}.",
                seen=listing([kind.name for kind in kinds]),
                hint=f"did you mean {near!r}?" if near else None,
            )
    built = [
        (kind, tuple(kind.builder(evaluation)), tuple(kind.brief(evaluation)) if callable(kind.brief) else ())
        for kind in kinds
        if not names or kind.name in (*names, verdict.__name__)
    ]
    sections = (
        Section(
            kind.name,
            kind.title,
            blocks,
            kind.brief is True or bool(short),
            short,
            kind.question,
            kind.folded and kind.name not in names,
        )
        for kind, blocks, short in built
        if blocks
    )
    made = _made(evaluation, command)
    return Document(title or evaluation.models.name, facts(evaluation.models), tuple(sections), made)


def _made(evaluation: Answers, command: str | None) -> tuple[str, ...]:
    """With what, when and from what the page was made, and how it is made again."""
    models = evaluation.models
    told = (
        f"scorespace {version('scorespace')}, {date.today().isoformat()}: {models.name}, {grouped(models.rows)} rows, "
        f"seed {evaluation.seed}, level {100 * evaluation.level:g} %."
    )
    return (told,) if command is None else (told, command)


def brief_document(evaluation: Answers) -> Document:
    """What fits one screen of text, without building the rest of the page."""
    built = (
        (kind, tuple(kind.brief(evaluation) if callable(kind.brief) else kind.builder(evaluation)))
        for kind in SECTIONS
        if kind.brief
    )
    sections = (Section(kind.name, kind.title, blocks, True) for kind, blocks in built if blocks)
    return Document(evaluation.models.name, facts(evaluation.models), tuple(sections)).brief()


@section("Verdict", brief=True)
def verdict(evaluation: Answers) -> Sequence[Block]:
    return [Verdict(evaluation.verdict)]


@section("Operating point", question="What does each operating point do, and what does it cost?")
def panel(evaluation: Answers) -> Sequence[Block]:
    """What can be moved: costs and cases handed over, the threshold of a score, or the shift of predicted numbers."""
    return [*_several_panel(evaluation), *_threshold_panel(evaluation), *shift.shift_panel(evaluation)]


def _several_panel(evaluation: Answers) -> Sequence[Block]:
    """Decisions between several classes, with the curve along which cases are handed over."""
    found = several_view.several(evaluation)
    if found is None:
        return []

    def draw() -> Any:
        from scorespace.views.charts import following

        return following(evaluation.drawing("rejection"), "rejection", found.here())

    about = "Accuracy of the cases that are decided against the share of those handed over, by model."
    pictures = [Picture(draw, about, about, drag=True)] if found.movable else []
    if found.paired:
        pictures.append(Picture(lambda: _pair_drawing(found), "ROC curve of two classes, each by its own score."))
    return [Panel(found, tuple(pictures))]


def _pair_drawing(found: several_view.Several) -> Any:
    """The curves of the two classes that are looked at first."""
    from scorespace.views.charts import following, pair_chart

    pairs = found.models[found.start].pairs
    return following(pair_chart([] if pairs is None else pairs.rows(*found.pair)), "pair", found.here())


def _threshold_panel(evaluation: Answers) -> Sequence[Block]:
    """The threshold to move, with the curve it moves along and the scores it cuts."""
    found = evaluation.operating
    if found is None:
        return []
    tables = {one.name: one.table for one in found.models if not one.crisp}

    def draw_scores() -> Any:
        from scorespace.views.charts import following, scores_chart

        here = found.here()
        return following(scores_chart(tables, here["model"]), "scores", here)

    def draw_classes() -> Any:
        from scorespace.views.charts import curve_chart, following

        return following(curve_chart({name: roc(table) for name, table in tables.items()}), "roc", found.here())

    about = "ROC curve of each model, with the operating point and the line of equal cost."
    curve = Picture(draw_classes, about) if found.classes else _moving(evaluation, "roc", about)
    scores = Picture(draw_scores, "Scores of both classes, cut at the threshold.")
    return [Panel(found, (replace(curve, drag=True), scores))]


@section("Models", question="How good are the models?")
def models(evaluation: Answers) -> Sequence[Block]:
    """One row for each model with the first measures that were asked for, or the leading ones."""
    every = list(evaluation.shown)
    specs = list(dict.fromkeys(str(replace(one.spec, at=None)) for one in every))
    # The one that the verdict tells first, then the leading ones.
    chosen = [*specs[:1], *(name for name in _LEADING if name in specs[1:])] if len(specs) > _FEW else specs
    short = _short_names(evaluation)
    shown = [*(chosen if len(chosen) > 1 else specs)[:_FEW]]
    rows, placed = [], False
    costs = _honest(evaluation)
    for model in evaluation.models:
        own = {str(replace(one.spec, at=None)): one for one in every if one.model == model}
        at = {one.spec.at for one in own.values() if one.spec.at is not None}
        placed = placed or bool(at)
        cells = [_cell(own[name]) if name in own else "" for name in shown]
        rows.append((model, *cells, *costs.get(model, ()), f"{at.pop():.4g}" if len(at) == 1 else ""))
    arrows = {str(replace(one.spec, at=None)): one.spec.measure.arrow for one in every}
    heads = [f"{short.get(name, name)} {arrows[name]}".strip() for name in shown]
    columns = ("model", *heads, *([f"{HONEST} ↓"] if costs else []), "threshold")
    if not placed:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return [*_leading_words(evaluation), Grid(columns, tuple(rows), _interval_words(evaluation))]


def _leading_words(evaluation: Answers) -> Sequence[Block]:
    """Which model is best by the first measure that has a better side, in a sentence."""
    found = [one for one in evaluation.summary if one.spec.measure.best in ("high", "low") and not isnan(one.value)]
    first = [one for one in found if replace(one.spec, at=None) == replace(found[0].spec, at=None)]
    if not first:
        return []
    first.sort(key=lambda one: one.value if one.spec.measure.best == "low" else -one.value)
    name = first[0].spec.measure.title
    last = f"; {first[-1].model} is last with {first[-1].text}" if len(first) > 1 else ""
    leads = "leads with" if len(first) > 1 else "has"
    return [Text(f"{name}: {first[0].model} {leads} {first[0].text}{last}.")]


def _notes(evaluation: Answers) -> Sequence[Block]:
    return [Notes(evaluation.notes)] if evaluation.notes else []


@section("Notes", brief=_notes, question="What should a reader know before believing the numbers?")
def notes(evaluation: Answers) -> Sequence[Block]:
    """What was found that changes how numbers are read, warnings first."""
    warnings = sum(one.level != "info" for one in evaluation.notes)
    rest = len(evaluation.notes) - warnings
    parts = [
        f"{number} {what}{'' if number == 1 else 's'}" for number, what in ((warnings, "warning"), (rest, "remark"))
    ]
    told = " and ".join(part for part in parts if not part.startswith("0"))
    return [Text(f"{told[:1].upper()}{told[1:]}."), *_notes(evaluation)] if evaluation.notes else []


@section("Thresholds", question="Which operating point?")
def thresholds(evaluation: Answers) -> Sequence[Block]:
    """What every threshold gives, and what happens to the cases at the one shown."""
    found = evaluation.operating
    if found is None or found.classes:
        # The panel and the pictures of the classes show the same numbers.
        title = "Numbers of all cells"
        return [replace(one, folded=title) if isinstance(one, Grid) else one for one in outcomes(evaluation)]
    one = found.models[found.start]
    shown = [each.spec.measure for each in one.shown if each.spec.measure.range[1] <= 1 and not each.spec.options]

    def draw() -> Any:
        from scorespace.views.charts import following, threshold_chart
        from scorespace.views.charts.theme import unit_or_less

        span = unit_or_less(*(each.table.score for each in found.models if not each.crisp))
        return following(threshold_chart(one.table, shown or [confusion.tpr], span=span), "threshold", found.here())

    words = ", ".join(measure.name for measure in shown)
    counts = evaluation.counts(one.name)
    said = (
        f"At {threshold_text(evaluation.threshold(one.name))} {one.name} flags {grouped(float(counts.pp))} of "
        f"{grouped(float(counts.total))} cases; {grouped(float(counts.tp))} of them are {one.labels[0]}, and "
        f"{grouped(float(counts.fn))} of {grouped(float(counts.p))} are missed."
    )
    picture = Picture(draw, f"{words} against the threshold.", "What each threshold of the model looked at gives.")
    return [Text(said), picture, *outcomes(evaluation)]


@section("Ranking", question="How good is the ranking?")
def curves(evaluation: Answers) -> Sequence[Block]:
    if not evaluation.models.two_class:
        return []
    banded = _banded(evaluation)
    level = f" The band holds the whole true curve at {100 * evaluation.level:g} %." if banded else ""
    roc_words = "ROC: how many positives are found (up) for how many false alarms (right), over all thresholds."
    return [
        *_ranking_words(evaluation),
        _moving(
            evaluation,
            "roc",
            "True positive rate against false positive rate of each model, with the diagonal of chance.",
            roc_words + level,
            band=banded,
        ),
        _moving(
            evaluation,
            "pr",
            "Precision against recall of each model, with the prevalence as the level of chance.",
            "How many alarms are right (up) when so many positives are found (right). Chance reaches the prevalence.",
            band=banded,
        ),
    ]


@section("Probabilities", question="Can the probabilities be trusted?")
def calibration(evaluation: Answers) -> Sequence[Block]:
    """Whether the scores can be taken as probabilities."""
    return calibration_view.blocks(evaluation)


@section("Costs", question="What does it cost, and which model is best for which costs?")
def decision(evaluation: Answers) -> Sequence[Block]:
    """What to use under the costs, and which model is best under which costs."""
    if isinstance(evaluation.decision, decisions.CostChoice):
        return decision_view.grids(evaluation.decision)
    if not evaluation.models.two_class or not 0 < evaluation.models.prevalence < 1:
        return []
    chosen = _decided(evaluation)
    stated = chosen is not None
    # Without costs, the ranges of costs in which each model is best still hold: they need the hull alone.
    models = {name: evaluation.models.deciding[name] for name in evaluation.models.two_class}
    found = chosen or decisions.decide(models, Condition())

    def draw_hull() -> Any:
        from scorespace.views.charts import following, hull_chart

        if evaluation.operating is None:
            return hull_chart(evaluation.curves("roc"), found.hull, found if stated else None)
        return following(hull_chart(evaluation.curves("roc"), found.hull), "roc", evaluation.operating.here())

    def draw_costs() -> Any:
        from scorespace.views.charts import cost_chart, following

        spec = cost_chart(evaluation.curves("cost"), found, chosen=stated and evaluation.operating is None)
        return spec if evaluation.operating is None else following(spec, "cost", evaluation.operating.here())

    hull_words = "The hull (dark) is the best that mixing thresholds and models can reach."
    line_words = " All points of the dashed line cost the same." if stated or evaluation.operating is not None else ""
    pictures = [
        Picture(
            draw_costs,
            "Normalised expected cost of each model over all operating conditions.",
            "Cost of each model at its best threshold, from false alarms mattering most (left) to misses mattering "
            "most (right). The band names the best model; grey needs no model.",
        ),
        Picture(draw_hull, "ROC curves of all models with their common convex hull.", hull_words + line_words),
    ]
    if all(table.probabilities for table in _score_tables(evaluation).values()) and _score_tables(evaluation):
        about = "Net benefit of acting on scores from a threshold on: hits less false alarms, at its odds."
        pictures.append(_moving(evaluation, "net_benefit", "Net benefit of each model against the threshold.", about))
    said = [Text(found.words)] if stated else [Text(_ranges_words(found))]
    tables = decision_view.grids(found) if stated else [decision_view.region_grid(found)]
    per_thousand = (decision_view.outcome_grid(found), decision_view.product_grid(found))  # the panel tells the best's
    return [*said, *pictures, *(replace(one, folded=_OF_1000) if one in per_thousand else one for one in tables)]


@section("Too high and too low", question="What does it cost to predict too high or too low?")
def rroc(evaluation: Answers) -> Sequence[Block]:
    """Predicted numbers in RROC space, and what to use where too high and too low do not cost the same."""
    return numbers.rroc_blocks(evaluation)


@section("Differences", question="Are the models different?")
def comparison(evaluation: Answers) -> Sequence[Block]:
    """Whether the models differ by more than chance, where their cases are known pair by pair."""
    if not evaluation.models.comparable:
        return []
    found = evaluation.comparisons
    return [Text(summed_up(found)), *comparison_grids(found, folded=len(found) > FEW + 1)]


@section("Errors", question="Where are the errors?")
def errors(evaluation: Answers) -> Sequence[Block]:
    """Where the errors of predicted numbers are."""
    return numbers.error_blocks(evaluation)


@section("Calibration of numbers", question="Can I take the predictions at their word?")
def believed(evaluation: Answers) -> Sequence[Block]:
    """Whether predicted numbers can be taken at their word."""
    return numbers.believed_blocks(evaluation)


@section("Scores", question="Where do the scores lie?", folded=True)
def distributions(evaluation: Answers) -> Sequence[Block]:
    tables = _score_tables(evaluation)
    if not tables:
        return []

    def draw() -> Any:
        from scorespace.views.charts import distribution_chart

        return distribution_chart(tables)

    about = "Where the scores of positives and negatives lie. The less they overlap, the better the model separates."
    return [
        Text("The less the scores of both classes overlap, the better a model separates them."),
        Picture(draw, "Histograms of the scores of positives and negatives, one panel per model.", about),
    ]


@section("Hesitation", question="Where do the models hesitate?", folded=True)
def smooth(evaluation: Answers) -> Sequence[Block]:
    """What the size of the scores adds to their order, and what handing over the doubtful cases would bring."""
    found = smooth_view.blocks(evaluation)
    about = "How accurate the decisions on the rest are when the cases nearest to the threshold are handed over."
    alt = "Accuracy of the cases that are kept against the share of those handed over, by model."
    first = next((place for place, block in enumerate(found, start=1) if isinstance(block, Picture)), len(found))
    handing = [Picture(lambda: evaluation.drawing("rejection"), alt, about)] if found else []
    return [*found[:first], *handing, *found[first:]]


def _measures(evaluation: Answers) -> Sequence[Block]:
    grid = measure_grid(list(evaluation.shown), list(evaluation.models), _short_names(evaluation))
    decided = _decided(evaluation)
    if decided is not None:
        grid = with_honest_costs(grid, decided)
    if evaluation.differences:
        grid = with_differences(grid, evaluation.differences)
    blank = undifferent(evaluation.differences, [str(one.spec) for one in evaluation.shown])
    shown = Grid(grid.columns, grid.rows, _interval_words(evaluation), grid.hints)
    return [shown, *([Text(blank)] if blank else [])]


@section("All measures", brief=_measures, question="What are all the numbers?", folded=True)
def measures(evaluation: Answers) -> Sequence[Block]:
    """All measures that were asked for, or the usual ones, of all models."""
    number = len({replace(one.spec, at=None) for one in evaluation.shown})
    of = "one model" if len(evaluation.models) == 1 else f"{len(evaluation.models)} models"
    return [Text(f"{number} {'measure' if number == 1 else 'measures'} of {of}."), *_measures(evaluation)]


@section("Classes", brief=classes.short_blocks, question="How good is it class by class?")
def class_by_class(evaluation: Answers) -> Sequence[Block]:
    """Rates, areas and curves of each of several classes, and what is taken for what."""
    return classes.blocks(evaluation)


def _slices(evaluation: Answers) -> Sequence[Block]:
    return [] if evaluation.slices is None else slices_view.brief(evaluation)


@section("Slices", question="For which cases are the models worse?", brief=_slices, folded=True)
def slices(evaluation: Answers) -> Sequence[Block]:
    """Each slice beside the rest, and parity between them."""
    return [] if evaluation.slices is None else slices_view.blocks(evaluation)


@section("Folds", question="How much do the numbers change from fold to fold?", brief=folds_view.brief)
def folds(evaluation: Answers) -> Sequence[Block]:
    """Means over folds beside pooled values."""
    return folds_view.blocks(evaluation)


@section("Data and method", question="What were the data, and how were the numbers made?", folded=True, last=9)
def method(evaluation: Answers) -> Sequence[Block]:
    """The sample, and how each kind of interval was made."""
    seen: dict[str, list[str]] = {}
    for one in evaluation.summary:
        seen.setdefault(one.method or "none", []).append(str(replace(one.spec, at=None)))
    rows = tuple((name, ", ".join(dict.fromkeys(found))) for name, found in seen.items())
    tables = tuple((name, f"{table!r}") for name, table in evaluation.models.items())
    told = facts(evaluation.models).replace("   ", ", ")
    return [
        Text(f"{evaluation.models.name}: {told}; level {100 * evaluation.level:g} %."),
        Grid(("model", "what is known of it"), tables, prose=True),
        Grid(("interval", "measures"), rows, prose=True),
    ]


def outcomes(evaluation: Answers) -> Sequence[Block]:
    """How many cases have each outcome, of each model at its threshold; of several classes which is taken for which."""
    names = evaluation.models.two_class
    if not names:
        return classes.confusion_blocks(evaluation)
    rows = []
    for name in names:
        counts, table = evaluation.counts(name), evaluation.models[name]
        at = threshold_text(evaluation.threshold(name)) if table.thresholded else "–"
        rows.append((name, at, *(grouped(float(n)) for n in (counts.tp, counts.fp, counts.fn, counts.tn))))
    columns = ("model", "threshold", "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)")
    return [
        Grid(columns, tuple(rows), "What happens to the cases when scores at or above the threshold raise an alarm.")
    ]


def _moving(evaluation: Answers, kind: str, alt: str, caption: str = "", *, band: bool = False) -> Picture:
    """The curves of a kind, with marks at the operating point where there is one."""

    def draw() -> Any:
        from scorespace.views.charts import following

        spec = evaluation.drawing(kind, band=band)
        return spec if evaluation.operating is None else following(spec, kind, evaluation.operating.here())

    return Picture(draw, alt, caption)


def _ranking_words(evaluation: Answers) -> Sequence[Block]:
    """Which model ranks best, in a sentence, where an area was asked for."""
    found = [one for one in evaluation.summary if one.spec.measure.area and not isnan(one.value)]
    if not found:
        return []
    first = [one for one in found if one.spec == found[0].spec]
    first.sort(key=lambda one: -one.value)
    shown = first if len(first) <= FEW + 1 else [*first[:FEW], first[-1]]
    parts = [f"{one.model} {one.text}" for one in shown]
    if len(shown) < len(first):
        parts[-1] = f"…, {parts[-1]}"
    return [Text(f"{first[0].spec.measure.title}: {', '.join(parts)}.")]


def _ranges_words(found: Decision) -> str:
    """For which costs each model is best, in a sentence."""
    told = [
        f"{model} while a miss costs {found.cost_ratio(high):.3g} to {found.cost_ratio(low):.3g} false alarms"
        for model, low, high in found.model_ranges()
        if model in {one.model for one in found.choices}
    ]
    return f"Without stated costs: best is {'; '.join(told)}." if told else "No model beats deciding all cases alike."


def _honest(evaluation: Answers) -> dict[str, tuple[str]]:
    """The cost to expect of each model, where costs are stated."""
    decided = _decided(evaluation)
    return {one.model: (_value_text(one.honest),) for one in decided.choices if one.honest.known} if decided else {}


def _decided(evaluation: Answers) -> Decision | None:
    """The decision between two classes under the evaluation's own costs, if there is one."""
    found = evaluation.decision
    return found if found is not None and isinstance(found, decisions.Decision) else None


def _interval_words(evaluation: Answers) -> str:
    words = f"Value and {100 * evaluation.level:g} % interval; ↑ higher is better, ↓ lower is better."
    if any(one.certified is not None for one in evaluation.summary):
        words += " ± is what the scores, counted in bins, leave open whatever their order inside: it is no chance."
    return words


def _short_names(evaluation: Answers) -> dict[str, str]:
    """The cost under the evaluation's own condition needs no restatement of that condition."""
    if evaluation.decision is None or not isinstance(evaluation.decision, decisions.Decision | decisions.CostChoice):
        return {}
    own = (str(replace(one.spec, at=None)) for one in evaluation.summary if evaluation.priced(one))
    return dict.fromkeys(own, HONEST if _decided(evaluation) is None else HERE)


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
    by_row: dict[str, dict[str, Estimate]] = {}
    for key, one in zip(_row_keys(estimates), estimates, strict=True):
        by_row.setdefault(key, {})[one.model] = one
    for key, found in by_row.items():
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
    heading = f"{first.a} − {first.b}{', ' if first.averaged else ''}{first.averaged}"
    return Grid((*grid.columns, heading), rows, grid.caption, grid.hints)


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


def _row_keys(estimates: Sequence[Estimate]) -> list[str]:
    """The row that each estimate belongs to; it ends in @ when the threshold is part of its name."""
    bare = [replace(one.spec, at=None) for one in estimates]
    points: dict[MeasureSpec, dict[str, set[At | None]]] = {}
    for one, spec in zip(estimates, bare, strict=True):
        points.setdefault(spec, {}).setdefault(one.model, set()).add(one.spec.at)
    return [_row_key(one, str(spec), points[spec]) for one, spec in zip(estimates, bare, strict=True)]


def _row_key(one: Estimate, bare: str, points: Mapping[str, set[At | None]]) -> str:
    if one.spec.at is None:
        return str(one.spec)
    shared = len(set(map(frozenset, points.values()))) == 1
    named = shared and (len(points) > 1 or len(points[one.model]) > 1 or _plain(one.spec.at))
    return f"{one.spec}@" if named else bare


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
