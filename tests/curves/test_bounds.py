"""The true curve lies inside what is certain of it, whatever the order of the cases inside the bins."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from laws.strategies import Sample, samples
from scorespace.curves import CURVES, bounded_area, hull, roc
from scorespace.curves.calibration import equal_count_bins
from scorespace.curves.curve import certified_bounds
from scorespace.curves.rejection import threshold_margins
from scorespace.measures import parse
from scorespace.measures.bounds import certified
from scorespace.tables import score_table

BITS = (52, 51, 50, 48, 45)
AT_THRESHOLDS = ("roc", "gain", "lift", "pr", "net_benefit", "snb", "avoided", "threshold", "threshold(measure=ppv)")
OVER_X = ("cost", "hull")


def value_of(text: str, table, at: float) -> float:
    """What the curve's y is at a threshold, by its definition, from the cases themselves."""
    c, share = table.at(at), float(table.n_pos / table.total)
    benefit = (c.tp - c.fp * at / (1 - at)) / table.total if at < 1 else -math.inf
    own = {
        "roc": lambda: c.tp / c.p,
        "gain": lambda: c.tp / c.p,
        "lift": lambda: c.tp / c.pp / share,
        "pr": lambda: c.tp / c.pp,
        "net_benefit": lambda: benefit,
        "snb": lambda: benefit / share,
        "avoided": lambda: (c.tn - c.fn * (1 - at) / at) / table.total if at > 0 else -math.inf,
        "threshold": lambda: 2 * c.tp / (2 * c.tp + c.fp + c.fn),
        "threshold(measure=ppv)": lambda: c.tp / c.pp,
    }
    return float(own[text]())


@pytest.mark.parametrize("text", AT_THRESHOLDS)
@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@settings(max_examples=25)
def test_points_at_every_threshold_lie_inside(text, sample, bits):
    table, call = sample.table(), CURVES.parse(text)
    coarse = table.rounded(bits)
    found = call.noun(coarse, **call.options)
    lows = coarse.score if not call.noun.probability else coarse.score[_inside(text, coarse.sized().score)]
    rows = found.certified_low[-lows.size :], found.certified_high[-lows.size :]
    for at in table.score:
        bin_ = int(np.flatnonzero(coarse.bins.low <= at)[0])
        place = np.flatnonzero(lows == coarse.bins.low[bin_])
        if not place.size:
            continue
        low, high = (float(end[place[0]]) for end in rows)
        value = value_of(text, table, float(at))
        assert math.isnan(low) or low - 1e-12 <= value <= high + 1e-12


def _inside(text, score):
    return (score < 1) & ((score > 0) if text == "avoided" else True)


@pytest.mark.parametrize("text", OVER_X)
@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@settings(max_examples=25)
def test_the_best_of_all_thresholds_lies_inside(text, sample, bits):
    lies_inside(text, sample.table(), bits)


@pytest.mark.parametrize("text", OVER_X)
@pytest.mark.parametrize("truth", [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0]])
def test_the_best_inside_bins_lies_inside(text, truth):
    table = score_table(truth, [0.8002, 0.8001, 0.4002, 0.4001, 0.1])
    assert table.rounded(45).score.size == 3
    lies_inside(text, table, 45)


def lies_inside(text, table, bits):
    kind = CURVES.find(text)
    found, true = kind(table.rounded(bits)), kind(table)
    at = np.interp(found.x, true.x, true.y) if text == "cost" else roc_of(true).tpr_at(found.x)
    assert (found.certified_low <= at + 1e-12).all()
    assert (at <= found.certified_high + 1e-12).all()


def roc_of(found):
    """The hull as a rising curve, to be read at any FPR."""
    from scorespace.curves import RocCurve

    table = score_table([1, 0], [0.9, 0.1])
    return RocCurve("roc", found.x, found.y, found.threshold, "x", "y", table)


@pytest.mark.parametrize("name", list(bounded_area.functions))
@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@settings(max_examples=25)
def test_the_true_area_lies_inside(name, sample, bits):
    kind, table = CURVES.find(name), sample.table()
    low, high = bounded_area.of(kind)(table.rounded(bits))
    assert low - 1e-12 <= kind(table).area() <= high + 1e-12


def test_the_area_is_certain_to_as_much_as_the_measure():
    rng = np.random.default_rng(1)
    table = score_table(rng.integers(0, 2, 300), rng.random(300)).rounded(48)
    assert bounded_area.of(roc)(table) == pytest.approx(certified(parse("auc"), table), abs=1e-12)
    assert bounded_area.of(hull)(table) == pytest.approx(certified(parse("auch"), table), abs=1e-12)


@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@settings(max_examples=25)
def test_a_brier_curve_lies_inside(sample, bits):
    table = sample.table()
    coarse = table.rounded(bits)
    found = CURVES.find("brier")(coarse)
    for at in table.score:
        bin_ = int(np.flatnonzero(coarse.bins.low <= at)[0])
        c = table.at(float(at))
        value = 2 * ((1 - at) * c.fn + at * c.fp) / table.total
        place = found.x.size - 2 - 2 * bin_
        assert found.certified_low[place] - 1e-12 <= value <= found.certified_high[place] + 1e-12


@pytest.mark.parametrize("text", ["smooth", "smooth(midpoint=median, recentre=true)", "smooth(normalised=false)"])
@given(sample=samples(both=True), bits=st.sampled_from(BITS))
@example(sample=Sample(truth=(0, 1), score=(0.0, 1.5e-229), weight=(0.25, 0.25)), bits=52)
@settings(max_examples=40)
def test_a_smooth_curve_lies_inside(text, sample, bits):
    table, call = sample.table(), CURVES.parse(text)
    coarse = table.rounded(bits)
    found, true = call.noun(coarse, **call.options), call.noun(table, **call.options)
    if np.isnan(found.certified_low).any():  # the midpoint is 0 or 1
        return
    assert np.all((found.y >= found.certified_low - 1e-12) & (found.y <= found.certified_high + 1e-12))
    for place, at in enumerate(table.score):
        bin_ = int(np.flatnonzero(coarse.bins.low <= at)[0])
        low, high = found.certified_low[bin_ + 1], found.certified_high[bin_ + 1]
        assert math.isnan(true.y[place + 1]) or low - 1e-12 <= true.y[place + 1] <= high + 1e-12


@pytest.mark.parametrize("by", ["width", "count"])
@given(sample=samples(both=True), bits=st.sampled_from(BITS), bins=st.integers(1, 6))
@settings(max_examples=60)
def test_rates_of_groups_lie_inside(by, sample, bits, bins):
    """Groups by brute force: each case by its own score, or by the middle of the cases with that score."""
    table = sample.table()
    coarse = table.rounded(bits).sized()
    found = CURVES.find("calibration")(coarse, by=by, bins=bins)
    assert np.all((found.y >= found.certified_low - 1e-12) & (found.y <= found.certified_high + 1e-12))
    cases = table.pos + table.neg
    if by == "width":
        group = np.minimum([int(np.sum(np.arange(1, bins + 1) / bins <= s)) for s in table.score], bins - 1)
        own = np.unique(np.minimum([int(np.sum(np.arange(1, bins + 1) / bins <= s)) for s in coarse.score], bins - 1))
    else:
        group = equal_count_bins(cases, bins)
        own = np.unique(equal_count_bins(coarse.pos + coarse.neg, bins))[::-1]
    for k, low, high in zip(own, found.certified_low, found.certified_high, strict=True):
        among = group == k
        if among.any():
            rate = table.pos[among].sum() / cases[among].sum()
            assert low - 1e-12 <= rate <= high + 1e-12


@given(sample=samples(both=True), bits=st.sampled_from(BITS), at=st.sampled_from([0.5, 0.3, 0.37]))
@settings(max_examples=80)
def test_a_rejection_curve_lies_inside(sample, bits, at):
    table, kind = sample.table(), CURVES.find("rejection")
    coarse = table.rounded(bits)
    found, true = kind(coarse, at=at), kind(table, at=at)
    assert np.all((found.y >= found.certified_low - 1e-12) & (found.y <= found.certified_high + 1e-12))
    own = threshold_margins(coarse.score, at)
    for score, margin in zip(table.score, threshold_margins(table.score, at), strict=True):
        bin_ = int(np.flatnonzero(coarse.bins.low <= score)[0])
        place = int(np.searchsorted(found.threshold, own[bin_]))
        y = true.y[int(np.searchsorted(true.threshold, margin))]
        assert found.certified_low[place] - 1e-12 <= y <= found.certified_high[place] + 1e-12
    low, high = bounded_area.of(kind)(coarse, at=at)
    assert low - 1e-9 <= true.area() <= high + 1e-9


def test_a_curve_without_bounds_says_so():
    table = score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51)
    assert np.isnan(CURVES.find("calibration")(table).certified_low).all()  # isotonic
    assert np.isnan(CURVES.find("threshold")(table, measure="dor").certified_low).all() == (
        not parse("dor").measure.monotone
    )


def test_an_exact_curve_has_no_certificate():
    assert roc(score_table([1, 0], [0.9, 0.1])).certified == {}
    assert set(roc(score_table([1, 0], [0.9, 0.1])).rows()[0]) == {"x", "y", "threshold"}


def test_rows_tell_what_is_certain():
    table = score_table([1, 0, 1, 0], [0.9, 0.41, 0.4, 0.1]).rounded(51)
    rows = roc(table).rows()
    assert [(row["y"], row["certified_low"], row["certified_high"]) for row in rows] == [
        (0.0, 0.0, 0.0),
        (0.5, 0.5, 0.5),
        (1.0, 0.5, 1.0),
        (1.0, 1.0, 1.0),
    ]


def test_what_is_declared_is_known():
    assert {"roc", "pr", "hull", "cost", "gain", "lift", "brier", "net_benefit", "threshold"} <= set(
        certified_bounds.functions
    )
