"""Tables: the sufficient statistics from which curves and measures are computed."""

from scorespace.tables.multiclass_bins import ClassBins
from scorespace.tables.multiclass import ClassTable
from scorespace.tables.multiclass import class_table
from scorespace.tables.confusion import ConfusionTable
from scorespace.tables.confusion import confusion
from scorespace.tables.counts import Counts
from scorespace.tables.counts import ratio
from scorespace.tables.regression import ResidualTable
from scorespace.tables.regression import residual_table
from scorespace.tables.scores import ScoreTable
from scorespace.tables.scores import score_table
from scorespace.tables.table import Array
from scorespace.tables.threshold import At
from scorespace.tables.table import NoTableError
from scorespace.tables.table import Table
from scorespace.tables.threshold import TopCases
from scorespace.tables.rankings import RankTable
from scorespace.tables.rankings import rank_table
from scorespace.tables.values import ValueTable
from scorespace.tables.values import value_table
