"""The counts of a rule, and the decisions inside them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import scorespace as ss
from scorespace.errors import ScoreSpaceError
from scorespace.measures import parse
from scorespace.measures.request import bind

RULE = ss.RuleTable(both=20, antecedent=40, consequent=30, total=100)


def test_cells_and_back():
    assert_array_equal(RULE.cells, [20, 20, 10, 50])
    assert RULE.with_cells(RULE.cells) == RULE
    assert (RULE + RULE).total == 200


def test_many_rules_are_one_table():
    many = ss.RuleTable(both=[1, 2], antecedent=[3, 4], consequent=[5, 6], total=10)
    assert len(many) == 2
    assert many[1] == ss.RuleTable(2, 4, 6, 10)


def test_every_measure_of_decisions_is_one_of_rules():
    assert bind(parse("ppv"), RULE).value == ss.confidence(RULE)
    assert bind(parse("jaccard"), RULE).value == pytest.approx(20 / 50)
    # φ of the same table, by its definition.
    assert bind(parse("mcc"), RULE).value == pytest.approx((20 * 50 - 20 * 10) / np.sqrt(40 * 60 * 30 * 70))
    with pytest.raises(ScoreSpaceError, match="auc cannot"):
        bind(parse("auc"), RULE)
