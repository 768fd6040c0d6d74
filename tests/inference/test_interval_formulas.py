"""Limits of intervals: closed forms, SciPy's bootstrap, properties, and how often they hold the truth."""

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from scorespace.inference import bias_corrected, interval_formulas
from scorespace.measures import parse
from scorespace.measures.measure import MEASURES, NOT_SIMULATED

ROOT = Path(__file__).parents[2]
shares = st.floats(0.0, 1.0)
sizes = st.integers(2, 500)


# --- weights


def test_a_cell_without_cases_weighs_like_its_class_or_its_decision():
    controls = interval_formulas.effective_case_weights(
        [[60, 0], [400, 1200]], [[60, 0], [8000, 24000]]
    )  # negatives 1 in 20
    assert_allclose(controls, [[1, 1], [20, 20]], rtol=0.03)
    verified = interval_formulas.effective_case_weights(
        [[60, 0], [20, 700]], [[60, 0], [20, 7000]]
    )  # low scores 1 in 10
    assert_allclose(verified, [[1, 10], [1, 10]], rtol=0.03)


def test_cells_that_differ_by_chance_alone_have_the_effective_size_of_all():
    rng = np.random.default_rng(2)
    weight = [rng.lognormal(0, 1, size) for size in (12, 9, 15, 40)]
    cells, squares = (np.array([(w**k).sum() for w in weight]).reshape(2, 2) for k in (1, 2))
    units = interval_formulas.effective_case_weights(cells, squares)
    assert (units >= squares / cells - 1e-12).all()
    assert (units >= 0.8 * squares.sum() / cells.sum()).all()


@given(st.floats(0.01, 100))
def test_units_have_the_scale_of_the_weights(scale):
    cells, squares = np.array([[10.0, 3.0], [0.0, 25.0]]), np.array([[20.0, 9.0], [0.0, 40.0]])
    assert_allclose(
        interval_formulas.effective_case_weights(scale * cells, scale**2 * squares),
        scale * interval_formulas.effective_case_weights(cells, squares),
    )


# --- replicates


def test_percentiles_are_scipys():
    sample = np.random.default_rng(1).exponential(size=30)
    found = stats.bootstrap((sample,), np.mean, n_resamples=499, method="percentile", rng=np.random.default_rng(2))
    expected = tuple(found.confidence_interval)
    assert interval_formulas.percentile(found.bootstrap_distribution) == pytest.approx(expected, abs=1e-12)


def test_shifted_moves_by_twice_the_bias():
    values = np.arange(101.0)
    low, high = interval_formulas.percentile(values)
    assert interval_formulas.bias_shifted(40.0, values) == pytest.approx((low - 20, high - 20))


@pytest.mark.parametrize("name", ["percentile", "bias_shifted", "logit_t", "log_t"])
def test_many_intervals_at_once_are_those_one_by_one(name):
    rng = np.random.default_rng(4)
    value = rng.uniform(0.3, 0.7, 5)
    values = rng.uniform(0.2, 0.8, (5, 40))
    values[2, 7] = np.nan
    more = (20,) if name == "logit_t" else ()
    function = getattr(interval_formulas, name)
    first = () if name == "percentile" else (value,)
    low, high = function(*first, values, *more)
    for k in range(5):
        own = () if name == "percentile" else (value[k],)
        assert function(*own, values[k], *more) == pytest.approx((low[k], high[k]))


def test_logit_and_log_scales_by_hand():
    values = np.array([0.6, 0.7, 0.8])
    t = stats.t.ppf(0.975, 9)
    spread = np.log(values / (1 - values)).std()
    centre = np.log(0.7 / 0.3)
    expected = [1 / (1 + np.exp(-(centre + k * t * spread))) for k in (-1, 1)]
    assert interval_formulas.logit_t(0.7, values, 10) == pytest.approx(expected)
    factor = np.exp(1.959963984540054 * np.log(values).std())
    assert interval_formulas.log_t(0.7, values) == pytest.approx((0.7 / factor, 0.7 * factor))


def test_a_share_that_never_varies_has_the_width_of_its_cases():
    low, high = interval_formulas.logit_t(1.0, np.ones(50), 10)
    assert (low, high) == pytest.approx((10 / (10 + 1.959963984540054**2), 1.0))


@given(shares, st.lists(shares, min_size=2, max_size=30), sizes)
def test_limits_on_the_logit_scale_lie_in_order_within_0_and_1(value, values, cases):
    low, high = interval_formulas.logit_t(value, values, cases)
    assert 0 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1


# --- parametric bootstrap


@pytest.mark.parametrize("spread", [0.0, 0.08])
@pytest.mark.parametrize(("value", "world"), [(0.5, 0.45), (0.93, 0.8), (0.08, 0.12), (1.0, 0.9)])
def test_corrected_holds_the_truths_that_agree_with_the_value_and_no_others(value, world, spread):
    values = world + 0.03 + 0.05 * np.array([-1.0, 1.0])
    truths = np.linspace(0, 1, 100_001)
    g, t = (lambda at: np.sqrt(at * (1 - at))), stats.t.ppf(0.975, 29)
    near = min(max(value, 0.5 / 31), 1 - 0.5 / 31)
    shrinking = np.hypot(max(0.05 / g(world), spread / g(near)), 0.4 * 0.03 / g(world)) * g(truths)
    agree = np.abs(value - truths - 0.03 / g(world) * g(truths)) <= t * shrinking
    least, most = value - 0.03 + t * np.hypot(max(0.05, spread), 0.4 * 0.03) * np.array([-1, 1])
    agree |= (truths >= least) & (truths <= value - 0.03)  # towards chance
    agree |= (truths >= value) & (most >= 1)
    found = interval_formulas.bias_corrected(value, world, values, 30, spread=spread)
    assert found == pytest.approx((truths[agree].min(), truths[agree].max()), abs=2e-5)


def test_without_bias_the_end_that_is_far_from_the_range_is_wilsons():
    # Errors as of a share in 40 trials: the lower limit of a value near 1 is that of such a share, but for t.
    t, error = stats.t.ppf(0.975, 999), np.sqrt(0.9 * 0.1 / 40)
    low, _ = interval_formulas.bias_corrected(0.9, 0.9, 0.9 + error * np.array([-1.0, 1.0]), 1000)
    assert low == pytest.approx(interval_formulas.wilson(36, 40, 1 - 2 * stats.norm.sf(t))[0])


@given(shares, shares, st.lists(shares, min_size=2, max_size=20), sizes)
def test_corrected_stays_in_range_and_scales_with_it(value, world, values, cases):
    low, high = interval_formulas.bias_corrected(value, world, values, cases)
    assert 0 <= low <= high <= 1
    again = interval_formulas.bias_corrected(
        0.5 + value / 2, 0.5 + world / 2, 0.5 + np.array(values) / 2, cases, range_=(0.5, 1.0)
    )
    assert again == pytest.approx((0.5 + low / 2, 0.5 + high / 2), abs=1e-6)  # spreads near 0 lose digits


def test_an_end_that_is_within_reach_belongs_to_the_interval():
    values = np.array([0.1, 0.2, 0.3])
    assert interval_formulas.bias_corrected(0.2, 0.05, values, 50)[0] == 0.0
    assert interval_formulas.bias_corrected(0.8, 0.95, 1 - values, 50)[1] == 1.0


def test_inversion_accepts_consistent_models():
    # Samples of model w are w + 1 ± 0.1 · t: the value 3 agrees with models from 2 − 0.1·t to 2 + 0.1·t.
    known = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    noise = np.array([-0.1, 0.1])
    t = stats.t.ppf(0.975, 19)
    values = known[:, None] + 1 + noise
    assert interval_formulas.invert_test(3.0, known, values, 20) == pytest.approx((2 - 0.1 * t, 2 + 0.1 * t))
    assert interval_formulas.invert_test(1.0, known, values, 20)[0] == 0.0
    assert interval_formulas.invert_test(0.1, known, values, 20) == (0.0, 0.0)


def test_inverted_goes_on_beyond_the_last_world():
    known, noise = np.array([0.0, 1.0, 2.0]), np.array([-0.1, 0.1])
    low, high = interval_formulas.invert_test(9.0, known, known[:, None] + 1 + noise, 20)
    assert 7 < low < 8 < high < 9


# --- shares and counts


def test_wilson_is_scipys():
    hits, trials = np.array([0, 8, 10, 45]), np.array([10, 10, 10, 50])
    found = [stats.binomtest(h, n).proportion_ci(0.9, method="wilson") for h, n in zip(hits, trials, strict=True)]
    low, high = interval_formulas.wilson(hits, trials, 0.9)
    assert_allclose(low, [one.low for one in found], atol=1e-12)
    assert_allclose(high, [one.high for one in found], atol=1e-12)
    assert np.isnan(interval_formulas.wilson(0, 0)).all()


def test_the_posterior_of_two_cells_is_jeffreys_interval():
    shares_of = interval_formulas.dirichlet_posterior([7, 3], np.random.default_rng(6), 200_000)[:, 0]
    expected = stats.beta.ppf([0.025, 0.975], 7.5, 3.5)
    assert interval_formulas.percentile(shares_of) == pytest.approx(expected, abs=0.004)


def test_kish_counts_equal_weights_as_cases():
    assert interval_formulas.effective_sample_size(7.0, 7.0) == 7
    assert interval_formulas.effective_sample_size(70.0, 700.0) == 7
    assert interval_formulas.effective_sample_size(0.0, 0.0) == 0


# --- areas


def test_newcombe_limits_solve_their_equation():
    area, m, n = np.array([0.55, 0.8, 0.95]), 12, 40
    low, high = interval_formulas.newcombe_auc(area, m, n)
    for theta in (low, high):
        size = (m + n) / 2
        variance = theta * (1 - theta) * (1 + (size - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / (m * n)
        assert_allclose(np.abs(area - theta), stats.norm.ppf(0.975) * np.sqrt(variance), rtol=1e-9)


@given(shares, sizes, sizes)
def test_newcombe_stays_in_range_has_width_and_mirrors(area, m, n):
    low, high = interval_formulas.newcombe_auc(area, m, n)
    assert 0 <= low <= area <= high <= 1
    assert high - low > 0
    assert interval_formulas.newcombe_auc(1 - area, m, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_a_larger_variance_widens_newcombe_and_a_smaller_one_does_not_narrow_it():
    plain = interval_formulas.newcombe_auc(0.8, 20, 50)
    assert interval_formulas.newcombe_auc(0.8, 20, 50, variance=1e-6) == plain
    low, high = interval_formulas.newcombe_auc(0.8, 20, 50, variance=0.02)
    assert low < plain[0] < plain[1] < high
    assert interval_formulas.newcombe_auc(1.0, 20, 50, variance=0.0) == interval_formulas.newcombe_auc(1.0, 20, 50)


def test_delong_suits_many_errors_alone():
    found = interval_formulas.is_delong_reliable([0.8, 0.81, 0.5, 0.96, 1.0], [50, 50, 20, 250, 10_000], 10_000)
    assert found.tolist() == [True, False, True, True, False]


# --- do they hold the truth?


STUDY = ("study", "covered", "rejected", "honest", "populations", "rounds")


@pytest.fixture(scope="module")
def study():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        held = {name: import_module(name) for name in STUDY}
        yield SimpleNamespace(**{name: one for module in held.values() for name, one in vars(module).items()})
    for name in STUDY:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("scores", ["normal, 0.80", "normal, 0.96", "positives 2.5 times as wide, 0.80"])
@pytest.mark.parametrize(("m", "n"), [(10, 90), (20, 180), (50, 50)])
def test_the_interval_of_an_area_covers_with_few_cases(study, scores, m, n):
    truth, draw = study.AREAS[scores]
    area, parts = study.area_and_variances(*draw(np.random.default_rng(10), 1500, m, n))
    low, high = interval_formulas.newcombe_auc(area, m, n, variance=parts.sum(axis=-1))
    assert 0.915 <= np.mean((low <= truth) & (truth <= high)) <= 0.99


@pytest.mark.parametrize(
    ("scores", "prevalence", "names"),
    [
        ("binormal, AUC 0.80", 0.3, "auc auprc ks h ref brier cal smauc tpr@0.5 f1@0.5 mcc@0.5"),
        ("binormal, AUC 0.99", 0.5, "auc ks h ref auch smauc"),
        ("positives twice as wide, AUC 0.95", 0.3, "ks h ref auch ece"),
        ("noise", 0.5, "ks h ref auch cal log_cal log_ref"),
        ("humps of both classes", 0.5, "auch"),
    ],
)
def test_default_intervals_hold_the_truth(study, scores, prevalence, names):
    population = study.POPULATIONS[scores]
    found = study.coverage(population, prevalence, 100, samples=40, replicates=150, only=names.split())
    assert {name: one.share for name, one in found.items() if one.share < 0.85} == {}


def test_a_study_leaves_the_code_as_it_was(study):
    # It once left its short worlds to whatever ran in the same process, where an ece of iris then ended at 0.136.
    before = vars(bias_corrected).copy()
    study.coverage(study.POPULATIONS["noise"], 0.5, 50, samples=1, replicates=100, only=["ece", "ks"])
    study.rejected(np.random.default_rng(1), 1, 10, 10, 0.0, ["auc"])
    assert vars(bias_corrected) == before


def test_a_condensed_table_is_judged_by_its_own_value(study):
    # Of 1 500 scores 512 rows are left, which chance fits less: held against all 1 500, they would look miscalibrated.
    population = study.POPULATIONS["binormal, AUC 0.80"]
    found = study.coverage(population, 0.5, 1500, samples=25, replicates=100, only=["cal"])
    assert found["cal"].share >= 0.84


@pytest.mark.parametrize("cases", [(3, 100), (10, 10), (20, 80)])
def test_default_tests_reject_a_true_null_seldom(study, cases):
    found = study.rejected(np.random.default_rng(11), 40, *cases, 1.2, ("auc", "brier"))
    assert {name: share for name, share in found.items() if share > 0.15} == {}


def test_mcnemar_may_be_conservative_but_never_bold(study):
    # The p-values of counts are steps: mid-p is near 5 %, exact and corrected are well below.
    found = study.mcnemar_null(np.random.default_rng(9), 20_000)
    assert 0.03 <= found["midp"] <= 0.06
    assert found["exact"] < found["midp"]
    assert max(found["exact"], found["corrected"]) <= 0.05


@pytest.fixture
def small(study, monkeypatch):
    monkeypatch.setattr(sys.modules["rounds"], "BLOCK", 2)
    return study


def test_a_study_tells_how_far_it_is_and_goes_on_where_it_was(small, tmp_path, capsys):
    asked = ["--only", "weights", "--replicates", "40", "--print", "--kept", str(tmp_path / "study.json")]
    small.main([*asked, "--rounds", "1"])
    out, progress = capsys.readouterr()
    assert progress.startswith("  weights: round 1, 2 samples, ")
    assert out.startswith("2 samples in each cell: 0.95 is known within ± 0.308.\n\n| measure | method | 0.3 / 100 |")
    assert "| ece | test-inversion | " in out
    small.main([*asked, "--rounds", "2"])
    out, progress = capsys.readouterr()
    assert progress.startswith("  weights: round 2, 4 samples, ")  # and no line for the first
    assert out.startswith("4 samples in each cell")
    small.main([*asked, "--rounds", "2"])
    assert capsys.readouterr() == (out, "")
    small.main([*asked[:3], "41", *asked[4:], "--rounds", "0"])
    assert capsys.readouterr().err.endswith("with 40 replicates: the study begins anew\n")


def test_a_round_that_was_stopped_goes_on(small, tmp_path):
    ran = []

    def run(cell, rng, samples, replicates):
        if samples == 1:  # the witness
            return {}
        if cell == ("b",) and len(ran) == 1:
            raise KeyboardInterrupt
        ran.append((*cell, int(rng.integers(1000))))
        return {"auc": {"samples": samples, "held": 1}}

    part = small.Part((("a",), ("b",)), run, str)
    path = tmp_path / "study.json"
    with pytest.raises(KeyboardInterrupt):
        small.Kept.read(path, 10).go_on({"p": part}, 1)
    half = small.Kept.read(path, 10)
    assert half.found("p") == {}  # no table of half a round
    ran.append("stopped")
    half.go_on({"p": part}, 2)
    assert [one[0] for one in ran] == ["a", "s", "b", "a", "b"]
    assert small.Kept.read(path, 10).found("p")["b",] == {"auc": {"samples": 4, "held": 2}}
    again = []
    ran[:] = [0, 0]
    small.Kept(None, 10).go_on({"p": part}, 2)
    again = ran[2:]
    assert len({number for _, number in again}) == 4  # every cell of every round has its own samples


def test_what_other_code_made_is_made_anew(small, tmp_path, capsys):
    width = 0.1

    def run(cell, rng, samples, replicates):
        return {name: {"samples": samples, "width": width * (name == "auc") + rng.random()} for name in ("auc", "f1")}

    parts = {"p": small.Part((("a",), ("b",)), run, str)}
    path = tmp_path / "study.json"
    small.Kept.read(path, 10).go_on(parts, 2)
    same = small.Kept.read(path, 10)
    same.renew(parts)
    assert same.rounds == {"p": 2}
    width = 0.2
    capsys.readouterr()
    assert same.changed("p", parts["p"]) == ["auc"]
    assert same.changed("p", parts["p"], most=0.5) == []  # two of four
    same.renew(parts)
    assert capsys.readouterr().err == "  p: today's code gives other numbers for auc; it begins anew\n"
    assert (same.rounds, same.done, same.witness) == ({}, {}, {})


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_this_code(study):
    # A change of an interval or a test shows in every cell; another processor, in single ones.
    kept = study.Kept.read(study.KEPT, sys.modules["study"].REPLICATES)
    stored = {name: part for name, part in study.PARTS.items() if kept.done.get(name)}
    assert len(stored) > 25
    stale = {name: kept.changed(name, part, most=0.02) for name, part in stored.items()}
    assert not any(stale.values()), "make study makes the tables again"


def test_the_page_has_a_place_for_every_part(study):
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    for part in study.PARTS:
        held = study.filled(page, part, "| a table |")
        assert f"<!-- {part} -->\n| a table |\n<!-- end {part} -->" in held
    with pytest.raises(ValueError, match="no mark"):
        study.filled(page, "nothing", "")


def test_a_wider_bootstrap_widens_what_agrees_with_the_value():
    noise, value, spread = np.linspace(-0.3, 0.3, 9), 1.5, 0.4
    worlds = np.linspace(0, 4, 4001)
    found = interval_formulas.invert_test(value, worlds, worlds[:, None] + noise, 40, nearest=1500, spread=spread)
    more, t = spread**2 - noise.std() ** 2, float(interval_formulas.student_quantile(0.95, 40))
    reach = t * np.sqrt(noise.std() ** 2 + more * np.minimum(1, worlds / value) ** 2)
    agrees = worlds[np.abs(value - worlds) <= reach]
    assert found == pytest.approx((agrees[0], agrees[-1]), abs=0.002)
    assert found[1] - found[0] > 1.2 * np.subtract(
        *interval_formulas.invert_test(value, worlds, worlds[:, None] + noise, 40)[::-1]
    )


def test_every_interval_is_in_the_study_or_says_that_it_is_not(study):
    covered = {"two", "shapes", "three", "weights", "designs", "others", "rare", "patients", "numbers"}
    covered |= {"clinic", "rates"}
    kept = study.Kept.read(study.KEPT, sys.modules["study"].REPLICATES)
    told = {name for part in covered for found in kept.done[part].values() for name in found}
    told = {name for name in told if not name.endswith((", simultaneous", ", pointwise"))}  # without bands
    simulated = {parse(name.replace("@π", "")).name for name in told}
    simulated |= {"fpr_at", "iv"}  # as 1 − tnr_at, and in the part `stability`
    simulated |= {"u", "rank_sum"}  # as the AUC, from which they are computed
    # In the parts `deviances`, `distributions`, `values` and `designs_of_values`, under the names of their designs.
    simulated |= {"poisson_deviance", "gamma_deviance", "tweedie_deviance", "d2_poisson", "d2_gamma", "d2_tweedie"}
    simulated |= {"lorenz_gini", "crps", "wis", "quantile_coverage", "wape", "mase", "rmsse", "mean", "median"}
    simulated |= {"quantile", "share", "sd", "worst", "ndcg", "rr", "below_interval", "above_interval"}
    without = ("none", "sample-maximum", "border-points")
    silent = [one.name for one in MEASURES if one.interval not in without and one.name not in simulated]
    assert all(MEASURES.find(name).coverage_note == NOT_SIMULATED for name in silent)
    assert all(one.coverage_note != NOT_SIMULATED for one in MEASURES if one.name in simulated)
