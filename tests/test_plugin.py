"""A stranger's distribution, one file and an entry point, brings a kind of table with all that goes with it.

It adds a table of residuals, a measure, a curve, a test, a finding, a section and a verb.
Nothing in the package knows of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

MODULE = '''
"""Residuals: how far predicted numbers are from the true ones."""

from dataclasses import dataclass, replace

import numpy as np

from scorespace.cli import output
from scorespace.cli.options import OutputFormat
from scorespace.cli.verbs import verb
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import test
from scorespace.comparisons.design import PairedModels
from scorespace.curves.curve import Curve, curve
from scorespace.evaluation.findings import FindingContext, finding
from scorespace import evaluate
from scorespace.measures import measure
from scorespace.tables import Array, Table, ratio
from scorespace.tables.table_kind import table_kind
from scorespace.report.document import Grid, Text
from scorespace.report.sections import section


@dataclass(frozen=True, eq=False)
class StrangeTable(Table):
    """Residuals of cases with their weights."""

    residual: Array
    weight: Array

    def described(self):
        return "residuals"

    @property
    def cells(self):
        return self.weight

    @property
    def strata(self):
        return np.zeros(self.residual.size, dtype=np.intp)

    @property
    def by_case(self):
        return True

    @property
    def copies(self):
        return False

    def with_cells(self, cells):
        return replace(self, weight=cells)

    def part(self, cell):
        return replace(self, residual=self.residual[cell], weight=self.weight[cell]), np.arange(cell.size)

    def __add__(self, other):
        return StrangeTable(np.append(self.residual, other.residual), np.append(self.weight, other.weight))


@table_kind("numeric predictions")
def strange(truth, column, weight):
    return StrangeTable(column - truth, np.ones(truth.size) if weight is None else weight)


@measure(title="Mean absolute residual", range=(0, float("inf")), best="low", undefined="there are no cases")
def off_by(t: StrangeTable) -> Array:
    """How far predictions miss on average: Σ |r| / n."""
    return ratio(t.weight @ np.abs(t.residual), t.weight.sum(axis=-1))


@curve(title="Residual curve", x="Share of cases", y="Residual at most")
def missing(t: StrangeTable) -> Curve:
    """How large the residuals are that so many cases have at most."""
    size = np.sort(np.abs(t.residual))
    return Curve("missing", np.arange(1, size.size + 1) / size.size, size, size, "Share of cases", "Residual at most")


@finding("XX001", level="warning", title="predictions lean to one side")
def leaning(table: StrangeTable, look: FindingContext) -> str | None:
    mean = float(np.average(table.residual, weights=table.weight))
    return f"{look.model} leans by {mean:+.2f}." if abs(mean) > 0.5 else None


@section("Strange")
def strange_section(evaluation):
    names = [name for name, table in evaluation.models.items() if type(table) is StrangeTable]
    return [Text(f"Residuals of {', '.join(names)}.")] if names else []
'''
TEST = '''

@test(title="Sign test of residuals", for_="off_by")
def nearer(question: PairedModels[StrangeTable]) -> Comparison:
    """Which of two models is nearer to the truth more often."""
    a, b = (np.abs(table.residual) for table in question.tables)
    nearer_a, nearer_b = int((a < b).sum()), int((b < a).sum())
    gap = (nearer_a - nearer_b) / a.size
    return Comparison(*question.names, "nearer", str(question.spec), gap, p=1.0 if nearer_a == nearer_b else 0.5)
'''


VERB = '''

@verb("Residuals")
def residuals(data: str, truth: str, prediction: str, format: OutputFormat = "table") -> None:
    """Print the mean absolute residual of a column.

    Example: scorespace residuals numbers.csv y near
    """
    value = evaluate(data, truth=truth, models={"m": f"strange({prediction})"}).measures("off_by")[0].value
    output.write_grid(Grid(("off_by",), ((f"{value:.4f}",),)), {"rows": [{"off_by": value}]}, format)
'''


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module and the metadata of an installed distribution."""
    home = tmp_path_factory.mktemp("site")
    (home / "strange_residuals.py").write_text(MODULE + TEST + VERB, encoding="utf-8")
    about = home / "strange_residuals-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-residuals\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[scorespace]\nstrange = strange_residuals\n")
    rng = np.random.default_rng(1)
    truth = rng.normal(10, 3, 200)
    near, far = truth + rng.normal(0, 1, 200), truth + 1 + rng.normal(0, 2, 200)
    rows = "\n".join(f"{y:.4f},{a:.4f},{b:.4f}" for y, a, b in zip(truth, near, far, strict=True))
    (home / "numbers.csv").write_text(f"y,near,far\n{rows}\n")
    return home


@pytest.fixture(scope="module")
def ask(stranger: Path):
    """Run a verb of the command line with the stranger installed."""

    def run(*words: str, code: int = 0) -> str:
        path = os.pathsep.join([str(stranger), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "scorespace", *words],
            cwd=stranger,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


MODELS = ("numbers.csv", "--truth", "y", "--model", "near=strange(near)", "--model", "far=strange(far)")


def expected(stranger: Path, column: int) -> float:
    rows = np.loadtxt(stranger / "numbers.csv", delimiter=",", skiprows=1)
    return float(np.abs(rows[:, column] - rows[:, 0]).mean())


def test_evaluate_shows_its_measure_with_an_interval_and_its_finding(ask, stranger):
    told = ask("evaluate", *MODELS)
    assert "off_by ↓" in told
    assert "XX001 far leans by +" in told
    found = json.loads(ask("evaluate", *MODELS, "--format", "json"))
    rows = {row["model"]: row for row in found["rows"] if row["measure"] == "off_by"}
    for column, model in ((1, "near"), (2, "far")):
        row = rows[model]
        assert row["value"] == pytest.approx(expected(stranger, column), abs=1e-9)
        # The mean of 200 absolute residuals: its interval is about ± 2 standard errors wide.
        assert row["low"] < row["value"] < row["high"]
        assert row["high"] - row["low"] < 0.6
    assert found["verdict"].startswith("No clear difference in off_by: near ")  # its test says p = 0.5


def test_compare_uses_its_test_and_the_bootstrap(ask):
    drawn = json.loads(ask("compare", *MODELS, "--measure", "off_by", "--test", "bootstrap", "--format", "json"))
    assert drawn["rows"][0]["p"] < 0.01
    own = json.loads(ask("compare", *MODELS, "--measure", "off_by", "--test", "nearer", "--format", "json"))
    assert own["rows"][0]["test"] == "nearer"
    assert "nearer" in ask("tests")


def test_curve_writes_its_curve(ask, stranger):
    found = json.loads(ask("curve", *MODELS, "--kind", "missing", "--format", "json"))
    assert {row["model"] for row in found["rows"]} == {"near", "far"}
    ask("curve", *MODELS, "--kind", "missing", "--out", "missing.svg")
    assert (stranger / "missing.svg").read_text().startswith("<svg")
    assert "missing" in ask("curves")


def test_the_report_has_its_section_and_the_catalogue_its_measure(ask, stranger):
    ask("evaluate", *MODELS, "--report", "strange.html")
    page = (stranger / "strange.html").read_text(encoding="utf-8")
    assert "Residuals of near, far." in page
    assert "off_by" in page
    assert "How far predictions miss on average" in ask("measures", "off_by")


def test_its_verb_is_listed_with_help_and_runs(ask, stranger):
    assert "Print the mean absolute residual of a column." in ask("--help")
    assert "scorespace residuals numbers.csv y near" in ask("residuals", "--help")
    found = json.loads(ask("residuals", "numbers.csv", "y", "near", "--format", "json"))
    assert found["rows"][0]["off_by"] == pytest.approx(expected(stranger, 1), abs=1e-9)


def test_nothing_in_the_package_knows_of_it():
    import scorespace

    sources = Path(scorespace.__file__).parent.rglob("*.py")
    assert not [path for path in sources if "off_by" in path.read_text(encoding="utf-8")]
