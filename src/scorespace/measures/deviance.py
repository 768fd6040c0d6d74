"""Deviances of rates and amounts: Poisson, gamma and Tweedie, and the Gini index by exposure.

With the exposure as weight, truth and prediction are rates: claims per year, cost per claim.

References: McCullagh and Nelder (1989), "Generalized linear models"; Frees, Meyers and Cummings (2014), "Insurance
ratemaking and a Gini index", Journal of Risk and Insurance 81.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import numpy as np
from scipy.special import xlogy

from scorespace.errors import MeasureError
from scorespace.measures.calibration import oe
from scorespace.measures.measure import INF, NO_CASES, measure
from scorespace.tables import Array, ratio
from scorespace.tables.error_sums import ErrorSums
from scorespace.tables.regression import ResidualTable
from scorespace.tables.weighted_quantiles import midranks

Power = Annotated[float, "variance power: 1 Poisson, 2 gamma, in between amounts that may be 0"]
_POISSON: Final = "a prediction is not above 0, or a truth is below 0"
_GAMMA: Final = "a prediction or a truth is not above 0"
_CONSTANT: Final = "all truths are the same"
_TWEEDIE: Final = f"{_POISSON} (with power=2: not above 0)"


_deviance_measure = partial(measure, range=(0, INF), best="low", interval="skew-t")


@_deviance_measure(title="Poisson deviance", undefined=f"{NO_CASES}, or {_POISSON}", aliases=("mean_poisson_deviance",))
def poisson_deviance(t: ResidualTable) -> Array:
    """Mean deviance of counts or rates: Σ w 2(y ln(y/μ) − y + μ) / Σ w."""
    return _deviance(t, 1.0)


@_deviance_measure(title="Gamma deviance", undefined=f"{NO_CASES}, or {_GAMMA}", aliases=("mean_gamma_deviance",))
def gamma_deviance(t: ResidualTable) -> Array:
    """Mean deviance of positive amounts: Σ w 2(ln(μ/y) + y/μ − 1) / Σ w."""
    return _deviance(t, 2.0)


@_deviance_measure(title="Tweedie deviance", undefined=f"{NO_CASES}, or {_TWEEDIE}", aliases=("mean_tweedie_deviance",))
def tweedie_deviance(t: ResidualTable, *, power: Power = 1.5) -> Array:
    """Mean deviance of amounts that may be 0: d = 2(y^(2−p)/((1−p)(2−p)) − y μ^(1−p)/(1−p) + μ^(2−p)/(2−p))."""
    return _deviance(t, _checked(power))


_explained = partial(measure, range=(-INF, 1), best="high", interval="skew-t")


@_explained(title="Share of the Poisson deviance explained (D²)", undefined=f"{_POISSON}, or {_CONSTANT}")
def d2_poisson(t: ResidualTable) -> Array:
    """Reduction of the Poisson deviance relative to predicting the weighted mean of these truths: 1 − D(μ) / D(ȳ)."""
    return _share_explained(t, 1.0)


@_explained(title="Share of the gamma deviance explained (D²)", undefined=f"{_GAMMA}, or {_CONSTANT}")
def d2_gamma(t: ResidualTable) -> Array:
    """Reduction of the gamma deviance relative to predicting the weighted mean of these truths: 1 − D(μ) / D(ȳ)."""
    return _share_explained(t, 2.0)


@_explained(
    title="Share of the Tweedie deviance explained (D²)",
    undefined=f"{_TWEEDIE}, or {_CONSTANT}",
    aliases=("d2_tweedie_score",),
)
def d2_tweedie(t: ResidualTable, *, power: Power = 1.5) -> Array:
    """Reduction of the Tweedie deviance relative to predicting the weighted mean of these truths: 1 − D(μ) / D(ȳ)."""
    return _share_explained(t, _checked(power))


@measure(
    title="Gini index of the ordered Lorenz curve",
    range=(-1, 1),
    best="high",
    undefined="a truth is below 0, or all truths are 0",
    interval="fisher-t",
    aliases=("gini_exposure", "gini_index"),
)
def lorenz_gini(t: ResidualTable) -> Array:
    """Twice the area between the Lorenz curve and the diagonal: Σ w_i w_j (y_i − y_j) sign(μ_i − μ_j) / (2 W² ȳ).

    The concentration of the truth among cases of high prediction, and no sign of calibration. Relative to that of the
    truth itself it is `gini_correlation`.
    """
    numbers, cells = t.numbers, t.cells
    place = midranks(numbers.predicted, numbers.by_prediction, cells) - t.total[..., None] / 2
    total = cells @ numbers.truth
    used = np.where((_lowest(t, numbers.truth) >= 0) & (total > 0), t.total * total, np.nan)
    return np.clip(ratio(2 * np.vecdot(cells * place, numbers.truth), used), -1, 1)


@oe.on
def _truth_to_prediction(s: ErrorSums) -> Array:
    """For predicted numbers, the sum of the truths relative to that of the predictions: Σ w y / Σ w μ."""
    truth = s.mean("truth") + s.origin[0]
    predicted = truth + s.error
    is_defined = (predicted >= 0) & (truth >= 0) & (predicted + truth > 0)
    return ratio(np.where(is_defined, truth, np.nan), predicted)


oe.intervals[ErrorSums] = "jackknife"


def _checked(power: float) -> float:
    if not 1 <= power <= 2:
        raise MeasureError(f"power={power:g} is not between 1 and 2.", hint="1 for counts, 1.5, 2 for positive amounts")
    return power


def _deviance(t: ResidualTable, power: float) -> Array:
    """Mean deviance; undefined where a case that counts has no deviance."""
    truth, mean = t.numbers.truth, t.numbers.predicted
    usable = (mean > 0) & ((truth > 0) | ((truth == 0) & (power < 2)))
    y, mu = np.where(usable, truth, 1.0), np.where(usable, mean, 1.0)
    if power == 1:
        unit = 2 * (xlogy(y, y / mu) - y + mu)
    elif power == 2:
        unit = 2 * (np.log(mu / y) + y / mu - 1)
    else:
        unit = _of_truth(y, power) - 2 * y * mu ** (1 - power) / (1 - power) + 2 * mu ** (2 - power) / (2 - power)
    return _mean_term(t, np.where(usable, np.maximum(unit, 0.0), np.nan))


def _share_explained(t: ResidualTable, power: float) -> Array:
    mean = ratio(t.cells @ t.numbers.truth, t.total)
    constant = _mean_term(t, _of_truth(t.numbers.truth, power)) - _of_truth(mean, power)
    is_positive = constant > 1e-12 * np.abs(_of_truth(mean, power))
    return 1 - ratio(_deviance(t, power), np.where(is_positive, constant, np.nan))


def _of_truth(y: Array, power: float) -> Array:
    """The part of the deviance that depends on the truth only; its mean minus its value at the mean is D(ȳ)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if power == 1:
            return np.asarray(2 * xlogy(y, y))
        if power == 2:
            return np.asarray(-2 * np.log(y))
        return np.asarray(2 * np.where(y >= 0, np.abs(y), np.nan) ** (2 - power) / ((1 - power) * (2 - power)))


def _mean_term(t: ResidualTable, term: Array) -> Array:
    """Weighted mean; NaN if a term of a case with weight is undefined."""
    finite = np.isfinite(term)
    if finite.all():
        return ratio(t.cells @ term, t.total)
    is_used = (t.cells[..., ~finite] > 0).any(axis=-1)
    return np.where(is_used, np.nan, ratio(t.cells @ np.where(finite, term, 0.0), t.total))


def _lowest(t: ResidualTable, values: Array) -> Array:
    """Lowest value of the cases with weight."""
    return np.where(t.cells > 0, values, INF).min(axis=-1, initial=INF)
