import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from components import missing
from scorespace.errors import DataError
from scorespace.experiments.persistence import keep_model, load_model

try:
    import onnx.reference
    import skl2onnx  # noqa: F401
    import skops.io  # noqa: F401
except ImportError:
    missing("skops and skl2onnx are not installed", whole_file=True)

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize("learner", ["naive_bayes", "pet", "forest(trees=5)", "logistic", "knn"])
def test_a_model_comes_back_and_says_the_same(tmp_path, learner):
    kept = keep_model(learner, (X, NAMES), tmp_path / "model.skops")
    again = load_model(kept.path)
    assert np.array_equal(again.predict_proba(X), kept.model.predict_proba(X))
    assert set(again.predict(X)) <= set(NAMES)  # classes by name, and not by their place
    assert kept.notes == ()
    assert repr(kept) == f"{learner}, fitted to all 150 rows of data: {kept.path} (skops)"


def test_the_final_model_is_fitted_to_all_rows(tmp_path):
    kept = keep_model(LogisticRegression(max_iter=1000), (X, NAMES), tmp_path / "model.skops")
    expected = LogisticRegression(max_iter=1000).fit(X, NAMES).predict_proba(X)
    assert np.allclose(kept.model.predict_proba(X), expected, atol=1e-6)


def test_onnx(tmp_path):
    kept = keep_model(RandomForestClassifier(5, random_state=0), (X, Y == 1), tmp_path / "model.onnx")
    found = onnx.reference.ReferenceEvaluator(str(kept.path)).run(None, {"X": X.astype(np.float32)})
    assert np.allclose(found[1], kept.model.predict_proba(X.astype(np.float32)), atol=1e-5)
    with pytest.raises(DataError, match=r"cannot be written as ONNX(.|\n)*hint: model.skops"):
        keep_model("pet", (X, NAMES), tmp_path / "pet.onnx")
    assert not (tmp_path / "pet.onnx").exists()


def test_a_pickle_only_on_request(tmp_path):
    with pytest.raises(DataError) as error:
        keep_model("naive_bayes", (X, NAMES), tmp_path / "model.pkl")
    assert str(error.value) == (
        "'model.pkl' would be a pickle, which can run code when loaded.\n"
        "  hint: model.skops, or pickle=True if only you will load it"
    )
    kept = keep_model("naive_bayes", (X, NAMES), tmp_path / "model.pkl", pickle=True)
    assert [one.code for one in kept.notes] == ["SS072"]
    assert np.array_equal(pickle.loads(kept.path.read_bytes()).predict(X), kept.model.predict(X))
    with pytest.raises(DataError, match=r"saved as \.txt"):
        keep_model("naive_bayes", (X, NAMES), tmp_path / "model.txt")


def strange(x):
    return x


def test_code_that_is_not_known_is_not_loaded(tmp_path):
    model = make_pipeline(FunctionTransformer(strange), LogisticRegression(max_iter=1000))
    kept = keep_model(model, (X, NAMES), tmp_path / "model.skops")
    with pytest.raises(DataError, match=r"model\.skops contains types"):
        load_model(kept.path)
    (tmp_path / "broken.skops").write_bytes(b"no model")
    with pytest.raises(DataError, match=("readable model")):
        load_model(tmp_path / "broken.skops")
