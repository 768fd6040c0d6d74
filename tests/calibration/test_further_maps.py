"""Beta, Venn-Abers and vector maps, beside betacal, venn-abers, statsmodels, scikit-learn and SciPy."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression

import scorespace as ss
from oracles.load import reference
from scorespace.calibration.beta import BetaMap
from scorespace.calibration.fit import cross_fit_map, fit_map
from scorespace.calibration.maps import ClassMaps, map_from_dict
from scorespace.calibration.vector import VectorMap
from scorespace.calibration.venn_abers import VennAbersMap
from scorespace.errors import DataError, ScoreError, ScoreSpaceError
from scorespace.tables import score_table
from scorespace.tables.multiclass import ClassTable

ORACLE = reference("clinical")["beta calibration / venn-abers"]
GIVEN, EXPECTED = ORACLE["inputs"], ORACLE["expected"]
TABLE = score_table(GIVEN["y"], GIVEN["score"])


def test_beta_is_the_regression_of_statsmodels():
    found = fit_map(TABLE, "beta")
    assert (found.c, found.a, found.b) == pytest.approx(EXPECTED["statsmodels_c_a_b"], abs=1e-5)
    assert found.apply(GIVEN["test"]) == pytest.approx(EXPECTED["beta_pred"], abs=2e-3)  # betacal stops early


def test_beta_never_falls_and_is_finite_under_separation():
    rng = np.random.default_rng(2)
    score = rng.random(300)
    for rate in (score, 1 - score, np.abs(score - 0.5) * 2, score**4):
        found = fit_map(score_table((rng.random(300) < rate).astype(int), score), "beta")
        mapped = found.apply(np.linspace(0, 1, 50))
        assert (np.diff(mapped) >= -1e-12).all()
    separated = fit_map(score_table([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]), "beta")
    assert np.isfinite([separated.a, separated.b, separated.c]).all()
    assert separated.apply([0.1])[0] < 0.5 < separated.apply([0.8])[0]


def test_venn_abers_values():
    found = fit_map(TABLE, "venn_abers")
    assert np.stack(found.limits(GIVEN["test"]), axis=1) == pytest.approx(np.array(EXPECTED["va_p0p1"]), abs=1e-12)
    assert found.apply(GIVEN["test"]) == pytest.approx(EXPECTED["va_p"], abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_venn_abers_equals_two_isotonic_regressions(seed):
    rng = np.random.default_rng(seed)
    score, truth = rng.integers(0, 12, 40) / 12, rng.integers(0, 2, 40)
    found = fit_map(score_table(truth, score, positive=1, classes=("0", "1")), "venn_abers")
    for at in (*rng.integers(0, 12, 4) / 12, -0.1, 0.51, 1.2):
        for label, value in enumerate(found.limits([at])):
            x, y = np.append(score, at), np.append(truth, label)
            brute = IsotonicRegression().fit(x, y).predict([at])[0]
            assert value[0] == pytest.approx(brute, abs=1e-9)


def three_classes(cases=600, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, cases)
    logit = rng.normal(size=(cases, 3))
    logit[np.arange(cases), truth] += 1.2
    return truth, softmax(2.5 * logit + np.array([0.6, 0.0, -0.3]), axis=1)


def test_vector_scaling_has_the_least_log_loss():
    truth, score = three_classes()
    found = fit_map(ClassTable(score.T, truth, ("a", "b", "c")), "vector")

    def loss(parameters):
        fitted = np.log(score) * parameters[:3] + parameters[3:]
        return -log_softmax(fitted, axis=1)[np.arange(truth.size), truth].mean()

    other = minimize(loss, [1, 1, 1, 0, 0, 0], method="BFGS", options={"gtol": 1e-9})
    ours = loss(np.concatenate([found.scale, found.bias]))
    assert ours == pytest.approx(other.fun, abs=1e-7)
    assert found.scale == pytest.approx(other.x[:3], abs=1e-3)
    temperature = fit_map(ClassTable(score.T, truth, ("a", "b", "c")), "temperature").temperature
    assert ours <= loss([1 / temperature] * 3 + [0] * 3)


def test_separated_classes_and_zeros_are_finite():
    score = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]] * 10)
    found = fit_map(ClassTable(score.T, np.tile([0, 1, 2], 10), ("a", "b", "c")), "vector")
    assert np.isfinite([*found.scale, *found.bias]).all()
    assert found.apply(score).max(axis=1).min() > 0.9


@pytest.mark.parametrize("method", ["beta", "venn_abers", "vector", "temperature"])
def test_multiclass_is_cross_fitted_and_helps(method):
    truth, score = three_classes(900, 3)
    found = cross_fit_map(truth, score, method, classes=("a", "b", "c"), folds=5)
    assert found.scores.sum(axis=1) == pytest.approx(np.ones(900))
    before, after = (-np.log(np.clip(p, 1e-6, 1))[np.arange(900), truth].mean() for p in (score, found.scores))
    assert after < before


def test_json_of_every_map():
    truth, score = three_classes(60)
    for one in (
        fit_map(TABLE, "beta"),
        fit_map(TABLE, "venn_abers"),
        fit_map(ClassTable(score.T, truth, ("a", "b", "c")), "vector"),
        fit_map(ClassTable(score.T, truth, ("a", "b", "c")), "venn_abers"),
    ):
        again = map_from_dict(json.loads(json.dumps(one.to_dict())))
        values = score[:5] if isinstance(one, (VectorMap, ClassMaps)) else [0.2, 0.5, 1.0]
        assert np.array_equal(again.apply(values), one.apply(values))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: BetaMap(-1, 1, 0), DataError),
        (lambda: VennAbersMap([0.2, 0.1], [0, 1], [1, 1]), DataError),
        (lambda: VennAbersMap([0.1], [2], [1]), DataError),
        (lambda: VectorMap(("a", "b"), [1], [0, 0]), DataError),
        (lambda: VectorMap(("a", "b"), [-1, 1], [0, 0]), DataError),
        (lambda: VectorMap(("a", "b"), [1, 1], [0, 0]).apply([[0.2, 0.3, 0.5]]), ScoreError),
        (lambda: fit_map(TABLE, "vector"), ScoreSpaceError),
        (lambda: fit_map(score_table([0, 1], [1.0, 4.0]), "beta"), ScoreError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("method", ["beta", "venn_abers"])
def test_recalibration_lowers_the_loss_of_overconfident_scores(method):
    rng = np.random.default_rng(1)
    x = rng.normal(-0.5, 1.3, 800)
    data = {"y": (rng.random(800) < expit(0.4 * x)).astype(int), "p": expit(2 * x)}
    found = ss.recalibrate(data, truth="y", score="p", positive=1, method=method)
    assert found.effect("brier").change < -0.01
    if method == "venn_abers":
        assert any("p₁ − p₀" in note.text for note in found.notes)
