"""`scorespace study`: one learner on one data set, looked at closely; and its final model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from scorespace.cli import options, output
from scorespace.errors import ScoreSpaceError
from scorespace.results import Row

_MODELS = (".skops", ".onnx", ".pkl", ".joblib")


class Kind(StrEnum):
    """What is looked at."""

    permutation = "permutation"
    learning = "learning"
    model = "model"


def study(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="KIND",
            help="permutation: does it learn anything? learning: would more cases help? model: the final one, saved.",
        ),
    ],
    data: options.Data,
    target: Annotated[str, typer.Option(metavar="COL", help="The column to predict.")],
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="As for benchmark: naive_bayes, forest, knn(k=5), module:factory, …")
    ],
    resampling: Annotated[str, typer.Option(metavar="HOW", help="How cases are split: 10, 5x2, holdout:0.3, …")] = "10",
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="auc, auc[hand_till] or r2 if not stated, as the data have it.",
            autocompletion=options.measure_names,
        ),
    ] = None,
    positive: options.Positive = None,
    group: Annotated[list[str], typer.Option(metavar="COL", help="Groups of related rows; repeatable.")] = [],  # noqa: B006
    drop: Annotated[list[str], typer.Option(metavar="COL", help="A column that is no feature; repeatable.")] = [],  # noqa: B006
    allow_remote: options.AllowRemote = False,
    permutations: Annotated[int, typer.Option(min=1, help="How often labels are permuted.")] = 200,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes for permutations.")] = 1,
    pickle: Annotated[
        bool, typer.Option("--pickle", help="Save the model as a pickle, which runs code when it is loaded.")
    ] = False,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The picture (.png .svg .pdf .html), or the model (.skops .onnx)."),
    ] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """Look closely at one learner: permuted labels, its learning curve, or its final model, saved.

    Example: scorespace study permutation credit.csv --target risk --learner naive_bayes --out null.png
    """
    options.check_output(out, _MODELS if kind is Kind.model else options.PICTURES, data)
    from scorespace.experiments.data import dataset

    cases = dataset(data, target, groups=group, positive=positive, drop=drop)
    if kind is Kind.model:
        _keep(learner, cases, out, pickle, seed, format)
        return
    from scorespace.experiments.learning import learning_curve
    from scorespace.experiments.permute import permute_labels
    from scorespace.views import study as view

    common: dict[str, Any] = {"resampling": resampling, "measure": measure, "positive": positive, "seed": seed}
    with output.progress("training") as progress:
        if kind is Kind.permutation:
            common |= {"permutations": permutations, "workers": workers}
            test = permute_labels(learner, cases, **common, progress=progress)
            page, content, picture = view.permutation(test), test.to_dict(), test
        else:
            curve = learning_curve(learner, cases, **common, progress=progress)
            page, content, picture = view.learning(curve), curve.to_dict(), curve  # type: ignore[assignment]
    if out is not None:
        from scorespace.views.charts import save

        save(view.chart(picture), out)
    output.write(page.brief(), content, format)
    output.wrote(format, picture=out)


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
