"""Kinds of tables that a column is read into, declared like every noun: `@table_kind` on a function of two columns.

Scores and decisions, whose truth is a class, have their own roles. Here are the tables whose truth is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import Option, Registry
from scorespace.errors import ColumnError
from scorespace.tables.table import Table

Column = NDArray[np.float64]
Reader = Callable[[Column, Column, Column | None], Table]
"""From the truth, the model's column and the weights (None: all alike) to a table whose cells are the cases."""


@dataclass(frozen=True)
class TableKind:
    """What a column of numbers means: the table of its cases beside a truth that is a number, too."""

    name: str
    title: str
    function: Reader
    aliases: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()


TABLE_KINDS: Registry[TableKind] = Registry("kind of table", "evaluate --help", ColumnError)
"""Every declared kind of table of numbers."""


def table_kind(title: str, *, aliases: tuple[str, ...] = ()) -> Callable[[Reader], Reader]:
    """Declare how the columns of a model become a table: NAME=KIND(COLUMN) then evaluates it."""

    def declare(function: Reader) -> Reader:
        TABLE_KINDS.add(TableKind(function.__name__, title, function, aliases))
        return function

    return declare


_READ: Final = re.compile(r"\s*(?P<kind>[^()\s]+)\s*\(\s*(?P<column>\S(?:.*\S)?)\s*\)\s*", re.DOTALL)


def read_kind(text: str) -> tuple[TableKind, str]:
    """The kind and the column of KIND(COLUMN)."""
    found = _READ.fullmatch(text)
    if found is None:
        raise ColumnError(f"the model {text!r} cannot be read.", hint="NAME=KIND(COLUMN)")
    return TABLE_KINDS.find(found["kind"]), found["column"]
