"""`scorespace tests`: the tests between models there are, or one of them explained."""

# ruff: noqa: PT028 - it lists tests of models and is none of pytest's

from __future__ import annotations

from typing import Annotated

from scorespace.cli import options
from scorespace.cli.lookup import look_up, words
from scorespace.comparisons.test import TESTS, ranked
from scorespace.views.tests import entry, explained, tests_grid

_Name = Annotated[list[str] | None, words(TESTS.completed)]


def tests(name: _Name = None, format: options.OutputFormat = "table") -> None:
    """List all tests between models, explain one, or search: what it computes, what it is for.

    Example: scorespace tests mcnemar
    """
    look_up(TESTS, name, format, every=ranked(), listed=tests_grid, explained=explained, entry=entry)
