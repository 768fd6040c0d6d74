"""What the laws are tried on: small samples with ties, weights and absent classes.

Scores lie in [0, 1] and weights are quarters, so that every sum of weights is exact and equality can be exact too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from hypothesis import strategies as st

from scorespace.measures import Measure, measures
from scorespace.measures.average import AVERAGES
from scorespace.measures.catalog import MeasureSpec
from scorespace.tables import ConfusionTable, Counts, ScoreTable, score_table
from scorespace.tables.ratings import RatingTable, rating_table
from scorespace.tables.threshold import FirstDocuments

tied_scores = st.integers(0, 8).map(lambda k: k / 8)
any_scores = st.floats(0, 1, allow_subnormal=False)
scores = tied_scores | any_scores
weights = st.integers(1, 12).map(lambda k: k / 4)
whole = st.integers(0, 40)


@dataclass(frozen=True)
class Sample:
    """Cases as columns: truth 0 or 1, score, weight."""

    truth: tuple[int, ...]
    score: tuple[float, ...]
    weight: tuple[float, ...]

    def table(self) -> ScoreTable:
        return score_table(self.truth, self.score, positive=1, weight=self.weight)

    def unweighted(self) -> ScoreTable:
        return score_table(self.truth, self.score, positive=1)

    def taken(self, index: Any) -> Sample:
        return Sample(*(tuple(column[i] for i in index) for column in (self.truth, self.score, self.weight)))

    def __add__(self, other: Sample) -> Sample:
        return Sample(self.truth + other.truth, self.score + other.score, self.weight + other.weight)

    def __len__(self) -> int:
        return len(self.truth)


@st.composite
def samples(draw: st.DrawFn, score: st.SearchStrategy[float] = scores, both: bool = False, most: int = 12) -> Sample:
    """A sample; `both`: with a case of each class at least."""
    row = st.tuples(st.integers(0, 1), score, weights)
    rows = draw(st.lists(row, min_size=0 if both else 1, max_size=most))
    if both:
        rows = [(0, draw(score), draw(weights)), (1, draw(score), draw(weights)), *rows]
    return Sample(*zip(*rows, strict=True))


def counts(least: int = 0, most: int = 40) -> st.SearchStrategy[Counts]:
    """The four outcomes of at least one case."""
    four = st.tuples(*[st.integers(least, most)] * 4).filter(any)
    return four.map(lambda cells: Counts(*cells))


@st.composite
def stacked_scores(draw: st.DrawFn) -> ScoreTable:
    """BootstrapDraws of a score table, with empty cells, columns and classes."""
    m, replicates = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    size = replicates * 2 * m
    cells = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    score = np.linspace(0.9, 0.1, m)
    return ScoreTable(score, np.reshape(cells, (replicates, 2, m)), ("0", "1"), 1)


@st.composite
def stacked_matrices(draw: st.DrawFn) -> ConfusionTable:
    """BootstrapDraws of a confusion table of three classes, with empty rows and columns."""
    replicates = draw(st.integers(1, 4))
    cells = draw(st.lists(st.integers(0, 3), min_size=replicates * 9, max_size=replicates * 9))
    return ConfusionTable(np.reshape(cells, (replicates, 3, 3)).astype(float), ("a", "b", "c"))


@st.composite
def ratings(draw: st.DrawFn) -> tuple[RatingTable, list[tuple[int | None, ...]]]:
    """Ratings of two raters in up to three classes, with gaps, as a table and as rows."""
    label = st.none() | st.integers(0, 2)
    rows = draw(st.lists(st.tuples(label, label), min_size=2, max_size=10).filter(lambda rows: any(map(any, rows))))
    return rated(rows), rows


def rated(rows: list[tuple[int | None, ...]]) -> RatingTable:
    """The rating table of rows of labels."""
    return rating_table(dict(zip("ab", zip(*rows, strict=True), strict=True)), classes=[0, 1, 2])


def _option_values(kind: Any) -> st.SearchStrategy[Any]:
    kinds = get_args(kind) or (kind,)
    if bool in kinds:
        return st.booleans()
    if float in kinds:
        return st.floats(allow_nan=False)
    if int in kinds:
        return st.integers()
    return st.from_regex(r"[a-z][a-z0-9_]*", fullmatch=True)


@st.composite
def specs(draw: st.DrawFn) -> MeasureSpec:
    """Any measure with any of its options, any class or average, any threshold."""
    measure = draw(st.sampled_from(measures()))
    given_options = [option for option in measure.options if draw(st.booleans())]
    options = tuple(
        (option.name, draw(st.sampled_from(option.choices) if option.choices else _option_values(option.kind)))
        for option in given_options
    )
    labels = st.text(min_size=1) | st.text('"[](),=@\\ aé', min_size=1) | st.sampled_from(AVERAGES)
    of = draw(st.none() | labels)
    at = draw(st.none() | st.floats(allow_nan=False))
    if at is not None and getattr(measure.table, "by_query", False):
        return MeasureSpec(measure.name, options, of, FirstDocuments(at))
    return MeasureSpec(measure.name, options, of, at)


def value(measure: Measure, table: ScoreTable) -> Any:
    """The measure of a score table; a measure of decisions at all of its thresholds."""
    return measure(table.sweep if measure.table is Counts else table)
