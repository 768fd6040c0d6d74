"""How sure a choice is: an interval on the threshold of least cost, and how often a dominated model stays so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.conditions import Condition
from scorespace.curves.hull import hull_edges
from scorespace.decisions.honest import least
from scorespace.decisions.model import Decision, least_cost
from scorespace.measures.catalog import parse
from scorespace.measures.request import bind
from scorespace.resampling.draw import Asked, Draws
from scorespace.resampling.limits import tails
from scorespace.tables import Array, ScoreTable, ratio

_CONDITIONS: Final = np.linspace(0, 1, 201)  # shares of the cost that misses have: all slopes from ∞ to 0


def with_intervals(decision: Decision, draws: Draws, *, level: float = 0.95) -> Decision:
    """The decision with bootstrap intervals on each model's threshold, chosen anew in every replicate.

    And with the share of resamples in which each dominated model is so too. Left undefined where the weights
    are not whole numbers. The replicates are those of the measures.
    """
    names = [choice.model for choice in decision.choices]
    whole = {name for name in names if draws.tables[name].whole}
    able = [name for name in names if name in whole and draws.tables[name].thresholded]
    bounds = threshold_bounds(draws, able, decision.condition, level)
    choices = []
    for choice in decision.choices:
        low, high = bounds.get(choice.model, choice.threshold_interval)
        # Of scores that were merged to be drawn, the replicates know the lowest alone: the threshold itself is inside.
        limits = float(np.fmin(low, choice.threshold)), float(np.fmax(high, choice.threshold))
        if choice.model in bounds:
            told = draws.tables[choice.model].threshold
            choice = replace(choice, threshold_interval=(told(limits[0]), told(limits[1])))
        choices.append(choice)
    support = dominance_support(draws, names, decision.dominated) if len(whole) == len(names) else {}
    return replace(decision, choices=tuple(choices), support=support)


def threshold_bounds(
    draws: Draws, models: Sequence[str], condition: Condition, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Quantiles of each model's threshold of least cost over the replicates; all of them are scores, or infinite."""
    price = least_cost(condition)

    def threshold_again(drawn: ScoreTable) -> Array:
        return drawn.thresholds[least(*price(drawn.sweep))]

    within, name = condition.prevalence is not None, f"threshold of least cost, {condition}"
    wanted = [Asked(model, name, threshold_again, within, centred=False) for model in models]
    # Of a part of the cases thresholds spread too much, by the cube root of it and not by the root as numbers do: they
    # are not narrowed but drawn from all cases of the model alone.
    alone = [draws.source(model).part for model in models]
    found = iter(draws.all([one for one, apart in zip(wanted, alone, strict=True) if not apart]))
    again = [
        draws.apart(one.model).all([one])[0] if apart else next(found) for one, apart in zip(wanted, alone, strict=True)
    ]
    # Quantiles that are observed values: a threshold of +inf must not be mixed with a finite one.
    limits = [np.quantile(values, tails(level), method="inverted_cdf") for values in again]
    return {model: (float(low), float(high)) for model, (low, high) in zip(models, limits, strict=True)}


def dominance_support(draws: Draws, models: Sequence[str], names: Collection[str]) -> dict[str, float]:
    """In which share of resamples a model is the cheapest under no condition, for each of the names.

    >>> from scorespace.tables import confusion
    >>> rules = {"idle": confusion([[0, 5], [0, 9]], positive=0), "good": confusion([[4, 1], [2, 7]], positive=0)}
    >>> dominance_support(Draws(rules), list(rules), ["idle"])
    {'idle': 1.0}
    """
    if not names:
        return {}
    # Of a part of the cases models vary more, and less is said; moved to their own values they would no longer be equal
    # where none spares anything.
    wanted = [Asked(model, "reach", _reach_of(draws.tables[model]), within=False, centred=False) for model in models]
    if draws.pairs is not None and set(models) <= set(draws.pairs.models):
        found = draws.together.all(wanted)
    else:  # by streams of their own models differ more than on the same cases, and less is said
        found = [draws.apart(one.model, stream).all([one])[0] for stream, one in enumerate(wanted)]
    reach = dict(zip(models, found, strict=True))
    nothing = np.broadcast_to(np.maximum(0.0, 2 * _CONDITIONS - 1), found[0].shape)
    best = {name: np.max([nothing, *(one for other, one in reach.items() if other != name)], axis=0) for name in names}
    return {name: float((reach[name] <= others + 1e-12).all(axis=-1).mean()) for name, others in best.items()}


def _reach_of(table: Any) -> Any:
    """What tells of a table, or of its replicates, the most that it spares: of a decision there is one point alone."""
    if table.thresholded:
        return _reach
    tpr, fpr = (bind(parse(name), table) for name in ("tpr", "fpr"))
    return lambda drawn: tpr.on(drawn)[..., None] * _CONDITIONS - fpr.on(drawn)[..., None] * (1 - _CONDITIONS)


def _reach(table: ScoreTable) -> Array:
    """The most that a model spares under each condition x (…, conditions): max of x · TPR − (1 − x) · FPR."""
    shape = table.counts.shape[:-2]
    pos, neg = (np.reshape(column, (-1, column.shape[-1])) for column in table.columns)
    positives, negatives = (side.sum(axis=1, dtype=np.float64) for side in (pos, neg))
    edges = hull_edges(pos, neg)
    starts = np.flatnonzero(np.diff(edges.owner, prepend=-1))
    up, across = np.cumsum(edges.pos), np.cumsum(edges.neg)
    before = np.repeat(starts, np.diff(starts, append=edges.owner.size))
    tpr = ratio(up - (up - edges.pos)[before], positives[edges.owner])
    fpr = ratio(across - (across - edges.neg)[before], negatives[edges.owner])
    spared = np.outer(tpr, _CONDITIONS) - np.outer(fpr, 1 - _CONDITIONS)
    return np.asarray(np.maximum.reduceat(spared, starts, axis=0)).reshape(*shape, -1)
