"""Columns that say little, labels in several spellings, and gaps that know the target."""

import numpy as np
import pytest
from scipy import stats

import scorespace as ss
from scorespace.audit.association import associate_missingness, sample_target
from scorespace.io.column_profile import read_columns

SOURCE = np.random.default_rng(31)


def codes(table, **more):
    return [(one.code, one.level, one.columns) for one in ss.audit(table, **more).findings]


def test_constant_and_nearly_constant():
    x = SOURCE.normal(size=300)
    table = {"x": x, "same": ["a"] * 300, "nearly": ["a"] * 298 + ["b"] * 2, "y": SOURCE.normal(size=300)}
    assert codes(table, target="y") == [("SS150", "warning", ("same",)), ("SS151", "info", ("nearly",))]


def test_spellings_of_one_label():
    towns = SOURCE.choice(["Berlin", "berlin ", "New York", "new-york", "Rome"], 300)
    (found,) = ss.audit({"town": towns, "x": SOURCE.normal(size=300)}).failing(["SS153"])
    counts = {town: int((towns == town).sum()) for town in towns}
    assert found.text.startswith("'town' has 2 labels with spelling variants: ")
    for town, rows in counts.items():
        assert (f"'{town}' ({rows})" in found.text) == (town != "Rome")


def test_many_gaps_are_told_with_their_share():
    table = {"x": [None, None, 1.5, *range(7)], "some": [None, *range(9)], "y": list(range(10))}
    (found,) = ss.audit(table, target="y").failing(["SS152"])
    assert (found.columns, found.level, found.text) == (("x",), "info", "20 % of 'x' is missing.")


def test_gaps_that_know_the_target():
    y = SOURCE.integers(0, 2, 600)
    telling = np.where((y == 1) & (SOURCE.random(600) < 0.5), np.nan, SOURCE.normal(size=600))
    silent = np.where(SOURCE.random(600) < 0.3, np.nan, SOURCE.normal(size=600))
    found = ss.audit({"telling": telling, "silent": silent, "y": y}, target="y").failing(["SS155"])
    assert [(one.columns, one.level) for one in found] == [(("telling", "y"), "warning")]
    assert found[0].text.startswith("'telling' is missing more often where 'y' is '1'")


def test_gaps_beside_a_number_are_compared_as_scipy_does():
    y = SOURCE.normal(size=400)
    x = np.where(SOURCE.random(400) < 1 / (1 + np.exp(-y)), np.nan, 1.0)
    found = read_columns({"x": x, "y": y})
    one = associate_missingness(found.held("x"), sample_target(found.held("y"), ()))
    test = stats.mannwhitneyu(y[np.isnan(x)], y[~np.isnan(x)], method="asymptotic")
    assert one.area == pytest.approx(test.statistic / (np.isnan(x).sum() * (~np.isnan(x)).sum()))
    assert one.p == pytest.approx(test.pvalue, rel=1e-6)
