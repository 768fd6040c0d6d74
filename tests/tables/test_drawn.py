"""Drawn cases: pairs counted class by class are those of the plain double loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.tables import NoTableError, ScoreTable
from scorespace.tables.drawn import DrawnCases

scores = st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True).map(lambda held: sorted(held, reverse=True))


def drawn(pos_scores, neg_scores, pos, neg):
    """The replicates of these scores, highest first; `level` is `above` itself where nothing is tied."""
    falling = -np.asarray(pos_scores)
    above = np.searchsorted(falling, -np.asarray(neg_scores), side="left")
    level = np.searchsorted(falling, -np.asarray(neg_scores), side="right")
    return DrawnCases(pos, neg, above, above if np.array_equal(above, level) else level, 1.0, 1.0)


@given(scores, scores, st.randoms(use_true_random=False))
def test_pairs_in_the_right_order_by_brute_force(pos_scores, neg_scores, random):
    pos, neg = (np.array([[random.randint(0, 3) for _ in held] for _ in range(3)]) for held in (pos_scores, neg_scores))
    expected = [
        sum(
            p * n * ((a > b) + (a == b) / 2)
            for a, p in zip(pos_scores, pos[replicate], strict=True)
            for b, n in zip(neg_scores, neg[replicate], strict=True)
        )
        for replicate in range(3)
    ]
    assert drawn(pos_scores, neg_scores, pos, neg).concordant_pairs().tolist() == expected


def test_there_is_nothing_else_inside():
    cases = drawn([2], [1], np.ones((1, 1)), np.ones((1, 1)))
    assert cases.inside(DrawnCases) is cases
    for wanted, of, at in [(ScoreTable, None, None), (DrawnCases, "a", None), (DrawnCases, None, 0.5)]:
        with pytest.raises(NoTableError) as caught:
            cases.inside(wanted, of, at)
        assert str(caught.value) == "cannot be computed from pairs alone"
