"""Agreement of raters on nominal or ordinal classes, without scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from scorespace.inference.bootstrap import BootstrapDraws
from scorespace.inference.estimate import Estimate, check_level, estimates
from scorespace.measures import parse
from scorespace.results import Note, Result, Row, format_interval, grouped, join_words, percent
from scorespace.tables.ratings import NOT_RATED, RatingTable, rating_table

OVERALL_MEASURES: Final = ("agreed", "fleiss", "ac1", "krippendorff")
PAIR_MEASURES: Final = ("agreed", "rater_kappa", "scott")
ORDINAL_MEASURES: Final = ("krippendorff(metric=ordinal)",)
ORDINAL_PAIR_MEASURES: Final = ("rater_kappa(weights=linear)", "rater_kappa(weights=quadratic)")
"""Measures of all raters and of pairs; ordinal ones weight disagreements by their distance."""

_MAX_IDS_LISTED: Final = 5  # in a sentence


@dataclass(frozen=True, eq=False, repr=False)
class RaterAgreement(Result):
    """Agreement of raters on the same instances: overall, by pair, and the ids where they differ."""

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
        """How far the raters agree, and where they differ."""
        names, by_measure = join_words(self.table.raters), {str(item.spec): item for item in self.together}
        agreed, beyond = by_measure["agreed"], by_measure["fleiss"]
        summary = f"{names} agree in {percent(agreed.value, 0)} of the pairs of ratings of an instance"
        if np.isfinite(beyond.value):
            summary += f"; Fleiss' kappa {format_interval(beyond.value, beyond.low, beyond.high)}"
        if not self.differing:
            return f"{summary}. They differ on no instance."
        ids = ", ".join(str(row["id"]) for row in self.differing[:_MAX_IDS_LISTED])
        n_more = len(self.differing) - _MAX_IDS_LISTED
        where = f"{grouped(len(self.differing))} of {grouped(self.cases)} instances"
        return f"{summary}. They differ on {where}: {ids}{f' and {grouped(n_more)} more' if n_more > 0 else ''}."

    def rows(self) -> list[Row]:
        """One row per measure: of all raters, then of every pair."""
        overall = [{"a": None, "b": None, **item.row()} for item in self.together]
        by_pair = [{"a": a, "b": b, **item.row()} for a, b, found in self.pairs for item in found]
        return [{name: value for name, value in row.items() if name != "model"} for row in (*overall, *by_pair)]

    def facts(self) -> Row:
        return {
            "data": {"rows": self.cases, "raters": list(self.table.raters), "classes": list(self.table.classes)},
            "ordered": self.ordered,
            "gaps": self.gaps,
            "instances": list(self.differing),
        }


def rater_agreement(
    ratings: Mapping[str, Any],
    *,
    ids: Sequence[Any] | None = None,
    order: Sequence[Any] | None = None,
    weight: Any = None,
    level: float = 0.95,
    seed: int = 0,
    notes: tuple[Note, ...] = (),
) -> RaterAgreement:
    """Agreement of raters on classes, None where a rating is missing; `order` lists classes from lowest to highest.

    >>> found = rater_agreement({"Ann": ["a", "b", "c", "a"], "Bob": ["a", "b", "b", "a"], "Cy": ["a", "b", "c", None]})
    >>> round(found.together[0].value, 3), [row["id"] for row in found.differing]
    (0.833, [3])
    """
    check_level(level)
    table = rating_table(ratings, classes=order, weight=weight)
    size = len(next(iter(ratings.values())))
    instance_ids = tuple(range(1, size + 1)) if ids is None else tuple(ids)
    ordered = order is not None and len(table.classes) > 2
    together = [parse(name) for name in (*OVERALL_MEASURES, *(ORDINAL_MEASURES if ordered else ()))]
    pair_measures = [parse(name) for name in (*PAIR_MEASURES, *(ORDINAL_PAIR_MEASURES if ordered else ()))]
    pairs: list[tuple[str, str, tuple[Estimate, ...]]] = []
    for a, b in combinations(range(len(table.raters)), 2):
        pair_table = replace(table, pattern=table.pattern[:, [a, b]], raters=(table.raters[a], table.raters[b]))
        pair_estimates = tuple(estimates({"": pair_measures}, BootstrapDraws({"": pair_table}, seed=seed), level=level))
        pairs.append((pair_table.raters[0], pair_table.raters[1], pair_estimates))
    ratings_by_instance = table.given
    differing = np.flatnonzero([len(set(row[row != NOT_RATED].tolist())) > 1 for row in ratings_by_instance])
    names = np.array([*table.classes, None], dtype=object)
    rows = tuple(
        {"id": instance_ids[k], **dict(zip(table.raters, names[ratings_by_instance[k]].tolist(), strict=True))}
        for k in differing.tolist()
    )
    overall = tuple(estimates({"": together}, BootstrapDraws({"": table}, seed=seed), level=level))
    return RaterAgreement(
        table, instance_ids, overall, tuple(pairs), rows, int((ratings_by_instance == NOT_RATED).sum()), ordered, notes
    )
