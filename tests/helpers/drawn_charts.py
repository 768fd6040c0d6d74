"""What tests of charts share: tables to draw, and what a drawn chart holds."""

import numpy as np

from scorespace.tables import score_table


def table(seed=0, size=500, positive=1):
    source = np.random.default_rng(seed)
    truth = source.integers(0, 2, size)
    return score_table(truth, 1 / (1 + np.exp(-source.normal(truth, 1))), positive=positive)


TABLES = {"nb": table(1), "tree": table(2)}


def within(spec, key):
    """Every value of that key, at any depth of a spec."""
    if isinstance(spec, dict):
        found = [spec[key]] if key in spec else []
        return found + [value for part in spec.values() for value in within(part, key)]
    return [value for part in spec for value in within(part, key)] if isinstance(spec, list) else []


def rows(chart):
    return [row for values in chart["datasets"].values() for row in values]


def points(chart, name="nb"):
    return [row for row in rows(chart) if row.get("name") == name]
