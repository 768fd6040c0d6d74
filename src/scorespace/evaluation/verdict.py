"""The verdict: what the evaluation says, in sentences that can be read aloud."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from scorespace.evaluation.notes import reversed_text
from scorespace.evaluation.shown import RARE_FIRST, rare, usual
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.confusion import ppv, tpr
from scorespace.resampling.estimate import Estimate
from scorespace.results import decimals, grouped, p_text, percent
from scorespace.tables import ClassBins, ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.labels import is_plain_code
from scorespace.tables.models import Models
from scorespace.tables.threshold import threshold_text

if TYPE_CHECKING:
    from scorespace.comparisons.answer import Comparison

NOTHING_RANKED = "Nothing can be ranked: only one class is present, so the area under the ROC curve is undefined."


@dataclass(frozen=True)
class Lead:
    """What the verdict opens with: the measures to try, the words for the winner, for a single model, and for none.

    `chance` is what scores that know nothing reach.
    """

    specs: tuple[MeasureSpec, ...]
    wins: str
    title: str
    nothing: str = "No measure of these models is defined."
    chance: float = math.nan


@singledispatch
def leading(table: Table) -> Lead:
    """What a kind of table is judged by first; of a kind that names nothing, the first of its measures with a best."""
    specs = tuple(spec for spec in usual(table) if spec.measure.best is not None)
    title = _inside(specs[0].measure.title) if specs else ""
    return Lead(specs[:1], f"is best, with {title}", title)


def _inside(title: str) -> str:
    """A title inside a sentence: what is written in capitals keeps them.

    >>> _inside("Area over the RROC curve"), _inside("F1")
    ('area over the RROC curve', 'F1')
    """
    return title if title[1:2].isupper() or title[1:2].isdigit() else title[:1].lower() + title[1:]


@leading.register
def _(table: ScoreTable) -> Lead:
    if rare(table):
        area = "area under the precision-recall curve"
        return Lead((parse(RARE_FIRST),), f"finds the rare positives best, with {area}", area, NOTHING_RANKED)
    return Lead((parse("auc"),), "ranks best, with AUC", "AUC", NOTHING_RANKED, chance=0.5)


@leading.register(ClassBins)
@leading.register(ClassTable)
def _(table: ClassTable | ClassBins) -> Lead:
    if len(table.class_names) == 2:  # one pair of classes: the area over all pairs is the AUC
        return Lead((parse("auc"),), "ranks best, with AUC", "AUC", NOTHING_RANKED, chance=0.5)
    area = "AUC over all pairs of classes"
    return Lead((parse("auc[hand_till]"),), f"ranks the classes best, with {area}", area, NOTHING_RANKED, chance=0.5)


@leading.register
def _(table: ConfusionTable) -> Lead:
    specs = (parse("bacc"), parse("acc"))
    return Lead(specs, "decides best, with {title}", "{title}", "No measure of these decisions is defined.")


@singledispatch
def closing(table: Table, model: str, at: float | None) -> str:
    """What the best model does, in a sentence; nothing where a kind of table has nothing to say."""
    return ""


@closing.register
def _(table: ScoreTable, model: str, at: float | None) -> str:
    counts = table.inside(Counts, None, at)
    cut = threshold_text(math.nan if at is None else at)
    found, right = tpr(counts), ppv(counts)
    what = "positive" if is_plain_code(table.positive_name) else table.positive_name
    if math.isnan(right):
        text = f"At threshold {cut} {model} predicts no case to be {what}."
    else:
        text = (
            f"At threshold {cut} {model} finds {percent(found, 0)} of the {what} cases, "
            f"and {percent(right, 0)} of its alarms are right."
        )
    if rare(table):
        share = percent(float(table.n_pos / table.total))
        text += f" With {share} positives chance would reach {decimals(float(table.n_pos / table.total))}; which "
        text += "threshold is right depends on what mistakes cost: state the costs."
    return text


@closing.register(ClassBins)
@closing.register(ClassTable)
def _(table: ClassTable | ClassBins, model: str, at: float | None) -> str:
    matrix = table.decisions.matrix
    wrong = np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)
    share = percent(float(matrix.trace() / matrix.sum()), 0)
    if not wrong.any():
        return f"{model} decides all cases right."
    actual, decided = np.unravel_index(int(wrong.argmax()), wrong.shape)
    often = f"{grouped(wrong[actual, decided])} of {grouped(matrix[actual].sum())} cases"
    names = table.classes
    taken = f"takes {names[actual]} for {names[decided]} ({often})"
    return f"{model} decides {share} of the cases right; most often it {taken}."


def verdict(
    models: Models,
    estimated: Callable[[Sequence[str], MeasureSpec], Sequence[Estimate]],
    tested: Callable[[Sequence[Estimate]], Comparison | None],
    decided: str | None,
    at: Callable[[str], float | None],
) -> str:
    """Which model is best, how sure that is, and what it does at its threshold, or what to use under the costs.

    `estimated` gives a measure of models, `tested` the test of the best two, `decided` the words on the costs.
    """
    # Scores lead before scores of classes, and these before all others; who is judged by others does not take part.
    first = models[[*models.thresholded, *models.of_classes, *models][0]]
    lead, crisp = leading(first), not (first.thresholded or first.scores_classes)
    names = [name for name, table in models.items() if leading(table).specs == lead.specs]
    for spec in lead.specs:
        known = (one for one in estimated(names, spec) if not math.isnan(one.value))
        found = sorted(known, key=lambda one: one.value, reverse=spec.measure.best != "low")
        if found:
            break
    else:
        return " ".join(filter(None, [lead.nothing, decided]))
    if decided is not None and crisp:
        return decided
    title = _inside(found[0].spec.measure.title)
    wins, name = (text.replace("{title}", title) for text in (lead.wins, lead.title))
    best = found[0]
    if idle(models[best.model]):
        alike = f"{best.model} gives every case the same score"
        rest = [one for one in found if not idle(models[one.model])]
        worse = f", and none of the others ranks better: {rest[0].model} has {name} {rest[0].text}" if rest else ""
        return " ".join(filter(None, [f"Nothing is ranked: {alike}{worse}.", decided]))
    if best.high < lead.chance and first.thresholded:
        return " ".join(filter(None, [reversed_text(best.model, best.value), decided]))
    told = closing(models[best.model], best.model, at(best.model)) if decided is None else decided
    opening = _opening(best, found[1:], wins, name, tested(found))
    shown = decided is not None or not best.low <= lead.chance  # the words on costs have doubts of their own
    doubt = None if shown else f"These cases do not show that {best.model} ranks better than chance."
    return " ".join(filter(None, [opening, doubt, told]))


@singledispatch
def idle(table: Table) -> bool:
    """Whether a model treats all cases alike, so that it wins nothing."""
    return False


@idle.register
def _(table: ScoreTable) -> bool:
    return table.score.size == 1


def _opening(best: Estimate, others: list[Estimate], wins: str, title: str, tested: Comparison | None) -> str:
    if not others:
        return f"{best.model} has {title} {best.text}."
    second = others[0]
    if best.value == second.value:
        return f"{best.model} and {second.model} are level, with {title} {best.text}."
    if tested is not None and not math.isnan(tested.p):
        explains = "more than chance explains" if tested.sure else "which chance could explain"
        size = f"a difference of {decimals(abs(tested.difference))}{' as ' if tested.averaged else ''}{tested.averaged}"
        close = f"{size}, {explains} ({p_text(tested.telling_p)})"
    elif tested is not None and tested.reason:
        close = f"the difference is not tested: {tested.reason}"
    elif math.isnan(second.high) or math.isnan(best.low):
        close = "without intervals, how sure that is cannot be said"
    else:
        close = "the difference is not tested, since the cases are not known side by side"
    return f"{best.model} {wins} {best.text}; {second.model} follows with {second.text}: {close}."
