"""The golden rule: what is on both sides is refused, or counted and told."""

import numpy as np
import pytest

from experiments.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.golden import Overlap, Split, check, overlap
from scorespace.experiments.resampling import parse


def test_twins_across_the_split_are_counted():
    """By brute force: test rows whose features some training row has, too."""
    data = made(30, twins=True)
    splits = parse("5").splits(data)
    x = data.matrix[:, 0]
    rows = sum(int(x[i] in set(x[one.train])) for one in splits for i in one.test)
    found = overlap(splits, data)
    assert (found.rows, found.of, found.splits) == (rows, 30, 5)
    (told,) = found.notes("d")
    assert told.text == "d: 30 of 30 test rows have a twin with the same features in training, in 5 splits."


def test_groups_on_both_sides_are_told():
    data = made(40, groups=4)
    assert overlap(parse("5:stratified").splits(data), data).groups == ("speaker",)
    assert overlap(parse("4").splits(data), data) == Overlap(of=40)
    assert parse("4").described(data) == "4 folds, stratified by class, groups kept whole"


def test_a_row_or_an_id_on_both_sides_is_refused():
    data = made(6)
    with pytest.raises(ScoreSpaceError) as caught:
        check(Split(0, 0, np.arange(4), np.arange(3, 6)), data)
    assert (
        str(caught.value) == "fold 1 of repeat 1 of d trains and tests on the same rows.\n  seen: 1 rows on both sides"
    )
    twice = Dataset("d", data.features, data.truth, "classes", ids=np.array([0, 1, 2, 0, 1, 2]))
    with pytest.raises(ScoreSpaceError) as caught:
        parse("2").splits(twice)
    assert str(caught.value).startswith("fold 1 of repeat 1 of d trains and tests on the same ids.")
