"""Evaluation: the same numbers from every kind of data, and the short methods on top."""

import gc
import json
import pickle
import shutil
import weakref
from collections import Counter
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest

import scorespace as ss
from helpers.evaluation_data import PROC, SMALL
from scorespace.comparisons import delong
from scorespace.decisions import minimum_cost
from scorespace.errors import ScoreSpaceError
from scorespace.inference import bootstrap
from scorespace.report import sections, terminal
from scorespace.tables import multiclass, paired

HOSTILE = "<script>alert('x')</script>&|`*"


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


# --- thresholds and counts


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
    with pytest.raises(ScoreSpaceError, match=r"s100b.*ndka"):
        asah.curve("roc")


def test_curves_of_all_two_class_models(small):
    assert list(small.curves("roc")) == ["s", "d"]


@pytest.mark.parametrize("kind", ["roc", "pr", "gain", "lift", "hull", "cost", "threshold"])
def test_plot_is_a_chart_of_every_model(asah, kind):
    chart = asah.plot(kind).to_dict()
    assert all(name in json.dumps(chart) for name in ("s100b", "ndka"))


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


# --- everything once


def sample(size=400, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, size)
    scores = {name: 1 / (1 + np.exp(-rng.normal(2 * truth - 1, spread))) for name, spread in (("a", 1.5), ("b", 2.0))}
    return {"y": truth, **scores}


@pytest.fixture
def drawn(monkeypatch):
    """How often the cases of each source were drawn, by their stream: within classes, or all together."""
    found, own = Counter(), bootstrap.run_in_blocks

    def blocks(drawer, values, cost, **options):
        times = []
        told = own(lambda rng, count: (times.append(1), drawer(rng, count))[1], values, cost, **options)
        if isinstance(options["seed"], list) and times:
            found[cost, *options["seed"]] += 1
        return told

    monkeypatch.setattr(bootstrap, "run_in_blocks", blocks)
    return found


@pytest.fixture
def called(monkeypatch):
    """How often what must be done once was."""
    found = Counter()

    def counting(module, name):
        own = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, **options: (found.update([name]), own(*given, **options))[1])

    for module, name in [
        (paired, "_cells_and_table"),
        (multiclass, "score_table"),
        (delong, "class_covariances"),
        (minimum_cost, "hull"),
        (minimum_cost, "crossfit"),
        (sections, "document"),
    ]:
        counting(module, name)
    return found


def everything(evaluation, path):
    """All that an evaluation is asked for."""
    evaluation.compare()
    evaluation.compare_against(0.5, measure="ap")
    for kind in ("roc", "pr"):
        for simultaneous in (True, False):
            evaluation.band(kind, "a", simultaneous=simultaneous)
    evaluation.to_dict()
    repr(evaluation)
    evaluation.report(path)


def test_one_evaluation_draws_its_cases_once(drawn, called, tmp_path):
    ev = ss.evaluate(sample(), truth="y", scores=["a", "b"], condition=ss.Condition(fp=1, fn=5))
    everything(ev, tmp_path / "a.html")
    # Within classes for measures that do not depend on how common they are, from all cases for the others: each of the
    # two models once for its own numbers, so that the other does not change them, and both at once for differences.
    times = Counter()
    for (*_, within), number in drawn.items():
        times[within] += number
    assert times == {0: 3, 1: 2}
    # Either model is sorted once, both on the way to one table; the terminal's page is a shorter one.
    assert called == {"_cells_and_table": 2, "class_covariances": 1, "hull": 1, "crossfit": 1, "document": 1}


def test_of_several_classes_in_groups_one_draw_serves_all(drawn, called):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 240)
    scores = rng.dirichlet(np.ones(3), 240) / 2 + np.eye(3)[truth] / 2
    frame = {"y": [f"c{k}" for k in truth], "g": np.arange(240) // 3}
    frame |= {f"{name}_c{k}": scores[:, k] ** power for name, power in (("a", 1), ("b", 2)) for k in range(3)}
    ev = ss.evaluate(frame, truth="y", scores=["a_*", "b_*"], group="g")
    ev.to_dict()
    # Whole groups, whatever the measure: each model once for its own numbers, and both at once for differences.
    assert list(drawn.values()) == [3]
    before = called["score_table"]
    for kind in ("roc", "pr"):
        for name in ev.models:
            for k in range(3):
                ev.curve(kind, f"{name}[c{k}]")
                ev.measures(f"auc[c{k}]", model=name)
    assert called["score_table"] - before <= 6  # the scores of each class are sorted once, if they were not before


@pytest.mark.parametrize("measure", ["auc", "ks", "h", "ap", "brier", "cal", "mcc@0.5", "tpr@0.5"])
def test_a_number_has_one_interval_whoever_asks(measure):
    frame = sample(200)
    ev = ss.evaluate(frame, truth="y", scores=["a", "b"], measures=measure)
    (one, other) = ev.measures(measure)
    again = [
        ev.summary[0],
        ev.measures(f"{measure}, logloss", model="a")[0],
        ss.evaluate(frame, truth="y", scores=["b", "a"]).measures(measure, model="a")[0],
    ]
    assert {(each.low, each.high, each.method) for each in again} == {(one.low, one.high, one.method)}
    against = ev.compare_against(0.25, "a", measure=measure)[0]
    assert (against.low + 0.25, against.high + 0.25) == pytest.approx((one.low, one.high), abs=1e-12)
    row = ev.to_dict()["rows"][0]
    assert (row["low"], row["high"]) == (one.low, one.high)
    assert all(text in repr(ev) for text in (one.text, other.text))


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


def test_two_names_of_one_measure_are_both_shown():
    rows = {"y": [1, 0, 1, 0, 1, 0] * 5, "a": np.linspace(0, 1, 30), "b": np.linspace(1, 0, 30) ** 2}
    found = ss.evaluate(rows, truth="y", scores=["a", "b"], measures="ppv@0.5,precision@0.5")
    shown = terminal.text(found.brief, width=120)
    assert "ppv@0.5" in shown
    assert "precision@0.5" in shown
    assert set(found.differences) == {"ppv@0.5", "precision@0.5"}


def test_two_classes_without_a_positive_one_have_an_area():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    p = 1 / (1 + np.exp(-rng.normal(label, 1)))
    rows = {"y": np.where(label, "yes", "no"), "m_yes": p, "m_no": 1 - p}
    found = ss.evaluate(rows, truth="y", scores="m_*", measures="auc").summary[0]
    assert found.value == pytest.approx(ss.measure("auc", truth=label, score=p))
    assert found.method == "delong"


def test_cases_of_repeats_are_counted_once():
    rows = {"y": [1, 0] * 40, "s": np.arange(80) / 80, "repeat": [0] * 40 + [1] * 40}
    found = ss.evaluate(rows, truth="y", scores="s", repeat="repeat")
    assert "40 cases in 2 repeats   positive = 1 (20, 50.0 %)" in terminal.text(found.brief, width=120)
