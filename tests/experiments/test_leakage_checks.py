"""The golden rule: what is on both sides is refused, or counted and told."""

import numpy as np
import pytest

from helpers.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.leakage_checks import Overlap, TrainTestSplit, check_split, find_overlap
from scorespace.experiments.resampling import parse_resampling


def test_twins_across_the_split_are_counted():
    """By brute force: test rows whose features some training row has, too."""
    data = made(30, twins=True)
    splits = parse_resampling("5").splits(data)
    x = data.matrix[:, 0]
    rows = sum(int(x[i] in set(x[one.train])) for one in splits for i in one.test)
    found = find_overlap(splits, data)
    assert (found.rows, found.of, found.splits) == (rows, 30, 5)
    (told,) = found.notes("d")
    assert told.text == "d: 30 of 30 test rows have a training row with identical features, in 5 splits."


def test_groups_on_both_sides_are_told():
    data = made(40, groups=4)
    assert find_overlap(parse_resampling("5:stratified").splits(data), data).groups == ("speaker",)
    assert find_overlap(parse_resampling("4").splits(data), data) == Overlap(of=40)
    assert parse_resampling("4").described(data) == "4 folds, stratified by class, groups kept together"


def test_a_row_or_an_id_on_both_sides_is_refused():
    data = made(6)
    with pytest.raises(ScoreSpaceError) as caught:
        check_split(TrainTestSplit(0, 0, np.arange(4), np.arange(3, 6)), data)
    assert (
        str(caught.value) == "fold 1 of repeat 1 of d trains and tests on the same rows.\n  seen: 1 rows on both sides"
    )
    twice = Dataset("d", data.features, data.truth, "classes", ids=np.array([0, 1, 2, 0, 1, 2]))
    with pytest.raises(ScoreSpaceError) as caught:
        parse_resampling("2").splits(twice)
    assert str(caught.value).startswith("fold 1 of repeat 1 of d trains and tests on the same ids.")
