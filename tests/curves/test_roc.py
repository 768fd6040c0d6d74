"""The ROC curve."""

import numpy as np
import pytest
from hypothesis import given

from laws.strategies import samples, tied_scores
from scorespace.curves import hull, roc
from scorespace.errors import MeasureError
from scorespace.tables import score_table

STEPS = score_table([1, 1, 0, 0, 1, 0], [6, 5, 4, 3, 2, 1])


def test_points_start_at_the_origin_and_end_in_the_corner():
    curve = roc(STEPS)
    assert (curve.x[0], curve.y[0]) == (0, 0)
    assert (curve.x[-1], curve.y[-1]) == (1, 1)


def test_first_threshold_is_infinite():
    assert roc(STEPS).threshold.tolist() == [np.inf, 6, 5, 4, 3, 2, 1]


def test_a_constant_score_has_two_points():
    curve = roc(score_table([1, 0, 1], [0.5, 0.5, 0.5]))
    assert (curve.x.tolist(), curve.y.tolist()) == ([0, 1], [0, 1])


def test_a_tie_block_is_one_diagonal_segment():
    # Points inside a block depend on the order of rows (Orange).
    curve = roc(score_table([1, 0, 1, 0, 1, 0], [3, 2, 2, 2, 2, 1]))
    assert curve.x.tolist() == [0, 0, pytest.approx(2 / 3), 1]
    assert curve.y.tolist() == [0, pytest.approx(1 / 3), 1, 1]


def test_one_class_leaves_an_axis_undefined():
    assert np.isnan(roc(score_table([0, 0], [1, 2])).y).all()
    assert np.isnan(roc(score_table([1, 1], [1, 2])).x).all()


# --- simplified


def test_simplified_drops_points_on_straight_lines():
    curve = roc(STEPS).simplified()
    assert curve.threshold.tolist() == [np.inf, 5, 3, 2, 1]


def test_simplified_drops_points_on_a_slanted_line():
    # Equal slopes as fractions, unequal as floats: 1/3 up for 1/7 across, three times.
    truth, score = [], []
    for block in range(3):
        truth += [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
        score += [-block] * 10
    curve = roc(score_table(truth, score)).simplified()
    assert curve.threshold.tolist() == [np.inf, -2]


def test_simplified_looks_at_the_origin_too():
    # The first point was dropped before the origin was added (scikit-learn 31635): here it is a bend.
    curve = roc(score_table([1, 0, 1, 0], [4, 3, 2, 1])).simplified()
    assert (curve.x[1], curve.y[1]) == (0, 0.5)


@given(samples(both=True))
def test_simplified_has_the_same_area(sample):
    curve = roc(sample.table())
    assert curve.simplified().area() == pytest.approx(curve.area(), abs=1e-12)


@given(samples(score=tied_scores, both=True))
def test_simplified_keeps_every_bend(sample):
    curve, simple = roc(sample.table()), roc(sample.table()).simplified()
    inside = np.array([0.1, 0.25, 0.5, 0.77])
    assert simple.tpr_at(inside) == pytest.approx(curve.tpr_at(inside), abs=1e-12)


def test_simplified_twice_is_simplified():
    assert roc(STEPS).simplified().simplified() == roc(STEPS).simplified()


def test_a_thinned_curve_can_be_simplified():
    truth, score = np.arange(1000) % 2, np.arange(1000)
    roc(score_table(truth, score)).thinned(50).simplified()


# --- between the points


@pytest.mark.parametrize(("fpr", "tpr"), [(0, 2 / 3), (1 / 6, 2 / 3), (2 / 3, 1), (0.9, 1), (1, 1)])
def test_highest_tpr_at_an_fpr(fpr, tpr):
    assert roc(STEPS).tpr_at(fpr) == pytest.approx(tpr)


@pytest.mark.parametrize(("tpr", "fpr"), [(0, 0), (0.5, 0), (2 / 3, 0), (0.8, 2 / 3), (1, 2 / 3)])
def test_lowest_fpr_at_a_tpr(tpr, fpr):
    assert roc(STEPS).fpr_at(tpr) == pytest.approx(fpr)


def test_between_the_ends_of_a_tie_block_lies_a_straight_line():
    curve = roc(score_table([1, 0], [1, 1]))
    assert curve.tpr_at([0.2, 0.7]).tolist() == pytest.approx([0.2, 0.7])
    assert curve.fpr_at([0.2, 0.7]).tolist() == pytest.approx([0.2, 0.7])


# --- areas and hull


def test_partial_area_by_hand():
    # TPR is ⅔ up to FPR ⅔ and 1 beyond it.
    assert roc(STEPS).partial_area(fpr_low=0.5, fpr_high=0.75) == pytest.approx(2 / 3 * (2 / 3 - 0.5) + (0.75 - 2 / 3))


def test_partial_area_beside_a_range_of_tpr_by_hand():
    # TNR is 1 up to TPR ⅔ and ⅓ beyond it.
    assert roc(STEPS).partial_area(tpr_low=0.5, tpr_high=0.8) == pytest.approx((2 / 3 - 0.5) + (0.8 - 2 / 3) / 3)


def test_partial_area_outside_of_the_unit_square_is_refused():
    # An inverted check accepted max_fpr = 1.5 (torchmetrics).
    with pytest.raises(MeasureError):
        roc(STEPS).partial_area(fpr_high=1.5)


def test_hull_of_the_curve_is_the_hull_of_its_table():
    assert roc(STEPS).hull() == hull(STEPS)


def test_hull_of_a_thinned_curve_is_exact():
    truth, score = np.arange(1000) % 2, np.arange(1000) % 97
    table = score_table(truth, score)
    assert roc(table).thinned(20).hull() == hull(table)


@pytest.mark.parametrize(
    "part", [{"fpr_high": 0.3}, {"fpr_low": 0.1, "fpr_high": 0.5}, {"tpr_low": 0.7}, {"tpr_high": 0.4}]
)
def test_the_outline_of_a_part_holds_its_area(part):
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.4
    curve = roc(score_table(truth, np.round(rng.normal(size=200) + truth, 1), positive=True), **part)
    x, y = curve.outline().T
    by_tpr = any(name.startswith("tpr") for name in part)
    area = np.trapezoid(1 - x, y) if by_tpr else np.trapezoid(y, x)
    assert area == pytest.approx(curve.partial_area(**part))


@pytest.mark.parametrize("seed", range(40))
def test_the_outline_of_a_part_holds_its_area_where_the_curve_has_steps_at_its_ends(seed):
    rng = np.random.default_rng(seed)
    truth = np.append(rng.integers(0, 2, 7), [0, 1])
    table = score_table(truth, rng.permutation(9) if seed % 2 else rng.integers(0, 5, 9), positive=1)
    for axis, size in (("fpr", (truth == 0).sum()), ("tpr", (truth == 1).sum())):
        for low in range(size):
            for high in range(low + 1, size + 1):
                part = {f"{axis}_low": low / size, f"{axis}_high": high / size}
                curve = roc(table, **part)
                x, y = curve.outline().T
                area = np.trapezoid(1 - x, y) if axis == "tpr" else np.trapezoid(y, x)
                assert area == pytest.approx(curve.partial_area(**part), abs=1e-12), part


def test_a_legend_tells_the_part_that_is_shaded():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    # From FPR 0 to 0.25 TPR rises from 0.5 to 0.75: 0.15625; McClish: (1 + (0.15625 - 1/32) / (1/4 - 1/32)) / 2.
    assert roc(table, fpr_high=0.25).area_text == "0.156 (0.786 corrected)"
    assert roc(table).area_text == "0.875"


def test_in_coverage_space_chance_ends_at_all_cases():
    table = score_table([1, 0, 1, 0, 0], [0.9, 0.4, 0.4, 0.1, 0.2])
    assert roc(table, normalised=False).chance == ((0.0, 0.0), (3.0, 2.0))
    assert roc(table).chance == ()  # that of its kind
