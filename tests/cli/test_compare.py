"""`scorespace compare` in every format, for scores, decisions and both."""

import csv
import io
import json

import pytest

KEYS = ["a", "b", "test", "measure", "difference", "low", "high", "statistic", "df", "p", "reason"]
MODELS = ["--score", "naive_bayes", "--score", "tree"]
ALL = [*MODELS, "--score", "logistic"]

DECISIONS = "y,d,e,s,branch\n" + "".join(
    f"{k % 2},{k % 2 if k % 7 else 1 - k % 2},{k % 2 if k % 3 else 1 - k % 2},{(k * 37 % 60) / 60},{k // 4}\n"
    for k in range(60)
)


@pytest.fixture
def theirs(oracles):
    return json.loads((oracles / "proc_asah.json").read_text())["paired_tests"][0]


@pytest.fixture
def decided(write):
    return [write("decided.csv", DECISIONS), "--truth", "y"]


def test_json_has_the_documented_keys_and_the_numbers_of_proc(run, asah, theirs):
    done = run("compare", *asah, "--format", "json")
    assert (done.code, done.err) == (0, "")
    content = done.json()
    (row,) = content["rows"]
    assert content["schema"] == 1
    assert set(KEYS) <= set(row)
    assert (row["a"], row["b"], row["test"], row["measure"]) == ("s100b", "ndka", "delong", "auc")
    assert row["statistic"] == pytest.approx(theirs["delong_Z"], abs=1e-9)
    assert row["p"] == pytest.approx(theirs["delong_p"], abs=1e-9)
    assert [row["low"], row["high"]] == pytest.approx(theirs["delong_ci_diff"], abs=1e-9)
    assert (row["df"], row["reason"]) == (None, None)
    assert content["verdict"].startswith("s100b and ndka: auc differs by +0.119")


def test_csv_has_a_row_per_test(run, credit):
    done = run("compare", *credit, *ALL, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["test"] for row in rows] == ["delong, all equal", "delong", "delong", "delong"]
    assert set(KEYS) <= set(rows[0])
    assert (rows[0]["difference"], rows[0]["p_adjusted"]) == ("", "")
    assert float(rows[1]["p_adjusted"]) >= float(rows[1]["p"])


@pytest.mark.parametrize("arguments", [ALL, [*ALL, "--at", "0.5"], [*MODELS, "--test", "permutation"]])
def test_the_table_fits_80_columns(run, credit, arguments):
    done = run("compare", *credit, *arguments)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "row − column" in done.out
    assert "nan" not in done.out.lower().replace("naive", "")


def test_the_table_ends_with_the_answer_and_the_notes(run, credit):
    said = " ".join(run("compare", *credit, *ALL).out.split())
    assert "All together, naive_bayes, tree, logistic differ by more than chance explains in auc (p < 0.001)." in said
    assert "naive_bayes and logistic: auc differs by −0.008 [−0.025, +0.009], not distinguishable from chance" in said
    assert said.endswith("notes SS015 p-values of the 3 pairs are adjusted by Holm's method.")


def test_markdown(run, credit):
    done = run("compare", *credit, *MODELS, "--at", "0.5", "--format", "markdown")
    lines = done.out.splitlines()
    assert lines[0] == "# credit.csv"
    assert "## Comparison" in lines
    assert any(line.startswith("| naive\\_bayes right | 588") for line in lines)
    assert lines[-1].startswith("**naive\\_bayes and tree: acc differs by +0.064")


def test_at_compares_decisions(run, credit):
    (row,) = run("compare", *credit, *MODELS, "--at", "0.5", "--format", "json").json()["rows"]
    assert (row["test"], row["measure"], row["df"]) == ("mcnemar, corrected", "acc", 1)
    assert row["table"] == [[588, 165], [101, 146]]
    (other,) = run("compare", *credit, *MODELS, "--at", "0.2", "--format", "json").json()["rows"]
    assert other["table"] != row["table"]


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("delong", "delong"),
        ("bootstrap", "bootstrap"),
        ("permutation", "permutation"),
        ("mcnemar-exact", "mcnemar, exact"),
        ("mcnemar-midp", "mcnemar, midp"),
    ],
)
def test_a_test_by_name(run, asah, test, named):
    (row,) = run("compare", *asah, "--test", test, "--format", "json").json()["rows"]
    assert row["test"] == named
    assert 0 < row["p"] <= 1


def test_a_measure_by_name(run, asah):
    (row,) = run("compare", *asah, "--measure", "pauc(fpr_high=0.2)", "--format", "json").json()["rows"]
    assert (row["test"], row["measure"]) == ("bootstrap", "pauc(fpr_high=0.2)")
    assert row["difference"] == pytest.approx(0.08058943089430891 - 0.03848238482384823, abs=1e-9)  # pROC


def test_the_seed_decides_the_bootstrap(run, asah):
    first, again, other = (
        run("compare", *asah, "--test", "bootstrap", "--seed", seed, "--format", "json").out for seed in "112"
    )
    assert first == again
    assert first != other


def test_level(run, asah):
    (row,) = run("compare", *asah, "--level", "0.8", "--format", "json").json()["rows"]
    assert row["level"] == 0.8
    assert row["low"] > 0  # at 95 % zero is inside


def test_groups(run, decided):
    done = run(
        "compare",
        *decided,
        "--score",
        "s",
        "--decision",
        "d",
        "--group",
        "branch",
        "--measure",
        "auc",
        "--format",
        "json",
    )
    content = done.json()
    assert [row["test"] for row in content["rows"]] == ["bootstrap of groups"]
    assert [note["code"] for note in content["notes"]] == ["SS016"]


def test_decisions_alone(run, decided):
    (row,) = run("compare", *decided, "--decision", "d", "--decision", "e", "--format", "json").json()["rows"]
    # d is wrong on every seventh case (9), e on every third (20), both on every twenty-first (3).
    assert row["table"] == [[34, 17], [6, 3]]
    assert row["test"] == "mcnemar, midp"


def test_scores_beside_decisions(run, decided):
    (row,) = run("compare", *decided, "--decision", "d", "--score", "s", "--at", "0.9", "--format", "json").json()[
        "rows"
    ]
    assert (row["measure"], {row["a"], row["b"]}) == ("acc", {"d", "s"})


def test_few_discordant_cases_are_noted(run, write):
    data = write("few.csv", "y,d,e\n" + "1,1,1\n0,0,0\n" * 10 + "1,1,0\n")
    done = run("compare", data, "--truth", "y", "--decision", "d", "--decision", "e", "--format", "json")
    assert [note["code"] for note in done.json()["notes"]] == ["SS014"]


def test_names(run, asah):
    done = run("compare", *asah, "--name", "s100b=S", "--format", "json")
    assert done.json()["rows"][0]["a"] == "S"


def test_identical_models(run, write):
    data = write("same.csv", "y,a,b\n1,3,30\n0,1,10\n1,2,20\n0,2,20\n")
    (row,) = run("compare", data, "--truth", "y", "--score", "a", "--score", "b", "--format", "json").json()["rows"]
    assert (row["difference"], row["p"], row["reason"]) == (0, 1, "the models order positives and negatives alike")


# --- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--test", "delon"],
            "ScoreSpaceError: there is no test 'delon'.\n"
            "  seen: 'delong', 'bootstrap', 'permutation', 'mcnemar', 'mcnemar-corrected', 'mcnemar-uncorrected', "
            "'mcnemar-exact', 'mcnemar-midp', 'corrected-t', 'paired-t'\n"
            "  hint: did you mean delong?\n",
        ),
        (
            ["--test", "delong", "--measure", "ks"],
            "MeasureError: DeLong's test is for auc, not for ks.\n  hint: test bootstrap, which is for any measure\n",
        ),
        (
            ["--measure", "f1"],
            "MeasureError: f1 of a score needs a threshold.\n  hint: f1@0.5\n",
        ),
        (
            ["--measure", "acu"],
            "MeasureError: there is no measure 'acu'.\n  hint: did you mean auc?\n",
        ),
    ],
)
def test_errors(run, asah, arguments, message):
    done = run("compare", *asah, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err == message


def test_one_model_is_not_enough(run, credit):
    done = run("compare", *credit, "--score", "tree")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ScoreSpaceError: a comparison needs two models.\n  seen: 'tree'\n")


def test_weights_are_refused(run, credit):
    done = run("compare", *credit, *MODELS, "--weight", "fold")
    assert (done.code, done.out) == (2, "")
    assert "--weight" in done.err


def test_several_classes_are_refused(run, write):
    data = write("three.csv", "y,d,e\na,a,b\nb,b,b\nc,c,a\n")
    done = run("compare", data, "--truth", "y", "--decision", "d", "--decision", "e")
    assert done.code == 2
    assert done.err.startswith("ScoreSpaceError: these models cannot be compared case by case.\n")
