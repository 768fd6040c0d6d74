"""`result.plot()`: the chart of each kind of result, or the reason why there is none."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import DataError
from scorespace.report.result_charts import chart_of

RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 30)
SCORES = {"a": np.clip(0.3 * Y + 0.7 * RNG.random(60), 0, 1), "b": RNG.random(60)}
RESULTS = {
    "a comparison": lambda: ss.compare(Y, SCORES),
    "a decision": lambda: ss.decide(Y, SCORES["a"], fp=1, fn=5),
    "cases": lambda: ss.cases(Y, SCORES["a"]),
    "clusters": lambda: ss.clusters(
        {"u": SCORES["a"], "v": SCORES["b"], "k": Y.astype(str)},
        labels="k",
        features=["u", "v"],
        resamples=0,
        replicates=20,
    ),
    "rules": lambda: ss.rules({"t": [1, 1, 2, 2, 3], "i": list("ababa")}, transaction="t", items="i"),
}


@pytest.mark.parametrize("name", list(RESULTS))
def test_results_with_a_chart(name, valid):
    found = RESULTS[name]()
    valid(chart_of(found))
    assert found.plot(style="paper", size="9x7cm").to_dict()["usermeta"]["dots_per_inch"] == 300


def test_a_result_without_a_chart():
    with pytest.raises(DataError, match="has no chart"):
        ss.audit({"x": [1, 2, 3], "y": [0, 1, 0]}, target="y").plot()
