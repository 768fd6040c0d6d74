"""Non-inferiority and equivalence: pROC's standard errors, hand computation, and what is said."""

import numpy as np
import pytest
from scipy.stats import norm

import scorespace as ss
from oracles.load import columns, reference
from scorespace.errors import MeasureError, ScoreSpaceError

ORACLE = reference("clinical")["non-inferiority"]["expected"]["second"]
ASAH = columns("asah")
NORMAL = "delong(reference=normal)"


@pytest.fixture(scope="module")
def asah():
    return ss.evaluate(
        {"y": ASAH["outcome"], "s100b": ASAH["s100b"], "ndka": ASAH["ndka"], "nd2": np.sqrt(ASAH["ndka"]) + 0.1},
        truth="y",
        positive="Poor",
        scores=["s100b", "ndka", "nd2"],
    )


def test_p_is_that_of_procs_difference_and_standard_error(asah):
    (found,) = asah.compare("s100b", "ndka", margin=0.02, test=NORMAL)
    assert found.difference == pytest.approx(ORACLE["difference"], abs=1e-9)
    assert found.p == pytest.approx(ORACLE["p_noninferior"], abs=1e-9)
    assert not found.is_significant
    assert asah.compare("s100b", "ndka", margin=0.06, test=NORMAL)[0].is_significant
    assert found.words.startswith("s100b may be worse than ndka by more than 0.02 in auc: difference +0.119")


def test_equivalence_is_the_larger_of_two_tests(asah):
    (found,) = asah.compare("s100b", "ndka", margin=0.1, margin_kind="equivalent", test=NORMAL)
    d, se = ORACLE["difference"], ORACLE["se"]
    assert found.p == pytest.approx(max(norm.sf((d + 0.1) / se), norm.cdf((d - 0.1) / se)), abs=1e-9)
    assert found.level == pytest.approx(0.9)
    assert found.high == pytest.approx(d + norm.ppf(0.95) * se, abs=1e-9)
    assert not found.is_significant
    assert found.words.startswith("s100b and ndka may differ by more than 0.1")


def test_a_measure_of_which_lower_is_better():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    truth = (rng.random(400) < p).astype(int)
    scores = {"good": p, "bad": np.clip(p + 0.3 * rng.normal(size=400), 0.01, 0.99)}
    good, bad = (
        ss.compare(truth, {name: scores[name] for name in pair}, measure="brier", margin=0.02)[0]
        for pair in (("good", "bad"), ("bad", "good"))
    )
    assert (good.is_significant, bad.is_significant) == (True, False)
    assert good.high < 0.02 < bad.high


@pytest.mark.parametrize("measure", ["f1@0.3", "brier", "nb@0.3", "ap"])
def test_the_rule_by_the_interval_and_p_agree(measure):
    """Non-inferior if and only if the lower limit (of the better direction) is above the margin."""
    rng = np.random.default_rng(6)
    truth = rng.random(300) < 0.4
    a, b = (1 / (1 + np.exp(0.4 - truth - rng.normal(size=300))) for _ in range(2))
    for margin in (0.005, 0.03, 0.08, 0.2):
        found = ss.compare(truth, {"a": a, "b": b}, measure=measure, margin=margin)[0]
        worst = -found.high if measure == "brier" else found.low
        assert found.is_significant == (worst > -margin)


def test_accuracy_two_samples_and_a_value(asah):
    assert asah.compare("s100b", "ndka", at=0.5, margin=0.9)[0].p < 0.05
    value = asah.compare_against(0.7, "s100b", margin=0.05, test="delong")[0]
    plain = asah.compare_against(0.7, "s100b", test="delong")[0]
    se = plain.difference / plain.statistic
    assert value.p == pytest.approx(norm.sf((plain.difference + 0.05) / se))
    twice = asah.compare_with(asah, "s100b", margin=0.05)[0]
    assert twice.difference == 0
    assert 0.2 < twice.p < 0.5


def test_three_models_are_adjusted_and_rows_tell_the_margin(asah):
    found = asah.compare(margin=0.02)
    assert {one.margin.size for one in found} == {0.02}
    assert found.adjustment in ("holm", None)
    assert {"margin", "margin_kind", "shown"} <= set(found.rows()[0])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"margin": 0}, "margin=0 is not a margin"),
        ({"margin": float("nan")}, "margin=nan is not a margin"),
        ({"margin": 0.1, "margin_kind": "better"}, "margin_kind='better' is"),
        ({"margin_kind": "equivalent"}, "needs a margin"),
        ({"margin": 0.1, "alternative": "greater"}, "different tests"),
    ],
)
def test_bad_margins(asah, options, problem):
    with pytest.raises(ScoreSpaceError, match=problem):
        asah.compare("s100b", "ndka", **options)


def test_a_measure_without_a_direction():
    truth, scores = [1, 0] * 20, {"a": [0.6, 0.4] * 20, "b": [0.7, 0.2] * 20}
    with pytest.raises(MeasureError, match="no better direction"):
        ss.compare(truth, scores, measure="cal_large", margin=0.1)
    assert ss.compare(truth, scores, measure="cal_large", margin=0.9, margin_kind="equivalent")[0].p < 0.05


def test_no_interval_no_margin():
    rng = np.random.default_rng(1)
    found = ss.compare(rng.normal(size=40), {"a": rng.normal(size=40), "b": rng.normal(size=40)}, margin=0.5)
    assert np.isfinite(found[0].p) or found[0].reason
