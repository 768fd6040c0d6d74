"""`scorespace compare` in every format, for scores, decisions and both."""

import csv
import io
import json
import re

import numpy as np
import pytest
from scipy import stats

import scorespace as ss

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
    assert "difference" in done.out
    assert "nan" not in done.out.lower().replace("naive", "")


def test_the_table_ends_with_the_answer_and_the_notes(run, credit):
    said = " ".join(run("compare", *credit, *ALL, "--notes", "--all").out.split())
    assert re.search(r"naive_bayes, tree, logistic [^.]* auc [^.]*\(p < 0.001\)\.", said)
    assert "naive_bayes and logistic: auc differs by −0.008 [−0.025, 0.009], not statistically significant" in said
    single = "intervals are those of single differences"
    assert said.endswith(f"notes SS015 p-values of the 3 pairs are adjusted by Holm's method; {single}.")


def test_markdown(run, credit):
    done = run("compare", *credit, *MODELS, "--at", "0.5", "--all", "--notes", "--format", "markdown")
    lines = done.out.splitlines()
    assert lines[0] == "# credit.csv"
    assert "## Comparison" in lines
    assert any(line.startswith("| naive\\_bayes correct | 588") for line in lines)
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
        ("bootstrap(replicates=200)", "bootstrap"),
        ("mcnemar-exact", "mcnemar, exact"),
        ("mcnemar(method=midp)", "mcnemar, midp"),
    ],
)
def test_a_test_by_name(run, asah, test, named):
    cut = ["--at", "0.3"] if "mcnemar" in test else []
    (row,) = run("compare", *asah, "--test", test, *cut, "--format", "json").json()["rows"]
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
    assert [row["test"] for row in content["rows"]] == ["permutation"]
    assert [note["code"] for note in content["notes"]] == ["SS001", "SS016"]
    assert content["notes"][1]["text"].endswith("whole groups are swapped.")


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
    assert (row["difference"], row["p"], row["test"]) == (0, 1, "permutation, exact")
    assert row["reason"] == "2 cases of the rarest class are too few for DeLong's test, whose p would be too small"


# --- two samples


@pytest.fixture
def halves(write, oracles):
    """The aSAH data with one predictor each, so that pROC's unpaired test of both is ours of two samples."""
    with (oracles / "asah.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("s100b", "ndka"):
        lines = [f"{row['outcome']},{row[name]}" for row in rows]
        write(f"{name}.csv", "\n".join(["outcome,marker", *lines, ""]))
    return ["s100b.csv", "--with", "ndka.csv", "--truth", "outcome", "--positive", "Poor", "--score", "marker"]


def test_two_samples_have_the_numbers_of_proc(run, halves, theirs):
    done = run("compare", *halves, "--format", "json")
    content = done.json()
    (row,) = content["rows"]
    assert (row["test"], row["measure"]) == ("delong, unpaired", "auc")
    assert row["statistic"] == pytest.approx(theirs["unpaired_delong_D"], abs=1e-9)
    assert row["df"] == pytest.approx(theirs["unpaired_df"], abs=1e-9)
    assert row["p"] == pytest.approx(theirs["unpaired_p"], abs=1e-9)
    assert (row["a"], row["b"]) == ("marker in s100b.csv", "marker in ndka.csv")
    assert "two independent samples" in content["verdict"]
    assert content["notes"] == []


def test_two_samples_on_screen(run, halves):
    done = run("compare", *halves)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    said = " ".join(done.out.split())
    assert "with ndka.csv 113 cases positive = Poor (41" in said
    assert "auc s100b.csv ndka.csv difference p test marker 0.731 0.612 +0.119 [" in said


def test_any_measure_of_two_samples(run, halves):
    (row,) = run("compare", *halves, "--measure", "pauc(fpr_high=0.2)", "--format", "json").json()["rows"]
    assert (row["test"], row["measure"]) == ("bootstrap, unpaired", "pauc(fpr_high=0.2)")
    assert row["difference"] == pytest.approx(0.08058943089430891 - 0.03848238482384823, abs=1e-9)  # pROC


def test_the_same_file_twice_is_noted(run, credit):
    data, *roles = credit
    content = run("compare", data, "--with", data, *roles, *MODELS, "--format", "json").json()
    assert [note["code"] for note in content["notes"]] == ["SS032", "SS015"]
    assert [row["difference"] for row in content["rows"]] == [0, 0]


@pytest.mark.parametrize("test", ["mcnemar", "permutation", "corrected_t"])
def test_a_paired_test_of_two_samples_is_refused(run, halves, test):
    done = run("compare", *halves, "--test", test)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"ScoreSpaceError: {test} cannot compare two independent samples.\n"
        "  seen: 'delong', 'case_costs', 'bootstrap', 'interval' can\n  hint: --test interval\n"
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--at", "0.5"],
            "--at compares predicted classes case by case, which --with does not.\n  hint: --measure acc@0.5",
        ),
        (["--fold", "outcome"], "--fold applies to models compared with each other.\n  hint: leave out --with"),
        (["--against", "0.5"], "--with and --against are different comparisons."),
    ],
)
def test_what_two_samples_have_no_use_for(run, halves, more, message):
    done = run("compare", *halves, *more)
    assert done.code == 2
    assert message in done.err


# --- against a value


def test_every_area_against_a_value(run, asah, proc):
    content = run("compare", *asah, "--against", "0.5", "--format", "json").json()
    for row in content["rows"]:
        z = (proc[row["a"]]["auc"] - 0.5) / proc[row["a"]]["delong_var"] ** 0.5
        assert row["statistic"] == pytest.approx(z, rel=1e-9)
    assert [note["code"] for note in content["notes"]] == ["SS015"]
    assert content["verdict"].startswith("s100b: auc is 0.731, +0.231 [")


def test_one_model_is_enough_against_a_value(run, credit):
    done = run("compare", *credit, "--score", "tree", "--against", "0.9", "--measure", "acc@0.5")
    assert (done.code, done.err) == (0, "")
    assert "tree: acc@0.5 is 0.689, −0.211 [" in " ".join(done.out.split())


def test_a_value_that_is_none_of_the_measure(run, asah):
    done = run("compare", *asah, "--against", "50")
    assert done.err == "ScoreSpaceError: against=50 is not a possible value of auc.\n  hint: from 0 to 1\n"


# --- folds and repeats


@pytest.fixture
def five_by_two(write, oracles):
    """Five repeats of two folds whose differences of accuracy are those that R was given."""
    theirs = json.loads((oracles / "r_ttests.json").read_text())["five_by_two"]
    lines = ["repeat,fold,y,a,b"]
    for repeat, row in enumerate(theirs["diffs"]):
        for fold, difference in enumerate(row):
            right = round(1000 * (0.8 + difference))
            lines += [f"{repeat},{fold},{k % 2},{(k + (k >= right)) % 2},{(k + (k >= 800)) % 2}" for k in range(1000)]
    data = write("repeated.csv", "\n".join([*lines, ""]))
    roles = ["--truth", "y", "--score", "a", "--score", "b", "--fold", "fold", "--repeat", "repeat"]
    return [data, *roles, "--measure", "acc@0.5"], theirs


@pytest.mark.parametrize(
    ("test", "statistic", "p", "df"),
    [("5x2cv-t", "t_dietterich", "p_t_df5", 5), ("5x2cv-f", "F_alpaydin", "p_F_10_5", [10, 5])],
)
def test_five_by_two(run, five_by_two, test, statistic, p, df):
    arguments, theirs = five_by_two
    (row,) = run("compare", *arguments, "--test", test, "--format", "json").json()["rows"]
    assert (row["statistic"], row["p"]) == pytest.approx((theirs[statistic], theirs[p]), abs=1e-9)
    assert row["df"] == df


def test_repeats_are_rows_and_not_cases(run, five_by_two):
    arguments, _ = five_by_two
    out = " ".join(run("compare", *arguments).out.split())
    assert "2 000 cases in 5 repeats" in out
    assert "corrected t" in out


def test_the_posterior_is_in_the_table_the_words_and_json(run, five_by_two):
    arguments, _ = five_by_two
    arguments = [*arguments, "--test", "bayes_t(rope=0.02)"]
    content = run("compare", *arguments, "--format", "json").json()
    (row,) = content["rows"]
    assert row["left"] + row["rope"] + row["right"] == pytest.approx(1)
    assert (row["width"], row["p"]) == (0.02, None)
    done = run("compare", *arguments, "--all")
    shown = [f"{row[name]:.3f}" for name in ("left", "rope", "right")]
    assert "P lower P within ±0.02 P higher" in " ".join(done.out.split())
    assert all(done.out.count(number) >= 2 for number in shown)  # in the table and in the sentence
    assert "practically equal with" in content["verdict"]


def test_repeats_must_be_stated(run, five_by_two):
    arguments, _ = five_by_two
    arguments = [word for word in arguments if word not in ("--repeat", "repeat")]
    done = run("compare", *arguments, "--test", "5x2cv-t")
    assert done.err == (
        "DataError: five_by_two_t needs five repeats of two folds.\n  seen: 1 repeat of 2 folds\n  hint: --repeat COL\n"
    )


def test_a_rope_needs_its_test(run, five_by_two):
    done = run("compare", *five_by_two[0], "--test", "corrected_t(rope=0.02)")
    assert done.err.startswith("ScoreSpaceError: corrected_t has no option 'rope'.")


def test_groups_in_several_folds_are_noted(run, decided):
    done = run(
        "compare", *decided, "--score", "s", "--score", "d", "--fold", "e", "--group", "branch", "--format", "json"
    )
    assert "SS032" in [note["code"] for note in done.json()["notes"]]


# --- samples without an answer


SAMPLES = {
    "one class": "y,a,b\n1,1,2\n1,2,3\n1,3,1\n",
    "constant scores": "y,a,b\n1,5,7\n1,5,7\n0,5,7\n0,5,7\n",
    "perfect separation": "y,a,b\n1,9,1\n1,8,1\n0,1,1\n0,2,1\n",
    "identical models": "y,a,b\n1,9,9\n1,2,2\n0,1,1\n0,5,5\n",
    "a single case": "y,a,b\n1,9,9\n",
}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    "how",
    [
        [],
        ["--test", "bootstrap"],
        ["--test", "permutation"],
        ["--at", "2"],
        ["--with", "data.csv"],
        ["--with", "data.csv", "--test", "bootstrap"],
        ["--against", "0.5"],
        ["--against", "0.5", "--test", "bootstrap"],
        ["--measure", "ppv@100"],
    ],
    ids=" ".join,
)
def test_every_sample_has_a_defined_answer(run, write, sample, how):
    data = write("data.csv", SAMPLES[sample])
    for form in ("table", "json"):
        done = run(
            "compare", data, "--truth", "y", "--positive", "1", "--score", "a", "--score", "b", *how, "--format", form
        )
        assert (done.code, done.err) == (0, "")
        assert "nan" not in done.out
    for row in done.json()["rows"]:
        assert row["reason"] or row["p"] is not None


def test_dropped_rows_are_noted(run, write):
    data = write("gaps.csv", "y,a,b\n1,3,30\n0,1,10\n1,2,20\n0,2,\n0,1,5\n")
    done = run("compare", data, "--truth", "y", "--score", "a", "--score", "b", "--missing", "drop", "--format", "json")
    assert [note["code"] for note in done.json()["notes"]] == ["SS009", "SS001"]


def test_stars_and_sentences_go_by_the_level(run, asah):
    assert "]*" not in run("compare", *asah).out  # p is 0.164
    bold = run("compare", *asah, "--level", "0.8", "--all").out
    assert "]*" in bold
    assert ", statistically significant (p = 0.164)" in " ".join(bold.split())


# --- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--test", "delon"],
            "ScoreSpaceError: there is no test 'delon'.\n  hint: did you mean delong?\n",
        ),
        (
            ["--test", "delong", "--measure", "ks"],
            "MeasureError: DeLong's test is for auc or gini, not for ks.\n"
            "  hint: --test bootstrap, which is for any measure\n",
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


def test_decisions_between_several_classes_are_compared(run, write):
    data = write("three.csv", "y,d,e\na,a,b\nb,b,b\nc,c,a\n")
    done = run("compare", data, "--truth", "y", "--decision", "d", "--decision", "e", "--format", "json")
    (row,) = done.json()["rows"]
    assert row["test"] == "mcnemar, midp"
    assert row["p"] == 0.25  # 2 · P(none of two) is 0.5, and mid-p counts the seen one half


def test_scores_without_a_stated_threshold_are_no_decisions(run, write):
    # A threshold that the same cases choose rejects 46 % of true nulls, and a cross-fitted one still 10 to 17 %.
    rows = "".join(f"{k % 2},{(k % 2) * 0.3 + k / 100},{(k % 2) * 3 + k / 10}\n" for k in range(60))
    roles = ["--truth", "y", "--score", "p", "--score", "raw", "--test", "mcnemar"]
    done = run("compare", write("raw.csv", f"y,p,raw\n{rows}"), *roles)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "ScoreSpaceError: McNemar's test compares decisions.\n  seen: a score table of raw\n"
        "  hint: state the threshold: at=0.5\n"
    )


# --- from counts, and under a constraint


def test_mcnemar_from_four_counts(run, oracles):
    # (|40 − 20| − 1)² / 60, as the lecture has it
    found = run("compare", "--counts", "20,40,20,120", "--format", "json").json()["rows"][0]
    assert found["test"] == "mcnemar, corrected"
    assert found["statistic"] == pytest.approx(19**2 / 60)
    assert found["difference"] == pytest.approx(0.1)  # n01 are right by the first and wrong by the second
    assert found["table"] == [[120, 40], [20, 20]]
    assert (
        "both wrong 20, only a right 40, only b right 20, both right 120"
        in run("compare", "--counts", "20,40,20,120").out
    )
    exact = run("compare", "--counts", "20,40,20,120", "--test", "mcnemar(method=exact)", "--format", "json").json()
    assert exact["rows"][0]["p"] == pytest.approx(stats.binomtest(20, 60).pvalue)


def test_the_models_of_counts_can_be_named(run):
    found = run("compare", "--counts", "0,4,20,12", "--name", "a=tree", "--name", "b=nb", "--format", "json").json()
    assert (found["rows"][0]["a"], found["rows"][0]["b"]) == ("tree", "nb")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--counts", "20,40,20"],
            "ScoreSpaceError: counts=20,40,20 are not four counts.\n"
            "  hint: both wrong, only a right, only b right, both right: 20,40,20,120\n",
        ),
        (
            ["--counts", "20,40,20,120", "--score", "s"],
            "ScoreSpaceError: --counts replaces the data of two models.\n  hint: leave out the columns\n",
        ),
        (
            ["--test", "mcnemar"],
            "ScoreSpaceError: pass the data, or the counts of correct and wrong predictions.\n"
            "  hint: DATA --truth COL, or --counts 20,40,20,120\n",
        ),
        (
            ["--counts", "20,40,20,120", "--at-least", "tpr=0.9"],
            "MeasureError: --at-least and --at-most need a measure to compare.\n"
            "  hint: --at-least tpr=0.9 --measure ppv\n",
        ),
    ],
)
def test_counts_that_cannot_be_compared(run, given, message):
    done = run("compare", *given)
    assert (done.code, done.err) == (2, message)


def test_a_measure_under_a_constraint(run, credit, tmp_path):
    asked = ("compare", *credit, "--score", "logistic", "--score", "tree", "--at-least", "tpr=0.9", "--measure", "ppv")
    found = run(*asked, "--format", "json").json()["rows"][0]
    with (tmp_path / "credit.csv").open() as file:
        loans = list(csv.DictReader(file))
    best = {}
    for model in ("logistic", "tree"):
        at = []
        for cut in {float(loan[model]) for loan in loans}:
            flagged = [loan["outcome"] == "bad" for loan in loans if float(loan[model]) >= cut]
            if sum(flagged) >= 270:
                at.append(sum(flagged) / len(flagged))
        best[model] = max(at)
    assert found["difference"] == pytest.approx(best["logistic"] - best["tree"])
    assert found["low"] < found["difference"] < found["high"]
    assert (found["test"], found["measure"]) == ("bootstrap", "best(measure=ppv, at_least=tpr=0.9)")


def test_one_side_and_another_adjustment(run, credit):
    three = [*credit, *(word for name in ("logistic", "tree", "naive_bayes") for word in ("--score", name))]
    found = run("compare", *three, "--alternative", "greater", "--adjust", "shaffer", "--notes").out
    assert (
        "logistic and tree: auc differs by +0.066 [0.034, 0.099], statistically significant "
        "(p < 0.001, adjusted, one-sided: logistic greater)."
    ) in " ".join(found.split())
    assert "notes SS015 p-values of the 3 pairs are adjusted by Shaffer's method; intervals\n" in found
    both = run("compare", *three, "--format", "json").json()["rows"][1]
    one = run("compare", *three, "--format", "json", "--alternative", "greater").json()["rows"][0]
    assert (one["p"], one["alternative"], both["alternative"]) == (both["p"] / 2, "greater", "two-sided")
    done = run("compare", *three, "--against", "0.7", "--adjust", "shaffer")
    assert (done.code, done.err) == (
        2,
        "ScoreSpaceError: Shaffer's method is for all pairs of models.\n  hint: --adjust holm\n",
    )


def test_counts_have_no_classes(run):
    assert run("compare", "--counts", "5,0,0,5").out.splitlines()[1] == (
        "counts   10 cases: both wrong 5, only a right 0, only b right 0, both right 5"
    )


def test_weighted_cases_are_compared_as_in_python(run, tmp_path):
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, 80)
    data = {"y": label, "w": rng.uniform(0.5, 2, 80), **{name: label + rng.normal(0, 1.5, 80) for name in "ab"}}
    rows = zip(*(column.tolist() for column in data.values()), strict=True)
    text = "\n".join([",".join(data), *(",".join(map(repr, row)) for row in rows)])
    (tmp_path / "w.csv").write_text(text + "\n", encoding="utf-8")
    asked = ("compare", str(tmp_path / "w.csv"), "--truth", "y", "--score", "a", "--score", "b", "--weight", "w")
    found = run(*asked, "--format", "json").json()["rows"][0]
    (expected,) = ss.evaluate(data, truth="y", scores=["a", "b"], weight="w").compare().rows()
    assert found["test"] == "bootstrap"
    assert found["difference"] == pytest.approx(expected["difference"])
    assert found["p"] == pytest.approx(expected["p"])
    assert "hint: --test bootstrap, " in run(*asked, "--test", "delong").err


def test_one_model_and_groups_are_refused_in_words(run, write):
    done = run("compare", write("one.csv", "y,s,g\n0,0.5,2\n"), "--truth", "y", "--score", "s", "--group", "g")
    assert (done.code, "InternalError" in done.err) == (2, False)


def test_a_threshold_that_is_no_number_is_refused(run, credit):
    done = run("compare", *credit, "--score", "tree", "--score", "logistic", "--at", "nan")
    assert (done.code, done.out) == (2, "")
    assert "nan is not a threshold." in done.err


# --- confusion matrices


def test_matrices_are_compared_as_independent_samples(run):
    done = run(
        "compare", "--matrix", "a=60 40; 20 80", "--matrix", "b=70 30; 30 70", "--measure", "tpr", "--format", "json"
    )
    (row,) = done.json()["rows"]
    # Newcombe's interval of 60 / 100 − 70 / 100 from Wilson's [.502, .691] and [.604, .781], by hand.
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((-0.1, -0.227, 0.032), abs=6e-4)
    assert [one["code"] for one in done.json()["notes"]] == ["SS105"]


def test_matrices_are_compared_by_accuracy(run):
    matrices = ("--matrix", "a=60 40; 20 80", "--matrix", "b=70 30; 10 90", "--matrix", "c=90 10; 50 50")
    rows = run("compare", *matrices, "--format", "json").json()["rows"]
    assert [(row["measure"], round(row["difference"], 12)) for row in rows] == [("acc", -0.1), ("acc", 0), ("acc", 0.1)]
    refused = run("compare", *matrices, "--at", "0.3")
    assert refused.err == (
        "ScoreError: confusion matrices have no scores to compare at a threshold.\n  hint: leave the threshold out\n"
    )
