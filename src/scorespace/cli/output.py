"""Write results to stdout in the chosen format, messages and progress to stderr."""

from __future__ import annotations

import codecs
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import typer

from scorespace.cli.options import Format
from scorespace.files import write_file
from scorespace.report import serialize, terminal
from scorespace.report.document import Document, Grid
from scorespace.results import Progress, Row

_PROGRESS_DELAY = 1.0  # seconds of work before a progress bar appears
_ASCII: Final = {
    **{"↑": "^", "↓": "v", "→": ">", "−": "-", "–": "-", "—": "-", "…": "...", "≥": ">=", "≤": "<=", "≠": "!="},
    **{"±": "+-", "×": "x", "·": "*", "∞": "inf", "π": "pi", "Σ": "sum", "²": "^2", "√": "sqrt", "∘": "o"},
    **{"\N{NO-BREAK SPACE}": " ", "‘": "'", "’": "'", "“": '"', "”": '"', "α": "alpha", "β": "beta", "χ": "chi"},
}
"""ASCII replacements of the symbols in our output, for terminals with another encoding."""


def make_printable() -> None:
    """Let stdout and stderr print any text: symbols missing from the encoding are replaced by ASCII."""
    codecs.register_error("scorespace", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(ValueError, OSError):  # the stream is closed
                reconfigure(errors="scorespace")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    symbols = error.object[error.start : error.end]
    texts = (_ASCII.get(symbol) or symbol.encode("ascii", "backslashreplace").decode() for symbol in symbols)
    return "".join(texts), error.end


def write_stderr(text: str) -> None:
    """Write text to stderr, if there is one."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()


def flush() -> None:
    """Flush stdout while an error, such as a full disk, can still be reported."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except ValueError:  # closed
        return
    except OSError as error:
        with suppress(OSError):
            sys.stdout.close()  # else the interpreter flushes again at exit and prints its own message
        raise OSError(error.errno, error.strerror, "standard output") from None


@contextmanager
def _name_stdout_in_errors() -> Iterator[None]:
    """Name standard output in the errors of writing to it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or "standard output") from None


def write_line(text: str) -> None:
    """Write a line to stdout."""
    with _name_stdout_in_errors():
        sys.stdout.write(text + "\n")


def write(document: Document, content: Row, form: Format, *, header: Sequence[str] = ()) -> None:
    """Write a document as text, or its content as data; `header` names the CSV columns if there are no rows."""
    texts = {"markdown": lambda: serialize.text(document), "latex": lambda: serialize.latex(document)}
    _write(lambda console: terminal.show(document, console), texts, content, form, header)


def write_grid(grid: Grid, content: Row, form: Format) -> None:
    """Write a single table in the chosen format."""
    texts = {"markdown": lambda: serialize.table(grid) + "\n", "latex": lambda: serialize.latex_table(grid) + "\n"}
    _write(lambda console: terminal.grid(grid, console), texts, content, form)


@_name_stdout_in_errors()
def _write(
    show: Callable[[Any], None],
    texts: Mapping[str, Callable[[], str]],
    content: Row,
    form: Format,
    header: Sequence[str] = (),
) -> None:
    match form:
        case "table":
            from rich.console import Console  # needed for tables only

            show(Console(highlight=False, soft_wrap=False))
        case "markdown" | "latex":
            sys.stdout.write(texts[form]())
        case "json":
            _echo(serialize.as_json(content) + "\n", serialize.as_json(content, ascii=True) + "\n")
        case "csv":
            _echo(serialize.as_csv(content["rows"], header))


def write_result(
    document: Document,
    content: Row,
    form: Format,
    *,
    report: Path | None = None,
    page: Document | None = None,
    out: Path | None = None,
    draw: Callable[[], Any] | None = None,
    rows: Callable[[], list[Row]] | None = None,
    header: Sequence[str] = (),
    out_label: str = "",
) -> None:
    """Write a result and its files; the files come first, so that an error leaves stdout empty.

    `report` receives the document, or a `page` with more. `out` receives the chart or, with an `out_label`, the rows
    (.csv) or the whole result (.json).
    """
    write_page(page or document, report)
    save(out, draw, lambda: content, rows)
    write(document.brief(), content, form, header=header)
    if out_label:
        list_files(None, **{out_label: out}, report=report)
    else:
        list_files(form, report=report, picture=out)


def write_page(document: Document, report: Path | None) -> None:
    """Write the HTML report, if a file is named, with its provenance."""
    if report is not None:
        from scorespace.report.document import provenance as made
        from scorespace.report.html import write as write_html

        provenance = document.made or made(document.title, *document.facts.split("   "), command=command())
        write_html(replace(document, made=provenance), report)


def command() -> str:
    """The command line as typed."""
    return shlex.join(["scorespace", *sys.argv[1:]])


def save(
    path: Path | None,
    draw: Callable[[], Any] | None,
    content: Callable[[], Row] = dict,
    rows: Callable[[], list[Row]] | None = None,
    header: Sequence[str] = (),
) -> None:
    """Write the result to a file, if one is named: rows (.csv), everything (.json), or the chart."""
    if path is None:
        return
    match path.suffix.lower():
        case ".csv":
            write_file(path, serialize.as_csv(content()["rows"] if rows is None else rows(), header).encode())
        case ".json":
            write_file(path, serialize.as_json(content()).encode())
        case _ if draw is not None:
            from scorespace.report.chart_files import save as save_chart

            save_chart(draw(), path)


@_name_stdout_in_errors()
def list_files(form: Format | None, **files: Path | None) -> None:
    """Print the names of written files: below a table on stdout, otherwise on stderr."""
    for label, path in files.items():
        if path is not None:
            typer.echo(f"{label}  {path}", err=form != "table")


def _echo(text: str, plain: str | None = None) -> None:
    """Print data unchanged, or escaped where the encoding of stdout lacks a character."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = plain or text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)


@contextmanager
def progress(task: str) -> Iterator[Progress | None]:
    """Show a progress bar on a terminal's stderr after the first second of work."""
    if not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    bars: list[Any] = []

    def advance(share: float) -> None:
        if time.monotonic() - began <= _PROGRESS_DELAY:
            return
        if not bars:
            bars.append(_start_bar(task))
        bars[0].update(0, completed=share, refresh=True)

    try:
        yield advance
    finally:
        for bar in bars:
            bar.stop()


def _start_bar(task: str) -> Any:
    """Start a progress bar on stderr; imported here because short runs do not need it."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = Bar(console=Console(stderr=True), transient=True, disable=False, auto_refresh=False)
    bar.add_task(task, total=1.0)
    bar.start()
    return bar
