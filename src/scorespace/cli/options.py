"""Options that several verbs share, named as in the documentation; light to load, because every error passes here."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scorespace.errors import ColumnError, ConditionError, DataError
from scorespace.files import check_target, refuse_overwriting

if TYPE_CHECKING:
    from scorespace.conditions import Asymmetry, Condition, CostMatrix


class Format(StrEnum):
    """How results are written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Weighing(StrEnum):
    """What intervals take a weighted row for."""

    cases = "cases"
    copies = "copies"


class Side(StrEnum):
    """What the rows of a matrix are."""

    actual = "actual"
    predicted = "predicted"


class Sided(StrEnum):
    """What a small p speaks for."""

    two = "two-sided"
    greater = "greater"
    less = "less"


class Missing(StrEnum):
    """What happens to rows with missing values."""

    error = "error"
    drop = "drop"


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the file that is named already, for completion."""
    with suppress(Exception):  # a shell that asks is told nothing rather than an error
        from scorespace.frames import read

        return [
            name for name in read(ctx.params.get("data") or ctx.params["before"]).columns if name.startswith(incomplete)
        ]
    return []


def measure_names(incomplete: str) -> list[str]:
    """The measures whose names begin as the last of a list does, for completion."""
    from scorespace.measures import measures

    before, comma, last = incomplete.rpartition(",")
    names = (name for one in measures() for name in (one.name, *one.aliases))
    return [f"{before}{comma}{name}" for name in names if name.startswith(last.lstrip())]


def _option(panel: str, metavar: str, words: str, *names: str) -> Any:
    completed = columns if metavar == "COL" else None
    return typer.Option(*names, metavar=metavar, help=words, rich_help_panel=panel, autocompletion=completed)


_ROLES, _COSTS, _OUTPUT = "Which column is what", "What decisions cost", "Output"
_LARGE = "Large data"
_DATA_HELP = "A file or several (.csv .tsv .parquet .json .arrow), a glob, or - for CSV from stdin."
_MATRIX_HELP = "A model's confusion matrix, in a file or as 'TP FN; FP TN'; instead of DATA or beside it; repeatable."

Data = Annotated[str, typer.Argument(metavar="DATA", help=_DATA_HELP)]
MaybeData = Annotated[str | None, typer.Argument(metavar="DATA", help=_DATA_HELP)]
Truth = Annotated[str, _option(_ROLES, "COL", "The column with the actual class.")]
MaybeTruth = Annotated[str | None, _option(_ROLES, "COL", "The column with the actual class.")]
Score = Annotated[
    list[str],
    _option(
        _ROLES,
        "COL",
        "A model's scores; repeatable. 'nb_*': its scores of all classes. 'votes=sum(d*)': decisions added up.",
    ),
]
Decision = Annotated[list[str], _option(_ROLES, "COL", "A model's decisions (labels); repeatable.")]
Prediction = Annotated[list[str], _option(_ROLES, "COL", "A model's predictions of a numeric truth; repeatable.")]
Baseline = Annotated[
    str | None,
    _option(_ROLES, "mean|COL|VALUE", "What relative errors are relative to; the mean of these truths if not stated."),
]
Time = Annotated[str | None, _option(_ROLES, "COL", "The time of each row, where predictions are of a series.")]
Positive = Annotated[
    str | None, _option(_ROLES, "LABEL", "The positive class; inferred only for 0/1, -1/1 and booleans.")
]
Dataset = Annotated[str | None, _option(_ROLES, "NAME", "Where DATA is the directory of a run: one of its data sets.")]
Name = Annotated[list[str], _option(_ROLES, "COL=NAME", "Show a column's model under this name.")]
Weight = Annotated[str | None, _option(_ROLES, "COL", "Case weights.")]
Weights = Annotated[
    Weighing,
    typer.Option("--weights", help="A weighted row is one case, or so many copies of it.", rich_help_panel=_ROLES),
]
Model = Annotated[
    list[str], _option(_ROLES, "NAME=KIND(COL)", "A model of another kind, such as plug-ins declare; repeatable.")
]
Group = Annotated[str | None, _option(_ROLES, "COL", "Groups of related cases.")]
Fold = Annotated[str | None, _option(_ROLES, "COL", "The fold each case was tested in.")]
Repeat = Annotated[
    str | None, _option(_ROLES, "COL", "The repeat each row belongs to: a case has one row in every repeat.")
]
Matrix = Annotated[list[str], _option(_ROLES, "NAME=FILE.csv", _MATRIX_HELP)]
RowsAre = Annotated[
    Side | None,
    typer.Option("--rows", help="What the rows of --matrix are; actual if nothing says so.", rich_help_panel=_ROLES),
]
Order = Annotated[str, _option(_ROLES, "LIST", "The classes from the lowest to the highest, such as low,medium,high.")]
Scale = Annotated[
    str | None,
    _option(_ROLES, "LOW..HIGH", "The scale of the scores, such as 0..10; else they lie between 0 and 1 or are ranks."),
]
Where = Annotated[
    str | None,
    _option(_ROLES, "EXPR", "Only rows for which this holds, such as \"age >= 65 and ward in ('A', 'B')\"."),
]
By = Annotated[
    list[str],
    _option(
        _ROLES, "COL", "Also every number for each slice, and its gap to the rest; repeatable. 'age(bins=4)': parts."
    ),
]
MissingRows = Annotated[
    Missing, typer.Option("--missing", help="Refuse or drop rows with missing values.", rich_help_panel=_ROLES)
]

CostFp = Annotated[float | None, _option(_COSTS, "X", "Cost of a false positive.")]
CostFn = Annotated[float | None, _option(_COSTS, "X", "Cost of a false negative.")]
CostTp = Annotated[float | None, _option(_COSTS, "X", "Cost of a true positive; a gain is negative.")]
CostTn = Annotated[float | None, _option(_COSTS, "X", "Cost of a true negative; a gain is negative.")]
Prevalence = Annotated[
    float | None, _option(_COSTS, "P", "Share of positives where the model will be used; else that of the data.")
]
Slope = Annotated[
    float | None,
    _option(
        _COSTS, "M", "Instead of costs: the slope of lines of equal cost, cost-fp · negatives / (cost-fn · positives)."
    ),
]
Costs = Annotated[
    Path | None, _option(_COSTS, "FILE.csv", "Cost matrix, labels as header and index; rows actual, columns decided.")
]

CostUnder = Annotated[float | None, _option(_COSTS, "X", "Cost of a unit by which a number is predicted too low.")]
CostOver = Annotated[float | None, _option(_COSTS, "X", "Cost of a unit by which a number is predicted too high.")]


Memory = Annotated[
    str | None,
    _option(_LARGE, "SIZE", "What columns may take, such as 2GB; beyond it scores are counted in bins, certified."),
]
Precision = Annotated[
    float | None, _option(_LARGE, "WIDTH", "Leave no more of the AUC open, such as 1e-6; takes a second pass.")
]

Engine = Annotated[
    str | None, _option(_LARGE, "NAME", "Who reads the data: duckdb, here (the default), or spark, on a cluster.")
]
Master = Annotated[str | None, _option(_LARGE, "URL", "The Spark cluster, such as spark://host:7077.")]

OutputFormat = Annotated[Format, typer.Option("--format", help="How to write the result.", rich_help_panel=_OUTPUT)]
MaybeFormat = Annotated[
    Format | None,
    typer.Option(
        "--format", help="How to write the result; table if not stated, nothing beside --out.", rich_help_panel=_OUTPUT
    ),
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.", rich_help_panel=_OUTPUT)]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.", rich_help_panel=_OUTPUT)]

Alternative = Annotated[
    Sided,
    typer.Option(
        "--alternative",
        help="What p speaks for: the first of two values differs, is greater, or is less; intervals stay two-sided.",
        rich_help_panel="How to judge",
    ),
]
Adjust = Annotated[
    str,
    typer.Option(
        metavar="METHOD",
        help="How p-values of several tests are adjusted: holm, hochberg, bonferroni, finner or, of pairs, shaffer.",
        rich_help_panel="How to judge",
    ),
]

LearnMidpoint = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="Instead: learn it on a validation sample with the same columns."),
]


def _set_remote(allowed: bool) -> bool:
    if allowed:
        from scorespace.frames import set_remote

        set_remote(allowed)
    return allowed


AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote",
        help="Also read https:// addresses; else nothing is fetched.",
        callback=_set_remote,
        rich_help_panel=_ROLES,
    ),
]

DATA_FILES = (".csv", ".json")
PICTURES = (".png", ".svg", ".pdf", ".html")
_SAME = (
    *("positive", "missing", "truth", "weight", "group", "fold", "repeat", "level", "memory", "precision"),
    *("at", "test", "measure", "method", "on", "dataset", "model", "value", "rows", "order", "engine", "master"),
    *("time", "baseline", "where", "by", "adjust", "alternative", "resampling", "workers", "task"),
)
_FLAGS = {
    **dict(zip(_SAME, _SAME, strict=True)),
    **{"scores": "score", "decisions": "decision", "predictions": "prediction"},
    **{"labels": "label", "features": "feature", "items": "item"},
    **{"transaction": "transaction", "scale": "scale", "given": "rule", "learners": "learner"},
}
_WRITTEN = {
    "Asymmetry(under=2, over=1)": "--cost-under 2 --cost-over 1",
    "Condition(fp=1, fn=5)": "--cost-fp 1 --cost-fn 5",
    "names={column: model}": "--name COL=NAME",
    'best="high"': "--higher-is-better",
    'best="low"': "--lower-is-better",
}


def in_flags(message: str) -> str:
    """The hint of a message as one types it on the command line: positive="bad" becomes --positive bad.

    >>> in_flags('no such class.\\n  hint: positive="very bad"')
    "no such class.\\n  hint: --positive 'very bad'"
    """
    head, mark, hint = message.rpartition("  hint: ")
    if not mark:
        return message
    hint = re.sub(
        r'\b(\w+)="([^"]*)"', lambda m: f"--{_FLAGS[m[1]]} {shlex.quote(m[2])}" if m[1] in _FLAGS else m[0], hint
    )
    hint = re.sub(r"\b(\w+)=…", lambda m: f"--{_FLAGS[m[1]]} COL" if m[1] in _FLAGS else m[0], hint)
    hint = re.sub(
        r"\bscores=\[([^\]]*)\]",
        lambda m: "repeat it: " + " ".join(f"--score {shlex.quote(one)}" for one in re.findall(r'"([^"]*)"', m[1])),
        hint,
    )
    for written, typed in _WRITTEN.items():
        hint = hint.replace(written, typed)
    return head + mark + hint


def check_output(path: Path | None, endings: tuple[str, ...], *read: Any) -> None:
    """Refuse a file that cannot be written, or that is among those read: before the work and not after it."""
    if path is None:
        return
    check_target(path, endings)
    for data in read:
        from scorespace.frames import files_read

        refuse_overwriting(path, files_read(data))


def chosen(data: Any, where: str | None) -> Any:
    """The data, or of them the rows for which a condition holds: how many these are is said beside the result."""
    if where is None:
        return data
    from scorespace.frames import Chosen, read

    source = read(Chosen(data, where))
    for one in source.notes:
        typer.echo(f"note  {one.code} {one.text}", err=True)
    return source


def first_name(data: Any) -> str:
    """The name of the file, or of the first of several."""
    several = isinstance(data, list)
    name = Path(data[0] if several else data).name
    return f"{name} and {len(data) - 1} more" if several else name


def matrix_files(matrices: list[str]) -> list[str]:
    """The files of NAME=FILE.csv pairs."""
    return [file for _, _, file in (pair.partition("=") for pair in matrices) if not _typed(file)]


def _typed(text: str) -> bool:
    """Whether a matrix is typed and not in a file."""
    return ";" in text and not Path(text).exists()


def midpoint(text: str) -> str | float:
    """The midpoint of smooth ROC: a number where the text is one, else the name of a rule."""
    try:
        return float(text)
    except ValueError:
        return text


def renames(pairs: list[str]) -> dict[str, str]:
    """The renaming of columns from COL=NAME pairs."""
    return dict(_split(pair, "--name", "COL=NAME, such as --name p1=forest") for pair in pairs)


def models(pairs: list[str]) -> dict[str, str]:
    """The models of other kinds from NAME=KIND(COL) pairs."""
    return dict(_split(pair, "--model", "NAME=KIND(COL)") for pair in pairs)


def intervals(texts: list[str]) -> tuple[str | None, Any]:
    """The method of intervals, and the columns of prediction intervals: what has a comma names two columns.

    >>> intervals(["bca", "nb=low,high"]), intervals(["low,high"])
    (('bca', {'nb': ['low', 'high']}), (None, ['low', 'high']))
    """
    methods = [text for text in texts if "," not in text]
    if len(methods) > 1:
        raise DataError(
            "two methods of intervals are stated.", seen=" and ".join(methods), hint="one --interval METHOD"
        )
    ends = [text for text in texts if "," in text]
    named = dict(_split(text, "--interval", "MODEL=LOW,HIGH") for text in ends if "=" in text)
    alone = [text for text in ends if "=" not in text]
    if len(alone) > 1 or (alone and named):
        raise DataError("whose prediction interval is which?", seen=", ".join(ends), hint="--interval MODEL=LOW,HIGH")
    found: Any = {model: pair.split(",") for model, pair in named.items()}
    return (methods[0] if methods else None), (alone[0].split(",") if alone else found)


def data_and_matrices(
    data: str | None, matrices: list[str], rows: Side | None, positive: str | None
) -> tuple[Any, dict[str, Any]]:
    """What to evaluate, and the confusion tables from NAME=FILE.csv pairs beside it; without data, they are it."""
    if not data and not matrices:
        raise DataError("name the data, or confusion matrices instead.", hint="DATA, or --matrix NAME=FILE.csv")
    if rows is not None and not matrices:
        raise DataError("--rows says what the rows of a matrix are, and there is none.", hint="--matrix NAME=FILE.csv")
    from scorespace.frames.matrix import UNNAMED, read_inline, read_matrix
    from scorespace.tables import confusion

    tables = {}
    for pair in matrices:
        name, given = _split(pair, "--matrix", "--matrix NAME=FILE.csv, or --matrix NAME='300 200; 500 99000'")
        if name in tables:
            raise DataError(f"there are two matrices named {name!r}.", hint="a name for each")
        side: Literal["actual", "predicted"] | None = None if rows is None else rows.value
        classes, cells = read_inline(given, side) if _typed(given) else read_matrix(given, side)
        first = UNNAMED[0] if classes == UNNAMED else positive
        tables[name] = confusion(cells, classes=classes, positive=first)
        if classes == UNNAMED and positive is not None and not data:
            raise ColumnError(
                f"--positive {positive} names a class, and the matrix of {name} names none.",
                hint="no --positive: the first row is that of the positive class",
            )
    return (data, tables) if data else (tables, {})


def condition(
    fp: float | None, fn: float | None, tp: float | None, tn: float | None, prevalence: float | None, costs: Path | None
) -> Condition | CostMatrix | None:
    """The operating condition from the cost options, or None when there are none."""
    from scorespace.conditions import Condition, CostMatrix

    given = {name: cost for name, cost in {"fp": fp, "fn": fn, "tp": tp, "tn": tn}.items() if cost is not None}
    if costs is not None:
        if given or prevalence is not None:
            raise ConditionError("costs are stated twice.", hint="either --costs FILE.csv or --cost-fp and --cost-fn")
        from scorespace.frames.matrix import read_matrix

        return CostMatrix(*read_matrix(costs))
    if not given and prevalence is None:
        return None
    if "fp" not in given or "fn" not in given:
        raise ConditionError(
            "the costs of both errors are needed.",
            seen=", ".join(f"--cost-{name} {cost:g}" for name, cost in given.items()) or f"--prevalence {prevalence:g}",
            hint="--cost-fp 1 --cost-fn 5",
        )
    return Condition(**given, prevalence=prevalence)


def refuse_beside_slope(slope: float | None, costs: dict[str, Any], prevalence: float | None) -> None:
    """Refuse costs that are stated beside a slope, which holds them and the prevalence already."""
    if slope is not None and (prevalence is not None or any(cost is not None for cost in costs.values())):
        raise ConditionError(
            "--slope stands for the costs and the prevalence.", hint="either --slope 2, or --cost-fp 1 --cost-fn 5"
        )


def any_condition(
    stated: Condition | CostMatrix | None, under: float | None, over: float | None
) -> Condition | CostMatrix | Asymmetry | None:
    """The condition of decisions, or that of predicted numbers: what too low and too high cost."""
    from scorespace.conditions import Asymmetry

    if under is None and over is None:
        return stated
    if under is None or over is None or stated is not None:
        problem = "the costs of both sides are needed." if stated is None else "these are costs of two kinds of models."
        raise ConditionError(problem, hint="--cost-under 2 --cost-over 1")
    return Asymmetry(under, over)


def _split(pair: str, flag: str, hint: str) -> tuple[str, str]:
    left, equals, right = pair.partition("=")
    if not (left and equals and right):
        raise ColumnError(f"{flag} {pair} cannot be read.", hint=hint)
    return left, right


def refuse_two_midpoints(midpoint: str) -> None:
    """Refuse a midpoint that is stated beside one that is learned."""
    if midpoint != "mean":
        raise DataError("the midpoint is stated and learned.", hint="either --midpoint or --learn-midpoint")
