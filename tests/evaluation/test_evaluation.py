"""Evaluation: the same numbers from every kind of data, and the short methods on top."""

import gc
import json
import pickle
import shutil
import weakref
from importlib.resources import files
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import scorespace as ss
from scorespace.errors import ColumnError, ConditionError, MeasureError, PositiveError, ScoreSpaceError

ASAH = Path(__file__).parents[1] / "oracles" / "asah.csv"
PROC = json.loads((ASAH.parent / "proc_asah.json").read_text())["per_predictor"]
ROLES = {"truth": "outcome", "scores": ["s100b", "ndka"], "positive": "Poor"}
SMALL = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 0, 1, 0, 0, 1]}
HOSTILE = "<script>alert('x')</script>&|`*"

SOURCES = {
    "path": lambda: ASAH,
    "text path": lambda: str(ASAH),
    "dict of arrays": lambda: pd.read_csv(ASAH).to_dict("series"),
    "dict of lists": lambda: pd.read_csv(ASAH).to_dict("list"),
    "pandas": lambda: pd.read_csv(ASAH),
    "pandas with categories": lambda: pd.read_csv(ASAH, dtype={"outcome": "category"}),
    "polars": lambda: pl.read_csv(ASAH),
    "polars lazy": lambda: pl.scan_csv(ASAH),
    "pyarrow": lambda: pa.csv.read_csv(ASAH),
    "duckdb": lambda: duckdb.read_csv(str(ASAH)),
}


@pytest.fixture(scope="module")
def asah():
    return ss.evaluate(ASAH, **ROLES, measures="auc,ppv@0.2")


@pytest.fixture(scope="module")
def small():
    return ss.evaluate(SMALL, truth="y", scores="s", decisions="d")


# --- from every kind of data


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_data_gives_the_same_numbers(kind, asah):
    found = ss.evaluate(SOURCES[kind](), **ROLES, measures="auc,ppv@0.2").to_dict()
    assert found == asah.to_dict()


def test_the_numbers_are_those_of_proc(asah):
    for name in ("s100b", "ndka"):
        one = asah.measures("auc", model=name)[0]
        low, auc, high = PROC[name]["ci95"]
        assert (one.low, one.value, one.high) == pytest.approx((low, auc, high), abs=1e-9)


def test_tables_by_model_need_no_columns(asah):
    found = ss.evaluate(dict(asah.models), measures="auc,ppv@0.2")
    assert found.summary.rows() == asah.summary.rows()


@pytest.mark.parametrize(
    ("scores", "models"),
    [("s100b", ["s100b"]), (["ndka", "s100b"], ["ndka", "s100b"]), ({"S": "s100b", "N": "ndka"}, ["S", "N"])],
)
def test_scores_are_named_in_three_ways(scores, models):
    found = ss.evaluate(ASAH, truth="outcome", scores=scores, positive="Poor")
    assert list(found.models) == models


# --- measures


def test_measures_by_name_for_all_models_or_one(asah):
    assert [(e.model, str(e.spec)) for e in asah.measures("auc, gini")] == [
        ("s100b", "auc"),
        ("s100b", "gini"),
        ("ndka", "auc"),
        ("ndka", "gini"),
    ]
    assert [e.model for e in asah.measures("auc", model="ndka")] == ["ndka"]


def test_measures_without_names_are_the_requested_ones(asah):
    assert [str(e.spec) for e in asah.measures(model="s100b")] == ["auc", "ppv@0.2"]


def test_a_measure_of_decisions_is_placed_at_the_threshold_of_the_model(asah, small):
    assert str(asah.measures("tpr", model="ndka")[0].spec) == "tpr@0.2"
    assert str(small.measures("tpr", model="s")[0].spec) == "tpr@0.5"
    assert str(small.measures("tpr", model="d")[0].spec) == "tpr"


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("polars lazy", pl.DataFrame),
        ("pyarrow", pa.Table),
        ("path", pd.DataFrame),
    ],
)
def test_to_frame_is_a_frame_of_the_callers_library(kind, library):
    frame = ss.evaluate(SOURCES[kind](), **ROLES).measures("auc", "ppv@inf").to_frame()
    assert isinstance(frame, library)
    rows = frame.to_pandas() if library is pa.Table else frame
    assert list(rows["model"]) == ["s100b", "s100b", "ndka", "ndka"]
    assert rows["value"][0] == pytest.approx(PROC["s100b"]["auc"], abs=1e-9)


def test_a_askedthat_suits_one_kind_of_model_leaves_the_other_out(small):
    assert [e.model for e in small.measures("acc@0.5")] == ["s"]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ("f1[macro]", MeasureError, "averages over classes"),
        ("auc@0.5", MeasureError, "covers all thresholds"),
        ("tpr[2]", MeasureError, "names a class that does not occur"),
        ("nonsense", MeasureError, "there is no measure 'nonsense'"),
    ],
)
def test_a_askedthat_suits_no_model_is_an_error(asked, error, words):
    evaluation = ss.evaluate(SMALL, truth="y", scores="s")
    with pytest.raises(error, match=words.replace("[", r"\[")):
        evaluation.measures(asked)
    with pytest.raises(error):
        ss.evaluate(SMALL, truth="y", scores="s", measures=asked)


def test_decisions_have_no_threshold():
    with pytest.raises(MeasureError, match="a crisp decision has no threshold"):
        ss.evaluate(SMALL, truth="y", decisions="d", measures="ppv@0.5")


def test_ranking_needs_a_positive_class():
    with pytest.raises(MeasureError, match="auc cannot be computed from a confusion table of 3 classes"):
        ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d", measures="auc")


# --- thresholds and counts


def test_probabilities_are_shown_at_one_half(small):
    assert small.threshold("s") == 0.5
    counts = small.counts("s")
    assert [float(getattr(counts, name)) for name in ("tp", "fp", "fn", "tn")] == [2, 1, 1, 2]


def test_other_scores_are_shown_where_youden_is_highest():
    evaluation = ss.evaluate(ASAH, **ROLES)
    theirs = PROC["s100b"]["best_youden"]
    assert evaluation.models["s100b"].at(theirs["threshold"]) == evaluation.counts("s100b")


def test_the_first_threshold_asked_for_is_the_one_shown(asah):
    assert asah.threshold("s100b") == 0.2


def test_a_condition_chooses_the_threshold():
    evaluation = ss.evaluate(SMALL, truth="y", scores="s", condition=ss.Condition(fp=1, fn=5))
    assert evaluation.threshold("s") == 0.4


def test_decisions_have_no_threshold_to_show(small):
    with pytest.raises(ScoreSpaceError, match="d gives decisions, so it has no threshold"):
        small.threshold("d")


def test_an_unknown_model_gets_a_suggestion(asah):
    with pytest.raises(ScoreSpaceError, match="did you mean 's100b'"):
        asah.models["s100"]


# --- curves, decisions, pictures


def test_a_curve_of_one_model(asah):
    curve = asah.curve("roc", "ndka")
    assert curve.area() == pytest.approx(PROC["ndka"]["auc"], abs=1e-9)
    assert curve.threshold[0] == np.inf


def test_the_only_model_need_not_be_named():
    assert ss.evaluate(SMALL, truth="y", scores="s").curve("roc").area() == pytest.approx(7 / 9)


def test_which_of_several_models_must_be_said(asah):
    with pytest.raises(ScoreSpaceError, match="which model"):
        asah.curve("roc")


def test_curves_of_all_two_class_models(small):
    assert list(small.curves("roc")) == ["s", "d"]


@pytest.mark.parametrize("kind", ["roc", "pr", "gain", "lift", "hull", "cost", "threshold"])
def test_plot_is_a_chart_of_every_model(asah, kind):
    chart = asah.plot(kind).to_dict()
    assert all(name in json.dumps(chart) for name in ("s100b", "ndka"))


def test_decide(small):
    found = small.decide(ss.Condition(fp=1, fn=5))
    assert (found.best.model, found.best.threshold) == ("s", 0.4)
    assert found.best.cost_per_case == pytest.approx(1 / 6)
    assert found.to_dict()["honest_cost"] > found.best.cost_per_case


def test_a_cost_matrix_of_two_classes_is_a_condition(small):
    matrix = ss.CostMatrix(("1", "0"), [[0, 5], [1, 0]])
    assert small.decide(matrix).to_dict() == small.decide(ss.Condition(fp=1, fn=5)).to_dict()


def test_costs_of_several_classes_need_decisions():
    evaluation = ss.evaluate({"y": list("abc"), "s": [1, 2, 3]}, truth="y", scores="s", positive="a")
    costs = ss.CostMatrix(("a", "b", "c"), 1 - np.eye(3))
    with pytest.raises(ConditionError, match="need decisions"):
        evaluation.decide(costs)


def test_choose(small):
    # To find all three positives, s must be cut at 0.4, where one of four alarms is false.
    found = small.choose("ppv", at_least={"tpr": 1.0}).best
    assert (found.model, found.threshold, found.value) == ("s", 0.4, 3 / 4)
    # d always raises a false alarm; s cut at 0.9 raises none.
    assert small.choose("tpr", at_most={"fpr": 0.0}).best.threshold == 0.9


def test_choose_needs_a_positive_class():
    evaluation = ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d")
    with pytest.raises(ConditionError, match="positive class"):
        evaluation.choose("ppv")


def test_report_is_written_where_it_says(asah, tmp_path):
    path = asah.report(tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    assert asah.verdict.split(";")[0] in path.read_text(encoding="utf-8")


# --- what it shows of itself


def test_repr_is_the_answer(asah):
    text = repr(asah)
    assert text.startswith("asah.csv   113 cases   positive = Poor (41, 36.3 %)   negative = Good (72)")
    assert "auc ↑" in text
    assert " ".join(asah.verdict.split()) in " ".join(text.split())


def test_repr_of_estimates_is_the_answer(asah):
    assert repr(asah.measures("auc", model="s100b")) == "s100b auc 0.731 [0.630, 0.833]"


def test_html_of_hostile_names_is_escaped():
    data = {HOSTILE: SMALL["y"], "y": [f"{HOSTILE}{y}" for y in SMALL["y"]], "s": SMALL["s"]}
    evaluation = ss.evaluate(data, truth="y", scores={HOSTILE: "s"}, positive=f"{HOSTILE}1", measures="auc")
    html = evaluation._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert HOSTILE in repr(evaluation)


def test_to_dict_is_json(small):
    assert json.loads(json.dumps(small.to_dict(), allow_nan=False))["schema"] == 1


def test_prevalence(small):
    assert small.models.prevalence == 0.5
    assert np.isnan(ss.evaluate({"y": list("abc"), "d": list("abb")}, truth="y", decisions="d").models.prevalence)


# --- what it keeps


def test_the_rows_are_not_kept():
    rows = 200_000
    rng = np.random.default_rng(0)
    data = {"y": rng.integers(0, 2, rows), "s": rng.integers(0, 50, rows) / 50}
    evaluation = ss.evaluate(data, truth="y", scores="s")
    assert evaluation.models.rows == rows
    assert len(evaluation.notes) > 0
    assert len(pickle.dumps(evaluation)) < 10_000
    table = evaluation.models["s"]
    assert max(table.score.size, table.counts.shape[-1]) <= 50


def test_the_frame_is_let_go():
    frame = pd.DataFrame(SMALL)
    kept = weakref.ref(frame)
    evaluation = ss.evaluate(frame, truth="y", scores="s", measures="auc")
    assert len(evaluation.summary) == 1
    del frame
    gc.collect()
    assert kept() is None


def test_an_evaluation_survives_pickling(small):
    assert pickle.loads(pickle.dumps(small)).to_dict() == small.to_dict()


def test_equal_data_give_equal_evaluations():
    first, second = (ss.evaluate(SMALL, truth="y", scores="s") for _ in range(2))
    assert first == second


# --- progress


def test_progress_runs_from_0_to_1():
    shares = []
    evaluation = ss.evaluate(SMALL, truth="y", scores="s", measures="ks,auc,h", progress=shares.append)
    assert shares == []
    assert len(evaluation.summary) == 3
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert shares[-1] == 1.0


def test_progress_of_a_decision_ends_at_1():
    shares = []
    ss.evaluate(SMALL, truth="y", scores="s", decisions="d", progress=shares.append).decide(ss.Condition(fp=1, fn=5))
    assert shares[-1] == 1.0


# --- one number from arrays


def test_measure_by_name():
    assert ss.measure("auc", truth=SMALL["y"], score=SMALL["s"]) == pytest.approx(7 / 9)
    assert ss.measure("precision@0.5", truth=SMALL["y"], score=SMALL["s"]) == pytest.approx(2 / 3)
    assert ss.measure("f1[macro]", truth=SMALL["y"], decision=SMALL["d"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("given", [{}, {"score": SMALL["s"], "decision": SMALL["d"]}])
def test_measure_needs_either_scores_or_decisions(given):
    with pytest.raises(ScoreSpaceError, match="either score or decision"):
        ss.measure("auc", truth=SMALL["y"], **given)


# --- mistakes


def test_the_truth_must_be_named():
    with pytest.raises(ColumnError, match="the column with the actual class is not named"):
        ss.evaluate(SMALL, scores="s")


def test_the_positive_class_is_not_guessed():
    with pytest.raises(PositiveError, match="not stated"):
        ss.evaluate({"y": ["good", "bad"], "s": [1, 2]}, truth="y", scores="s")


@pytest.mark.parametrize("level", [0, 1, 95, float("nan")])
def test_a_level_is_a_probability(level):
    with pytest.raises(ScoreSpaceError, match="not a level of confidence"):
        ss.evaluate(SMALL, truth="y", scores="s", level=level)


# --- the contract


def test_the_example_of_the_contract(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(str(files("scorespace.data") / "german_credit.csv"), "credit.csv")
    pl.read_csv("credit.csv").rename({"naive_bayes": "nb"}).write_parquet("credit.parquet")

    ev = ss.evaluate("credit.parquet", truth="outcome", scores=["nb", "tree"], positive="bad")
    assert "nb ranks best" in repr(ev)
    estimates = ev.measures("auc", "ppv@0.5")
    assert len(estimates.rows()) == len(estimates.to_frame()) == 4
    assert estimates.to_dict()["schema"] == 1
    curve = ev.curve("roc", "nb")
    assert curve.hull().area() >= curve.area() == pytest.approx(ev.measures("auc", model="nb")[0].value)
    assert curve.x.size == curve.y.size == curve.threshold.size
    assert ev.decide(ss.Condition(fp=1, fn=5, prevalence=0.3)).best.model == "nb"
    assert ev.plot("roc") is not None
    assert ev.report("credit.html").exists()

    frame = pl.read_csv("credit.csv")
    y, s = frame["outcome"], frame["naive_bayes"]
    w = np.ones(len(frame))
    t = ss.score_table(y, s, positive="bad", weight=w)
    assert ss.auc(t) == pytest.approx(curve.area())
    assert ss.ppv(t.at(0.5)) == estimates.rows()[1]["value"]
    assert ss.roc(t).hull().area() == pytest.approx(curve.hull().area())
    assert ss.measure("auc", truth=y, score=s, positive="bad") == ss.auc(t)
    assert ss.confusion([[6, 2], [1, 3]], classes=["cancer", "healthy"]).total == 12
