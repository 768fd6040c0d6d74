"""The mean truth for each prediction is scikit-learn's isotonic regression, with weights and ties."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.isotonic import IsotonicRegression

from scorespace.curves import isotonic
from scorespace.tables import residual_table

RNG = np.random.default_rng(6)


def test_it_is_scikit_learns():
    truth = RNG.normal(0, 3, 120)
    predicted = np.round(truth + RNG.normal(0, 3, 120))
    weight = RNG.integers(1, 5, 120).astype(float)
    found = isotonic(residual_table(truth, predicted, weight=weight))
    theirs = IsotonicRegression().fit(predicted, truth, sample_weight=weight).predict(found.x)
    assert_allclose(found.y, theirs, atol=1e-9)
    assert (np.diff(found.x) > 0).all()
    assert (np.diff(found.y) >= -1e-12).all()


def test_calibrated_predictions_stay():
    found = isotonic(residual_table([0.0, 2.0, 3.0, 5.0], [1.0, 1.0, 4.0, 4.0]))
    assert found.x.tolist() == found.y.tolist() == [1.0, 4.0]
