"""What every table owes: the defaults of a kind that says no more than it must, and what it refuses."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scorespace.tables import Array, ConfusionTable, Counts, NoTableError, ScoreTable, Table, class_table, score_table
from scorespace.tables.table import resolve_table, table_name


@dataclass(frozen=True, eq=False)
class Bare(Table):
    """A table with no more than its cells."""

    held: Array
    squares: Array | None = None

    def described(self):
        return "bare cells"

    @property
    def cells(self):
        return self.held

    @property
    def cell_squares(self):
        return self.squares

    @property
    def strata(self):
        return np.zeros(self.held.shape[-1], dtype=np.intp)

    def with_cells(self, cells):
        return replace(self, held=cells)

    def __add__(self, other):
        return Bare(self.held + other.held)


BARE = Bare(np.array([2.0, 0.0, 3.0]))


def test_what_follows_from_the_cells():
    assert (float(BARE.total), BARE.cases, BARE.whole, BARE.counted) == (5, 5, True, True)
    half = Bare(np.array([0.5, 1.5]))
    assert (half.cases, half.whole, half.counted) == (2, False, False)
    # Weights 1 and 3 are worth (1 + 3)² / (1 + 9) equal cases.
    weighed = Bare(np.array([1.0, 3.0]), np.array([1.0, 9.0]))
    assert (weighed.cases, weighed.counted) == (1.6, True)
    assert Bare(np.array([[1, 2], [3, 4]])).total.tolist() == [3, 7]


def test_what_most_tables_leave_as_it_is():
    assert BARE.at_prevalence(0.3) is BARE.condensed(2) is BARE.deciding() is BARE
    assert BARE.condensed_cells(2) is None
    assert BARE.scores_seen() == "bare cells"
    part, places = BARE.part(np.array([2, 2, 0], dtype=np.int32))
    assert part == Bare(np.array([1, 0, 2]))
    assert_array_equal(places, [2, 2, 0])
    assert (BARE.class_names, BARE.positive_name, BARE.grouping) == ((), None, None)
    assert (BARE.probabilities, BARE.thresholded, BARE.scores_classes, BARE.by_case) == (True, False, False, False)


def test_tables_of_the_same_cells_share_them():
    other = Bare(np.array([1.0, 1.0, 1.0]))
    shared, mine, theirs = BARE.shared_with(other, sized=True)
    assert shared is BARE
    assert_array_equal(mine, [0, 1, 2])
    assert_array_equal(theirs, [0, 1, 2])
    with pytest.raises(NoTableError) as caught:
        BARE.shared_with(Bare(np.ones(2)), sized=True)
    assert str(caught.value) == "permutes cases between models, but bare cells and bare cells have different cells"


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: BARE.right(), "compares decisions, but bare cells have none"),
        (lambda: BARE.ranked(np.zeros(1, np.int32)), "needs scores of a positive class, but bare cells have none"),
        (
            lambda: BARE.inside(Bare, at=0.5),
            "specifies a threshold, but bare cells have none\n  hint: {label}",
        ),
        (lambda: BARE.inside(Bare, "a"), "names a class, but bare cells have none\n  hint: {label}"),
        (
            lambda: BARE.inside(ScoreTable),
            "cannot be computed from bare cells\n  hint: {label} needs scores",
        ),
        (
            lambda: BARE.averaged_over(Counts),
            "averages over classes, but a single score has none\n  hint: {label}",
        ),
        (lambda: BARE.each(Counts), "cannot be averaged over bare cells"),
        (lambda: BARE.pooled(Counts), "cannot be averaged over bare cells"),
        (lambda: BARE.pairwise(Counts), "averages over pairs of classes, which needs scores of the classes"),
        (lambda: BARE.class_totals, "averages over classes, but bare cells have none"),
        (lambda: resolve_table({}, BARE), "is not implemented for any table"),
    ],
)
def test_what_it_cannot_say_it_tells(ask, told):
    with pytest.raises(NoTableError) as caught:
        ask()
    assert str(caught.value) == told


def test_the_way_to_the_first_kind_that_is_inside():
    scores = score_table([1, 0, 1], [0.9, 0.4, 0.4])
    functions = {ConfusionTable: len, Counts: min, ScoreTable: max}
    assert resolve_table(functions, scores).function is max
    at = resolve_table(functions, scores, at=0.5)
    assert (at.kind, at.table) == (Counts, scores.at(0.5))
    with pytest.raises(NoTableError) as caught:
        resolve_table({ConfusionTable: len, Counts: min}, BARE)
    assert caught.value.hint == "{label} needs multiclass decisions"  # the reason of the first kind
    classes = class_table(["x", "y"], [[0.2, 0.8], [0.3, 0.7]])
    assert resolve_table(functions, classes).kind is ConfusionTable


def test_a_kind_for_people():
    assert [table_name(kind) for kind in (ScoreTable, Bare)] == ["a ScoreTable", "a Bare"]
    assert table_name(type("OrderTable", (), {})) == "an OrderTable"
