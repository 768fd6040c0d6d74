"""The decisions of many models, added up to a score."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import scorespace as ss
from scorespace.errors import ColumnError

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


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            "votes=sum(e*)",
            (
                "no column is named like 'e*'.\n  seen: 'y', 'd1', 'd2'\n"
                "  hint: a pattern such as d*, or the names of columns"
            ),
        ),
        ("d1=sum(d*)", "the votes 'd1' would replace a column of that name.\n  hint: another name for the votes"),
        (
            "votes=sum(d*)",
            "column 'd1' holds labels, and which of them votes yes is not stated.\n"
            "  hint: positive=… the positive class",
        ),
    ],
)
def test_votes_that_cannot_be_counted(score, message):
    with pytest.raises(ColumnError) as found:
        ss.evaluate(LABELS, truth="y", scores=score)
    assert str(found.value) == message
