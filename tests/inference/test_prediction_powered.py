"""Estimates from partial truth: worked examples, closed forms, and what no proxy may change."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit

import scorespace as ss
from scorespace.errors import MeasureError
from scorespace.inference.prediction_powered import estimates_with_proxy
from scorespace.io.partial_truth import read_partial_truth
from scorespace.measures import parse

RATES = "acc@0.5, tpr@0.5, ppv@0.5, auc, ap, brier, logloss, nb@0.3, cost(fp=1, fn=5)@0.3, f1@0.5, mcc@0.5, kappa@0.5"


def rows(n=300, size=2000, flipped=0.1, seed=3):
    """Truth of the first n rows, a flipped copy of it for all, and a score."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(size) < 0.3).astype(int)
    score = np.round(expit(1.5 * truth + rng.normal(size=size) - 1.2), 3)
    proxy = np.where(rng.random(size) < flipped, 1 - truth, truth)
    return {"y": [int(v) if k < n else None for k, v in enumerate(truth)], "judge": proxy, "s": score, "full": truth}


def judged(data, measures=RATES, **options):
    options = {"truth": "y", "proxy": "judge", "scores": "s", "measures": measures} | options
    return {str(one.spec): one for one in ss.evaluate_partial_truth(data, **options)}


def accuracy_rows():
    """B3 of the methods sheet: right by truth and proxy 78, by truth 4, by proxy 7, neither 11; proxy .87 of 1 000."""
    both = [(1, 1)] * 78 + [(1, 0)] * 4 + [(0, 1)] * 7 + [(0, 0)] * 11
    truth = [one for one, _ in both] + [None] * 900
    proxy = [two for _, two in both] + [1] * 785 + [0] * 115
    return {"y": truth, "judge": proxy, "d": [1] * 1000}


def test_worked_example_of_an_accuracy():
    (one,) = ss.evaluate_partial_truth(
        accuracy_rows(), truth="y", proxy="judge", decisions="d", positive=1, measures="acc"
    )
    gold, proxy = np.repeat([1, 1, 0, 0], [78, 4, 7, 11]), np.repeat([1, 0, 1, 0], [78, 4, 7, 11])
    covariance = np.cov(gold, proxy, ddof=0)
    tuning = covariance[0, 1] / covariance[1, 1]
    assert round(tuning, 3) == 0.651
    assert round(0.82 + tuning * (0.87 - 0.85), 4) == 0.8330
    error = math.sqrt((covariance[0, 0] - 0.9 * covariance[0, 1] ** 2 / covariance[1, 1]) / 100)
    assert round(error, 4) == 0.0315
    assert one.truth_alone == 0.82
    assert one.tuning == pytest.approx(tuning, abs=0.06)
    assert one.value == pytest.approx(0.8330, abs=0.0015)
    half = 1.96 * error / (0.833 * 0.167)
    # Half a wrong label is added to each class in the replicates, so that the interval is a little wider.
    assert (one.low, one.high) == pytest.approx((expit(logit(0.833) - half), expit(logit(0.833) + half)), abs=0.008)
    assert one.worth == pytest.approx(100 * 0.0384**2 / 0.0315**2, rel=0.15)


def test_a_proxy_that_is_the_truth_gives_the_interval_of_all_rows():
    found = judged(rows(flipped=0.0))
    whole = ss.evaluate(rows(), truth="full", scores="s", measures=RATES).measures()
    for one, expected in zip(found.values(), whole, strict=True):  # wider, as 300 rows do not show that none is wrong
        assert 0.95 < (one.high - one.low) / (expected.high - expected.low) < 1.3, one
        assert one.value == pytest.approx(expected.value, abs=0.01), one


def test_a_useless_proxy_does_not_widen():
    data = rows()
    data["judge"] = np.random.default_rng(9).integers(0, 2, 2000)
    for one in judged(data).values():
        assert one.worth > 0.99 * one.labels


def test_a_proxy_of_one_class_is_left_out():
    data = rows()
    alone = judged(data | {"judge": np.random.default_rng(9).integers(0, 2, 2000)}, "auc")["auc"].truth_alone
    one = judged(data | {"judge": np.zeros(2000, dtype=int)}, "auc")["auc"]
    assert (one.value, one.tuning, one.worth) == (alone, 0, one.labels)
    assert one.low < one.value < one.high


def test_booleans_and_numbers_are_the_same_labels():
    data = rows()
    (one,) = judged(data, "auc").values()
    (other,) = judged(data | {"judge": data["judge"] == 1}, "auc").values()
    assert one == other


def test_without_gaps_the_proxy_does_not_matter():
    data = rows(n=2000)
    expected = ss.evaluate(data, truth="full", scores="s", measures="auc, acc@0.5").measures()
    for one, other in zip(judged(data, "auc, acc@0.5").values(), expected, strict=True):
        assert (one.value, one.tuning) == (pytest.approx(other.value), 0)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.004)


def test_the_order_of_the_rows_does_not_matter():
    data, order = rows(), np.random.default_rng(1).permutation(2000)
    mixed = {name: [column[k] for k in order] for name, column in data.items()}
    for one, other in zip(judged(data).values(), judged(mixed).values(), strict=True):
        assert one.truth_alone == pytest.approx(other.truth_alone)
        assert one.value == pytest.approx(other.value, abs=0.005)


def test_certain_probabilities_are_labels():
    data = rows()
    soft = data | {"judge": np.where(data["judge"] == 1, 1.0, 0.0)}
    soft["judge"][0] = np.nextafter(soft["judge"][0], 0.5)
    for one, other in zip(judged(data).values(), judged(soft).values(), strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-4)
        assert one.high - one.low > other.high - other.low


def test_known_probabilities_give_the_weighted_mean():
    data = rows()
    chance = np.where(data["s"] >= 0.5, 0.3, 0.08)
    truth = [
        v if g else None for v, g in zip(data["full"], np.random.default_rng(2).random(2000) < chance, strict=True)
    ]
    data |= {"y": truth, "q": chance}
    (one,) = judged(data, "acc@0.5", probability="q").values()
    gold = np.array([v is not None for v in truth])
    right = (data["s"] >= 0.5) == (data["full"] == 1)
    assert one.truth_alone == pytest.approx(np.average(right[gold], weights=1 / chance[gold]))
    assert one.method == "prediction-powered, weighted"
    assert one.worth > one.labels


def test_regression_is_the_tuned_mean():
    rng = np.random.default_rng(5)
    truth = rng.normal(10, 2, 1000)
    data = {"p": truth + rng.normal(size=1000), "judge": truth + rng.normal(0, 0.5, 1000)}
    data["y"] = [v if k < 100 else None for k, v in enumerate(truth)]
    (one,) = ss.evaluate_partial_truth(data, truth="y", proxy="judge", predictions="p", measures="bias")
    gold, of_judge = (data["p"] - truth)[:100], data["p"] - data["judge"]
    expected = gold.mean() + one.tuning * (of_judge.mean() - of_judge[:100].mean())
    assert one.value == pytest.approx(expected)
    assert one.tuning == pytest.approx(np.cov(gold, of_judge[:100])[0, 1] / of_judge[:100].var(), abs=0.1)


def test_classes_and_judged_labels():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 900)
    decision = np.where(rng.random(900) < 0.7, truth, (truth + 1) % 3)
    judge = np.where(rng.random(900) < 0.95, truth, (truth + 2) % 3)
    names = np.array(["a", "b", "c"])
    data = {
        "y": [names[v] if k < 150 else None for k, v in enumerate(truth)],
        "judge": names[judge],
        "d": names[decision],
    }
    found = ss.evaluate_partial_truth(data, truth="y", proxy="judge", decisions="d", measures="acc, kappa, f1[macro]")
    for one in found:
        assert one.worth > 220
        assert one.low < one.value < one.high


# --- verification by the test result


def verified_rows():
    """B3: positive tests 260, verified 234 (144 ill); negative tests 1 740, verified 174 (4 ill)."""
    parts = ((1, 1, 144), (1, 0, 90), (1, None, 26), (0, 1, 4), (0, 0, 170), (0, None, 1566))
    test, ill = zip(*((t, i) for t, i, n in parts for _ in range(n)), strict=True)
    return {"test": list(test), "ill": list(ill)}


def test_worked_example_of_verification_bias():
    found = ss.evaluate_partial_truth(
        verified_rows(), truth="ill", decisions="test", verified_by="test", positive=1, measures="tpr, tnr"
    )
    tpr, tnr = found
    assert tpr.value == pytest.approx(160 / 200)
    assert tnr.value == pytest.approx(1700 / 1800)
    # Begg and Greenes on the logit scale, half a case added to each verified cell.
    p1, p0, a1, a0 = 144.5 / 235, 4.5 / 175, 235, 175
    error = math.sqrt((1 - p1) / (a1 * p1) + (1 - p0) / (a0 * p0) + 1 / 260 + 1 / 1740)
    limits = expit(logit(0.8) - 1.96 * error), expit(logit(0.8) + 1.96 * error)
    assert (tpr.low, tpr.high) == pytest.approx(limits, abs=0.02)
    assert [note.code for note in found.notes] == ["SS190"]


def test_few_verified_misses_are_a_warning():
    data = verified_rows()
    data["ill"] = [0 if (t, i) == (0, 1) and k % 4 else i for k, (t, i) in enumerate(zip(*data.values(), strict=True))]
    found = ss.evaluate_partial_truth(data, truth="ill", decisions="test", verified_by="test", positive=1)
    assert "SS192" in [note.code for note in found.notes]


# --- refusals


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("ks", "largest of many gaps"),
        ("mce", "largest of many distances"),
        ("auch", "fitted to the same cases"),
        ("cal", "by chance"),
        ("ref", "fitted to the same cases"),
        ("tp@0.5", "number of rows"),
        ("u", "number of rows"),
        ("ppv@top10%", "chosen on the data"),
        ("sens@spec=0.9", "chosen on the data"),
        ("nir@0.5", "largest of several shares"),
    ],
)
def test_measures_that_are_not_smooth_are_refused(measure, why):
    with pytest.raises(MeasureError, match=why):
        judged(rows(), measure)


def test_the_same_seed_gives_the_same_numbers():
    sample = read_partial_truth(rows(), truth="y", proxy="judge", scores="s")[0]
    first, again, other = (estimates_with_proxy(sample, {"s": [parse("auc")]}, seed=k)[0] for k in (1, 1, 2))
    assert first == again != other


def test_identical_replicates_have_no_interval():
    data = rows()
    data["s"] = data["full"].astype(float)
    one = judged(data, "acc@0.5")["acc@0.5"]
    assert one.value == 1
    assert math.isnan(one.low)
    assert "same value" in one.reason
