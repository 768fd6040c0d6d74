"""How a learner learns: its scores by the number of training cases, what it overfits, its bias and its variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from scorespace.comparisons.fold_means import mean_and_sd
from scorespace.errors import DataError, FitError, ScoreSpaceError
from scorespace.experiments.bootstrap import answers_of
from scorespace.experiments.data import Dataset
from scorespace.experiments.resampling import parse
from scorespace.experiments.store import Run
from scorespace.experiments.trial import judge_of, studied
from scorespace.frozen import dataclass
from scorespace.measures import parse as parse_measure
from scorespace.results import SCHEMA, ByValue, Note, Progress, Result, Row, decimals, grouped, note, percent, plain
from scorespace.tables import Array
from scorespace.tables.arrays import numeric
from scorespace.tables.labels import encode_classes, label_text

SHARES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_SURE: Final = 2.0  # standard errors
_MATTERS: Final = 0.02  # of the range of a measure
_RISING: Final = 0.25  # of that: what the last step must gain to be worth a word


# --- training beside test


@dataclass(frozen=True)
class Fit:
    """A learner's score on the cases it was trained on beside that on others, over the same splits.

    `gap` is how much worse the others are, `sure` whether chance does not explain it, and `matters` whether anybody
    would see it.
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
        return self.gap > max(self.matters, _SURE * self.error)

    def underfits(self, reference: float, best: str = "high") -> bool:
        """Whether it does not even fit its training cases as well as another learner predicts others."""
        short = reference - self.training if best == "high" else self.training - reference
        return short > self.matters

    @property
    def words(self) -> str:
        told = (
            f"{self.measure} {decimals(self.training)} on the cases it was trained on, {decimals(self.test)} on others"
        )
        return f"{self.model} overfits: {told}." if self.overfits else f"{self.model} has {told}."

    def row(self) -> Row:
        return plain({**vars(self), "overfits": self.overfits})


def fit_of(model: str, measure: str, training: Any, test: Any, ratio: float = 0.0) -> Fit:
    """What values of a measure on training and on test cases of the same splits say about the fit.

    `ratio` is that of test to training cases: splits share training cases, and their spread tells less than it seems.

    >>> fit_of("tree", "acc", [1.0, 1.0, 1.0], [0.7, 0.8, 0.75]).words
    'tree overfits: acc 1.000 on the cases it was trained on, 0.750 on others.'
    """
    noun = parse_measure(measure).measure
    inner, outer = np.asarray(training, dtype=np.float64).ravel(), np.asarray(test, dtype=np.float64).ravel()
    if inner.shape != outer.shape:
        raise DataError(
            "training and test were not measured on the same splits.",
            seen=f"{inner.size}, {outer.size}",
            hint="the values of the same splits, in the same order",
        )
    known = np.isfinite(inner) & np.isfinite(outer)
    gaps = (inner - outer)[known] * (1 if noun.best == "high" else -1)
    if not gaps.size:
        return Fit(model, measure, math.nan, math.nan, math.nan, math.nan, math.nan)
    error = math.sqrt((1 / gaps.size + ratio) * float(gaps.var(ddof=1))) if gaps.size > 1 else math.inf
    low, high = noun.range
    span = high - low if math.isfinite(high - low) else abs(float(outer[known].mean()))
    training, tested, gap = (float(one.mean()) for one in (inner[known], outer[known], gaps))
    return Fit(model, measure, training, tested, gap, error, _MATTERS * span)


def fit_notes(fits: Sequence[Fit], best: str) -> list[Note]:
    """Which learners overfit, and which do not fit well enough to keep up with the best of them."""
    chosen = max if best == "high" else min
    found = []
    for one in fits:
        reference = chosen(
            (each.test for each in fits if each is not one and not math.isnan(each.test)), default=math.nan
        )
        if one.underfits(reference, best):
            told = f"{one.measure} {decimals(one.training)} on the cases it was trained on"
            most = f"{decimals(reference)} of the best on others"
            found.append(note("SS071", f"{one.model} underfits: {told}, worse than {most}."))
        elif one.overfits:
            found.append(note("SS070", one.words))
    return found


# --- by the number of training cases


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result, ByValue):
    """A learner's scores on training and on test cases by the number of training cases (sizes × splits)."""

    model: str
    measure: str
    best: str
    sizes: Array
    training: Array
    test: Array
    ratio: float

    @property
    def fit(self) -> Fit:
        """Training beside test with all training cases."""
        return fit_of(self.model, self.measure, self.training[-1], self.test[-1], self.ratio)

    @property
    def rising(self) -> bool:
        """Whether the last step still gained something that chance does not explain."""
        if len(self.sizes) < 2:
            return False
        step = fit_of(self.model, self.measure, self.test[-1], self.test[-2], self.ratio)
        return step.gap > max(_RISING * step.matters, _SURE * step.error)

    @property
    def words(self) -> str:
        more = "more cases would help" if self.rising else "more cases of this kind would hardly help"
        return f"{self.fit.words} With {grouped(float(self.sizes[-1]))} training cases {more}."

    def rows(self) -> list[Row]:
        """One row per size and part: mean and standard deviation over the splits."""
        return [
            plain({"size": int(size), "part": part, "mean": mean, "sd": sd, "splits": one.size})
            for size, inner, outer in zip(self.sizes, self.training, self.test, strict=True)
            for part, one in (("training", inner), ("test", outer))
            for mean, sd in [mean_and_sd(one)]
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
    """Scores of a learner trained on growing parts of each split's training cases, the smaller within the larger.

    `sizes` are numbers of cases, or shares of those there are; classes keep their shares. `learner` is a name or an
    estimator, `data` a data set or the pair (X, y); without a measure, the area under the ROC curve, or r2.
    """
    fitting, cases = studied(learner, data)
    judge = judge_of(cases, measure, positive)
    splits = [split for split in parse(resampling).splits(cases, seed) if split.test.size]
    least = min(np.unique(split.train).size for split in splits)
    counts = sorted({round(size * least) if 0 < size <= 1 else int(size) for size in sizes})
    if not counts or counts[0] < 1 or counts[-1] > least:
        raise ScoreSpaceError(
            "these are no numbers of training cases.", seen=f"{[*sizes]}", hint=f"shares up to 1, or 1 to {least} cases"
        )
    draws = np.random.default_rng(seed)
    found = np.full((len(counts), len(splits), 2), math.nan)
    for k, split in enumerate(splits):
        order = _spread(np.unique(split.train), cases, draws)
        for j, size in enumerate(counts):
            part = replace(split, train=np.sort(order[:size]))
            if cases.task == "numbers" or np.unique(cases.codes[part.train]).size > 1:
                with suppress(FitError) if size < counts[-1] else nullcontext():  # of few cases some learn nothing
                    found[j, k] = judge.score(fitting, part, seed, train=True)
            if progress is not None:
                progress((k * len(counts) + j + 1) / (len(counts) * len(splits)))
    ratio = float(np.mean([split.test.size / split.train.size for split in splits]))
    inner, outer = np.moveaxis(found, -1, 0)
    return LearningCurve(fitting.name, str(judge.spec), judge.best, np.array(counts), inner, outer, ratio)


def _spread(rows: Array, data: Dataset, draws: np.random.Generator) -> Array:
    """The rows in a random order in which every beginning has about its share of each class."""
    mixed = draws.permutation(rows)
    codes = data.codes[mixed]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    within = np.empty(mixed.size)
    within[order] = np.arange(mixed.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # The j-th of n cases of a class stands at (j + u)/n of the whole, with one u for the class.
    return mixed[np.argsort((within + draws.random(sizes.size)[codes]) / sizes[codes], kind="stable")]


# --- bias and variance


Loss = Literal["decisions", "probabilities", "numbers"]
LOSSES: Final[dict[Loss, str]] = {
    "decisions": "error rate",
    "probabilities": "Brier score",
    "numbers": "mean squared error",
}


@dataclass(frozen=True)
class BiasVariance:
    """A learner's mean error in two parts: what its mean prediction misses, and how its predictions vary.

    error = bias² + variance, where noise, which one label per case does not show, is part of the bias.
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
            f"Of the {LOSSES[self.loss]} {decimals(self.error)} of {self.model}, {decimals(self.bias2)} is bias and "
            f"{decimals(self.variance)} ({share}) variance between {grouped(self.repeats)} training samples."
        )

    @property
    def share(self) -> float:
        """The share of the error that is variance."""
        return self.variance / self.error if self.error else math.nan

    def row(self) -> Row:
        return plain(vars(self))

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, **self.row(), "verdict": self.words}

    def __repr__(self) -> str:
        return self.words


def bias_variance(
    truth: Any, said: Any, *, model: str = "the learner", classes: Sequence[Any] | None = None
) -> BiasVariance:
    """Bias and variance of what a learner says in repeats (R × cases, or R × cases × K) of each case's truth.

    Of numbers, Σ (y − f̄)² and Σ (f − f̄)² over the cases. Of decisions (labels), those of Kohavi and Wolpert (1996):
    ½ Σ_c (1[y = c] − P(f = c))² and ½ (1 − Σ_c P(f = c)²), which add up to the error rate. Of probabilities, the
    same for the Brier score; of two classes, one column does.

    >>> bias_variance(["a", "b"], [["a", "a"], ["a", "b"]]).words
    'Of the error rate 0.250 of the learner, 0.125 is bias and 0.125 (50 %) variance between 2 training samples.'
    """
    answers = np.asarray(said)
    if answers.ndim not in (2, 3) or answers.shape[1] != len(np.asarray(truth)):
        raise DataError(
            "predictions are not an array of repeats × cases.",
            seen=f"shape {answers.shape}, {np.size(truth)} truths",
            hint="a row for each repeat, a column for each case",
        )
    if numeric(truth) or (answers.ndim == 2 and answers.dtype.kind == "f" and classes is None):
        loss: Loss = "numbers"
        actual, given, half = np.asarray(truth, dtype=np.float64)[:, None], answers[..., None].astype(np.float64), 1.0
    else:
        codes, names = encode_classes(truth)
        known = names if classes is None else tuple(map(label_text, classes))
        actual = (np.array(names)[codes][:, None] == np.array(known)).astype(np.float64)
        if answers.ndim == 3:
            loss, given, half = "probabilities", answers.astype(np.float64), 0.5 if len(known) == 2 else 1.0
        else:
            loss, half = "decisions", 0.5
            told, named = encode_classes(answers.ravel(), "decision")
            given = (np.array(named)[told].reshape(*answers.shape, 1) == np.array(known)).astype(np.float64)
    centre = given.mean(axis=0)
    bias2 = half * float(((actual - centre) ** 2).sum(axis=-1).mean())
    variance = half * float(((given - centre) ** 2).sum(axis=-1).mean())
    return BiasVariance(model, loss, bias2 + variance, bias2, variance, answers.shape[0])


def bias_of_run(run: Run, dataset: str, learner: str, *, probabilities: bool = False) -> BiasVariance:
    """Bias and variance of a learner of a run, over the repeats in which each case was tested once.

    Of classes, that of its decisions for the highest score, or of its `probabilities`.
    """
    plan, said = run.of(dataset), answers_of(run, dataset, learner, "test")
    repeats, rows = np.unique(said["repeat"]).size, np.unique(said["row"]).size
    if repeats < 2 or said["row"].size != repeats * rows:
        raise DataError(
            "bias and variance need every case in each of several repeats.",
            seen=f"{grouped(said['row'].size)} answers on {grouped(rows)} cases in {grouped(repeats)} repeats",
            hint='resampling="10x10"',
        )
    order = np.lexsort((said["row"], said["repeat"]))
    truth = said["truth"][order][:rows]
    answers = said["answers"][order].reshape(repeats, rows, -1)
    if plan.task == "numbers":
        return bias_variance(truth, answers[..., 0], model=learner)
    if not probabilities:
        answers = np.array(plan.classes)[answers.argmax(axis=-1)]
    return bias_variance(truth, answers, model=learner, classes=plan.classes)
