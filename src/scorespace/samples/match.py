"""Which of several samples matches one: drift from it, sample by sample, and which is the nearest."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from scorespace.frozen import dataclass
from scorespace.results import Note, Result, Row, joined
from scorespace.samples.moved import Drift, ModelDrift


@dataclass(frozen=True, repr=False)
class Matches(Result):
    """A sample and others of the same models: what moved in each of them, from the nearest to the farthest.

    A sample matches where no change is shown, allowing for all that were looked at.
    """

    before: str
    drifts: Mapping[str, Drift]

    @property
    def matching(self) -> tuple[str, ...]:
        """The samples in which no change is shown, the nearest first."""
        return tuple(name for name in self.ranked if not self.drifts[name].moved)

    @property
    def ranked(self) -> tuple[str, ...]:
        """All samples, the nearest first."""
        far = {name: self.distance(name) for name in self.drifts}
        return tuple(sorted(far, key=lambda name: math.inf if math.isnan(far[name]) else far[name]))

    def distance(self, name: str) -> float:
        """The mean over models of the area between smooth ROC curves, or of the KS of scores where there is none."""
        return float(np.mean([_far(one) for one in self.drifts[name].models]))

    @property
    def words(self) -> str:
        """Which samples match, how near each is, and what moved in the others."""
        first, *rest = self.matching or ("",)
        if not first:
            told = f"A change is shown in every sample beside {self.before}; {self.ranked[0]} is the nearest."
        elif rest:
            told = f"{first} is nearest to {self.before}; no change is shown in it, nor in {joined(rest)}."
        else:
            told = f"{first} is nearest to {self.before}: no change is shown in it, and one in every other."
        moved = (f"{name}: {self.drifts[name].words}" for name in self.ranked if self.drifts[name].moved)
        return "\n".join((told, *moved))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(dict.fromkeys(one for found in self.drifts.values() for one in found.notes if one.code != "SS030"))

    def rows(self) -> list[Row]:
        """The rows of every sample, with its name."""
        return [{"sample": name, **row} for name in self.ranked for row in self.drifts[name].rows()]

    def facts(self) -> Row:
        sizes = {name: one.sizes[1] for name, one in self.drifts.items()}
        some = next(iter(self.drifts.values()))
        return {
            "data": {"before": some.sizes[0], "after": sizes, "positive": some.positive},
            "matching": self.matching,
            "distances": {name: self.distance(name) for name in self.ranked},
            "causes": {name: {one.model: one.cause for one in self.drifts[name].models} for name in self.ranked},
        }


def _far(model: ModelDrift) -> float:
    aspects = {one.name: one.change for one in model.aspects}
    area = aspects.get("smooth", math.nan)
    return aspects["scores"] if math.isnan(area) else area
