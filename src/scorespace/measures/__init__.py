"""How much: every measure, declared once, and the grammar that names them."""

from scorespace.measures import confusion, cost, ranking, probability, decomposition, calibration, smooth
from scorespace.measures import classes, ordinal, raters, regression, rejection, sweep  # the order of the catalogue
from scorespace.measures import clusters, labellings, rules
from scorespace.measures.average import average
from scorespace.measures.catalog import MeasureSpec, find, measures, parse, parse_list
from scorespace.measures.measure import Measure, measure
