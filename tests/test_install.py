"""The way in: the wheel alone, in an empty environment without the clone, and README's blocks exactly as printed.

Of other packages the environment has only those that scorespace asks for, linked from the one that runs the tests.
"""

import os
import re
import runpy
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
generate = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "generate.py")))


def needed(name, found=None):
    """The distributions that one needs, without extras, by name."""
    found = {} if found is None else found
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        if wanted.name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found[wanted.name] = distribution(wanted.name)
            needed(wanted.name, found)
    return found


@pytest.fixture(scope="module")
def bin(tmp_path_factory):
    """The commands of an environment that has the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("install")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("scorespace-*.whl")
    venv.create(folder / "empty", with_pip=False, symlinks=os.name != "nt")
    (site,) = {path.resolve() for path in (folder / "empty").glob("[lL]ib*/**/site-packages")}  # lib64 is lib
    for one in needed("scorespace").values():
        home = Path(one.locate_file(""))
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(home / top)
    scripts = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "empty")]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    return scripts


def ended(command, folder, env, shell=False):
    return subprocess.run(command, shell=shell, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def done(bin, tmp_path_factory):
    """Every command of README's first block in an empty folder, in their order; then its Python."""
    folder = tmp_path_factory.mktemp("work")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    clean |= {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}
    ran = {}
    for command in generate.commands(README):
        run = subprocess.run(
            command.line, shell=True, cwd=folder, env=clean, capture_output=True, text=True, check=False
        )
        ran[command.line] = run
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
    where = "import scorespace; assert 'site-packages' in scorespace.__file__, scorespace.__file__\n"
    python = [str(bin / "python"), "-W", "error", "-c", where + code]
    ran["python"] = ended(python, folder, clean)
    return folder, ran


def test_readme_runs_as_printed_from_the_wheel_alone(done):
    folder, ran = done
    assert {line: run.stderr for line, run in ran.items() if run.returncode or "arning" in run.stderr} == {}
    written = {"scorespace-demo.html", "credit.csv", "iris.csv", "credit.html", "calibration.png"}
    assert written <= {path.name for path in folder.iterdir()}


def test_the_demo_ends_with_the_first_commands_of_the_readme(done):
    _, ran = done
    lines = ran["scorespace demo"].stdout.splitlines()[-3:]
    commands = [line.removeprefix("next").strip() for line in lines]
    assert [command for command in commands if f"$ {command}\n" not in README] == []
    assert commands[0] == "scorespace demo --copy"


def test_the_doctor_says_which_extra_is_missing(done):
    _, ran = done
    out = ran["scorespace doctor"].stdout
    line = next(line for line in out.splitlines() if line.startswith("scikit-learn"))
    assert "missing" in line
    assert "pip install 'scorespace[experiments]'" in " ".join(out.split())
    assert next(line for line in out.splitlines() if line.startswith("numpy")).split()[1][0].isdigit()
