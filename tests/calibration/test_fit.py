"""Fitting recalibration maps: against other programs, by law, and without ever using a case's own fold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit

from laws.strategies import samples
from oracles.load import columns, reference
from scorespace.calibration.fit import METHODS, cross_fit_map, fit_map, platt_targets, stratified_folds
from scorespace.calibration.maps import TEMPERATURES, ClassMaps
from scorespace.errors import DataError, ScoreError, ScoreSpaceError
from scorespace.measures.decomposition import cal
from scorespace.measures.probability import brier
from scorespace.measures.ranking import auc, auch
from scorespace.tables import class_table, score_table

rng = np.random.default_rng(5)
TRUTH = rng.integers(0, 2, 300)
SCORE = np.round(rng.normal(TRUTH, 1.3), 1)  # with ties
WEIGHT = rng.integers(1, 4, 300)


def three_classes(cases=200, seed=3):
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, 3, cases)
    logits = chance.normal(size=(cases, 3)) + 1.5 * np.eye(3)[truth]
    p = np.exp(3 * logits)  # three times too sure
    return truth, p / p.sum(axis=1, keepdims=True)


def mapped(table, method="isotonic"):
    """The table of the scores that a map fitted on it gives them."""
    found = fit_map(table, method)
    score = np.repeat(found.apply(table.score), 2)
    truth = np.tile([1, 0], table.score.size)
    return score_table(truth, score, weight=np.stack([table.pos, table.neg], axis=1).ravel())


# --- isotonic


@pytest.mark.parametrize(("case", "key"), [("binary", "fitted"), ("tied_x_isoreg_raw", "fitted_in_sorted_order")])
def test_isotonic_equals_r(case, key):
    given_ = reference("r_isoreg")[case]
    found = fit_map(score_table(given_["y"], given_["x"]))
    assert_allclose(found.apply(given_["x"]), given_[key], rtol=1e-12)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_isotonic_equals_scikit_learn_also_between_and_beyond(weight):
    from sklearn.isotonic import IsotonicRegression

    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(SCORE, TRUTH, sample_weight=weight)
    found = fit_map(score_table(TRUTH, SCORE, weight=weight))
    everywhere = np.concatenate([SCORE, np.linspace(-8, 8, 500)])
    assert_allclose(found.apply(everywhere), peer.predict(everywhere), atol=1e-12)


@given(samples(both=True))
@settings(max_examples=50)
def test_isotonic_on_its_own_sample(sample):
    table = sample.table()
    after = mapped(table)
    assert_allclose(auc(after), auch(table), rtol=1e-9)
    assert cal(after) == pytest.approx(0, abs=1e-12)
    assert brier(after) <= brier(table) + 1e-12


# --- platt


def test_platt_targets_are_the_published_ones():
    # Platt (1999), equation 11; with many cases they approach 1 and 0
    assert platt_targets(1, 1) == (2 / 3, 1 / 3)
    assert platt_targets(98, 398) == (0.99, 0.0025)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_platt_is_the_optimum_another_optimiser_finds(weight):
    w = np.ones(TRUTH.size) if weight is None else weight
    n_pos, n_neg = w[TRUTH == 1].sum(), w[TRUTH == 0].sum()
    target = np.where(TRUTH == 1, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(ab):
        linear = ab[0] * SCORE + ab[1]
        return (w * (np.logaddexp(0, linear) - target * linear)).sum()

    best = minimize(loss, [0, 0], method="BFGS", options={"gtol": 1e-9}).x
    found = fit_map(score_table(TRUTH, SCORE, weight=weight), "platt")
    assert_allclose([found.slope, found.intercept], best, rtol=1e-6)
    p = found.apply(SCORE)  # where the gradient vanishes
    assert_allclose([(w * (p - target)).sum(), (w * (p - target) * SCORE).sum()], 0, atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e5])
def test_platt_equals_scikit_learn(scale):
    from sklearn.calibration import _SigmoidCalibration

    peer = _SigmoidCalibration().fit(SCORE, TRUTH)
    found = fit_map(score_table(TRUTH, scale * SCORE), "platt")
    assert_allclose([found.slope * scale, found.intercept], [-peer.a_, -peer.b_], rtol=1e-3)


def test_platt_converges_on_separable_data():
    found = fit_map(score_table([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]), "platt")
    assert found.slope > 0
    assert_allclose(found.apply([1.0, 2.0, 3.0, 4.0]).sum(), 2, rtol=1e-9)  # as the targets: 2 · 3/4 + 2 · 1/4


def test_platt_of_constant_scores_is_the_mean_target():
    found = fit_map(score_table([0, 0, 0, 1], [7.0] * 4), "platt")
    assert found.slope == 0
    assert_allclose(found.apply([7.0]), [(2 / 3 + 3 * 1 / 5) / 4])


def test_platt_on_the_logit_recovers_the_logistic_fit():
    p = expit(SCORE)
    direct, logistic = fit_map(score_table(TRUTH, SCORE), "platt"), fit_map(score_table(TRUTH, p), "platt", on="logit")
    assert_allclose([logistic.slope, logistic.intercept], [direct.slope, direct.intercept], rtol=1e-8)
    assert logistic.on == "logit"
    with pytest.raises(ScoreError, match="infinite") as refused:
        fit_map(score_table([0, 1, 1], [0.0, 0.5, 1.0]), "platt", on="logit")
    assert "2 of 3 cases" in str(refused.value)


def test_platt_follows_scores_of_any_size():
    for score in ([-1e300, 0.0, 1e300, 1.5e308], [1e-300, 2e-300, 3e-300, 4e-300]):
        found = fit_map(score_table([0, 1, 0, 1], score), "platt")
        assert (np.diff(found.apply(score)) > 0).all()


# --- temperature


def test_temperature_equals_scikit_learn_and_the_sharpening():
    from sklearn.calibration import _TemperatureScaling

    truth, p = three_classes()
    found = fit_map(class_table(truth, p), "temperature")
    peer = _TemperatureScaling().fit(p, truth)
    assert_allclose(found.temperature, 1 / peer.beta_, rtol=1e-5)
    assert 1.3 < found.temperature < 3  # sharpened threefold, where the classes are 1.5 apart
    weights = np.random.default_rng(0).integers(1, 5, truth.size)
    weighted = _TemperatureScaling().fit(p, truth, sample_weight=weights)
    assert_allclose(fit_map(class_table(truth, p, weight=weights), "temperature").temperature, 1 / weighted.beta_, 1e-5)


def test_temperature_of_one_column_is_that_of_two():
    p = expit(2 * SCORE)
    two = fit_map(class_table(TRUTH, np.stack([1 - p, p], axis=1)), "temperature")
    assert_allclose(fit_map(score_table(TRUTH, p), "temperature").temperature, two.temperature, rtol=1e-6)


def test_temperature_leaves_out_what_no_temperature_repairs():
    truth, p = three_classes()
    wrong = np.array([[1.0, 0.0, 0.0]])
    table = class_table(np.append(truth, 1), np.concatenate([p, wrong]))
    plain = fit_map(class_table(truth, p), "temperature")
    assert_allclose(fit_map(table, "temperature").temperature, plain.temperature, rtol=1e-6)
    with pytest.raises(ScoreError, match="probability 0"):
        fit_map(score_table([0, 1], [1.0, 0.0]), "temperature")


def test_temperature_stays_in_its_range_when_every_case_is_right():
    found = fit_map(score_table([0, 1], [0.2, 0.8]), "temperature")
    assert_allclose(found.temperature, TEMPERATURES[0], rtol=1e-3)


# --- classes


def test_class_maps_are_one_against_the_rest_and_add_up():
    truth, p = three_classes()
    table = class_table(truth, p)
    found = fit_map(table, "platt")
    assert isinstance(found, ClassMaps)
    assert found.maps[1] == fit_map(score_table(truth == 1, p[:, 1]), "platt")
    assert_allclose(found.apply(p).sum(axis=1), 1)
    absent = fit_map(class_table(truth, {"0": p[:, 0], "1": p[:, 1], "2": p[:, 2], "x": p[:, 0]}), "isotonic")
    assert_array_equal(absent.maps[3].apply([0.0, 1.0]), [0, 0])


def test_iris_by_temperature_lowers_the_log_loss():
    iris = columns("weka_iris_nb_predictions")
    names = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    p = np.stack([iris[f"p_{name}"] for name in names], axis=1)
    table = class_table(iris["actual"], p, classes=names)
    found = fit_map(table, "temperature")
    assert found.temperature > 1  # naive Bayes is too sure of itself
    own = [names.index(name) for name in iris["actual"]]
    place = np.arange(len(own)), own
    assert np.log(found.apply(p)[place]).mean() > np.log(p[place]).mean()


# --- laws of all methods


@given(samples(both=True), st.sampled_from(["isotonic", "platt"]), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_row_order_does_not_matter_and_weight_two_is_the_row_twice(sample, method, random):
    places = list(range(len(sample)))
    random.shuffle(places)
    grid = np.linspace(-0.5, 1.5, 9)
    whole = fit_map(sample.unweighted(), method).apply(grid)
    assert_allclose(fit_map(sample.taken(places).unweighted(), method).apply(grid), whole, atol=1e-9)
    twice = fit_map((sample + sample).unweighted(), method).apply(grid)
    weighted = fit_map(score_table(sample.truth, sample.score, weight=[2] * len(sample)), method).apply(grid)
    assert_allclose(weighted, twice, atol=1e-9)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "vector"])  # of several classes
def test_every_method_is_fitted_by_name(method):
    found = fit_map(score_table(TRUTH, expit(SCORE)), method)
    assert found.kind == method
    assert not found.outside(expit(SCORE)).any()


def test_wrong_requests_are_refused():
    table = score_table(TRUTH, SCORE)
    with pytest.raises(ScoreSpaceError, match="you mean isotonic"):
        fit_map(table, "isotone")
    with pytest.raises(ScoreSpaceError, match="does not suit"):
        fit_map(table, "isotonic", on="logit")
    with pytest.raises(ScoreError, match="needs probabilities"):
        fit_map(table, "temperature")
    with pytest.raises(ScoreError, match="scores are equal"):
        fit_map(score_table([0, 1], [2.0, 2.0]), "minmax")
    with pytest.raises(DataError, match="two classes"):
        fit_map(score_table([1, 1], [0.1, 0.2]), "isotonic")
    with pytest.raises(ScoreSpaceError, match="one column"):
        fit_map(class_table([0, 1], [[0.9, 0.1], [0.2, 0.8]]), "minmax")


# --- cross-fitting


def test_no_case_is_mapped_by_a_fit_that_saw_it():
    """The labels of one fold are reversed: only the other folds' cases may notice."""
    fold = np.arange(TRUTH.size) % 5
    before = cross_fit_map(TRUTH, SCORE, "isotonic", fold=fold).scores
    changed = np.where(fold == 2, 1 - TRUTH, TRUTH)
    after = cross_fit_map(changed, SCORE, "isotonic", fold=fold).scores
    assert_array_equal(after[fold == 2], before[fold == 2])
    assert not np.allclose(after[fold != 2], before[fold != 2])


def test_a_case_alone_with_its_score_gets_the_others_verdict():
    # Without it, everything below is negative and everything above positive.
    truth, score = [0] * 10 + [1] * 10, [*range(9), 15, *range(10, 20)]
    found = cross_fit_map(truth, score, "isotonic", fold=list(range(20)))
    assert found.scores[9] == 1  # its own label 0 was not looked at
    assert found.folds == 20


@pytest.mark.parametrize("method", ["isotonic", "platt", "temperature"])
def test_folds_are_fitted_as_by_hand(method):
    truth, p = three_classes()
    fold = np.arange(truth.size) % 4
    found = cross_fit_map(truth, p, method, fold=fold)
    for k in range(4):
        by_hand = fit_map(class_table(truth[fold != k], p[fold != k]), method)
        assert_allclose(found.scores[fold == k], by_hand.apply(p[fold == k]), rtol=1e-7, atol=1e-12)


def test_folds_hold_every_class_alike():
    codes = np.array([0] * 70 + [1] * 23)
    fold = stratified_folds(codes, 10)
    assert_array_equal(np.bincount(fold[codes == 0]), [7] * 10)
    assert set(np.bincount(fold[codes == 1], minlength=10)) == {2, 3}
    assert_array_equal(fold, stratified_folds(codes, 10, seed=0))
    assert not np.array_equal(fold, stratified_folds(codes, 10, seed=1))


@given(st.lists(st.integers(0, 12), min_size=30, max_size=80), st.integers(2, 5))
@settings(max_examples=30)
def test_groups_stay_whole(group, folds):
    _, labels = np.unique(group, return_inverse=True)
    codes = np.arange(len(group)) % 2
    fold = stratified_folds(codes, folds, group=labels)
    assert all(len(set(fold[labels == one])) == 1 for one in set(labels))


def test_outside_counts_the_ends_of_the_range():
    found = cross_fit_map(TRUTH[:20] * 0 + np.arange(20) % 2, np.arange(20.0), "platt", fold=np.arange(20))
    assert_array_equal(np.flatnonzero(found.outside), [0, 19])


def test_folds_that_cannot_be_are_refused():
    with pytest.raises(DataError, match="at least two"):
        cross_fit_map(TRUTH, SCORE, folds=1)
    with pytest.raises(DataError, match="least two folds"):
        cross_fit_map(TRUTH, SCORE, fold=np.zeros(300))
    with pytest.raises(DataError, match="can be fitted"):
        cross_fit_map([1, 0, 0, 0], [1.0, 2.0, 3.0, 4.0], folds=4)
    with pytest.raises(DataError, match="1 of 2 groups"):
        cross_fit_map([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], fold=[0, 1, 1, 1], group=["a", "a", "b", "b"])
    with pytest.raises(ScoreError, match="column for each"):
        cross_fit_map([0, 1, 2], np.ones((3, 2)), "temperature")


def test_weight_zero_is_an_absent_case():
    weight = np.where(np.arange(300) < 150, 0, WEIGHT)
    fold = np.arange(300) % 5
    all_of_them = cross_fit_map(TRUTH, SCORE, "platt", fold=fold, weight=weight).scores
    some = cross_fit_map(TRUTH[150:], SCORE[150:], "platt", fold=fold[150:], weight=WEIGHT[150:]).scores
    assert_allclose(all_of_them[150:], some, rtol=1e-9)
