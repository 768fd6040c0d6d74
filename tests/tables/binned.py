"""What tests of scores in bins share: the bins of cases that are known one by one."""

from dataclasses import replace

import numpy as np

from scorespace.tables import ScoreTable
from scorespace.tables.class_bins import ClassBins
from scorespace.tables.lead import MOST_CLASSES, lead_table
from scorespace.tables.score import grouped_scores


def class_bins(table, bits=0):
    """The bins of a class table, which holds the cases; rounded, where bits are."""
    size = len(table.classes)

    def counted(score):
        cells = np.zeros((size, score.size))
        cells[table.label, np.arange(score.size)] = table.case_weight
        values, counts = grouped_scores(score, cells)
        return ScoreTable(values, counts.astype(np.int64), table.classes, 0)

    tables = [replace(counted(table.score[k]), positive=k) for k in range(size)]
    rounded = [one.rounded(bits) if bits else one for one in (*tables, table.top)]
    leads = None
    if size <= MOST_CLASSES:
        leads = lead_table(table.exact_lead, table.label, table.decided, table.case_weight, table.classes)
    return ClassBins(tuple(rounded[:-1]), table.decisions, rounded[-1], table.excess, leads)
