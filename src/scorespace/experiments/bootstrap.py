"""Bootstrap estimates of prediction error: leave-one-out bootstrap, .632 and .632+."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from scorespace.comparisons.folds import FoldSummary
from scorespace.experiments.data import PREFIX
from scorespace.experiments.single_fit import measure_predictions
from scorespace.experiments.store import Run
from scorespace.results import Row, decimals, to_json_types
from scorespace.tables import Array
from scorespace.tables.labels import encode_classes

SHARE_DRAWN: Final = 0.632
"""The share of the cases that a sample of their number, drawn with replacement, holds: 1 − 1/e."""
_MAX_TRUTHS_PAIRED: Final = 1_000  # truths that are paired with every prediction in regression
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class BootstrapError:
    """The .632+ estimate, from the apparent error and the error on left-out cases.

    `chance` is the error if truth and prediction are independent (no-information rate), `overfitting` the relative
    overfitting rate from 0 to 1, and `weight` that of the left-out cases. NaN with a reason if undefined.
    """

    training: float
    left_out: float
    chance: float
    overfitting: float
    weight: float
    value: float
    reason: str | None = None

    def to_dict(self) -> Row:
        return to_json_types(vars(self))

    def __repr__(self) -> str:
        parts = f"training {decimals(self.training)}, left out {decimals(self.left_out)}"
        return f"{decimals(self.value)}  {self.reason or f'{parts}, overfitting {decimals(self.overfitting, 2)}'}"


def bootstrap_632(training: float, left_out: float) -> float:
    """The .632 estimate of an error: 0.368 · training + 0.632 · left out.

    Parameters
    ----------
    training : float
        Error on the training cases.
    left_out : float
        Error on the cases that a bootstrap sample leaves out.

    Returns
    -------
    float
        The estimate.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. Journal of the
    American Statistical Association, 78(382), 316-331.

    Examples
    --------
    >>> bootstrap_632(0.0, 0.5)  # a learner that memorises random labels
    0.316
    """
    return (1 - SHARE_DRAWN) * training + SHARE_DRAWN * left_out


def bootstrap_632_plus(training: float, left_out: float, chance: float) -> BootstrapError:
    """The .632+ estimate of an error: (1 − w) · training + w · min(left out, chance), w = 0.632 / (1 − 0.368 R).

    R = (left out − training) / (chance − training) is the relative overfitting rate, limited to 0 to 1. For a measure
    whose high values are good, pass its shortfall: 1 − AUC, with chance 0.5.

    Parameters
    ----------
    training : float
        Error on the training cases.
    left_out : float
        Error on the cases that a bootstrap sample leaves out.
    chance : float
        Error if features and target were independent.

    Returns
    -------
    BootstrapError
        The estimate, with its weight and the overfitting rate.

    References
    ----------
    Efron, B., & Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. Journal of the
    American Statistical Association, 92(438), 548-560.

    Examples
    --------
    >>> bootstrap_632_plus(0.0, 0.5, 0.5).value
    0.5
    """
    errors = {"training": training, "left_out": left_out, "chance": chance}
    undefined = [name for name, value in errors.items() if not math.isfinite(value)]
    if undefined:
        reason = f"the error of {undefined[0].replace('_', ' ')} is undefined"
        return BootstrapError(training, left_out, chance, math.nan, math.nan, math.nan, reason)
    limited = min(left_out, chance)
    overfits = limited > training and chance > training
    overfitting = min((left_out - training) / (chance - training), 1.0) if overfits else 0.0
    weight = SHARE_DRAWN / (1 - (1 - SHARE_DRAWN) * overfitting)
    return BootstrapError(training, left_out, chance, overfitting, weight, (1 - weight) * training + weight * limited)


def pair_independently(truth: Any, predictions: Any) -> tuple[Array, Array, Array | None]:
    """Pair every prediction with every truth, as if independent; returns truths, predictions and weights.

    A mean loss on these pairs is the no-information error γ = n⁻² Σᵢ Σⱼ L(yᵢ, f(xⱼ)). For classes, each prediction is
    paired once with each class, weighted by its size; for regression, with up to a thousand truths.

    >>> pair_independently(["a", "b", "b"], np.array([0.1, 0.2, 0.3]))[2]
    array([1., 1., 1., 2., 2., 2.])
    """
    values = np.asarray(predictions)
    if np.asarray(truth).dtype.kind == "f":
        sampled = np.linspace(0, len(values) - 1, min(len(values), _MAX_TRUTHS_PAIRED)).astype(np.intp)
        actual = np.asarray(truth, dtype=np.float64)[sampled]
        return np.repeat(actual, len(values)), np.concatenate([values] * actual.size), None
    codes, names = encode_classes(truth)
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    repeated = np.concatenate([values] * len(names))
    return np.repeat(np.array(names), len(values)), repeated, np.repeat(sizes, len(values))


# --- estimates from a run


def is_bootstrap(run: Run) -> bool:
    """Whether the splits of a run are bootstrap samples."""
    return run.resampling.startswith("bootstrap:")


def estimate_632_plus(
    run: Run, dataset: str, learner: str, summary: FoldSummary, values: Array, positive: str | None = None
) -> BootstrapError:
    """The .632+ estimate of a measure in its own units; `values` are those of the samples, summarised in `over`.

    If the measure is a mean over cases, left-out cases are weighted by one over their number of predictions; otherwise,
    as for the AUC, it is averaged over samples. Measures whose high values are good enter by their shortfall.
    """
    plan, spec = run.of(dataset), summary.spec
    predictions = read_predictions(run, dataset, learner, "train")
    is_full_fit = predictions["repeat"] < 0
    truth, scores = predictions["truth"][is_full_fit], predictions["answers"][is_full_fit]
    training = measure_predictions(plan, spec, positive, truth, scores)
    chance = measure_predictions(plan, spec, positive, *pair_independently(truth, scores))
    left_out = summary.mean
    tested = read_predictions(run, dataset, learner, "test")
    sizes = np.unique(tested["repeat"], return_counts=True)[1]
    if sizes.size == values.size and abs(sizes @ values.ravel() / sizes.sum() - summary.pooled) < _ROUNDING:
        n_predictions = np.bincount(tested["row"])[tested["row"]]
        left_out = measure_predictions(plan, spec, positive, tested["truth"], tested["answers"], 1 / n_predictions)
    if spec.best != "high":
        return bootstrap_632_plus(training, left_out, chance)
    best_value = spec.measure.range[1] if math.isfinite(spec.measure.range[1]) else 0.0
    estimate = bootstrap_632_plus(best_value - training, best_value - left_out, best_value - chance)
    return replace(estimate, training=training, left_out=left_out, chance=chance, value=best_value - estimate.value)


def read_predictions(run: Run, dataset: str, learner: str, part: str) -> dict[str, Array]:
    """Predictions of a learner, with scores (rows, classes) or numbers (rows, 1) as one array."""
    columns = run.predictions(dataset, learner, part=part)
    names = [name for name in columns if name == "prediction" or name.startswith(PREFIX)]
    return {**columns, "answers": np.stack([columns[name] for name in names], axis=-1)}
