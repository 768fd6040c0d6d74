import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB

import scorespace as ss
from scorespace.errors import MeasureError, PositiveError, ScoreSpaceError
from scorespace.experiments.meta_estimators import ThresholdedEstimator

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = np.arange(0, 569, 2), np.arange(1, 569, 2)
INNER = StratifiedKFold(5, shuffle=True, random_state=0)


def inner_scores():
    return cross_val_predict(GaussianNB(), X[TRAIN], Y[TRAIN], cv=INNER, method="predict_proba")[:, 1]


def test_the_threshold_is_that_of_the_inner_folds():
    model = ss.threshold_inside(GaussianNB(), "cost(fp=1, fn=5)").fit(X[TRAIN], Y[TRAIN])
    score, truth = inner_scores(), Y[TRAIN]
    cuts = np.unique(score)
    cost = [np.mean((score >= cut) & (truth == 0)) + 5 * np.mean((score < cut) & (truth == 1)) for cut in cuts]
    assert model.inner_score_ == pytest.approx(min(cost))
    assert model.threshold_ in cuts[np.isclose(cost, min(cost))]
    own = GaussianNB().fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])[:, 1]
    assert np.array_equal(model.predict(X[TEST]), (own >= model.threshold_).astype(int))


def test_the_map_is_that_of_the_inner_folds():
    model = ss.calibrate_inside(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    theirs = IsotonicRegression(out_of_bounds="clip").fit(inner_scores(), Y[TRAIN])
    own = GaussianNB().fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])[:, 1]
    among = (np.isin(own, inner_scores()) | (own > inner_scores().max())) & (own > 1e-6)  # theirs merges close scores
    assert model.predict_proba(X[TEST])[among, 1] == pytest.approx(theirs.predict(own[among]), abs=1e-9)
    assert np.allclose(model.predict_proba(X[TEST]).sum(axis=1), 1)


def test_test_labels_have_no_part_in_it():
    """Whatever the test labels are, the same is predicted."""
    model = ss.threshold_inside(GaussianNB(), "f1")
    first = cross_validate(model, X, Y, cv=INNER, return_estimator=True)["estimator"]
    thresholds = [one.threshold_ for one in first]
    for one, (train, _) in zip(first, INNER.split(X, Y), strict=True):
        assert ThresholdedEstimator(GaussianNB(), "f1").fit(X[train], Y[train]).threshold_ == one.threshold_
    assert len(set(thresholds)) > 1  # each split chose its own


def test_several_classes_are_calibrated():
    features, truth = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[truth]
    model = ss.calibrate_inside(GaussianNB(), "platt").fit(features, names)
    said = model.predict_proba(features)
    assert said.shape == (150, 3)
    assert np.allclose(said.sum(axis=1), 1)
    assert np.mean(model.predict(features) == names) > 0.9


def test_they_are_learners_of_a_run(tmp_path):
    learners = {"plain": GaussianNB(), "cut": ss.threshold_inside(GaussianNB(), "cost(fp=1, fn=5)")}
    run = ss.benchmark(learners, {"cancer": (X[:, :5], Y)}, "3", tmp_path / "run", workers=1)
    found = ss.benchmark_summary(run, measure="cost(fp=1, fn=5)")
    assert found.result("cancer", "cut").over.mean < found.result("cancer", "plain").over.mean


def test_what_cannot_be_chosen():
    with pytest.raises(MeasureError, match="auc cannot select"):
        ss.threshold_inside(GaussianNB(), "auc").fit(X, Y)
    with pytest.raises(PositiveError):
        ss.threshold_inside(GaussianNB()).fit(X, np.where(Y == 1, "good", "bad"))
    with pytest.raises(ScoreSpaceError, match="too few training"):
        ss.calibrate_inside(GaussianNB()).fit(X[:5], [0, 0, 0, 0, 1])
    with pytest.raises(MeasureError, match="no measure"):
        ss.threshold_inside(GaussianNB(), "acccc")
