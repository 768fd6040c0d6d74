"""Scores: fitted to the rows they are judged on, and rows scored twice."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import scorespace as ss
from scorespace.audit.scores import assess_quality
from scorespace.inference.estimate import estimate
from scorespace.measures import parse
from scorespace.measures.ranking import auc
from scorespace.tables import score_table

SOURCE = np.random.default_rng(81)


def test_area_and_error_are_those_of_delong():
    """The interval of the evaluation is value ± 1.96 errors, checked against pROC elsewhere."""
    y = SOURCE.integers(0, 2, 300)
    s = 1 / (1 + np.exp(-SOURCE.normal(y, 1)))
    found, table = assess_quality(s, y == 1), score_table(y, s)
    interval = estimate(parse("auc"), table, method="delong")
    assert found.area == pytest.approx(float(auc(table)))
    assert found.error == pytest.approx((interval.high - interval.low) / 2 / 1.959964, rel=1e-5)
    assert found.squares == pytest.approx(float(np.mean((s - y) ** 2)))


def forest():
    x = SOURCE.normal(size=(600, 4))
    y = (x[:, 0] + SOURCE.normal(size=600) > 0).astype(int)
    model = RandomForestClassifier(30, random_state=0).fit(x[:300], y[:300])
    table = {
        "id": np.arange(600),
        **dict(zip("abcd", x.T, strict=True)),
        "y": y,
        "forest": model.predict_proba(x)[:, 1],
    }
    return ({name: values[part] for name, values in table.items()} for part in (slice(0, 300), slice(300, 600)))


def test_a_forest_on_the_rows_it_was_fitted_to():
    learnt, held_out = forest()
    (one,) = ss.audit(learnt, target="y", scores="forest", test=held_out).failing(["SS170"])
    assert one.columns == ("forest", "y")
    assert one.numbers["auc"] > 0.98 > one.numbers["auc_held_out"]
    assert ss.audit(learnt, target="y", scores="forest").failing(["SS170"])  # so good that it needs no other sample
    assert ss.audit(held_out, target="y", scores="forest").failing(["SS170"]) == ()


def test_scores_that_are_calibrated_only_where_they_were_fitted():
    # As well separated in both, and three times too bold where nobody fitted them.
    y = SOURCE.integers(0, 2, 4000)
    logit = SOURCE.normal(2 * y - 1, 1.4142)
    s = 1 / (1 + np.exp(-logit * np.where(np.arange(4000) < 2000, 1, 3)))
    here, there = ({"s": s[part], "y": y[part]} for part in (slice(2000), slice(2000, 4000)))
    (one,) = ss.audit(here, target="y", scores="s", test=there).failing(["SS170"])
    assert one.text.startswith("'s' is calibrated here (mean squared error 0.1")
    assert one.numbers["squares"] == pytest.approx(np.mean((s - y)[:2000] ** 2))
    assert one.numbers["p"] < 0.001
    assert ss.audit(there, target="y", scores="s", test=here).failing(["SS170"]) == ()


def test_calibrated_scores_claim_their_mean_square():
    s = SOURCE.random(200_000)
    found = assess_quality(s, SOURCE.random(s.size) < s)
    assert abs(found.beyond) < 4 * found.beyond_error
    assert found.squares == pytest.approx(np.mean(s * (1 - s)), abs=4 * found.beyond_error)


def test_honest_scores():
    y = SOURCE.integers(0, 2, 800)
    s = SOURCE.normal(y, 1)
    here, there = ({"x": SOURCE.normal(size=400), "s": s[part], "y": y[part]} for part in (slice(400), slice(400, 800)))
    assert ss.audit(here, target="y", scores="s", test=there).failing(["SS170", "SS171"]) == ()


def test_rows_scored_twice():
    y = SOURCE.integers(0, 2, 300)
    table = {"case_id": np.arange(300), "s": SOURCE.random(300), "y": y}
    again = {name: np.r_[values, values[:7]] for name, values in table.items()}
    again["s"] = np.r_[table["s"], table["s"][:4], SOURCE.random(3)]
    (one,) = ss.audit(again, target="y", scores="s").failing(["SS171"])
    assert (one.numbers["rows"], one.numbers["differing"]) == (7, 3)
    assert ss.audit(table, target="y", scores="s").failing(["SS171"]) == ()


def test_scores_need_two_classes():
    with pytest.raises(ss.ScoreSpaceError, match="classes, which 'y'"):
        ss.audit({"s": [0.1, 0.2, 0.3] * 5, "y": ["a", "b", "c"] * 5}, target="y", scores="s")
