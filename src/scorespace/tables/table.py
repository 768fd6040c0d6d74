"""What every table owes: a sentence about itself, weights that can be drawn again, a sum, and the tables inside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from scorespace.declaration import written
from scorespace.errors import ScoreSpaceError, listing
from scorespace.frozen import dataclass
from scorespace.results import ByValue
from scorespace.tables.bins import BITS
from scorespace.tables.labels import bare

Array = NDArray[Any]
Wanted = TypeVar("Wanted", bound="Table")


@dataclass(frozen=True)
class Top:
    """An operating point by rank: the cases with the highest scores, so many of them or so many of a hundred.

    >>> f"{Top(200)}, {Top(2.5, percent=True)}", Top(2.5, percent=True).of(1000)
    ('top200, top2.5%', 25.0)
    """

    size: float
    percent: bool = False

    def of(self, total: Any) -> Any:
        """How many cases that is, of so many in all."""
        return self.size / 100 * total if self.percent else self.size

    def __str__(self) -> str:
        return f"top{written(self.size)}{'%' if self.percent else ''}"

    def __format__(self, form: str) -> str:
        return str(self)


At = float | Top
"""An operating point: a threshold, or the cases with the highest scores."""


class NoTableError(ScoreSpaceError):
    """There is no such table inside this one; `hint` may name {label}, what was asked for."""

    def __init__(self, reason: str, *, seen: str | None = None, hint: str | None = None) -> None:
        super().__init__(reason, seen=seen, hint=hint)
        self.reason = reason


@dataclass(frozen=True)
class Stored:
    """A table as plain columns, all of one length, and what is to be known of them."""

    about: Mapping[str, Any]
    columns: Mapping[str, Array]


def _with_alike(add: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The sum of two tables, which refuses what is no table of the same kind."""

    @wraps(add)
    def sum_of(self: Table, other: Any) -> Any:
        if not isinstance(other, type(self)) and not (isinstance(other, Table) and isinstance(self, type(other))):
            kind = called(type(self))
            raise ScoreSpaceError(f"{kind} is added to {kind} alone.", seen=type(other).__name__, hint="two of a kind")
        return add(self, other)

    return sum_of


class Table(ByValue, ABC):
    """A sufficient statistic: weights in cells, from which numbers, curves and other tables follow.

    Leading axes of `cells` are replicates. Everything above the tables asks for no more than this, so a new
    kind of table is one new file.
    """

    holds: ClassVar[str] = ""
    """What one needs to have it, in the words of users."""
    thresholded: ClassVar[bool] = False
    """Whether it becomes decisions at a threshold."""
    scores_classes: ClassVar[bool] = False
    """Whether it scores several classes."""
    by_case: ClassVar[bool] = False
    """Whether each cell is one case of its own."""
    four_outcomes: ClassVar[bool] = False
    """Whether it holds the four outcomes of two classes and nothing else."""
    counts_outcomes: ClassVar[bool] = False
    """Whether it counts outcomes that proportions are shares of; `effective` tells how many of each there are."""
    summed: ClassVar[bool] = False
    """Whether it holds sums over cases, as tables of cases have them inside."""
    crisp: ClassVar[str] = ""
    """Why there is no threshold to ask for, where that is not just that it has none."""
    squares: Any = None
    """The sums of squared weights, in the shape of the weights, where they are kept."""
    positive: Any = None
    """The place of the class that counts as positive among its classes, if one does."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__add__" in vars(cls):
            cls.__add__ = _with_alike(vars(cls)["__add__"])  # type: ignore[method-assign]

    @abstractmethod
    def described(self) -> str:
        """What it is, to go on a sentence: "scores of 3 classes"."""

    @property
    @abstractmethod
    def cells(self) -> Array:
        """The weight in every cell (…, m); these are drawn again."""

    @abstractmethod
    def with_cells(self, cells: Array) -> Self:
        """The same table with other weights (…, m) in its cells."""

    @abstractmethod
    def __add__(self, other: Self) -> Self:
        """The table of both samples together."""

    @property
    def strata(self) -> NDArray[np.intp]:
        """The class that each cell (m,) belongs to, by number; zeros where there are none."""
        return np.zeros(self.cells.shape[-1], dtype=np.intp)

    @property
    def cell_squares(self) -> Array | None:
        """The sum of the squared weights in every cell (m,), where a case may weigh more or less than one."""
        return None if self.squares is None else self.squares.ravel()

    @property
    def size(self) -> int:
        """How many numbers it takes to draw it again: its scores where it has such, else its cells."""
        return int(self.cells.size)

    @property
    def total(self) -> Array:
        """The weight of all cases."""
        return np.asarray(self.cells.sum(axis=-1, dtype=np.float64))

    @property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that they may be counts of cases."""
        return self.cells.dtype.kind in "iub" or bool(np.all(self.cells == np.floor(self.cells)))

    @property
    def counted(self) -> bool:
        """Whether its cases can be drawn again: every unit of weight is one, or the squares tell how many there are."""
        return self.cell_squares is not None or self.whole

    @property
    def cases(self) -> float:
        """How many cases there are, or as many equal ones as are worth the weights: (Σw)² / Σw²."""
        squares = self.cell_squares
        total = float(self.cells.sum(dtype=np.float64))
        return total if squares is None else total * total / float(squares.sum())

    def effective(self, trials: str) -> float:
        """How many equal cases are worth the weights of the count of that name: here of all, Kish's (Σw)² / Σw²."""
        return self.cases

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes it tells apart, if any."""
        return ()

    @property
    def positive_name(self) -> str | None:
        """The class that counts as positive, if one does."""
        return None if self.positive is None else self.class_names[self.positive]

    @property
    def probabilities(self) -> bool:
        """Whether its scores can be read as probabilities; what has no scores has none that cannot."""
        return True

    @property
    def grouping(self) -> NDArray[np.int32] | None:
        """The number of the group that each cell belongs to, where cases come in groups."""
        return None

    @property
    def coarse(self) -> bool:
        """Whether scores that differ share a row, so that numbers are certain within bounds only."""
        return False

    def deciding(self) -> Table:
        """The table that its decisions are made from."""
        return self

    def scores_seen(self) -> str:
        """What its scores are, where they are no probabilities."""
        return self.described()

    @property
    def constant(self) -> bool:
        """Whether it holds scores that are the same for all cases, so that nothing is ranked."""
        return False

    @property
    def has_positive(self) -> bool:
        """Whether one of its classes is the positive one."""
        return self.positive_name is not None

    @property
    def both_classes(self) -> Array:
        """Whether it, or each of its replicates, has cases of the positive class and of another."""
        totals = np.asarray(self.class_totals, dtype=np.float64)
        own = totals[..., self.class_names.index(str(self.positive_name))]
        return (own > 0) & (totals.sum(axis=-1) > own)

    def right(self, at: At | None = None) -> NDArray[np.bool_]:
        """Whether the decision on the cases of each cell is right, at a threshold or down to a rank if needed."""
        raise NoTableError(f"compares decisions, and {self.described()} hold none")

    def ranked(self, cell: NDArray[np.int32]) -> tuple[Table, NDArray[np.int32]]:
        """The scores of the positive class with the cell of each case there; a crisp decision scores 1 or 0."""
        raise NoTableError(f"needs scores of a positive class, and {self.described()} hold none")

    def shared_with(self, other: Table, *, sized: bool) -> tuple[Table, Array, Array]:
        """One table with the cells of both, and the place there of each cell of the one and of the other.

        There two models can swap cases. `sized`: the size of the scores counts and not their order alone.
        """
        empty = np.zeros_like(self.cells)
        alike = type(self) is type(other) and empty.shape == other.cells.shape
        if not (alike and self.with_cells(empty) == other.with_cells(empty)):
            raise NoTableError(f"swaps cases, and {self.described()} and {other.described()} have other cells")
        places = np.arange(empty.shape[-1])
        return self, places, places

    def part(self, cell: NDArray[np.int32]) -> tuple[Self, NDArray[np.int32]]:
        """The table of the cases of these cells, and where they now are."""
        return self.with_cells(np.bincount(cell, minlength=self.cells.shape[-1])), cell

    def around(self, at: At, of: str | None = None) -> tuple[Table, Table]:
        """The outcomes between which those at a threshold lie, where a coarse table does not tell them apart."""
        raise NoTableError(f"asks for a threshold, but {self.described()} have none")

    def at_prevalence(self, share: float) -> Self:
        """The same cases weighed so that positives have that share; without a positive class they stay."""
        return self

    def stored(self) -> Stored:
        """Its columns, to be stored and sent; a table that keeps its cases has none."""
        raise NoTableError(f"is not stored: {self.described()} keep the cases themselves")

    def rounded(self, bits: int = BITS, edges: Sequence[float] = ()) -> Self:
        """A coarser table, where it has scores to be rounded."""
        return self

    def uncertain(self) -> Self:
        """The same rows without what is known of the cases inside them, which cases drawn again do not have."""
        return self

    def undrawn(self, inside: Table) -> str | None:
        """Why what is computed from a table inside this one is not drawn again; None where it is."""
        return None

    def in_order(self, order: Sequence[Any]) -> Self:
        """The same table with its classes in a stated order, from the lowest to the highest."""
        return self

    @property
    def ordinal(self) -> bool:
        """Whether its classes have an order, so that some are further apart than others."""
        return False

    def condensed(self, rows: int) -> Self:
        """A smaller table that spreads alike when drawn again; most tables are small already."""
        return self

    def condensed_cells(self, rows: int) -> NDArray[np.int32] | None:
        """The cell of the condensed table that each of its cells goes to; None where nothing is merged."""
        return None

    def inside(
        self, wanted: type[Wanted], of: str | None = None, at: At | None = None, *, sized: bool = False
    ) -> Wanted:
        """The table of the wanted kind that is inside this one: of a class, at a threshold.

        `sized`: the size of the scores counts and not their order alone. NoTableError says why there is none.
        """
        if at is not None:
            none = self.crisp or f"{self.described()} have none"
            raise NoTableError(f"asks for a threshold, but {none}", hint="{label}")
        if of is not None:
            raise NoTableError(f"names a class, but {self.described()} have none", hint="{label}")
        found = self.whole_inside(wanted)
        if found is None:
            raise NoTableError(f"cannot be computed from {self.described()}", hint=f"{{label}} needs {held(wanted)}")
        return cast(Wanted, found)

    def whole_inside(self, wanted: type[Table]) -> Table | None:
        """The table of that kind inside it for which neither a class nor a threshold is named, if there is one."""
        return self if isinstance(self, wanted) else None

    def averaged_over(self, wanted: type[Table]) -> Table:
        """The table over whose classes a function of the wanted table is averaged."""
        raise NoTableError("averages over classes, which a single score does not decide", hint="{label}")

    def each(self, wanted: type[Wanted]) -> list[Wanted]:
        """The wanted tables of all its classes, each against the rest."""
        raise NoTableError(f"cannot be averaged over {self.described()}")

    def pooled(self, wanted: type[Wanted]) -> Wanted:
        """The wanted table of all its classes thrown together."""
        raise NoTableError(f"cannot be averaged over {self.described()}")

    def pairwise(self, wanted: type[Wanted]) -> Iterator[tuple[int, int, Wanted]]:
        """The wanted tables of all ordered pairs of classes, by the score of the first."""
        raise NoTableError("averages over pairs of classes, which needs scores of the classes")

    @property
    def class_totals(self) -> Array:
        """The weight of each class (…, K)."""
        raise NoTableError(f"averages over classes, but {self.described()} have none")


class OfClasses(Table):
    """What tables share that tell named classes apart; `ranked_classes`: they stand in a stated order."""

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
        """The place of a class among them, which may stand in quotes; refused where it does not occur."""
        name = of if of in self.classes else bare(of)
        if name not in self.classes:
            seen, hint = f"classes {listing(self.classes)}", f"{{label}}[{self.classes[0]}]"
            raise NoTableError("names a class that does not occur", seen=seen, hint=hint)
        return self.classes.index(name)


class Weighed(Table):
    """What tables share whose weights are one array: `weights` names it, and its last `axes` are the cells."""

    weights: ClassVar[str]
    axes: ClassVar[int] = 1

    @property
    def cells(self) -> Array:
        held: Array = getattr(self, self.weights)
        return held.reshape(*held.shape[: held.ndim - self.axes], -1)

    def with_cells(self, cells: Array) -> Self:
        shape = getattr(self, self.weights).shape
        held = {self.weights: cells.reshape(*cells.shape[:-1], *shape[len(shape) - self.axes :])}
        return replace(self, **(held if self.squares is None else held | {"squares": None}))  # type: ignore[type-var]

    def squares_with(self, other: Self, join: Callable[[Any, Any], Any]) -> Any:
        """The squared weights of two tables together, where either keeps them: a case of weight 1 has the square 1."""
        if self.squares is None and other.squares is None:
            return None
        return join(*(getattr(one, one.weights) if one.squares is None else one.squares for one in (self, other)))


@dataclass(frozen=True)
class Way:
    """A declared function and the table inside a given one that it takes."""

    function: Callable[..., Any]
    kind: type[Table]
    table: Table


def way(
    functions: Mapping[type, Callable[..., Any]],
    table: Table,
    of: str | None = None,
    at: At | None = None,
    *,
    sized: bool = False,
) -> Way:
    """The way from any table to the first kind, of those a noun is declared on, that is inside it.

    NoTableError gives the reason of the kind that the noun was first declared on.
    """
    first: NoTableError | None = None
    # Of several classes, all before one.
    own = type(table) if of is None and len(table.class_names) > 2 else None
    for kind, function in sorted(functions.items(), key=lambda pair: pair[0] is not own):
        try:
            return Way(function, kind, table.inside(kind, of, at, sized=sized))
        except NoTableError as reason:
            first = first or reason
    raise first or NoTableError("is declared on no table")


def called(kind: type) -> str:
    """A kind of table for people: its docstring's first words would be too long.

    >>> class ScoreTable: ...
    >>> called(ScoreTable)
    'a ScoreTable'
    """
    return f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def held(kind: type) -> str:
    """What a kind of table holds, in the words of users; else what it is called."""
    return str(getattr(kind, "holds", "")) or called(kind)
