"""Raters who decide between any number of classes, without scores: how far they agree beyond chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from scorespace.frozen import dataclass
from scorespace.measures import parse
from scorespace.resampling.draw import Draws
from scorespace.resampling.estimate import Estimate, check_level, estimates
from scorespace.results import Note, Result, Row, grouped, joined, limits, percent
from scorespace.tables.rating import NOBODY, RatingTable, rating_table

TOGETHER: Final = ("agreed", "fleiss", "ac1", "krippendorff")
PAIRED: Final = ("agreed", "rater_kappa", "scott")
IN_ORDER: Final = ("krippendorff(metric=ordinal)",)
PAIRED_IN_ORDER: Final = ("rater_kappa(weights=linear)", "rater_kappa(weights=quadratic)")
"""What is told of all raters, and of every two; with classes in order, what knows how far apart two classes are."""

_NAMED: Final = 5  # instances that a sentence names


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Result):
    """Raters on the same instances: all of them, every pair, and the ids of the instances on which they differ."""

    table: RatingTable
    ids: tuple[Any, ...] = field(repr=False)
    together: tuple[Estimate, ...]
    pairs: tuple[tuple[str, str, tuple[Estimate, ...]], ...]
    differing: tuple[Row, ...]
    gaps: int = 0
    ordered: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def cases(self) -> int:
        return len(self.ids)

    @property
    def words(self) -> str:
        """How far the raters agree, and where they do not."""
        who, found = joined(self.table.raters), {str(one.spec): one for one in self.together}
        agreed, beyond = found["agreed"], found["fleiss"]
        told = f"{who} give the same class in {percent(agreed.value, 0)} of the pairs of ratings of an instance"
        if np.isfinite(beyond.value):
            told += f"; beyond chance that is {limits(beyond.value, beyond.low, beyond.high)} (Fleiss' kappa)"
        if not self.differing:
            return f"{told}. They differ on no instance."
        some = ", ".join(str(row["id"]) for row in self.differing[:_NAMED])
        more = len(self.differing) - _NAMED
        where = f"{grouped(len(self.differing))} of {grouped(self.cases)} instances"
        return f"{told}. They differ on {where}: {some}{f' and {grouped(more)} more' if more > 0 else ''}."

    def rows(self) -> list[Row]:
        """One row per number: of all raters, then of every pair."""
        every = [{"a": None, "b": None, **one.row()} for one in self.together]
        of_two = [{"a": a, "b": b, **one.row()} for a, b, found in self.pairs for one in found]
        return [{name: value for name, value in row.items() if name != "model"} for row in (*every, *of_two)]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.cases, "raters": list(self.table.raters), "classes": list(self.table.classes)},
            "ordered": self.ordered,
            "gaps": self.gaps,
            "instances": list(self.differing),
        }


def rate(
    ratings: Mapping[str, Any],
    *,
    ids: Sequence[Any] | None = None,
    order: Sequence[Any] | None = None,
    weight: Any = None,
    level: float = 0.95,
    seed: int = 0,
    notes: tuple[Note, ...] = (),
) -> Ratings:
    """Raters compared by the classes they give, None where one gave none; `order` lists classes from the lowest up.

    >>> found = rate({"Ann": ["a", "b", "c", "a"], "Bob": ["a", "b", "b", "a"], "Cy": ["a", "b", "c", None]})
    >>> round(found.together[0].value, 3), [row["id"] for row in found.differing]
    (0.833, [3])
    """
    check_level(level)
    table = rating_table(ratings, classes=order, weight=weight)
    size = len(next(iter(ratings.values())))
    named = tuple(range(1, size + 1)) if ids is None else tuple(ids)
    ordered = order is not None and len(table.classes) > 2
    together = [parse(name) for name in (*TOGETHER, *(IN_ORDER if ordered else ()))]
    paired = [parse(name) for name in (*PAIRED, *(PAIRED_IN_ORDER if ordered else ()))]
    pairs: list[tuple[str, str, tuple[Estimate, ...]]] = []
    for a, b in combinations(range(len(table.raters)), 2):
        two = replace(table, pattern=table.pattern[:, [a, b]], raters=(table.raters[a], table.raters[b]))
        numbers = tuple(estimates({"": paired}, Draws({"": two}, seed=seed), level=level))
        pairs.append((two.raters[0], two.raters[1], numbers))
    given = table.given
    differ = np.flatnonzero([len(set(row[row != NOBODY].tolist())) > 1 for row in given])
    names = np.array([*table.classes, None], dtype=object)
    rows = tuple(
        {"id": named[k], **dict(zip(table.raters, names[given[k]].tolist(), strict=True))} for k in differ.tolist()
    )
    found = tuple(estimates({"": together}, Draws({"": table}, seed=seed), level=level))
    return Ratings(table, named, found, tuple(pairs), rows, int((given == NOBODY).sum()), ordered, notes)
