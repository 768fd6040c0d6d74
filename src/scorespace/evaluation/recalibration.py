"""Recalibration of a model's scores: from data to a map, to the mapped scores, and to what that changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace import frames
from scorespace.errors import ColumnError, DataError, PositiveError, ScoreSpaceError, listing
from scorespace.evaluation.notes import is_reversed, reversed_text
from scorespace.frozen import dataclass
from scorespace.probabilities.effect import Effect, Recalibration, effects, map_notes
from scorespace.probabilities.fit import check_method, cross_fitted, fit_map, learns
from scorespace.probabilities.maps import On, ScoreMap, map_from_dict
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
    on: On = "score",
    fit: Any = None,
    folds: int = 10,
    fold: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    names: Mapping[str, str] | None = None,
    missing: str = "error",
    seed: int = 0,
) -> Recalibration:
    """Recalibrate a model's scores by a map fitted on other data (`fit`), or cross-fitted over folds.

    `folds=1` fits and judges on the same cases, which the result then says. `score` is a column, or a
    pattern such as "nb_*" for those of several classes. `on="logit"` is for Platt's map of probabilities.

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
    if fit is None and learns(method) and not same:
        crossed = cross_fitted(
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
        elif same and learns(method):
            text = f"{method} was fitted on the cases it is judged on: expect less of it on new ones."
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
    """Recalibrate a model's scores by a map that was fitted before, or by the path of one; with a truth, judged too.

    A map that was saved knows the positive class that it was fitted for: another one is refused.

    >>> from scorespace.probabilities.maps import PlattMap
    >>> apply_map({"s": [0.2, 0.9]}, PlattMap(4.0, -2.0), score="s").scores
    array([0.23147522, 0.83201839])
    """
    if isinstance(map, (str, os.PathLike)):
        positive = agreed_positive(map, positive)
        map = read_map(map)
    if truth is None and weight is not None:
        raise ScoreSpaceError("weights are for judging the map, and no truth is named.", hint="truth=…")
    if truth is not None:
        cases = _cases(data, truth, score, missing, map.classes, positive=positive, weight=weight, names=names)
    else:
        cases = _cases_without_truth(data, score, names, missing, map.classes)
    mapped, outside = map.apply(cases.score), map.outside(cases.score)
    return _result(cases, map.method, "as saved", 0, map, mapped, outside)


def read_map(path: str | os.PathLike[str]) -> ScoreMap:
    """The recalibration map in a JSON file, checked."""
    return map_from_dict(_read_json(path))


def read_positive(path: str | os.PathLike[str]) -> str | None:
    """The positive class that the map in a JSON file was fitted for, where it says so."""
    about = _read_json(path).get("about")
    found = about.get("positive") if isinstance(about, Mapping) else None
    return found if isinstance(found, str) else None


def agreed_positive(path: str | os.PathLike[str], positive: Any) -> Any:
    """The positive class, as stated or as the map in a file has it; they must not differ."""
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
    raise ValueError(f"{token} is not a number that JSON knows")


def write_recalibrated(data: Any, found: Recalibration | Sequence[Recalibration], path: str | os.PathLike[str]) -> Path:
    """Write the rows of the data with the recalibrated scores of a model, or of several, as .csv, .tsv or .parquet."""
    target = Path(path)
    added: dict[str, Array] = {}
    for one in [found] if isinstance(found, Recalibration) else found:
        columns = one.scores[:, None] if one.scores.ndim == 1 else one.scores
        added |= dict(zip(one.columns, columns.T, strict=True))
    frames.write_extended(data, added, target)
    return target


# --- the cases


@dataclass(frozen=True, eq=False)
class _Cases:
    """The cases in use as arrays: codes into the classes, one score or one per class, weight, group and fold."""

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
        """The table of these cases, with their own scores or with others."""
        values = self.score if score is None else score
        if values.ndim == 2:
            return ClassTable(values.T, self.codes.astype(np.intp), self.classes, self.weight)
        positive = None if self.positive is None else self.classes[self.positive]
        return score_table(self.codes, values, classes=self.classes, positive=positive, weight=self.weight)


def _cases(data: Any, truth: str, score: Any, missing: str, order: tuple[str, ...] = (), **named: Any) -> _Cases:
    """The cases of a model; `named` are its further roles, `order` the classes as a map has them."""
    source = frames.read(data)
    roles = frames.roles(source, truth=truth, scores=score, **named)
    sample = frames.check(source, roles, missing=missing)
    model, by_class = _one_model({**roles.scores, **roles.class_scores})
    several = "" not in by_class
    # Classes that are scored but never occur come last, as in every class table.
    classes = (order or tuple(dict.fromkeys([*sample.classes, *by_class]))) if several else sample.classes
    own = {role: name for role in ("weight", "group", "fold") if (name := named.get(role))}
    found: dict[str, Any] = frames.columns(sample, [truth, *by_class.values(), *own.values()])
    return _Cases(
        source.name,
        model,
        *_scores(found, model, by_class, classes),
        used=frames.rows_in_use(sample),
        codes=_recoded(found[truth], sample.classes, classes),
        classes=classes,
        positive=None if several else sample.positive,
        notes=sample.notes,
        **{role: found[name] for role, name in own.items()},
    )


def _cases_without_truth(
    data: Any, score: Any, names: Mapping[str, str] | None, missing: str, order: tuple[str, ...]
) -> _Cases:
    source = frames.read(data)
    model, by_class = _one_model(frames.score_models(source, score, names))
    found, used = frames.score_columns(source, list(by_class.values()), missing)
    scores = _scores(found, model, by_class, order or tuple(by_class))
    return _Cases(source.name, model, *scores, used, np.empty(0, dtype=np.intp))


def _one_model(models: Mapping[str, str | Mapping[str, str]]) -> tuple[str, Mapping[str, str]]:
    """The only model and its columns by class; under the empty name where there is one column."""
    if len(models) != 1:
        raise ColumnError("one model is recalibrated at a time.", seen=listing(models), hint="one score column")
    ((model, columns),) = models.items()
    return model, {"": columns} if isinstance(columns, str) else columns


def _scores(
    found: Mapping[str, Array], model: str, by_class: Mapping[str, str], classes: tuple[str, ...]
) -> tuple[tuple[str, ...], Array]:
    """What the new columns are called, and the scores; refused where a class has none.

    Columns of classes are called so that the pattern of the old ones does not take them.
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
    """Codes into the classes of the sample as codes into those of the map."""
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
    cases: _Cases,
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
    compared: tuple[Effect, ...] = ()
    if judged:
        before, after = cases.table(), cases.table(mapped)
        compared = effects(before, after)
        sums = zip(before.classes, before.class_totals.tolist(), strict=True)
        totals = {name: int(total) if total == int(total) else total for name, total in sums}  # as people write them
    impossible = _impossible(cases) if judged else 0
    found = map_notes(method, map, cases.score, mapped, int(outside.sum()), impossible)
    if judged and before.thresholded and is_reversed(before.inside(ScoreTable)):
        flattened = "" if map.turned else " A map that keeps their order flattens such scores."
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


def _impossible(cases: _Cases) -> int:
    """Cases whose actual class was given probability 0."""
    if cases.score.ndim == 2:
        return int((np.take_along_axis(cases.score, cases.codes[:, None], axis=1) == 0).sum())
    return int((cases.score == (cases.codes != cases.positive)).sum())
