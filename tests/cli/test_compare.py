"""`scorespace compare`: tests between models on the same cases."""

import csv
import io
import json

import pytest

KEYS = {"a", "b", "test", "measure", "difference", "low", "high", "statistic", "df", "p", "reason"}
# Both right on 2 cases, only a right on 6, only b right on 1, neither on 1.
CRISP = "y,a,b\n" + "1,1,1\n" * 2 + "1,1,0\n" * 6 + "0,1,0\n" + "0,1,1\n"


@pytest.fixture(scope="module")
def theirs(oracles):
    """pROC's paired test of the two predictors."""
    return json.loads((oracles / "proc_asah.json").read_text())["paired_tests"][0]


@pytest.fixture
def crisp(write):
    return [write("crisp.csv", CRISP), "--truth", "y", "--decision", "a", "--decision", "b"]


def test_in_a_process_of_its_own(shell, asah):
    done = shell("compare", *asah)
    assert (done.code, done.err) == (0, "")
    assert "s100b and ndka: auc differs by +0.119" in done.out


def test_delong_is_that_of_proc(run, asah, theirs):
    found = run("compare", *asah, "--format", "json").json()
    (row,) = found["rows"]
    assert set(row) >= KEYS
    assert (row["a"], row["b"], row["test"], row["measure"]) == ("s100b", "ndka", "delong", "auc")
    assert (row["statistic"], row["p"]) == pytest.approx((theirs["delong_Z"], theirs["delong_p"]), abs=1e-9)
    assert [row["low"], row["high"]] == pytest.approx(theirs["delong_ci_diff"], abs=1e-9)
    assert found["schema"] == 1


def test_decisions_are_compared_by_mcnemar(run, crisp):
    (row,) = run("compare", *crisp, "--format", "json").json()["rows"]
    assert row["test"].startswith("mcnemar")
    assert row["table"] == [[2, 6], [1, 1]]
    assert row["difference"] == pytest.approx(8 / 10 - 3 / 10)


def test_the_exact_test_is_the_binomial_one(run, crisp):
    (row,) = run("compare", *crisp, "--test", "mcnemar-exact", "--format", "json").json()["rows"]
    assert row["p"] == pytest.approx(2 * (1 + 7) / 2**7)  # at most 1 of 7, on either side


def test_all_pairs_of_three_models_are_adjusted(run, credit):
    models = ("--score", "naive_bayes", "--score", "tree", "--score", "logistic")
    found = run("compare", *credit, *models, "--format", "json").json()
    pairs = [row for row in found["rows"] if row["difference"] is not None]
    assert [(row["a"], row["b"]) for row in pairs] == [
        ("naive_bayes", "tree"),
        ("naive_bayes", "logistic"),
        ("tree", "logistic"),
    ]
    ordered = sorted(pairs, key=lambda row: row["p"])
    holm = [min(1.0, factor * row["p"]) for factor, row in zip((3, 2, 1), ordered, strict=True)]
    assert [row["p_adjusted"] for row in ordered] == pytest.approx([max(holm[: k + 1]) for k in range(3)])
    assert [note["code"] for note in found["notes"]] == ["SS015"]


def test_csv(run, asah, theirs):
    (row,) = csv.DictReader(io.StringIO(run("compare", *asah, "--format", "csv").out))
    assert float(row["p"]) == pytest.approx(theirs["delong_p"], abs=1e-9)
    assert row["reason"] == ""


@pytest.mark.parametrize("columns", [80, 120])
def test_text_keeps_to_the_width(run, credit, columns):
    models = ("--score", "naive_bayes", "--score", "tree", "--score", "logistic", "--name", "tree=a_rather_long_name")
    out = run("compare", *credit, *models, columns=columns).out
    assert max(map(len, out.splitlines())) <= columns


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--test", "delon"], "ScoreSpaceError: there is no test 'delon'."),
        (["--test", "delong", "--measure", "ks"], "MeasureError: DeLong's test is for auc, not for ks."),
        (["--measure", "aucc"], "MeasureError: there is no measure 'aucc'."),
        (["--level", "2"], "ScoreSpaceError: level=2 is not a level of confidence."),
    ],
)
def test_mistakes(run, asah, options, problem):
    done = run("compare", *asah, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(problem)


def test_one_model_cannot_be_compared(run, credit):
    done = run("compare", *credit, "--score", "tree")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ScoreSpaceError: ")
