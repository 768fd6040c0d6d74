"""The ways in: every kind of data gives the same numbers, and what is missing is asked for."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import scorespace as ss
from helpers.evaluation_data import ASAH, PROC, ROLES, SMALL
from scorespace.errors import ColumnError, PositiveError, ScoreSpaceError

SOURCES = {
    "path": lambda: ASAH,
    "text path": lambda: str(ASAH),
    "dict of arrays": lambda: pd.read_csv(ASAH).to_dict("series"),
    "dict of lists": lambda: pd.read_csv(ASAH).to_dict("list"),
    "pandas": lambda: pd.read_csv(ASAH),
    "pandas with categories": lambda: pd.read_csv(ASAH, dtype={"outcome": "category"}),
    "polars": lambda: pl.read_csv(ASAH),
    "polars lazy": lambda: pl.scan_csv(ASAH),
    "pyarrow": lambda: pa.csv.read_csv(ASAH),
    "duckdb": lambda: duckdb.read_csv(str(ASAH)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_data_gives_the_same_numbers(kind, asah):
    found = ss.evaluate(SOURCES[kind](), **ROLES, measures="auc,ppv@0.2").to_dict()
    assert found == asah.to_dict()


def test_the_numbers_are_those_of_proc(asah):
    for name in ("s100b", "ndka"):
        one = asah.measures("auc", model=name)[0]
        low, auc, high = PROC[name]["ci95"]
        assert (one.low, one.value, one.high) == pytest.approx((low, auc, high), abs=1e-9)


def test_tables_by_model_need_no_columns(asah):
    found = ss.evaluate(dict(asah.models), measures="auc,ppv@0.2")
    assert found.summary.rows() == asah.summary.rows()


@pytest.mark.parametrize(
    ("scores", "models"),
    [("s100b", ["s100b"]), (["ndka", "s100b"], ["ndka", "s100b"]), ({"S": "s100b", "N": "ndka"}, ["S", "N"])],
)
def test_scores_are_named_in_three_ways(scores, models):
    found = ss.evaluate(ASAH, truth="outcome", scores=scores, positive="Poor")
    assert list(found.models) == models


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("polars lazy", pl.DataFrame),
        ("pyarrow", pa.Table),
        ("path", pd.DataFrame),
    ],
)
def test_to_frame_is_a_frame_of_the_callers_library(kind, library):
    frame = ss.evaluate(SOURCES[kind](), **ROLES).measures("auc", "ppv@inf").to_frame()
    assert isinstance(frame, library)
    rows = frame.to_pandas() if library is pa.Table else frame
    assert list(rows["model"]) == ["s100b", "s100b", "ndka", "ndka"]
    assert rows["value"][0] == pytest.approx(PROC["s100b"]["auc"], abs=1e-9)


def test_measure_by_name():
    assert ss.measure("auc", truth=SMALL["y"], score=SMALL["s"]) == pytest.approx(7 / 9)
    assert ss.measure("precision@0.5", truth=SMALL["y"], score=SMALL["s"]) == pytest.approx(2 / 3)
    assert ss.measure("f1[macro]", truth=SMALL["y"], decision=SMALL["d"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("given", [{}, {"score": SMALL["s"], "decision": SMALL["d"]}])
def test_measure_needs_either_scores_or_decisions(given):
    with pytest.raises(ScoreSpaceError, match="decision and prediction"):
        ss.measure("auc", truth=SMALL["y"], **given)


def test_the_truth_must_be_named():
    with pytest.raises(ColumnError, match='truth="y"'):
        ss.evaluate(SMALL, scores="s")


def test_the_positive_class_is_not_guessed():
    with pytest.raises(PositiveError, match="not stated"):
        ss.evaluate({"y": ["good", "bad"], "s": [1, 2]}, truth="y", scores="s")


@pytest.mark.parametrize("level", [0, 1, 95, float("nan")])
def test_a_level_is_a_probability(level):
    with pytest.raises(ScoreSpaceError, match="confidence level"):
        ss.evaluate(SMALL, truth="y", scores="s", level=level)


def test_one_number_of_scores_of_several_classes():
    scores = {"a": [0.7, 0.1, 0.2], "b": [0.2, 0.6, 0.5], "c": [0.1, 0.3, 0.3]}
    # Log loss by hand; the classes by name and as columns in the order of their names are the same.
    expected = -np.mean(np.log([0.7, 0.6, 0.3]))
    assert ss.measure("logloss", truth=list("abc"), score=scores) == pytest.approx(expected)
    columns = np.stack(list(scores.values()), axis=1)
    assert ss.measure("logloss", truth=list("abc"), score=columns) == pytest.approx(expected)
    assert ss.measure("acc@0.5", truth=[1, 0, 1], score=[0.9, 0.1, 0.2], weight=[1, 1, 2]) == 0.5


def test_tables_have_no_columns(tmp_path):
    ss.save_tables({"a": ss.score_table([1, 0], [0.9, 0.1])}, tmp_path / "t.parquet")
    with pytest.raises(ScoreSpaceError, match="holds tables, which"):
        ss.evaluate(tmp_path / "t.parquet", truth="y", scores="a")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30))
@settings(max_examples=25)
def test_a_model_has_the_same_values_alone_and_beside_another(rows):
    truth, *scores = zip(*rows, strict=True)
    assume(len(set(truth)) == 2)
    data = {"y": list(truth), "a": [s / 4 for s in scores[0]], "b": [s / 4 for s in scores[1]]}
    asked = ("auc", "auch", "h", "ks", "ap", "auprc", "brier", "cal", "ref", "smauc", "tpr@0.5", "mcc@0.5")

    def values(*models):
        found = ss.evaluate(data, truth="y", scores=list(models), positive=True, measures=",".join(asked))
        return {(one.model, str(one.spec)): one.value for one in found.measures(*asked)}

    both = values("a", "b")
    assert both == pytest.approx({**values("a"), **values("b")}, nan_ok=True)
