"""The command line: one file per verb, errors told without tracebacks."""

from __future__ import annotations

import signal
import sys

import typer

from scorespace.cli import (
    agree,
    audit,
    calibrate,
    cases,
    compare,
    curve,
    decide,
    demo,
    drift,
    evaluate,
    measures,
    power,
    ranks,
)
from scorespace.cli.options import in_flags
from scorespace.errors import ScoreSpaceError

app = typer.Typer(
    name="scorespace",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="From scores to decisions: how good is each model, is the difference real, which threshold to use.",
    epilog="Begin with: scorespace demo",
)
app.command(no_args_is_help=True)(audit.audit)
app.command(no_args_is_help=True)(evaluate.evaluate)
app.command(no_args_is_help=True)(compare.compare)
app.command(no_args_is_help=True)(decide.decide)
app.command(no_args_is_help=True)(curve.curve)
app.command(no_args_is_help=True)(calibrate.calibrate)
app.command(no_args_is_help=True)(cases.cases)
app.command(no_args_is_help=True)(ranks.ranks)
app.command(no_args_is_help=True)(agree.agree)
app.command(no_args_is_help=True)(drift.drift)
app.command(no_args_is_help=True)(power.power)
app.command()(measures.measures)
app.command()(demo.demo)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Show the version and leave.")) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"scorespace {installed('scorespace')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a user's mistake ends with its message on stderr and exit code 2."""
    if hasattr(signal, "SIGPIPE"):  # end quietly when the reader of our output has gone, as with `| head`
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        app(prog_name="scorespace")
    except ScoreSpaceError as error:
        _stop(f"{type(error).__name__}: {in_flags(str(error))}")
    except OSError as error:
        _stop(f"{type(error).__name__}: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""))
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(130)


def _stop(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.exit(2)
