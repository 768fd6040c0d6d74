"""The section on a baseline: every number now and then, the difference, and whether chance explains it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorespace.results import decimals, p_cell
from scorespace.views.document import Grid

if TYPE_CHECKING:
    from scorespace.comparisons.since import Changes
    from scorespace.comparisons.slices import Gap


def grid(found: Changes) -> Grid:
    """A row for each number of each model."""
    several = len({one.estimate.model for one in found.gaps}) > 1
    rows = tuple(
        ((one.estimate.model,) if several else ()) + (f"{spec.shown} {spec.measure.arrow}".strip(), *_cells(one))
        for one in found.gaps
        for spec in [one.estimate.spec]
    )
    adjusted = (
        f" p is adjusted by Holm's method over {found.tested} tests; intervals are single." if found.tested > 1 else ""
    )
    caption = f"Now and in {found.before.called}, taken for two independent samples.{adjusted}"
    header = (*(("model",) if several else ()), "since", "baseline", "now", "change", "p")
    return Grid(header, rows, caption).without_blanks()


def _cells(one: Gap) -> tuple[str, str, str, str]:
    now = decimals(one.estimate.value)
    if math.isnan(one.test.difference):
        return decimals(one.rest), now, f"– {one.test.reason or one.estimate.reason or 'undefined'}", ""
    return decimals(one.rest), now, one.test.size, "" if math.isnan(one.test.p) else p_cell(one.test.telling_p)
