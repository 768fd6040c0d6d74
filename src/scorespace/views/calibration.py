"""Calibration on the page: the reliability diagram, the numbers behind it, the bins, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.curves import calibration
from scorespace.probabilities.summary import CalibrationSummary
from scorespace.probabilities.tests import CalibrationTest, calibration_band
from scorespace.results import decimals, digits, grouped, limits, p_cell
from scorespace.tables import Array, ScoreTable, ratio
from scorespace.tables.classes import TOP
from scorespace.tables.counts import class_factors
from scorespace.views.answers import Answers, told
from scorespace.views.charts.calibration import calibration_chart
from scorespace.views.document import Block, Grid, Picture, Text
from scorespace.views.moving import moving

MOST_BANDS: Final = 3
"""Models that stay readable with bands, and with a table of bins each."""

MOST_CLASSES: Final = 5
"""Classes that a picture tells apart beside the highest score."""

_ROWS: Final = (
    ("brier", "brier", 3, "Mean squared distance of the scores from what happened: cal + ref."),
    ("cal", "cal", 4, "What the best monotone recalibration of these very cases would save."),
    ("cal by chance", "cal_chance", 4, "What calibrated scores would show as cal on so many cases."),
    ("ref", "ref", 3, "What remains after recalibration: a matter of ranking alone."),
    ("unc", "unc", 3, "Brier score of always stating the base rate."),
    ("skill", "skill", 3, "Gain over always stating the base rate: 1 − brier / unc."),
    ("log loss", "logloss", 3, "Mean surprise at what happened, in nats."),
    ("observed − mean score", "cal_large", 3, "Calibration in the large: above 0, scores are too low."),
    ("slope", "slope", 3, "Of the logistic fit on the logits: below 1, scores are too extreme."),
    ("intercept, with the slope", "intercept", 3, "Fitted together with the slope."),
    ("intercept, for slope 1", "offset", 3, "Fitted alone: above 0, scores are too low."),
)
"""The numbers of a summary by title, with the fewest decimals and what each says."""

_RESIDUAL: Final = "brier − (reliability − resolution + unc): what scores within a bin differ by."
_BINNED: Final = (
    ("ece, {} bins", "ece", None, "Mean distance of mean score and observed rate over bins of equal width."),
    ("mce, {} bins", "mce", None, "The largest such distance."),
    ("reliability, {} bins", "rel", 4, "Murphy's term: squared distance of mean score and rate over the bins."),
    ("resolution, {} bins", "res", 4, "Murphy's term: squared distance of the rates from the base rate."),
    ("residual within bins", "residual", 4, _RESIDUAL),
)

_GROUPS: Final = "Whether ten groups of equal size have as many positives as promised."
_TESTS: Final = (
    ("Spiegelhalter", "z", "spiegelhalter", "Whether the Brier score is what the scores promise; normal if it is."),
    ("Hosmer-Lemeshow", "χ²", "hosmer_lemeshow", _GROUPS),
)


def blocks(evaluation: Answers) -> Sequence[Block]:
    """The section of a report, for the models whose scores lie between 0 and 1."""
    if evaluation.class_calibrations:
        tops = (_top_words(name, one).partition(". ")[0] for name, one in evaluation.class_calibrations.items())
        answer = Text(" ".join(words.rstrip(".") + "." for words in tops))
        return [
            answer,
            *(block for name in evaluation.class_calibrations for block in _class_blocks(evaluation, name)),
        ]
    found = evaluation.calibrations
    tables = {name: evaluation.in_use[name] for name in evaluation.models.thresholded if name in found}
    if not tables or not 0 < evaluation.models.prevalence < 1:
        return []
    few = len(tables) <= MOST_BANDS
    # The band is of labels drawn in the sample, so there is none for another prevalence.
    banded = few and all(table.counted for table in tables.values()) and evaluation.prevalence is None
    bins = [_bin_grid(evaluation, name) for name in tables] if few else []
    bins = [replace(grid, folded="Observed rates in bins of the scores") for grid in bins]
    said = {name: found[name].words.partition(". ") for name in tables}
    answer, others = told(evaluation, {name: f"{words[0].rstrip('.')}." for name, words in said.items()})
    title = "" if few else "What is wrong with the scores of each"
    rest = [Text(f"{n}: {words[:1].lower()}{words[1:]}", title) for n, (*_, words) in said.items() if words]
    return [answer, _picture(evaluation, tables, banded), *others, *rest, summary_grid(found), *bins]


def _class_blocks(evaluation: Answers, model: str) -> Sequence[Block]:
    """The same for each class against the rest, and for the highest score of each case."""
    found = evaluation.class_calibrations[model]
    shown = list(found)[: MOST_CLASSES + 1]

    about = "How often a case is of a class whose score is so high, by isotonic regression."
    top = f"{TOP} is the highest score of each case: how often it is that of the right class."
    absent = list(found)[len(shown) :]
    left_out = f" Not drawn: {', '.join(absent)}." if absent else ""
    grid = summary_grid({f"{model}[{of}]" if of == TOP else of: one for of, one in found.items()})
    return [
        Picture(
            lambda: calibration_picture(evaluation, [f"{model}[{of}]" for of in shown], band=False),
            f"Observed rate against score for each class of {model}, and for its highest score.",
            f"{about} {top}{left_out}",
        ),
        replace(grid, caption=f"{top} {grid.caption}"),
        Text(_top_words(model, found)),
    ]


def _top_words(model: str, found: Mapping[str, CalibrationSummary]) -> str:
    return replace(found[TOP], model=f"The highest score of {model}").words


def _row(name: str, values: Sequence[float], fewest: int) -> tuple[str, ...]:
    """Numbers that stand together, with more decimals where all of them are small."""
    largest = max(map(abs, values), default=1.0)
    places = min(6, max(fewest, digits(largest))) if largest < 0.01 else fewest
    return (name, *(decimals(value, places) for value in values))


def summary_grid(found: Mapping[str, CalibrationSummary]) -> Grid:
    """The numbers of each model, one column each, with what each of them says."""
    every = list(found.values())
    told = [(_row(title, [getattr(one, name) for one in every], places), says) for title, name, places, says in _ROWS]
    for title, name, places, says in _BINNED:
        told.append(((title.format(every[0].bins), *(decimals(getattr(one, name), places) for one in every)), says))
    for title, sign, name, says in _TESTS:
        tests = [getattr(one, name) for one in every]
        chance = f"How often calibrated scores would look as far off by {sign}, or farther."
        told.append(((f"{title} {sign}", *map(_statistic, tests)), says))
        told.append(((f"{title} p", *(p_cell(test.p) for test in tests)), chance))
    left = [f"{name} {grouped(one.left_out)}" for name, one in found.items() if one.left_out]
    caption = "The tests look for different faults and often disagree: look at the curve first."
    if left:
        caption += f" Slope and intercepts leave out cases with a score of 0 or 1: {', '.join(left)}."
    return Grid(("", *found), tuple(row for row, _ in told), caption, tuple((row[0], says) for row, says in told))


def _statistic(test: CalibrationTest) -> str:
    """A statistic with two decimals, or in powers of ten where it is huge: a score of 0 that happened."""
    large = abs(test.statistic) >= 1e5 and math.isfinite(test.statistic)
    return f"{test.statistic:.3g}" if large else decimals(test.statistic, 2)


def _picture(evaluation: Answers, tables: Mapping[str, ScoreTable], banded: bool) -> Picture:
    band = (
        f" A calibrated model's whole line lies in its band with {100 * evaluation.level:g} %: "
        "what leaves it is miscalibration and not chance."
        if banded
        else ""
    )
    return Picture(
        moving(evaluation, "calibration", lambda: calibration_picture(evaluation, list(tables), band=banded)),
        "Observed rate of positives against the score of each model, with the diagonal of perfect calibration.",
        "How often cases of a score are positive, by isotonic regression. Below the diagonal scores are too high, "
        f"above it too low; the bars show where the scores lie.{band}",
    )


def calibration_picture(evaluation: Answers, models: Sequence[str], *, band: bool, **options: Any) -> Any:
    """The reliability diagram of models; options say how scores are grouped."""
    tables = {name: evaluation.in_use.score_table(name) for name in models}
    curves = {name: calibration(table, **options) for name, table in tables.items()}
    wanted = {"level": evaluation.level, "seed": evaluation.seed, "simultaneous": True, **options}
    bands = {name: calibration_band(table, **wanted) for name, table in tables.items()} if band else None
    return calibration_chart(curves, tables, bands)


def _bin_grid(evaluation: Answers, name: str) -> Grid:
    """Ten bins of equal width with the number of cases and the interval of the rate, for a stated prevalence."""
    table, level = evaluation.models.score_table(name), evaluation.level
    curve, band = calibration(table, by="width"), calibration_band(table, by="width", level=level)
    weighed = calibration(evaluation.in_use.score_table(name), by="width")
    y, low, high = (_for_use(evaluation, rates) for rates in (curve.y, band.low, band.high))
    rows = [
        (
            f"{curve.threshold[k]:.3f} to {curve.highest[k]:.3f}",
            grouped(float(curve.cases[k])),
            decimals(weighed.x[k]),
            limits(float(y[k]), float(low[k]), float(high[k])),
        )
        for k in range(curve.x.size)
    ]
    caption = f"{name}: bins of equal width, with Wilson intervals ({100 * level:g} %)."
    return Grid(("scores", "cases", "mean score", "observed rate"), tuple(rows), caption)


def _for_use(evaluation: Answers, rates: Array) -> Array:
    """Rates of positives in the sample, for the stated prevalence: their odds change as those of the shares."""
    if evaluation.prevalence is None:
        return rates
    sample = np.asarray(evaluation.models.prevalence)
    pos, neg = class_factors(sample, 1 - sample, evaluation.prevalence)
    return ratio(rates * pos, rates * pos + (1 - rates) * neg)
