"""The verdict: what the evaluation says, in sentences that can be read aloud."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorespace.comparisons.comparison import Comparison
from scorespace.measures import MeasureSpec
from scorespace.measures.confusion import ppv, tpr
from scorespace.resampling.estimate import Estimate, estimate
from scorespace.results import decimals, grouped, p_text
from scorespace.tables import ClassTable, ScoreTable, Table
from scorespace.tables.labels import is_plain_code

if TYPE_CHECKING:
    from scorespace.evaluation.evaluation import Evaluation


def verdict(evaluation: Evaluation) -> str:
    """Which model ranks or decides best, how sure that is, and what it does at its threshold."""
    scoring = [name for name, table in evaluation.models.items() if isinstance(table, ScoreTable)]
    if scoring:
        return _ranking_verdict(evaluation, scoring)
    if evaluation.class_models:
        return _class_verdict(evaluation, evaluation.class_models)
    return _decision_verdict(evaluation)


def _ranking_verdict(evaluation: Evaluation, scoring: list[str]) -> str:
    areas = _ordered(evaluation, scoring, MeasureSpec("auc"))
    if not areas:
        return "Nothing can be ranked: only one class is present, so the area under the ROC curve is undefined."
    best = areas[0]
    opening = _opening(best, areas[1:], "ranks best, with AUC", "AUC", _paired_test(evaluation, areas))
    closing = _at_threshold(evaluation, best.model) if evaluation.decision is None else evaluation.decision.words
    return f"{opening} {closing}"


def _class_verdict(evaluation: Evaluation, scoring: list[str]) -> str:
    areas = _ordered(evaluation, scoring, MeasureSpec("auc", of="hand_till"))
    if not areas:
        return "Nothing can be ranked: only one class is present, so the area under the ROC curve is undefined."
    best = areas[0]
    told = (
        "ranks the classes best, with AUC over all pairs of classes" if areas[1:] else "AUC over all pairs of classes"
    )
    opening = _opening(best, areas[1:], told, told, _paired_test(evaluation, areas))
    if evaluation.decision is not None:
        return f"{opening} {evaluation.decision.words}"
    return f"{opening} {_most_confused(best.model, evaluation.models[best.model])}"


def _most_confused(model: str, table: Table) -> str:
    """What the decisions of the highest score are worth, and which class is mostly taken for which."""
    matrix = table.decisions.matrix if isinstance(table, ClassTable) else np.zeros((1, 1))
    wrong = np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)
    share = decimals(100 * float(matrix.trace() / matrix.sum()), 0)
    if not wrong.any():
        return f"{model} decides all cases right."
    actual, decided = np.unravel_index(int(wrong.argmax()), wrong.shape)
    often = f"{grouped(wrong[actual, decided])} of {grouped(matrix[actual].sum())} cases"
    names = table.classes
    taken = f"takes {names[actual]} for {names[decided]} ({often})"
    return f"{model} decides {share} % of the cases right; most often it {taken}."


def _paired_test(evaluation: Evaluation, ordered: list[Estimate]) -> Comparison | None:
    """The test of the best model against the next, where the cases are known pair by pair."""
    if not evaluation.comparable or len(ordered) < 2:
        return None
    names = {ordered[0].model, ordered[1].model}
    # All pairs, because the best two were picked after looking at all.
    independent = evaluation.pairs is not None and evaluation.pairs.group is None
    test = "delong" if independent else None  # the numbers shown are pooled over folds
    tests = evaluation.compare(*(one.model for one in ordered), measure=str(ordered[0].spec), test=test)
    return next(one for one in tests if not one.several and {one.a, one.b} == names)


def _decision_verdict(evaluation: Evaluation) -> str:
    if evaluation.decision is not None:
        return evaluation.decision.words
    found = _ordered(evaluation, list(evaluation.models), MeasureSpec("bacc")) or _ordered(
        evaluation, list(evaluation.models), MeasureSpec("acc")
    )
    if not found:
        return "No measure of these decisions is defined."
    title = found[0].spec.measure.title.lower()
    return _opening(found[0], found[1:], f"decides best, with {title}", title)


def _ordered(evaluation: Evaluation, models: list[str], spec: MeasureSpec) -> list[Estimate]:
    """Estimates of the models for which the measure is defined, best first."""
    shown = {one.model: one for one in evaluation.summary if one.spec == spec}
    found = [
        shown.get(name)
        or estimate(spec, evaluation.models[name], model=name, level=evaluation.level, seed=evaluation.seed)
        for name in models
    ]
    return sorted((one for one in found if not math.isnan(one.value)), key=lambda one: -one.value)


def _opening(best: Estimate, others: list[Estimate], wins: str, title: str, tested: Comparison | None = None) -> str:
    if not others:
        return f"{best.model} has {title} {best.text}."
    second = others[0]
    if tested is not None and not math.isnan(tested.p):
        explains = "more than chance explains" if tested.sure else "which chance could explain"
        close = f"a difference of {decimals(abs(tested.difference))}, {explains} ({p_text(tested.telling_p)})"
    elif math.isnan(second.high) or math.isnan(best.low):
        close = "without intervals, how sure that is cannot be said"
    elif second.high >= best.low:
        close = "the intervals overlap, so these cases alone do not settle which is better"
    else:
        close = "the intervals do not overlap"
    return f"{best.model} {wins} {best.text}; {second.model} follows with {second.text}: {close}."


def _at_threshold(evaluation: Evaluation, model: str) -> str:
    counts, at = evaluation.counts(model), evaluation.threshold(model)
    found, right = tpr(counts), ppv(counts)
    what = "positive" if is_plain_code(evaluation.positive) else evaluation.positive
    if math.isnan(right):
        return f"At threshold {at:g} {model} predicts no case to be {what}."
    return (
        f"At threshold {at:g} {model} finds {decimals(100 * found, 0)} % of the {what} cases, "
        f"and {decimals(100 * right, 0)} % of its alarms are right."
    )
