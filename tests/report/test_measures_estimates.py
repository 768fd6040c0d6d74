"""Estimates as dots and whiskers."""

import pytest

from helpers.drawn_charts import TABLES, rows, within
from scorespace.inference.estimate import Estimate, estimate
from scorespace.measures import parse
from scorespace.report.measures import measures_chart


def test_dots_and_whiskers_hold_the_estimates():
    found = [estimate(parse("auc"), one, model=name) for name, one in TABLES.items()]
    drawn = measures_chart([found])
    assert [(row["model"], row["low"], row["value"], row["high"]) for row in rows(drawn)] == [
        (one.model, *(pytest.approx(number, rel=1e-5) for number in (one.low, one.value, one.high))) for one in found
    ]
    assert rows(drawn)[0]["label"] == f"nb\n{found[0].text}"
    assert "Area under the ROC curve (95 % confidence interval)" in within(drawn, "title")


def test_an_undefined_estimate_keeps_its_row_and_says_why():
    nan = float("nan")
    undefined = Estimate("nb", parse("ppv@0.5"), nan, nan, nan, 0.95, None, "undefined: nothing is predicted positive")
    (row,) = rows(measures_chart([[undefined]]))
    assert row["value"] is row["low"] is row["high"] is None
    assert row["label"] == "nb\n–"
    assert "nothing is predicted positive" in row["reason"]
