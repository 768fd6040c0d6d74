"""Special functions by SciPy's names: the short ones without SciPy, the others load it on first use.

Loading scipy.special takes as long as NumPy, DuckDB and Typer together, and one AUC needs a quantile of the normal
distribution from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from statistics import NormalDist
from typing import Any, Final

import numpy as np

_NORMAL: Final = NormalDist()
_MOST_SUMMED: Final = 100  # degrees of freedom for which a finite sum is quick and exact


def ndtr(x: Any) -> Any:
    """Share of the normal distribution up to x: Φ(x) = erfc(−x/√2) / 2.

    >>> round(ndtr(1.959963984540054), 12)
    0.975
    """
    return math.erfc(-x / math.sqrt(2)) / 2 if isinstance(x, float | int) else _scipy("ndtr")(x)


def ndtri(p: Any) -> Any:
    """The quantile of the normal distribution: Φ⁻¹(p).

    >>> round(ndtri(0.975), 12)
    1.959963984540
    """
    return _NORMAL.inv_cdf(p) if isinstance(p, float | int) and 0 < p < 1 else _scipy("ndtri")(p)


def chdtrc(df: Any, x: Any) -> Any:
    """Share of the χ² distribution above x, with whole degrees of freedom a finite sum.

    Even: e^{−h} Σ h^k / k! for k < df/2, with h = x/2; odd: erfc(√h) + e^{−h} Σ h^{k−1/2} / Γ(k + 1/2).

    >>> round(chdtrc(2, 5.991464547107979), 12)
    0.05
    """
    whole = isinstance(x, float | int) and 0 <= x < math.inf and float(df).is_integer() and 1 <= df <= _MOST_SUMMED
    if not whole:
        return _scipy("chdtrc")(df, x)
    h, odd = x / 2, int(df) % 2
    powers = np.arange(int(df) // 2) + odd / 2
    if h == 0:
        return 1.0
    logs = powers * math.log(h) - h - np.array([math.lgamma(power + 1) for power in powers.tolist()])
    return min(1.0, (math.erfc(math.sqrt(h)) if odd else 0.0) + float(np.exp(logs).sum()))


def expit(x: Any) -> Any:
    """The logistic function 1 / (1 + e^{−x}), of numbers or arrays."""
    with np.errstate(invalid="ignore"):
        return np.exp(-np.logaddexp(0.0, -np.asarray(x, np.float64)))


def logit(p: Any) -> Any:
    """Its inverse log(p / (1 − p)), infinite at 0 and 1."""
    p = np.asarray(p, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(p / (1 - p))


def _scipy(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module("scipy.special"), name)
    return found


def _later(name: str) -> Callable[..., Any]:
    def function(*values: Any, **options: Any) -> Any:
        return _scipy(name)(*values, **options)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"SciPy's {name}."
    return function


bdtr, betainc, betaincinv, digamma, fdtrc, gammaln, softmax, stdtr, stdtrit = map(
    _later, ("bdtr", "betainc", "betaincinv", "digamma", "fdtrc", "gammaln", "softmax", "stdtr", "stdtrit")
)
