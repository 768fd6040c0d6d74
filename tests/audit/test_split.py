"""Two samples: overlap exact and near, groups and numbers, drift beside SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import scorespace as ss

SOURCE = np.random.default_rng(71)


def table(rows=400, shift=0.0, labels="abc", first=0):
    return pd.DataFrame(
        {
            "id": np.arange(first, first + rows),
            "patient_id": np.arange(first, first + rows) // 4,
            "a": SOURCE.normal(shift, 1, rows),
            "b": SOURCE.choice(list(labels), rows),
            "y": SOURCE.integers(0, 2, rows),
        }
    )


def codes(ours, theirs, level="warning"):
    found = ss.audit(ours, target="y", test=theirs).findings
    return [(one.code, one.columns) for one in found if one.level == level and "SS160" <= one.code <= "SS169"]


def test_strangers():
    assert codes(table(), table(first=400)) == []
    assert codes(table(), table(first=400), "info") == [("SS162", ("id",)), ("SS162", ("patient_id",))]


def test_rows_in_both():
    ours, theirs = table(), table(first=400)
    theirs.loc[:9, ["a", "b"]] = ours.loc[:9, ["a", "b"]]
    (one,) = ss.audit(ours, target="y", test=theirs).failing(["SS160"])
    assert (one.numbers["rows"], one.examples[0]) == (10, {"row": 1})


def test_rows_nearly_in_both():
    ours, theirs = table().assign(c=SOURCE.normal(size=400)), table(first=400).assign(c=SOURCE.normal(size=400))
    theirs.loc[:9, ["a", "c"]] = ours.loc[:9, ["a", "c"]].map(lambda x: float(f"{x:.4g}"))
    theirs.loc[:9, "b"] = ours.loc[:9, "b"].str.upper() + " "
    found = ss.audit(ours, target="y", test=theirs)
    assert found.failing(["SS160"]) == ()
    assert found.failing(["SS161"])[0].numbers["rows"] in (9, 10)  # one may be rounded away from its like


def test_groups_in_both():
    ours, theirs = table(), table(first=398)
    found = {one.columns[0]: one.numbers for one in ss.audit(ours, target="y", test=theirs).failing(["SS163"])}
    assert found["patient_id"]["values"] == 1
    assert found["id"]["values"] == 2


def test_drift_is_measured_as_scipy_does():
    ours, theirs = table(), table(shift=0.8, labels="aaaabc", first=400)
    found = {one.columns[0]: one.numbers for one in ss.audit(ours, target="y", test=theirs).failing(["SS164"])}
    expected = stats.ks_2samp(ours["a"], theirs["a"], method="asymp")
    assert found["a"]["distance"] == pytest.approx(expected.statistic)
    counts = pd.crosstab(pd.concat([ours["b"], theirs["b"]]), np.repeat([0, 1], 400))
    assert found["b"]["p"] == pytest.approx(stats.chi2_contingency(counts).pvalue)
    assert found["b"]["distance"] == pytest.approx(abs(counts[0] - counts[1]).sum() / 800)


def test_new_labels_and_absent_columns():
    theirs = table(labels="abcz", first=400).drop(columns="patient_id").assign(new=1)
    found = ss.audit(table(), target="y", test=theirs)
    assert found.failing(["SS165"])[0].text.startswith("'b' has 'z' only in the other sample")
    assert [one.columns for one in found.failing(["SS166"])] == [("patient_id",), ("new",)]


def test_groups_that_span_folds():
    data = table().drop(columns="id")
    spread = data.assign(fold=SOURCE.integers(0, 5, 400))
    kept = data.assign(fold=data["patient_id"] % 5)
    (found,) = ss.audit(spread, target="y", fold="fold").failing(["SS167"])
    assert found.columns == ("patient_id", "fold")
    assert ss.audit(kept, target="y", fold="fold").failing(["SS167"]) == ()
    expected = (spread.groupby("patient_id")["fold"].nunique() > 1).sum()
    assert found.numbers["groups"] == expected
