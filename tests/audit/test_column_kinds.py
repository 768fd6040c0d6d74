"""Kinds of columns: the lecture's examples, identifiers, vocabularies, and what a user states."""

import datetime as dt

import numpy as np
import pytest

import scorespace as ss
from scorespace.audit.column_kinds import KINDS, ordered_words, parse_kind
from scorespace.audit.vocabulary import is_id_name

SOURCE = np.random.default_rng(0)
ROWS = 300


def kind(name, values):
    found = ss.audit({name: values}).columns[0]
    return found.kind, found.scale, found.spread


LECTURE = {
    "drink size": (SOURCE.choice(["small", "medium", "large"], ROWS), "ordinal"),
    "grade": (SOURCE.choice(list("ABCDF"), ROWS), "ordinal"),
    "temperature": (SOURCE.normal(20, 8, ROWS).round(1), "interval"),
    "IQ": (SOURCE.normal(100, 15, ROWS).round(), "interval"),
    "height": (SOURCE.normal(170, 10, ROWS).round(1), "ratio"),
    "customer number": (SOURCE.permutation(90_000)[:ROWS] + 10_000, "nominal"),
}


@pytest.mark.parametrize("name", LECTURE)
def test_the_examples_of_the_lecture(name):
    values, scale = LECTURE[name]
    assert kind(name, values)[1] == scale


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("customer number", SOURCE.permutation(90_000)[:ROWS] + 10_000, "identifier"),
        ("field1", np.arange(1, ROWS + 1), "identifier"),
        ("field1", SOURCE.permutation(ROWS) + 5000, "identifier"),
        ("field1", [f"C-{n:05d}" for n in SOURCE.permutation(ROWS)], "identifier"),
        ("phone", [f"+49 30 {n:07d}" for n in SOURCE.permutation(ROWS)], "identifier"),
        ("account", SOURCE.permutation(ROWS) * 29_989_231 + 1_000_000_007, "identifier"),
        ("account balance", SOURCE.permutation(ROWS) * 29_989 + 100_003, "ratio"),
        ("age band", SOURCE.choice(["<20", "20-29", "30-39", "40+"], ROWS), "ordinal"),
        ("income", SOURCE.choice(["under $25k", "$25k-$50k", "$50k to 1m", "over 1m", "unknown"], ROWS), "ordinal"),
        ("flight", SOURCE.choice(["10-20", "30-20", "40-10"], ROWS), "nominal"),  # no range runs downwards
        ("sodium", SOURCE.choice(["low", "normal", "high"], ROWS), "ordinal"),
        ("patient_id", SOURCE.integers(0, 60, ROWS), "identifier"),
        ("salary", SOURCE.normal(50_000, 9000, ROWS).round(), "ratio"),
        ("zip code", SOURCE.integers(10_000, 99_999, ROWS), "nominal"),
        ("number of rooms", SOURCE.integers(1, 6, ROWS), "ratio"),
        ("children", SOURCE.poisson(1.5, ROWS), "ratio"),
        ("age", SOURCE.integers(18, 90, ROWS), "ratio"),
        ("gender", SOURCE.choice(["f", "m"], ROWS), "binary"),
        ("smoker", SOURCE.random(ROWS) < 0.5, "binary"),
        ("colour", SOURCE.choice(["red", "green", "blue"], ROWS), "nominal"),
        ("rating", SOURCE.integers(1, 6, ROWS), "ordinal"),
        ("q1", SOURCE.integers(1, 8, ROWS), "ordinal"),
        ("answer", SOURCE.choice(["Agree", "Disagree", "Neutral", "Strongly agree"], ROWS), "ordinal"),
        ("education", SOURCE.choice(["primary", "secondary", "tertiary", "unknown"], ROWS), "ordinal"),
        ("kelvin", SOURCE.normal(290, 8, ROWS), "ratio"),
        ("profit", SOURCE.normal(0, 5, ROWS), "interval"),
        ("year", SOURCE.integers(1990, 2020, ROWS), "date"),
        ("when", [dt.date(2020, 1, 1) + dt.timedelta(int(n)) for n in SOURCE.integers(0, 99, ROWS)], "date"),
        ("posted", 20_240_100 + SOURCE.integers(1, 32, ROWS), "date"),
        ("remark", [f"customer {n} was very happy" for n in SOURCE.permutation(ROWS)], "text"),
        ("version", ["1.0"] * ROWS, "constant"),
        ("nothing", [None] * ROWS, "constant"),
    ],
)
def test_other_columns(name, values, expected):
    assert kind(name, values)[0] == expected


def test_identifiers_are_no_quantities():
    assert not KINDS["identifier"].quantity
    assert not KINDS["identifier"].feature


def test_discrete_and_continuous():
    assert kind("children", SOURCE.poisson(1.5, ROWS))[2] == "discrete"
    assert kind("height", SOURCE.normal(170, 10, ROWS))[2] == "continuous"
    assert kind("salary", SOURCE.normal(50_000, 9000, ROWS).round())[2] == "continuous"  # whole, but nearly all differ


@pytest.mark.parametrize("name", ["id", "ID", "userID", "customer_no", "Patient Number", "row_id", "uuid", "index"])
def test_names_of_identifiers(name):
    assert is_id_name(name)


@pytest.mark.parametrize("name", ["paid", "humid", "number of rooms", "income", "body mass index", "valid", "note"])
def test_names_of_others(name):
    assert not is_id_name(name)


def test_words_from_low_to_high():
    assert ordered_words(["XL", "s", "M"]) == ("s", "M", "XL")
    assert ordered_words(["high", "low", "Unknown", "medium"]) == ("low", "medium", "high")
    assert ordered_words(["red", "low", "high"]) == ()
    assert ordered_words(["low", "high"]) == ()  # two labels are binary
    assert ordered_words(["A", "B", "A ", "C", "a"]) == ("C", "B", "A")  # however it is written, it is one level
    assert ordered_words(["50+", "[20, 30)", "< 20", "30–50"]) == ("< 20", "[20, 30)", "30–50", "50+")
    assert ordered_words(["1.2.3-4", "5-6", "7-8"]) == ()
    assert ordered_words(["red 1-2", "3-4", "5-6"]) == ()


def test_a_long_order_is_told_by_its_ends():
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    (found,) = ss.audit({"month": months * 10}).columns
    assert found.evidence == "words with an order: Jan < Feb < Mar < … < Dec"
    (found,) = ss.audit({"age": ["40+", "<20", "20-40"] * 10}).columns
    assert found.evidence == "ranges of numbers: <20, 20-40, 40+"


def test_what_measures_nothing_has_no_middle():
    found = ss.audit({"zip": [10115, 20095, 80331, 50667] * 10, "flag": [0, 1] * 20, "rooms": [1, 2, 3, 4] * 10})
    assert [(one.kind, one.low, one.middle) for one in found.columns] == [
        ("nominal", "", ""),
        ("binary", "", ""),
        ("ratio", "1", "2"),
    ]


def test_what_a_user_states():
    assert parse_kind("ordinal(low, mid ,high)").levels == ("low", "mid", "high")
    assert parse_kind(" Ratio ").name == "ratio"


def test_stated_levels_find_the_others():
    table = {"size": ["s", "m", "l", "x"] * 20}
    (found,) = ss.audit(table, kinds={"size": "ordinal(s, m, l)"}).failing(["SS154"])
    assert found.text == "'size' has values outside the stated levels: 'x' (20)."
