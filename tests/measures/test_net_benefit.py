"""Net benefit at a threshold probability, beside dcurves and hand computation; O:E."""

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.measures import parse
from scorespace.tables import Counts

DCURVES = json.loads((Path(__file__).parents[1] / "oracles/dcurves_credit.json").read_text())["values"]
COUNTS = Counts(tp=3, fp=2, fn=1, tn=4)


@pytest.fixture(scope="module")
def credit():
    path = resources.files("scorespace") / "data/german_credit.csv"
    return ss.evaluate(str(path), truth="outcome", scores=["naive_bayes", "logistic"], positive="bad")


@pytest.mark.parametrize("case", DCURVES, ids=lambda case: f"{case['model']} {case['threshold']}")
def test_values_are_those_of_dcurves(credit, case):
    at = case["threshold"]
    found = {(one.model, one.spec.name): one.value for one in credit.measures(f"nb@{at}", f"snb@{at}", f"avoided@{at}")}
    assert found[case["model"], "nb"] == pytest.approx(case["net_benefit"])
    assert found[case["model"], "snb"] == pytest.approx(case["net_benefit"] / 0.3)
    assert found[case["model"], "avoided"] == pytest.approx(100 * case["avoided"])


def test_by_hand():
    assert float(ss.nb(COUNTS, price=0.2)) == pytest.approx(3 / 10 - 2 / 10 / 4)
    assert float(ss.snb(COUNTS, price=0.2)) == pytest.approx(0.25 / 0.4)
    assert float(ss.avoided(COUNTS, price=0.2)) == pytest.approx(100 * (4 - 1 * 4) / 10)


def test_the_price_may_differ_from_the_threshold(credit):
    tied, stated = credit.measures("nb@0.3", "nb(price=0.3)@0.3")[:2]
    assert (tied.value, tied.low, tied.high) == (stated.value, stated.low, stated.high)
    assert str(parse("nb(price=0.2)@0.3")) == "nb(price=0.2)@0.3"
    assert str(parse("net_benefit@0.2")) == "net_benefit@0.2"


@pytest.mark.parametrize("request_", ["nb@50", "nb@top10%", "nb(price=2)@0.5"])
def test_without_a_threshold_probability(credit, request_):
    with pytest.raises(MeasureError, match="threshold"):
        credit.measures(request_)


def test_the_ends_of_the_thresholds(credit):
    values = [one.value for one in credit.measures("nb@0", "nb@1", "avoided@0", "avoided@1") if one.model == "logistic"]
    assert values == pytest.approx([0.3, np.nan, np.nan, 70], nan_ok=True)


def test_observed_to_expected():
    """Roots of E²θ² − (2OE + z²Ev)θ + O² = 0, with v = n · var(y − oe · p) / O."""
    rng = np.random.default_rng(4)
    p = rng.random(200)
    y = (rng.random(200) < p**1.5).astype(int)
    (found,) = ss.evaluate(y, p).measures("oe")
    observed, expected = y.sum(), p.sum()
    variance = 200 * np.var(y - observed / expected * p, ddof=1) / observed
    z2 = 1.959963984540054**2
    low, high = sorted(np.roots([expected**2, -(2 * observed * expected + z2 * expected * variance), observed**2]))
    assert (found.value, found.low, found.high) == pytest.approx((observed / expected, low, high))


def test_observed_to_expected_of_a_rare_outcome():
    assert ss.oe(ss.score_table([0] * 19 + [1], [0.1] * 20)) == pytest.approx(1 / 2)
    assert np.isinf(ss.oe(ss.score_table([0, 1], [0.0, 0.0])))
