"""Leaks: found where they are planted, by the right code and column."""

import numpy as np
import pytest

import scorespace as ss
from scorespace.audit.finding import FINDING_KINDS

ROWS = 400


@pytest.fixture
def source():
    return np.random.default_rng(11)


def leaks(table, **more):
    found = ss.audit(table, target="y", **more).findings
    return [(one.code, one.columns[0]) for one in found if FINDING_KINDS[one.code].leak]


def numbered_after_sorting(values):
    """What somebody does who sorts by the target, numbers the rows, and restores the order."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


@pytest.mark.parametrize("written", ["running", "gaps", "text", "backwards"])
@pytest.mark.parametrize("classes", [False, True])
def test_an_identifier_given_after_sorting(source, written, classes):
    y = source.integers(0, 2, ROWS) if classes else source.gamma(2, 1, ROWS)
    place = numbered_after_sorting(y)
    number = {
        "running": place + 1,
        "gaps": 50_000 + 7 * place + source.integers(0, 6, ROWS),
        "text": np.array([f"C{n:06d}" for n in place]),
        "backwards": 9000 - place,
    }[written]
    assert leaks({"field1": number, "x": source.normal(size=ROWS), "y": y}) == [("SS101", "field1")]


def test_some_identifiers_given_later(source):
    """A tenth of the customers came after the sorting."""
    y = source.gamma(2, 1, ROWS)
    place = numbered_after_sorting(np.where(np.arange(ROWS) < 360, y, 100))
    assert leaks({"customer": place + 1, "y": y}) == [("SS101", "customer")]


def test_rows_sorted_by_the_target_without_a_number(source):
    assert leaks({"x": source.normal(size=ROWS), "y": np.sort(source.integers(0, 3, ROWS))}) == [("SS102", "y")]
    assert leaks({"x": source.normal(size=ROWS), "y": np.sort(source.normal(size=ROWS))}) == [("SS102", "y")]


def test_a_growing_series_is_explained_by_its_dates(source):
    day = np.arange(ROWS)
    table = {"date": np.datetime64("2020-01-01") + day, "id": day, "y": np.cumsum(source.random(ROWS))}
    assert leaks(table) == []


def test_an_innocent_identifier(source):
    y = source.integers(0, 2, ROWS)
    assert leaks({"id": source.permutation(ROWS), "x": source.normal(y, 1), "y": y}) == []


@pytest.mark.parametrize("rows", [60, ROWS, 5000])
def test_a_label_that_repeats_the_target(source, rows):
    y = source.integers(0, 2, rows)
    label = np.where(source.random(rows) < 0.002, 1 - y, y)
    assert leaks({"status": np.array(["open", "shut"])[label], "x": source.normal(size=rows), "y": y}) == [
        ("SS103", "status")
    ]


@pytest.mark.parametrize("rows", [60, ROWS, 5000])
def test_a_number_that_repeats_the_target(source, rows):
    y = source.lognormal(size=rows)
    table = {"tax": 0.19 * y + source.normal(0, 1e-4, rows), "x": source.normal(size=rows), "y": y}
    assert leaks(table) == [("SS103", "tax")]
    assert leaks({name: values[np.argsort(y)] for name, values in table.items()}) == [("SS102", "y"), ("SS103", "tax")]


def test_a_leak_in_a_time_series(source):
    """Neighbouring rows are alike, and yet the copy of the target is found, and the other walk is not."""
    y, other = np.cumsum(source.normal(size=(2, 1000)), axis=1)
    assert leaks({"copy": 3 * y + source.normal(0, 0.05, 1000), "other": other, "y": y}) == [("SS103", "copy")]


def test_few_rows_prove_nothing(source):
    """Of 40 binary columns, one equals the target of eight rows by chance in about one table in four."""
    found = 0
    for _ in range(15):
        table = {f"x{place}": source.integers(0, 2, 8) for place in range(40)}
        found += bool(leaks(table | {"y": source.integers(0, 2, 8)}))
    assert found <= 1


def test_p_values_are_corrected_for_all_columns(source):
    y = source.integers(0, 2, 100)
    table = {f"x{place}": source.normal(size=100) for place in range(20)}
    (found,) = ss.audit(table | {"copy": y + source.normal(0, 0.01, 100), "y": y}, target="y").failing(["SS103"])
    assert found.numbers["p_adjusted"] == pytest.approx(min(1, 22 * found.numbers["p"]))  # 21 columns and the row order
    assert "correction for 22 tests" in found.text


def test_a_leading_column_known_afterwards(source):
    y = source.integers(0, 2, 2000)
    strong, weak = source.normal(1.3 * y, 1), source.normal(0.2 * y, 1)
    assert leaks({"call_duration": strong, "x": weak, "y": y}) == [("SS104", "call_duration")]
    assert leaks({"income": strong, "x": weak, "y": y}) == []
    assert leaks({"call_duration": weak, "x": strong, "y": y}) == []


def test_a_class_named_by_a_label(source):
    """One of several classes is given away, and a label of the column speaks of it."""
    y = source.choice(["fatal", "slight", "none"], 900)
    other = source.choice(["A", "B"], 900)
    named = np.where(y == "fatal", other, "not a fatality")
    assert leaks({"origin": named, "y": y}) == [("SS103", "origin")]
    assert leaks({"origin": np.where(y == "fatal", other, "C"), "y": y}) == []
