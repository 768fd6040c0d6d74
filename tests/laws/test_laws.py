"""Laws that every measure of the catalogue keeps; a new measure is covered by being declared."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from laws.strategies import Sample, counts, rated, ratings, samples, stacked_matrices, stacked_scores, value, weights
from laws.test_number_laws import CATALOGUE as OF_NUMBERS
from scorespace.measures import average, measures
from scorespace.measures.average import AVERAGES
from scorespace.tables import ClassTable, ConfusionTable, Counts, RankTable, ScoreTable, ValueTable
from scorespace.tables.clusters import ClusterTable, ContingencyTable
from scorespace.tables.ratings import RatingTable
from scorespace.tables.rules import RuleTable

CATALOGUE = measures()
OF_COUNTS = [measure for measure in CATALOGUE if measure.table is Counts]
OF_SCORES = [measure for measure in CATALOGUE if measure.table is ScoreTable]
RANKING = [  # those with a threshold of their own depend on the scores, too
    measure
    for measure in OF_SCORES
    if measure.function.__module__ == "scorespace.measures.ranking"
    and not any(option.name == "at" for option in measure.options)
]
OF_CLASSES = [measure for measure in OF_COUNTS if ConfusionTable in measure.functions]
OF_GRADES = [measure for measure in CATALOGUE if measure.table is ConfusionTable]
OF_PROBABILITIES = [measure for measure in CATALOGUE if measure.table is ClassTable]

OF_RATINGS = [measure for measure in CATALOGUE if measure.table is RatingTable]

few = settings(max_examples=12)
some = settings(max_examples=30)


def each(measures):
    return pytest.mark.parametrize("measure", measures, ids=lambda measure: measure.name)


def test_the_laws_know_the_table_of_every_measure():
    known = OF_COUNTS + OF_SCORES + OF_GRADES + OF_PROBABILITIES + OF_NUMBERS + OF_RATINGS
    elsewhere = (ClusterTable, ContingencyTable, RuleTable)  # in test_group_laws.py
    elsewhere += (ValueTable, RankTable)  # in test_value_laws.py
    unknown = [measure.name for measure in CATALOGUE if measure not in known and measure.table not in elsewhere]
    assert not unknown, f"add samples of their tables to laws/strategies.py: {unknown}"


# --- what the value may be


@each(OF_COUNTS + OF_SCORES)
@given(sample=samples())
@some
def test_value_lies_in_the_declared_range(measure, sample):
    low, high = measure.range
    found = np.atleast_1d(value(measure, sample.table()))
    assert np.all(np.isnan(found) | ((found >= low) & (found <= high)))


@each(OF_COUNTS)
@given(c=counts())
@few
@example(c=Counts(1, 0, 0, 3))
@example(c=Counts(0, 1, 3, 0))
def test_value_of_outcomes_lies_in_the_declared_range(measure, c):
    low, high = measure.range
    found = measure(c)
    assert np.isnan(found) or low <= found <= high


@each(OF_COUNTS + OF_SCORES)
def test_undefined_and_infinite_values_have_a_reason(measure):
    assert measure.reason(float("nan")).removeprefix("undefined: ").strip()
    assert measure.reason(float("inf")).removeprefix("infinite: ").strip()


@each(OF_COUNTS + OF_SCORES)
def test_an_ordinary_value_has_no_reason(measure):
    assert measure.reason(0.5) is None


# The reasons in the words of the catalogue, and what they mean.
REASONS = {
    "no threshold satisfies the constraints": lambda p, n, pp, pn: p == 0,  # the usual bound is on the TPR
    "there are no cases": lambda p, n, pp, pn: p + n == 0,
    "the threshold is 0": lambda p, n, pp, pn: False,  # outcomes are of decisions here
    "the threshold is 1": lambda p, n, pp, pn: False,
    "there are no positive cases": lambda p, n, pp, pn: p == 0,
    "there are no negative cases": lambda p, n, pp, pn: n == 0,
    "nothing is predicted positive": lambda p, n, pp, pn: pp == 0,
    "nothing is predicted negative": lambda p, n, pp, pn: pn == 0,
    "all cases are predicted the same": lambda p, n, pp, pn: (pp == 0) | (pn == 0),
    "a class has no cases": lambda p, n, pp, pn: (p == 0) | (n == 0),
    "acting on all cases or on none costs nothing": lambda p, n, pp, pn: (p == 0) | (n == 0),
    "only one class is present": lambda p, n, pp, pn: (p == 0) | (n == 0),
    "there are neither positives nor predicted positives": lambda p, n, pp, pn: (p == 0) & (pp == 0),
    "truth and decision are the same single class": lambda p, n, pp, pn: (p + pp == 0) | (n + pn == 0),
    "a class of stated share has none": lambda p, n, pp, pn: False,  # none is, unless a prevalence is asked for
    "the soft labels are all of one class": lambda p, n, pp, pn: False,  # only a midpoint of 0 or 1 can do it
    "a row or column of the confusion table is empty": lambda p, n, pp, pn: (p == 0) | (n == 0) | (pp == 0) | (pn == 0),
}


def overlap(table):
    """Whether the scores of the classes strictly between 0 and 1 overlap, in both directions."""
    inside = (table.score > 0) & (table.score < 1)
    pos, neg = (table.score[inside & (side > 0)] for side in (table.pos, table.neg))
    return pos.size and neg.size and pos.min() < neg.max() and neg.min() < pos.max()


# Reasons that depend on where the scores are.
REASONS_OF_SCORES = {
    "the classes do not overlap in scores between 0 and 1": lambda table: not overlap(table),
    "there are no positives, and the sum of the scores is 0": lambda table: (
        table.n_pos == 0 and not ((table.pos + table.neg) @ table.score)
    ),
    "every score is at the midpoint": lambda table: table.score.size < 2,  # at the mean of all
    "a class that the midpoint needs is absent": lambda table: False,  # the mean needs none
    "all scores are equal": lambda table: table.score.size < 2,
    "all these scores are the same": lambda table: np.sum((table.score > 0) & (table.score < 1)) < 2,
    "a class has no scores between 0 and 1": lambda table: any(
        not np.any(side[(table.score > 0) & (table.score < 1)]) for side in (table.pos, table.neg)
    ),
}


def documented(measure, p, n, pp, pn, table=None):
    """Whether the stated reason holds; a reason in new words needs its meaning in REASONS."""
    return any(
        REASONS_OF_SCORES[phrase](table) if phrase in REASONS_OF_SCORES else REASONS[phrase](p, n, pp, pn)
        for phrase in measure.undefined.split(", or ")
    )


@each(OF_COUNTS)
@given(c=counts(most=3))
@some
def test_outcomes_are_undefined_exactly_when_the_reason_holds(measure, c):
    assert np.isnan(measure(c)) == documented(measure, c.p, c.n, c.pp, c.pn)


@each(OF_SCORES)
@given(sample=samples(most=4))
@few
@example(sample=Sample((0, 0), (0.5, 0.2), (1, 1)))
@example(sample=Sample((1, 1), (0.5, 0.2), (1, 1)))
def test_scores_are_undefined_exactly_when_the_reason_holds(measure, sample):
    table = sample.table()
    assert np.isnan(measure(table)) == documented(measure, table.n_pos, table.n_neg, np.nan, np.nan, table)


# --- what a sample is


@each(OF_COUNTS + OF_SCORES)
@given(sample=samples(), random=st.randoms(use_true_random=False))
@few
def test_order_of_rows_does_not_matter(measure, sample, random):
    order = list(range(len(sample)))
    random.shuffle(order)
    assert_array_equal(value(measure, sample.taken(order).table()), value(measure, sample.table()))


@each(OF_COUNTS + OF_SCORES)
@given(a=samples(), b=samples())
@few
def test_merged_tables_are_the_table_of_all_rows(measure, a, b):
    assert_array_equal(value(measure, a.table() + b.table()), value(measure, (a + b).table()))


@each(OF_COUNTS + OF_SCORES)
@given(sample=samples(), index=st.integers(0, 100))
@few
def test_weight_two_is_the_row_twice(measure, sample, index):
    index %= len(sample)
    doubled = replace(sample, weight=tuple(2 * w if i == index else w for i, w in enumerate(sample.weight)))
    twice = sample + sample.taken([index])
    assert_array_equal(value(measure, doubled.table()), value(measure, twice.table()))


@each(OF_COUNTS + OF_SCORES)
@given(sample=samples(), absent=samples(most=3))
@few
def test_weight_zero_is_the_row_absent(measure, sample, absent):
    weightless = replace(absent, weight=(0.0,) * len(absent))
    assert_array_equal(value(measure, (sample + weightless).table()), value(measure, sample.table()))


@each(OF_COUNTS + OF_SCORES)
@given(sample=samples())
@few
def test_unit_weights_are_no_weights(measure, sample):
    ones = replace(sample, weight=(1.0,) * len(sample))
    assert_array_equal(value(measure, ones.table()), value(measure, sample.unweighted()))


@given(a=samples(), b=samples())
@example(a=Sample((1,), (0.5,), (1,)), b=Sample((0,), (0.25,), (1,)))
def test_merged_tables_equal_the_table_of_all_rows(a, b):
    assert a.table() + b.table() == (a + b).table()


@given(a=samples(), b=samples())
def test_merging_has_no_order(a, b):
    assert a.table() + b.table() == b.table() + a.table()


@given(sample=samples(), absent=samples(most=3))
@example(sample=Sample((1,), (0.5,), (1,)), absent=Sample((0,), (0.25,), (1,)))
def test_a_table_with_weightless_rows_equals_the_table_without(sample, absent):
    weightless = replace(absent, weight=(0.0,) * len(absent))
    assert (sample + weightless).table() == sample.table()


# --- classes swapped

SAME = ("acc", "err", "bacc", "mcc", "kappa", "youden", "markedness", "dor", "gmean")
MIRRORED = {"tp": "tn", "fp": "fn", "tpr": "tnr", "fpr": "fnr", "ppv": "npv", "fdr": "fomr"}
MIRROR = {**{name: name for name in SAME}, **MIRRORED, **{b: a for a, b in MIRRORED.items()}}
BY_NAME = {measure.name: measure for measure in CATALOGUE}


@pytest.mark.parametrize("name", MIRROR)
@given(c=counts())
@few
def test_swapped_classes_give_the_mirrored_measure(name, c):
    assert_allclose(BY_NAME[name](c.swapped()), BY_NAME[MIRROR[name]](c), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["prevalence", "pp_rate"])
@given(c=counts())
@few
def test_swapped_classes_give_the_other_share(name, c):
    assert BY_NAME[name](c.swapped()) == pytest.approx(1 - BY_NAME[name](c), abs=1e-15)


@given(c=counts(least=1))
def test_swapped_likelihood_ratios_are_inverse(c):
    assert BY_NAME["lr_pos"](c.swapped()) == pytest.approx(1 / BY_NAME["lr_neg"](c), rel=1e-12)


@given(c=counts(), fp=weights, fn=weights, tp=weights, tn=weights)
@few
def test_swapped_classes_swap_the_costs(c, fp, fn, tp, tn):
    cost = BY_NAME["cost"]
    swapped = cost(c.swapped(), fp=fn, fn=fp, tp=tn, tn=tp)
    assert swapped == pytest.approx(cost(c, fp=fp, fn=fn, tp=tp, tn=tn), rel=1e-12)


@pytest.mark.parametrize("name", ["auc", "gini", "ks", "auch", "u"])
@given(sample=samples())
@few
def test_ranking_does_not_depend_on_which_class_is_positive(name, sample):
    table = sample.table()
    assert_allclose(BY_NAME[name](table.swapped()), BY_NAME[name](table), rtol=1e-12, atol=1e-15)


@given(sample=samples())
def test_swapping_twice_changes_nothing(sample):
    assert sample.table().swapped().swapped() == sample.table()


# --- scores mapped


def ranked(score):
    return np.unique(score, return_inverse=True)[1]


MAPS = {
    "ranks": ranked,
    "times 2^-40": lambda score: np.multiply(score, 2.0**-40),
    "times 2^40": lambda score: np.multiply(score, 2.0**40),
    "negative ranks": lambda score: ranked(score) - len(score) - 1,
    "exponential of ranks": lambda score: 2.0 ** ranked(score),
}


@pytest.mark.parametrize("by", MAPS)
@each(RANKING)
@given(sample=samples())
@settings(max_examples=10)
def test_ranking_is_unchanged_by_increasing_maps(measure, by, sample):
    mapped = replace(sample, score=tuple(MAPS[by](sample.score).tolist()))
    assert_array_equal(measure(mapped.table()), measure(sample.table()))


# --- axes


# Replicates share the knots of the smooth calibration curve, quantiles of their pooled cases. Those with the same cases
# at each score, as in the parametric bootstrap, are measured one by one (test_replicates_are_fitted_together).
SHARED_KNOTS = ("ici", "e50", "e90", "emax")


@each([measure for measure in OF_SCORES if measure.name not in SHARED_KNOTS])
@given(stack=stacked_scores())
@few
def test_replicates_of_scores_are_measured_one_by_one(measure, stack):
    alone = [measure(ScoreTable(stack.score, cells, stack.classes, stack.positive)) for cells in stack.counts]
    assert_allclose(measure(stack), alone, rtol=1e-11, atol=1e-12)


@each(OF_COUNTS)
@given(cs=st.lists(counts(), min_size=1, max_size=6))
@few
def test_outcomes_along_an_axis_are_measured_one_by_one(measure, cs):
    stack = Counts(*(np.array([getattr(c, name) for c in cs]) for name in ("tp", "fp", "fn", "tn")))
    assert_array_equal(measure(stack), [measure(c) for c in cs])


@each(OF_CLASSES)
@given(stack=stacked_matrices())
@few
def test_replicates_of_decisions_are_measured_one_by_one(measure, stack):
    alone = [measure(ConfusionTable(cells, stack.classes)) for cells in stack.matrix]
    assert_allclose(measure(stack), alone, rtol=1e-12)


@pytest.mark.parametrize("how", AVERAGES)
@each(OF_COUNTS)
@given(stack=stacked_matrices())
@settings(max_examples=5)
def test_replicates_are_averaged_one_by_one(measure, how, stack):
    averaged = average(measure, how)
    alone = [averaged(ConfusionTable(cells, stack.classes)) for cells in stack.matrix]
    assert_allclose(averaged(stack), alone, rtol=1e-12)


# --- several classes


@each(OF_CLASSES)
@given(c=counts())
@few
def test_two_classes_are_a_case_of_several(measure, c):
    matrix = np.array([[c.tp, c.fn], [c.fp, c.tn]])
    assert_allclose(measure(ConfusionTable(matrix, ("p", "n"))), measure(c), rtol=1e-12, atol=1e-12)


@each(OF_CLASSES)
@given(stack=stacked_matrices(), order=st.permutations(range(3)))
@few
def test_order_of_classes_does_not_matter(measure, stack, order):
    names = tuple(stack.classes[k] for k in order)
    permuted = ConfusionTable(stack.matrix[:, order][:, :, order], names)
    assert_allclose(measure(permuted), measure(stack), rtol=1e-12, atol=1e-12)


@each(OF_CLASSES)
@given(stack=stacked_matrices())
@few
def test_value_of_several_classes_lies_in_the_declared_range(measure, stack):
    low, high = measure.range
    found = measure(stack)
    assert np.all(np.isnan(found) | ((found >= low) & (found <= high)))


# --- ratings


@each(OF_RATINGS)
@given(found=ratings())
@some
def test_ratings_obey_the_same_laws(measure, found):
    table, rows = found
    low, high = measure.range
    own = measure(table)
    assert np.isnan(own) or low - 1e-12 <= own <= high + 1e-12
    assert_allclose(measure(rated(rows[::-1])), own)  # the order of instances
    assert_allclose(measure(rated([row[::-1] for row in rows])), own)  # and of raters
    twice = table.with_cells(np.stack([table.cells, 2 * table.cells]))
    first, second = measure(twice)  # replicates
    assert_allclose(first, own)
    assert_allclose(second, measure(rated([*rows, *rows])))  # weight 2 is the instance twice
    assert_allclose(measure(table + table), second)


# --- classes in order


@each(OF_GRADES)
@given(stack=stacked_matrices())
@few
def test_grades_are_measured_replicate_by_replicate_and_from_either_end(measure, stack):
    graded = stack.in_order(stack.classes)
    found = measure(graded)
    low, high = measure.range
    assert np.all(np.isnan(found) | ((found >= low) & (found <= high)))
    alone = [measure(ConfusionTable(cells, ("1", "2", "3"))) for cells in stack.matrix]
    assert_allclose(found, alone, rtol=1e-12)
    assert_allclose(measure(stack.in_order(stack.classes[::-1])), found, rtol=1e-12)


@each(OF_PROBABILITIES)
@given(labels=st.lists(st.integers(0, 2), min_size=1, max_size=6), seed=st.integers(0, 99))
@few
def test_probabilities_of_grades_count_cases_like_copies(measure, labels, seed):
    score = np.random.default_rng(seed).dirichlet(np.ones(3), len(labels)).T
    table = ClassTable(score, np.array(labels), ("1", "2", "3"))
    low, high = measure.range
    assert low <= measure(table) <= high
    twice = ClassTable(np.hstack([score, score]), np.array(labels * 2), ("1", "2", "3"))
    weighted = table.with_cells(np.array([[1.0] * len(labels), [2.0] * len(labels)]))
    assert_allclose(measure(weighted), [measure(table), measure(twice)], rtol=1e-12)
