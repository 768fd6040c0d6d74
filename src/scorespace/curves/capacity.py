"""Capacity curve: what a number of alerts in each period finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.special import stdtrit

from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.tables import Array, TopCases
from scorespace.tables.counts import ratio
from scorespace.tables.periods import PeriodTable

_POINTS = 200


@dataclass(frozen=True, eq=False, repr=False)
class CapacityCurve(Curve):
    """A capacity curve with the 95 % interval of each point over periods; NaN for fewer than 10 periods."""

    low: Array
    high: Array

    @property
    def columns(self) -> dict[str, Array]:
        """Columns of the points, with their intervals over periods."""
        return {**super().columns, "low": self.low, "high": self.high}


@curve(
    title="Capacity curve",
    x="Alerts per period",
    y="Share of positives found",
    name="capacity",
    aliases=("budget",),
    y_ends=UNIT,
)
def capacity(
    table: PeriodTable,
    *,
    measure: Annotated[Literal["tpr", "ppv"], "share of positives found, or share of alerts that are positive"] = "tpr",
) -> CapacityCurve:
    """Share of all positives found, Σh / ΣP, or of alerts that are positive, Σh / Σk, by alerts in each period.

    Parameters
    ----------
    table : PeriodTable
        The scores of a model in periods.
    measure : {"tpr", "ppv"}
        What is shown.

    Returns
    -------
    CapacityCurve
        Alerts in each period (x) and the share (y), with its 95 % interval over periods.

    References
    ----------
    Cochran, W. G. (1977). Sampling techniques (3rd ed.). Wiley. Chapter 6.

    Examples
    --------
    >>> from scorespace.tables.periods import period_table
    >>> capacity(period_table([1, 0, 0, 1], [0.9, 0.4, 0.6, 0.7], ["mon", "mon", "tue", "tue"])).y
    array([1., 1.])
    """
    largest = int(table.cases_of.max(initial=1))
    alerts = np.unique(np.round(np.geomspace(1, largest, _POINTS)))
    counts = [table.counts(TopCases(float(k))) for k in alerts]
    hits = np.stack([one.tp for one in counts])
    sizes = np.stack([one.pp if measure == "ppv" else one.p for one in counts])
    share = ratio(hits.sum(axis=1), sizes.sum(axis=1))
    periods = len(table.periods)
    influence = (hits - share[:, None] * sizes) / sizes.mean(axis=1, keepdims=True)
    error = np.sqrt((influence**2).sum(axis=1) / (periods * max(1, periods - 1)))
    title = "Share of positives found" if measure == "tpr" else "Share of alerts that are positive"
    half = stdtrit(periods - 1, 0.975) * error if periods >= 10 else np.full(error.size, np.nan)
    points = alerts, share, np.full(alerts.size, np.nan), "Alerts per period", title
    return CapacityCurve("capacity", *points, np.maximum(share - half, 0.0), np.minimum(share + half, 1.0))
