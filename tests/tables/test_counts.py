"""The four outcomes."""

import numpy as np
import pytest

from scorespace.tables import Counts, ratio


@pytest.mark.parametrize(("part", "whole", "expected"), [(1, 2, 0.5), (0, 0, np.nan), (1, 0, np.inf), (-1, 0, -np.inf)])
def test_ratio(part, whole, expected):
    assert ratio(part, whole) == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings("error")
def test_undefined_ratios_do_not_warn():
    ratio([1, 0], [0, 0])


def test_margins():
    c = Counts(tp=1, fp=2, fn=4, tn=8)
    assert (c.p, c.n, c.pp, c.pn, c.total) == (5, 10, 3, 12, 15)


def test_outcomes_of_both_samples_add_up():
    assert Counts(1, 2, 3, 4) + Counts(10, 20, 30, 40) == Counts(11, 22, 33, 44)


def test_swapped():
    assert Counts(tp=1, fp=2, fn=3, tn=4).swapped() == Counts(tp=4, fp=3, fn=2, tn=1)


def test_indexing_takes_from_all_four():
    stack = Counts([1, 2], [3, 4], [5, 6], [7, 8])
    assert stack[1] == Counts(2, 4, 6, 8)


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float32, bool])
def test_counts_of_any_type_become_wide_floats(kind):
    # 32-bit products of counts overflowed in scikit-learn (issues 2806, 9622, 8354).
    assert Counts(*np.ones((4, 3), dtype=kind)).tp.dtype == np.float64


def test_equality_is_by_value():
    assert Counts(1, 2, 3, 4) == Counts(1.0, 2.0, 3.0, 4.0)
    assert Counts(1, 2, 3, 4) != Counts(1, 2, 3, 5)


def test_weights_of_one_sample_are_kept_beside_cases_of_another():
    weighted = Counts(tp=1.5, fp=0, fn=0.5, tn=2, squares=Counts(tp=2.25, fp=0, fn=0.25, tn=4))
    for both in (weighted + Counts(tp=1, fp=2, fn=3, tn=4), Counts(tp=1, fp=2, fn=3, tn=4) + weighted):
        assert both == Counts(tp=2.5, fp=2, fn=3.5, tn=6)
        assert both.squares == Counts(tp=3.25, fp=2, fn=3.25, tn=8)
