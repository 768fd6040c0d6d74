"""Experiments in pictures: a dot with its spread for each learner, and every permutation in a bar."""

import numpy as np
import pytest

from experiments.runs import folded
from scorespace.experiments.permute import PermutationTest
from scorespace.experiments.results import benchmark_summary
from scorespace.views.charts.experiments import benchmark_chart, permutation_chart
from views.charts.drawn import rows


def test_every_learner_is_a_dot_on_the_line_of_each_data_set(valid):
    found = benchmark_summary(folded(), measure="acc")
    dots = rows(valid(benchmark_chart(found)))
    assert {(row["dataset"], row["learner"]) for row in dots} == {
        (name, learner) for name in found.datasets for learner in found.learners
    }
    for row in dots:
        over = found.result(row["dataset"], row["learner"]).over
        assert (row["low"] + row["high"]) / 2 == pytest.approx(over.mean, abs=1e-5)


@pytest.mark.parametrize("observed", [0.2, 0.9])
def test_every_permutation_is_in_a_bar(observed, valid):
    null = np.append(np.random.default_rng(0).normal(0.5, 0.05, 200), np.nan)
    spec = valid(permutation_chart(PermutationTest("nb", "auc", "high", observed, null, 3)))
    assert sum(row["count"] for row in rows(spec) if "count" in row) == 200
    (here,) = [row for row in rows(spec) if "text" in row]
    assert here["x"] == observed
