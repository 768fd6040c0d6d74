"""Raters compared: against scikit-learn, SciPy and hand calculation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from scorespace.agreement.scored_raters import agreement
from scorespace.curves.smooth import smooth
from scorespace.errors import ConditionError, DataError, ScoreError
from scorespace.tables import score_table

# Six films and two raters: the example of the talk on smooth ROC, with a second rater made up.
ANN = [True, True, False, True, False, False], [0.95, 0.70, 0.60, 0.51, 0.20, 0.01]
BOB = [True, True, True, False, False, False], [0.85, 0.45, 0.62, 0.48, 0.35, 0.05]
FILMS = ["Alpha", "Bravo", "Coda", "Delta", "Echo", "Foxtrot"]


def test_the_curve_of_the_first_rater_is_that_of_the_talk():
    found = agreement({"Ann": ANN, "Bob": BOB})
    assert found.raters[0].curve.area() == pytest.approx(0.8403, abs=5e-5)  # METHODS: six-case example


def test_instances_are_listed_by_id():
    (pair,) = agreement({"Ann": ANN, "Bob": BOB}, ids=FILMS).pairs
    assert pair.alike == ("Coda", "Delta")  # |0.60 − 0.62| and |0.51 − 0.48|, with different decisions
    assert pair.apart == ("Bravo", "Echo")  # 0.25 and 0.15 apart, the widest first; Alpha is exactly 0.1 apart
    assert agreement({"Ann": ANN, "Bob": BOB}).pairs[0].alike == (3, 4)


def test_instances_tell_decisions_and_scores():
    rows = agreement({"Ann": ANN, "Bob": BOB}, ids=FILMS).instances()
    assert [(row["id"], row["kind"]) for row in rows] == [
        ("Coda", "alike"),
        ("Delta", "alike"),
        ("Bravo", "apart"),
        ("Echo", "apart"),
    ]
    assert (rows[0]["decision_a"], rows[0]["decision_b"]) == (False, True)
    assert (rows[0]["score_a"], rows[0]["score_b"]) == (0.60, 0.62)


@pytest.mark.parametrize(
    ("tolerance", "alike", "apart"), [(0, (), 4), (0.02, (3,), 4), (0.05, (3, 4), 3), (1, (3, 4), 0)]
)
def test_the_tolerance_decides(tolerance, alike, apart):
    (pair,) = agreement({"Ann": ANN, "Bob": BOB}, tolerance=tolerance).pairs
    assert pair.alike == alike
    assert len(pair.apart) == apart


judgements = st.integers(3, 40).flatmap(
    lambda n: st.tuples(
        *(
            st.tuples(
                st.lists(st.booleans(), min_size=n, max_size=n),
                st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=n, max_size=n),
            )
            for _ in range(2)
        )
    )
)


@settings(max_examples=30)
@given(judgements)
def test_measures_are_those_of_other_programs(both):
    a, b = both
    (pair,) = agreement({"a": a, "b": b}).pairs
    assert pair.agreement.value == pytest.approx(np.mean(np.equal(a[0], b[0])))
    if len({*a[0], *b[0]}) == 1:
        assert math.isnan(pair.kappa.value)
        assert pair.reason == "both raters always decide the same class"
    else:
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(a[0], b[0]), abs=1e-12)
        assert pair.kappa.low <= pair.kappa.high
    if len(set(a[1])) > 1 and len(set(b[1])) > 1:
        assert pair.spearman == pytest.approx(stats.spearmanr(a[1], b[1]).statistic, abs=1e-12)
        assert pair.kendall == pytest.approx(stats.kendalltau(a[1], b[1]).statistic, abs=1e-12)
    else:
        assert math.isnan(pair.spearman)


@settings(max_examples=20)
@given(judgements)
def test_the_order_of_the_raters_does_not_matter(both):
    a, b = both
    (first,), (second,) = agreement({"a": a, "b": b}).pairs, agreement({"b": b, "a": a}).pairs
    assert first.alike == second.alike
    assert first.apart == second.apart
    assert_allclose(
        [first.kappa.value, first.distance.area, first.spearman],
        [second.kappa.value, second.distance.area, second.spearman],
        atol=1e-12,
    )


def test_a_rater_agrees_with_a_twin():
    (pair,) = agreement({"a": ANN, "b": ANN}).pairs
    assert (pair.kappa.value, pair.distance.area, pair.distance.largest) == (1, 0, 0)
    assert pair.spearman == pytest.approx(1)
    assert pair.alike == pair.apart == ()


def test_three_raters_make_three_pairs_and_a_matrix():
    found = agreement({"Ann": ANN, "Bob": BOB, "Twin": ANN})
    assert [(pair.a, pair.b) for pair in found.pairs] == [("Ann", "Bob"), ("Ann", "Twin"), ("Bob", "Twin")]
    matrix = found.matrix()
    assert_allclose(matrix, matrix.T)
    assert_allclose(np.diag(matrix), 0)
    assert matrix[0, 2] == 0
    assert matrix[0, 1] == matrix[1, 2] > 0
    assert_allclose(np.diag(found.matrix("kappa")), 1)


def test_with_the_truth_each_rater_has_an_auc():
    truth = [1, 1, 0, 1, 0, 0]
    found = agreement({"Ann": ANN, "Bob": BOB}, truth=truth)
    assert [rater.auc for rater in found.raters] == pytest.approx([roc_auc_score(truth, r[1]) for r in (ANN, BOB)])
    assert math.isnan(agreement({"Ann": ANN, "Bob": BOB}).raters[0].auc)


def test_the_curve_uses_the_raters_own_decisions():
    found = agreement({"Ann": ANN, "Bob": BOB})
    expected = smooth(score_table([int(each) for each in BOB[0]], BOB[1]))
    assert_allclose(found.raters[1].curve.y, expected.y)


def test_one_sided_and_constant_raters_have_reasons_and_no_error():
    yes = [True, True, True], [0.5, 0.5, 0.5]
    (pair,) = agreement({"a": yes, "b": yes}).pairs
    assert pair.row()["kappa"] is None
    assert pair.reason == "both raters always decide the same class"
    assert pair.row()["spearman"] is None


@pytest.mark.parametrize(
    ("raters", "options", "error", "words"),
    [
        ({"a": ANN}, {}, DataError, "at least two raters"),
        ({"a": ANN, "b": ([True], [0.4])}, {}, DataError, "different numbers of instances"),
        ({"a": ANN, "b": (ANN[0], [1, 2, 3, 4, 5, 6])}, {}, ScoreError, "the scores of b are not between 0 and 1"),
        ({"a": ANN, "b": BOB}, {"tolerance": 2}, ConditionError, "tolerance=2 is not a difference of scores"),
        ({"a": ANN, "b": BOB}, {"ids": [1] * 6}, DataError, "ids must be unique"),
    ],
)
def test_wrong_input(raters, options, error, words):
    with pytest.raises(error, match=words):
        agreement(raters, **options)


def test_to_dict_and_words():
    found = agreement({"Ann": ANN, "Bob": BOB}, ids=FILMS)
    content = found.to_dict()
    assert content["schema"] == 1
    assert len(content["rows"]) == 1
    assert [row["rater"] for row in content["raters"]] == ["Ann", "Bob"]
    assert "decide alike on 67 % of 6 instances (kappa 0.33)" in repr(found)
    assert repr(found).endswith("All raters decide alike with scores within 0.1 on 2 instances: Alpha, Foxtrot.")


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5, 1.0, 3.0, 1.5]])
def test_the_level_reaches_every_interval(weight):
    wide, narrow = (agreement({"Ann": ANN, "Bob": BOB}, weight=weight, level=level) for level in (0.95, 0.5))
    for one, other in zip(intervals(wide), intervals(narrow), strict=True):
        assert (one.level, other.level) == (0.95, 0.5)
        assert math.isnan(one.low) or one.high - one.low > other.high - other.low


def intervals(found):
    return [*found.chance, found.pairs[0].agreement, found.pairs[0].kappa]
