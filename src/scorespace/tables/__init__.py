"""What we know: the sufficient statistics that every curve and measure is a function of."""

from scorespace.tables.class_bins import ClassBins
from scorespace.tables.classes import ClassTable, class_table
from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.residual import ResidualTable, residual_table
from scorespace.tables.score import ScoreTable, score_table
from scorespace.tables.table import Array, At, NoTableError, Table, Top
