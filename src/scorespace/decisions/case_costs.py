"""Decisions under costs that differ from case to case: model, rule and threshold of minimum cost.

References: Elkan (2001), "The foundations of cost-sensitive learning", IJCAI; Bahnsen, Aouada and Ottersten (2015),
"Example-dependent cost-sensitive decision trees", Expert Systems with Applications 42 (savings).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.case_costs import SIDES, CaseCosts, Rule
from scorespace.decisions.case_cost_decision import CaseCostChoice, CaseCostDecision
from scorespace.decisions.cross_fitting import FOLDS, TOO_FEW_CASES, argmin_price, split_cases
from scorespace.decisions.out_of_sample import CostEstimate, check_models
from scorespace.errors import ConditionError, DataError
from scorespace.inference.proportion import normal_quantile
from scorespace.inference.skew_k import bearing_remark, skew_k
from scorespace.tables import Array, ScoreTable
from scorespace.tables.case_costs import CostTable, Moments, moments_of_cases
from scorespace.tables.paired import PairTable
from scorespace.tables.threshold import round_threshold

REPEATS: Final = 10
SUMMED: Final = "costs of more than a million cases are kept as sums, so the threshold is not cross-fitted"
_QUANTILES: Final = 1000  # candidate thresholds per class


@dataclass(frozen=True, eq=False)
class _Cases:
    """The costs of acting and of not acting on each case, and what weighs and groups them."""

    act: Array
    wait: Array
    weight: Array | None
    group: NDArray[np.int32] | None
    nonnegative: bool

    def moments(self, value: Array) -> Moments:
        """Moments of a value per case."""
        return moments_of_cases(value, self.weight, self.group)

    def cost(self, loss: Array, level: float) -> CostEstimate:
        """Mean loss with its interval."""
        moments = self.moments(loss)
        limits = skew_k(moments, level, log=self.nonnegative)
        return CostEstimate(moments.mean, limits.low, limits.high, bearing_remark(limits))

    def difference(self, loss: Array, other: Array, level: float) -> CostEstimate:
        """Mean of loss less other, paired by case, with a normal interval."""
        moments = self.moments(loss - other)
        half = normal_quantile(level) * math.sqrt(moments.second / (moments.cases * max(1.0, moments.cases - 1)))
        return CostEstimate(moments.mean, moments.mean - half, moments.mean + half)

    def savings(self, loss: Array, level: float) -> CostEstimate:
        """Share of cost saved against the cheaper of acting on all cases and on none."""
        all_, none = self.moments(self.act).mean, self.moments(self.wait).mean
        base, loss_of_base = min((all_, self.act), (none, self.wait), key=lambda pair: pair[0])
        if base <= 0:
            return CostEstimate(reason="a rule without a model costs nothing")
        ratio = self.moments(loss).mean / base
        limits = skew_k(self.moments((loss - ratio * loss_of_base) / base), level, log=True, value=ratio)
        return CostEstimate(1 - ratio, 1 - limits.high, 1 - limits.low, bearing_remark(limits))


def choose_by_case(models: Mapping[str, Any], condition: CaseCosts, pairs: PairTable | None = None) -> CaseCostDecision:
    """Choose the model and the threshold of minimum apparent cost, without cross-fitting."""
    if not models:
        raise DataError("there is no model to decide between.", hint="name a model with scores")
    if condition.rule != "score":
        _refuse_rule(models, condition, pairs)
    first = next(iter(models.values())).inside(CostTable)
    choices = tuple(_choice(name, table, condition.rule, pairs) for name, table in models.items())
    trivial = {"act on none": CostEstimate(first.at(np.inf).mean), "act on all": CostEstimate(first.at(-np.inf).mean)}
    return CaseCostDecision(condition, choices, trivial)


def decide_by_case(
    models: Mapping[str, Any],
    condition: CaseCosts,
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> CaseCostDecision:
    """Choose the model and the threshold of minimum cost, and estimate the cost by cross-fitting.

    Of probabilities, also the rules by expected gain are shown: they use the costs of each case.
    """
    decision = choose_by_case(models, condition, pairs)
    if pairs is None:
        return _with_apparent_intervals(decision, models, level)
    if min(int(pairs.label.sum()), int((1 - pairs.label).sum())) < 2:
        return replace(decision, out_of_sample=CostEstimate(reason=TOO_FEW_CASES))
    cases = _cases(pairs)
    fold = split_cases(pairs, True, REPEATS, FOLDS, np.random.default_rng(seed))
    losses, procedure = _cross_fit(models, condition.rule, cases, pairs, fold)
    decision = _with_losses(decision, cases, losses, procedure, level)
    if condition.rule != "score" or not _rules_apply(models, condition, pairs):
        return replace(decision, miscalibrated=_miscalibrated(decision, models, cases, pairs, losses, level))
    others: list[CaseCostChoice] = []
    rules: tuple[Rule, ...] = ("expected_gain", "casewise")
    for rule in rules:
        other = choose_by_case(models, replace(condition, rule=rule), pairs)
        found, total = _cross_fit(models, rule, cases, pairs, fold)
        others += _with_losses(other, cases, found, None, level).choices
        if rule == "expected_gain":
            best = next(one for one in others if one.model == other.best.model)
            decision = replace(decision, by_gain=(best, cases.difference(procedure, total, level)))
    return replace(decision, other_rules=tuple(others))


def evaluate_by_case_on(
    decision: CaseCostDecision,
    models: Mapping[str, Any],
    *,
    fitted: str,
    pairs: PairTable | None = None,
    level: float = 0.95,
) -> CaseCostDecision:
    """Evaluate a decision on another sample than the one it was made on, which `fitted` names."""
    check_models((choice.model for choice in decision.choices), models)
    first = next(iter(models.values())).inside(CostTable)
    trivial = {"act on none": CostEstimate(first.at(np.inf).mean), "act on all": CostEstimate(first.at(-np.inf).mean)}
    decision = replace(decision, trivial=trivial, fitted=fitted)
    if pairs is None:
        return _with_apparent_intervals(decision, models, level)
    cases, rule = _cases(pairs), decision.condition.rule
    losses = {
        choice.model: np.where(_ranks(models, choice.model, rule, pairs) >= choice.threshold, cases.act, cases.wait)
        for choice in decision.choices
    }
    return _with_losses(decision, cases, losses, losses[decision.best.model], level)


def _cases(pairs: PairTable) -> _Cases:
    assert pairs.costs is not None
    act, wait = pairs.costs.acting(pairs.label), pairs.costs.waiting(pairs.label)
    return _Cases(act, wait, pairs.weight, pairs.group, bool(act.min() >= 0 and wait.min() >= 0))


def _refuse_rule(models: Mapping[str, Any], condition: CaseCosts, pairs: PairTable | None) -> None:
    """Refuse a rule by expected gain without probabilities, or with costs known only after the outcome."""
    rule = f"rule={condition.rule!r}"
    if pairs is None or pairs.costs is None:
        raise ConditionError(f"{rule} needs single cases.", seen="more than a million rows", hint='rule="score"')
    for name, table in models.items():
        if not (table.thresholded and table.probabilities):
            seen = f"{name}: {table.scores_seen()}"
            hint = "scorespace calibrate maps scores to probabilities"
            raise ConditionError(f"{rule} needs probabilities.", seen=seen, hint=hint)
    empty = _unknown_before(condition, pairs)
    if empty is not None:
        column, label = empty
        raise ConditionError(
            f"{rule} needs costs that are known before the outcome.",
            seen=f"{column!r} is 0 for every {label} case",
            hint="a cost that is known for every case",
        )


def _unknown_before(condition: CaseCosts, pairs: PairTable) -> tuple[str, str] | None:
    """A column of costs that is 0 throughout one class, and that class."""
    for side in SIDES:
        column, values = getattr(condition, side), getattr(pairs.costs, side)
        for label, name in ((1, "positive"), (0, "negative")) if isinstance(column, str) else ():
            if not np.any(values[pairs.label == label]):
                return str(column), name
    return None


def _rules_apply(models: Mapping[str, Any], condition: CaseCosts, pairs: PairTable) -> bool:
    """Whether the rules by expected gain can be shown beside the thresholds of scores."""
    are_probabilities = all(table.thresholded and table.probabilities for table in models.values())
    return are_probabilities and _unknown_before(condition, pairs) is None


def _ranks(models: Mapping[str, Any], name: str, rule: Rule, pairs: PairTable) -> Array:
    """What a rule compares with its threshold, for each case: the score, or the expected gain."""
    table = models[name].inside(CostTable)
    assert pairs.costs is not None
    return table.score if rule == "score" else pairs.costs.expected_gain(table.score)


def _choice(name: str, model: Any, rule: Rule, pairs: PairTable | None) -> CaseCostChoice:
    """The threshold of minimum apparent cost; 0 for the case-wise rule, 0.5 for decisions."""
    table: CostTable = model.inside(CostTable)
    if rule != "score" and pairs is not None:
        table = replace(table, score=_ranks({name: model}, name, rule, pairs), single=False)
    thresholds, shares, costs = table.sweep()
    if rule == "casewise":
        index = int(np.searchsorted(-thresholds, 0.0, side="right")) - 1
        return CaseCostChoice(name, rule, 0.0, CostEstimate(float(costs[index])), float(shares[index]))
    if not model.thresholded:
        sums = table.at(0.5)
        return CaseCostChoice(name, rule, math.nan, CostEstimate(sums.mean), float((table.score >= 0.5).mean()))
    index = int(argmin_price(np.zeros_like(costs), costs))
    at: float = float(thresholds[index])
    if rule == "score" and table.is_listed:
        at = model.inside(ScoreTable).threshold(at)
    elif rule != "score" and math.isfinite(at):
        at = round_threshold(at, float(np.append(thresholds, -np.inf)[index + 1]))
    return CaseCostChoice(name, rule, at, CostEstimate(float(costs[index])), float(shares[index]))


def _rows(rank: Array, label: Array) -> tuple[NDArray[np.intp], int]:
    """Row of each case, highest rank first; many ranks are merged to quantiles of each class."""
    values, row = np.unique(-rank, return_inverse=True)
    if values.size <= 2 * _QUANTILES:
        return row, int(values.size)
    shares = np.linspace(0, 1, _QUANTILES + 1)
    edges = np.unique(np.concatenate([np.quantile(-rank[label == one], shares) for one in (0, 1)]))
    return np.searchsorted(edges, -rank, side="left"), int(edges.size) + 1


def _cross_fit(
    models: Mapping[str, Any], rule: Rule, cases: _Cases, pairs: PairTable, fold: NDArray[np.uint8]
) -> tuple[dict[str, Array], Array]:
    """Mean loss of each case over repeats, of each model and of choosing the model too.

    The threshold for a case is the one of minimum cost on the other folds.
    """
    repeats, places = fold.shape[0], fold.astype(np.intp)
    difference = cases.act - cases.wait
    difference = difference if cases.weight is None else cases.weight * difference
    acts, prices = [], []
    for name, model in models.items():
        rank = _ranks(models, name, rule, pairs)
        if rule == "casewise" or not model.thresholded:
            act = np.broadcast_to(rank >= (0.0 if rule == "casewise" else 0.5), fold.shape)
            kept = np.bincount(
                (np.arange(repeats)[:, None] * FOLDS + places).ravel(),
                (act * difference).ravel(),
                minlength=repeats * FOLDS,
            ).reshape(repeats, FOLDS)
            prices.append(kept.sum(axis=1, keepdims=True) - kept)
        else:
            row, rows = _rows(rank, pairs.label)
            cell = (np.arange(repeats)[:, None] * FOLDS + places) * rows + row
            sums = np.bincount(
                cell.ravel(), np.broadcast_to(difference, cell.shape).ravel(), minlength=repeats * FOLDS * rows
            ).reshape(repeats, FOLDS, rows)
            training = np.zeros((repeats, FOLDS, rows + 1))
            np.cumsum(sums.sum(axis=1, keepdims=True) - sums, axis=-1, out=training[..., 1:])
            cut = argmin_price(np.zeros_like(training), training)
            prices.append(np.take_along_axis(training, cut[..., None], axis=-1)[..., 0])
            act = row < np.take_along_axis(cut, places, axis=1)
        acts.append(act)
    losses = {
        name: act.mean(axis=0) * cases.act + (1 - act.mean(axis=0)) * cases.wait
        for name, act in zip(models, acts, strict=True)
    }
    winner = np.take_along_axis(np.argmin(np.stack(prices), axis=0), places, axis=1)
    share = np.take_along_axis(np.stack(acts), winner[None], axis=0)[0].mean(axis=0)
    return losses, share * cases.act + (1 - share) * cases.wait


def _with_losses(
    decision: CaseCostDecision, cases: _Cases, losses: Mapping[str, Array], procedure: Array | None, level: float
) -> CaseCostDecision:
    """The decision with out-of-sample costs, savings, and differences to the alternatives."""
    choices = tuple(
        replace(
            choice,
            out_of_sample=cases.cost(losses[choice.model], level),
            savings=cases.savings(losses[choice.model], level),
        )
        for choice in decision.choices
    )
    if procedure is None:
        return replace(decision, choices=choices)
    rules = {"act on none": cases.wait, "act on all": cases.act}
    better = min(decision.trivial, key=lambda name: decision.trivial[name].value)
    return replace(
        decision,
        choices=choices,
        trivial={name: cases.cost(loss, level) for name, loss in rules.items()},
        out_of_sample=cases.cost(procedure, level),
        savings=cases.savings(procedure, level),
        gain=cases.difference(rules[better], procedure, level),
        over={name: cases.difference(loss, procedure, level) for name, loss in losses.items()},
    )


def _with_apparent_intervals(decision: CaseCostDecision, models: Mapping[str, Any], level: float) -> CaseCostDecision:
    """The decision with the costs of its thresholds on this sample, from sums."""

    def cost(model: str, at: float) -> CostEstimate:
        sums = models[model].inside(CostTable).at(at)
        limits = skew_k(sums.moments((1, 0), (0, 1)), level, log=sums.nonnegative)
        return CostEstimate(sums.mean, limits.low, limits.high, bearing_remark(limits))

    def at(choice: CaseCostChoice) -> float:
        return 0.5 if math.isnan(choice.threshold) else float(choice.threshold)

    found = {choice.model: cost(choice.model, at(choice)) for choice in decision.choices}
    if decision.fitted is None:
        choices = tuple(replace(one, apparent=found[one.model]) for one in decision.choices)
        return replace(decision, choices=choices, out_of_sample=CostEstimate(reason=SUMMED))
    choices = tuple(replace(one, out_of_sample=found[one.model]) for one in decision.choices)
    return replace(decision, choices=choices, out_of_sample=found[decision.best.model])


def _miscalibrated(
    decision: CaseCostDecision,
    models: Mapping[str, Any],
    cases: _Cases,
    pairs: PairTable,
    losses: Mapping[str, Array],
    level: float,
) -> Mapping[str, CostEstimate]:
    """How much more it costs to act on gains of at least 0 than from the chosen value on, where that is clear."""
    if decision.condition.rule != "expected_gain":
        return {}
    found = {}
    for name in _names(decision.choices):
        plain = np.where(_ranks(models, name, "casewise", pairs) >= 0, cases.act, cases.wait)
        found[name] = cases.difference(plain, losses[name], level)
    return {name: one for name, one in found.items() if one.low > 0}


def _names(choices: Sequence[CaseCostChoice]) -> list[str]:
    return [choice.model for choice in choices]
