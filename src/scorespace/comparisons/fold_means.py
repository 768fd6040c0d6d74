"""A measure over folds: its mean and spread within them, beside the value of all cases thrown together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from scorespace.comparisons.folds import by_fold
from scorespace.frozen import dataclass
from scorespace.measures import MeasureSpec
from scorespace.measures.request import bind
from scorespace.results import Row, decimals, digits, grouped, plain
from scorespace.tables import Array, Table
from scorespace.tables.pair import PairTable


@dataclass(frozen=True)
class OverFolds:
    """A measure of one model: the mean and standard deviation within folds, and the `pooled` value of all cases.

    The two are different numbers: within a fold scores come from one fit, and pooled ones mix the scales of all.
    `undefined` counts the folds in which there is no value; they are left out of the mean.
    """

    model: str
    spec: MeasureSpec
    mean: float
    sd: float
    pooled: float
    folds: int
    undefined: int = 0

    @property
    def text(self) -> str:
        """Mean and spread with the same decimals."""
        if math.isnan(self.mean):
            return "–"
        places = digits(self.mean) if math.isnan(self.sd) else digits(self.mean, self.mean + self.sd)
        return decimals(self.mean, places) + ("" if math.isnan(self.sd) else f" ± {decimals(self.sd, places)}")

    def row(self) -> Row:
        told = {"model": self.model, "measure": self.spec.canonical, "mean": self.mean, "sd": self.sd}
        return plain({**told, "pooled": self.pooled, "folds": self.folds, "undefined": self.undefined})

    def __repr__(self) -> str:
        left = f", {self.undefined} undefined" if self.undefined else ""
        if self.folds == 1:
            return f"{self.model} {self.spec} {self.text}"
        over = f"mean over {grouped(self.folds)} folds{left}"
        return f"{self.model} {self.spec} {self.text} ({over}), pooled {decimals(self.pooled)}"


def summed_up(model: str, spec: MeasureSpec, values: Array, pooled: float) -> OverFolds:
    """What values within folds come to.

    >>> from scorespace.measures import parse
    >>> summed_up("nb", parse("auc"), np.array([[0.8, 0.9], [0.7, math.nan]]), 0.79)
    nb auc 0.800 ± 0.100 (mean over 4 folds, 1 undefined), pooled 0.790
    """
    return OverFolds(model, spec, *mean_and_sd(values), pooled, values.size, int((~np.isfinite(values)).sum()))


def mean_and_sd(values: Array) -> tuple[float, float]:
    """The mean and the standard deviation of what is defined; NaN where that is too little."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else math.nan, float(known.std(ddof=1)) if known.size > 1 else math.nan


def over_folds(pairs: PairTable | None, asked: Mapping[str, Iterable[MeasureSpec]]) -> tuple[OverFolds, ...]:
    """Measures of models that were tested in folds, over these; none where no folds are known."""
    if pairs is None or pairs.fold is None or ((pairs.fold == pairs.fold[0]).all() and pairs.repeat is None):
        return ()
    tables: dict[str, Table] = dict(zip(pairs.models, pairs.tables, strict=True))
    requests = [(name, bind(spec, tables[name])) for name, specs in asked.items() if name in tables for spec in specs]
    return tuple(summed_up(name, one.spec, by_fold(pairs, name, one), one.value) for name, one in requests)
