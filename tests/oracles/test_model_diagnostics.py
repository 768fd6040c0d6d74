"""The parts of the squared error as model-diagnostics has them, plain, weighted and with ties."""

import pytest

import scorespace as ss
from oracles.load import reference
from scorespace.tables import residual_table

HELD = reference("model_diagnostics")
NAMES = {"miscalibration": ss.cal, "discrimination": ss.dsc, "uncertainty": ss.unc, "score": ss.mse}


@pytest.mark.parametrize("case", HELD["cases"], ids=lambda case: case["name"])
def test_the_parts_of_the_squared_error(case):
    predicted = HELD["rounded" if case["name"] == "ties" else "predicted"]
    weight = HELD["weight"] if case["name"] == "weighted" else None
    table = residual_table(HELD["truth"], predicted, weight=weight)
    for theirs, ours in NAMES.items():
        assert ours(table) == pytest.approx(case[theirs], rel=1e-10)
    assert ss.ref(table) == pytest.approx(case["uncertainty"] - case["discrimination"], rel=1e-10)
