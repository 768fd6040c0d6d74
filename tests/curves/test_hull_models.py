"""The hull of several models: corners, regions, dominated models, and points realised by chance."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorespace.curves import hull
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.tables import confusion, score_table


def crisp(tp, fp, fn, tn):
    return confusion([[tp, fn], [fp, tn]], classes=["broken", "fine"], positive="broken")


VALVES = {"c1": crisp(300, 500, 200, 99_000), "c2": crisp(0, 0, 500, 99_500), "c3": crisp(400, 5400, 100, 94_100)}
TRUTH = [1, 1, 1, 1, 0, 0, 0, 0]
EARLY = score_table(TRUTH, [9, 8, 3, 2, 7, 6, 5, 1])  # (0, ½) then (¾, 1): sure of two positives
LATE = score_table(TRUTH, [8, 7, 6, 5, 9, 3, 2, 1])  # (¼, 1): one negative first, then all positives


# --- corners and regions


def test_corners_of_crisp_classifiers():
    found = hull(VALVES)
    assert found.model == ("always negative", "c1", "c3", "always positive")
    assert_allclose(found.x, [0, 500 / 99_500, 5400 / 99_500, 1])
    assert_allclose(found.y, [0, 0.6, 0.8, 1])


def test_regions_of_crisp_classifiers():
    # The slopes of the edges, by hand from the counts.
    slopes = [Fraction(597, 5), Fraction(199, 49), Fraction(199, 941)]
    found = hull(VALVES).regions()
    assert [region.model for region in found] == ["always negative", "c1", "c3", "always positive"]
    assert_allclose([region.slope_low for region in found], [*map(float, slopes), 0])
    assert_allclose([region.slope_high for region in found], [np.inf, *map(float, slopes)])


def test_corners_of_two_curves():
    found = hull({"early": EARLY, "late": LATE})
    assert (found.x.tolist(), found.y.tolist()) == ([0, 0, 0.25, 1], [0, 0.5, 1, 1])
    assert found.model == ("always negative", "early", "late", "always positive")
    assert found.threshold.tolist() == [np.inf, 8, 5, 1]


def test_probabilities_of_a_hull_of_many_follow_the_slopes():
    # Half of the cases are positive, so the odds on an edge are its slope: ∞, 2, 0.
    assert_allclose(hull({"early": EARLY, "late": LATE}).probability, [1, 2 / 3, 0])


def test_no_trivial_rule_is_best_beside_a_vertical_and_a_flat_edge():
    found = hull({"early": EARLY, "late": LATE}).regions()
    assert [(region.model, region.slope_low, region.slope_high) for region in found] == [
        ("early", 2, np.inf),
        ("late", 0, 2),
    ]


def test_a_region_as_a_row():
    assert hull(VALVES).regions()[0].row() == {
        "model": "always negative",
        "slope_low": pytest.approx(119.4),
        "slope_high": None,
        "threshold": None,
    }


@pytest.mark.parametrize(
    ("slope", "model"), [(200, "always negative"), (9.95, "c1"), (1, "c3"), (0.1, "always positive")]
)
def test_best_corner(slope, model):
    assert hull(VALVES).best(slope).model == model


def test_the_left_corner_is_best_when_an_edge_has_the_slope():
    assert hull({"early": EARLY, "late": LATE}).best(2).model == "early"


def test_one_model_alone_is_named_too():
    assert hull({"late": LATE}).model == ("always negative", "late", "always positive")


def test_of_equal_corners_the_first_model_has_them():
    assert "b" not in hull({"a": EARLY, "b": EARLY, "c": LATE}).model
    assert "a" not in hull({"b": EARLY, "a": EARLY, "c": LATE}).model


def test_corners_on_a_line_are_dropped():
    # (0.2, 0.6), (0.4, 0.7) and (0.6, 0.8) lie on one line of slope ½ that rounding bends.
    models = {name: crisp(tp, fp, 10 - tp, 10 - fp) for name, tp, fp in [("a", 6, 2), ("b", 7, 4), ("c", 8, 6)]}
    assert hull(models).model == ("always negative", "a", "always positive")


def test_a_hull_needs_a_model():
    with pytest.raises(DataError, match=r"^a hull needs at least one model.\n  hint: name a model with scores$"):
        hull({})


# --- dominated models


def test_a_classifier_that_never_fires_is_dominated():
    # The hull is highest above the diagonal at c3: 0.8 − 5400/99500.
    assert hull(VALVES).dominated(VALVES) == {
        "c2": "everywhere on or below the hull of 'c1', 'c3', by up to 0.746 of TPR"
    }


def test_how_far_a_dominated_model_lies_below():
    # Both hulls rise vertically and meet at (¾, 1): from (0, ½) and from (0, ¼).
    models = {"early": EARLY, "worse": score_table(TRUTH, [9, 4, 3, 2, 8, 7, 6, 1])}
    reason = "everywhere on or below the hull of 'early', by up to 0.250 of TPR"
    assert hull(models).dominated(models) == {"worse": reason}


def test_a_copy_is_dominated_by_nothing():
    models = {"a": EARLY, "b": EARLY}
    assert hull(models).dominated(models) == {"b": "everywhere on or below the hull of 'a'"}


def test_a_model_below_the_diagonal_is_dominated_by_no_model():
    models = {"inverted": score_table([0, 0, 1, 1], [4, 3, 2, 1])}
    assert hull(models).dominated(models) == {"inverted": "everywhere on or below the hull of the trivial rules"}


# --- mixtures


@pytest.mark.parametrize(
    ("point", "fpr", "tpr"),
    [
        ({"fpr": 0}, 0, 0.5),  # the higher end of the vertical edge
        ({"fpr": 1}, 1, 1),
        ({"tpr": 0}, 0, 0),
        ({"tpr": 1}, 0.25, 1),  # the left end of the flat edge
        ({"tpr": 0.25}, 0, 0.25),
        ({"tpr": 0.5}, 0, 0.5),
        ({"fpr": 0.25}, 0.25, 1),
        ({"fpr": 0.125}, 0.125, 0.75),
        ({"tpr": 0.75}, 0.125, 0.75),
        ({"fpr": 0.5}, 0.5, 1),
    ],
)
def test_a_mixture_reaches_the_hull(point, fpr, tpr):
    found = hull({"early": EARLY, "late": LATE}).mixture(**point)
    assert (found.fpr, found.tpr) == pytest.approx((fpr, tpr))
    assert 0 <= found.share <= 1


def test_mixture_of_the_valves():
    # Half way between the false positive rates of c1 and c3.
    found = hull(VALVES).mixture(fpr=2950 / 99_500)
    assert (found.first.model, found.second.model) == ("c1", "c3")
    assert found.share == pytest.approx(0.5)
    assert found.tpr == pytest.approx(0.7)


def test_randomised_decisions_have_the_rates_of_the_mixture():
    rng = np.random.default_rng(20_000)
    truth = rng.random(20_000) < 0.4
    first_score, second_score = rng.normal(truth, 0.8), rng.normal(truth * 1.5, 1.2)
    models = {"a": score_table(truth, first_score), "b": score_table(truth, second_score)}
    found = hull(models).mixture(fpr=0.2)
    scores = {"a": first_score, "b": second_score}
    decided = [scores[one.model] >= one.threshold for one in (found.first, found.second)]
    mixed = np.where(rng.random(truth.size) < found.share, *decided)
    for cases, rate in ((truth, found.tpr), (~truth, 0.2)):
        assert abs(mixed[cases].mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / cases.sum())


@pytest.mark.parametrize("point", [{}, {"fpr": 0.1, "tpr": 0.5}])
def test_a_mixture_is_asked_for_by_one_rate(point):
    with pytest.raises(ScoreSpaceError) as caught:
        hull(VALVES).mixture(**point)
    assert str(caught.value) == "specify the point of the hull by fpr or by tpr.\n  hint: mixture(fpr=0.1)"


@pytest.mark.parametrize("rate", [-0.1, 1.5, float("nan")])
def test_a_mixture_needs_a_rate(rate):
    with pytest.raises(ScoreSpaceError) as caught:
        hull(VALVES).mixture(tpr=rate)
    assert str(caught.value) == f"{rate} is not a rate.\n  hint: between 0 and 1"
