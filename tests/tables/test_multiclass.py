"""The class table: what its parts are, case by case, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from scorespace.errors import DataError, MeasureError, ScoreError
from scorespace.measures.catalog import parse
from scorespace.measures.request import bind
from scorespace.tables import ScoreTable, class_table, confusion, score_table

TRUTH = ["a", "b", "c", "a", "c"]
SCORES = np.array([[0.8, 0.1, 0.1], [0.4, 0.3, 0.3], [0.2, 0.2, 0.6], [0.3, 0.5, 0.2], [0.45, 0.15, 0.4]])
TABLE = class_table(TRUTH, SCORES)


def areas_by_counting(truth, scores, weight):
    """A(i|j) by looking at every pair of cases."""
    size = scores.shape[1]
    found = np.full((size, size), np.nan)
    for i in range(size):
        for j in range(size):
            mine, theirs = np.flatnonzero(truth == i), np.flatnonzero(truth == j)
            if i == j or not mine.size or not theirs.size:
                continue
            gap = scores[mine, i][:, None] - scores[theirs, i]
            both = weight[mine][:, None] * weight[theirs]
            found[i, j] = (both * ((gap > 0) + 0.5 * (gap == 0))).sum() / both.sum()
    return found


@st.composite
def cases(draw):
    size, count = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    truth = draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count))
    cells = draw(st.lists(st.integers(0, 5), min_size=count * size, max_size=count * size))
    weight = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    return np.array(truth), np.reshape(cells, (count, size)) / 5, np.array(weight) / 2


@given(cases())
@settings(max_examples=50)
def test_areas_of_pairs_count_every_pair_of_cases(found):
    truth, scores, weight = found
    names = range(scores.shape[1])
    table = class_table(truth, scores, classes=names, weight=weight)
    order = [table.classes.index(str(k)) for k in names]
    assert_allclose(table.pair_areas()[np.ix_(order, order)], areas_by_counting(truth, scores, weight), atol=1e-12)


@given(cases(), st.integers(0, 3))
@settings(max_examples=30)
def test_replicates_are_the_tables_under_their_weights(found, seed):
    truth, scores, _ = found
    table = class_table(truth, scores, classes=range(scores.shape[1]))
    drawn = np.random.default_rng(seed).integers(1, 4, (2, truth.size)).astype(float)
    stacked = table.with_cells(drawn)
    for replicate, one in enumerate(drawn):
        alone = table.with_cells(one)
        assert_allclose(stacked.pair_areas()[replicate], alone.pair_areas())
        assert_allclose(stacked.decisions.matrix[replicate], alone.decisions.matrix)
        assert_allclose(stacked.class_totals[replicate], alone.class_totals)
        for part in (table.top, table.pooled(ScoreTable), table.margins, table.one_vs_rest(0)):
            assert part.total in (truth.size, truth.size * scores.shape[1])
        assert_allclose(stacked.top.pos[replicate].sum(), alone.top.pos.sum())
        assert_allclose(stacked.one_vs_rest(1).n_pos[replicate], alone.one_vs_rest(1).n_pos)


def test_decisions_are_those_of_the_highest_score():
    assert TABLE.decisions == confusion(TRUTH, ["a", "a", "c", "b", "a"])


def test_of_equal_highest_scores_the_first_class_is_decided():
    assert class_table(["a", "b"], [[0.5, 0.5], [0.5, 0.5]]).decided.tolist() == [0, 0]


def test_one_vs_rest_is_the_score_table_of_the_class():
    of_b = [name if name == "b" else "not b" for name in TRUTH]
    found, wanted = TABLE.one_vs_rest(1), score_table(of_b, SCORES[:, 1], positive="b")
    for part in ("score", "pos", "neg"):
        assert getattr(found, part).tolist() == getattr(wanted, part).tolist()


def test_one_vs_one_leaves_the_other_classes_out():
    kept = [k for k, name in enumerate(TRUTH) if name != "b"]
    wanted = score_table([TRUTH[k] for k in kept], SCORES[kept, 2], positive="c")
    found = TABLE.one_vs_one(2, 0)
    assert found.score.tolist() == wanted.score.tolist()
    assert found.pos.tolist() == wanted.pos.tolist()


def test_top_and_margins_know_right_from_wrong():
    assert TABLE.top.score.tolist() == [0.8, 0.6, 0.5, 0.45, 0.4]
    assert TABLE.top.pos.tolist() == [1, 1, 0, 0, 0]
    assert TABLE.margins.score.tolist() == [0.7, 0.4, 0.2, 0.1, 0.05]
    assert TABLE.margins.pos.tolist() == [1, 1, 0, 0, 0]


def test_pooled_scores_are_positive_for_the_own_class():
    assert TABLE.pooled(ScoreTable).n_pos == 5
    assert TABLE.pooled(ScoreTable).n_neg == 10


def test_weight_zero_is_the_row_absent_and_two_the_row_twice():
    weighted = class_table(TRUTH, SCORES, weight=[2, 0, 1, 1, 1])
    rows = [0, 0, 2, 3, 4]
    # A class whose rows all have weight 0 still has its column.
    repeated = class_table([TRUTH[k] for k in rows], SCORES[rows], classes="abc")
    of_weighted = [weighted.classes.index(name) for name in repeated.classes]
    assert_allclose(weighted.pair_areas()[np.ix_(of_weighted, of_weighted)], repeated.pair_areas())


def test_merging_is_the_table_of_all_rows():
    halves = [class_table(TRUTH[:3], SCORES[:3]), class_table(TRUTH[:3], SCORES[:3])]
    assert_allclose((halves[0] + halves[1]).class_totals, [2, 2, 2])
    with pytest.raises(DataError, match="different classes"):
        TABLE + class_table(["a", "b"], [[1, 0], [0, 1]])


def test_a_mapping_names_the_classes_in_any_order():
    by_class = {"c": SCORES[:, 2], "a": SCORES[:, 0], "b": SCORES[:, 1]}
    assert class_table(TRUTH, by_class) == TABLE


def test_a_class_that_never_occurs_keeps_its_column_and_is_undefined():
    found = class_table(["a", "b", "a"], {"z": [0.1, 0.2, 0.3], "a": [0.6, 0.3, 0.6], "b": [0.3, 0.5, 0.1]})
    assert found.classes == ("a", "b", "z")
    assert np.isnan(found.pair_areas()[2]).all()
    assert found.pair_areas()[0, 1] == 1


@pytest.mark.parametrize(
    ("scores", "fine"),
    [
        ([[0.5, 0.5], [0.2, 0.8]], True),
        ([[0.5, 0.505], [0.2, 0.8]], True),
        ([[0.5, 0.6], [0.2, 0.8]], False),
        ([[1.5, -0.5], [0.2, 0.8]], False),
    ],
)
def test_probabilities_are_not_negative_and_sum_to_one_within_rounding(scores, fine):
    assert class_table(["a", "b"], scores).probabilities is fine


def test_a_class_without_scores_is_refused():
    with pytest.raises(ScoreError, match="class 'b'"):
        class_table(["a", "b"], {"a": [0.1, 0.2]})


def test_an_array_of_another_shape_is_refused():
    with pytest.raises(ScoreError, match="column for each"):
        class_table(TRUTH, SCORES[:, :2])


def test_repr_is_the_answer():
    assert repr(TABLE) == "ClassTable: 5 cases, 3 classes: 'a' (2 rows), 'b' (1 row), 'c' (2 rows)"
    assert "2,) replicates" in repr(TABLE.with_cells(np.ones((2, 5))))


@pytest.mark.parametrize("asked", ["ece@0.5", "auc[top]@0.5", "ece@top10%"])
def test_a_threshold_of_what_covers_all_thresholds_is_refused_for_the_highest_score_too(asked):
    name = asked.partition("@")[0].partition("[")[0]
    with pytest.raises(MeasureError) as refused:
        bind(parse(asked), TABLE)
    assert str(refused.value) == f"{asked} specifies a threshold, but {name} covers all thresholds.\n  hint: {name}"


def test_sums_over_ordered_classes_tie_as_decimals_do():
    """P(≥ 1) ranks as 1 − P(0) does, and a typed threshold is met by the scores that are as large on paper."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        tenths = rng.multinomial(10, [0.4, 0.3, 0.3], 12)
        label = np.append([0, 1, 2], rng.integers(0, 3, 9))
        table = class_table(label.astype(str), tenths / 10)
        above, high = 10 - tenths[:, 0], label > 0
        wins = np.sign(np.subtract.outer(above[high], above[~high]))
        area = (1 + wins).mean() / 2
        assert float(bind(parse("auc[>=1]"), table).value) == pytest.approx(area, abs=1e-12)
        called = float(bind(parse("pp[>=1]@0.8"), table).value)
        assert called == (above >= 8).sum()
