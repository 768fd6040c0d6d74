"""Measures of numeric predictions agree with scikit-learn and SciPy, with weights and without."""

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn import metrics as sk

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.measures import find
from scorespace.tables import residual_table

RNG = np.random.default_rng(8)
TRUTH = np.round(RNG.gamma(4, 5, 80), 1) + 0.5
PREDICTED = np.round(TRUTH * RNG.lognormal(0, 0.3, 80), 1)
WEIGHT = RNG.integers(1, 4, 80).astype(float)
SKLEARN = {
    "mae": sk.mean_absolute_error,
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mape": sk.mean_absolute_percentage_error,
    "r2": sk.r2_score,
    "explained_variance": sk.explained_variance_score,
}


@pytest.mark.parametrize("name", SKLEARN)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_sums_agree_with_scikit_learn(name, weight):
    ours = find(name)(residual_table(TRUTH, PREDICTED, weight=weight))
    assert ours == pytest.approx(SKLEARN[name](TRUTH, PREDICTED, sample_weight=weight), rel=1e-10)


def test_the_rest_agrees_with_scikit_learn():
    table = residual_table(TRUTH, PREDICTED)
    assert ss.medae(table) == pytest.approx(sk.median_absolute_error(TRUTH, PREDICTED))
    assert ss.max_error(table) == pytest.approx(sk.max_error(TRUTH, PREDICTED))
    assert ss.pinball(table, q=0.8) == pytest.approx(sk.mean_pinball_loss(TRUTH, PREDICTED, alpha=0.8))
    assert ss.d2(table) == pytest.approx(sk.d2_absolute_error_score(TRUTH, PREDICTED))
    assert ss.asym(table, alpha=0.8) == pytest.approx(2 * sk.mean_pinball_loss(TRUTH, PREDICTED, alpha=0.8))


def test_correlations_agree_with_scipy_and_weights_are_copies():
    table = residual_table(TRUTH, PREDICTED)
    assert ss.pearson(table) == pytest.approx(stats.pearsonr(TRUTH, PREDICTED).statistic)
    assert ss.spearman(table) == pytest.approx(stats.spearmanr(TRUTH, PREDICTED).statistic)
    assert ss.kendall(table) == pytest.approx(stats.kendalltau(TRUTH, PREDICTED).statistic)
    weighted = residual_table(TRUTH, PREDICTED, weight=WEIGHT)
    copies = [np.repeat(column, WEIGHT.astype(int)) for column in (TRUTH, PREDICTED)]
    for name in ("pearson", "spearman", "kendall", "gini_correlation", "cindex", "medae", "d2", "huber", "smape"):
        assert find(name)(weighted) == pytest.approx(find(name)(residual_table(*copies)))


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_of_scores_agree_with_scipy(ties):
    source = np.random.default_rng(4)
    truth = source.random(90) < 0.3
    score = source.normal(truth, 1).round(1 if ties else 12)
    table = ss.score_table(truth, score)
    assert find("spearman")(table) == pytest.approx(stats.spearmanr(truth, score).statistic)
    assert find("kendall")(table) == pytest.approx(stats.kendalltau(truth, score).statistic)
    drawn = table.with_cells(np.stack([table.cells, 2 * table.cells]))  # replicates; every case twice is the same
    assert find("spearman")(drawn) == pytest.approx([find("spearman")(table)] * 2)
    constant = ss.score_table([1, 0, 1], [0.5, 0.5, 0.5])
    assert np.isnan([find(name)(constant) for name in ("spearman", "kendall")]).all()


def test_the_gini_correlation_weighs_pairs_by_their_distance():
    for truth, predicted in [(TRUTH, PREDICTED), (np.round(TRUTH / 5), np.round(PREDICTED / 5))]:  # the latter ties
        apart = np.subtract.outer(truth, truth)
        pairs = (apart * np.sign(np.subtract.outer(predicted, predicted))).sum() / np.abs(apart).sum()
        assert ss.gini_correlation(residual_table(truth, predicted)) == pytest.approx(pairs)
        far = residual_table(truth + 1e9, predicted)
        assert ss.gini_correlation(far) == pytest.approx(pairs, abs=1e-6)


def test_the_gini_correlation_of_two_classes_is_that_of_the_area():
    score = np.round(RNG.random(60), 1)
    label = (score + RNG.normal(0, 0.4, 60) > 0.5).astype(int)
    assert ss.gini_correlation(residual_table(label, score)) == pytest.approx(2 * sk.roc_auc_score(label, score) - 1)
    assert ss.gini_correlation(residual_table([1, 2, 5], [3, 3, 3])) == 0.0  # all in no order
    assert ss.gini_correlation(residual_table([1, 2, 5], [3, 2, 1])) == -1.0


def test_huber_is_scipys():
    found = ss.huber(residual_table(TRUTH, PREDICTED), delta=2.0)
    from scipy.special import huber

    assert found == pytest.approx(huber(2.0, PREDICTED - TRUTH).mean())


def test_the_decomposition_is_that_of_the_isotonic_fit():
    table = residual_table(TRUTH, PREDICTED)
    order = np.argsort(PREDICTED, kind="stable")
    levels, inverse, counts = np.unique(PREDICTED, return_inverse=True, return_counts=True)
    means = np.bincount(inverse, TRUTH) / counts
    fitted = optimize.isotonic_regression(means, weights=counts.astype(float)).x[inverse]
    assert order.size == levels[inverse].size
    left = ((TRUTH - fitted) ** 2).mean()
    assert ss.ref(table) == pytest.approx(left)
    assert ss.cal(table) == pytest.approx(((TRUTH - PREDICTED) ** 2).mean() - left)
    assert ss.cal(table) - ss.dsc(table) + ss.unc(table) == pytest.approx(ss.mse(table))


def test_replicates_of_the_decomposition_are_fitted_one_by_one():
    table = residual_table(TRUTH, PREDICTED)
    cells = RNG.integers(0, 3, (5, 80))
    np.testing.assert_allclose(ss.ref(table.with_cells(cells)), [ss.ref(table.with_cells(one)) for one in cells])


def test_relative_errors_against_a_baseline():
    training = 17.0
    stated = residual_table(TRUTH, PREDICTED, baseline=training)
    assert ss.rae(stated) == pytest.approx(np.abs(PREDICTED - TRUTH).sum() / np.abs(training - TRUTH).sum())
    assert ss.rse(stated) == pytest.approx(((PREDICTED - TRUTH) ** 2).sum() / ((training - TRUTH) ** 2).sum())
    other = TRUTH[::-1].copy()
    column = residual_table(TRUTH, PREDICTED, baseline=other)
    assert ss.rae(column) == pytest.approx(np.abs(PREDICTED - TRUTH).sum() / np.abs(other - TRUTH).sum())
    assert ss.rrse(residual_table(TRUTH, PREDICTED)) == pytest.approx(
        np.sqrt(1 - ss.r2(residual_table(TRUTH, PREDICTED)))
    )


def test_prediction_intervals():
    table = residual_table([1, 2, 3, 4], [1, 2, 3, 4], interval=([0, 2, 3.5, 1], [2, 3, 4, 3], 0.8))
    assert ss.coverage(table) == 0.5
    assert ss.width(table) == pytest.approx((2 + 1 + 0.5 + 2) / 4)
    # Two truths are outside, by 0.5 and by 1; a level of 0.8 fines each ten times.
    assert ss.interval_score(table) == pytest.approx((5.5 + 10 * 1.5) / 4)
    assert ss.interval_score(table, level=0.9) == pytest.approx((5.5 + 20 * 1.5) / 4)
    other = residual_table([1], [1], interval=([0], [2], 0.9))
    with pytest.raises(MeasureError, match="nominal level"):
        ss.interval_score(table + other)


@pytest.mark.parametrize(
    ("truth", "predicted", "undefined"),
    [
        (
            [2.0, 2.0, 2.0],
            [1.0, 2.0, 3.0],
            ("r2", "rae", "rse", "pearson", "spearman", "kendall", "gini_correlation", "cindex", "d2"),
        ),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], ("pearson", "spearman", "kendall")),
        ([1e9, 1e9 + 1, 1e9 + 2], [7.0, 7.0, 7.0], ("pearson",)),
    ],
)
def test_constant_columns_are_undefined_and_not_zero(truth, predicted, undefined):
    table = residual_table(truth, predicted)
    for name in undefined:
        assert np.isnan(find(name)(table)), name
        assert find(name).reason(np.nan).startswith("undefined: ")


def test_options_are_checked():
    table = residual_table([1, 2], [1, 3])
    for call in (lambda: ss.asym(table, alpha=1), lambda: ss.pinball(table, q=-1), lambda: ss.huber(table, delta=0)):
        with pytest.raises(MeasureError):
            call()


def test_a_measure_by_name_from_arrays():
    assert ss.measure("mae", truth=[1, 2, 3], prediction=[1, 2, 5]) == pytest.approx(2 / 3)


def test_a_constant_prediction_has_no_correlation_however_its_errors_round():
    rng = np.random.default_rng(0)
    for size in range(3, 60):
        truth = rng.normal(10, 3, size)
        assert np.isnan(ss.pearson(ss.residual_table(truth, np.full(size, rng.normal()))))


def test_relative_absolute_error_far_from_zero_keeps_all_digits():
    """The exact value is this fraction; a baseline rounded to a double alone gives 1 (as NIST NumAcc4)."""
    truth = [10000000.2, *[10000000.1, 10000000.3] * 10]
    found = ss.rae(ss.residual_table(truth, [10000000.2, *[10000000.3] * 20]))
    assert found == pytest.approx(2254857843 / 2254857844, rel=1e-14)
