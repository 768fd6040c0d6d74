"""Options that several verbs share, named as in the documentation; light to load, because every error passes here."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scorespace.errors import ColumnError, DataError
from scorespace.files import check_target, refuse_overwriting

Format = Literal["table", "json", "csv", "markdown"]
Side = Literal["actual", "predicted"]


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the file that is named already, for completion."""
    with suppress(Exception):  # a shell that asks is told nothing rather than an error
        from scorespace.frames import read

        return [
            name for name in read(ctx.params.get("data") or ctx.params["before"]).columns if name.startswith(incomplete)
        ]
    return []


def measure_names(incomplete: str) -> list[str]:
    """The measures whose names begin as the last of a list does, or their options, for completion."""
    from scorespace.measures.measure import MEASURES

    within = incomplete.rfind("(") if incomplete.rfind("(") > incomplete.rfind(")") else len(incomplete)
    start = incomplete.rfind(",", 0, within) + 1
    return [incomplete[:start] + text for text, _ in MEASURES.completed(incomplete[start:].lstrip())]


def flag(metavar: str | None, words: str, panel: str | None = None, *names: str, **more: Any) -> Any:
    """An option with a value, such as --truth COL; names of columns are completed from the data."""
    if metavar == "COL":
        more = {"autocompletion": columns, **more}
    return typer.Option(*names, metavar=metavar, help=_literal(words), rich_help_panel=panel, **more)


def switch(name: str, words: str, panel: str | None = None) -> Any:
    """An option without a value, such as --by-class."""
    return typer.Option(name, help=_literal(words), rich_help_panel=panel)


def _literal(words: str) -> str:
    """Words in which brackets are no markup: auc[macro]."""
    return words.replace("[", r"\[")


ROLES, COSTS, LARGE, OUTPUT = "Which column is what", "What decisions cost", "Large data", "Output"
DATA_HELP = "A file or several (.csv .tsv .parquet .json .arrow), a glob, or - for CSV from stdin."
_SCORES = (
    "A model's scores; repeatable. 'nb_*': its scores of all classes. 'votes=sum(d*)': decisions added up. "
    "'card=minus(points)': low ones mean positive."
)
_SCALE = "The scale of the scores, such as 0..10; else they lie between 0 and 1 or are ranks."

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Truth = Annotated[str, flag("COL", "The column with the actual class.", ROLES)]
MaybeTruth = Annotated[str | None, flag("COL", "The column with the actual class.", ROLES)]
Score = Annotated[list[str], flag("COL", _SCORES, ROLES)]
Decision = Annotated[list[str], flag("COL", "A model's decisions (labels); repeatable.", ROLES)]
Positive = Annotated[str | None, flag("LABEL", "The positive class; inferred only for 0/1, -1/1 and booleans.", ROLES)]
Dataset = Annotated[str | None, flag("NAME", "Where DATA is the directory of a run: one of its data sets.", ROLES)]
Name = Annotated[list[str], flag("COL=NAME", "Show a column's model under this name.", ROLES)]
Weight = Annotated[str | None, flag("COL", "Case weights.", ROLES)]
Weights = Annotated[
    Literal["cases", "copies"], flag(None, "A weighted row is one case, or so many copies of it.", ROLES)
]
Group = Annotated[str | None, flag("COL", "Groups of related cases.", ROLES)]
Fold = Annotated[str | None, flag("COL", "The fold each case was tested in.", ROLES)]
Order = Annotated[str, flag("LIST", "The classes from the lowest to the highest, such as low,medium,high.", ROLES)]
Scale = Annotated[str | None, flag("LOW..HIGH", _SCALE, ROLES)]
_WHERE = "Only rows for which this holds, such as \"age >= 65 and ward in ('A', 'B')\"."
Where = Annotated[str | None, flag("EXPR", _WHERE, ROLES)]
_BY = (
    "Also every number for each slice of a column, and its gap to the rest; repeatable. 'age(bins=4)': parts; 'a*b': "
    "crossed."
)
By = Annotated[list[str], flag("COL", _BY, ROLES)]
MissingRows = Annotated[Literal["error", "drop"], flag(None, "Refuse or drop rows with missing values.", ROLES)]

Memory = Annotated[
    str | None,
    flag("SIZE", "What columns may take, such as 2GB; beyond it scores are counted in bins, certified.", LARGE),
]
Precision = Annotated[
    float | None, flag("WIDTH", "Leave no more of the AUC open, such as 1e-6; takes a second pass.", LARGE)
]
Engine = Annotated[
    str | None, flag("NAME", "Who reads the data: duckdb, here (the default), or spark, on a cluster.", LARGE)
]
Master = Annotated[str | None, flag("URL", "The Spark cluster, such as spark://host:7077.", LARGE)]

Report = Annotated[Path | None, flag("FILE.html", "Also write the page.", OUTPUT)]
OutputFormat = Annotated[Format, flag(None, "How to write the result.", OUTPUT)]
MaybeFormat = Annotated[
    Format | None, flag(None, "How to write the result; table if not stated, nothing beside --out.", OUTPUT)
]
Level = Annotated[float, flag(None, "Confidence level of the intervals.", OUTPUT)]
Seed = Annotated[int, flag(None, "Seed of the bootstrap.", OUTPUT, min=0)]
Alternative = Annotated[
    Literal["two-sided", "greater", "less"],
    flag(
        None,
        "What p speaks for: the first of two values differs, is greater, or is less; intervals stay two-sided.",
        "How to judge",
    ),
]


def _set_remote(allowed: bool) -> bool:
    if allowed:
        from scorespace.frames import set_remote

        set_remote(allowed)
    return allowed


_REMOTE = "Also read https:// addresses; else nothing is fetched."
AllowRemote = Annotated[bool, flag(None, _REMOTE, ROLES, "--allow-remote", callback=_set_remote)]

DATA_FILES = (".csv", ".json")
PICTURES = (".png", ".svg", ".pdf", ".html")
_SAME = (
    *("positive", "missing", "truth", "weight", "group", "fold", "repeat", "level", "memory", "precision"),
    *("at", "test", "measure", "method", "on", "dataset", "model", "value", "rows", "order", "engine", "master"),
    *("time", "baseline", "where", "by", "adjust", "alternative", "resampling", "workers", "task", "maximise"),
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
    '{"A": ("decision", "score")}': "--rater A=DECISION,SCORE",
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


def matrix_files(matrices: list[str]) -> list[str]:
    """The files of NAME=FILE.csv pairs."""
    return [file for _, _, file in (pair.partition("=") for pair in matrices) if not _typed(file)]


def _typed(text: str) -> bool:
    """Whether a matrix is typed and not in a file."""
    return ";" in text and not Path(text).exists()


def renames(pairs: list[str]) -> dict[str, str]:
    """The renaming of columns from COL=NAME pairs."""
    return dict(parted(pair, "--name", "COL=NAME, such as --name p1=forest") for pair in pairs)


def models(pairs: list[str]) -> dict[str, str]:
    """The models of other kinds from NAME=KIND(COL) pairs."""
    return dict(parted(pair, "--model", "NAME=KIND(COL)") for pair in pairs)


def intervals(texts: list[str]) -> tuple[str | None, Any]:
    """The method of intervals, and the columns and level of prediction intervals, which are written with commas.

    >>> intervals(["bca", "nb=low,high,0.9"]), intervals(["low,high,0.9"])
    (('bca', {'nb': ['low', 'high', '0.9']}), (None, ['low', 'high', '0.9']))
    """
    methods = [text for text in texts if "," not in text]
    if len(methods) > 1:
        raise DataError(
            "two methods of intervals are stated.", seen=" and ".join(methods), hint="one --interval METHOD"
        )
    ends = [text for text in texts if "," in text]
    named = dict(parted(text, "--interval", "MODEL=LOW,HIGH,LEVEL") for text in ends if "=" in text)
    alone = [text for text in ends if "=" not in text]
    if len(alone) > 1 or (alone and named):
        raise DataError(
            "whose prediction interval is which?", seen=", ".join(ends), hint="--interval MODEL=LOW,HIGH,0.9"
        )
    found: Any = {model: pair.split(",") for model, pair in named.items()}
    return (methods[0] if methods else None), (alone[0].split(",") if alone else found)


def data_and_matrices(
    data: str | None, matrices: list[str], rows: Side | None, positive: str | None
) -> tuple[Any, dict[str, Any], dict[str, Side]]:
    """What to evaluate, the confusion tables from NAME=FILE.csv pairs beside it, and what the rows of each were.

    Without data, the tables are what to evaluate.
    """
    if not data and not matrices:
        raise DataError("name the data, or confusion matrices instead.", hint="DATA, or --matrix NAME=FILE.csv")
    from scorespace.frames.matrix import UNNAMED, read_inline, read_matrix
    from scorespace.tables import confusion

    tables: dict[str, Any] = {}
    sides: dict[str, Side] = {}
    for pair in matrices:
        name, given = parted(pair, "--matrix", "--matrix NAME=FILE.csv, or --matrix NAME='300 200; 500 99000'")
        if name in tables:
            raise DataError(f"there are two matrices named {name!r}.", hint="a name for each")
        classes, cells, sides[name] = read_inline(given, rows) if _typed(given) else read_matrix(given, rows)
        first = UNNAMED[0] if classes == UNNAMED else positive
        tables[name] = confusion(cells, classes=classes, positive=first)
        if classes == UNNAMED and positive is not None and not data:
            raise ColumnError(
                f"--positive {positive} names a class, and the matrix of {name} names none.",
                hint="no --positive: the first row is that of the positive class",
            )
    return (data, tables, sides) if data else (tables, {}, sides)


def parted(pair: str, flag: str, hint: str) -> tuple[str, str]:
    """Both sides of what is written LEFT=RIGHT."""
    left, equals, right = pair.partition("=")
    if not (left and equals and right):
        raise ColumnError(f"{flag} {pair} cannot be read.", hint=hint)
    return left, right
