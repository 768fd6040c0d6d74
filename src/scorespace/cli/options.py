"""Options shared by verbs, under their documented names; imports little, because every error passes through here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from scorespace.errors import ColumnError, DataError
from scorespace.files import check_not_an_input, check_target
from scorespace.options import parse_number
from scorespace.profiles import PROFILES

Format = Literal["table", "json", "csv", "markdown", "latex"]
Side = Literal["actual", "predicted"]


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the data file on the command line, for shell completion."""
    with suppress(Exception):  # completion offers nothing rather than an error
        from scorespace.io import read

        return [
            column
            for column in read(ctx.params.get("data") or ctx.params["before"]).columns
            if column.startswith(incomplete)
        ]
    return []


def split_columns(names: Sequence[str], data: Any) -> list[str]:
    """Split comma-separated column names, unless the data have a column of that very name.

    >>> split_columns(["a,b", "votes=sum(c,d)"], None)
    ['a', 'b', 'votes=sum(c,d)']
    """
    found: list[str] = []
    for name in names:
        parts = [part.strip() for part in re.split(r",(?![^()]*\))", name)]
        if len(parts) > 1 and isinstance(data, str) and name in _columns_of(data):
            parts = [name]
        found += [part for part in parts if part]
    return found


def class_columns(names: Sequence[str], truth: str | None, data: Any) -> dict[str, dict[str, str]] | None:
    """The columns of one multiclass model by class, if their names end with the classes of the truth; else None."""
    if len(names) < 3 or truth is None or any("*" in name or "=" in name for name in names):
        return None
    from scorespace.io import read
    from scorespace.tables.labels import label_text

    with suppress(Exception):  # what is wrong with the data is reported when they are evaluated
        source = read(data)
        labels = {
            label_text(value) for value in source.arrays(source.frame.select(truth).head(_MAX_ROWS))[truth].tolist()
        }
        found = {label: name for label in labels for name in names if name.endswith(label)}
        heads = {name.removesuffix(label) for label, name in found.items()}
        if len(labels) == len(names) and len(heads) == 1 and {*found.values()} == {*names}:
            return {heads.pop().rstrip("_.- ") or "scores": found}
    return None


_MAX_ROWS = 50_000
"""Rows whose labels are compared with the names of columns."""


def refuse_columns(data: str, words: Sequence[str]) -> None:
    """Refuse names of columns where further files are expected."""
    columns = [] if all(Path(word).exists() for word in words) else _columns_of(data)
    if all(word in columns for word in words):
        first, *others = map(shlex.quote, words)
        flags = " ".join([f"--truth {first}", *(f"--score {other}" for other in others)])
        raise ColumnError(f"{words[0]!r} is a column, not a file.", hint=flags)


def _columns_of(data: str) -> Sequence[str]:
    from scorespace.io import read

    with suppress(Exception):  # what is wrong with the data is reported when they are evaluated
        return read(data).columns
    return ()


def measure_names(incomplete: str) -> list[str]:
    """Names and options of measures that complete the last item of a list, for shell completion."""
    from scorespace.measures.measure import MEASURES

    open_bracket = incomplete.rfind("(") if incomplete.rfind("(") > incomplete.rfind(")") else len(incomplete)
    start = incomplete.rfind(",", 0, open_bracket) + 1
    return [incomplete[:start] + text for text, _ in MEASURES.completed(incomplete[start:].lstrip())]


def number(text: Any) -> float:
    """A number or a fraction such as 1/3, as a value of an option."""
    try:
        return parse_number(str(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid float.") from None


def number_or_column(text: Any) -> float | str:
    """A number, or else the name of a column that holds one for each case."""
    try:
        return parse_number(str(text))
    except ValueError:
        return str(text)


def flag(metavar: str | None, help_text: str, panel: str | None = None, *names: str, **settings: Any) -> Any:
    """Declare an option with a value, such as --truth COL; column names are completed from the data."""
    if metavar == "COL":
        settings = {"autocompletion": columns, **settings}
    return typer.Option(*names, metavar=metavar, help=_escape_markup(help_text), rich_help_panel=panel, **settings)


def switch(name: str, help_text: str, panel: str | None = None) -> Any:
    """Declare an option without a value, such as --by-class."""
    return typer.Option(name, help=_escape_markup(help_text), rich_help_panel=panel, metavar="")


def _escape_markup(text: str) -> str:
    """Escape brackets, which Rich would read as markup: auc[macro]."""
    return text.replace("[", r"\[")


ROLES, COSTS, LARGE, OUTPUT = "Columns of the data", "Costs of decisions", "Large data", "Output"
DATA_HELP = "One or more files (.csv .tsv .txt .xlsx .parquet .json .arrow), a glob pattern, or - for CSV from stdin."
_SCORES = (
    "Scores of a model; repeatable. 'nb_*': one column per class. 'votes=sum(d*)': sum of decisions. "
    "'card=minus(points)': low scores mean positive."
)
_SCALE = "Range of the scores or values, such as 0..10; by default 0 to 1, or any range for scores used as ranks."

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Truth = Annotated[str, flag("COL", "Column of the actual class.", ROLES)]
MaybeTruth = Annotated[str | None, flag("COL", "Column of the actual class.", ROLES)]
Score = Annotated[list[str], flag("COL", _SCORES, ROLES)]
Decision = Annotated[list[str], flag("COL", "Predicted labels of a model; repeatable.", ROLES)]
Positive = Annotated[str | None, flag("LABEL", "Positive class; inferred only for 0/1, -1/1 and booleans.", ROLES)]
Dataset = Annotated[str | None, flag("NAME", "One data set of a benchmark, if DATA is its run directory.", ROLES)]
Name = Annotated[list[str], flag("COL=NAME", "Display name of the model in this column.", ROLES)]
Weight = Annotated[str | None, flag("COL", "Case weights.", ROLES)]
Weights = Annotated[
    Literal["cases", "copies"], flag(None, "A row of weight w is one weighted case, or w identical cases.", ROLES)
]
Group = Annotated[str | None, flag("COL", "Clusters of related cases, such as patients.", ROLES)]
Fold = Annotated[str | None, flag("COL", "Cross-validation fold in which each case was tested.", ROLES)]
Per = Annotated[str | None, flag("COL", "Dates or periods: ppv@top500 selects the 500 highest scores of each.", ROLES)]
Order = Annotated[str, flag("LIST", "Ordered classes from lowest to highest, such as low,medium,high.", ROLES)]
Scale = Annotated[str | None, flag("LOW..HIGH", _SCALE, ROLES)]
_WHERE = "Use only rows that satisfy this, such as \"age >= 65 and ward in ('A', 'B')\"."
Where = Annotated[str | None, flag("EXPR", _WHERE, ROLES)]
_BY = (
    "Repeat every measure in each subgroup of a column, with the difference from the other cases; repeatable. "
    "'age(bins=4)': quantile bins; 'a*b': intersections."
)
By = Annotated[list[str], flag("COL", _BY, ROLES)]
_PROFILES = ", ".join(PROFILES)
ProfileName = Annotated[
    str | None,
    flag(
        "NAME",
        f"Names and default measures of a profession: {_PROFILES}.",
        "Output",
        autocompletion=lambda incomplete: [name for name in PROFILES if name.startswith(incomplete)],
    ),
]
MissingRows = Annotated[Literal["error", "drop"], flag(None, "Reject or drop rows with missing values.", ROLES)]

Memory = Annotated[
    str | None,
    flag("SIZE", "Memory limit, such as 2GB; larger data are binned, with certified error bounds.", LARGE),
]
Precision = Annotated[
    float | None, flag("WIDTH", "Maximum binning error of the AUC, such as 1e-6 (reads the data twice).", LARGE)
]
Engine = Annotated[
    str | None, flag("NAME", "Engine that reads the data: duckdb (default, on this computer) or spark.", LARGE)
]
Master = Annotated[str | None, flag("URL", "Address of the Spark cluster, such as spark://host:7077.", LARGE)]

Report = Annotated[Path | None, flag("FILE.html", "Also write an HTML report.", OUTPUT)]
AllTables = Annotated[bool, switch("--all", "Show all tables instead of the short answer.", OUTPUT)]
AllNotes = Annotated[bool, switch("--notes", "Show all notes, not only warnings.", OUTPUT)]
OutputFormat = Annotated[Format, flag("FORMAT", f"Output format, one of {', '.join(get_args(Format))}.", OUTPUT)]
MaybeFormat = Annotated[
    Format | None, flag(None, "Output format; by default table, or nothing if --out is set.", OUTPUT)
]
Level = Annotated[float, flag(None, "Confidence level of the intervals.", OUTPUT)]
Seed = Annotated[int, flag(None, "Seed of the bootstrap.", OUTPUT, min=0)]
Alternative = Annotated[
    Literal["two-sided", "greater", "less"],
    flag(
        None,
        "Alternative hypothesis about the first of two values; confidence intervals stay two-sided.",
        "Hypothesis test",
    ),
]


def _allow_remote(context: typer.Context, allowed: bool) -> bool:
    if allowed:
        from scorespace.io import allow_remote

        context.with_resource(allow_remote())  # ends with the command
    return allowed


_REMOTE = "Also read https:// addresses; by default nothing is downloaded."
AllowRemote = Annotated[bool, flag(None, _REMOTE, ROLES, "--allow-remote", callback=_allow_remote)]


def _set_sheet(context: typer.Context, sheet: str | None) -> str | None:
    if sheet is not None:
        from scorespace.io.conversion import reading

        context.with_resource(reading(sheet=sheet))
    return sheet


def _set_header(context: typer.Context, no_header: bool) -> bool:
    if no_header:
        from scorespace.io.conversion import reading

        context.with_resource(reading(header=False))
    return no_header


_SHEET = "Sheet of a spreadsheet, by name or number; by default the first."
_NO_HEADER = "The first line holds data; columns are named column_1, column_2 …"
Sheet = Annotated[str | None, flag("NAME", _SHEET, ROLES, "--sheet", callback=_set_sheet, is_eager=True)]
NoHeader = Annotated[bool, flag(None, _NO_HEADER, ROLES, "--no-header", callback=_set_header, is_eager=True)]

DATA_FILES = (".csv", ".json")
PICTURES = (".png", ".svg", ".pdf", ".html")
_SAME_NAME = (
    *("positive", "missing", "truth", "weight", "group", "fold", "repeat", "level", "memory", "precision"),
    *("at", "test", "measure", "method", "on", "dataset", "model", "value", "rows", "order", "engine", "master"),
    *("time", "baseline", "where", "sheet", "by", "adjust", "alternative", "resampling", "workers", "task", "maximise"),
    "query",
)
_FLAGS = {
    **dict(zip(_SAME_NAME, _SAME_NAME, strict=True)),
    **{"scores": "score", "decisions": "decision", "predictions": "prediction", "values": "value"},
    **{"labels": "label", "features": "feature", "items": "item"},
    **{"transaction": "transaction", "scale": "scale", "given": "rule", "learners": "learner"},
}
_PYTHON_TO_FLAGS = {
    "Asymmetry(under=2, over=1)": "--cost-under 2 --cost-over 1",
    "Condition(fp=1, fn=5)": "--cost-fp 1 --cost-fn 5",
    "names={column: model}": "--name COL=NAME",
    '{"A": ("decision", "score")}': "--rater A=DECISION,SCORE",
    "header=False": "--no-header",
    'best="high"': "--higher-is-better",
    'best="low"': "--lower-is-better",
}


def in_flags(message: str) -> str:
    """Rewrite the hint of a message in command-line syntax: positive="bad" becomes --positive bad.

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
        r"\b(score|value)s=\[([^\]]*)\]",
        lambda m: (
            "repeat it: " + " ".join(f"--{m[1]} {shlex.quote(column)}" for column in re.findall(r'"([^"]*)"', m[2]))
        ),
        hint,
    )
    for python_text, flag_text in _PYTHON_TO_FLAGS.items():
        hint = hint.replace(python_text, flag_text)
    return head + mark + hint


def check_output(path: Path | None, endings: tuple[str, ...], *inputs: Any) -> None:
    """Reject an output file that cannot be written or is also an input, before any computation."""
    if path is None:
        return
    check_target(path, endings)
    for data in inputs:
        from scorespace.io import input_files

        check_not_an_input(path, input_files(data))


def filter_rows(data: Any, where: str | None) -> Any:
    """Return the data, or their rows that satisfy a condition; the number of rows is printed on stderr."""
    if where is None:
        return data
    from scorespace.io import FilteredData, read

    source = read(FilteredData(data, where))
    for note in source.notes:
        typer.echo(f"note  {note.code} {note.text}", err=True)
    return source


def matrix_files(matrices: list[str]) -> list[str]:
    """Files among matrices, as FILE.csv or NAME=FILE.csv."""
    return [file for _, file in map(_named_matrix, matrices) if not _is_inline_matrix(file)]


def _named_matrix(text: str) -> tuple[str, str]:
    """Name and source of a matrix; without a name, that of its file, or "matrix"."""
    name, equals, source = text.partition("=")
    if equals and name and source:
        return name, source
    if equals:
        raise ColumnError(f"--matrix {text} cannot be parsed.", hint=_MATRIX_HINT)
    return ("matrix" if _is_inline_matrix(text) else Path(text).stem), text


_MATRIX_HINT = "--matrix NAME=FILE.csv, or --matrix NAME='300 200; 500 99000'"


def _is_inline_matrix(text: str) -> bool:
    """Whether a confusion matrix is written on the command line instead of in a file."""
    return ";" in text and not Path(text).exists()


def renames(pairs: list[str]) -> dict[str, str]:
    """Display names by column, from COL=NAME pairs."""
    return dict(split_pair(pair, "--name", "COL=NAME, such as --name p1=forest") for pair in pairs)


def model_kinds(pairs: list[str]) -> dict[str, str]:
    """Models of other table kinds, from NAME=KIND(COL) pairs."""
    hint = "NAME=KIND(COL); a column of scores is --score COL"
    return dict(split_pair(pair, "--model", hint.replace("COL", pair.split("=")[0])) for pair in pairs)


def intervals(texts: list[str]) -> tuple[str | None, Any]:
    """Interval method, and columns and level of prediction intervals (the texts with commas).

    >>> intervals(["bca", "nb=low,high,0.9"]), intervals(["low,high,0.9"])
    (('bca', {'nb': ['low', 'high', '0.9']}), (None, ['low', 'high', '0.9']))
    """
    methods = [text for text in texts if "," not in text]
    if len(methods) > 1:
        raise DataError("two interval methods are stated.", seen=" and ".join(methods), hint="one --interval METHOD")
    intervals = [text for text in texts if "," in text]
    interval_by_model = dict(
        split_pair(text, "--interval", "MODEL=LOW,HIGH,LEVEL") for text in intervals if "=" in text
    )
    unnamed = [text for text in intervals if "=" not in text]
    if len(unnamed) > 1 or (unnamed and interval_by_model):
        raise DataError(
            "it is unclear which model each prediction interval belongs to.",
            seen=", ".join(intervals),
            hint="--interval MODEL=LOW,HIGH,0.9",
        )
    intervals_by_model: Any = {model: pair.split(",") for model, pair in interval_by_model.items()}
    return (methods[0] if methods else None), (unnamed[0].split(",") if unnamed else intervals_by_model)


def looks(text: str) -> str:
    """The method of intervals for --looks any, or any(cases=5000).

    >>> looks("any"), looks("any(cases=5000)")
    ('any-look', 'any-look(cases=5000)')
    """
    name, bracket, given = text.strip().partition("(")
    if name.strip() != "any":
        raise DataError(f"--looks {text} is unknown.", hint="--looks any, or --looks 'any(cases=5000)'")
    return f"any-look{bracket}{given}"


def data_and_matrices(
    data: str | None, matrices: list[str], rows: Side | None, positive: str | None
) -> tuple[Any, dict[str, Any], dict[str, Side]]:
    """The data, confusion tables from NAME=FILE.csv pairs, and whether their rows are actual or predicted classes.

    Without data, the confusion tables take their place.
    """
    if not data and not matrices:
        raise DataError("name the data, or confusion matrices instead.", hint="DATA, or --matrix NAME=FILE.csv")
    from scorespace.io.matrix import DEFAULT_CLASSES, parse_matrix, read_matrix
    from scorespace.tables import confusion

    tables: dict[str, Any] = {}
    sides: dict[str, Side] = {}
    for pair in matrices:
        name, source = _named_matrix(pair)
        if name in tables:
            hint = f"a name for each: --matrix A={shlex.quote(source)}"
            raise DataError(f"there are two matrices named {name!r}.", hint=hint)
        classes, cells, sides[name] = (
            parse_matrix(source, rows) if _is_inline_matrix(source) else read_matrix(source, rows)
        )
        first = DEFAULT_CLASSES[0] if classes == DEFAULT_CLASSES else positive
        tables[name] = confusion(cells, classes=classes, positive=first)
        if classes == DEFAULT_CLASSES and positive is not None and not data:
            raise ColumnError(
                f"--positive {positive} names a class, but the matrix of {name} has no class labels.",
                hint="leave out --positive: the first row is the positive class",
            )
    return (data, tables, sides) if data else (tables, {}, sides)


def by_model(texts: Sequence[str]) -> Any:
    """Columns by model, or of the only model: MODEL=COLUMNS or COLUMNS.

    >>> by_model(["q*"]), by_model(["a=q*", "b=p*"])
    ('q*', {'a': 'q*', 'b': 'p*'})
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return dict(split_pair(text, "--quantiles or --ensemble", "MODEL=q*") for text in texts)


def split_pair(pair: str, flag: str, hint: str, *, last: bool = False) -> tuple[str, str]:
    """Split an argument LEFT=RIGHT at the first equals sign, or at the last."""
    left, equals, right = pair.rpartition("=") if last else pair.partition("=")
    if not (left and equals and right):
        raise ColumnError(f"{flag} {pair} cannot be parsed.", hint=hint)
    return left, right
