"""The best threshold and model under a constraint: recall at least 0.9, then precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scorespace.decisions.honest import Criterion, Crossfit, Models, crossfit, least
from scorespace.decisions.judged import OUTCOMES, UNJUDGED, UNKNOWN, Judged, Value, check_judged, placed, value_of
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import estimates
from scorespace.results import CERTIFIED, Note, Result, Row, decimals, grouped, limits, note, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable, Top
from scorespace.tables.pair import PairTable


@dataclass(frozen=True)
class Constraint:
    """A bound that a measure of decisions must keep: at least, or at most."""

    spec: MeasureSpec
    bound: float
    least: bool = True

    def shortfall(self, counts: Counts) -> Array:
        """By how much the bound is missed: 0 where it is kept, infinite where the measure is undefined."""
        values = self.spec.along(counts)
        missed = self.bound - values if self.least else values - self.bound
        # A bound typed with few decimals must not fail by rounding: 0.9 is kept by 27/30.
        missed = np.where(missed <= 1e-12, 0.0, missed)
        return np.where(np.isnan(values), np.inf, missed)

    def __str__(self) -> str:
        return f"{self.spec} {'≥' if self.least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Candidate:
    """A model at the threshold that serves it best, and whether the constraints are kept there.

    `value`, `kept`, `reached` and `counts` are on the cases that chose the threshold; `honest` and `held`, the
    objective and the bounded measures, on cases that did not. By rank, `lots` are the places that are left for the
    cases with the score at the cut, and how many cases those are. `certified`, of coarse scores: no threshold that may
    keep the bounds has an objective beyond these, whatever the order inside the bins.
    """

    model: str
    threshold: float
    value: float
    kept: bool
    reached: tuple[float, ...]
    counts: Counts
    judged: Judged = UNJUDGED
    honest: Value = UNKNOWN
    held: tuple[Value, ...] = ()
    lots: tuple[float, float] = (0.0, 0.0)
    certified: tuple[float, float] | None = None

    def row(self) -> Row:
        found = {"model": self.model, "threshold": self.threshold, "value": self.value, "kept": self.kept}
        certain = {} if self.certified is None else dict(zip(CERTIFIED, self.certified, strict=True))
        return plain({**found, **{name: float(getattr(self.counts, name)) for name in OUTCOMES}, **certain})


@dataclass(frozen=True, repr=False)
class ConstrainedChoice(Result):
    """The model and threshold that are best among those that keep the constraints.

    `honest` and `held` are of the whole procedure, which takes the best model too, on cases that did not choose;
    `fitted` names the sample that chose, where it is another.
    """

    objective: MeasureSpec
    constraints: tuple[Constraint, ...]
    candidates: tuple[Candidate, ...]
    honest: Value = UNKNOWN
    held: tuple[Value, ...] = ()
    fitted: str | None = None

    @property
    def best(self) -> Candidate | None:
        """The best candidate that keeps all constraints, or None when there is none."""
        kept = [one for one in self.candidates if one.kept and not math.isnan(one.value)]
        return max(kept, key=lambda one: self._sign * one.value) if kept else None

    @property
    def nearest(self) -> Candidate:
        """The candidate that misses the constraints by least."""
        return min(self.candidates, key=lambda one: self._missed(one))

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self._chosen_here, *self._left_open)

    @property
    def _left_open(self) -> tuple[Note, ...]:
        """What another threshold might reach, where scores were counted in bins."""
        one = self.best or self.nearest
        if one.certified is None:
            return ()
        text = f"scores were counted in bins: what is told of the threshold of {one.model} is exact"
        beyond = one.certified[1] if self._sign > 0 else one.certified[0]
        under = " that keeps the bounds" if self.constraints else ""
        if math.isnan(beyond):
            rest = f"what others reach is not known, as {self.objective} or a bound moves both ways inside a bin"
        elif one.kept and beyond == one.value:
            rest = f"no other{under} is better"
        elif one.kept:
            side = "above" if self._sign > 0 else "below"
            more = f"{one.value:.6g} by more than {abs(beyond - one.value):.1g}"
            rest = f"no other{under} has {self.objective} {side} {more}"
        else:
            rest = "one between those told might keep the bounds"
        return (note("SS008", f"{text}, and {rest}."),)

    @property
    def _chosen_here(self) -> tuple[Note, ...]:
        best = self.best
        if best is None or math.isnan(best.threshold) or self.fitted is not None or self.objective.at is not None:
            return ()
        text = f"the threshold of {best.model} was chosen on these cases, so values at it are apparent"
        if math.isnan(self.honest.value):
            return (note("SS013", f"{text}; those on other cases are unknown, as {self.honest.reason}."),)
        return (note("SS013", f"{text}: {best.honest.named(str(self.objective), best.value, None)}."),)

    @property
    def words(self) -> str:
        """What to use, or plainly that nothing satisfies the constraints, with the nearest."""
        bounds = " and ".join(map(str, self.constraints))
        best = self.best
        if best is None and any(one.kept for one in self.candidates):
            return f"{self.objective} is undefined at every threshold{f' with {bounds}' if bounds else ''}."
        if best is None:
            near = self.nearest
            reached = ", ".join(
                f"{one.spec} {decimals(value)}" for one, value in zip(self.constraints, near.reached, strict=True)
            )
            what = "threshold of any model" if self.objective.at is None else "model"
            return f"No {what} satisfies {bounds}. The nearest is {placed(near.model, near.threshold)}, with {reached}."
        return " ".join(filter(None, [self._use(best), self._kept_elsewhere(best), self._failed()]))

    def _use(self, best: Candidate) -> str:
        where = placed(best.model, best.threshold, self.fitted)
        under = f" among those with {' and '.join(map(str, self.constraints))}" if self.constraints else ""
        others = [one for one in self.candidates if one.kept and one is not best and not math.isnan(one.value)]
        others.sort(key=lambda one: -self._sign * one.value)
        rest = ""
        if others:
            rest = f"; {others[0].model} reaches {decimals(_leading(others[0].honest, others[0].value))}"
        places, tied = best.lots
        some = f" Lots are drawn for {places:g} of the {grouped(tied)} cases with that score." if places < tied else ""
        own, name = best.honest, str(self.objective)
        told = f"{name} {decimals(best.value) if math.isnan(own.value) else _limits(own)}"
        if self._chosen(best):
            told = f"apparent {told}" if math.isnan(own.value) else own.named(name, best.value, self.fitted)
        chosen = ""
        if self.fitted is None and own != self.honest and not math.isnan(self.honest.value):
            chosen = f" With the model chosen too, cross-fitted {name} {_limits(self.honest)}."
        return f"Use {where}: {told}, the best{under}{rest}.{some}{chosen}"

    def _chosen(self, best: Candidate) -> bool:
        """Whether the cases had a part in choosing a threshold."""
        return self.objective.at is None and not math.isnan(best.threshold)

    def _kept_elsewhere(self, best: Candidate) -> str:
        """Whether the bounds are kept on cases that did not choose the threshold."""
        if not self.constraints or not any(one.known for one in best.held) or not self._chosen(best):
            return ""
        kept = zip(self.constraints, best.held, best.reached, strict=True)
        told = [its.named(str(one.spec), value, self.fitted) for one, its, value in kept]
        return f"The bound: {', '.join(told)}." if len(told) == 1 else f"The bounds: {', '.join(told)}."

    def _failed(self) -> str:
        failed = [one.model for one in self.candidates if not one.kept]
        bounds = " and ".join(map(str, self.constraints))
        if self.objective.at is not None:
            return f"{', '.join(failed)}: not {bounds}." if failed else ""
        return f"No threshold of {', '.join(failed)} satisfies {bounds}." if failed else ""

    def rows(self) -> list[Row]:
        """One row per model, with the values that the constraints are about under their names."""
        bounds = [one.spec.canonical for one in self.constraints]
        return [
            one.row()
            | plain(dict(zip(bounds, one.reached, strict=True)))
            | one.honest.row("honest", "honest_value")
            | plain({f"honest_{name}": its.value for name, its in zip(bounds, one.held, strict=False)})
            for one in self.candidates
        ]

    def facts(self) -> Row:
        chosen = (self.best or self.nearest).row()
        if self.best is None:
            chosen = dict.fromkeys(chosen)
        return {
            **{name: chosen[name] for name in ("model", "threshold", *OUTCOMES)},
            **(self.honest if self.best is not None else UNKNOWN).row("honest", "honest_value"),
            "reason": self.honest.reason,
            "fitted": self.fitted,
            "slope": None,
            "cost_per_case": None,
            "dominated": [],
            "regions": [],
        }

    @property
    def _sign(self) -> int:
        return 1 if self.objective.measure.best == "high" else -1

    def _missed(self, candidate: Candidate) -> float:
        return max((float(one.shortfall(candidate.counts)) for one in self.constraints), default=0.0)


def choose_under(
    models: Models,
    objective: MeasureSpec,
    constraints: Sequence[Constraint] = (),
    *,
    pairs: PairTable | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ConstrainedChoice:
    """For each model the threshold that is best for the objective among those that keep the constraints.

    Where none does, the threshold that misses them by least. What is reached on cases that did not choose stands
    beside it.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 1, 0] * 90, [0.9, 0.6, 0.4, 0.1] * 90)
    >>> choose_under({"nb": t}, parse("ppv"), [Constraint(parse("tpr"), 0.9)]).best.threshold
    0.4
    """
    for spec in (objective, *(one.spec for one in constraints)):
        placed = spec.at is not None and not isinstance(spec.at, Top)
        if spec.measure.table is not Counts or placed or spec.of is not None:
            raise MeasureError(
                f"{spec} cannot be chosen by threshold.", hint="a measure of decisions, such as tpr or ppv"
            )
    if objective.measure.best is None:
        raise MeasureError(
            f"{objective} has no best value: neither direction is better.",
            hint='a measure with a best end, such as maximise="ppv"',
        )
    ranked = {one.spec.at for one in constraints} | {objective.at}
    if ranked - {None}:
        return _ranked(models, objective, tuple(constraints), ranked, level, seed)
    best = best_value(objective, tuple(constraints))
    found = tuple(_candidate(name, table, objective, tuple(constraints)) for name, table in models.items())
    choice = ConstrainedChoice(objective, tuple(constraints), found)
    stated = any(spec.prevalence is not None for spec in (objective, *(one.spec for one in constraints)))
    return _judged(choice, crossfit(models, best, pairs=pairs, within_classes=stated, seed=seed), level)


def _ranked(
    models: Models,
    objective: MeasureSpec,
    constraints: tuple[Constraint, ...],
    points: set[Any],
    level: float,
    seed: int,
) -> ConstrainedChoice:
    """The choice of a model at an operating point by rank: the truth has no part in where the cut falls."""
    stated = {one for one in points if one is not None}
    if len(stated) > 1 or (constraints and points != stated) or objective.at is None:
        raise MeasureError(
            "the measure and its bounds are of different cases.",
            seen=", ".join(str(spec) for spec in (objective, *(one.spec for one in constraints))),
            hint=f"{replace(objective, at=min(stated, key=str))}, and bounds at the same place",
        )
    top: Top = stated.pop()

    def candidate(name: str, table: ScoreTable | ConfusionTable) -> Candidate:
        if not table.thresholded:
            raise MeasureError(
                f"{objective} ranks cases, and {name} gives decisions.", hint="scores, or a measure without @top"
            )
        specs = [objective, *(one.spec for one in constraints)]
        found = estimates({name: specs}, Draws({name: table}, seed=seed), level=level)
        scores = table.inside(ScoreTable)
        counts = scores.inside(Counts, None, top)
        honest, *held = (Value(one.value, one.low, one.high, one.reason) for one in found)
        kept = all(float(one.shortfall(counts)) == 0 for one in constraints)
        reached, cut = tuple(one.value for one in held), scores.threshold(scores.cut(top))
        above, down = (float(scores.at(at).pp) for at in (np.nextafter(cut, np.inf), cut))
        lots = (float(top.of(scores.total)) - above, down - above)
        return Candidate(name, cut, honest.value, kept, reached, counts, UNJUDGED, honest, tuple(held), lots)

    choice = ConstrainedChoice(objective, constraints, tuple(candidate(name, table) for name, table in models.items()))
    best = choice.best or choice.nearest
    return replace(choice, honest=best.honest, held=best.held)


def choose_on(choice: ConstrainedChoice, models: Models, *, fitted: str, level: float = 0.95) -> ConstrainedChoice:
    """A choice made on one sample, which `fitted` names, judged on another: by the plain outcomes there."""
    check_judged((one.model for one in choice.candidates), models)
    here = {
        one.model: Judged(models[one.model].inside(ScoreTable).at(0.5 if math.isnan(one.threshold) else one.threshold))
        for one in choice.candidates
    }
    best = choice.best or choice.nearest
    return replace(_judged(choice, Crossfit(here, here[best.model]), level), fitted=fitted)


def best_value(objective: MeasureSpec, constraints: tuple[Constraint, ...] = ()) -> Criterion:
    """The value of a measure under constraints, as what decides between thresholds."""
    sign = -1.0 if objective.measure.best == "high" else 1.0

    def price(counts: Counts) -> tuple[Array, Array]:
        values = objective.along(counts)
        missed = [one.shortfall(counts) for one in constraints]
        return np.max(missed, axis=0) if missed else np.zeros_like(values), sign * values

    return price


def _judged(choice: ConstrainedChoice, found: Crossfit, level: float) -> ConstrainedChoice:
    """The choice with its numbers on cases that did not choose it."""

    def values(by: Judged) -> tuple[Value, tuple[Value, ...]]:
        return by.measure(choice.objective, level), tuple(by.measure(one.spec, level) for one in choice.constraints)

    def judged(candidate: Candidate) -> Candidate:
        honest, held = values(found.models[candidate.model])
        return replace(candidate, judged=found.models[candidate.model], honest=honest, held=held)

    honest, held = values(found.chosen)
    return replace(choice, candidates=tuple(map(judged, choice.candidates)), honest=honest, held=held)


def _candidate(
    name: str, table: ScoreTable | ConfusionTable, objective: MeasureSpec, constraints: tuple[Constraint, ...]
) -> Candidate:
    crisp = not table.thresholded
    scores = table.inside(ScoreTable)
    counts = scores.sweep[1:2] if crisp else scores.sweep
    missed, price = best_value(objective, constraints)(counts)
    place = int(least(missed, price))
    chosen = counts[place]
    reached = tuple(value_of(one.spec, chosen) for one in constraints)
    kept, value = bool(missed.min() == 0), value_of(objective, chosen)
    ends = _ends(scores, objective, constraints, value if kept else math.nan) if scores.coarse and not crisp else None
    at = math.nan if crisp else scores.threshold(float(scores.thresholds[place]))
    return Candidate(name, at, value, kept, reached, chosen, certified=ends)


def _ends(
    table: ScoreTable, objective: MeasureSpec, constraints: tuple[Constraint, ...], value: float
) -> tuple[float, float] | None:
    """The value that is reached, and what no threshold inside a bin goes beyond; None where none of them keeps a bound.

    What moves one way with TP and with FP has its extremes at those of the outcomes.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51)
    >>> _ends(table, parse("ppv"), (Constraint(parse("tpr"), 0.9),), 2 / 3)
    (0.6666666666666666, 1.0)
    """
    unknown = (math.nan, math.nan)
    if not all(spec.measure.monotone for spec in (objective, *(one.spec for one in constraints))):
        return unknown
    corners, loose = table.corners, table.bins is not None and table.bins.loose
    able = np.ones(table.score.size, dtype=bool) & loose
    for one in constraints:
        able &= one.shortfall(corners).min(axis=0) == 0
    _, prices = best_value(objective)(corners)
    found = -prices if objective.measure.best == "high" else prices
    reached = np.append(found[:, able].ravel(), value)
    reached = reached[~np.isnan(reached)]
    if not reached.size:
        return None
    best = float(reached.max() if objective.measure.best == "high" else reached.min())
    known = best if math.isnan(value) else value
    return min(known, best), max(known, best)


def _leading(honest: Value, apparent: float) -> float:
    return apparent if math.isnan(honest.value) else honest.value


def _limits(value: Value) -> str:
    return limits(value.value, value.low, value.high)
