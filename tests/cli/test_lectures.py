"""Sentences of the lectures, each in one natural command, that no other test holds."""

import numpy as np
import pytest


@pytest.mark.parametrize(
    "names",
    [  # a measure is shown once, under the first of its names
        {
            "probability of detection@0.5": "tpr",
            "probability of false alarm@0.5": "fpr",
            "SPC@0.5": "tnr",
            "FOR@0.5": "fomr",
            "hit@0.5": "tp",
            "miss@0.5": "fn",
            "false alarm@0.5": "fp",
            "correct rejection@0.5": "tn",
            "accuracy@0.5": "acc",
            "roc_auc": "auc",
            "mean score": "mean_score",
            "rank sum": "rank_sum",
        },
        {"SEN@0.5": "tpr", "type I error@0.5": "fp", "type II error@0.5": "fn", "average probability": "mean_score"},
        {"sensitivity@0.5": "tpr", "overestimation@0.5": "fp", "underestimation@0.5": "fn"},
    ],
    ids=["signals", "errors", "estimates"],
)
def test_every_synonym_finds_its_measure_and_stays_what_was_asked(run, credit, names):
    asked = ["evaluate", *credit, "--score", "tree", "--measures", ", ".join(names)]
    shown = run(*asked).out
    assert [name for name in names if f"\n{name} " not in shown] == []
    assert [row["measure"] for row in run(*asked, "--format", "json").json()["rows"]] == list(names.values())


def test_counts_of_cases_are_measures(run, credit):
    found = run("evaluate", *credit, "--score", "tree", "--measures", "P, N, PP@0.5, PN@0.5", "--format", "json")
    assert [row["value"] for row in found.json()["rows"]] == [300, 700, 287, 713]


def test_costs_of_several_classes_are_those_stated(run, write):
    counts = write("counts.csv", "predicted,a,b,c\na,20,0,13\nb,5,15,4\nc,4,7,60\n")
    costs = write("costs.csv", "predicted,a,b,c\na,0,5,2\nb,200,-2000,10\nc,10,1,-15\n")
    gate = ["evaluate", "--matrix", f"m={counts}", "--costs", costs, "--measures", "cost", "--require"]
    assert run(*gate, "cost<=-200").code == 0
    assert run(*gate, "cost<=-300").code == 1


def test_averages_over_pairs_of_classes(run):
    found = run("evaluate", "--matrix", "m=5 0 1; 0 2 2; 1 1 3", "--measures", "f1[one_vs_one]", "--format", "json")
    # Of each two classes, the cases of both that are decided for either, each class once as the positive one.
    pairs = [[5, 0, 0, 2], [5, 1, 1, 3], [2, 2, 1, 3]]
    f1 = [2 * tp / (2 * tp + fp + fn) for a, b, c, d in pairs for tp, fn, fp in ((a, b, c), (d, c, b))]
    assert found.json()["rows"][0]["value"] == pytest.approx(np.mean(f1))


def test_the_stacked_ranks_behind_u(run, credit, tmp_path):
    done = run("curve", *credit, "--score", "tree", "--kind", "ranks", "--out", "ranks.svg")
    assert (done.code, done.err) == (0, "curve  ranks.svg\n")
    assert "<svg" in (tmp_path / "ranks.svg").read_text()
    done = run("curve", *credit, "--score", "tree", "--kind", "ranks")
    assert done.err.startswith("CurveError: ranks is a chart, which needs a file.\n  hint: --out ranks.png")
    done = run("curve", *credit, "--score", "tree", "--kind", "ranks", "--slope", "2", "--out", "ranks.svg")
    assert done.err.startswith("CurveError: ranks is a chart, to which options of curves do not apply.\n")
    assert run("curve", *credit, "--score", "tree", "--kind", "rank").err.startswith("CurveError: there is no curve")


def test_ranking_against_a_numeric_truth(run, write):
    data = write("n.csv", "y,p\n1,2\n2,1\n9,3\n4,5\n6,4\n3,3\n")
    asked = ["evaluate", data, "--truth", "y", "--prediction", "p", "--measures"]
    found = run(*asked, "gini_correlation, spearman, kendall", "--format", "json")
    assert (found.code, found.err) == (0, "")
    rows = found.json()["rows"]
    truth, predicted = np.array([1, 2, 9, 4, 6, 3.0]), np.array([2, 1, 3, 5, 4, 3.0])
    apart = np.subtract.outer(truth, truth)
    pairs = (apart * np.sign(np.subtract.outer(predicted, predicted))).sum() / np.abs(apart).sum()
    assert rows[0]["value"] == pytest.approx(pairs)
    assert rows[0]["low"] < pairs < rows[0]["high"]


def test_order_holds_wherever_it_helps(run, write):
    rows = "".join(f"{y},{a},{b}\n" for y, a, b in zip("lmhlmhlmh" * 4, "lmhlmmlhh" * 4, "lhhmmhllh" * 4, strict=True))
    data = write("grades.csv", "y,a,b\n" + rows)
    both = [data, "--truth", "y", "--decision", "a", "--decision", "b"]
    weighed = [*both, "--measure", "kappa(weights=linear)", "--format", "json"]
    assert run("compare", *weighed, "--order", "l,m,h").json()["rows"][0]["p"] <= 1
    assert run("compare", *weighed).code == 2  # letters have no order by themselves


def test_the_spread_of_areas_side_by_side(run, credit):
    both = [*credit, "--score", "tree", "--measures", "auc, smauc", "--spread"]
    out = run("evaluate", *both).out
    (at,) = [k for k, line in enumerate(out.splitlines()) if line.startswith("sd over resamples")]
    assert [line.split()[0] for line in out.splitlines()[at + 1 : at + 3]] == ["auc", "smauc"]
    spread = run("evaluate", *both, "--format", "json").json()["spread"]["tree"]
    assert 0 < spread["smauc"] < spread["auc"] < 0.03


def test_changes_are_told_at_equal_prevalence(run, credit):
    out = run("drift", credit[0], credit[0], *credit[1:], "--score", "tree", "--replicates", "100").out
    assert "Adjusted: after, reweighted to the prevalence before" in " ".join(out.split())


def test_the_log_loss_in_parts(run, credit):
    names = "logloss, logloss_cal, logloss_ref"
    rows = run("evaluate", *credit, "--score", "logistic", "--measures", names, "--format", "json").json()["rows"]
    whole, cal, ref = (row["value"] for row in rows)
    assert cal + ref == pytest.approx(whole)


def test_booleans_hint_at_the_right_class(write, run):
    data = write("b.csv", "y,s\nTrue,0.1\nFalse,0.2\nTrue,0.3\n")
    assert "hint: --positive True" in run("evaluate", data, "--truth", "y", "--score", "s", "--positive", "1").err


def test_decisions_of_three_classes_do_not_ask_again(run, write):
    data = write("d.csv", "y,d\na,a\nb,b\nc,a\na,a\n")
    done = run("evaluate", data, "--truth", "y", "--decision", "d", "--positive", "a", "--measures", "tpr")
    assert done.code == 0
    assert "positive = a (2, 50.0 %)" in done.out


def test_four_counts_as_the_table_of_the_slide(run):
    rows = [
        run("compare", "--counts", counts, "--format", "json").json()["rows"]
        for counts in ("20,40,20,120", "20 40; 20 120")
    ]
    assert rows[0] == rows[1]


def test_the_elbow_as_its_hint_spells_it(run, write):
    cases = write("cases.csv", "y,s\n" + "".join(f"{k % 3 % 2},{k / 40}\n" for k in range(40)))
    asked = ["decide", cases, "--truth", "y", "--score", "s", "--maximise"]
    assert "write best(measure=youden)" in run(*asked, "elbow").err
    assert run(*asked, "best(measure=youden)").out == run(*asked, "youden").out


def test_charts_that_are_no_curves_are_explained(run):
    assert "Mann-Whitney U as stacked ranks" in run("curves", "ranks").out
    assert [row["name"] for row in run("curves", "smooth-steps", "--format", "json").json()["rows"]] == ["smooth_steps"]


def test_all_rows_of_a_test_set_in_training_are_100_percent(run, credit):
    assert "(100 %) are also here" in " ".join(run("audit", credit[0], "--test", credit[0]).out.split())
