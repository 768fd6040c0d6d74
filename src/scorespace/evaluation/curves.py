"""The curves of an evaluation's models, by the kind and the name that users type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from scorespace.curves import (
    Curve,
    brier_curve,
    calibration,
    cost_curve,
    gain,
    hull,
    lift_curve,
    net_benefit,
    pr,
    rejection,
    roc,
    smooth,
    sweep,
)
from scorespace.errors import MeasureError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures import parse
from scorespace.probabilities.tests import calibration_band
from scorespace.resampling.band import Band, pr_band, roc_band
from scorespace.tables import ClassTable, Counts, ScoreTable
from scorespace.tables.classes import TOP

if TYPE_CHECKING:
    from scorespace.evaluation.evaluation import Evaluation

CURVES: Final[dict[str, Callable[..., Curve]]] = {
    "roc": roc,
    "smooth": smooth,
    "pr": pr,
    "gain": gain,
    "lift": lift_curve,
    "hull": hull,
    "cost": cost_curve,
    "brier": brier_curve,
    "calibration": calibration,
    "net_benefit": net_benefit,
    "rejection": rejection,
}
"""Curves of a score table by the kind users type; `threshold` takes a measure besides."""

BANDS: Final[dict[str, Callable[..., Band]]] = {"roc": roc_band, "pr": pr_band, "calibration": calibration_band}
"""The curves that have bands."""


def curve(evaluation: Evaluation, kind: str, model: str | None, measure: str, **options: Any) -> Curve:
    """The curve of one model, or of one class of a model that scores several."""
    name = model if model is not None else _only(evaluation)
    of_classes = evaluation.models.get(name)
    if kind == "rejection" and isinstance(of_classes, ClassTable):
        return rejection(of_classes)
    table = evaluation.score_table(name)
    if kind == "threshold":
        spec = parse(measure)
        if spec.measure.table is not Counts:
            raise MeasureError(f"{spec} covers all thresholds, so it has no curve over them.", hint="such as f1 or ppv")
        return sweep(table, spec.measure, **dict(spec.options))
    if kind not in CURVES:
        kinds = [*CURVES, "threshold"]
        near = did_you_mean(kind, kinds)
        raise ScoreSpaceError(
            f"there is no curve of kind {kind!r}.",
            seen=listing(kinds, most=len(kinds)),
            hint=f"did you mean {near}?" if near else None,
        )
    if kind == "rejection":  # doubt is nearness to the threshold, wherever that is
        scored = isinstance(evaluation.models.get(name), ScoreTable)
        return rejection(table, evaluation.threshold(name) if scored else 0.5)
    return CURVES[kind](table, **options)


def curve_names(evaluation: Evaluation, kind: str) -> list[str]:
    """The two-class models, and each class of those that score several; cases are rejected by all scores together."""
    if kind == "rejection":
        return [*evaluation.two_class_models, *evaluation.class_models]
    classes = [*evaluation.present, *([TOP] if kind == "calibration" else [])]
    return [*evaluation.two_class_models, *(f"{name}[{of}]" for name in evaluation.class_models for of in classes)]


def band(evaluation: Evaluation, kind: str, model: str, simultaneous: bool) -> Band:
    """The band around the curve of one model."""
    if kind not in BANDS:
        raise ScoreSpaceError(f"there is no band for {kind!r}.", seen=listing(BANDS))
    table = evaluation.score_table(model)
    return BANDS[kind](table, level=evaluation.level, simultaneous=simultaneous, seed=evaluation.seed)


def _only(evaluation: Evaluation) -> str:
    names = list(evaluation.models)
    if len(names) != 1:
        raise ScoreSpaceError("which model?", seen=listing(names), hint=f"model={names[0]!r}")
    return names[0]
