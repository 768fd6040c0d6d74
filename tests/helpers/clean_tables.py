"""Clean tables of many shapes: nothing in them hands the target away, however much the rows depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Table = dict[str, Any]
SHAPES: dict[str, Callable[[np.random.Generator], Table]] = {}


def shape(function: Callable[[np.random.Generator], Table]) -> Callable[[np.random.Generator], Table]:
    SHAPES[function.__name__] = function
    return function


def features(source: np.random.Generator, rows: int, columns: int) -> Table:
    makers = (
        lambda: source.normal(size=rows),
        lambda: source.integers(0, 5, rows),
        lambda: np.exp(source.normal(size=rows)),
        lambda: source.choice(list("abcdef"), rows),
        lambda: source.poisson(3, rows),
        lambda: source.random(rows) < 0.3,
    )
    return {f"x{place}": makers[source.integers(0, len(makers))]() for place in range(columns)}


def signal(table: Table, source: np.random.Generator, rows: int) -> np.ndarray:
    total = np.zeros(rows)
    for values in table.values():
        if np.asarray(values).dtype.kind in "biuf":
            numbers = np.asarray(values, dtype=float)
            total += source.normal() * (numbers - numbers.mean()) / (numbers.std() + 1e-9)
    return total


def size(source: np.random.Generator, *sizes: int) -> int:
    return int(source.choice(sizes))


@shape
def two_classes(source):
    rows = size(source, 60, 200, 2000)
    table = features(source, rows, int(source.integers(2, 20)))
    return table | {"y": (signal(table, source, rows) + source.logistic(size=rows) > 0).astype(int)}


@shape
def numbers(source):
    rows = size(source, 60, 200, 1000)
    table = features(source, rows, int(source.integers(2, 20)))
    return table | {"y": signal(table, source, rows) + source.normal(size=rows)}


@shape
def one_strong_feature(source):
    rows = size(source, 100, 1000)
    x = source.normal(size=rows)
    return {"x": x, "u": source.normal(size=rows), "y": (3 * x + source.logistic(size=rows) > 0).astype(int)}


@shape
def one_strong_feature_of_a_number(source):
    rows = size(source, 100, 1000)
    x = source.normal(size=rows)
    return {"x": x, "u": source.normal(size=rows), "y": 3 * x + source.normal(size=rows)}


@shape
def sorted_by_an_innocent_column(source):
    rows = size(source, 100, 1000)
    age = np.sort(source.integers(18, 90, rows))
    y = ((age - 50) / 20 * source.choice([1, 2, 3]) + source.logistic(size=rows) > 0).astype(int)
    return features(source, rows, 6) | {"age": age, "id": np.arange(rows) + 1, "y": y}


@shape
def a_number_sorted_by_an_innocent_column(source):
    rows = size(source, 100, 1000)
    x = np.sort(source.gamma(2, 1, rows))
    return {"x": x, "id": np.arange(rows), "u": source.normal(size=rows), "y": 2 * x + source.normal(size=rows)}


@shape
def random_walks(source):
    rows = size(source, 100, 365, 1000)
    a, b, y = np.cumsum(source.normal(size=(3, rows)), axis=1)
    return {"t": np.arange(rows), "a": a, "b": b, "y": y}


@shape
def a_random_walk_with_numbered_rows(source):
    rows = size(source, 100, 365, 1000)
    a, y = np.cumsum(source.normal(size=(2, rows)), axis=1)
    return {"index": np.arange(rows), "a": a, "u": source.normal(size=rows), "y": y}


@shape
def a_random_walk_above_its_median(source):
    rows = size(source, 100, 365, 1000)
    a, y = np.cumsum(source.normal(size=(2, rows)), axis=1)
    return {"a": a, "u": source.normal(size=rows), "y": (y > np.median(y)).astype(int)}


@shape
def trend_and_season(source):
    rows = size(source, 100, 365, 1000)
    day = np.arange(rows)
    y = 0.02 * day + 5 * np.sin(day / 58) + source.normal(size=rows) * source.choice([0.5, 2])
    return {"date": np.datetime64("2020-01-01") + day, "temp": 10 * np.sin(day / 58) + source.normal(size=rows), "y": y}


@shape
def a_strong_trend_with_numbered_rows(source):
    rows = size(source, 100, 1000)
    y = np.arange(rows) + source.normal(0, 5, rows)
    return {"index": np.arange(rows), "u": source.normal(size=rows), "y": y}


@shape
def sorted_by_a_column_that_nearly_decides(source):
    rows = size(source, 100, 1000)
    x = np.sort(source.normal(size=rows))
    return {"case": np.arange(rows), "x": x, "u": source.normal(size=rows), "y": x + source.normal(0, 0.2, rows)}


@shape
def lagged_values(source):
    noise, y = source.normal(size=500), np.zeros(500)
    for row in range(1, 500):
        y[row] = 0.95 * y[row - 1] + noise[row]
    return {"lag1": np.r_[0, y[:-1]], "lag2": np.r_[0, 0, y[:-2]], "u": source.normal(size=500), "y": y}


@shape
def heavy_ties(source):
    rows = size(source, 50, 300, 2000)
    y = source.integers(0, 2, rows) if source.random() < 0.5 else source.integers(0, 40, rows)
    return {**{f"x{place}": source.integers(0, 3, rows) for place in range(8)}, "y": y}


@shape
def tiny(source):
    rows = int(source.integers(8, 25))
    y = source.integers(0, 2, rows) if source.random() < 0.6 else source.normal(size=rows)
    return features(source, rows, int(source.integers(1, 25))) | {"y": y}


@shape
def many_classes(source):
    rows, classes = size(source, 200, 2000), size(source, 5, 20, 100)
    code = source.integers(0, classes, rows)
    x = source.normal(size=classes)[code] + source.normal(size=rows)
    return features(source, rows, 6) | {"x": x, "y": np.array([f"c{one}" for one in code])}


@shape
def all_nominal(source):
    rows = size(source, 50, 500, 2000)
    labels = {
        f"x{place}": source.choice([f"v{one}" for one in range(size(source, 2, 5, 50, rows))], rows)
        for place in range(8)
    }
    return labels | {"y": source.choice(["yes", "no"], rows, p=[0.2, 0.8])}


@shape
def innocent_identifiers(source):
    rows = size(source, 100, 1000)
    ids = {"customer_id": source.permutation(rows) + 1000, "key": [f"A{n:05d}" for n in source.permutation(rows)]}
    return features(source, rows, 5) | ids | {"y": (source.random(rows) < 0.1).astype(int)}


@shape
def rare_positives(source):
    return features(source, 2000, 12) | {"y": (source.random(2000) < 0.01).astype(int)}


@shape
def gaps(source):
    table = features(source, 500, 8)
    return table | {
        "m": np.where(source.random(500) < 0.3, np.nan, source.normal(size=500)),
        "y": source.normal(size=500),
    }


@shape
def patients_with_many_visits(source):
    patient = np.repeat(np.arange(50), 20)
    mean = 3 * source.normal(size=50)
    visit = np.tile(np.arange(20), 50)
    return {
        "patient_id": patient,
        "visit": visit,
        "x": source.normal(size=1000),
        "y": mean[patient] + source.normal(size=1000),
    }


@shape
def patients_with_one_label(source):
    order = source.permutation(600)
    patient = np.repeat(np.arange(30), 20)[order]
    label, age = source.integers(0, 2, 30), source.integers(20, 80, 30)
    return {
        "patient_id": patient,
        "age": age[patient],
        "x": source.normal(size=600) + label[patient],
        "y": label[patient],
    }


@shape
def heavy_tails(source):
    x = source.normal(3, 1.5, 1000).round()
    zeros = np.where(source.random(1000) < 0.6, 0, source.gamma(2, 1, 1000))
    wild = {"a": source.standard_cauchy(1000), "b": source.pareto(1.2, 1000)}
    return wild | {"c": zeros, "x": x, "y": np.exp(0.5 * x + source.normal(size=1000))}


@shape
def clouds(source):
    code = source.integers(0, 4, 400)
    points = (4 * source.normal(size=(4, 3)))[code] + source.normal(size=(400, 3))
    return {**dict(zip("abc", points.T, strict=True)), "y": code}
