"""What is said of a model's probabilities: numbers that agree with the measures, and the verdict in words."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import scorespace as ss
from helpers.calibration_data import overconfident, sample, underconfident
from scorespace.calibration.summary import CalibrationSummary, calibration_summaries, class_calibration_summaries
from scorespace.calibration.tests import CalibrationTest
from scorespace.tables.models import models_from_tables


def test_well_calibrated_but_not_discriminating():
    # The slides' first example: every case is given the base rate.
    found = ss.calibration_summary(ss.score_table([1, 0, 0, 0] * 25, [0.25] * 100), model="base")
    assert "base is not discriminating (AUC 0.500), and 100 cases show no evidence of miscalibration" in found.words
    assert found.cal == 0


def test_four_cases_are_not_called_well_calibrated():
    # A mean score of 0.8 where half of the cases are positive: no test can show it, and none may deny it.
    words = ss.calibration_summary(ss.score_table([1, 1, 0, 0], [0.9, 0.8, 0.8, 0.7]), model="m").words
    assert "no miscalibration" not in words
    assert "too few" in words


def test_discriminating_but_badly_calibrated():
    # The slides' second example: a perfect ranking by scores that are all near one half.
    score = np.concatenate([np.linspace(0.45, 0.49, 20), np.linspace(0.51, 0.55, 20)])
    found = ss.calibration_summary(ss.score_table([0] * 20 + [1] * 20, score), model="timid")
    assert "timid is discriminating (AUC 1.000) but badly calibrated" in found.words
    assert found.ref == 0
    assert math.isnan(found.slope)


def test_good_in_both():
    found = ss.calibration_summary(sample(2000), model="m")
    assert "2 000 cases show no evidence of miscalibration" in found.words
    assert "2 000 cases" in found.words


def test_neither():
    rng = np.random.default_rng(0)
    t = ss.score_table(rng.integers(0, 2, 500), rng.beta(0.3, 0.3, 500))
    assert "neither discriminating" in ss.calibration_summary(t, model="m").words


def test_overconfident_and_underconfident():
    bold = ss.calibration_summary(sample(2000, distort=overconfident), model="m")
    timid = ss.calibration_summary(sample(2000, distort=underconfident), model="m")
    assert bold.slope == pytest.approx(0.4, abs=0.1)  # the odds were raised to 2.5
    assert "overconfident" in bold.words
    assert "underconfident" in timid.words


@pytest.mark.parametrize(("by", "way"), [(lambda p: p / 2, "too low"), (lambda p: (1 + p) / 2, "too high")])
def test_scores_too_low_or_too_high(by, way):
    found = ss.calibration_summary(sample(1000, distort=by), model="m")
    assert f"On average its scores are {way} by 0.2" in found.words


def test_one_class_says_so():
    found = ss.calibration_summary(ss.score_table([1, 1], [0.7, 0.6], positive=1), model="m")
    assert "one class only" in found.words
    assert math.isnan(found.skill)


def test_the_summary_agrees_with_the_measures():
    t = sample(500)
    found = ss.calibration_summary(t, model="m", bins=8)
    for name in ("brier", "cal", "ref", "unc", "logloss", "cal_large", "auc"):
        assert getattr(found, name) == pytest.approx(getattr(ss, name)(t), rel=1e-12), name
    assert found.skill == pytest.approx(ss.brier_skill(t))
    assert (found.slope, found.intercept, found.offset) == pytest.approx(
        (ss.cal_slope(t), ss.cal_intercept(t), ss.cal_offset(t)), abs=1e-10
    )
    assert (found.ece, found.mce) == pytest.approx((ss.ece(t, bins=8), ss.mce(t, bins=8)))
    assert found.spiegelhalter == ss.spiegelhalter(t)
    deciles, alone = found.hosmer_lemeshow, ss.hosmer_lemeshow(t, fitted=False)
    assert (deciles.statistic, deciles.df, deciles.p) == pytest.approx((alone.statistic, alone.df, alone.p))


def test_the_summary_of_many_rows_agrees_too():
    t = sample(300_000)
    found = ss.calibration_summary(t, model="m", replicates=20)
    for name in ("brier", "ref", "logloss", "cal_large", "auc"):
        assert getattr(found, name) == pytest.approx(getattr(ss, name)(t), rel=1e-11), name
    assert found.slope == pytest.approx(ss.cal_slope(t), abs=1e-9)
    assert found.hosmer_lemeshow.statistic == pytest.approx(ss.hosmer_lemeshow(t).statistic)


def test_cases_without_a_logit_are_counted():
    found = ss.calibration_summary(ss.score_table([1, 0, 1, 0, 1], [1.0, 0.0, 0.6, 0.7, 0.2]), model="m")
    assert found.left_out == 2


def test_rows_and_repr():
    found = ss.calibration_summary(sample(100), model="m")
    (row,) = found.rows()
    assert row["spiegelhalter_p"] == found.spiegelhalter.p
    assert found.to_dict()["words"] == found.words
    assert repr(found).startswith(f"brier {found.brier:.3f} = cal {found.cal:.3f} + ref {found.ref:.3f}")


def test_the_summary_has_the_terms_of_murphy_and_their_residual():
    t = ss.score_table([1, 0, 1, 0, 1, 0, 0, 1], [0.91, 0.93, 0.52, 0.55, 0.13, 0.11, 0.12, 0.97])
    found = ss.calibration_summary(t, bins=10)
    assert found.rel == pytest.approx(ss.rel(t, bins=10), abs=1e-12)
    assert found.res == pytest.approx(ss.res(t, bins=10), abs=1e-12)
    assert found.residual == pytest.approx(ss.murphy_residual(t, bins=10), abs=1e-12)
    assert found.brier == pytest.approx(found.rel - found.res + found.unc + found.residual, abs=1e-12)


# --- the words, number by number

FINE = CalibrationTest("x", 0.0, 1.0, 0.5)
BASE = CalibrationSummary(
    model="m",
    cases=1000.0,
    auc=0.8,
    brier=0.2,
    cal=0.01,
    ref=0.19,
    unc=0.25,
    skill=0.2,
    logloss=0.6,
    impossible=0.0,
    cal_chance=0.008,
    cal_p=0.4,
    cal_large=0.0,
    slope=1.0,
    slope_error=0.1,
    intercept=0.0,
    offset=0.0,
    left_out=0.0,
    ece=0.02,
    mce=0.1,
    rel=0.01,
    res=0.06,
    bins=10,
    spiegelhalter=FINE,
    hosmer_lemeshow=FINE,
)
BAD = {"cal": 0.05, "ref": 0.15, "cal_p": 0.002}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {},
            "m is discriminating (AUC 0.800), and 1 000 cases show no evidence of miscalibration.",
        ),
        (
            {"model": "", "slope": 0.7},
            "The model is discriminating (AUC 0.800) and close to calibrated, but not exactly: its scores are too "
            "extreme (slope 0.700); recalibration could lower its Brier score by about 0.0020.",
        ),
        (
            {"auc": 0.55, "slope": 1.3},
            "m is not discriminating (AUC 0.550) and close to calibrated, but not exactly: its scores are too moderate "
            "(slope 1.300); recalibration could lower its Brier score by about 0.0020.",
        ),
        (
            {"cases": 20.0, "cal_large": -0.2},
            "m is discriminating (AUC 0.800); 20 cases are too few to tell whether it is "
            "calibrated (on average its scores are too high by 0.200).",
        ),
        (
            {"cal_p": math.nan, "cal_chance": math.nan, "auc": 0.5},
            "m is not discriminating (AUC 0.500); with these weights, calibration cannot be tested.",
        ),
        (
            {**BAD, "cal_large": 0.03, "slope": 0.5},
            "m is discriminating (AUC 0.800) but badly calibrated: recalibration alone could lower its Brier score "
            "from 0.200 to 0.158. On average its scores are too low by 0.030. Its scores are too extreme, or "
            "overconfident (slope 0.500, below 1).",
        ),
        (
            {**BAD, "auc": 0.5, "slope": 1.5, "spiegelhalter": CalibrationTest("x", 9.0, 1.0, 0.001)},
            "m is neither discriminating (AUC 0.500) nor calibrated: recalibration alone could lower its Brier score "
            "from 0.200 to 0.158, but not its ranking. Its scores are too moderate, or underconfident (slope "
            "1.500, above 1). The tests of calibration disagree: inspect the calibration curve.",
        ),
        (
            {"auc": math.nan},
            "m was evaluated on one class only, so its discrimination is unknown.",
        ),
    ],
)
def test_the_verdict(changed, words):
    assert replace(BASE, **changed).words == words


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({}, ["SS024"]),  # CAL is mostly chance
        ({"cal_chance": 0.001}, []),
        ({"impossible": 1.0, "logloss": math.inf, "cal": 0.0}, ["SS021"]),
        (BAD, ["SS022"]),
        ({"cal_chance": 0.001, "hosmer_lemeshow": CalibrationTest("x", 9.0, 1.0, 0.001)}, ["SS023"]),
    ],
)
def test_the_notes(changed, codes):
    assert [note.code for note in replace(BASE, **changed).notes] == codes


def test_weights_that_differ_leave_chance_unknown():
    # Their sums are whole numbers at every score, and still no counts of cases.
    t = ss.score_table([1, 0, 1, 0] * 20, [0.9, 0.4, 0.6, 0.7] * 20, weight=[0.5, 1.5] * 40)
    found = ss.calibration_summary(t, model="m")
    assert math.isnan(found.cal_chance)
    assert found.brier == pytest.approx(ss.brier(t))
    assert "with these weights, calibration cannot be tested" in found.words
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("weight", [1, 0.5, 100])
def test_cases_that_weigh_the_same_are_cases(weight):
    # A weight of 100 made 60 cases as telling as 6 000: Spiegelhalter's p was 3e-10 instead of 0.5.
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 60)
    truth = (rng.random(60) < p).astype(int)
    plain = ss.calibration_summary(ss.score_table(truth, p), model="m")
    heavy = ss.calibration_summary(ss.score_table(truth, p, weight=np.full(60, weight)), model="m")
    assert (heavy.words, heavy.cases) == (plain.words, 60)
    ours, theirs = heavy.rows()[0], plain.rows()[0]
    assert {key: value for key, value in ours.items() if key != "model"} == pytest.approx(
        {key: value for key, value in theirs.items() if key != "model"}, nan_ok=True
    )


def test_the_summaries_of_models_whose_scores_are_probabilities():
    crisp = ss.confusion([[3, 1], [1, 3]], classes=["0", "1"], positive="1")
    scores, raw = (ss.score_table([1, 0] * 4, [a, b] * 4) for a, b in ((0.9, 0.2), (9, 2)))
    assert list(calibration_summaries(models_from_tables({"s": scores, "raw": raw, "rule": crisp}))) == ["s"]
    three = ss.class_table(list("xyz"), {"x": [0.6, 0.2, 0.1], "y": [0.3, 0.5, 0.3], "z": [0.1, 0.3, 0.6]})
    found = class_calibration_summaries(models_from_tables({"net": three}))
    assert [one.model for one in found["net"].values()] == ["net[top]", "net[x]", "net[y]", "net[z]"]
    # One class against the rest: (0.4² + 0.2² + 0.1²) / 3.
    assert found["net"]["x"].brier == pytest.approx((0.4**2 + 0.2**2 + 0.1**2) / 3)


def test_cases_in_groups_are_not_held_against_chance_that_draws_them_one_by_one():
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(30), 20)
    rate = rng.beta(1, 1, 30)
    label = (rng.random(30) < rate).astype(int)[person]  # calibrated, but all labels of a person are the same
    data = {"y": label, "s": rate[person], "g": person}
    alone = ss.evaluate(data, truth="y", scores="s")
    known = ss.evaluate(data, truth="y", scores="s", group="g")
    assert "SS022" in {one.code for one in alone.notes}
    assert not {"SS022", "SS023"} & {one.code for one in known.notes}
    found = known.calibration("s")
    assert np.isnan([found.cal_p, found.cal_chance, found.spiegelhalter.p, found.hosmer_lemeshow.p]).all()
    assert "with grouped cases, calibration cannot be tested" in found.words


def test_words_follow_the_slope_and_every_test():
    """A slope below 1 or a test that rejects contradicts calibration, however small the calibration error is."""
    data = {"Spiegelhalter": {"spiegelhalter": replace(FINE, p=0.007)}, "slope": {"slope": 0.806, "slope_error": 0.06}}
    for said, changed in data.items():
        words = replace(BASE, **changed).words
        assert "no miscalibration" not in words
        assert said in words
