"""Twins of every relation, and columns that are none."""

import numpy as np
import pytest

import scorespace as ss

SOURCE = np.random.default_rng(61)
ROWS = 400
C = SOURCE.normal(20, 5, ROWS)
G = SOURCE.integers(0, 5, ROWS)


def found(a, b, level="warning"):
    audit = ss.audit({"a": a, "b": b, "u": SOURCE.normal(size=ROWS)})
    return [(one.code, one.text) for one in audit.findings if one.code in ("SS120", "SS121") and one.level == level]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (C, C, "'a' and 'b' are equal in every row."),
        (C, 1.8 * C + 32, "'b' is 1.8 · 'a' + 32 in every row."),
        (C, -2 * C, "'b' is −2 · 'a' in every row."),
        (C, np.exp(C / 10), "'a' and 'b' are increasing functions of each other in every row."),
        (C, 1 / C, "'a' and 'b' are decreasing functions of each other in every row."),
        (G, np.array(list("vwxyz"))[[3, 1, 4, 0, 2]][G], "'a' and 'b' are one-to-one recodings of each other."),
        (np.array(list("vwxyz"))[G], np.array(list("vwxyz"))[G], "'a' and 'b' are equal in every row."),
        (np.where(C < 15, np.nan, C), np.where(C < 15, np.nan, 2 * C), "'b' is 2 · 'a' in every row."),
    ],
)
def test_twins(a, b, words):
    assert found(a, b) == [("SS120", words)]


def test_near_twins():
    assert found(C, np.where(np.arange(ROWS) % 100 == 0, C + 1, C))[0][0] == "SS121"
    labels = np.array(list("vwxyz"))[G]
    assert found(labels, np.where(np.arange(ROWS) % 100 == 0, "v", labels))[0][0] == "SS121"
    assert found(C, C + SOURCE.normal(0, 1e-3, ROWS), "info")[0][0] == "SS121"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (C, C + SOURCE.normal(0, 2, ROWS)),
        (SOURCE.permutation(ROWS), SOURCE.permutation(ROWS)),  # all different: every two such columns are "one-to-one"
        ([f"n{n}" for n in SOURCE.permutation(ROWS)], [f"m{n}" for n in SOURCE.permutation(ROWS)]),
        (np.arange(ROWS) == 3, np.arange(ROWS) == 4),
        (G, (G + SOURCE.integers(0, 2, ROWS)) % 5),
    ],
)
def test_no_twins(a, b):
    assert found(a, b) == []
    assert found(a, b, "info") == []


def test_few_rows_prove_nothing():
    hits = 0
    for _ in range(30):
        table = {f"x{place}": SOURCE.integers(0, 2, 6) for place in range(12)}
        hits += bool(ss.audit(table).failing(["SS120"]))
    assert hits == 0
