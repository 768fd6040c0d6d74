"""Laws that every measure of values per case and of rankings per query keeps; a new one is covered at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from scorespace.measures import measures
from scorespace.tables import RankTable, ValueTable, rank_table, value_table

OF_VALUES = [one for one in measures() if ValueTable in one.functions]
OF_RANKINGS = [one for one in measures() if RankTable in one.functions]
few = settings(max_examples=15)

number = st.integers(-40, 40).map(lambda k: k / 4)
rows = st.lists(st.tuples(number, st.integers(1, 3)), min_size=2, max_size=9)
document = st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.none() | st.integers(0, 2), st.integers(1, 2))
documents = st.lists(document, min_size=2, max_size=12)


def each(found):
    return pytest.mark.parametrize("measure", found, ids=lambda measure: measure.name)


def values(rows, *, copies=False):
    value, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return value_table(value, weight, copies=copies)


def ranking(rows, weights=(1, 1, 1)):
    query, grade, score, _ = zip(*rows, strict=True)
    weight = [weights["abc".index(name)] for name in query]
    return rank_table(grade, np.array(score, dtype=float), query, weight)


def of(measure, table):
    return float(measure.functions[type(table)](table))


def same(a, b):
    assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@each(OF_VALUES)
@given(rows=rows)
@few
def test_values_weighted_as_copies_are_repeated_rows(measure, rows):
    repeated = value_table(np.repeat([value for value, _ in rows], [weight for _, weight in rows]))
    same(of(measure, values(rows, copies=True)), of(measure, repeated))
    low, high = measure.range
    assert low - 1e-12 <= of(measure, repeated) <= high + 1e-12


@each(OF_VALUES)
@given(rows=rows, random=st.randoms(use_true_random=False))
@few
def test_the_order_of_cases_does_not_matter(measure, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    same(of(measure, values(shuffled)), of(measure, values(rows)))


@each(OF_VALUES)
@given(rows=rows, cut=st.integers(1, 8))
@few
def test_values_of_two_samples_merge(measure, rows, cut):
    cut = min(cut, len(rows) - 1)
    same(of(measure, values(rows[:cut]) + values(rows[cut:])), of(measure, values(rows)))
    whole = values(rows)
    part, _ = whole.part(np.arange(cut, dtype=np.int32))
    if cut > 1:
        same(of(measure, part), of(measure, values(rows[:cut])))


@each(OF_VALUES)
@given(rows=rows, rng=st.integers(0, 99))
@few
def test_replicates_of_values_are_values_of_replicates(measure, rows, rng):
    table, drawn = values(rows), np.random.default_rng(rng).integers(0, 3, (4, len(rows))).astype(float)
    drawn[:, 0] += 2  # none is empty
    together = measure.functions[ValueTable](table.with_cells(drawn))
    same(together, [of(measure, table.with_cells(one)) for one in drawn])


@each(OF_RANKINGS)
@given(rows=documents, random=st.randoms(use_true_random=False))
@few
def test_the_order_of_documents_does_not_matter(measure, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    found = of(measure, ranking(rows))
    same(of(measure, ranking(shuffled)), found)
    assert np.isnan(found) or -1e-12 <= found <= 1 + 1e-12


@each(OF_RANKINGS)
@given(rows=documents)
@few
def test_a_ranking_is_the_mean_of_its_queries(measure, rows):
    table = ranking(rows, (3, 1, 2))
    single = [
        of(measure, ranking([row for row in rows if row[0] == name])) for name in sorted({row[0] for row in rows})
    ]
    weight = table.cells
    defined = np.isfinite(single)
    expected = np.average(np.array(single)[defined], weights=weight[defined]) if defined.any() else np.nan
    same(of(measure, table), expected)
    same(measure.functions[RankTable](table.separated()), single)


@each(OF_RANKINGS)
@given(rows=documents, by=st.sampled_from([0.5, 2.0, 8.0]))
@few
def test_only_the_order_of_scores_matters(measure, rows, by):
    changed = [(query, grade, None if score is None else by * score - 3, other) for query, grade, score, other in rows]
    same(of(measure, ranking(changed)), of(measure, ranking(rows)))


@each(OF_RANKINGS)
@given(rows=documents)
@few
def test_bounds_of_ties_hold_the_value(measure, rows):
    if "ties" not in {option.name for option in measure.options}:
        return
    table = ranking(rows)
    first, last = (float(measure.functions[RankTable](table, ties=ties)) for ties in ("first", "last"))
    found = of(measure, table)
    assert np.isnan(found) or last - 1e-12 <= found <= first + 1e-12
