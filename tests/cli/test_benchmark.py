"""`scorespace benchmark`: from files to a run directory, its status, and what is refused."""

import random
import subprocess
import sys

import pytest

from scorespace.experiments.store import open_run

SOURCE = random.Random(0)
ROWS = "".join(
    f"{k},{SOURCE.gauss(k % 2, 1):.4f},{SOURCE.choice('uvw')},s{k % 5},{k // 4},{'good' if k % 2 else 'bad'}\n"
    for k in range(60)
)
QUICK = ["--learner", "majority", "--resampling", "3", "--workers", "1"]


@pytest.fixture
def data(write):
    return write("credit.csv", "case,x,c,speaker,day,risk\n" + ROWS)


def test_a_run_and_its_status(run, data):
    arguments = ["--data", data, "--target", "risk", "--drop", "case", "--drop", "day", "--drop", "speaker"]
    done = run("benchmark", *arguments, "--learner", "naive_bayes", *QUICK, "--out", "r")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[1].split("   ") == ["r", "1 data set", "2 learners", "3 folds, stratified by class", "seed 0"]
    assert "6 of 6 fits are done; they took" in done.out
    stored = open_run("r")
    assert stored.predictions("credit", "naive_bayes")["row"].size == 60
    assert stored.of("credit").features == 2
    again = run("benchmark", "status", "r")
    assert again.out == done.out
    content = run("benchmark", "status", "r", "--format", "json").json()
    assert (content["finished"], content["resampling"], content["seed"]) == (True, "3", 0)
    assert [row["done"] for row in content["rows"]] == [3, 3]


@pytest.mark.parametrize("resampling", ["5xholdout:0.3", "bootstrap:6", "holdout:0.3"])
def test_every_verb_reads_samples_held_out(run, data, resampling):
    arguments = ["--data", data, "--target", "risk", "--drop", "speaker", *QUICK[:2], "--workers", "1"]
    learners = ["--learner", "naive_bayes", "--learner", "knn", "--resampling", resampling, "--positive", "good"]
    assert run("benchmark", *arguments, *learners, "--out", "r").code == 0
    costs = {"decide": ["--cost-fp", "1", "--cost-fn", "5"]}
    for verb in ("evaluate", "compare", "decide", "curve"):
        done = run(verb, "r", "--dataset", "credit", *costs.get(verb, []))
        assert done.code == 0, done.err


def test_workers_leave_without_a_word(data, tmp_path):
    command = [sys.executable, "-m", "scorespace", "benchmark", "--data", data, "--target", "risk", "--out", "r"]
    command += [*QUICK[:4], "--workers", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_roles(run, data):
    arguments = ["--data", data, "--target", "risk", "--time", "day", "--id", "case", *QUICK[:2], *QUICK[4:]]
    done = run("benchmark", *arguments, "--resampling", "logo:speaker", "--out", "r", "--positive", "bad")
    assert (done.code, done.err) == (0, "")
    plan = open_run("r").of("credit")
    assert (plan.splits, plan.features, plan.positive) == (5, 2, "bad")
    assert plan.described == "each of 5 groups of speaker left out once"
    done = run("benchmark", *arguments, "--group", "speaker", "--resampling", "time:3", "--out", "t")
    assert done.code == 0
    assert "SS081" in done.out


def test_several_files(run, data, write):
    write("other.csv", "x,y\n" + "".join(f"{k},{k * 2}\n" for k in range(9)))
    done = run("benchmark", "--data", data, "--data", "other.csv", "--target", "x", "--target", "y", *QUICK[2:],
               "--learner", "mean", "--out", "r")  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert open_run("r").datasets == ("credit", "other")


def test_the_page(run, data, tmp_path):
    arguments = ["--data", data, "--target", "risk", *QUICK, "--out", "r", "--report", "page.html"]
    done = run("benchmark", *arguments)
    assert done.out.endswith("report  page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert "fits are done" in page
    assert "How good is each learner?" in page
    assert 'class="chart"' in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*QUICK], "DataError: pass either data or a suite.\n"
            "  hint: --data PATH --target COL, or --suite smooth-roc\n"),
        (
            ["--suite", "smooth-roc", "--target", "y"],
            "DataError: the suite smooth-roc defines the column roles itself.\n  hint: --data PATH for other data\n",
        ),
        (["stat", "r"], "DataError: benchmark has no argument 'stat r'.\n  hint: benchmark status DIR\n"),
        (
            ["status", "nowhere"],
            "DataError: 'nowhere' is not a run directory.\n  hint: scorespace benchmark … --out nowhere\n",
        ),
        (
            ["--data", "credit.csv", "--target", "risk"],
            "DataError: no learner is named.\n  hint: --learner naive_bayes --learner forest\n",
        ),
        (
            ["--data", "credit.csv", *QUICK],
            "DataError: the number of targets does not match the number of files.\n  seen: 1 files and 0 targets\n"
            "  hint: --target COL, once for all or once for each --data\n",
        ),
        (
            ["--suite", "smoth-roc"],
            "ScoreSpaceError: there is no suite 'smoth-roc'.\n  hint: did you mean smooth-roc?\n",
        ),
        (
            ["--data", "credit.csv", "--target", "risk", "--learner", "linear", "--out", "r"],
            "ScoreSpaceError: linear predicts numbers, but the target of credit holds classes.\n"
            "  seen: 'bad', 'good'\n  hint: use another learner, or --task numbers\n",
        ),
        (
            ["--data", "credit.csv", "--target", "risk", *QUICK[:2], "--resampling", "time:4", "--out", "r"],
            "ScoreSpaceError: resampling='time:4' needs a time column.\n  hint: --time COL\n",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(run, data, arguments, words):
    done = run("benchmark", *arguments)
    assert (done.code, done.out, done.err) == (2, "", words)
