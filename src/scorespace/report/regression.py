"""Regression sections: errors, RROC space (Hernández-Orallo 2013), and calibration of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from scorespace.curves import RrocCurve
from scorespace.decisions import ShiftDecision
from scorespace.report.asymmetric_loss import shift_grids
from scorespace.report.document import Block, Grid, Picture, Text
from scorespace.report.protocol import EvaluationView
from scorespace.report.regression_charts import rroc_chart
from scorespace.results import Row, decimals

PREDICTED: Final = "Truth against prediction; perfect predictions lie on the dashed line."


def predicted_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Truth against prediction, with which a page of regression models opens."""
    if not evaluation.models.numeric:
        return []
    return [Picture(partial(evaluation.drawing, "predicted"), PREDICTED, PREDICTED, key="predicted")]


def error_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Errors against prediction and truth, and normal quantiles."""
    names = evaluation.models.numeric
    if not names:
        return []
    value = evaluation.value
    sentences = [
        f"{name}: median absolute error {decimals(value(name, 'medae'))}, mean {decimals(value(name, 'mae'))}"
        for name in names
    ]
    answer = "; ".join(sentences)
    pictures = {
        "predicted": PREDICTED,
        "residuals": "Error against prediction. The errors of a good model scatter evenly around 0.",
        "error_size": "Mean absolute error by the size of the truth.",
        "quantiles": "Normal quantile-quantile plot of the errors. Points off the line indicate outliers.",
    }
    return [
        Text(f"{answer}."),
        *(Picture(partial(evaluation.drawing, kind), caption, caption, key=kind) for kind, caption in pictures.items()),
    ]


def rroc_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """RROC curves, and decisions under asymmetric costs."""
    names = evaluation.models.numeric
    if not names:
        return []
    decision = evaluation.decision if isinstance(evaluation.decision, ShiftDecision) else None

    def draw() -> Row:
        curves = {name: curve for name, curve in evaluation.curves("rroc").items() if isinstance(curve, RrocCurve)}
        return rroc_chart(curves, decision)

    caption = (
        "RROC space: mean overprediction (x) and underprediction (y) when all predictions are shifted by a constant; "
        "diamonds are the unshifted models. The top left corner is perfect."
    )
    line = " The dashed line is an iso-loss line; the dot has minimum loss." if decision is not None else ""
    tables = [] if decision is None else shift_grids(decision)
    sums_by_model = {name: evaluation.models[name].sums for name in names}
    values = [
        f"{name} by {decimals(float(sums.over))} and {decimals(float(sums.under))}"
        for name, sums in sums_by_model.items()
    ]
    answer = f"Mean over- and underprediction per case: {', '.join(values)}." if decision is None else decision.words
    return [
        Text(answer),
        Picture(draw, "Overprediction against underprediction of each model.", caption + line),
        *tables,
    ]


def reliability_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Calibration of numeric predictions, and the decomposition of the mean squared error."""
    names = evaluation.models.numeric
    if not names:
        return []
    columns = ("model", "MSE", "= miscalibration", "− discrimination", "+ uncertainty")
    rows = tuple(
        (name, *(decimals(evaluation.value(name, measure)) for measure in ("mse", "cal", "dsc", "unc")))
        for name in names
    )
    caption = (
        "Miscalibration: reduction of the MSE by replacing each prediction by its isotonic regression; discrimination: "
        "reduction by the recalibrated predictions against the mean. Both are slightly overestimated, because the "
        "regression is fitted to the same cases."
    )
    curve_caption = "Isotonic regression of the truth on the prediction. Calibrated predictions lie on the dashed line."
    errors = {name: (evaluation.value(name, "cal"), evaluation.value(name, "mse")) for name in names}
    shares = [
        f"{100 * miscalibration / mse_value if mse_value else 0:.2g} % for {name}"
        for name, (miscalibration, mse_value) in errors.items()
    ]
    answer = f"Share of the mean squared error due to miscalibration: {', '.join(shares)}."
    chart = Picture(partial(evaluation.drawing, "isotonic"), curve_caption, curve_caption)
    return [Text(answer), chart, Grid(columns, rows, caption)]


def distribution_blocks(evaluation: EvaluationView) -> Sequence[Block]:
    """Reliability of quantiles and PIT histograms of models with predictive distributions."""
    levels = {
        name: distribution.levels
        for name in evaluation.models.numeric
        if (distribution := evaluation.models[name].numbers.distribution) is not None
    }
    if not levels:
        return []
    sentences = [
        f"{name}: {'CRPS' if stated is None else 'weighted interval score'} "
        f"{decimals(evaluation.value(name, 'crps' if stated is None else 'wis'))}"
        for name, stated in levels.items()
    ]
    pictures = {
        "quantile_reliability": "Share of truths up to each quantile. Calibrated quantiles lie on the dashed line.",
        "pit": "Where true values lie in their predictive distribution. Flat: calibrated; ∪: too narrow; ∩: too wide.",
    }
    return [
        Text(f"{'; '.join(sentences)}."),
        *(
            Picture(partial(evaluation.drawing, kind, models=tuple(levels)), caption, caption, key=kind)
            for kind, caption in pictures.items()
        ),
    ]
