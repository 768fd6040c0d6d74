"""Rules in a picture."""

import pytest

import scorespace as ss
from scorespace.views.charts.rules import rule_chart
from views.shown import baskets

DATA = baskets()


@pytest.fixture(scope="module")
def found():
    return ss.rules(DATA)


def test_the_picture(found, valid):
    spec = valid(rule_chart(found))
    assert len(spec["datasets"]["table 1"]) == len(found)
