"""From files and frames to drift and agreement: labels, missing values, samples without truth."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorespace as ss
from scorespace.errors import ColumnError, DataError, PositiveError, ScoreSpaceError

FILMS = {
    "film": ["Alpha", "Bravo", "Coda", "Delta", "Echo", "Foxtrot"],
    "ann": ["yes", "yes", "no", "yes", "no", "no"],
    "ann_score": [0.95, 0.70, 0.60, 0.51, 0.20, 0.01],
    "bob": ["yes", "yes", "yes", "no", "no", "no"],
    "bob_score": [0.85, 0.45, 0.62, 0.48, 0.35, 0.05],
    "prize": ["yes", "yes", "no", "yes", "no", "no"],
}
RATERS = {"Ann": ("ann", "ann_score"), "Bob": ("bob", "bob_score")}
MAKERS = pytest.mark.parametrize("maker", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=lambda m: m.__module__)


def credit(**columns):
    rng = np.random.default_rng(0)
    label = rng.random(300) < 0.4
    score = np.clip(0.25 + 0.3 * label + rng.normal(0, 0.2, 300), 0, 1)
    return {"y": np.where(label, "bad", "good"), "nb": score, **columns}


# --- agree


@MAKERS
def test_agree_reads_every_kind_of_frame(maker):
    found = ss.agree(maker(FILMS), raters=RATERS, positive="yes", id="film", truth="prize")
    assert found.pairs[0].alike == ("Coda", "Delta")
    assert found.pairs[0].apart == ("Bravo", "Echo")
    assert found.raters[0].auc == pytest.approx(8 / 9)  # METHODS: AUC of the six cases
    assert found.notes == ()


def test_rows_keep_their_numbers_when_others_are_dropped():
    gaps = {**FILMS, "bob_score": [None, 0.45, 0.62, 0.48, 0.35, 0.05], "ann": ["yes", None, *FILMS["ann"][2:]]}
    with pytest.raises(DataError, match="missing values"):
        ss.agree(gaps, raters=RATERS, positive="yes")
    found = ss.agree(gaps, raters=RATERS, positive="yes", missing="drop")
    assert found.ids == (3, 4, 5, 6)
    assert [note.code for note in found.notes] == ["SS031"]
    assert found.notes[0].text == "the raters are compared on the 4 of 6 instances that all of them rated."


def test_the_positive_class_is_inferred_over_all_raters():
    data = {"a": [0, 0, 0], "s": [0.1, 0.2, 0.3], "b": [0, 1, 0], "t": [0.2, 0.9, 0.1]}
    found = ss.agree(data, raters={"A": ("a", "s"), "B": ("b", "t")})
    assert found.positive == "1"
    assert [note.code for note in found.notes] == ["SS010"]
    with pytest.raises(PositiveError):
        ss.agree(FILMS, raters=RATERS)


def test_whole_ids_are_shown_as_such():
    numbered = {**FILMS, "film": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]}
    assert ss.agree(numbered, raters=RATERS, positive="yes", id="film").pairs[0].alike == (30, 40)


def test_raters_may_share_a_decision():
    found = ss.agree(FILMS, raters={"Ann": ("ann", "ann_score"), "Bob": ("ann", "bob_score")}, positive="yes")
    assert found.pairs[0].agreement.value == 1


def test_agree_refuses():
    with pytest.raises(DataError, match="two raters"):
        ss.agree(FILMS, raters={"Ann": ("ann", "ann_score")}, positive="yes")
    with pytest.raises(ScoreSpaceError, match="rater 'Bob' needs"):
        ss.agree(FILMS, raters={"Ann": ("ann", "ann_score"), "Bob": "bob"}, positive="yes")
    with pytest.raises(DataError, match="two classes only"):
        ss.agree({**FILMS, "bob": ["yes", "no", "maybe"] * 2}, raters=RATERS, positive="yes")
    with pytest.raises(ColumnError, match="'movie'"):
        ss.agree(FILMS, raters=RATERS, positive="yes", id="movie")


# --- drift


@MAKERS
def test_drift_reads_every_kind_of_frame(maker):
    sample = maker(credit())
    found = ss.drift(sample, sample, truth="y", scores="nb", positive="bad", replicates=99)
    assert found.cause == "nothing"
    assert found.sizes == (300, 300)
    assert found.positive == "bad"


def test_a_sample_after_without_truth():
    after = {"nb": np.clip(credit()["nb"] + 0.2, 0, 1)}
    found = ss.drift(credit(), after, truth="y", scores="nb", positive="bad", replicates=99)
    assert (found.labelled, found.cause) == (False, "scores")


def test_a_sample_after_with_one_class():
    before = credit()
    good = before["y"] == "good"
    after = {"y": before["y"][good], "nb": before["nb"][good]}
    found = ss.drift(before, after, truth="y", scores="nb", positive="bad", replicates=99)
    assert found.prevalence.after == 0
    assert found.cause == "prevalence"


def test_other_labels_are_refused():
    numbers = {"y": [1, 0] * 20, "nb": [0.7, 0.2] * 20}
    with pytest.raises(DataError, match=r"'0' .*in the sample after, .*not in the sample before"):
        ss.drift(credit(), numbers, truth="y", scores="nb", positive="bad")
    with pytest.raises(PositiveError):
        ss.drift(credit(), credit(), truth="y", scores="nb")


def test_a_label_that_only_a_batch_has_is_refused():
    typo = credit()
    typo["y"] = np.where(np.arange(300) < 9, "Bad", typo["y"])
    with pytest.raises(DataError, match=r"'Bad' .*in tuesday, .*not in the sample before"):
        ss.monitor(credit(), {"monday": credit(), "tuesday": typo}, truth="y", scores="nb", positive="bad")


def test_names_missing_values_and_inferred_classes():
    score = credit()["nb"].copy()
    score[:5] = np.nan
    sample = {"y": (credit()["y"] == "bad").astype(int), "nb": score}
    found = ss.drift(sample, sample, truth="y", scores="nb", names={"nb": "bayes"}, missing="drop", replicates=99)
    assert [one.model for one in found.models] == ["bayes"]
    assert found.sizes == (295, 295)
    assert [note.code for note in found.notes] == ["SS010", "SS009", "SS009"]


@pytest.mark.parametrize("column", ["absent", "*", "word"])
def test_a_rating_that_is_none_is_refused_before_it_is_scaled(column):
    data = {"a": [1, 0], "s": [5, 2], "b": [0, 1], "*": [1, 2], "word": ["x", "y"]}
    with pytest.raises(ColumnError, match=re.escape(f"'{column}'")):
        ss.agree(data, raters={"A": ("a", "s"), "B": ("b", column)}, scale="1..5")


def test_of_kept_tables_the_models_that_are_named_are_compared(tmp_path):
    rows = {"y": [1, 0] * 40, "s": [k % 13 / 13 for k in range(80)], "t": [k % 7 / 7 for k in range(80)]}
    ss.evaluate(rows, truth="y", scores=["s", "t"], measures="auc").save(tmp_path / "before.json")
    found = ss.monitor(tmp_path / "before.json", {"monday": rows}, truth="y", scores="t")
    assert found.models == ("t",)
    moved = ss.drift(tmp_path / "before.json", rows, truth="y", scores="s")
    assert [one.model for one in moved.models] == ["s"]


def test_low_scores_that_mean_positive_are_turned_in_every_sample():
    spring = {"y": [1, 0] * 30, "points": [700 - 9 * (k % 2 == 0) * (k % 7) for k in range(60)]}
    turned = {**spring, "card": [-one for one in spring["points"]]}
    asked = {"truth": "y", "replicates": 99}
    whole = ss.monitor(turned, {"monday": turned}, scores="card", **asked)
    assert ss.monitor(spring, {"monday": spring}, scores="card=minus(points)", **asked).rows() == whole.rows()
    assert ss.drift(spring, spring, scores={"card": "minus(points)"}, **asked).models[0].model == "card"


@pytest.mark.parametrize("raters", [{"A": ("a", "s"), "B": ("b", "t")}, {"A": "a", "B": "b"}])
def test_the_level_reaches_the_intervals_of_raters(raters):
    data = {"a": [1, 0, 1, 1, 0, 0] * 6, "b": [1, 0, 0, 1, 0, 1] * 6}
    data |= {"s": [0.9, 0.2, 0.6, 0.7, 0.1, 0.4] * 6, "t": [0.8, 0.3, 0.4, 0.9, 0.2, 0.6] * 6}
    wide, narrow = (ss.agree(data, raters=raters, level=level).rows() for level in (0.95, 0.5))
    for one, other in zip(wide, narrow, strict=True):
        for low in (name for name in one if name.endswith("low") and one[name] is not None):
            high = low.replace("low", "high")
            assert one[high] - one[low] > other[high] - other[low], low
