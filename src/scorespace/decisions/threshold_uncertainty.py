"""Uncertainty of a choice: bootstrap intervals of the threshold of minimum cost, and support for dominance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.costs import Condition
from scorespace.curves.hull import hull_edges
from scorespace.decisions.cost_decision import Decision
from scorespace.decisions.cross_fitting import argmin_price
from scorespace.decisions.minimum_cost import least_cost
from scorespace.inference.bootstrap import BootstrapDraws, ReplicateRequest
from scorespace.inference.interval_formulas import tail_probabilities
from scorespace.measures.catalog import parse
from scorespace.measures.request import bind
from scorespace.tables import Array, ScoreTable, ratio

_COST_SHARES: Final = np.linspace(0, 1, 201)  # share of the false-negative cost: all slopes from ∞ to 0


def add_threshold_intervals(decision: Decision, draws: BootstrapDraws, *, level: float = 0.95) -> Decision:
    """Add bootstrap intervals of each model's threshold, chosen anew in every replicate, to a decision.

    Also add the share of replicates in which each dominated model is dominated. Undefined where weights are not whole
    numbers. The replicates are those of the measures.
    """
    names = [choice.model for choice in decision.choices]
    integer_weights = {name for name in names if draws.tables[name].whole}
    resampled = [name for name in names if name in integer_weights and draws.tables[name].thresholded]
    bounds = threshold_bounds(draws, resampled, decision.condition, level)
    choices = []
    for choice in decision.choices:
        low, high = bounds.get(choice.model, choice.threshold_interval)
        # A condensed table knows only the lowest of merged scores, so the interval is extended to the threshold.
        limits = float(np.fmin(low, choice.threshold)), float(np.fmax(high, choice.threshold))
        if choice.model in bounds:
            round_threshold = draws.tables[choice.model].threshold
            choice = replace(choice, threshold_interval=(round_threshold(limits[0]), round_threshold(limits[1])))
        choices.append(choice)
    support = dominance_support(draws, names, decision.dominated) if len(integer_weights) == len(names) else {}
    return replace(decision, choices=tuple(choices), support=support)


def threshold_bounds(
    draws: BootstrapDraws, models: Sequence[str], condition: Condition, level: float = 0.95
) -> dict[str, tuple[float, float]]:
    """Return quantiles of each model's threshold of minimum cost over the replicates; they are scores, or infinite."""
    price = least_cost(condition)

    def optimal_threshold(drawn: ScoreTable) -> Array:
        return drawn.thresholds[argmin_price(*price(drawn.sweep))]

    within, name = condition.prevalence is not None, f"threshold of least cost, {condition}"
    requests = [ReplicateRequest(model, name, optimal_threshold, within, centred=False) for model in models]
    # Thresholds of a subsample converge with the cube root of its size, not the square root, so they cannot be rescaled
    # and are resampled from all cases of the model instead.
    is_subsample = [draws.source(model).part for model in models]
    values = iter(
        draws.all([request for request, separate in zip(requests, is_subsample, strict=True) if not separate])
    )
    thresholds = [
        draws.apart(request.model).all([request])[0] if separate else next(values)
        for request, separate in zip(requests, is_subsample, strict=True)
    ]
    # Quantiles are observed values: an infinite threshold must not be averaged with a finite one.
    limits = [np.quantile(values, tail_probabilities(level), method="inverted_cdf") for values in thresholds]
    return {model: (float(low), float(high)) for model, (low, high) in zip(models, limits, strict=True)}


def dominance_support(draws: BootstrapDraws, models: Sequence[str], names: Collection[str]) -> dict[str, float]:
    """Return the share of replicates in which each named model is optimal under no condition.

    >>> from scorespace.tables import confusion
    >>> rules = {"idle": confusion([[0, 5], [0, 9]], positive=0), "good": confusion([[4, 1], [2, 7]], positive=0)}
    >>> dominance_support(BootstrapDraws(rules), list(rules), ["idle"])
    {'idle': 1.0}
    """
    if not names:
        return {}
    # A subsample varies more, which is conservative; centred values would no longer be equal where no model has a
    # benefit.
    requests = [
        ReplicateRequest(model, "reach", _net_benefit_function(draws.tables[model]), within=False, centred=False)
        for model in models
    ]
    if draws.pairs is not None and set(models) <= set(draws.pairs.models):
        values = draws.joint.all(requests)
    else:  # independent streams vary more than the same cases, which is conservative
        values = [draws.apart(item.model, stream).all([item])[0] for stream, item in enumerate(requests)]
    benefit = dict(zip(models, values, strict=True))
    trivial = np.broadcast_to(np.maximum(0.0, 2 * _COST_SHARES - 1), values[0].shape)
    best = {
        name: np.max([trivial, *(item for other, item in benefit.items() if other != name)], axis=0) for name in names
    }
    return {name: float((benefit[name] <= others + 1e-12).all(axis=-1).mean()) for name, others in best.items()}


def _net_benefit_function(table: Any) -> Any:
    """Return the function that computes the net benefit under each condition; hard decisions have a single point."""
    if table.thresholded:
        return _max_net_benefit
    tpr, fpr = (bind(parse(name), table) for name in ("tpr", "fpr"))
    return lambda drawn: tpr.on(drawn)[..., None] * _COST_SHARES - fpr.on(drawn)[..., None] * (1 - _COST_SHARES)


def _max_net_benefit(table: ScoreTable) -> Array:
    """Maximum net benefit under each condition x (…, conditions): max of x · TPR − (1 − x) · FPR."""
    shape = table.counts.shape[:-2]
    pos, neg = (np.reshape(column, (-1, column.shape[-1])) for column in table.columns)
    positives, negatives = (side.sum(axis=1, dtype=np.float64) for side in (pos, neg))
    edges = hull_edges(pos, neg)
    starts = np.flatnonzero(np.diff(edges.owner, prepend=-1))
    true_positives, false_positives = np.cumsum(edges.pos), np.cumsum(edges.neg)
    first_edge = np.repeat(starts, np.diff(starts, append=edges.owner.size))
    tpr = ratio(true_positives - (true_positives - edges.pos)[first_edge], positives[edges.owner])
    fpr = ratio(false_positives - (false_positives - edges.neg)[first_edge], negatives[edges.owner])
    benefit = np.outer(tpr, _COST_SHARES) - np.outer(fpr, 1 - _COST_SHARES)
    return np.asarray(np.maximum.reduceat(benefit, starts, axis=0)).reshape(*shape, -1)
