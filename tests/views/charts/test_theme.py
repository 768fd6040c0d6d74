"""The look that charts share: who has which colour and dash, and how many digits a picture needs."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scorespace.views.charts.theme import COLOURS, DASHES, UNIT, axis, coloured, dashed, scale, short, unit_or_none


def test_thirty_models_are_told_apart():
    names = [f"m{k}" for k in range(30)]
    pairs = zip(
        coloured("name", names)["scale"]["range"], map(str, dashed("name", names)["scale"]["range"]), strict=True
    )
    assert len(set(pairs)) == 30 == len(COLOURS) * len(DASHES)


def test_what_belongs_to_a_model_has_its_colour():
    found = coloured("name", ["a", "b", "b, recalibrated"], of={"b, recalibrated": "b"})["scale"]["range"]
    assert found == [COLOURS[0], COLOURS[1], COLOURS[1]]


@given(st.floats(allow_nan=False))
def test_six_digits_are_enough_for_any_number(value):
    found = short(value)
    assert found is None if math.isinf(value) else found is not None and abs(found - value) <= 1e-5 * abs(value)


def test_axes_between_nought_and_one():
    assert unit_or_none(np.array([0.2, 1.0])) == UNIT
    assert unit_or_none(np.array([0.2, 1.1])) is None
    assert unit_or_none(np.array([])) is None
    assert axis(UNIT)["values"][-1] == 1
    assert axis((0.0, 5.0)) == {}
    assert scale(None, zero=True) == {"zero": True}
    assert scale((-1.0, 2.0))["domain"] == [-1.0, 2.0]
