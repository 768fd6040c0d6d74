"""Inner beside outer: what a search promised, as it says itself, and what a run kept of it without fitting again."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import scorespace as ss
from helpers.runs import folded
from scorespace.errors import ScoreSpaceError
from scorespace.experiments import fit
from scorespace.experiments.data import resolve_datasets
from scorespace.experiments.estimators import scorer
from scorespace.experiments.nested import NestedScores, nested_of_run, nested_scores
from scorespace.experiments.resampling import parse_resampling
from scorespace.experiments.store import open_run

draws = np.random.default_rng(0)
Y = draws.integers(0, 2, 300)
X = draws.normal(size=(300, 4)) + 0.5 * Y[:, None]
DATA = X, Y


def test_inner_is_what_the_search_found_and_outer_what_it_does():
    grid = {"max_depth": [1, 8], "min_samples_leaf": [1, 20]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring=scorer("brier"), cv=3)
    found = nested_scores({"search": make_pipeline(search)}, DATA, resampling="3", measure="brier")
    (cases,) = resolve_datasets({"data": DATA})
    for k, split in enumerate(parse_resampling("3").splits(cases, 0)):
        own = search.fit(X[split.train], Y[split.train])
        assert found.inner[k] == pytest.approx(-own.best_score_)  # as the measure is, and not as the search likes it
        expected = brier_score_loss(Y[split.test], own.predict_proba(X[split.test])[:, 1])
        assert found.outer[k] == pytest.approx(expected)
    assert "on the inner folds" in found.words
    with pytest.raises(ScoreSpaceError, match="naive_bayes selects nothing within"):
        nested_scores("naive_bayes", DATA, resampling="3")


def test_a_choice_among_many_on_noise_overfits():
    """A threshold chosen for few cases promises more than it keeps."""
    promised = NestedScores("cut", "f1", np.array([0.9, 0.92, 0.91]), np.array([0.7, 0.72, 0.74]), 0.1)
    assert promised.words == (
        "the selection by cut overfits: f1 0.910 on the inner folds, 0.720 on the outer test folds."
    )


def half(model, x, y):
    """What is no measure."""
    return 0.5


def searching(scoring=None, **options):
    return GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 8]}, scoring=scoring, cv=3, **options)


@pytest.mark.parametrize(
    ("scoring", "options", "measure", "sign"),
    [
        (None, {}, "acc", 1),
        ("accuracy", {}, "acc", 1),
        ("roc_auc", {}, "auc", 1),
        ("neg_brier_score", {}, "brier", -1),
        (scorer("logloss(eps=1e-15)"), {}, "logloss(eps=1e-15)", -1),
        (["roc_auc", "accuracy"], {"refit": "accuracy"}, "acc", 1),
        ({"a": "roc_auc", "b": scorer("brier")}, {"refit": "b"}, "brier", -1),
        (half, {}, "", 1),
    ],
)
def test_the_measure_of_a_search_is_known(scoring, options, measure, sign):
    search = searching(scoring, **options).fit(X, Y)
    assert fit.inner_score(make_pipeline(search)) == (sign * search.best_score_, measure)


def test_who_chose_nothing_promises_nothing():
    assert fit.inner_score(LogisticRegression().fit(X, Y)) is None
    numbers = GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]}, cv=3).fit(X, X[:, 0])
    assert fit.inner_score(numbers) == (numbers.best_score_, "r2")


def test_another_measure_than_that_which_chose_is_refused():
    with pytest.raises(ScoreSpaceError) as caught:
        nested_scores({"search": searching("roc_auc")}, DATA, resampling="3", measure="brier")
    assert str(caught.value) == 'search selects by auc, not by brier.\n  hint: measure="auc"'


def test_the_pruned_tree_promises_its_accuracy_on_inner_folds():
    found = nested_scores("tree", DATA, resampling="3")
    assert found.measure == "acc"
    assert np.all((found.inner > 0.5) & (found.inner < 1))


def test_a_run_keeps_inner_scores_and_fits_nothing_to_tell_them(tmp_path, monkeypatch):
    learners = {"search": searching("roc_auc"), "odd": searching(half), "plain": "naive_bayes"}
    run = ss.benchmark(learners, {"d": DATA}, "2x3", tmp_path / "run", workers=1)
    wanted = nested_scores({"search": searching("roc_auc")}, DATA, resampling="2x3")

    def refuse(*args, **kwargs):
        raise AssertionError("something is fitted")

    monkeypatch.setattr(DecisionTreeClassifier, "fit", refuse)
    found = nested_of_run(run, "d", "search")
    assert found.measure == "auc"
    assert found.inner == pytest.approx(wanted.inner)
    assert found.outer == pytest.approx(wanted.outer)
    assert found.ratio == pytest.approx(1 / 2)
    assert nested_of_run(run, "d", "plain") is None
    assert nested_of_run(run, "d", "odd") is None  # by what is no measure of ours
    whole = ss.benchmark_summary(run)
    assert [(name, one.model) for name, one in whole.nested] == [("d", "search")]
    assert found.words in [one.text for one in whole.notes if one.code == "SS075"]
    assert [one.text for one in ss.evaluate(run.path).notes if one.code == "SS075"] == [found.words]


def test_of_several_classes_it_is_known_too():
    found = nested_of_run(open_run(folded()), "iris", "tree")
    assert (found.measure, found.inner.size) == ("acc", 6)
    said = open_run(folded()).predictions("iris", "tree", part="test")
    first = (said["repeat"] == 0) & (said["fold"] == 0)
    names = np.array(["setosa", "versicolor", "virginica"])
    decided = names[np.stack([said[f"p_{name}"][first] for name in names], axis=-1).argmax(axis=1)]
    assert found.outer[0] == pytest.approx(np.mean(decided == said["truth"][first]))
