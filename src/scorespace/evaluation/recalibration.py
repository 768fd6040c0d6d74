"""Recalibrates a model's scores: fits or applies a map and measures its effect."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace import io
from scorespace.calibration.fit import check_method, cross_fit_map, fit_map, is_fitted_to_truth
from scorespace.calibration.maps import MapInput, ScoreMap, map_from_dict
from scorespace.calibration.recalibration_effect import MeasureEffect, Recalibration, effects, map_notes
from scorespace.errors import ColumnError, DataError, PositiveError, ScoreSpaceError, listing
from scorespace.evaluation.findings import is_reversed, reversed_text
from scorespace.io.derived_scores import add_derived_scores
from scorespace.results import Note, grouped, note
from scorespace.tables import Array, ClassTable, ScoreTable, score_table
from scorespace.tables.labels import label_text


def recalibrate(
    data: Any,
    *,
    truth: str,
    score: Any,
    positive: Any = None,
    method: str = "isotonic",
    on: MapInput = "score",
    fit: Any = None,
    folds: int = 10,
    fold: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    names: Mapping[str, str] | None = None,
    missing: str = "error",
    seed: int = 0,
) -> Recalibration:
    """Recalibrate a model's scores by a map fitted on other data, or cross-fitted over folds.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The cases.
    truth : str
        Column of the ground truth.
    score : str
        Column of scores, or a pattern such as "nb_*" for multiclass scores.
    positive : object, optional
        The positive class.
    method : {"isotonic", "platt", "beta", "venn_abers", "temperature", "vector", "minmax", "logistic"}
        The calibration map.
    on : {"score", "logit"}
        Whether Platt's map is fitted to scores or to their logits.
    fit : path, data frame, or mapping of arrays, optional
        Other data to fit the map on; cross-fitted without it.
    folds : int
        Number of folds; 1 fits and evaluates on the same cases.
    fold, group, weight : str, optional
        Columns of folds, of groups that stay in one fold, and of weights.
    names : mapping of str to str, optional
        Names of models by column.
    missing : {"error", "drop"}
        What to do with missing values.
    seed : int
        Seed of the folds.

    Returns
    -------
    Recalibration
        The map, the recalibrated scores, and measures before and after.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines. Advances in Large Margin Classifiers, 61-74.
    Zadrozny, B., & Elkan, C. (2002). Transforming classifier scores into accurate multiclass probability estimates.
    KDD, 694-699.

    Examples
    --------
    >>> data = {"y": [0, 0, 1, 0, 1, 1] * 5, "s": [1, 2, 3, 4, 5, 6] * 5}
    >>> recalibrate(data, truth="y", score="s", method="platt", folds=5).effect("brier").reason
    'before: the scores are not probabilities'
    """
    check_method(method, on)
    if folds < 1:
        raise DataError(f"folds={folds} is no number of folds.", hint="folds=10")
    if fit is not None and (fold is not None or group is not None):
        raise ScoreSpaceError(
            "the map is fitted either on other data or across folds.", hint="leave out fit, or fold and group"
        )
    named: dict[str, Any] = {"positive": positive, "weight": weight, "names": names}
    cases = _cases(data, truth, score, missing, group=group, fold=fold, **named)
    others = cases
    if fit is not None:
        order = cases.classes if cases.score.ndim == 2 else ()
        others = _cases(fit, truth, score, missing, order, **named)
    found = fit_map(others.table(), method, on=on)
    same = fold is None and folds == 1 if fit is None else _same_data(data, fit)
    notes: tuple[Note, ...] = ()
    if fit is None and is_fitted_to_truth(method) and not same:
        crossed = cross_fit_map(
            cases.codes,
            cases.score,
            method,
            positive=None if cases.positive is None else cases.classes[cases.positive],
            classes=cases.classes,
            weight=cases.weight,
            folds=folds,
            fold=cases.fold,
            group=cases.group,
            on=on,
            seed=seed,
        )
        fitted, mapped, outside = f"cross-fitted over {crossed.folds} folds", crossed.scores, crossed.outside
    else:
        mapped, outside = found.apply(cases.score), found.outside(cases.score)
        other = fit is not None and not same
        fitted = f"fitted on {grouped(others.codes.size)} other cases" if other else "fitted on the same cases"
        if found.fitted_to == "nothing":
            fitted = "by formula"
        elif same and is_fitted_to_truth(method):
            text = f"{method} was fitted and evaluated on the same cases, so its effect is too optimistic."
            notes = (note("SS025", text),)
    return _result(cases, method, fitted, others.codes.size, found, mapped, outside, notes)


def apply_map(
    data: Any,
    map: Any,
    *,
    score: Any,
    truth: str | None = None,
    positive: Any = None,
    weight: str | None = None,
    names: Mapping[str, str] | None = None,
    missing: str = "error",
) -> Recalibration:
    """Recalibrate a model's scores by a map that was fitted before.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The cases.
    map : ScoreMap or path
        The map, or the file that holds it; a saved map refuses another positive class.
    score : str
        Column of scores, or a pattern such as "nb_*" for multiclass scores.
    truth : str, optional
        Column of the ground truth; gives measures before and after.
    positive : object, optional
        The positive class.
    weight : str, optional
        Column of weights.
    names : mapping of str to str, optional
        Names of models by column.
    missing : {"error", "drop"}
        What to do with missing values.

    Returns
    -------
    Recalibration
        The recalibrated scores, and measures before and after if the truth is known.

    Examples
    --------
    >>> from scorespace.calibration.maps import PlattMap
    >>> apply_map({"s": [0.2, 0.9]}, PlattMap(4.0, -2.0), score="s").scores
    array([0.23147522, 0.83201839])
    """
    if isinstance(map, (str, os.PathLike)):
        positive = agreed_positive(map, positive)
        map = read_map(map)
    if truth is None and weight is not None:
        raise ScoreSpaceError("weights need the truth.", hint="truth=…")
    if truth is not None:
        cases = _cases(data, truth, score, missing, map.classes, positive=positive, weight=weight, names=names)
    else:
        cases = _cases_without_truth(data, score, names, missing, map.classes)
    mapped, outside = map.apply(cases.score), map.outside(cases.score)
    return _result(cases, map.method, "as saved", 0, map, mapped, outside)


def read_map(path: str | os.PathLike[str]) -> ScoreMap:
    """Read a recalibration map from a JSON file.

    Parameters
    ----------
    path : path
        The file that `scorespace calibrate --map` wrote.

    Returns
    -------
    ScoreMap
        The map.

    Examples
    --------
    >>> read_map("none.json")
    Traceback (most recent call last):
    scorespace.errors.DataError: ...
    """
    return map_from_dict(_read_json(path))


def read_positive(path: str | os.PathLike[str]) -> str | None:
    """The positive class that the map in a JSON file was fitted for, if stated."""
    about = _read_json(path).get("about")
    found = about.get("positive") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) else None


def agreed_positive(path: str | os.PathLike[str], positive: Any) -> Any:
    """The stated positive class or that of the map; refused where they differ."""
    fitted = read_positive(path)
    if positive is not None and fitted is not None and label_text(positive) != fitted:
        raise PositiveError(
            f"the map in {os.fspath(path)!r} gives the probability of {fitted!r}, not of {label_text(positive)!r}.",
            hint=f'positive="{fitted}"',
        )
    return fitted if positive is None else positive


def _read_json(path: str | os.PathLike[str]) -> Any:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise DataError(
            f"the map {os.fspath(path)!r} cannot be read.", seen=error.strerror, hint="check the path"
        ) from None
    except (ValueError, RecursionError) as error:  # no JSON, or no text at all
        seen = str(error).splitlines()[0][:80]
        raise DataError(
            f"{os.fspath(path)!r} is no map: it is not JSON.",
            seen=seen,
            hint="a map as scorespace calibrate --map writes it",
        ) from None
    if not isinstance(content, dict):
        raise DataError(f"{os.fspath(path)!r} is no map.", seen=f"a {type(content).__name__}", hint="a JSON object")
    return content


def _refuse_constant(token: str) -> None:
    raise ValueError(f"{token} is not valid JSON")


def write_recalibrated(data: Any, found: Recalibration | Sequence[Recalibration], path: str | os.PathLike[str]) -> Path:
    """Write the rows of the data with recalibrated scores as further columns.

    Parameters
    ----------
    data : path, data frame, or mapping of arrays
        The data that were recalibrated.
    found : Recalibration or sequence of Recalibration
        The recalibrated scores of one or several models.
    path : path
        Where to write; ends in .csv, .tsv or .parquet.

    Returns
    -------
    Path
        Where it is.
    """
    target = Path(path)
    added: dict[str, Array] = {}
    for one in [found] if isinstance(found, Recalibration) else found:
        columns = one.scores[:, None] if one.scores.ndim == 1 else one.scores
        added |= dict(zip(one.columns, columns.T, strict=True))
    io.write_with_columns(data, added, target)
    return target


# --- the cases


@dataclass(frozen=True, eq=False)
class _ScoredCases:
    """The cases as arrays: class codes, one score or one per class, weight, group and fold."""

    name: str
    model: str
    columns: tuple[str, ...]
    score: Array
    used: NDArray[np.bool_]
    codes: NDArray[Any]
    classes: tuple[str, ...] = ()
    positive: int | None = None
    weight: Array | None = None
    group: Array | None = None
    fold: Array | None = None
    notes: tuple[Note, ...] = ()

    def table(self, score: Array | None = None) -> ScoreTable | ClassTable:
        """The table of these cases with their scores, or with other scores."""
        values = self.score if score is None else score
        if values.ndim == 2:
            return ClassTable(values.T, self.codes.astype(np.intp), self.classes, self.weight)
        positive = None if self.positive is None else self.classes[self.positive]
        return score_table(self.codes, values, classes=self.classes, positive=positive, weight=self.weight)


def _cases(data: Any, truth: str, score: Any, missing: str, order: tuple[str, ...] = (), **named: Any) -> _ScoredCases:
    """Read the cases of a model; `named` are further roles, `order` the classes of a map."""
    source, score = add_derived_scores(io.read(data), score, named.get("positive"))
    roles = io.resolve_roles(source, truth=truth, scores=score, **named)
    sample = io.validate(source, roles, missing=missing)
    model, by_class = _one_model({**roles.scores, **roles.class_scores})
    several = "" not in by_class
    # Classes that are scored but do not occur come last, as in every multiclass table.
    classes = (order or tuple(dict.fromkeys([*sample.classes, *by_class]))) if several else sample.classes
    own = {role: name for role in ("weight", "group", "fold") if (name := named.get(role))}
    found: dict[str, Any] = io.fetch_columns(sample, [truth, *by_class.values(), *own.values()])
    return _ScoredCases(
        source.name,
        model,
        *_scores(found, model, by_class, classes),
        used=io.used_rows(sample),
        codes=_recoded(found[truth], sample.classes, classes),
        classes=classes,
        positive=None if several else sample.positive,
        notes=sample.notes,
        **{role: found[name] for role, name in own.items()},
    )


def _cases_without_truth(
    data: Any, score: Any, names: Mapping[str, str] | None, missing: str, order: tuple[str, ...]
) -> _ScoredCases:
    source, score = add_derived_scores(io.read(data), score, None)
    model, by_class = _one_model(io.resolve_scores(source, score, names))
    found, used = io.read_score_columns(source, list(by_class.values()), missing)
    scores = _scores(found, model, by_class, order or tuple(by_class))
    return _ScoredCases(source.name, model, *scores, used, np.empty(0, dtype=np.intp))


def _one_model(models: Mapping[str, str | Mapping[str, str]]) -> tuple[str, Mapping[str, str]]:
    """The only model and its columns by class; a binary score has the class name ""."""
    if len(models) != 1:
        raise ColumnError("one model is recalibrated at a time.", seen=listing(models), hint="one score column")
    ((model, columns),) = models.items()
    return model, {"": columns} if isinstance(columns, str) else columns


def _scores(
    found: Mapping[str, Array], model: str, by_class: Mapping[str, str], classes: tuple[str, ...]
) -> tuple[tuple[str, ...], Array]:
    """Names of the new columns, and the scores; refused where a class has no score.

    The new names of multiclass columns do not match the pattern of the old ones.
    """
    if "" in by_class:
        return (f"{model}_calibrated",), np.asarray(found[by_class[""]], dtype=np.float64)
    absent = [name for name in classes if name not in by_class]
    if absent:
        raise ColumnError(
            f"the map needs a score for the class {absent[0]!r}.",
            seen=f"scores for {listing(by_class)}",
            hint="a score for each class that the map knows",
        )
    columns = [by_class[name] for name in classes]
    scores = np.stack([found[name] for name in columns], axis=1).astype(np.float64)
    return tuple(f"calibrated_{name}" for name in columns), scores


def _recoded(codes: NDArray[Any], classes: tuple[str, ...], wanted: tuple[str, ...]) -> NDArray[np.intp]:
    """Class codes of the sample converted to those of the map."""
    absent = [name for name in classes if name not in wanted]
    if absent:
        raise DataError(
            f"the map does not know the class {absent[0]!r}.",
            seen=f"it knows {listing(wanted)}",
            hint="data of the classes that the map knows",
        )
    return np.array([wanted.index(name) for name in classes], dtype=np.intp)[codes]


def _same_data(data: Any, fit: Any) -> bool:
    if data is fit:
        return True
    if not all(isinstance(each, (str, os.PathLike)) for each in (data, fit)):
        return False
    return data == fit or (os.path.exists(data) and os.path.exists(fit) and os.path.samefile(data, fit))


def _result(
    cases: _ScoredCases,
    method: str,
    fitted: str,
    fitted_cases: int,
    map: ScoreMap,
    mapped: Array,
    outside: NDArray[np.bool_],
    notes: tuple[Note, ...] = (),
) -> Recalibration:
    judged = cases.codes.size > 0
    scores = np.full((cases.used.size, *mapped.shape[1:]), np.nan)
    scores[cases.used] = mapped
    totals: Mapping[str, float] = {}
    compared: tuple[MeasureEffect, ...] = ()
    if judged:
        before, after = cases.table(), cases.table(mapped)
        compared = effects(before, after)
        sums = zip(before.classes, before.class_totals.tolist(), strict=True)
        totals = {name: int(total) if total == int(total) else total for name, total in sums}  # 3 instead of 3.0
    impossible = _impossible(cases) if judged else 0
    found = map_notes(method, map, cases.score, mapped, int(outside.sum()), impossible)
    if judged and before.thresholded and is_reversed(before.inside(ScoreTable)):
        flattened = "" if map.reverses_ranking else " A map that keeps their order flattens such scores."
        text = f"{reversed_text(cases.model, compared[-1].before)}{flattened}"
        found = (note("SS002", text), *found)
    return Recalibration(
        cases.name,
        cases.model,
        method,
        fitted,
        len(cases.score),
        fitted_cases,
        cases.columns,
        map,
        scores,
        compared,
        totals,
        None if cases.positive is None else cases.classes[cases.positive],
        tuple(sorted((*cases.notes, *notes, *found), key=lambda one: one.level != "warning")),
    )


def _impossible(cases: _ScoredCases) -> int:
    """Cases whose actual class was given probability 0."""
    if cases.score.ndim == 2:
        return int((np.take_along_axis(cases.score, cases.codes[:, None], axis=1) == 0).sum())
    return int((cases.score == (cases.codes != cases.positive)).sum())
