"""Reads the reference files of this folder: the only data that the tests depend on."""

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
_SPECIAL = {"NaN": float("nan"), "Inf": float("inf"), "-Inf": float("-inf")}


@cache
def reference(name: str) -> Any:
    """A JSON file; the strings NaN, Inf and -Inf are the floats they name, null is None."""
    return _unquoted(json.loads((HERE / f"{name}.json").read_text()))


@cache
def columns(name: str) -> dict[str, Any]:
    """The columns of a CSV file: arrays of floats where all values are numbers, lists of text otherwise."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: _numbers([row[column] for row in rows]) for column in rows[0]}


@cache
def weka_classes() -> dict[str, dict[str, float]]:
    """WEKA's "Detailed Accuracy By Class", by class; the weighted average under "Weighted Avg."."""
    text = (HERE / "weka_iris_nb.txt").read_text()
    names = ("tpr", "fpr", "ppv", "recall", "f1", "auc")
    found = re.findall(r"^(Weighted Avg\.)?((?:\s+[\d.]+){6})(?:\s+(\S+))?$", text, re.MULTILINE)
    return {mean or name: dict(zip(names, map(float, cells.split()), strict=True)) for mean, cells, name in found}


def weka_kappa() -> float:
    """The kappa statistic that WEKA prints."""
    text = (HERE / "weka_iris_nb.txt").read_text()
    return float(re.search(r"Kappa statistic\s+([\d.]+)", text).group(1))


def _unquoted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unquoted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unquoted(item) for item in value]
    return _SPECIAL.get(value, value) if isinstance(value, str) else value


def _numbers(texts: list[str]) -> Any:
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        return texts
