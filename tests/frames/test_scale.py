"""Ratings on a stated scale become scores between 0 and 1, alike on every engine."""

import pandas as pd
import polars as pl
import pytest

import scorespace as ss
from scorespace.errors import ColumnError, ScoreError
from scorespace.frames import read
from scorespace.frames.scale import scale_of, scaled

STARS = {"y": [1, 0, 1, 0], "stars": [5, 2, 4, 1]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=lambda kind: kind.__name__)
def test_the_stated_ends_are_0_and_1(frame):
    found = scaled(read(frame(STARS)), ["stars"], (1, 5))
    assert found.arrays(found.frame.select("stars"))["stars"].tolist() == [1.0, 0.25, 0.75, 0.0]


def test_a_sample_need_not_reach_the_ends():
    found = scaled(read(STARS), ["stars", "stars"], (0, 10))
    assert found.arrays(found.frame.select("stars"))["stars"].tolist() == [0.5, 0.2, 0.4, 0.1]
    assert scaled(read(STARS), ["stars"], None).columns == ("y", "stars")


def test_what_leaves_the_scale_is_refused():
    with pytest.raises(ScoreError) as caught:
        scaled(read(STARS), ["stars"], (0, 4))
    assert str(caught.value) == (
        "column 'stars' leaves the scale 0..4.\n"
        "  seen: ratings from 1 to 5\n"
        '  hint: scale="0..5", if that is what they mean'
    )
    with pytest.raises(ScoreError, match=r"10\.\.0 is not a scale"):
        scaled(read(STARS), ["stars"], (10, 0))
    for wrong in ("0-10", "0..5..10", (1, 2, 3)):
        with pytest.raises(ScoreError, match="cannot be read"):
            scale_of(wrong)


def test_smooth_areas_of_ratings_are_those_of_the_mapped_scores():
    by_hand = ss.evaluate({"y": STARS["y"], "s": [1, 0.25, 0.75, 0]}, truth="y", scores="s", measures="smauc")
    found = ss.evaluate(STARS, truth="y", scores="stars", measures="smauc", scale="1..5")
    assert found.summary[0].value == by_hand.summary[0].value
    assert ss.evaluate(STARS, truth="y", scores="stars", measures="smauc", scale=(1, 5)).summary[0].value == (
        by_hand.summary[0].value
    )


def test_a_column_that_means_all_columns_is_refused():
    with pytest.raises(ColumnError, match="cannot be told from all columns"):
        scaled(read({"y": [1, 0], "*": [5, 2]}), ["*"], (1, 5))
