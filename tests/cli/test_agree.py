"""`scorespace agree` in every format."""

import csv
import io

import pytest

FILMS = """film,ann,ann_score,bob,bob_score,cy,cy_score,prize
Alpha,yes,0.95,yes,0.85,yes,0.7,yes
Bravo,yes,0.70,yes,0.45,no,0.4,yes
Coda,no,0.60,yes,0.62,yes,0.9,no
Delta,yes,0.51,no,0.48,yes,0.6,yes
Echo,no,0.20,no,0.35,no,0.1,no
Foxtrot,no,0.01,no,0.05,no,0.3,no
"""
TWO = ["--rater", "Ann=ann,ann_score", "--rater", "Bob=bob,bob_score", "--positive", "yes"]


@pytest.fixture
def films(write):
    return [write("films.csv", FILMS), *TWO]


def test_json(run, films):
    done = run("agree", *films, "--id", "film", "--truth", "prize", "--format", "json")
    assert (done.code, done.err) == (0, "")
    content = done.json()
    (row,) = content["rows"]
    assert (row["a"], row["b"], row["alike"], row["apart"]) == ("Ann", "Bob", 2, 2)
    assert row["agreement"] == pytest.approx(4 / 6)
    assert row["kappa"] == pytest.approx(1 / 3)
    assert [each["id"] for each in content["instances"]] == ["Coda", "Delta", "Bravo", "Echo"]
    assert content["raters"][0]["auc"] == pytest.approx(8 / 9)
    assert content["tolerance"] == 0.1


def test_the_table_fits_80_columns_and_ends_with_the_answer(run, films):
    done = run("agree", *films, "--id", "film", "--truth", "prize")
    assert max(map(len, done.out.splitlines())) <= 80
    said = " ".join(done.out.split())
    assert "Ann and Bob decide alike on 67 % of 6 instances (kappa 0.33)" in said
    assert said.endswith(
        "They decide alike with scores more than 0.1 apart on 2 instances: Bravo, Echo. "
        "All decide alike with scores within 0.1 on 2 instances: Alpha, Foxtrot."
    )


def test_three_raters_show_a_matrix(run, films):
    done = run("agree", *films, "--rater", "Cy=cy,cy_score", "--format", "markdown")
    assert done.out.startswith("# films.csv")
    assert "| area between | Ann" in done.out
    rows = list(csv.DictReader(io.StringIO(run("agree", *films, "--rater", "Cy=cy,cy_score", "--format", "csv").out)))
    assert [(row["a"], row["b"]) for row in rows] == [("Ann", "Bob"), ("Ann", "Cy"), ("Bob", "Cy")]


def test_the_tolerance(run, films):
    (row,) = run("agree", *films, "--tolerance", "0.02", "--format", "json").json()["rows"]
    assert (row["alike"], row["apart"]) == (1, 4)


@pytest.mark.parametrize("ending", ["png", "svg", "html", "csv", "json"])
def test_out(run, films, tmp_path, ending):
    done = run("agree", *films, "--out", f"picture.{ending}")
    assert (done.code, done.err) == (0, f"agree  picture.{ending}\n")
    assert (tmp_path / f"picture.{ending}").stat().st_size > 100


def test_missing_judgements(run, write):
    data = write("gaps.csv", FILMS.replace("Coda,no,0.60", "Coda,no,"))
    assert run("agree", data, *TWO).code == 2
    content = run("agree", data, *TWO, "--missing", "drop", "--format", "json").json()
    assert [note["code"] for note in content["notes"]] == ["SS031"]
    assert content["data"]["rows"] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rater", "Ann=cy,cy_score"], "rater 'Ann' is named twice."),
        (["--rater", "Ann=ann"], "--rater Ann=ann cannot be read."),
        (["--rater", "Cy=cy,cy_scor"], "column 'cy_scor' is not in films.csv."),
        (["--tolerance", "3"], "tolerance=3 is no difference of scores."),
        (["--out", "films.doc"], "has no known ending"),
    ],
)
def test_errors(run, films, arguments, words):
    done = run("agree", *films, *arguments)
    assert done.code == 2
    assert words in done.err
