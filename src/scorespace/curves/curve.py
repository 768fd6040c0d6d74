"""A curve, and the declaration of a kind of curve: one decorated function from which everything else follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, field, fields, replace
from functools import partial
from html import escape
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from scorespace.arguments import check_values, checked_methods, foreseen
from scorespace.declaration import Function, OnTables, Registry, check_options, declaring
from scorespace.errors import CurveError
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, ByValue, Note, Row, decimals, plain
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.table import Way, called, way

Points = tuple[tuple[float, float], ...]
UNIT: Final = (0.0, 1.0)
DIAGONAL: Final[Points] = ((0.0, 0.0), (1.0, 1.0))


@checked_methods
@dataclass(frozen=True, eq=False)
class Curve(ByValue):
    """Points (x, y), each reached at a threshold; between them the curve is straight.

    Of a coarse table, `certified_low` and `certified_high` are what y lies between at the thresholds inside the bin of
    each point, whatever the order of its cases; NaN where that is not known.

    >>> x, y = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])
    >>> Curve("roc", x, y, np.array([np.inf, 0.8, 0.1]), "fpr", "tpr").area()
    0.75
    """

    kind: str
    x: Array
    y: Array
    threshold: Array
    x_title: str
    y_title: str
    certified_low: Array | None = field(default=None, kw_only=True, repr=False)
    certified_high: Array | None = field(default=None, kw_only=True, repr=False)
    along: ClassVar[str] = "threshold"
    """What moves from point to point, for people."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        checked_methods(cls)

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.findings()

    @property
    def certified(self) -> dict[str, Array]:
        """What the points of a coarse table lie between, by name; nothing where every point is exact."""
        ends = {name: getattr(self, name) for name in ("certified_low", "certified_high")}
        return {name: end for name, end in ends.items() if end is not None}

    @property
    def columns(self) -> dict[str, Any]:
        """What is known of every point, by name."""
        return {"x": self.x, "y": self.y, "threshold": self.threshold, **self.certified}

    def findings(self, model: str = "") -> tuple[Note, ...]:
        """What to know before reading the curve of that model."""
        return ()

    def facts(self) -> Row:
        """The numbers that belong to the curve, if any."""
        return {}

    @property
    def beside_area(self) -> dict[str, float]:
        """What is told beside the area, by name."""
        return {}

    @property
    def chance(self) -> tuple[tuple[float, float], ...]:
        """The line that guessing would draw, where it is one of this curve and not of its kind."""
        return ()

    @property
    def area_text(self) -> str:
        """The area as a legend has room for it."""
        return decimals(self.area())

    def area(self) -> float:
        """Area under the curve by the trapezoids between its points; NaN when a point is undefined."""
        with np.errstate(invalid="ignore"):  # infinite thresholds bound no area
            return float(np.trapezoid(self.y, self.x))

    def line(self) -> Curve:
        """What is drawn: the same curve, or one with more points where it is not straight between its own."""
        return self

    def thinned(self, most: int = 400) -> Self:
        """A curve with about that many points that looks the same: evenly spaced along its length.

        Both ends stay, and every dropped point lies within 2/most of the axes' spans from a kept one.
        """
        return self if self.x.size <= most else self.at(self.places(most))

    def places(self, most: int) -> Array:
        """The places of about so many points, evenly spaced along the length of the curve."""
        if self.x.size <= most:
            return np.arange(self.x.size)
        steps = np.abs(np.diff(self.x)) / _span(self.x) + np.abs(np.diff(self.y)) / _span(self.y)
        along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps, posinf=0.0))])
        kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], most + 1)).clip(0, self.x.size - 1))
        return np.union1d(kept, [0, self.x.size - 1])

    def at(self, places: Array) -> Self:
        """The curve with the points at these places alone."""
        return replace(self, **{name: column[places] for name, column in self.columns.items()})

    def rows(self) -> list[Row]:
        """One row per point; the threshold +inf and undefined values are None."""
        values = zip(*map(plain, self.columns.values()), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in values]

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "kind": self.kind, "x": self.x_title, "y": self.y_title, "rows": self.rows()}

    def __repr__(self) -> str:
        return f"{self.kind} curve: {self.x.size} points, {self.y_title} against {self.x_title}"

    def _repr_html_(self) -> str:
        """The words of its repr, and a small picture of its line."""
        thin = self.line().thinned(200)
        drawn = np.isfinite(thin.x) & np.isfinite(thin.y)
        x, y = thin.x[drawn], thin.y[drawn]
        across, up = (x - x.min(initial=0.0)) / _span(x), (y - y.min(initial=0.0)) / _span(y)
        points = " ".join(f"{240 * a:.1f},{240 - 240 * b:.1f}" for a, b in zip(across, up, strict=True))
        frame = '<rect width="240" height="240" fill="none" stroke="#98a2ae"/>'
        line = f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="2"/>'
        picture = f'<svg width="256" height="256" viewBox="-8 -8 256 256">{frame}{line}</svg>'
        return f"<p>{escape(repr(self))}</p>{picture}"


def _span(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0


@dataclass(frozen=True, kw_only=True)
class Frame:
    """How a kind of curve is framed: ends of the axes, shape, and the line that chance would draw.

    `dip` cuts curves that fall without end: that many times the highest value is shown below zero. `steps`: between
    two points nothing changes.
    """

    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    from_zero: bool = True
    dip: float | None = None
    square: bool = False
    chance: Points = ()
    chance_name: str = "chance"
    steps: bool = False


Shape = TypeVar("Shape", bound=Curve, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class CurveKind(OnTables, Frame, Generic[Shape]):
    """A kind of curve, declared on one table or on several, with all that a picture and a reader need.

    `x` and `y` are the titles of the axes. `area` says what the area under it is; without it, none is told. `level` is
    the height that chance reaches, from the table. `probability`: the size of the scores counts and not their order
    alone. `also` names further tables inside one of several classes that have such a curve. `placed` is the option
    that takes the threshold at which a model is shown. `within_classes`: its points stay when one class is multiplied.
    """

    function: Callable[..., Shape]
    _: KW_ONLY
    title: str
    x: str
    y: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    area: str = ""
    probability: bool = False
    level: Callable[[Any], float] | None = None
    also: tuple[str, ...] = ()
    placed: str | None = None
    within_classes: bool = False

    @property
    def frame(self) -> Frame:
        """How it is framed, and nothing else of it."""
        return Frame(**{one.name: getattr(self, one.name) for one in fields(Frame)})

    def __call__(self, table: Any = None, *values: Any, **options: Any) -> Shape:
        """The curve of a table; options by their names, or in the order in which they are declared."""
        names = [option.name for option in self.options]
        if len(values) > len(names) or (twice := set(names[: len(values)]) & set(options)):
            what = "more values than options" if len(values) > len(names) else f"{', '.join(twice)} stated twice"
            raise TypeError(f"{self.name}: {what}")
        given = dict(zip(names, values, strict=False)) | options
        check_options(self, given, CurveError)
        check_values(self, given)
        with foreseen(self.name):
            return self._traced(table, given)

    def drawn(self, x: Array, y: Array, threshold: Array) -> Curve:
        """Points of such a curve, with its name and the titles of its axes."""
        return Curve(self.name, x, y, threshold, self.x, self.y)

    def _traced(self, table: Any, given: dict[str, Any]) -> Any:
        for kind, function in self.functions.items():
            if isinstance(table, kind):
                return self.certain(table, function(table, **given), **given)
        if not isinstance(table, Table):
            hint = f"ss.{self.name}(table)"
            raise CurveError(f"{self.name} needs {called(self.table)}.", seen=f"{table!r:.60}", hint=hint)
        found = self.fit(table)
        return self.certain(found.table, found.function(found.table, **given), **given)

    def certain(self, table: Any, traced: Any, **options: Any) -> Any:
        """The curve of a table with what its points are certain to lie between, where scores were counted in bins."""
        if not isinstance(table, Table) or not table.coarse:
            return traced
        bounds = bounded.of(self)
        unknown = np.full(traced.x.shape, np.nan)
        low, high = (unknown, unknown) if bounds is None else bounds(table, traced, **options)
        return replace(traced, certified_low=low, certified_high=high)

    def fit(self, table: Table, of: str | None = None, model: str | None = None) -> Way:
        """The function and the table inside the given one that it takes, of a class where one is named.

        `model` is what an error calls the table.
        """
        try:
            return way(self.functions, table, of, sized=self.probability)
        except NoTableError as error:
            raise self._refused(error, table, of, model) from None

    def fits(self, table: Table, of: str | None = None) -> Way | None:
        """The same, or None where there is no such curve."""
        try:
            return way(self.functions, table, of, sized=self.probability)
        except NoTableError:
            return None

    def _refused(self, error: NoTableError, table: Table, of: str | None, model: str | None) -> CurveError:
        asked = self.name if of is None or model is None else f"{self.name} of {model}[{of}]"
        hint = None if error.hint is None else error.hint.replace("{label}", self.name if of is None else model or "…")
        if of is None and table.class_names and self.fits(table, table.class_names[0]):
            one = f"name one: {model}[{table.class_names[0]}]"
            hint = one if model else f"{self.name} needs {called(self.table)}, such as that of one class"
        return CurveError(f"{asked} {error.reason.replace('{label}', self.name)}.", seen=error.seen, hint=hint)


CURVES: Registry[CurveKind[Any]] = Registry("curve", "curves", CurveError)
"""Every declared kind of curve, in the order of declaration."""

curve = declaring(CURVES, CurveKind)
in_square = partial(curve, x_ends=UNIT, y_ends=UNIT, square=True)
"""Declares a curve whose axes are both shares, from 0 to 1."""
beside_chance = partial(in_square, chance=DIAGONAL)
"""The same, where chance draws the diagonal."""
in_roc_space = partial(beside_chance, x="False positive rate", y="True positive rate", within_classes=True)


@dataclass(frozen=True)
class Addition(Generic[Function]):
    """What other files add to kinds of curves, a function each: `band = Addition()`, then `@band(roc)`."""

    functions: dict[str, Function] = field(default_factory=dict)

    def __call__(self, kind: CurveKind[Any]) -> Callable[[Function], Function]:
        """Declare a function for that kind."""

        def declare(function: Function) -> Function:
            self.functions[kind.name] = function
            return function

        return declare

    def of(self, kind: CurveKind[Any]) -> Function | None:
        """The function declared for that kind, if there is one."""
        return self.functions.get(kind.name)


common: Addition[Callable[[Mapping[str, Any]], Curve]] = Addition()
"""The curve of all models together, from their tables by name, where a kind has one."""

beside: Addition[Callable[[Any], dict[str, Curve]]] = Addition()
"""Curves that belong beside one of a kind in a picture, from its table; {model} in their names is filled in."""

bounded: Addition[Callable[..., tuple[Array, Array]]] = Addition()
"""What the points of a curve lie between, from a coarse table, the curve and its options: the lowest, the highest y."""
