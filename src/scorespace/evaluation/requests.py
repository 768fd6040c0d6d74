"""Which measures to show for which model: those asked for, where they make sense, or the usual ones of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Final

from scorespace.conditions import Condition
from scorespace.decisions.threshold import best_threshold
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.measures import MeasureSpec, measures, parse
from scorespace.measures.confusion import youden
from scorespace.measures.request import bind
from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable, Table
from scorespace.tables.models import Models

RANKING: Final = ("auc", "auprc", "ks", "h")
RARE_FIRST: Final = "auprc"
OF_PROBABILITIES: Final = ("brier", "cal", "ref", "smauc")
AT_THRESHOLD: Final = ("tpr", "fpr", "ppv", "f1", "mcc")
OF_DECISIONS: Final = ("acc", "bacc", "tpr", "fpr", "ppv", "f1", "mcc", "kappa")
OF_CLASSES: Final = ("acc", "bacc", "kappa", "mcc", "f1[macro]", "f1[weighted]")
OF_CLASS_SCORES: Final = ("auc[hand_till]", "auc[weighted]")
OF_CLASS_PROBABILITIES: Final = ("brier", "logloss", "ece")
_MOST_OF_OTHERS: Final = 12
RARE: Final = 0.05
"""Share of positives below which precision and recall tell more than areas that average over all negatives."""


def rare(table: Table) -> bool:
    """Whether positives are so rare that precision-recall leads.

    >>> from scorespace.tables import score_table
    >>> rare(score_table([1] + [0] * 30, range(31)))
    True
    """
    total = float(table.total)
    return isinstance(table, ScoreTable) and 0 < float(table.n_pos) < RARE * total


@singledispatch
def usual(table: Table, at: float | None = None) -> list[MeasureSpec]:
    """What is shown of a table when nothing is asked for; of a kind that names nothing, what is declared on it."""
    return [MeasureSpec(one.name) for one in measures() if type(table) in one.functions][:_MOST_OF_OTHERS]


@usual.register
def _(table: ScoreTable, at: float | None = None) -> list[MeasureSpec]:
    sized = OF_PROBABILITIES if table.probabilities else ()
    ranking = (RARE_FIRST, *(name for name in RANKING if name != RARE_FIRST)) if rare(table) else RANKING
    return [*map(MeasureSpec, (*ranking, *sized)), *(MeasureSpec(name, at=at) for name in AT_THRESHOLD)]


@usual.register
def _(table: ClassTable, at: float | None = None) -> list[MeasureSpec]:
    proper = OF_CLASS_PROBABILITIES if table.probabilities else ()
    return [*map(parse, (*OF_CLASS_SCORES, *proper, *OF_CLASSES))]


@usual.register
def _(table: ConfusionTable, at: float | None = None) -> list[MeasureSpec]:
    return [*map(parse, OF_DECISIONS if table.positive is not None else OF_CLASSES)]


def wanted(
    models: Models, asked: Sequence[MeasureSpec], at: Mapping[str, float | None], condition: Condition | None
) -> dict[str, list[MeasureSpec]]:
    """The measures of every model: those asked for that suit it, or the usual ones and the cost under a condition."""
    found = {}
    for name, table in models.items():
        costs = [] if condition is None else [cost_request(condition, at[name])]
        found[name] = suiting(asked, table, at[name]) if asked else [*usual(table, at[name]), *costs]
    return found


def suiting(asked: Sequence[MeasureSpec], table: Table, at: float | None) -> list[MeasureSpec]:
    """The requests that make sense for a model, at its threshold where one is needed and none is stated."""
    found = (one for one in (placed(spec, table, at) for spec in asked) if suits(one, table))
    return list(dict.fromkeys(found))


def with_beside(asked: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    """The requests with what a measure is misread without before it, as a screen shows them.

    >>> [str(one) for one in with_beside([parse("smauc")])]
    ['auc', 'smauc']
    """
    pairs = (
        [*([replace(one, name=one.measure.beside, options=(), asked=None)] if one.measure.beside else []), one]
        for one in asked
    )
    return list(dict.fromkeys(one for pair in pairs for one in pair))


def placed(spec: MeasureSpec, table: Table, at: float | None) -> MeasureSpec:
    """The request at the model's threshold, where it needs one and states none."""
    needs = table.thresholded and spec.measure.table is Counts and spec.at is None
    return replace(spec, at=at) if needs else spec


def suits(spec: MeasureSpec, table: Table) -> bool:
    """Whether a request makes sense for this kind of model, beside models of another kind."""
    try:
        bind(spec, table)
    except MeasureError:
        return False
    return True


def check_requests(models: Models, specs: Sequence[MeasureSpec], at: Mapping[str, float | None]) -> None:
    """Refuse a request that suits none of the models, with the reason."""
    for spec in specs:
        if not any(suiting([spec], table, at[name]) for name, table in models.items()):
            name, table = next(iter(models.items()))
            bind(placed(spec, table, at[name]), table)  # raises the error that says why


def shown_threshold(model: str, table: Table, asked: Sequence[MeasureSpec], chosen: float | None = None) -> float:
    """The threshold a model is shown at.

    The first one asked for; else that of least cost under the condition; else 0.5 for probabilities; else that
    of the highest Youden index.
    """
    stated = [spec.at for spec in asked if spec.at is not None]
    if stated:
        return stated[0]
    if not table.thresholded:
        how = "decides by the highest score" if table.scores_classes else "gives decisions"
        raise ScoreSpaceError(f"{model} {how}, so it has no threshold.")
    if chosen is not None:
        return chosen
    scores = table.inside(ScoreTable)
    return 0.5 if scores.probabilities else best_threshold(scores, youden).threshold


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
