"""The table class by class against what WEKA printed for the same predictions."""

import re

import pytest

from oracles.load import HERE, columns
from scorespace.measures.average import by_class
from scorespace.measures.class_measures import class_measures
from scorespace.measures.ranking import auc
from scorespace.report.confusion import class_grid, confusion_grid
from scorespace.tables import class_table, confusion

CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
PRINTED = (HERE / "weka_iris_nb.txt").read_text()
HEADER = r"\s+TP Rate\s+FP Rate\s+Precision\s+Recall\s+F-Measure\s+ROC Area\s+Class"


def printed_table():
    """WEKA's cells, as printed: by the name of the row, by the title of the column."""
    text = re.search(rf"^{HEADER}\n(.*?)\n\n", PRINTED, re.MULTILINE | re.DOTALL)[1]
    titles = ("TP rate", "FP rate", "precision", "recall", "F-measure", "ROC area")
    found = {}
    for line in text.splitlines():
        mean, cells, name = re.fullmatch(r"(Weighted Avg\.)?((?:\s+[\d.]+){6})\s*(\S*)", line).groups()
        found["weighted mean" if mean else name] = dict(zip(titles, cells.split(), strict=True))
    return found


def printed_matrix():
    text = PRINTED.split("=== Confusion Matrix ===")[1]
    return [re.findall(r"\d+", line.split("|")[0]) for line in text.splitlines() if "|" in line]


@pytest.fixture(scope="module")
def ours():
    given = columns("weka_iris_nb_predictions")
    decided = confusion(given["actual"], given["predicted"])
    scored = class_table(given["actual"], {name: given[f"p_{name}"] for name in CLASSES})
    return class_measures(decided, {auc.name: by_class(auc, scored)})


def test_the_same_rows_and_columns(ours):
    grid = class_grid(ours)
    assert [row[0] for row in grid.rows] == list(printed_table())
    assert set(next(iter(printed_table().values()))) - {"recall"} <= set(grid.columns)  # the TP rate again


@pytest.mark.parametrize("row", [*CLASSES, "weighted mean"])
def test_every_cell_to_the_printed_digits(ours, row):
    grid = class_grid(ours)
    cells = dict(zip(grid.columns, next(line for line in grid.rows if line[0] == row), strict=True))
    for title, printed in printed_table()[row].items():
        assert float(cells["TP rate" if title == "recall" else title]) == float(printed), title


def test_the_confusion_matrix(ours):
    grid = confusion_grid(ours.decisions)
    assert [list(row[1:-1]) for row in grid.rows[:-1]] == printed_matrix()
