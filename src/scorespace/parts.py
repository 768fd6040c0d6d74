"""What scorespace stands on: the packages it needs, the extras it can use, and the plug-ins that add to it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final

from scorespace.declaration import BROKEN, load_plugins, plugins
from scorespace.errors import DataError
from scorespace.frozen import dataclass

_USES: Final = {
    "numpy": "arrays, and all arithmetic",
    "scipy": "distributions and isotonic regression",
    "narwhals": "frames of pandas, polars, pyarrow and others",
    "duckdb": "reading files",
    "altair": "charts in notebooks",
    "vl-convert-python": "pictures: .png, .svg, .pdf",
    "rich": "tables in the terminal",
    "typer": "the command line",
    "jinja2": "the report",
    "pandas": "frames of pandas, where you have them",
    "polars": "frames of polars, where you have them",
    "pyarrow": "Arrow tables, where you have them",
    "scikit-learn": "learners, and estimators to evaluate",
    "joblib": "learners in parallel",
    "skops": "final models that are saved",
    "skl2onnx": "final models that are saved as ONNX",
    "distributed": "learners on a Dask cluster",
    "pyspark": "data on a Spark cluster",
}
_FRAMES: Final = ("pandas", "polars", "pyarrow")
_HIDDEN: Final = ("dev", "bench", "data")  # extras of those who work on scorespace
_REQUIRED = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra == [\"'](?P<extra>[\w-]+)[\"'].*)?")


@dataclass(frozen=True)
class Part:
    """A package, a plug-in or Python itself: its version, or what to do where it is missing."""

    name: str
    version: str | None
    use: str
    needed: bool = True
    hint: str | None = None

    @property
    def told(self) -> str:
        """What it is for, and what to do where it is missing."""
        return self.use if self.version is not None or self.hint is None else f"{self.use}: {self.hint}"

    def row(self) -> dict[str, Any]:
        return asdict(self)


def required(module: str, extra: str) -> Any:
    """A module of an extra; where it is absent, the error says how to get it.

    >>> required("no_such_module", "experiments")
    Traceback (most recent call last):
    scorespace.errors.DataError: no_such_module is not installed.
      hint: pip install 'scorespace[experiments]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        absent = (error.name or module).partition(".")[0]
        name = {"sklearn": "scikit-learn"}.get(absent, absent)
        raise DataError(f"{name} is not installed.", hint=f"pip install 'scorespace[{extra}]'") from None


def parts() -> list[Part]:
    """Everything, in the order in which a reader looks for it."""
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        Part("scorespace", version("scorespace"), "this package"),
        Part("Python", python, sys.executable),
        *_packages(),
        *(Part(name, _version(name), _USES[name], False, f"pip install {name}") for name in _FRAMES),
        *_plugins(),
    ]


def _packages() -> list[Part]:
    """What the package asks for, the necessary first and then what the extras add."""
    asked = [match for text in requires("scorespace") or () if (match := _REQUIRED.match(text))]
    size = Counter(match["extra"] for match in asked)
    found: dict[str, Part] = {}
    asked.sort(key=lambda one: (one["extra"] is not None, size[one["extra"]]))
    for match in asked:  # of several extras, the smallest that has it
        name, extra = match["name"], match["extra"]
        if extra in _HIDDEN or name in ("scorespace", *_FRAMES):
            continue
        hint = "pip install scorespace" if extra is None else f"pip install 'scorespace[{extra}]'"
        found.setdefault(name, Part(name, _version(name), _USES.get(name, ""), extra is None, hint))
    return sorted(found.values(), key=lambda one: (not one.needed, one.name))


def _plugins() -> list[Part]:
    load_plugins()
    found = ((one, BROKEN.get(one.name)) for one in plugins())
    return [Part(f"plug-in {one.name}", None if why else "loaded", one.value, False, why) for one, why in found]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
