"""Laws that every measure of predicted numbers keeps; a new one is covered by being declared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from scorespace.curves import rroc
from scorespace.measures import measures
from scorespace.measures.regression import aoc
from scorespace.tables import ResidualTable, residual_table
from scorespace.tables.distributions import DistributionTable
from scorespace.tables.error_sums import ErrorSums
from scorespace.tables.regression import IntervalTable

KINDS = (ErrorSums, ResidualTable, IntervalTable, DistributionTable)
CATALOGUE = [measure for measure in measures() if any(kind in measure.functions for kind in KINDS)]
few = settings(max_examples=15)

number = st.integers(-40, 40).map(lambda k: k / 4)
rows = st.tuples(number, number, st.integers(1, 3).map(float))


def each(found):
    return pytest.mark.parametrize("measure", found, ids=lambda measure: measure.name)


def table(rows, weighted: bool = True) -> ResidualTable:
    truth, predicted, weight = (np.array(column) for column in zip(*rows, strict=True))
    ends = predicted - 2, predicted + 1, 0.9
    quantiles = [predicted - 2, predicted, predicted + 1], [0.2, 0.5, 0.8]
    options = {"interval": ends, "baseline": 0.5, "quantiles": quantiles, "history": [3.0, 5.0, 4.0, 7.0]}
    return residual_table(truth, predicted, weight=weight if weighted else None, **options)


def value(measure, rows, weighted: bool = True) -> float:
    return float(measure(table(rows, weighted)))


def same(a, b) -> None:
    assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@each(CATALOGUE)
@given(rows=st.lists(rows, min_size=1, max_size=10))
@few
def test_value_lies_in_the_declared_range(measure, rows):
    found = value(measure, rows)
    kinds = [kind for kind in KINDS if kind in measure.functions]
    low, high = measure.ranges.get(kinds[0], measure.range)
    assert np.isnan(found) or low - 1e-12 <= found <= high + 1e-12


@each(CATALOGUE)
@given(rows=st.lists(rows, min_size=1, max_size=8), random=st.randoms(use_true_random=False))
@few
def test_order_of_rows_does_not_matter(measure, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    same(value(measure, shuffled), value(measure, rows))


@each(CATALOGUE)
@given(rows=st.lists(rows, min_size=1, max_size=8), place=st.integers(0, 100))
@few
def test_weight_two_is_the_row_twice(measure, rows, place):
    truth, predicted, weight = rows[place % len(rows)]
    doubled = [*rows[: place % len(rows)], (truth, predicted, 2 * weight), *rows[place % len(rows) + 1 :]]
    same(value(measure, doubled), value(measure, [*rows, (truth, predicted, weight)]))


@each(CATALOGUE)
@given(rows=st.lists(rows, min_size=1, max_size=8), absent=rows)
@few
def test_weight_zero_is_the_row_absent(measure, rows, absent):
    same(value(measure, [*rows, (*absent[:2], 0.0)]), value(measure, rows))


@each(CATALOGUE)
@given(a=st.lists(rows, min_size=1, max_size=6), b=st.lists(rows, min_size=1, max_size=6))
@few
def test_merged_tables_are_the_table_of_all_rows(measure, a, b):
    same(float(measure(table(a) + table(b))), value(measure, a + b))


@each(CATALOGUE)
@given(rows=st.lists(rows, min_size=2, max_size=8), data=st.data())
@few
def test_replicates_are_measured_one_by_one(measure, rows, data):
    one = table(rows, weighted=False)
    size = len(rows)
    cells = np.array([data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)) for _ in range(3)])
    same(measure(one.with_cells(cells)), [measure(one.with_cells(row)) for row in cells])


# --- what a measure says of itself is true, both ways

RNG = np.random.default_rng(5)
SOME = [(*pair, 1.0) for pair in RNG.normal(0, 3, (12, 2)).tolist()]
OF_SUMS = [measure for measure in CATALOGUE if ErrorSums in measure.functions]


def forms(measure) -> list[dict[str, float]]:
    """The measure as it is, and with other options: an asymmetry of one half is none."""
    others = {"power": 1.2, "fair": False, "season": 2, "from_first": False}
    return [{}, {option.name: others.get(option.name, 0.8) for option in measure.options}]


def off_as_mean_loss(measure, rows) -> float:
    """By how much it is not the mean of what each error costs, wherever the truth is, and never below 0."""
    moved = [(truth + 7, predicted + 7, weight) for truth, predicted, weight in rows]
    weight, gaps = [row[2] for row in rows], []
    for options in forms(measure):
        found = float(measure(table(rows), **options))
        each = [float(measure(table([row]), **options)) for row in rows]
        again = float(measure(table(moved), **options))
        gaps += [abs(np.average(each, weights=weight) - found), abs(again - found), max(0, -min(each))]
    return float(np.max(gaps))


def off_as_middle_size(measure, rows) -> float:
    """By how much it is not where the middle of |e| is: there too, when every size is taken off the same number."""
    truth, predicted, weight = np.array(rows).T
    size = np.abs(predicted - truth)
    most = size.max() + 1
    quantiles = [truth, truth + 1, truth + 2], [0.2, 0.5, 0.8]
    options = {"interval": (truth, truth + 1, 0.9), "quantiles": quantiles, "history": [3.0, 5.0, 4.0, 7.0]}
    turned = residual_table(truth, truth + most - size, weight, baseline=0.5, **options)
    return max(abs(float(measure(turned, **o)) - (most - float(measure(table(rows), **o)))) for o in forms(measure))


LAWS = [("loss", OF_SUMS, off_as_mean_loss), ("absolute_error", CATALOGUE, off_as_middle_size)]
SAID = [(measure, off) for said, found, off in LAWS for measure in found if getattr(measure, said)]
UNSAID = [(measure, said, off) for said, found, off in LAWS for measure in found if not getattr(measure, said)]


@pytest.mark.parametrize(("measure", "off"), SAID, ids=lambda one: getattr(one, "__name__", one))
@given(rows=st.lists(rows, min_size=1, max_size=10))
@few
def test_mean_losses_and_middle_sizes_are_what_they_say(measure, off, rows):
    assert off(measure, rows) < 1e-9


@pytest.mark.parametrize(("measure", "said", "off"), UNSAID, ids=lambda one: getattr(one, "__name__", one))
def test_no_other_is(measure, said, off):
    gap = off(measure, SOME)
    assert np.isnan(gap) or gap > 1e-6, f"declare {said}=True"


@given(rows=st.lists(rows, min_size=1, max_size=12))
def test_the_area_over_the_curve_is_half_the_variance_of_the_errors(rows):
    one = table(rows)
    error, weight = one.numbers.error, one.cells
    variance = np.average((error - np.average(error, weights=weight)) ** 2, weights=weight)
    assert rroc(one).area() == pytest.approx(variance / 2, abs=1e-9)
    assert aoc(one) == pytest.approx(variance / 2, abs=1e-9)
    assert rroc(one, axes="sum").area() == pytest.approx(variance / 2 * weight.sum() ** 2, rel=1e-9, abs=1e-9)


@given(rows=st.lists(rows, min_size=1, max_size=12), alpha=st.floats(0.02, 0.98))
def test_the_best_shift_leaves_the_share_alpha_too_high_up_to_one_case(rows, alpha):
    one = table(rows, weighted=False)
    error = one.numbers.error
    best = rroc(one).best(alpha)
    above, at_least = (error + best.shift > 1e-9).mean(), (error + best.shift > -1e-9).mean()
    assert above <= alpha + 1e-9
    assert at_least >= alpha - 1e-9
    # No other shift costs less.
    losses = [np.where(e < 0, -2 * alpha * e, 2 * (1 - alpha) * e).mean() for e in (error - other for other in error)]
    assert best.loss == pytest.approx(min(losses), abs=1e-9)
