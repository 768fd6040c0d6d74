"""The line that says what a sample is."""

import scorespace as ss
from scorespace.views.answers import facts


def test_one_class_alone_has_no_negative_to_name():
    one = ss.evaluate({"y": ["a", "a"], "d": ["a", "a"]}, truth="y", decisions="d", positive="a")
    assert facts(one.models) == "2 cases   positive = a (2, 100.0 %)"
