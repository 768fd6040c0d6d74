"""What tests of scores in bins share: the bins of cases that are known one by one."""

from dataclasses import replace

import numpy as np

from scorespace.tables import ScoreTable
from scorespace.tables.margin import MOST_CLASSES, margin_table
from scorespace.tables.multiclass_bins import ClassBins
from scorespace.tables.score_arrays import merge_equal_scores


def class_bins(table, bits=0):
    """The bins of a class table, which holds the cases; rounded, where bits are."""
    size = len(table.classes)

    def counted(score):
        cells = np.zeros((size, score.size))
        cells[table.label, np.arange(score.size)] = table.case_weight
        values, counts = merge_equal_scores(score, cells)
        return ScoreTable(values, counts.astype(np.int64), table.classes, 0)

    tables = [replace(counted(table.score[k]), positive=k) for k in range(size)]
    rounded = [one.rounded(bits) if bits else one for one in (*tables, table.top)]
    leads = None
    if size <= MOST_CLASSES:
        leads = margin_table(table.exact_lead, table.label, table.decided, table.case_weight, table.classes)
    return ClassBins(tuple(rounded[:-1]), table.decisions, rounded[-1], table.excess, leads)
