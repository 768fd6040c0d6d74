"""What we know: the sufficient statistics that every curve and measure is a function of."""

from scorespace.tables.classes import ClassTable, class_table
from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Counts, ratio
from scorespace.tables.drawn import DrawnCases
from scorespace.tables.score import ScoreTable, score_table
from scorespace.tables.table import Array, At, NoTableError, Table, Top

__all__ = [
    "Array",
    "At",
    "ClassTable",
    "ConfusionTable",
    "Counts",
    "DrawnCases",
    "NoTableError",
    "ScoreTable",
    "Table",
    "Top",
    "class_table",
    "confusion",
    "ratio",
    "score_table",
]
