"""Installed versions of scorespace, its dependencies, optional extras and plug-ins."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final

from scorespace.errors import DataError
from scorespace.registry import FAILED_PLUGINS, load_plugins, plugin_entry_points

_USES: Final = {
    "numpy": "arrays, and all arithmetic",
    "scipy": "distributions and isotonic regression",
    "narwhals": "frames of pandas, polars, pyarrow and others",
    "duckdb": "reading files",
    "python-calamine": "reading spreadsheets",
    "altair": "charts in notebooks",
    "vl-convert-python": "pictures: .png, .svg, .pdf",
    "rich": "tables in the terminal",
    "typer": "the command line",
    "jinja2": "the report",
    "starlette": "the local page",
    "uvicorn": "the local page",
    "lazy-loader": "public names that load when first used",
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
_FRAME_LIBRARIES: Final = ("pandas", "polars", "pyarrow")
_DEVELOPER_EXTRAS: Final = ("dev", "bench", "data")  # extras for developers of scorespace
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra == [\"'](?P<extra>[\w-]+)[\"'].*)?")


@dataclass(frozen=True)
class Dependency:
    """A package, a plug-in or Python itself, with its version, or how to install it."""

    name: str
    version: str | None
    use: str
    needed: bool = True
    hint: str | None = None

    @property
    def purpose_text(self) -> str:
        """What it is used for, and how to install it if it is missing."""
        return self.use if self.version is not None or self.hint is None else f"{self.use}: {self.hint}"

    def row(self) -> dict[str, Any]:
        return asdict(self)


def import_optional(module: str, extra: str) -> Any:
    """Import a module of an extra; if it is missing, the error says how to install it.

    >>> import_optional("no_such_module", "experiments")
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


def list_dependencies() -> list[Dependency]:
    """All dependencies: scorespace, Python, required packages, extras, frame libraries, plug-ins."""
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        Dependency("scorespace", version("scorespace"), "this package"),
        Dependency("Python", python, sys.executable),
        *_packages(),
        *(Dependency(name, _version(name), _USES[name], False, f"pip install {name}") for name in _FRAME_LIBRARIES),
        *_plugins(),
    ]


def _packages() -> list[Dependency]:
    """Required packages, then those of the extras."""
    requirements = [match for text in requires("scorespace") or () if (match := _REQUIREMENT.match(text))]
    size = Counter(match["extra"] for match in requirements)
    packages: dict[str, Dependency] = {}
    requirements.sort(key=lambda match: (match["extra"] is not None, size[match["extra"]]))
    for match in requirements:  # a package in several extras is listed under the smallest
        name, extra = match["name"], match["extra"]
        if extra in _DEVELOPER_EXTRAS or name in ("scorespace", *_FRAME_LIBRARIES):
            continue
        hint = "pip install scorespace" if extra is None else f"pip install 'scorespace[{extra}]'"
        packages.setdefault(name, Dependency(name, _version(name), _USES.get(name, ""), extra is None, hint))
    return sorted(packages.values(), key=lambda package: (not package.needed, package.name))


def _plugins() -> list[Dependency]:
    load_plugins()
    entries = ((entry, FAILED_PLUGINS.get(entry.name)) for entry in plugin_entry_points())
    return [Dependency(f"plug-in {e.name}", None if why else "loaded", e.value, False, why) for e, why in entries]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


SCIKIT_LEARN: Final = {
    "roc_curve": "ss.roc(y, p)",
    "precision_recall_curve": "ss.pr(y, p)",
    "det_curve": "ss.roc(y, p)",
    "calibration_curve": "ss.calibration(y, p)",
    "CalibrationDisplay": "ss.calibration(y, p).plot()",
    "RocCurveDisplay": "ss.roc(y, p).plot()",
    "PrecisionRecallDisplay": "ss.pr(y, p).plot()",
    "ConfusionMatrixDisplay": 'ss.evaluate(y, p).plot("confusion")',
    "d2_brier_score": "ss.evaluate(y, p)",
    "confusion_matrix": "ss.confusion(y, decided)",
    "multilabel_confusion_matrix": "ss.confusion(y, decided)",
    "classification_report": "ss.evaluate(y, decided)",
    "precision_recall_fscore_support": "ss.evaluate(y, decided)",
    "jaccard_score": "ss.jaccard(y, decided)",
    "class_likelihood_ratios": "ss.lr_pos(y, decided) and ss.lr_neg(y, decided)",
    "make_scorer": 'ss.scorer("auc")',
    "cross_val_score": "ss.benchmark(learners, datasets)",
    "train_test_split": "ss.benchmark(learners, datasets)",
    "TunedThresholdClassifierCV": "ss.decide(y, p, fp=1, fn=5)",
}
"""Names of scikit-learn that are no aliases of measures, and the call that does it here."""
