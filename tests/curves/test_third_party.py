"""A curve on a table of somebody else's, declared in one module outside the package: nothing here knows of it."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESIDUALS = '''
"""How far predictions of numbers are off: a table, a curve over it, what stands beside it, and a band."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from scorespace.curves.curve import Curve, companion_curves, curve
from scorespace.inference.bands import Band, band
from scorespace.tables import Table


@dataclass(frozen=True, eq=False)
class ErrorTable(Table):
    """The distinct absolute errors, rising, and how many cases have each."""

    error: np.ndarray
    weight: np.ndarray

    def described(self):
        return "errors of numbers"

    @property
    def cells(self):
        return self.weight

    @property
    def strata(self):
        return np.zeros(self.error.size, np.intp)

    def with_cells(self, cells):
        return replace(self, weight=cells)

    def __add__(self, other):
        error = np.union1d(self.error, other.error)
        weight = sum(np.bincount(np.searchsorted(error, t.error), t.weight, error.size) for t in (self, other))
        return ErrorTable(error, weight)


@curve(
    title="Regression error characteristic", x="Tolerance", y="Share within", aliases=("rec_curve",),
    y_ends=(0, 1), steps=True, area="the mean share within",
)
def rec(table: ErrorTable, *, scale: Annotated[float, "what an error is divided by"] = 1.0) -> Curve:
    """Share of cases whose error is at most the tolerance: P(|e| ≤ x)."""
    share = np.cumsum(table.weight) / table.weight.sum()
    return Curve("rec", table.error / scale, share, table.error, rec.x, rec.y)


@companion_curves(rec)
def _perfect(table: ErrorTable):
    ends = np.array([0.0, float(table.error[-1])])
    return {"no error": Curve("rec", ends, np.ones(2), ends, rec.x, rec.y)}


@band(rec)
def rec_band(table: ErrorTable, *, scale=1.0, level=0.95, simultaneous=False, seed=0):
    found = rec(table, scale=scale)
    wide = np.sqrt(np.log(2 / (1 - level)) / (2 * table.weight.sum()))  # Dvoretzky, Kiefer and Wolfowitz
    low, high = np.clip(found.y - wide, 0, 1), np.clip(found.y + wide, 0, 1)
    return Band("rec", found.x, found.y, low, high, level, "DKW", True)
'''
CODE = f"""
import json, runpy
import numpy as np
import scorespace as ss
from scorespace.curves import CURVES

kind = CURVES.find("rec-curve")  # the entry point is enough: nobody imported the module
ErrorTable = kind.table
one = ErrorTable(np.array([0.0, 1.0, 3.0]), np.array([1, 2, 1]))
two = ErrorTable(np.array([0.5, 2.0]), np.array([3, 1]))
ev = ss.evaluate({{"one": one, "two": two}})

def said(call, *arguments):
    try:
        return call(*arguments)
    except ss.ScoreSpaceError as error:
        return f"{{type(error).__name__}}: {{error}}"

drawn = json.dumps(ev.plot("rec", band=True).to_dict())
page = runpy.run_path({str(ROOT / "docs" / "generate.py")!r})["_curves"]()
print(json.dumps({{
    "y": ev.curve("rec(scale=2)", "one").y.tolist(),
    "x": ev.curve("rec", "one", scale=2).x.tolist(),
    "curves": list(ev.curves("rec")),
    "others": list(ev.curves("roc")),
    "roc": said(ev.curve, "roc", "one"),
    "scores": said(kind, ss.score_table([1, 0], [0.9, 0.1])),
    "option": said(ev.curve, "rec(bins=3)", "one"),
    "drawn": [name in drawn for name in ("one", "two", "no error", "Tolerance", "step-after")],
    "band": ev.band("rec", "one").method,
    "page": "## rec\\n\\n**Regression error characteristic.**" in page,
    "option page": "what an error is divided by" in page,
}}))
"""
EXPECTED = {
    "y": [0.25, 0.75, 1.0],
    "x": [0.0, 0.5, 1.5],
    "curves": ["one", "two"],
    "others": [],
    "roc": "CurveError: roc cannot be computed from errors of numbers.\n  hint: roc needs scores",
    "scores": "CurveError: rec cannot be computed from a score table.\n  hint: rec needs an ErrorTable",
    "option": "CurveError: rec has no option 'bins'.\n  seen: its options: 'scale'\n  hint: one of these",
    "drawn": [True] * 5,
    "band": "DKW",
    "page": True,
    "option page": True,
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The surroundings of a process in which a distribution with that module is installed, as pip would leave it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "residual_curves.py").write_text(RESIDUALS, encoding="utf-8")
    about = folder / "residual_curves-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: residual-curves\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[scorespace]\nresiduals = residual_curves\n")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "120", "NO_COLOR": "1"}


def done(command, environment, where):
    return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)


def test_python_knows_it(installed, tmp_path):
    found = done([sys.executable, "-c", CODE], installed, tmp_path)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == EXPECTED


def test_the_command_line_lists_explains_and_refuses_it(installed, tmp_path):
    command = Path(sys.executable).with_name("scorespace")
    listed = done([command, "curves"], installed, tmp_path)
    assert "Share of cases whose error is at most the tolerance: P(|e| ≤ x)." in listed.stdout
    explained = done([command, "curves", "rec_curve"], installed, tmp_path).stdout
    for words in ("share within against tolerance", "the mean share within", "--band", "rec(scale=1)"):
        assert words in explained
    assert "scale=1: what an error is divided by" in explained
    told = done([command, "curve", "--help-all"], installed, tmp_path).stdout.replace("│", " ")
    assert ", rec" in " ".join(told.split())
    (tmp_path / "data.csv").write_text("y,s\n1,0.9\n0,0.1\n")
    asked = ["data.csv", "--truth", "y", "--score", "s", "--kind", "rec"]
    refused = done([command, "curve", *asked], installed, tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "CurveError: rec cannot be computed from a score table.\n  hint: rec needs an ErrorTable\n"
    )


def test_it_is_not_there_otherwise():
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))["_curves"]()
    assert "Regression error characteristic" not in page
