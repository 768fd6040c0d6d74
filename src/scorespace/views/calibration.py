"""Calibration on the page: the reliability diagram, the numbers behind it, the bins, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from scorespace.curves import calibration
from scorespace.probabilities.summary import CalibrationSummary
from scorespace.probabilities.tests import CalibrationTest, calibration_band
from scorespace.results import decimals, digits, grouped, limits, p_text
from scorespace.tables import ScoreTable
from scorespace.tables.classes import TOP
from scorespace.views.answers import Answers, told
from scorespace.views.document import Block, Grid, Picture, Text

MOST_BANDS: Final = 3
"""Models that stay readable with bands, and with a table of bins each."""

MOST_CLASSES: Final = 5
"""Classes that a picture tells apart beside the highest score."""

_ROWS: Final[Mapping[str, tuple[Callable[[CalibrationSummary], float], str]]] = {
    "brier": (lambda one: one.brier, "Mean squared distance of the scores from what happened: cal + ref."),
    "cal": (lambda one: one.cal, "What the best monotone recalibration of these very cases would save."),
    "cal by chance": (lambda one: one.cal_chance, "What calibrated scores would show as cal on so many cases."),
    "ref": (lambda one: one.ref, "What remains after recalibration: a matter of ranking alone."),
    "unc": (lambda one: one.unc, "Brier score of always stating the base rate."),
    "skill": (lambda one: one.skill, "Gain over always stating the base rate: 1 − brier / unc."),
    "log loss": (lambda one: one.logloss, "Mean surprise at what happened, in nats."),
    "observed − mean score": (lambda one: one.cal_large, "Calibration in the large: above 0, scores are too low."),
    "slope": (lambda one: one.slope, "Of the logistic fit on the logits: below 1, scores are too extreme."),
    "intercept, with the slope": (lambda one: one.intercept, "Fitted together with the slope."),
    "intercept, for slope 1": (lambda one: one.offset, "Fitted alone: above 0, scores are too low."),
}


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
    tables = {name: table for name, table in _scored(evaluation).items() if name in found}
    if not tables or not 0 < evaluation.models.prevalence < 1:
        return []
    few = len(tables) <= MOST_BANDS
    banded = few and all(table.counted for table in tables.values())
    bins = [_bin_grid(name, table, evaluation.level) for name, table in tables.items()] if few else []
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

    def draw() -> Any:
        return calibration_picture(evaluation, [f"{model}[{of}]" for of in shown], band=False)

    about = "How often a case is of a class whose score is so high, by isotonic regression."
    top = f"{TOP} is the highest score of each case: how often it is that of the right class."
    absent = list(found)[len(shown) :]
    left_out = f" Not drawn: {', '.join(absent)}." if absent else ""
    grid = summary_grid({f"{model}[{of}]" if of == TOP else of: one for of, one in found.items()})
    return [
        Picture(
            draw,
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
    places = min(6, max(fewest, digits(*values)) if max(map(abs, values), default=1.0) < 0.01 else fewest)
    return (name, *(decimals(value, places) for value in values))


def summary_grid(found: Mapping[str, CalibrationSummary]) -> Grid:
    """The numbers of each model, one column each."""
    rows = [
        _row(name, [value(one) for one in found.values()], 4 if name in _FINE else 3)
        for name, (value, _) in _ROWS.items()
    ]
    first = next(iter(found.values()))
    rows += [
        (f"ece, {first.bins} bins", *(decimals(one.ece) for one in found.values())),
        (f"mce, {first.bins} bins", *(decimals(one.mce) for one in found.values())),
        (f"reliability, {first.bins} bins", *(decimals(one.rel, 4) for one in found.values())),
        (f"resolution, {first.bins} bins", *(decimals(one.res, 4) for one in found.values())),
        ("residual within bins", *(decimals(one.residual, 4) for one in found.values())),
        ("Spiegelhalter z", *(decimals(one.spiegelhalter.statistic, 2) for one in found.values())),
        ("Spiegelhalter p", *(_p_cell(one.spiegelhalter) for one in found.values())),
        ("Hosmer-Lemeshow χ²", *(_statistic(one.hosmer_lemeshow) for one in found.values())),
        ("Hosmer-Lemeshow p", *(_p_cell(one.hosmer_lemeshow) for one in found.values())),
    ]
    hints = [(name, about) for name, (_, about) in _ROWS.items()]
    hints += [
        (f"reliability, {first.bins} bins", "Murphy's term: squared distance of mean score and rate over the bins."),
        (f"resolution, {first.bins} bins", "Murphy's term: squared distance of the rates from the base rate."),
        ("residual within bins", "brier − (reliability − resolution + unc): what scores within a bin differ by."),
        (f"ece, {first.bins} bins", "Mean distance of mean score and observed rate over bins of equal width."),
        (f"mce, {first.bins} bins", "The largest such distance."),
        ("Spiegelhalter z", "Whether the Brier score is what the scores promise; normal if it is."),
        ("Spiegelhalter p", "How often calibrated scores would look as far off by z, or farther."),
        ("Hosmer-Lemeshow χ²", "Whether ten groups of equal size have as many positives as promised."),
        ("Hosmer-Lemeshow p", "How often calibrated scores would look as far off by χ², or farther."),
    ]
    left = [f"{name} {grouped(one.left_out)}" for name, one in found.items() if one.left_out]
    caption = "The tests look for different faults and often disagree: look at the curve first."
    if left:
        caption += f" Slope and intercepts leave out cases with a score of 0 or 1: {', '.join(left)}."
    return Grid(("", *found), tuple(rows), caption, tuple(hints))


_FINE: Final = ("cal", "cal by chance")


def _statistic(test: CalibrationTest) -> str:
    """A statistic with two decimals, or in powers of ten where it is huge: a score of 0 that happened."""
    large = abs(test.statistic) >= 1e5 and math.isfinite(test.statistic)
    return f"{test.statistic:.3g}" if large else decimals(test.statistic, 2)


def _p_cell(test: CalibrationTest) -> str:
    return "–" if math.isnan(test.p) else p_text(test.p).removeprefix("p = ").removeprefix("p ")


def _picture(evaluation: Answers, tables: Mapping[str, ScoreTable], banded: bool) -> Picture:
    def draw() -> Any:
        from scorespace.views.charts import following

        spec = calibration_picture(evaluation, list(tables), band=banded)
        return spec if evaluation.operating is None else following(spec, "calibration", evaluation.operating.here())

    band = (
        f" A calibrated model's whole line lies in its band with {100 * evaluation.level:g} %: "
        "what leaves it is miscalibration and not chance."
        if banded
        else ""
    )
    return Picture(
        draw,
        "Observed rate of positives against the score of each model, with the diagonal of perfect calibration.",
        "How often cases of a score are positive, by isotonic regression. Below the diagonal scores are too high, "
        f"above it too low; the bars show where the scores lie.{band}",
    )


def calibration_picture(evaluation: Answers, models: Sequence[str], *, band: bool, **options: Any) -> Any:
    """The reliability diagram of models; options say how scores are grouped."""
    from scorespace.views.charts import calibration_chart

    tables = {name: evaluation.models.score_table(name) for name in models}
    curves = {name: calibration(table, **options) for name, table in tables.items()}
    wanted = {"level": evaluation.level, "seed": evaluation.seed, "simultaneous": True, **options}
    bands = {name: calibration_band(table, **wanted) for name, table in tables.items()} if band else None
    return calibration_chart(curves, tables, bands)


def _bin_grid(name: str, table: ScoreTable, level: float) -> Grid:
    """Ten bins of equal width with the number of cases and the interval of the rate."""
    curve, band = calibration(table, by="width"), calibration_band(table, by="width", level=level)
    rows = []
    for k in range(curve.x.size):
        rows.append(
            (
                f"{curve.threshold[k]:.3f} to {curve.highest[k]:.3f}",
                grouped(float(curve.cases[k])),
                decimals(curve.x[k]),
                limits(float(curve.y[k]), float(band.low[k]), float(band.high[k])),
            )
        )
    caption = f"{name}: bins of equal width, with Wilson intervals ({100 * level:g} %)."
    return Grid(("scores", "cases", "mean score", "observed rate"), tuple(rows), caption)


def _scored(evaluation: Answers) -> dict[str, ScoreTable]:
    return {name: evaluation.models[name] for name in evaluation.models.thresholded}
