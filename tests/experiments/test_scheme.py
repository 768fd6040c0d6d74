"""What all notations share: numbers within limits, seeds, and the words for how rows are dealt."""

import numpy as np
import pytest

from experiments.rows import made
from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import Dataset
from scorespace.experiments.resampling import parse
from scorespace.experiments.scheme import repeat_seed


def test_a_class_too_small_to_stratify_is_said():
    truth = np.array([0] * 10 + [1])
    data = Dataset("d", {"x": np.arange(11.0)}, truth, "classes")
    assert parse("3").described(data) == "3 folds, at random (a class is too small to stratify)"
    assert len(parse("3").splits(data)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10x1", "resampling='10x1' is of 1 folds, which is too few.\n  hint: 10"),
        ("9999x9999", "resampling='9999x9999' is of 9999 repeats, which is too many.\n  hint: 10"),
        ("bootstrap:0", "resampling='bootstrap:0' is of 0 samples, which is too few.\n  hint: bootstrap:200"),
        ("lpgo:0:a", "resampling='lpgo:0:a' is of 0 groups, which is too few.\n  hint: logo:speaker"),
        ("time:1", "resampling='time:1' is of 1 stretches, which is too few.\n  hint: time:5"),
        ("logo:a*a", "resampling='logo:a*a' crosses no two groupings.\n  hint: logo:professor*student"),
    ],
)
def test_numbers_out_of_range_are_told(text, words):
    with pytest.raises(ScoreSpaceError) as caught:
        parse(text)
    assert str(caught.value) == words


def test_seeds_share_no_repeat():
    assert len({repeat_seed(seed, repeat) for seed in range(20) for repeat in range(20)}) == 400


def test_numbers_are_not_stratified():
    assert parse("5").described(made(classes=0)) == "5 folds, at random"
