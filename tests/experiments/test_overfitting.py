import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from helpers.runs import folded, numbers
from scorespace.errors import DataError, FitError, ScoreSpaceError
from scorespace.experiments.data import resolve_datasets
from scorespace.experiments.overfitting import assess_fit, bias_of_run, bias_variance, fit_notes, learning_curve
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.store import open_run

X, Y = make_classification(300, 10, n_informative=3, flip_y=0.2, random_state=1)
DATA = X, Y


def test_error_rate_is_bias_and_variance():
    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 3, 40), rng.integers(0, 3, (7, 40))
    found = bias_variance(truth, said)
    assert found.error == pytest.approx(np.mean(said != truth))
    share = np.stack([(said == c).mean(axis=0) for c in range(3)], axis=-1)
    own = np.eye(3)[truth]
    assert found.bias2 == pytest.approx(0.5 * np.mean(np.sum((own - share) ** 2, axis=-1)))
    assert found.variance == pytest.approx(0.5 * np.mean(1 - np.sum(share**2, axis=-1)))


def test_squared_error_is_bias_and_variance():
    rng = np.random.default_rng(0)
    truth, said = rng.normal(size=40), rng.normal(size=(9, 40))
    found = bias_variance(truth, said)
    assert found.loss == "numbers"
    assert found.error == pytest.approx(np.mean((said - truth) ** 2))
    assert found.variance == pytest.approx(np.mean(said.var(axis=0)))


def test_brier_score_is_bias_and_variance():
    rng = np.random.default_rng(0)
    truth, p = rng.integers(0, 2, 40), rng.random((6, 40))
    found = bias_variance(truth, np.stack([1 - p, p], axis=-1))
    assert found.loss == "probabilities"
    assert found.error == pytest.approx(np.mean((p - truth) ** 2))
    assert found.variance == pytest.approx(np.mean(p.var(axis=0)))


def test_always_the_same_has_no_variance():
    truth = np.array(["a", "b", "b"])
    assert bias_variance(truth, np.full((5, 3), "b")).variance == 0
    with pytest.raises(DataError, match="repeats × cases"):
        bias_variance(truth, ["a", "b", "b"])


def test_overfitting_in_words():
    assert assess_fit("tree", "auc", [1.0, 1.0, 1.0], [0.7, 0.8, 0.75]).overfits
    assert not assess_fit("lr", "auc", [0.76, 0.75, 0.77], [0.7, 0.8, 0.75]).overfits
    assert assess_fit("tree", "brier", [0.0, 0.0, 0.0], [0.2, 0.25, 0.22]).overfits  # low is good there
    # One split has no spread: nothing is sure.
    assert not assess_fit("tree", "auc", [1.0], [0.7]).overfits
    assert math.isnan(assess_fit("tree", "auc", [math.nan], [math.nan]).test)
    with pytest.raises(DataError, match="same splits"):
        assess_fit("tree", "auc", [1.0], [0.7, 0.8])


def test_underfitting_needs_somebody_who_does_better():
    tree = assess_fit("tree", "auc", [1.0, 1.0, 1.0], [0.80, 0.82, 0.81])
    stump = assess_fit("stump", "auc", [0.7, 0.71, 0.7], [0.69, 0.7, 0.68])
    assert [(one.code, one.text) for one in fit_notes([tree, stump], "high")] == [
        ("SS070", "tree overfits: auc 1.000 on training cases, 0.810 on test cases."),
        ("SS071", "stump underfits: auc 0.703 on training cases, worse than the best test score, 0.810."),
    ]
    assert fit_notes([stump], "high") == []
    easier = assess_fit(
        "nb", "auc", [0.7, 0.71, 0.7], [0.8, 0.85, 0.82]
    )  # tested on easier cases than it was trained on
    assert [one.code for one in fit_notes([easier, stump], "high")] == ["SS071"]


def test_learning_curve():
    tree = {"tree": DecisionTreeClassifier(random_state=0)}
    found = learning_curve(tree, DATA, resampling="5", sizes=[0.1, 0.5, 1.0])
    assert found.sizes.tolist() == [24, 120, 240]
    assert np.all(found.training == 1)
    assert found.test[0].mean() < found.test[-1].mean()
    assert found.fit.overfits
    assert found.words.startswith("tree overfits: auc 1.000 on training cases, ")
    assert len(found.rows()) == 6


def test_the_last_point_is_the_learner_with_all_training_cases():
    found = learning_curve(LogisticRegression(), DATA, resampling="5", measure="acc", sizes=[20, 240])
    (cases,) = resolve_datasets({"data": DATA})
    for k, split in enumerate(parse_resampling("5").splits(cases, 0)):
        whole = LogisticRegression().fit(X[split.train], Y[split.train])
        assert found.test[-1, k] == pytest.approx(whole.score(X[split.test], Y[split.test]))
        assert found.training[-1, k] == pytest.approx(whole.score(X[split.train], Y[split.train]))


def test_every_beginning_has_its_share_of_a_rare_class():
    truth = np.array([1] * 10 + [0] * 90)
    features = np.random.default_rng(0).normal(size=(100, 2))
    found = learning_curve(LogisticRegression(), (features, truth), resampling="5", measure="acc", sizes=[20])
    assert np.isfinite(found.test).all()


def test_sizes_that_cannot_be():
    with pytest.raises(ScoreSpaceError, match="1 to 240 cases"):
        learning_curve(LogisticRegression(), DATA, resampling="5", sizes=[241])


# --- of a run


def test_bias_and_variance_of_a_run():
    run = open_run(folded())
    said = run.predictions("iris", "tree", part="test")
    names = np.array(run.of("iris").classes)
    decided = names[np.stack([said[f"p_{name}"] for name in names], axis=-1).argmax(axis=1)]
    found = bias_of_run(run, "iris", "tree")
    assert (found.repeats, found.loss) == (2, "decisions")
    assert found.error == pytest.approx(np.mean(decided != said["truth"]))
    of_scores = bias_of_run(run, "cancer", "tree", probabilities=True)
    said = run.predictions("cancer", "tree", part="test")
    assert of_scores.error == pytest.approx(np.mean((said["p_1"] - (said["truth"] == "1")) ** 2))
    with pytest.raises(DataError, match="several repeats"):
        bias_of_run(open_run(numbers()), "line", "linear")


def test_what_cannot_be_learned_from_few_cases_is_left_out_and_from_all_is_told():
    rng = np.random.default_rng(3)
    (data,) = resolve_datasets({"few": (rng.normal(size=(20, 2)), np.arange(20) % 2)})
    curve = learning_curve("knn(k=7)", data, resampling="2")
    assert np.isnan(curve.test[0]).all()
    assert not np.isnan(curve.test[-1]).any()
    with pytest.raises(FitError) as told:
        learning_curve("knn(k=11)", data, resampling="2")
    wrong = "knn(k=11) cannot be fitted to 10 rows.\n  seen: ValueError: Expected n_neighbors"
    assert str(told.value).startswith(wrong)
    assert str(told.value).endswith("\n  hint: use other options of the learner, or more rows")
