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
_MOST_STEPS: Final = 5_000
_MANY: Final = 2_000  # degrees of freedom from which on Student's t is nearly normal
_FEW: Final = 2_000  # numbers for which a loop takes less than loading SciPy
_FEW_STEPS: Final = 100  # the same, where each number takes many steps


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
    if isinstance(p, float | int) and 0 < p < 1:
        return _NORMAL.inv_cdf(p)
    shares = np.asarray(p, np.float64)
    if shares.size > _FEW or not np.all((shares > 0) & (shares < 1)):
        return _scipy("ndtri")(p)
    return np.array([_NORMAL.inv_cdf(share) for share in shares.ravel().tolist()]).reshape(shares.shape)


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


def stdtrit(df: Any, p: Any) -> Any:
    """The quantile of Student's t distribution, by Newton's steps.

    With very many n it is that of the normal distribution and a little: z + (z³ + z)/4n + (5z⁵ + 16z³ + 3z)/96n² + ….

    >>> round(float(stdtrit(10, 0.975)), 12), round(float(stdtrit(3.5, 0.975)), 12)
    (2.228138851986, 2.940088637983)
    """
    freedom = np.asarray(df, np.float64)
    inside = isinstance(p, float | int) and 0.55 <= p <= 0.9999
    distinct = set(freedom.ravel().tolist()) if inside and freedom.size <= _FEW else {math.nan}
    if len(distinct) > _FEW_STEPS or not all(1 <= n < math.inf for n in distinct):
        return _scipy("stdtrit")(df, p)
    known = {n: _student(n, p) for n in distinct}
    return np.array([known[n] for n in freedom.ravel().tolist()]).reshape(freedom.shape)[()]


def _student(n: float, p: float) -> float:
    t = _NORMAL.inv_cdf(p)
    if n > _MANY:
        return _nearly_normal(n, t)
    peak = math.exp(_step_of_gamma(n / 2)) / math.sqrt(n * math.pi)
    for _ in range(60):  # the share is concave in t, and the normal quantile lies below: the steps only rise
        step = (p - stdtr(n, t)) / (peak * (1 + t * t / n) ** (-(n + 1) / 2))
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def _nearly_normal(n: float, z: float) -> float:
    parts = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + (parts[0] + (parts[1] + parts[2] / n) / n) / n


def stdtr(df: Any, t: Any) -> Any:
    """Share of Student's t distribution up to t < 0: ½ I(n/2, ½; n/(n + t²)) with n = df; above, 1 less that of −t.

    >>> round(stdtr(10, -2.228138851986274), 12), round(stdtr(3, 0.0), 12)
    (0.025, 0.5)
    """
    inside = isinstance(df, float | int) and isinstance(t, float | int) and df > 0
    if not inside or not math.isfinite(df + t * t) or t * t < 1e-300:
        return _scipy("stdtr")(df, t) if t else 0.5
    a, square = df / 2, t * t
    front = 0.5 * math.log(square / (df + square)) - a * math.log1p(square / df) - 0.5 * math.log(math.pi)
    front = math.exp(front + _step_of_gamma(a))
    # The fraction converges quickly on the side of the mean of the beta distribution on which it begins.
    if square > 1:
        tail = front / (2 * a * _fraction(a, 0.5, df / (df + square)))
    else:
        tail = 0.5 - front / _fraction(0.5, a, square / (df + square))
    return tail if t < 0 else 1 - tail


def _step_of_gamma(a: float) -> float:
    """log Γ(a + ½) − log Γ(a), of large a as ½ ln a − 1/(8a) + 1/(192 a³), whose logarithms would cancel."""
    if a < 1000:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 + d₁/(1 + d₂/(1 + …)) by Lentz's steps; xᵃ (1 − x)ᵇ / (a B(a, b)) over it is I(a, b; x).

    d₂ₘ = m (b − m) x / ((a + 2m − 1)(a + 2m)) and d₂ₘ₊₁ = −(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)).
    """
    above, below, value = 1.0, 0.0, 1.0
    for k in range(1, _MOST_STEPS):
        m = k // 2
        step = (m * (b - m) if k % 2 == 0 else -(a + m) * (a + b + m)) * x / ((a + k - 1) * (a + k))
        below, above = 1 / (1 + step * below), 1 + step / above
        value *= above * below
        if abs(above * below - 1) < 1e-15:
            break
    return value


def digamma(x: Any) -> Any:
    """The derivative of log Γ: ψ(x) = ψ(x + 1) − 1/x up to 10, then ln x − 1/(2x) − Σ B₂ₖ / (2k x²ᵏ).

    >>> round(float(digamma(1.0)), 12)
    -0.577215664902
    """
    x = np.asarray(x, np.float64)
    if not np.all(x > 0):
        return _scipy("digamma")(x)
    before, y = np.zeros_like(x), x.copy()
    for _ in range(10):
        before, y = before + 1 / y, y + 1
    square = 1 / (y * y)
    tail = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return (np.log(y) - 0.5 / y - tail - before)[()]


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


bdtr, betainc, betaincinv, fdtrc, gammaln, softmax = map(
    _later, ("bdtr", "betainc", "betaincinv", "fdtrc", "gammaln", "softmax")
)
