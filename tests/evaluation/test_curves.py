"""Curves of an evaluation: by the grammar, for models and classes, with bands and pictures."""

import json

import numpy as np
import pytest

import scorespace as ss
from scorespace.errors import CurveError, ScoreSpaceError
from scorespace.evaluation.curves import family, kinds, requested

DATA = {
    "y": ["a", "a", "b", "b", "c", "c", "a", "b", "c"],
    "m_a": [0.7, 0.2, 0.1, 0.3, 0.2, 0.1, 0.6, 0.2, 0.4],
    "m_b": [0.2, 0.5, 0.6, 0.5, 0.3, 0.2, 0.3, 0.5, 0.3],
    "m_c": [0.1, 0.3, 0.3, 0.2, 0.5, 0.7, 0.1, 0.3, 0.3],
}
# costs of each case, periods, predictive distributions
NEEDS_MORE = ("case_cost", "capacity", "quantile_reliability", "pit")
OF_CLASSES = [kind for kind in kinds() if kind.table is not ss.ResidualTable and kind.name not in NEEDS_MORE]
TWO = {"y": [1, 0, 1, 1, 0, 0], "s": [0.9, 0.8, 0.7, 0.4, 0.3, 0.1], "d": [1, 1, 0, 1, 0, 0]}


@pytest.fixture(scope="module")
def two():
    return ss.evaluate(TWO, truth="y", scores="s", decisions="d")


@pytest.fixture(scope="module")
def three():
    return ss.evaluate(DATA, truth="y", scores="m_*")


TABLE = ss.score_table(TWO["y"], TWO["s"])


@pytest.mark.parametrize(
    ("written", "stated"),
    [
        ("smooth(midpoint=median)", {"midpoint": "median"}),
        ("smooth(midpoint=0.4, recentre=true)", {"midpoint": 0.4, "recentre": True}),
        ("calibration(by=count, bins=2)", {"by": "count", "bins": 2}),
        ("threshold(measure=fbeta(beta=2))", {"measure": "fbeta(beta=2)"}),
        ("rejection(at=0.35)", {"at": 0.35}),
    ],
)
def test_options_are_written_or_given(two, written, stated):
    name = written.partition("(")[0]
    assert two.curve(written, "s") == two.curve(name, "s", **stated) == requested(name).noun(TABLE, **stated)


def test_some_options_may_be_written_and_others_given(two):
    assert two.curve("calibration(by=width)", "s", bins=3) == ss.calibration(TABLE, by="width", bins=3)


REFUSED = {
    (
        "calibration(by=width)",
        "by",
    ): "the option 'by' of 'calibration(by=width)' is stated twice.\n  hint: each option once",
    (
        "roc",
        "bins",
    ): (
        "roc has no option 'bins'.\n  seen: its options: 'normalised', 'fpr_low', 'fpr_high', 'tpr_low', 'tpr_high'\n"
        "  hint: one of these"
    ),
    ("smooth", "midpont"): (
        "smooth has no option 'midpont'.\n  seen: its options: 'midpoint', 'recentre', 'normalised'\n"
        "  hint: did you mean midpoint?"
    ),
}


@pytest.mark.parametrize(("kind", "option"), REFUSED)
def test_an_option_that_is_not_there_or_twice(two, kind, option):
    for call in (two.curve, two.curves, two.plot, two.band):
        with pytest.raises(CurveError) as caught:
            call(kind, **{option: 1}, **({"model": "s"} if call == two.band else {}))
        assert str(caught.value) == REFUSED[kind, option]


def test_a_model_is_rejected_by_nearness_to_its_own_threshold(two):
    at = ss.evaluate(TWO, truth="y", scores="s", measures="ppv@0.35")
    assert at.curve("rejection") == ss.rejection(TABLE, at=0.35)
    assert at.curve("rejection(at=0.5)") == ss.rejection(TABLE, at=0.5) == two.curve("rejection", "s")


def test_several_classes_are_rejected_by_their_lead(three):
    assert list(three.curves("rejection")) == ["m"]
    with pytest.raises(CurveError) as caught:
        three.curve("rejection(at=0.5)")
    assert str(caught.value) == (
        "rejection of a multiclass model has no threshold: it is by the margin of the highest score.\n  hint: rejection"
    )


def test_the_classes_of_a_model(three):
    assert list(three.curves("roc")) == ["m[a]", "m[b]", "m[c]"]
    assert list(three.curves("calibration")) == ["m[a]", "m[b]", "m[c]", "m[top]"]
    table = three.models["m"].inside(ss.ScoreTable, "b")
    assert three.curve("roc", "m[b]") == ss.roc(table)


UNNAMED = {
    "m": "roc cannot be computed from scores of 3 classes.\n  hint: name a class: m[a]",
    "m[d]": "roc of m[d] names a class that does not occur.\n  seen: classes 'a', 'b', 'c'\n  hint: m[a]",
}


@pytest.mark.parametrize("model", UNNAMED)
def test_a_class_must_be_named(three, model):
    with pytest.raises(CurveError) as caught:
        three.curve("roc", model)
    assert str(caught.value) == UNNAMED[model]


def test_a_name_with_brackets_may_be_that_of_a_model():
    found = ss.evaluate({"s": TABLE, "s[1]": TABLE})
    assert found.curve("roc", "s[1]") == ss.roc(TABLE)


def test_the_other_class_of_two(two):
    assert two.curve("roc", "s[0]") == ss.roc(TABLE.swapped())


def test_decisions_of_several_classes_have_no_curve():
    found = ss.evaluate({"y": ["a", "b", "c"], "d": ["a", "b", "b"]}, truth="y", decisions="d")
    assert found.curves("roc") == {}
    with pytest.raises(CurveError) as caught:
        found.curve("roc", "d")
    problem, hint = str(caught.value).splitlines()
    assert problem == "roc cannot be computed from a confusion table of 3 classes without a positive class."
    assert hint == "  hint: roc needs scores"


def test_an_unknown_model(two):
    with pytest.raises(ScoreSpaceError, match="model 'x'"):
        two.curve("roc", "x")


@pytest.mark.parametrize("kind", OF_CLASSES, ids=lambda kind: kind.name)
def test_areas_are_told_where_the_declaration_says_so(two, kind):
    found = family(two, requested(kind.name))
    together = ["all together"] if kind.name == "hull" else []
    assert list(found.areas) == (["s", "d", *together] if kind.area else [])
    assert found.areas == {name: found.curves[name].area() for name in found.areas}


def test_a_curve_in_counts_has_no_area_to_tell(two):
    assert family(two, requested("smooth(normalised=false)")).areas == {}


# --- bands


def test_a_band_takes_the_options_of_its_curve(two):
    found = two.band("calibration(by=width, bins=2)", "s")
    assert found == ss.calibration_band(TABLE, by="width", bins=2)
    assert found == two.band("calibration", "s", by="width", bins=2)


@pytest.mark.parametrize("draw", ["band", "plot"])
def test_a_kind_without_a_band(two, draw):
    with pytest.raises(CurveError) as caught:
        two.band("cost", "s") if draw == "band" else two.plot("cost", band=True)
    assert str(caught.value) == (
        "cost has no band.\n  seen: bands of 'roc', 'pr', 'calibration', 'net_benefit', 'snb', 'smooth_calibration', "
        "'quantile_reliability'\n  hint: leave out the band"
    )


# --- pictures


@pytest.mark.parametrize("kind", OF_CLASSES, ids=lambda kind: kind.name)
def test_every_kind_is_drawn_for_models_and_classes(two, three, kind):
    assert "s" in json.dumps(two.plot(kind.name).to_dict())
    assert three.plot(kind.name).to_dict()


def test_a_picture_takes_options(two):
    def points(kind, **options):
        return json.dumps(two.plot(kind, **options).to_dict(), sort_keys=True)

    assert points("calibration(by=width)") == points("calibration", by="width") != points("calibration")
    assert points("smooth(midpoint=half)") != points("smooth(midpoint=0.1)")


def test_a_band_is_drawn_for_every_model(two):
    assert two.plot("pr", band=True).to_dict() != two.plot("pr").to_dict()
    bounds = two.band("calibration(by=width)", "s", simultaneous=True)
    assert np.isfinite(bounds.low).all()
    assert two.plot("calibration(by=width)", band=True).to_dict()
