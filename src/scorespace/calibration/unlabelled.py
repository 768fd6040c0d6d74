"""Performance without labels: soft labels of calibrated probabilities, and the prevalence by EM under a prior shift."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from scorespace.errors import ConditionError, ScoreError
from scorespace.inference.proportion import normal_quantile
from scorespace.tables import Array, ScoreTable, score_table

_STEPS: Final = 10_000
_TOLERANCE: Final = 1e-10


@dataclass(frozen=True)
class PriorShift:
    """The prevalence by EM, and whether it differs from the mean probability by more than sampling error."""

    prevalence: float
    mean: float
    error: float
    differs: bool


def soft_table(probability: Array) -> ScoreTable:
    """Score table of cases that count p positive and 1 − p negative: measures are expected values if p is calibrated.

    >>> from scorespace.measures.ranking import auc
    >>> round(float(auc(soft_table(np.array([0.9, 0.1])))), 2)
    0.9
    """
    return weighted_table(probability, probability)


def weighted_table(score: Array, probability: Array) -> ScoreTable:
    """Score table of cases with these scores that count as positive with a probability."""
    labels = np.repeat([1, 0], score.size)
    weights = np.concatenate([probability, 1 - probability])
    return score_table(labels, np.tile(score, 2), weight=weights, positive=1)


def shifted(probability: Array, trained: float, prevalence: float) -> Array:
    """Probabilities that are calibrated at one prevalence, for another one: the odds change by the ratio of odds.

    >>> shifted(np.array([0.5]), 0.5, 0.1)
    array([0.1])
    """
    positive = probability * (prevalence / trained)
    return np.asarray(positive / (positive + (1 - probability) * ((1 - prevalence) / (1 - trained))))


def em_prevalence(probability: Array, trained: float, level: float = 0.95) -> PriorShift:
    """Prevalence of unlabelled cases, if only the prevalence changed since training (Saerens et al. 2002).

    EM: the prevalence is the mean of the probabilities adapted to it. It is compared with the mean of the probabilities
    as they are, by the influence of each case on both.

    References
    ----------
    Saerens, M., Latinne, P., & Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure. Neural Computation, 14, 21-41.
    """
    if not 0 < trained < 1:
        raise ConditionError(f"trained={trained:g} is not a prevalence.", hint="prior_shift(trained=0.3)")
    mean = prevalence = float(probability.mean())
    for _ in range(_STEPS):
        if not 0 < prevalence < 1:
            break
        previous, prevalence = prevalence, float(shifted(probability, trained, prevalence).mean())
        if abs(prevalence - previous) < _TOLERANCE:
            break
    ratios = probability / trained, (1 - probability) / (1 - trained)
    density = prevalence * ratios[0] + (1 - prevalence) * ratios[1]
    score = (ratios[0] - ratios[1]) / density
    information = float((score**2).mean())
    if not information > 0:
        return PriorShift(prevalence, mean, math.nan, False)
    influence = score / information - (probability - mean)
    error = float(influence.std()) / math.sqrt(probability.size)
    return PriorShift(prevalence, mean, error, abs(prevalence - mean) > normal_quantile(level) * error)


def check_probabilities(model: str, scores: Array) -> Array:
    """Refuse scores that are no probabilities, or none at all."""
    if not scores.size:
        raise ScoreError("there are no cases.", hint="data with at least one row")
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ScoreError(
            f"without labels, {model} needs probabilities.",
            seen=f"scores from {scores.min():g} to {scores.max():g}",
            hint="calibrate the scores on labelled cases first: scorespace calibrate",
        )
    return scores
