"""Regression models on the same cases: Wilcoxon's signed-rank test of errors, Diebold and Mariano's test over time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

import numpy as np
from scipy.special import stdtr, stdtrit

from scorespace.comparisons.datasets import dataset_table, wilcoxon
from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.eligibility import (
    discourages_folds,
    discourages_groups,
    only_on_request,
    requires_single_cases,
    requires_unweighted,
)
from scorespace.comparisons.result import Comparison, rounded
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError, ScoreSpaceError
from scorespace.inference.time_series import long_run_variance
from scorespace.measures.catalog import measures
from scorespace.results import decimals, format_signed, join_words, note, p_text
from scorespace.tables import Array, ResidualTable
from scorespace.tables.regression import RegressionData

_MIN_TIMES: Final = 8  # minimum number of times for a variance over time
_BARTLETT_REASON: Final = "the sum of the autocovariances is not positive, so Bartlett's weights are used"


def requires_absolute_errors(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure of absolute errors."""
    return _require_declared(design, "absolute_error")


def requires_mean_loss(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure that is a mean loss over cases."""
    return _require_declared(design, "loss")


def _require_declared(design: Design[Any], declared: str) -> NotApplicable | None:
    """Requires a measure with the given declaration."""
    if design.spec is not None and getattr(design.spec.measure, declared):
        return None
    names = [measure.name for measure in measures() if getattr(measure, declared)]
    return NotApplicable(
        f"{{title}} is for {join_words(names, 'or')}.", hint=f'measure="{names[0]}"', error=MeasureError
    )


def requires_time(design: Design[Any]) -> NotApplicable | None:
    """Requires a time column with distinct times."""
    pairs = design.pairs
    if pairs is None or pairs.time is None:
        return NotApplicable("{title} is for time series, and there is no time column.", hint="time=…")
    if np.unique(pairs.time).size < pairs.cases:
        return NotApplicable(
            "{title} is for one time series, and several rows have the same time.",
            seen=f"{pairs.cases} rows at {np.unique(pairs.time).size} times",
            hint="the mean of each time, or one series alone",
        )
    if pairs.cases < _MIN_TIMES:
        return NotApplicable(
            f"{{title}} needs at least {_MIN_TIMES} times.", seen=f"{pairs.cases}", hint='test="bootstrap"'
        )
    return None


@dataclass(frozen=True, kw_only=True, repr=False)
class SignedRanks(Comparison):
    """Wilcoxon's test of absolute errors; `nearer` is the share of cases with a smaller error of a, ties half."""

    nearer: float

    @property
    def words(self) -> str:
        details = f"Wilcoxon's signed ranks of absolute errors, {p_text(self.reported_p)}{self.sided}"
        return (
            f"{self.a} has a smaller error than {self.b} on {decimals(100 * self.nearer, 0)} % of the cases, "
            f"{self.verdict} ({details}); {self.measure} differs by {format_signed(self.difference)}."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class DieboldMariano(Comparison):
    """Diebold and Mariano's test; `times` is the length of the series, `horizon` the forecast horizon, if stated."""

    horizon: int | None
    times: int

    @property
    def words(self) -> str:
        if math.isnan(self.p):
            return f"{self.a} and {self.b}: {self.reason}."
        steps = {None: "", 1: ", one step ahead"}.get(self.horizon, f", {self.horizon} steps ahead")
        size = f"{format_signed(self.difference)} [{format_signed(self.low)}, {format_signed(self.high)}]"
        return (
            f"{self.a} and {self.b}{steps} at {self.times} times: {self.measure} differs by {size}, "
            f"{self.verdict} (Diebold and Mariano, {p_text(self.reported_p)}{self.sided})."
        )


@test(
    title="Diebold and Mariano's test",
    for_="mean losses of forecasts of a time series: allows for autocorrelated errors",
    suits=(
        requires_mean_loss,
        requires_time,
        requires_single_cases,
        requires_unweighted,
        discourages_folds,
        discourages_groups,
    ),
    directed=True,
    aliases=("dm",),
)
def diebold_mariano(
    design: PairedModels[ResidualTable],
    *,
    horizon: Annotated[
        int | None,
        "forecast horizon in steps; without it, autocorrelation at all lags is allowed for",
    ] = None,
) -> Comparison:
    """Mean loss difference over its standard error with autocorrelation (1995): d̄ / √(Ω / T).

    Without a horizon, Ω is the mean of the squares of ν cosine transforms of the differences, and t has ν degrees of
    freedom (Lazarus, Lewis, Stock and Watson 2018); ν decreases with autocorrelation. With a horizon h, Ω = γ₀ + 2 Σ γₖ
    over h − 1 autocovariances; the statistic has the factor √((T + 1 − 2h + h(h − 1)/T) / T) of Harvey, Leybourne and
    Newbold (1997), and t has T − 1 degrees of freedom. If that Ω is not positive, Bartlett's weights are used, and the
    reason says so.
    """
    difference = _loss_differences(design)
    times = difference.size
    if horizon is not None and not 1 <= horizon < times / 2:
        raise ScoreSpaceError(f"horizon={horizon} is not a horizon for {times} times.", hint="horizon=1")
    mean, names = float(difference.mean()), design.names
    form = "diebold_mariano" if horizon is not None else "diebold_mariano, cosine"
    result = DieboldMariano(*names, form, str(design.spec), mean, level=design.level, horizon=horizon, times=times)
    if np.ptp(difference) == 0:
        if difference[0] == 0:
            return replace(result, low=0.0, high=0.0, p=1.0, reason="both models have equal losses at every time")
        return replace(result, low=mean, high=mean, reason="the difference is the same at every time")
    deviations = difference - mean
    if horizon is None:
        variance, df = long_run_variance(deviations)
        error = math.sqrt(variance / times)
    else:
        variance, is_weighted = _horizon_variance(deviations, horizon)
        small_sample_factor = math.sqrt((times + 1 - 2 * horizon + horizon * (horizon - 1) / times) / times)
        error, df = math.sqrt(variance / times) / small_sample_factor, times - 1
        result = replace(
            result,
            reason=_BARTLETT_REASON if is_weighted else None,
            notes=_autocorrelation_notes(deviations, horizon, names),
        )
    half = float(stdtrit(df, (1 + design.level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(mean / error)))
    return replace(result, low=mean - half, high=mean + half, statistic=mean / error, df=float(df), p=p)


def _horizon_variance(deviations: Array, horizon: int) -> tuple[float, bool]:
    """Return the long-run variance within a horizon, and whether Bartlett's weights were used."""
    times = deviations.size
    lagged = np.array([float(deviations[k:] @ deviations[: times - k]) / times for k in range(horizon)])
    variance = float(lagged[0] + 2 * lagged[1:].sum())
    if variance > 0:
        return variance, False
    return float(lagged[0] + 2 * (lagged[1:] @ (1 - np.arange(1, horizon) / horizon))), True


def _autocorrelation_notes(deviations: Array, horizon: int, names: tuple[str, str]) -> tuple[Any, ...]:
    """Return a note where differences are autocorrelated beyond the horizon."""
    lag = horizon
    correlation = float(deviations[lag:] @ deviations[:-lag]) / float(deviations @ deviations)
    if abs(correlation) * math.sqrt(deviations.size) < 3.3:
        return ()
    text = (
        f"the loss differences of {names[0]} and {names[1]} are autocorrelated at lag {lag} (correlation "
        f"{decimals(correlation, 2)}): use a longer horizon, or none."
    )
    return (note("SS048", text),)


def _loss_differences(design: PairedModels[ResidualTable]) -> Array:
    """Loss of the first model minus that of the second, in time order, without rounding error."""
    # A loss depends on the error alone, so it equals the loss of predicting the error where the truth is zero.
    numbers = [RegressionData(np.zeros_like(error), error, 0.0, 0.0) for error in _model_errors(design)]
    first, second = (request.on(data.alone) for request, data in zip(design.bound, numbers, strict=True))
    difference = rounded(first - second, np.maximum(np.abs(first), np.abs(second)))
    return difference[np.argsort(np.asarray(design.cases.time), kind="stable")]


def _model_errors(design: PairedModels[ResidualTable]) -> list[Array]:
    """Errors of both models case by case, without the rounding error of truths and predictions."""
    truth_and_predicted = [
        _in_shared_order(design, (getattr(table.numbers, name) for table in design.tables))
        for name in ("truth", "predicted")
    ]
    (truth, other_truth), predicted = truth_and_predicted
    size = np.max(np.abs([truth, other_truth, *predicted]), axis=0)
    return [
        rounded(prediction - true_value, size)
        for prediction, true_value in zip(predicted, (truth, other_truth), strict=True)
    ]


def _in_shared_order(design: PairedModels[ResidualTable], values_by_model: Iterable[Array]) -> list[Array]:
    """Return the values of both models in the order of their shared cases."""
    pairs = design.cases
    return [values[pairs.cell[pairs.index(model)]] for model, values in zip(design.names, values_by_model, strict=True)]


@test(
    title="Wilcoxon's signed ranks",
    for_="absolute errors, or results over data sets, robust to outliers: ranks the differences",
    suits=(
        requires_absolute_errors,
        requires_single_cases,
        requires_unweighted,
        discourages_folds,
        discourages_groups,
        only_on_request,
    ),
    name="wilcoxon",
    directed=True,
    aliases=("signed_ranks", "wilcoxon_errors"),
)
def signed_ranks(design: PairedModels[ResidualTable]) -> Comparison:
    """Rank sum of | |e_a| − |e_b| | over the cases on which a has the larger error; exact up to 25, else normal."""
    a, b = map(np.abs, _model_errors(design))
    settings: dict[str, Any] = {"alternative": design.alternative, "level": design.level}
    result = wilcoxon(dataset_table({"a": a, "b": b}, best="low"), **settings)
    nearer = float(((a < b) + 0.5 * (a == b)).mean())
    return SignedRanks(
        *design.names,
        f"wilcoxon, {result.method}",
        str(design.spec),
        design.difference,
        level=design.level,
        statistic=result.statistic,
        p=result.p,
        nearer=nearer,
        reason="both models have equal absolute errors on every case" if not (a != b).any() else None,
        alternative=design.alternative,
    )
