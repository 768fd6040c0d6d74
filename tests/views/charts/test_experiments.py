import numpy as np
import pytest

from experiments.runs import summary
from scorespace.experiments.overfitting import BiasVariance, LearningCurve
from scorespace.experiments.permute import PermutationTest
from scorespace.views.charts.experiments import benchmark_chart, bias_chart, learning_chart, permutation_chart


def rows(spec):
    return [row for table in spec["datasets"].values() for row in table]


def test_every_learner_on_every_data_set():
    found = summary()
    drawn = rows(benchmark_chart(found))
    assert {(row["dataset"], row["learner"]) for row in drawn} == {
        (name, each) for name in found.datasets for each in found.learners
    }
    one = found.result("iris", "tree").over
    row = next(row for row in drawn if (row["dataset"], row["learner"]) == ("iris", "tree"))
    assert row["high"] - row["low"] == pytest.approx(2 * one.sd, rel=1e-3)


@pytest.mark.parametrize("observed", [0.9, 0.45, 0.1])
def test_the_null_and_the_labels_as_they_are(observed):
    found = PermutationTest("nb", "auc", "high", observed, np.linspace(0.4, 0.6, 99), 10)
    drawn = rows(permutation_chart(found))
    assert sum(row.get("count", 0) for row in drawn) == 99
    assert [row["x"] for row in drawn if "x" in row] == [observed]


def test_training_and_test():
    values = np.array([[0.9, 0.8], [0.95, 0.85]])
    found = LearningCurve("nb", "acc", "high", np.array([10, 100]), values, values - 0.1, 0.1)
    drawn = rows(learning_chart(found))
    assert {(row["size"], row["part"]) for row in drawn} == {
        (size, f"{part} cases") for size in (10, 100) for part in ("training", "test")
    }


@pytest.mark.parametrize("sets", [("a",), ("a", "b")])
def test_the_error_in_two_parts(sets, valid):
    """A bar for each learner of each data set, whose parts add up to its error; a panel for each loss."""
    found = [
        (name, BiasVariance("nb", loss, 0.3, 0.2, 0.1, 5)) for name in sets for loss in ("decisions", "probabilities")
    ]
    spec = valid(bias_chart(found))
    assert len(spec["concat"]) == 2
    drawn = rows(spec)
    assert {row["learner"] for row in drawn} == ({"nb"} if len(sets) == 1 else {"a, nb", "b, nb"})
    assert sum(row["size"] for row in drawn) == pytest.approx(0.3 * len(found))
    assert "concat" not in bias_chart(found[:1])
