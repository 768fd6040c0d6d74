"""What we know: the sufficient statistics that every curve and measure is a function of."""

from scorespace.tables.classes import ClassTable, class_table
from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Array, Counts, ratio
from scorespace.tables.drawn import DrawnCases
from scorespace.tables.score import ScoreTable, score_table

Table = ScoreTable | ConfusionTable | ClassTable
"""What is known of a model: its scores, its decisions, or its scores of every class."""

__all__ = [
    "Array",
    "ClassTable",
    "ConfusionTable",
    "Counts",
    "DrawnCases",
    "ScoreTable",
    "Table",
    "class_table",
    "confusion",
    "ratio",
    "score_table",
]
