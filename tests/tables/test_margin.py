"""What is taken for what by the lead of the highest score: exact at the leads of the bins, merged like shards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.errors import DataError
from scorespace.tables import class_table
from scorespace.tables.margin import MarginTable, margin_table

NAMES = ("a", "b", "c")


def of_cases(cases):
    lead, actual, decided = (np.array(column) for column in zip(*cases, strict=True))
    return margin_table(lead, actual, decided, np.ones(len(cases)), NAMES)


CASES = st.lists(
    st.tuples(st.floats(0, 50, allow_subnormal=False), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=60
)


@given(CASES)
def test_what_leads_by_at_least_the_lowest_of_a_bin_is_exact(cases):
    table = of_cases(cases)
    assert (np.diff(table.low) < 0).all()
    assert (table.low[:-1] > table.high[1:]).all()
    expected = []
    for at in table.low:
        matrix = np.zeros((3, 3))
        for lead, actual, decided in cases:
            matrix[actual, decided] += lead >= at
        expected.append(matrix.ravel().tolist())
    assert table.left(table.low).tolist() == expected


@given(CASES, CASES)
def test_parts_merge_into_the_whole(some, others):
    assert of_cases(some) + of_cases(others) == of_cases(some + others)


def test_margins_are_those_of_the_cases():
    chance = np.random.default_rng(0)
    cases = class_table(np.array(NAMES)[chance.integers(0, 3, 500)], chance.dirichlet([1, 1, 1], 500))
    table = margin_table(cases.exact_lead, cases.label, cases.decided, np.ones(500), NAMES)
    found, exact = table.margins, cases.margins
    assert found.score.size < 400
    for at in found.score:
        assert float(found.at(at).tp) == np.sum((cases.exact_lead >= at) & cases.right())
    assert float(found.total) == float(exact.total) == 500
    assert found.resolution > 0


def test_other_classes_do_not_merge():
    one = of_cases([(0.5, 0, 0)])
    with pytest.raises(DataError, match="different classes"):
        one + MarginTable(one.low, one.high, one.matrix, ("x", "y", "z"))
    assert one.in_order(("c", "b", "a")).matrix.tolist() == [[[0, 0, 0], [0, 0, 0], [0, 0, 1]]]
    assert one.with_cells(2 * one.cells).matrix.sum() == 2
    assert one.strata.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
