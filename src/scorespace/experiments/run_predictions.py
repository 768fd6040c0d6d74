"""Predictions of the learners of a run on the same cases, as columns with roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace import io
from scorespace.errors import DataError, listing
from scorespace.experiments.data import PREFIX
from scorespace.experiments.estimators import EstimatorColumns
from scorespace.experiments.store import Run, resolve_positive
from scorespace.results import Note, Row, grouped, note
from scorespace.tables import Array
from scorespace.tables.paired import PairTable

TRUTH: Final = "truth"
FOLD: Final = "fold"
REPEAT: Final = "repeat"
CASE: Final = "row"
GROUP: Final = "group"


def prediction_columns_of_run(
    run: Run,
    dataset: str,
    learners: Sequence[str] = (),
    *,
    positive: Any = None,
    part: str = "test",
    every_class: bool = False,
) -> EstimatorColumns:
    """Columns of the predictions of a run's learners on the same cases, and their roles.

    Splits that not all learners finished are dropped for all, with a note. The `group` role keeps rows together that
    belong together: those of a group, or all predictions of a case tested in several repeats. Of two classes the
    positive one is scored if it is known, unless `every_class` is set.
    """
    plan = run.of(dataset)
    names, failed = (tuple(learners), ()) if learners else learners_with_predictions(run, dataset)
    if not names:
        raise DataError(f"no learner has finished anything on {dataset} yet.", hint="scorespace benchmark status")
    arrays = {name: run.predictions(dataset, name, part=part) for name in names}
    arrays = {name: _select_rows(columns, columns[REPEAT] >= 0) for name, columns in arrays.items()}
    keys = {name: _case_keys(columns) for name, columns in arrays.items()}
    shared = keys[names[0]]
    for name in names[1:]:
        shared = np.intersect1d(shared, keys[name], assume_unique=True)
    unfinished = [name for name in names if keys[name].size != max(key.size for key in keys.values())]
    arrays = {name: _select_rows(columns, np.isin(keys[name], shared)) for name, columns in arrays.items()}
    first = arrays[names[0]]
    if not shared.size:
        raise DataError(
            f"no split of {dataset} was finished by all of {listing(names)}.",
            hint="repeat the benchmark to finish it, with --retry for failed fits",
        )
    repeat, fold, splits = _split_numbers(first)
    columns: dict[str, Any] = {TRUTH: first[TRUTH]}
    roles: Row = {"truth": TRUTH}
    is_leave_one_out = splits > 1 and splits == repeat.size and not repeat.any()
    if splits > 1 and not is_leave_one_out:
        columns, roles = columns | {FOLD: fold}, roles | {"fold": FOLD}
    if repeat.any():
        columns |= {REPEAT: repeat, CASE: first[CASE]}
        roles |= {"repeat": REPEAT, "group": CASE}
    if GROUP in first:
        columns, roles = columns | {GROUP: first[GROUP]}, roles | {"group": GROUP}
    positive_class = None if every_class else resolve_positive(plan, positive)
    for index, name in enumerate(names):
        column = f"answers {index}"  # column names are case-insensitive in engines, model names are not
        if plan.task == "numbers":
            columns[column] = arrays[name]["prediction"]
            roles.setdefault("predictions", {})[name] = column
        elif positive_class is not None:
            columns[column] = arrays[name][f"{PREFIX}{positive_class}"]
            roles.setdefault("scores", {})[name] = column
        else:
            by_class = {label: f"{column} of {k}" for k, label in enumerate(plan.classes)}
            columns |= {column: arrays[name][f"{PREFIX}{label}"] for label, column in by_class.items()}
            roles.setdefault("scores", {})[name] = by_class
    if positive_class is not None:
        roles["positive"] = positive_class
    notes = [failed_learner_note(name, dataset) for name in failed]
    if unfinished:
        text = f"{listing(unfinished)} did not finish every split of {dataset}"
        notes.append(note("SS073", f"{text}: all are evaluated on the splits that all finished."))
    if REPEAT in columns:
        cases, repeats = np.unique(first[CASE]).size, np.unique(first[REPEAT]).size
        text = f"{grouped(cases)} cases were tested in {grouped(repeats)} repeats ({run.resampling})"
        notes.append(note("SS016", f"{text}; all predictions of a case are resampled together."))
    if is_leave_one_out:
        text = f"every case was tested alone ({run.resampling}), so predictions of {grouped(splits)} fits are pooled"
        why = "a learner that predicts class shares ranks each case against its own class"
        notes.append(note("SS019", text + ("." if plan.task == "numbers" else f": {why}.")))
    return EstimatorColumns(columns, roles, tuple(notes), ratio_of_test_to_training(run, dataset, names[0]))


def _split_numbers(columns: dict[str, Any]) -> tuple[Array, Array, int]:
    """Repeat and fold of each prediction, and the number of splits; if folds are lost, each split is a repeat."""
    repeat, fold = (columns[name].astype(np.int64) for name in (REPEAT, FOLD))
    step = int(fold.max()) + 1
    splits, split_index = np.unique(repeat * step + fold, return_inverse=True)
    if np.unique(np.unique(splits // step, return_counts=True)[1]).size > 1:
        return split_index, np.zeros_like(fold), splits.size
    return repeat - repeat.min(), fold, splits.size


def _select_rows(columns: dict[str, Any], rows: Array) -> dict[str, Any]:
    return columns if rows.all() else {name: values[rows] for name, values in columns.items()}


def _case_keys(columns: dict[str, Any]) -> Array:
    """A number that identifies case and split of each prediction."""
    repeat, fold, row = (columns[name].astype(np.int64) for name in (REPEAT, FOLD, CASE))
    if not row.size:
        return row
    return (repeat * (fold.max() + 1) + fold) * (row.max() + 1) + row


def failed_learner_note(name: str, dataset: str) -> Note:
    return note("SS073", f"every fit of {name} on {dataset} failed, so it is excluded.")


def learners_with_predictions(run: Run, dataset: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Learners with predictions on a data set, and learners of which every fit failed."""
    started = [name for name in run.learners if run.files(dataset, name)]
    failed = {
        name for name in started if all(len(job["errors"]) == len(job["splits"]) for job in run.about(dataset, name))
    }
    return tuple(name for name in started if name not in failed), tuple(name for name in started if name in failed)


def pair_predictions(predictions: EstimatorColumns, *, every_class: bool = False) -> PairTable:
    """Predictions of all learners case by case; `every_class` ignores the positive class."""
    source = io.read(predictions.columns)
    sample = io.validate(source, io.resolve_roles(source, **predictions.roles))
    return replace(io.pair_models(replace(sample, positive=None) if every_class else sample), ratio=predictions.ratio)


def ratio_of_test_to_training(run: Run, dataset: str, learner: str) -> float:
    """Mean ratio of test to training cases over the splits."""
    splits = [split for job in run.about(dataset, learner) for split in job["splits"] if split[0] >= 0 and split[3]]
    return float(np.mean([split[3] / split[2] for split in splits])) if splits else 0.0
