"""Pictures that follow the operating point of a page, where it has one, and the panel in which that is moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scorespace.curves import roc
from scorespace.measures import Measure
from scorespace.measures.confusion import tpr
from scorespace.views.answers import Answers
from scorespace.views.charts.curves import curve_chart, threshold_chart
from scorespace.views.charts.here import following
from scorespace.views.charts.marks import Spec
from scorespace.views.charts.scores import scores_chart
from scorespace.views.charts.theme import unit_or_less
from scorespace.views.document import Block, Panel, Picture


def moving(evaluation: Answers, kind: str, draw: Callable[[], Spec]) -> Callable[[], Spec]:
    """What draws a chart, with marks at the operating point where there is one."""

    def drawn() -> Spec:
        point = evaluation.operating
        return draw() if point is None else following(draw(), kind, point.here())

    return drawn


def curves_picture(
    evaluation: Answers, kind: str, alt: str, caption: str = "", *, band: bool = False, drag: bool = False
) -> Picture:
    """The curves of a kind."""
    return Picture(moving(evaluation, kind, lambda: evaluation.drawing(kind, band=band)), alt, caption, drag=drag)


def threshold_panel(evaluation: Answers) -> Sequence[Block]:
    """The threshold to move, with the curve it moves along and the scores it cuts."""
    found = evaluation.operating
    if found is None:
        return []
    tables = {one.name: one.table for one in found.models if not one.crisp}
    about = "ROC curve of each model, with the operating point and the line of equal cost."
    curve = curves_picture(evaluation, "roc", about, drag=True)
    if found.classes:
        draw = moving(evaluation, "roc", lambda: curve_chart({name: roc(one) for name, one in tables.items()}))
        curve = Picture(draw, about, drag=True)
    draw_scores = moving(evaluation, "scores", lambda: scores_chart(tables, found.models[found.start].name))
    return [Panel(found, (curve, Picture(draw_scores, "Scores of both classes, cut at the threshold.")))]


def threshold_picture(evaluation: Answers, measures: Sequence[Measure]) -> Picture:
    """Measures of the model looked at, against the threshold."""
    found = evaluation.operating

    def draw() -> Spec:
        span = unit_or_less(*(each.table.score for each in found.models if not each.crisp))
        one = found.models[found.start]
        table = one.table if one.stated is None else one.table.at_prevalence(one.stated)
        return threshold_chart(table, measures or [tpr], span=span)

    alt = f"{', '.join(measure.name for measure in measures)} against the threshold."
    return Picture(moving(evaluation, "threshold", draw), alt, "What each threshold of the model looked at gives.")
