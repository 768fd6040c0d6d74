"""Paired t-tests over folds that allow for the way the folds were made; the Bayesian correlated t-test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, stdtr, stdtrit

from scorespace.comparisons.result import (
    ROPE,
    Alternative,
    PairTest,
    Posterior,
    check_alternative,
    check_numbers,
    check_rope,
    rounded,
)
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.inference.estimate import check_level
from scorespace.results import Note, note
from scorespace.tables import Array

_SINGLE_DIFFERENCE: Final = "a single difference has no variance"
_ANTICONSERVATIVE: Final = note(
    "SS017",
    "the paired t-test over folds is anticonservative, as folds share training cases; the corrected t-test allows "
    "for it.",
)


def paired_t(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> PairTest:
    """Paired t-test of J differences: t = d̄ / √(s²/J), with J − 1 degrees of freedom.

    Over folds p is too small, and a note says so.

    Parameters
    ----------
    a : array_like of shape (n_folds,) or (n_repeats, n_folds)
        Values of the first model, or the differences if `b` is omitted.
    b : array_like, optional
        Values of the second model on the same folds.
    names : tuple of str
        Names of the two models.
    measure : str, optional
        Name of the measure, for the result.
    alternative : {"two-sided", "greater", "less"}
        Whether the first model of a pair differs, has the greater, or has the lesser value.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    PairTest
        Mean difference, interval and p-value.

    Examples
    --------
    >>> paired_t([0.82, 0.81, 0.85, 0.80], [0.80, 0.80, 0.81, 0.79])
    a − b +0.020 [−0.003, 0.043]  p = 0.066  paired t, 4 folds
    """
    pair = _check_pair(a, b, names, measure=measure, alternative=alternative, level=level)
    return _t_test(pair, "paired t", 0.0, (_ANTICONSERVATIVE,))


def corrected_t(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    folds: int | None = None,
    ratio: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> PairTest:
    """Corrected resampled t-test (Nadeau and Bengio 2003) for folds that share training cases.

    t = d̄ / √((1/J + n_te/n_tr) s²).

    Parameters
    ----------
    a : array_like of shape (n_folds,) or (n_repeats, n_folds)
        Values of the first model, or the differences if `b` is omitted.
    b : array_like, optional
        Values of the second model on the same folds.
    folds : int, optional
        Number k of folds of a cross-validation; an array of repeats × folds implies it.
    ratio : float, optional
        Ratio of test to training cases; 1/(k − 1) by default.
    names : tuple of str
        Names of the two models.
    measure : str, optional
        Name of the measure, for the result.
    alternative : {"two-sided", "greater", "less"}
        Whether the first model of a pair differs, has the greater, or has the lesser value.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    PairTest
        Mean difference, interval and p-value.

    References
    ----------
    Nadeau, C., & Bengio, Y. (2003). Inference for the generalization error. Machine Learning, 52, 239-281.

    Examples
    --------
    >>> corrected_t([0.02, 0.01, 0.04, 0.01], folds=4)
    a − b +0.020 [−0.014, 0.054]  p = 0.161  corrected t, 4 folds
    """
    pair = _check_pair(a, b, names, measure=measure, alternative=alternative, level=level)
    if ratio is None:
        ratio = 1 / (pair.folds(folds, "ratio=1/9 (test cases by training cases)") - 1)
    elif folds is not None:
        raise ScoreSpaceError("folds= and ratio= are two ways to say the same.", hint="one of them")
    elif not 0 <= ratio < math.inf:
        raise ScoreSpaceError(f"ratio={ratio:g} is not a ratio of test to training cases.", hint="ratio=1/9")
    return _t_test(pair, "corrected t", ratio)


def five_by_two_t(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> PairTest:
    """5×2cv t-test (Dietterich 1998): t = d₁₁ / √(Σ sᵢ² / 5), with 5 degrees of freedom.

    Rows are the five repeats, columns the two folds; sᵢ² is the sum of squares about the mean of repeat i.

    Parameters
    ----------
    a : array_like of shape (5, 2)
        Values of the first model, or the differences if `b` is omitted; rows are repeats.
    b : array_like, optional
        Values of the second model on the same folds.
    names : tuple of str
        Names of the two models.
    measure : str, optional
        Name of the measure, for the result.
    alternative : {"two-sided", "greater", "less"}
        Whether the first model of a pair differs, has the greater, or has the lesser value.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    PairTest
        Mean difference, statistic and p-value.

    References
    ----------
    Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms.
    Neural Computation, 10(7), 1895-1923.

    Examples
    --------
    >>> found = five_by_two_t([[0.021, -0.004], [0.013, 0.01], [-0.002, 0.008], [0.017, 0.006], [0.011, -0.001]])
    >>> round(found.statistic, 3), round(found.p, 4)
    (2.101, 0.0896)
    """
    pair = _check_pair(a, b, names, measure=measure, alternative=alternative, level=level)
    spread, reason = _within_repeat_squares(pair)
    if reason is not None:
        return pair.undecided("5×2cv t", 5, reason)
    t = float(pair.d[0, 0]) / math.sqrt(spread / 5)
    return pair.result("5×2cv t", t, t_p_value(t, 5, alternative), 5)


def five_by_two_f(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
    level: float = 0.95,
) -> PairTest:
    """5×2cv F-test (Alpaydın 1999) with all ten differences: F = Σ dᵢⱼ² / (2 Σ sᵢ²), F(10, 5).

    Parameters
    ----------
    a : array_like of shape (5, 2)
        Values of the first model, or the differences if `b` is omitted; rows are repeats.
    b : array_like, optional
        Values of the second model on the same folds.
    names : tuple of str
        Names of the two models.
    measure : str, optional
        Name of the measure, for the result.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    PairTest
        Mean difference, statistic and p-value.

    References
    ----------
    Alpaydın, E. (1999). Combined 5 × 2 cv F test for comparing supervised classification learning algorithms. Neural
    Computation, 11(8), 1885-1892.

    Examples
    --------
    >>> found = five_by_two_f([[0.021, -0.004], [0.013, 0.01], [-0.002, 0.008], [0.017, 0.006], [0.011, -0.001]])
    >>> round(found.statistic, 3), round(found.p, 4)
    (1.242, 0.4288)
    """
    pair = _check_pair(a, b, names, measure=measure, level=level)
    spread, reason = _within_repeat_squares(pair)
    if reason is not None:
        return pair.undecided("5×2cv F", (10, 5), reason)
    f = float(np.sum(pair.d**2)) / (2 * spread)
    return pair.result("5×2cv F", f, float(fdtrc(10, 5, f)), (10, 5))


def bayes_correlated_t(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    folds: int | None = None,
    rho: float | None = None,
    rope: float = ROPE,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
) -> Posterior:
    """Posterior of the mean difference of two models over folds: St(J − 1, d̄, (1/J + ρ/(1 − ρ)) s²).

    Parameters
    ----------
    a : array_like of shape (n_folds,) or (n_repeats, n_folds)
        Values of the first model, or the differences if `b` is omitted.
    b : array_like, optional
        Values of the second model on the same folds.
    folds : int, optional
        Number k of folds of a cross-validation; an array of repeats × folds implies it.
    rho : float, optional
        Correlation of folds; 1/k by default.
    rope : float
        Half width of the region of practical equivalence, in the units of the measure.
    names : tuple of str
        Names of the two models.
    measure : str, optional
        Name of the measure, for the result.

    Returns
    -------
    Posterior
        Probabilities that the first model is lower, practically equal, or higher.

    References
    ----------
    Corani, G., & Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets. Machine Learning, 100, 285-304.

    Examples
    --------
    >>> bayes_correlated_t([0.02, 0.01, 0.04, 0.01], folds=4)
    a than b: lower 0.035, equal 0.177, higher 0.789  rope ±0.01  Bayesian correlated t, 4 folds
    """
    pair = _check_pair(a, b, names, measure=measure)
    check_rope(rope)
    if rho is None:
        rho = 1 / pair.folds(folds, "rho=0.1 (test cases by all cases)")
    elif folds is not None:
        raise ScoreSpaceError("folds= and rho= are two ways to say the same.", hint="one of them")
    elif not 0 <= rho < 1:
        raise ScoreSpaceError(f"rho={rho:g} is not a correlation of folds.", hint="rho=0.1 for ten folds")
    count, mean = pair.d.size, pair.mean
    reason: str | None
    if count < 2:
        left, right, reason = math.nan, math.nan, _SINGLE_DIFFERENCE
    elif pair.constant:
        reason = "the difference is the same in every fold, so the posterior is a point"
        left, right = float(mean < -rope), float(mean > rope)
    else:
        scale = math.sqrt((1 / count + rho / (1 - rho)) * pair.variance)
        left, right = (float(stdtr(count - 1, (edge - rope) / scale)) for edge in (-mean, mean))
        reason = None
    # Rounding: left and right may sum to slightly more than one if the region has no width.
    inside = math.nan if math.isnan(left) else max(0.0, 1 - left - right)
    return Posterior(
        **pair.said, test="Bayesian correlated t", width=rope, left=left, rope=inside, right=right, reason=reason
    )


def t_p_value(t: float, df: float, alternative: Alternative) -> float:
    """p value of a t statistic: both tails, the upper for "greater", the lower for "less".

    >>> round(t_p_value(2.0, 9, "greater"), 4), round(t_p_value(2.0, 9, "less"), 4)
    (0.0383, 0.9617)
    """
    if alternative == "two-sided":
        return 2 * float(stdtr(df, -abs(t)))
    return float(stdtr(df, -t if alternative == "greater" else t))


@dataclass(frozen=True, eq=False)
class _PairedDifferences:
    """Checked differences of two models, the magnitude of the values they come from, and the settings of the test."""

    d: Array
    size: Array
    settings: dict[str, Any]

    @property
    def mean(self) -> float:
        # Exact for equal differences: 0 must not become 1e-18.
        return float(rounded(self.d, self.size).flat[0]) if self.constant else float(self.d.mean())

    @property
    def said(self) -> dict[str, Any]:
        """Fields common to all tests."""
        return {**self.settings, "over": "folds", "count": self.d.size, "difference": self.mean}

    @property
    def variance(self) -> float:
        return float(self.d.var(ddof=1))

    @property
    def constant(self) -> bool:
        """Whether all differences are equal up to rounding."""
        rounded_differences = rounded(self.d, self.size)
        return bool(np.all(rounded_differences == rounded_differences.flat[0]))

    def folds(self, folds: int | None, otherwise: str) -> int:
        """Return the number of folds of a cross-validation, as stated or implied by the array."""
        if folds is None:
            if self.d.ndim != 2:
                raise ScoreSpaceError(
                    "the number of folds is unknown.",
                    seen=_shape(self.d),
                    hint=f"folds=10, an array of repeats × folds, or {otherwise}",
                )
            folds = self.d.shape[1]
        if folds < 2:
            raise ScoreSpaceError(f"folds={folds} leaves no cases to train on.", hint="folds=2 or more")
        if self.d.size % folds:
            raise ScoreSpaceError(
                f"folds={folds} does not divide the {self.d.size} differences.", hint="all folds of every repeat"
            )
        return folds

    def undecided(self, test: str, df: int | tuple[int, int], reason: str, notes: tuple[Note, ...] = ()) -> PairTest:
        """Return the result without variance: equal models have p = 1, a constant difference has no p."""
        if self.constant and self.mean == 0:
            return self.result(test, 0.0, 1.0, df, reason="they are equal in every fold", notes=notes)
        return self.result(test, math.nan, math.nan, df, reason=reason, notes=notes)

    def result(self, test: str, statistic: float, p: float, df: int | tuple[int, int], **more: Any) -> PairTest:
        return PairTest(**self.said, test=test, statistic=statistic, p=p, df=df, **more)


def _check_pair(a: ArrayLike, b: ArrayLike | None, names: Sequence[str], **settings: Any) -> _PairedDifferences:
    check_level(settings.get("level", 0.95))
    check_alternative(settings.get("alternative", "two-sided"))
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        raise ScoreSpaceError(f"names={names!r} does not name two models.", hint='names=("nb", "tree")')
    first_name, second_name = map(str, names)
    settings |= {"a": first_name, "b": second_name}
    if b is None:
        differences = _check_values(a, "the differences")
        return _PairedDifferences(differences, np.abs(differences), settings)
    first, second = _check_values(a, f"the values of {first_name}"), _check_values(b, f"the values of {second_name}")
    if first.shape != second.shape:
        raise DataError(
            "the two models were not measured on the same folds.",
            seen=f"{_shape(first)} for {first_name}, {_shape(second)} for {second_name}",
            hint="the same folds for both, in the same order",
        )
    return _PairedDifferences(first - second, np.maximum(np.abs(first), np.abs(second)), settings)


def _t_test(pair: _PairedDifferences, test: str, ratio: float, notes: tuple[Note, ...] = ()) -> PairTest:
    count = pair.d.size
    if pair.constant:
        reason = "the difference is the same in every fold, so its variance is zero"
        return pair.undecided(test, count - 1, reason if count > 1 else _SINGLE_DIFFERENCE, notes)
    error = math.sqrt((1 / count + ratio) * pair.variance)
    t, half = pair.mean / error, error * float(stdtrit(count - 1, (1 + pair.settings["level"]) / 2))
    p = t_p_value(t, count - 1, pair.settings["alternative"])
    return pair.result(test, t, p, count - 1, low=pair.mean - half, high=pair.mean + half, notes=notes)


def _within_repeat_squares(pair: _PairedDifferences) -> tuple[float, str | None]:
    """Return Σ sᵢ² over the five repeats, and the reason when it is zero."""
    if pair.d.shape != (5, 2):
        raise DataError(
            "a 5×2cv test needs five repeats of two folds.",
            seen=_shape(pair.d),
            hint="an array of 5 rows (repeats) and 2 columns (folds)",
        )
    if not rounded(pair.d[:, 0] - pair.d[:, 1], pair.size.max(axis=1)).any():
        return 0.0, "the two folds of each repeat have the same difference, so its variance is zero"
    # The sum of squares of two values about their mean is half the square of their difference.
    return float(np.sum((pair.d[:, 0] - pair.d[:, 1]) ** 2)) / 2, None


def _check_values(values: ArrayLike, what: str) -> Array:
    hint = "a list of numbers, or repeats × folds of them"
    numbers = check_numbers(values, f"{what} are not an array of numbers.", hint)
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise DataError(
            f"{what} are neither a list nor a table of folds.",
            seen=_shape(numbers),
            hint="one value per fold, or an array of repeats × folds",
        )
    missing = np.argwhere(~np.isfinite(numbers))
    if missing.size:
        position = ", ".join(str(index + 1) for index in missing[0])
        raise DataError(
            f"{len(missing)} of {what} {'is' if len(missing) == 1 else 'are'} missing or infinite.",
            seen=f"{numbers[tuple(missing[0])]:g} in {'fold' if numbers.ndim == 1 else 'repeat and fold'} {position}",
            hint="exclude that fold for both models",
        )
    return numbers


def _shape(values: Array) -> str:
    if values.ndim < 2:
        return f"{values.size} values" if values.ndim else "a single number"
    return f"an array of {' × '.join(map(str, values.shape))}"
