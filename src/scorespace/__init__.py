"""From scores to decisions: how good each model is, how sure that is, and which to use.

Names load on first use, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scorespace.comparisons.calibration import calibration_band, hosmer_lemeshow, spiegelhalter
    from scorespace.comparisons.calibration_summary import CalibrationSummary, calibration_summary
    from scorespace.comparisons.folds import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t
    from scorespace.comparisons.ranking import rank_models
    from scorespace.comparisons.unpaired import compare_samples
    from scorespace.conditions import Condition, CostMatrix
    from scorespace.curves import (
        CalibrationCurve,
        Curve,
        Hull,
        SmoothCurve,
        brier_curve,
        calibration,
        chow,
        cost_curve,
        gain,
        hull,
        iso_line,
        learn_midpoint,
        lift_curve,
        net_benefit,
        optimal_curve,
        pr,
        rejection,
        roc,
        smooth,
        softened,
        sweep,
    )
    from scorespace.decisions import Recalibration, best_threshold, fit_map, least_cost_decisions
    from scorespace.decisions.cases import cases
    from scorespace.entry import evaluate, measure
    from scorespace.errors import ScoreSpaceError
    from scorespace.evaluation import Evaluation
    from scorespace.recalibration import apply_map, read_map, recalibrate
    from scorespace.samples import agree, drift
    from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable, class_table, confusion, score_table

__all__ = [
    "CalibrationCurve",
    "CalibrationSummary",
    "ClassTable",
    "Condition",
    "ConfusionTable",
    "CostMatrix",
    "Counts",
    "Curve",
    "Evaluation",
    "Hull",
    "Recalibration",
    "ScoreSpaceError",
    "ScoreTable",
    "SmoothCurve",
    "agree",
    "apply_map",
    "bayes_correlated_t",
    "best_threshold",
    "brier_curve",
    "calibration",
    "calibration_band",
    "calibration_summary",
    "cases",
    "chow",
    "class_table",
    "compare_samples",
    "confusion",
    "corrected_t",
    "cost_curve",
    "drift",
    "evaluate",
    "fit_map",
    "five_by_two_f",
    "five_by_two_t",
    "gain",
    "hosmer_lemeshow",
    "hull",
    "iso_line",
    "learn_midpoint",
    "least_cost_decisions",
    "lift_curve",
    "measure",
    "net_benefit",
    "optimal_curve",
    "paired_t",
    "pr",
    "rank_models",
    "read_map",
    "recalibrate",
    "rejection",
    "roc",
    "score_table",
    "smooth",
    "softened",
    "spiegelhalter",
    "sweep",
]

_HOMES = {
    "comparisons.calibration": ("calibration_band", "hosmer_lemeshow", "spiegelhalter"),
    "comparisons.calibration_summary": ("CalibrationSummary", "calibration_summary"),
    "comparisons.folds": ("bayes_correlated_t", "corrected_t", "five_by_two_f", "five_by_two_t", "paired_t"),
    "comparisons.ranking": ("rank_models",),
    "comparisons.unpaired": ("compare_samples",),
    "conditions": (
        "Condition",
        "CostMatrix",
    ),
    "curves": (
        "CalibrationCurve",
        "Curve",
        "Hull",
        "SmoothCurve",
        "brier_curve",
        "calibration",
        "chow",
        "cost_curve",
        "gain",
        "hull",
        "iso_line",
        "learn_midpoint",
        "lift_curve",
        "net_benefit",
        "optimal_curve",
        "pr",
        "rejection",
        "roc",
        "smooth",
        "softened",
        "sweep",
    ),
    "decisions.cases": ("cases",),
    "decisions": (
        "Recalibration",
        "best_threshold",
        "fit_map",
        "least_cost_decisions",
    ),
    "errors": ("ScoreSpaceError",),
    "entry": ("evaluate", "measure"),
    "evaluation": ("Evaluation",),
    "samples": ("agree", "drift"),
    "recalibration": ("apply_map", "read_map", "recalibrate"),
    "tables": (
        "ClassTable",
        "ConfusionTable",
        "Counts",
        "ScoreTable",
        "class_table",
        "confusion",
        "score_table",
    ),
}


def __getattr__(name: str) -> Any:
    """A public name from its module, or a measure by its name or alias."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"scorespace.{home}"), name)
    if not name.startswith("_"):
        catalog = import_module("scorespace.measures.catalog")
        import_module("scorespace.measures")
        try:
            return catalog.find(name)
        except ValueError:
            aliases = [alias for measure in catalog.measures() for alias in (measure.name, *measure.aliases)]
            near = import_module("scorespace.errors").did_you_mean(name, [*__all__, *aliases])
            hint = f"; did you mean {near}?" if near else ""
            raise AttributeError(f"scorespace has no {name!r}{hint}") from None
    raise AttributeError(f"scorespace has no {name!r}")


def __dir__() -> list[str]:
    measures = import_module("scorespace.measures").measures()
    return sorted({*__all__, *(measure.name for measure in measures)})
