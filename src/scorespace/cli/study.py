"""`scorespace study`: diagnostics of one learner, and its final model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scorespace.cli import options, output
from scorespace.cli.common_options import CHART_AS_DRAWN, FigureOptions
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.errors import ScoreSpaceError
from scorespace.results import Row

if TYPE_CHECKING:
    from scorespace.report.document import Document

_MODELS = (".skops", ".onnx", ".pkl", ".joblib")
_LEARNER_HINT = "--target COL --learner NAME"


Kind = Literal["permutation", "learning", "model", "inner", "bias"]


@verb("Data, clusters, learners", 5)
def study(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="permutation: test against permuted labels. learning: learning curve. model: fit on all cases and "
            "save. inner: nested cross-validation, inner against outer scores. bias: bias-variance decomposition. "
            "inner and bias also accept the directory of a benchmark run.",
        ),
    ],
    data: options.Data,
    target: Annotated[str | None, flag("COL", "Column to predict.")] = None,
    learner: Annotated[
        str | None,
        flag("NAME", "As for benchmark: naive_bayes, forest, knn(k=5), module:factory, …; in a run, all by default."),
    ] = None,
    dataset: options.Dataset = None,
    resampling: Annotated[str, flag("HOW", "Resampling scheme: 10, 5x2, holdout:0.3, …")] = "10",
    measure: Annotated[
        str | None,
        flag(
            "NAME",
            "Measure; by default auc, auc[hand_till] (multiclass) or r2 (regression).",
            autocompletion=options.measure_names,
        ),
    ] = None,
    positive: options.Positive = None,
    group: Annotated[list[str], flag("COL", "Groups of related rows; repeatable.")] = [],
    drop: Annotated[list[str], flag("COL", "Column to exclude from the features; repeatable.")] = [],
    where: options.Where = None,
    sheet: options.Sheet = None,
    no_header: options.NoHeader = False,
    allow_remote: options.AllowRemote = False,
    permutations: Annotated[int, flag(None, "Number of label permutations.", min=1)] = 200,
    workers: Annotated[int, flag("N", "Parallel processes for permutations.", min=1)] = 1,
    pickle: Annotated[bool, switch("--pickle", "Save the model as a pickle; loading a pickle runs code.")] = False,
    seed: options.Seed = 0,
    out: Annotated[Path | None, flag("FILE", "Chart (.png .svg .pdf .html) or model (.skops .onnx).")] = None,
    figure: FigureOptions = CHART_AS_DRAWN,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Diagnose one learner: permutation test, learning curve, nested cross-validation, bias-variance, final model.

    Example: scorespace study permutation loans.csv --target risk --learner naive_bayes --out null.png
    """
    options.check_output(out, _MODELS if kind == "model" else options.PICTURES, data)
    options.check_output(report, (".html",), data)
    figure.check(out)
    if kind == "model" and report is not None:
        raise ScoreSpaceError("a saved model has no report.", hint="leave out --report")
    from scorespace.experiments.data import dataset as read
    from scorespace.experiments.store import is_run
    from scorespace.report.document import Picture

    if is_run(data):
        page, content = _of_run(kind, data, dataset, learner, positive)
    elif kind == "bias":
        raise ScoreSpaceError(
            f"{data!r} is not a benchmark run, and bias and variance need its repeats.",
            hint="scorespace benchmark … --resampling 10x10 --out DIR, then study bias DIR",
        )
    elif target is None or learner is None:
        raise ScoreSpaceError(f"study {kind} needs a target and a learner.", hint=_LEARNER_HINT)
    else:
        cases = read(options.filter_rows(data, where), target, groups=group, positive=positive, drop=drop)
        if kind == "model":
            _save_model(learner, cases, out, pickle, seed, format)
            return
        settings = {"resampling": resampling, "measure": measure, "positive": positive, "seed": seed}
        settings |= {"permutations": permutations, "workers": workers} if kind == "permutation" else {}
        page, content = _of_data(kind, learner, cases, settings)
    charts = [block.draw for section in page.sections for block in section.blocks if isinstance(block, Picture)]
    if out is not None and not charts:
        raise ScoreSpaceError("these results have no chart.", hint="leave out --out")
    output.write_result(
        page, content, format, report=report, out=out, draw=figure.drawing(charts[0] if charts else None)
    )


def _of_data(kind: Kind, learner: str, cases: Any, settings: dict[str, Any]) -> tuple[Document, Row]:
    """Study a learner by fitting it repeatedly to the data."""
    from scorespace.report import study as view

    if kind == "inner":
        from scorespace.experiments.nested import nested_scores

        return _inner([(cases.name, nested_scores(learner, cases, **settings))])
    from scorespace.experiments.label_permutation import permute_labels
    from scorespace.experiments.overfitting import learning_curve

    with output.progress("training") as progress:
        if kind == "permutation":
            test = permute_labels(learner, cases, **settings, progress=progress)
            return view.permutation(test), test.to_dict()
        curve = learning_curve(learner, cases, **settings, progress=progress)
        return view.learning(curve), curve.to_dict()


def _of_run(
    kind: Kind, path: str, dataset: str | None, learner: str | None, positive: str | None
) -> tuple[Document, Row]:
    """Study the learners of a benchmark run from its stored predictions, without fitting."""
    from scorespace.experiments.store import open_run

    run = open_run(path)
    if kind not in ("inner", "bias"):
        raise ScoreSpaceError(
            f"study {kind} fits a learner to data, but {path!r} is a run.", hint=f"DATA {_LEARNER_HINT}; or bias, inner"
        )
    pairs = [
        (dataset_name, learner_name)
        for dataset_name in ([dataset] if dataset else run.datasets)
        for learner_name in ([learner] if learner else run.learners)
        if run.files(dataset_name, learner_name)
    ]
    if kind == "inner":
        from scorespace.experiments.nested import nested_of_run

        scores = [
            (dataset_name, nested_of_run(run, dataset_name, learner_name, positive))
            for dataset_name, learner_name in pairs
        ]
        available = [(dataset_name, nested) for dataset_name, nested in scores if nested is not None]
        if not available:
            raise ScoreSpaceError(
                f"no learner of {path!r} stored scores of inner folds.",
                hint="a learner that selects on inner folds, such as tree or a scikit-learn search",
            )
        return _inner(available)
    from scorespace.experiments.overfitting import bias_of_run
    from scorespace.report import study as view

    decompositions = [
        (dataset_name, bias_of_run(run, dataset_name, learner_name, probabilities=scores))
        for dataset_name, learner_name in pairs
        for scores in ((False,) if run.of(dataset_name).task == "numbers" else (False, True))
    ]
    if not decompositions:
        raise ScoreSpaceError(f"no fit in {path!r} is finished yet.", hint=f"scorespace benchmark status {path}")
    rows = [{"dataset": dataset_name, **part.row()} for dataset_name, part in decompositions]
    return view.bias(decompositions, run.resampling), {"schema": 1, "rows": rows, "notes": []}


def _inner(results: list[tuple[str, Any]]) -> tuple[Document, Row]:
    from scorespace.report import study as view

    rows = [{"dataset": name, **result.row()} for name, result in results]
    verdicts = " ".join(result.words[0].upper() + result.words[1:] for _, result in results)
    return view.inner(results), {"schema": 1, "rows": rows, "verdict": verdicts, "notes": []}


def _save_model(learner: str, cases: Any, out: Path | None, pickle: bool, seed: int, form: options.Format) -> None:
    """Fit the learner to all rows and save it."""
    if out is None:
        raise ScoreSpaceError("the file of the model is missing.", hint="--out model.skops")
    from scorespace.experiments.persistence import keep_model
    from scorespace.report.document import Document, Notes, Section, Text

    saved = keep_model(learner, cases, out, pickle=pickle, seed=seed)
    blocks = (Text(repr(saved)), Notes(saved.notes)) if saved.notes else (Text(repr(saved)),)
    content: Row = {"schema": 1, "rows": [saved.to_dict()], "notes": [note.to_dict() for note in saved.notes]}
    output.write(Document("Final model", repr(cases), (Section("model", "Model", blocks, brief=True),)), content, form)
