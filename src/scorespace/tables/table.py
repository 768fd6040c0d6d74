"""The interface of all tables (sufficient statistics): resampling, classes, thresholds, merging, and derived tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ScoreSpaceError, listing
from scorespace.results import ByValue
from scorespace.tables.bins import BITS
from scorespace.tables.labels import unquote_label
from scorespace.tables.threshold import At

Array = NDArray[Any]
Wanted = TypeVar("Wanted", bound="Table")


class NoTableError(ScoreSpaceError):
    """The required table cannot be derived from this one; `hint` may contain {label}, the requested measure."""

    def __init__(self, reason: str, *, seen: str | None = None, hint: str | None = None) -> None:
        super().__init__(reason, seen=seen, hint=hint)
        self.reason = reason


@dataclass(frozen=True)
class StoredTable:
    """A table as columns of equal length, with its metadata."""

    about: Mapping[str, Any]
    columns: Mapping[str, Array]


def _check_same_kind(add: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make `__add__` refuse tables of another kind."""

    @wraps(add)
    def checked_add(self: Table, other: Any) -> Any:
        if not isinstance(other, type(self)) and not (isinstance(other, Table) and isinstance(self, type(other))):
            seen = f"{type(self).__name__} and {type(other).__name__}"
            raise ScoreSpaceError(
                "only tables of the same kind can be merged.", seen=seen, hint="tables with the same columns"
            )
        return add(self, other)

    return checked_add


class Resamplable(ABC):
    """Capability of all tables: weights in cells, which the bootstrap and permutation tests redraw.

    Leading axes of `cells` are replicates.
    """

    squares: Any = None
    """Sums of squared weights, in the shape of the weights, if cases are weighted."""

    @property
    @abstractmethod
    def cells(self) -> Array:
        """Weight of every cell, shape (…, n_cells)."""

    @abstractmethod
    def with_cells(self, cells: Array) -> Self:
        """Return the table with other weights, shape (…, n_cells)."""

    @property
    def strata(self) -> NDArray[np.intp]:
        """Class index of each cell, for stratified resampling; zeros if there are no classes."""
        return np.zeros(self.cells.shape[-1], dtype=np.intp)

    @property
    def cell_squares(self) -> Array | None:
        """Sum of squared weights of each cell, shape (n_cells,), if cases are weighted."""
        return None if self.squares is None else self.squares.ravel()

    @property
    def size(self) -> int:
        """Number of values a replicate takes: distinct scores if there are any, else cells."""
        return int(self.cells.size)

    @property
    def total(self) -> Array:
        """Total weight of the cases."""
        return np.asarray(self.cells.sum(axis=-1, dtype=np.float64))

    @property
    def whole(self) -> bool:
        """Whether all weights are integers, so that they may be counts of cases."""
        return self.cells.dtype.kind in "iub" or bool(np.all(self.cells == np.floor(self.cells)))

    @property
    def counted(self) -> bool:
        """Whether cases can be resampled: weights are counts, or the squared weights are known."""
        return self.cell_squares is not None or self.whole

    @property
    def cases(self) -> float:
        """Number of cases, or the effective sample size (Σw)² / Σw² of weighted ones (Kish 1965)."""
        squares = self.cell_squares
        total = float(self.cells.sum(dtype=np.float64))
        return total if squares is None else total * total / float(squares.sum())

    def effective(self, trials: str) -> float:
        """Effective sample size of the count with this name; here that of all cases."""
        return self.cases

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        """Group index of each cell, if cases are grouped."""
        return None

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """A table with the cells of both models, and the index there of each cell of the first and of the second.

        Permutation tests exchange cases between models in it. `sized`: score values matter, not only their order.
        """
        this = cast("Table", self)
        empty = np.zeros_like(self.cells)
        same_shape = type(self) is type(other) and empty.shape == other.cells.shape
        if not (same_shape and self.with_cells(empty) == other.with_cells(empty)):
            raise NoTableError(
                f"permutes cases between models, but {this.described()} and {other.described()} have different cells"
            )
        places = np.arange(empty.shape[-1])
        return this, places, places

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of a subset of cases, given by their cells, and their cells in that table."""
        return self.with_cells(np.bincount(cell, minlength=self.cells.shape[-1])), cell

    def uncertain(self) -> Self:
        """The table without the sums inside bins, which resampled cases do not have."""
        return self

    def reason_not_resampled(self, inside: Table) -> str | None:
        """Why measures of a derived table are not resampled; None if they are."""
        return None

    def condensed(self, rows: int) -> Self:
        """A smaller table with nearly the same sampling variation."""
        return self

    def condensed_cells(self, rows: int) -> NDArray[np.int32] | None:
        """Cell of the condensed table that each cell is merged into; None if nothing is merged."""
        return None


class Classified:
    """Capability of tables with classes; the defaults are those of tables without any."""

    scores_classes: ClassVar[bool] = False
    """Whether it holds multiclass scores."""
    positive: Any = None
    """Index of the positive class, if there is one."""

    if TYPE_CHECKING:

        def described(self) -> str: ...

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes, if any."""
        return ()

    @property
    def positive_name(self) -> str | None:
        """Name of the positive class, if there is one."""
        return None if self.positive is None else self.class_names[self.positive]

    @property
    def has_positive(self) -> bool:
        """Whether there is a positive class."""
        return self.positive_name is not None

    @property
    def both_classes(self) -> Array:
        """Whether the table, or each replicate, has both positive and negative cases."""
        totals = np.asarray(self.class_totals, dtype=np.float64)
        positives = totals[..., self.class_names.index(str(self.positive_name))]
        return (positives > 0) & (totals.sum(axis=-1) > positives)

    @property
    def ordinal(self) -> bool:
        """Whether the classes are ordered."""
        return False

    def in_order(self, order: Sequence[Any]) -> Self:
        """Return the table with its classes in the given order, lowest first."""
        return self

    def at_prevalence(self, share: float) -> Self:
        """Reweight the cases to a given prevalence; without a positive class nothing changes."""
        return self

    def averaged_over(self, wanted: type[Table]) -> Table:
        """The table over whose classes a measure of the required table is averaged."""
        raise NoTableError("averages over classes, but a single score has none", hint="{label}")

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        """One-vs-rest tables of all classes."""
        raise NoTableError(f"cannot be averaged over {self.described()}")

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """One-vs-rest tables of all classes pooled into one (micro average)."""
        raise NoTableError(f"cannot be averaged over {self.described()}")

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        """One-vs-one tables of all ordered pairs of classes, by the score of the first."""
        raise NoTableError("averages over pairs of classes, which needs scores of the classes")

    @property
    def class_totals(self) -> Array:
        """Weight of each class, shape (…, n_classes)."""
        raise NoTableError(f"averages over classes, but {self.described()} have none")


class Thresholded:
    """Capability of tables with scores or decisions; the defaults are those of tables without any."""

    thresholded: ClassVar[bool] = False
    """Whether a threshold turns it into decisions."""
    crisp: ClassVar[str] = ""
    """Why no threshold can be applied, if there is a special reason."""

    if TYPE_CHECKING:

        def described(self) -> str: ...

    @property
    def probabilities(self) -> bool:
        """Whether the scores can be probabilities; true if there are no scores."""
        return True

    @property
    def coarse(self) -> bool:
        """Whether scores are binned, so that values have certified bounds only."""
        return False

    @property
    def constant(self) -> bool:
        """Whether all cases have the same score."""
        return False

    def deciding(self) -> Table:
        """The table from which decisions are made."""
        return cast("Table", self)

    def scores_seen(self) -> str:
        """Description of scores that are not probabilities, for messages."""
        return self.described()

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        """Whether the decision on each cell is correct, at an operating point if one is needed."""
        raise NoTableError(f"compares decisions, but {self.described()} have none")

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        """The score table of the positive class, and the cell of each case there; decisions score 1 or 0."""
        raise NoTableError(f"needs scores of a positive class, but {self.described()} have none")

    def bounds_at(self, at: At, of: str | None = None) -> tuple[Table, Table]:
        """Bounds of the outcomes at an operating point that lies inside a bin."""
        raise NoTableError(f"specifies a threshold, but {self.described()} have none")

    def rounded(self, bits: int = BITS, edges: Sequence[float] = ()) -> Self:
        """The table with binned scores, if it has scores."""
        return self


class Table(Resamplable, Classified, Thresholded, ByValue):
    """A sufficient statistic: weights in cells, from which measures, curves and other tables are computed.

    All packages above use this interface only, so a new kind of table is one new module.
    """

    holds: ClassVar[str] = ""
    """What the user must provide for it."""
    by_case: ClassVar[bool] = False
    """Whether each cell is one case."""
    four_outcomes: ClassVar[bool] = False
    """Whether it holds only the four outcomes (TP, FP, FN, TN)."""
    counts_outcomes: ClassVar[bool] = False
    """Whether it counts outcomes; `effective` returns the effective sample size of each count."""
    summed: ClassVar[bool] = False
    """Whether it holds sums over cases that can also be derived from tables of cases."""
    units_text: str = ""
    """What was counted, where rows are not the cases."""
    by_query: ClassVar[bool] = False
    """Whether numbers of top cases are those of each query."""
    low_is_better: bool = False
    """Whether low values are better, where the direction is stated with the data."""
    closed_form: ClassVar[bool] = False
    """Whether its values have closed-form intervals only, since replicates of the sample's table do not hold it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__add__" in vars(cls):
            cls.__add__ = _check_same_kind(vars(cls)["__add__"])  # type: ignore[method-assign]

    @abstractmethod
    def described(self) -> str:
        """Description for messages, such as "scores of 3 classes"."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """Merge the tables of two samples."""

    def stored(self) -> StoredTable:
        """Convert to columns for storage; tables that keep individual cases cannot be stored."""
        raise NoTableError(f"cannot be stored: {self.described()} keep individual cases")

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """Derive a table of the required kind, for a class `of` and an operating point `at`.

        `sized`: score values matter, not only their order. Raises NoTableError with the reason if there is none.
        """
        if at is not None:
            none = self.crisp or f"{self.described()} have none"
            raise NoTableError(f"specifies a threshold, but {none}", hint="{label}")
        if of is not None:
            raise NoTableError(f"names a class, but {self.described()} have none", hint="{label}")
        table = self.whole_inside(wanted)
        if table is None:
            raise NoTableError(
                f"cannot be computed from {self.described()}", hint=f"{{label}} needs {required_input_of(wanted)}"
            )
        return cast(Wanted, table)

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        """Derive a table of the required kind without naming a class or a threshold, if possible."""
        return self if isinstance(self, wanted) else None


class NamedClasses(Table):
    """Base of tables with named classes; `ranked_classes`: the classes are in a stated order."""

    ranked_classes: Any = False
    if TYPE_CHECKING:

        @property
        def classes(self) -> tuple[str, ...]: ...

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def total(self) -> Array:
        return self.class_totals.sum(axis=-1)

    @property
    def ordinal(self) -> bool:
        return bool(self.ranked_classes)

    def place_of(self, of: str) -> int:
        """Index of a class, whose name may be quoted; raises NoTableError if it does not occur."""
        name = of if of in self.classes else unquote_label(of)
        if name not in self.classes:
            seen, hint = f"classes {listing(self.classes)}", f"{{label}}[{self.classes[0]}]"
            raise NoTableError("names a class that does not occur", seen=seen, hint=hint)
        return self.classes.index(name)


class WeightedTable(Table):
    """Base of tables whose weights are one array: `weights` is its name, and its last `axes` are the cells."""

    weights: ClassVar[str]
    axes: ClassVar[int] = 1

    @property
    def cells(self) -> Array:
        values: Array = getattr(self, self.weights)
        return values.reshape(*values.shape[: values.ndim - self.axes], -1)

    def with_cells(self, cells: Array) -> Self:
        shape = getattr(self, self.weights).shape
        changes: dict[str, Any] = {self.weights: cells.reshape(*cells.shape[:-1], *shape[len(shape) - self.axes :])}
        if self.squares is not None:
            changes["squares"] = None
        changes |= {name: None for name in ("costs", "periods") if getattr(self, name, None) is not None}
        return replace(self, **changes)  # type: ignore[type-var]

    def squares_with(self, other: Self, join: Callable[[Any, Any], Any]) -> Any:
        """Join the squared weights of two tables if either is weighted; a case of weight 1 has the square 1."""
        if self.squares is None and other.squares is None:
            return None
        tables = (self, other)
        return join(*(getattr(table, table.weights) if table.squares is None else table.squares for table in tables))


@dataclass(frozen=True)
class ResolvedTable:
    """A registered function and the derived table that it is applied to."""

    function: Callable[..., Any]
    kind: type[Table]
    table: Table


def resolve_table(
    functions: Mapping[type, Callable[..., Any]],
    table: Table,
    of: str | None = None,
    at: At | None = None,
    *,
    sized: bool = False,
) -> ResolvedTable:
    """Derive the first table for which a measure, curve or test is implemented.

    NoTableError gives the reason for the table that it was first implemented for.
    """
    first: NoTableError | None = None
    # An implementation for the multiclass table itself comes before those for derived tables.
    preferred = type(table) if of is None and len(table.class_names) > 2 else None
    for kind, function in sorted(functions.items(), key=lambda pair: pair[0] is not preferred):
        try:
            return ResolvedTable(function, kind, table.inside(kind, of, at, sized=sized))
        except NoTableError as reason:
            first = first or reason
    raise first or NoTableError("is not implemented for any table")


def table_name(kind: type) -> str:
    """Name of a kind of table, with its article.

    >>> class ScoreTable: ...
    >>> table_name(ScoreTable)
    'a ScoreTable'
    """
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def required_input_of(kind: type) -> str:
    """What the user must provide for a kind of table, else its name."""
    return str(getattr(kind, "holds", "")) or table_name(kind)
