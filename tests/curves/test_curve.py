"""What all curves share."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorespace.curves import Curve, calibration, pr, rejection, roc, smooth
from scorespace.curves.curve import CurveExtension
from scorespace.curves.curve import curve as declared
from scorespace.errors import CurveError
from scorespace.tables import Counts, ScoreTable, class_table, confusion, score_table

INF = float("inf")


def curve(x, y):
    return Curve("roc", np.asarray(x, float), np.asarray(y, float), -np.arange(len(x), dtype=float), "x", "y")


@st.composite
def rising(draw, least=2):
    """Steps of very different length, in both directions."""
    steps = draw(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=least, max_size=60))
    x, y = np.cumsum([(0, 0), *steps], axis=0).T
    return curve(x / max(1, x[-1]), y / max(1, y[-1]))


def test_area_is_of_trapezoids():
    assert curve([0, 0.5, 1], [0, 1, 1]).area() == 0.75


def test_area_of_an_undefined_curve_is_undefined():
    assert math.isnan(curve([0, 1], [np.nan, np.nan]).area())


def test_rows_hold_the_points():
    assert curve([0, 1], [0.5, 1]).rows() == [
        {"x": 0.0, "y": 0.5, "threshold": 0.0},
        {"x": 1.0, "y": 1.0, "threshold": -1.0},
    ]


def test_the_infinite_threshold_survives_json():
    # JSON has no Infinity (scikit-learn 9790, 26193; ROCR 16): it is null.
    text = json.dumps(roc(score_table([1, 0], [0.9, 0.1])).to_dict(), allow_nan=False)
    assert [row["threshold"] for row in json.loads(text)["rows"]] == [None, 0.9, 0.1]


def test_to_dict_says_what_it_holds():
    found = curve([0, 1], [0, 1]).to_dict()
    assert (found["schema"], found["kind"], found["x"], found["y"]) == (1, "roc", "x", "y")


def test_text_of_a_curve():
    assert repr(curve([0, 1], [0, 1])) == "roc curve: 2 points, y against x"


def test_equality_is_by_value():
    assert curve([0, 1], [0, np.nan]) == curve([0, 1], [0, np.nan])
    assert curve([0, 1], [0, 1]) != curve([0, 1], [0, 0])


# --- thinned


def test_a_short_curve_is_not_thinned():
    short = curve([0, 0.5, 1], [0, 1, 1])
    assert short.thinned(3) is short


@given(rising(), st.integers(2, 30))
def test_thinning_keeps_both_ends(long, most):
    thin = long.thinned(most)
    assert (thin.x[0], thin.y[0], thin.threshold[0]) == (long.x[0], long.y[0], long.threshold[0])
    assert (thin.x[-1], thin.y[-1], thin.threshold[-1]) == (long.x[-1], long.y[-1], long.threshold[-1])


@given(rising(), st.integers(2, 30))
def test_thinning_keeps_points_of_the_curve_in_order(long, most):
    thin = long.thinned(most)
    kept = (-thin.threshold).astype(int)
    assert (np.diff(kept) > 0).all()
    assert thin.x.tolist() == long.x[kept].tolist()
    assert thin.y.tolist() == long.y[kept].tolist()


@given(rising(), st.integers(2, 30))
def test_thinning_leaves_about_that_many_points(long, most):
    assert long.thinned(most).x.size <= most + 2


@given(rising(least=20), st.integers(4, 20))
def test_a_dropped_point_is_near_to_a_kept_one(long, most):
    thin = long.thinned(most)
    gaps = np.maximum(np.abs(long.x[:, None] - thin.x), np.abs(long.y[:, None] - thin.y)).min(axis=1)
    assert gaps.max() <= 2 / most + 1e-12


def test_a_dropped_point_before_a_long_step_is_near_too():
    # Four kept points leave thirds of the length; a point just before the end of one, with a long step after it.
    x = [0, 0, 0, 0, 0, 1]
    y = [0, 0.001, 0.002, 0.003, 0.66, 1]
    long = curve(x, y)
    thin = long.thinned(4)
    gaps = np.maximum(np.abs(long.x[:, None] - thin.x), np.abs(long.y[:, None] - thin.y)).min(axis=1)
    assert gaps.max() <= 2 / 4


def test_thinning_copes_with_undefined_and_infinite_points():
    y = np.linspace(0, 1, 1000)
    y[[0, 500]] = np.nan, np.inf
    assert curve(np.linspace(0, 1, 1000), y).thinned(50).x.size <= 52


@pytest.fixture
def many():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    return score_table(truth, truth + rng.normal(size=2000))


def test_thinned_area_is_close(many):
    assert roc(many).thinned(200).area() == pytest.approx(roc(many).area(), abs=0.01)


def test_a_thinned_precision_recall_curve_still_has_its_exact_area(many):
    assert pr(many).thinned(50).area() == pr(many).area()


# --- the declaration


def test_a_declared_curve_is_a_function():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    assert calibration(table, by="count", bins=2) == calibration.function(table, by="count", bins=2)
    assert smooth(table, "median", True) == smooth(table, midpoint="median", recentre=True)  # in their order
    assert roc.__name__ == "roc"
    assert roc.__doc__.startswith("True positive rate")
    assert repr(roc) == f"roc: ROC curve. {roc.summary}"


@pytest.mark.parametrize(
    ("values", "options", "problem"),
    [
        (("mean", True, True, 1), {}, "more values than options"),
        (("mean",), {"midpoint": "half"}, "midpoint given twice"),
    ],
)
def test_values_that_do_not_fit_the_options(values, options, problem):
    with pytest.raises(TypeError, match=problem):
        smooth(score_table([1, 0], [0.9, 0.4]), *values, **options)


REFUSED = {
    "an option": "roc has no option 'bins'.\n"
    "  seen: its options: 'normalised', 'fpr_low', 'fpr_high', 'tpr_low', 'tpr_high'\n"
    "  hint: one of these",
    "classes": (
        "roc cannot be computed from scores of 3 classes.\n  hint: roc needs a ScoreTable, such as that of one class"
    ),
    "no table": "roc needs a ScoreTable.\n  seen: [0.9, 0.4]\n  hint: ss.roc(truth, score)",
    "counts": "roc cannot be computed from counts of outcomes.\n  hint: roc needs scores",
}


THREE = class_table(["a", "b", "c"], np.eye(3), classes=["a", "b", "c"])
ASKED = {
    "an option": (score_table([1, 0], [0.9, 0.4]), {"bins": 3}),
    "classes": (THREE, {}),
    "no table": ([0.9, 0.4], {}),
    "counts": (Counts(1, 2, 3, 4), {}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_curve_cannot_be_drawn_from(what):
    table, options = ASKED[what]
    with pytest.raises(CurveError) as caught:
        roc(table, **options)
    assert str(caught.value) == REFUSED[what]


def test_a_further_table():
    table = THREE
    assert rejection(table).y[0] == 1
    assert rejection.fit(table).kind is type(table)
    assert rejection.fit(table, "b").kind is ScoreTable


def test_decisions_are_a_curve_of_scores_1_and_0():
    assert roc(confusion([[6, 2], [1, 3]], classes=["yes", "no"], positive="yes")).x.size == 3


def test_a_name_is_declared_once():
    with pytest.raises(CurveError) as caught:

        @declared(title="Another", x="x", y="y", name="rok", aliases=("roc",))
        def rok(table: ScoreTable) -> Curve:
            """Another."""

    assert str(caught.value) == "the name 'roc' of curve rok is taken by roc.\n  hint: another name"


def test_what_is_drawn_of_a_curve_is_itself_unless_it_bends():
    table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    assert roc(table).line() is not None
    assert roc(table).line() == roc(table)
    bent = pr(table).line()
    assert bent.x.size > pr(table).x.size
    # Only the points of the curve itself have a threshold.
    assert np.isfinite(bent.threshold[1:]).sum() == table.score.size


def test_additions_are_by_kind():
    marks = CurveExtension()

    @marks(roc)
    def mark():
        return "found"

    assert marks.of(roc)() == "found"
    assert marks.of(pr) is None


def test_a_notebook_shows_the_line():
    shown = roc(score_table([1, 0, 1, 0], [0.9, 0.7, 0.6, 0.1]))._repr_html_()
    assert shown.startswith("<p>roc curve: 5 points, True positive rate against False positive rate</p><svg ")
    assert 'points="0.0,240.0 0.0,120.0 120.0,120.0 120.0,0.0 240.0,0.0"' in shown
