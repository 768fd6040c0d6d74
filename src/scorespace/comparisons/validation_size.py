"""Sample size of an external validation: precise O:E, calibration slope, C statistic and net benefit.

Reference: Riley et al. (2021), "Minimum sample size for external validation of a clinical prediction model with a
binary outcome", Statistics in Medicine 40.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from scorespace.errors import ConditionError
from scorespace.inference.interval_formulas import newcombe_variance
from scorespace.inference.proportion import normal_quantile
from scorespace.results import Result, Row, decimals, grouped, to_json_types
from scorespace.tables import Array

WIDTHS: Final[Mapping[str, float]] = {"oe": 0.2, "slope": 0.2, "auc": 0.1, "snb": 0.2}
"""Total widths of the intervals by default, as in Riley et al. (2021)."""
NAMES: Final = {"oe": "O:E", "slope": "calibration slope", "auc": "C statistic", "snb": "standardised net benefit"}
_NODES: Final = 80  # of the Gauss-Hermite quadrature over the linear predictor
_GRID: Final = 4001  # normal quantiles for integrals that are not smooth


@dataclass(frozen=True)
class LinearPredictor:
    """A normal distribution of the logit of the predicted risk, of a calibrated model."""

    mean: float
    sd: float

    @property
    def nodes(self) -> tuple[Array, Array]:
        """Values and weights for smooth integrals."""
        x, weight = np.polynomial.hermite_e.hermegauss(_NODES)
        return self.mean + self.sd * x, weight / weight.sum()

    @property
    def prevalence(self) -> float:
        """Mean risk."""
        x, weight = self.nodes
        return float(weight @ expit(x))

    @property
    def auc(self) -> float:
        """C statistic of a calibrated model with this distribution."""
        z = ndtri((np.arange(_GRID) + 0.5) / _GRID)
        risk = expit(self.mean + self.sd * z)
        below = np.cumsum(1 - risk) - (1 - risk) / 2
        return float((risk @ below) / risk.sum() / (1 - risk).sum())

    def rates_at(self, threshold: float) -> tuple[float, float]:
        """Sensitivity and specificity at a threshold probability."""
        cut = float(logit(threshold))
        x, weight = np.polynomial.legendre.leggauss(200)
        low, high = ndtr((cut - self.mean) / self.sd), 1.0
        quantiles = low + (high - low) * (x + 1) / 2
        acted = expit(self.mean + self.sd * ndtri(quantiles)) @ weight / 2 * (high - low)
        sensitivity = float(acted) / self.prevalence
        return sensitivity, 1 - (float(1 - low) - float(acted)) / (1 - self.prevalence)


def normal_predictor(auc: float, prevalence: float) -> LinearPredictor:
    """Return the normal linear predictor of a calibrated model with this C statistic and prevalence.

    >>> found = normal_predictor(0.8, 0.1)
    >>> round(found.auc, 6), round(found.prevalence, 6)
    (0.8, 0.1)
    """
    from scipy.optimize import brentq  # slow to import

    def with_sd(sd: float) -> LinearPredictor:
        mean = brentq(lambda mean: LinearPredictor(mean, sd).prevalence - prevalence, -40, 40, xtol=1e-12)
        return LinearPredictor(float(mean), sd)

    sd = brentq(lambda sd: with_sd(sd).auc - auc, 1e-3, 10, xtol=1e-10)
    return with_sd(float(sd))


@dataclass(frozen=True)
class Criterion:
    """What is to be precise: its expected value, the total width of its interval, and the cases that this needs."""

    name: str
    value: float
    width: float
    cases: int


@dataclass(frozen=True, repr=False)
class ValidationSize(Result):
    """Cases of an external validation: the largest number that one of the criteria needs."""

    prevalence: float
    predictor: LinearPredictor
    criteria: tuple[Criterion, ...]
    level: float

    @property
    def cases(self) -> int:
        """The number of cases that satisfies all criteria."""
        return max(criterion.cases for criterion in self.criteria)

    @property
    def words(self) -> str:
        """The plan in a sentence."""
        largest = max(self.criteria, key=lambda criterion: criterion.cases)
        events = grouped(math.ceil(self.cases * self.prevalence - 1e-9))
        return (
            f"{grouped(self.cases)} cases, of which {events} are positive, are enough for every criterion; the most "
            f"are needed for the {NAMES[largest.name]}, whose {100 * self.level:g} % interval is then "
            f"{largest.width:g} wide."
        )

    def rows(self) -> list[Row]:
        return [to_json_types({"criterion": NAMES[one.name], **vars(one)}) for one in self.criteria]

    def facts(self) -> Row:
        return {"cases": self.cases, "prevalence": self.prevalence, "lp_mean": self.predictor.mean} | {
            "lp_sd": self.predictor.sd,
            "level": self.level,
        }

    @property
    def grid(self) -> tuple[tuple[str, str, str, str], ...]:
        """Rows of the table: criterion, expected value, width and cases."""
        return tuple(
            (NAMES[one.name], decimals(one.value), f"{one.width:g}", grouped(one.cases)) for one in self.criteria
        )


def validation_size(
    prevalence: float,
    auc: float | None = None,
    *,
    predictor: LinearPredictor | None = None,
    threshold: float | None = None,
    rates: tuple[float, float] | None = None,
    widths: Mapping[str, float] | None = None,
    oe: float = 1.0,
    alpha: float = 0.05,
) -> ValidationSize:
    """Return the fewest cases whose intervals of O:E, slope, C and (with a threshold) net benefit have these widths.

    Without a `predictor`, the linear predictor is normal with the C statistic and the prevalence. `rates` are
    sensitivity and specificity at the threshold; by default those of the predictor.

    >>> validation_size(0.1, 0.8, predictor=LinearPredictor(-2.6, 1.1), widths={"oe": 0.4, "slope": 0.3}).cases
    2243
    """
    sizes = {**WIDTHS, **(widths or {})}
    _check(prevalence, auc, predictor, threshold, rates, sizes, oe, alpha)
    assumed = predictor or normal_predictor(float(auc or 0.5), prevalence)
    area = assumed.auc if auc is None else auc
    z = normal_quantile(1 - alpha)
    criteria = [
        Criterion("oe", oe, sizes["oe"], _cases_of_oe(prevalence, oe, sizes["oe"], z)),
        Criterion("slope", 1.0, sizes["slope"], _cases_of_slope(assumed, sizes["slope"], z)),
        Criterion("auc", area, sizes["auc"], _cases_of_auc(area, prevalence, sizes["auc"], z)),
    ]
    if threshold is not None:
        sensitivity, specificity = rates or assumed.rates_at(threshold)
        weight = (1 - prevalence) * threshold / (prevalence * (1 - threshold))
        value = sensitivity - weight * (1 - specificity)
        cases = _cases_of_benefit(prevalence, sensitivity, specificity, weight, sizes["snb"], z)
        criteria.append(Criterion("snb", value, sizes["snb"], cases))
    return ValidationSize(prevalence, assumed, tuple(criteria), 1 - alpha)


def _cases_of_oe(prevalence: float, oe: float, width: float, z: float) -> int:
    """Width of O:E on its own scale: oe · 2 sinh(z · se), se² = (1 − φ) / (n φ)."""
    error = math.asinh(width / (2 * oe)) / z
    return math.ceil((1 - prevalence) / (prevalence * error**2) - 1e-9)


def _cases_of_slope(predictor: LinearPredictor, width: float, z: float) -> int:
    """Variance of the slope in the information of a logistic regression: I₀ / (n (I₀ I₂ − I₁²))."""
    x, weight = predictor.nodes
    curvature = weight * expit(x) * expit(-x)
    i0, i1, i2 = (float(curvature @ x**power) for power in range(3))
    return math.ceil(i0 / ((width / (2 * z)) ** 2 * (i0 * i2 - i1**2)) - 1e-9)


def _cases_of_auc(auc: float, prevalence: float, width: float, z: float) -> int:
    """Smallest n whose variance of the AUC (Newcombe 2006) is at most (w / 2z)²."""
    from scipy.optimize import brentq  # slow to import

    wanted = (width / (2 * z)) ** 2

    def excess(n: float) -> float:
        return float(newcombe_variance(auc, n * prevalence, n * (1 - prevalence))) - wanted

    return math.ceil(float(brentq(excess, 1e-3, 1e12, xtol=1e-9, rtol=1e-12)) - 1e-6)


def _cases_of_benefit(
    prevalence: float, sensitivity: float, specificity: float, weight: float, width: float, z: float
) -> int:
    """Delta method of sNB = sensitivity − weight · (1 − specificity), whose weight depends on the prevalence."""
    variance = sensitivity * (1 - sensitivity) / prevalence
    variance += weight**2 * specificity * (1 - specificity) / (1 - prevalence)
    variance += weight**2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    return math.ceil(variance / (width / (2 * z)) ** 2 - 1e-9)


def _check(
    prevalence: float,
    auc: float | None,
    predictor: LinearPredictor | None,
    threshold: float | None,
    rates: tuple[float, float] | None,
    widths: Mapping[str, float],
    oe: float,
    alpha: float,
) -> None:
    """Refuse impossible values, and a plan without an expected model."""
    if auc is None and predictor is None:
        raise ConditionError("the expected model is missing.", hint="--auc 0.8, or --lp-mean -2.6 --lp-sd 1.1")
    if auc is not None and not 0.5 < auc < 1:
        raise ConditionError(f"auc={auc:g} is not an expected C statistic.", hint="between 0.5 and 1, such as 0.8")
    if predictor is not None and not (predictor.sd > 0 and math.isfinite(predictor.mean + predictor.sd)):
        raise ConditionError(f"lp_sd={predictor.sd:g} is not a standard deviation.", hint="above 0, such as 1.1")
    unknown = [name for name in widths if name not in WIDTHS]
    if unknown:
        raise ConditionError(f"there is no criterion {unknown[0]!r}.", hint=f"one of {', '.join(WIDTHS)}")
    shares = {"prevalence": prevalence, "alpha": alpha, "threshold": threshold}
    shares |= {"sensitivity": None, "specificity": None} | (
        {} if rates is None else dict(zip(("sensitivity", "specificity"), rates, strict=True))
    )
    for name, value in shares.items():
        if value is not None and not 0 < value < 1:
            raise ConditionError(f"{name}={value:g} is not between 0 and 1.", hint=f"{name}=0.2")
    for name, value in {**widths, "oe": widths["oe"], "expected oe": oe}.items():
        if not 0 < value < math.inf:
            raise ConditionError(f"{name}={value:g} is not a width.", hint="above 0, such as 0.2")
