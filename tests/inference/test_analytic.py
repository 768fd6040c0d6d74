"""Intervals in closed form."""

import math

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from helpers.resampled import TABLE, of
from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import estimate, estimates
from scorespace.inference.proportion import clopper_pearson, wilson
from scorespace.measures import parse
from scorespace.measures.clusters import silhouette_influence
from scorespace.measures.request import bind
from scorespace.tables import Counts, confusion, score_table
from scorespace.tables.clusters import contingency


def test_clopper_pearson_of_an_estimate():
    counts = TABLE.at(0.5)
    expected = clopper_pearson(float(counts.tp), float(counts.p), 0.9)
    found = of("tpr@0.5", method="clopper-pearson", level=0.9)
    assert (found.low, found.high) == expected


@pytest.mark.parametrize("method", ["delong", "delong-logit", "newcombe", "delong-newcombe"])
def test_gini_is_twice_the_area_less_one(method):
    area, gini = of("auc", method=method), of("gini", method=method)
    assert (gini.low, gini.high) == pytest.approx((2 * area.low - 1, 2 * area.high - 1))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["delong-logit", "bca", "studentised"])
def test_the_interval_covers_the_area(method):
    rng = np.random.default_rng(11)
    area = stats.norm.cdf(1.5 / math.sqrt(2))
    truth, covered = np.repeat([1, 0], [25, 40]), 0
    for seed in range(300):
        found = of("auc", score_table(truth, 1.5 * truth + rng.normal(size=65)), method=method, seed=seed)
        covered += found.low <= area <= found.high
    assert covered / 300 == pytest.approx(0.95, abs=0.035)


def test_f1_has_the_interval_of_a_jaccard_index():
    # F1 = 2J / (1 + J), and J is a share of all cases but the true negatives.
    outcomes = Counts(tp=12, fp=5, fn=3, tn=20)
    share = stats.binomtest(12, 20).proportion_ci(method="wilson")
    found = of("f1", outcomes)
    assert (found.low, found.high) == pytest.approx(tuple(2 * j / (1 + j) for j in (share.low, share.high)))


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_the_largest_of_equal_shares_is_held(classes):
    # Wilson's interval of the commonest class holds the truth in 0.94, 0.92 and 0.53 of such samples.
    names = [str(k) for k in range(classes)]
    drawn = np.random.default_rng(5).multinomial(100, np.full(classes, 1 / classes), 300)
    found = [estimate(parse("nir"), confusion(np.diag(one), classes=names)) for one in drawn]
    assert {one.method for one in found} == {"maximum-share"}
    assert np.mean([one.low <= 1 / classes <= one.high for one in found]) >= 0.93


CENTRES = np.array([[0, 0], [3, 0], [0, 4]])


def drawn(rng, size, alike=None):
    labels = rng.integers(0, 3, size)
    points = CENTRES[labels] + rng.normal(0, 1, (size, 2))
    return ss.cluster_table(np.where((labels == alike)[:, None], CENTRES[labels], points), labels)


@pytest.mark.parametrize("alike", [None, 1])
@pytest.mark.parametrize("focus", [None, 1])
def test_influence_is_the_slope_in_the_weight_of_a_point(focus, alike):
    table = drawn(np.random.default_rng(0), 40, alike)  # those of a cluster may all be in one place
    asked = parse("silhouette" if focus is None else f"silhouette[{focus}]")
    inner = table.inside(type(table), None if focus is None else str(focus))
    values, moves, _ = silhouette_influence(inner, np.arange(40))
    own = np.ones(40, dtype=bool) if focus is None else table.label == focus
    value = bind(asked, table).value
    found = (np.where(own, values - value, 0) + moves) / own.sum()
    step = 1e-6
    for point in range(40):
        weight = np.ones(40)
        weight[point] += step
        slope = (bind(asked, table.with_cells(weight)).value - value) / step
        assert found[point] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("name", ["silhouette", "davies_bouldin", "calinski_harabasz", "centroid_distance"])
def test_intervals_hold_the_true_value_often_enough(name):
    """Of 100 intervals of a level of 95 %, 13 or more fail with a chance of 0.001."""
    rng = np.random.default_rng(3)
    truth = np.mean([bind(parse(name), drawn(rng, 120)).value for _ in range(800)])
    found = [estimate(parse(name), drawn(rng, 120), replicates=300, seed=seed) for seed in range(100)]
    assert sum(not one.low <= truth <= one.high for one in found) < 14


def test_groups_of_related_points_widen_the_interval():
    rng = np.random.default_rng(4)
    labels, group = np.repeat([0, 1, 0, 1, 0, 1], 30), np.repeat(np.arange(6, dtype=np.int32), 30)
    shift = rng.normal(0, 0.8, (6, 2))
    points = 3 * labels[:, None] + shift[group] + rng.normal(0, 0.5, (180, 2))
    alone = estimate(parse("silhouette"), ss.cluster_table(points, labels))
    together = estimate(parse("silhouette"), ss.cluster_table(points, labels, group=group))
    assert together.method == "influence of groups"
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert (
        estimate(parse("davies_bouldin"), ss.cluster_table(points, labels, group=group)).method == "bootstrap of groups"
    )


def test_a_part_of_the_points_widens_it_by_their_sampling():
    rng = np.random.default_rng(5)
    table = drawn(rng, 11_000)
    part, whole = (estimate(parse(f"silhouette(points={points})"), table) for points in (300, 0))
    assert part.low < whole.value < part.high
    assert part.high - part.low > 2 * (whole.high - whole.low)


@pytest.mark.parametrize("name", ["border_distance", "dunn", "radius", "density"])
def test_the_outermost_points_have_no_interval(name):
    found = estimate(parse(name), drawn(np.random.default_rng(6), 60))
    assert found.method is None
    assert np.isnan(found.low)
    assert found.reason.startswith("no interval: the index depends on extreme points")


def test_the_mean_radius_has_one():
    found = estimate(parse("radius(how=mean)"), drawn(np.random.default_rng(7), 60))
    assert found.method == "bootstrap"
    assert found.low < found.value < found.high


@pytest.mark.parametrize("name", ["ari", "ami", "nmi", "purity"])
def test_intervals_beside_classes_hold_the_true_value_often_enough(name):
    """Entropies of few points are too small, so that plain percentiles of nmi hold it in 76 % of such samples."""
    rng = np.random.default_rng(8)

    def sample(size):
        classes = rng.integers(0, 3, size)
        return contingency(classes, np.where(rng.random(size) < 0.6, classes, rng.integers(0, 4, size)))

    truth = bind(parse(name), sample(200_000)).value
    found = [estimate(parse(name), sample(100), replicates=300, seed=seed) for seed in range(80)]
    assert sum(not one.low <= truth <= one.high for one in found) < 14


def _rate(positives, negatives, name, replicates=400):
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(1.6, 1, positives), rng.normal(size=negatives)])
    table = score_table(np.repeat([1, 0], [positives, negatives]), scores, positive=1)
    draws = BootstrapDraws({"": table}, replicates=replicates)
    (found,) = estimates({"": [parse(name)]}, draws)
    return found, draws


def test_a_rate_at_an_estimated_threshold_has_wilsons_interval_of_the_effective_cases():
    found, draws = _rate(60, 80, "sens@spec=0.9")
    variance = draws.of("", bind(parse("sens@spec=0.9"), draws.tables[""])).var()
    shrunk = (60 * found.value + 2) / 64
    counting = shrunk * (1 - shrunk) / 60
    assert variance > counting  # wider than Wilson's interval at the threshold
    effective, own = shrunk * (1 - shrunk) / variance, counting / variance
    df = 1 / (own**2 / 59 + (1 - own) ** 2 / (2 * 80 * 0.1))  # eight negatives above the threshold, twice
    t = stats.t.ppf(0.975, df)
    assert (found.low, found.high) == pytest.approx(wilson(found.value * effective, effective, quantile=t))
    assert found.method.startswith("wilson-eff")


def test_the_reverse_is_the_same_with_the_classes_swapped():
    found = _rate(60, 80, "spec@sens=0.9")[0]
    fpr = _rate(60, 80, "fpr_at(tpr=0.9)")[0]
    assert (fpr.low, fpr.high) == pytest.approx((1 - found.high, 1 - found.low))


def test_it_has_width_where_no_replicate_varies_and_says_when_the_other_class_is_too_small():
    perfect = score_table([1] * 20 + [0] * 20, [0.9] * 20 + [0.1] * 20)
    (found,) = estimates({"": [parse("sens@spec=0.9")]}, BootstrapDraws({"": perfect}))
    assert found.low == pytest.approx(wilson(20, 20, quantile=stats.t.ppf(0.975, 19))[0])
    assert "8 negatives are too few for a specificity of 0.9" in _rate(30, 8, "sens@spec=0.9")[0].reason
