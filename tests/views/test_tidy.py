"""Results as data: strict JSON, and CSV that other programs read back."""

import csv
import io
import json
import math

import numpy as np

from scorespace.views import tidy

ROWS = [
    {"model": 'a "quoted", name', "value": np.float64(0.1), "note": None},
    {"model": "zwei\nZeilen", "value": math.nan, "note": "größer"},
]


def test_json_is_strict():
    text = tidy.as_json({"a": math.nan, "b": [math.inf, -math.inf, np.float64(0.5)], "c": np.int64(3)})
    assert json.loads(text, parse_constant=lambda token: 1 / 0) == {"a": None, "b": [None, None, 0.5], "c": 3}


def test_json_keeps_every_digit_and_letter():
    assert json.loads(tidy.as_json({"ä": 0.1 + 0.2})) == {"ä": 0.30000000000000004}
    assert "ä" in tidy.as_json({"ä": 1})


def test_csv_reads_back():
    first, second = csv.DictReader(io.StringIO(tidy.as_csv(ROWS), newline=""))
    assert first == {"model": 'a "quoted", name', "value": "0.1", "note": ""}
    assert second == {"model": "zwei\nZeilen", "value": "", "note": "größer"}


def test_csv_without_rows():
    assert tidy.as_csv([]).strip() == ""
