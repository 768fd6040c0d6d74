"""Running the command line: in this process for speed, or as users do."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer import rich_utils

from scorespace.cli import main

ORACLES = Path(__file__).parents[1] / "oracles"


@dataclass(frozen=True)
class Run:
    """What a command wrote and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Its output as strict JSON: NaN and Infinity are refused."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(token: str) -> None:
    raise ValueError(f"{token} is not JSON")


@pytest.fixture(autouse=True)
def _plain_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns without colours, whatever the surroundings ask for."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(rich_utils, "FORCE_TERMINAL", None)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """`run("evaluate", "data.csv", …)` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, stdin: str = "", columns: int = 80) -> Run:
        monkeypatch.setattr(sys, "argv", ["scorespace", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        monkeypatch.setenv("COLUMNS", str(columns))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return Run(int(left.value.code or 0), *capsys.readouterr())

    return command


@pytest.fixture(scope="session")
def command() -> str:
    """Where the installed command is."""
    return str(Path(sys.executable).with_name("scorespace"))


@pytest.fixture
def shell(command: str, tmp_path: Path) -> Callable[..., Run]:
    """The same in a process of its own, as users run it."""

    def run(*arguments: str) -> Run:
        done = subprocess.run(
            [command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """Put text into a file of the folder, and give its name."""

    def text(name: str, content: str) -> str:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return name

    return text


@pytest.fixture
def asah(tmp_path: Path) -> list[str]:
    """Arguments for the aSAH data, whose numbers pROC knows."""
    shutil.copy(ORACLES / "asah.csv", tmp_path)
    return ["asah.csv", "--truth", "outcome", "--positive", "Poor", "--score", "s100b", "--score", "ndka"]


@pytest.fixture
def credit(tmp_path: Path) -> list[str]:
    """Arguments for the bundled predictions, without a model."""
    (tmp_path / "credit.csv").write_bytes((files("scorespace.data") / "german_credit.csv").read_bytes())
    return ["credit.csv", "--truth", "outcome", "--positive", "bad"]


@pytest.fixture(scope="session")
def oracles() -> Path:
    """Where the numbers of other programs are."""
    return ORACLES


@pytest.fixture(scope="session")
def proc() -> dict[str, Any]:
    """What pROC says about the two predictors of the aSAH data."""
    return json.loads((ORACLES / "proc_asah.json").read_text())["per_predictor"]
