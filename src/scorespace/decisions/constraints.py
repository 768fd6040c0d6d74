"""Best threshold and model under constraints, such as the highest precision with recall at least 0.9."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorespace.decisions.cross_fitting import Criterion, CrossFit, Models, argmin_price, crossfit
from scorespace.decisions.out_of_sample import (
    NO_OUTCOMES,
    OUTCOMES,
    UNKNOWN_COST,
    CostEstimate,
    FormerlyHonest,
    OutOfSampleCounts,
    check_models,
    model_at_threshold,
    value_of,
)
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimates
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import (
    CERTIFIED,
    Note,
    Result,
    Row,
    decimals,
    format_interval,
    grouped,
    note,
    round_count,
    to_json_types,
)
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, TopCases
from scorespace.tables.paired import PairTable


@dataclass(frozen=True)
class Constraint:
    """A bound on a measure of decisions: at least, or at most."""

    spec: MeasureSpec
    bound: float
    least: bool = True

    def shortfall(self, counts: Counts) -> Array:
        """Violation of the bound: 0 where it is met, infinite where the measure is undefined."""
        values = self.spec.along(counts)
        violation = self.bound - values if self.least else values - self.bound
        # Rounding must not violate a bound typed with few decimals: 27/30 meets 0.9.
        violation = np.where(violation <= 1e-12, 0.0, violation)
        return np.where(np.isnan(values), np.inf, violation)

    def __str__(self) -> str:
        return f"{self.spec} {'≥' if self.least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class ConstrainedModel(FormerlyHonest):
    """A model at its best threshold, and whether the constraints are met there.

    `value`, `kept`, `reached` and `counts` are apparent; `out_of_sample` and `held` are the out-of-sample objective and
    constrained measures. For an operating point by rank, `random_selection` are the predicted positives still to be
    chosen among the cases tied at the threshold, and the number of these cases. `certified` bounds the objective at any
    threshold within the bins that may meet the constraints, for binned scores.
    """

    model: str
    threshold: float
    value: float
    kept: bool
    reached: tuple[float, ...]
    counts: Counts
    out_of_sample_counts: OutOfSampleCounts = NO_OUTCOMES
    out_of_sample: CostEstimate = UNKNOWN_COST
    held: tuple[CostEstimate, ...] = ()
    random_selection: tuple[float, float] = (0.0, 0.0)
    certified: tuple[float, float] | None = None

    def row(self) -> Row:
        values = {"model": self.model, "threshold": self.threshold, "value": self.value, "kept": self.kept}
        certified = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return to_json_types(
            {**values, **{name: round_count(float(getattr(self.counts, name))) for name in OUTCOMES}, **certified}
        )


@dataclass(frozen=True, repr=False)
class ConstrainedChoice(FormerlyHonest, Result):
    """The best model and threshold among those that meet the constraints.

    `out_of_sample` and `held` are out-of-sample results of the whole procedure, which also chooses the model; `fitted`
    names the sample used for the choice, if it is another one.
    """

    objective: MeasureSpec
    constraints: tuple[Constraint, ...]
    candidates: tuple[ConstrainedModel, ...]
    out_of_sample: CostEstimate = UNKNOWN_COST
    held: tuple[CostEstimate, ...] = ()
    fitted: str | None = None

    @property
    def best(self) -> ConstrainedModel | None:
        """The best candidate that meets all constraints, or None."""
        feasible = [candidate for candidate in self.candidates if candidate.kept and not math.isnan(candidate.value)]
        return max(feasible, key=lambda candidate: self._sign * candidate.value) if feasible else None

    @property
    def nearest(self) -> ConstrainedModel:
        """The candidate with the smallest violation."""
        return min(self.candidates, key=lambda candidate: self._violation(candidate))

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self._apparent_notes, *self._binning_notes)

    @property
    def _binning_notes(self) -> tuple[Note, ...]:
        """Note on what other thresholds might reach, for binned scores."""
        candidate = self.best or self.nearest
        if candidate.certified is None:
            return ()
        text = f"scores were binned: values at the threshold of {candidate.model} are exact"
        best_possible = candidate.certified[1] if self._sign > 0 else candidate.certified[0]
        condition = " that meets the constraints" if self.constraints else ""
        if math.isnan(best_possible):
            others = f"other thresholds are unknown, as {self.objective} or a constraint is not monotone within a bin"
        elif candidate.kept and best_possible == candidate.value:
            others = f"no other{condition} is better"
        elif candidate.kept:
            side = "above" if self._sign > 0 else "below"
            limit = f"{candidate.value:.6g} by more than {abs(best_possible - candidate.value):.1g}"
            others = f"no other{condition} has {self.objective} {side} {limit}"
        else:
            others = "another one within a bin might meet the constraints"
        return (note("SS008", f"{text}, and {others}."),)

    @property
    def _apparent_notes(self) -> tuple[Note, ...]:
        best = self.best
        if best is None or math.isnan(best.threshold) or self.fitted is not None or self.objective.at is not None:
            return ()
        text = f"the threshold of {best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.out_of_sample.value):
            return (note("SS013", f"{text}; out-of-sample values are unknown: {self.out_of_sample.reason}."),)
        return (note("SS013", f"{text}: {best.out_of_sample.named(str(self.objective), best.value, None)}."),)

    @property
    def words(self) -> str:
        """The recommendation, or that nothing meets the constraints, with the nearest candidate."""
        bounds = " and ".join(map(str, self.constraints))
        best = self.best
        if best is None and any(constraint.kept for constraint in self.candidates):
            return f"{self.objective} is undefined at every threshold{f' with {bounds}' if bounds else ''}."
        if best is None:
            nearest = self.nearest
            reached = ", ".join(
                f"{constraint.spec} {decimals(value)}"
                for constraint, value in zip(self.constraints, nearest.reached, strict=True)
            )
            what = "threshold of any model" if self.objective.at is None else "model"
            closest = model_at_threshold(nearest.model, nearest.threshold)
            return f"No {what} satisfies {bounds}. The nearest is {closest}, with {reached}."
        return " ".join(
            filter(None, [self._recommendation(best), self._constraint_text(best), self._infeasible_text()])
        )

    def _recommendation(self, best: ConstrainedModel) -> str:
        where = model_at_threshold(best.model, best.threshold, self.fitted)
        condition = f" among those with {' and '.join(map(str, self.constraints))}" if self.constraints else ""
        others = [
            candidate
            for candidate in self.candidates
            if candidate.kept and candidate is not best and not math.isnan(candidate.value)
        ]
        others.sort(key=lambda candidate: -self._sign * candidate.value)
        runner_up = ""
        if others:
            reached = _out_of_sample_or_apparent(others[0].out_of_sample, others[0].value)
            runner_up = f"; {others[0].model} reaches {decimals(reached)}"
        n_random, tied = best.random_selection
        ties = (
            f" Of the {grouped(tied)} cases with that score, {n_random:g} are predicted positive at random."
            if n_random < tied
            else ""
        )
        estimate, name = best.out_of_sample, str(self.objective)
        value = f"{name} {decimals(best.value) if math.isnan(estimate.value) else _limits_text(estimate)}"
        if self._is_threshold_chosen(best):
            value = f"apparent {value}" if math.isnan(estimate.value) else estimate.named(name, best.value, self.fitted)
        procedure = ""
        if self.fitted is None and estimate != self.out_of_sample and not math.isnan(self.out_of_sample.value):
            procedure = f" With the model chosen too, cross-fitted {name} {_limits_text(self.out_of_sample)}."
        return f"Use {where}: {value}, the best{condition}{runner_up}.{ties}{procedure}"

    def _is_threshold_chosen(self, best: ConstrainedModel) -> bool:
        """Whether a threshold was chosen on the cases."""
        return self.objective.at is None and not math.isnan(best.threshold)

    def _constraint_text(self, best: ConstrainedModel) -> str:
        """Out-of-sample values of the constrained measures."""
        if (
            not self.constraints
            or not any(constraint.known for constraint in best.held)
            or not self._is_threshold_chosen(best)
        ):
            return ""
        bounds = zip(self.constraints, best.held, best.reached, strict=True)
        texts = [estimate.named(str(constraint.spec), value, self.fitted) for constraint, estimate, value in bounds]
        return f"The bound: {', '.join(texts)}." if len(texts) == 1 else f"The bounds: {', '.join(texts)}."

    def _infeasible_text(self) -> str:
        failed = [candidate.model for candidate in self.candidates if not candidate.kept]
        bounds = " and ".join(map(str, self.constraints))
        if self.objective.at is not None:
            return f"{', '.join(failed)}: not {bounds}." if failed else ""
        return f"No threshold of {', '.join(failed)} satisfies {bounds}." if failed else ""

    def rows(self) -> list[Row]:
        """Return one row per model, with the values of the constrained measures by name."""
        bounds = [candidate.spec.canonical for candidate in self.constraints]
        return [
            candidate.row()
            | to_json_types(dict(zip(bounds, candidate.reached, strict=True)))
            | candidate.out_of_sample.named_row("value")
            | to_json_types(
                {
                    f"{prefix}_{name}": estimate.value
                    for prefix in ("cross_fitted", "honest")  # the name of version 0.1
                    for name, estimate in zip(bounds, candidate.held, strict=False)
                }
            )
            for candidate in self.candidates
        ]

    def facts(self) -> Row:
        chosen = (self.best or self.nearest).row()
        if self.best is None:
            chosen = dict.fromkeys(chosen)
        return {
            **{name: chosen[name] for name in ("model", "threshold", *OUTCOMES)},
            **(self.out_of_sample if self.best is not None else UNKNOWN_COST).named_row("value"),
            "reason": self.out_of_sample.reason,
            "fitted": self.fitted,
            "slope": None,
            "cost_per_case": None,
            "dominated": [],
            "regions": [],
        }

    @property
    def _sign(self) -> int:
        return 1 if self.objective.best == "high" else -1

    def _violation(self, candidate: ConstrainedModel) -> float:
        return max((float(constraint.shortfall(candidate.counts)) for constraint in self.constraints), default=0.0)


def choose_under(
    models: Models,
    objective: MeasureSpec,
    constraints: Sequence[Constraint] = (),
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ConstrainedChoice:
    """Choose, for each model, the best threshold for the objective among those that meet the constraints.

    Where none does, the threshold with the smallest violation. Cross-fitted values are added.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 1, 0] * 90, [0.9, 0.6, 0.4, 0.1] * 90)
    >>> choose_under({"nb": t}, parse("ppv"), [Constraint(parse("tpr"), 0.9)]).best.threshold
    0.4
    """
    for spec in (objective, *(constraint.spec for constraint in constraints)):
        has_threshold = spec.at is not None and not isinstance(spec.at, TopCases)
        if spec.measure.table is not Counts or has_threshold or spec.of is not None:
            raise MeasureError(
                f"{spec} cannot be chosen by threshold.", hint="a measure of decisions, such as tpr or ppv"
            )
    if objective.best is None:
        raise MeasureError(
            f"{objective} has no best value: neither direction is better.",
            hint='a measure with a best end, such as maximise="ppv"',
        )
    points = {constraint.spec.at for constraint in constraints} | {objective.at}
    if points - {None}:
        return _choose_by_rank(models, objective, tuple(constraints), points, pairs, level, seed)
    best = best_value(objective, tuple(constraints))
    candidates = tuple(_candidate(name, table, objective, tuple(constraints)) for name, table in models.items())
    choice = ConstrainedChoice(objective, tuple(constraints), candidates)
    stated = any(spec.prevalence is not None for spec in (objective, *(constraint.spec for constraint in constraints)))
    return _add_out_of_sample(choice, crossfit(models, best, pairs=pairs, stratified=stated, seed=seed), level)


def _choose_by_rank(
    models: Models,
    objective: MeasureSpec,
    constraints: tuple[Constraint, ...],
    points: set[Any],
    pairs: PairTable | None,
    level: float,
    seed: int,
) -> ConstrainedChoice:
    """Choose a model at an operating point by rank, where the threshold does not depend on the truth."""
    stated = {item for item in points if item is not None}
    if len(stated) > 1 or (constraints and points != stated) or objective.at is None:
        raise MeasureError(
            "the measure and its constraints have different operating points.",
            seen=", ".join(str(spec) for spec in (objective, *(item.spec for item in constraints))),
            hint=f"{replace(objective, at=min(stated, key=str))}, and constraints at the same operating point",
        )
    top: TopCases = stated.pop()

    def candidate(name: str, table: ScoreTable | ConfusionTable) -> ConstrainedModel:
        if not table.thresholded:
            raise MeasureError(
                f"{objective} needs a ranking, and {name} has hard decisions.", hint="scores, or a measure without @top"
            )
        specs = [objective, *(item.spec for item in constraints)]
        cases = pairs if pairs is not None and name in pairs.models else None  # whole groups are resampled
        results = estimates({name: specs}, BootstrapDraws({name: table}, cases, seed=seed), level=level)
        scores = table.inside(ScoreTable)
        # With a stated prevalence, the highest scores are those of the cases in use.
        share = next((spec.prevalence for spec in specs if spec.prevalence is not None), None)
        in_use = scores if share is None else scores.at_prevalence(share)
        counts = in_use.inside(Counts, None, top)
        out_of_sample, *bounds = (CostEstimate(item.value, item.low, item.high, item.reason) for item in results)
        is_feasible = all(float(item.shortfall(counts)) == 0 for item in constraints)
        reached, cut = tuple(item.value for item in bounds), scores.threshold(in_use.cut(top))
        above, tied = (float(in_use.at(at).pp) for at in (np.nextafter(cut, np.inf), cut))
        lots = (float(top.of(in_use.total)) - above, tied - above)
        if share is not None:
            positive, negative = (float(getattr(scores, side) / getattr(in_use, side)) for side in ("n_pos", "n_neg"))
            counts = Counts(counts.tp * positive, counts.fp * negative, counts.fn * positive, counts.tn * negative)
            tied_cases = float(scores.at(cut).pp - scores.at(np.nextafter(cut, np.inf)).pp)
            lots = (lots[0] / lots[1] * tied_cases, tied_cases)
        return ConstrainedModel(
            name,
            cut,
            out_of_sample.value,
            is_feasible,
            reached,
            counts,
            NO_OUTCOMES,
            out_of_sample,
            tuple(bounds),
            lots,
        )

    choice = ConstrainedChoice(objective, constraints, tuple(candidate(name, table) for name, table in models.items()))
    best = choice.best or choice.nearest
    return replace(choice, out_of_sample=best.out_of_sample, held=best.held)


def evaluate_choice_on(
    choice: ConstrainedChoice, models: Models, *, fitted: str, level: float = 0.95
) -> ConstrainedChoice:
    """Evaluate a choice on another sample than the one it was made on, which `fitted` names."""
    check_models((candidate.model for candidate in choice.candidates), models)
    counts = {
        candidate.model: OutOfSampleCounts(
            models[candidate.model]
            .inside(ScoreTable)
            .at(0.5 if math.isnan(candidate.threshold) else candidate.threshold)
        )
        for candidate in choice.candidates
    }
    best = choice.best or choice.nearest
    return replace(_add_out_of_sample(choice, CrossFit(counts, counts[best.model]), level), fitted=fitted)


def best_value(objective: MeasureSpec, constraints: tuple[Constraint, ...] = ()) -> Criterion:
    """Return the criterion "measure under constraints" for choosing thresholds."""
    sign = -1.0 if objective.best == "high" else 1.0

    def price(counts: Counts) -> tuple[Array, Array]:
        values = objective.along(counts)
        violations = [constraint.shortfall(counts) for constraint in constraints]
        return np.max(violations, axis=0) if violations else np.zeros_like(values), sign * values

    return price


def _add_out_of_sample(choice: ConstrainedChoice, crossfit_result: CrossFit, level: float) -> ConstrainedChoice:
    """Add the out-of-sample results to a choice."""

    def measures(counts: OutOfSampleCounts) -> tuple[CostEstimate, tuple[CostEstimate, ...]]:
        return counts.measure(choice.objective, level), tuple(
            counts.measure(constraint.spec, level) for constraint in choice.constraints
        )

    def evaluate(candidate: ConstrainedModel) -> ConstrainedModel:
        out_of_sample, bounds = measures(crossfit_result.models[candidate.model])
        return replace(
            candidate,
            out_of_sample_counts=crossfit_result.models[candidate.model],
            out_of_sample=out_of_sample,
            held=bounds,
        )

    out_of_sample, bounds = measures(crossfit_result.chosen)
    return replace(choice, candidates=tuple(map(evaluate, choice.candidates)), out_of_sample=out_of_sample, held=bounds)


def _candidate(
    name: str, table: ScoreTable | ConfusionTable, objective: MeasureSpec, constraints: tuple[Constraint, ...]
) -> ConstrainedModel:
    is_hard = not table.thresholded
    scores = table.inside(ScoreTable)
    counts = scores.sweep[1:2] if is_hard else scores.sweep
    violation, price = best_value(objective, constraints)(counts)
    index = int(argmin_price(violation, price))
    chosen = counts[index]
    reached = tuple(value_of(constraint.spec, chosen) for constraint in constraints)
    is_feasible, value = bool(violation.min() == 0), value_of(objective, chosen)
    bounds = (
        _certified_bounds(scores, objective, constraints, value if is_feasible else math.nan)
        if scores.coarse and not is_hard
        else None
    )
    threshold = math.nan if is_hard else scores.threshold(float(scores.thresholds[index]))
    return ConstrainedModel(name, threshold, value, is_feasible, reached, chosen, certified=bounds)


def _certified_bounds(
    table: ScoreTable, objective: MeasureSpec, constraints: tuple[Constraint, ...], value: float
) -> tuple[float, float] | None:
    """Return the reached value and the best possible one within bins; None where no threshold can meet a constraint.

    A measure that is monotone in TP and in FP has its extremes at the corners of the bins.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51)
    >>> _certified_bounds(table, parse("ppv"), (Constraint(parse("tpr"), 0.9),), 2 / 3)
    (0.6666666666666666, 1.0)
    """
    unknown = (math.nan, math.nan)
    if not all(spec.measure.monotone for spec in (objective, *(constraint.spec for constraint in constraints))):
        return unknown
    corners, is_open = table.corners, table.bins is not None and table.bins.is_mixed
    is_possible = np.ones(table.score.size, dtype=bool) & is_open
    for constraint in constraints:
        is_possible &= constraint.shortfall(corners).min(axis=0) == 0
    _, prices = best_value(objective)(corners)
    values = -prices if objective.best == "high" else prices
    reached = np.append(values[:, is_possible].ravel(), value)
    reached = reached[~np.isnan(reached)]
    if not reached.size:
        return None
    best = float(reached.max() if objective.best == "high" else reached.min())
    reached_value = best if math.isnan(value) else value
    return min(reached_value, best), max(reached_value, best)


def _out_of_sample_or_apparent(out_of_sample: CostEstimate, apparent: float) -> float:
    return apparent if math.isnan(out_of_sample.value) else out_of_sample.value


def _limits_text(value: CostEstimate) -> str:
    return format_interval(value.value, value.low, value.high)
