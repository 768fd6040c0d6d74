"""The part of a page that is about predicted numbers: their errors, RROC space, and whether they can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from scorespace.curves import RrocCurve, isotonic, rroc
from scorespace.decisions import ShiftDecision
from scorespace.measures.decomposition import cal, unc
from scorespace.measures.regression import dsc, mae, medae, mse
from scorespace.results import Row, decimals
from scorespace.views.answers import Answers
from scorespace.views.charts.numbers import rroc_chart
from scorespace.views.document import Block, Grid, Picture, Text
from scorespace.views.shift import shift_grids


def error_blocks(evaluation: Answers) -> Sequence[Block]:
    """Where the errors are: against the prediction, the truth, and a normal distribution."""
    names = _models(evaluation)
    if not names:
        return []
    tables = {name: evaluation.models[name] for name in names}
    told = [
        f"half of the predictions of {name} miss by less than {decimals(float(medae(table)))}, and all of them by "
        f"{decimals(float(mae(table)))} on average"
        for name, table in tables.items()
    ]
    answer = "; ".join(told)
    pictures = {
        "predicted": "Truth against prediction: each case, or so many of them; on the dashed line nothing is missed.",
        "residuals": "Error against prediction. Good predictions scatter evenly around 0, wherever they are.",
        "error_size": "How far predictions miss on average, by the size of the truth.",
        "quantiles": "Errors against those of a normal distribution. What bends away from the line is outliers.",
    }
    return [
        Text(f"{answer[:1].upper()}{answer[1:]}."),
        *(Picture(partial(evaluation.drawing, kind), words, words) for kind, words in pictures.items()),
    ]


def rroc_blocks(evaluation: Answers) -> Sequence[Block]:
    """Too high against too low, and what to use where they do not cost the same."""
    names = _models(evaluation)
    if not names:
        return []
    decision = evaluation.decision if isinstance(evaluation.decision, ShiftDecision) else None

    def draw() -> Row:
        curves = {name: one for name, one in evaluation.curves(rroc.name).items() if isinstance(one, RrocCurve)}
        return rroc_chart(curves, decision)

    words = (
        "How much is predicted too high (right) and too low (down) when all predictions are shifted; the diamonds are "
        "the models as they are. The corner at the top left is perfect."
    )
    line = " All points of the dashed line cost the same; the dot is the cheapest." if decision is not None else ""
    tables = [] if decision is None else shift_grids(decision)
    sides = {name: evaluation.models[name].sums for name in names}
    told = [f"{name} by {decimals(float(one.over))} and {decimals(float(one.under))}" for name, one in sides.items()]
    answer = f"Too high and too low, per case: {', '.join(told)}." if decision is None else decision.words
    return [
        Text(answer),
        Picture(draw, "Over-prediction against under-prediction of each model.", words + line),
        *tables,
    ]


def believed_blocks(evaluation: Answers) -> Sequence[Block]:
    """Whether the numbers are right on average where they are given, and what the squared error is made of."""
    names = _models(evaluation)
    if not names:
        return []
    columns = ("model", "squared error", "= miscalibration", "− discrimination", "+ uncertainty")
    rows = tuple((name, *(decimals(one(evaluation.models[name])) for one in (mse, cal, dsc, unc))) for name in names)
    caption = (
        "Miscalibration is what replacing each prediction by the mean truth that goes with it would spare; "
        "discrimination what predictions then know beyond the mean truth. Both are a little too high: the curve is "
        "fitted to these cases."
    )
    words = (
        "The mean truth for each prediction, rising. Numbers that can be taken at their word lie on the dashed line."
    )
    parts = {name: (float(cal(evaluation.models[name])), float(mse(evaluation.models[name]))) for name in names}
    told = [f"{100 * part / whole if whole else 0:.2g} % of that of {name}" for name, (part, whole) in parts.items()]
    answer = f"Taking predictions at their word makes up for so much of the squared error: {', '.join(told)}."
    drawn = Picture(partial(evaluation.drawing, isotonic.name), words, words)
    return [Text(answer), drawn, Grid(columns, rows, caption)]


def _models(evaluation: Answers) -> list[str]:
    """The models whose predicted numbers are known case by case."""
    return [name for name, table in evaluation.models.items() if rroc.fits(table) is not None]
