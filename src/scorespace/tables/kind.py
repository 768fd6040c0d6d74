"""Kinds of tables that a column is read into, declared like every noun: `@table_kind` on a function of two columns.

Scores and decisions, whose truth is a class, have their own roles. Here are the tables whose truth is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import Declaration, Registry, declaring
from scorespace.errors import ColumnError
from scorespace.frozen import dataclass
from scorespace.tables.table import Table

Column = NDArray[np.float64]
Reader = Callable[[Column, Column, Column | None], Table]
"""From the truth, the model's column and the weights (None: all alike) to a table whose cells are the cases."""


@dataclass(frozen=True, eq=False, repr=False)
class TableKind(Declaration):
    """How the columns of a model become a table beside a truth that is a number, too: NAME=KIND(COLUMN)."""

    function: Reader
    title: str
    aliases: tuple[str, ...] = ()
    name: str = ""

    def read(self, truth: Column, column: Column, weight: Column | None, **more: Any) -> Table:
        """The table of a model's columns; what else is stated of them its reader must know."""
        unknown = more.keys() - signature(self.function).parameters.keys()
        if unknown:
            stated = " or ".join(_STATED[name] for name in sorted(unknown))
            raise ColumnError(f"models read by {self.name}(COLUMN) take no {stated}.", hint=f"no {stated}")
        return self.function(truth, column, weight, **more)


_STATED: Final = {"baseline": "baseline", "copies": 'weights="copies"', "interval": "ends of intervals"}

TABLE_KINDS: Registry[TableKind] = Registry("kind of table", "evaluate --help", ColumnError)
"""Every declared kind of table of numbers."""


table_kind = declaring(TABLE_KINDS, TableKind)
_READ: Final = re.compile(r"\s*(?P<kind>[^()\s]+)\s*\(\s*(?P<column>\S(?:.*\S)?)\s*\)\s*", re.DOTALL)


def read_kind(text: str) -> tuple[TableKind, str]:
    """The kind and the column of KIND(COLUMN)."""
    found = _READ.fullmatch(text)
    if found is None:
        raise ColumnError(f"the model {text!r} cannot be read.", hint="NAME=KIND(COLUMN)")
    return TABLE_KINDS.find(found["kind"]), found["column"]
