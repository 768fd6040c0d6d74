"""The declaration of a measure: one decorated function from which everything else follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from scorespace.declaration import Option, Registry, check_options, options_of, table_of
from scorespace.errors import MeasureError
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, ScoreTable

Best = Literal["high", "low"]


@dataclass(frozen=True, eq=False)
class Measure:
    """A formula on one table, with all that a reader needs to interpret its value.

    `trials` names the count that a proportion is a share of; such measures get a Wilson interval.
    `probability`: the scores must lie in [0, 1], because their size counts and not their order alone.
    `ranges` holds the range on a further table where it is another. `infinite` and `undefined` are the
    reasons given for such values. Without `best`, neither direction is better.
    """

    name: str
    function: Callable[..., Array]
    table: type
    title: str
    range: tuple[float, float]
    best: Best | None
    undefined: str
    aliases: tuple[str, ...] = ()
    infinite: str | None = None
    trials: str | None = None
    interval: str = "bootstrap"
    probability: bool = False
    options: tuple[Option, ...] = ()
    overloads: dict[type, Callable[..., Array]] = field(default_factory=dict)
    ranges: dict[type, tuple[float, float]] = field(default_factory=dict)

    def __call__(self, table: Any, **options: Any) -> Any:
        """The value for a table: a float, or an array when the table has further axes."""
        check_options(self, options, MeasureError)
        function, suitable = self.fit(table)
        value = np.asarray(function(suitable, **options), dtype=np.float64)
        return float(value) if value.ndim == 0 else value

    def on(self, function: Callable[..., Array]) -> Callable[..., Array]:
        """Declare the same measure on a further table, named by the annotation of its first parameter."""
        self.overloads[table_of(function)] = function
        return function

    def fit(self, table: Any) -> tuple[Callable[..., Array], Any]:
        """The formula and the form of the table that it takes."""
        self.refuse_scores(table)
        if isinstance(table, self.table):
            return self.function, table
        if isinstance(table, ConfusionTable) and table.positive is not None and len(table.classes) == 2:
            return self.fit(table.score_table() if self.table is ScoreTable else table.counts_of(table.positive))
        if type(table) in self.overloads:
            return self.overloads[type(table)], table
        raise MeasureError(f"{self.name} cannot be computed from {_described(table)}.", hint=self._remedy(table))

    def refuse_scores(self, table: Any) -> None:
        """Refuse scores that are no probabilities where such are needed."""
        if self.probability and isinstance(table, (ScoreTable, ClassTable)) and not table.probabilities:
            raise MeasureError(
                f"{self.name} needs probabilities.",
                seen=_scores_seen(table),
                hint="scorespace calibrate maps scores to probabilities; they are never squashed silently",
            )

    @property
    def arrow(self) -> str:
        """↑ when higher is better, ↓ when lower is, a blank otherwise."""
        return {"high": "↑", "low": "↓", None: " "}[self.best]

    @property
    def summary(self) -> str:
        """The first line of the docstring: what it is, and the formula."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def reason(self, value: float) -> str | None:
        """Why a value is undefined or infinite, or None for an ordinary number."""
        if np.isnan(value):
            return f"undefined: {self.undefined}"
        if np.isinf(value):
            return f"infinite: {self.infinite or 'the denominator is zero'}"
        return None

    def _remedy(self, table: Any) -> str:
        if self.table is Counts and isinstance(table, ScoreTable):
            return f"choose a threshold: {self.name}(table.at(0.5)), or {self.name}@0.5 by name"
        if self.table is Counts and isinstance(table, ConfusionTable):
            return f"state the positive class, or name a class or an average: {self.name}[macro]"
        if isinstance(table, ClassTable):
            return f"name a class or an average: {self.name}[macro]"
        return f"{self.name} needs a {self.table.__name__}"

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}. {self.summary}"


def measure(
    *,
    title: str,
    range: tuple[float, float],
    best: Best | None,
    undefined: str,
    aliases: tuple[str, ...] = (),
    infinite: str | None = None,
    trials: str | None = None,
    interval: str | None = None,
    probability: bool = False,
) -> Callable[[Callable[..., Array]], Measure]:
    """Declare a measure; the annotation of the first parameter says which table it needs.

    The docstring's first line is the explanation and the formula; keyword-only parameters are options.
    """

    def declare(function: Callable[..., Array]) -> Measure:
        name = function.__name__
        declared = Measure(
            name=name,
            function=function,
            table=table_of(function),
            title=title,
            range=range,
            best=best,
            undefined=undefined,
            aliases=aliases,
            infinite=infinite,
            trials=trials,
            interval=interval or ("wilson" if trials else "bootstrap"),
            probability=probability,
            options=options_of(function),
        )
        # Introspection and doctest see the function behind the frozen declaration.
        vars(declared).update(
            __wrapped__=function, __doc__=function.__doc__, __name__=name, __module__=function.__module__
        )
        return MEASURES.add(declared)

    return declare


MEASURES: Registry[Measure] = Registry("measure", "measures", MeasureError)
"""Every declared measure, in the order of declaration."""


def _scores_seen(table: ScoreTable | ClassTable) -> str:
    highest, lowest = float(table.score.max()), float(table.score.min())
    if isinstance(table, ClassTable) and lowest >= 0 and highest <= 1:
        return f"scores of a case that miss one by up to {table.excess:.2g} when added up"
    return f"scores from {lowest:g} to {highest:g}"


def _described(table: Any) -> str:
    if isinstance(table, ConfusionTable):
        return f"a confusion table of {len(table.classes)} classes" + (
            "" if table.positive is not None else " without a positive class"
        )
    if isinstance(table, ClassTable):
        return f"scores of {len(table.classes)} classes"
    return {ScoreTable: "a score table", Counts: "counts"}.get(type(table), f"a {type(table).__name__}")
