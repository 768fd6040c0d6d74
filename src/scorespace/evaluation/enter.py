"""The ways in: from files, frames, arrays or tables to an Evaluation, and to one number by name."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorespace import frames
from scorespace.conditions import Asymmetry, Condition, CostMatrix
from scorespace.errors import DataError, ScoreSpaceError, listing
from scorespace.evaluation.evaluation import Evaluation
from scorespace.evaluation.numbers import OF_SUMS, terms_of
from scorespace.evaluation.shown import stated_on
from scorespace.evaluation.tabulate import Room, tabulated
from scorespace.frames.baseline import read_saved
from scorespace.frames.scale import scale_of
from scorespace.later import later
from scorespace.measures import MeasureSpec, parse, parse_list
from scorespace.measures.request import bind
from scorespace.resampling.estimate import check_level, check_method
from scorespace.results import Alternative, Note, Progress, note
from scorespace.tables import Table, confusion, residual_table, score_table
from scorespace.tables.arrays import table_of_arrays
from scorespace.tables.labels import array_of, label_text
from scorespace.tables.models import Models, Parts, models_of
from scorespace.tables.threshold import of_units

if TYPE_CHECKING:
    from scorespace.comparisons import mcnemar
    from scorespace.comparisons.answer import Comparisons
    from scorespace.evaluation import baseline as saving
    from scorespace.experiments import estimators, results, store
else:  # for counts, baselines, estimators and runs alone
    mcnemar = later("scorespace.comparisons.mcnemar")
    saving = later("scorespace.evaluation.baseline")
    estimators = later("scorespace.experiments.estimators")
    results = later("scorespace.experiments.results")
    store = later("scorespace.experiments.store")


def evaluate(
    data: Any,
    *arrays: Any,
    truth: str | None = None,
    scores: Any = (),
    decisions: Any = (),
    predictions: Any = (),
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
    intervals: Any = (),
    baseline: str | float | os.PathLike[str] | Sequence[str | float | os.PathLike[str]] | None = None,
    time: str | None = None,
    dataset: str | None = None,
    measures: str | Sequence[str] = (),
    further: str | Sequence[str] | None = None,
    at: Sequence[float] = (),
    condition: Condition | CostMatrix | Asymmetry | None = None,
    missing: str = "error",
    paired: bool | None = None,
    memory: str | float | None = None,
    precision: float | None = None,
    engine: str | None = None,
    master: str | None = None,
    interval: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate the models whose scores, decisions or predicted numbers are columns of the data.

    `data` is a path, a frame of any library that Narwhals knows, a dict of arrays, or a dict of
    tables by model or the file of such, for which no column need be named; or it is the truth itself, and `arrays`
    what models say of it, `evaluate(y, {"lr": p})`; or the results of scikit-learn's `cross_validate`, and `arrays` are
    X and y; or a run or its directory, and `dataset` one of its data sets. `paired` keeps what `compare` needs, a few
    bytes per case and model; without it, up to a million rows do. `weights`: intervals take a weighted row as
    one of the `cases`, or as so many `copies`. `interval` names a method; a measure that it does not suit is
    refused. `models` names models of other kinds by KIND(COLUMN); `tables` are those of further models on the same
    cases, made elsewhere, such as confusion matrices. Only rows `where` a condition holds take part, such as
    "age >= 65 and sex = 'f'". `by` names columns: every number is also told for each slice of the cases that they
    make, beside the rest, each column by itself; "age(bins=4)" makes so many parts of numbers, "a*b" crosses columns.
    `order` lists the classes from the lowest to the highest, where they have an order, and `scale` the ends of scores
    that are ratings, such as "0..10". Columns beyond `memory` (such as "2GB"; a quarter of what is free) are counted in
    bins where they are, and numbers are certified; with `precision`, a second pass leaves no more than that of the
    AUC open, and `at` names thresholds that stay exact beside those of the measures.
    With engine="spark", a cluster reads the path, that of `master`; a frame of Spark stays there, too.

    `baseline` names the file of a saved evaluation (`Evaluation.save`), which every number is then told beside.
    Of predicted numbers, `intervals` gives the two columns and the nominal level of each model's prediction intervals,
    `baseline` what relative errors are relative to (a column, a number, or the mean of these truths; a list for both
    baselines), and `time` orders the rows: intervals then allow for errors that are correlated in time.
    `further` lists the measures that will be asked for beside `measures`, or else beside the usual ones: of numbers
    beyond `memory`, what only others need is then not added up, which takes several times as long as reading them.

    >>> evaluate({"y": [1, 0, 1, 0], "s": [0.9, 0.4, 0.6, 0.7]}, truth="y", scores="s").measures("auc")
    s auc 0.750 [0.133, 0.983]
    """
    check_level(level)
    interval = check_method(interval)
    file, baseline = _baselines(baseline)
    saved = None if file is None else saving.read_baseline(file, condition)
    parts: tuple[Parts, ...] = ()
    notes: tuple[Note, ...]
    stated = {"scores": scores, "decisions": decisions, "predictions": predictions}
    folds = isinstance(data, Mapping) and estimators.is_cross_validated(data)
    if arrays or folds or (truth is None and estimators.arrays_among(stated)):
        given = estimators.columns_of(data, arrays, stated, positive)
        data, truth, fold = given.columns, given.roles["truth"], given.roles.get("fold", fold)
        scores, decisions, predictions = (given.roles.get(role, ()) for role in stated)
    columns = {"truth": truth, "decisions": decisions, "predictions": predictions, "weight": weight, "group": group}
    columns |= {"fold": fold, "repeat": repeat, "time": time}
    if _is_run(data):
        _refuse_choice("a run", where, by)
        name, given = _of_run(data, dataset, scores, positive, columns)
        whole = evaluate(
            given.columns,
            **given.roles,
            measures=measures,
            condition=condition,
            interval=interval,
            level=level,
            seed=seed,
            progress=progress,
        )
        pairs = whole.models.pairs
        held = replace(whole.models, name=name, pairs=None if pairs is None else replace(pairs, ratio=given.ratio))
        notes = (*given.notes, *whole.sample_notes)
        before = None if saved is None else saving.before_of(saved, held, condition)
        return replace(whole, models=held, sample_notes=notes, before=before)
    if dataset is not None:
        raise ScoreSpaceError(
            f"dataset={dataset!r} is for the directory of a run.",
            seen=f"{data!r:.60}",
            hint="leave it out, or name such a directory",
        )
    frames.check_engine(engine, master)
    if precision is not None and not 0 <= precision < 1:
        raise ScoreSpaceError(f"precision={precision:g} is no width of an area.", hint="precision=1e-6, or 0 for exact")
    steps = [one.strip() for one in order.split(",")] if isinstance(order, str) and order else list(order)
    ends = scale_of(scale)
    asked = tuple(stated_on(ends, _specs(measures)))
    at = [of_units(one, ends) for one in at]
    if isinstance(data, Mapping) and data and all(isinstance(t, Table) for t in data.values()):
        _refuse_choice("a table", where, by)
        held, library = models_of(_named_alike(data)), None
        notes = ()
    elif engine != "spark" and frames.holds_tables(data):
        kept = frames.load_tables(data)
        _refuse_choice("a table", where, by)
        if truth is not None or scores or decisions or predictions:
            raise DataError(f"{data} holds tables, which have no columns.", hint="leave out the columns")
        held = replace(models_of(kept.tables, Path(data).name), rows=kept.rows, couples=kept.couples)
        notes, library = kept.notes, None
    else:
        held, parts, notes, library = tabulated(
            data,
            missing,
            steps,
            paired,
            condition if isinstance(condition, CostMatrix) else None,
            Room(
                frames.memory_of(memory),
                precision,
                _edges(asked, condition, at),
                engine,
                master,
                judged=condition is not None,
                needs=None if further is None else terms_of([*(asked or map(parse, OF_SUMS)), *_specs(further)]),
            ),
            **columns,
            scores=scores,
            scale=scale,
            positive=positive,
            where=where,
            by=by,
            names=names,
            weights=weights,
            models=models,
            intervals=intervals,
            baseline=baseline,
            known=() if saved is None else saving.classes_of(saved),
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
        before=None if saved is None else saving.before_of(saved, held, condition),
    )
    evaluation.check(asked)
    return evaluation


def _baselines(given: Any) -> tuple[Any, str | float | None]:
    """Of what is called a baseline, the file of a saved evaluation or of tables, and what errors are relative to."""
    several = given if isinstance(given, (list, tuple)) else () if given is None else (given,)
    if "-" in map(str, several):
        raise DataError("a baseline is not read from standard input.", hint='baseline="FILE.json", which --save wrote')
    # The file of a saved evaluation, or of tables, is neither a column nor a number.
    ends = (".json", ".parquet")
    files = [one for one in several if isinstance(one, os.PathLike) or str(one).lower().endswith(ends)]
    others = [one for one in several if one not in files]
    if len(files) > 1 or len(others) > 1:
        raise ScoreSpaceError("there are two baselines.", seen=listing(files if len(files) > 1 else others), hint="one")
    return next(iter(files), None), next(iter(others), None)


def load(path: str | os.PathLike[str]) -> Evaluation:
    """The evaluation that was saved in a file, with the models whose tables it holds.

    Cases are not in the file: models cannot be compared case by case, and where cases come in groups, or models
    predict numbers or score several classes, it holds numbers alone, which serve as a baseline.
    """
    saved = read_saved(path)
    if not saved.tables:
        name, why = next(iter(saved.without.items()), ("any model", "no models"))
        raise DataError(
            f"{saved.name!r} holds the numbers of {name}, and no table.", seen=why, hint=f'baseline="{saved.name}"'
        )
    asked = saved.asked
    try:
        specs = _specs([str(one) for one in asked["measures"]])
        level, seed, interval = float(asked["level"]), int(asked["seed"]), check_method(asked["interval"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{saved.name!r} is damaged.", seen=f"wrong: {error}", hint="save it again") from None
    check_level(level)
    held = replace(models_of(saved.tables, str(asked.get("data", saved.name))), rows=saved.rows)
    notes = [*saved.notes]
    notes += [note("SS096", f"{name} was not saved with its table: {why}.") for name, why in saved.without.items()]
    return Evaluation(held, level, seed, interval, specs, saving.condition_of(saved), sample_notes=tuple(notes))


def _refuse_choice(what: str, where: str | None, by: str | Sequence[str]) -> None:
    for role, given in (("where", where), ("by", by)):
        if given:
            raise ScoreSpaceError(
                f"{role}={given!r} looks at rows, and {what} has none.", hint="the data with the rows"
            )


def _specs(texts: str | Sequence[str]) -> tuple[MeasureSpec, ...]:
    return tuple(spec for text in ([texts] if isinstance(texts, str) else texts) for spec in parse_list(text))


def _edges(asked: Sequence[MeasureSpec], condition: Any, at: Sequence[float] = ()) -> tuple[float, ...]:
    """The thresholds that are asked for, and that of calibrated scores under a condition: no bin straddles them."""
    costs = condition.calibrated_threshold if isinstance(condition, Condition) else math.nan
    stated = (*(spec.at for spec in asked if isinstance(spec.at, float)), costs, *at)
    return tuple(sorted({at for at in stated if math.isfinite(at)}))


def _is_run(data: Any) -> bool:
    """Whether it is a run or its directory: of a file or arrays that is told without loading what knows runs."""
    if isinstance(data, str | os.PathLike):
        return os.path.isdir(data) and store.is_run(data)
    return not isinstance(data, Mapping | list) and isinstance(data, store.Run)


def _of_run(
    path: Any, dataset: str | None, learners: Any, positive: Any, others: Mapping[str, Any]
) -> tuple[str, estimators.Given]:
    """What the learners of a run say of one of its data sets, the only one if none is named."""
    idle = next((name for name, given in others.items() if given), None)
    if idle is not None:
        raise ScoreSpaceError(f"{idle}=… names a column, and a run knows its own.", hint="scores=… chooses learners")
    run = path if isinstance(path, store.Run) else store.open_run(path)
    if dataset is None and len(run.datasets) != 1:
        raise ScoreSpaceError(
            f"{run.path.name} holds several data sets.", seen=listing(run.datasets), hint="dataset=… one of them"
        )
    name = dataset or run.datasets[0]
    chosen = (learners,) if isinstance(learners, str) else tuple(learners)
    given = results.predictions(run, name, chosen, positive=positive)
    notes = (*given.notes, *results.study_notes(run, name, chosen, positive))
    return f"{run.path.name}: {name}", replace(given, notes=notes)


def evaluate_estimator(model: Any, features: Any, truth: Any, /, *, positive: Any = None, **options: Any) -> Evaluation:
    """Evaluate a fitted estimator of scikit-learn, or several by name, on features and truth that it was not fitted to.

    It is asked for probabilities, else for the scores that it decides by, else for decisions; for numbers where it
    knows no classes. The options are those of `evaluate`: `evaluate_estimator(model, X, y, measures="auc, brier")`.
    """
    given = estimators.estimated(model, features, truth, positive)
    return evaluate(given.columns, positive=positive, **given.roles, **options)


def _named_alike(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables, those of matrices that name no classes with the classes of the others."""
    named = next((table for table in tables.values() if table.class_names != frames.UNNAMED), None)
    if named is None or named.positive_name is None or len(named.class_names) != 2:
        return dict(tables)
    positive, other = sorted(named.class_names, key=lambda name: name != named.positive_name)
    return {
        name: replace(one, classes=(positive, other)) if one.class_names == frames.UNNAMED else one
        for name, one in tables.items()
    }


def compare_counts(
    n00: int,
    n01: int,
    n10: int,
    n11: int,
    *,
    names: tuple[str, str] = ("a", "b"),
    test: str | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Comparisons:
    """Compare two models of which only the counts of right and wrong decisions are known.

    n00 cases both get wrong, n01 only the first gets right, n10 only the second gets right, n11 both get right.

    >>> found = compare_counts(20, 40, 20, 120)[0]
    >>> round(found.difference, 3), round(found.statistic, 3)
    (0.1, 6.017)
    """
    table = mcnemar.decisions_from_counts((n00, n01, n10, n11), names)
    found = evaluate(table, truth="truth", decisions=list(names), paired=True, level=level, seed=seed)
    return found.compare(test=test, alternative=alternative)


def in_order(models: Models, order: Sequence[Any]) -> Models:
    """The models with their classes in a stated order, from the lowest to the highest."""
    tables = {name: table.in_order(order) for name, table in models.tables.items()}
    pairs = models.pairs
    if pairs is not None:  # of columns, whose classes are in that order already
        pairs = replace(pairs, tables=tuple(tables[name] for name in pairs.models))
    names = [*map(label_text, order)]
    classes = {name: models.classes[name] for name in names if name in models.classes}
    return replace(models, classes=classes, tables=tables, pairs=pairs)


def with_tables(models: Models, tables: Mapping[str, Table]) -> Models:
    """The models of a sample and further ones on the same cases, of which only the tables are known."""
    twice = [name for name in tables if name in models]
    if twice:
        raise ScoreSpaceError(f"there are two models named {twice[0]!r}.", hint="another name for one of them")
    if models.grouped:
        raise ScoreSpaceError(
            f"{next(iter(tables))} is a table, and where cases come in groups they must be known.", hint="no group"
        )
    every = models_of(_named_alike({**models.tables, **tables}), models.name)
    return replace(every, rows=models.rows, positive=models.positive)


def measure(
    name: str,
    *,
    truth: Any,
    score: Any = None,
    decision: Any = None,
    prediction: Any = None,
    positive: Any = None,
    weight: Any = None,
) -> float:
    """One number, by name, from arrays; scores of several classes come by class, or as an array (cases, K).

    >>> measure("auc", truth=[1, 0, 1, 0], score=[0.9, 0.4, 0.6, 0.7])
    0.75
    """
    if sum(given is not None for given in (score, decision, prediction)) != 1:
        raise ScoreSpaceError("give either score or decision.", hint='measure("auc", truth=y, score=s)')
    if prediction is not None:
        return bind(parse(name), residual_table(truth, prediction, weight=weight)).value
    if score is not None and (isinstance(score, Mapping) or array_of(score).ndim == 2):
        table = table_of_arrays(truth, score, positive=positive, weight=weight)
    elif score is not None:
        table = score_table(truth, score, positive=positive, weight=weight)
    else:
        table = confusion(truth, decision, positive=positive, weight=weight)
    return bind(parse(name), table).value
