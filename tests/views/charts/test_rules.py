"""Rules in a picture."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.views.charts.rules import rule_chart

RNG = np.random.default_rng(1)
HELD = RNG.random((300, 4)) < 0.4
HELD[:, 1] |= HELD[:, 0]
DATA = {"</script>": HELD[:, 0], 'it\'s "b"': HELD[:, 1], "c": HELD[:, 2], "d": HELD[:, 3]}


@pytest.fixture(scope="module")
def found():
    return ss.rules(DATA)


def test_the_picture(found, valid):
    spec = valid(rule_chart(found))
    assert len(spec["datasets"]["table 1"]) == len(found)
