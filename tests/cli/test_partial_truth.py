"""`scorespace evaluate` with a truth for some rows, and `scorespace label`."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import scorespace as ss
from scorespace.errors import ScoreSpaceError

RNG = np.random.default_rng(8)
SIZE, LABELS = 1200, 240
BAD = RNG.random(SIZE) < 0.3
SCORE = np.round(expit(1.5 * BAD + RNG.normal(size=SIZE) - 1.2), 4)
WORDS = np.where(BAD, "bad", "good")
CHOSEN = RNG.permutation(SIZE) < LABELS
JUDGE = np.where(RNG.random(SIZE) < 0.1, np.where(BAD, "good", "bad"), WORDS)
FRAME = pd.DataFrame(
    {
        "outcome": np.where(CHOSEN, WORDS, None),
        "judge": JUDGE,
        "copy": WORDS,
        "s": SCORE,
        "half": np.where(CHOSEN, 1.0, 0.5),
        "zero": np.where(SCORE > 0.5, 0.2, 0.0),
        "above": np.where(SCORE > 0.5, 1.2, 0.2),
        "high": np.where((SCORE > 0.6) & CHOSEN, WORDS, None),
        "result": np.where(SCORE > 0.5, "yes", "no"),
        "few": [w if k < 20 else None for k, w in enumerate(WORDS)],
        "full": WORDS,
        "selected": np.where((JUDGE == "bad") | (RNG.random(SIZE) < 0.1), WORDS, None),
        "bads": np.where(JUDGE == "bad", WORDS, None),
        "level": np.where(RNG.random(SIZE) < 0.5, "maybe", "bad"),
        "empty": [None] * SIZE,
        "holes": np.where(RNG.random(SIZE) < 0.1, None, JUDGE),
    }
)
ROLES = ("--truth", "outcome", "--positive", "bad", "--score", "s")


@pytest.fixture
def data(tmp_path):
    FRAME.to_csv(tmp_path / "judged.csv", index=False)
    return "judged.csv"


def test_command_prints_values_and_what_the_labels_are_worth(run, data):
    done = run("evaluate", data, *ROLES, "--proxy", "judge", "--measures", "auc,tpr@0.5")
    assert done.code == 0, done.err
    assert "240 with a truth (20.0 %)" in done.out
    assert "worth" in done.out
    assert "SS190 Assumed: the rows with a truth were chosen at random" in done.out
    found = run("evaluate", data, *ROLES, "--proxy", "judge", "--measures", "auc,tpr@0.5", "--format", "json").json()
    assert found["data"] == {"rows": SIZE, "labels": LABELS, "design": "random", "proxy": "judge", "positive": "bad"}
    auc = found["rows"][0]
    assert auc["method"] == "prediction-powered"
    assert auc["labels"] == LABELS < auc["worth"] < SIZE
    assert auc["low"] < ss.measure("auc", truth=BAD, score=SCORE) < auc["high"]


def test_python_frames_and_files_agree(run, data):
    found = run("evaluate", data, *ROLES, "--proxy", "judge", "--format", "json").json()
    here = ss.evaluate_partial_truth(FRAME, truth="outcome", positive="bad", scores="s", proxy="judge").to_dict()
    assert json.loads(json.dumps(here)) == found


def test_costs_and_several_models(run, data):
    FRAME.assign(t=1 - SCORE).to_csv(data, index=False)
    flags = ["--score", "t", "--cost-fp", "1", "--cost-fn", "9", "--measures", "cost@0.1", "--format", "json"]
    rows = run("evaluate", data, *ROLES, *flags, "--proxy", "judge").json()["rows"]
    assert [(row["model"], row["measure"]) for row in rows] == [(m, "cost(fp=1, fn=9)") for m in "st"]


def test_report_is_a_page_with_escaped_text(run, data, tmp_path):
    FRAME.rename(columns={"s": "<b>s"}).to_csv(data, index=False)
    roles = (*ROLES[:-1], "<b>s", "--proxy", "judge", "--measures", "auc")
    assert run("evaluate", data, *roles, "--report", "r.html").code == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "&lt;b&gt;s" in page
    assert "<b>s" not in page.split("<script")[0]


def test_chosen_labels_are_evaluated(run, data, tmp_path):
    done = run("label", data, "--score", "s", "--measure", "tpr@0.5", "--budget", "300", "--out", "l.csv")
    assert done.code == 0, done.err
    assert "SS194" in done.out
    frame = pd.read_csv("l.csv")
    chosen = frame["probability"].notna()
    assert 230 < chosen.sum() < 370
    assert list(frame["s"]) == list(SCORE)
    frame["outcome"] = np.where(chosen, frame["full"], None)
    frame.to_csv("l.csv", index=False)
    flags = ["--probability", "probability", "--proxy", "s", "--measures", "tpr@0.5", "--format", "json"]
    found = run("evaluate", "l.csv", *ROLES, *flags).json()
    (row,) = found["rows"]
    assert found["data"]["design"] == "probabilities"
    assert row["low"] < np.mean(SCORE[BAD] >= 0.5) < row["high"]
    assert [note["code"] for note in found["notes"]] == ["SS190"]


def test_lost_and_extra_labels_are_told(run, data):
    run("label", data, "--score", "s", "--measure", "auc", "--budget", "300", "--out", "l.csv")
    found = run("evaluate", "l.csv", *ROLES, "--probability", "probability", "--format", "json").json()
    texts = {note["code"]: note["text"] for note in found["notes"]}
    assert "chosen for labelling have no truth" in texts["SS191"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"proxy": "outcome"}, "cannot be both truth and proxy"),
        ({"proxy": "absent"}, "absent"),
        ({"proxy": "level"}, "the label 'maybe', which no truth has"),
        ({"proxy": "holes"}, "missing values"),
        ({"proxy": "above"}, "neither a label nor a probability"),
        ({"proxy": "judge", "truth": "few"}, "too few rows have a truth"),
        ({"proxy": "judge", "truth": "bads"}, "only where the proxy"),
        ({"proxy": "s", "truth": "high"}, "only where the proxy|too few rows"),
        ({"proxy": "judge", "truth": "empty"}, "no row has a truth"),
        ({"probability": "zero"}, "not probabilities of being chosen"),
        ({"probability": "above"}, "not probabilities of being chosen"),
        ({"probability": "judge"}, "does not hold probabilities"),
        ({"probability": "half", "verified_by": "result"}, "two answers"),
        ({"verified_by": "result", "truth": "high"}, "so it can have any|too few rows"),
        ({"verified_by": "s"}, "too many values"),
        ({}, "needs a proxy"),
        ({"proxy": "judge", "measures": "ks"}, "largest of many gaps"),
        ({"proxy": "judge", "truth": None}, "no column with the actual class"),
        ({"proxy": "judge", "positive": None}, "positive class is not stated"),
        ({"proxy": "judge", "missing": "keep"}, "not a treatment"),
    ],
)
def test_bad_input_is_refused(options, said):
    with pytest.raises(ScoreSpaceError, match=said):
        ss.evaluate_partial_truth(FRAME, **{"truth": "outcome", "positive": "bad", "scores": "s"} | options)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ({"proxy": "copy"}, "SS193", "is it a copy"),
        ({"proxy": "judge", "truth": "full"}, "SS193", "Every row has a truth"),
        ({"proxy": "judge", "truth": "selected"}, "SS191", "not chosen at random"),
        ({"proxy": "holes", "missing": "drop"}, "SS009", "dropped"),
        ({"probability": "half", "truth": "few", "proxy": "judge"}, None, "too few"),
    ],
)
def test_doubtful_input_is_told(options, code, said):
    stated = {"truth": "outcome", "positive": "bad", "scores": "s", "measures": "acc@0.5"} | options
    if code is None:
        with pytest.raises(ScoreSpaceError, match=said):
            ss.evaluate_partial_truth(FRAME, **stated)
        return
    texts = {note.code: note.text for note in ss.evaluate_partial_truth(FRAME, **stated).notes}
    assert said in texts[code]


def test_probabilities_that_do_not_fit_the_labels_are_told():
    frame = FRAME.assign(q=0.6)
    found = ss.evaluate_partial_truth(
        frame, truth="outcome", positive="bad", scores="s", probability="q", measures="auc"
    )
    assert "by the probabilities about 720" in {note.code: note.text for note in found.notes}["SS191"]


@pytest.mark.parametrize(
    "flags", [("--group", "judge"), ("--by", "result"), ("--save", "x.json"), ("--require", "auc>=0.5")]
)
def test_options_that_need_every_truth_are_refused(run, data, flags):
    done = run("evaluate", data, *ROLES, "--proxy", "judge", *flags)
    assert done.code == 2
    assert f"{flags[0]} needs the truth of every row." in done.err
    assert not Path("x.json").exists()


def test_gaps_without_a_proxy_are_still_an_error(run, data):
    assert "missing values" in run("evaluate", data, *ROLES).err


def test_the_probability_may_be_the_score(run, data):
    words = ("evaluate", data, "--truth", "outcome", "--positive", "bad", "--score", "half", "--measures", "brier")
    done = run(*words, "--probability", "half", "--format", "json")
    assert done.code == 0, done.err
    assert done.json()["rows"][0]["labels"] == LABELS


@pytest.mark.parametrize("design", [("--proxy", "judge"), ("--assume", "calibrated")])
def test_values_per_case_do_not_go_with_few_or_no_labels(run, data, design):
    roles = ROLES if "--proxy" in design else ROLES[-2:]
    done = run("evaluate", data, *roles, *design, "--value", "half")
    assert done.code == 2
    assert "--value" in done.err
