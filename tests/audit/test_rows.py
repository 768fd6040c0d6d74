"""Rows that occur again, conflicting targets, repeated identifiers, beside pandas."""

import numpy as np
import pandas as pd

import scorespace as ss

SOURCE = np.random.default_rng(51)


def table(rows=300):
    return pd.DataFrame(
        {"a": SOURCE.normal(size=rows), "b": SOURCE.choice(list("xyz"), rows), "y": SOURCE.integers(0, 2, rows)}
    )


def test_duplicates_are_those_of_pandas():
    first = table()
    twice = pd.concat([first, first.iloc[:12], first.iloc[:3]])
    (one,) = ss.audit(twice, target="y").failing(["warning"])
    assert (one.code, one.numbers["rows"]) == ("SS140", int(twice.duplicated().sum()))
    assert one.examples == ({"row": 1}, {"row": 301}, {"row": 313})


def test_an_identifier_does_not_hide_them():
    first = table()
    twice = pd.concat([first, first.iloc[:12]]).assign(id=np.arange(312))
    assert [one.code for one in ss.audit(twice, target="y").failing(["warning"])] == ["SS140"]


def test_coarse_rows_repeat_by_chance():
    coarse = {name: SOURCE.integers(0, 3, 300) for name in "abc"} | {"y": SOURCE.integers(0, 2, 300)}
    found = ss.audit(coarse, target="y")
    assert {(one.code, one.level) for one in found.findings} == {("SS140", "info"), ("SS141", "info")}
    frame = pd.DataFrame(coarse)
    torn = frame.groupby(list("abc"))["y"].transform("nunique") > 1
    assert next(one for one in found.findings if one.code == "SS141").numbers["rows"] == int(torn.sum())


def test_honest_repeats_of_narrow_tables():
    """Few columns, of which one is fine and the other nearly constant: chance repeats rows."""
    for seed in range(5):
        source = np.random.default_rng(seed)
        narrow = {"x": source.normal(0, 1, 500).round(2), "y": (source.random(500) < 0.1).astype(int)}
        assert ss.audit(narrow, target="y").failing(["warning"]) == ()


def test_one_case_with_two_labels():
    first = table()
    torn = pd.concat([first, first.iloc[:5].assign(y=1 - first["y"].iloc[:5])])
    found = ss.audit(torn, target="y").failing(["warning"])
    assert [(one.code, one.numbers["rows"]) for one in found] == [("SS141", 10)]


def test_a_few_repeated_identifiers():
    ids = np.arange(1000, 1300)
    ids[[7, 9]] = 1000
    found = ss.audit(table().assign(customer_id=ids), target="y").failing(["SS142"])
    assert found[0].text == "2 rows repeat an identifier of 'customer_id', such as 1000."
    groups = ss.audit(table().assign(patient_id=np.repeat(np.arange(30), 10)), target="y")
    assert groups.failing(["SS142"]) == ()
