"""R: McNemar's test in four forms."""

import math

import numpy as np
import pytest

from oracles.load import reference
from scorespace.comparisons.mcnemar import mcnemar_p, mcnemar_test

CASES = reference("r_mcnemar")["cases"]
COLUMNS = {
    "corrected": ("chi2_corrected", "p_corrected"),
    "uncorrected": ("chi2_uncorrected", "p_uncorrected"),
    "exact": (None, "p_exact_binomial"),
    "midp": (None, "p_mid"),
}


def decisions(table):
    """Which cases each model gets right, from how often both, one or neither does."""
    (both, only_a), (only_b, neither) = table
    parts = ((True, True, both), (True, False, only_a), (False, True, only_b), (False, False, neither))
    return np.array([(a, b) for a, b, n in parts for _ in range(n)]).T


@pytest.mark.parametrize("method", COLUMNS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['b']} and {case['c']}")
def test_mcnemar(case, method):
    found = mcnemar_test(*decisions(case["table"]), method=method)
    statistic, p = (case.get(column) for column in COLUMNS[method])
    assert found.table == tuple(map(tuple, case["table"]))
    assert found.test == f"mcnemar, {method}"
    if case["b"] + case["c"] == 0:  # R answers NaN
        assert found.p == 1
        assert found.reason == "there are no discordant cases: all models are right or wrong on the same cases"
        return
    assert found.p == pytest.approx(p, rel=1e-9)
    if statistic is None:
        assert math.isnan(found.statistic)
        assert math.isnan(found.df)
    else:
        assert found.statistic == pytest.approx(statistic, abs=1e-9)
        assert found.df == 1
    assert mcnemar_p(case["c"], case["b"], method)[1] == found.p  # which model comes first does not matter


def test_equal_counts_leave_nothing_to_correct():
    # The printed formula, (|b − c| − 1)² / (b + c), would give 0.1 and p = 0.75.
    assert mcnemar_p(5, 5, "corrected") == (0, 1)
