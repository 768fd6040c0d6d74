"""How much: every measure, declared once, and the grammar that names them."""

from scorespace.measures import confusion, cost, ranking  # the order of the catalogue

# isort: split
from scorespace.measures import probability

# isort: split
from scorespace.measures import decomposition

# isort: split
from scorespace.measures import calibration, smooth

# isort: split
from scorespace.measures import classes, ordinal, raters, regression, sweep

# isort: split
from scorespace.measures import clusters, labellings, rules
from scorespace.measures.average import average
from scorespace.measures.catalog import MeasureSpec, find, measures, parse, parse_list
from scorespace.measures.measure import Measure, measure

__all__ = [
    "Measure",
    "MeasureSpec",
    "average",
    "calibration",
    "classes",
    "clusters",
    "confusion",
    "cost",
    "decomposition",
    "find",
    "labellings",
    "measure",
    "measures",
    "ordinal",
    "parse",
    "parse_list",
    "probability",
    "ranking",
    "raters",
    "regression",
    "rules",
    "smooth",
    "sweep",
]
