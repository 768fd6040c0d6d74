"""The command line: one file per verb, errors told without tracebacks."""

from __future__ import annotations

import os
import sys
import warnings

import typer

from scorespace.cli import output
from scorespace.cli.options import in_flags
from scorespace.cli.verbs import VERBS, Verbs
from scorespace.errors import ScoreSpaceError, in_one_line, shown
from scorespace.files import begin_run

app = typer.Typer(
    name="scorespace",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="From scores to decisions: how good is each model, is the difference real, which threshold to use.",
    epilog="Begin with: scorespace demo. The examples of every --help read the credit.csv that scorespace demo --copy "
    "writes. In Python and notebooks: import scorespace as ss; ss.evaluate(…) takes files, frames and arrays, such as "
    "predictions of scikit-learn.",
)
for verb in VERBS:
    app.command(verb.name)(lambda: None)  # stands for the verb until it is called


_NO_MEMORY = "MemoryError: there is not enough memory.\n  hint: only the columns in use, or a sample of the rows"
_UNMAPPED = ("failed to map segment", "cannot allocate memory")  # what a library says that finds no room to load


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Show the version and leave.")) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"scorespace {installed('scorespace')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a user's mistake ends with its message on stderr and exit code 2."""
    begin_run()
    output.make_printable()
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    try:
        try:
            app(prog_name="scorespace")
        finally:
            output.flush()
    except ScoreSpaceError as error:
        _stop(f"{type(error).__name__}: {in_flags(str(error))}")
    except OSError as error:
        _stop(
            f"{type(error).__name__}: {error.strerror or error}"
            + (f": {shown(str(error.filename))}" if error.filename else "")
        )
    except MemoryError:
        _stop(_NO_MEMORY)
    except KeyboardInterrupt:
        output.say("stopped\n")
        sys.exit(130)
    except Exception as error:
        if os.environ.get("SCORESPACE_TRACEBACK"):
            raise
        if any(words in str(error) for words in _UNMAPPED):
            _stop(_NO_MEMORY)
        seen = shown(in_one_line(error, 200))
        hint = "please report it; with SCORESPACE_TRACEBACK=1 it tells where"
        _stop(f"InternalError: scorespace failed, which is its own fault.\n  seen: {seen}\n  hint: {hint}")


def _stop(message: str) -> None:
    output.say(message + "\n")
    sys.exit(2)
