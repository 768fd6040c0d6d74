"""The target itself: its scale, its classes, its gaps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding, first_rows
from scorespace.auditing.kinds import whole
from scorespace.frozen import dataclass
from scorespace.results import decimals, grouped

_FEW_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Target:
    """The column to be predicted; `classes` is empty where it is a number."""

    column: Column
    classes: tuple[str, ...]


def target(column: Column) -> Target:
    """The target of a column: classes for labels and for few whole numbers, else a number.

    A column that the user states to be a quantity is one however few values it has.
    """
    held = column.held
    stated = column.stated is not None
    few = whole(held) and held.distinct <= _FEW_CLASSES and held.rows >= 3 * held.distinct
    if held.stored in ("number", "date") and (column.kind.quantity if stated else not few):
        return Target(column, ())
    return Target(column, tuple(column.text(code).strip("'") for code in range(min(held.distinct, held.values.size))))


@dataclass(frozen=True)
class Scale:
    """How a positive target sits on its own and on a log scale.

    `gain` is the rise of the normal log-likelihood per row from taking logarithms (Box and Cox, λ = 0 against 1).
    """

    skew: float
    log_skew: float
    gain: float
    tail: float


def scale(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Scale:
    """Both scales of positive values with their numbers of rows.

    >>> scale(np.exp(np.linspace(-2, 2, 9)), np.ones(9, dtype=int)).log_skew.__round__(6)
    0.0
    """
    logs = np.log(values)
    total = counts.sum()
    middle = float(values[np.searchsorted(np.cumsum(counts), total / 2)])

    def moments(x: NDArray[np.float64]) -> tuple[float, float]:
        mean = float(np.average(x, weights=counts))
        spread = float(np.average((x - mean) ** 2, weights=counts))
        return spread, float(np.average((x - mean) ** 3, weights=counts)) / spread**1.5

    (spread, skew), (log_spread, log_skew) = moments(values), moments(logs)
    gain = 0.5 * np.log(spread) - 0.5 * np.log(log_spread) - float(np.average(logs, weights=counts))
    return Scale(skew, log_skew, float(gain), float(values[-1]) / middle)


@finding(
    "SS130",
    "warning",
    "the target is better on a log scale",
    "Model its logarithm, and judge errors as factors.",
)
def skewed(target: Target) -> Iterator[Seen]:
    held = target.column.held
    if target.classes or held.stored != "number" or target.column.known < 50 or held.distinct <= 20:
        return
    values, counts = held.values, held.counts
    if not np.all(np.isfinite(values)) or float(values[0]) <= 0 or target.column.kind.name in ("identifier", "date"):
        return
    found = scale(values, counts)
    if found.skew >= 1 and abs(found.log_skew) <= 0.5 * found.skew and found.gain >= 0.1:
        yield target.column.seen(
            f"{target.column.name!r} is positive and skewed: the largest is {grouped(round(found.tail, 1))} times the "
            f"median. Its logarithm has skewness {decimals(found.log_skew, 2)} instead of {decimals(found.skew, 2)}, "
            f"and the normal distribution fits it better by {decimals(found.gain, 2)} nats per row.",
            {"skewness": found.skew, "log_skewness": found.log_skew, "gain": found.gain},
        )


@finding("SS131", "info", "the classes are unequal", "Judge by measures of each class; accuracy says little here.")
def imbalance(target: Target) -> Iterator[Seen]:
    if len(target.classes) < 2:
        return
    counts = target.column.held.counts
    least = int(np.argmin(counts))
    rows, share = int(counts[least]), int(counts[least]) / target.column.known
    if rows < 10 or share < 0.1 / (len(target.classes) - 1):
        name = target.classes[least] if least < len(target.classes) else "the rarest"
        yield target.column.seen(
            f"{name!r} is {100 * share:.2g} % of {target.column.name!r} ({grouped(rows)} rows).",
            {"rows": rows, "share": share},
            level="warning" if rows < 10 and len(target.classes) == 2 else "",
        )


@finding("SS132", "warning", "the target is missing", "Rows without a target can neither teach nor judge.")
def untold(target: Target) -> Iterator[Seen]:
    missing = target.column.held.missing
    if missing:
        yield Seen(
            (target.column.name,),
            f"{grouped(missing)} of {grouped(target.column.held.rows)} rows have no {target.column.name!r}.",
            {"rows": missing},
            first_rows(target.column.held.codes < 0)[:1],
        )
