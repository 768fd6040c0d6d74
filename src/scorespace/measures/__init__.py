"""Measures: one registered function each, and the grammar that names them."""

from scorespace.measures import counts
from scorespace.measures import confusion
from scorespace.measures import cost
from scorespace.measures import net_benefit
from scorespace.measures import scorecard
from scorespace.measures import ranking
from scorespace.measures import probability
from scorespace.measures import decomposition
from scorespace.measures import calibration
from scorespace.measures import smooth_calibration
from scorespace.measures import smooth
from scorespace.measures import multiclass
from scorespace.measures import multiclass as ordinal
from scorespace.measures import raters
from scorespace.measures import regression
from scorespace.measures import deviance
from scorespace.measures import distributions
from scorespace.measures import forecasts
from scorespace.measures import ranking as rejection
from scorespace.measures import threshold_curves  # imports are in the order of the catalogue
from scorespace.measures import values
from scorespace.measures import rankings
from scorespace.measures import clusters
from scorespace.measures import cluster_agreement
from scorespace.measures import rules
from scorespace.measures.average import average
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.catalog import find
from scorespace.measures.catalog import measures
from scorespace.measures.catalog import parse
from scorespace.measures.catalog import parse_list
from scorespace.measures.measure import Measure
from scorespace.measures.measure import measure
