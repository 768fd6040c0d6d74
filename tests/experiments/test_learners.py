"""Learners: by name, by estimator, by module:factory; what decides a learner decides its digest."""

import importlib
import linecache
import pickle
import shutil
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from scorespace.errors import ScoreSpaceError
from scorespace.experiments.data import dataset
from scorespace.experiments.fit import fit_predict
from scorespace.experiments.learners import LEARNERS, resolve_learners
from scorespace.experiments.resampling import parse_resampling

SOURCE = np.random.default_rng(0)
ROWS = 80
COLUMNS = {
    "size": np.where(np.arange(ROWS) % 9 == 0, np.nan, SOURCE.normal(size=ROWS)),
    "colour": np.array(["red", "blue", None, "green"], dtype=object)[SOURCE.integers(0, 4, ROWS)],
}
CLASSES = dataset({**COLUMNS, "y": np.array(["no", "yes"])[SOURCE.integers(0, 2, ROWS)]}, "y", name="mixed")
NUMBERS = dataset({**COLUMNS, "y": SOURCE.normal(size=ROWS)}, "y", name="mixed")


@pytest.mark.parametrize("name", [one.name for one in LEARNERS])
def test_every_learner_takes_missing_values_and_levels(name):
    """Of each task it is for: finite answers, and probabilities that add up to one."""
    (one,) = resolve_learners(f"{name}(trees=5)" if name in ("forest", "boosting") else name)
    for data in (CLASSES, NUMBERS):
        if data.task not in one.tasks:
            continue
        split = parse_resampling("2").splits(data)[0]
        found = fit_predict(one, data, split).test
        assert found.shape == (split.test.size, 2 if data.task == "classes" else 1)
        assert np.isfinite(found).all()
        if data.task == "classes":
            assert found.sum(axis=1) == pytest.approx(1)


def test_names_are_declared_with_titles_and_summaries():
    for one in LEARNERS:
        assert one.title
        assert one.summary.endswith(".")
        assert all(option.about for option in one.options)


def test_a_level_that_training_lacks_is_no_trouble():
    data = dataset({"c": ["a", "a", "b", "b", "rare", "a"], "y": [0, 1, 0, 1, 1, 0]}, "y")
    split = next(one for one in parse_resampling("loo").splits(data) if one.test[0] == 4)
    for one in resolve_learners([each.name for each in LEARNERS if "classes" in each.tasks and each.name != "tree"]):
        if one.name != "knn":
            assert np.isfinite(fit_predict(one, data, split).test).all()


def test_estimators_get_what_they_need():
    """A plain one stands behind our encoding, a pipeline gets the columns by name."""
    split = parse_resampling("2").splits(CLASSES)[0]
    (plain,) = resolve_learners(LogisticRegression())
    assert plain.name == "LogisticRegression"
    assert np.isfinite(fit_predict(plain, CLASSES, split).test).all()
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer

    by_name = make_pipeline(ColumnTransformer([("n", SimpleImputer(), ["size"])]), StandardScaler(), SVC())
    (own,) = resolve_learners({"svm": by_name})
    assert own.name == "svm"
    scores = fit_predict(own, CLASSES, split).test
    assert scores[:, 0] == pytest.approx(-scores[:, 1])  # decision values, as there are no probabilities


def test_labels_reach_the_estimator_as_they_are():
    (weighted,) = resolve_learners({"w": LogisticRegression(class_weight={"yes": 1000.0, "no": 1.0})})
    found = fit_predict(weighted, CLASSES, parse_resampling("2").splits(CLASSES)[0]).test
    assert (found[:, CLASSES.classes.index("yes")] > 0.9).all()


def test_a_factory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my_learners_of_test.py"
    file.write_text("from sklearn.svm import SVC\ndef small():\n    return SVC(C=0.1)\n")
    (found,) = resolve_learners("my_learners_of_test:small")
    assert (found.name, found.given.C) == ("my_learners_of_test:small", 0.1)
    before = found.digest
    file.write_text("from sklearn.svm import SVC\ndef small():\n    return SVC(C=0.2)\n")
    del sys.modules["my_learners_of_test"]
    assert resolve_learners("my_learners_of_test:small")[0].digest != before
    assert resolve_learners("svm=my_learners_of_test:small")[0].name == "svm"
    with pytest.raises(ScoreSpaceError, match="my_learners_of_test has no 'smal'"):
        resolve_learners("my_learners_of_test:smal")
    with pytest.raises(ScoreSpaceError, match="cannot be imported"):
        resolve_learners("no_such_module_here:x")


def test_the_digest_is_of_all_that_decides():
    def digest(given):
        return resolve_learners(given)[0].digest

    assert digest("knn") == digest("knn(k=5)") == digest("a=knn")
    assert digest("knn") != digest("knn(k=3)")
    assert digest(RandomForestClassifier(10)) == digest(RandomForestClassifier(10))
    assert digest(RandomForestClassifier(10)) != digest(RandomForestClassifier(20))
    nested = [make_pipeline(StandardScaler(), SVC(C=c)) for c in (1.0, 2.0)]
    assert digest(nested[0]) != digest(nested[1])


def test_the_code_of_every_part_belongs_to_it(tmp_path, monkeypatch):
    """A class in a pipeline, a function in a step: where their code changes, it is another learner."""
    monkeypatch.syspath_prepend(tmp_path)
    code = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
class Base:
    BASE
class Mine(Base, GaussianNB):
    CLASS
def doubled(x):
    return FUNCTION * x
"""
    digests = []
    for place in ({}, {"BASE": "b = 1"}, {"CLASS": "c = 1"}, {"FUNCTION": "2"}, {}):
        text = code
        for name, usual in (("BASE", "b = 0"), ("CLASS", "c = 0"), ("FUNCTION", "1")):
            text = text.replace(name, place.get(name, usual))
        file = tmp_path / "my_parts_of_test.py"
        file.write_text(text)
        sys.modules.pop("my_parts_of_test", None)
        linecache.clearcache()
        home = importlib.import_module("my_parts_of_test")
        steps = home.FunctionTransformer(home.doubled), home.Mine()
        digests.append(resolve_learners({"mine": home.make_pipeline(*steps)})[0].digest)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert len(set(digests)) == 4
    assert digests[0] == digests[-1]


def test_what_has_no_name_is_told():
    step = FunctionTransformer(lambda x: x)
    with pytest.raises(ScoreSpaceError) as caught:
        _ = resolve_learners({"mine": make_pipeline(step, SVC())})[0].digest
    assert caught.value.problem == "mine cannot be identified, since a part of it cannot be pickled."
    assert caught.value.hint == "use a function of a module instead of a lambda"


def test_an_open_random_state_is_set():
    (found,) = resolve_learners({"rf": RandomForestClassifier(5)})
    split = parse_resampling("2").splits(CLASSES)[0]
    assert np.array_equal(fit_predict(found, CLASSES, split).test, fit_predict(found, CLASSES, split).test)


def test_named_learners_travel_to_other_processes():
    (found,) = resolve_learners("mine=knn(k=3)")
    again = pickle.loads(pickle.dumps(found))
    assert (again.name, again.digest) == ("mine", found.digest)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("fores", "there is no learner 'fores'."),
        ("knn(z=1)", "knn has no option 'z'."),
        (["knn", "knn"], "two learners have the same name."),
        ([], "no learner is given."),
        (3, "int is not a learner."),
    ],
)
def test_what_is_no_learner_is_told(given, words):
    with pytest.raises(ScoreSpaceError) as caught:
        resolve_learners(given)
    assert caught.value.problem == words
