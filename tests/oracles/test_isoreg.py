"""R's isoreg: the probabilities of the hull are the isotonic regression of the labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from oracles.load import reference
from scorespace.curves import hull
from scorespace.tables import score_table


@pytest.mark.parametrize(("case", "key"), [("binary", "fitted"), ("tied_x_isoreg_raw", "fitted_in_sorted_order")])
def test_hull_probability_of_each_case(case, key):
    given = reference("r_isoreg")[case]
    found = hull(score_table(given["y"], given["x"]))
    edge = [int(np.argmax(found.threshold[1:] <= score)) for score in given["x"]]  # the first edge that reaches it
    assert_allclose(found.probability[edge], given[key], rtol=1e-9)
