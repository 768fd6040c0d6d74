"""An interval on every number: Wilson for proportions, DeLong for AUC, bootstrap for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from scorespace.comparisons.bootstrap import REPLICATES, bootstrap
from scorespace.errors import MeasureError, ScoreSpaceError, listing
from scorespace.measures.average import AVERAGES, average
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import SCHEMA, Note, Progress, Row, decimals, grouped, plain
from scorespace.tables import Array, ConfusionTable, Counts, ScoreTable

_MOST_ROWS: Final = 10_000
_CONDENSED: Final = 2048
NEEDS_WHOLE_WEIGHTS = "no interval: the weights are not whole numbers, so cases cannot be counted"


@dataclass(frozen=True)
class Estimate:
    """One number with its interval, and the reason when either is undefined."""

    model: str
    spec: MeasureSpec
    value: float
    low: float
    high: float
    level: float
    method: str | None
    reason: str | None

    def row(self) -> Row:
        """The row of tidy output; undefined and infinite numbers are None, with the reason."""
        return plain(
            {
                "model": self.model,
                "measure": self.spec.label,
                "at": self.spec.at,
                "class": self.spec.of,
                "value": self.value,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "method": self.method,
                "reason": self.reason,
            }
        )

    def __repr__(self) -> str:
        name = f"{self.model} {self.spec}" if self.model else str(self.spec)
        return f"{name} {self.text}" + (f"  ({self.reason})" if self.reason else "")

    @property
    def text(self) -> str:
        """Value and interval for people: `0.787 [0.757, 0.817]`."""
        places = 3 if self.spec.measure.range[1] <= 1 or abs(self.value) < 10 else 1
        value = decimals(self.value, places)
        if math.isnan(self.low) or math.isnan(self.high):
            return value
        return f"{value} [{decimals(self.low, places)}, {decimals(self.high, places)}]"


@dataclass(frozen=True)
class Estimates:
    """Estimates of measures for models, as tidy rows."""

    estimates: tuple[Estimate, ...]
    notes: tuple[Note, ...] = ()
    as_frame: Callable[[list[Row]], Any] | None = field(default=None, compare=False)

    def rows(self) -> list[Row]:
        return [estimate.row() for estimate in self.estimates]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "rows": self.rows(), "notes": [note.to_dict() for note in self.notes]}

    def to_frame(self) -> Any:
        """The rows as a data frame, of the caller's library where they came from one."""
        if self.as_frame is None:
            raise ScoreSpaceError("these estimates know no frame library.", hint="use .rows()")
        return self.as_frame(self.rows())

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, index: int) -> Estimate:
        return self.estimates[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.estimates))


def estimate(
    spec: MeasureSpec,
    table: ScoreTable | ConfusionTable,
    *,
    model: str = "",
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> Estimate:
    """The measure's value on the table with the interval that suits it.

    >>> from scorespace.measures import parse
    >>> from scorespace.tables import score_table
    >>> estimate(parse("ppv@0.5"), score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7]))
    ppv@0.5 0.667 [0.208, 0.939]
    """
    check_level(level)
    function, suitable = resolve(spec, table)
    value = float(np.asarray(function(suitable)))
    low, high, method, reason = math.nan, math.nan, None, spec.measure.reason(value)
    if reason is None and not table.whole:
        reason = NEEDS_WHOLE_WEIGHTS
    elif reason is None:
        low, high, method, reason = _interval(spec, function, suitable, value, level, seed, replicates, progress)
    return Estimate(model, spec, value, low, high, level, method, reason)


def resolve(spec: MeasureSpec, table: ScoreTable | ConfusionTable) -> tuple[Callable[[Any], Array], Any]:
    """The function that computes the request, and the table that it computes it from."""
    measure, options = spec.measure, dict(spec.options)
    of_counts = measure.table is Counts
    if spec.at is not None and not (of_counts and isinstance(table, ScoreTable)):
        what = "a crisp decision has no threshold" if of_counts else f"{measure.name} covers all thresholds"
        raise MeasureError(f"{spec} asks for a threshold, but {what}.", hint=spec.label)
    suitable: Any = table
    if of_counts and isinstance(table, ScoreTable):
        if spec.at is None:
            raise MeasureError(f"{spec} of a score needs a threshold.", hint=f"{spec.label}@0.5")
        suitable = table.at(spec.at)
        if spec.of is not None and _class_index(spec, table) != table.positive:
            if len(table.classes) > 2:
                positive = table.classes[table.positive]
                raise MeasureError(
                    f"{spec} names a class that this score does not rank.", seen=f"a score for {positive!r}"
                )
            suitable = suitable.swapped()
        return partial(measure.function, **options), suitable
    if spec.of in AVERAGES and isinstance(table, ConfusionTable):
        return average(measure, spec.of, **options), table
    if spec.of is not None:
        index = _class_index(spec, table)
        if of_counts and isinstance(table, ConfusionTable):
            suitable = table.counts_of(index)
        elif index != table.positive:
            suitable = (table.score_table() if isinstance(table, ConfusionTable) else table).swapped()
    function, suitable = measure.fit(suitable)
    return partial(function, **options), suitable


def _class_index(spec: MeasureSpec, table: ScoreTable | ConfusionTable) -> int:
    if spec.of in AVERAGES:
        raise MeasureError(f"{spec} averages over classes, which a single score does not decide.", hint=spec.label)
    if spec.of not in table.classes:
        raise MeasureError(
            f"{spec} names a class that does not occur.",
            seen=f"classes {listing(table.classes)}",
            hint=f"{spec.label}[{table.classes[0]}]",
        )
    return table.classes.index(spec.of)


def _interval(
    spec: MeasureSpec,
    function: Callable[[Any], Array],
    table: Any,
    value: float,
    level: float,
    seed: int,
    replicates: int,
    progress: Progress | None,
) -> tuple[float, float, str | None, str | None]:
    measure = spec.measure
    if measure.trials is not None and isinstance(table, (Counts, ConfusionTable)) and spec.of not in AVERAGES:
        trials = float(getattr(table, measure.trials))
        return *wilson(value * trials, trials, level), "wilson", None
    if measure.interval == "delong" and isinstance(table, ScoreTable):
        low, high = delong(table, level)
        few = "no DeLong interval: a class has fewer than two cases" if math.isnan(low) else None
        return low, high, None if few else "delong", few
    method, shift, drawn = "bootstrap", 0.0, table
    if isinstance(table, ScoreTable) and table.score.size > _MOST_ROWS:
        # Thousands of rows of equal weight spread like millions: draw those, and centre on the exact value.
        method, drawn = "bootstrap, condensed", table.condensed(_CONDENSED)
        shift = value - float(np.asarray(function(drawn)))
    values = bootstrap(function, drawn, replicates=replicates, seed=seed, progress=progress) + shift
    defined = values[np.isfinite(values)]
    if not defined.size:
        return math.nan, math.nan, None, "no interval: the measure is undefined in every replicate"
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    lost = values.size - defined.size
    reason = f"interval leaves out {grouped(lost)} of {grouped(values.size)} undefined replicates" if lost else None
    return float(low), float(high), method, reason


def wilson(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a proportion; NaN without trials.

    >>> tuple(round(x, 4) for x in wilson(8, 10))
    (0.4902, 0.9433)
    """
    if not trials > 0:
        return math.nan, math.nan
    z = normal_quantile(level)
    share, shrink = hits / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / shrink
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    # The bounds reach 0 and 1 exactly in theory; rounding must not pull them inside.
    return (0.0 if hits == 0 else max(0.0, centre - half)), (1.0 if hits == trials else min(1.0, centre + half))


def delong_variance(table: ScoreTable) -> float:
    """DeLong's variance of the AUC: var(V10)/P + var(V01)/N, from the placements at each score.

    NaN when a class has fewer than two cases or the weights are not whole numbers.
    """
    n_pos, n_neg = float(table.n_pos), float(table.n_neg)
    if n_pos < 2 or n_neg < 2 or not table.whole:
        return math.nan
    return _placement_variance(table.neg, table.pos, n_neg, n_pos) + _placement_variance(
        table.pos[::-1], table.neg[::-1], n_pos, n_neg
    )


def _placement_variance(judged: Array, others: Array, n_judged: float, n_others: float) -> float:
    """Variance of the mean share of the other class that lies before each judged case, ties half."""
    placement = np.cumsum(others)
    placement -= others / 2
    placement /= n_others
    placement -= judged @ placement / n_judged
    placement *= placement
    return float(judged @ placement / (n_judged - 1) / n_judged)


def delong(table: ScoreTable, level: float = 0.95) -> tuple[float, float]:
    """DeLong's interval for the AUC, cut to [0, 1].

    >>> from scorespace.tables import score_table
    >>> low, high = delong(score_table([0, 0, 1, 1, 1], [0.1, 0.6, 0.4, 0.7, 0.9]))
    >>> round(low, 4), round(high, 4)
    (0.3714, 1.0)
    """
    from_table = MeasureSpec("auc").measure(table)
    half = normal_quantile(level) * math.sqrt(delong_variance(table))
    if math.isnan(half):
        return math.nan, math.nan
    return max(0.0, from_table - half), min(1.0, from_table + half)


def normal_quantile(level: float) -> float:
    """Half width of a two-sided normal interval of that level, in standard errors."""
    return float(ndtri((1 + level) / 2))


def check_level(level: float) -> None:
    """Refuse a level of confidence that is no probability."""
    if not 0 < level < 1:
        raise ScoreSpaceError(f"level={level:g} is not a level of confidence.", hint="between 0 and 1, such as 0.95")
