"""A number of a model has one interval: the same cases and seed give the same limits, alone and beside other models."""

from __future__ import annotations

import numpy as np
import pytest

import scorespace as ss
from scorespace.measures import MeasureSpec, measures
from scorespace.measures.request import can_compute
from scorespace.tables import Counts, ScoreTable, score_table

RNG = np.random.default_rng(16)
N = 160
Y = (RNG.random(N) < 0.4).astype(int)
SCORES = {
    name: 1 / (1 + np.exp(0.4 - RNG.normal(size=N) - lift * Y)) for name, lift in (("a", 1.4), ("b", 0.8), ("c", 0.1))
}
SCORES["b"] = np.round(SCORES["b"], 1)
FRAME = {
    "y": Y,
    **SCORES,
    "d": (SCORES["c"] > 0.5).astype(int),
    "w": RNG.integers(1, 5, N) / 2,
    "copies": RNG.integers(1, 4, N),
    "g": np.arange(N) // 4,
    "fold": np.arange(N) % 5,
    "ward": np.where(RNG.random(N) < 0.5, "north", "south"),
}
TABLE = score_table(Y, SCORES["a"])
CATALOGUE = [
    spec
    for one in measures()
    if one.table in (Counts, ScoreTable)
    for spec in [MeasureSpec(one.name, at=0.5 if one.table is Counts else None)]
    if can_compute(spec, TABLE)
]
ROUTES = {
    "plain": {},
    "prevalence": {"condition": ss.Condition(fn=5, prevalence=0.1)},
    "weights": {"weight": "w"},
    "copies": {"weight": "copies", "weights": "copies"},
    "groups": {"group": "g"},
    "folds": {"fold": "fold"},
    "percentiles": {"interval": "bootstrap"},
}


def limits(evaluation, model, *names):
    found = evaluation.measures(*(names or CATALOGUE), model=model)
    return {one.spec.canonical: (one.value, one.low, one.high, one.method, one.reason, one.chance) for one in found}


def evaluated(data, models, **asked):
    crisp = [name for name in models if name == "d"]
    roles = {"scores": [name for name in models if name != "d"]} | ({"decisions": crisp} if crisp else {})
    return ss.evaluate(data, truth="y", positive=1, **roles, **asked)


def same(one, other):
    """The same to nine digits: sums that an engine adds up in another order may differ in the last one."""
    assert one.keys() == other.keys()
    for name in one:
        for mine, theirs in zip(one[name], other[name], strict=True):
            exact = not isinstance(mine, float)
            assert mine == theirs if exact else mine == pytest.approx(theirs, rel=1e-9, nan_ok=True), name


@pytest.mark.parametrize("route", ROUTES)
def test_limits_of_a_model_are_its_own(route):
    alone, two, every = (
        evaluated(FRAME, models, **ROUTES[route]) for models in (["a"], ["b", "a"], ["c", "a", "b", "d"])
    )
    expected = limits(alone, "a")
    same(limits(two, "a"), expected)
    same(limits(every, "a"), expected)


def test_limits_in_bins_and_of_tables_are_their_own(tmp_path):
    pl = pytest.importorskip("polars")
    names = ("auc", "ks", "brier", "ap", "cal", "h", "ppv@0.5", "f1@0.5", "mcc@0.5", "logloss", "smauc")
    long = pl.DataFrame({name: np.tile(column, 20) for name, column in FRAME.items()}).lazy()
    alone, two = (evaluated(long, models, memory=1000) for models in (["a"], ["b", "a"]))
    assert alone.models["a"].coarse
    same(limits(two, "a", *names), limits(alone, "a", *names))
    kept = {}
    for models in (("a",), ("b", "c", "a")):
        path = tmp_path / f"{len(models)}.parquet"
        ss.save_tables({name: score_table(Y, SCORES[name]) for name in models}, path)
        kept[len(models)] = limits(ss.evaluate(path), "a")
    same(kept[3], kept[1])
    same(limits(evaluated(FRAME, ["a", "b"]), "a"), kept[1])  # a table knows all that its intervals need


def test_limits_in_slices_and_against_a_value_are_their_own():
    names = "auc, ks, brier, ppv@0.5, f1@0.5"
    one, two = (evaluated(FRAME, models, measures=names, by="ward") for models in (["a"], ["b", "a"]))

    def rows(found):
        return [row for row in found.slices.rows() if row["model"] == "a"]

    assert rows(one) == rows(two)
    north = {name: column[FRAME["ward"] == "north"] for name, column in FRAME.items()}
    apart = limits(evaluated(north, ["c", "a"]), "a", "ks", "brier")
    told = {row["measure"]: (row["low"], row["high"]) for row in rows(two) if row["slice"] == "north"}
    assert {name: told[name] for name in apart} == {name: values[1:3] for name, values in apart.items()}
    for name in ("ks", "brier"):
        _, low, high, *_ = limits(two, "a", name)[name]
        tested = two.compare_against(0.3, "a", measure=name)[0]
        assert (tested.low + 0.3, tested.high + 0.3) == pytest.approx((low, high), abs=1e-12)


def test_limits_of_several_classes_and_of_numbers_are_their_own():
    truth = RNG.integers(0, 3, 120)
    columns = {"y": np.array(["r", "s", "t"])[truth]}
    for name in ("m", "n"):
        shares = RNG.dirichlet(np.ones(3), 120) + 0.5 * np.eye(3)[truth]
        shares /= shares.sum(axis=1, keepdims=True)
        columns |= {f"{name}_{label}": shares[:, k] for k, label in enumerate("rst")}
    asked = ("auc[hand_till]", "brier", "logloss", "acc", "kappa", "f1[macro]", "ece")
    one, two = (ss.evaluate(columns, truth="y", scores=models) for models in (["m_*"], ["n_*", "m_*"]))
    same(limits(two, "m", *asked), limits(one, "m", *asked))
    number = RNG.normal(size=90)
    columns = {"y": number, "p": number + RNG.normal(size=90), "q": number + RNG.normal(size=90) / 2}
    columns["day"] = np.arange(90)
    asked = ("mae", "rmse", "r2", "pearson", "spearman", "medae", "cal")
    for roles in ({}, {"time": "day"}):
        one, two = (ss.evaluate(columns, truth="y", predictions=models, **roles) for models in (["p"], ["q", "p"]))
        same(limits(two, "p", *asked), limits(one, "p", *asked))


def test_a_difference_does_not_change_with_further_models():
    two, three = (evaluated(FRAME, models) for models in (["a", "b"], ["a", "b", "c"]))
    for name in ("ks", "brier", "ppv@0.5"):
        one, other = two.compare("a", "b", measure=name)[0], three.compare("a", "b", measure=name)[0]
        assert (one.low, one.high, one.p) == (other.low, other.high, other.p)
