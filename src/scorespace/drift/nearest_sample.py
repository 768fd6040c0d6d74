"""Find the samples that match a reference sample, by drift tests and distance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scorespace.drift.result import Drift, ModelDrift
from scorespace.results import Note, Result, Row, join_words


@dataclass(frozen=True, repr=False)
class SampleMatches(Result):
    """A reference sample and others of the same models, with the drift of each.

    A sample matches if no change is significant after adjustment for all samples.
    """

    before: str
    drifts: Mapping[str, Drift]

    @property
    def matching(self) -> tuple[str, ...]:
        """Samples without significant change, nearest first."""
        return tuple(name for name in self.ranked if not self.drifts[name].moved)

    @property
    def ranked(self) -> tuple[str, ...]:
        """All samples, nearest first."""
        distances = {name: self.distance(name) for name in self.drifts}
        return tuple(sorted(distances, key=lambda name: math.inf if math.isnan(distances[name]) else distances[name]))

    def distance(self, name: str) -> float:
        """Mean over models of the area between smooth ROC curves, or of the KS distance of scores."""
        return float(np.mean([_model_distance(model) for model in self.drifts[name].models]))

    @property
    def words(self) -> str:
        """Which samples match, and what changed in the others."""
        first, *rest = self.matching or ("",)
        if not first:
            summary = f"Every sample differs from {self.before}; {self.ranked[0]} is the nearest."
        elif rest:
            summary = f"{first} is nearest to {self.before}; no evidence of change in it or in {join_words(rest)}."
        else:
            summary = f"{first} is nearest to {self.before}, without evidence of change; all others differ."
        moved = (f"{name}: {self.drifts[name].words}" for name in self.ranked if self.drifts[name].moved)
        return "\n".join((summary, *moved))

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(
            dict.fromkeys(note for drift in self.drifts.values() for note in drift.notes if note.code != "SS030")
        )

    def rows(self) -> list[Row]:
        """Rows of every sample, with its name."""
        return [{"sample": name, **row} for name in self.ranked for row in self.drifts[name].rows()]

    def facts(self) -> Row:
        sizes = {name: drift.sizes[1] for name, drift in self.drifts.items()}
        first = next(iter(self.drifts.values()))
        return {
            "data": {"before": first.sizes[0], "after": sizes, "positive": first.positive},
            "matching": self.matching,
            "distances": {name: self.distance(name) for name in self.ranked},
            "causes": {name: {model.model: model.cause for model in self.drifts[name].models} for name in self.ranked},
        }


def _model_distance(model: ModelDrift) -> float:
    aspects = {aspect.name: aspect.change for aspect in model.aspects}
    area = aspects.get("smooth", math.nan)
    return aspects["scores"] if math.isnan(area) else area
