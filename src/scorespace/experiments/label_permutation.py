"""Permutation test of learning: train on permuted labels, score on the true ones (Ojala and Garriga 2010)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorespace.dependencies import import_optional
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.leakage_checks import TrainTestSplit
from scorespace.experiments.learners import ResolvedLearner
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.single_fit import SplitScorer, make_split_scorer, resolve_study
from scorespace.results import ByValue, Progress, Result, Row, decimals, grouped, p_text, to_json_types
from scorespace.tables import Array


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(Result, ByValue):
    """Score of a learner beside its scores when trained on permuted labels.

    `null` holds the scores with permuted labels; all scores are means over the splits where they are defined.
    """

    model: str
    measure: str
    best: str
    observed: float
    null: Array
    splits: int

    @property
    def as_good(self) -> int:
        """Number of permutations that score at least as well as the true labels."""
        ahead = self.null >= self.observed if self.best == "high" else self.null <= self.observed
        return int(ahead.sum())

    @property
    def p(self) -> float:
        """(1 + permutations at least as good) / (1 + permutations), which is never 0."""
        if math.isnan(self.observed):
            return math.nan
        return (1 + self.as_good) / (1 + self.null.size)

    @property
    def words(self) -> str:
        """The result in a sentence."""
        if math.isnan(self.p):
            return f"{self.measure} of {self.model} is undefined in every split."
        null_mean, n_permutations = decimals(float(np.nanmean(self.null))), grouped(self.null.size)
        conclusion = "better than chance" if self.p < 0.05 else "no evidence that it is better than chance"
        return (
            f"{self.model} has {self.measure} {decimals(self.observed)} on test cases and "
            f"mean {null_mean} with permuted training labels: {conclusion} ({self.as_good} of "
            f"{n_permutations} permutations score at least as well, {p_text(self.p)})."
        )

    def rows(self) -> list[Row]:
        """One row per permutation."""
        return [{"permutation": k + 1, "value": value} for k, value in enumerate(to_json_types(self.null))]

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
    """Permute the training labels, train again, and score on test cases with their true labels.

    Parameters
    ----------
    learner : str or estimator
        A name from the catalogue of learners, an estimator of scikit-learn, or a mapping of one name to it.
    data : Dataset or tuple of X and y
        The cases; see `dataset`.
    resampling : str or splitter
        A notation such as "10x10" or "logo:speaker", or a splitter of scikit-learn.
    measure : str, optional
        The measure; the AUC by default, or r2 for regression.
    permutations : int
        Number of permutations.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    workers : int
        Number of processes.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    PermutationTest
        The score, the scores with permuted labels, and the p-value.

    References
    ----------
    Ojala, M., & Garriga, G. C. (2010). Permutation tests for studying classifier performance. Journal of Machine
    Learning Research, 11, 1833-1863.

    Examples
    --------
    >>> cases = [[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10
    >>> permute_labels("naive_bayes", cases, resampling="2", measure="acc", permutations=19).p
    0.05
    """
    if permutations < 1:
        raise ScoreSpaceError(f"permutations={permutations} is too few.", hint="permutations=200")
    fitting, cases = resolve_study(learner, data)
    split_scorer = make_split_scorer(cases, measure, positive)
    splits = [split for split in parse_resampling(resampling).splits(cases, seed) if split.test.size]
    observed = _mean_score(fitting, cases, splits, split_scorer, seed, None)
    seeds = np.random.SeedSequence(seed).spawn(permutations)
    if workers == 1:
        null_scores = []
        for done, permutation_seed in enumerate(seeds, start=1):
            null_scores.append(_mean_score(fitting, cases, splits, split_scorer, seed, permutation_seed))
            if progress is not None:
                progress(done / permutations)
    else:
        joblib = import_optional("joblib", "experiments")
        jobs = (
            joblib.delayed(_mean_score)(fitting, cases, splits, split_scorer, seed, each_seed) for each_seed in seeds
        )
        null_scores = joblib.Parallel(workers)(jobs)
    return PermutationTest(
        fitting.name, str(split_scorer.spec), split_scorer.best, observed, np.array(null_scores), len(splits)
    )


def _mean_score(
    learner: ResolvedLearner,
    data: Dataset,
    splits: Sequence[TrainTestSplit],
    split_scorer: SplitScorer,
    seed: int,
    permutation_seed: np.random.SeedSequence | None,
) -> float:
    """Mean over splits of a measure, with permuted training labels if a seed is given; NaN if never defined."""
    rng = None if permutation_seed is None else np.random.default_rng(permutation_seed)
    truth = data.codes if data.task == "classes" else data.truth
    values = []
    for split in splits:
        labels = truth.copy()
        if rng is not None:
            rows = np.unique(split.train)
            labels[rows] = rng.permutation(labels[rows])
        values.append(split_scorer.score(learner, split, seed, labels).test)
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
