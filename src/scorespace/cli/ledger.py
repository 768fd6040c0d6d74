"""`scorespace ledger`: the looks at a test set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.cli.verbs import verb


@verb("Evaluate models", 9)
def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ledger that evaluate --ledger FILE wrote.")],
    level: options.Level = 0.95,
    report: options.Report = None,
    format: options.OutputFormat = "table",
) -> None:
    """Show how often a test set was looked at, and the best model corrected for the number of looks.

    Every line holds the hash of the line before, so an edited line is an error.

    Example: scorespace ledger test.ledger.jsonl
    """
    from scorespace.evaluation.ledger import open_ledger
    from scorespace.inference.estimate import check_level
    from scorespace.report.ledger import ledger_document

    check_level(level)
    options.check_output(report, (".html",), str(file))
    found = open_ledger(file, level=level)
    document = ledger_document(found, found.name, found.models, found.bits)
    output.write_result(document, found.to_dict(), format, report=report)
