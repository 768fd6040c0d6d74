"""PSI, CSI, information value, grades and migration beside SciPy, optbinning and hand computation."""

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from oracles.load import reference
from scorespace.comparisons.grades import binomial_p, grades, herfindahl
from scorespace.drift.stability import bin_counts, index_of_counts, index_of_tables, migration, stability_index
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.tables import score_table

CASES = {case["topic"]: case for case in reference("trades")}


def test_psi_with_test_and_interval():
    case = CASES["psi"]
    found = index_of_counts(case["inputs"]["reference"], case["inputs"]["current"])
    wanted = case["expected"]
    assert found.value == pytest.approx(wanted["psi_half_added"])
    assert (found.expected, found.p) == pytest.approx((wanted["expected_no_change"], wanted["p_psi"]))
    assert (found.low, found.high) == pytest.approx(wanted["interval"])


def test_bins_are_quantiles_of_the_reference():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=1000), rng.normal(1, 1, 500)
    _, first, second = bin_counts(before, after)
    assert first.tolist() == [100] * 10
    starts = np.sort(before)[::100]
    assert second.tolist() == np.histogram(after, [-np.inf, *starts[1:], np.inf])[0].tolist()


def test_missing_values_and_new_categories_have_their_own_bins():
    names, first, second = bin_counts(["a", "b", None, "a"], ["c", "a", "a", None])
    assert dict(zip(names, zip(first, second, strict=True), strict=True)) == {
        "a": (2, 2),
        "b": (1, 0),
        "c": (0, 1),
        "missing": (1, 1),
    }
    numbers = bin_counts([1.0, 2.0, np.nan], [1.0, np.nan, np.nan])
    assert numbers[0][-1] == "missing"
    assert (numbers[1][-1], numbers[2][-1]) == (1, 2)


def test_tables_of_scores_have_the_psi_of_their_scores():
    rng = np.random.default_rng(1)
    before, after = rng.random(400), rng.random(300) ** 1.2
    tables = [score_table(rng.integers(0, 2, one.size), one) for one in (before, after)]
    assert index_of_tables(*tables, "s").value == pytest.approx(stability_index(before, after).value)


def test_information_value_is_that_of_optbinning():
    case = CASES["iv"]
    counts = np.array([case["inputs"]["good"], case["inputs"]["bad"]])
    label, score = (np.repeat(one, counts.ravel()) for one in (np.repeat([0, 1], 4), np.tile(np.arange(4), 2)))
    table = score_table(label, score)
    assert ss.iv(table, bins=1000, add=0.0) == pytest.approx(case["expected"]["optbinning_iv"])
    one = estimate(parse("iv(bins=1000)"), table)
    assert one.method == "noncentral-chi2"
    assert one.low < one.value < one.high
    assert one.chance == pytest.approx(3 * (1 / 900 + 1 / 100))


def test_weights_of_evidence_of_bands():
    case = CASES["iv"]
    good, bad = (np.array(case["inputs"][name]) for name in ("good", "bad"))
    label = np.repeat(np.repeat([0, 1], 4), [*good, *bad])
    score = np.repeat(np.tile(np.arange(4), 2), [*good, *bad])
    found = ss.evaluate(label, {"s": score}).curve("bands", n=1000).table
    shares = [(side + 0.5) / (side.sum() + 2) for side in (good, bad)]
    assert found["woe"] == pytest.approx(np.log(shares[0] / shares[1]))
    assert found["woe"] == pytest.approx(case["expected"]["woe"], abs=0.12)  # which adds nothing to the counts
    assert found["ks"].max() == pytest.approx(ss.ks(score_table(label, score)))


def test_divergence_by_hand():
    rng = np.random.default_rng(2)
    label = np.repeat([0, 1], (200, 50))
    score = rng.normal(label * 1.5, 1 + label)
    one, zero = score[label == 1], score[label == 0]
    expected = (one.mean() - zero.mean()) ** 2 / ((one.var() + zero.var()) / 2)
    assert ss.divergence(label, score) == pytest.approx(expected)


def test_grades_have_the_p_values_of_scipy():
    cases, defaults, stated = (500, 800, 300), (9, 10, 40), (0.01, 0.02, 0.1)
    score = np.repeat(stated, cases)
    label = np.concatenate([np.arange(n) < d for n, d in zip(cases, defaults, strict=True)]).astype(int)
    found = grades(score_table(label, score)).table
    for k, (n, d, pd_) in enumerate(zip(cases, defaults, stated, strict=True)):
        assert found["jeffreys_p"][k] == pytest.approx(stats.beta.cdf(pd_, d + 0.5, n - d + 0.5))
        assert found["binomial_p"][k] == pytest.approx(stats.binom.sf(d - 1, n, pd_))
    assert found["jeffreys_p"][0] == pytest.approx(0.0462, abs=5e-5)  # ECB (2019), by SciPy
    p = np.sort(found["jeffreys_p"])
    assert np.sort(found["jeffreys_p_holm"])[0] == pytest.approx(3 * p[0])


def test_correlated_defaults_make_the_test_less_strict():
    counts = np.array([30.0]), np.array([1000.0]), np.array([0.02])
    rng = np.random.default_rng(3)
    rate = stats.norm.cdf((stats.norm.ppf(0.02) - np.sqrt(0.1) * rng.normal(size=400_000)) / np.sqrt(0.9))
    simulated = (rng.binomial(1000, rate) >= 30).mean()
    assert binomial_p(*counts, 0.1)[0] == pytest.approx(simulated, abs=0.003)
    assert binomial_p(*counts)[0] < binomial_p(*counts, 0.1)[0]


def test_herfindahl_by_hand():
    case = CASES["herfindahl"]
    found = herfindahl(np.array(case["inputs"]["shares"]))
    assert found == pytest.approx({name: case["expected"][name] for name in ("sum_squares", "cv", "hi")})


def test_migration_counts_cases_in_both_samples():
    found = migration((["x", "y", "z"], ["A", "B", "B"]), (["z", "y", "w"], ["A", "B", "C"]), "grade")
    assert found.grades == ("A", "B", "C")
    assert found.matrix == ((0, 0, 0), (1, 1, 0), (0, 0, 0))
    assert (found.only_before, found.only_after) == (1, 1)
    assert found.shares["down"][0] == 0.5
