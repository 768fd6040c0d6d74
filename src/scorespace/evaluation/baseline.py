"""Saving an evaluation, and reading one as the baseline of another."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from scorespace import io
from scorespace.case_costs import CaseCosts
from scorespace.comparisons.baseline import Baseline
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.decisions import best_value, least_cost
from scorespace.decisions.cross_fitting import argmin_price, crossfit
from scorespace.decisions.out_of_sample import OutOfSampleCounts
from scorespace.errors import DataError, PositiveError, ScoreSpaceError, listing
from scorespace.evaluation.default_measures import YOUDEN, shown_threshold
from scorespace.io.saved_evaluations import (
    SavedEvaluation,
    read_saved_evaluation,
    reason_not_stored,
    write_saved_evaluation,
)
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import stated_threshold
from scorespace.report.protocol import EvaluationView
from scorespace.results import Row
from scorespace.tables import ScoreTable, Table
from scorespace.tables.models import Models, class_weights

Stated = Condition | CostMatrix | Asymmetry | CaseCosts


class SavableEvaluation(EvaluationView, Protocol):
    """An evaluation that can be saved: its request and its results."""

    @property
    def condition(self) -> Stated | None: ...

    @property
    def stated_prevalence(self) -> float | None: ...

    def to_dict(self) -> Row: ...


def save(evaluation: SavableEvaluation, path: str | os.PathLike[str]) -> Path:
    """Write an evaluation to a file: request, results and tables; tables do not identify cases."""
    models = evaluation.models
    grouped = "cases are grouped, and tables do not keep groups" if models.grouped else None
    why = {name: grouped or reason_not_stored(table) for name, table in models.items()}
    asked = {
        "data": models.name,
        "measures": [str(spec) for spec in evaluation.requested],
        "level": evaluation.level,
        "seed": evaluation.seed,
        "interval": evaluation.interval,
        "condition": _written(evaluation.condition),
        "prevalence": evaluation.stated_prevalence,
        "threshold": evaluation.stated_threshold,
        "profile": evaluation.profile.name,
        "full": evaluation.full,
        "thresholds": {name: _as_json(float(evaluation.threshold(name))) for name in models.thresholded},
    }
    tables = {name: models[name] for name, reason in why.items() if reason is None}
    without = {name: reason for name, reason in why.items() if reason is not None}
    return write_saved_evaluation(
        SavedEvaluation(asked, evaluation.to_dict(), tables, without, evaluation.sample_notes), path
    )


def _as_json(threshold: float) -> float | str:
    """A threshold as JSON has it: infinite ones, which predict all cases alike, as text."""
    return threshold if math.isfinite(threshold) else str(threshold)


def _written(condition: Stated | None) -> Row | None:
    if isinstance(condition, CostMatrix):
        return {"classes": list(condition.classes), "matrix": condition.matrix.tolist()}
    return None if condition is None else asdict(condition)


def condition_of(saved: SavedEvaluation) -> Stated | None:
    """The costs and prevalence that an evaluation was saved with."""
    stored = saved.asked.get("condition")
    if stored is None:
        return None
    try:
        binary = CaseCosts if "rule" in stored else Condition
        kind: Any = CostMatrix if "matrix" in stored else Asymmetry if "under" in stored else binary
        found: Stated = kind(**stored)
        return found
    except (TypeError, ValueError) as error:
        raise DataError(f"{saved.name!r} is damaged.", seen=f"wrong: {error}", hint="save it again") from None


def classes_of(saved: SavedEvaluation) -> tuple[str, ...]:
    """The classes of a binary baseline; a later sample may lack one of them."""
    data = saved.result["data"]
    return () if data.get("positive") is None else tuple(data.get("classes") or ())


def before_of(
    saved: SavedEvaluation, models: Models, asked: Stated | None, prevalence: float | None = None
) -> Baseline:
    """The baseline for these models; refused where classes or positive class differ."""
    data = saved.result["data"]
    positive = data.get("positive")
    before = Baseline(
        saved.name,
        saved.date,
        saved.tables,
        saved.result["rows"],
        data.get("classes") or {},
        positive,
        saved.asked.get("thresholds", {}),
        saved.without,
        _differs(saved, models, asked, prevalence),
        cache(lambda model: _on_others(saved, model)),
    )
    if positive != models.positive:
        raise PositiveError(
            f"the positive class is {_told(models.positive)} here and {_told(positive)} in the baseline {saved.name}.",
            hint=f'positive="{positive}"' if positive in models.classes else "a baseline of the same classes",
        )
    strange = [name for name in models.present if before.classes and name not in before.classes]
    if strange:
        raise DataError(
            f"the class {strange[0]!r} is not in the baseline {saved.name}.",
            seen=f"{listing(models.classes)} here; {listing(before.classes)} there",
            hint="a baseline of the same classes",
        )
    if not any(name in before.models for name in models):
        raise ScoreSpaceError(
            f"no model here has the name of one of the baseline {saved.name}.",
            seen=f"{listing(models)} here; {listing(before.models)} there",
            hint="names={column: model}",
        )
    return before


def _on_others(saved: SavedEvaluation, model: str) -> OutOfSampleCounts | None:
    """Cross-fitted outcomes of a threshold chosen on the baseline; None where it was stated."""
    table = saved.tables.get(model)
    requested = stated_threshold(parse(str(name)) for name in saved.asked.get("measures", ()))
    stated = requested is not None or saved.asked.get("threshold") is not None
    if stated or table is None or not table.thresholded or model not in saved.asked.get("thresholds", {}):
        return None
    scores, condition = table.inside(ScoreTable), condition_of(saved)
    if isinstance(condition, Condition):
        chosen, within = least_cost(condition), condition.prevalence is not None
    elif scores.probabilities:
        return None
    else:
        chosen, within = best_value(MeasureSpec(YOUDEN)), False
    seed = int(saved.asked.get("seed", 0))
    return crossfit({model: scores}, chosen, stratified=within, seed=seed).chosen


def _told(positive: str | None) -> str:
    """The positive class, if the models are binary."""
    return "none" if positive is None else repr(positive)


def read_baseline(path: str | os.PathLike[str], asked: Stated | None) -> SavedEvaluation:
    """A saved evaluation, or a file of tables evaluated under the present request."""
    if Path(path).suffix.lower() != ".parquet":
        return read_saved_evaluation(path)
    held = io.load_tables(path)
    first = next(iter(held.tables.values()))
    data = {"rows": held.rows, "classes": class_weights(first), "positive": first.positive_name}
    thresholds = {name: _threshold(name, table, asked) for name, table in held.tables.items() if table.thresholded}
    said = {"condition": _written(asked), "thresholds": thresholds}
    return SavedEvaluation(said, {"data": data, "rows": []}, held.tables, {}, held.notes, Path(path).name)


def _threshold(model: str, table: Table, asked: Stated | None) -> float:
    """The threshold that an evaluation of this table would show."""
    scores, cheapest = table.inside(ScoreTable), None
    if isinstance(asked, Condition):
        cheapest = float(scores.thresholds[int(argmin_price(*least_cost(asked)(scores.sweep)))])
    return shown_threshold(model, table, (), cheapest)


def _differs(saved: SavedEvaluation, models: Models, asked: Stated | None, prevalence: float | None) -> tuple[str, ...]:
    """How the request differs from that of the baseline, and which models have no counterpart."""
    names = (*saved.tables, *saved.without)
    gone = [name for name in names if name not in models]
    new = [name for name in models if name not in names]
    found = [
        f"{listing(missing)} {'is' if len(missing) == 1 else 'are'} not {where}, and compared with nothing."
        for missing, where in ((gone, "here"), (new, "in the baseline"))
        if missing
    ]
    found += [
        f"the baseline keeps the numbers of {name} and no table ({why}): changes have intervals alone."
        for name, why in saved.without.items()
        if name in models
    ]
    if "condition" in saved.asked and _written(asked) != saved.asked["condition"]:
        found.append(
            f"the costs are others: {_costs(saved.asked['condition'])} in the baseline, {_costs(_written(asked))} "
            "here; both samples are evaluated at those of this sample."
        )
    if "prevalence" in saved.asked and prevalence != saved.asked["prevalence"]:
        then, now = ("not stated" if one is None else f"{one:g}" for one in (saved.asked["prevalence"], prevalence))
        found.append(
            f"the prevalence is {then} in the baseline, {now} here; both samples are evaluated as this one is."
        )
    return tuple(found)


def _costs(condition: Mapping[str, Any] | None) -> str:
    if condition is None:
        return "none"
    shown = {name: f"{value:g}" if isinstance(value, (int, float)) else value for name, value in condition.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value not in (None, "0"))
