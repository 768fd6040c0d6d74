"""Errors from samples drawn with replacement: the leave-one-out bootstrap, .632 and .632+."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.comparisons.fold_means import OverFolds
from scorespace.experiments.data import PREFIX
from scorespace.experiments.store import Run
from scorespace.experiments.trial import measured
from scorespace.frozen import dataclass
from scorespace.results import Row, decimals, plain
from scorespace.tables import Array
from scorespace.tables.labels import encode_classes

DRAWN: Final = 0.632
"""The share of the cases that a sample of their number, drawn with replacement, holds: 1 − 1/e."""
_PAIRED: Final = 1_000  # predicted numbers whose errors for every truth are looked at
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Corrected:
    """What a learner's error is, from that on its training cases and that on cases it was not trained on.

    `chance` is the error where truth and prediction have nothing to do with each other, `overfitting` the share of
    the way there, 0 to 1, and `weight` the weight of the cases left out. NaN with a reason where nothing follows.
    """

    training: float
    left_out: float
    chance: float
    overfitting: float
    weight: float
    value: float
    reason: str | None = None

    def to_dict(self) -> Row:
        return plain(vars(self))

    def __repr__(self) -> str:
        told = f"training {decimals(self.training)}, left out {decimals(self.left_out)}"
        return f"{decimals(self.value)}  {self.reason or f'{told}, overfitting {decimals(self.overfitting, 2)}'}"


def bootstrap_632(training: float, left_out: float) -> float:
    """The .632 estimate of an error: 0.368 · training + 0.632 · left out (Efron 1983).

    >>> bootstrap_632(0.0, 0.5)  # what a learner by heart gets on labels that are noise
    0.316
    """
    return (1 - DRAWN) * training + DRAWN * left_out


def bootstrap_632_plus(training: float, left_out: float, chance: float) -> Corrected:
    """The .632+ estimate of an error: (1 − w) · training + w · min(left out, chance), w = 0.632 / (1 − 0.368 R).

    R = (left out − training) / (chance − training) is how much the learner overfits, from 0 to 1: 0 where the cases
    left out are no worse, or chance is no worse than training (Efron and Tibshirani 1997). Of a measure that is better
    when it is high, give what it lacks: 1 − AUC, for which chance is 0.5.

    >>> bootstrap_632_plus(0.0, 0.5, 0.5).value
    0.5
    """
    given = {"training": training, "left_out": left_out, "chance": chance}
    unknown = [name for name, value in given.items() if not math.isfinite(value)]
    if unknown:
        nothing = f"the error of {unknown[0].replace('_', ' ')} is undefined"
        return Corrected(training, left_out, chance, math.nan, math.nan, math.nan, nothing)
    kept = min(left_out, chance)
    overfits = kept > training and chance > training
    overfitting = min((left_out - training) / (chance - training), 1.0) if overfits else 0.0
    weight = DRAWN / (1 - (1 - DRAWN) * overfitting)
    return Corrected(training, left_out, chance, overfitting, weight, (1 - weight) * training + weight * kept)


def independent(truth: Any, said: Any) -> tuple[Array, Array, Array | None]:
    """Truth, predictions and weights in which every prediction stands beside every truth, as if they were unrelated.

    What is measured of them is γ = n⁻² Σᵢ Σⱼ L(yᵢ, f(xⱼ)) of a mean loss, and Σ pₖ (1 − qₖ) of wrong decisions. Of
    classes, each prediction stands once beside each class, with the weight of the class; numbers, beside up to a
    thousand truths.

    >>> independent(["a", "b", "b"], np.array([0.1, 0.2, 0.3]))[2]
    array([1., 1., 1., 2., 2., 2.])
    """
    answers = np.asarray(said)
    if np.asarray(truth).dtype.kind == "f":
        chosen = np.linspace(0, len(answers) - 1, min(len(answers), _PAIRED)).astype(np.intp)
        actual = np.asarray(truth, dtype=np.float64)[chosen]
        return np.repeat(actual, len(answers)), np.concatenate([answers] * actual.size), None
    codes, names = encode_classes(truth)
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    every = np.concatenate([answers] * len(names))
    return np.repeat(np.array(names), len(answers)), every, np.repeat(sizes, len(answers))


# --- of a run


def is_bootstrap(run: Run) -> bool:
    """Whether training cases were drawn with replacement, and one model was fitted to all of them."""
    return run.resampling.startswith("bootstrap:")


def corrected(
    run: Run, dataset: str, learner: str, over: OverFolds, values: Array, positive: str | None = None
) -> Corrected:
    """The .632+ estimate of a measure, in its own units; `values` are those within the samples, summed up in `over`.

    The measure of a mean over cases is that of the cases left out, each with the mean of its own answers; any other,
    such as an area, is averaged over the samples. One that is better when it is high enters by what it lacks.
    """
    plan, spec = run.of(dataset), over.spec
    whole = answers_of(run, dataset, learner, "train")
    fitted = whole["repeat"] < 0
    truth, said = whole["truth"][fitted], whole["answers"][fitted]
    training = measured(plan, spec, positive, truth, said)
    chance = measured(plan, spec, positive, *independent(truth, said))
    left_out = over.mean
    tested = answers_of(run, dataset, learner, "test")
    sizes = np.unique(tested["repeat"], return_counts=True)[1]
    if sizes.size == values.size and abs(sizes @ values.ravel() / sizes.sum() - over.pooled) < _ROUNDING:
        times = np.bincount(tested["row"])[tested["row"]]
        left_out = measured(plan, spec, positive, tested["truth"], tested["answers"], 1 / times)
    if spec.measure.best != "high":
        return bootstrap_632_plus(training, left_out, chance)
    top = spec.measure.range[1] if math.isfinite(spec.measure.range[1]) else 0.0
    found = bootstrap_632_plus(top - training, top - left_out, top - chance)
    return replace(found, training=training, left_out=left_out, chance=chance, value=top - found.value)


def answers_of(run: Run, dataset: str, learner: str, part: str) -> dict[str, Array]:
    """The predictions of a learner, with an array of its scores (rows, classes) or numbers (rows, 1)."""
    found = run.predictions(dataset, learner, part=part)
    names = [name for name in found if name == "prediction" or name.startswith(PREFIX)]
    return {**found, "answers": np.stack([found[name] for name in names], axis=-1)}
