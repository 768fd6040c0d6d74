"""`scorespace drift` in every format."""

import csv
import io

import numpy as np
import pytest

rng = np.random.default_rng(3)


def sample(share, shift=0.0, truth=True, cases=400):
    label = rng.random(cases) < share
    score = 1 / (1 + np.exp(-(rng.normal(-1.5, 1.2, cases) + 1.8 * label + shift)))
    rows = [f"{'bad' if y else 'good'},{s:.6f}" if truth else f"{s:.6f}" for y, s in zip(label, score, strict=True)]
    return "\n".join(["outcome,nb" if truth else "nb", *rows]) + "\n"


@pytest.fixture
def files(write):
    write("before.csv", sample(0.2))
    write("after.csv", sample(0.6))
    write("unlabelled.csv", sample(0.2, shift=1.0, truth=False))
    return [
        "before.csv",
        "after.csv",
        "--truth",
        "outcome",
        "--positive",
        "bad",
        "--score",
        "nb",
        "--replicates",
        "199",
    ]


def test_json(run, files):
    done = run("drift", *files, "--format", "json")
    assert (done.code, done.err) == (0, "")
    content = done.json()
    assert content["causes"] == {"nb": "prevalence"}
    assert content["verdict"].startswith("The share of positives changed from 18.2 % to 59.5 % ")
    assert content["rows"][0]["aspect"] == "prevalence"
    assert [note["code"] for note in content["notes"]] == ["SS030"]
    assert set(content["rows"][0]) == {
        "model",
        "aspect",
        "before",
        "after",
        "at_same_prevalence",
        "change",
        "p",
        "p_adjusted",
        "reason",
    }


def test_csv(run, files):
    rows = list(csv.DictReader(io.StringIO(run("drift", *files, "--format", "csv").out)))
    assert [row["aspect"] for row in rows][:4] == ["prevalence", "scores", "within", "meaning"]


def test_the_table_fits_80_columns_and_ends_with_the_answer(run, files):
    done = run("drift", *files)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert "before.csv: 400 cases" in done.out
    assert "p adjusted" in done.out
    assert "SS030" in done.out.splitlines()[-2] + done.out.splitlines()[-1]
    assert "nan" not in done.out


def test_markdown(run, files):
    done = run("drift", *files, "--format", "markdown")
    assert done.out.startswith("# Drift")
    assert "| share of positives " in done.out


def test_identical_samples(run, files):
    done = run("drift", "before.csv", *files[:1], *files[2:])
    words = " ".join(done.out.split())
    assert "No evidence of drift: no difference between the samples is significant. The AUC fell by at most" in words


def test_without_truth(run, files):
    done = run("drift", "before.csv", "unlabelled.csv", *files[2:])
    said = " ".join(done.out.split())
    assert "unknown without the truth." in said
    assert "Undefined: share of positives (the later sample has no truth)" in said


@pytest.mark.parametrize("ending", ["png", "svg", "html", "csv", "json"])
def test_out(run, files, tmp_path, ending):
    done = run("drift", *files, "--out", f"drift.{ending}")
    assert (done.code, done.err) == (0, f"drift  drift.{ending}\n")
    assert (tmp_path / f"drift.{ending}").stat().st_size > 100


def test_errors(run, files, write):
    assert "has no known file extension" in run("drift", *files, "--out", "drift.doc").err
    done = run("drift", *files[:-1], "5")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "ConditionError: replicates=5 is too few for 4 tests at level 0.05.",
    )
    write("other.csv", "outcome,nb\n1,0.5\n0,0.4\n")
    assert run("drift", "before.csv", "other.csv", *files[2:]).code == 2


def test_several_samples(run, write, tmp_path):
    rng = np.random.default_rng(2)

    def sample(name, size, shift=0.0):
        truth = (rng.random(size) < 0.4).astype(int)
        score = 10 / (1 + np.exp(-rng.normal(size=size) - 2 * truth + 1 - shift))
        return write(name, "y,s\n" + "".join(f"{y},{s:.3f}\n" for y, s in zip(truth, score, strict=True)))

    files = [sample("spring.csv", 300), sample("far.csv", 250, 2.0), sample("near.csv", 250)]
    asked = [*files, "--truth", "y", "--score", "s", "--scale", "0..10", "--replicates", "300"]
    done = run("drift", *asked)
    assert (done.code, done.err) == (0, "")
    lines = [line.rstrip() for line in done.out.strip().splitlines()]
    assert lines[0] == "Drift   spring.csv: 300 cases   2 samples   positive = 1"
    assert lines[2].split("   ")[0] == "sample"
    assert [line.split()[0] for line in lines[3:5]] == ["near.csv", "far.csv"]
    assert lines[6].startswith("near.csv is nearest to spring.csv, without evidence of change")
    assert run("drift", *asked, "--format", "json").json()["matching"] == ["near.csv"]
    assert run("drift", *asked, "--out", "drift.csv").code == 0
    assert run("drift", *asked, "--out", "drift.svg").err == "drift  drift.svg\n"
    drawn = (tmp_path / "drift.svg").read_text()
    assert all(name in drawn for name in ("spring.csv", "far.csv", "near.csv", "Smooth ROC"))
    done = run("drift", files[0], files[1], files[1], "--truth", "y", "--score", "s")
    assert done.err.startswith("DataError: two samples have the same name.\n")


# --- over time

ROLES = ("--truth", "outcome", "--positive", "bad", "--score", "nb", "--replicates", "199")


def test_batches_over_time(run, files, write):
    for name in ("1.csv", "2.csv", "3.csv"):
        write(name, sample(0.9))
    done = run("drift", "before.csv", "1.csv", "2.csv", "3.csv", "--over-time", *ROLES, "--format", "json")
    told = done.json()
    assert told["moved"][0] == "share of positives"
    assert (told["alarm"], [row["batch"] for row in told["rows"]]) == ("3.csv", ["1.csv", "2.csv", "3.csv"])
    failed = run("drift", "before.csv", "1.csv", "2.csv", "3.csv", "--over-time", "--fail-on-alarm", *ROLES)
    assert failed.code == 1
    assert "Alarm at 3.csv, batch 3 of 3: share of positives" in failed.out
    assert run("drift", "before.csv", "1.csv", "--over-time", "--fail-on-alarm", *ROLES).code == 0


def test_batches_by_a_column_with_a_picture(run, files, write, tmp_path):
    days = [f"{line},{'day' if k == 0 else k % 3}" for k, line in enumerate(sample(0.2, cases=90).splitlines())]
    write("log.csv", "\n".join(days) + "\n")
    done = run("drift", "before.csv", "log.csv", "--by", "day", *ROLES, "--out", "e.svg")
    assert "before.csv: 400 cases   3 batches   positive = bad" in done.out
    assert done.err == "drift  e.svg\n"
    assert (tmp_path / "e.svg").read_text().startswith("<svg")


def test_pages(run, files, write, tmp_path):
    """The page of two samples, and that of batches over time, with the command that made it."""
    write("1.csv", sample(0.9))
    assert run("drift", *files, "--report", "two.html").err == "report  two.html\n"
    assert "Before and after" in (tmp_path / "two.html").read_text()
    given = ("before.csv", "1.csv", "after.csv", "--over-time", *ROLES)
    assert run("drift", *given, "--report", "days.html").err == "report  days.html\n"
    page = (tmp_path / "days.html").read_text()
    for words in (
        "Is there a change?",
        "What changed?",
        "How did the measures change?",
        "AUC of each batch",
        "scorespace ",
    ):
        assert words in page
    assert "has no known file extension" in run("drift", *files, "--report", "drift.pdf").err


def test_a_saved_evaluation_is_the_sample_before(run, files, write):
    run("evaluate", "before.csv", *ROLES[:6], "--measures", "auc", "--save", "b.json")
    rows, tables = (
        run("drift", *given, "after.csv", "--over-time", *ROLES, "--format", "csv").out
        for given in (["before.csv"], ["b.json"])
    )
    assert rows == tables
    again = [run("drift", given, "after.csv", *ROLES, "--format", "csv").out for given in ("before.csv", "b.json")]
    assert again[0] == again[1]
    # Which class is positive is known to the tables.
    unsaid = ("drift", "b.json", "after.csv", "--truth", "outcome", "--score", "nb", "--replicates", "199")
    done = run(*unsaid, "--format", "json").json()
    assert done["data"]["positive"] == "bad"
    assert "SS010" not in {note["code"] for note in done["notes"]}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["after.csv", "--by", "day"], "'day'"),
        (["after.csv", "unlabelled.csv", "--by", "nb"], "--by splits one file into batches."),
        (["after.csv", "--fail-on-alarm"], "--fail-on-alarm needs batches over time."),
    ],
)
def test_what_is_refused_over_time(run, files, given, words):
    done = run("drift", "before.csv", *given, *ROLES)
    assert done.code == 2
    assert words in done.err
