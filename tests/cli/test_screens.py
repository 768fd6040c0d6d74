"""Default screens: up to three models fit 24 lines of 80 columns, the answer last."""

import pytest

COSTS = ("--cost-fp", "1", "--cost-fn", "5")
TWO, THREE = "naive_bayes,tree", "naive_bayes,tree,logistic"


def fits(out):
    lines = [line.rstrip() for line in out.splitlines()]
    return len(lines) <= 24 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("models", [TWO, THREE])
@pytest.mark.parametrize("costs", [(), COSTS])
def test_an_evaluation_fits_a_screen(run, credit, models, costs):
    done = run("evaluate", *credit, "--score", models, *costs)
    assert fits(done.out)
    assert "+0.058 [0.025, 0.092]" in done.out or models == THREE


def test_differences_are_beside_the_models_where_they_fit(run, credit):
    wide = run("evaluate", *credit, "--score", TWO, columns=120).out
    assert "naive_bayes − tree" in wide
    assert len(wide.splitlines()) <= 24
    assert "naive_bayes − tree" not in run("evaluate", *credit, "--score", TWO).out
    assert "naive_bayes − tree" in run("evaluate", *credit, "--score", TWO, "--all").out


@pytest.mark.parametrize("verb", [("evaluate", *COSTS), ("decide", *COSTS), ("compare",)])
def test_three_models_of_a_file_with_a_long_name_fit_a_screen(run, credit, tmp_path, verb):
    (tmp_path / "credit.csv").rename(tmp_path / "german_credit_2024.csv")
    done = run(verb[0], "german_credit_2024.csv", *credit[1:], "--score", THREE, *verb[1:])
    assert fits(done.out), done.out
