"""Measures of rules equal mlxtend's; their intervals hold the true value often enough."""

import numpy as np
import pandas as pd
import pytest
from mlxtend import frequent_patterns as mlxtend

import scorespace as ss
from scorespace.inference.estimate import estimate
from scorespace.measures import find, parse

THEIRS = {"rule_lift": "lift", "leverage": "leverage", "conviction": "conviction", "jaccard": "jaccard"}
THEIRS |= {"support": "support", "confidence": "confidence", "kulczynski": "kulczynski"}


@pytest.fixture(scope="module")
def both():
    rng = np.random.default_rng(1)
    held = rng.random((400, 6)) < [0.5, 0.4, 0.3, 0.3, 0.2, 0.6]
    held[:, 2] |= held[:, 0] & held[:, 1]
    frame = pd.DataFrame(held, columns=list("abcdef"))
    theirs = mlxtend.association_rules(mlxtend.apriori(frame, min_support=0.02, use_colnames=True), min_threshold=0)
    sides = [
        (held[:, [list("abcdef").index(one) for one in side]].all(axis=1) for side in pair)
        for pair in zip(theirs.antecedents, theirs.consequents, strict=True)
    ]
    counts = [(int((a & b).sum()), int(a.sum()), int(b.sum())) for a, b in sides]
    return ss.RuleTable(*np.array(counts).T, total=400), theirs


@pytest.mark.parametrize("name", THEIRS)
def test_measures_equal_those_of_mlxtend(name, both):
    table, theirs = both
    assert len(table) > 100
    found = find(name)(table)
    np.testing.assert_allclose(found, theirs[THEIRS[name]].to_numpy(dtype=float), rtol=1e-9, atol=1e-12)


def test_a_rule_that_never_fails():
    rule = ss.RuleTable(both=5, antecedent=5, consequent=8, total=20)
    assert np.isinf(ss.conviction(rule))
    found = estimate(parse("conviction"), rule)
    assert found.reason == "infinite: the antecedent never occurs without the consequent"


def test_an_antecedent_that_never_occurs():
    rule = ss.RuleTable(both=0, antecedent=0, consequent=8, total=20)
    found = estimate(parse("confidence"), rule)
    assert np.isnan(found.value)
    assert found.reason == "undefined: the antecedent never occurs"
    assert ss.support(rule) == 0


@pytest.mark.parametrize("name", ["rule_lift", "leverage", "conviction", "kulczynski", "jaccard"])
def test_intervals_hold_the_true_value_often_enough(name):
    """120 of 300 samples; an exact 95 % interval fails in at least 16 of them with a chance of 0.0002."""
    shares = np.array([0.12, 0.18, 0.2, 0.5])
    truth = find(name)(ss.RuleTable(0, 0, 0, 0).with_cells(shares))
    rng = np.random.default_rng(2)
    drawn = [ss.RuleTable(0, 0, 0, 0).with_cells(cells.astype(float)) for cells in rng.multinomial(300, shares, 120)]
    found = [estimate(parse(name), one, replicates=500) for one in drawn]
    assert sum(not one.low <= truth <= one.high for one in found) < 16
