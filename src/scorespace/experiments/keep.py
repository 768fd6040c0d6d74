"""The final model: a learner fitted to all rows of a data set, and saved in a form that runs no code when loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from scorespace.errors import DataError, in_one_line, listing
from scorespace.experiments.fit import told
from scorespace.experiments.trial import studied
from scorespace.files import write_file
from scorespace.frozen import dataclass
from scorespace.parts import required
from scorespace.results import Note, Row, grouped, note

_TRUSTED: Final = ("sklearn", "scorespace", "numpy", "scipy")
"""Whose kinds a model may be made of."""


@dataclass(frozen=True)
class Kept:
    """A saved model: of which learner, fitted to how many rows, and where it is."""

    learner: str
    dataset: str
    rows: int
    path: Path
    form: str
    model: Any
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> Row:
        told = {"learner": self.learner, "dataset": self.dataset, "rows": self.rows, "path": str(self.path)}
        return {**told, "form": self.form, "notes": [one.to_dict() for one in self.notes]}

    def __repr__(self) -> str:
        return f"{self.learner}, fitted to all {grouped(self.rows)} rows of {self.dataset}: {self.path} ({self.form})"


def keep_model(learner: Any, data: Any, path: str | Path, *, pickle: bool = False, seed: int = 0) -> Kept:
    """Fit a learner to all rows and save it: `.skops` or `.onnx`, which run no code when they are loaded.

    A pickle (`.pkl`, `.joblib`) runs whatever somebody put into it, so it is written with pickle=True only. What the
    model will do on new cases is what its resampling says, and not how well it fits these.
    """
    where = Path(path)
    form = _FORMS.get(where.suffix.lower())
    if form is None:
        problem = f"a model is not saved as {where.suffix or 'a file without an ending'}."
        raise DataError(problem, seen=", ".join(_FORMS), hint="model.skops")
    if form is _pickled and not pickle:
        problem = f"{where.name!r} would be a pickle, which runs code when it is loaded."
        raise DataError(problem, hint="model.skops, or pickle=True if only you will load it")
    fitting, cases = studied(learner, data)
    design = fitting.design(cases)
    with told(fitting, cases.rows):
        model = fitting.estimator(cases, seed).fit(design, cases.truth)  # classes by their names
    write_file(where, form(model, design))
    warning = note("SS072", f"{where.name} is a pickle: whoever loads it runs what is in it.")
    name = where.suffix.lower().removeprefix(".")
    return Kept(fitting.name, cases.name, cases.rows, where, name, model, (warning,) if form is _pickled else ())


def load_model(path: str | Path) -> Any:
    """A model that was saved as .skops; a file that holds anything but scikit-learn's parts and ours is refused."""
    io = required("skops.io", "keep")
    try:
        content = Path(path).read_bytes()
        kinds = io.get_untrusted_types(data=content)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise DataError(
            f"{str(path)!r} holds no model that can be read.",
            seen=str(error).splitlines()[0],
            hint="a file of scorespace study model … --out m.skops",
        ) from None
    strange = [kind for kind in kinds if kind.partition(".")[0] not in _TRUSTED]
    if strange:
        raise DataError(
            f"{Path(path).name} holds code that is not known.",
            seen=listing(strange),
            hint="read only models that you saved yourself",
        )
    return io.loads(content, trusted=kinds)


def _skops(model: Any, design: Any) -> bytes:
    return bytes(required("skops.io", "keep").dumps(model))


def _onnx(model: Any, design: Any) -> bytes:
    converter = required("skl2onnx", "keep")
    sample = np.asarray(design[:1], dtype=np.float32) if not hasattr(design, "iloc") else design.iloc[:1]
    try:
        return bytes(converter.to_onnx(model, sample, options={"zipmap": False}).SerializeToString())
    except Exception as error:  # one of many kinds, for each step that has no counterpart there
        seen = in_one_line(error, 160)
        raise DataError("this model cannot be written as ONNX.", seen=seen, hint="model.skops") from None


def _pickled(model: Any, design: Any) -> bytes:
    import pickle

    return pickle.dumps(model)


_FORMS: Final[dict[str, Callable[[Any, Any], bytes]]] = {
    ".skops": _skops,
    ".onnx": _onnx,
    ".pkl": _pickled,
    ".pickle": _pickled,
    ".joblib": _pickled,
}
