"""Builds wheel and sdist, checks them, installs the wheel in an empty environment of every Python, and uploads nothing.

`make release` runs it. The last lines are the files that an upload would send.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
IN_WHEEL: Final = ("scorespace/py.typed", "scorespace/data/german_credit.csv", "scorespace/report/assets/page.html")
IN_SDIST: Final = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "constraints.txt", "tests/conftest.py")


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return its output; a failure shows it and ends the release."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def built() -> tuple[Path, Path]:
    """The wheel and the sdist of this checkout."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", DIST)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    """Refuse files that are missing, and tests or caches in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    with tarfile.open(sdist) as archive:
        source = [name.partition("/")[2] for name in archive.getnames()]
    missing = [name for name in IN_WHEEL if name not in names] + [name for name in IN_SDIST if name not in source]
    foreign = [name for name in names if not name.startswith("scorespace") or "__pycache__" in name]
    if missing or foreign:
        sys.exit(f"missing: {missing}; not meant for the wheel: {foreign}")


def check_install(wheel: Path, python: str) -> str:
    """Install the wheel in an empty environment of a Python and run the demo there."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run(python, "-m", "venv", home / "env")
        run(home / "env/bin/python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
        version = run(home / "env/bin/scorespace", "--version", cwd=home).strip()
        run(home / "env/bin/scorespace", "demo", "--report", "demo.html", cwd=home)
        if not (home / "demo.html").exists():
            sys.exit(f"the demo of {python} wrote no report")
    return version


def found_python(version: str) -> str | None:
    """A Python of that version: on the path, or one that pyenv keeps."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for python in (shutil.which(f"python{version}"), *map(str, kept)):
        if python and subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def main() -> None:
    """Build, check, install, and print what an upload would send."""
    wheel, sdist = built()
    check_contents(wheel, sdist)
    tried = []
    for version in PYTHONS:
        python = found_python(version)
        if python is not None:
            tried.append(f"Python {version}: {check_install(wheel, python)}")
    print("\n".join(tried))
    print("twine upload would send:")
    for file in (wheel, sdist):
        print(f"  {file.name}  {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
