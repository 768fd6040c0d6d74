"""Leaving out: rows and groups as scikit-learn does, two groupings at once by brute force."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut, LeavePGroupsOut

from experiments.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.resampling import parse


def test_leaving_groups_out_is_as_in_scikit_learn():
    data = made(40, groups=5)
    codes = data.groups["speaker"]
    for text, theirs in (("logo:speaker", LeaveOneGroupOut()), ("lpgo:2:speaker", LeavePGroupsOut(2))):
        found = parse(text).splits(data)
        wanted = list(theirs.split(data.matrix, groups=codes))
        assert len(found) == len(wanted)
        assert {tuple(one.test) for one in found} == {tuple(test) for _, test in wanted}


def test_crossed_groups_by_brute_force():
    """Every observed pair is a fold; its training rows have neither."""
    data = made(60, groups=6, second=5)
    first, second = data.groups["speaker"], data.groups["student"]
    pairs = sorted(set(zip(first.tolist(), second.tolist(), strict=True)))
    found = {tuple(one.test): one.train for one in parse("logo:speaker*student").splits(data)}
    assert len(found) == len(pairs)
    for a, b in pairs:
        test = tuple(i for i in range(60) if first[i] == a and second[i] == b)
        assert found[test].tolist() == [i for i in range(60) if first[i] != a and second[i] != b]


def test_crossed_parts_have_the_stated_sizes():
    data = made(120, groups=6, second=9)
    for split in parse("lpgo:2*3:speaker*student").splits(data):
        assert np.unique(data.groups["speaker"][split.test]).size <= 2
        assert np.unique(data.groups["student"][split.test]).size <= 3


def test_one_row_cannot_be_left_out():
    with pytest.raises(ScoreSpaceError, match="d has too few rows to leave one out"):
        parse("loo").splits(made(1))
