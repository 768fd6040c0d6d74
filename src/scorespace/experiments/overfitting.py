"""Learning curves, overfitting, and the decomposition of error into bias and variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from scorespace.comparisons.folds import mean_and_sd
from scorespace.errors import DataError, FitError, ScoreSpaceError
from scorespace.experiments.bootstrap import read_predictions
from scorespace.experiments.data import Dataset
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.single_fit import make_split_scorer, resolve_study
from scorespace.experiments.store import Run
from scorespace.measures import parse as parse_measure
from scorespace.results import (
    SCHEMA,
    ByValue,
    Note,
    Progress,
    Result,
    Row,
    decimals,
    grouped,
    note,
    percent,
    to_json_types,
)
from scorespace.tables import Array
from scorespace.tables.array_tables import is_regression_truth
from scorespace.tables.labels import encode_classes, label_text

SHARES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_CLEAR_STANDARD_ERRORS: Final = 2.0  # standard errors
_RELEVANT_SHARE: Final = 0.02  # smallest relevant gap, as a share of the measure's range
_RISING_SHARE: Final = 0.25  # smallest relevant gain of the last step, as a share of the relevant gap


# --- training and test scores


@dataclass(frozen=True)
class Fit:
    """Training and test scores of a learner over the same splits.

    `gap` is how much worse the test score is, `error` its standard error, and `matters` the smallest relevant gap.
    """

    model: str
    measure: str
    training: float
    test: float
    gap: float
    error: float
    matters: float

    @property
    def overfits(self) -> bool:
        return self.gap > max(self.matters, _CLEAR_STANDARD_ERRORS * self.error)

    def underfits(self, reference: float, best: str = "high") -> bool:
        """Whether its training score is worse than the test score of another learner."""
        shortfall = reference - self.training if best == "high" else self.training - reference
        return shortfall > self.matters

    @property
    def words(self) -> str:
        scores = f"{self.measure} {decimals(self.training)} on training cases, {decimals(self.test)} on test cases"
        return f"{self.model} overfits: {scores}." if self.overfits else f"{self.model} has {scores}."

    def row(self) -> Row:
        return to_json_types({**vars(self), "overfits": self.overfits})


def assess_fit(model: str, measure: str, training: Any, test: Any, ratio: float = 0.0) -> Fit:
    """Compare values of a measure on training and test cases of the same splits.

    `ratio` is that of test to training cases, which corrects the variance for overlapping training sets (Nadeau and
    Bengio 2003).

    >>> assess_fit("tree", "acc", [1.0, 1.0, 1.0], [0.7, 0.8, 0.75]).words
    'tree overfits: acc 1.000 on training cases, 0.750 on test cases.'
    """
    declared = parse_measure(measure).measure
    inner, outer = np.asarray(training, dtype=np.float64).ravel(), np.asarray(test, dtype=np.float64).ravel()
    if inner.shape != outer.shape:
        raise DataError(
            "training and test values come from different numbers of splits.",
            seen=f"{inner.size}, {outer.size}",
            hint="pass values of the same splits, in the same order",
        )
    known = np.isfinite(inner) & np.isfinite(outer)
    gaps = (inner - outer)[known] * (1 if declared.best == "high" else -1)
    if not gaps.size:
        return Fit(model, measure, math.nan, math.nan, math.nan, math.nan, math.nan)
    error = math.sqrt((1 / gaps.size + ratio) * float(gaps.var(ddof=1))) if gaps.size > 1 else math.inf
    low, high = declared.range
    span = high - low if math.isfinite(high - low) else abs(float(outer[known].mean()))
    training, tested, gap = (float(values.mean()) for values in (inner[known], outer[known], gaps))
    return Fit(model, measure, training, tested, gap, error, _RELEVANT_SHARE * span)


def fit_notes(fits: Sequence[Fit], best: str) -> list[Note]:
    """Notes on learners that overfit or underfit."""
    best_of = max if best == "high" else min
    notes = []
    for fit in fits:
        reference = best_of(
            (other.test for other in fits if other is not fit and not math.isnan(other.test)), default=math.nan
        )
        if fit.underfits(reference, best):
            training_text = f"{fit.measure} {decimals(fit.training)} on training cases"
            reference_text = f"the best test score, {decimals(reference)}"
            notes.append(note("SS071", f"{fit.model} underfits: {training_text}, worse than {reference_text}."))
        elif fit.overfits:
            notes.append(note("SS070", fit.words))
    return notes


# --- learning curves


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result, ByValue):
    """Training and test scores by the number of training cases (sizes × splits)."""

    model: str
    measure: str
    best: str
    sizes: Array
    training: Array
    test: Array
    ratio: float

    @property
    def fit(self) -> Fit:
        """Training and test scores with all training cases."""
        return assess_fit(self.model, self.measure, self.training[-1], self.test[-1], self.ratio)

    @property
    def rising(self) -> bool:
        """Whether the last increase in size clearly improved the test score."""
        if len(self.sizes) < 2:
            return False
        step = assess_fit(self.model, self.measure, self.test[-1], self.test[-2], self.ratio)
        return step.gap > max(_RISING_SHARE * step.matters, _CLEAR_STANDARD_ERRORS * step.error)

    @property
    def words(self) -> str:
        trend = "the test score is still rising" if self.rising else "the test score has levelled off"
        return f"{self.fit.words} At {grouped(float(self.sizes[-1]))} training cases {trend}."

    def rows(self) -> list[Row]:
        """One row per size and part: mean and standard deviation over the splits."""
        return [
            to_json_types({"size": int(size), "part": part, "mean": mean, "sd": sd, "splits": values.size})
            for size, inner, outer in zip(self.sizes, self.training, self.test, strict=True)
            for part, values in (("training", inner), ("test", outer))
            for mean, sd in [mean_and_sd(values)]
        ]

    def facts(self) -> Row:
        return {"model": self.model, "measure": self.measure}


def learning_curve(
    learner: Any,
    data: Any,
    *,
    resampling: Any = "10",
    measure: str | None = None,
    sizes: Sequence[float] = SHARES,
    positive: Any = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LearningCurve:
    """Scores of a learner trained on nested subsets of each split's training cases.

    Subsets are stratified by class.

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
    sizes : sequence of float
        Numbers of training cases, or shares of them.
    positive : object, optional
        The positive class; inferred only for {0, 1}, {-1, 1} and booleans.
    seed : int
        Seed of all random draws; equal seeds give equal results.
    progress : callable, optional
        Called with the share of the work that is done, from 0 to 1.

    Returns
    -------
    LearningCurve
        Training and test scores by the number of training cases.

    Examples
    --------
    >>> cases = [[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10
    >>> found = learning_curve("naive_bayes", cases, resampling="5", measure="acc", sizes=[0.5, 1.0])
    >>> found.sizes.tolist(), found.test.mean(axis=1).tolist()
    ([16, 32], [1.0, 1.0])
    """
    fitting, cases = resolve_study(learner, data)
    split_scorer = make_split_scorer(cases, measure, positive)
    splits = [split for split in parse_resampling(resampling).splits(cases, seed) if split.test.size]
    min_training = min(np.unique(split.train).size for split in splits)
    counts = sorted({round(size * min_training) if 0 < size <= 1 else int(size) for size in sizes})
    if not counts or counts[0] < 1 or counts[-1] > min_training:
        raise ScoreSpaceError(
            "the sizes are not valid numbers of training cases.",
            seen=f"{[*sizes]}",
            hint=f"shares up to 1, or 1 to {min_training} cases",
        )
    rng = np.random.default_rng(seed)
    scores = np.full((len(counts), len(splits), 2), math.nan)
    for k, split in enumerate(splits):
        order = _stratified_order(np.unique(split.train), cases, rng)
        for j, size in enumerate(counts):
            part = replace(split, train=np.sort(order[:size]))
            if cases.task == "numbers" or np.unique(cases.codes[part.train]).size > 1:
                with suppress(FitError) if size < counts[-1] else nullcontext():  # small subsets may fail
                    scores[j, k] = split_scorer.score(fitting, part, seed, train=True)
            if progress is not None:
                progress((k * len(counts) + j + 1) / (len(counts) * len(splits)))
    ratio = float(np.mean([split.test.size / split.train.size for split in splits]))
    inner, outer = np.moveaxis(scores, -1, 0)
    return LearningCurve(fitting.name, str(split_scorer.spec), split_scorer.best, np.array(counts), inner, outer, ratio)


def _stratified_order(rows: Array, data: Dataset, rng: np.random.Generator) -> Array:
    """Random order of the rows in which every prefix has about its share of each class."""
    shuffled = rng.permutation(rows)
    codes = data.codes[shuffled]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    rank_in_class = np.empty(shuffled.size)
    rank_in_class[order] = np.arange(shuffled.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # The j-th of n cases of a class is placed at (j + u)/n, with one random u per class.
    return shuffled[np.argsort((rank_in_class + rng.random(sizes.size)[codes]) / sizes[codes], kind="stable")]


# --- bias-variance decomposition


Loss = Literal["decisions", "probabilities", "numbers"]
LOSSES: Final[dict[Loss, str]] = {
    "decisions": "error rate",
    "probabilities": "Brier score",
    "numbers": "mean squared error",
}


@dataclass(frozen=True)
class BiasVariance:
    """Mean error of a learner, decomposed into squared bias and variance of its predictions.

    error = bias² + variance; noise cannot be separated with one label per case and is part of the bias.
    """

    model: str
    loss: Loss
    error: float
    bias2: float
    variance: float
    repeats: int

    @property
    def words(self) -> str:
        share = percent(self.share, 0) if self.error else "none"
        return (
            f"Of the {LOSSES[self.loss]} {decimals(self.error)} of {self.model}, {decimals(self.bias2)} is squared "
            f"bias and {decimals(self.variance)} ({share}) variance over {grouped(self.repeats)} training samples."
        )

    @property
    def share(self) -> float:
        """Share of the error that is variance."""
        return self.variance / self.error if self.error else math.nan

    def row(self) -> Row:
        return to_json_types(vars(self))

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, **self.row(), "verdict": self.words}

    def __repr__(self) -> str:
        return self.words


def bias_variance(
    truth: Any, predictions: Any, *, model: str = "the learner", classes: Sequence[Any] | None = None
) -> BiasVariance:
    """Bias and variance of repeated predictions (R × cases, or R × cases × K).

    For numbers, Σ (y − f̄)² and Σ (f − f̄)² over the cases. For decisions, those of Kohavi and Wolpert (1996):
    ½ Σ_c (1[y = c] − P(f = c))² and ½ (1 − Σ_c P(f = c)²), which add up to the error rate. For probabilities, the same
    for the Brier score; for two classes, one column suffices.

    Parameters
    ----------
    truth : array_like of shape (n_cases,)
        Actual classes or numbers.
    predictions : array_like of shape (n_repeats, n_cases) or (n_repeats, n_cases, n_classes)
        Decisions, numbers or probabilities of each repeat.
    model : str
        Name of the learner.
    classes : sequence, optional
        All classes, in the order of the columns of probabilities; by default those of the truth.

    Returns
    -------
    BiasVariance
        Error, squared bias and variance.

    References
    ----------
    Kohavi, R., & Wolpert, D. H. (1996). Bias plus variance decomposition for zero-one loss functions. In Proceedings of
    the 13th International Conference on Machine Learning, 275-283.

    Examples
    --------
    >>> bias_variance(["a", "b"], [["a", "a"], ["a", "b"]]).words
    'Of the error rate 0.250 of the learner, 0.125 is squared bias and 0.125 (50 %) variance over 2 training samples.'
    """
    values = np.asarray(predictions)
    if values.ndim not in (2, 3) or values.shape[1] != len(np.asarray(truth)):
        raise DataError(
            "predictions must be an array of repeats × cases.",
            seen=f"shape {values.shape}, {np.size(truth)} truths",
            hint="one row per repeat, one column per case",
        )
    if is_regression_truth(truth) or (values.ndim == 2 and values.dtype.kind == "f" and classes is None):
        loss: Loss = "numbers"
        actual, encoded, half = np.asarray(truth, dtype=np.float64)[:, None], values[..., None].astype(np.float64), 1.0
    else:
        codes, names = encode_classes(truth)
        known = names if classes is None else tuple(map(label_text, classes))
        actual = (np.array(names)[codes][:, None] == np.array(known)).astype(np.float64)
        if values.ndim == 3:
            loss, encoded, half = "probabilities", values.astype(np.float64), 0.5 if len(known) == 2 else 1.0
        else:
            loss, half = "decisions", 0.5
            codes_decided, decided_names = encode_classes(values.ravel(), "decision")
            encoded = (np.array(decided_names)[codes_decided].reshape(*values.shape, 1) == np.array(known)).astype(
                np.float64
            )
    mean_prediction = encoded.mean(axis=0)
    bias2 = half * float(((actual - mean_prediction) ** 2).sum(axis=-1).mean())
    variance = half * float(((encoded - mean_prediction) ** 2).sum(axis=-1).mean())
    return BiasVariance(model, loss, bias2 + variance, bias2, variance, values.shape[0])


def bias_of_run(run: Run, dataset: str, learner: str, *, probabilities: bool = False) -> BiasVariance:
    """Bias and variance of a learner in a run, over repeats that test every case once.

    Parameters
    ----------
    run : Run
        The run.
    dataset : str
        Name of the data set.
    learner : str
        Name of the learner.
    probabilities : bool
        Whether to decompose the Brier score of probabilities instead of the error rate of decisions.

    Returns
    -------
    BiasVariance
        Error, squared bias and variance.

    References
    ----------
    Kohavi, R., & Wolpert, D. H. (1996). Bias plus variance decomposition for zero-one loss functions. In Proceedings of
    the 13th International Conference on Machine Learning, 275-283.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scorespace.experiments.run import benchmark
    >>> data = {"toy": ([[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10)}
    >>> with TemporaryDirectory() as folder:
    ...     run = benchmark("majority", data, "2x5", f"{folder}/run", workers=1)
    ...     bias_of_run(run, "toy", "majority").error
    0.5
    """
    plan, predictions = run.of(dataset), read_predictions(run, dataset, learner, "test")
    repeats, rows = np.unique(predictions["repeat"]).size, np.unique(predictions["row"]).size
    if repeats < 2 or predictions["row"].size != repeats * rows:
        raise DataError(
            "bias and variance need every case tested in each of several repeats.",
            seen=f"{grouped(predictions['row'].size)} predictions, {grouped(rows)} cases, {grouped(repeats)} repeats",
            hint='resampling="10x10"',
        )
    order = np.lexsort((predictions["row"], predictions["repeat"]))
    truth = predictions["truth"][order][:rows]
    values = predictions["answers"][order].reshape(repeats, rows, -1)
    if plan.task == "numbers":
        return bias_variance(truth, values[..., 0], model=learner)
    if not probabilities:
        values = np.array(plan.classes)[values.argmax(axis=-1)]
    return bias_variance(truth, values, model=learner, classes=plan.classes)
