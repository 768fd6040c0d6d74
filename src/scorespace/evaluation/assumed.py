"""Evaluation without labels: measures that follow from an assumption, which nothing in the data can check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scorespace import io
from scorespace.calibration.unlabelled import PriorShift, check_probabilities, em_prevalence, shifted, weighted_table
from scorespace.errors import ScoreSpaceError
from scorespace.measures import MeasureSpec, parse_list
from scorespace.measures.request import bind
from scorespace.options import parse_number
from scorespace.results import Note, Result, Row, count_noun, decimals, note, to_json_types

DEFAULT: Final = "auc,acc@0.5,tpr@0.5,tnr@0.5,ppv@0.5"
CALIBRATED, PRIOR_SHIFT = "calibrated", "prior_shift"
_HINT: Final = "--assume calibrated, or --assume 'prior_shift(trained=0.3)' with the prevalence of training"


@dataclass(frozen=True, repr=False)
class Assumed(Result):
    """Measures of models without labels, by the assumption that they follow from.

    `values` maps model, measure and assumption to a value; `shifts` are the prevalences by EM, by model.
    """

    name: str
    cases: int
    assumption: str
    values: dict[tuple[str, MeasureSpec, str], float]
    shifts: dict[str, PriorShift]
    positive: str | None = None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions shown: the stated one, and the other where they disagree."""
        return tuple(dict.fromkeys(assumption for *_, assumption in self.values))

    def rows(self) -> list[Row]:
        """One row per model, measure and assumption; never with an interval."""
        return [
            to_json_types(
                {
                    "model": model,
                    "measure": spec.label,
                    "at": spec.at if spec.at is None or isinstance(spec.at, float) else str(spec.at),
                    "class": spec.of,
                    "value": value,
                    "low": None,
                    "high": None,
                    "level": None,
                    "method": f"assumed({assumption})",
                    "reason": spec.measure.reason(value) or "assumed: no labels, so no interval",
                }
            )
            for (model, spec, assumption), value in self.values.items()
        ]

    def facts(self) -> Row:
        """The assumption and the estimated prevalences."""
        shifts = {
            model: {"prevalence": one.prevalence, "mean_probability": one.mean, "differs": one.differs}
            for model, one in self.shifts.items()
        }
        return {"data": {"rows": self.cases, "positive": self.positive}, "assumed": self.assumption, "shift": shifts}

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is assumed."""
        text = (
            "All values are assumed, not measured: they follow from the scores if these are calibrated here, or if "
            "only the prevalence changed since training. Nothing in the scores can tell which holds, or whether "
            "neither does; no interval covers that, and no requirement can use them."
        )
        return (note("SS199", text),)

    @property
    def words(self) -> str:
        """The prevalence under each assumption."""
        parts = [f"{count_noun(self.cases, 'case')} without labels."]
        for model, shift in self.shifts.items():
            mean, em = decimals(shift.mean), decimals(shift.prevalence)
            verb = "disagree" if shift.differs else "agree within sampling error"
            parts.append(
                f"{model}: a prevalence of {mean} if the scores are calibrated, {em} after a prior shift; the "
                f"assumptions {verb}."
            )
        if not self.shifts:
            parts.append("Values hold if the scores are calibrated on these cases.")
        return " ".join(parts)


def assume(
    data: Any,
    assumption: str,
    scores: Sequence[str] | str,
    *,
    measures: str | Sequence[str] = "",
    names: dict[str, str] | None = None,
    missing: str = "error",
    positive: Any = None,
    level: float = 0.95,
) -> Assumed:
    """Evaluate models without labels: each case counts p positive and 1 − p negative.

    With "calibrated", p is the score. With "prior_shift(trained=0.3)", the scores are calibrated at the prevalence of
    training, and only the prevalence changed: it is estimated by EM, and values under both assumptions are given where
    they disagree by more than sampling error.
    """
    kind, trained = _assumption(assumption)
    specs = parse_list(measures if isinstance(measures, str) and measures else ",".join(measures) or DEFAULT)
    source = io.read(data)
    columns = io.resolve_scores(source, [scores] if isinstance(scores, str) else list(scores), names)
    several = [model for model, column in columns.items() if not isinstance(column, str)]
    if several or not columns:
        problem = "evaluation without labels needs probabilities of one class."
        raise ScoreSpaceError(problem, seen=", ".join(several) or "no scores", hint="--score COL")
    found, _ = io.read_score_columns(source, [str(column) for column in columns.values()], missing)
    values: dict[tuple[str, MeasureSpec, str], float] = {}
    shifts: dict[str, PriorShift] = {}
    cases = 0
    for model, column in columns.items():
        probability = check_probabilities(model, np.asarray(found[str(column)], dtype=np.float64))
        cases = probability.size
        by_assumption = {CALIBRATED: probability}
        if trained is not None:
            shift = shifts[model] = em_prevalence(probability, trained, level)
            adapted = shifted(probability, trained, shift.prevalence)
            by_assumption = {PRIOR_SHIFT: adapted} | (by_assumption if shift.differs else {})
        tables = {name: weighted_table(probability, one) for name, one in by_assumption.items()}
        for spec in specs:
            for name, table in tables.items():
                values[model, spec, name] = bind(spec, table).value
    return Assumed(source.name, cases, kind, values, shifts, None if positive is None else str(positive))


def _assumption(text: str) -> tuple[str, float | None]:
    """The assumption, and the prevalence of training if it is a prior shift."""
    name, _, rest = text.strip().partition("(")
    key, _, value = rest.removesuffix(")").partition("=")
    if name.strip() == CALIBRATED and not rest:
        return CALIBRATED, None
    if name.strip() != PRIOR_SHIFT or key.strip() != "trained":
        raise ScoreSpaceError(f"the assumption {text!r} is unknown or incomplete.", hint=_HINT)
    try:
        trained = parse_number(value)
    except ValueError:
        trained = math.nan
    if not 0 < trained < 1:
        raise ScoreSpaceError(f"{text!r} needs a prevalence between 0 and 1.", hint=_HINT)
    return PRIOR_SHIFT, trained
