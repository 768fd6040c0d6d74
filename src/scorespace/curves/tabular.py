"""Curves that are read as a table: score bands and grades."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scorespace.curves.curve import Curve
from scorespace.tables import Array


@dataclass(frozen=True, eq=False, repr=False)
class TabularCurve(Curve):
    """Points with further columns; `shown` are the columns as text, `facts_` numbers of the whole table."""

    table: dict[str, Array] = field(kw_only=True)
    shown: dict[str, tuple[str, ...]] = field(kw_only=True, compare=False)
    facts_: dict[str, Any] = field(default_factory=dict, kw_only=True)
    words: str = field(default="", kw_only=True)

    @property
    def columns(self) -> dict[str, Array]:
        """All columns of the points."""
        return {**super().columns, **self.table}

    def facts(self) -> dict[str, Any]:
        """Numbers of the whole table."""
        return self.facts_
