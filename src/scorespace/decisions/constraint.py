"""The best threshold and model under a constraint: recall at least 0.9, then precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorespace.decisions.model import Models
from scorespace.errors import MeasureError
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import SCHEMA, Note, Row, decimals, note, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable


@dataclass(frozen=True)
class Constraint:
    """A bound that a measure of decisions must keep: at least, or at most."""

    spec: MeasureSpec
    bound: float
    least: bool = True

    def shortfall(self, counts: Counts) -> Array:
        """By how much the bound is missed: 0 where it is kept, infinite where the measure is undefined."""
        values = np.asarray(self.spec.measure(counts, **dict(self.spec.options)), dtype=np.float64)
        missed = self.bound - values if self.least else values - self.bound
        # A bound typed with few decimals must not fail by rounding: 0.9 is kept by 27/30.
        missed = np.where(missed <= 1e-12, 0.0, missed)
        return np.where(np.isnan(values), np.inf, missed)

    def __str__(self) -> str:
        return f"{self.spec} {'≥' if self.least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Candidate:
    """A model at the threshold that serves it best, and whether the constraints are kept there."""

    model: str
    threshold: float
    value: float
    kept: bool
    reached: tuple[float, ...]
    counts: Counts

    def row(self) -> Row:
        outcomes = {name: float(getattr(self.counts, name)) for name in ("tp", "fp", "fn", "tn")}
        found = {"model": self.model, "threshold": self.threshold, "value": self.value, "kept": self.kept}
        return plain({**found, **outcomes})


@dataclass(frozen=True)
class ConstrainedChoice:
    """The model and threshold that are best among those that keep the constraints."""

    objective: MeasureSpec
    constraints: tuple[Constraint, ...]
    candidates: tuple[Candidate, ...]

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
        best = self.best
        if best is None or math.isnan(best.threshold):
            return ()
        return (
            note(
                "SS013", f"the threshold of {best.model} was chosen on these cases: expect a little less on new ones."
            ),
        )

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
            where = "" if math.isnan(near.threshold) else f" at threshold {near.threshold:.3g}"
            return f"No threshold of any model satisfies {bounds}. The nearest is {near.model}{where}, with {reached}."
        where = "" if math.isnan(best.threshold) else f" at threshold {best.threshold:.3g}"
        under = f" among those with {bounds}" if bounds else ""
        others = [one for one in self.candidates if one.kept and one is not best and not math.isnan(one.value)]
        others.sort(key=lambda one: -self._sign * one.value)
        rest = f"; {others[0].model} reaches {decimals(others[0].value)}" if others else ""
        failed = [one.model for one in self.candidates if not one.kept]
        never = f" No threshold of {', '.join(failed)} satisfies {bounds}." if failed else ""
        return f"Use {best.model}{where}: {self.objective} {decimals(best.value)}, the best{under}{rest}.{never}"

    def rows(self) -> list[Row]:
        """One row per model, with the values that the constraints are about under their names."""
        bounds = [str(one.spec) for one in self.constraints]
        return [one.row() | plain(dict(zip(bounds, one.reached, strict=True))) for one in self.candidates]

    def to_dict(self) -> Row:
        chosen = (self.best or self.nearest).row()
        if self.best is None:
            chosen = dict.fromkeys(chosen)
        return {
            "schema": SCHEMA,
            **{name: chosen[name] for name in ("model", "threshold", "tp", "fp", "fn", "tn")},
            "slope": None,
            "cost_per_case": None,
            "dominated": [],
            "regions": [],
            "rows": self.rows(),
            "verdict": self.words,
            "notes": [one.to_dict() for one in self.notes],
        }

    @property
    def _sign(self) -> int:
        return 1 if self.objective.measure.best == "high" else -1

    def _missed(self, candidate: Candidate) -> float:
        return max((float(one.shortfall(candidate.counts)) for one in self.constraints), default=0.0)

    def __repr__(self) -> str:
        return self.words


def choose_under(models: Models, objective: MeasureSpec, constraints: Sequence[Constraint] = ()) -> ConstrainedChoice:
    """For each model the threshold that is best for the objective among those that keep the constraints.

    Where none does, the threshold that misses them by least.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    >>> choose_under({"nb": t}, parse("ppv"), [Constraint(parse("tpr"), 0.9)])
    Use nb at threshold 0.4: ppv 0.667, the best among those with tpr ≥ 0.9.
    """
    for spec in (objective, *(one.spec for one in constraints)):
        if spec.measure.table is not Counts or spec.at is not None or spec.of is not None:
            raise MeasureError(
                f"{spec} cannot be chosen by threshold.", hint="a measure of decisions, such as tpr or ppv"
            )
    if objective.measure.best is None:
        raise MeasureError(f"{objective} has no best value: neither direction is better.")
    found = tuple(_candidate(name, table, objective, tuple(constraints)) for name, table in models.items())
    return ConstrainedChoice(objective, tuple(constraints), found)


def _candidate(
    name: str, table: ScoreTable | ConfusionTable, objective: MeasureSpec, constraints: tuple[Constraint, ...]
) -> Candidate:
    crisp = isinstance(table, ConfusionTable)
    scores = table.score_table() if isinstance(table, ConfusionTable) else table
    counts = scores.sweep[1:2] if crisp else scores.sweep
    thresholds = np.array([math.nan]) if crisp else scores.thresholds
    missed = (
        np.max([one.shortfall(counts) for one in constraints], axis=0) if constraints else np.zeros(thresholds.size)
    )
    least = missed.min()
    values = np.asarray(objective.measure(counts, **dict(objective.options)), dtype=np.float64)
    merit = values if objective.measure.best == "high" else -values
    merit = np.where((missed == least) & ~np.isnan(values), merit, -np.inf)
    place = int(np.argmax(merit)) if merit.max() > -np.inf else int(np.argmin(missed))
    chosen = counts[place]
    reached = tuple(float(one.spec.measure(chosen, **dict(one.spec.options))) for one in constraints)
    return Candidate(name, float(thresholds[place]), float(values[place]), bool(least == 0), reached, chosen)
