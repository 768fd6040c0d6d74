"""Vector scaling: one scale and one bias for each class, before the softmax.

Reference: Guo, Pleiss, Sun and Weinberger (2017), "On calibration of modern neural networks", ICML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from scorespace.calibration.maps import KINDS, ScoreMap, check_array, log_probabilities, map_error
from scorespace.curves.smooth_calibration import RIDGE
from scorespace.errors import ScoreError
from scorespace.results import ByValue
from scorespace.tables import Array

_CLIP: Final = -27.6  # logarithm of 1e-12
_LIMITS: Final = (100.0, 50.0)  # of scales and of biases


@dataclass(frozen=True, eq=False)
class VectorMap(ScoreMap, ByValue):
    """Vector scaling softmax(scale · log p + bias) over rows of K classes; the biases sum to 0.

    >>> VectorMap(("a", "b"), [1.0, 1.0], [0.0, 0.0]).apply([[0.8, 0.2]])
    array([[0.8, 0.2]])
    """

    kind: ClassVar[str] = "vector"
    title: ClassVar[str] = "Vector scaling"
    classes: tuple[str, ...] = ()
    scale: Array = ()  # type: ignore[assignment]  # an array after __post_init__
    bias: Array = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        for name in ("scale", "bias"):
            object.__setattr__(self, name, check_array(getattr(self, name), f"{name} of a vector map"))
        if not len(self.classes) == self.scale.size == self.bias.size >= 2:
            raise map_error("a vector map needs a scale and a bias for each of its classes.")
        if (self.scale < 0).any():
            raise map_error("the scales of a vector map are not negative.")

    def apply(self, scores: ArrayLike) -> Array:
        logarithm = np.maximum(log_probabilities(scores), _CLIP)
        if logarithm.shape[1] != self.scale.size:
            seen = f"scores of shape {logarithm.shape}"
            raise ScoreError(f"this map needs {self.scale.size} scores for each case.", seen=seen, hint="one per class")
        return np.asarray(softmax(self.scale * logarithm + self.bias, axis=1))


def fit_vector(logarithm: Array, truth: NDArray[np.intp], weight: Array, classes: tuple[str, ...]) -> VectorMap:
    """Minimise the log loss over the scales (at least 0) and biases; separated classes get a small ridge penalty."""
    from scipy.optimize import minimize  # slow to import

    values, size = np.maximum(logarithm, _CLIP), logarithm.shape[1]
    actual = np.zeros(values.shape)
    actual[np.arange(truth.size), truth] = 1.0
    total = float(weight.sum())
    neutral = np.concatenate([np.ones(size), np.zeros(size)])

    def objective(parameters: Array, ridge: float) -> tuple[float, Array]:
        fitted = values * parameters[:size] + parameters[size:]
        log_rate = log_softmax(fitted, axis=1)
        residual = (np.exp(log_rate) - actual) * weight[:, None]
        loss = -float(weight @ (log_rate * actual).sum(axis=1))
        gradient = np.concatenate([(residual * values).sum(axis=0), residual.sum(axis=0)])
        apart = parameters - neutral
        return (loss + ridge / 2 * float(apart @ apart)) / total, (gradient + ridge * apart) / total

    bounds = [(0.0, _LIMITS[0])] * size + [(-_LIMITS[1], _LIMITS[1])] * size
    for ridge in (1e-6, RIDGE):
        options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
        found = minimize(
            objective, neutral, args=(ridge,), jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x
        if (found[:size] < 0.99 * _LIMITS[0]).all() and (np.abs(found[size:]) < 0.99 * _LIMITS[1]).all():
            break
    bias = found[size:] - found[size:].mean()
    return VectorMap(classes, found[:size], bias)


KINDS[VectorMap.kind] = VectorMap
