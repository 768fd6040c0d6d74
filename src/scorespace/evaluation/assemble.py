"""Assembles an evaluation: reads data, runs or tables with their roles, and counts them into tables."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scorespace import io
from scorespace.case_costs import CaseCosts
from scorespace.costs import Asymmetry, Condition, CostMatrix
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.evaluation import baseline as saving
from scorespace.evaluation.default_measures import stated_on
from scorespace.evaluation.evaluation import Evaluation
from scorespace.evaluation.regression import OF_SUMS, terms_of
from scorespace.evaluation.tabulate import MemoryPlan, tabulated
from scorespace.experiments import estimators, results, run_predictions, store
from scorespace.inference.estimate import check_level, check_method
from scorespace.io.derived_scores import parse_scale
from scorespace.io.role_options import refuse_together
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.profiles import find_profile
from scorespace.results import Note, Progress
from scorespace.tables import Table, TopCases
from scorespace.tables.labels import label_text
from scorespace.tables.models import Models, SubgroupModels, models_from_tables
from scorespace.tables.threshold import from_scale_units


def evaluate_data(
    data: Any,
    *arrays: Any,
    truth: str | None = None,
    scores: Any = (),
    decisions: Any = (),
    predictions: Any = (),
    values: Any = (),
    positive: Any = None,
    weight: str | None = None,
    group: str | None = None,
    fold: str | None = None,
    repeat: str | None = None,
    names: Mapping[str, str] | None = None,
    weights: str = "cases",
    models: Mapping[str, str] | None = None,
    tables: Mapping[str, Table] | None = None,
    where: str | None = None,
    by: str | Sequence[str] = (),
    order: str | Sequence[Any] = (),
    scale: str | tuple[float, float] | None = None,
    lower_is_better: bool = False,
    query: str | None = None,
    intervals: Any = (),
    quantiles: Any = (),
    ensemble: Any = (),
    train: Any = None,
    baseline: str | float | os.PathLike[str] | Sequence[str | float | os.PathLike[str]] | None = None,
    time: str | None = None,
    dataset: str | None = None,
    measures: str | Sequence[str] = (),
    further: str | Sequence[str] | None = None,
    at: Sequence[float] = (),
    condition: Condition | CostMatrix | Asymmetry | CaseCosts | None = None,
    prevalence: float | None = None,
    missing: str = "error",
    paired: bool | None = None,
    memory: str | float | None = None,
    precision: float | None = None,
    engine: str | None = None,
    master: str | None = None,
    interval: str | None = None,
    profile: str | None = None,
    full: bool = False,
    parity: bool = False,
    threshold: float | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    cost_arrays: Mapping[str, Any] | None = None,
    per: str | None = None,
) -> Evaluation:
    """Evaluate data with every option by name; `scorespace.evaluate` groups the rarer ones."""
    check_level(level)
    interval = check_method(interval)
    chosen_profile = find_profile(profile)
    file, baseline = _baselines(baseline)
    saved = None if file is None else saving.read_baseline(file, condition)
    parts: tuple[SubgroupModels, ...] = ()
    notes: tuple[Note, ...]
    data, values = _given_values(data, values)
    stated = {"scores": scores, "decisions": decisions, "predictions": predictions}
    folds = isinstance(data, Mapping) and estimators.is_cross_validated(data)
    if arrays or folds or (truth is None and estimators.has_arrays(stated)):
        given = estimators.columns_of_inputs(data, arrays, stated, positive)
        data, truth, fold = given.columns, given.roles["truth"], given.roles.get("fold", fold)
        scores, decisions, predictions = (given.roles.get(role, ()) for role in stated)
    if cost_arrays:
        if not isinstance(data, Mapping):
            raise ScoreSpaceError(
                "arrays of costs need arrays of predictions.", hint="the name of a column: cost_fn='amount'"
            )
        data = {**data, **cost_arrays}
    columns = {"truth": truth, "decisions": decisions, "predictions": predictions, "weight": weight, "group": group}
    columns |= {"fold": fold, "repeat": repeat, "time": time}
    if _is_run(data):
        _refuse_choice("a run", where, by)
        name, given = _of_run(data, dataset, scores, positive, columns)
        whole = evaluate_data(
            given.columns,
            **given.roles,
            measures=measures,
            condition=condition,
            prevalence=prevalence,
            interval=interval,
            profile=profile,
            full=full,
            threshold=threshold,
            level=level,
            seed=seed,
            progress=progress,
        )
        pairs = whole.models.pairs
        held = replace(whole.models, name=name, pairs=None if pairs is None else replace(pairs, ratio=given.ratio))
        notes = (*given.notes, *whole.sample_notes)
        before = None if saved is None else saving.before_of(saved, held, condition, prevalence)
        return replace(whole, models=held, sample_notes=notes, before=before)
    if dataset is not None:
        raise ScoreSpaceError(
            f"dataset={dataset!r} is for the directory of a run.",
            seen=f"{data!r:.60}",
            hint="leave it out, or name such a directory",
        )
    io.check_engine(engine, master)
    if precision is not None and not 0 <= precision < 1:
        raise ScoreSpaceError(f"precision={precision:g} is not between 0 and 1.", hint="precision=1e-6, or 0 for exact")
    steps = [one.strip() for one in order.split(",")] if isinstance(order, str) and order else list(order)
    ends = parse_scale(scale)
    asked = tuple(_per_period(stated_on(ends, specs_of(measures)), per))
    if values or query is not None:
        what = "values per case, which have no classes" if values else "rankings per query"
        stated = {"threshold": threshold, "prevalence": prevalence, "condition": condition}
        refuse_together(what, {name: None if given is None else str(given) for name, given in stated.items()})
    if threshold is not None and math.isnan(threshold):
        raise ScoreSpaceError("threshold=nan is not a threshold.", hint="a number, such as 0.5")
    at = [from_scale_units(one, ends) for one in (*at, *([] if threshold is None else [threshold]))]
    if isinstance(data, Mapping) and data and all(isinstance(t, Table) for t in data.values()):
        _refuse_choice("a table", where, by)
        held, library = models_from_tables(_named_alike(data)), None
        notes = ()
    elif engine != "spark" and io.is_table_file(data):
        kept = io.load_tables(data)
        _refuse_choice("a table", where, by)
        if truth is not None or scores or decisions or predictions:
            raise DataError(f"{data} holds tables, which have no columns.", hint="leave out the columns")
        held = replace(models_from_tables(kept.tables, Path(data).name), rows=kept.rows, couples=kept.couples)
        notes, library = kept.notes, None
    else:
        held, parts, notes, library = tabulated(
            data,
            missing,
            steps,
            paired,
            condition if isinstance(condition, CostMatrix) else None,
            MemoryPlan(
                io.parse_memory(memory),
                precision,
                _edges(asked, condition, at),
                engine,
                master,
                cross_fitted=condition is not None,
                needs=None if further is None else terms_of([*(asked or map(parse, OF_SUMS)), *specs_of(further)]),
            ),
            **columns,
            scores=scores,
            values=values,
            scale=scale,
            lower_is_better=lower_is_better,
            query=query,
            positive=positive,
            where=where,
            by=by,
            names=names,
            weights=weights,
            models=models,
            intervals=intervals,
            quantiles=quantiles,
            ensemble=ensemble,
            train=train,
            baseline=baseline,
            known=() if saved is None else saving.classes_of(saved),
            period=per,
            costs_per_case=condition if isinstance(condition, CaseCosts) else None,
        )
    if tables:
        held = with_tables(held, tables)
    if steps:
        held = in_order(held, steps)
    evaluation = Evaluation(
        held,
        level,
        seed,
        interval,
        asked,
        condition,
        sample_notes=notes,
        frame_library=library,
        progress=progress,
        parts=parts,
        before=None if saved is None else saving.before_of(saved, held, condition, prevalence),
        profile=chosen_profile,
        full=full,
        parity=parity,
        stated_prevalence=None if prevalence is None else Condition(1, 1, prevalence=prevalence).prevalence,
        stated_threshold=None if threshold is None else from_scale_units(threshold, ends),
    )
    evaluation.check(asked)
    return evaluation


def _given_values(data: Any, values: Any) -> tuple[Any, Any]:
    """Data and columns of values per case; arrays of values are columns themselves, beside those of the data."""
    arrays = (
        {name: one for name, one in values.items() if not isinstance(one, str)} if isinstance(values, Mapping) else {}
    )
    if not arrays:
        if data is None:
            raise DataError("there are no data to evaluate.", hint='a path or frame, or values={"a": array}')
        return data, values
    if data is not None and not isinstance(data, Mapping):
        raise DataError("arrays of values need other columns as arrays, too.", hint='data={"group": array}')
    return {**(data or {}), **arrays}, {name: name if name in arrays else one for name, one in values.items()}


def _baselines(given: Any) -> tuple[Any, str | float | None]:
    """Split `baseline` into a file (saved evaluation or tables) and the reference of relative errors."""
    several = given if isinstance(given, (list, tuple)) else () if given is None else (given,)
    if "-" in map(str, several):
        raise DataError(
            "a baseline cannot be read from standard input.", hint='baseline="FILE.json", which --save wrote'
        )
    ends = (".json", ".parquet")
    files = [one for one in several if isinstance(one, os.PathLike) or str(one).lower().endswith(ends)]
    others = [one for one in several if one not in files]
    if len(files) > 1 or len(others) > 1:
        raise ScoreSpaceError(
            "two baselines are stated.", seen=listing(files if len(files) > 1 else others), hint="one"
        )
    return next(iter(files), None), next(iter(others), None)


def _refuse_choice(what: str, where: str | None, by: str | Sequence[str]) -> None:
    for role, given in (("where", where), ("by", by)):
        if given:
            raise ScoreSpaceError(f"{role}={given!r} selects rows, and {what} has none.", hint="the data with the rows")


def specs_of(texts: str | Sequence[str]) -> tuple[MeasureSpec, ...]:
    """Parse texts, each of which may list several measures."""
    return tuple(spec for text in ([texts] if isinstance(texts, str) else texts) for spec in parse_list(text))


def _per_period(asked: Sequence[MeasureSpec], per: str | None) -> list[MeasureSpec]:
    """The requests with their numbers of top cases limited in each period."""
    if per is None:
        return list(asked)
    if asked and not any(isinstance(spec.at, TopCases) for spec in asked):
        raise ScoreSpaceError(
            f"per={per!r} limits the alerts of each period, and no measure has a limit.",
            seen=listing(map(str, asked)),
            hint="a number of alerts per period: ppv@top500",
        )
    return [replace(spec, at=replace(spec.at, per=per)) if isinstance(spec.at, TopCases) else spec for spec in asked]


def _edges(asked: Sequence[MeasureSpec], condition: Any, at: Sequence[float] = ()) -> tuple[float, ...]:
    """Thresholds that must be bin edges: the requested ones, and the Bayes threshold of calibrated scores."""
    costs = condition.calibrated_threshold if isinstance(condition, Condition) else math.nan
    stated = (*(spec.at for spec in asked if isinstance(spec.at, float)), costs, *at)
    return tuple(sorted({at for at in stated if math.isfinite(at)}))


def _is_run(data: Any) -> bool:
    """Whether the data are a benchmark run or its directory."""
    if isinstance(data, str | os.PathLike):
        return os.path.isdir(data) and store.is_run(data)
    return not isinstance(data, Mapping | list) and isinstance(data, store.Run)


def _of_run(
    path: Any, dataset: str | None, learners: Any, positive: Any, others: Mapping[str, Any]
) -> tuple[str, estimators.EstimatorColumns]:
    """The name and predictions of one data set of a run; the only one if none is stated."""
    idle = next((name for name, given in others.items() if given), None)
    if idle is not None:
        raise ScoreSpaceError(
            f"{idle}=… names a column, and a run has its own columns.", hint="scores=… chooses learners"
        )
    run = path if isinstance(path, store.Run) else store.open_run(path)
    if dataset is None and len(run.datasets) != 1:
        raise ScoreSpaceError(
            f"{run.path.name} holds several data sets.", seen=listing(run.datasets), hint="dataset=… one of them"
        )
    name = dataset or run.datasets[0]
    chosen = (learners,) if isinstance(learners, str) else tuple(learners)
    given = run_predictions.prediction_columns_of_run(run, name, chosen, positive=positive)
    notes = (*given.notes, *results.fit_notes_of_run(run, name, chosen, positive))
    return f"{run.path.name}: {name}", replace(given, notes=notes)


def _named_alike(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables; matrices without class names take those of the others."""
    named = next((table for table in tables.values() if table.class_names != io.DEFAULT_CLASSES), None)
    if named is None or named.positive_name is None or len(named.class_names) != 2:
        return dict(tables)
    positive, other = sorted(named.class_names, key=lambda name: name != named.positive_name)
    return {
        name: replace(one, classes=(positive, other)) if one.class_names == io.DEFAULT_CLASSES else one
        for name, one in tables.items()
    }


def in_order(models: Models, order: Sequence[Any]) -> Models:
    """The models with ordinal classes, from the lowest to the highest."""
    tables = {name: table.in_order(order) for name, table in models.tables.items()}
    pairs = models.pairs
    if pairs is not None:  # made from columns, whose classes are in that order already
        pairs = replace(pairs, tables=tuple(tables[name] for name in pairs.models))
    names = [*map(label_text, order)]
    classes = {name: models.classes[name] for name in names if name in models.classes}
    return replace(models, classes=classes, tables=tables, pairs=pairs)


def with_tables(models: Models, tables: Mapping[str, Table]) -> Models:
    """The models of a sample, and further models on the same cases that are given as tables."""
    twice = [name for name in tables if name in models]
    if twice:
        raise ScoreSpaceError(f"two models are named {twice[0]!r}.", hint="rename one of them")
    if models.grouped:
        raise ScoreSpaceError(
            f"{next(iter(tables))} is a table, and grouped cases need rows.", hint="leave out the group"
        )
    every = models_from_tables(_named_alike({**models.tables, **tables}), models.name)
    return replace(every, rows=models.rows, positive=models.positive)
