"""Do paired numbers differ, such as those of two models over folds: t-tests that know how the folds were made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from scorespace.comparisons.answer import (
    ROPE,
    Alternative,
    PairTest,
    Posterior,
    check_alternative,
    check_rope,
    numbers_of,
    rounded,
)
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.resampling.estimate import check_level
from scorespace.results import Note, note
from scorespace.special import fdtrc, stdtr, stdtrit
from scorespace.tables import Array

_SINGLE: Final = "a single difference has no spread"
_OPTIMISTIC: Final = note(
    "SS017",
    "the plain t-test over folds is optimistic: folds share training cases, so the true p is larger; "
    "the corrected t-test allows for it.",
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
    """The plain t-test of J paired differences: t = d̄ / √(s²/J), with J − 1 degrees of freedom.

    Give the values of both models, or their differences alone. Over folds it is optimistic, and says so.

    >>> paired_t([0.82, 0.81, 0.85, 0.80], [0.80, 0.80, 0.81, 0.79])
    a − b +0.020 [−0.003, +0.043]  p = 0.066  paired t, 4 folds
    """
    pair = _pair(a, b, names, measure=measure, alternative=alternative, level=level)
    return _t_test(pair, "paired t", 0.0, (_OPTIMISTIC,))


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
    """Nadeau and Bengio's t-test for folds that share training cases: t = d̄ / √((1/J + n_te/n_tr) s²).

    The ratio of test to training cases is given, or 1/(k − 1) for the k folds of a cross-validation; an
    array of repeats × folds tells k by itself.

    >>> corrected_t([0.02, 0.01, 0.04, 0.01], folds=4)
    a − b +0.020 [−0.014, +0.054]  p = 0.161  corrected t, 4 folds
    """
    pair = _pair(a, b, names, measure=measure, alternative=alternative, level=level)
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
    """Dietterich's 5×2cv t-test: t = d₁₁ / √(Σ sᵢ² / 5), with 5 degrees of freedom.

    Rows are the five repeats, columns the two folds; sᵢ² is the sum of squares about the mean of repeat i.

    >>> found = five_by_two_t([[0.021, -0.004], [0.013, 0.01], [-0.002, 0.008], [0.017, 0.006], [0.011, -0.001]])
    >>> round(found.statistic, 3), round(found.p, 4)
    (2.101, 0.0896)
    """
    pair = _pair(a, b, names, measure=measure, alternative=alternative, level=level)
    spread, reason = _five_by_two(pair)
    if reason is not None:
        return pair.undecided("5×2cv t", 5, reason)
    t = float(pair.d[0, 0]) / math.sqrt(spread / 5)
    return pair.result("5×2cv t", t, tail(t, 5, alternative), 5)


def five_by_two_f(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    measure: str = "",
    level: float = 0.95,
) -> PairTest:
    """Alpaydın's 5×2cv F-test, which uses all ten differences: F = Σ dᵢⱼ² / (2 Σ sᵢ²), F(10, 5).

    >>> found = five_by_two_f([[0.021, -0.004], [0.013, 0.01], [-0.002, 0.008], [0.017, 0.006], [0.011, -0.001]])
    >>> round(found.statistic, 3), round(found.p, 4)
    (1.242, 0.4288)
    """
    pair = _pair(a, b, names, measure=measure, level=level)
    spread, reason = _five_by_two(pair)
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
    """Corani and Benavoli's posterior of the mean difference: St(J − 1, d̄, (1/J + ρ/(1 − ρ)) s²).

    The correlation of folds is given, or 1/k for the k folds of a cross-validation; an array of repeats ×
    folds tells k by itself. `rope` is in the units of the measure.

    >>> bayes_correlated_t([0.02, 0.01, 0.04, 0.01], folds=4)
    a than b: lower 0.035, equal 0.177, higher 0.789  rope ±0.01  Bayesian correlated t, 4 folds
    """
    pair = _pair(a, b, names, measure=measure)
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
        left, right, reason = math.nan, math.nan, _SINGLE
    elif pair.constant:
        reason = "the difference is the same in every fold, so the posterior is a point"
        left, right = float(mean < -rope), float(mean > rope)
    else:
        scale = math.sqrt((1 / count + rho / (1 - rho)) * pair.variance)
        left, right = (float(stdtr(count - 1, (edge - rope) / scale)) for edge in (-mean, mean))
        reason = None
    # Left and right may add up to a little more than one when the region has no width.
    inside = math.nan if math.isnan(left) else max(0.0, 1 - left - right)
    return Posterior(
        **pair.said, test="Bayesian correlated t", width=rope, left=left, rope=inside, right=right, reason=reason
    )


def tail(t: float, df: float, alternative: Alternative) -> float:
    """The p-value of a t statistic: both tails, the upper for "greater", the lower for "less".

    >>> round(tail(2.0, 9, "greater"), 4), round(tail(2.0, 9, "less"), 4)
    (0.0383, 0.9617)
    """
    if alternative == "two-sided":
        return 2 * float(stdtr(df, -abs(t)))
    return float(stdtr(df, -t if alternative == "greater" else t))


@dataclass(frozen=True, eq=False)
class _Pair:
    """The checked differences of two models, the `size` of what each comes from, and what is asked of every test."""

    d: Array
    size: Array
    asked: dict[str, Any]

    @property
    def mean(self) -> float:
        # The mean of equal differences, exactly: 0 must not become 1e-18.
        return float(rounded(self.d, self.size).flat[0]) if self.constant else float(self.d.mean())

    @property
    def said(self) -> dict[str, Any]:
        """What is told about every test."""
        return {**self.asked, "over": "folds", "count": self.d.size, "difference": self.mean}

    @property
    def variance(self) -> float:
        return float(self.d.var(ddof=1))

    @property
    def constant(self) -> bool:
        """Whether all differences are equal but for the rounding of the values they come from."""
        same = rounded(self.d, self.size)
        return bool(np.all(same == same.flat[0]))

    def folds(self, folds: int | None, otherwise: str) -> int:
        """The number of folds of a cross-validation, as stated or as the array shows."""
        if folds is None:
            if self.d.ndim != 2:
                raise ScoreSpaceError(
                    "how the folds were made is not known.",
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
        """Without spread there is no statistic: equal models have p = 1, a constant difference has none."""
        if self.constant and self.mean == 0:
            return self.result(test, 0.0, 1.0, df, reason="they are equal in every fold", notes=notes)
        return self.result(test, math.nan, math.nan, df, reason=reason, notes=notes)

    def result(self, test: str, statistic: float, p: float, df: int | tuple[int, int], **more: Any) -> PairTest:
        return PairTest(**self.said, test=test, statistic=statistic, p=p, df=df, **more)


def _pair(a: ArrayLike, b: ArrayLike | None, names: Sequence[str], **asked: Any) -> _Pair:
    check_level(asked.get("level", 0.95))
    check_alternative(asked.get("alternative", "two-sided"))
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        raise ScoreSpaceError(f"names={names!r} does not name two models.", hint='names=("nb", "tree")')
    one, other = map(str, names)
    asked |= {"a": one, "b": other}
    if b is None:
        differences = _numbers(a, "the differences")
        return _Pair(differences, np.abs(differences), asked)
    first, second = _numbers(a, f"the values of {one}"), _numbers(b, f"the values of {other}")
    if first.shape != second.shape:
        raise DataError(
            "the two models were not measured on the same folds.",
            seen=f"{_shape(first)} for {one}, {_shape(second)} for {other}",
            hint="the same folds for both, in the same order",
        )
    return _Pair(first - second, np.maximum(np.abs(first), np.abs(second)), asked)


def _t_test(pair: _Pair, test: str, ratio: float, notes: tuple[Note, ...] = ()) -> PairTest:
    count = pair.d.size
    if pair.constant:
        same = "the difference is the same in every fold, so its spread is zero"
        return pair.undecided(test, count - 1, same if count > 1 else _SINGLE, notes)
    error = math.sqrt((1 / count + ratio) * pair.variance)
    t, half = pair.mean / error, error * float(stdtrit(count - 1, (1 + pair.asked["level"]) / 2))
    p = tail(t, count - 1, pair.asked["alternative"])
    return pair.result(test, t, p, count - 1, low=pair.mean - half, high=pair.mean + half, notes=notes)


def _five_by_two(pair: _Pair) -> tuple[float, str | None]:
    """Σ sᵢ² over the five repeats, and the reason when it is zero."""
    if pair.d.shape != (5, 2):
        raise DataError(
            "a 5×2cv test needs five repeats of two folds.",
            seen=_shape(pair.d),
            hint="an array of 5 rows (repeats) and 2 columns (folds)",
        )
    if not rounded(pair.d[:, 0] - pair.d[:, 1], pair.size.max(axis=1)).any():
        return 0.0, "the two folds of each repeat have the same difference, so its spread is zero"
    # The sum of squares of two numbers about their mean is half the square of their difference.
    return float(np.sum((pair.d[:, 0] - pair.d[:, 1]) ** 2)) / 2, None


def _numbers(values: ArrayLike, what: str) -> Array:
    hint = "a list of numbers, or repeats × folds of them"
    numbers = numbers_of(values, f"{what} are not an array of numbers.", hint)
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise DataError(
            f"{what} are neither a list nor a table of folds.",
            seen=_shape(numbers),
            hint="one value per fold, or an array of repeats × folds",
        )
    missing = np.argwhere(~np.isfinite(numbers))
    if missing.size:
        place = ", ".join(str(index + 1) for index in missing[0])
        raise DataError(
            f"{len(missing)} of {what} {'is' if len(missing) == 1 else 'are'} missing or infinite.",
            seen=f"{numbers[tuple(missing[0])]:g} in {'fold' if numbers.ndim == 1 else 'repeat and fold'} {place}",
            hint="leave out that fold for both models",
        )
    return numbers


def _shape(values: Array) -> str:
    if values.ndim < 2:
        return f"{values.size} values" if values.ndim else "a single number"
    return f"an array of {' × '.join(map(str, values.shape))}"
