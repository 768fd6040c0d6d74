"""The chart of slices: a dot and a whisker for each, and a line where the whole is."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import DataError
from scorespace.views.charts.slices import slices_chart


def test_the_chart_draws_what_the_table_says() -> None:
    truth = np.tile([1, 0], 40)
    data = {"y": truth, "s": truth + np.arange(80) % 9, "ward": ["<b>A</b>"] * 40 + ["B"] * 40}
    evaluation = ss.evaluate(data, truth="y", scores="s", by="ward", measures="auc")
    found, (whole,) = evaluation.slices, tuple(evaluation.summary)
    assert found is not None
    spec = slices_chart(found, found.gaps, whole)
    rows = next(values for values in spec["datasets"].values() if "slice" in values[0])
    assert [row["label"] for row in rows] == ["<b>A</b> (40)", "B (40)"]
    assert rows[0]["value"] == pytest.approx(found.gaps[0].estimate.value, abs=1e-4)
    assert spec["description"].startswith("auc of s by ward: <b>A</b> ")
    with pytest.raises(DataError):
        slices_chart(found, [], whole)
