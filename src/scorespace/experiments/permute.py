"""Does a learner learn anything: trained on permuted labels, and scored on the labels as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Split
from scorespace.experiments.learners import Fitting
from scorespace.experiments.resampling import parse
from scorespace.experiments.trial import Judge, judge_of, studied
from scorespace.frozen import dataclass
from scorespace.parts import required
from scorespace.results import ByValue, Progress, Result, Row, decimals, grouped, p_text, plain
from scorespace.tables import Array


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(Result, ByValue):
    """A learner's score beside those of the same learner trained on labels that mean nothing.

    `null` holds the scores with permuted labels; all scores are means over the splits in which they are defined.
    """

    model: str
    measure: str
    best: str
    observed: float
    null: Array
    splits: int

    @property
    def as_good(self) -> int:
        """How many permutations score as well as the labels as they are."""
        ahead = self.null >= self.observed if self.best == "high" else self.null <= self.observed
        return int(ahead.sum())

    @property
    def p(self) -> float:
        """(1 + how many are as good) / (1 + how many there are): the labels as they are count, so it is never 0."""
        if math.isnan(self.observed):
            return math.nan
        return (1 + self.as_good) / (1 + self.null.size)

    @property
    def words(self) -> str:
        """The answer in a sentence."""
        if math.isnan(self.p):
            return f"{self.measure} of {self.model} is undefined in every split."
        chance, many = decimals(float(np.nanmean(self.null))), grouped(self.null.size)
        answer = "it learns something" if self.p < 0.05 else "that it learns anything is not shown"
        return (
            f"{self.model} has {self.measure} {decimals(self.observed)} on cases that it was not trained on, and "
            f"{chance} when trained on permuted labels: {answer} ({self.as_good} of {many} permutations as good, "
            f"{p_text(self.p)})."
        )

    def rows(self) -> list[Row]:
        """One row per permutation."""
        return [{"permutation": k + 1, "value": value} for k, value in enumerate(plain(self.null))]

    def facts(self) -> Row:
        return {
            "model": self.model,
            "measure": self.measure,
            "observed": self.observed,
            "p": self.p,
            "permutations": self.null.size,
            "splits": self.splits,
        }


def permute_labels(
    learner: Any,
    data: Any,
    *,
    resampling: Any = "10",
    measure: str | None = None,
    permutations: int = 200,
    positive: Any = None,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> PermutationTest:
    """Permute the labels of the training cases, train again, and score on test cases whose labels stay.

    What a learner gets from labels that mean nothing is what its procedure gives away by itself. `learner` is a name
    or an estimator, `data` a data set or the pair (X, y); without a measure, the area under the ROC curve, or r2.
    """
    if permutations < 1:
        raise ScoreSpaceError(f"permutations={permutations} is none.", hint="permutations=200")
    fitting, cases = studied(learner, data)
    judge = judge_of(cases, measure, positive)
    splits = [split for split in parse(resampling).splits(cases, seed) if split.test.size]
    observed = _mean_score(fitting, cases, splits, judge, seed, None)
    seeds = np.random.SeedSequence(seed).spawn(permutations)
    if workers == 1:
        found = []
        for done, each in enumerate(seeds, start=1):
            found.append(_mean_score(fitting, cases, splits, judge, seed, each))
            if progress is not None:
                progress(done / permutations)
    else:
        joblib = required("joblib", "experiments")
        jobs = (joblib.delayed(_mean_score)(fitting, cases, splits, judge, seed, each) for each in seeds)
        found = joblib.Parallel(workers)(jobs)
    return PermutationTest(fitting.name, str(judge.spec), judge.best, observed, np.array(found), len(splits))


def _mean_score(
    learner: Fitting,
    data: Dataset,
    splits: Sequence[Split],
    judge: Judge,
    seed: int,
    permuted: np.random.SeedSequence | None,
) -> float:
    """The mean over splits of a measure, with training labels permuted where a seed says how; NaN if none has one."""
    draws = None if permuted is None else np.random.default_rng(permuted)
    truth = data.codes if data.task == "classes" else data.truth
    values = []
    for split in splits:
        labels = truth.copy()
        if draws is not None:
            rows = np.unique(split.train)
            labels[rows] = draws.permutation(labels[rows])
        values.append(judge.score(learner, split, seed, labels).test)
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
