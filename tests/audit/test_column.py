"""A column as the rules see it: its values by code, its line in the audit, and its picture."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scorespace.audit.column import AuditedColumn, histogram_bars
from scorespace.audit.column_kinds import KINDS, StatedKind
from scorespace.io.column_profile import ColumnValues


def numbers(values, stored="number", kind="ratio"):
    """A column of numbers with NaN where one is missing."""
    values = np.asarray(values, dtype=np.float64)
    known = values[~np.isnan(values)]
    distinct, counts = np.unique(known, return_counts=True)
    codes = np.where(np.isnan(values), -1, np.searchsorted(distinct, values)).astype(np.int32)
    return AuditedColumn(
        ColumnValues("x", stored, values.size, distinct, counts, codes), KINDS[kind], "because", "spread"
    )


def labels(counts, kind="nominal", stated=None):
    """A column of labels, the commonest first."""
    ordered = sorted(counts, key=lambda label: -counts[label])
    held = ColumnValues(
        "colour",
        "text",
        sum(counts.values()),
        np.array(ordered, dtype=object),
        np.array([counts[label] for label in ordered]),
        np.repeat(np.arange(len(ordered)), [counts[label] for label in ordered]).astype(np.int32),
    )
    return AuditedColumn(held, KINDS[kind], "because", "spread", stated)


def test_values_by_code():
    column = numbers([3, 1, math.nan, 3, 2, 3])
    assert (column.name, column.known, column.count_of) == ("x", 5, {1.0: 1, 2.0: 1, 3.0: 3})
    assert [column.code_of(value) for value in (1, 2, 3)] == [0, 1, 2]
    assert column.text(2) == "3"
    assert column.examples(2) == ({"row": 1, "x": "3"}, {"row": 4, "x": "3"}, {"row": 6, "x": "3"})


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_the_middle_is_the_lower_median(values):
    row = replace(numbers(values).profile(), findings=("SS101",)).row()
    assert (row["low"], row["high"]) == (str(min(values)), str(max(values)))
    assert row["middle"] == str(sorted(values)[(len(values) - 1) // 2])
    assert (row["missing"], row["distinct"], row["findings"]) == (0, len(set(values)), ["SS101"])


def test_labels_have_no_ends():
    row = labels({"red": 3, "blue": 1}).profile().row()
    assert (row["low"], row["middle"], row["high"], row["kind"]) == (None, None, None, "nominal")


@given(hnp.arrays(np.float64, st.integers(30, 40), elements=st.floats(allow_nan=False), unique=True))
@settings(max_examples=40)
def test_a_histogram_holds_every_finite_number_once(values):
    # The ends may lie farther apart than any number.
    found = histogram_bars(numbers(values))
    finite = values[np.isfinite(values)]
    assert sum(bar.rows for bar in found) == finite.size
    assert all(one.high == other.low for one, other in pairwise(found))
    assert found[0].low <= finite.min()
    assert finite.max() <= found[-1].high * (1 + 1e-15) + 1e-300
    for bar in found[:-1]:
        assert bar.rows == int(((finite >= bar.low) & (finite < bar.high)).sum())


def test_few_numbers_are_bars_of_their_own():
    found = histogram_bars(numbers([2, 1, 2, math.nan]))
    assert [(bar.low, bar.high, bar.rows, bar.label) for bar in found] == [(1, 1, 1, "1"), (2, 2, 2, "2")]


def test_the_commonest_labels_and_the_others():
    found = histogram_bars(labels({f"label {k}": 20 - k for k in range(12)}))
    assert [(bar.label, bar.rows) for bar in found[:2]] == [("label 0", 20), ("label 1", 19)]
    assert (len(found), found[-1].label, found[-1].rows) == (9, "others", 12 + 11 + 10 + 9)


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        (None, ["low", "medium", "high", "?"]),
        (StatedKind("ordinal", ("high", "low", "medium")), ["high", "low", "medium", "?"]),
    ],
)
def test_levels_stand_from_low_to_high(stated, shown):
    column = labels({"medium": 9, "?": 5, "low": 4, "high": 3}, "ordinal", stated)
    assert [bar.label for bar in histogram_bars(column)] == shown
