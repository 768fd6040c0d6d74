"""Fit one learner to one split, and measure its training and test predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.experiments.data import Dataset, resolve_datasets
from scorespace.experiments.estimators import decides_by_highest_score
from scorespace.experiments.fit import check_task, fit_predict
from scorespace.experiments.leakage_checks import TrainTestSplit
from scorespace.experiments.learners import ResolvedLearner, resolve_learners
from scorespace.experiments.store import PlannedDataset, resolve_positive
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.tables import Array, ConfusionTable, ScoreTable, Table, class_table, residual_table


class SplitScore(NamedTuple):
    """A measure on training and test cases of a split; NaN if undefined or not requested."""

    training: float
    test: float


@dataclass(frozen=True)
class SplitScorer:
    """A measure of predictions on a data set."""

    data: Dataset
    spec: MeasureSpec
    positive: str | None

    @property
    def best(self) -> str:
        return self.spec.best or "high"

    def value(self, rows: NDArray[np.int64], predictions: Array) -> float:
        """Value of the measure for predictions (rows, classes), or (rows, 1) in regression."""
        if not rows.size:
            return math.nan
        truths = self.data.truth if self.data.task == "numbers" else np.array(self.data.classes)[self.data.codes]
        return measure_predictions(self.data, self.spec, self.positive, truths[rows], predictions)

    def score(
        self,
        learner: ResolvedLearner,
        split: TrainTestSplit,
        seed: int,
        labels: NDArray[Any] | None = None,
        *,
        train: bool = False,
    ) -> SplitScore:
        """Fit the learner to a split, optionally with other labels, and score it."""
        predictions = fit_predict(learner, self.data, split, seed, train=train, truth=labels)
        rows = np.unique(split.train)
        training = math.nan if predictions.train is None else self.value(rows, predictions.train)
        return SplitScore(training, self.value(split.test, predictions.test))


def measure_predictions(
    data: Dataset | PlannedDataset,
    spec: MeasureSpec,
    positive: str | None,
    truth: Any,
    predictions: Array,
    weight: Any = None,
) -> float:
    """Value of a measure for predictions on a data set."""
    if data.task == "numbers":
        return bind(spec, residual_table(truth, predictions[:, 0], weight=weight)).value
    return bind(spec, table_of_predictions(spec, truth, predictions, data.classes, positive, weight)).value


def table_of_predictions(
    spec: MeasureSpec, truth: Any, scores: Array, classes: Sequence[str], positive: str | None, weight: Any = None
) -> Table:
    """Table that a measure needs of scores (cases, classes): of one class, all classes, or decisions."""
    table = class_table(truth, dict(zip(classes, scores.T, strict=True)), weight=weight)
    if spec.of is not None:
        return table
    if decides_by_highest_score(spec):
        decisions = table.decisions
        if positive is None:
            return decisions
        return ConfusionTable(decisions.matrix, decisions.classes, decisions.classes.index(positive))
    return table if positive is None else table.inside(ScoreTable, positive)


def make_split_scorer(data: Dataset, measure: str | None = None, positive: Any = None) -> SplitScorer:
    """Scorer of a data set; by default the AUC for classes, or r2 for regression."""
    named = resolve_positive(data, positive)
    spec = parse(measure or default_measure(data.task, named))
    if spec.best is None:
        raise MeasureError(f"{spec} has no best direction, so it cannot rank learners.", hint="auc, for example")
    return SplitScorer(data, spec, named)


def default_measure(task: str, positive: str | None) -> str:
    """Default measure of learners."""
    return "r2" if task == "numbers" else "auc[hand_till]" if positive is None else "auc"


def resolve_study(learner: Any, data: Any) -> tuple[ResolvedLearner, Dataset]:
    """Resolve the learner and the data set of a study."""
    requested = {"data": data} if isinstance(data, tuple) else data
    fittings, sets = resolve_learners(learner), resolve_datasets(requested)
    if len(fittings) != 1 or len(sets) != 1:
        raise ScoreSpaceError(
            "a study needs one learner and one data set.",
            seen=f"{listing(fitting.name for fitting in fittings)} on {listing(data_set.name for data_set in sets)}",
            hint="use ss.benchmark for several",
        )
    check_task(fittings[0], sets[0])
    return fittings[0], sets[0]
