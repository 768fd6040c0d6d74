"""What a recalibration did: the scores, the map, and the measures before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

import numpy as np

from scorespace.errors import MeasureError, listing
from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.measures.average import average
from scorespace.probabilities.maps import KINDS, ScoreMap
from scorespace.results import ByValue, Note, Result, Row, decimals, grouped, note
from scorespace.tables import Array, ClassTable, ScoreTable

_TWO_CLASSES = ("brier", "cal", "ref", "logloss", "auc")
_SEVERAL_CLASSES = ("brier", "cal", "ref", "logloss", "auc[hand_till]")
_SAME = 0.0005
"""What three decimals do not show counts as no change."""


@dataclass(frozen=True)
class Effect:
    """One measure before and after; without a value there is a reason."""

    measure: str
    before: float
    after: float
    reason: str | None = None

    @property
    def change(self) -> float:
        """After minus before, undefined where both are infinite."""
        return self.after - self.before if math.isfinite(self.before) or math.isfinite(self.after) else math.nan

    @property
    def arrow(self) -> str:
        """↑ when higher is better, ↓ when lower is."""
        return parse(self.measure).measure.arrow


@dataclass(frozen=True, eq=False, repr=False)
class Recalibration(Result, ByValue):
    """Recalibrated scores of one model, how they came about, and the measures before and after.

    `scores` has a row for each row of the data, NaN where it was left out, and a column for each class if
    there are several. `map` was fitted on all cases of the data, or on the other data.
    """

    name: str
    model: str
    method: str
    fitted: str
    rows_used: int
    fitted_cases: int
    columns: tuple[str, ...]
    map: ScoreMap
    scores: Array
    effects: tuple[Effect, ...] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    positive: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def words(self) -> str:
        """What it did, in a sentence or two."""
        parts = (self._effect_words(), self._surprise_words(), self._ranking_words())
        return " ".join(filter(None, parts))

    def effect(self, measure: str) -> Effect:
        """One measure before and after."""
        for one in self.effects:
            if one.measure == measure:
                return one
        raise MeasureError(
            f"{measure} was not compared.", seen=listing(one.measure for one in self.effects), hint="one of these"
        )

    def rows(self) -> list[Row]:
        return [
            {
                "model": self.model,
                "measure": one.measure,
                "before": one.before,
                "after": one.after,
                "difference": one.change,
                "reason": one.reason,
            }
            for one in self.effects
        ]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.rows_used, "classes": dict(self.classes), "positive": self.positive},
            "model": self.model,
            "method": self.method,
            "fitted": self.fitted,
            "map": self.map.to_dict(),
        }

    def saved_map(self) -> Row:
        """The map as JSON keeps it, with what it is about."""
        about = {"model": self.model, "positive": self.positive, "cases": self.fitted_cases}
        return {**self.map.to_dict(), "about": about}

    @property
    def _title(self) -> str:
        return KINDS[self.method].title

    def _effect_words(self) -> str:
        if not self.effects:
            return f"{self._title} was applied to {grouped(self.rows_used)} cases; without a truth it is not judged."
        brier, cal = self.effect("brier"), self.effect("cal")
        if math.isnan(brier.after):
            return f"{self._title} does not make probabilities of the scores of {self.model}."
        if math.isnan(brier.before):
            text = f"{self._title} puts the scores of {self.model} between 0 and 1: Brier score {decimals(brier.after)}"
            return f"{text}, of which {decimals(cal.after)} is calibration loss."
        if abs(brier.change) < _SAME:
            return f"{self._title} hardly changes the Brier score of {self.model} ({decimals(brier.after)})."
        helps = brier.change < 0
        text = f"{self._title} {'lowers' if helps else 'does not help: it raises'} the Brier score of {self.model}"
        return f"{text} from {decimals(brier.before)} to {decimals(brier.after)}."

    def _surprise_words(self) -> str:
        if self.effects and math.isinf(self.effect("logloss").after) and not math.isinf(self.effect("logloss").before):
            return "Its log loss is infinite: it rules out something that happened."
        return ""

    def _ranking_words(self) -> str:
        if not self.effects:
            return ""
        auc = self.effects[-1]
        if math.isnan(auc.before) or math.isnan(auc.after):
            return ""
        if not self.map.turned and any(one.code == "SS002" for one in self.notes):
            return (
                f"The scores rank worse than chance (AUC {decimals(auc.before)}) and are probably reversed: "
                f"calibrate minus({self.model}) instead."
            )
        if abs(auc.change) < _SAME:
            return f"The ranking stays as good as it was (AUC {decimals(auc.after)})."
        why = ": each fold has a map of its own, so cases change places" if self.fitted.startswith("cross") else ""
        why = ": the slope is negative, so the map reverses the ranking" if self.map.turned else why
        moves = "rises" if auc.change > 0 else "falls"
        return f"AUC {moves} from {decimals(auc.before)} to {decimals(auc.after)}{why}."


def effects(before: ScoreTable | ClassTable, after: ScoreTable | ClassTable) -> tuple[Effect, ...]:
    """The measures of the scores before and after; of several classes Brier, CAL and REF are sums over them.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0], [0.9, 0.4])
    >>> [one.measure for one in effects(t, t)]
    ['brier', 'cal', 'ref', 'logloss', 'auc']
    """
    names = _TWO_CLASSES if before.thresholded else _SEVERAL_CLASSES
    return tuple(_effect(name, before, after) for name in names)


def _effect(name: str, before: ScoreTable | ClassTable, after: ScoreTable | ClassTable) -> Effect:
    (old, old_reason), (new, new_reason) = _value(name, before), _value(name, after)
    reasons = [f"{when}: {why}" for when, why in (("before", old_reason), ("after", new_reason)) if why]
    return Effect(name, old, new, "; ".join(reasons) or None)


def _value(name: str, table: ScoreTable | ClassTable) -> tuple[float, str | None]:
    spec = parse(name)
    measure = spec.measure
    if measure.probability and not table.probabilities:
        return math.nan, "the scores are not probabilities"
    value = measure(table) if spec.of is None else float(average(measure, spec.of)(table))
    return value, measure.reason(value)


def map_notes(
    method: str, map: ScoreMap, before: Array, after: Array, outside: int, impossible: int = 0
) -> tuple[Note, ...]:
    """What a map does to some of the cases: beyond its range, tied, or out of its reach."""
    found, cases = [], grouped(len(before))
    if outside:
        have = "has a score" if outside == 1 else "have scores"
        beyond = KINDS[method].beyond
        found.append(
            f"{grouped(outside)} of {cases} cases {have} outside the range that the map was fitted on: {beyond}."
        )
    kinds, left = (int(np.unique(values, axis=0).shape[0]) for values in (before, after))
    if left < kinds:
        found.append(f"{method} ties cases: {grouped(kinds)} distinct scores became {grouped(left)}.")
    return tuple(note("SS026", text) for text in (*found, *map.doubts(impossible)))
