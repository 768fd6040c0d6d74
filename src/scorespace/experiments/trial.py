"""One learner tried on one split: a measure of what it says of training and of test cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.experiments.data import Dataset, datasets_of
from scorespace.experiments.estimators import by_highest
from scorespace.experiments.fit import check_task, fit_predict
from scorespace.experiments.golden import Split
from scorespace.experiments.learners import Fitting, learners_of
from scorespace.experiments.store import Planned, positive_of
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.tables import Array, ConfusionTable, ScoreTable, Table, class_table, residual_table


class Tried(NamedTuple):
    """A measure on the training and on the test cases of a split; NaN where it is undefined or was not asked for."""

    training: float
    test: float


@dataclass(frozen=True)
class Judge:
    """A measure of what learners say of the cases of a data set."""

    data: Dataset
    spec: MeasureSpec
    positive: str | None

    @property
    def best(self) -> str:
        return self.spec.measure.best or "high"

    def value(self, rows: NDArray[np.int64], answers: Array) -> float:
        """The measure of answers (rows, classes), or (rows, 1) of numbers."""
        if not rows.size:
            return math.nan
        named = self.data.truth if self.data.task == "numbers" else np.array(self.data.classes)[self.data.codes]
        return measured(self.data, self.spec, self.positive, named[rows], answers)

    def score(
        self, learner: Fitting, split: Split, seed: int, labels: NDArray[Any] | None = None, *, train: bool = False
    ) -> Tried:
        """The learner fitted to the training rows of a split, with other labels where given, and judged."""
        said = fit_predict(learner, self.data, split, seed, train=train, truth=labels)
        rows = np.unique(split.train)
        inner = math.nan if said.train is None else self.value(rows, said.train)
        return Tried(inner, self.value(split.test, said.test))


def measured(
    of: Dataset | Planned, spec: MeasureSpec, positive: str | None, truth: Any, said: Array, weight: Any = None
) -> float:
    """A measure of answers on the cases of a data set."""
    if of.task == "numbers":
        return bind(spec, residual_table(truth, said[:, 0], weight=weight)).value
    return bind(spec, table_of_answers(spec, truth, said, of.classes, positive, weight)).value


def table_of_answers(
    spec: MeasureSpec, truth: Any, answers: Array, classes: Sequence[str], positive: str | None, weight: Any = None
) -> Table:
    """The table that a measure needs of the scores (cases, classes): of one class, of all, or of decisions."""
    table = class_table(truth, dict(zip(classes, answers.T, strict=True)), weight=weight)
    if spec.of is not None:
        return table
    if by_highest(spec):
        decided = table.decisions
        if positive is None:
            return decided
        return ConfusionTable(decided.matrix, decided.classes, decided.classes.index(positive))
    return table if positive is None else table.inside(ScoreTable, positive)


def judge_of(data: Dataset, measure: str | None = None, positive: Any = None) -> Judge:
    """A measure on a data set, or the usual one: the area under the ROC curve of its classes, or r2 of numbers."""
    named = positive_of(data, positive)
    spec = parse(measure or usual_measure(data.task, named))
    if spec.measure.best is None:
        raise MeasureError(
            f"neither end of {spec} is best, so nothing can be learned from it.", hint="auc, for example"
        )
    return Judge(data, spec, named)


def usual_measure(task: str, positive: str | None) -> str:
    """What is shown of learners when nothing is asked for."""
    return "r2" if task == "numbers" else "auc[hand_till]" if positive is None else "auc"


def studied(learner: Any, data: Any) -> tuple[Fitting, Dataset]:
    """The learner and the data set that a study is about."""
    given = {"data": data} if isinstance(data, tuple) else data
    fittings, sets = learners_of(learner), datasets_of(given)
    if len(fittings) != 1 or len(sets) != 1:
        raise ScoreSpaceError(
            "a study is of one learner on one data set.",
            seen=f"{listing(one.name for one in fittings)} on {listing(one.name for one in sets)}",
            hint="ss.benchmark takes several",
        )
    check_task(fittings[0], sets[0])
    return fittings[0], sets[0]
