"""`scorespace agree` in every format."""

import csv
import io
import re

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
        "All raters decide alike with scores within 0.1 on 2 instances: Alpha, Foxtrot."
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
        (["--rater", "Cy=cy,cy_score,prize"], "--rater Cy=cy,cy_score,prize cannot be parsed."),
        (["--rater", "cy,cy_score"], "--rater cy,cy_score cannot be parsed."),
        (["--rater", "Cy=cy,cy_scor"], "column 'cy_scor' is not in films.csv."),
        (["--tolerance", "3"], "tolerance=3 is not a difference"),
        (["--out", "films.doc"], "has no known file extension"),
    ],
)
def test_errors(run, films, arguments, words):
    done = run("agree", *films, *arguments)
    assert done.code == 2
    assert words in done.err


# --- decisions alone, scales and weights

GRADES = """essay,ann,bob,w
1,low,low,1
2,medium,medium,2
3,high,high,1
4,low,medium,0
5,high,medium,1
6,medium,medium,3
"""
RATERS = ["--rater", "Ann=ann", "--rater", "Bob=bob"]


def test_raters_with_more_classes(run, write):
    done = run("agree", write("grades.csv", GRADES), *RATERS, "--order", "low,medium,high", "--id", "essay")
    assert (done.code, done.err) == (0, "")
    lines = [line.rstrip() for line in done.out.strip().splitlines()]
    assert lines[0] == "grades.csv   6 instances   2 raters   low < medium < high"
    assert [line.split("  ")[0] for line in lines if "[" in line and "  " in line][:9] == [
        "Observed agreement",
        "Fleiss' kappa",
        "Gwet's AC1",
        "Krippendorff's alpha",
        "Krippendorff's alpha, ordinal",
        "Observed agreement",
        "Cohen's kappa",
        "Scott's pi",
        "Cohen's kappa, linear",
    ]
    assert " ".join(" ".join(lines).split()).endswith("They differ on 2 of 6 instances: 4, 5.")


def test_more_classes_as_data(run, write, tmp_path):
    data = write("grades.csv", GRADES)
    content = run("agree", data, *RATERS, "--weight", "w", "--format", "json").json()
    assert content["data"] == {"rows": 5, "raters": ["Ann", "Bob"], "classes": ["high", "low", "medium"]}
    assert content["rows"][0]["value"] == pytest.approx(7 / 8)  # of weight 8, one of weight 1 differs
    assert content["instances"] == [{"id": 5, "Ann": "high", "Bob": "medium"}]
    assert run("agree", data, *RATERS, "--out", "differing.csv").code == 0
    assert (tmp_path / "differing.csv").read_text().splitlines()[0] == "id,Ann,Bob"
    done = run("agree", data, *RATERS, "--out", "picture.png")
    assert done.err.startswith("DataError: the chart needs scores, and these raters have none.\n")


def test_ratings_that_are_missing(run, write):
    data = write("gaps.csv", "ann,bob\n1,1\n2,\n3,2\n,1\n2,2\n")
    assert run("agree", data, *RATERS).err == (
        "DataError: 2 ratings are missing.\n  seen: 'Ann', 'Bob'\n  hint: --missing drop\n"
    )
    content = run("agree", data, *RATERS, "--missing", "drop", "--format", "json").json()
    assert (content["gaps"], content["data"]["rows"], content["data"]["classes"]) == (2, 5, ["1", "2", "3"])
    assert content["instances"] == [{"id": 3, "Ann": "3", "Bob": "2"}]
    assert content["notes"][0]["text"].startswith("2 ratings are missing")


def test_scores_on_another_scale_and_weights(run, write):
    tens = write("tens.csv", re.sub(r"0\.(\d)(\d)?", lambda m: f"{m[1]}.{m[2] or 0}", FILMS))
    ones = write("ones.csv", FILMS)
    scaled = run("agree", tens, *TWO, "--scale", "0..10", "--format", "json").json()
    plain = run("agree", ones, *TWO, "--format", "json").json()
    assert scaled["rows"][0] == pytest.approx(plain["rows"][0])
    done = run("agree", tens, *TWO)
    assert "hint: --scale 0..10 " in done.err
    done = run("agree", tens, *TWO, "--scale", "0..5")
    assert done.err.startswith("ScoreError: column 'ann_score' ")
    done = run("agree", ones, *TWO, "--rater", "Cy=cy")
    assert done.err.startswith("ColumnError: rater 'Cy' needs a decision and a score, as another has.\n")


def test_weights_of_raters_with_scores_are_copies(run, write):
    header, *rows = FILMS.splitlines()
    weights = [1, 2, 1, 0, 3, 1]
    weighed = "\n".join([f"{header},w", *(f"{row},{w}" for row, w in zip(rows, weights, strict=True))])
    copies = "\n".join([header, *(row for row, w in zip(rows, weights, strict=True) for _ in range(w))])
    ours = run("agree", write("w.csv", weighed + "\n"), *TWO, "--truth", "prize", "--weight", "w", "--format", "json")
    theirs = run("agree", write("c.csv", copies + "\n"), *TWO, "--truth", "prize", "--format", "json").json()
    for key in ("agreement", "kappa", "spearman", "kendall", "area", "largest"):
        assert ours.json()["rows"][0][key] == pytest.approx(theirs["rows"][0][key])
    assert [row["auc"] for row in ours.json()["raters"]] == pytest.approx([row["auc"] for row in theirs["raters"]])
    assert [one["value"] for one in ours.json()["chance"]] == pytest.approx([one["value"] for one in theirs["chance"]])


def test_the_page(run, films, tmp_path):
    assert run("agree", *films, "--report", "films.html").err == "report  films.html\n"
    assert "Smooth true positive rate" in (tmp_path / "films.html").read_text()


def test_what_is_for_scores_says_so_in_flags(run, write):
    done = run("agree", write("r.csv", "a,b\n1,2\n2,2\n"), "--rater", "A=a", "--rater", "B=b", "--positive", "2")
    assert done.err == "DataError: positive='2' is for raters with scores.\n  hint: --rater A=DECISION,SCORE\n"


def test_the_file_lists_every_instance_with_its_verdict(run, films, tmp_path):
    content = run("agree", *films, "--out", "all.csv", "--format", "json").json()
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert len(rows) == content["data"]["rows"]
    by_verdict = {}
    for row in rows:
        by_verdict.setdefault(row["verdict"], []).append(row["id"])
    assert by_verdict["same decision, similar scores"] == list(map(str, content["together"]))
    (pair,) = content["rows"]
    assert len(by_verdict["similar scores, different decisions"]) == pair["alike"]
    assert len(by_verdict["same decision, different scores"]) == pair["apart"]


def test_a_judge_against_people(run, write):
    rows = [("yes", "yes", "no", "yes"), ("no", "no", "no", "yes"), ("no", "yes", "no", "no"), ("yes",) * 4] * 12
    data = write("answers.csv", "\n".join(["ann,bob,cy,llm", *map(",".join, rows)]) + "\n")
    done = run("agree", data, "--rater", "ann,bob,cy,llm", "--compare", "llm", "--epsilon", "0.2", "--margin", "0.2")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    said = " ".join(done.out.split())
    assert "they agree with each other, within 0.2: Cohen's kappa" in said
    assert "Alternative annotator test (epsilon 0.2): llm" in said
    assert "SS160" in said
    assert run("agree", data, "--rater", "ann,bob,cy,llm", "--compare", "llm", "--out", "judge.svg").code == 0
    alone = run("agree", data, "--rater", "ann,bob,cy,llm", "--margin", "0.2")
    assert (alone.code, "margin is for a judge" in alone.err) == (2, True)
