"""`scorespace decide`: the model and threshold for costs, or under a constraint."""

import csv
import io
import json

import pytest

import scorespace as ss
from oracles.load import reference

MODELS = ["--score", "naive_bayes", "--score", "tree", "--score", "logistic"]
GROUPED = ["--group", "patient"]
KEYS = {"model", "threshold", "slope", "cost_per_case", "tp", "fp", "fn", "tn", "dominated", "regions"}
# Three rules that watch valves: hits and misses above, false alarms and rest below.
VALVES = {"c1": ((300, 200), (500, 99000)), "c2": ((0, 500), (0, 99500)), "c3": ((400, 100), (5400, 94100))}


@pytest.fixture
def loans(credit, tmp_path):
    """Truth and scores of the bundled data, read without our code."""
    with (tmp_path / "credit.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture
def valves(write):
    for name, ((tp, fn), (fp, tn)) in VALVES.items():
        write(f"{name}.csv", f"actual,fault,fine\nfault,{tp},{fn}\nfine,{fp},{tn}\n")
    return [part for name in VALVES for part in ("--matrix", f"{name}={name}.csv")] + ["--positive", "fault"]


def outcomes(loans, model, threshold):
    alarm = [float(loan[model]) >= threshold for loan in loans]
    bad = [loan["outcome"] == "bad" for loan in loans]
    pairs = list(zip(bad, alarm, strict=True))
    return {"tp": pairs.count((True, True)), "fp": pairs.count((False, True)), "fn": pairs.count((True, False))}


def candidates(loans, model):
    return [float("inf"), *sorted({float(loan[model]) for loan in loans}, reverse=True)]


def test_in_a_process_of_its_own(shell, valves):
    done = shell("decide", *valves, "--cost-fp", "100", "--cost-fn", "2000")
    assert (done.code, done.err) == (0, "")
    assert "Use c1: cross-fitted cost of choosing model 4.500 per case" in done.out


# --- by costs


def test_least_cost_of_all_models_and_thresholds(run, credit, loans):
    def cost(model, threshold):
        found = outcomes(loans, model, threshold)
        return (found["fp"] + 5 * found["fn"]) / len(loans)

    prices = {
        (model, threshold): cost(model, threshold)
        for model in ("naive_bayes", "tree", "logistic")
        for threshold in candidates(loans, model)
    }
    model, threshold = min(prices, key=prices.get)
    found = run("decide", *credit, *MODELS, "--cost-fp", "1", "--cost-fn", "5", "--format", "json").json()
    assert set(found) >= KEYS
    assert (found["model"], found["threshold"]) == (model, threshold)
    assert found["cost_per_case"] == pytest.approx(prices[model, threshold], abs=1e-12)
    expected = outcomes(loans, model, threshold)
    assert {name: found[name] for name in expected} == expected
    assert found["slope"] == pytest.approx((1 * 0.7) / (5 * 0.3), abs=1e-12)
    for row in found["rows"][:3]:
        least = min(price for (name, _), price in prices.items() if name == row["model"])
        assert row["cost_per_case"] == pytest.approx(least, abs=1e-12)


def test_regions_cover_all_slopes_without_a_gap(run, credit):
    found = run("decide", *credit, *MODELS, "--cost-fp", "1", "--cost-fn", "5", "--format", "json").json()
    regions = found["regions"]
    assert all(list(region) == ["model", "slope_low", "slope_high", "threshold"] for region in regions)
    assert (regions[0]["slope_high"], regions[-1]["slope_low"]) == (None, 0.0)
    assert [one["slope_low"] for one in regions[:-1]] == [one["slope_high"] for one in regions[1:]]
    chosen = next(r for r in regions if r["slope_low"] <= found["slope"] <= (r["slope_high"] or float("inf")))
    assert (chosen["model"], chosen["threshold"]) == (found["model"], found["threshold"])


def test_a_stated_prevalence_changes_the_slope(run, credit):
    costs = ("--cost-fp", "1", "--cost-fn", "5", "--prevalence", "0.1")
    found = run("decide", *credit, "--score", "tree", *costs, "--format", "json").json()
    assert found["slope"] == pytest.approx(0.9 / (5 * 0.1))


def test_crisp_rules_from_matrices(run, valves):
    found = run("decide", *valves, "--cost-fp", "100", "--cost-fn", "2000", "--format", "json").json()
    assert (found["model"], found["threshold"]) == ("c1", None)
    assert found["slope"] == pytest.approx(9.95, abs=1e-12)
    prices = {row["model"]: row["cost_per_case"] for row in found["rows"]}
    assert [prices[name] for name in VALVES] == pytest.approx([4.5, 10, 7.4], abs=1e-12)
    assert [one["model"] for one in found["dominated"]] == ["c2"]
    assert [found[name] for name in ("tp", "fp", "fn", "tn")] == [300, 500, 200, 99000]


def test_costs_of_two_classes_from_a_file(run, valves, write):
    write("costs.csv", "actual,fine,fault\nfine,0,100\nfault,2000,0\n")
    found = run("decide", *valves, "--costs", "costs.csv", "--format", "json").json()
    assert (found["model"], found["slope"]) == ("c1", pytest.approx(9.95))


def test_costs_of_several_classes_from_a_file(run, write):
    # From the lecture slides; there, rows are decisions.
    write("counts.csv", "predicted,a,b,c\na,20,0,13\nb,5,15,4\nc,4,7,60\n")
    write("costs.csv", "predicted,a,b,c\na,0,5,2\nb,200,-2000,10\nc,10,1,-15\n")
    found = run("decide", "--matrix", "nb=counts.csv", "--costs", "costs.csv", "--format", "json").json()
    assert set(found) >= KEYS
    assert (found["model"], found["total_cost"]) == ("nb", -29787)
    assert found["cost_per_case"] == pytest.approx(-29787 / 128)


def test_the_cheapest_of_several_models_on_several_classes(run, write):
    write("costs.csv", "actual,a,b,c\na,0,1,9\nb,1,0,1\nc,1,1,0\n")
    write("data.csv", "y,good,bad\na,b,c\nb,b,b\nc,c,c\n")
    asked = ("decide", "data.csv", "--truth", "y", "--decision", "bad", "--decision", "good", "--costs", "costs.csv")
    found = run(*asked, "--format", "json").json()
    assert (found["model"], found["total_cost"]) == ("good", 1)
    assert "bad would cost 2 667 per 1 000 more" in found["verdict"]


def test_scores_of_several_classes_are_decided_by_least_cost(run, oracles, write):
    path = oracles / "weka_iris_nb_predictions.csv"
    kinds = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    costs = [[0, 1, 1], [1, 0, 1], [1, 9, 0]]
    lines = [[kind, *map(str, row)] for kind, row in zip(kinds, costs, strict=True)]
    write("costs.csv", "\n".join(map(",".join, [["actual", *kinds], *lines])))
    by_cost, by_score = 0, 0
    with path.open() as file:
        for flower in csv.DictReader(file):
            chances = [float(flower[f"p_{kind}"]) for kind in kinds]
            expected = [sum(p * row[k] for p, row in zip(chances, costs, strict=True)) for k in range(3)]
            actual = kinds.index(flower["actual"])
            by_cost += costs[actual][expected.index(min(expected))]
            by_score += costs[actual][chances.index(max(chances))]
    asked = ("decide", str(path), "--truth", "actual", "--score", "p_*", "--costs", "costs.csv", "--format", "json")
    found = {row["model"]: row["total_cost"] for row in run(*asked).json()["rows"]}
    assert found == {"p": by_score, "p (least cost)": by_cost}
    assert by_cost < by_score


# --- under a constraint


def test_best_precision_with_recall_of_at_least(run, credit, loans):
    def precision(model, threshold):
        found = outcomes(loans, model, threshold)
        return found["tp"] / (found["tp"] + found["fp"]) if found["tp"] >= 0.9 * 300 else 0

    expected = max(
        precision(model, threshold) for model in ("naive_bayes", "tree") for threshold in candidates(loans, model)
    )
    asked = ("decide", *credit, "--score", "naive_bayes", "--score", "tree", "--at-least", "tpr=0.9")
    found = run(*asked, "--maximise", "ppv", "--format", "json").json()
    assert precision(found["model"], found["threshold"]) == pytest.approx(expected, abs=1e-12)
    best = next(row for row in found["rows"] if row["model"] == found["model"])
    assert (best["value"], best["kept"]) == (pytest.approx(expected, abs=1e-12), True)


def test_least_false_alarms_with_misses_of_at_most(run, credit, loans):
    asked = ("decide", *credit, "--score", "tree", "--at-most", "fnr=0.2", "--minimise", "fpr", "--format", "json")
    found = run(*asked).json()
    kept = [outcomes(loans, "tree", t) for t in candidates(loans, "tree")]
    assert found["fp"] == min(each["fp"] for each in kept if each["fn"] <= 0.2 * 300)


def test_a_bound_typed_with_few_digits_does_not_fail_by_rounding(run, write):
    rows = [(1, 0.9)] * 7 + [(1, 0.1)] * 3 + [(0, 0.1)] * 5
    write("data.csv", "y,s\n" + "".join(f"{y},{s}\n" for y, s in rows))
    asked = ("decide", "data.csv", "--truth", "y", "--score", "s", "--at-least", "tpr=0.7", "--maximise", "ppv")
    assert run(*asked, "--format", "json").json()["threshold"] == 0.9


def test_constraints_that_nothing_keeps_are_said_plainly(run, credit):
    asked = (
        "decide",
        *credit,
        "--score",
        "tree",
        "--at-least",
        "tpr=0.9",
        "--at-most",
        "fpr=0.01",
        "--maximise",
        "ppv",
    )
    done = run(*asked)
    assert done.code == 0
    assert "No threshold of any model satisfies tpr ≥ 0.9 and fpr ≤ 0.01." in " ".join(done.out.split())
    found = run(*asked, "--format", "json").json()
    assert (found["model"], found["threshold"], found["notes"]) == (None, None, [])


# --- chosen on one file, judged on another


@pytest.fixture
def halves(credit, tmp_path, write):
    """The bundled data in two files, and what is asked of both."""
    head, *lines = (tmp_path / "credit.csv").read_text().splitlines()
    write("early.csv", "\n".join([head, *lines[:500]]) + "\n")
    write("late.csv", "\n".join([head, *lines[500:]]) + "\n")
    return ("decide", "late.csv", *credit[1:], "--score", "tree", "--fit", "early.csv")


def test_costs_of_a_threshold_chosen_elsewhere(run, halves, loans):
    def price(rows, threshold):
        found = outcomes(rows, "tree", threshold)
        return (found["fp"] + 5 * found["fn"]) / len(rows)

    early, late = loans[:500], loans[500:]
    threshold = min(candidates(early, "tree"), key=lambda t: price(early, t))
    found = run(*halves, "--cost-fp", "1", "--cost-fn", "5", "--format", "json").json()
    assert found["threshold"] == threshold
    assert found["cost_per_case"] == pytest.approx(price(early, threshold))
    assert found["cross_fitted_cost"] == pytest.approx(price(late, threshold))
    assert found["cross_fitted_low"] < found["cross_fitted_cost"] < found["cross_fitted_high"]
    assert {name: found[name] for name in ("tp", "fp", "fn")} == outcomes(late, "tree", threshold)
    assert (found["fitted"], found["notes"]) == ("early.csv", [])
    assert ", chosen on early.csv" in " ".join(run(*halves, "--cost-fp", "1", "--cost-fn", "5").out.split())


def test_a_constraint_chosen_elsewhere(run, halves, loans):
    found = run(*halves, "--at-least", "tpr=0.9", "--maximise", "ppv", "--format", "json").json()
    here = outcomes(loans[500:], "tree", found["threshold"])
    assert found["cross_fitted_value"] == pytest.approx(here["tp"] / (here["tp"] + here["fp"]))
    assert found["rows"][0]["cross_fitted_tpr"] == pytest.approx(here["tp"] / (here["tp"] + here["fn"]))


@pytest.mark.parametrize("way", [("--reject", "0.2"), ("--mix", "fpr=0.2")])
def test_ways_that_choose_no_threshold_take_no_other_data(run, halves, way):
    done = run(*halves, *way)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ConditionError: --fit needs data, and costs or a constraint.")


# --- with rejection, and by lot


def test_doubtful_cases_are_handed_over(run, credit, loans):
    found = run("decide", *credit, "--score", "logistic", "--reject", "0.2", "--format", "json").json()
    kept = [loan for loan in loans if not 0.2 < float(loan["logistic"]) < 0.8]
    right = sum((float(loan["logistic"]) >= 0.5) == (loan["outcome"] == "bad") for loan in kept)
    row, *others = found["rows"]
    alone = [(one["model"], one["rejected"]) for one in others]
    assert alone[:2] == [("reject all", 1.0), ("logistic, decide all", 0.0)]
    assert found["recommended"] == "logistic"
    assert (row["low"], row["high"]) == (0.2, 0.8)
    assert row["rejected"] == pytest.approx(1 - len(kept) / 1000)
    assert row["accuracy"] == pytest.approx(right / len(kept))
    assert found["cost_per_case"] == pytest.approx((len(kept) - right + 0.2 * (1000 - len(kept))) / 1000)


def test_a_mixture_reaches_a_rate_between_two_thresholds(run, write):
    # The hull runs from (0, 1/3) at 0.9 to (1/3, 1) at 0.4; halfway lies (1/6, 2/3).
    write("small.csv", "y,s\n1,0.9\n0,0.8\n1,0.7\n1,0.4\n0,0.3\n0,0.1\n")
    asked = ("decide", "small.csv", "--truth", "y", "--score", "s", "--mix", f"fpr={1 / 6}")
    found = run(*asked, "--format", "json").json()
    assert (found["fpr"], found["tpr"]) == pytest.approx((1 / 6, 2 / 3))
    assert [row["threshold"] for row in found["rows"]] == [0.9, 0.4]
    assert [row["probability"] for row in found["rows"]] == pytest.approx([1 / 2, 1 / 2])
    assert "use s at threshold 0.9 with probability 0.500" in " ".join(run(*asked).out.split())


# --- what is shown


@pytest.mark.parametrize("columns", [80, 120])
def test_text_keeps_to_the_width(run, credit, columns):
    named = ["--name", "tree=a_tree_with_a_name_that_is_rather_long"]
    out = run("decide", *credit, *MODELS, *named, "--cost-fp", "1", "--cost-fn", "5", columns=columns).out
    assert max(map(len, out.splitlines())) <= columns


def test_text_shows_condition_choices_regions_and_what_to_use(run, valves):
    out = run("decide", *valves, "--cost-fp", "100", "--cost-fn", "2000", "--all").out
    parts = [
        "slope 9.95",
        "cost/case",
        "false positives",
        "best model",
        "Use c1: cross-fitted cost of choosing model 4.500",
    ]
    assert [out.find(part) for part in parts] == sorted(out.find(part) for part in parts)
    assert all(part in out for part in parts)
    never = "c2 is never the better choice, whatever the costs: dominated in 100 % of bootstrap replicates."
    assert never in " ".join(out.split())


def test_csv_is_one_row_per_model_and_trivial_rule(run, valves):
    done = run("decide", *valves, "--cost-fp", "100", "--cost-fn", "2000", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["model"] for row in rows] == [*VALVES, "always negative", "always positive"]
    assert {row["threshold"] for row in rows} == {""}


def test_markdown_ends_with_what_to_use(run, valves):
    out = run("decide", *valves, "--cost-fp", "100", "--cost-fn", "2000", "--format", "markdown").out
    assert "| c1 " in out
    assert "**Use c1: cross-fitted cost of choosing model 4.500 per case" in out


# --- mistakes


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "ConditionError: no decision rule is stated."),
        (["--cost-fp", "1"], "ConditionError: the costs of both errors are needed."),
        (["--prevalence", "0.1"], "ConditionError: the costs of both errors are needed."),
        (
            ["--cost-fp", "1", "--cost-fn", "5", "--maximise", "ppv"],
            "ConditionError: more than one decision rule is stated.",
        ),
        (
            ["--cost-fp", "1", "--cost-fn", "5", "--prevalence", "30"],
            "ConditionError: prevalence=30 is not between",
        ),
        (["--cost-fp", "0", "--cost-fn", "5"], "ConditionError: with these costs, always deciding positive is optimal"),
        (["--cost-fp", "nan", "--cost-fn", "5"], "ConditionError: fp=nan is not a cost."),
        (["--at-least", "tpr=0.9"], "MeasureError: state one measure to maximise or minimise."),
        (["--maximise", "ppv", "--minimise", "fpr"], "MeasureError: state one measure to maximise or minimise."),
        (["--maximise", "fpr"], "MeasureError: fpr is better when lower."),
        (["--minimise", "ppv"], "MeasureError: ppv is better when higher."),
        (["--at-least", "tpr", "--maximise", "ppv"], "MeasureError: the bound 'tpr' cannot be parsed."),
        (["--at-least", "tpr=high", "--maximise", "ppv"], "MeasureError: the bound 'tpr=high' cannot be parsed."),
        (["--at-least", "auc=0.9", "--maximise", "ppv"], "MeasureError: auc cannot be chosen by threshold."),
        (["--maximise", "precisio"], "MeasureError: there is no measure 'precisio'."),
        (["--reject", "0.6"], "ConditionError: a rejection cost of 0.6 errors "),
        (["--mix", "ppv=0.6"], "MeasureError: --mix ppv=0.6 cannot be parsed."),
        (["--mix", "fpr=2"], "ScoreSpaceError: 2.0 is not a rate."),
        (["--costs", "absent.csv"], "DataError: there is no file 'absent.csv'."),
        (["--costs", "credit.csv"], "DataError: the matrix in 'credit.csv' is not square."),
    ],
)
def test_a_condition_that_cannot_be_used(run, credit, options, problem):
    done = run("decide", *credit, "--score", "tree", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(problem)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "DataError: 'costs.csv' holds no matrix."),
        ("actual,bad,good\nbad,0,five\ngood,1,0\n", "DataError: 'costs.csv' has a cell that is not a number."),
        (
            "actual,bad,good\nbad,0,5\nfine,1,0\n",
            "DataError: the rows and columns of 'costs.csv' name",
        ),
        ("actual,bad,fine\nbad,0,5\nfine,1,0\n", "ConditionError: the cost matrix and the data disagree on the class"),
        ("actual,bad,good\nbad,0,5\ngood,0,1\n", "ConditionError: with these costs, always deciding 'bad' is optimal"),
    ],
)
def test_a_cost_file_that_cannot_be_used(run, credit, write, content, problem):
    write("costs.csv", content)
    done = run("decide", *credit, "--score", "tree", "--costs", "costs.csv")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(problem)


def test_costs_need_both_classes(run, write):
    write("one.csv", "y,s\n1,0.5\n1,0.6\n")
    done = run("decide", "one.csv", "--truth", "y", "--score", "s", "--cost-fp", "1", "--cost-fn", "5")
    assert done.code == 2
    assert done.err.startswith("ConditionError: a decision needs cases of both classes.")


def test_a_constraint_needs_a_positive_class(run, write):
    write("nb.csv", "actual,a,b,c\na,1,2,3\nb,1,2,3\nc,1,2,3\n")
    done = run("decide", "--matrix", "nb=nb.csv", "--maximise", "ppv")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ConditionError: ")


# --- by rank: a budget of alarms


def test_a_budget_of_alarms(run, credit, loans):
    asked = ("decide", *credit, "--score", "tree", "--score", "logistic", "--maximise", "tpr@top200")
    found = run(*asked, "--format", "json").json()
    best = sorted(loans, key=lambda loan: -float(loan["logistic"]))[:200]
    hits = sum(loan["outcome"] == "bad" for loan in best)
    assert (found["model"], found["tp"], found["fp"]) == ("logistic", hits, 200 - hits)
    assert found["threshold"] == min(float(loan["logistic"]) for loan in best)
    assert run(*asked).out.splitlines()[-2:] == [
        "Use logistic at threshold 0.5515: tpr@top200 0.427 [0.388, 0.469], the best;",
        "tree reaches 0.361.",
    ]


def test_a_budget_that_cuts_ties(run, write):
    tied = write("tied.csv", "y,s\n" + "".join(f"{y},{s}\n" for y, s in [(1, 3), (1, 2), (0, 2), (0, 2), (0, 1)] * 20))
    done = run("decide", tied, "--truth", "y", "--score", "s", "--maximise", "tpr@top40")
    assert "Of the 60 cases with that score, 20 are predicted positive at random." in " ".join(done.out.split())
    # 20 sure hits, and a third of the 20 places that are left
    asked = ("decide", tied, "--truth", "y", "--score", "s", "--maximise", "tpr@top40", "--format", "json")
    assert run(*asked).json()["tp"] == pytest.approx(20 + 20 / 3)


def test_bounds_by_rank(run, credit):
    asked = ("decide", *credit, "--score", "tree", "--score", "logistic", "--maximise", "tpr@top200")
    found = run(*asked, "--at-least", "ppv@top200=0.6")
    assert " ".join(found.out.split()).endswith(
        "Use logistic at threshold 0.5515: tpr@top200 0.427 [0.388, 0.469], the best among those with ppv@top200 ≥ "
        "0.6. tree: not ppv@top200 ≥ 0.6."
    )
    none = run(*asked, "--at-least", "ppv@top200=0.9")
    assert " ".join(none.out.split()).endswith(
        "No model satisfies ppv@top200 ≥ 0.9. The nearest is logistic at threshold 0.5515, with ppv@top200 0.640."
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--maximise", "tpr@top200", "--at-least", "ppv=0.9"],
            "MeasureError: the measure and its constraints have different operating points.\n"
            "  seen: tpr@top200, ppv\n  hint: tpr@top200, and constraints at the same operating point\n",
        ),
        (
            ["--maximise", "tpr", "--at-least", "ppv@top200=0.9"],
            "MeasureError: the measure and its constraints have different operating points.\n"
            "  seen: tpr, ppv@top200\n  hint: tpr@top200, and constraints at the same operating point\n",
        ),
        (
            ["--maximise", "tpr@top2000"],
            "MeasureError: tpr@top2000 selects the 2 000 highest scores, but there are fewer cases.\n"
            "  seen: 1 000 cases\n",
        ),
    ],
)
def test_budgets_that_cannot_be(run, credit, given, message):
    done = run("decide", *credit, "--score", "logistic", *given)
    assert (done.code, done.err) == (2, message)


def test_decisions_have_no_ranks(run, valves):
    done = run("decide", *valves, "--maximise", "tpr@top200")
    assert (done.code, done.err) == (
        2,
        "MeasureError: tpr@top200 needs a ranking, and c1 has hard decisions.\n"
        "  hint: scores, or a measure without @top\n",
    )


# --- matrices: typed, in any orientation, beside scores

TYPED = [
    part
    for name, (hits, rest) in VALVES.items()
    for part in ("--matrix", f"{name}={hits[0]} {hits[1]}; {rest[0]} {rest[1]}")
]
PRICED = ["--cost-fp", "100", "--cost-fn", "2000"]


def test_typed_matrices_decide_like_files(run, valves):
    typed = run("decide", *TYPED, *PRICED, "--format", "json").json()
    filed = run("decide", *valves, *PRICED, "--format", "json").json()
    assert typed["cost_per_case"] == filed["cost_per_case"] == pytest.approx(4.5)
    assert [row["cost_per_case"] for row in typed["rows"]] == [row["cost_per_case"] for row in filed["rows"]]


def test_labels_of_ones_and_zeros_in_any_order_tell_the_positive_class(run, write):
    for text in (",1,0\n1,300,200\n0,500,99000\n", ",0,1\n0,99000,500\n1,200,300\n", ",1,0\n0,500,99000\n1,300,200\n"):
        asked = ("decide", "--matrix", f"c1={write('c1.csv', text)}", *PRICED, "--format", "json")
        assert run(*asked).json()["cost_per_case"] == pytest.approx(4.5)


def test_rows_of_decisions(run, write):
    turned = write("c1.csv", ",1,0\n1,300,500\n0,200,99000\n")
    asked = ("decide", "--matrix", f"c1={turned}", "--rows", "predicted", *PRICED, "--format", "json")
    assert run(*asked).json()["cost_per_case"] == pytest.approx(4.5)
    typed = ("decide", "--matrix", "c1=300 500; 200 99000", "--rows", "predicted", *PRICED, "--format", "json")
    assert run(*typed).json()["cost_per_case"] == pytest.approx(4.5)


def test_a_matrix_beside_scores(run, credit):
    asked = ("decide", *credit, "--score", "logistic", "--matrix", "clerk=150 150; 100 600", "--cost-fp", "1")
    found = run(*asked, "--cost-fn", "5", "--format", "json").json()
    assert [row["model"] for row in found["rows"]][:2] == ["logistic", "clerk"]
    assert next(row["cost_per_case"] for row in found["rows"] if row["model"] == "clerk") == pytest.approx(0.85)
    assert found["model"] == "logistic"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--matrix", "clerk=15 15; 10 60"],
            "DataError: logistic and clerk are not evaluated on the same cases.\n"
            "  seen: 'bad' (300 rows), 'good' (700 rows); 'bad' (30 rows), 'good' (70 rows)\n"
            "  hint: evaluate tables of different samples separately\n",
        ),
        (
            ["--matrix", "logistic=150 150; 100 600"],
            "ScoreSpaceError: two models are named 'logistic'.\n  hint: rename one of them\n",
        ),
        (
            ["--matrix", "a=150 150; 100 600", "--matrix", "a=150 150; 100 600"],
            "DataError: there are two matrices named 'a'.\n  hint: a name for each: --matrix A='150 150; 100 600'\n",
        ),
        (
            ["--rows", "predicted"],
            "DataError: --rows describes a matrix, but none is passed.\n  hint: --matrix NAME=FILE.csv\n",
        ),
    ],
)
def test_matrices_that_do_not_belong_beside_scores(run, credit, given, message):
    done = run("decide", *credit, "--score", "logistic", *given, "--cost-fp", "1", "--cost-fn", "5")
    assert (done.code, done.err) == (2, message)


def test_a_typed_matrix_names_no_class(run):
    done = run("decide", "--matrix", "c1=300 200; 500 99000", "--positive", "fault", *PRICED)
    assert (done.code, done.err) == (
        2,
        "ColumnError: --positive fault names a class, but the matrix of c1 has no class labels.\n"
        "  hint: leave out --positive: the first row is the positive class\n",
    )


# --- slopes, the cost cell by cell, and the picture


def test_the_slope_alone_decides(run):
    # M = FNR + slope · FPR: c1 0.4 + 2 · 500/99500, c3 0.2 + 2 · 5400/99500
    found = run("decide", *TYPED, "--slope", "2", "--format", "json").json()
    assert found["model"] == "c3"
    assert found["slope"] == pytest.approx(2)
    wanted = {"c1": 0.4 + 1000 / 99500, "c2": 1.0, "c3": 0.2 + 10800 / 99500}
    assert {row["model"]: row["relative_cost"] for row in found["rows"] if row["model"] in wanted} == pytest.approx(
        wanted
    )
    assert run("decide", *TYPED, "--slope", "9.95", "--format", "json").json()["model"] == "c1"  # that of 100 and 2 000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--slope", "2", "--cost-fp", "1"],
            "ConditionError: --slope replaces the costs and the prevalence.\n"
            "  hint: either --slope 2, or --cost-fp 1 --cost-fn 5\n",
        ),
        (
            ["--slope", "-2"],
            "ConditionError: slope=-2 is not a slope of iso-cost lines.\n  hint: a number above 0, such as 2\n",
        ),
        (
            ["--maximise", "tpr", "--at-most", "fpr=0.1", "--out", "hull.png"],
            "ConditionError: this decision has no chart.\n  hint: leave out --out\n",
        ),
    ],
)
def test_slopes_and_pictures_that_cannot_be(run, given, message):
    done = run("decide", *TYPED, *given)
    assert (done.code, done.err) == (2, message)


def test_the_cost_cell_by_cell(run):
    shown = [line.rstrip() for line in run("decide", *TYPED, *PRICED, "--all").out.splitlines()]
    begins = shown.index("cost per 1 000    false positives   false negatives   total")
    # of 1 000 cases c1 has 5 false alarms and 2 misses, c3 54 and 1, c2 misses 5
    assert shown[begins + 1 : begins + 4] == [
        "c1                500               4 000             4 500",
        "c3                5 400             2 000             7 400",
        "c2                0                 10 000            10 000",
    ]


def test_the_picture_of_a_decision(run, tmp_path):
    done = run("decide", *TYPED, *PRICED, "--out", "hull.svg")
    assert (done.code, done.err) == (0, "picture  hull.svg\n")
    assert "c1" in (tmp_path / "hull.svg").read_text()


def test_the_picture_of_a_shift_names_the_iso_loss_line(run, write, tmp_path):
    data = write("four.csv", "y,p\n1,2\n2,1\n3,5\n4,4\n")
    asked = ("--truth", "y", "--prediction", "p", "--cost-under", "2", "--cost-over", "1", "--out", "rroc.svg")
    done = run("decide", data, *asked)
    assert (done.code, done.err) == (0, "picture  rroc.svg\n")
    drawn = (tmp_path / "rroc.svg").read_text()
    # α = cost of overprediction over both; lines of equal loss have slope (1 − α) / α.
    assert "equal loss at α = " in drawn
    assert "diamond: not shifted" in drawn


# --- rejection with costs, and of several classes


def test_a_rejection_beside_the_costs_of_both_errors(run, credit, loans):
    asked = ("decide", *credit, "--score", "logistic", "--reject", "0.2", "--cost-fp", "1", "--cost-fn", "5")
    found = run(*asked, "--format", "json").json()["rows"][0]
    # expected cost of an alarm 1 − p, of none 5 p: handed over where both are above 0.2
    spent, given = 0.0, 0
    for loan in loans:
        p, bad = float(loan["logistic"]), loan["outcome"] == "bad"
        if 5 * p > 0.2 and 1 - p > 0.2:
            given, spent = given + 1, spent + 0.2
        else:
            spent += (not bad) if 1 - p < 5 * p else 5 * bad
    assert found["rejected"] == pytest.approx(given / 1000)
    assert found["cost"] == pytest.approx(spent / 1000)
    assert (found["low"], found["high"]) == (pytest.approx(0.04), pytest.approx(0.8))
    said = " ".join(run(*asked).out.split())
    assert "Reject every case: a false positive counting 1 and a false negative 5, 0.200 per case. logistic, " in said
    assert "between 0.04 and 0.8 (84.5 % of them, accuracy of the rest 0.935)" in said
    assert ": 0.191 per case [0.178, 0.216], 9 per 1 000 less [−16, 22]." in said


def test_equal_costs_are_chows_rule(run, credit):
    asked = ("decide", *credit, "--score", "logistic", "--reject", "0.2", "--format", "json")
    plain = run(*asked).json()["rows"]
    priced = run(*asked, "--cost-fp", "1", "--cost-fn", "1").json()["rows"]
    assert [row["cost"] for row in priced] == pytest.approx([row["cost"] for row in plain])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--reject", "0.9", "--cost-fp", "1", "--cost-fn", "5"],
            "ConditionError: a rejection cost of 0.9 is never or always optimal with errors that cost 1 and 5.\n"
            "  hint: between 0 and 0.8333\n",
        ),
        (
            ["--reject", "0.2", "--cost-fp", "1", "--cost-fn", "5", "--cost-tp", "2"],
            "ConditionError: with these costs no case can be rejected: an error is cheaper than a "
            "correct decision.\n  seen: fp=1, tn=0, fn=5, tp=2\n"
            "  hint: each error must cost more than either correct decision\n",
        ),
    ],
)
def test_rejections_that_are_no_choice(run, credit, given, message):
    done = run("decide", *credit, "--score", "logistic", *given)
    assert (done.code, done.err) == (2, message)


def test_a_rejection_beside_gains_a_prevalence_and_a_matrix(run, credit, write):
    """The same of two classes by options and by a file; of several, expected costs decide."""
    asked = ("decide", *credit, "--score", "logistic", "--reject", "0.2", "--format", "json")
    stated = ("--cost-fp", "1", "--cost-fn", "5", "--cost-tp", "-2", "--cost-tn", "-0.5")
    row, *others = run(*asked, *stated).json()["rows"]
    file = write("costs.csv", ",bad,good\nbad,-2,5\ngood,1,-0.5\n")
    assert run(*asked, "--costs", file).json()["rows"] == [row, *others]
    assert row["cost_low"] < row["cost"] < row["cost_high"]
    rarer = run(*asked, *stated, "--prevalence", "0.1").json()["rows"][0]
    assert rarer["low"] > row["low"]
    write("three.csv", "y,m_a,m_b,m_c\na,0.9,0.05,0.05\nb,0.1,0.8,0.1\nc,0.3,0.4,0.3\n")
    write("even.csv", ",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n")
    three = ("decide", "three.csv", "--truth", "y", "--score", "m_*", "--costs", "even.csv")
    found = run(*three, "--reject", "0.3", "--format", "json").json()["rows"][0]
    assert (found["rejected"], found["accuracy"], found["cost"]) == pytest.approx((1 / 3, 1.0, 0.1))
    shown = run(*three).out
    assert "always a" in shown
    assert "m (least cost)   0.333 [" in shown


def test_a_rejection_between_several_classes(run, write):
    # The lead of the best over the second is 0.8, 0.6, 0.4, 0.2, 0; the last two are wrong.
    lines = ["a,0.9,0.1,0", "b,0.2,0.8,0", "c,0.3,0,0.7", "a,0.4,0.6,0", "b,0.5,0.1,0.4"] * 20
    data = write("k.csv", "y,m_a,m_b,m_c\n" + "\n".join(lines) + "\n")
    found = run("decide", data, "--truth", "y", "--score", "m_*", "--reject", "0.2", "--format", "json").json()["rows"][
        0
    ]
    assert found["lead"] == pytest.approx(0.4)
    assert (found["rejected"], found["accuracy"]) == (pytest.approx(0.4), 1.0)
    assert found["cost"] == pytest.approx(0.4 * 0.2)
    shown = " ".join(run("decide", data, "--truth", "y", "--score", "m_*", "--reject", "0.2").out.split())
    assert "rejecting the cases whose best class leads the second by less than 0.4 (40.0 % of them," in shown


def test_a_shift_of_predicted_numbers(run, tmp_path):
    path = tmp_path / "deliveries.csv"
    path.write_text("y,near,far\n" + "".join(f"{k},{k + k % 5 - 2},{k + 3 * (k % 5) - 6}\n" for k in range(100)))
    given = ("decide", str(path), "--truth", "y", "--prediction", "near", "--prediction", "far")
    found = json.loads(run(*given, "--cost-under", "2", "--cost-over", "1", "--format", "json").out)
    assert (found["model"], found["shift"], found["alpha"]) == ("near", 1.0, pytest.approx(2 / 3))
    assert found["loss"] == pytest.approx((2 * 1 + 1 + 2 + 3) / 5)
    assert found["dominated"] == [{"model": "far"}]
    assert {"model", "alpha_low", "alpha_high"} == set(found["regions"][0])
    told = run(*given, "--cost-under", "2", "--cost-over", "1", "--fit", str(path)).out
    assert "chosen on" in told
    assert run(*given, "--cost-under", "2", "--cost-over", "1", "--cost-fp", "1", "--cost-fn", "5").code == 2


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (["--at-least", "tpr=0.9", "--maximise", "ppv"], "a threshold under a constraint"),
        (["--reject", "0.2"], "a rejection"),
        (["--mix", "fpr=0.2"], "a mixture of classifiers"),
    ],
)
def test_what_parts_classes_is_refused_for_numbers(run, write, asked, what):
    data = write("numbers.csv", "y,p\n102,100\n110,102\n95,105\n75,95\n")
    done = run("decide", data, "--truth", "y", "--prediction", "p", *asked)
    assert (done.code, done.err) == (
        2,
        f"ConditionError: {what} needs classes, and these models hold numeric predictions.\n"
        "  seen: 'p'\n"
        "  hint: --cost-under 2 --cost-over 1, for the shift of minimum cost\n",
    )


def test_classes_are_decided_in_their_order(run, write):
    grades = write("grades.csv", "y,d\nlow,low\nhigh,high\nmedium,low\nhigh,medium\n")
    costs = write("costs.csv", ",low,medium,high\nlow,0,1,2\nmedium,1,0,1\nhigh,2,1,0\n")
    asked = ["decide", grades, "--truth", "y", "--decision", "d", "--costs", costs]
    assert run(*asked, "--order", "low,medium,high").out.splitlines()[1].endswith("low (1)   medium (1)   high (2)")


def test_cases_of_a_group_choose_together(run, credit, loans, write):
    rows = "".join(f"{loan['outcome']},{loan['logistic']},{k // 2 % 250}\n" for k, loan in enumerate(loans))
    write("visits.csv", f"outcome,s,patient\n{rows}")
    asked = ["decide", "visits.csv", "--truth", "outcome", "--positive", "bad", "--score", "s", "--format", "json"]
    alone, together = (run(*asked, "--cost-fp", "1", "--cost-fn", "5", *more).json() for more in ([], GROUPED))
    found = ss.evaluate("visits.csv", truth="outcome", positive="bad", scores="s", group="patient")
    decision = found.decide(ss.Condition(fp=1, fn=5))
    assert together["cross_fitted_cost"] == decision.out_of_sample.value
    assert together["cross_fitted_cost"] != alone["cross_fitted_cost"]
    assert together["cost_per_case"] == alone["cost_per_case"]


# --- rows: predicted class, in matrices and costs alike


def predicted_rows(tmp_path, name, cells, classes):
    path = tmp_path / f"{name}.csv"
    lines = [
        ",".join(["", *classes]),
        *(",".join([one, *map(str, row)]) for one, row in zip(classes, cells, strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("verb", ["decide", "evaluate"])
def test_total_cost_of_three_classes_typed_as_on_the_slide(run, tmp_path, verb):
    theirs = reference("lecture_examples")["multiclass_cost"]
    counts = predicted_rows(tmp_path, "counts", theirs["counts_rows_predicted"], "abc")
    costs = predicted_rows(tmp_path, "costs", theirs["cost_rows_predicted"], "abc")
    done = run(verb, "--matrix", f"m={counts}", "--rows", "predicted", "--costs", costs, "--format", "json")
    found = done.json() if verb == "decide" else done.json()["decision"]
    assert found["total_cost"] == theirs["total"]
    said = [one["text"] for one in done.json()["notes"] if one["code"] == "SS099"]
    assert said == [
        "Rows are predicted classes in m and the cost matrix; in the tables below, rows are actual classes."
    ]


def test_valves_typed_as_on_the_slide(run, tmp_path):
    given = reference("lecture_examples")["valve"]
    classes, asked = ("open", "close"), []
    for name in ("c1", "c2", "c3"):
        one = given[name]
        path = predicted_rows(tmp_path, name, [[one["TP"], one["FP"]], [one["FN"], one["TN"]]], classes)
        asked += ["--matrix", f"{name}={path}"]
    costs = predicted_rows(tmp_path, "costs", [[0, 100], [2000, 0]], classes)
    asked += ["--rows", "predicted", "--costs", costs, "--positive", "open", "--format", "json"]
    found = run("decide", *asked).json()
    assert found["model"] == "c1"
    for row in found["rows"][:3]:
        assert row["cost_per_case"] == pytest.approx(given[row["model"]]["cost_per_unit"], abs=1e-9)


def test_costs_alone_have_rows_too(run, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("y,d\n" + "a,a\na,b\na,b\nb,b\nb,a\nc,c\n")
    costs = predicted_rows(tmp_path, "costs", [[0, 7, 1], [2, 0, 1], [1, 1, 0]], "abc")  # b taken for a costs 7
    done = run(
        "decide",
        str(data),
        "--truth",
        "y",
        "--decision",
        "d",
        "--costs",
        costs,
        "--rows",
        "predicted",
        "--format",
        "json",
    )
    assert done.json()["total_cost"] == 2 * 2 + 7


# --- over a range of cost ratios


def test_a_range_of_cost_ratios_has_a_minimax_threshold_and_a_chart(run, credit, tmp_path):
    asked = ("decide", *credit, "--score", "logistic", "--ratio", "3:10")
    found = run(*asked, "--format", "json").json()
    row = found["rows"][0]
    assert (found["ratio_low"], found["ratio_high"]) == (3, 10)
    assert row["largest_regret"] < row["largest_regret_bound"]
    at = run(*asked, "--at", "0.17", "--out", "region.svg")
    assert (at.code, (tmp_path / "region.svg").exists()) == (0, True)
    assert "logistic at threshold 0.17: for cost ratios FN : FP of 3 to 10" in " ".join(at.out.split())


@pytest.mark.parametrize(
    "options", ["--ratio a:b", "--ratio 3:-1", "--at 0.3", "--within 0.1", "--ratio 3:9 --mix fpr=1"]
)
def test_ranges_of_costs_that_cannot_be(run, credit, options):
    done = run("decide", *credit, "--score", "logistic", *options.split())
    assert (done.code, done.out) == (2, "")
    assert "hint:" in done.err
