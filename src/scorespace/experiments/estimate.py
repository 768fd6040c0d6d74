"""Errors from samples drawn with replacement: the leave-one-out bootstrap, .632 and .632+."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.measures import parse
from scorespace.measures.request import bind
from scorespace.results import Row, decimals, plain
from scorespace.tables import Array
from scorespace.tables.arrays import table_of_arrays
from scorespace.tables.labels import encode_classes

DRAWN: Final = 0.632
"""The share of the cases that a sample of their number, drawn with replacement, holds: 1 − 1/e."""
_PAIRED: Final = 1_000  # predicted numbers whose errors for every truth are looked at


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


def left_out_error(loss: ArrayLike) -> float:
    """The leave-one-out bootstrap: the mean over cases of the mean loss over the samples without the case.

    `loss` is an array of samples × cases, NaN where the sample held the case. A case that all samples hold is left
    out, as nothing is known of it.

    >>> left_out_error([[1, math.nan, 0], [0, 1, math.nan]])
    0.5
    """
    losses = np.asarray(loss, dtype=np.float64)
    if losses.ndim != 2:
        raise DataError(
            "losses are not an array of samples × cases.",
            seen=f"{losses.ndim} axes",
            hint="a row for each sample, a column for each case",
        )
    known = np.isfinite(losses)
    times = known.sum(axis=0)
    if not times.any():
        return math.nan
    seen = times > 0
    return float(np.mean(np.where(known, losses, 0.0).sum(axis=0)[seen] / times[seen]))


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


def no_information(measure: str, truth: Any, said: Any, *, positive: Any = None, classes: Any = None) -> float:
    """A measure where truth and prediction are independent: every prediction beside every truth.

    γ = n⁻² Σᵢ Σⱼ L(yᵢ, f(xⱼ)) of a mean loss, and Σ pₖ (1 − qₖ) of wrong decisions.

    >>> no_information("err", ["a", "a", "b", "b"], ["a", "a", "a", "b"])
    0.5
    >>> no_information("auc", [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.9])
    0.5
    """
    spec = parse(measure)
    kinds = tuple(spec.measure.functions)
    if len(np.asarray(said)) != len(np.asarray(truth)):
        raise ScoreSpaceError(
            "truth and prediction differ in length.",
            seen=f"{len(truth)} and {len(said)}",
            hint="a prediction for each truth",
        )
    numbers = not table_of_arrays(truth, said, kinds, positive=positive, classes=classes).class_names
    actual, told, weight = independent(truth, said, numbers=numbers)
    table = table_of_arrays(actual, told, kinds, positive=positive, weight=weight, classes=classes)
    return bind(spec, table).value


def independent(truth: Any, said: Any, *, numbers: bool | None = None) -> tuple[Array, Array, Array | None]:
    """Truth, predictions and weights in which every prediction stands beside every truth.

    Of classes, each prediction stands once beside each class, with the weight of the class; numbers, beside up to a
    thousand truths.

    >>> independent(["a", "b", "b"], np.array([0.1, 0.2, 0.3]))[2]
    array([1., 1., 1., 2., 2., 2.])
    """
    answers = np.asarray(said)
    if np.asarray(truth).dtype.kind == "f" if numbers is None else numbers:
        chosen = np.linspace(0, len(answers) - 1, min(len(answers), _PAIRED)).astype(np.intp)
        actual = np.asarray(truth, dtype=np.float64)[chosen]
        return np.repeat(actual, len(answers)), np.concatenate([answers] * actual.size), None
    codes, names = encode_classes(truth)
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    every = np.concatenate([answers] * len(names))
    return np.repeat(np.array(names), len(answers)), every, np.repeat(sizes, len(answers))
