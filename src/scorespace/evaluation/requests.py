"""Which measures to show for which model: those asked for, where they make sense, or the usual ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scorespace.conditions import Condition
from scorespace.errors import MeasureError
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.tables import ClassTable, Counts, ScoreTable, Table

RANKING: Final = ("auc", "auprc", "ks", "h")
OF_PROBABILITIES: Final = ("brier", "cal", "ref", "smauc")
AT_THRESHOLD: Final = ("tpr", "fpr", "ppv", "f1", "mcc")
OF_DECISIONS: Final = ("acc", "bacc", "tpr", "fpr", "ppv", "f1", "mcc", "kappa")
OF_CLASSES: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
OF_CLASS_SCORES: Final = ("auc[hand_till]", "auc[weighted]")
OF_CLASS_PROBABILITIES: Final = ("brier", "logloss", "ece")


def suiting(asked: Sequence[MeasureSpec], table: Table, at: float | None) -> list[MeasureSpec]:
    """The requests that make sense for a model, at its threshold where one is needed and none is stated.

    A smooth area is misread alone, so the AUC stands before it.
    """
    found = [one for one in (placed(spec, table, at) for spec in asked) if suits(one, table)]
    beside = ([replace(one, name="auc", options=()), one] if one.name == "smauc" else [one] for one in found)
    return list(dict.fromkeys(one for pair in beside for one in pair))


def usual(table: Table, at: float | None, condition: Condition | None) -> list[MeasureSpec]:
    """What is shown when nothing is asked for; with a condition, also the cost under it."""
    costs = [] if condition is None else [cost_request(condition, at)]
    if isinstance(table, ScoreTable):
        sized = map(MeasureSpec, OF_PROBABILITIES if table.probabilities else ())
        return [*map(MeasureSpec, RANKING), *sized, *(MeasureSpec(name, at=at) for name in AT_THRESHOLD), *costs]
    if isinstance(table, ClassTable):
        proper = OF_CLASS_PROBABILITIES if table.probabilities else ()
        return [*map(parse, (*OF_CLASS_SCORES, *proper, *OF_CLASSES)), *costs]
    return [*map(parse, OF_DECISIONS if table.positive is not None else OF_CLASSES), *costs]


def placed(spec: MeasureSpec, table: Table, at: float | None) -> MeasureSpec:
    """The request at the model's threshold, where it needs one and states none."""
    if isinstance(table, ScoreTable) and spec.measure.table is Counts and spec.at is None:
        return replace(spec, at=at)
    return spec


def suits(spec: MeasureSpec, table: Table) -> bool:
    """Whether a request makes sense for this kind of model, beside models of another kind."""
    try:
        bind(spec, table)
    except MeasureError:
        return False
    return True


def cost_request(condition: Condition, at: float | None) -> MeasureSpec:
    """The cost under a condition as a request; only what differs from nothing is written.

    >>> str(cost_request(Condition(fp=1, fn=5), 0.5))
    'cost(fp=1, fn=5)@0.5'
    """
    unset = Condition()
    options = tuple(
        (name, getattr(condition, name))
        for name in ("fp", "fn", "tp", "tn", "prevalence")
        if name in ("fp", "fn") or getattr(condition, name) != getattr(unset, name)
    )
    return MeasureSpec("cost", options, at=at)
