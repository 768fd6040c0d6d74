"""The score table: ties, thresholds, weights and labels."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorespace as ss
from scorespace.errors import DataError, PositiveError, ScoreError
from scorespace.measures.confusion import tpr
from scorespace.measures.ranking import auc
from scorespace.tables import Counts, NoTableError, ScoreTable, TopCases, score_table

TRUTH, SCORE = [1, 0, 1, 0, 1], [0.9, 0.8, 0.4, 0.4, 0.1]


@pytest.fixture
def table():
    return score_table(TRUTH, SCORE)


# --- distinct scores


def test_scores_are_distinct_and_fall(table):
    assert table.score.tolist() == [0.9, 0.8, 0.4, 0.1]


def test_tied_scores_are_one_row(table):
    assert table.pos.tolist() == [1, 0, 1, 1]
    assert table.neg.tolist() == [0, 1, 1, 0]


@given(st.lists(st.tuples(st.booleans(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_counts_of_any_finite_scores(rows):
    # The fast sort works on the bits of the scores: negative, subnormal and zero of both signs included.
    truth, score = zip(*rows, strict=True)
    table = score_table(truth, score)
    expected = sorted(set(score), reverse=True)
    assert table.score.tolist() == expected
    assert table.pos.tolist() == [sum(y for y, s in rows if s == value) for value in expected]
    assert table.neg.tolist() == [sum(not y for y, s in rows if s == value) for value in expected]


def test_negative_zero_ties_with_zero():
    table = score_table([1, 0], [0.0, -0.0])
    assert table.score.tolist() == [0.0]
    assert not np.signbit(table.score[0])


def test_close_scores_stay_apart():
    # scikit-learn merged scores that were "close" (3864, 6688).
    above = np.nextafter(0.5, 1)
    assert score_table([1, 0], [above, 0.5]).score.tolist() == [above, 0.5]


@pytest.mark.parametrize("order", list(itertools.islice(itertools.permutations(range(5)), 0, 120, 17)))
def test_order_inside_a_tie_block_does_not_matter(order, table):
    # Orange emitted points inside tie blocks, which then depended on the sort.
    assert score_table([TRUTH[i] for i in order], [SCORE[i] for i in order]) == table


def test_p_and_its_complement_tie_alike():
    # 0.1 + 0.2 ≠ 0.3, but their complements are equal: WEKA's two columns had different areas. We swap one column.
    table = score_table([1, 0], [0.1 + 0.2, 0.3])
    assert auc(table) == auc(table.swapped()) == 1


# --- thresholds


def test_first_threshold_is_infinite(table):
    # scikit-learn invented max(score) + 1 (9790, 26193).
    assert table.thresholds.tolist() == [np.inf, 0.9, 0.8, 0.4, 0.1]


def test_sweep_starts_with_nothing_predicted_positive(table):
    assert table.sweep[0] == Counts(tp=0, fp=0, fn=3, tn=2)


def test_sweep_ends_with_everything_predicted_positive(table):
    assert table.sweep[-1] == Counts(tp=3, fp=2, fn=0, tn=0)


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (np.inf, Counts(0, 0, 3, 2)),
        (0.9, Counts(1, 0, 2, 2)),
        (0.85, Counts(1, 0, 2, 2)),
        (0.4, Counts(2, 2, 1, 0)),
        (0.1, Counts(3, 2, 0, 0)),
        (-np.inf, Counts(3, 2, 0, 0)),
    ],
)
def test_a_score_at_the_threshold_is_positive(table, threshold, expected):
    assert table.at(threshold) == expected


@pytest.mark.parametrize("threshold", [0.29, 0.57, 0.58])
def test_thresholds_that_int_of_100_t_gets_wrong(threshold):
    # explainerdashboard looked up a table with int(100 t), and int(100 * 0.29) is 28.
    grid = np.arange(101) / 100
    counts = score_table(np.ones(101, dtype=int), grid).at(threshold)
    assert counts.tp == sum(score >= threshold for score in grid)


def test_float32_scores_are_compared_in_their_precision():
    table = score_table([1, 0], np.array([0.3, 0.7], dtype=np.float32))
    assert table.at(0.3).tp == 1
    assert table.at(0.7).fp == 1
    assert table.at(0.7000001).fp == 0
    assert score_table([1, 0], np.array([0.3, 0.7])).at(0.7000000001).fp == 0


def test_several_thresholds_at_once(table):
    assert table.at([0.5, 0.0]) == Counts([1, 3], [1, 2], [2, 0], [1, 0])


def test_threshold_nan_is_refused(table):
    with pytest.raises(ScoreError) as caught:
        table.at(float("nan"))
    assert str(caught.value) == "threshold=nan is not a threshold.\n  hint: a number, or inf to predict no positives"


# --- weights


def test_weight_of_each_class():
    table = score_table(TRUTH, SCORE, weight=[1, 2, 0.5, 1, 0.25])
    assert (table.n_pos, table.n_neg, table.total) == (1.75, 3, 4.75)


def test_weight_zero_leaves_no_score_behind():
    # A row of weight zero still drew a point in scikit-learn (18328).
    assert score_table(TRUTH, SCORE, weight=[1, 0, 1, 1, 1]) == score_table([1, 1, 0, 1], [0.9, 0.4, 0.4, 0.1])


def test_weight_zero_leaves_no_class_behind():
    table = score_table(["a", "b", "c"], [1, 2, 3], positive="a", weight=[1, 1, 0])
    assert table == score_table(["a", "b"], [1, 2], positive="a")


def test_a_positive_class_of_weight_zero_never_occurs():
    with pytest.raises(PositiveError):
        score_table(["a", "b", "c"], [1, 2, 3], positive="c", weight=[1, 1, 0])


@pytest.mark.parametrize(("weight", "whole"), [(None, True), ([1, 2, 3, 4, 5], True), ([1, 1, 1, 1, 0.5], False)])
def test_whole_weights_are_known(weight, whole):
    assert score_table(TRUTH, SCORE, weight=weight).whole is whole


# --- number width


def test_counts_above_2_to_24_are_exact():
    # float32 counts stop growing at 2^24 (scikit-learn 34975).
    many = ScoreTable(np.array([0.5]), np.array([[2**24], [3]]), ("0", "1"), 1)
    table = many + score_table([0, 1], [0.5, 0.5])
    assert (table.n_pos, table.n_neg) == (4, 2**24 + 1)
    assert table.at(0.5).fp == 2**24 + 1


def test_more_equal_scores_than_a_byte_holds():
    table = score_table([1, 0] * 300, [0.5] * 600)
    assert (table.pos.tolist(), table.neg.tolist()) == ([300], [300])


def test_merged_bytes_do_not_overflow():
    one = score_table([1, 0], [0.2, 0.1])
    total = one
    for _ in range(9):
        total = total + total
    assert total.pos.tolist() == [512, 0]


# --- labels

TWO_CLASSES = {
    "0 and 1": [0, 1, 1, 0],
    "-1 and 1": [-1, 1, 1, -1],
    "bool": [False, True, True, False],
    "nullable": pd.array([0, 1, 1, 0], dtype="Int64"),
    "nullable bool": pd.array([False, True, True, False], dtype="boolean"),
    "category": pd.Categorical([0, 1, 1, 0]),
    "pyarrow": pa.array([0, 1, 1, 0]),
    "polars": pl.Series([0, 1, 1, 0]),
    "float": [0.0, 1.0, 1.0, 0.0],
    "text digits": ["0", "1", "1", "0"],
}
NAMED = {
    "text": ["good", "bad", "bad", "good"],
    "category": pd.Categorical(["good", "bad", "bad", "good"]),
    "ordered category": pd.Categorical(["good", "bad", "bad", "good"], categories=["good", "bad"], ordered=True),
    "pandas string": pd.Series(["good", "bad", "bad", "good"], dtype="string"),
    "pyarrow": pa.array(["good", "bad", "bad", "good"]),
    "polars": pl.Series(["good", "bad", "bad", "good"]),
}


@pytest.mark.parametrize("kind", TWO_CLASSES)
def test_positive_is_inferred_from_customary_labels(kind):
    assert auc(score_table(TWO_CLASSES[kind], [0.1, 0.9, 0.3, 0.4])) == 0.75


@pytest.mark.parametrize("kind", NAMED)
def test_positive_is_taken_from_named_labels(kind):
    assert auc(score_table(NAMED[kind], [0.1, 0.9, 0.3, 0.4], positive="bad")) == 0.75


@pytest.mark.parametrize("names", [("a", "z"), ("z", "a"), ("10", "9"), ("9", "10"), ("No", "yes"), ("é", "e")])
def test_renaming_the_classes_does_not_flip_the_area(names):
    # The order of the names decided which class was positive (scikit-learn 15405, 12312).
    negative, positive = names
    truth = [positive if y else negative for y in (0, 1, 1, 0)]
    assert auc(score_table(truth, [0.1, 0.9, 0.3, 0.4], positive=positive)) == 0.75


def test_a_positive_class_that_does_not_occur_is_refused():
    with pytest.raises(PositiveError) as caught:
        score_table(["good", "bad", "good"], [0.1, 0.2, 0.3], positive="Bad")
    assert str(caught.value) == (
        "positive='Bad' never occurs in the truth.\n  seen: 'bad' (1 row), 'good' (2 rows)\n  hint: positive=\"bad\""
    )


def test_three_classes_need_a_positive_one():
    with pytest.raises(PositiveError):
        score_table(["a", "b", "c"], [1, 2, 3])


def test_the_other_classes_together_are_negative():
    table = score_table(["a", "b", "c", "a"], [4, 3, 2, 1], positive="a")
    assert table.neg.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("truth", "n_pos", "n_neg"), [([1, 1], 2, 0), ([0, 0], 0, 2), ([True], 1, 0), ([-1, -1], 0, 2)]
)
def test_one_class_alone(truth, n_pos, n_neg):
    table = score_table(truth, range(len(truth)))
    assert (table.n_pos, table.n_neg) == (n_pos, n_neg)


def test_shards_of_one_class_each_merge_to_two_classes():
    good = score_table(["good"], [0.1], positive="bad")
    bad = score_table(["bad"], [0.9], positive="bad")
    assert good + bad == bad + good == score_table(["good", "bad"], [0.1, 0.9], positive="bad")


def test_codes_into_given_classes():
    table = score_table(np.array([1, 0]), [0.9, 0.1], classes=("good", "bad"), positive="bad")
    assert table == ScoreTable(np.array([0.9, 0.1]), np.array([[0, 1], [1, 0]]), ("good", "bad"), 1)


def test_codes_outside_the_given_classes_are_refused():
    with pytest.raises(DataError):
        score_table(np.array([0, 5]), [0.9, 0.1], classes=("a", "b"), positive="a")


# --- merging and swapping


def test_tables_with_different_positive_classes_do_not_merge():
    with pytest.raises(DataError) as caught:
        score_table(["a", "b"], [1, 2], positive="a") + score_table(["a", "b"], [1, 2], positive="b")
    assert (
        str(caught.value) == "tables with different positive classes cannot be merged.\n  seen: 'a' and 'b'\n"
        "  hint: use the same positive class in both"
    )


def test_a_class_may_be_absent_from_a_shard():
    a, b = score_table(["a", "b"], [4, 3], positive="a"), score_table(["a", "c"], [2, 1], positive="a")
    assert a + b == score_table(["a", "b", "a", "c"], [4, 3, 2, 1], positive="a")


def test_swapped_negates_the_scores(table):
    assert table.swapped().score.tolist() == [-0.1, -0.4, -0.8, -0.9]


def test_swapped_makes_the_other_class_positive(table):
    assert (table.swapped().n_pos, table.swapped().n_neg) == (2, 3)


def test_three_classes_cannot_be_swapped():
    with pytest.raises(ScoreError, match="can be swapped"):
        score_table(["a", "b", "c"], [1, 2, 3], positive="a").swapped()


@pytest.mark.parametrize("width", [0, -1, float("nan"), float("inf")])
def test_a_grid_needs_a_width(table, width):
    with pytest.raises(ScoreError) as caught:
        table.coarsen(width)
    assert str(caught.value) == f"width={width} is not a bin width.\n  hint: a positive number, such as 0.001"


# --- replicates


def test_replicates_are_an_axis(table):
    stack = replace(table, counts=np.stack([table.counts, 2 * table.counts]))
    assert tpr(stack.at(0.5)).tolist() == [tpr(table.at(0.5))] * 2
    assert stack.n_pos.tolist() == [3, 6]


def test_text_of_a_table():
    table = score_table(["bad", "good", "bad"], [0.7, 0.22, 0.2], positive="bad").coarsen(0.1)
    text = "ScoreTable: 3 cases, 2 'bad' (positive), 1 'good', 2 distinct scores, coarsened to 0.1"
    assert repr(table) == text


# --- operating points by rank


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_the_top_is_the_mean_over_all_orders_of_ties(cases, places):
    if places > len(cases):
        places = len(cases)
    truth, score = zip(*cases, strict=True)
    table = score_table(truth, score, positive=True) if len(set(truth)) > 1 else None
    if table is None:
        return
    found = []
    for order in itertools.permutations(range(len(cases))):
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order)):
            found.append(sum(truth[case] for case in order[:places]))
    top = table.top(TopCases(places))
    assert float(top.tp) == pytest.approx(np.mean(found))
    assert float(top.pp) == pytest.approx(places)
    assert float(top.p + top.n) == len(cases)


def test_the_top_as_a_share_counts_weights():
    copies = score_table([1, 0, 0, 1, 1, 0], [4, 4, 3, 2, 2, 1])
    weighted = score_table([1, 0, 0, 1, 0], [4, 4, 3, 2, 1], weight=[1, 1, 1, 2, 1])
    for at in (TopCases(1), TopCases(4), TopCases(50, percent=True), TopCases(100, percent=True)):
        assert copies.top(at) == weighted.top(at)
    assert float(copies.top(TopCases(50, percent=True)).tp) == 1
    assert float(weighted.top(TopCases(100, percent=True)).pn) == 0


def test_the_top_of_replicates_is_that_of_each():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    drawn = np.array([[0, 1, 1, 1, 1, 0], [2, 0, 0, 0, 1, 1], [0, 0, 4, 0, 0, 0]])
    together = table.with_cells(drawn).top(TopCases(50, percent=True))
    alone = [table.with_cells(cells).top(TopCases(50, percent=True)) for cells in drawn]
    assert together.tp.tolist() == [float(one.tp) for one in alone]
    assert together.fp.tolist() == [float(one.fp) for one in alone]


def test_a_constant_score_flags_both_classes_alike():
    top = score_table([1, 0, 0, 0, 0], [0.3] * 5).top(TopCases(20, percent=True))
    assert float(top.tp / top.pp) == pytest.approx(0.2)


def test_more_places_than_cases_are_refused():
    with pytest.raises(NoTableError, match="selects the 5 highest"):
        score_table([1, 0], [0.9, 0.4]).top(TopCases(5))


def test_a_sample_of_one_class_names_no_other():
    alone = ScoreTable(np.array([0.4, 0.2]), np.array([[1, 1]]), ("1",), 0)
    assert repr(alone) == "ScoreTable: 2 cases, 2 '1' (positive), 2 distinct scores"
    assert repr(score_table([1, 0], [0.2, 0.4])) == "ScoreTable: 2 cases, 1 '1' (positive), 1 '0', 2 distinct scores"


def test_another_prevalence_weighs_the_cases_of_each_class_alike():
    truth, score = np.array([1, 0, 1, 0, 0]), np.array([0.9, 0.4, 0.4, 0.1, 0.4])
    weight = np.array([0.5, 2.0, 1.5, 1.0, 3.0])
    found = score_table(truth, score, weight=weight).at_prevalence(0.1)
    factor = np.where(truth == 1, 0.1 * 8 / 2, 0.9 * 8 / 6)
    expected = score_table(truth, score, weight=weight * factor)
    assert found.counts == pytest.approx(expected.counts)
    assert found.squares == pytest.approx(expected.squares)


def test_a_threshold_means_the_same_in_single_precision():
    """0.7 stored as float32 is a little less than 0.7; a typed 0.7 still takes it in, alone, paired and in bins."""
    score = np.array([0.1, 0.3, 0.7, 0.7, 0.9, 0.2, 0.57, 0.29] * 30)
    label = np.array([0, 1, 1, 0, 1, 0, 1, 0] * 30)
    rows = {
        kind: {"y": label, "s": score.astype(kind), "t": (1 - score).astype(kind)} for kind in (np.float64, np.float32)
    }
    for at in (0.7, 0.3, 0.57, 0.29, 0.9):
        for more in ({}, {"memory": "1 B"}, {"where": "s >= 0"}, {"paired": True}):
            asked = {"truth": "y", "scores": ["s", "t"], "measures": f"tpr@{at},fpr@{at}", **more}
            double, single = (ss.evaluate(rows[kind], **asked).summary for kind in rows)
            assert [one.value for one in single] == [one.value for one in double]


def test_right_decisions_are_the_true_positives_and_negatives_at_every_score():
    table = score_table([1, 0, 1, 0, 1], [0.9, 0.4, 0.4, 0.1, 0.1])
    for at in (0.1, 0.4, 0.9, 1.0):
        counts = table.at(at)
        assert table.cells.ravel()[table.right(at)].sum() == counts.tp + counts.tn


@pytest.mark.parametrize(("highest", "lowest", "probable"), [(1, 0, True), (1.01, 0, False), (1, -0.01, False)])
def test_probabilities_lie_between_0_and_1_with_both_ends(highest, lowest, probable):
    assert score_table([1, 0], [highest, lowest]).probabilities is probable
