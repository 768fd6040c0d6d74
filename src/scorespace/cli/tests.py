"""`scorespace tests`: the tests between models there are, or one of them explained."""

# ruff: noqa: PT028 - it lists tests of models and is none of pytest's

from __future__ import annotations

from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.comparisons.test import TESTS, ranked
from scorespace.results import SCHEMA
from scorespace.views.tests import entry, explained, tests_grid


def tests(
    name: Annotated[str | None, typer.Argument(help="A test, by any of its names.")] = None,
    format: options.OutputFormat = options.Format.table,
) -> None:
    """List all tests between models, or explain one: what it computes, what it is for, its options and names.

    Example: scorespace tests mcnemar
    """
    if name is None:
        rows = [entry(one) for one in ranked()]
        output.write_grid(tests_grid(ranked()), {"schema": SCHEMA, "rows": rows}, format)
    else:
        found = TESTS.find(name)
        output.write_grid(explained(found), {"schema": SCHEMA, "rows": [entry(found)]}, format)
