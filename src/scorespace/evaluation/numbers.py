"""What is said of predicted numbers: the measures shown, the words of the verdict, and what a reader should know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from scorespace.errors import ScoreSpaceError
from scorespace.evaluation.finding import Look, finding
from scorespace.evaluation.shown import usual
from scorespace.evaluation.verdict import Lead, closing, leading
from scorespace.measures import MeasureSpec, parse
from scorespace.measures.regression import bias, coverage, mae, medae, r2, rae, rmse, rrse, rse, spearman
from scorespace.measures.request import bind
from scorespace.results import decimals, grouped, short
from scorespace.tables import Array, NoTableError, residual_table
from scorespace.tables.residual import ResidualTable
from scorespace.tables.sums import TERMS, ErrorSums

OF_SUMS: Final = ("mae", "rmse", "bias", "r2")  # what about one scan of a file gives
OF_CASES: Final = ("mae", "rmse", "medae", "bias", "r2", "rae", "pearson", "spearman")
OF_INTERVALS: Final = ("coverage", "width", "interval_score")
FEW: Final = 20
_SERIES: Final = 50  # times from which on intervals of correlated errors cover
_SURE: Final = 3.3  # standard errors: p < 0.001
_GROWS: Final = 0.2  # rank correlation from which on a reader would see it
_LOOKED_AT: Final = 20_000  # cases that are enough to see how errors are spread


@usual.register
def _(table: ErrorSums, at: float | None = None) -> list[MeasureSpec]:
    return [*map(parse, OF_SUMS)]


@usual.register
def _(table: ResidualTable, at: float | None = None) -> list[MeasureSpec]:
    return [*map(parse, (*OF_CASES, *(OF_INTERVALS if table.numbers.low is not None else ())))]


@leading.register(ErrorSums)
@leading.register(ResidualTable)
def _(table: ErrorSums | ResidualTable) -> Lead:
    return Lead((parse("mae"),), "is nearest to the truth, with mean absolute error", "mean absolute error")


@closing.register
def _(table: ResidualTable, model: str, at: float | None) -> str:
    half = f"Half of the predictions of {model} miss by at most {short(medae(table))}"
    spared = r2(table)
    told = "" if math.isnan(spared) else f", and they spare {_percent(spared)} of the squared error of the mean truth"
    if spared < 0:
        told = ", and the mean truth would have a smaller squared error"
    return f"{half}{told}.{_intervals(table)}"


@closing.register
def _(table: ErrorSums, model: str, at: float | None) -> str:
    try:
        spared = r2(table)
    except NoTableError:  # nobody asked for what it follows from
        return ""
    return f"{model} spares {_percent(spared)} of the squared error of the mean truth." if spared > 0 else ""


def terms_of(specs: Sequence[MeasureSpec]) -> list[frozenset[str]] | None:
    """The terms that each measure is a function of, and those of what is said of every model; None where one is none.

    Of what it is a function, it says itself: without that sum it is no number.

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
    return f" Its prediction intervals cover {_percent(held)} of the truths{stated}."


# --- findings
_HEAVY_TAILS: Final = 15.0  # kurtosis of errors; normal ones have 3
_SQUARED: Final = ("rmse", "mse", "rse", "rrse", "r2", "explained_variance", "err_var", "aoc", "pearson")


@finding("SS040", also=(ErrorSums,))
def biased(table: ResidualTable, look: Look) -> str | None:
    """Said where chance does not explain it, and where it matters beside the size of the errors."""
    lean, size, spread = float(bias(table)), float(mae(table)), float(table.inside(ErrorSums).error_spread)
    sure = table.cases > 1 and abs(lean) > _SURE * math.sqrt(spread / (table.cases - 1))
    if not sure or abs(lean) < 0.1 * size:
        return None
    side = "high" if lean > 0 else "low"
    return (
        f"{look.model} predicts too {side} by {short(abs(lean))} on average, {_percent(abs(lean) / size)} of its mean "
        "absolute error: a shift would mend it."
    )


@finding("SS041")
def growing(table: ResidualTable, look: Look) -> str | None:
    found = _growth(table)
    if found is None or _logs_help(table, found):
        return None
    return (
        f"the errors of {look.model} grow with its predictions (rank correlation {decimals(found[0], 2)}): one margin "
        "of error for all is too wide for small ones and too narrow for large ones."
    )


@finding("SS044")
def better_on_logs(table: ResidualTable, look: Look) -> str | None:
    found = _growth(table)
    if found is None or not _logs_help(table, found):
        return None
    return (
        f"the errors of {look.model} grow with its predictions as shares of them do not (rank correlations "
        f"{decimals(found[0], 2)} and {decimals(found[1], 2)}): compare logarithms, or use mape."
    )


def _growth(table: ResidualTable) -> tuple[float, float] | None:
    """How the size of the errors grows with the prediction, and that of the errors of logarithms; None if hardly."""
    cases = np.linspace(0, table.numbers.truth.size - 1, min(table.numbers.truth.size, _LOOKED_AT)).astype(np.intp)
    truth, predicted = table.numbers.truth[cases], table.numbers.predicted[cases]
    error = predicted - truth
    with_size = _ranks_agree(np.abs(error - np.median(error)), predicted)
    if truth.size < FEW or not with_size > max(_GROWS, _SURE / math.sqrt(truth.size - 1)):
        return None
    if truth.min() <= 0 or predicted.min() <= 0:
        return with_size, math.nan
    shares = np.log(predicted / truth)
    return with_size, _ranks_agree(np.abs(shares - np.median(shares)), predicted)


def _ranks_agree(a: Array, b: Array) -> float:
    return float(spearman(residual_table(a, b)))


def _logs_help(table: ResidualTable, found: tuple[float, float]) -> bool:
    """Whether errors of logarithms hardly grow, and the truths differ enough for logarithms to be another scale."""
    truth = table.numbers.truth
    wide = not math.isnan(found[1]) and float(np.quantile(truth, 0.95) / np.quantile(truth, 0.05)) > 4
    return wide and abs(found[1]) < found[0] / 3


@finding("SS042")
def outliers(table: ResidualTable, look: Look) -> str | None:
    if table.cases < 2 * FEW:
        return None
    order = table.numbers.by_size[::-1]
    weight = table.cells[order]
    squares = np.cumsum(weight * table.numbers.error[order] ** 2)
    if not squares[-1]:
        return None
    few = max(1, int(0.01 * order.size))
    share = float(squares[few - 1] / squares[-1])
    # Of normal errors, the largest hundredth makes 9 % of the squares; of few cases, the largest one rather more.
    if share < 0.5:
        return None
    rest = math.sqrt(float((squares[-1] - squares[few - 1]) / weight[few:].sum()))
    which = "1 case makes" if few == 1 else f"{grouped(few)} cases make"
    return (
        f"{which} {_percent(share)} of the squared error of {look.model}: without them its RMSE is {short(rest)} "
        f"instead of {short(rmse(table))}. Look at them before comparing squared errors."
    )


@finding("SS100")
def heavy_tails(table: ResidualTable, look: Look) -> str | None:
    shown = [one.spec.name for one in look.estimates if one.method is not None and one.spec.name in _SQUARED]
    error = table.numbers.error
    if not shown or error.size < 50 or not np.ptp(error):
        return None
    apart = error - error.mean()
    kurtosis = float((apart**4).mean() / (apart**2).mean() ** 2)
    if kurtosis < _HEAVY_TAILS:
        return None
    return (
        f"the errors of {look.model} have heavy tails (kurtosis {kurtosis:.0f}, normal ones have 3): of such samples, "
        f"intervals of {', '.join(dict.fromkeys(shown))} hold the true value in 84 to 92 %, not in 95 %."
    )


@finding("SS043")
def constant(table: ResidualTable, look: Look) -> str | None:
    predicted = table.numbers.predicted
    if predicted.size < 2 or np.ptp(predicted):
        return None
    return f"{look.model} predicts {short(float(predicted[0]))} for every case: it tells none from another."


@finding("SS045")
def few_cases(table: ResidualTable, look: Look) -> str | None:
    size = table.numbers.truth.size
    if size < FEW:
        return f"only {grouped(size)} case{'s' * (size != 1)}: all numbers are rough."
    if 0 < look.times < _SERIES:
        return f"only {look.times} times: too few to know how errors are correlated in time, so intervals are rough."
    return None


@finding("SS049")
def in_sequence(table: ResidualTable, look: Look) -> str | None:
    """Said where neighbouring rows miss alike, as in a time series, and no time is named."""
    error, size = table.numbers.error, table.numbers.error.size
    if look.times or size < 2 * FEW:
        return None
    apart = error - error.mean()
    squares = float(apart @ apart)
    related = float(apart[1:] @ apart[:-1]) / squares if squares > 0 else 0.0
    if related < _GROWS or related * math.sqrt(size) < _SURE:
        return None
    return (
        f"the errors of {look.model} are correlated from row to row (autocorrelation {decimals(related, 2)}), and "
        "intervals assume independent rows: if rows are in time order, name the column with --time."
    )


@finding("SS046")
def relative_to(table: ResidualTable, look: Look) -> str | None:
    reference = table.numbers.reference
    if reference is None or {one.spec.name for one in look.estimates}.isdisjoint(one.name for one in (rae, rse, rrse)):
        return None
    what = f"{short(reference)}" if isinstance(reference, float) else "the predictions of the baseline"
    return f"relative errors are relative to {what}, as stated, and not to the mean of these truths."


@finding("SS047")
def no_better(table: ResidualTable, look: Look) -> str | None:
    share = float(rae(table))
    if not share >= 1:
        return None
    what = "predicting the mean truth for every case" if table.numbers.reference is None else "its baseline"
    return f"{look.model} is no better than {what}: it misses by {_percent(share)} of what that would."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %".replace("-", "−")
