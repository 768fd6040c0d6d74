"""How well one column predicts the target, beside scikit-learn and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from scorespace.audit.association import associate_with_target, auc, auc_p_value, sample_target, spearman_test
from scorespace.audit.cheap_checks import sortedness
from scorespace.io.column_profile import read_columns


def beside(x, y, classes=("0", "1"), **more):
    found = read_columns({"x": x, "y": y})
    return associate_with_target(found.held("x"), sample_target(found.held("y"), classes, **more))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_area_is_that_of_scikit_learn(pairs):
    score, positive = np.array([s for s, _ in pairs], dtype=float), np.array([p for _, p in pairs])
    if 0 < positive.sum() < positive.size:
        assert auc(score, positive) == pytest.approx(roc_auc_score(positive, score))
    else:
        assert np.isnan(auc(score, positive))


def test_p_of_an_area_is_that_of_scipy():
    source = np.random.default_rng(1)
    for ties in (1, 20):
        positive = source.random(300) < 0.3
        score = np.round(source.normal(positive * 0.3, 1) * ties) / ties
        expected = stats.mannwhitneyu(score[positive], score[~positive], method="asymptotic").pvalue
        assert auc_p_value(score, positive) == pytest.approx(expected, rel=1e-6)
        assert auc_p_value(score, positive, exact=True) == pytest.approx(expected, rel=0.3, abs=0.01)


def test_rank_correlation_is_that_of_scipy():
    source = np.random.default_rng(2)
    x = source.normal(size=200)
    y = x + source.normal(size=200)
    expected = stats.spearmanr(x, y)
    assert spearman_test(x, y)[0] == pytest.approx(expected.statistic)
    assert spearman_test(x, y)[1] == pytest.approx(expected.pvalue, rel=1e-3)
    weak = source.normal(size=200)
    assert spearman_test(x, weak)[1] == pytest.approx(stats.spearmanr(x, weak).pvalue, rel=1e-6)


def test_noise_is_not_fitted():
    """What is not cross-fitted would make a column of 500 labels predict perfectly."""
    source = np.random.default_rng(3)
    found = beside([f"v{n}" for n in source.integers(0, 500, 1000)], source.integers(0, 2, 1000))
    assert 0.4 < found.strength < 0.6
    assert found.p > 0.01
    assert beside(source.normal(size=1000), source.normal(size=1000), ()).strength < 0.05


@pytest.mark.parametrize("rows", [40, 200, 3000])
def test_any_shape_of_dependence_is_seen(rows):
    source = np.random.default_rng(4)
    x = source.normal(size=rows)
    assert beside(x, (np.abs(x) > 0.7).astype(int)).strength > 0.9
    assert beside(x, np.exp(x), ()).strength > 0.985
    assert beside(x, x**2, ()).strength > 0.8


def test_labels_that_decide_the_class():
    source = np.random.default_rng(5)
    y = source.integers(0, 3, 600)
    found = beside(np.array(["a", "b", "c"])[y], y, ("0", "1", "2"))
    assert found.strength == pytest.approx(1)
    assert found.class_strength == pytest.approx(1)


def test_missing_is_a_level():
    source = np.random.default_rng(6)
    y = source.integers(0, 2, 500)
    assert beside(np.where(y == 1, np.nan, source.normal(size=500)), y).strength > 0.98


def test_two_walks_are_not_steady():
    """Random folds follow any smooth pair of series; whole stretches held out do not."""
    source = np.random.default_rng(7)
    day = np.arange(1000.0)
    y = np.cumsum(source.normal(size=1000))
    found = beside(day, y, ())
    assert found.strength > 0.9
    assert found.neighbour_strength < 0.9


def test_groups_are_kept_together():
    source = np.random.default_rng(8)
    group = np.repeat(np.arange(40), 10)
    label, age = source.integers(0, 2, 40), source.permutation(40)
    found = read_columns({"x": age[group], "y": label[group]})
    apart = associate_with_target(
        found.held("x"), sample_target(found.held("y"), ("0", "1"), 0, group.astype(np.int32))
    )
    assert associate_with_target(found.held("x"), sample_target(found.held("y"), ("0", "1"))).strength > 0.95
    assert apart.strength < 0.85


def test_sortedness():
    assert sortedness(np.arange(50), nominal=False) == 1
    assert sortedness(np.arange(50)[::-1], nominal=False) == 1
    assert sortedness(np.repeat([2, 0, 1], 20), nominal=True) == 1
    source = np.random.default_rng(9)
    assert abs(sortedness(source.integers(0, 2, 2000), nominal=True)) < 0.1
    assert sortedness(np.argsort(source.normal(size=2000)), nominal=False) < 0.1
