"""Replicates of a score table kept apart by class, for measures that depend on pairs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scorespace.tables.table import Array, At, NoTableError


@dataclass(frozen=True, eq=False)
class DrawnCases:
    """How often each positive and each negative score was drawn (replicates, scores of the class).

    `above` and `level` count, for each negative score, the positive scores above it and those at
    least as high. Nothing is as long as the whole table, which is what makes pairs quick to count.
    """

    pos: Array
    neg: Array
    above: Array
    level: Array
    n_pos: float
    n_neg: float
    probabilities: ClassVar[bool] = True
    scores_classes: ClassVar[bool] = False

    def inside(self, wanted: type, of: str | None = None, at: At | None = None, *, sized: bool = False) -> Any:
        """Itself: there is nothing else in it."""
        if wanted is DrawnCases and of is None and at is None:
            return self
        raise NoTableError("cannot be computed from pairs alone")

    def concordant_pairs(self) -> Array:
        """Pairs of a positive and a negative in the right order, ties half: Σ neg · (above + level) / 2."""
        running = np.zeros((self.pos.shape[0], self.pos.shape[1] + 1))
        np.cumsum(self.pos, axis=-1, out=running[:, 1:])
        higher = np.take(running, self.above, axis=1)
        if self.level is not self.above:
            higher += np.take(running, self.level, axis=1)
            higher /= 2
        return np.einsum("ri,ri->r", higher, self.neg)
