"""`scorespace evaluate`: the main job, in every format."""

import csv
import io
import json
import math
import re
from pathlib import Path

import pytest

KEYS = ["schema", "data", "rows", "confusion", "conclusions", "verdict", "notes"]
ROW_KEYS = ["model", "measure", "at", "class", "value", "low", "high", "level", "method", "reason"]
SMALL = "y,s\n1,0.9\n0,0.8\n1,0.7\n1,0.4\n0,0.3\n0,0.1\n"


def values(run, *arguments):
    """The values of the rows that a command writes as JSON."""
    return [row["value"] for row in run(*arguments, "--format", "json").json()["rows"]]


def test_in_a_process_of_its_own(shell, asah):
    done = shell("evaluate", *asah, "--measures", "auc")
    assert (done.code, done.err) == (0, "")
    assert "s100b 0.731, ndka 0.612" in done.out


# --- JSON


def test_json_has_the_keys_of_the_contract(run, asah):
    found = run("evaluate", *asah, "--format", "json").json()
    assert [key for key in found if key not in ("comparisons", "decision")] == KEYS
    assert found["schema"] == 1
    assert found["data"] == {"rows": 113, "classes": {"Good": 72, "Poor": 41}, "positive": "Poor"}
    assert all(list(row) == [*ROW_KEYS, "estimand"] for row in found["rows"])  # the threshold is chosen on these cases
    stated = run("evaluate", *asah, "--measures", "auc,tpr@0.5", "--format", "json").json()
    assert all(list(row) == ROW_KEYS for row in stated["rows"])
    assert found["notes"]
    assert all(list(note) == ["code", "level", "text"] for note in found["notes"])


@pytest.mark.parametrize(("level", "key"), [("0.9", "ci90"), ("0.95", "ci95"), ("0.99", "ci99")])
def test_auc_and_its_interval_are_those_of_proc(run, asah, proc, level, key):
    rows = run("evaluate", *asah, "--measures", "auc", "--level", level, "--format", "json").json()["rows"]
    assert [row["model"] for row in rows] == ["s100b", "ndka"]
    for row in rows:
        low, auc, high = proc[row["model"]][key]
        assert [row["low"], row["value"], row["high"]] == pytest.approx([low, auc, high], abs=1e-9)
        assert (row["level"], row["method"]) == (float(level), "delong")


def test_partial_areas_are_those_of_proc(run, asah, proc):
    asked = "pauc(fpr_high=0.1), pauc(fpr_high=0.1, corrected=true)"
    raw, corrected, *_ = values(run, "evaluate", *asah, "--measures", asked)
    theirs = next(part for part in proc["s100b"]["partial"] if part["range"] == [1, 0.9])
    assert theirs["focus"] == "specificity"
    assert [raw, corrected] == pytest.approx([theirs["pauc"], theirs["pauc_corrected"]], abs=1e-9)


def test_threshold_and_class_stand_apart_from_the_name(run, credit):
    asked = ("evaluate", *credit, "--score", "tree", "--measures", "fbeta(beta=2)[good]@0.25", "--format", "json")
    row = run(*asked).json()["rows"][0]
    assert (row["measure"], row["at"], row["class"]) == ("fbeta(beta=2)", 0.25, "good")


def test_a_class_can_be_named_with_two_models(run, asah):
    assert run("evaluate", *asah, "--measures", "tpr[Good]@0.22").code == 0


def test_an_undefined_value_is_null_with_its_reason(run, asah):
    done = run("evaluate", *asah, "--measures", "ppv@inf", "--format", "json")
    row = done.json()["rows"][0]
    assert [row[key] for key in ("value", "low", "high", "method")] == [None] * 4
    assert row["reason"] == "undefined: nothing is predicted positive"


def test_an_infinite_value_is_null_with_its_reason(run, write):
    write("small.csv", SMALL)
    asked = ("evaluate", "small.csv", "--truth", "y", "--score", "s", "--measures", "lr_pos@0.9", "--format", "json")
    row = run(*asked).json()["rows"][0]
    assert row["value"] is None
    assert row["reason"].startswith("infinite: ")


def test_one_class_only_is_no_error(run, write):
    write("one.csv", "y,s\n1,0.5\n1,0.6\n")
    done = run("evaluate", "one.csv", "--truth", "y", "--score", "s", "--measures", "auc,tpr@0.5", "--format", "json")
    assert done.code == 0
    found = {row["measure"]: row for row in done.json()["rows"]}
    assert (found["auc"]["value"], found["auc"]["reason"]) == (None, "undefined: only one class is present")
    assert found["tpr"]["value"] == 1.0


# --- other formats


def test_csv_is_the_rows_with_empty_fields_for_what_is_undefined(run, asah, proc):
    done = run("evaluate", *asah, "--measures", "auc,ppv@inf", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert list(rows[0]) == ROW_KEYS
    assert float(rows[0]["value"]) == pytest.approx(proc["s100b"]["auc"], abs=1e-9)
    assert (rows[0]["at"], rows[0]["reason"]) == ("", "")
    assert (rows[1]["value"], rows[1]["reason"]) == ("", "undefined: nothing is predicted positive")


def test_markdown_is_a_table_the_verdict_and_the_notes(run, asah):
    out = run("evaluate", *asah, "--measures", "auc", "--format", "markdown").out
    head, line, first = [row for row in out.splitlines() if row.startswith("|")]
    assert [cell.strip() for cell in head.split("|")[1:4]] == ["", "s100b", "ndka"]
    assert set(line) <= set("|:- ")
    assert first.startswith("| auc ↑ ")
    assert out.index("**No clear difference in auc: s100b 0.731, ndka 0.612 (+0.119 ") > out.index(first)
    assert "SS003" not in out
    assert "- `SS003` info: " in run("evaluate", *asah, "--measures", "auc", "--notes", "--format", "markdown").out


@pytest.mark.parametrize("columns", [80, 120])
def test_text_keeps_to_the_width(run, credit, columns):
    models = ["--score", "naive_bayes", "--score", "tree", "--score", "logistic"]
    renamed = ["--name", "tree=a_tree_with_a_name_that_is_rather_long", "--name", "logistic=another_rather_long_name"]
    out = run("evaluate", *credit, *models, *renamed, "--measures", "auc,tpr,cost(fn=5)@0.2", columns=columns).out
    assert not re.search(r"\x1b", out)
    assert max(map(len, out.splitlines())) <= columns


def test_text_shows_the_facts_the_table_the_verdict_the_notes(run, asah):
    out = run("evaluate", *asah, "--measures", "auc", "--notes").out
    parts = ["113 cases   positive = Poor (41, 36.3 %)", "auc ↑", "s100b 0.731, ndka 0.612", "notes SS003"]
    assert [out.find(part) for part in parts] == sorted(out.find(part) for part in parts)
    assert all(part in out for part in parts)


def test_the_report_is_written_and_named(run, asah, tmp_path):
    done = run("evaluate", *asah, "--measures", "auc", "--report", "page.html")
    assert done.out.endswith("report  page.html\n")
    assert "s100b 0.731, ndka 0.612" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_with_a_report_json_stays_json(run, asah):
    done = run("evaluate", *asah, "--measures", "auc", "--report", "page.html", "--format", "json")
    assert done.json()["schema"] == 1
    assert done.err == "report  page.html\n"


# --- baselines


@pytest.fixture
def base(run, credit):
    done = run(
        "evaluate", *credit, "--score", "logistic", "--where", "fold <= 5", "--measures", "auc", "--save", "b.json"
    )
    assert (done.code, done.out.splitlines()[-1]) == (0, "saved  b.json")
    return ["evaluate", *credit, "--score", "logistic", "--baseline", "b.json"]


def test_every_number_beside_that_of_a_saved_evaluation(run, base):
    done = run(*base, "--where", "fold > 5", "--measures", "auc", "--format", "json")
    told = done.json()
    row = told["baseline"]["rows"][0]
    saved = run("evaluate", "b.json", "--measures", "auc", "--format", "json").json()["rows"][0]
    assert (row["baseline"], row["value"]) == (saved["value"], told["rows"][0]["value"])
    assert row["difference"] == pytest.approx(row["value"] - row["baseline"])
    # DeLong's errors; those of two samples are judged by Student's t, with many degrees of freedom.
    errors = [(each["high"] - each["low"]) / 2 for each in (saved, told["rows"][0])]
    assert row["difference_high"] - row["difference"] == pytest.approx(math.hypot(*errors), rel=0.005)
    assert told["verdict"].endswith(told["baseline"]["verdict"])


def test_the_baseline_in_csv(run, base):
    done = run(*base, "--where", "fold > 5", "--measures", "auc, tpr@0.5", "--format", "csv")
    told = list(csv.DictReader(io.StringIO(done.out)))
    rows = run(*base, "--where", "fold > 5", "--measures", "auc, tpr@0.5", "--format", "json").json()["baseline"][
        "rows"
    ]
    assert [(row["measure"], float(row["baseline"]), float(row["p_adjusted"])) for row in told] == [
        (row["measure"], row["baseline"], row["p_adjusted"]) for row in rows
    ]


def test_the_baseline_on_the_screen(run, base, credit):
    done = run(*base, "--where", "fold > 5", "--measures", "auc", "--report", "page.html")
    assert (
        "measure   baseline   now     change                   p    \nauc ↑     0.796      0.782   −0.013" in done.out
    )
    page = Path("page.html").read_text()
    assert "What changed since the baseline?" in page


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("auc>=baseline-0.02", None),
        ("auc >= baseline - 2%", None),
        ("auc>=baseline-chance", None),
        ("brier<=baseline+0.01", None),
        (
            "auc>=baseline",
            "0.782381, not >= baseline (baseline 0.795638): difference −0.013 [−0.073, 0.047], not ",
        ),
        ("auc>=baseline-1%", "0.782381, not >= baseline-1% (baseline 0.795638)"),
        ("auc>baseline-chance", None),
        ("brier<=baseline+chance", None),
        ("ks>=baseline-chance", None),  # which has no test: its interval says so
    ],
)
def test_a_requirement_beside_the_baseline(run, base, rule, words):
    done = run(*base, "--where", "fold > 5", "--measures", "auc", "--require", rule)
    assert done.code == (0 if words is None else 1)
    assert (words or "") in done.err


def test_a_fall_beyond_chance_fails_a_requirement_that_allows_for_it(run, base, write, tmp_path):
    lines = (tmp_path / "credit.csv").read_text().splitlines()
    head, *rows = lines
    place = head.split(",").index("logistic")
    worse = [
        ",".join([*row.split(",")[:place], str(k % 97 / 97), *row.split(",")[place + 1 :]])
        for k, row in enumerate(rows)
    ]
    write("credit.csv", "\n".join([head, *worse]))
    done = run(*base, "--measures", "auc", "--require", "auc>=baseline-chance")
    assert done.code == 1
    assert "−0.278 [−0.334, −0.222], statistically significant (" in done.err


def test_chance_of_numbers_without_a_test_is_judged_by_their_interval(run, write):
    asked = "--truth", "y", "--prediction", "p"
    write("then.csv", "y,p\n" + "\n".join(f"{k},{k + (-1) ** k * (1 + k % 5 / 5)}" for k in range(60)))
    assert run("evaluate", "then.csv", *asked, "--measures", "mae", "--save", "b.json").code == 0
    for error, code in ((1.05, 0), (3, 1)):  # a little worse, and three times as bad
        write("now.csv", "y,p\n" + "\n".join(f"{k},{k + (-1) ** k * error * (1 + k % 5 / 5)}" for k in range(40)))
        rule = "--require", "mae<=baseline+chance"
        done = run("evaluate", "now.csv", *asked, "--measures", "mae", "--baseline", "b.json", *rule)
        assert done.code == code
    assert done.err.startswith(
        "requirement failed: p mae is 4.200000, not <= baseline+chance (baseline 1.400000): difference "
    )
    assert done.err.endswith(" (interval only: the baseline has no table)\n")
    done = run(
        "evaluate", "now.csv", *asked, "--measures", "mae", "--baseline", "b.json", "--require", "rmse<=baseline"
    )
    assert done.err == (
        "requirement failed: p rmse has no value in the baseline (neither the value nor a table was saved), so it is "
        "not <= baseline\n"
    )


def test_a_model_without_a_baseline_fails(run, base):
    done = run(*base, "--score", "tree", "--measures", "auc", "--require", "auc>=baseline-1")
    assert done.err == "requirement failed: tree has no auc in the baseline, so it is not >= baseline-1\n"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--save", "credit.csv"], "DataError: 'credit.csv' has no known file extension."),
        (["--save", "b.json"], "DataError: 'b.json' is an input file and is not overwritten."),
        (["--require", "auc>=baseline-x"], "MeasureError: the requirement 'auc>=baseline-x' cannot be parsed."),
        (["--require", "auc>=baseline--1"], "MeasureError: the requirement 'auc>=baseline--1' cannot be parsed."),
        (
            ["--require", "auc>=baseline-chance%"],
            "MeasureError: the requirement 'auc>=baseline-chance%' cannot be parsed.",
        ),
        (
            ["--require", "auc>baseline+chance"],
            "MeasureError: 'auc>baseline+chance' has its margin on the wrong side.\n"
            '  hint: --require "auc>baseline-chance"',
        ),
        (
            ["--require", "brier<=baseline-chance"],
            "MeasureError: 'brier<=baseline-chance' has its margin on the wrong side.",
        ),
        (["--baseline", "c.json"], "ScoreSpaceError: two baselines are stated."),
        (["--positive", "good"], "--positive is passed twice"),
        (
            ["--baseline", "-"],
            "DataError: a baseline cannot be read from standard input.\n  hint: --baseline FILE.json",
        ),
    ],
)
def test_what_is_refused_of_baselines(run, base, more, words):
    done = run(*base, *more)
    assert done.code == 2
    assert words in done.err


def test_a_requirement_without_its_baseline(run, asah):
    done = run("evaluate", *asah, "--require", "auc>=baseline")
    assert done.err == (
        "MeasureError: a requirement refers to a baseline, but none is passed.\n  hint: --baseline FILE.json\n"
    )


# --- requirements


def test_a_requirement_that_holds(run, asah):
    done = run("evaluate", *asah, "--measures", "auc", "--require", "auc>=0.6", "--require", "fpr@inf <= 0")
    assert (done.code, done.err) == (0, "")


def test_a_requirement_that_one_model_fails(run, asah):
    done = run("evaluate", *asah, "--measures", "auc", "--require", "auc>=0.7")
    assert done.code == 1
    assert done.err == "requirement failed: ndka auc is 0.611958, not >= 0.7\n"
    assert "s100b 0.731, ndka 0.612" in done.out


def test_what_is_undefined_fails_a_requirement(run, asah):
    done = run("evaluate", *asah, "--measures", "auc", "--require", "ppv@inf<1")
    assert done.code == 1
    assert "s100b ppv@inf is undefined: nothing is predicted positive, not < 1" in done.err


@pytest.mark.parametrize("rule", ["auc", "auc=0.8", "auc>=high", ">=0.8", "aucc>=0.8", "auc>=0.8>=0.7", ""])
def test_a_malformed_requirement_is_wrong_usage(run, asah, rule):
    done = run("evaluate", *asah, "--measures", "auc", "--require", rule)
    assert done.code == 2
    assert done.err.startswith("MeasureError: ")
    assert done.out == ""


def test_a_requirement_must_hold_for_every_model(run, write):
    write("both.csv", "y,s,d\n1,0.9,0\n0,0.2,1\n1,0.8,0\n0,0.1,1\n")
    done = run("evaluate", "both.csv", "--truth", "y", "--score", "s", "--decision", "d", "--require", "acc@0.5>=0.9")
    assert done.code != 0  # d is wrong on every case


# --- options


def test_names_are_shown_for_columns(run, asah):
    rows = run("evaluate", *asah, "--name", "ndka=NDKA", "--measures", "auc", "--format", "json").json()["rows"]
    assert [row["model"] for row in rows] == ["s100b", "NDKA"]


def test_rows_with_missing_values_can_be_dropped(run, write):
    write("gaps.csv", "y,s\n1,0.9\n0,\n0,0.8\n1,0.7\n,0.4\n")
    asked = ("evaluate", "gaps.csv", "--truth", "y", "--score", "s", "--measures", "auc", "--format", "json")
    found = run(*asked, "--missing", "drop").json()
    assert (found["data"]["rows"], found["rows"][0]["value"]) == (3, 0.5)
    assert "2 of 5 rows" in next(note["text"] for note in found["notes"] if note["code"] == "SS009")


def test_weights_are_repeated_rows(run, write):
    write("weighted.csv", "y,s,w\n1,0.9,2\n0,0.8,3\n1,0.7,0\n1,0.4,1\n0,0.3,1\n0,0.1,4\n")
    lines = [(1, 0.9, 2), (0, 0.8, 3), (1, 0.4, 1), (0, 0.3, 1), (0, 0.1, 4)]
    write("repeated.csv", "y,s\n" + "".join(f"{y},{s}\n" * n for y, s, n in lines))
    asked = ("--truth", "y", "--score", "s", "--measures", "auc,ks,ppv@0.5,f1@0.5,mcc@0.35", "--format", "json")
    weighted = run("evaluate", "weighted.csv", "--weight", "w", "--weights", "copies", *asked).json()
    repeated = run("evaluate", "repeated.csv", *asked).json()
    assert weighted["rows"] == repeated["rows"]
    assert weighted["data"]["classes"] == repeated["data"]["classes"]


def test_decisions_on_several_classes(run, write):
    # Rows actual: 5 0 1, 0 2 2, 1 1 3. So the F1 of a is 10/12, of b 4/7, of c 6/11.
    cells = {("a", "a"): 5, ("a", "c"): 1, ("b", "b"): 2, ("b", "c"): 2, ("c", "a"): 1, ("c", "b"): 1, ("c", "c"): 3}
    write("three.csv", "actual,nb\n" + "".join(f"{t},{d}\n" * n for (t, d), n in cells.items()))
    asked = ("evaluate", "three.csv", "--truth", "actual", "--decision", "nb", "--measures", "f1[macro],acc,tpr[b]")
    assert values(run, *asked) == pytest.approx([(10 / 12 + 4 / 7 + 6 / 11) / 3, 10 / 15, 2 / 4], abs=1e-12)


def test_scores_of_several_classes_decide_by_the_highest(run, oracles):
    """The columns p_Iris-setosa, … are the scores of one model; mlr3measures knows its numbers."""
    theirs = json.loads((oracles / "mlr3measures_iris.json").read_text())["iris_NB"]
    asked = ("evaluate", str(oracles / "weka_iris_nb_predictions.csv"), "--truth", "actual", "--score", "p_*")
    found = values(run, *asked, "--measures", "acc,bacc,mcc")
    assert found == pytest.approx([theirs[name] for name in ("acc", "bacc", "mcc")], abs=1e-9)


def test_a_confusion_matrix_instead_of_data(run, write):
    write("nb.csv", "actual,cancer,healthy\ncancer,6,2\nhealthy,1,3\n")
    asked = ("evaluate", "--matrix", "nb=nb.csv", "--positive", "cancer", "--measures", "tpr,ppv,acc")
    assert values(run, *asked) == [6 / 8, 6 / 7, 9 / 12]


def test_a_matrix_whose_rows_are_decisions_says_so_in_its_corner(run, write):
    write("nb.csv", "decided,cancer,healthy\ncancer,6,1\nhealthy,2,3\n")
    assert values(run, "evaluate", "--matrix", "nb=nb.csv", "--positive", "cancer", "--measures", "tpr") == [6 / 8]


def test_the_seed_makes_the_bootstrap_repeatable(run, asah):
    asked = ("evaluate", *asah, "--measures", "ks", "--format", "json", "--seed")
    first, again, other = (run(*asked, seed).json()["rows"] for seed in ("7", "7", "8"))
    assert first == again
    assert [row["low"] for row in first] != [row["low"] for row in other]
    assert [row["value"] for row in first] == [row["value"] for row in other]


def test_data_from_standard_input(run, asah, tmp_path, proc):
    _, *roles = asah
    text = (tmp_path / "asah.csv").read_text()
    found = run("evaluate", "-", *roles, "--measures", "auc", "--format", "json", stdin=text).json()
    assert found["rows"][0]["value"] == pytest.approx(proc["s100b"]["auc"], abs=1e-9)


def test_costs_decide_the_threshold_and_the_verdict(run, write):
    write("small.csv", SMALL)
    asked = ("evaluate", "small.csv", "--truth", "y", "--score", "s", "--cost-fp", "1", "--cost-fn", "5")
    found = run(*asked, "--format", "json").json()
    # At 0.4 all three positives are found, with one false alarm: 1/6 per case.
    assert found["decision"]["threshold"] == 0.4
    assert found["decision"]["cost_per_case"] == pytest.approx(1 / 6)
    cost = next(row for row in found["rows"] if row["measure"].startswith("cost"))
    assert (cost["at"], cost["value"]) == (0.4, pytest.approx(1 / 6))
    # Each case left out alone, the positive at 0.4 is missed beside the false alarm.
    assert found["decision"]["cross_fitted_cost"] == pytest.approx(1)
    assert "s is not clearly better than predicting every case to be positive" in found["verdict"]
    assert "s at threshold 0.4, 1.000 per case, cross-fitted" in found["verdict"]
    assert "(apparent 0.167)" in found["decision"]["verdict"]


def test_tables_show_the_name_that_was_asked_for(run, credit):
    asked = [*credit, "--score", "tree", "--score", "logistic", "--measures", "ROC-AUC,recall@0.5,precision"]
    out = run("evaluate", *asked).out
    rows = [line.split(" ")[0] for line in out.splitlines() if " [" in line and not line.startswith(" ")]
    assert rows[:3] == ["ROC-AUC", "recall@0.5", "precision@0.5"]
    found = run("evaluate", *asked, "--format", "json").json()
    assert [row["measure"] for row in found["rows"]] == ["auc", "tpr", "ppv"] * 2
    assert [row["measure"] for row in found["comparisons"]] == ["auc", "tpr@0.5", "ppv@0.5"]


def test_a_gate_and_a_comparison_keep_the_name_too(run, credit):
    done = run("evaluate", *credit, "--score", "tree", "--require", "recall@0.5>=0.99")
    assert done.err == "requirement failed: tree recall@0.5 is 0.460000, not >= 0.99\n"
    two = [*credit, "--score", "tree", "--score", "logistic", "--measure", "roc_auc"]
    assert "roc_auc differs by" in run("compare", *two).out
    assert {row["measure"] for row in run("compare", *two, "--format", "json").json()["rows"]} == {"auc"}


def test_a_stated_positive_class_of_three_is_not_asked_for_again(run, write):
    write("three.csv", "y,d\na,a\nb,b\nc,b\na,c\nb,b\n")
    asked = ["three.csv", "--truth", "y", "--decision", "d", "--positive", "a", "--format", "json"]
    rows = run("evaluate", *asked, "--measures", "recall,precision,acc").json()["rows"]
    assert [row["value"] for row in rows] == [0.5, 1.0, 0.6]
    assert run("evaluate", *asked).code == 0


# --- costs as a measure: those of the stated condition

VALVES = {"c1": ((300, 200), (500, 99000)), "c2": ((0, 500), (0, 99500)), "c3": ((400, 100), (5400, 94100))}
PRICES = ["--cost-fp", "100", "--cost-fn", "2000"]


@pytest.fixture
def valves(write):
    """Three rules that watch valves, as the lecture has them; they cost 4.5, 10 and 7.4 per case at PRICES."""
    for name, ((tp, fn), (fp, tn)) in VALVES.items():
        write(f"{name}.csv", f"actual,fault,fine\nfault,{tp},{fn}\nfine,{fp},{tn}\n")
    return [part for name in VALVES for part in ("--matrix", f"{name}={name}.csv")] + ["--positive", "fault"]


def test_cost_means_the_stated_costs(run, valves):
    assert values(run, "evaluate", *valves, *PRICES, "--measures", "cost") == pytest.approx([4.5, 10, 7.4])
    assert values(run, "evaluate", *valves, "--measures", "cost") == pytest.approx([0.007, 0.005, 0.055])


def test_what_a_measure_states_itself_stays(run, valves):
    asked = ("evaluate", *valves, *PRICES, "--measures", "cost(fn=1000), cost(fp=1, fn=1)")
    assert values(run, *asked)[::2] == pytest.approx([2.5, 5, 6.4])
    assert values(run, *asked)[1::2] == pytest.approx([0.007, 0.005, 0.055])


def test_the_other_class_as_positive_costs_the_same(run, valves):
    asked = ("evaluate", *valves, *PRICES, "--measures", "cost[fine]")
    assert values(run, *asked) == pytest.approx([4.5, 10, 7.4])


def test_a_prevalence_belongs_to_the_condition(run, valves):
    # 0.01 · 2000 · FNR + 0.99 · 100 · FPR
    stated = [0.01 * 2000 * fn / 500 + 0.99 * 100 * fp / 99500 for (_, fn), (fp, _) in VALVES.values()]
    asked = ("evaluate", *valves, *PRICES, "--prevalence", "0.01", "--measures", "cost")
    assert values(run, *asked) == pytest.approx(stated)


def test_a_gate_on_the_cost_means_the_stated_costs(run, valves):
    done = run("evaluate", *valves, *PRICES, "--measures", "cost", "--require", "cost<=5")
    assert done.code == 1
    assert done.err == (
        "requirement failed: c2 cost(fp=100, fn=2000) is 10.000000, not <= 5\n"
        "requirement failed: c3 cost(fp=100, fn=2000) is 7.400000, not <= 5\n"
    )


def test_a_gate_on_the_cost_holds_on_cases_that_did_not_choose_the_threshold(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--cost-fp", "1", "--cost-fn", "5", "--measures", "cost")
    choice = run(*asked, "--format", "json").json()["decision"]["rows"][0]
    apparent, honest, at = choice["cost_per_case"], choice["cross_fitted_cost"], choice["threshold"]
    assert apparent < honest
    between = (apparent + honest) / 2
    done = run(*asked, "--require", f"cost<={between}")
    assert (done.code, done.err) == (
        1,
        f"requirement failed: logistic cost(fp=1, fn=5)@{at} is {honest:.6f}, cross-fitted "
        f"(apparent {apparent:.6f}), not <= {between:g}\n",
    )
    assert run(*asked, "--require", f"cost<={honest + 1e-9}").code == 0
    assert run(*asked, "--require", f"cost@{at}<={between}").code == 0  # stated, so not chosen here


def test_the_costs_of_another_condition_are_not_called_the_cost_here(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", *PRICES, "--measures", "cost(fp=1, fn=1)")
    assert "cost, apparent" not in run(*asked).out


WEATHER = "y,d\nsun,sun\nsun,rain\nrain,rain\nrain,snow\nsnow,sun\nsnow,snow\nsnow,snow\nsun,sun\n"
WEATHER_COSTS = ",rain,snow,sun\nrain,0,1,4\nsnow,2,0,8\nsun,1,1,0\n"


def test_costs_of_several_classes_are_a_measure_too(run, write):
    asked = ("evaluate", write("w.csv", WEATHER), "--truth", "y", "--decision", "d")
    costs = ("--costs", write("costs.csv", WEATHER_COSTS))
    # one sun taken for rain, one rain for snow, one snow for sun: 1 + 1 + 8 of eight cases
    assert values(run, *asked, *costs, "--measures", "cost") == [10 / 8]
    assert values(run, *asked, "--measures", "cost, err") == [3 / 8, 3 / 8]
    done = run(*asked, *costs, "--measures", "cost", "--require", "cost<1")
    assert (done.code, done.err) == (
        1,
        "requirement failed: d cost(matrix=0 1 4; 2 0 8; 1 1 0) is 1.250000, not < 1\n",
    )
    assert "cost/case ↓   1.250" in done.out


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            "cost(matrix=0 1; 1 0)",
            "ConditionError: the costs '0 1; 1 0' do not match 3 classes.\n"
            "  seen: 2 rows of 2 costs\n  hint: 3 rows of 3 numbers, rows actual; for two classes: 0 1; 5 0\n",
        ),
        (
            "cost(matrix=0 1; 1 x)",
            "ConditionError: the costs '0 1; 1 x' must be numbers.\n"
            "  seen: could not convert string to float: 'x'\n  hint: a number in every cell\n",
        ),
        (
            "cost(fp=2)",
            "MeasureError: cost(fp=2) needs a positive class, but there are 3 classes.\n"
            "  hint: cost(matrix=0 5 1; 1 0 1; 9 1 0), or a class: cost(fp=1, fn=5)[rain]\n",
        ),
    ],
)
def test_costs_that_do_not_suit_several_classes(run, write, measure, message):
    asked = ("evaluate", write("w.csv", WEATHER), "--truth", "y", "--decision", "d", "--measures", measure)
    assert (run(*asked).code, run(*asked).err) == (2, message)


def test_a_matrix_of_costs_is_for_several_classes(run, write):
    asked = (
        "evaluate",
        write("s.csv", SMALL),
        "--truth",
        "y",
        "--score",
        "s",
        "--measures",
        "cost(matrix=0 1; 5 0)@0.5",
    )
    assert run(*asked).err == (
        "MeasureError: cost(matrix=…) is for multiclass decisions.\n  hint: cost(fp=1, fn=5), for example\n"
    )


# --- operating points by rank


def test_measures_by_rank(run, credit, tmp_path):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "ppv@top10%, tpr@top200, lift@top1%")
    rows = run(*asked, "--format", "json").json()["rows"]
    with (tmp_path / "credit.csv").open() as file:
        loans = sorted(csv.DictReader(file), key=lambda loan: -float(loan["logistic"]))
    hits = [sum(loan["outcome"] == "bad" for loan in loans[:size]) for size in (100, 200, 10)]
    assert [row["value"] for row in rows] == pytest.approx([hits[0] / 100, hits[1] / 300, hits[2] / 10 / 0.3])
    assert [row["at"] for row in rows] == ["top10%", "top200", "top1%"]
    assert rows[0]["low"] < 0.73 < rows[0]["high"]
    assert f"\nppv@top10% ↑   0.730 [{rows[0]['low']:.3f}, {rows[0]['high']:.3f}]" in run(*asked).out


def test_a_gate_by_rank(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "auc")
    assert run(*asked, "--require", "ppv@top10%>=0.7").code == 0
    assert run(*asked, "--require", "ppv@top10%>=0.75").err == (
        "requirement failed: logistic ppv@top10% is 0.730000, not >= 0.75\n"
    )


def test_ranks_know_the_stated_prevalence(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--cost-fp", "1", "--cost-fn", "5", "--measures", "ppv@top10%")
    here = values(run, *asked)[0]
    assert values(run, *asked, "--prevalence", "0.3")[0] == pytest.approx(here)
    assert values(run, *asked, "--prevalence", "0.03")[0] < here / 2


def test_decisions_have_no_rank(run, valves):
    done = run("evaluate", *valves, "--measures", "tpr@top10%")
    assert (done.code, done.err) == (
        2,
        "MeasureError: tpr@top10% specifies a threshold, but a decision has no threshold.\n  hint: tpr\n",
    )


# --- the detailed accuracy by class


def test_two_classes_in_detail(run, credit, tmp_path):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "auc", "--by-class")
    rows = {row["class"]: row for row in run(*asked, "--format", "json").json()["classes"]}
    with (tmp_path / "credit.csv").open() as file:
        loans = [(loan["outcome"] == "bad", float(loan["logistic"]) >= 0.5) for loan in csv.DictReader(file)]
    tp, fp, fn, tn = (loans.count(pair) for pair in ((True, True), (False, True), (True, False), (False, False)))
    assert rows["bad"]["tpr"] == pytest.approx(tp / (tp + fn))
    assert rows["good"]["tpr"] == pytest.approx(tn / (tn + fp))
    assert rows["good"]["ppv"] == pytest.approx(tn / (tn + fn))
    assert rows["bad"]["auc"] == pytest.approx(rows["good"]["auc"])
    shown = run(*asked, columns=120).out
    assert "logistic at threshold 0.5, by class" in shown
    assert "class           TP rate   FP rate   precision   F-measure   MCC     ROC area   PRC area" in shown


def test_a_mean_by_class_says_which_classes_it_leaves_out(run):
    asked = ("evaluate", "--matrix", "m=10 2 0; 3 8 0; 1 4 0", "--measures", "acc", "--by-class")
    shown = " ".join(run(*asked).out.split())
    assert "weighted mean 0.643 0.246 0.646 0.581 0.476" in shown
    assert (
        "The mean of precision and MCC is over 2 of 3 classes: undefined (–) for '3', because nothing is predicted "
        "positive."
    ) in shown
    (*others, last) = run(*asked, "--format", "json").json()["classes"]
    assert [row["reason"] for row in others] == [None, None]
    assert last["ppv"] is None
    assert last["reason"] == (
        "ppv undefined: nothing is predicted positive; mcc undefined: a row or column of the confusion table is empty"
    )


def test_without_asking_two_classes_are_not_told_apart(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "auc")
    assert "class by class" not in run(*asked).out
    assert "classes" not in run(*asked, "--format", "json").json()


# --- predicted numbers


@pytest.fixture
def deliveries(tmp_path):
    rows = [(k, 20 + k, 20 + k + k % 3 - 1, 15 + k, 25 + k) for k in range(30)]
    path = tmp_path / "deliveries.csv"
    path.write_text("day,y,m,low,high\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    return str(path)


def test_predicted_numbers_with_intervals_and_a_baseline(run, deliveries):
    given = (
        "evaluate",
        deliveries,
        "--truth",
        "y",
        "--prediction",
        "m",
        "--interval",
        "low,high,0.9",
        "--baseline",
        "30",
    )
    found = json.loads(run(*given, "--format", "json").out)
    rows = {row["measure"]: row for row in found["rows"]}
    assert rows["mae"]["value"] == pytest.approx(2 / 3)
    assert rows["coverage"]["value"] == 1
    assert rows["rae"]["value"] == pytest.approx(20 / sum(abs(k - 10) for k in range(30)))
    assert [note["code"] for note in found["notes"]] == ["SS012", "SS046"]
    assert run(*given, "--require", "mae<=0.5").code == 1


def test_a_method_and_prediction_intervals_are_told_apart(run, deliveries):
    given = ("evaluate", deliveries, "--truth", "y", "--prediction", "m", "--format", "json", "--measures", "mae")
    found = json.loads(run(*given, "--interval", "bootstrap", "--interval", "m=low,high,0.9").out)
    assert found["rows"][0]["method"] == "bootstrap"
    done = run(*given, "--interval", "low,high,0.9", "--interval", "m=low,high,0.9")
    assert done.err == (
        "DataError: it is unclear which model each prediction interval belongs to.\n"
        "  seen: low,high,0.9, m=low,high,0.9\n"
        "  hint: --interval MODEL=LOW,HIGH,0.9\n"
    )
    assert run(*given, "--interval", "low,high").err.startswith(
        "ColumnError: the prediction interval of 'm' needs two columns and its nominal level.\n"
    )


def test_costs_of_both_sides(run, deliveries):
    given = ("evaluate", deliveries, "--truth", "y", "--prediction", "m", "--cost-under", "2")
    done = run(*given)
    assert (done.code, done.err) == (
        2,
        "ConditionError: --cost-under and --cost-over must be given together.\n  hint: --cost-under 2 --cost-over 1\n",
    )
    assert "Use m" in run(*given, "--cost-over", "1").out


def test_differences_over_folds_are_headed_as_such(run, tmp_path):
    rows = [f"{k % 2},{k // 20},0.{k % 7 + 1},0.{k % 5 + 1}" for k in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(["y,fold,a,b", *rows]) + "\n", encoding="utf-8")
    asked = ("evaluate", str(tmp_path / "f.csv"), "--truth", "y", "--score", "a", "--score", "b", "--measures", "auc")
    assert "a − b, mean over folds" in run(*asked, "--fold", "fold", columns=120).out
    assert "a − b\n" in "\n".join(line.rstrip() for line in run(*asked, columns=120).out.splitlines())


def test_repeats_of_the_same_cases_are_drawn_together(run, write):
    """Two repeats of the same answers tell no more than one, where the case is the group; else a note says so."""
    once = [(k, k % 5, k * 7 % 3 == 0, (k * 37 % 60 + 20 * (k * 7 % 3 == 0)) / 80) for k in range(60)]
    write("once.csv", "y,s,case,f\n" + "".join(f"{int(y)},{s},{k},{f}\n" for k, f, y, s in once))
    write("twice.csv", "y,s,case,f,r\n" + "".join(f"{int(y)},{s},{k},{f},{r}\n" for r in (1, 2) for k, f, y, s in once))
    asked = ("--truth", "y", "--score", "s", "--measures", "brier", "--fold", "f", "--format", "json")
    single = run("evaluate", "once.csv", *asked, "--group", "case").json()["rows"][0]
    held = run("evaluate", "twice.csv", *asked, "--repeat", "r", "--group", "case").json()
    assert [held["rows"][0][name] for name in ("value", "low", "high")] == pytest.approx(
        [single[name] for name in ("value", "low", "high")]
    )
    assert "SS032" not in [one["code"] for one in held["notes"]]
    assert "SS032" in [one["code"] for one in run("evaluate", "twice.csv", *asked, "--repeat", "r").json()["notes"]]


def test_tests_of_calibration_as_requirements(run):
    """p-values, by the names of the tests; of those, a baseline has none."""
    table = Path(__file__).parents[1] / "oracles/rocr_simple_input.csv"
    asked = ["evaluate", str(table), "--truth", "label", "--score", "score"]
    assert run(*asked, "--require", "spiegelhalter>=0.05").code == 0
    failed = run(*asked, "--require", "hosmer_lemeshow>=0.05")
    assert failed.code == 1
    assert "requirement failed: score hosmer_lemeshow: p < 0.001, not p >= 0.05" in failed.err
    assert run(*asked, "--require", "cox>=baseline-0.01").code == 2


def test_rows_excluded_by_a_condition_are_in_the_flow(run, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y,risk,age\n" + "".join(f"{k % 2},{0.1 + 0.01 * k},{20 + k}\n" for k in range(60)))
    report = tmp_path / "r.html"
    asked = ["evaluate", str(path), "--truth", "y", "--score", "risk", "--profile", "clinical", "--where", "age >= 40"]
    assert run(*asked, "--report", str(report), "--section", "flow").code == 0
    text = report.read_text("utf-8")
    assert "excluded by the stated condition" in text


# --- at every look


def test_requirements_at_every_look_need_a_limit(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "auc,ppv@0.5", "--looks", "any")
    assert run(*asked, "--require", "auc>=0.7", "--require", "fpr@0.5<=0.2").code == 0
    failed = run(*asked, "--require", "ppv@0.5>=0.6")  # it is 0.615, but not shown
    assert (failed.code, "lower limit 0.5" in failed.err) == (1, True)
    assert run(*asked, "--require", "brier<=0.9").code == 1  # no such interval
    notes = run(*asked, "--format", "json").json()["notes"]
    (text,) = (note["text"] for note in notes if note["code"] == "SS197")
    assert "hold at every look" in text


def test_measures_without_an_interval_at_every_look_are_named(run, credit):
    asked = ("evaluate", *credit, "--score", "logistic", "--measures", "auc,brier", "--looks", "any", "--notes")
    assert "There is no such interval of brier." in " ".join(run(*asked).out.split())
    none = " ".join(run(*asked, "--group", "fold").out.split())
    assert "There are no intervals" in none
    assert "independent cases without weights" in none


@pytest.mark.parametrize(
    "options",
    [
        "--looks never",
        "--looks any(",
        "--looks any --interval bca",
        "--looks any --require cox>=0.05",
        "--looks any --require auc>=baseline",
        "--looks any --cost-fp 1 --cost-fn 5 --require cost<=0.7",
    ],
)
def test_looks_that_cannot_be(run, credit, options):
    done = run("evaluate", *credit, "--score", "logistic", *options.split())
    assert (done.code, done.out) == (2, "")
    assert "hint:" in done.err


# --- without labels


def test_values_without_labels_are_marked_as_assumed(run, write):
    write("p.csv", "p,q\n0.9,0.8\n0.2,0.4\n0.6,0.5\n")
    done = run("evaluate", "p.csv", "--score", "p,q", "--assume", "calibrated", "--measures", "acc@0.5")
    assert (done.code, done.err) == (0, "")
    assert "assumed(calibrated)" in done.out
    rows = run("evaluate", "p.csv", "--score", "p", "--assume", "calibrated", "--format", "json").json()["rows"]
    assert {row["method"] for row in rows} == {"assumed(calibrated)"}


@pytest.mark.parametrize("options", ["--require auc>=0.7", "--truth p", "--by q", "--interval bca", "--ledger l.jsonl"])
def test_what_needs_labels_is_refused_without_them(run, write, options):
    write("p.csv", "p,q\n0.9,0.8\n0.2,0.4\n0.6,0.5\n")
    done = run("evaluate", "p.csv", "--score", "p", "--assume", "calibrated", *options.split())
    assert (done.code, done.out) == (2, "")
    assert "cannot be used" in done.err
