"""What we know: the sufficient statistics that every curve and measure is a function of."""

from scorespace.tables.confusion import ConfusionTable, confusion
from scorespace.tables.counts import Array, Counts, ratio
from scorespace.tables.drawn import DrawnCases
from scorespace.tables.score import ScoreTable, score_table

__all__ = ["Array", "ConfusionTable", "Counts", "DrawnCases", "ScoreTable", "confusion", "ratio", "score_table"]
