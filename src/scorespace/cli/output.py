"""Writing results to stdout in the chosen format, and progress to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from scorespace.cli.options import Format
from scorespace.results import Progress, Row
from scorespace.views import markdown, tidy
from scorespace.views.document import Document, Grid

_PATIENCE = 1.0  # seconds of work before a progress bar appears


def write(document: Document, content: Row, form: Format) -> None:
    """A result: the document for people, or its content for programs."""
    match form:
        case Format.table:
            from rich.console import Console  # loaded only for people

            from scorespace.views import terminal

            terminal.show(document, Console(highlight=False, soft_wrap=False))
        case Format.markdown:
            typer.echo(markdown.text(document), nl=False)
        case Format.json:
            typer.echo(tidy.as_json(content))
        case Format.csv:
            typer.echo(tidy.as_csv(content["rows"]), nl=False)


def write_grid(grid: Grid, content: Row, form: Format) -> None:
    """A single table in the chosen format."""
    if form is Format.table:
        from rich.console import Console

        from scorespace.views import terminal

        terminal.grid(grid, Console(highlight=False))
    elif form is Format.markdown:
        typer.echo(markdown.table(grid))
    else:
        typer.echo(
            tidy.as_json(content) if form is Format.json else tidy.as_csv(content["rows"]), nl=form is Format.json
        )


@contextmanager
def progress(what: str) -> Iterator[Progress | None]:
    """A progress bar on a terminal's stderr, shown once the work has taken more than a second."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    began = time.monotonic()
    with Bar(console=Console(stderr=True), transient=True, disable=False, auto_refresh=False) as bar:
        task = bar.add_task(what, total=1.0, visible=False)

        def advance(share: float) -> None:
            bar.update(task, completed=share, visible=time.monotonic() - began > _PATIENCE, refresh=True)

        yield advance
