"""How often the two sides of a rule occur, together and each, among so many transactions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.arguments import foreseen
from scorespace.results import same
from scorespace.tables.counts import Counts, count_of
from scorespace.tables.table import Array, Table


class RuleTable(Table):
    """Transactions with both sides of a rule, with its antecedent, with its consequent, and all of them.

    Any common shape, so one formula serves one rule or a million. The outcomes of "who has the antecedent will have
    the consequent" are inside it: every measure of decisions is one of rules, too.

    >>> rule = RuleTable(both=[2, 3], antecedent=[4, 3], consequent=[3, 5], total=6)
    >>> rule.inside(Counts).fp
    array([2., 0.])
    """

    holds = "transactions"
    counts_outcomes = True

    def __init__(self, both: ArrayLike, antecedent: ArrayLike, consequent: ArrayLike, total: ArrayLike) -> None:
        sides = [count_of(part) for part in (both, antecedent, consequent, total)]
        with foreseen("RuleTable"):
            self.both, self.antecedent, self.consequent, self.transactions = np.broadcast_arrays(*sides)

    @property
    def total(self) -> Array:
        """All transactions."""
        return self.transactions

    def described(self) -> str:
        return "counts of a rule"

    @property
    def cells(self) -> Array:
        """Transactions with both sides, with one of them, with the other, and with neither, along the last axis."""
        one, other = self.antecedent - self.both, self.consequent - self.both
        return np.stack([self.both, one, other, self.transactions - self.both - one - other], axis=-1)

    def with_cells(self, cells: Array) -> Self:
        both, one, other = cells[..., 0], cells[..., 1], cells[..., 2]
        return type(self)(both, both + one, both + other, cells.sum(axis=-1))

    def effective(self, trials: str) -> float:
        """How many transactions the count of that name holds."""
        return float(getattr(self, trials))

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        return Counts(*np.moveaxis(self.cells, -1, 0)) if wanted is Counts else super().whole_inside(wanted)

    def __add__(self, other: Self) -> Self:
        return self.with_cells(self.cells + other.cells)

    def __getitem__(self, index: Any) -> Self:
        return self.with_cells(self.cells[index])

    def __len__(self) -> int:
        return int(self.both.shape[-1])

    def __eq__(self, other: object) -> bool:
        return same(self.cells, other.cells) if isinstance(other, RuleTable) else NotImplemented

    def __repr__(self) -> str:
        sides = ("both", "antecedent", "consequent", "total")
        return "RuleTable(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in sides) + ")"
