"""The table of a baseline: now and then, the change, and p."""

import numpy as np

import scorespace as ss
from scorespace.views.since import grid


def evaluated(seed, **more):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 200)
    data = {"y": truth, "a": rng.normal(truth), "b": rng.normal(size=200)}
    return ss.evaluate(data, truth="y", **more)


def test_a_row_for_each_number(tmp_path):
    evaluated(1, scores=["a", "b"], measures="auc, ks").save(tmp_path / "e.json")
    now = evaluated(2, scores=["a", "b"], measures="auc, ks", baseline=tmp_path / "e.json")
    shown = grid(now.changes)
    assert shown.columns == ("model", "since", "baseline", "now", "change", "p")
    assert [row[:2] for row in shown.rows] == [("a", "auc ↑"), ("a", "ks ↑"), ("b", "auc ↑"), ("b", "ks ↑")]
    assert [bool(row[-1]) for row in shown.rows] == [True, False, True, False]
    assert shown.caption.endswith(
        "two independent samples. p is adjusted by Holm's method over 2 tests; intervals are single."
    )
    alone = grid(evaluated(2, scores="a", measures="auc", baseline=tmp_path / "e.json").changes)
    assert alone.columns[0] == "since"
    assert "adjusted" not in alone.caption


def test_what_cannot_be_said_has_its_reason(tmp_path):
    evaluated(1, scores="a", measures="auc", group=None).save(tmp_path / "e.json")
    now = evaluated(2, scores="a", measures="ppv@inf", baseline=tmp_path / "e.json")
    assert grid(now.changes).rows[0][1:] == ("–", "–", "– undefined: nothing is predicted positive")
