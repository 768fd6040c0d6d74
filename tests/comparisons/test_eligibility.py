"""What a test suits: refused before it is doubted, and doubted where cases are too few."""

import numpy as np

from scorespace.comparisons.design import PairedModels
from scorespace.comparisons.eligibility import is_decision_test
from scorespace.comparisons.paired import compare
from scorespace.comparisons.test import TESTS, NotApplicable
from scorespace.measures import parse
from scorespace.tables.paired import pair_table


def test_rules_refuse_before_they_doubt():
    pairs = pair_table([1, 0] * 4, {"a": range(8), "b": [k % 3 for k in range(8)]})
    design = PairedModels(spec=parse("ks"), cases=pairs, draws=None, models=("a", "b"))
    assert isinstance(TESTS.find("delong").forms[PairedModels].suits[0](design), NotApplicable)


def test_which_tests_are_about_decisions():
    assert [one.name for one in TESTS if is_decision_test(one)] == ["mcnemar"]


def test_few_cases_decided_differently_are_too_few_for_the_bootstrap():
    rng = np.random.default_rng(13)
    y = np.repeat([1, 0], [30, 200])
    a = np.clip(rng.normal(0.2 + 0.3 * y, 0.15), 0, 1)
    b = a.copy()
    b[:7] = 1 - b[:7]  # of which some are decided otherwise
    found = compare(pair_table(y, {"a": a, "b": b}), spec=parse("mcc@0.5"))[0]
    assert found.test.startswith("permutation")
    assert "discordant cases are too few for the bootstrap" in (found.reason or "")
    far = np.clip(rng.normal(0.2 + 0.3 * y, 0.5), 0, 1)
    assert compare(pair_table(y, {"a": a, "b": far}), spec=parse("mcc@0.5"))[0].test == "bootstrap"
