"""`scorespace cases` and `scorespace curve --kind smooth`."""

import csv
import json

import pytest

SIX = "movie,seen,s\na,1,0.95\nb,1,0.7\nc,0,0.6\nd,1,0.51\ne,0,0.2\nf,0,0.01\n"


@pytest.fixture
def six(write):
    return [write("six.csv", SIX), "--truth", "seen", "--score", "s"]


def test_counts_words_and_lists(run, six):
    found = run("cases", *six, "--id", "movie")
    assert found.code == 0
    assert "six.csv   6 cases   positive = 1 (3, 50.0 %)   model = s" in found.out
    assert "4 of 6 cases are easy." in found.out
    (hard,) = [line for line in found.out.splitlines() if line.startswith("c ")]
    assert hard.split() == ["c", "0.6000", "3", "0", "0.667"]
    assert "The largest gap between adjacent scores is 0.31" in found.out


def test_it_fits_80_columns(run, credit):
    found = run("cases", *credit, "--score", "naive_bayes")
    assert max(map(len, found.out.splitlines())) <= 80
    assert "the 10 most extreme of" in found.out


def test_one_zone(run, six):
    rows = run("cases", *six, "--id", "movie", "--zone", "hard", "--format", "json").json()["rows"]
    assert [row["id"] for row in rows] == ["c"]
    assert rows[0]["zone"] == "hard"
    shown = run("cases", *six, "--zone", "easy", "--most", "1").out
    assert "the 1 most extreme of 4" in shown


def test_the_four_sets_against_decisions(run, six):
    found = run("cases", *six, "--id", "movie", "--set", "all", "--at", "0.65")
    assert found.out == (
        "\nsix.csv   6 cases   positive = 1 (3, 50.0 %)   model = s\n\n"
        "scores          predicted 1   predicted 0   all\n"
        "high and 1      2             1             3  \n"
        "low and 0       0             2             2  \n"
        "appropriate     2             3             5  \n"
        "low and 1       0             0             0  \n"
        "high and 0      0             1             1  \n"
        "inappropriate   0             1             1  \n\n"
        "high and positive   score    rank   label   slope\n"
        "a                   0.9500   1      1       19   \n"
        "b                   0.7000   2      1       2.33 \n"
        "d                   0.5100   4      1       1.04 \n\n"
        "low and negative   score    rank   label   slope \n"
        "f                  0.0100   6      0       0.0101\n"
        "e                  0.2000   5      0       0.25  \n\n"
        "high and negative   score    rank   label   slope\n"
        "c                   0.6000   3      0       0.667\n\n"
        "5 of 6 scores are appropriate, on the side of the midpoint 0.495 that matches\n"
        "their class. At threshold 0.65, 4 of them and 1 of the 1 inappropriate ones are\n"
        "classified correctly.\n\n"
        "notes SS010 positive = 1, inferred from the labels 0 and 1.\n"
        "      SS066 the midpoint 0.495 is outside the scores 0.510 to 0.600 where the\n"
        "            classes overlap: all cases there count as high. A midpoint of 0.555\n"
        "            would separate them.\n"
    )
    content = run("cases", *six, "--id", "movie", "--set", "high-negative", "--format", "json").json()
    assert [row["id"] for row in content["rows"]] == ["c"]
    assert content["decisions"]["sets"]["high and negative"] == {"positive": 1, "negative": 0}
    assert run("cases", *six, "--set", "all", "--zone", "hard").err.startswith(
        "ScoreError: --zone, --set and --sample are alternatives.\n"
    )


def test_a_sub_sample_that_keeps_the_shape(run, credit, tmp_path):
    asked = [*credit, "--score", "naive_bayes", "--sample", "100"]
    content = run("cases", *asked, "--format", "json").json()
    assert (len(content["rows"]), content["sample"]["cases"]) == (100, 100)
    assert sum(row["label"] == "bad" for row in content["rows"]) == 30
    assert content["sample"]["area"] < content["sample"]["by_chance"] / 3
    assert "100 of 1 000 cases preserve the shape of the curve: smAUC 0.752 for 0.751" in run("cases", *asked).out
    assert run("cases", *asked, "--out", "part.csv").code == 0
    assert len((tmp_path / "part.csv").read_text().splitlines()) == 101


def test_rows_are_numbered_without_ids(run, six):
    content = run("cases", *six, "--format", "json").json()
    assert [row["id"] for row in content["rows"]] == [1, 2, 3, 4, 5, 6]
    assert content["counts"] == {"easy": 4, "rescued": 1, "hard": 1, "error": 0}
    assert content["midpoint"] == pytest.approx(0.495)


def test_midpoint_by_rule_number_and_validation_sample(run, six, write):
    def middle(*options):
        return run("cases", *six, *options, "--format", "json").json()["midpoint"]

    assert middle("--midpoint", "median") == pytest.approx(0.555)
    assert middle("--midpoint", "0.4") == 0.4
    # + + − −: Youden's index is highest between .8 and .2.
    other = write("other.csv", "seen,s\n1,0.9\n1,0.8\n0,0.2\n0,0.1\n")
    assert middle("--learn-midpoint", other) == pytest.approx(0.5)
    assert run("cases", *six, "--midpoint", "medain").code == 2
    assert run("cases", *six, "--midpoint", "0.4", "--learn-midpoint", other).err == (
        "DataError: --midpoint and --learn-midpoint are alternatives.\n  hint: pass one of them\n"
    )


def test_files(run, six, tmp_path):
    for name in ("out.csv", "out.json", "out.png", "out.svg", "out.html"):
        found = run("cases", *six, "--id", "movie", "--out", name)
        assert (found.code, found.out, found.err) == (0, "", f"cases  {name}\n")
        assert (tmp_path / name).stat().st_size > 100
    with (tmp_path / "out.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == list("abcdef")


def test_wrong_input(run, six, write):
    assert "no known file extension" in run("cases", *six, "--out", "out.xls").err
    assert "the folder 'nowhere' for out.csv does not exist" in run("cases", *six, "--out", "nowhere/out.csv").err
    assert "did you mean 'movie'" in run("cases", *six, "--id", "movi").err
    wild = write("wild.csv", "y,s\n1,3\n0,-2\n")
    found = run("cases", wild, "--truth", "y", "--score", "s")
    assert found.code == 2
    assert "minmax, logistic" in found.err


def test_dropped_rows_are_noted(run, write):
    name = write("gaps.csv", "y,s\n1,0.9\n0,\n0,0.2\n")
    notes = run("cases", name, "--truth", "y", "--score", "s", "--missing", "drop", "--format", "json").json()["notes"]
    assert [one["code"] for one in notes][:1] == ["SS009"]
    assert "SS009" in run("cases", name, "--truth", "y", "--score", "s", "--missing", "drop").out


# --- the curve


def test_smooth_curve_beside_auc(run, six):
    found = run("curve", *six, "--kind", "smooth")
    assert "area  s 0.8403" in found.out  # ELKI
    assert "auc   s 0.8889" in found.out


def test_smooth_curve_as_data(run, six, tmp_path):
    assert run("curve", *six, "--kind", "smooth(normalised=false)", "--out", "curve.json").code == 0
    content = json.loads((tmp_path / "curve.json").read_text())
    assert content["rows"][-1]["x"] == pytest.approx(3.23)
    assert content["areas"] == {}  # of counts it would be an area in cases
    assert content["smooth"]["s"]["tau_v"] == pytest.approx(2.77)
    assert content["smooth"]["s"]["auc"] == pytest.approx(8 / 9)
    assert run("curve", *six, "--kind", "smooth", "--out", "curve.csv").code == 0
    assert (tmp_path / "curve.csv").read_text().startswith("x,y,threshold,model\n")


@pytest.mark.parametrize("options", ["", "(recentre=true)", "(midpoint=median)", "(midpoint=0.4, normalised=false)"])
def test_smooth_curve_as_picture(run, six, tmp_path, options):
    assert run("curve", *six, "--kind", f"smooth{options}", "--out", "curve.svg").code == 0
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_learned_midpoint_of_a_curve(run, six, write):
    other = write("other.csv", "seen,s\n1,0.9\n1,0.8\n0,0.2\n0,0.1\n")
    content = run("curve", *six, "--kind", "smooth", "--learn-midpoint", other, "--format", "json").json()
    assert content["smooth"]["s"]["midpoint"] == pytest.approx(0.5)


def test_notes_of_a_curve(run, write):
    name = write("few.csv", "y,s\n1,0.9\n0,0.1\n0,0.2\n0,0.3\n")
    found = run("curve", name, "--truth", "y", "--score", "s", "--kind", "smooth")
    assert "note  SS027" in found.out
    assert "note  SS028" in found.out


def test_a_midpoint_is_stated_or_learned(run, six):
    found = run("curve", *six, "--kind", "smooth(midpoint=median)", "--learn-midpoint", "six.csv")
    assert (
        found.err
        == "CurveError: the option 'midpoint' of 'smooth(midpoint=median)' is stated twice.\n  hint: each option once\n"
    )


def test_a_threshold_that_is_no_number_is_refused(run, six):
    done = run("cases", *six, "--set", "all", "--at", "nan")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ScoreError: --at nan is not a threshold.")


def test_the_outcome_of_each_case_at_a_threshold(run, write, tmp_path):
    data = write("few.csv", "y,s\n1,0.9\n1,0.41\n0,0.42\n0,0.1\n")
    run("cases", data, "--truth", "y", "--score", "s", "--at", "0.42", "--out", "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert [row["outcome"] for row in rows] == ["TP", "FN", "FP", "TN"]
