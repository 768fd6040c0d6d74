"""Predicted numbers on the same cases: Wilcoxon's signed ranks of absolute errors, Diebold and Mariano's over time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Final

import numpy as np

from scorespace.comparisons.answer import Comparison, rounded
from scorespace.comparisons.datasets import dataset_table, wilcoxon
from scorespace.comparisons.question import Paired, Question
from scorespace.comparisons.suits import by_request, each_case_once, not_in_folds, ungrouped, unweighted
from scorespace.comparisons.test import Refused, test
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import measures
from scorespace.resampling.time_series import long_run_variance
from scorespace.results import decimals, joined, note, p_text, signed
from scorespace.special import stdtr, stdtrit
from scorespace.tables import Array, ResidualTable
from scorespace.tables.residual import Numbers

_FEWEST: Final = 8  # times from which on a variance over time says anything
_BARTLETT: Final = "the sum of the autocovariances is not above 0, so they have Bartlett's weights"


def of_sizes(question: Question[Any]) -> Refused | None:
    """Measures of the size of errors."""
    return _of_those(question, "sizes")


def of_mean_losses(question: Question[Any]) -> Refused | None:
    """Measures that are the mean of a loss of each case."""
    return _of_those(question, "loss")


def _of_those(question: Question[Any], declared: str) -> Refused | None:
    """Measures that are declared to be so, and no others."""
    if question.spec is not None and getattr(question.spec.measure, declared):
        return None
    able = [one.name for one in measures() if getattr(one, declared)]
    return Refused(f"{{title}} is for {joined(able, 'or')}.", hint=f'measure="{able[0]}"', error=MeasureError)


def in_time(question: Question[Any]) -> Refused | None:
    """Rows that are ordered in time, each time once."""
    pairs = question.pairs
    if pairs is None or pairs.time is None:
        return Refused("{title} is for predictions of a series, and no time is named.", hint="time=…")
    if np.unique(pairs.time).size < pairs.cases:
        return Refused(
            "{title} is for one series, and several rows have the same time.",
            seen=f"{pairs.cases} rows at {np.unique(pairs.time).size} times",
            hint="the mean of each time, or one series alone",
        )
    if pairs.cases < _FEWEST:
        return Refused(f"{{title}} needs at least {_FEWEST} times.", seen=f"{pairs.cases}", hint='test="bootstrap"')
    return None


@dataclass(frozen=True, kw_only=True, repr=False)
class SignedRanks(Comparison):
    """Wilcoxon's test of absolute errors; `nearer` is the share of the cases on which a is nearer, ties half."""

    nearer: float

    @property
    def words(self) -> str:
        told = f"Wilcoxon's signed ranks of absolute errors, {p_text(self.telling_p)}{self.sided}"
        return (
            f"{self.a} is nearer to the truth than {self.b} on {decimals(100 * self.nearer, 0)} % of the cases, "
            f"{self.verdict} ({told}); {self.measure} differs by {signed(self.difference)}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class OverTime(Comparison):
    """Diebold and Mariano's test at so many `times`; `horizon` is how many steps ahead is predicted, if stated."""

    horizon: int | None
    times: int

    @property
    def words(self) -> str:
        if math.isnan(self.p):
            return f"{self.a} and {self.b}: {self.reason}."
        steps = {None: "", 1: ", one step ahead"}.get(self.horizon, f", {self.horizon} steps ahead")
        size = f"{signed(self.difference)} [{signed(self.low)}, {signed(self.high)}]"
        return (
            f"{self.a} and {self.b}{steps} at {self.times} times: {self.measure} differs by {size}, "
            f"{self.verdict} (Diebold and Mariano, {p_text(self.telling_p)}{self.sided})."
        )


@test(
    title="Diebold and Mariano's test",
    for_="mean losses of predictions of a series: allows for errors that are related in time",
    suits=(of_mean_losses, in_time, each_case_once, unweighted, not_in_folds, ungrouped),
    directed=True,
    aliases=("dm",),
)
def diebold_mariano(
    question: Paired[ResidualTable],
    *,
    horizon: Annotated[
        int | None,
        "how many steps ahead is predicted: losses are related up to one step less; without it, as long as they are",
    ] = None,
) -> Comparison:
    """Mean difference of the losses over its error, with autocorrelation: d̄ / √(Ω / T).

    Without a horizon, Ω is the mean of the squares of ν cosine transforms of the differences, and t has ν degrees of
    freedom (Lazarus, Lewis, Stock and Watson 2018); the more they are related over time, the smaller is ν.
    With a horizon h, Ω = γ₀ + 2 Σ γₖ over h − 1 autocovariances; the statistic has the factor
    √((T + 1 − 2h + h(h − 1)/T) / T) of Harvey, Leybourne and Newbold (1997), and t T − 1 degrees of freedom. Where that
    Ω is not above 0, autocovariances are weighed less the farther apart (Bartlett), and the reason says so.
    """
    gap = _gaps(question)
    times = gap.size
    if horizon is not None and not 1 <= horizon < times / 2:
        raise ScoreSpaceError(f"horizon={horizon} is no number of steps for {times} times.", hint="horizon=1")
    mean, names = float(gap.mean()), question.names
    form = "diebold_mariano" if horizon is not None else "diebold_mariano, cosine"
    found = OverTime(*names, form, str(question.spec), mean, level=question.level, horizon=horizon, times=times)
    if np.ptp(gap) == 0:
        if gap[0] == 0:
            return replace(found, low=0.0, high=0.0, p=1.0, reason="both models miss by as much at every time")
        return replace(found, low=mean, high=mean, reason="the difference is the same at every time")
    apart = gap - mean
    if horizon is None:
        variance, freedom = long_run_variance(apart)
        error = math.sqrt(variance / times)
    else:
        variance, weighed = _of_horizon(apart, horizon)
        small = math.sqrt((times + 1 - 2 * horizon + horizon * (horizon - 1) / times) / times)
        error, freedom = math.sqrt(variance / times) / small, times - 1
        found = replace(found, reason=_BARTLETT if weighed else None, notes=_related(apart, horizon, names))
    half = float(stdtrit(freedom, (1 + question.level) / 2)) * error
    p = 2 * float(stdtr(freedom, -abs(mean / error)))
    return replace(found, low=mean - half, high=mean + half, statistic=mean / error, df=float(freedom), p=p)


def _of_horizon(apart: Array, horizon: int) -> tuple[float, bool]:
    """The long-run variance from the autocovariances within a horizon, and whether Bartlett's weights were needed."""
    times = apart.size
    lagged = np.array([float(apart[k:] @ apart[: times - k]) / times for k in range(horizon)])
    variance = float(lagged[0] + 2 * lagged[1:].sum())
    if variance > 0:
        return variance, False
    return float(lagged[0] + 2 * (lagged[1:] @ (1 - np.arange(1, horizon) / horizon))), True


def _related(apart: Array, horizon: int, names: tuple[str, str]) -> tuple[Any, ...]:
    """The note that differences are related over more steps than the horizon says."""
    lag = horizon
    related = float(apart[lag:] @ apart[:-lag]) / float(apart @ apart)
    if abs(related) * math.sqrt(apart.size) < 3.3:
        return ()
    text = (
        f"the losses of {names[0]} and {names[1]} differ alike {lag} step{'s' * (lag != 1)} apart (correlation "
        f"{decimals(related, 2)}): a longer horizon allows for it, or none."
    )
    return (note("SS048", text),)


def _gaps(question: Paired[ResidualTable]) -> Array:
    """The loss of the first model less that of the second, in the order of time; losses that differ by rounding tie."""
    # A loss is of the error alone, so that of errors free of rounding is the loss of predictions of zeros.
    numbers = [Numbers(np.zeros_like(error), error, 0.0, 0.0) for error in _errors(question)]
    first, second = (request.on(one.alone) for request, one in zip(question.bound, numbers, strict=True))
    gap = rounded(first - second, np.maximum(np.abs(first), np.abs(second)))
    return gap[np.argsort(np.asarray(question.cases.time), kind="stable")]


def _errors(question: Paired[ResidualTable]) -> list[Array]:
    """The errors of both models, case by case, free of the rounding of truths and predictions."""
    sides = [
        _side_by_side(question, (getattr(table.numbers, name) for table in question.tables))
        for name in ("truth", "predicted")
    ]
    (truth, other), predicted = sides
    size = np.max(np.abs([truth, other, *predicted]), axis=0)
    return [rounded(one - of, size) for one, of in zip(predicted, (truth, other), strict=True)]


def _side_by_side(question: Paired[ResidualTable], of_models: Iterable[Array]) -> list[Array]:
    """What both models have of each of their own cases, in the order of the cases that they share."""
    pairs = question.cases
    return [each[pairs.cell[pairs.index(model)]] for model, each in zip(question.names, of_models, strict=True)]


@test(
    title="Wilcoxon's signed ranks",
    for_="sizes of errors, or results over data sets, whatever a few large ones are: ranks by how much better one is",
    suits=(of_sizes, each_case_once, unweighted, not_in_folds, ungrouped, by_request),
    name="wilcoxon",
    directed=True,
    aliases=("signed_ranks", "wilcoxon_errors"),
)
def signed_ranks(question: Paired[ResidualTable]) -> Comparison:
    """Sum of the ranks of | |e_a| − |e_b| | over the cases on which a is farther off; exact up to 25, else normal."""
    a, b = map(np.abs, _errors(question))
    asked: dict[str, Any] = {"alternative": question.alternative, "level": question.level}
    found = wilcoxon(dataset_table({"a": a, "b": b}, best="low"), **asked)
    nearer = float(((a < b) + 0.5 * (a == b)).mean())
    return SignedRanks(
        *question.names,
        f"wilcoxon, {found.method}",
        str(question.spec),
        question.difference,
        level=question.level,
        statistic=found.statistic,
        p=found.p,
        nearer=nearer,
        reason="both models miss by as much on every case" if not (a != b).any() else None,
        alternative=question.alternative,
    )
