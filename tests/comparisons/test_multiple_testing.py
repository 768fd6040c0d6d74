"""Many tests at once: adjusted p-values, in any order and with undefined ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from scorespace.comparisons.multiple_testing import ADJUSTMENTS, adjust, bonferroni, finner, hochberg, holm, shaffer
from scorespace.errors import DataError, ScoreSpaceError

NAN = float("nan")
ANY_NUMBER = [name for name in ADJUSTMENTS if name != "shaffer"]
VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


# The numbers are those of p.adjust in R, except for Finner and Shaffer, which it does not have.
@pytest.mark.parametrize(
    ("method", "p", "expected"),
    [
        ("bonferroni", [0.01, 0.02, 0.03, 0.5], [0.04, 0.08, 0.12, 1]),
        ("holm", [0.01, 0.02, 0.03, 0.5], [0.04, 0.06, 0.06, 0.5]),
        ("hochberg", [0.01, 0.02, 0.03, 0.5], [0.04, 0.06, 0.06, 0.5]),
        ("holm", [0.04, 0.04, 0.04], [0.12, 0.12, 0.12]),
        ("hochberg", [0.04, 0.04, 0.04], [0.04, 0.04, 0.04]),
        ("holm", [0.7, 0.8], [1, 1]),
        ("hochberg", [0.7, 0.8], [0.8, 0.8]),
        ("finner", [0.01, 0.02, 0.5], [1 - 0.99**3, 1 - 0.98**1.5, 0.5]),
        ("shaffer", [0.001, 0.01, 0.02, 0.03, 0.04, 0.05], [0.006, 0.03, 0.06, 0.09, 0.09, 0.09]),
    ],
)
def test_values(method, p, expected):
    assert_allclose(adjust(p, method), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("models", "still"),
    # García and Herrera (2008), and k = 3 by hand: if one pair differs, so does another.
    [(2, [1]), (3, [3, 1, 1]), (4, [6, 3, 3, 3, 2, 1]), (5, [10, 6, 6, 6, 6, 4, 4, 3, 2, 1])],
)
def test_shaffer_counts_the_pairs_that_can_still_be_equal(models, still):
    p = 1e-6 * 2.0 ** np.arange(len(still))
    assert_allclose(shaffer(p), np.maximum.accumulate(np.array(still) * p), rtol=1e-12)


@given(VALUES, st.randoms())
@pytest.mark.parametrize("method", ANY_NUMBER)
def test_the_order_is_irrelevant(method, p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    assert_allclose(adjust([p[place] for place in order], method), adjust(p, method)[order], rtol=1e-12)


@given(VALUES)
@pytest.mark.parametrize("method", ANY_NUMBER)
def test_adjusted_values_are_larger_and_keep_the_order(method, p):
    found = adjust(p, method)
    assert np.all(found >= np.array(p) - 1e-15)
    assert np.all(found <= 1)
    assert np.all(np.diff(found[np.argsort(p)]) >= 0)


@given(VALUES)
def test_holm_lies_between_hochberg_and_bonferroni(p):
    assert np.all(hochberg(p) <= holm(p))
    assert np.all(holm(p) <= bonferroni(p))


@pytest.mark.parametrize("method", ANY_NUMBER)
def test_undefined_values_stay_so_and_are_not_counted(method):
    # As in R: n is the number of values that are not missing.
    found = adjust([0.01, NAN, 0.04], method)
    assert np.isnan(found[1])
    assert_allclose(found[[0, 2]], adjust([0.01, 0.04], method))


@pytest.mark.parametrize("method", ANY_NUMBER)
def test_a_single_value_and_none_are_themselves(method):
    assert adjust([0.03], method) == pytest.approx([0.03])
    assert adjust([], method).size == 0


def test_the_shape_is_kept():
    assert holm([[0.01, 0.02], [0.03, 0.04]]).shape == (2, 2)


def test_zero_and_one_are_values():
    assert_allclose(finner([0.0, 1.0]), [0, 1])


@pytest.mark.parametrize("p", [[0.5, 1.01], [-1e-9], [float("inf")]])
def test_what_is_no_probability_is_refused(p):
    # log10(p) was once returned as p (roc_comparison 10).
    with pytest.raises(DataError, match="is not a p-value"):
        holm(p)


def test_shaffer_needs_all_pairs():
    with pytest.raises(DataError) as caught:
        shaffer([0.1] * 5)
    assert str(caught.value) == (
        "5 p-values are not the number of pairs of any number of models.\n  hint: one for each pair: 1, 3, 6, 10, 15, …"
    )
    with pytest.raises(DataError, match="without a p-value"):
        shaffer([0.1, NAN, 0.2])


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(ScoreSpaceError) as caught:
        adjust([0.1], "hom")
    assert str(caught.value) == (
        "adjust='hom' is not an adjustment.\n"
        "  seen: known are 'holm', 'hochberg', 'bonferroni', 'finner', 'shaffer'\n"
        '  hint: adjust="holm"'
    )
