"""Designs of comparisons: two or more models on the same cases, two samples, or one model and a fixed value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.datasets import DatasetTable
from scorespace.comparisons.margin import Margin
from scorespace.comparisons.result import Alternative, Comparison, ValueTest
from scorespace.errors import MeasureError
from scorespace.inference.bootstrap import BootstrapDraws, replicate_request
from scorespace.inference.interval_formulas import rarest_class_size
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.confusion import acc
from scorespace.measures.request import Request, bind, operating_point
from scorespace.tables import Array, NoTableError, Table, TopCases
from scorespace.tables.case_costs import CostTable
from scorespace.tables.paired import PairTable
from scorespace.tables.periods import PeriodTable

TableType = TypeVar("TableType", bound=Table)
ACCURACY: Final = MeasureSpec(acc.name)
"""Measure for comparing decisions: the share of correct ones."""

RANKS_NOTHING: Final = "are the same, so they rank nothing"
"""End of the reason why rankings of two samples are not compared."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Design(Generic[TableType]):
    """A comparison of a measure between models whose cases can be resampled; without a measure, of decisions.

    With a `margin`, the difference is compared with it instead of with zero. If not `tested`, only the interval is
    needed.

    A test names the table it needs in the annotation of its first parameter, `Paired[ScoreTable]`; every model must
    contain such a table.
    """

    spec: MeasureSpec | None
    level: float = 0.95
    alternative: Alternative = "two-sided"
    margin: Margin | None = None
    tested: bool = True
    asks: ClassVar[str] = "make this comparison"

    @property
    def samples(self) -> tuple[BootstrapDraws, ...]:
        """The samples of the design with their bootstrap replicates."""
        return ()

    @property
    def tables(self) -> tuple[Any, ...]:
        """The table of every model of the design."""
        return ()

    @property
    def fixed(self) -> tuple[float, ...]:
        """Fixed values that the tables are compared with."""
        return ()

    @property
    def pairs(self) -> PairTable | None:
        """The matched cases of the models."""
        return None

    @property
    def grouped(self) -> bool:
        """Whether cases are grouped."""
        return any(draws.grouped or _first_table(draws).grouping is not None for draws in self.samples)

    @property
    def weighted(self) -> bool:
        """Whether cases have weights."""
        return any(table.cell_squares is not None or not table.whole for table in self.tables)

    @property
    def of(self) -> str:
        """The canonical name of the compared measure."""
        return "" if self.spec is None else self.spec.canonical

    @cached_property
    def fewest(self) -> int:
        """Number of cases, or groups, of the rarest class in the smallest sample."""
        return min(map(rarest_class_units, self.samples))

    @cached_property
    def units(self) -> int:
        """Number of cases, or groups: the units that are resampled or swapped."""
        return min(map(count_units, self.samples))

    @property
    def difference(self) -> float:
        """The measure of the first minus that of the second, or minus the fixed value."""
        first, second, *_ = (*(request.value for request in self.bound), *self.fixed)
        return first - second

    @property
    def range(self) -> tuple[float, float]:
        """Range of a difference of the measure."""
        low, high = self.bound[0].range
        least, most = (*self.fixed, *self.fixed) or (low, high)
        return low - most, high - least

    @cached_property
    def only_table(self) -> type[Table] | None:
        """The only table that can compare, as no replicate holds it: periods, or costs of each case."""
        if self.spec is None:
            return None
        if isinstance(self.spec.at, TopCases) and self.spec.at.per is not None:
            return PeriodTable
        return CostTable if any(request.table.closed_form for request in self.bound) else None

    @cached_property
    def bound(self) -> tuple[Request, ...]:
        """The measure on the table of every model."""
        if self.spec is None:
            raise MeasureError("this test compares decisions, not a measure.", hint='measure="auc"')
        return tuple(bind(self.spec, table) for table in self.tables)

    @property
    def measured(self) -> tuple[Request, ...]:
        """What is compared on the table of every model: the measure, or the accuracy of decisions."""
        return self.bound


@dataclass(frozen=True, eq=False, kw_only=True)
class MultipleModels(Design[TableType]):
    """Several models on the same cases: are all equal?

    `at` holds decision thresholds by model, for measures without one. Where the cases of all models are not known
    together, `couples` matches every two of them, and `cases` the first two.
    """

    cases: PairTable
    draws: BootstrapDraws
    models: tuple[str, ...]
    at: Mapping[str, float] = field(default_factory=dict)
    couples: Mapping[tuple[str, str], PairTable] = field(default_factory=dict, repr=False)
    asks: ClassVar[str] = "compare several models at once"

    @property
    def pairs(self) -> PairTable:
        return self.cases

    @property
    def samples(self) -> tuple[BootstrapDraws, ...]:
        return (self.draws,)

    @property
    def tables(self) -> tuple[Any, ...]:
        if self.cases.times is not None:  # the matched table is coarser than those of the models
            return tuple(self.draws.tables[model] for model in self.models)
        return tuple(self.cases.tables[self.cases.index(model)] for model in self.models)

    @property
    def of(self) -> str:
        return (self.spec or ACCURACY).canonical

    @property
    def measured(self) -> tuple[Request, ...]:
        if self.spec is not None:
            return self.bound
        cuts = map(self.at.get, self.models)
        return tuple(
            bind(replace(ACCURACY, at=operating_point(None, table, at)), table)
            for at, table in zip(cuts, self.tables, strict=True)
        )

    def right(self, model: str) -> NDArray[np.bool_]:
        """Return which cases a model decides correctly, at the measure's operating point or its threshold in `at`."""
        index = self.cases.index(model)
        return self.cases.right(index, operating_point(self.spec, self.cases.tables[index], self.at.get(model)))


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedModels(MultipleModels[TableType]):
    """Two models on the same cases: do they differ?

    `among` are all compared models, so that shared results are computed once and cached in `kept`.
    """

    among: tuple[str, ...] = ()
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    asks: ClassVar[str] = "compare two models on the same cases"

    @property
    def names(self) -> tuple[str, str]:
        return self.models[0], self.models[1]

    def drawn(self, replicates: int, *specs: MeasureSpec) -> BootstrapDraws:
        """Return joint replicates of the models; all compared models are resampled at once."""
        key = (id(self.draws), replicates)
        if key not in self.kept:
            self.kept[key] = _with_replicates(self.draws, replicates).joint
        draws: BootstrapDraws = self.kept[key]
        requested = specs or (() if self.spec is None else (self.spec,))
        among = self.among or self.models
        draws.all([replicate_request(model, bind(spec, draws.tables[model])) for spec in requested for model in among])
        return draws

    def differences(self, replicates: int) -> Array:
        """Return the difference in each replicate."""
        return self.drawn(replicates).differences(*self.names, *self.bound)


@dataclass(frozen=True, eq=False, kw_only=True)
class IndependentSamples(Design[TableType]):
    """Two independent samples of one model each: do they differ?"""

    first: BootstrapDraws
    second: BootstrapDraws
    names: tuple[str, str]
    asks: ClassVar[str] = "compare two independent samples"

    @property
    def samples(self) -> tuple[BootstrapDraws, ...]:
        return self.first, self.second

    @property
    def tables(self) -> tuple[Any, ...]:
        return _first_table(self.first), _first_table(self.second)

    @property
    def constant(self) -> str | None:
        """Why two rankings are not compared: one of the samples has constant scores."""
        for name, request in zip(self.names, self.bound, strict=True):
            if request.table.constant and not request.measure.probability:
                return f"all scores in {name} {RANKS_NOTHING}"
        return None

    def answer(self, test: str, **fields: Any) -> Comparison:
        """Return the difference for a test, without interval and p."""
        gap = _finite(self.difference)
        fields["reason"] = fields.get("reason") or self.constant
        return Comparison(*self.names, test, self.of, gap, level=self.level, independent=True, **fields)

    def differences(self, replicates: int) -> Array:
        """Return the difference in each pair of replicates."""
        first, second = (_with_replicates(draws, replicates) for draws in self.samples)
        return first.of(model_of(first), self.bound[0]) - second.of(model_of(second), self.bound[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedValue(Design[TableType]):
    """One model and a fixed value: do they differ?"""

    draws: BootstrapDraws
    model: str
    value: float
    asks: ClassVar[str] = "test against a value"

    @property
    def samples(self) -> tuple[BootstrapDraws, ...]:
        return (self.draws,)

    @property
    def tables(self) -> tuple[Any, ...]:
        return (self.draws.tables[self.model],)

    @property
    def fixed(self) -> tuple[float, ...]:
        return (self.value,)

    def answer(self, test: str, **fields: Any) -> Comparison:
        """Return the difference for a test, without interval and p."""
        names = self.model, f"{self.value:g}", test, self.of, _finite(self.difference)
        return ValueTest(*names, level=self.level, value=self.value, **fields)

    def differences(self, replicates: int) -> Array:
        """Return the difference from the value in each replicate."""
        return _with_replicates(self.draws, replicates).of(self.model, self.bound[0]) - self.value


def has_decisions(table: Table) -> bool:
    """Whether a table holds decisions, so that correctness needs no threshold."""
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


def model_of(draws: BootstrapDraws) -> str:
    """Return the first model of a sample, usually the only one."""
    return next(iter(draws.tables))


def _with_replicates(draws: BootstrapDraws, replicates: int) -> BootstrapDraws:
    """Return the draws with another number of replicates."""
    return draws if replicates == draws.replicates else replace(draws, replicates=replicates, kept={})


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _first_table(draws: BootstrapDraws) -> Any:
    return draws.tables[model_of(draws)]


def _groups(draws: BootstrapDraws) -> tuple[Array, Array | None, Array | None]:
    """Return the class of every case or cell, its group if any, and its number of cases."""
    table, pairs = _first_table(draws), draws.pairs
    if pairs is not None:
        return pairs.code, pairs.group, pairs.times
    return table.strata, table.grouping, table.cells


def rarest_class_units(draws: BootstrapDraws) -> int:
    """Number of cases, or groups, of the rarest class of a sample."""
    code, group, cells = _groups(draws)
    if group is not None:
        step = int(code.max(initial=0)) + 1
        code, cells = np.unique(group.astype(np.int64) * step + code) % step, None
    return int(rarest_class_size(code, cells, None if cells is None else _first_table(draws).cell_squares))


def count_units(draws: BootstrapDraws) -> int:
    """Number of cases, or groups, of a sample."""
    code, group, cells = _groups(draws)
    if group is not None:
        return int(np.unique(group).size)
    return code.size if cells is None else int(_first_table(draws).cases)


@dataclass(frozen=True, eq=False, kw_only=True)
class AllOverDatasets(Design[Table]):
    """Several models by their results on the same data sets: are all equal?"""

    outcomes: DatasetTable
    asks: ClassVar[str] = "compare several models over data sets"


@dataclass(frozen=True, eq=False, kw_only=True)
class OverDatasets(AllOverDatasets):
    """Two models by their results on the same data sets: do they differ?"""

    names: tuple[str, str]
    seed: int = 0
    asks: ClassVar[str] = "compare two models over data sets"
