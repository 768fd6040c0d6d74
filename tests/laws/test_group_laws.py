"""Laws that every measure of clusters, of clusters beside classes and of rules keeps; a new one is covered at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from scorespace.errors import ScoreSpaceError
from scorespace.measures import measures
from scorespace.tables.clusters import ClusterTable, ContingencyTable, cluster_table, contingency
from scorespace.tables.rules import RuleTable

OF_CLUSTERS = [one for one in measures() if one.table is ClusterTable]
OF_CLASSES = [one for one in measures() if one.table is ContingencyTable]
OF_RULES = [one for one in measures() if one.table is RuleTable]
EXTREME = [one for one in OF_CLUSTERS if one.interval == "border-points"]

few = settings(max_examples=15)


def each(chosen):
    return pytest.mark.parametrize("measure", chosen, ids=lambda one: one.name)


@st.composite
def labelled_points(draw):
    """Points on a small grid, so that many coincide, in up to four clusters, with whole weights."""
    row = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3), st.integers(1, 3))
    rows = draw(st.lists(row, min_size=2, max_size=14))
    x, y, label, weight = zip(*rows, strict=True)
    return np.column_stack([x, y]).astype(float), np.array(label), np.array(weight)


@st.composite
def rule_counts(draw):
    both, one, other, neither = (draw(st.integers(0, 20)) for _ in range(4))
    return np.array([both, one, other, max(neither, int(both + one + other == 0))], dtype=float)


def rule(cells):
    return RuleTable(0, 0, 0, 0).with_cells(np.asarray(cells, dtype=float))


def in_range(measure, found):
    low, high = measure.range
    found = np.asarray(found)
    return np.all(np.isnan(found) | ((found >= low - 1e-12) & (found <= high + 1e-12)))


@each(OF_CLUSTERS)
@given(sample=labelled_points())
@few
def test_values_of_clusters_lie_in_the_declared_range(measure, sample):
    points, labels, weight = sample
    assert in_range(measure, measure(cluster_table(points, labels, weight=weight)))


@each(OF_CLUSTERS)
@given(sample=labelled_points(), random=st.randoms(use_true_random=False))
@few
def test_order_of_points_does_not_matter(measure, sample, random):
    points, labels, weight = sample
    order = list(range(labels.size))
    random.shuffle(order)
    again = cluster_table(points[order], labels[order], weight=weight[order])
    assert_allclose(measure(again), measure(cluster_table(points, labels, weight=weight)), rtol=1e-9, atol=1e-12)


@each(OF_CLUSTERS)
@given(sample=labelled_points())
@few
def test_weight_two_is_the_point_twice_and_weight_zero_the_point_absent(measure, sample):
    points, labels, weight = sample
    weight = weight - 1
    if not weight.sum():
        return
    copies = np.repeat(np.arange(labels.size), weight)
    expected = measure(cluster_table(points[copies], labels[copies]))
    assert_allclose(measure(cluster_table(points, labels, weight=weight)), expected, rtol=1e-9, atol=1e-12)


@each(OF_CLUSTERS)
@given(a=labelled_points(), b=labelled_points())
@few
def test_tables_of_points_merge(measure, a, b):
    tables = [cluster_table(points, labels, weight=weight) for points, labels, weight in (a, b)]
    points, labels, weight = (np.concatenate(pair) for pair in zip(a, b, strict=True))
    expected = measure(cluster_table(points, labels, weight=weight))
    assert_allclose(measure(tables[0] + tables[1]), expected, rtol=1e-9, atol=1e-12)


@each([one for one in OF_CLUSTERS if one not in EXTREME])
@given(sample=labelled_points(), seed=st.integers(0, 99))
@few
def test_replicates_of_points_are_measured_one_by_one(measure, sample, seed):
    points, labels, _ = sample
    table = cluster_table(points, labels)
    cells = np.random.default_rng(seed).integers(0, 3, (4, labels.size)).astype(float)
    cells[:, 0] += 1
    alone = [measure(table.with_cells(one)) for one in cells]
    assert_allclose(measure(table.with_cells(cells)), alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["border_distance", "dunn"])
def test_the_outermost_points_are_not_drawn_again(name):
    measure = next(one for one in OF_CLUSTERS if one.name == name)
    table = cluster_table([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    with pytest.raises(ScoreSpaceError, match="outermost"):
        measure(table.with_cells(np.ones((2, 3))))


@each(OF_CLASSES)
@given(sample=labelled_points())
@few
def test_values_beside_classes_lie_in_the_declared_range(measure, sample):
    points, labels, weight = sample
    assert in_range(measure, measure(contingency(points[:, 0].astype(int), labels, weight=weight.astype(float))))


@each(OF_CLASSES)
@given(sample=labelled_points())
@few
def test_weights_beside_classes_are_copies(measure, sample):
    points, labels, weight = sample
    classes = points[:, 0].astype(int)
    copies = np.repeat(np.arange(labels.size), weight)
    expected = measure(contingency(classes[copies], labels[copies]))
    assert_allclose(measure(contingency(classes, labels, weight=weight.astype(float))), expected, rtol=1e-9, atol=1e-12)


@each(OF_CLASSES)
@given(seed=st.integers(0, 99))
@few
def test_replicates_beside_classes_are_measured_one_by_one(measure, seed):
    matrix = np.random.default_rng(seed).integers(0, 4, (4, 3, 2)).astype(float)
    matrix[:, 0, 0] += 2
    alone = [measure(ContingencyTable(one, ("a", "b", "c"), ("x", "y"))) for one in matrix]
    assert_allclose(measure(ContingencyTable(matrix, ("a", "b", "c"), ("x", "y"))), alone, rtol=1e-9, atol=1e-12)


@each(OF_RULES)
@given(cells=rule_counts())
@few
def test_values_of_rules_lie_in_the_declared_range(measure, cells):
    assert in_range(measure, measure(rule(cells)))


REASONS = {
    "there are no transactions": lambda both, a, b, n: n == 0,
    "the antecedent never occurs": lambda both, a, b, n: a == 0,
    "the antecedent or the consequent never occurs": lambda both, a, b, n: (a == 0) | (b == 0),
    "the consequent always occurs": lambda both, a, b, n: b == n,
}


@each(OF_RULES)
@given(cells=rule_counts())
@settings(max_examples=40)
def test_rules_are_undefined_exactly_when_the_reason_holds(measure, cells):
    table = rule(cells)
    counts = (table.both, table.antecedent, table.consequent, table.total)
    expected = any(REASONS[phrase](*counts) for phrase in measure.undefined.split(", or "))
    assert bool(np.isnan(measure(table))) == bool(expected)


@each(OF_RULES)
@given(many=st.lists(rule_counts(), min_size=1, max_size=5))
@few
def test_rules_along_an_axis_are_measured_one_by_one(measure, many):
    assert_array_equal(measure(rule(many)), [measure(rule(one)) for one in many])


@each(OF_RULES)
@given(a=rule_counts(), b=rule_counts())
@few
def test_tables_of_rules_merge(measure, a, b):
    assert_array_equal(measure(rule(a) + rule(b)), measure(rule(a + b)))
