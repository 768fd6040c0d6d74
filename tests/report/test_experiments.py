import re

import numpy as np
import pytest

from helpers.runs import bootstrapped, summary
from scorespace.experiments.data import Dataset
from scorespace.experiments.label_permutation import PermutationTest
from scorespace.experiments.overfitting import BiasVariance, LearningCurve
from scorespace.experiments.results import benchmark_summary
from scorespace.experiments.run import benchmark
from scorespace.report import experiments, serialize
from scorespace.report import experiments as view
from scorespace.report.document import Grid, Notes, Verdict
from scorespace.report.experiments import benchmark_chart
from scorespace.report.study import bias_chart, learning, learning_chart, permutation, permutation_chart


def test_the_page_of_a_benchmark():
    page = experiments.document(summary(), "scorespace evaluate folded")
    assert [section.name for section in page.sections] == [
        "verdict",
        "results",
        "differences",
        "ranks",
        "fit",
        "inner",
        "pooled",
        "notes",
    ]
    assert page.facts == "2 data sets   2 learners   2x3   auc[hand_till], higher is better"
    assert page.made[1] == "scorespace evaluate folded"
    assert [section.name for section in page.brief().sections] == ["results", "differences", "verdict", "notes"]


def test_grids_hold_the_numbers_of_the_results():
    found = summary()
    grid = experiments.mean_grid(found)
    first = found.result("cancer", "naive_bayes").over
    assert grid.rows[0][:2] == ("cancer", f"{first.text} *")
    mean = np.mean([found.result(name, "tree").over.mean for name in found.datasets])
    assert grid.rows[-1] == ("mean", grid.rows[-1][1], f"{mean:.3f}")
    fit = {row[0]: row for row in experiments.fit_grid(found).rows}
    assert fit["cancer, tree"][-1] == "overfits"
    one = found.comparisons["iris"][0]
    assert f"p = {one.p:.3f}" in experiments.difference_grid(found).rows[1][1]
    assert "on 1, worse on 0" in serialize.text(experiments.document(found)) or "not told apart on" in serialize.text(
        experiments.document(found)
    )


def test_a_bootstrap_shows_what_is_corrected():
    found = benchmark_summary(bootstrapped())
    page = experiments.document(found)
    assert "bootstrap" in [section.name for section in page.sections]
    row = experiments.bootstrap_grid(found).rows[0]
    assert row[0] == "knn(k=1)"
    assert row[1] == "1.000"


def test_a_comparison_has_no_picture():
    page = experiments.comparison(summary("acc"))
    assert "Row minus column" in serialize.text(page) or "median of row − column" in serialize.text(page)


NULL = PermutationTest("nb", "auc", "high", 0.9, np.linspace(0.4, 0.6, 199), 10)
CURVE = LearningCurve(
    "tree",
    "acc",
    "high",
    np.array([20, 200]),
    np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    np.array([[0.6, 0.62, 0.61], [0.75, 0.76, 0.74]]),
    0.1,
)


def test_permuted_labels():
    text = " ".join(serialize.text(permutation(NULL)).split())
    assert "| nb | 0.900 | 0.410 | 0.500 | 0.590 | 0.005 |" in text
    assert permutation(NULL).sections[0].blocks[0].caption == "Mean over 10 splits; 199 permutations."
    assert NULL.words in text


def test_a_learning_curve():
    text = " ".join(serialize.text(learning(CURVE)).split())
    assert "| 200 | 1.000 ± 0.000 | 0.750 ± 0.010 |" in text
    assert re.findall(r"tree overfits|\d[\d.]*\d", CURVE.words) == ["tree overfits", "1.000", "0.750", "200"]
    assert "still rising" in CURVE.words


def test_each_has_its_picture():
    for page, found in ((permutation(NULL), NULL), (learning(CURVE), CURVE)):
        assert page.sections[0].blocks[-1].draw()["description"] == found.words


def test_where_a_run_stands(tmp_path):
    few = Dataset("few", {"x": np.repeat(np.arange(4.0), 2)}, np.arange(8) % 2, "classes")
    run = benchmark(["majority", "knn(k=7)"], few, "2", tmp_path / "r", workers=1)
    page = view.run_document(run)
    assert page.facts == "1 data set   2 learners   2 folds, stratified by class   seed 0"
    (section,) = page.sections
    grid, verdict, notes = section.blocks
    assert isinstance(grid, Grid)
    assert [row[:4] for row in grid.rows] == [("few", "knn(k=7)", "2 of 2", "2"), ("few", "majority", "2 of 2", "")]
    assert isinstance(verdict, Verdict)
    assert verdict.text.startswith("4 of 4 fits are done, 2 failed; they took ")
    assert isinstance(notes, Notes)
    assert [one.code for one in notes.notes] == ["SS080", "SS082"]


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
