import numpy as np

from experiments.runs import bootstrapped, summary
from scorespace.experiments.results import benchmark_summary
from scorespace.views import benchmark, markdown


def test_the_page_of_a_benchmark():
    page = benchmark.document(summary(), "scorespace evaluate folded")
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
    grid = benchmark.mean_grid(found)
    first = found.result("cancer", "naive_bayes").over
    assert grid.rows[0][:2] == ("cancer", f"{first.text} *")
    mean = np.mean([found.result(name, "tree").over.mean for name in found.datasets])
    assert grid.rows[-1] == ("mean", grid.rows[-1][1], f"{mean:.3f}")
    fit = {row[0]: row for row in benchmark.fit_grid(found).rows}
    assert fit["cancer, tree"][-1] == "overfits"
    one = found.comparisons["iris"][0]
    assert f"p = {one.p:.3f}" in benchmark.difference_grid(found).rows[1][1]
    assert "on 1, worse on 0" in markdown.text(benchmark.document(found)) or "not told apart on" in markdown.text(
        benchmark.document(found)
    )


def test_a_bootstrap_shows_what_is_corrected():
    found = benchmark_summary(bootstrapped())
    page = benchmark.document(found)
    assert "bootstrap" in [section.name for section in page.sections]
    row = benchmark.bootstrap_grid(found).rows[0]
    assert row[0] == "knn(k=1)"
    assert row[1] == "1.000"


def test_a_comparison_has_no_picture():
    page = benchmark.comparison(summary("acc"))
    assert "Row minus column" in markdown.text(page) or "median of row − column" in markdown.text(page)
