"""Bands around curves: the same interpolation as the curves, defined ends, and coverage of the true curve."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from scorespace.curves import pr, roc
from scorespace.errors import ScoreSpaceError
from scorespace.inference.bands import _roc_error, pr_band, precision_at, roc_band, tpr_at
from scorespace.inference.estimate import UNCOUNTED
from scorespace.inference.subsampling import SingleSample
from scorespace.tables import ScoreTable, score_table

RNG = np.random.default_rng(3)
TRUTH = np.repeat([1, 0], [20, 30])
TABLE = score_table(TRUTH, np.round(TRUTH + RNG.normal(size=50), 1))
PERFECT = score_table([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
CONSTANT = score_table([0, 0, 1, 1, 1], [2] * 5)
ONE_POSITIVE = score_table([1, 0, 0, 0, 0], [3, 1, 2, 4, 5])
BANDS = pytest.mark.parametrize("band", [roc_band, pr_band])
SCOPES = pytest.mark.parametrize("simultaneous", [False, True])

scores = st.lists(st.integers(0, 9), min_size=1, max_size=20)
samples = st.builds(lambda pos, neg: [(1, k) for k in pos] + [(0, k) for k in neg], scores, scores)
rates = st.lists(st.fractions(0, 1, max_denominator=40).map(float), min_size=1, max_size=9)


def again(table, rng, count):
    """BootstrapDraws of a table, drawn within classes."""
    return SingleSample({"": table}, False).drawer(True)(rng, count)[""]


def each(drawn: ScoreTable):
    return [replace(drawn, counts=counts) for counts in drawn.counts]


# --- replicates are interpolated as curves are


@given(samples, rates, st.integers(0, 9))
def test_tpr_of_replicates_is_that_of_their_curves(cases, at, seed):
    table = score_table([truth for truth, _ in cases], [score for _, score in cases])
    drawn = again(table, np.random.default_rng(seed), 5)
    expected = np.array([roc(one).tpr_at(at) for one in each(drawn)])
    assert (tpr_at(drawn.sweep, np.array(at)) == expected).all()


def test_tpr_of_the_grid_is_that_of_the_curve():
    grid = np.linspace(0, 1, 101)
    assert (roc_band(TABLE, replicates=2).y == roc(TABLE).tpr_at(grid)).all()


@given(samples, st.integers(0, 9))
def test_precision_is_the_highest_of_the_curve_at_that_recall(cases, seed):
    table = score_table([truth for truth, _ in cases], [score for _, score in cases])
    for one in each(again(table, np.random.default_rng(seed), 3)):
        curve = pr(one).interpolated(0.013)
        recalls = np.unique(curve.x)
        highest = [curve.y[curve.x == recall].max() for recall in recalls[1:]]
        assert precision_at(one.sweep, recalls) == pytest.approx([curve.y[0], *highest])


@given(samples, rates, st.integers(0, 9))
def test_precision_of_replicates_is_that_of_each(cases, at, seed):
    table = score_table([truth for truth, _ in cases], [score for _, score in cases])
    drawn = again(table, np.random.default_rng(seed), 5)
    expected = np.array([precision_at(one.sweep, np.array(at)) for one in each(drawn)])
    assert (precision_at(drawn.sweep, np.array(at)) == expected).all()


# --- shape


@BANDS
@SCOPES
def test_a_band_holds_the_curve_and_stays_in_the_square(band, simultaneous):
    found = band(TABLE, simultaneous=simultaneous, replicates=400)
    assert ((found.low >= 0) & (found.low <= found.high) & (found.high <= 1)).all()
    inner = slice(5, -5)  # near the ends replicates lean to one side
    assert ((found.low <= found.y) & (found.y <= found.high))[inner].all()


@SCOPES
def test_the_ends_of_a_roc_band(simultaneous):
    found = roc_band(TABLE, simultaneous=simultaneous, replicates=200)
    assert found.low[0] == 0
    assert found.high[0] >= found.y[0]
    assert (found.low[-1], found.high[-1]) == (1, 1)


@SCOPES
def test_a_roc_band_rises(simultaneous):
    found = roc_band(TABLE, simultaneous=simultaneous, replicates=200)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) >= 0).all()


@BANDS
@SCOPES
def test_a_higher_level_is_wider(band, simultaneous):
    wide, narrow = (band(TABLE, simultaneous=simultaneous, replicates=300, level=level) for level in (0.95, 0.6))
    assert (wide.low <= narrow.low + 1e-12).all()
    assert (wide.high >= narrow.high - 1e-12).all()


@BANDS
def test_a_band_for_the_whole_curve_is_wider(band):
    point, whole = band(TABLE, replicates=400), band(TABLE, simultaneous=True, replicates=400)
    assert (whole.high - whole.low).mean() > (point.high - point.low).mean()


def test_a_pointwise_band_is_the_quantiles_of_the_curves():
    stream = np.random.SeedSequence([4, 1]).spawn(1)[0]
    drawn = again(TABLE, np.random.Generator(np.random.SFC64(stream)), 100)
    values = [roc(one).tpr_at([0.2, 0.5]) for one in each(drawn)]
    found = roc_band(TABLE, grid=[0.2, 0.5], replicates=100, seed=4)
    assert np.stack([found.low, found.high]) == pytest.approx(np.quantile(values, [0.025, 0.975], axis=0))


@BANDS
def test_the_seed_decides(band):
    assert band(TABLE, seed=1, replicates=50) == band(TABLE, seed=1, replicates=50)
    assert band(TABLE, seed=1, replicates=50) != band(TABLE, seed=2, replicates=50)


@BANDS
@SCOPES
def test_many_rows_are_condensed_and_centred(band, simultaneous):
    truth = np.arange(24_000) % 2
    table = score_table(truth, truth + np.random.default_rng(0).normal(size=24_000))
    found = band(table, simultaneous=simultaneous, replicates=100, grid=np.linspace(0.1, 0.9, 9))
    assert found.method.startswith("bootstrap, condensed")
    assert ((found.low < found.y) & (found.y < found.high)).all()
    assert (found.high - found.low).max() < 0.06


# --- degenerate data


@BANDS
@SCOPES
def test_one_class_has_no_band(band, simultaneous):
    found = band(score_table([0, 0], [1, 2]), simultaneous=simultaneous)
    assert found.method is None
    assert found.reason.startswith("undefined: ")
    assert np.isnan(found.low).all()
    assert repr(found).endswith(found.reason)


@BANDS
def test_fractional_weights_have_no_band(band):
    assert band(score_table([0, 1, 1], [1, 2, 3], weight=[0.5, 1, 1], copies=True)).reason == UNCOUNTED


def test_a_pr_band_reaches_down_to_the_prevalence_at_full_recall():
    assert pr_band(TABLE, replicates=100).low[-1] <= 0.4
    assert pr_band(TABLE, replicates=100, simultaneous=True).low[-1] <= 0.4


def test_only_positives_have_precision_one():
    found = pr_band(score_table([1, 1], [1, 2]), replicates=20)
    assert (found.low == 1).all()


def test_perfect_separation_has_no_width_at_a_point_but_a_width_for_the_whole():
    point, whole = (roc_band(PERFECT, simultaneous=s, replicates=100) for s in (False, True))
    assert (point.low[1:] == 1).all()
    assert (whole.high == 1).all()
    assert whole.low[50] < 0.9


@BANDS
@SCOPES
@pytest.mark.parametrize("table", [PERFECT, CONSTANT, ONE_POSITIVE])
def test_degenerate_tables_have_a_band(band, simultaneous, table):
    found = band(table, simultaneous=simultaneous, replicates=60)
    assert np.isfinite([found.low, found.high]).all()
    assert found.reason is None


def test_a_constant_score_has_the_diagonal():
    found = roc_band(CONSTANT, replicates=50)
    assert found.low == pytest.approx(found.x)
    assert found.high == pytest.approx(found.x)


@pytest.mark.parametrize("grid", [[], [0.5, 0.5], [0.6, 0.1], [-0.1], [1.1], [[0.1, 0.2]], [np.nan]])
@BANDS
def test_a_grid_must_rise_within_zero_and_one(band, grid):
    with pytest.raises(ScoreSpaceError, match="hold increasing rates"):
        band(TABLE, grid=grid)


@BANDS
def test_level_must_be_a_probability(band):
    with pytest.raises(ScoreSpaceError, match="confidence level"):
        band(TABLE, level=95)


# --- results


def test_a_band_is_rows_and_a_sentence():
    found = roc_band(TABLE, grid=[0.1, 0.5], replicates=50, simultaneous=True)
    assert [set(row) for row in found.rows()] == [{"x", "y", "low", "high"}] * 2
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (content["schema"], content["simultaneous"], content["kind"]) == (1, True, "roc")
    assert repr(found).startswith("roc band: 95 % simultaneous, 2 points, maximum width 0.")
    assert repr(found).endswith("bootstrap, largest studentised deviation")


def test_an_undefined_band_is_null_in_json():
    content = json.loads(json.dumps(roc_band(score_table([1, 1], [1, 2]), grid=[0.5]).to_dict(), allow_nan=False))
    assert content["rows"] == [{"x": 0.5, "y": None, "low": None, "high": None}]


# --- coverage


def covered(gap, n_pos, n_neg, band, simultaneous, times=200):
    """Where each of many bands holds the true curve of two normal distributions."""
    rng = np.random.default_rng(9)
    grid = np.linspace(0, 1, 101) if simultaneous else np.linspace(0.1, 0.7, 13)
    curve = ndtr(gap + ndtri(grid))
    if band is pr_band:
        hits = n_pos * grid[1:]
        curve = np.append(1, hits / (hits + n_neg * ndtr(ndtri(grid[1:]) - gap)))
    truth, inside = np.repeat([1, 0], [n_pos, n_neg]), []
    for seed in range(times):
        table = score_table(truth, gap * truth + rng.normal(size=truth.size))
        found = band(table, simultaneous=simultaneous, replicates=400, seed=seed, grid=grid)
        inside.append((found.low - 1e-12 <= curve) & (curve <= found.high + 1e-12))
    return np.array(inside)


@pytest.mark.slow
@BANDS
@pytest.mark.parametrize(("gap", "n_pos", "n_neg"), [(1, 60, 60), (0.5, 40, 120), (2, 80, 80)])
def test_the_whole_curve_is_covered(band, gap, n_pos, n_neg):
    inside = covered(gap, n_pos, n_neg, band, simultaneous=True)
    assert inside.all(axis=1).mean() == pytest.approx(0.96, abs=0.05)


@pytest.mark.slow
def test_each_point_is_covered():
    inside = covered(1, 80, 80, roc_band, simultaneous=False)
    assert inside.mean() == pytest.approx(0.95, abs=0.03)


def test_the_error_of_a_roc_curve_has_its_sideways_part():
    # With ten thousand positives and forty negatives, all that moves the curve is where the negatives lie.
    rng = np.random.default_rng(9)

    def sample():
        return score_table(np.repeat([1, 0], [10_000, 40]), np.r_[rng.normal(1, 1, 10_000), rng.normal(0, 1, 40)])

    at = np.array([0.1, 0.2, 0.4])
    curves = np.array([tpr_at(sample().sweep, at) for _ in range(300)])
    table = sample()
    error = _roc_error(table, at, tpr_at(table.sweep, at))
    counting = np.sqrt(curves.mean(axis=0) * (1 - curves.mean(axis=0)) / 10_000)
    assert (curves.std(axis=0) > 5 * counting).all()
    assert (error > 0.5 * curves.std(axis=0)).all()
    assert (error < 2.5 * curves.std(axis=0)).all()
