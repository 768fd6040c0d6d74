"""`scorespace study`: one learner on one data set, looked at closely; and its final model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scorespace.cli import options, output
from scorespace.cli.options import flag, switch
from scorespace.errors import ScoreSpaceError
from scorespace.results import Row

if TYPE_CHECKING:
    from scorespace.views.document import Document

_MODELS = (".skops", ".onnx", ".pkl", ".joblib")
_NAMES = "--target COL --learner NAME"


Kind = Literal["permutation", "learning", "model", "inner", "bias"]


def study(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="permutation: does it learn anything? learning: would more cases help? model: the final one, saved. "
            "inner: does what it chose on inner folds hold? bias: how much of its error is variance? "
            "These two read the directory of a run, too.",
        ),
    ],
    data: options.Data,
    target: Annotated[str | None, flag("COL", "The column to predict.")] = None,
    learner: Annotated[
        str | None,
        flag(
            "NAME", "As for benchmark: naive_bayes, forest, knn(k=5), module:factory, …; of a run, all if not stated."
        ),
    ] = None,
    dataset: options.Dataset = None,
    resampling: Annotated[str, flag("HOW", "How cases are split: 10, 5x2, holdout:0.3, …")] = "10",
    measure: Annotated[
        str | None,
        flag(
            "NAME",
            "auc, auc[hand_till] or r2 if not stated, as the data have it.",
            autocompletion=options.measure_names,
        ),
    ] = None,
    positive: options.Positive = None,
    group: Annotated[list[str], flag("COL", "Groups of related rows; repeatable.")] = [],
    drop: Annotated[list[str], flag("COL", "A column that is no feature; repeatable.")] = [],
    where: options.Where = None,
    allow_remote: options.AllowRemote = False,
    permutations: Annotated[int, flag(None, "How often labels are permuted.", min=1)] = 200,
    workers: Annotated[int, flag("N", "Processes for permutations.", min=1)] = 1,
    pickle: Annotated[
        bool, switch("--pickle", "Save the model as a pickle, which runs code when it is loaded.")
    ] = False,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, flag("FILE", "The picture (.png .svg .pdf .html), or the model (.skops .onnx).")
    ] = None,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Look closely at one learner: permuted labels, its learning curve, its inner folds, or its final model, saved.

    Example: scorespace study permutation loans.csv --target risk --learner naive_bayes --out null.png
    """
    options.check_output(out, _MODELS if kind == "model" else options.PICTURES, data)
    options.check_output(report, (".html",), data)
    if kind == "model" and report is not None:
        raise ScoreSpaceError("a model that is saved has no page.", hint="no --report")
    from scorespace.experiments.data import dataset as read
    from scorespace.experiments.store import is_run
    from scorespace.views.document import Picture

    if is_run(data):
        page, content = _of_run(kind, data, dataset, learner, positive)
    elif kind == "bias":
        raise ScoreSpaceError(
            f"{data!r} is no run, and bias and variance are told by its repeats.",
            hint="scorespace benchmark … --resampling 10x10 --out DIR, then study bias DIR",
        )
    elif target is None or learner is None:
        raise ScoreSpaceError(f"study {kind} is not told which learner is to predict what.", hint=_NAMES)
    else:
        cases = read(options.chosen(data, where), target, groups=group, positive=positive, drop=drop)
        if kind == "model":
            _keep(learner, cases, out, pickle, seed, format)
            return
        asked = {"resampling": resampling, "measure": measure, "positive": positive, "seed": seed}
        asked |= {"permutations": permutations, "workers": workers} if kind == "permutation" else {}
        page, content = _of_data(kind, learner, cases, asked)
    drawn = [block.draw for section in page.sections for block in section.blocks if isinstance(block, Picture)]
    if out is not None and not drawn:
        raise ScoreSpaceError("there is no picture of these numbers.", hint="leave out --out")
    output.result(page, content, format, report=report, out=out, draw=drawn[0] if drawn else None)


def _of_data(kind: Kind, learner: str, cases: Any, asked: dict[str, Any]) -> tuple[Document, Row]:
    """What a learner does when it is fitted to data again and again."""
    from scorespace.views import study as view

    if kind == "inner":
        from scorespace.experiments.nested import nested_scores

        return _inner([(cases.name, nested_scores(learner, cases, **asked))])
    from scorespace.experiments.overfitting import learning_curve
    from scorespace.experiments.permute import permute_labels

    with output.progress("training") as progress:
        if kind == "permutation":
            test = permute_labels(learner, cases, **asked, progress=progress)
            return view.permutation(test), test.to_dict()
        curve = learning_curve(learner, cases, **asked, progress=progress)
        return view.learning(curve), curve.to_dict()


def _of_run(
    kind: Kind, path: str, dataset: str | None, learner: str | None, positive: str | None
) -> tuple[Document, Row]:
    """What the directory of a run knows of its learners; nothing is fitted."""
    from scorespace.experiments.store import open_run

    run = open_run(path)
    if kind not in ("inner", "bias"):
        raise ScoreSpaceError(
            f"study {kind} fits a learner to data, and {path!r} is a run.", hint=f"DATA {_NAMES}; or bias, inner"
        )
    pairs = [
        (one, each)
        for one in ([dataset] if dataset else run.datasets)
        for each in ([learner] if learner else run.learners)
        if run.files(one, each)
    ]
    if kind == "inner":
        from scorespace.experiments.nested import nested_of_run

        found = [(one, nested_of_run(run, one, each, positive)) for one, each in pairs]
        told = [(one, nested) for one, nested in found if nested is not None]
        if not told:
            raise ScoreSpaceError(
                f"no learner of {path!r} kept what it chose by on inner folds.",
                hint="a learner that chooses, such as tree or a search of scikit-learn",
            )
        return _inner(told)
    from scorespace.experiments.overfitting import bias_of_run
    from scorespace.views import study as view

    parts = [
        (one, bias_of_run(run, one, each, probabilities=scores))
        for one, each in pairs
        for scores in ((False,) if run.of(one).task == "numbers" else (False, True))
    ]
    if not parts:
        raise ScoreSpaceError(f"nothing is finished in {path!r} yet.", hint=f"scorespace benchmark status {path}")
    rows = [{"dataset": one, **part.row()} for one, part in parts]
    return view.bias(parts, run.resampling), {"schema": 1, "rows": rows, "notes": []}


def _inner(found: list[tuple[str, Any]]) -> tuple[Document, Row]:
    from scorespace.views import study as view

    rows = [{"dataset": name, **one.row()} for name, one in found]
    verdicts = " ".join(one.words[0].upper() + one.words[1:] for _, one in found)
    return view.inner(found), {"schema": 1, "rows": rows, "verdict": verdicts, "notes": []}


def _keep(learner: str, cases: Any, out: Path | None, pickle: bool, seed: int, form: options.Format) -> None:
    """Save the learner fitted to all rows."""
    if out is None:
        raise ScoreSpaceError("a model is saved to a file.", hint="--out model.skops")
    from scorespace.experiments.keep import keep_model
    from scorespace.views.document import Document, Notes, Section, Text

    kept = keep_model(learner, cases, out, pickle=pickle, seed=seed)
    blocks = (Text(repr(kept)), Notes(kept.notes)) if kept.notes else (Text(repr(kept)),)
    content: Row = {"schema": 1, "rows": [kept.to_dict()], "notes": [one.to_dict() for one in kept.notes]}
    output.write(Document("Final model", repr(cases), (Section("model", "Model", blocks, brief=True),)), content, form)
