"""ELKI's smooth ROC curve: points and areas, with the mean score as midpoint."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import reference
from scorespace.curves import roc, smooth
from scorespace.measures.smooth import smauc
from scorespace.tables import score_table

CASES = reference("elki_smooth_roc")
# ELKI leaves out a case whose score equals the midpoint; here it counts as low.
AT_THE_MIDPOINT = ("point_at_mean", "constant_half")
SAME = [name for name in CASES if name not in AT_THE_MIDPOINT]


def table(name):
    return score_table(CASES[name]["label"], CASES[name]["score"])


def test_every_case_is_used():
    assert set(SAME) | set(AT_THE_MIDPOINT) == set(CASES)


@pytest.mark.parametrize("name", SAME)
def test_points(name):
    found = smooth(table(name), normalised=False)
    assert_allclose(np.column_stack([found.x, found.y]), CASES[name]["curve_unnormalised_x_y"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_area_and_midpoint(name):
    found = smooth(table(name))
    assert found.area() == pytest.approx(CASES[name]["smauc_elki"], rel=1e-9)
    assert smauc(table(name)) == pytest.approx(CASES[name]["smauc_elki"], rel=1e-9)
    assert found.midpoint == pytest.approx(CASES[name]["mean"], rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_plain_area_beside_it(name):
    assert smooth(table(name)).auc == roc(table(name)).area() == pytest.approx(CASES[name]["auc"], rel=1e-9)


def test_a_case_at_the_midpoint_counts_as_low():
    # Positive 0.8 (.2, .8); negative 0.5 low (.5, .5); negative 0.2 low (.8, .2): ELKI has no middle segment.
    found = smooth(table("point_at_mean"), normalised=False)
    assert_allclose(np.column_stack([found.x, found.y]), [[0, 0], [0.2, 0.8], [0.7, 1.3], [1.5, 1.5]])
    assert (found.appropriate, found.inappropriate) == (3, 0)


def test_a_constant_score_is_one_segment():
    assert math.isnan(CASES["constant_half"]["smauc_elki"])
    found = smooth(table("constant_half"))
    assert (found.x.tolist(), found.y.tolist(), found.area()) == ([0, 1], [0, 1], 0.5)
