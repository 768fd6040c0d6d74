"""What a test can be asked: of two models on the same cases, of several, of two samples, or of one and a value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.answer import Alternative, Comparison, ValueTest
from scorespace.comparisons.datasets import DatasetTable
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.confusion import acc
from scorespace.measures.request import Request, bind, operating_point
from scorespace.resampling.draw import Draws, asked
from scorespace.resampling.limits import rarest
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.pair import PairTable

Held = TypeVar("Held", bound=Table)
RIGHT: Final = MeasureSpec(acc.name)
"""What decisions are compared in: the share of right ones."""

RANKS_NOTHING: Final = "are the same, so they rank nothing"
"""How the reason ends why rankings of two samples are not compared."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(Generic[Held]):
    """A measure of models whose cases can be drawn again; without a measure it is about which decisions are right.

    A test names the table it needs in the annotation of its first parameter, `Paired[ScoreTable]`; every model
    must have such a table inside its own.
    """

    spec: MeasureSpec | None
    level: float = 0.95
    alternative: Alternative = "two-sided"
    asks: ClassVar[str] = "answer this"

    @property
    def samples(self) -> tuple[Draws, ...]:
        """The samples it is about, with what is drawn from them."""
        return ()

    @property
    def tables(self) -> tuple[Any, ...]:
        """The table of every model that it is about."""
        return ()

    @property
    def fixed(self) -> tuple[float, ...]:
        """Numbers that are compared with those of the tables, and are not measured themselves."""
        return ()

    @property
    def pairs(self) -> PairTable | None:
        """What ties the models together, case by case."""
        return None

    @property
    def grouped(self) -> bool:
        """Whether cases come in groups of related ones."""
        return any(one.grouped or _only(one).grouping is not None for one in self.samples)

    @property
    def weighted(self) -> bool:
        """Whether a case may weigh more or less than one."""
        return any(table.cell_squares is not None or not table.whole for table in self.tables)

    @property
    def of(self) -> str:
        """The measure that is compared, under its own name."""
        return "" if self.spec is None else self.spec.canonical

    @cached_property
    def fewest(self) -> int:
        """How many cases, or groups of cases, the rarest class has in the smallest sample."""
        return min(map(count_rarest, self.samples))

    @cached_property
    def units(self) -> int:
        """How many cases, or groups of them, there are: what is drawn or swapped as one."""
        return min(map(count_units, self.samples))

    @property
    def difference(self) -> float:
        """The measure of the first minus that of the second, or minus what it is compared with."""
        first, second, *_ = (*(one.value for one in self.bound), *self.fixed)
        return first - second

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers a difference of the measure lies: its range, and as much below zero."""
        low, high = self.bound[0].range
        least, most = (*self.fixed, *self.fixed) or (low, high)
        return low - most, high - least

    @cached_property
    def bound(self) -> tuple[Request, ...]:
        """The measure on the table of every model."""
        if self.spec is None:
            raise MeasureError("decisions are compared here, and no measure.", hint='measure="auc"')
        return tuple(bind(self.spec, table) for table in self.tables)

    @property
    def measured(self) -> tuple[Request, ...]:
        """What is compared, on the table of every model: the measure, or of decisions how many are right."""
        return self.bound


@dataclass(frozen=True, eq=False, kw_only=True)
class Several(Question[Held]):
    """Several models on the same cases: are all alike.

    `at` holds the thresholds that decisions are made at where the measure states none, by model. Where no cases of all
    are known, `couples` ties every two of them together, and `cases` the first two.
    """

    cases: PairTable
    draws: Draws
    models: tuple[str, ...]
    at: Mapping[str, float] = field(default_factory=dict)
    couples: Mapping[tuple[str, str], PairTable] = field(default_factory=dict, repr=False)
    asks: ClassVar[str] = "compare several models at once"

    @property
    def pairs(self) -> PairTable:
        return self.cases

    @property
    def samples(self) -> tuple[Draws, ...]:
        return (self.draws,)

    @property
    def tables(self) -> tuple[Any, ...]:
        if self.cases.times is not None:  # what ties the models together is coarser than their own tables
            return tuple(self.draws.tables[model] for model in self.models)
        return tuple(self.cases.tables[self.cases.index(model)] for model in self.models)

    @property
    def of(self) -> str:
        return (self.spec or RIGHT).canonical

    @property
    def measured(self) -> tuple[Request, ...]:
        if self.spec is not None:
            return self.bound
        cuts = map(self.at.get, self.models)
        return tuple(
            bind(replace(RIGHT, at=operating_point(None, table, at)), table)
            for at, table in zip(cuts, self.tables, strict=True)
        )

    def right(self, model: str) -> NDArray[np.bool_]:
        """Which cases a model decides right, at the operating point of the measure, else at its threshold in `at`."""
        place = self.cases.index(model)
        return self.cases.right(place, operating_point(self.spec, self.cases.tables[place], self.at.get(model)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Paired(Several[Held]):
    """Two models on the same cases: do they differ.

    `among` are all models that are compared, so that what all share is computed once and `kept`; without `tested`,
    the interval alone is asked for.
    """

    among: tuple[str, ...] = ()
    tested: bool = True
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    asks: ClassVar[str] = "compare two models on the same cases"

    @property
    def names(self) -> tuple[str, str]:
        return self.models[0], self.models[1]

    def drawn(self, replicates: int, *specs: MeasureSpec) -> Draws:
        """So many replicates in which the models share their cases; all that are compared are drawn at once."""
        key = (id(self.draws), replicates)
        if key not in self.kept:
            self.kept[key] = _times(self.draws, replicates).together
        draws: Draws = self.kept[key]
        wanted = specs or (() if self.spec is None else (self.spec,))
        among = self.among or self.models
        draws.all([asked(model, bind(spec, draws.tables[model])) for spec in wanted for model in among])
        return draws

    def differences(self, replicates: int) -> Array:
        """The difference in so many replicates."""
        return self.drawn(replicates).differences(*self.names, *self.bound)


@dataclass(frozen=True, eq=False, kw_only=True)
class Unpaired(Question[Held]):
    """Two independent samples, each of one model: do they differ."""

    first: Draws
    second: Draws
    names: tuple[str, str]
    asks: ClassVar[str] = "compare two independent samples"

    @property
    def samples(self) -> tuple[Draws, ...]:
        return self.first, self.second

    @property
    def tables(self) -> tuple[Any, ...]:
        return _only(self.first), _only(self.second)

    @property
    def constant(self) -> str | None:
        """Why two rankings are not compared: one of the samples has no scores that differ."""
        for name, request in zip(self.names, self.bound, strict=True):
            if request.table.constant and not request.measure.probability:
                return f"all scores in {name} {RANKS_NOTHING}"
        return None

    def answer(self, test: str, **told: Any) -> Comparison:
        """The difference as a test of that name begins: without interval and p."""
        gap = _finite(self.difference)
        told["reason"] = told.get("reason") or self.constant
        return Comparison(*self.names, test, self.of, gap, level=self.level, independent=True, **told)

    def differences(self, replicates: int) -> Array:
        """The difference in so many replicates of both."""
        first, second = (_times(draws, replicates) for draws in self.samples)
        return first.of(model_of(first), self.bound[0]) - second.of(model_of(second), self.bound[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class Against(Question[Held]):
    """One model and a number: does it differ from that."""

    draws: Draws
    model: str
    value: float
    asks: ClassVar[str] = "test against a value"

    @property
    def samples(self) -> tuple[Draws, ...]:
        return (self.draws,)

    @property
    def tables(self) -> tuple[Any, ...]:
        return (self.draws.tables[self.model],)

    @property
    def fixed(self) -> tuple[float, ...]:
        return (self.value,)

    def answer(self, test: str, **told: Any) -> Comparison:
        """The difference as a test of that name begins: without interval and p."""
        named = self.model, f"{self.value:g}", test, self.of, _finite(self.difference)
        return ValueTest(*named, level=self.level, value=self.value, **told)

    def differences(self, replicates: int) -> Array:
        """By how much the measure misses the value in so many replicates."""
        return _times(self.draws, replicates).of(self.model, self.bound[0]) - self.value


def decides(table: Table) -> bool:
    """Whether a table holds decisions, so that it needs no threshold to be right or wrong."""
    try:
        table.right()
    except NoTableError:
        return False
    return True


def bindable(spec: MeasureSpec, tables: Iterable[Table]) -> bool:
    """Whether all of these tables have a measure."""
    try:
        return all(bind(spec, table) for table in tables)
    except MeasureError:
        return False


def model_of(draws: Draws) -> str:
    """The first model of a sample, which mostly is its only one."""
    return next(iter(draws.tables))


def _times(draws: Draws, replicates: int) -> Draws:
    """The same sample drawn so many times."""
    return draws if replicates == draws.replicates else replace(draws, replicates=replicates, kept={})


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _only(draws: Draws) -> Any:
    return draws.tables[model_of(draws)]


def _groups(draws: Draws) -> tuple[Array, Array | None, Array | None]:
    """The class of every case or cell, its group where there are such, and how many cases it stands for."""
    table, pairs = _only(draws), draws.pairs
    if pairs is not None:
        return pairs.code, pairs.group, pairs.times
    return table.strata, table.grouping, table.cells


def count_rarest(draws: Draws) -> int:
    """How many cases, or groups of cases, the rarest class of a sample has."""
    code, group, cells = _groups(draws)
    if group is not None:
        step = int(code.max(initial=0)) + 1
        code, cells = np.unique(group.astype(np.int64) * step + code) % step, None
    return int(rarest(code, cells, None if cells is None else _only(draws).cell_squares))


def count_units(draws: Draws) -> int:
    """How many cases, or groups of cases, a sample has."""
    code, group, cells = _groups(draws)
    if group is not None:
        return int(np.unique(group).size)
    return code.size if cells is None else int(_only(draws).cases)


@dataclass(frozen=True, eq=False, kw_only=True)
class AllOverDatasets(Question[Table]):
    """Several models by their results on the same data sets: are all alike."""

    outcomes: DatasetTable
    asks: ClassVar[str] = "compare several models over data sets"


@dataclass(frozen=True, eq=False, kw_only=True)
class OverDatasets(AllOverDatasets):
    """Two models by their results on the same data sets: do they differ."""

    names: tuple[str, str]
    seed: int = 0
    asks: ClassVar[str] = "compare two models over data sets"
