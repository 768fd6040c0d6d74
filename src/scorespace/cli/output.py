"""Writing results to stdout in the chosen format and in an encoding that it has, and progress to stderr."""

from __future__ import annotations

import codecs
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import typer

from scorespace.cli.options import Format
from scorespace.files import write_file
from scorespace.later import later

if TYPE_CHECKING:  # this module loads for the help, too
    from pathlib import Path

    from scorespace.results import Progress, Row
    from scorespace.views import markdown, terminal, tidy
    from scorespace.views.document import Document, Grid
else:
    markdown, terminal, tidy = (later(f"scorespace.views.{name}") for name in ("markdown", "terminal", "tidy"))

_PATIENCE = 1.0  # seconds of work before a progress bar appears
_PLAIN: Final = {
    **{"↑": "^", "↓": "v", "→": ">", "−": "-", "–": "-", "—": "-", "…": "...", "≥": ">=", "≤": "<=", "≠": "!="},
    **{"±": "+-", "×": "x", "·": "*", "∞": "inf", "π": "pi", "Σ": "sum", "²": "^2", "√": "sqrt", "∘": "o"},
    **{"\N{NO-BREAK SPACE}": " ", "‘": "'", "’": "'", "“": '"', "”": '"', "α": "alpha", "β": "beta", "χ": "chi"},
}
"""Our own signs in ASCII, for screens that know no other."""


def make_printable() -> None:
    """Let stdout and stderr print any text: a sign that the encoding lacks is written in ASCII."""
    codecs.register_error("scorespace", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(ValueError, OSError):  # closed meanwhile
                reconfigure(errors="scorespace")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs), error.end


def say(words: str) -> None:
    """Words on stderr, if there is one."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(words)
        sys.stderr.flush()


def flush() -> None:
    """Write out what is still held back, while a full disk can still be told."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except ValueError:  # closed
        return
    except OSError as error:
        with suppress(OSError):
            sys.stdout.close()  # else the interpreter tries again, and complains in its own words
        raise OSError(error.errno, error.strerror, "standard output") from None


@contextmanager
def _named() -> Iterator[None]:
    """What goes wrong with stdout is told with its name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or "standard output") from None


def line(text: str) -> None:
    """A line of text on stdout."""
    with _named():
        sys.stdout.write(text + "\n")


def write(document: Document, content: Row, form: Format, *, header: Sequence[str] = ()) -> None:
    """A result: the document for people, or its content for programs; `header` is that of no rows."""
    _write(lambda console: terminal.show(document, console), lambda: markdown.text(document), content, form, header)


def write_grid(grid: Grid, content: Row, form: Format) -> None:
    """A single table in the chosen format."""
    _write(lambda console: terminal.grid(grid, console), lambda: markdown.table(grid) + "\n", content, form)


@_named()
def _write(
    show: Callable[[Any], None], text: Callable[[], str], content: Row, form: Format, header: Sequence[str] = ()
) -> None:
    match form:
        case "table":
            from rich.console import Console  # loaded only for people

            show(Console(highlight=False, soft_wrap=False))
        case "markdown":
            sys.stdout.write(text())
        case "json":
            _echo(tidy.as_json(content) + "\n", tidy.as_json(content, ascii=True) + "\n")
        case "csv":
            _echo(tidy.as_csv(content["rows"], header))


def result(
    document: Document,
    content: Row,
    form: Format,
    *,
    report: Path | None = None,
    out: Path | None = None,
    draw: Callable[[], Any] | None = None,
    rows: Callable[[], list[Row]] | None = None,
    header: Sequence[str] = (),
    called: str = "",
) -> None:
    """A result with its files; these come first: nothing is shown before an error.

    `out` may hold the picture or, where the result is `called` something there, its rows or all of it.
    """
    page(document, report)
    save(out, draw, lambda: content, rows)
    write(document.brief(), content, form, header=header)
    if called:
        wrote(None, **{called: out}, report=report)
    else:
        wrote(form, report=report, picture=out)


def page(document: Document, report: Path | None) -> None:
    """Write the page, if a file is named for it; it says how it was made."""
    if report is not None:
        from scorespace.views.document import made
        from scorespace.views.report import write as write_page

        told = document.made or made(document.title, *document.facts.split("   "), command=command())
        write_page(replace(document, made=told), report)


def command() -> str:
    """What was typed."""
    return shlex.join(["scorespace", *sys.argv[1:]])


def save(
    path: Path | None,
    draw: Callable[[], Any] | None,
    content: Callable[[], Row] = dict,
    rows: Callable[[], list[Row]] | None = None,
    header: Sequence[str] = (),
) -> None:
    """Write what was found to a file, if one is named, by its ending: its rows, all of it, or its picture."""
    if path is None:
        return
    match path.suffix.lower():
        case ".csv":
            write_file(path, tidy.as_csv(content()["rows"] if rows is None else rows(), header).encode())
        case ".json":
            write_file(path, tidy.as_json(content()).encode())
        case _ if draw is not None:
            from scorespace.views.charts.files import save as save_picture

            save_picture(draw(), path)


@_named()
def wrote(form: Format | None, **files: Path | None) -> None:
    """Say which files were written: on the screen below a table, else where programs do not read."""
    for what, path in files.items():
        if path is not None:
            typer.echo(f"{what}  {path}", err=form != "table")


def _echo(text: str, plain: str | None = None) -> None:
    """Print data as it is, or escaped where the encoding of stdout lacks a sign: never in other words."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = plain or text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)


@contextmanager
def progress(what: str) -> Iterator[Progress | None]:
    """A progress bar on a terminal's stderr, shown once the work has taken more than a second."""
    if not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    bars: list[Any] = []

    def advance(share: float) -> None:
        if time.monotonic() - began <= _PATIENCE:
            return
        if not bars:
            bars.append(_bar(what))
        bars[0].update(0, completed=share, refresh=True)

    try:
        yield advance
    finally:
        for bar in bars:
            bar.stop()


def _bar(what: str) -> Any:
    """A bar on stderr, begun; it loads for work that takes long."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = Bar(console=Console(stderr=True), transient=True, disable=False, auto_refresh=False)
    bar.add_task(what, total=1.0)
    bar.start()
    return bar
