import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import scorespace as ss
from scorespace.errors import DataError, MeasureError, PositiveError, ScoreSpaceError

X, Y = load_breast_cancer(return_X_y=True)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[IRIS_Y]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def crossed(model, features, truth, scoring, **more):
    return cross_validate(model, features, truth, cv=FOLDS, scoring=scoring, error_score="raise", **more)["test_score"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("auc", "roc_auc"),
        ("acc", "accuracy"),
        ("f1", "f1"),
        ("brier", "neg_brier_score"),
        ("ap", "average_precision"),
        ("mcc", "matthews_corrcoef"),
        ("bacc", "balanced_accuracy"),
    ],
)
def test_scorers_of_two_classes(ours, theirs):
    model = GaussianNB()
    assert crossed(model, X, Y, ss.scorer(ours)) == pytest.approx(crossed(model, X, Y, theirs))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("auc[hand_till]", "roc_auc_ovo"), ("auc[macro]", "roc_auc_ovr"), ("acc", "accuracy"), ("f1[macro]", "f1_macro")],
)
def test_scorers_of_several_classes(ours, theirs):
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    assert crossed(model, IRIS_X, NAMES, ss.scorer(ours)) == pytest.approx(crossed(model, IRIS_X, NAMES, theirs))


def test_scorers_of_numbers():
    features, truth = load_diabetes(return_X_y=True)  # whole numbers, and yet no labels
    for ours, theirs in (("mae", "neg_mean_absolute_error"), ("r2", "r2"), ("rmse", "neg_root_mean_squared_error")):
        found = cross_validate(LinearRegression(), features, truth, cv=KFold(4), scoring=ss.scorer(ours))
        expected = cross_validate(LinearRegression(), features, truth, cv=KFold(4), scoring=theirs)
        assert found["test_score"] == pytest.approx(expected["test_score"])


def test_hand_till_of_two_classes_is_the_area():
    model = DecisionTreeClassifier(max_depth=3, random_state=0)  # of GaussianNB, 1 − p ties where p does not
    assert crossed(model, X, Y, ss.scorer("auc[hand_till]")) == pytest.approx(crossed(model, X, Y, "roc_auc"))


def test_without_probabilities_what_decides_is_ranked():
    model = make_pipeline(StandardScaler(), RidgeClassifier())
    assert crossed(model, X, Y, ss.scorer("auc")) == pytest.approx(crossed(model, X, Y, "roc_auc"))
    several = make_pipeline(StandardScaler(), LinearSVC())
    assert np.all(crossed(several, IRIS_X, NAMES, ss.scorer("auc[macro]")) > 0.8)
    with pytest.raises(MeasureError, match="needs probabilities"):
        ss.scorer("brier")(model.fit(X, Y), X, Y)


def test_a_search_chooses_by_the_better_end():
    grid = {"min_samples_leaf": [1, 60, 400]}
    for ours, theirs in (("brier", "neg_brier_score"), ("auc", "roc_auc")):
        kept = [
            GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring=one, cv=FOLDS).fit(X, Y).best_params_
            for one in (ss.scorer(ours), theirs)
        ]
        assert kept[0] == kept[1]


def test_several_scorers_at_once_and_in_other_processes():
    scorers = {"area": ss.scorer("auc"), "loss": ss.scorer("brier")}
    found = cross_validate(GaussianNB(), X, Y, cv=FOLDS, scoring=scorers)
    assert found["test_area"] == pytest.approx(crossed(GaussianNB(), X, Y, "roc_auc"))
    assert np.all(found["test_loss"] < 0)
    again = pickle.loads(pickle.dumps(scorers["area"]))
    assert again == scorers["area"]
    assert repr(ss.scorer("precision", positive="bad")) == "scorer('precision', positive='bad')"


def test_the_positive_class_is_named_and_weights_count():
    words = np.where(Y == 1, "benign", "malignant")
    model = GaussianNB().fit(X, words)
    assert ss.scorer("auc", positive="malignant")(model, X, words) == pytest.approx(
        metrics.roc_auc_score(words == "malignant", model.predict_proba(X)[:, 1])
    )
    assert ss.scorer("acc")(model, X, words) == pytest.approx(model.score(X, words))
    assert ss.scorer("auc[hand_till]")(model, X, words) > 0.9
    with pytest.raises(PositiveError):
        ss.scorer("auc")(model, X, words)
    weight = np.random.default_rng(0).random(Y.size)
    number = GaussianNB().fit(X, Y)
    assert ss.scorer("auc")(number, X, Y, sample_weight=weight) == pytest.approx(
        metrics.roc_auc_score(Y, number.predict_proba(X)[:, 1], sample_weight=weight)
    )


def test_undefined_is_no_number():
    model = GaussianNB().fit(X, Y)
    ones = Y == 1
    assert math.isnan(ss.scorer("auc")(model, X[ones], Y[ones]))
    assert ss.scorer("acc")(model, X[ones], Y[ones]) == pytest.approx(model.score(X[ones], Y[ones]))


def test_what_cannot_be_a_scorer():
    with pytest.raises(MeasureError) as error:
        ss.scorer("prevalence")
    assert str(error.value) == (
        'prevalence has no best direction, so it cannot select a model.\n  hint: scorer("auc"), for example'
    )
    with pytest.raises(ScoreSpaceError, match="StandardScaler has no method"):
        ss.scorer("auc")(StandardScaler(), X, Y)


# --- evaluate


def test_arrays_go_straight_in():
    model = GaussianNB().fit(X, Y)
    p = model.predict_proba(X)[:, 1]
    expected = metrics.roc_auc_score(Y, p)
    for given in ({"nb": p}, {"nb": model.predict_proba(X)}, {"nb": pd.Series(p)}, {"nb": p.tolist()}):
        assert ss.evaluate(Y, given).measures("auc")[0].value == pytest.approx(expected)
    assert [*ss.evaluate(Y, p).models] == ["model"]
    both = ss.evaluate(Y, {"a": p, "b": p**2})
    assert both.compare("a", "b")[0].difference == pytest.approx(0)
    assert ss.evaluate(pd.Series(Y), decisions={"nb": model.predict(X)}).measures("acc")[0].value == pytest.approx(
        metrics.accuracy_score(Y, model.predict(X))
    )


def test_arrays_of_several_classes_and_of_numbers():
    model = GaussianNB().fit(IRIS_X, NAMES)
    found = ss.evaluate(NAMES, {"nb": model.predict_proba(IRIS_X)})
    expected = metrics.roc_auc_score(NAMES, model.predict_proba(IRIS_X), multi_class="ovo")
    assert found.measures("auc[hand_till]")[0].value == pytest.approx(expected)
    assert ss.evaluate(NAMES, {"nb": model.predict(IRIS_X)}).measures("acc")[0].value == model.score(IRIS_X, NAMES)
    truth, told = [1.5, 2.0, 3.0], [1.0, 2.0, 4.0]
    assert ss.evaluate(truth, {"m": told}).measures("mae")[0].value == pytest.approx(0.5)
    assert ss.evaluate([1, 2, 3], predictions={"m": told}).measures("mae")[0].value == pytest.approx(1 / 3)


def test_a_model_may_be_called_truth():
    assert [*ss.evaluate([1, 0, 1], {"truth": [0.9, 0.2, 0.3]}).models] == ["truth"]


def test_arrays_that_cannot_be():
    with pytest.raises(DataError) as error:
        ss.evaluate([1, 0, 1], {"lr": [0.1, 0.2]})
    assert (
        str(error.value)
        == "the arrays differ in length.\n  seen: 3 in truth, 2 in lr\n  hint: one value per case in every array"
    )
    with pytest.raises(DataError, match="there is nothing"):
        ss.evaluate([1, 0, 1], {})
    with pytest.raises(DataError, match="more arrays"):
        ss.evaluate([1, 0], [0.1, 0.2], [0.1, 0.2])


def test_estimators_are_evaluated():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], Y[::2])
    found = ss.evaluate_estimator(model, X[1::2], Y[1::2], measures="auc, brier")
    assert [*found.models] == ["LogisticRegression"]
    expected = metrics.roc_auc_score(Y[1::2], model.predict_proba(X[1::2])[:, 1])
    assert found.measures("auc")[0].value == pytest.approx(expected)
    two = ss.evaluate_estimator({"lr": model, "nb": GaussianNB().fit(X[::2], Y[::2])}, X[1::2], Y[1::2])
    assert [*two.models] == ["lr", "nb"]
    assert two.comparisons[0].test == "delong"
    features, truth = load_diabetes(return_X_y=True)
    numbers = ss.evaluate_estimator(LinearRegression().fit(features, truth), features, truth)
    assert "mae" in {one.spec.name for one in numbers.summary}
    several = ss.evaluate_estimator(GaussianNB().fit(IRIS_X, NAMES), IRIS_X, NAMES)
    assert several.models.of_classes == ["GaussianNB"]


@pytest.mark.parametrize("made", [np.asarray, pd.DataFrame, lambda x: pl.DataFrame(x)])
def test_a_cross_validation_is_evaluated(made):
    features = made(X)
    results = cross_validate(GaussianNB(), features, Y, cv=FOLDS, return_estimator=True, return_indices=True)
    found = ss.evaluate(results, features, Y)
    expected = cross_val_predict(GaussianNB(), X, Y, cv=FOLDS, method="predict_proba")[:, 1]
    assert found.measures("auc")[0].value == pytest.approx(metrics.roc_auc_score(Y, expected))
    assert any(one.code == "SS019" for one in found.notes)


def test_a_cross_validation_needs_its_estimators_and_its_cases():
    plain = cross_validate(GaussianNB(), X, Y, cv=FOLDS)
    with pytest.raises(DataError) as error:
        ss.evaluate(plain, X, Y)
    assert str(error.value) == (
        "the results of the cross-validation lack 'estimator', 'indices'.\n"
        "  seen: 'fit_time', 'score_time', 'test_score'\n"
        "  hint: cross_validate(…, return_estimator=True, return_indices=True)"
    )
    with pytest.raises(DataError, match=r"evaluate\(results, X, y\)"):
        ss.evaluate(cross_validate(GaussianNB(), X, Y, return_estimator=True, return_indices=True))


def test_folds_that_know_different_classes_are_refused():
    results = cross_validate(
        DummyClassifier(strategy="prior"), IRIS_X, NAMES, cv=KFold(3), return_estimator=True, return_indices=True
    )
    with pytest.raises(DataError, match="trained on different"):
        ss.evaluate(results, IRIS_X, NAMES)
