"""DeLong's tests: pROC's numbers, the definition, and the samples on which they fail."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import stats

from oracles.load import columns, reference
from scorespace.comparisons import delong as delong_module
from scorespace.comparisons.delong import auc_against, delong_covariance, delong_omnibus, delong_pair, delong_unpaired
from scorespace.comparisons.paired import compare
from scorespace.comparisons.unpaired import compare_samples
from scorespace.errors import ScoreSpaceError
from scorespace.inference.auc_variance import delong_variance
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables import score_table
from scorespace.tables.paired import pair_table

NAMES = ("s100b", "ndka")


def asah():
    given = columns("asah")
    return pair_table(given["outcome"], {name: given[name] for name in NAMES}, positive="Poor")


def proc():
    return reference("proc_asah")["paired_tests"][0]


def paired(pairs, level=0.95):
    return delong_pair(*delong_covariance(pairs), pairs.models[:2], 0, 1, level)


def defined(label, scores):
    """AUCs and covariances by the definition: every positive against every negative, and np.cov."""
    of_pos, of_neg = [], []
    for score in scores:
        pos, neg = score[label == 1], score[label == 0]
        wins = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
        of_pos.append(wins.mean(axis=1))
        of_neg.append(wins.mean(axis=0))
    n_pos, n_neg = int((label == 1).sum()), int((label == 0).sum())
    return np.mean(of_pos, axis=1), np.cov(of_pos) / n_pos + np.cov(of_neg) / n_neg


@st.composite
def tied_samples(draw, models=2):
    """Labels with two or more cases of each class, and scores with many ties."""
    size = draw(st.integers(4, 40))
    label = draw(hnp.arrays(np.int64, size, elements=st.integers(0, 1)))
    label[:4] = (0, 1, 0, 1)
    return label, [draw(hnp.arrays(np.float64, size, elements=st.integers(0, 6))) for _ in range(models)]


def random_sample(seed, models=3, size=80):
    rng = np.random.default_rng(seed)
    label = (rng.random(size) < 0.4).astype(int)
    shared = rng.normal(size=size) + label
    return label, [shared + rng.normal(size=size) * (k + 1) / 2 for k in range(models)]


# --- against pROC


def test_variances_and_covariance():
    _, found = delong_covariance(asah())
    variances = [reference("proc_asah")["per_predictor"][name]["delong_var"] for name in NAMES]
    assert_allclose(np.diag(found), variances, rtol=1e-9)
    assert found[0, 1] == found[1, 0] == pytest.approx(proc()["cov"], rel=1e-9)


def test_paired_test():
    found = paired(asah())
    assert (found.a, found.b, found.test, found.measure) == (*NAMES, "delong", "auc")
    assert found.statistic == pytest.approx(proc()["delong_Z"], abs=1e-9)
    assert found.p == pytest.approx(proc()["delong_p"], abs=1e-9)
    assert_allclose((found.low, found.high), proc()["delong_ci_diff"], atol=1e-9)


def test_with_few_cases_z_is_held_against_students_t():
    label, scores = random_sample(4, models=2)
    pairs = pair_table(label, dict(zip("ab", scores, strict=True)))
    fewest = int(min(label.sum(), label.size - label.sum()))
    usual, normal, student_quantile = (
        compare(pairs, test=test)[0] for test in ("delong", "delong(reference=normal)", "delong(reference=student)")
    )
    assert 20 <= fewest < 40
    assert usual == student_quantile == compare(pairs)[0]
    assert (usual.statistic, usual.df) == (normal.statistic, fewest - 1)
    assert usual.p == pytest.approx(2 * stats.t.sf(abs(usual.statistic), fewest - 1))
    assert normal.p == pytest.approx(2 * stats.norm.sf(abs(normal.statistic)))
    wider = stats.t.ppf(0.975, fewest - 1) / stats.norm.ppf(0.975)
    assert usual.high - usual.low == pytest.approx(wider * (normal.high - normal.low))


def test_numbers_of_proc_are_to_be_had_by_name_with_few_cases():
    rng = np.random.default_rng(5)
    label = np.repeat([1, 0], [12, 31])
    scores = [rng.normal(label, 1.0).round(1) for _ in range(3)]
    pairs = pair_table(label, dict(zip("abc", scores, strict=True)))
    areas, cov = defined(label, scores)
    gap, error = areas[0] - areas[1], math.sqrt(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    two = compare(pairs.only("a", "b"), test="delong(reference=normal)")[0]
    assert (two.statistic, two.p) == pytest.approx((gap / error, 2 * stats.norm.sf(abs(gap / error))))
    assert (two.low, two.high) == pytest.approx((gap - 1.959964 * error, gap + 1.959964 * error), abs=1e-6)
    contrasts = np.array([[1, -1, 0], [0, 1, -1]])
    apart = contrasts @ areas
    chi2 = apart @ np.linalg.solve(contrasts @ cov @ contrasts.T, apart)
    several = compare(pairs, test="delong(reference=normal)")[0]
    assert (several.statistic, several.df, several.p) == pytest.approx((chi2, 2, stats.chi2.sf(chi2, 2)))
    assert compare(pairs.only("a", "b"))[0].test.startswith("permutation")  # unless it is named
    one = estimate(parse("auc"), pairs.tables[0], method="delong")
    half = 1.959964 * math.sqrt(cov[0, 0])
    assert (one.low, one.high) == pytest.approx((areas[0] - half, areas[0] + half), abs=1e-6)


def test_an_option_that_says_nothing_to_a_question_is_refused():
    with pytest.raises(ScoreSpaceError) as caught:
        compare_samples(*asah().tables, test="delong(reference=normal)")
    assert caught.value.problem.startswith("reference=normal of delong")
    assert "two independent samples" in caught.value.problem
    assert caught.value.hint == 'test="delong"'


def test_the_sign_is_that_of_the_first_minus_the_second():
    # One-sided p-values were once reversed in pROC: a positive Z means that the first is greater.
    pairs = asah()
    found = paired(pairs)
    assert stats.norm.sf(found.statistic) == pytest.approx(proc()["delong_p_greater"], abs=1e-9)
    turned = delong_pair(*delong_covariance(pairs), NAMES[::-1], 1, 0, 0.95)
    assert (turned.statistic, turned.difference) == (-found.statistic, -found.difference)
    assert (turned.low, turned.high, turned.p) == pytest.approx((-found.high, -found.low, found.p), abs=1e-15)


def test_unpaired_test():
    a, b = asah().tables
    found = delong_unpaired(a, b, NAMES)
    assert found.test == "delong, unpaired"
    assert found.statistic == pytest.approx(proc()["unpaired_delong_D"], abs=1e-9)
    assert found.df == pytest.approx(proc()["unpaired_df"], abs=1e-9)
    assert found.p == pytest.approx(proc()["unpaired_p"], abs=1e-9)


@pytest.mark.parametrize("same_cases", [True, False], ids=["normal", "t"])
def test_an_interval_that_ends_at_zero_has_p_of_one_minus_its_level(same_cases):
    # So interval and p always agree.
    pairs = asah()

    def test(level):
        return paired(pairs, level) if same_cases else delong_unpaired(*pairs.tables, NAMES, level)

    assert test(1 - test(0.95).p).low == pytest.approx(0, abs=1e-12)


# --- against the definition


@given(tied_samples())
def test_placements_are_the_shares_of_the_other_class(sample):
    label, scores = sample
    areas, covariance = delong_covariance(pair_table(label, dict(zip("ab", scores, strict=True))))
    expected_areas, expected = defined(label, scores)
    assert_allclose(areas, expected_areas, atol=1e-12)
    assert_allclose(covariance, expected, atol=1e-12)


@given(tied_samples())
def test_the_variances_are_those_of_the_intervals(sample):
    label, scores = sample
    _, covariance = delong_covariance(pair_table(label, dict(zip("ab", scores, strict=True))))
    expected = [delong_variance(score_table(label, score)) for score in scores]
    assert_allclose(np.diag(covariance), expected, atol=1e-12)


@given(tied_samples(), st.permutations(range(4)))
def test_monotone_maps_and_the_order_of_rows_change_nothing(sample, order):
    label, (a, b) = sample
    first = paired(pair_table(label, {"a": a, "b": b}))
    rows = np.concatenate([np.array(order), np.arange(4, label.size)])
    second = paired(pair_table(label[rows], {"a": np.exp(a[rows]) * 1e-9, "b": 7 - 1 / (1 + b[rows])}))
    assert_allclose((second.difference, second.low, second.p), (first.difference, first.low, first.p), atol=1e-9)


# --- several models


def test_of_two_models_all_equal_is_the_paired_test():
    pairs = asah()
    found, pair = delong_omnibus(pairs), paired(pairs)
    assert found.statistic == pytest.approx(pair.statistic**2, rel=1e-9)
    # of one difference the degrees of freedom are Welch's, of the variances of positives and negatives
    placements = [defined_placements(pairs.label, pairs.scores(k)) for k in range(2)]
    parts = [np.var(a - b, ddof=1) / a.size for a, b in zip(*placements, strict=True)]
    sizes = [a.size for a in placements[0]]
    welch = sum(parts) ** 2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    assert found.df == pytest.approx((1, welch))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(pair.statistic), welch), rel=1e-9)


def defined_placements(label, score):
    """The share of the other class that each positive and each negative is on the right side of, ties half."""
    pos, neg = score[label == 1], score[label == 0]
    right = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    return right.mean(axis=1), right.mean(axis=0)


def krishnamoorthy_yu(label, scores, contrasts):
    """F, its degrees of freedom and p of equal areas, as Krishnamoorthy and Yu (2004) write them for two samples."""
    placements = [defined_placements(label, score) for score in scores]
    samples = [contrasts @ np.stack([one[side] for one in placements]) for side in range(2)]
    gaps = contrasts @ np.array([one[0].mean() for one in placements])
    parts = [np.atleast_2d(np.cov(one)) / one.shape[1] for one in samples]
    inverse, p = np.linalg.inv(sum(parts)), len(gaps)
    known = 0.0
    for part, sample in zip(parts, samples, strict=True):
        share = part @ inverse
        known += (np.trace(share @ share) + np.trace(share) ** 2) / (sample.shape[1] - 1)
    freedom = (p + p * p) / known
    left = freedom - p + 1
    statistic = gaps @ inverse @ gaps * left / (freedom * p)
    return statistic, (p, left), stats.f.sf(statistic, p, left)


@pytest.mark.parametrize("seed", range(5))
def test_of_three_models_all_equal_is_the_quadratic_form(seed):
    label, scores = random_sample(seed)
    found = delong_omnibus(pair_table(label, dict(zip("abc", scores, strict=True))))
    contrasts = np.array([[1, -1, 0], [0, 1, -1]])  # other contrasts than ours span the same space
    statistic, df, p = krishnamoorthy_yu(np.asarray(label), np.asarray(scores, dtype=float), contrasts)
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert (found.a, found.b, found.several) == ("a", "b, c", True)


@pytest.mark.parametrize("seed", range(10))
def test_a_copy_of_a_model_adds_no_degree_of_freedom(seed):
    label, (a, b, _) = random_sample(seed)
    twice = delong_omnibus(pair_table(label, {"a": a, "again": a, "b": b}))
    once = delong_omnibus(pair_table(label, {"a": a, "b": b}))
    assert twice.df == pytest.approx(once.df)
    assert once.df[0] == 1
    assert twice.p == pytest.approx(once.p, abs=1e-9)


def test_all_models_alike_are_equal():
    label, (a, _, _) = random_sample(1)
    found = delong_omnibus(pair_table(label, {"a": a, "b": a, "c": 2 * a}))
    assert found.p == 1
    assert found.statistic == pytest.approx(0, abs=1e-12)


def test_a_sure_difference_is_not_called_equal():
    # The perfect and the constant model differ by one half with variance zero: T² would leave that out.
    scores = {"perfect": [9, 8, 7, 1, 2, 3], "constant": [1] * 6, "other": [3, 9, 4, 5, 1, 2]}
    found = delong_omnibus(pair_table([1, 1, 1, 0, 0, 0], scores))
    assert math.isnan(found.p)
    assert "variance" in found.reason
    assert found.several


@pytest.mark.parametrize(("positives", "negatives", "spread"), [(20, 100, 1.0), (10, 30, 1.0), (25, 25, 2.0)])
def test_five_equal_models_are_called_unequal_in_at_most_one_of_twenty_samples(positives, negatives, spread):
    rng = np.random.default_rng(3)
    label = np.repeat([1, 0], [positives, negatives])
    rejected = 0
    for _ in range(300):
        noise = 0.7 * rng.normal(size=label.size) + 0.7 * rng.normal(size=(5, label.size))
        scores = np.where(label == 1, spread * noise + 1, noise)
        rejected += delong_omnibus(pair_table(label, {f"m{k}": one for k, one in enumerate(scores)})).p < 0.05
    assert rejected / 300 < 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / 300)


# --- samples without an answer


def test_identical_models_differ_by_nothing():
    label, (a, _, _) = random_sample(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = paired(pair_table(label, {"a": a, "b": np.exp(a)}))
    assert (found.difference, found.low, found.high, found.statistic, found.p) == (0, 0, 0, 0, 1)
    assert found.reason == "the models rank positives and negatives identically"


@given(tied_samples(models=1))
def test_the_order_within_a_class_does_not_matter(sample):
    # Positives that follow each other without a negative between them may change places, also in rounding.
    label, (score,) = sample
    spread = np.argsort(np.argsort(score * 2 - label, kind="stable")).astype(float)
    turned = np.argsort(np.argsort((score * 2 - label)[::-1], kind="stable"))[::-1].astype(float)
    found = paired(pair_table(label, {"a": spread, "b": turned}))
    assert (found.difference, found.p) == (0, 1)


def test_two_perfect_models_are_alike():
    found = paired(pair_table([1, 1, 0, 0], {"a": [9, 8, 1, 2], "b": [8, 9, 1, 1]}))
    assert (found.difference, found.p) == (0, 1)
    assert found.reason == "the models rank positives and negatives identically"


def test_perfect_separation_is_said():
    found = paired(pair_table([1, 1, 0, 0], {"a": [9, 8, 1, 2], "b": [1, 1, 1, 1]}))
    assert found.difference == 0.5
    assert math.isnan(found.p)
    assert math.isnan(found.low)
    assert found.reason == "DeLong's variance is zero, as with perfect separation"
    assert repr(found) == (
        "a and b: auc differs by +0.500; no test is possible: DeLong's variance is zero, as with perfect separation."
    )


def test_one_perfect_model_can_be_tested_against_another():
    found = paired(pair_table([1, 1, 1, 0, 0, 0], {"a": [9, 8, 7, 1, 2, 3], "b": [3, 9, 4, 5, 1, 2]}))
    assert found.difference == pytest.approx(2 / 9)
    assert 0 < found.p < 1


def test_constant_scores_have_half_the_area():
    areas, covariance = delong_covariance(pair_table([1, 1, 0, 0], {"a": [5] * 4, "b": [1, 4, 2, 3]}))
    assert areas[0] == 0.5
    assert covariance[0].tolist() == [0, 0]


@pytest.mark.parametrize("label", [[1, 0, 0, 0], [1, 1, 1, 0]])
def test_a_single_case_of_a_class_has_no_variance(label):
    pairs = pair_table(label, {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]})
    found = paired(pairs)
    assert found.difference == 1
    assert math.isnan(found.p)
    assert found.reason == delong_omnibus(pairs).reason == "a class has fewer than two cases"
    assert delong_omnibus(pairs).several
    assert delong_unpaired(*pairs.tables, ("a", "b")).reason == "a class has fewer than two cases"


def test_one_class_alone_has_no_area():
    found = paired(pair_table([1, 1, 1], {"a": [4, 3, 2], "b": [1, 2, 3]}, positive=1))
    assert math.isnan(found.difference)
    assert math.isnan(found.p)
    assert repr(found) == "a and b: a class has fewer than two cases."


def test_unpaired_without_variance():
    pairs = pair_table([1, 1, 0, 0], {"a": [9, 8, 1, 2], "b": [1, 1, 1, 1]})
    found = delong_unpaired(*pairs.tables, ("a", "b"))
    assert math.isnan(found.p)
    assert found.reason == "both DeLong variances are zero"


# --- against a value


def test_an_area_against_one_half():
    theirs = reference("proc_asah")["per_predictor"]["s100b"]
    found = auc_against(asah().tables[0], name="s100b")
    z = (theirs["auc"] - 0.5) / math.sqrt(theirs["delong_var"])
    assert found.statistic == pytest.approx(z, rel=1e-9)
    assert found.p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)
    assert (found.low + 0.5, found.high + 0.5) == pytest.approx((theirs["ci95"][0], theirs["ci95"][2]), abs=1e-9)
    assert found.b == "0.5"


def test_a_perfect_area_is_not_tested():
    found = auc_against(score_table([1, 1, 0, 0], [4, 3, 2, 1]))
    assert (found.difference, found.reason) == (0.5, "DeLong's variance is zero, as with perfect separation")
    assert math.isnan(found.p)


# --- as a declared test


def test_areas_without_variance_are_left_to_the_permutation():
    label = np.repeat([1, 0], 30)
    pairs = pair_table(label, {"perfect": label + np.arange(60) / 100, "constant": np.ones(60)})
    found = compare(pairs)
    assert found[0].test == "permutation"
    assert found[0].p < 0.01
    assert [note.code for note in found.notes] == ["SS012"]
    assert math.isnan(compare(pairs, test="delong")[0].p)


def test_what_scales_with_the_area_is_tested_like_it():
    pairs = asah()
    (areas,), (ginis,) = (compare(pairs, spec=parse(name)) for name in ("auc", "gini"))
    assert (ginis.test, ginis.measure) == ("delong", "gini")
    assert (ginis.statistic, ginis.p) == (areas.statistic, areas.p)
    assert_allclose((ginis.difference, ginis.low, ginis.high), 2 * np.array([areas.difference, areas.low, areas.high]))


def test_of_three_models_the_covariance_is_computed_once(monkeypatch):
    label, scores = random_sample(1, size=120)
    calls = []
    own = delong_module.class_covariances
    monkeypatch.setattr(delong_module, "class_covariances", lambda pairs: (calls.append(1), own(pairs))[1])
    compare(pair_table(label, dict(zip("abc", scores, strict=True))))
    assert len(calls) == 1  # for the pairs and for all at once
