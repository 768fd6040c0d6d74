"""The tables of a decision about predicted numbers: each model with its shift, and for which costs it is best."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorespace.decisions import ShiftDecision, Value
from scorespace.views.document import Block, Grid, Text


def shift_grids(decision: ShiftDecision) -> Sequence[Block]:
    """What is asked, each model at its shift of least loss, and the ranges of costs in which each is best."""
    condition = decision.condition
    words = (
        f"Predicting too low costs {condition.under:g} per unit, too high {condition.over:g}: {condition.alpha:.3g} of "
        "the loss is for too low (alpha), and so that share of the predictions should be too high."
    )
    return [Text(words), _choices(decision), _ranges(decision)]


def _choices(decision: ShiftDecision) -> Grid:
    apparent = "on these cases" if decision.fitted is None else f"on {decision.fitted}"
    columns = ("at least loss", "shift", "loss/case", apparent, "without shift", "too high")
    rows = [
        (
            one.model,
            _signed(one.shift),
            _number(one.loss) if math.isnan(one.honest.value) else _value(one.honest),
            _number(one.loss),
            _number(one.as_is),
            f"{100 * one.share:.0f} %",
        )
        for one in sorted(decision.choices, key=lambda one: one.loss)
    ]
    return Grid(columns, tuple(rows))


def _ranges(decision: ShiftDecision) -> Grid:
    rows = [
        (
            one.model,
            f"{_ratio(one.alpha_low)} to {_ratio(one.alpha_high)}",
            f"{one.alpha_low:.3g} to {one.alpha_high:.3g}",
        )
        for one in decision.ranges
    ]
    rows += [(name, "never on these cases", "never on these cases") for name in decision.dominated]
    return Grid(("best model", "when too low costs so many times too high", "alpha"), tuple(rows))


def _ratio(alpha: float) -> str:
    return "∞" if alpha >= 1 else _number(alpha / (1 - alpha))


def _value(value: Value) -> str:
    return repr(value)


def _signed(shift: float) -> str:
    return f"+{_number(shift)}" if shift > 0 else _number(shift)


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
