"""`scorespace ranks` in every format, wide and long, with the numbers of R."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats


@pytest.fixture
def theirs(oracles):
    return json.loads((oracles / "r_friedman_nemenyi.json").read_text())


@pytest.fixture
def demsar(write, theirs):
    """Demšar's example: 14 data sets, 4 models."""
    rows = [[f"set {number}", *map(str, row)] for number, row in enumerate(theirs["data"], start=1)]
    return write("demsar.csv", "\n".join(map(",".join, [["data", *theirs["names"]], *rows, [""]])))


@pytest.fixture
def long(write, theirs):
    lines = ["set,learner,area"]
    for number, row in enumerate(theirs["data"]):
        lines += [f"{number},{name},{value}" for name, value in zip(theirs["names"], row, strict=True)]
    return [write("long.csv", "\n".join([*lines, ""])), "--dataset", "set", "--model", "learner", "--value", "area"]


@pytest.fixture
def pair(write, oracles):
    """The two columns that R's wilcox.test was given, for the data of that name."""

    def named(name):
        found = json.loads((oracles / "r_wilcoxon.json").read_text())["signed_rank"][name]
        lines = [f"{x},{y}" for x, y in zip(found["x"], found["y"], strict=True)]
        return write("pair.csv", "\n".join(["x,y", *lines, ""])), found

    return named


# --- numbers


def test_json_has_the_numbers_of_r(run, demsar, theirs):
    done = run("ranks", demsar, "--measure", "auc", "--format", "json")
    assert (done.code, done.err) == (0, "")
    content = done.json()
    assert (content["schema"], content["measure"], content["best"]) == (1, "auc", "high")
    assert content["data"] == {"datasets": 14, "models": theirs["names"]}
    assert list(content["average_ranks"].values()) == pytest.approx(theirs["avg_ranks"], abs=1e-12)
    chi2, plain, f, _ = content["friedman"]
    assert chi2["statistic"] == pytest.approx(theirs["friedman_test_chi2_tie_corrected"], abs=1e-9)
    assert plain["statistic"] == pytest.approx(theirs["chi2_no_tie_correction"], abs=1e-9)
    assert (f["statistic"], f["p"]) == pytest.approx(
        (theirs["iman_davenport_tie"], theirs["iman_davenport_p_tie"]), abs=1e-9
    )
    # scmamp takes finite degrees of freedom and gets 1.2951.
    assert content["critical_difference"] == pytest.approx(theirs["nemenyi"]["CD_05"], abs=1e-8)
    matrix = theirs["nemenyi"]["p_matrix"]
    expected = [matrix[i][j] for i in range(4) for j in range(i + 1, 4)]
    assert [row["p"] for row in content["rows"]] == pytest.approx(expected, abs=1e-9)
    assert [note["code"] for note in content["notes"]] == ["SS018"]


def test_long_and_wide_are_the_same(run, demsar, long):
    wide, other = (run("ranks", *given, "--measure", "auc", "--format", "json").out for given in ([demsar], long))
    assert wide == other


def test_a_control_has_the_numbers_of_r(run, demsar, theirs):
    content = run("ranks", demsar, "--measure", "auc", "--control", "C4.5", "--format", "json").json()
    expected = theirs["vs_control_first"]
    assert [row["a"] for row in content["rows"]] == expected["names"]
    for ours, column in (("statistic", "z"), ("p", "p"), ("p_adjusted", "holm"), ("hochberg", "hochberg")):
        assert [row[ours] for row in content["rows"]] == pytest.approx(expected[column], abs=1e-9)


@pytest.mark.parametrize("name", ["demsar_c45_vs_c45m", "paired_random", "tied"])
def test_two_models_have_the_p_of_r(run, pair, name):
    data, expected = pair(name)
    (row,) = run("ranks", data, "--higher-is-better", "--format", "json").json()["rows"]
    assert row["statistic"] == expected["V"]
    assert row["test"].startswith("Wilcoxon signed rank, exact")
    if expected["p_exact"] is not None:
        assert row["p"] == pytest.approx(expected["p_exact"], abs=1e-9)
        return
    # R has no exact p where there are ties or zeros: signs drawn at random give it
    with_ties = ("ranks", data, "--higher-is-better", "--format", "json", "--test", "wilcoxon(method=normal)")
    (other,) = run(*with_ties).json()["rows"]
    assert other["p"] == pytest.approx(expected["p_normal"], abs=1e-9)
    assert other["test"].startswith("Wilcoxon signed rank, normal")
    gaps = np.round(np.subtract(expected["x"], expected["y"]), 9)
    ranks = stats.rankdata(np.abs(gaps[gaps != 0]))
    signs = np.random.default_rng(0).integers(0, 2, (400_000, ranks.size))
    middle = ranks.sum() / 2
    share = np.mean(np.abs(signs @ ranks - middle) >= abs(row["statistic"] - middle) - 1e-9)
    assert row["p"] == pytest.approx(share, abs=4 * np.sqrt(share / 400_000))


def test_zeros_as_demsar_splits_them(run, pair):
    # Demšar (2006): T = 12 of 14 · 15 / 2.
    data, _ = pair("demsar_c45_vs_c45m")
    asked = ("--higher-is-better", "--test", "wilcoxon(zeros=split)", "--format", "json")
    (row,) = run("ranks", data, *asked).json()["rows"]
    assert min(row["statistic"], 105 - row["statistic"]) == 12


def test_the_sign_test_is_binomial(run, pair):
    data, _ = pair("demsar_c45_vs_c45m")
    (row,) = run("ranks", data, "--higher-is-better", "--test", "sign", "--format", "json").json()["rows"]
    assert row["p"] == pytest.approx(2 * 79 / 2**12, abs=1e-12)


def test_the_posterior_has_three_parts(run, pair):
    data, _ = pair("demsar_c45_vs_c45m")
    arguments = ["ranks", data, "--higher-is-better", "--test", "bayes_signed_rank(rope=0.005)"]
    content = run(*arguments, "--format", "json").json()
    (row,) = content["rows"]
    assert row["left"] + row["rope"] + row["right"] == pytest.approx(1)
    assert row["width"] == 0.005
    assert "x is higher than y by more than 0.005 with probability" in content["verdict"]
    assert "P within ±0.005" in run(*arguments).out


def test_the_direction_of_the_measure_is_respected(run, demsar):
    best = run("ranks", demsar, "--measure", "auc", "--format", "json").json()["average_ranks"]
    worst = run("ranks", demsar, "--measure", "err", "--format", "json").json()["average_ranks"]
    stated = run("ranks", demsar, "--lower-is-better", "--format", "json").json()["average_ranks"]
    assert worst == stated == pytest.approx({model: 5 - rank for model, rank in best.items()})


# --- words and pictures


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("more", [[], ["--control", "C4.5"], ["--test", "wilcoxon"], ["--test", "bayes-signed-rank"]])
def test_the_table_fits(run, demsar, more, columns):
    done = run("ranks", demsar, "--measure", "auc", *more, columns=columns)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= columns
    assert "14 data sets   4 models   auc, higher is better" in done.out
    assert "nan" not in done.out


def test_the_table_ends_with_the_answer(run, demsar):
    said = " ".join(run("ranks", demsar, "--measure", "auc").out.split())
    assert ": C4.5+m+cf, C4.5+m, C4.5+cf, C4.5." in said
    assert "from it (Nemenyi, critical difference 1.25)." in said


def test_markdown_and_csv(run, demsar):
    markdown = run("ranks", demsar, "--measure", "auc", "--format", "markdown").out
    assert markdown.startswith("# demsar.csv\n")
    assert "| average rank |" in markdown
    rows = list(csv.DictReader(io.StringIO(run("ranks", demsar, "--measure", "auc", "--format", "csv").out)))
    assert len(rows) == 6
    assert rows[0]["test"] == "Nemenyi"


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
@pytest.mark.parametrize("more", [[], ["--control", "C4.5"]])
def test_the_picture(run, demsar, tmp_path, ending, more):
    done = run("ranks", demsar, "--measure", "auc", "--out", f"ranks.{ending}", *more)
    assert (done.code, done.err) == (0, f"ranks  ranks.{ending}\n")
    content = (tmp_path / f"ranks.{ending}").read_bytes()
    assert len(content) > 1000
    if ending == "svg":
        assert ("critical difference 1.25" in content.decode()) == (not more)


def test_data_sets_without_a_value_can_be_left_out(run, write):
    data = write("gaps.csv", "data,a,b\nd1,1,2\nd2,,3\nd3,4,1\nd4,2,7\n")
    content = run("ranks", data, "--higher-is-better", "--missing", "drop", "--format", "json").json()
    assert content["data"]["datasets"] == 3
    assert [note["code"] for note in content["notes"]] == ["SS009"]


# --- errors


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            "data,a,b\nd1,1,2\nd2,,3\n",
            ["--higher-is-better"],
            "DataError: 1 of the 4 values is missing or infinite.\n  seen: no value for a on the data set 'd2'\n"
            "  hint: --missing drop drops such data sets for all models\n",
        ),
        (
            "data,a\nd1,1\nd2,3\n",
            ["--higher-is-better"],
            "DataError: a comparison over data sets needs at least one data set and two models.\n"
            "  seen: an array of 2 × 1\n  hint: rows are data sets, columns are models\n",
        ),
        (
            "data,a,b\nd1,1,2\n",
            ["--higher-is-better"],
            (
                "DataError: a comparison over data sets needs at least two of them.\n  seen: 1 data set\n"
                "  hint: a row for each data set\n"
            ),
        ),
        (
            "data,a,b\nd1,1,2\nd2,2,many\n",
            ["--higher-is-better"],
            "ColumnError: column 'b' holds text, not numeric results.\n  seen: '2', 'many'\n"
            "  hint: one numeric column per model; leave missing values empty\n",
        ),
        (
            "data,nb,tree\nd1,1,2\nd2,2,3\n",
            ["--higher-is-better", "--control", "tre"],
            "ScoreSpaceError: 'tre' is not a model of this table.\n  seen: 'nb', 'tree'\n  hint: tree\n",
        ),
        (
            "data,a,b\nd1,1,2\nd2,2,3\n",
            [],
            "MeasureError: the better direction of the values is unknown.\n"
            "  hint: --measure auc, --higher-is-better or --lower-is-better\n",
        ),
        (
            "data,a,b\nd1,1,2\nd2,2,3\n",
            ["--measure", "acu"],
            "MeasureError: there is no measure 'acu'.\n  hint: did you mean auc?\n",
        ),
        (
            "data,a,b\nd1,.1,.2\nd2,.2,.3\n",
            ["--measure", "auc", "--test", "wilcoxon", "--out", "ranks.png"],
            "DataError: the chart needs ranks of all models, not pairwise tests.\n  hint: --test friedman\n",
        ),
        (
            "data,a,b\nd1,1,2\nd2,2,3\n",
            ["--lower-is-better", "--higher-is-better"],
            "DataError: --lower-is-better and --higher-is-better exclude each other.\n"
            "  hint: pass one, or --measure auc\n",
        ),
        (
            "data,a,b\nd1,1,2\nd2,2,3\n",
            ["--measure", "auc", "--value", "b"],
            "ColumnError: a long table needs the columns of data sets, models and values.\n  seen: 'data', 'a', 'b'\n"
            "  hint: --dataset data, --model a and --value b\n",
        ),
    ],
    ids=["missing", "one model", "one data set", "text", "control", "direction", "measure", "pairs", "both", "long"],
)
def test_errors(run, write, text, arguments, message):
    done = run("ranks", write("results.csv", text), *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err == message


def test_a_picture_of_no_kind_or_place_is_refused_before_the_work(run, demsar):
    done = run("ranks", demsar, "--measure", "auc", "--out", "nowhere/ranks.png")
    assert (done.code, done.out) == (2, "")
    assert "the folder 'nowhere' for " in done.err


def test_a_numeric_first_column_is_asked_about(run, write):
    write("sized.csv", "size,nb,tree\n100,0.9,0.8\n200,0.8,0.7\n300,0.7,0.75\n400,0.85,0.8\n")
    done = run("ranks", "sized.csv", "--measure", "auc")
    assert (done.code, done.err) == (
        2,
        "ColumnError: the first column 'size' holds distinct integers and may be an index rather than a model.\n"
        "  seen: 'size', 'nb', 'tree'\n"
        "  hint: --dataset size if it identifies the data sets, otherwise put another column first\n",
    )
    assert run("ranks", "sized.csv", "--measure", "auc", "--dataset", "size").code == 0
    write("errors.csv", "nb,tree,svm\n1,2,3\n4,3,5\n6,5,7\n")  # all whole: errors of models
    assert run("ranks", "errors.csv", "--lower-is-better").code == 0


def test_the_page(run, write, tmp_path):
    write("results.csv", "data,nb,tree,svm\na,0.9,0.8,0.7\nb,0.8,0.7,0.75\nc,0.7,0.75,0.6\n")
    done = run("ranks", "results.csv", "--measure", "auc", "--report", "ranks.html")
    assert (done.code, done.err) == (0, "report  ranks.html\n")
    page = (tmp_path / "ranks.html").read_text()
    assert "Friedman" in page
    assert "critical difference" in page
