"""What holds for the costs of any models on the same cases, compared with all thresholds one by one."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull
from sklearn.isotonic import IsotonicRegression

from laws.strategies import any_scores, samples, tied_scores
from scorespace.costs import Condition
from scorespace.curves import brier_curve, cost_curve, hull, optimal_curve
from scorespace.curves.cost import envelope
from scorespace.curves.hull import TRIVIAL
from scorespace.decisions import decide
from scorespace.tables import ConfusionTable, confusion, score_table

some = settings(max_examples=60)
costs = st.floats(0.1, 50)
shares = st.none() | st.floats(0.01, 0.99)
SLOPES = 10 ** np.random.default_rng(200).uniform(-2, 2, 200)
GRID = np.sort(np.random.default_rng(9).random(50))


@st.composite
def rivals(draw, least=1, most=4):
    """Models on the same weighted cases: scores with ties, scores without, or decisions."""
    cases = [(0, 1), (1, 1), *draw(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3)), max_size=10))]
    truth, weight = zip(*cases, strict=True)
    models = {}
    for name in "abcd"[: draw(st.integers(least, most))]:
        score = draw(st.sampled_from([tied_scores, any_scores, None]))
        column = draw(st.lists(st.integers(0, 1) if score is None else score, min_size=len(cases), max_size=len(cases)))
        models[name] = (
            confusion(truth, column, classes=[0, 1], positive=1, weight=weight)
            if score is None
            else score_table(truth, column, weight=weight)
        )
    return models


def points(table):
    """FPR and TPR of all that a model can decide; a crisp one decides in one way."""
    c = table.counts_of(table.positive)[None] if isinstance(table, ConfusionTable) else table.sweep
    return c.fp / c.n, c.tp / c.p


def relative_costs(table, slopes):
    """The least FNR + slope·FPR of a model, for each slope."""
    fpr, tpr = points(table)
    return (1 - tpr + np.multiply.outer(slopes, fpr)).min(axis=-1)


def cheapest(models, slopes):
    """The least relative cost of all models, thresholds and trivial rules, for each slope."""
    return np.min([*(relative_costs(table, slopes) for table in models.values()), np.ones_like(slopes), slopes], axis=0)


# --- the hull of many models


@given(rivals())
@some
def test_no_point_of_any_model_lies_above_the_hull(models):
    found = hull(models)
    for table in models.values():
        for x, y in zip(*points(table), strict=True):
            turn = np.diff(found.x) * (y - found.y[:-1]) - np.diff(found.y) * (x - found.x[:-1])
            assert (turn <= 1e-12).all()  # right of every edge


@given(rivals())
@some
def test_every_corner_is_reached_by_its_model(models):
    found = hull(models)
    assert (found.x[0], found.y[0], found.x[-1], found.y[-1]) == (0, 0, 1, 1)
    assert (found.model[0], found.model[-1]) == TRIVIAL
    for k in range(1, found.x.size - 1):
        corner = found.corner(k)
        table = models[corner.model]
        if isinstance(table, ConfusionTable):
            assert np.isnan(corner.threshold)
            c = table.counts_of(table.positive)
        else:
            c = table.at(corner.threshold)
        assert (corner.fpr, corner.tpr) == (c.fp / c.n, c.tp / c.p)


@given(rivals())
@some
def test_slopes_of_the_hull_fall_strictly(models):
    slopes = hull(models).slope
    assert (slopes[:-1] > slopes[1:]).all()


@given(rivals())
@some
def test_on_the_slope_of_an_edge_its_left_corner_is_best(models):
    found = hull(models)
    for k, slope in enumerate(found.slope):
        if 0 < slope < np.inf:
            best, left = found.best(slope), found.corner(k)
            assert (best.fpr, best.tpr) == (left.fpr, left.tpr)


@given(rivals())
@some
def test_area_of_the_hull_of_scipy(models):
    x, y = (np.concatenate(column) for column in zip(*map(points, models.values()), strict=True))
    corners = np.column_stack([[*x, 0, 1, 1], [*y, 0, 1, 0]])
    assert hull(models).area() == pytest.approx(ConvexHull(corners).volume, abs=1e-9)


@given(rivals())
@some
def test_regions_share_out_all_slopes(models):
    regions = hull(models).regions()
    assert (regions[0].slope_high, regions[-1].slope_low) == (np.inf, 0)
    assert [one.slope_low for one in regions[:-1]] == [one.slope_high for one in regions[1:]]
    assert all(one.slope_low < one.slope_high for one in regions)


@given(rivals(), st.floats(0, 1))
@some
def test_a_mixture_lies_on_the_hull(models, rate):
    found = hull(models)
    by_fpr, by_tpr = found.mixture(fpr=rate), found.mixture(tpr=rate)
    assert by_fpr.fpr == pytest.approx(rate, abs=1e-12)
    assert by_tpr.tpr == pytest.approx(rate, abs=1e-12)
    for one in (by_fpr, by_tpr):
        assert 0 <= one.share <= 1
        turn = np.diff(found.x) * (one.tpr - found.y[:-1]) - np.diff(found.y) * (one.fpr - found.x[:-1])
        assert np.abs(turn).min() == pytest.approx(0, abs=1e-12)  # on one of the edges
        assert turn.max() <= 1e-12


@given(samples(score=tied_scores, both=True))
@some
def test_probabilities_of_the_hull_are_the_isotonic_regression_of_scikit_learn(sample):
    found = hull(sample.table())
    edge = [int(np.argmax(found.threshold[1:] <= score)) for score in sample.score]
    theirs = IsotonicRegression().fit_transform(sample.score, sample.truth, sample_weight=sample.weight)
    assert_allclose(found.probability[edge], theirs, atol=1e-9)
    refined = np.average((theirs - sample.truth) ** 2, weights=sample.weight)
    assert optimal_curve(sample.table()).area() == pytest.approx(refined, abs=1e-9)


# --- cost curves


@given(rivals())
@some
def test_the_envelope_is_the_least_cost_of_all_thresholds(models):
    curve = envelope(hull(models))
    expected = GRID * cheapest(models, 1 / GRID - 1)  # x·(FNR + slope·FPR) = x·FNR + (1 − x)·FPR
    assert_allclose(np.interp(GRID, curve.x, curve.y), expected, atol=1e-12)


@given(rivals(least=2))
@some
def test_the_envelope_of_many_is_the_lowest_of_their_curves(models):
    curve = envelope(hull(models))
    each = [cost_curve(table) for table in models.values()]
    lowest = np.min([np.interp(GRID, one.x, one.y) for one in each], axis=0)
    assert_allclose(np.interp(GRID, curve.x, curve.y), lowest, atol=1e-12)


@given(samples(both=True))
@some
def test_the_optimal_brier_curve_is_the_cost_curve_rescaled(sample):
    # At the cost share c the loss is 2·(π₁(1 − c) + π₀c) times the normalised cost at x = π₁(1 − c)/(…).
    table = sample.table()
    pi1 = float(table.n_pos / table.total)
    total = pi1 * (1 - GRID) + (1 - pi1) * GRID
    best, normalised = optimal_curve(table), cost_curve(table)
    expected = 2 * total * np.interp(pi1 * (1 - GRID) / total, normalised.x, normalised.y)
    assert_allclose(np.interp(GRID, best.x, best.y), expected, atol=1e-12)
    assert best.area() <= brier_curve(table).area() + 1e-12


# --- decisions


@given(rivals(), costs, costs, st.floats(-5, 0), shares)
@some
def test_the_decision_is_the_cheapest_of_all(models, fp, fn, tp, prevalence):
    condition = Condition(fp=fp, fn=fn, tp=tp, prevalence=prevalence)
    found = decide(models, condition)
    of_sample = found.prevalence
    least = {}
    for name, table in models.items():
        least[name] = condition.cost(*points(table), of_sample).min()
    trivial = [float(condition.cost(rate, rate, of_sample)) for rate in (0, 1)]
    assert found.best.cost_per_case == pytest.approx(min(*least.values(), *trivial), abs=1e-9)
    assert {one.model: one.cost_per_case for one in found.choices} == pytest.approx(least, abs=1e-9)
    assert [one.cost_per_case for one in found.trivial] == pytest.approx(trivial, abs=1e-9)
    corner = found.hull.best(found.slope)
    assert condition.cost(corner.fpr, corner.tpr, of_sample) == pytest.approx(found.best.cost_per_case, abs=1e-9)


@given(rivals(), costs, costs)
@some
def test_the_best_corner_is_that_of_the_region(models, fp, fn):
    found = decide(models, Condition(fp=fp, fn=fn))
    region = next(one for one in found.regions if one.slope_low < found.slope <= one.slope_high)
    gaps = [abs(found.slope - edge) for edge in (region.slope_low, region.slope_high)]
    assume(min(gaps) > 1e-9 * found.slope)  # on an edge two corners cost the same
    corner = found.hull.best(found.slope)
    assert (corner.model, corner.threshold) == pytest.approx((region.model, region.threshold), nan_ok=True)


@given(rivals(least=2))
@some
def test_a_dominated_model_is_never_the_only_cheapest(models):
    dominated = hull(models).dominated(models)
    others = {name: table for name, table in models.items() if name not in dominated}
    rest = cheapest(others, SLOPES)
    for name in dominated:
        assert (relative_costs(models[name], SLOPES) >= rest - 1e-12).all()


@given(rivals(least=2))
@some
def test_every_other_model_is_cheapest_in_its_region(models):
    found = hull(models)
    useful = set(models) - set(found.dominated(models))
    assert useful == {one.model for one in found.regions()} - set(TRIVIAL)
    for one in found.regions():
        slope = np.array([(one.slope_low + min(one.slope_high, one.slope_low + 2)) / 2])
        least = cheapest(models, slope)
        if one.model in TRIVIAL:
            assert least == pytest.approx(slope if one.model == TRIVIAL[1] else np.ones(1))
        else:
            assert relative_costs(models[one.model], slope) == pytest.approx(least, abs=1e-12)
