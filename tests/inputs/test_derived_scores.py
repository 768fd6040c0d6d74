"""Ratings on a stated scale become scores between 0 and 1, alike on every engine."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorespace as ss
from scorespace.errors import ColumnError, ScoreError
from scorespace.io import read
from scorespace.io.derived_scores import parse_scale, rescale

STARS = {"y": [1, 0, 1, 0], "stars": [5, 2, 4, 1]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=lambda kind: kind.__name__)
def test_the_stated_ends_are_0_and_1(frame):
    found = rescale(read(frame(STARS)), ["stars"], (1, 5))
    assert found.arrays(found.frame.select("stars"))["stars"].tolist() == [1.0, 0.25, 0.75, 0.0]


def test_a_sample_need_not_reach_the_ends():
    found = rescale(read(STARS), ["stars", "stars"], (0, 10))
    assert found.arrays(found.frame.select("stars"))["stars"].tolist() == [0.5, 0.2, 0.4, 0.1]
    assert rescale(read(STARS), ["stars"], None).columns == ("y", "stars")


def test_what_leaves_the_scale_is_refused():
    with pytest.raises(ScoreError) as caught:
        rescale(read(STARS), ["stars"], (0, 4))
    assert str(caught.value) == (
        "column 'stars' has ratings outside the scale 0..4.\n"
        "  seen: ratings from 1 to 5\n"
        '  hint: scale="0..5", if that is the scale'
    )
    with pytest.raises(ScoreError, match=r"10\.\.0"):
        rescale(read(STARS), ["stars"], (10, 0))
    for wrong in ("0-10", "0..5..10", (1, 2, 3)):
        with pytest.raises(ScoreError, match="not of the form"):
            parse_scale(wrong)


def test_smooth_areas_of_ratings_are_those_of_the_mapped_scores():
    by_hand = ss.evaluate({"y": STARS["y"], "s": [1, 0.25, 0.75, 0]}, truth="y", scores="s", measures="smauc")
    found = ss.evaluate(STARS, truth="y", scores="stars", measures="smauc", scale="1..5")
    assert found.summary[0].value == by_hand.summary[0].value
    assert ss.evaluate(STARS, truth="y", scores="stars", measures="smauc", scale=(1, 5)).summary[0].value == (
        by_hand.summary[0].value
    )


def test_a_column_that_means_all_columns_is_refused():
    with pytest.raises(ColumnError, match="a column named '\\*' would select all columns"):
        rescale(read({"y": [1, 0], "*": [5, 2]}), ["*"], (1, 5))


NUMBERS = {"y": [1, 1, 0, 0], "d1": [1, 1, 0, 0], "d2": [1, 0, 1, 0], "d3": [1, 1, 0, 1]}
LABELS = {
    "y": ["ill", "ill", "well", "well"],
    "d1": ["ill", "ill", "well", "well"],
    "d2": ["ill", "well", "ill", "well"],
}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_vote_with_themselves(frame):
    ev = ss.evaluate(frame(NUMBERS), truth="y", scores="votes=sum(d*)")
    assert ev.models["votes"].score.tolist() == [3, 2, 1]
    assert ev.models["votes"].pos.tolist() == [1, 1, 0]
    assert ss.evaluate(frame(NUMBERS), truth="y", scores="v=mean(d1, d2)").models["v"].score.tolist() == [1, 0.5, 0]


def test_labels_vote_for_the_positive_class():
    ev = ss.evaluate(LABELS, truth="y", scores="votes=sum(d*)", positive="ill")
    assert ev.models["votes"].score.tolist() == [2, 1, 0]
    assert ev.models["votes"].pos.tolist() == [1, 1, 0]


def test_votes_stand_beside_other_scores():
    ev = ss.evaluate(NUMBERS | {"s": [0.9, 0.8, 0.1, 0.2]}, truth="y", scores=["s", "votes=sum(d*)"])
    assert list(ev.models) == ["s", "votes"]
    assert ev.compare()[0].a == "s"


def test_a_missing_vote_is_a_missing_score():
    data = NUMBERS | {"d2": [1.0, np.nan, 1.0, 0.0]}
    assert ss.evaluate(data, truth="y", scores="votes=sum(d*)", missing="drop").models.rows == 3


CARD = {"y": ["bad", "good", "bad", "good"], "points": [420, 700, 610, 600]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("scores", ["card=minus(points)", {"card": "minus(points)"}])
def test_low_scores_can_mean_positive(frame, scores):
    ev = ss.evaluate(frame(CARD), truth="y", scores=scores, positive="bad", measures="auc, tpr@-610, fpr@-610")
    assert ev.models["card"].score.tolist() == [-420, -600, -610, -700]
    # By hand: of the four pairs, 610 and 600 alone are in the wrong order; 610 or less is all of bad and half of good.
    assert [one.value for one in ev.measures()] == [0.75, 1.0, 0.5]
    assert [one.text for one in ev.notes if one.code == "SS097"] == [
        "card is −points, since low values mean positive: a threshold of -5 selects cases whose points is 5 or less."
    ]


def test_low_scores_in_a_file_that_is_counted_in_bins(tmp_path):
    path = tmp_path / "cards.csv"
    path.write_text("y;points\nbad;4,2\ngood;7,0\nbad;6,1\ngood;6,0\n")
    ev = ss.evaluate(path, truth="y", scores="card=minus(points)", positive="bad", measures="auc", memory=1)
    assert ev.measures()[0].value == pytest.approx(0.75)


def test_a_rate_is_not_turned_with_the_score():
    swapped = ss.evaluate(CARD, truth="y", scores="points", positive="good", measures="auc, tpr@611, prevalence")
    turned = ss.evaluate(
        CARD, truth="y", scores={"card": "minus(points)"}, positive="bad", measures="auc, tnr@-610, prevalence"
    )
    assert [one.value for one in swapped.measures()][:2] == [one.value for one in turned.measures()][:2]


def test_votes_beside_a_group_of_many_digits(tmp_path):
    # Its column is read again as it is written, and the votes with it.
    path = tmp_path / "votes.csv"
    path.write_text("y,d1,d2,g\n" + "".join(f"{k % 2},{k % 2},{k // 2},1234567890123456789{k}\n" for k in range(4)))
    ev = ss.evaluate(path, truth="y", scores="v=sum(d*)", group="g")
    assert sorted(ev.models["v"].score.tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("card=minus(y)", "column 'y' holds text, not scores."),
        ("card=minus(p*)", "minus(…) takes one column.\n  seen: 'points', 'other p'"),
        ("y=minus(points)", "the score 'y' would replace a column of that name."),
    ],
)
def test_scores_that_cannot_be_turned(score, message):
    with pytest.raises(ColumnError) as found:
        ss.evaluate(CARD | {"p2": [1, 2, 3, 4]}, truth="y", scores=score, positive="bad")
    assert str(found.value).startswith(message.replace("other p", "p2"))


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            "votes=sum(e*)",
            ("no column matches 'e*'.\n  seen: 'y', 'd1', 'd2'\n  hint: a pattern such as d*, or column names"),
        ),
        (
            "d1=sum(d*)",
            "the score 'd1' would replace a column of that name.\n  hint: choose another name for the score",
        ),
        (
            "votes=sum(d*)",
            "column 'd1' holds labels, and no positive class is given.\n  hint: positive=… the positive class",
        ),
    ],
)
def test_votes_that_cannot_be_counted(score, message):
    with pytest.raises(ColumnError) as found:
        ss.evaluate(LABELS, truth="y", scores=score)
    assert str(found.value) == message


def test_a_score_that_is_made_needs_a_name():
    with pytest.raises(ColumnError) as refused:
        ss.evaluate({"y": [1, 0], "points": [1, 2]}, truth="y", scores="minus(points)")
    assert refused.value.hint == "a name for it: model=minus(points)"
