"""Cost per case against the share of cases acted on, where costs differ from case to case."""

from __future__ import annotations

from scorespace.curves.curve import UNIT, Curve, curve
from scorespace.tables.case_costs import CostTable


@curve(
    title="Cost per case",
    x="Share of cases acted on",
    y="Cost per case",
    name="case_cost",
    aliases=("cost_per_case", "profit"),
    x_ends=UNIT,
)
def case_cost(table: CostTable) -> Curve:
    """Mean cost if the cases of highest score are acted on (y), by their share (x): Σ costs / n, gains negative.

    Parameters
    ----------
    table : CostTable
        The scores of a model with the costs of acting and of not acting on each case.

    Returns
    -------
    Curve
        Share of cases acted on (x) and cost per case (y), with the threshold of each point.

    Examples
    --------
    >>> import numpy as np
    >>> from scorespace.case_costs import CaseCosts
    >>> from scorespace.tables.case_costs import CostColumns, cost_table
    >>> costs = CostColumns(CaseCosts(fp=5, fn="amount"), fp=5, fn=np.array([20.0, 150.0]))
    >>> case_cost(cost_table(costs, [0, 1], [0.1, 0.9])).y.tolist()
    [75.0, 0.0, 2.5]
    """
    thresholds, shares, costs = table.sweep()
    return case_cost.drawn(shares, costs, thresholds)
