"""Codes, lost tops, slips, empty dates, mixed columns: found where planted, silent elsewhere."""

import numpy as np
import pytest

import scorespace as ss

ROWS = 500


@pytest.fixture
def source():
    return np.random.default_rng(21)


def found(name, values, **more):
    return [
        (one.code, one.numbers.get("value"))
        for one in ss.audit({name: values}, **more).findings
        if one.level == "warning"
    ]


def some(source, share=0.04):
    return source.random(ROWS) < share


@pytest.mark.parametrize(
    ("code", "make"),
    [
        (0, lambda s: s.normal(70, 10, ROWS).round()),
        (0, lambda s: s.normal(30, 4, ROWS).round(1)),
        (-1, lambda s: s.integers(0, 60, ROWS)),
        (-999, lambda s: s.normal(0, 1, ROWS)),
        (-9, lambda s: s.integers(1, 6, ROWS)),
        (9, lambda s: s.integers(1, 6, ROWS)),
        (99, lambda s: s.integers(18, 80, ROWS)),
        (999, lambda s: s.normal(70, 10, ROWS)),
        (9999, lambda s: s.gamma(2, 100, ROWS).round()),
        (99999, lambda s: s.lognormal(7, 1, ROWS).round()),
    ],
)
def test_codes_that_stand_for_missing(source, code, make):
    assert found("x", np.where(some(source), code, make(source))) == [("SS110", code)]


@pytest.mark.parametrize(
    "make",
    [
        lambda s: s.poisson(3, ROWS),
        lambda s: s.poisson(0.5, ROWS),
        lambda s: s.normal(0, 1, ROWS),
        lambda s: s.normal(0, 3, ROWS).round(),
        lambda s: s.integers(0, 10, ROWS),
        lambda s: s.integers(0, 100, ROWS),
        lambda s: s.lognormal(3, 1, ROWS),
        lambda s: s.standard_cauchy(ROWS),
        lambda s: s.geometric(0.3, ROWS) - 1,
        lambda s: np.where(some(s, 0.6), 0, s.lognormal(3, 1.2, ROWS)),
        lambda s: s.integers(1, 11, ROWS),
        lambda s: s.choice([-1, 0, 1], ROWS),
        lambda s: s.beta(0.5, 0.5, ROWS),
        lambda s: s.binomial(9, 0.5, ROWS),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_honest_numbers(make, seed):
    values = make(np.random.default_rng(seed))
    assert [one for one in found("x", values) if one[0] in ("SS110", "SS111")] == []


@pytest.mark.parametrize("top", [5, 7, 10])
@pytest.mark.parametrize("bell", [False, True])
def test_a_scale_that_lost_its_top(source, top, bell):
    answers = source.integers(1, top + 1, 1000)
    if bell:
        answers = np.clip(source.normal(0.65 * top, 0.25 * top, 1000).round(), 1, top)
    answers[(answers == top) | (source.random(1000) < 0.08)] = 0
    (one,) = [one for one in ss.audit({"answer": answers}).findings if one.level == "warning"]
    assert (one.code, one.numbers["expected_top"]) == ("SS111", top)


def test_counts_have_lost_no_top(source):
    children = source.choice([0, 0, 0, 1, 1, 2, 3, 4], ROWS)
    assert ss.audit({"children": children}).failing(["SS111"]) == ()
    assert ss.audit({"answer": children}).failing(["SS111"])


def test_a_stated_scale_needs_no_spike(source):
    answers = source.integers(0, 10, ROWS)
    assert found("x", answers) == []
    stated = ss.audit({"x": answers}, kinds={"x": "ordinal(1,2,3,4,5,6,7,8,9,10)"}).failing(["SS111"])
    assert stated[0].numbers["expected_top"] == 10


def test_a_code_55_on_a_scale_to_5(source):
    answers = source.integers(1, 6, ROWS).astype(float)
    answers[17] = 55
    (one,) = ss.audit({"answer": answers}).failing(["SS113"])
    assert one.text == ("55 in 'answer' is far outside: all other values lie between 1 and 5, perhaps 5 typed twice.")
    assert one.examples == ({"row": 18, "answer": "55"},)


def test_words_that_mean_missing(source):
    labels = source.choice(["red", "green", "?", "Unknown"], ROWS)
    findings = ss.audit({"colour": labels}).failing(["SS112"])
    assert {(one.level, one.text[:4]) for one in findings} == {("warning", "'?' "), ("info", "'Unk")}


def test_numbers_with_texts_between(source):
    values = np.where(some(source), "?", source.integers(0, 90, ROWS).astype(str))
    assert [code for code, _ in found("age", values)] == ["SS115"]
    levels = ss.audit({"doors": source.choice(["2", "3", "4", "5more"], ROWS)}).failing(["SS115"])
    assert [(one.code, one.level) for one in levels] == [("SS115", "info")]


def test_dates_that_are_none(source):
    days = np.datetime64("2020-01-01") + source.integers(0, 900, ROWS)
    assert found("d", days) == []
    assert [code for code, _ in found("d", np.where(some(source), np.datetime64("1900-01-01"), days))] == ["SS114"]
