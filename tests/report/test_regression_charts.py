"""Predicted numbers in pictures: RROC space, errors, quantiles, and cells where cases are many."""

import numpy as np
import pytest
from scipy.stats import norm

import scorespace as ss
from helpers.drawn_charts import rows
from scorespace.curves import rroc
from scorespace.errors import DataError
from scorespace.report.regression_charts import CELLS, ERROR_BINS, MAX_POINTS, error_chart, rroc_chart, scatter_chart
from scorespace.tables import residual_table


def sample(size=300, seed=0):
    chance = np.random.default_rng(seed)
    truth = chance.normal(10, 3, size)
    return {"near": residual_table(truth, truth + chance.normal(0.3, 1, size)), "far": residual_table(truth, truth * 0)}


def test_the_models_as_they_are_stand_where_their_errors_are(valid):
    tables = sample()
    chart = valid(rroc_chart({name: rroc(one) for name, one in tables.items()}))
    own = {
        row["name"]: (row["x"], row["y"])
        for row in rows(chart)
        if "name" in row and "not shifted" in str(row.get("label"))
    }
    for name, one in tables.items():
        error = one.numbers.error
        expected = np.maximum(error, 0).mean(), np.minimum(error, 0).mean()
        assert own[name] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_errors_are_shares_of_the_cases_over_common_parts(valid):
    tables = sample(2000)
    found = [row for row in rows(valid(error_chart(tables))) if row["name"] == "near"]
    assert len(found) == ERROR_BINS + 1
    assert sum(row["y"] for row in found) == pytest.approx(1, abs=0.02)  # the outermost half per cent is left out
    assert error_chart({"same": residual_table([1.0, 2, 3], [2.0, 3, 4])})["datasets"]


def test_weights_count_as_copies():
    error = np.sort(np.random.default_rng(1).normal(size=400))
    weighted = residual_table(np.zeros(400), error, weight=np.where(error > 0, 3, 1))
    found = rows(error_chart({"m": weighted}))
    above = sum(row["y"] for row in found if row["x"] > 0)
    assert above == pytest.approx(3 * (error > 0).sum() / (400 + 2 * (error > 0).sum()), abs=0.06)


@pytest.mark.parametrize("size", [MAX_POINTS, 20_000])
def test_many_cases_are_counted_in_cells(size):
    ev = ss.evaluate({"near": sample(size)["near"]})
    chart = scatter_chart(ev.curves("predicted"), diagonal=True, title="Truth")
    cases = [row["cases"] for row in rows(chart) if "cases" in row]
    assert sum(cases) == size
    assert len(cases) <= max(MAX_POINTS, CELLS**2)


def test_quantiles_of_normal_errors_lie_on_a_line():
    curve = ss.evaluate({"near": sample(5000)["near"]}).curve("quantiles")
    slope = np.polyfit(curve.x, curve.y, 1)[0]
    assert slope == pytest.approx(1, abs=0.05)
    assert float(np.interp(0.5, curve.threshold, curve.x)) == pytest.approx(norm.ppf(0.5), abs=0.05)


def test_nothing_to_draw():
    with pytest.raises(DataError, match="curve to draw"):
        rroc_chart({})
    with pytest.raises(DataError, match="cases to draw"):
        scatter_chart({}, diagonal=True, title="")
