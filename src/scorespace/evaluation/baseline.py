"""Saving an evaluation, and reading one as the baseline of another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from scorespace import frames
from scorespace.comparisons.since import Before
from scorespace.conditions import Asymmetry, Condition, CostMatrix
from scorespace.decisions import best_value, least_cost
from scorespace.decisions.honest import crossfit, least
from scorespace.decisions.judged import Judged
from scorespace.errors import DataError, PositiveError, ScoreSpaceError, listing
from scorespace.evaluation.shown import YOUDEN, shown_threshold
from scorespace.frames.baseline import Saved, read_saved, why_not_stored, write_saved
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import stated_threshold
from scorespace.results import Row
from scorespace.tables import ScoreTable, Table
from scorespace.tables.models import Models, class_weights
from scorespace.views.answers import Answers

Stated = Condition | CostMatrix | Asymmetry


class Savable(Answers, Protocol):
    """What is saved of an evaluation: what was asked, beside what it answers."""

    @property
    def condition(self) -> Stated | None: ...

    def to_dict(self) -> Row: ...


def save(evaluation: Savable, path: str | os.PathLike[str]) -> Path:
    """Write an evaluation to a file: what was asked and found, and the tables, in which no case has a name."""
    models = evaluation.models
    grouped = "cases come in groups, which a table does not know" if models.grouped else None
    why = {name: grouped or why_not_stored(table) for name, table in models.items()}
    asked = {
        "data": models.name,
        "measures": [str(spec) for spec in evaluation.requested],
        "level": evaluation.level,
        "seed": evaluation.seed,
        "interval": evaluation.interval,
        "condition": _written(evaluation.condition),
        "thresholds": {name: float(evaluation.threshold(name)) for name in models.thresholded},
    }
    tables = {name: models[name] for name, reason in why.items() if reason is None}
    without = {name: reason for name, reason in why.items() if reason is not None}
    return write_saved(Saved(asked, evaluation.to_dict(), tables, without, evaluation.sample_notes), path)


def _written(condition: Stated | None) -> Row | None:
    if isinstance(condition, CostMatrix):
        return {"classes": list(condition.classes), "matrix": condition.matrix.tolist()}
    return None if condition is None else asdict(condition)


def condition_of(saved: Saved) -> Stated | None:
    """The condition that an evaluation was saved with."""
    told = saved.asked.get("condition")
    if told is None:
        return None
    try:
        kind = CostMatrix if "matrix" in told else Asymmetry if "under" in told else Condition
        return kind(**told)
    except (TypeError, ValueError) as error:
        raise DataError(f"{saved.name!r} is damaged.", seen=f"wrong: {error}", hint="save it again") from None


def classes_of(saved: Saved) -> tuple[str, ...]:
    """The classes of a baseline, where one of them is positive: a later sample may lack one of them."""
    data = saved.result["data"]
    return () if data.get("positive") is None else tuple(data.get("classes") or ())


def before_of(saved: Saved, models: Models, asked: Stated | None) -> Before:
    """What was saved as the baseline of these models, refused where it is not about the same question."""
    data = saved.result["data"]
    positive = data.get("positive")
    before = Before(
        saved.name,
        saved.date,
        saved.tables,
        saved.result["rows"],
        data.get("classes") or {},
        positive,
        saved.asked.get("thresholds", {}),
        saved.without,
        _differs(saved, models, asked),
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


def _on_others(saved: Saved, model: str) -> Judged | None:
    """What a threshold that the cases of a baseline chose did to those that did not; None where it was stated."""
    table = saved.tables.get(model)
    stated = stated_threshold(parse(str(name)) for name in saved.asked.get("measures", ())) is not None
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
    return crossfit({model: scores}, chosen, within_classes=within, seed=seed).chosen


def _told(positive: str | None) -> str:
    """A positive class; numbers and several classes have none."""
    return "none" if positive is None else repr(positive)


def read_baseline(path: str | os.PathLike[str], asked: Stated | None) -> Saved:
    """A saved evaluation; a file of tables as if it had been evaluated under what is asked now."""
    if Path(path).suffix.lower() != ".parquet":
        return read_saved(path)
    held = frames.load_tables(path)
    first = next(iter(held.tables.values()))
    data = {"rows": held.rows, "classes": class_weights(first), "positive": first.positive_name}
    thresholds = {name: _threshold(name, table, asked) for name, table in held.tables.items() if table.thresholded}
    said = {"condition": _written(asked), "thresholds": thresholds}
    return Saved(said, {"data": data, "rows": []}, held.tables, {}, held.notes, Path(path).name)


def _threshold(model: str, table: Table, asked: Stated | None) -> float:
    """The threshold that the cases of a table would have been shown at."""
    scores, cheapest = table.inside(ScoreTable), None
    if isinstance(asked, Condition):
        cheapest = float(scores.thresholds[int(least(*least_cost(asked)(scores.sweep)))])
    return shown_threshold(model, table, (), cheapest)


def _differs(saved: Saved, models: Models, asked: Stated | None) -> tuple[str, ...]:
    """What was asked otherwise, and which models have no counterpart."""
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
            "here; both samples are judged by those of here."
        )
    return tuple(found)


def _costs(condition: Mapping[str, Any] | None) -> str:
    if condition is None:
        return "none"
    shown = {name: f"{value:g}" if isinstance(value, (int, float)) else value for name, value in condition.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value not in (None, "0"))
