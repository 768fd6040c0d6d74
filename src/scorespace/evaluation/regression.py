"""Regression: default measures, sentences of the verdict, and findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.default_measures import default_measures
from scorespace.evaluation.findings import FindingContext, finding
from scorespace.evaluation.verdict import Estimated, LeadingMeasure, leading, operating_sentence
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.forecasts import naive_error
from scorespace.measures.regression import bias, coverage, mae, medae, r2, rae, rmse, rrse, rse, spearman
from scorespace.measures.request import bind
from scorespace.profiles import GENERAL, PROFILES, Profile
from scorespace.results import decimals, grouped, short
from scorespace.tables import Array, NoTableError, residual_table
from scorespace.tables.error_sums import TERMS, ErrorSums
from scorespace.tables.regression import ResidualTable

OF_SUMS: Final = ("r2", "rmse", "mae", "bias")  # from sums of one pass over the data
DEFAULT: Final = ("r2", "rmse", "mae")
_ALL: Final = ("mae", "rmse", "medae", "bias", "r2", "rae", "pearson", "spearman")
_PREDICTION_INTERVALS: Final = ("coverage", "width", "interval_score")
FEW: Final = 20
_MIN_TIMES: Final = 50  # from which on intervals of autocorrelated errors cover
_SURE: Final = 3.3  # standard errors: p < 0.001
_MIN_CORRELATION: Final = 0.2  # that a reader would see in a plot
_MAX_CASES: Final = 20_000  # enough to see how errors are spread


@default_measures.register
def _(
    table: ErrorSums, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    return [*map(parse, OF_SUMS if full else DEFAULT)]


@default_measures.register
def _(
    table: ResidualTable, at: float | None = None, profile: Profile = PROFILES[GENERAL], full: bool = False
) -> list[MeasureSpec]:
    intervals: tuple[str, ...] = _PREDICTION_INTERVALS if table.numbers.low is not None else ()
    distribution = table.numbers.distribution
    intervals += () if distribution is None else ("crps" if distribution.levels is None else "wis",)
    relative = () if full or table.numbers.reference is None else ("rae",)
    return [*map(parse, (*(_ALL if full else DEFAULT), *relative, *intervals))]


@leading.register(ErrorSums)
@leading.register(ResidualTable)
def _(table: ErrorSums | ResidualTable) -> LeadingMeasure:
    return LeadingMeasure((parse("mae"),), "is most accurate")


@operating_sentence.register
def _(table: ResidualTable, model: str, at: float | None, profile: Profile, estimated: Estimated) -> str:
    text = f"{_r2_text(float(r2(table)))}; half of the predictions miss by at most {short(medae(table))}."
    return f"{text}{_intervals(table)}"


@operating_sentence.register
def _(table: ErrorSums, model: str, at: float | None, profile: Profile, estimated: Estimated) -> str:
    try:
        return f"{_r2_text(float(r2(table)))}."
    except NoTableError:  # its sums were not requested
        return ""


def _r2_text(value: float) -> str:
    worse = ", worse than predicting the mean" if value < 0 else ""
    return f"R² = {decimals(value)}{worse}"


def terms_of(specs: Sequence[MeasureSpec]) -> list[frozenset[str]] | None:
    """The sums that each measure needs, and those of the verdict; None if a measure cannot be computed from sums.

    Found by trial: without a sum that it needs, a measure is NaN.

    >>> [sorted(one) for one in terms_of([parse("mse"), parse("r2")])]
    [['error²'], ['error²', 'truth', 'truth²'], ['absolute'], ['error']]
    """
    means = np.array([1.0, 1.0, 0.3, 2.0, 0.2, 3.0, 0.4, 1.2, 3.0, 0.6, 0.5])
    without = np.where(np.eye(len(TERMS), dtype=bool)[1:], np.nan, means)
    probe, said = ErrorSums(without, base=0.0, tilt=0.1), [parse("mae"), parse("bias")]
    try:
        found = [np.isnan(bind(spec, probe).formula(probe)) for spec in (*specs, *said)]
    except ScoreSpaceError:
        return None
    return [frozenset(TERMS[1:][k] for k in np.flatnonzero(each)) for each in found]


def _intervals(table: ResidualTable) -> str:
    try:
        held = coverage(table.intervals)
    except NoTableError:
        return ""
    nominal = table.numbers.level
    stated = "" if nominal is None else f" (nominal {100 * nominal:g} %)"
    return f" Its prediction intervals cover {_percent(held)} of the cases{stated}."


# --- findings
_HEAVY_TAILS: Final = 15.0  # kurtosis of errors; normal ones have 3
_SQUARED: Final = ("rmse", "mse", "rse", "rrse", "r2", "explained_variance", "err_var", "aoc", "pearson")


@finding("SS040", also=(ErrorSums,))
def biased(table: ResidualTable, context: FindingContext) -> str | None:
    """Reported where it is significant and not small beside the mean absolute error."""
    lean, size, spread = float(bias(table)), float(mae(table)), float(table.inside(ErrorSums).error_spread)
    sure = table.cases > 1 and abs(lean) > _SURE * math.sqrt(spread / (table.cases - 1))
    if not sure or abs(lean) < 0.1 * size:
        return None
    side = "high" if lean > 0 else "low"
    return (
        f"{context.model} predicts too {side} by {short(abs(lean))} on average, {_percent(abs(lean) / size)} of its "
        "MAE; a constant shift would correct it."
    )


@finding("SS161")
def crossing_quantiles(table: ResidualTable, context: FindingContext) -> str | None:
    distribution = table.numbers.distribution
    if distribution is None or not (crossed := distribution.crossings):
        return None
    cases = f"{grouped(crossed)} of {grouped(table.numbers.truth.size)} cases"
    return (
        f"quantiles of {context.model} cross in {cases}, so they are no distribution: a quantile of a higher level is "
        "lower. Sort them in each case; the pinball losses are those of the quantiles as they are."
    )


@finding("SS162")
def scored_levels(table: ResidualTable, context: FindingContext) -> str | None:
    distribution = table.numbers.distribution
    asked = [one.spec.name for one in context.estimates if one.spec.name in ("crps", "wis")]
    if distribution is None or distribution.levels is None or not asked:
        return None
    ends = f"{len(distribution.levels)} levels from {distribution.levels[0]:g} to {distribution.levels[-1]:g}"
    return f"{asked[0]} of {context.model} is of {ends}: it is comparable with distributions of these levels only."


@finding("SS163")
def naive_forecast(table: ResidualTable, context: FindingContext) -> str | None:
    scaled = [one.spec for one in context.estimates if one.spec.name in ("mase", "rmsse")]
    if not scaled or table.numbers.history is None:
        return None
    steps = int(dict(scaled[0].options).get("season", 1))
    error = naive_error(table, steps)
    return (
        f"scaled errors are relative to the naive forecast of {grouped(table.numbers.history.size)} training values, "
        f"{steps} step{'s' * (steps != 1)} back: mean absolute error {decimals(error)}."
    )


@finding("SS041")
def error_growth(table: ResidualTable, context: FindingContext) -> str | None:
    found = _growth(table)
    if found is None or _logs_help(table, found):
        return None
    return (
        f"the errors of {context.model} grow with its predictions (rank correlation {decimals(found[0], 2)}): a "
        "constant margin of error is too wide for small predictions and too narrow for large ones."
    )


@finding("SS044")
def better_on_logs(table: ResidualTable, context: FindingContext) -> str | None:
    found = _growth(table)
    if found is None or not _logs_help(table, found):
        return None
    return (
        f"absolute errors of {context.model} grow with its predictions, relative errors do not (rank correlations "
        f"{decimals(found[0], 2)} and {decimals(found[1], 2)}): use a log scale or mape."
    )


def _growth(table: ResidualTable) -> tuple[float, float] | None:
    """Rank correlations of absolute and of log errors with the prediction; None if the first is small."""
    cases = np.linspace(0, table.numbers.truth.size - 1, min(table.numbers.truth.size, _MAX_CASES)).astype(np.intp)
    truth, predicted = table.numbers.truth[cases], table.numbers.predicted[cases]
    error = predicted - truth
    with_size = _ranks_agree(np.abs(error - np.median(error)), predicted)
    if truth.size < FEW or not with_size > max(_MIN_CORRELATION, _SURE / math.sqrt(truth.size - 1)):
        return None
    if truth.min() <= 0 or predicted.min() <= 0:
        return with_size, math.nan
    shares = np.log(predicted / truth)
    return with_size, _ranks_agree(np.abs(shares - np.median(shares)), predicted)


def _ranks_agree(a: Array, b: Array) -> float:
    return float(spearman(residual_table(a, b)))


def _logs_help(table: ResidualTable, found: tuple[float, float]) -> bool:
    """Whether log errors hardly grow, and the truth varies enough for a log scale to matter."""
    truth = table.numbers.truth
    wide = not math.isnan(found[1]) and float(np.quantile(truth, 0.95) / np.quantile(truth, 0.05)) > 4
    return wide and abs(found[1]) < found[0] / 3


@finding("SS042")
def outliers(table: ResidualTable, context: FindingContext) -> str | None:
    if table.cases < 2 * FEW:
        return None
    order = table.numbers.by_size[::-1]
    weight = table.cells[order]
    squares = np.cumsum(weight * table.numbers.error[order] ** 2)
    if not squares[-1]:
        return None
    few = max(1, int(0.01 * order.size))
    share = float(squares[few - 1] / squares[-1])
    # The largest 1 % of normal errors make 9 % of the sum of squares, rather more in small samples.
    if share < 0.5:
        return None
    rest = math.sqrt(float((squares[-1] - squares[few - 1]) / weight[few:].sum()))
    which = "1 case makes" if few == 1 else f"{grouped(few)} cases make"
    return (
        f"{which} {_percent(share)} of the squared error of {context.model}: without them its RMSE is {short(rest)} "
        f"instead of {short(rmse(table))}. Look at them before comparing squared errors."
    )


@finding("SS100")
def heavy_tails(table: ResidualTable, context: FindingContext) -> str | None:
    shown = [one.spec.name for one in context.estimates if one.method is not None and one.spec.name in _SQUARED]
    error = table.numbers.error
    if not shown or error.size < 50 or not np.ptp(error):
        return None
    apart = error - error.mean()
    kurtosis = float((apart**4).mean() / (apart**2).mean() ** 2)
    if kurtosis < _HEAVY_TAILS:
        return None
    return (
        f"the errors of {context.model} have heavy tails (kurtosis {kurtosis:.0f}; normal errors have 3): 95 % "
        f"intervals of {', '.join(dict.fromkeys(shown))} cover 84 to 92 % in such samples."
    )


@finding("SS043")
def constant(table: ResidualTable, context: FindingContext) -> str | None:
    predicted = table.numbers.predicted
    if predicted.size < 2 or np.ptp(predicted):
        return None
    return f"{context.model} predicts {short(float(predicted[0]))} for every case: it does not distinguish cases."


@finding("SS045")
def few_cases(table: ResidualTable, context: FindingContext) -> str | None:
    size = table.numbers.truth.size
    if size < FEW:
        return f"only {grouped(size)} case{'s' * (size != 1)}: all estimates are imprecise."
    if 0 < context.times < _MIN_TIMES:
        return f"only {context.times} times: too few to estimate autocorrelation, so intervals are imprecise."
    return None


@finding("SS049")
def in_sequence(table: ResidualTable, context: FindingContext) -> str | None:
    """Reported where errors of neighbouring rows are correlated and no time column is stated."""
    error, size = table.numbers.error, table.numbers.error.size
    if context.times or size < 2 * FEW:
        return None
    apart = error - error.mean()
    squares = float(apart @ apart)
    related = float(apart[1:] @ apart[:-1]) / squares if squares > 0 else 0.0
    if related < _MIN_CORRELATION or related * math.sqrt(size) < _SURE:
        return None
    return (
        f"the errors of {context.model} are correlated from row to row (autocorrelation {decimals(related, 2)}), and "
        "intervals assume independent rows: if rows are in time order, state the column with --time."
    )


@finding("SS046")
def relative_to(table: ResidualTable, context: FindingContext) -> str | None:
    reference = table.numbers.reference
    if reference is None or {one.spec.name for one in context.estimates}.isdisjoint(
        one.name for one in (rae, rse, rrse)
    ):
        return None
    what = f"{short(reference)}" if isinstance(reference, float) else "the predictions of the baseline"
    return f"relative errors are relative to {what}, as stated, not to the mean of the truth."


@finding("SS047")
def no_better(table: ResidualTable, context: FindingContext) -> str | None:
    share = float(rae(table))
    if not share >= 1:
        return None
    what = "predicting the mean for every case" if table.numbers.reference is None else "its baseline"
    return f"{context.model} is no better than {what}: its absolute error is {_percent(share)} of that."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %".replace("-", "−")
