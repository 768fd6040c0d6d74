"""SciPy, scikit-learn and plain sums over all pairs, on random samples with ties and weights."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression

from laws.strategies import samples, tied_scores, weights
from scorespace.curves import hull, roc
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.proportion import wilson
from scorespace.measures import average, find
from scorespace.measures.confusion import acc, bacc, fbeta, kappa, mcc
from scorespace.measures.ranking import ap, auc, auprc, gini, h, ks, pauc, u
from scorespace.tables import confusion

cases = samples(both=True)
crisp = samples(score=st.sampled_from([0.0, 1.0]), both=True)
some = settings(max_examples=30)


# --- ranking


@given(cases)
@some
def test_auc_of_scikit_learn(sample):
    theirs = metrics.roc_auc_score(sample.truth, sample.score, sample_weight=sample.weight)
    assert auc(sample.table()) == pytest.approx(theirs, abs=1e-9)


@given(cases)
@some
def test_u_of_scipy(sample):
    positive = [s for s, y in zip(sample.score, sample.truth, strict=True) if y]
    negative = [s for s, y in zip(sample.score, sample.truth, strict=True) if not y]
    theirs = stats.mannwhitneyu(positive, negative, method="asymptotic").statistic
    assert u(sample.unweighted()) == pytest.approx(theirs, abs=1e-9)


@given(cases)
@some
def test_gini_is_somers_d_of_scipy(sample):
    assume(len(set(sample.score)) > 1)  # SciPy has no value for a constant score
    assert gini(sample.unweighted()) == pytest.approx(stats.somersd(sample.truth, sample.score).statistic, abs=1e-9)


@pytest.mark.filterwarnings("ignore:ks_2samp:RuntimeWarning")  # of its p, which is not asked for
@given(cases)
@some
def test_ks_of_scipy(sample):
    positive = [s for s, y in zip(sample.score, sample.truth, strict=True) if y]
    negative = [s for s, y in zip(sample.score, sample.truth, strict=True) if not y]
    expected = stats.ks_2samp(positive, negative).statistic
    assert ks(sample.unweighted()) == pytest.approx(expected, abs=1e-9)


@given(cases)
@some
def test_average_precision_of_scikit_learn(sample):
    theirs = metrics.average_precision_score(sample.truth, sample.score, sample_weight=sample.weight)
    assert ap(sample.table()) == pytest.approx(theirs, abs=1e-9)


@given(sample=cases, bound=st.floats(0.05, 0.95))
@some
def test_corrected_partial_area_of_scikit_learn(sample, bound):
    theirs = metrics.roc_auc_score(sample.truth, sample.score, sample_weight=sample.weight, max_fpr=bound)
    assert pauc(sample.table(), fpr_high=bound, corrected=True) == pytest.approx(theirs, abs=1e-9)


@given(cases)
@some
def test_roc_points_of_scikit_learn(sample):
    curve = roc(sample.table())
    fpr, tpr, thresholds = metrics.roc_curve(
        sample.truth, sample.score, sample_weight=sample.weight, drop_intermediate=False
    )
    assert_allclose(curve.x, fpr, atol=1e-12)
    assert_allclose(curve.y, tpr, atol=1e-12)
    assert_allclose(curve.threshold, thresholds)


@given(samples(score=tied_scores, both=True))  # scikit-learn merges scores that are close
@some
def test_hull_is_the_isotonic_regression_of_scikit_learn(sample):
    found = hull(sample.table())
    edge = [int(np.argmax(found.threshold[1:] <= score)) for score in sample.score]
    theirs = IsotonicRegression().fit_transform(sample.score, sample.truth, sample_weight=sample.weight)
    assert_allclose(found.probability[edge], theirs, atol=1e-9)


@given(samples(score=tied_scores, both=True))
@some
def test_delong_variance_by_all_pairs(sample):
    positive = np.array([s for s, y in zip(sample.score, sample.truth, strict=True) if y])
    negative = np.array([s for s, y in zip(sample.score, sample.truth, strict=True) if not y])
    assume(positive.size > 1 and negative.size > 1)
    wins = np.heaviside(positive[:, None] - negative, 0.5)
    expected = wins.mean(axis=1).var(ddof=1) / positive.size + wins.mean(axis=0).var(ddof=1) / negative.size
    assert delong_variance(sample.unweighted()) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(samples(score=tied_scores, both=True, most=6))
@settings(max_examples=20)
def test_auprc_by_numerical_integration(sample):
    counts = sample.table().sweep
    total = 0.0
    for tp0, tp1, fp0, fp1 in zip(counts.tp, counts.tp[1:], counts.fp, counts.fp[1:], strict=False):
        if tp1 > tp0:
            slope = (fp1 - fp0) / (tp1 - tp0)
            total += integrate.quad(lambda t, a=tp0, b=fp0, m=slope: t / (t + b + m * (t - a)), tp0, tp1)[0]
    assert auprc(sample.table()) == pytest.approx(total / counts.p[-1], abs=1e-9)


@given(samples(score=tied_scores, both=True, most=6))
@settings(max_examples=15)
def test_h_by_numerical_integration(sample):
    # Without the hull: at each cost share the least loss of all thresholds.
    table = sample.table()
    counts, pi1 = table.sweep, float(table.n_pos / table.total)
    fpr, fnr = counts.fp / counts.n, counts.fn / counts.p
    prior = stats.beta(2, 1 + (1 - pi1) / pi1)
    grid = np.linspace(0, 1, 4001)
    ours = (grid[:, None] * (1 - pi1) * fpr + (1 - grid[:, None]) * pi1 * fnr).min(axis=1)
    worst = np.minimum(grid * (1 - pi1), (1 - grid) * pi1)
    density = prior.pdf(grid)
    expected = 1 - integrate.simpson(ours * density, x=grid) / integrate.simpson(worst * density, x=grid)
    assert h(table) == pytest.approx(expected, abs=1e-4)


# --- decisions


def decided(sample):
    return sample.table().at(0.5)


def theirs(function, sample, **options):
    return function(sample.truth, sample.score, sample_weight=sample.weight, **options)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("acc", metrics.accuracy_score),
        ("err", metrics.zero_one_loss),
        ("tpr", metrics.recall_score),
        ("bacc", metrics.balanced_accuracy_score),
        ("f1", metrics.f1_score),
        ("jaccard", metrics.jaccard_score),
    ],
)
@given(sample=crisp)
@some
def test_measure_of_scikit_learn(name, function, sample):
    assert find(name)(decided(sample)) == pytest.approx(theirs(function, sample), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ppv", metrics.precision_score),
        ("mcc", metrics.matthews_corrcoef),
        ("kappa", metrics.cohen_kappa_score),
    ],
)
@given(sample=crisp)
@some
def test_measure_of_scikit_learn_where_both_decisions_occur(name, function, sample):
    # With one decision only, scikit-learn says 0 where the measure is undefined.
    assume(len(set(sample.score)) == 2)
    assert find(name)(decided(sample)) == pytest.approx(theirs(function, sample), abs=1e-9)


@given(sample=crisp)
@some
def test_likelihood_ratios_of_scikit_learn(sample):
    c = decided(sample)
    assume(min(c.tp, c.fp, c.fn, c.tn) > 0)
    expected = theirs(metrics.class_likelihood_ratios, sample)
    assert (find("lr_pos")(c), find("lr_neg")(c)) == pytest.approx(expected, rel=1e-9)


@given(sample=crisp, beta=st.floats(0.1, 10))
@some
def test_fbeta_of_scikit_learn(sample, beta):
    assert fbeta(decided(sample), beta=beta) == pytest.approx(theirs(metrics.fbeta_score, sample, beta=beta), abs=1e-9)


@given(sample=crisp)
@some
def test_fowlkes_mallows_is_the_geometric_mean_of_precision_and_recall(sample):
    assume(1.0 in sample.score)
    product = theirs(metrics.precision_score, sample) * theirs(metrics.recall_score, sample)
    assert find("fm")(decided(sample)) == pytest.approx(math.sqrt(product), abs=1e-9)


three = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), weights), min_size=1, max_size=12
).map(lambda rows: [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 0.5), *rows])  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        (acc, metrics.accuracy_score),
        (bacc, metrics.balanced_accuracy_score),
        (mcc, metrics.matthews_corrcoef),
        (kappa, metrics.cohen_kappa_score),
    ],
)
@given(rows=three)
@some
def test_three_class_measure_of_scikit_learn(measure, function, rows):
    truth, decision, weight = zip(*rows, strict=True)
    table = confusion(truth, decision, weight=weight)
    assert measure(table) == pytest.approx(function(truth, decision, sample_weight=weight), abs=1e-9)


@pytest.mark.parametrize("how", ["micro", "macro", "weighted"])
@pytest.mark.parametrize(
    ("name", "function"),
    [("f1", metrics.f1_score), ("ppv", metrics.precision_score), ("tpr", metrics.recall_score)],
)
@given(rows=three)
@settings(max_examples=15)
def test_average_of_scikit_learn(name, function, how, rows):
    truth, decision, weight = zip(*rows, strict=True)
    ours = average(find(name), how)(confusion(truth, decision, weight=weight))
    assert ours == pytest.approx(function(truth, decision, average=how, sample_weight=weight), abs=1e-9)


# --- intervals


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("hits", "trials"), [(0, 1), (1, 1), (0, 10), (10, 10), (3, 7), (81, 263), (999_999, 1_000_000)]
)
def test_wilson_of_scipy(hits, trials, level):
    theirs = stats.binomtest(hits, trials).proportion_ci(level, method="wilson")
    assert_allclose(wilson(hits, trials, level), (theirs.low, theirs.high), rtol=1e-9, atol=1e-12)


def test_wilson_of_a_textbook():
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263 gives 0.2553 to 0.3662, 0 of 20 gives 0 to 0.1611.
    assert_allclose(wilson(81, 263), (0.2553, 0.3662), atol=5e-5)
    assert_allclose(wilson(0, 20), (0, 0.1611), atol=5e-5)
