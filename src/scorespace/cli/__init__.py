"""The command line: one module per verb; errors are printed without a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import typer

from scorespace.cli import output
from scorespace.cli.options import in_flags
from scorespace.cli.config import find_config, read_config
from scorespace.cli.verbs import VerbGroup, verbs
from scorespace.errors import ScoreSpaceError, escape_control_characters, is_out_of_memory, one_line_message
from scorespace.files import start_recording_reads

app = typer.Typer(
    name="scorespace",
    cls=VerbGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Evaluate predictive models: measures with confidence intervals, comparison tests, and decision thresholds.",
    epilog="Start with: scorespace demo. The examples of every --help use credit.csv, which scorespace demo --copy "
    "writes. In Python and notebooks: import scorespace as ss; ss.evaluate(…) accepts files, data frames and arrays, "
    "such as the predictions of scikit-learn.",
)


_NO_MEMORY = "MemoryError: not enough memory.\n  hint: pass only the columns in use, or a sample of the rows"


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context, version: bool = typer.Option(False, "--version", help="Show the version and exit.")
) -> None:
    path = find_config(Path.cwd())
    if path is not None:
        ctx.default_map = read_config(path, verbs())
        output.write_stderr(f"using {path.name}\n")
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"scorespace {installed('scorespace')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a user error prints its message on stderr and exits with code 2."""
    start_recording_reads()
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
            + (f": {escape_control_characters(str(error.filename))}" if error.filename else "")
        )
    except KeyboardInterrupt:
        output.write_stderr("stopped\n")
        sys.exit(130)
    except Exception as error:
        if os.environ.get("SCORESPACE_TRACEBACK"):
            raise
        if is_out_of_memory(error):
            _stop(_NO_MEMORY)
        seen = escape_control_characters(one_line_message(error, 200))
        hint = "please report this; SCORESPACE_TRACEBACK=1 shows the traceback"
        _stop(f"InternalError: an unexpected error in scorespace.\n  seen: {seen}\n  hint: {hint}")


def _stop(message: str) -> None:
    output.write_stderr(message + "\n")
    sys.exit(2)
