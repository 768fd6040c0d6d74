"""Registry of table kinds for regression: `@table_kind` on a function that builds a table from two numeric columns.

Scores and decisions, whose truth is a class, have roles of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError
from scorespace.registry import RegisteredFunction, Registry, registering_decorator
from scorespace.tables.table import Table

Column = NDArray[np.float64]
Reader = Callable[[Column, Column, Column | None], Table]
"""Function of the truth, the model's column and the weights (or None) that builds a table with one cell per case."""


@dataclass(frozen=True, eq=False, repr=False)
class TableKind(RegisteredFunction):
    """How a numeric column of a model becomes a table: NAME=KIND(COLUMN)."""

    function: Reader
    title: str
    aliases: tuple[str, ...] = ()
    name: str = ""

    def read(self, truth: Column, column: Column, weight: Column | None, **options: Any) -> Table:
        """Build the table of a model's column; options must be parameters of the registered function."""
        unknown = options.keys() - signature(self.function).parameters.keys()
        if unknown:
            names = " or ".join(_OPTION_NAMES[name] for name in sorted(unknown))
            raise ColumnError(f"models read by {self.name}(COLUMN) do not support {names}.", hint=f"remove {names}")
        return self.function(truth, column, weight, **options)


_OPTION_NAMES: Final = {
    "baseline": "baseline",
    "copies": 'weights="copies"',
    "interval": "prediction intervals",
    "quantiles": "quantiles",
    "history": "a training series",
}

TABLE_KINDS: Registry[TableKind] = Registry("kind of table", "evaluate --help", ColumnError)
"""All registered kinds of tables."""


table_kind = registering_decorator(TABLE_KINDS, TableKind)
_KIND_AND_COLUMN: Final = re.compile(r"\s*(?P<kind>[^()\s]+)\s*\(\s*(?P<column>\S(?:.*\S)?)\s*\)\s*", re.DOTALL)


def read_kind(text: str) -> tuple[TableKind, str]:
    """Parse KIND(COLUMN)."""
    match = _KIND_AND_COLUMN.fullmatch(text)
    if match is None:
        raise ColumnError(f"the model {text!r} cannot be parsed.", hint="NAME=KIND(COLUMN)")
    return TABLE_KINDS.find(match["kind"]), match["column"]
