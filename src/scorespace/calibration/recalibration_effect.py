"""Result of a recalibration: the new scores, the map, and the measures before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scorespace.calibration.maps import KINDS, ScoreMap
from scorespace.errors import MeasureError, listing
from scorespace.measures import parse
from scorespace.measures.average import average
from scorespace.results import ByValue, Note, Result, Row, decimals, grouped, note
from scorespace.tables import Array, ClassTable, ScoreTable

_BINARY_MEASURES = ("brier", "cal", "ref", "logloss", "auc")
_MULTICLASS_MEASURES = ("brier", "cal", "ref", "logloss", "auc[hand_till]")
_INVISIBLE_CHANGE = 0.0005
"""Smaller changes are invisible with three decimals and count as none."""


@dataclass(frozen=True)
class MeasureEffect:
    """A measure before and after; undefined values have a reason."""

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
    """Recalibrated scores of a model, the fitted map, and the measures before and after.

    Parameters
    ----------
    name : str
        Name of the data.
    model : str
        Name of the model.
    method : str
        Method of recalibration, such as "isotonic".
    fitted : str
        On what the map was fitted, in words.
    rows_used : int
        Number of cases.
    fitted_cases : int
        Number of cases that the map was fitted to.
    columns : tuple of str
        Names of the recalibrated columns.
    map : ScoreMap
        The map, fitted to all cases of the data, or to other data.
    scores : ndarray
        A row for each row of the data, NaN where it was excluded; a column per class for multiclass models.
    effects : tuple of MeasureEffect
        Measures before and after.
    classes : mapping of str to float
        Weight of each class.
    positive : str, optional
        Name of the positive class.
    notes : tuple of Note
        Notes on the data and on the map.
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
    effects: tuple[MeasureEffect, ...] = ()
    classes: Mapping[str, float] = field(default_factory=dict)
    positive: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def words(self) -> str:
        """Summary of the effect."""
        parts = (self._effect_words(), self._log_loss_words(), self._ranking_words())
        return " ".join(filter(None, parts))

    def effect(self, measure: str) -> MeasureEffect:
        """One measure before and after.

        Parameters
        ----------
        measure : str
            Name of the measure.

        Returns
        -------
        MeasureEffect
            Its value before and after.
        """
        for effect in self.effects:
            if effect.measure == measure:
                return effect
        raise MeasureError(
            f"{measure} was not compared.", seen=listing(effect.measure for effect in self.effects), hint="one of these"
        )

    def rows(self) -> list[Row]:
        """One row per measure: its value before and after."""
        return [
            {
                "model": self.model,
                "measure": effect.measure,
                "before": effect.before,
                "after": effect.after,
                "difference": effect.change,
                "reason": effect.reason,
            }
            for effect in self.effects
        ]

    def facts(self) -> Row:
        """The data, the model, the method and the map, for JSON."""
        return {
            "data": {"rows": self.rows_used, "classes": dict(self.classes), "positive": self.positive},
            "model": self.model,
            "method": self.method,
            "fitted": self.fitted,
            "map": self.map.to_dict(),
        }

    def saved_map(self) -> Row:
        """The map for JSON, with the model, positive class and number of cases."""
        about = {"model": self.model, "positive": self.positive, "cases": self.fitted_cases}
        return {**self.map.to_dict(), "about": about}

    @property
    def _title(self) -> str:
        return KINDS[self.method].title

    def _effect_words(self) -> str:
        if not self.effects:
            unknown = "without true labels its effect is unknown"
            return f"{self._title} was applied to {grouped(self.rows_used)} cases; {unknown}."
        brier, cal = self.effect("brier"), self.effect("cal")
        if math.isnan(brier.after):
            return f"{self._title} does not make probabilities of the scores of {self.model}."
        if math.isnan(brier.before):
            text = f"{self._title} puts the scores of {self.model} between 0 and 1: Brier score {decimals(brier.after)}"
            return f"{text}, of which {decimals(cal.after)} is calibration loss."
        if abs(brier.change) < _INVISIBLE_CHANGE:
            return f"{self._title} hardly changes the Brier score of {self.model} ({decimals(brier.after)})."
        helps = brier.change < 0
        text = f"{self._title} {'lowers' if helps else 'does not help: it raises'} the Brier score of {self.model}"
        return f"{text} from {decimals(brier.before)} to {decimals(brier.after)}."

    def _log_loss_words(self) -> str:
        if self.effects and math.isinf(self.effect("logloss").after) and not math.isinf(self.effect("logloss").before):
            return "Its log loss is infinite: the actual class of a case got probability 0."
        return ""

    def _ranking_words(self) -> str:
        if not self.effects:
            return ""
        auc = self.effects[-1]
        if math.isnan(auc.before) or math.isnan(auc.after):
            return ""
        if not self.map.reverses_ranking and any(note_.code == "SS002" for note_ in self.notes):
            return (
                f"The scores rank worse than chance (AUC {decimals(auc.before)}) and are probably reversed: "
                f"calibrate minus({self.model}) instead."
            )
        if abs(auc.change) < _INVISIBLE_CHANGE:
            return f"The ranking stays as good as it was (AUC {decimals(auc.after)})."
        reason = ": each fold has its own map, so the ranking changes" if self.fitted.startswith("cross") else ""
        reason = ": the slope is negative, so the map reverses the ranking" if self.map.reverses_ranking else reason
        direction = "rises" if auc.change > 0 else "falls"
        return f"AUC {direction} from {decimals(auc.before)} to {decimals(auc.after)}{reason}."


def effects(before: ScoreTable | ClassTable, after: ScoreTable | ClassTable) -> tuple[MeasureEffect, ...]:
    """Return the measures before and after; for multiclass scores, Brier, CAL and REF are sums over classes.

    >>> from scorespace.tables import score_table
    >>> t = score_table([1, 0], [0.9, 0.4])
    >>> [one.measure for one in effects(t, t)]
    ['brier', 'cal', 'ref', 'logloss', 'auc']
    """
    names = _BINARY_MEASURES if before.thresholded else _MULTICLASS_MEASURES
    return tuple(_effect(name, before, after) for name in names)


def _effect(name: str, before: ScoreTable | ClassTable, after: ScoreTable | ClassTable) -> MeasureEffect:
    (old, old_reason), (new, new_reason) = _value(name, before), _value(name, after)
    reasons = [f"{time}: {reason}" for time, reason in (("before", old_reason), ("after", new_reason)) if reason]
    return MeasureEffect(name, old, new, "; ".join(reasons) or None)


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
    """Return notes on extrapolation, new ties, and remarks of the map."""
    texts, cases = [], grouped(len(before))
    if outside:
        have = "has a score" if outside == 1 else "have scores"
        beyond = KINDS[method].beyond
        texts.append(f"{grouped(outside)} of {cases} cases {have} outside the range the map was fitted to: {beyond}.")
    n_before, n_after = (int(np.unique(values, axis=0).shape[0]) for values in (before, after))
    if n_after < n_before:
        texts.append(f"{method} ties cases: {grouped(n_before)} distinct scores became {grouped(n_after)}.")
    return tuple(note("SS026", text) for text in (*texts, *map.doubts(impossible), *map.remarks(before)))
