"""Fit a learner to all rows of a data set, and save it in a format that runs no code when loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from scorespace.dependencies import import_optional
from scorespace.errors import DataError, listing, one_line_message
from scorespace.experiments.fit import fit_errors
from scorespace.experiments.single_fit import resolve_study
from scorespace.files import write_file
from scorespace.results import Note, Row, grouped, note

_TRUSTED_LIBRARIES: Final = ("sklearn", "scorespace", "numpy", "scipy")
"""Libraries whose classes a loaded model may contain."""


@dataclass(frozen=True)
class SavedModel:
    """A saved model: its learner, the number of rows it was fitted to, and its path."""

    learner: str
    dataset: str
    rows: int
    path: Path
    form: str
    model: Any
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> Row:
        content = {"learner": self.learner, "dataset": self.dataset, "rows": self.rows, "path": str(self.path)}
        return {**content, "form": self.form, "notes": [note.to_dict() for note in self.notes]}

    def __repr__(self) -> str:
        return f"{self.learner}, fitted to all {grouped(self.rows)} rows of {self.dataset}: {self.path} ({self.form})"


def keep_model(learner: Any, data: Any, path: str | Path, *, pickle: bool = False, seed: int = 0) -> SavedModel:
    """Fit a learner to all rows and save it as `.skops` or `.onnx`, which run no code when loaded.

    A pickle can run arbitrary code when loaded. Expect the performance that resampling estimates, not the fit to these
    rows.

    Parameters
    ----------
    learner : str or estimator
        A name from the catalogue of learners, an estimator of scikit-learn, or a mapping of one name to it.
    data : Dataset or tuple of X and y
        The cases; see `dataset`.
    path : path
        The file; its extension is .skops, .onnx, or, for a pickle, .pkl, .pickle or .joblib.
    pickle : bool
        Whether a pickle may be written.
    seed : int
        Seed of all random draws; equal seeds give equal results.

    Returns
    -------
    SavedModel
        The fitted model and its file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> cases = [[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10
    >>> with TemporaryDirectory() as folder:
    ...     keep_model("naive_bayes", cases, f"{folder}/model.skops").rows
    40
    """
    target = Path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        problem = f"a model cannot be saved as {target.suffix or 'a file without an extension'}."
        raise DataError(problem, seen=", ".join(_WRITERS), hint="model.skops")
    if writer is _to_pickle and not pickle:
        problem = f"{target.name!r} would be a pickle, which can run code when loaded."
        raise DataError(problem, hint="model.skops, or pickle=True if only you will load it")
    fitting, cases = resolve_study(learner, data)
    design = fitting.design(cases)
    with fit_errors(fitting, cases.rows):
        model = fitting.estimator(cases, seed).fit(design, cases.truth)  # class labels, not indices
    write_file(target, writer(model, design))
    warning = note("SS072", f"{target.name} is a pickle, which can run code when loaded.")
    name = target.suffix.lower().removeprefix(".")
    return SavedModel(
        fitting.name, cases.name, cases.rows, target, name, model, (warning,) if writer is _to_pickle else ()
    )


def load_model(path: str | Path) -> Any:
    """Load a model saved as .skops; files with types outside scikit-learn and scorespace are refused.

    Parameters
    ----------
    path : path
        The .skops file.

    Returns
    -------
    estimator
        The fitted model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> cases = [[0.1], [0.4], [0.6], [0.9]] * 10, [0, 0, 1, 1] * 10
    >>> with TemporaryDirectory() as folder:
    ...     saved = keep_model("naive_bayes", cases, f"{folder}/model.skops")
    ...     load_model(saved.path).predict(np.array([[0.0], [1.0]])).tolist()
    [0, 1]
    """
    io = import_optional("skops.io", "keep")
    try:
        content = Path(path).read_bytes()
        kinds = io.get_untrusted_types(data=content)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise DataError(
            f"{str(path)!r} is not a readable model.",
            seen=str(error).splitlines()[0],
            hint="a file of scorespace study model … --out m.skops",
        ) from None
    untrusted = [kind for kind in kinds if kind.partition(".")[0] not in _TRUSTED_LIBRARIES]
    if untrusted:
        raise DataError(
            f"{Path(path).name} contains types of unknown libraries.",
            seen=listing(untrusted),
            hint="load only models that you saved yourself",
        )
    return io.loads(content, trusted=kinds)


def _to_skops(model: Any, design: Any) -> bytes:
    return bytes(import_optional("skops.io", "keep").dumps(model))


def _to_onnx(model: Any, design: Any) -> bytes:
    converter = import_optional("skl2onnx", "keep")
    sample = np.asarray(design[:1], dtype=np.float32) if not hasattr(design, "iloc") else design.iloc[:1]
    try:
        return bytes(converter.to_onnx(model, sample, options={"zipmap": False}).SerializeToString())
    except Exception as error:  # any step may lack an ONNX counterpart
        seen = one_line_message(error, 160)
        raise DataError("this model cannot be written as ONNX.", seen=seen, hint="model.skops") from None


def _to_pickle(model: Any, design: Any) -> bytes:
    import pickle

    return pickle.dumps(model)


_WRITERS: Final[dict[str, Callable[[Any, Any], bytes]]] = {
    ".skops": _to_skops,
    ".onnx": _to_onnx,
    ".pkl": _to_pickle,
    ".pickle": _to_pickle,
    ".joblib": _to_pickle,
}
