"""The checks that an evaluation runs without asking."""

import numpy as np

from scorespace.auditing.free import free_checks


def codes(*given, **named):
    return [one.code for one in free_checks(*given, **named)]


def test_nothing_to_say():
    source = np.random.default_rng(0)
    y, group = source.integers(0, 2, 200), np.repeat(np.arange(40), 5)
    assert codes(y, ids=np.arange(200), group=group, fold=group % 5) == []


def test_rows_sorted_by_the_truth():
    assert codes(np.repeat([0, 1, 2], 30)) == ["SS102"]
    assert codes(np.repeat([0, 1], 5)) == []  # too few to say
    assert codes(np.zeros(100)) == []


def test_repeated_identifiers():
    y = np.random.default_rng(1).integers(0, 2, 100)
    (one,) = free_checks(y, ids=[f"c{n % 98}" for n in range(100)])
    assert one.text == (
        "2 rows repeat an identifier: their cases count more than once. `scorespace audit` looks closer."
    )


def test_groups_over_folds_within_a_repeat():
    source = np.random.default_rng(2)
    y, group, fold = source.integers(0, 2, 200), np.tile(np.arange(40), 5), np.repeat(np.arange(5), 40)
    assert codes(y, group=group, fold=fold) == ["SS167"]
    assert codes(y, group=group, fold=fold, repeat=fold) == []
