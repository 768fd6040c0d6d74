"""Measures that limit the cases of each period, of two models: the periods are the units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError
from scorespace.inference.periods import few_periods, half_width, influence_of_periods
from scorespace.tables.periods import PeriodTable


def requires_periods(design: Design[Any]) -> NotApplicable | None:
    """Requires a measure that limits the cases of each period."""
    if design.only_table is PeriodTable:
        return None
    requested = "decisions" if design.spec is None else str(design.spec)
    hint = "--per COL with a measure such as ppv@top500"
    return NotApplicable(f"{{title}} is for limits of each period, not for {requested}.", hint=hint, error=MeasureError)


@test(
    title="t test over periods",
    for_="the highest scores of each period: paired differences of the periods",
    suits=(requires_periods,),
    name="periods",
    directed=True,
)
def periods(design: PairedModels[PeriodTable]) -> Comparison:
    """t = d / √(Σ u² / (J (J − 1))) with J − 1 degrees of freedom, u the differences of the influences of J periods."""
    influence = np.subtract(
        *(influence_of_periods(request, table) for request, table in zip(design.bound, design.tables, strict=True))
    )
    comparison = Comparison(*design.names, "t over periods", design.of, design.difference, level=design.level)
    few = few_periods(influence.size)
    if few is not None:
        return replace(comparison, reason=few)
    if not influence.any():
        return replace(comparison, low=design.difference, high=design.difference, p=1.0, reason="no period differs")
    half = half_width(influence, design.level)
    error = math.sqrt(float(influence @ influence) / (influence.size * (influence.size - 1)))
    t, df = design.difference / error, influence.size - 1
    low, high = design.difference - half, design.difference + half
    return replace(comparison, low=low, high=high, statistic=t, df=df, p=float(2 * stdtr(df, -abs(t))))
