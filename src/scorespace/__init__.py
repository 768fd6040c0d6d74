"""From scores to decisions: how good each model is, how sure that is, and which to use.

Names load on first use, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scorespace.conditions import Condition, CostMatrix
    from scorespace.curves import (
        Curve,
        Hull,
        brier_curve,
        chow,
        cost_curve,
        gain,
        hull,
        iso_line,
        lift_curve,
        net_benefit,
        optimal_curve,
        pr,
        rejection,
        roc,
        sweep,
    )
    from scorespace.decisions import best_threshold, least_cost_decisions
    from scorespace.entry import evaluate, measure
    from scorespace.errors import ScoreSpaceError
    from scorespace.evaluation import Evaluation
    from scorespace.tables import ConfusionTable, Counts, ScoreTable, confusion, score_table

__all__ = [
    "Condition",
    "ConfusionTable",
    "CostMatrix",
    "Counts",
    "Curve",
    "Evaluation",
    "Hull",
    "ScoreSpaceError",
    "ScoreTable",
    "best_threshold",
    "brier_curve",
    "chow",
    "confusion",
    "cost_curve",
    "evaluate",
    "gain",
    "hull",
    "iso_line",
    "least_cost_decisions",
    "lift_curve",
    "measure",
    "net_benefit",
    "optimal_curve",
    "pr",
    "rejection",
    "roc",
    "score_table",
    "sweep",
]

_HOMES = {
    "conditions": (
        "Condition",
        "CostMatrix",
    ),
    "curves": (
        "Curve",
        "Hull",
        "brier_curve",
        "chow",
        "cost_curve",
        "gain",
        "hull",
        "iso_line",
        "lift_curve",
        "net_benefit",
        "optimal_curve",
        "pr",
        "rejection",
        "roc",
        "sweep",
    ),
    "decisions": (
        "best_threshold",
        "least_cost_decisions",
    ),
    "errors": ("ScoreSpaceError",),
    "entry": ("evaluate", "measure"),
    "evaluation": ("Evaluation",),
    "tables": (
        "ConfusionTable",
        "Counts",
        "ScoreTable",
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
