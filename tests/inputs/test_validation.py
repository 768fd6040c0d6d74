"""What a sample must be before it is counted, and how it complains."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorespace.errors import ColumnError, DataError, PositiveError, ScoreError, ScoreSpaceError, WeightError
from scorespace.io import Sample, read, resolve_roles, validate
from scorespace.io.out_of_core import count_in_engine


def sampled(data: Any, missing: str = "error", **named: Any) -> Sample:
    source = read(data)
    return validate(source, resolve_roles(source, truth="y", **named), missing)


def refused(kind: type[ScoreSpaceError], data: Any, missing: str = "error", **named: Any) -> str:
    with pytest.raises(kind) as caught:
        sampled(data, missing, **({"scores": "s"} | named))
    assert type(caught.value) is kind
    return str(caught.value)


def test_a_sample() -> None:
    sample = sampled({"y": ["good", "bad", "good"], "s": [1, 2, 3]}, scores="s", positive="bad")
    assert (sample.rows, sample.dropped, sample.classes, sample.class_counts) == (3, 0, ("bad", "good"), (1, 2))
    assert (sample.positive, sample.inferred, sample.notes) == (0, False, ())
    assert sample.source.columns == ("y", "s")
    assert sample.roles.positive == "bad"


@pytest.mark.parametrize(
    ("truth", "positive", "text"),
    [
        ([1, 0, 1], 1, "positive = 1, inferred from the labels 0 and 1."),
        ([1.0, 0.0, -0.0], 1, "positive = 1, inferred from the labels 0 and 1."),
        ([1, -1], 1, "positive = 1, inferred from the labels -1 and 1."),
        ([True, False], 1, "positive = True, inferred from the labels False and True."),
        (["1", "0"], 1, "positive = 1, inferred from the labels 0 and 1."),
        (["true", "false"], 1, "positive = true, inferred from the labels false and true."),
        (["TRUE", "FALSE"], 1, "positive = TRUE, inferred from the labels FALSE and TRUE."),
        ([1, 1], 0, "positive = 1, inferred from the label 1."),
    ],
)
def test_an_inferred_positive_class(truth: list[Any], positive: int, text: str) -> None:
    sample = sampled({"y": truth, "s": np.zeros(len(truth))}, scores="s")
    assert (sample.positive, sample.inferred) == (positive, True)
    assert [note.to_dict() for note in sample.notes] == [{"code": "SS010", "level": "info", "text": text}]


@pytest.mark.parametrize(
    ("truth", "stated", "expected"),
    [
        ([1, 0], "1", "1"),
        ([1, 0], 0, "0"),
        ([1.0, 0.0], "1", "1"),
        (["1", "0"], 1, "1"),
        ([True, False], "true", "True"),
        ([True, False], "FALSE", "False"),
        (["True", "False"], True, "True"),
        (["a", "b", "c"], "b", "b"),
        ([1, 2, 10], "10", "10"),
        ([7, 7], 7, "7"),
    ],
)
def test_a_stated_positive_class(truth: list[Any], stated: Any, expected: str) -> None:
    sample = sampled({"y": truth, "s": np.zeros(len(truth))}, scores="s", positive=stated)
    assert sample.positive is not None
    assert sample.classes[sample.positive] == expected
    assert not sample.inferred
    assert not sample.notes


@pytest.mark.parametrize(
    ("truth", "classes"),
    [
        ([10, 9, 1], ("1", "9", "10")),
        (["10", "9", "1"], ("1", "9", "10")),
        (["c10", "c9", "c1", "c01"], ("c01", "c1", "c9", "c10")),
        (["b", "B", "a"], ("B", "a", "b")),
        ([1.0, 10.0, -2.0], ("-2", "1", "10")),
    ],
)
def test_the_order_of_classes(truth: list[Any], classes: tuple[str, ...]) -> None:
    for data in (
        {"y": truth, "d": truth},
        pd.DataFrame({"y": truth, "d": truth}),
        pl.DataFrame({"y": truth, "d": truth}),
    ):
        assert sampled(data, decisions="d").classes == classes
    categories = pd.DataFrame({"y": pd.Categorical(truth), "d": truth})
    assert sampled(categories, decisions="d").classes == classes


def test_decisions_need_no_positive_class() -> None:
    for truth in (["a", "b", "c"], ["a", "b", "a"], ["a", "a", "a"]):
        sample = sampled({"y": truth, "d": truth}, decisions="d")
        assert (sample.positive, sample.inferred, sample.notes) == (None, False, ())


@pytest.mark.parametrize("label", [0, -1, False])
def test_an_absent_class_is_not_invented(label: Any) -> None:
    sample = sampled({"y": [label, label], "s": [1, 2]}, scores="s")
    assert (sample.classes, sample.class_counts, sample.positive) == ((str(label),), (2,), None)


def test_a_class_of_weight_zero_is_absent() -> None:
    sample = sampled({"y": [0, 1, 2], "s": [1, 2, math.inf], "w": [1, 2, 0]}, scores="s", weight="w")
    assert (sample.rows, sample.dropped, sample.classes) == (2, 0, ("0", "1"))
    assert sample.notes[0].text == "1 of 3 rows has weight 0 and is excluded."


def test_dropped_rows() -> None:
    data = {"y": [1, None, 0, 1], "s": [0.5, 0.5, math.nan, 0.25], "g": ["a", "b", "c", None], "f": [1, 1, 1, 1]}
    sample = sampled(data, "drop", scores="s", fold="f")
    assert (sample.rows, sample.dropped, sample.class_counts) == (2, 2, (2,))
    assert [note.code for note in sample.notes] == ["SS009", "SS010"]
    assert sample.notes[0].text == "2 of 4 rows were dropped because of missing values in 'y' (1), 's' (1)."
    assert sampled(data, "drop", scores="s", group="g").dropped == 3


def test_infinite_scores_in_dropped_rows_do_no_harm() -> None:
    data = {"y": [1, 0, None], "s": [1, 0, math.inf], "w": [1.0, 1.0, -1.0]}
    assert sampled(data, "drop", scores="s", weight="w").rows == 2


def test_missing_values() -> None:
    both = {"y": [1, 0, None], "s": [1, None, math.nan], "w": [1, 1, None]}
    assert refused(DataError, both) == (
        "columns 'y' and 's' have missing values.\n"
        "  seen: 'y' (1), 's' (2) of 3 rows\n"
        '  hint: missing="drop" drops 2 rows'
    )
    assert refused(DataError, both, weight="w") == (
        "columns 'y', 's' and 'w' have missing values.\n"
        "  seen: 'y' (1), 's' (2), 'w' (1) of 3 rows\n"
        '  hint: missing="drop" drops 2 rows'
    )
    assert refused(DataError, {"y": [1, 0], "s": [1, None]}) == (
        "column 's' has missing values.\n  seen: 's' (1) of 2 rows\n  hint: missing=\"drop\" drops 1 row"
    )
    everywhere = "column 's' has missing values.\n  seen: 's' (2) of 2 rows\n  hint: fill the missing values"
    for missing in ("error", "drop"):
        assert refused(DataError, {"y": [1, 0], "s": [None, None]}, missing) == everywhere
        assert refused(DataError, pl.DataFrame({"y": [1, 0], "s": [None, None]}), missing) == everywhere
        assert refused(DataError, pd.DataFrame({"y": [1, 0], "s": [None, None]}), missing) == everywhere
        text = pl.DataFrame({"y": [1, 0], "s": [None, None]}, schema_overrides={"s": pl.String})
        assert refused(DataError, text, missing) == everywhere
        assert refused(DataError, text.to_pandas(), missing) == everywhere
        assert refused(DataError, text.to_arrow(), missing) == everywhere
        assert refused(DataError, pa.table({"y": [1, 0], "s": [None, None]}), missing) == everywhere
    assert refused(DataError, {"y": [1, 0], "s": [1, None]}, "ignore") == (
        'missing=\'ignore\' is not a treatment of missing values.\n  hint: missing="error" or "drop"'
    )


def test_no_rows() -> None:
    assert refused(DataError, pl.DataFrame(schema={"y": pl.Int64, "s": pl.Float64})) == (
        "the frame has no rows.\n  hint: one row per case"
    )
    empty = [pd.DataFrame({"y": [], "s": []}), pl.LazyFrame(schema={"y": pl.String, "s": pl.String})]
    for frame in (*empty, pa.table({"y": pa.array([], pa.int64()), "s": pa.array([], pa.float64())})):
        assert refused(DataError, frame) == "the frame has no rows.\n  hint: one row per case"
    assert refused(DataError, {"y": [], "s": []}) == "the dict of arrays has no rows.\n  hint: one row per case"


def test_infinite_scores() -> None:
    assert refused(ScoreError, {"y": [1, 0, 1], "s": [1, math.inf, -math.inf]}) == (
        "column 's' has infinite scores.\n"
        "  seen: 2 of 3 rows\n"
        "  hint: replace them by a number beyond the largest finite score"
    )


@pytest.mark.parametrize(
    ("scores", "held", "seen", "hint"),
    [
        (["high", "low", "high"], "text", "'high', 'low'", 'decisions="s" if these are labels'),
        (["0.5", "0,25", "30 %"], "text", "'0.5', '0,25', '30 %'", None),
        (pd.Categorical(["a", "b", "a"]), "categories", "'a', 'b'", 'decisions="s" if these are labels'),
        ([1, "b", 2.5], "mixed values", "'b'", 'decisions="s" if these are labels'),
        (["0.5", "n/a", "0.3"], "text", "'n/a'", "leave missing values empty, or write NA"),
        (["10.9%", "75 %", "3%"], "text", "'10.9%', '75 %', '3%'", "write them as numbers, without the percent sign"),
    ],
)
def test_scores_that_are_no_numbers(scores: Any, held: str, seen: str, hint: str | None) -> None:
    assert refused(ColumnError, pd.DataFrame({"y": [1, 0, 1], "s": scores})) == (
        f"column 's' holds {held}, not scores.\n"
        f"  seen: {seen}\n"
        f"  hint: {hint or 'these look like numbers: write them as 1234.5'}"
    )


def test_text_that_a_pattern_takes() -> None:
    data = {"y": ["a", "b", "c"], "nb_a": [0.5] * 3, "nb_b": [0.3] * 3, "nb_c": [0.2] * 3, "nb_pred": ["a", "b", "c"]}
    source = read(data)
    with pytest.raises(ColumnError) as caught:
        validate(source, resolve_roles(source, truth="y", scores="nb_*"))
    assert str(caught.value) == (
        "column 'nb_pred' holds text, not scores.\n"
        "  seen: 'a', 'b', 'c'\n"
        "  hint: the score pattern matches this column too: rename it, so that * matches only classes"
    )


def test_scores_that_are_dates_or_lists() -> None:
    day = datetime.date(2024, 1, 31)
    assert refused(ColumnError, pl.DataFrame({"y": [1, 0], "s": [day, day]})) == (
        "column 's' holds dates, not scores.\n  seen: '2024-01-31'\n  hint: decisions=\"s\" if these are labels"
    )
    assert refused(ColumnError, pl.DataFrame({"y": [1, 0], "s": [[1], [2]]})) == (
        "column 's' holds values of type List(Int64), not scores.\n"
        "  seen: '[1]', '[2]'\n"
        '  hint: decisions="s" if these are labels'
    )


def test_a_positive_class_that_never_occurs() -> None:
    data = {"y": ["good"] * 612 + ["bad"] * 188, "s": np.zeros(800)}
    assert refused(PositiveError, data, positive=1) == (
        "positive=1 never occurs in column 'y'.\n  seen: 'good' (612 rows), 'bad' (188 rows)\n  hint: positive=\"bad\""
    )
    assert refused(PositiveError, data, positive="Good") == (
        "positive='Good' never occurs in column 'y'.\n"
        "  seen: 'good' (612 rows), 'bad' (188 rows)\n"
        '  hint: positive="good"'
    )
    assert refused(PositiveError, {"y": [0, 0], "s": [1, 2]}, positive=1) == (
        "positive=1 never occurs in column 'y'.\n  seen: '0' (2 rows)\n  hint: positive=\"0\""
    )
    assert refused(PositiveError, {"y": ["a", "b"], "d": ["a", "b"]}, scores=None, decisions="d", positive="c") == (
        "positive='c' never occurs in column 'y'.\n  seen: 'a' (1 row), 'b' (1 row)\n  hint: positive=\"a\""
    )


def test_a_positive_class_that_is_not_stated() -> None:
    problem = "the positive class is not stated and cannot be inferred from the labels of column 'y'.\n"
    assert refused(PositiveError, {"y": list("abbccc"), "s": range(6)}) == (
        problem + "  seen: 'c' (3 rows), 'b' (2 rows), 'a' (1 row)\n  hint: positive=\"a\""
    )
    assert refused(PositiveError, {"y": ["good", "good", "bad"], "s": range(3)}) == (
        problem + "  seen: 'good' (2 rows), 'bad' (1 row)\n  hint: positive=\"bad\""
    )
    assert refused(PositiveError, {"y": [1, 2, 2], "s": range(3)}) == (
        problem + "  seen: '2' (2 rows), '1' (1 row)\n  hint: positive=\"1\""
    )
    assert refused(PositiveError, {"y": ["good", "good"], "s": range(2)}) == (
        problem + "  seen: 'good' (2 rows)\n  hint: positive=\"good\""
    )


def test_truth_that_is_no_class() -> None:
    labels = "truth=… a column of labels, or predictions=… for regression models"
    assert refused(ColumnError, {"y": [0.13, 2.71, 1.0], "s": range(3)}) == (
        f"column 'y' looks like a number, not a class.\n  seen: values such as 0.13, 2.71, 1\n  hint: {labels}"
    )
    for held in (pd.Series([0.5, 1.0, 0.5], dtype=object), pd.Categorical([0.5, 1.0, 0.5])):
        assert refused(ColumnError, pd.DataFrame({"y": held, "s": 1})) == (
            f"column 'y' looks like a number, not a class.\n  seen: values such as 0.5\n  hint: {labels}"
        )
    assert refused(ColumnError, pd.DataFrame({"y": range(1001), "s": 0.5})) == (
        "column 'y' looks like a number, not a class.\n"
        "  seen: more than 1 000 distinct values, such as 0, 1, 2\n"
        f"  hint: {labels}"
    )
    assert refused(ColumnError, pd.DataFrame({"y": [f"name {i}" for i in range(1001)], "s": 0.5})) == (
        "column 'y' looks like a name or free text, not a class.\n"
        "  seen: more than 1 000 distinct values, such as name 0, name 1, name 2\n"
        "  hint: truth=… a column of labels"
    )
    assert refused(ColumnError, pl.DataFrame({"y": [[1], [2]], "s": [1, 2]})) == (
        "column 'y' holds nested values, not classes.\n  seen: List(Int64)\n  hint: a column of labels"
    )
    assert len(sampled(pd.DataFrame({"y": range(1000), "s": 0.5}), scores="s", positive=7).classes) == 1000


def test_decisions_that_are_scores() -> None:
    assert refused(ColumnError, {"y": [0, 1], "s": [1, 0.2]}, scores=None, decisions="s") == (
        "column 's' looks like a number, not a class.\n  seen: values such as 1, 0.2\n  hint: scores=\"s\""
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, -1],
            "column 'w' has negative weights.\n  seen: 1 of 2 rows\n  hint: use weights ≥ 0; weight 0 excludes a case",
        ),
        (
            [1.0, math.inf],
            "column 'w' has infinite weights.\n  seen: 1 of 2 rows\n  hint: use weights ≥ 0; weight 0 excludes a case",
        ),
        (
            [0, 0],
            "all weights in column 'w' are zero, so there is nothing to evaluate.\n"
            "  seen: 2 rows\n"
            "  hint: use weights ≥ 0; weight 0 excludes a case",
        ),
        (["a", "b"], "column 'w' holds text, not weights.\n  seen: 'a', 'b'\n  hint: a column of numbers"),
        (
            ["1", "2"],
            "column 'w' holds text, not weights.\n"
            "  seen: '1', '2'\n"
            "  hint: these look like numbers: write them as 1234.5",
        ),
    ],
)
@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_weights(frame: Any, weights: list[Any], message: str) -> None:
    assert refused(WeightError, frame({"y": [1, 0], "s": [1, 2], "w": weights}), weight="w") == message


SEVERAL = {"y": ["bad", "good", "bad"], "m0": [0.9, 0.2, 0.4], "m1": [0.8, 0.3, 0.5], "m2": [0.7, 0.1, 0.2]}


def test_a_pattern_whose_star_is_no_class_names_several_models() -> None:
    sample = sampled(SEVERAL, scores="m*", positive="bad", names={"m1": "second"})
    assert sample.roles.scores == {"m0": "m0", "second": "m1", "m2": "m2"}
    assert sample.roles.class_scores == {}
    both = sampled(SEVERAL, scores="m*", decisions=None, positive="bad")
    assert list(both.roles.scores) == ["m0", "m1", "m2"]


def test_a_pattern_whose_star_is_every_class_names_scores_of_classes() -> None:
    data = {"y": [0, 1, 1], "m0": [0.9, 0.2, 0.4], "m1": [0.1, 0.8, 0.6]}
    assert sampled(data, scores="m*", positive=1).roles.class_scores == {"m": {"0": "m0", "1": "m1"}}


def test_a_pattern_that_may_be_both_is_asked_about() -> None:
    data = SEVERAL | {"y": [0, 1, 1]}
    assert refused(ColumnError, data, scores="m*", positive=1) == (
        "the columns of 'm' may be class scores of one model, or several models.\n"
        "  seen: columns for the classes '0', '1', and for '2'\n"
        '  hint: order="0,1,2" if all are classes; if they are models, scores=["m0", "m1", "m2"]'
    )
    source = read(data)
    named = resolve_roles(source, truth="y", scores="m*", positive=1)
    assert validate(source, named, order=[0, 1, 2]).roles.class_scores == {"m": {"0": "m0", "1": "m1", "2": "m2"}}
    # Without a positive class, one of the classes may be absent.
    assert sampled(data, scores="m*").roles.class_scores == {"m": {"0": "m0", "1": "m1", "2": "m2"}}


def test_a_model_of_a_pattern_that_is_named_itself_is_told() -> None:
    assert refused(ColumnError, SEVERAL, scores=["m0", "m*"], positive="bad").startswith("model 'm0' is named twice.")
    named = {"scores": ["n", "m*"], "names": {"n": "m0"}, "positive": "bad"}
    assert refused(ColumnError, SEVERAL | {"n": [0.1, 0.2, 0.3]}, **named) == (
        "model 'm0' is named twice.\n  hint: a name for each model"
    )


@pytest.mark.parametrize("role", ["decisions", "predictions"])
def test_a_pattern_of_decisions_or_predictions_names_several_models(role: str) -> None:
    data = {"y": [1, 0, 1], "d_a": [1, 0, 0], "d_b": [1, 1, 1]}
    found = sampled(data, **{role: "d_*"}, names={"d_b": "b"}).roles
    columns = found.decisions if role == "decisions" else {model: one for model, (_, one) in found.numbers.items()}
    assert columns == {"d_a": "d_a", "b": "d_b"}
    assert refused(ColumnError, data, scores=None, **{role: {"d": {"x": "d_a"}}}).startswith("d has several columns")


LONG = [2**53 + k for k in range(4)]


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, "csv", "json"])
def test_scores_that_only_whole_numbers_tell_apart(made: Any, tmp_path: Path) -> None:
    data: Any = {"y": [0, 1, 0, 1], "s": LONG}
    if isinstance(made, str):
        path = tmp_path / f"long.{made}"
        frame = pd.DataFrame(data)
        frame.to_csv(path, index=False) if made == "csv" else frame.to_json(path, orient="records")
        data = path
    else:
        data = made(data)
    message = (
        "column 's' has integer scores that are equal as doubles.\n"
        "  seen: 4 distinct integers above 2^53, 3 distinct doubles\n"
        "  hint: subtract the same number from all scores, or use ranks"
    )
    assert refused(ScoreError, data) == message
    source = read(data)
    with pytest.raises(ScoreError, match="'s' has integer"):
        count_in_engine(source, resolve_roles(source, truth="y", scores="s"))


def test_long_scores_that_doubles_tell_apart_are_in_order() -> None:
    assert sampled({"y": [0, 1, 0, 1], "s": LONG[::2] * 2}, scores="s").rows == 4
    assert sampled({"y": [0, 1], "s": [1e20, 2e30]}, scores="s").rows == 2
