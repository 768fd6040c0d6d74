"""Pictures of curves, scores and estimates, as Vega-Lite specs that hold tables and never the rows behind them.

All text that comes from data is a value in a chart, never a field name or part of an expression:
Vega would read its dots, brackets and quotes.
"""

from scorespace.views.charts.calibration import calibration_chart
from scorespace.views.charts.classes import class_curves_chart, confusion_chart
from scorespace.views.charts.curves import curve_chart, threshold_chart
from scorespace.views.charts.decision import cost_chart, cost_space_chart, hull_chart
from scorespace.views.charts.estimates import interval_chart, measures_chart
from scorespace.views.charts.files import ENDINGS, save
from scorespace.views.charts.here import following
from scorespace.views.charts.numbers import error_chart, isotonic_chart, quantile_chart, rroc_chart, scatter_chart
from scorespace.views.charts.pairs import pair_chart
from scorespace.views.charts.ranks import rank_chart
from scorespace.views.charts.scores import distribution_chart, scores_chart, stacked_ranks_chart
from scorespace.views.charts.several import beside_each_other
from scorespace.views.charts.smooth import smooth_chart, zones_chart

__all__ = [
    "ENDINGS",
    "beside_each_other",
    "calibration_chart",
    "class_curves_chart",
    "confusion_chart",
    "cost_chart",
    "cost_space_chart",
    "curve_chart",
    "distribution_chart",
    "error_chart",
    "following",
    "hull_chart",
    "interval_chart",
    "isotonic_chart",
    "measures_chart",
    "pair_chart",
    "quantile_chart",
    "rank_chart",
    "rroc_chart",
    "save",
    "scatter_chart",
    "scores_chart",
    "smooth_chart",
    "stacked_ranks_chart",
    "threshold_chart",
    "zones_chart",
]
