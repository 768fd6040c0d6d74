"""The chart of batches over time: the evidence, the bound, and the alarm."""

import pytest

from scorespace.samples.monitor import Batch, Monitoring, Seen
from scorespace.views.charts.monitor import course_chart, monitor_chart


@pytest.mark.parametrize(("p", "layers"), [([0.5, 0.6], 3), ([0.001] * 3, 5)])
def test_the_chart_draws_what_the_table_says(p, layers):
    batches = tuple(Batch(f"<b>{k}</b>", 10, 3, {("nb", "scores"): one}) for k, one in enumerate(p))
    found = Monitoring("spring.csv", 100, "1", ("nb",), batches)
    spec = monitor_chart(found)
    rows = next(values for values in spec["datasets"].values() if len(values) == len(p) and "evidence" in values[0])
    assert [row["evidence"] for row in rows] == pytest.approx(found.evidence.tolist(), rel=1e-3)
    assert rows[0]["batch"] == "<b>0</b>"
    assert len(spec["layer"]) == layers
    assert spec["description"] == "Evidence that something moved since spring.csv."


@pytest.mark.parametrize("batches", [3, 80])
@pytest.mark.parametrize("models", [("nb",), ("nb", "tree")])
def test_numbers_over_time(models, batches, valid):
    """A dot for each model and batch that has the number, and a line for the sample before."""
    seen = {(model, "auc"): Seen(0.8, 0.7, 0.9) for model in models}
    held = tuple(Batch(str(k), 10, 3, {("nb", "scores"): 0.5}, seen if k else {}) for k in range(batches))
    spec = course_chart(Monitoring("spring.csv", 100, "1", models, held, seen), "auc")
    before, rows = spec["datasets"].values()
    assert [row["before"] for row in before] == [0.8] * len(models)
    assert len(rows) == (batches - 1) * len(models)
    assert rows[0] == {"place": 2, "batch": "1", "model": "nb", "value": 0.8, "low": 0.7, "high": 0.9}
    assert spec["description"] == "AUC of each batch; the dashed line is that of spring.csv."
    valid(spec)
