"""The sections of an evaluation's page: one decorated function each, in the order in which a reader asks.

How good, and may I believe it? What changed, what differs? Which threshold, at what cost? For whom is it worse? Then
what specialists ask, folded, and in the end how the numbers were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.later import later
from scorespace.results import grouped
from scorespace.tables.threshold import threshold_text
from scorespace.views import classes
from scorespace.views import folds as folds_view
from scorespace.views import measures as measures_view
from scorespace.views import slices as slices_view
from scorespace.views.answers import FEW, Answers, facts
from scorespace.views.comparison import grids as comparison_grids
from scorespace.views.comparison import summed_up
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Text, Verdict, made

if TYPE_CHECKING:
    from scorespace.resampling.estimate import Estimate
    from scorespace.views import calibration as calibration_view
    from scorespace.views import costs, moving, numbers, several, shift, top
    from scorespace.views import since as since_view
    from scorespace.views import smooth as smooth_view
else:  # of the whole page; a screen of text needs none of it
    calibration_view = later("scorespace.views.calibration")
    costs = later("scorespace.views.costs")
    moving = later("scorespace.views.moving")
    numbers = later("scorespace.views.numbers")
    several = later("scorespace.views.several")
    shift = later("scorespace.views.shift")
    since_view = later("scorespace.views.since")
    smooth_view = later("scorespace.views.smooth")
    top = later("scorespace.views.top")

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
    title: str,
    *,
    name: str = "",
    question: str = "",
    brief: bool | Builder = False,
    folded: bool = False,
    last: int = 0,
) -> Callable[[Builder], Builder]:
    """Add a section to every page, under a name, else that of its function; left out where that returns no blocks.

    `question`: what it answers, as a sentence; where its first block is a text, that is the answer in short. `brief`:
    whether it is also shown where there is little room, or what is shown there instead. `folded`: for specialists,
    opened on request. Sections stand in the order of their declaration, those with a higher `last` behind the others.
    """

    def add(builder: Builder) -> Builder:
        SECTIONS.append(SectionKind(name or builder.__name__, title, brief, builder, question, folded, last))
        return builder

    return add


def document(
    evaluation: Answers, title: str | None = None, names: Sequence[str] = (), command: str | None = None
) -> Document:
    """The whole page of an evaluation, or of it the named sections under the verdict."""
    kinds = sorted(SECTIONS, key=lambda kind: kind.last)
    known = [kind.name for kind in kinds]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, quoted=True)
            raise ScoreSpaceError(f"there is no section {name!r}.", seen=listing(known), hint=hint)
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
    models = evaluation.models
    made_from = (models.name, f"{grouped(models.rows)} rows", f"seed {evaluation.seed}")
    told = made(*made_from, f"level {100 * evaluation.level:g} %", command=command)
    return Document(title or models.name, facts(models), tuple(sections), told)


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
    panels = several.several_panel, moving.threshold_panel, shift.shift_panel
    return [block for one in panels for block in one(evaluation)]


def _first_of(found: Sequence[Estimate]) -> list[Estimate]:
    """The models by the first of some measures that are defined, the best first."""
    known = [one for one in found if not isnan(one.value)]
    first = [one for one in known if replace(one.spec, at=None) == replace(known[0].spec, at=None)]
    return sorted(first, key=lambda one: one.value if one.spec.measure.best == "low" else -one.value)


@section("Models", brief=measures_view.measure_blocks, question="How good are the models?")
def models(evaluation: Answers) -> Sequence[Block]:
    """A row for each model, and which of them is best by the first measure that has a better side."""
    first = _first_of([one for one in evaluation.summary if one.spec.measure.best in ("high", "low")])
    grid = measures_view.model_grid(evaluation)
    if not first:
        return [grid]
    last = f"; {first[-1].model} is last with {first[-1].text}" if len(first) > 1 else ""
    leads = "leads with" if len(first) > 1 else "has"
    return [Text(f"{first[0].spec.measure.title}: {first[0].model} {leads} {first[0].text}{last}."), grid]


def _notes(evaluation: Answers) -> Sequence[Block]:
    return [Notes(evaluation.notes)] if evaluation.notes else []


@section("Notes", brief=_notes, question="What should a reader know before believing the numbers?")
def notes(evaluation: Answers) -> Sequence[Block]:
    """What was found that changes how numbers are read, warnings first."""
    warnings = sum(one.level != "info" for one in evaluation.notes)
    counts = {"warning": warnings, "remark": len(evaluation.notes) - warnings}
    told = " and ".join(f"{number} {what}{'s' * (number != 1)}" for what, number in counts.items() if number)
    return [Text(f"{told}."), *_notes(evaluation)] if evaluation.notes else []


def _since(evaluation: Answers) -> Sequence[Block]:
    return [] if evaluation.changes is None else [since_view.grid(evaluation.changes)]


@section("Since the baseline", question="What changed since the baseline?", brief=_since)
def since(evaluation: Answers) -> Sequence[Block]:
    """Every number beside that of a saved evaluation."""
    found = evaluation.changes
    return [] if found is None else [Text(found.words), *_since(evaluation)]


@section("Differences", question="Are the models different?")
def comparison(evaluation: Answers) -> Sequence[Block]:
    """Whether the models differ by more than chance, where their cases are known pair by pair."""
    if not evaluation.models.comparable:
        return []
    found = evaluation.comparisons
    return [Text(summed_up(found)), *comparison_grids(found, folded=len(found) > FEW + 1)]


@section("Thresholds", question="Which operating point?")
def thresholds(evaluation: Answers) -> Sequence[Block]:
    """What every threshold gives, and what happens to the cases at the one shown."""
    found = evaluation.operating
    if not evaluation.models.two_class or (found is not None and found.classes):
        # The panel and the pictures of the classes show the same numbers.
        title = "Numbers of all cells"
        return [replace(one, folded=title) if isinstance(one, Grid) else one for one in outcomes(evaluation)]
    if found is None:  # decisions: there is nothing to move, and what they do to the cases is all
        first = next(iter(evaluation.models.two_class))
        return [Text(f"{first} {_flagging(evaluation, first)}"), *outcomes(evaluation)]
    one = found.models[found.start]
    shown = [each.spec.measure for each in one.shown if each.spec.measure.range[1] <= 1 and not each.spec.options]
    said = f"At {threshold_text(evaluation.threshold(one.name))} {one.name} {_flagging(evaluation, one.name)}"
    return [Text(said), moving.threshold_picture(evaluation, shown), *outcomes(evaluation)]


def _flagging(evaluation: Answers, model: str) -> str:
    """What the decisions of a model do to the cases."""
    counts, positive = evaluation.counts(model), evaluation.models.positive
    flagged, total, hits, missed, every = (
        grouped(float(number)) for number in (counts.pp, counts.total, counts.tp, counts.fn, counts.p)
    )
    return f"flags {flagged} of {total} cases; {hits} of them are {positive}, and {missed} of {every} are missed."


@section("Ranking", question="How good is the ranking?")
def curves(evaluation: Answers) -> Sequence[Block]:
    models, names = evaluation.models, evaluation.models.two_class
    if not names:
        return []
    # Up to three models stay readable with bands, and cases must be countable.
    banded = len(names) <= 3 and all(models[name].counted for name in names) and 0 < models.prevalence < 1
    level = f" The band holds the whole true curve at {100 * evaluation.level:g} %." if banded else ""
    roc_words = "ROC: how many positives are found (up) for how many false alarms (right), over all thresholds."
    return [
        *([Text(words)] if (words := _ranking_words(evaluation)) else []),
        moving.curves_picture(
            evaluation,
            "roc",
            "True positive rate against false positive rate of each model, with the diagonal of chance.",
            roc_words + level,
            band=banded,
        ),
        moving.curves_picture(
            evaluation,
            "pr",
            "Precision against recall of each model, with the prevalence as the level of chance.",
            "How many alarms are right (up) when so many positives are found (right). Chance reaches the prevalence.",
            band=banded,
        ),
    ]


# --- what other files build; those that no screen of text needs load with the page

section("Probabilities", name="calibration", question="Can the probabilities be trusted?")(
    lambda evaluation: calibration_view.blocks(evaluation)
)
section("Classes", name="class_by_class", brief=classes.short_blocks, question="How good is it class by class?")(
    classes.blocks
)
section("Costs", name="decision", question="What does it cost, and which model is best for which costs?")(
    lambda evaluation: costs.blocks(evaluation)
)
section("Too high and too low", name="rroc", question="What does it cost to predict too high or too low?")(
    lambda evaluation: numbers.rroc_blocks(evaluation)
)
section("Slices", name="slices", question="For which cases are the models worse?", brief=slices_view.brief)(
    slices_view.blocks
)
section("Errors", name="errors", question="Where are the errors?")(lambda evaluation: numbers.error_blocks(evaluation))
section("Calibration of numbers", name="believed", question="Can I take the predictions at their word?")(
    lambda evaluation: numbers.believed_blocks(evaluation)
)
section("Folds", name="folds", question="How much do the numbers change from fold to fold?", brief=folds_view.brief)(
    folds_view.blocks
)
section("Targeting", name="targeting", question="Which cases should be looked at first?", folded=True)(
    lambda evaluation: top.blocks(evaluation)
)


@section("Scores", question="Where do the scores lie?", folded=True)
def distributions(evaluation: Answers) -> Sequence[Block]:
    if not evaluation.models.thresholded:
        return []
    alt = "Histograms of the scores of positives and negatives, one panel per model."
    about = "Where the scores of positives and negatives lie. The less they overlap, the better the model separates."
    return [
        Text("The less the scores of both classes overlap, the better a model separates them."),
        Picture(lambda: evaluation.drawing("distribution"), alt, about),
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


@section("All measures", question="What are all the numbers?", folded=True)
def measures(evaluation: Answers) -> Sequence[Block]:
    """All measures that were asked for, or the usual ones, of all models."""
    number = len({replace(one.spec, at=None) for one in evaluation.shown})
    of = "one model" if len(evaluation.models) == 1 else f"{len(evaluation.models)} models"
    words = Text(f"{number} {'measure' if number == 1 else 'measures'} of {of}.")
    return [words, *measures_view.measure_blocks(evaluation)]


@section("Data and method", question="What were the data, and how were the numbers made?", folded=True, last=9)
def method(evaluation: Answers) -> Sequence[Block]:
    """The sample, and how each kind of interval was made."""
    seen: dict[str, list[str]] = {}
    for one in evaluation.summary:
        seen.setdefault(one.method or "none", []).append(str(replace(one.spec, at=None)))
    rows = tuple((name, ", ".join(dict.fromkeys(found))) for name, found in seen.items())
    tables = tuple((name, f"{table!r}".splitlines()[0]) for name, table in evaluation.models.items())
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
    rows, scored = [], evaluation.models.thresholded
    for name in names:
        counts, table = evaluation.counts(name), evaluation.models[name]
        at = threshold_text(evaluation.threshold(name)) if table.thresholded else "–" if scored else ""
        rows.append((name, at, *(grouped(float(n)) for n in (counts.tp, counts.fp, counts.fn, counts.tn))))
    columns = ("model", "threshold", "hits (TP)", "false alarms (FP)", "misses (FN)", "left alone (TN)")
    alarm = " when scores at or above the threshold raise an alarm" if scored else ""
    return [Grid(columns, tuple(rows), f"What happens to the cases{alarm}.").without_blanks()]


def _ranking_words(evaluation: Answers) -> str:
    """Which model ranks best, in a sentence, where an area was asked for."""
    first = _first_of([one for one in evaluation.summary if one.spec.measure.area])
    shown = first if len(first) <= FEW + 1 else [*first[:FEW], first[-1]]
    parts = [f"{one.model} {one.text}" for one in shown]
    if len(shown) < len(first):
        parts[-1] = f"…, {parts[-1]}"
    return f"{first[0].spec.measure.title}: {', '.join(parts)}." if first else ""
