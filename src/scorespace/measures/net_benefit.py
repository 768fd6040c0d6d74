"""Measures of net benefit: true positives less false positives at the odds of a threshold probability.

References: Vickers and Elkin (2006), "Decision curve analysis: a novel method for evaluating prediction models",
Medical Decision Making 26; Kerr et al. (2016), "Assessing the clinical impact of risk prediction models with decision
curves", Journal of Clinical Oncology 34 (standardised net benefit).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from scorespace.errors import MeasureError
from scorespace.measures.measure import INF, measure
from scorespace.tables import Array, Counts, ratio

Price = Annotated[
    float, "threshold probability whose odds weigh a false positive; by default the threshold, 0.5 for decisions"
]
_benefit = partial(measure, best="high", threshold_option="price")


def _odds(price: float) -> Array:
    """Odds t / (1 − t) of a threshold probability; undefined for 1."""
    if not 0 <= price <= 1:
        raise MeasureError(
            f"{price:g} is not a threshold probability.", hint="between 0 and 1: nb@0.2, or nb(price=0.2)@50"
        )
    return ratio(price, 1 - price if price < 1 else np.nan)


@_benefit(
    title="Net benefit",
    range=(-INF, 1),
    undefined="there are no cases, or the threshold is 1",
    aliases=("net_benefit",),
)
def nb(c: Counts, *, price: Price = 0.5) -> Array:
    """Net benefit per case of acting on predicted positives: TP/n − FP/n · t/(1−t) (Vickers & Elkin 2006)."""
    return ratio(c.tp - c.fp * _odds(price), c.total)


@_benefit(
    title="Standardised net benefit",
    range=(-INF, 1),
    undefined="there are no positive cases, or the threshold is 1",
    aliases=("standardised_net_benefit",),
)
def snb(c: Counts, *, price: Price = 0.5) -> Array:
    """Net benefit relative to its maximum, all true positives without false positives: NB / π."""
    return ratio(c.tp, c.p) - ratio(c.fp, c.p) * _odds(price)


@_benefit(
    title="Net interventions avoided per 100 cases",
    range=(-INF, 100),
    undefined="there are no cases, or the threshold is 0",
    aliases=("interventions_avoided",),
)
def avoided(c: Counts, *, price: Price = 0.5) -> Array:
    """Interventions avoided per 100 cases, without fewer true positives: 100 · (TN − FN · (1−t)/t) / n."""
    return 100 * np.asarray(ratio(c.tn - c.fn * _odds(1 - price), c.total))
