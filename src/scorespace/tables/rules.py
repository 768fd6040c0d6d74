"""Rule tables: numbers of transactions with the antecedent, the consequent, and both sides of a rule."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from scorespace.argument_checks import translate_errors
from scorespace.results import equal_values
from scorespace.tables.counts import Counts, to_counts
from scorespace.tables.table import Array, Table


class RuleTable(Table):
    """Transactions with both sides of a rule, with its antecedent, with its consequent, and in total.

    Of any common shape, so that one formula serves one rule or a million. The antecedent is treated as a prediction of
    the consequent, so every measure of binary decisions applies to rules.

    Parameters
    ----------
    both : array_like
        Number of transactions with antecedent and consequent.
    antecedent : array_like
        Number of transactions with the antecedent.
    consequent : array_like
        Number of transactions with the consequent.
    total : array_like
        Number of transactions.

    Examples
    --------
    >>> rule = RuleTable(both=[2, 3], antecedent=[4, 3], consequent=[3, 5], total=6)
    >>> rule.inside(Counts).fp
    array([2., 0.])
    """

    holds = "transactions"
    counts_outcomes = True

    def __init__(self, both: ArrayLike, antecedent: ArrayLike, consequent: ArrayLike, total: ArrayLike) -> None:
        sides = [to_counts(part) for part in (both, antecedent, consequent, total)]
        with translate_errors("RuleTable"):
            self.both, self.antecedent, self.consequent, self.transactions = np.broadcast_arrays(*sides)

    @property
    def total(self) -> Array:
        """Number of transactions."""
        return self.transactions

    def described(self) -> str:
        """Description for messages: "counts of a rule"."""
        return "counts of a rule"

    @property
    def cells(self) -> Array:
        """Transactions with both sides, the antecedent only, the consequent only, and neither, along the last axis."""
        left, right = self.antecedent - self.both, self.consequent - self.both
        return np.stack([self.both, left, right, self.transactions - self.both - left - right], axis=-1)

    def with_cells(self, cells: Array) -> Self:
        """Return a table of other counts.

        Parameters
        ----------
        cells : ndarray of shape (…, 4)
            Transactions with both sides, the antecedent only, the consequent only, and neither.

        Returns
        -------
        RuleTable
            The table.
        """
        both, left, right = cells[..., 0], cells[..., 1], cells[..., 2]
        return type(self)(both, both + left, both + right, cells.sum(axis=-1))

    def effective(self, trials: str) -> float:
        """Number of transactions in the count of that name.

        Parameters
        ----------
        trials : str
            Name of the count.

        Returns
        -------
        float
            The count.
        """
        return float(getattr(self, trials))

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        """Derive the outcomes of the antecedent as a prediction of the consequent.

        Parameters
        ----------
        wanted : type of Table
            The kind of table that is derived.

        Returns
        -------
        Table or None
            A table of the wanted kind, if there is one.
        """
        return Counts(*np.moveaxis(self.cells, -1, 0)) if wanted is Counts else super().whole_inside(wanted)

    def __add__(self, other: Self) -> Self:
        return self.with_cells(self.cells + other.cells)

    def __getitem__(self, index: Any) -> Self:
        return self.with_cells(self.cells[index])

    def __len__(self) -> int:
        return int(self.both.shape[-1])

    def __eq__(self, other: object) -> bool:
        return equal_values(self.cells, other.cells) if isinstance(other, RuleTable) else NotImplemented

    def __repr__(self) -> str:
        sides = ("both", "antecedent", "consequent", "total")
        return "RuleTable(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in sides) + ")"
