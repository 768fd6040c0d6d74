"""Calibration section: reliability diagram, summary statistics, bins, and the effect of recalibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scorespace.calibration.recalibration_effect import MeasureEffect, Recalibration
from scorespace.calibration.summary import CalibrationSummary
from scorespace.calibration.tests import CalibrationTest
from scorespace.curves import CalibrationCurve
from scorespace.errors import DataError
from scorespace.inference.bands import Band
from scorespace.report.chart_theme import Spec, coloured, data_values, datum, field, mark, themed
from scorespace.report.curve_charts import band_layers, curve_layers
from scorespace.report.document import Block, Document, Grid, Picture, Text, one_section
from scorespace.report.linked_charts import linked
from scorespace.report.protocol import EvaluationView, model_sentences
from scorespace.report.section_numbers import CalibrationBins
from scorespace.results import Row, decimal_places, decimals, format_interval, format_p_cell, grouped
from scorespace.tables import ScoreTable
from scorespace.tables.class_scores import TOP


def document(*results: Recalibration) -> Document:
    """Document of the recalibration of one or more models."""
    grids = (effect_grid(result) for result in results if result.effects)
    verdict, notes = (
        " ".join(result.words for result in results),
        dict.fromkeys(note for result in results for note in result.notes),
    )
    return one_section(results[0].name, facts(results[0]), "Recalibration", grids, verdict, notes)


def facts(result: Recalibration) -> str:
    """Number of cases, classes, and how the map was fitted."""
    parts = [f"{grouped(result.rows_used)} cases"]
    if result.positive is not None:
        parts.append(f"positive = {result.positive}")
    elif result.classes:
        parts.append(f"{len(result.classes)} classes")
    return "   ".join([*parts, f"{result.method}, {result.fitted}"])


def effect_grid(result: Recalibration) -> Grid:
    """Measures before and after recalibration."""
    rows = tuple(
        (f"{effect.measure} {effect.arrow}".rstrip(), decimals(effect.before), decimals(effect.after), _change(effect))
        for effect in result.effects
    )
    return Grid((result.model, "before", "after", "change"), rows, "Arrows show which direction is better.")


def _change(effect: MeasureEffect) -> str:
    text = decimals(effect.change)
    return text if text[0] in "−–" or not float(text.replace("∞", "inf")) else f"+{text}"


BARS: Final = 25
"""Bins of the score histogram below the reliability diagram."""
_MAX_BAR_HEIGHT: Final = 0.14  # of the height of the chart


def calibration_chart(
    curves: Mapping[str, CalibrationCurve], tables: Mapping[str, ScoreTable], bands: Mapping[str, Band] | None = None
) -> Spec:
    """Reliability diagram: observed rate against score, one line per model, with histograms of scores.

    Bands are areas for isotonic curves and error bars for binned ones; with several areas, only that of the selected
    `model` is shown.
    """
    if not curves:
        raise DataError("there is no curve to draw.", hint="at least one model with cases of both classes")
    isotonic = {name: band for name, band in (bands or {}).items() if curves[name].by == "isotonic"}
    binned = {name: band for name, band in (bands or {}).items() if name not in isotonic}
    below = [_histogram(curves, tables), *band_layers(curves, isotonic)]
    lines = {name: curve.line() for name, curve in curves.items()}
    spec = curve_layers(lines, below=below, above=_bins(curves, binned))
    if len(isotonic) > 1:
        below[-1]["transform"] = [{"filter": "datum.name === model"}]
        choice = {"input": "select", "options": list(isotonic), "name": "Band of "}
        spec["params"].append({"name": "model", "value": next(iter(isotonic)), "bind": choice})
    return themed(spec)


def _histogram(names: Mapping[str, object], tables: Mapping[str, ScoreTable]) -> Spec:
    """Histogram of the scores of all models, bars side by side."""
    rows = [row for model_index, name in enumerate(names) for row in _bars(name, tables[name], model_index, len(names))]
    tallest = max(row["share"] for row in rows)
    for row in rows:
        row["height"] = datum(_MAX_BAR_HEIGHT * row["share"] / tallest)
    encoding = {
        "x": "low:Q",
        "x2": "high",
        "y": "foot:Q",
        "y2": "height",
        "color": coloured("name", names),
        "tooltip": [
            field("name:N", title="Model"),
            field("span:N", title="Scores"),
            field("cases:N", title="Cases"),
        ],
    }
    return mark("rect", rows, encoding, opacity=0.35)


def _bars(name: str, table: ScoreTable, model_index: int, n_models: int) -> list[Row]:
    edges = np.arange(BARS + 1) / BARS
    bins = (np.searchsorted(edges, table.score, side="right") - 1).clip(0, BARS - 1)
    heights = np.bincount(bins, table.pos + table.neg, minlength=BARS)
    width = 0.84 / BARS / n_models
    total = float(table.total)
    return [
        {
            "name": name,
            "low": datum(edges[k] + 0.08 / BARS + model_index * width),
            "high": datum(edges[k] + 0.08 / BARS + (model_index + 1) * width),
            "foot": 0,
            "share": float(heights[k]) / total,
            "span": f"{edges[k]:.3g} to {edges[k + 1]:.3g}",
            "cases": grouped(float(heights[k])),
        }
        for k in np.flatnonzero(heights)
    ]


def _bins(curves: Mapping[str, CalibrationCurve], bands: Mapping[str, Band]) -> list[Spec]:
    """Points of bins, with error bars if there are intervals."""
    points = [
        {"name": name, "x": x, "y": y, "cases": grouped(float(cases))}
        for name, curve in curves.items()
        if curve.by != "isotonic"
        for x, y, cases in zip(data_values(curve.x), data_values(curve.y), curve.cases, strict=True)
    ]
    whiskers = [
        {"name": name, "x": datum(x), "low": datum(low), "high": datum(high)}
        for name, band in bands.items()
        for x, low, high in zip(band.x, band.low, band.high, strict=True)
        if math.isfinite(low) and math.isfinite(high)
    ]
    layers = []
    if whiskers:
        encoding = {"x": "x:Q", "y": "low:Q", "y2": "high", "color": coloured("name", curves)}
        layers.append(mark("rule", whiskers, encoding, strokeWidth=1.6, opacity=0.7))
    if points:
        tooltip = [
            field("name:N", title="Model"),
            field("x:Q", title="Mean score", format=".4~g"),
            field("y:Q", title="Observed rate", format=".4~g"),
            field("cases:N", title="Cases"),
        ]
        point_encoding = {"x": "x:Q", "y": "y:Q", "color": coloured("name", curves), "tooltip": tooltip}
        layers.append(mark("point", points, point_encoding, filled=True, size=60, opacity=1))
    return layers


MAX_BANDS: Final = 3
"""Maximum number of models with bands and tables of bins."""

MAX_CLASSES: Final = 5
"""Maximum number of classes in a reliability diagram, besides the top label."""

_ROWS: Final = (
    ("brier", "brier", 3, "Brier score: mean squared difference between score and outcome; cal + ref."),
    ("cal", "cal", 4, "Calibration error: reduction of the Brier score by the best monotone recalibration."),
    ("cal by chance", "cal_chance", 4, "Expected cal of perfectly calibrated scores in a sample of this size."),
    ("ref", "ref", 3, "Refinement loss: Brier score after recalibration, which depends on the ranking only."),
    ("unc", "unc", 3, "Uncertainty: Brier score of always predicting the prevalence."),
    ("skill", "skill", 3, "Brier skill score: 1 − brier / unc."),
    ("log loss", "logloss", 3, "Mean negative log-likelihood, in nats."),
    ("observed − mean score", "cal_large", 3, "Calibration in the large: above 0, scores are too low."),
    ("slope", "slope", 3, "Calibration slope of the logistic fit on logits: below 1, scores are too extreme."),
    ("intercept, with the slope", "intercept", 3, "Calibration intercept, fitted together with the slope."),
    (
        "intercept, for slope 1",
        "offset",
        3,
        "Calibration intercept with the slope fixed at 1: above 0, scores are too low.",
    ),
)
"""Statistics of a calibration summary: title, field, minimum number of decimals, and explanation."""

_RESIDUAL: Final = "brier − (reliability − resolution + unc): variation of scores within bins."
_BINNED: Final = (
    ("ece, {} bins", "ece", None, "Expected calibration error over bins of equal width."),
    ("mce, {} bins", "mce", None, "Maximum calibration error over these bins."),
    ("reliability, {} bins", "rel", 4, "Murphy's reliability: mean squared difference of score and observed rate."),
    ("resolution, {} bins", "res", 4, "Murphy's resolution: mean squared difference of observed rates and prevalence."),
    ("residual within bins", "residual", 4, _RESIDUAL),
)

_GROUPS: Final = "Test of observed against expected positives in ten groups of equal size (Hosmer & Lemeshow 1980)."
_TESTS: Final = (
    ("Spiegelhalter", "z", "spiegelhalter", "Test of the Brier score against its expectation (Spiegelhalter 1986)."),
    ("Hosmer-Lemeshow", "χ²", "hosmer_lemeshow", _GROUPS),
)


def blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Calibration section, for models whose scores lie between 0 and 1."""
    if evaluation.class_calibrations:
        tops = (
            _describe_top_label(name, summaries).partition(". ")[0]
            for name, summaries in evaluation.class_calibrations.items()
        )
        answer = Text(" ".join(sentence.rstrip(".") + "." for sentence in tops))
        return [
            answer,
            *(block for name in evaluation.class_calibrations for block in _class_blocks(evaluation, name)),
        ]
    summaries, tables = evaluation.calibrations, _probability_tables(evaluation)
    if not tables:
        return []
    has_few_models = len(tables) <= MAX_BANDS
    bins = [_bin_grid(evaluation, name) for name in tables] if has_few_models else []
    bins = [replace(grid, folded="Observed rates in bins of scores") for grid in bins]
    sentences = {name: summaries[name].words.partition(". ") for name in tables}
    answer, others = model_sentences(
        evaluation, {name: f"{parts[0].rstrip('.')}." for name, parts in sentences.items()}
    )
    title = "" if has_few_models else "Kind of miscalibration, by model"
    details = [
        Text(f"{name}: {detail[:1].lower()}{detail[1:]}", title) for name, (*_, detail) in sentences.items() if detail
    ]
    pictures = [picture] if (picture := probability_picture(evaluation)) else []
    return [
        answer,
        *pictures,
        *others,
        *details,
        summary_grid(summaries),
        *bins,
    ]


def _class_blocks(evaluation: EvaluationView, model: str) -> Sequence[Block]:
    """Calibration of each class against the rest, and of the top label."""
    summaries = evaluation.class_calibrations[model]
    drawn_classes = list(summaries)[: MAX_CLASSES + 1]

    caption = "Observed rate of each class against its score, by isotonic regression."
    top_note = f"{TOP} is the highest score of each case: how often the predicted class is correct."
    undrawn = list(summaries)[len(drawn_classes) :]
    undrawn_text = f" Not drawn: {', '.join(undrawn)}." if undrawn else ""
    grid = summary_grid(
        {f"{model}[{label}]" if label == TOP else label: summary for label, summary in summaries.items()}
    )
    return [
        Picture(
            lambda: calibration_picture(evaluation, [f"{model}[{label}]" for label in drawn_classes], band=False),
            f"Observed rate against score for each class of {model}, and for its top label.",
            f"{caption} {top_note}{undrawn_text}",
        ),
        replace(grid, caption=f"{top_note} {grid.caption}"),
        Text(_describe_top_label(model, summaries)),
    ]


def _describe_top_label(model: str, summaries: Mapping[str, CalibrationSummary]) -> str:
    return replace(summaries[TOP], model=f"The highest score of {model}").words


def _row(title: str, values: Sequence[float], min_decimals: int) -> tuple[str, ...]:
    """A row of numbers, with more decimals if all of them are small."""
    max_abs = max(map(abs, values), default=1.0)
    n_decimals = min(6, max(min_decimals, decimal_places(max_abs))) if max_abs < 0.01 else min_decimals
    return (title, *(decimals(value, n_decimals) for value in values))


def summary_grid(summaries: Mapping[str, CalibrationSummary]) -> Grid:
    """Calibration statistics, one column per model, with explanations as tooltips."""
    all_summaries = list(summaries.values())
    rows = [
        (_row(title, [getattr(summary, name) for summary in all_summaries], places), says)
        for title, name, places, says in _ROWS
    ]
    for title, name, places, says in _BINNED:
        rows.append(
            (
                (
                    title.format(all_summaries[0].bins),
                    *(decimals(getattr(summary, name), places) for summary in all_summaries),
                ),
                says,
            )
        )
    for title, sign, name, says in _TESTS:
        tests = [getattr(summary, name) for summary in all_summaries]
        p_hint = f"p-value of {sign} under perfect calibration."
        rows.append(((f"{title} {sign}", *map(_statistic, tests)), says))
        rows.append(((f"{title} p", *(format_p_cell(test.p) for test in tests)), p_hint))
    excluded = [f"{name} {grouped(summary.left_out)}" for name, summary in summaries.items() if summary.left_out]
    caption = "The tests detect different kinds of miscalibration and may disagree: look at the curve first."
    if excluded:
        caption += f" Slope and intercepts exclude cases with a score of 0 or 1: {', '.join(excluded)}."
    return Grid(("", *summaries), tuple(row for row, _ in rows), caption, tuple((row[0], says) for row, says in rows))


def _statistic(test: CalibrationTest) -> str:
    """A statistic with two decimals, or in scientific notation if it is huge (a score of 0 for a positive case)."""
    is_large = abs(test.statistic) >= 1e5 and math.isfinite(test.statistic)
    return f"{test.statistic:.3g}" if is_large else decimals(test.statistic, 2)


def _probability_tables(evaluation: EvaluationView) -> dict[str, ScoreTable]:
    """The models whose calibration is known."""
    if not 0 < evaluation.models.prevalence < 1:
        return {}
    names = (name for name in evaluation.models.thresholded if name in evaluation.calibrations)
    return {name: evaluation.at_stated_prevalence[name] for name in names}


def probability_picture(evaluation: EvaluationView) -> Picture | None:
    """Reliability diagram of the models whose scores are probabilities; None without any."""
    tables = _probability_tables(evaluation)
    if not tables:
        return None
    # The band is simulated for the sample, so there is none for another prevalence.
    has_bands = (
        len(tables) <= MAX_BANDS and all(one.counted for one in tables.values()) and evaluation.prevalence is None
    )
    band = (
        f" The curve of a perfectly calibrated model lies within the band with probability "
        f"{100 * evaluation.level:g} %; parts outside are evidence of miscalibration."
        if has_bands
        else ""
    )
    return Picture(
        linked(evaluation, "calibration", lambda: calibration_picture(evaluation, list(tables), band=has_bands)),
        "Observed rate of positives against the score of each model, with the diagonal of perfect calibration.",
        "Reliability diagram by isotonic regression. Below the diagonal scores are too high, above it too low; the "
        f"bars show the distribution of scores.{band}",
        key="calibration",
    )


def calibration_picture(evaluation: EvaluationView, models: Sequence[str], *, band: bool, **options: Any) -> Any:
    """Reliability diagram of models; options set the grouping of scores."""
    tables = {name: evaluation.at_stated_prevalence.score_table(name) for name in models}
    curves: dict[str, Any] = {name: evaluation.curve("calibration", name, **options) for name in models}
    bands = (
        {name: evaluation.band("calibration", name, simultaneous=True, **options) for name in models} if band else None
    )
    return calibration_chart(curves, tables, bands)


def _bin_grid(evaluation: EvaluationView, name: str) -> Grid:
    """Bins of equal width with the number of cases and the interval of the rate, at the stated prevalence."""
    bins: CalibrationBins = evaluation.calibration_bins(name)
    rows = [
        (
            f"{bins.lowest[k]:.3f} to {bins.highest[k]:.3f}",
            grouped(float(bins.cases[k])),
            decimals(bins.mean_score[k]),
            format_interval(float(bins.rate[k]), float(bins.low[k]), float(bins.high[k])),
        )
        for k in range(bins.rate.size)
    ]
    caption = f"{name}: bins of equal width, with Wilson intervals ({100 * evaluation.level:g} %)."
    return Grid(("scores", "cases", "mean score", "observed rate"), tuple(rows), caption)
