"""Net benefit of two models on the same cases: McNemar's test in which a false positive has a price.

References: McNemar (1947), "Note on the sampling error of the difference between correlated proportions or
percentages", Psychometrika 12; Vickers and Elkin (2006), "Decision curve analysis", Medical Decision Making 26.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.special import ndtr

from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.eligibility import (
    discourages_folds,
    discourages_groups,
    requires_single_cases,
    requires_threshold,
    requires_unweighted,
)
from scorespace.comparisons.result import Comparison
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import REPLICATES
from scorespace.inference.interval_formulas import dirichlet_posterior, tail_probabilities
from scorespace.measures.net_benefit import avoided, nb, snb
from scorespace.results import grouped, note
from scorespace.tables import Array, Table

_BENEFITS: Final = (nb.name, snb.name, avoided.name)
_MIN_DISCORDANT: Final = 10  # discordant cases below which a note warns of low power
_PRIOR: Final = np.array([0.5, 0.5, 0.25, 0.5, 0.5, 0.25])  # Jeffreys, with one ½ for all concordant cases
_STREAM: Final = 11  # stream of the posterior draws


def requires_net_benefit(design: Design[Any]) -> NotApplicable | None:
    """Requires net benefit at one price, in the sample."""
    spec = design.spec
    if spec is not None and spec.name in _BENEFITS and spec.of is None and spec.prevalence is None:
        return None
    requested = "decisions" if spec is None else str(spec)
    asked = f"{requested} at a stated prevalence" if spec is not None and spec.prevalence is not None else requested
    hint = f'measure="{nb.name}@0.2"'
    return NotApplicable(f"{{title}} is for {', '.join(_BENEFITS)}, not for {asked}.", hint=hint, error=MeasureError)


@test(
    title="McNemar's test with two prices",
    for_="net benefit: counts discordant cases, on which only one model acts; false positives weigh t / (1 − t)",
    suits=(
        requires_net_benefit,
        requires_threshold,
        requires_single_cases,
        requires_unweighted,
        discourages_folds,
        discourages_groups,
    ),
    directed=True,
)
def mcnemar_prices(design: PairedModels[Table]) -> Comparison:
    """z = (b₊ − c₊ − w (b₋ − c₋)) / √(b₊ + c₊ + w² (b₋ + c₋)), w = t / (1 − t), of cases on which only one model acts.

    b are the cases on which only the first model acts, c those on which only the second does, + positive and − negative
    ones. At t = ½ it is McNemar's test. The interval has a Dirichlet posterior of these counts, with Jeffreys' prior.
    Simulated level .016 to .052 (100 to 2 000 cases).
    """
    difference = design.difference
    comparison = Comparison(*design.names, mcnemar_prices.name, design.of, difference, level=design.level)
    if not math.isfinite(difference):
        reasons = (request.reason(request.value) for request in design.bound)
        return replace(comparison, difference=math.nan, reason=next(filter(None, reasons), None))
    cells = _discordant_cells(design)
    price = float(design.bound[0].spec.arguments.get("price", 0.5))
    weight = price / (1 - price)
    drawn = cells.sum() * dirichlet_posterior(
        cells, np.random.default_rng([design.draws.seed, _STREAM]), REPLICATES, prior=_PRIOR
    )
    values = _difference(str(design.bound[0].measure.name), drawn, price)
    low, high = np.quantile(values, tail_probabilities(design.level))
    comparison = replace(comparison, low=min(float(low), difference), high=max(float(high), difference))
    only_a_pos, only_b_pos, _, only_a_neg, only_b_neg, _ = cells.tolist()
    variance = only_a_pos + only_b_pos + weight**2 * (only_a_neg + only_b_neg)
    discordant = int(only_a_pos + only_b_pos + only_a_neg + only_b_neg)
    if variance == 0:
        return replace(comparison, statistic=0.0, p=1.0, reason="there are no discordant cases: both act on the same")
    z = (only_a_pos - only_b_pos - weight * (only_a_neg - only_b_neg)) / math.sqrt(variance)
    comparison = replace(comparison, statistic=z, p=float(2 * ndtr(-abs(z))))
    if discordant >= _MIN_DISCORDANT:
        return comparison
    text = f"{comparison.a} and {comparison.b} have only {grouped(discordant)} discordant cases"
    return replace(comparison, notes=(note("SS014", f"{text}: the test has little power."),))


def _discordant_cells(design: PairedModels[Table]) -> Array:
    """Count cases on which only the first model acts, only the second, or both or none: of positives, of negatives."""
    pairs = design.cases
    positive = pairs.label == 1
    acts = [design.right(model) == positive for model in design.names]
    kind = np.where(acts[0] == acts[1], 2, np.where(acts[0], 0, 1)) + np.where(positive, 0, 3)
    return np.bincount(kind, pairs.times, minlength=6).astype(np.float64)


def _difference(measure: str, cells: Array, price: float) -> Array:
    """Difference of the measure from the counts of `_discordant_cells`, in the last axis."""
    weight, total, positives = price / (1 - price), cells.sum(axis=-1), cells[..., :3].sum(axis=-1)
    gain = cells[..., 0] - cells[..., 1] - weight * (cells[..., 3] - cells[..., 4])
    if measure == snb.name:
        return np.asarray(gain / positives)
    return np.asarray(gain / total if measure == nb.name else 100 * gain / total / weight)
