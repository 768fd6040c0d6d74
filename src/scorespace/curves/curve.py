"""The result type `Curve` and the registry of kinds of curves; each kind is one decorated function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import partial
from html import escape
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from scorespace.argument_checks import check_method_arguments, check_option_values, translate_errors
from scorespace.errors import CurveError
from scorespace.options import check_options
from scorespace.registry import Function, Registry, TableFunction, registering_decorator
from scorespace.results import SCHEMA, ByValue, Note, Row, decimals, frame_of, latex_of, to_json_types
from scorespace.tables import Array, NoTableError, Table
from scorespace.tables.array_tables import table_of_arrays
from scorespace.tables.table import ResolvedTable, resolve_table, table_name

Points = tuple[tuple[float, float], ...]
UNIT: Final = (0.0, 1.0)
DIAGONAL: Final[Points] = ((0.0, 0.0), (1.0, 1.0))


@check_method_arguments
@dataclass(frozen=True, eq=False)
class Curve(ByValue):
    """Points (x, y), each with its threshold; linear in between.

    For a binned table, `certified_low` and `certified_high` bound y at the thresholds inside the bin of each point, for
    any order of its cases.

    Parameters
    ----------
    kind : str
        Name of the kind of curve, such as "roc".
    x, y : ndarray of shape (n_points,)
        Coordinates of the points.
    threshold : ndarray of shape (n_points,)
        The threshold of each point.
    x_title, y_title : str
        Titles of the axes.
    certified_low, certified_high : ndarray, optional
        Bounds of y for a binned table; NaN where they are unknown.

    Examples
    --------
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
    """What varies along the curve, for axis labels."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_method_arguments(cls)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the curve."""
        return self.findings()

    @property
    def certified(self) -> dict[str, Array]:
        """Certified bounds of the points by name; empty if every point is exact."""
        ends = {name: getattr(self, name) for name in ("certified_low", "certified_high")}
        return {name: end for name, end in ends.items() if end is not None}

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of the points by name."""
        return {"x": self.x, "y": self.y, "threshold": self.threshold, **self.certified}

    def findings(self, model: str = "") -> tuple[Note, ...]:
        """Notes on the curve of the named model.

        Parameters
        ----------
        model : str
            Name of the model.

        Returns
        -------
        tuple of Note
            The notes, if any.
        """
        return ()

    def facts(self) -> Row:
        """Summary values of the curve, if any."""
        return {}

    @property
    def beside_area(self) -> dict[str, float]:
        """Values shown beside the area, by name."""
        return {}

    @property
    def chance(self) -> tuple[tuple[float, float], ...]:
        """Reference line of no skill, if it depends on this curve and not only on its kind."""
        return ()

    @property
    def area_text(self) -> str:
        """The area, formatted for a legend."""
        return decimals(self.area())

    def area(self) -> float:
        """Area under the curve by the trapezoidal rule; NaN if a point is undefined."""
        with np.errstate(invalid="ignore"):  # infinite coordinates give NaN
            return float(np.trapezoid(self.y, self.x))

    def line(self) -> Curve:
        """The curve as drawn, with additional points where it is not linear between its own."""
        return self

    def thinned(self, most: int = 400) -> Self:
        """A curve with about `most` points that looks the same: evenly spaced along its length.

        The end points are kept, and every dropped point is within 2/most of the axis ranges of a remaining one.

        Parameters
        ----------
        most : int
            Largest number of points, approximately.

        Returns
        -------
        Curve
            The thinned curve.
        """
        return self if self.x.size <= most else self.at(self.places(most))

    def places(self, most: int) -> Array:
        """Indices of about `most` points, evenly spaced along the curve.

        Parameters
        ----------
        most : int
            Largest number of points, approximately.

        Returns
        -------
        ndarray of int
            Indices of the points.
        """
        if self.x.size <= most:
            return np.arange(self.x.size)
        steps = np.abs(np.diff(self.x)) / _span(self.x) + np.abs(np.diff(self.y)) / _span(self.y)
        along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps, posinf=0.0))])
        chosen = np.unique(np.searchsorted(along, np.linspace(0, along[-1], most + 1)).clip(0, self.x.size - 1))
        return np.union1d(chosen, [0, self.x.size - 1])

    def at(self, places: Array) -> Self:
        """The curve with a subset of its points.

        Parameters
        ----------
        places : ndarray of int
            Indices of the points.

        Returns
        -------
        Curve
            The curve through these points.
        """
        return replace(self, **{name: column[places] for name, column in self.columns.items()})

    def rows(self) -> list[Row]:
        """One row per point; infinite thresholds and undefined values are None."""
        values = zip(*map(to_json_types, self.columns.values()), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in values]

    def to_frame(self) -> Any:
        """The rows as a data frame of the first installed of pandas, polars and pyarrow."""
        return frame_of(self.rows())

    def to_latex(self) -> str:
        """The rows as a LaTeX table with booktabs."""
        return latex_of(self.rows())

    def plot(self) -> Any:
        """The curve as an Altair chart."""
        return import_module("scorespace.report.plots").plot_curve(self)  # the core knows no charts

    def to_dict(self) -> Row:
        """The curve as a dict for JSON: its kind, titles and points."""
        return {"schema": SCHEMA, "kind": self.kind, "x": self.x_title, "y": self.y_title, "rows": self.rows()}

    def __repr__(self) -> str:
        return f"{self.kind} curve: {self.x.size} points, {self.y_title} against {self.x_title}"

    def _repr_html_(self) -> str:
        """The repr and a small SVG of the curve."""
        thin = self.line().thinned(200)
        finite = np.isfinite(thin.x) & np.isfinite(thin.y)
        x, y = thin.x[finite], thin.y[finite]
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
class CurveFrame:
    """Axes of a kind of curve: limits, aspect ratio, and the reference line of no skill.

    `shown_below_zero` truncates curves without lower limit: that multiple of the highest value is shown below zero.
    `steps`: the curve is constant between two points.
    """

    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    from_zero: bool = True
    shown_below_zero: float | None = None
    square: bool = False
    chance: Points = ()
    chance_name: str = "chance"
    steps: bool = False


Shape = TypeVar("Shape", bound=Curve, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class CurveKind(TableFunction, CurveFrame, Generic[Shape]):
    """A kind of curve, defined on one or more tables, with what charts and catalogues need.

    `x` and `y` are the titles of the axes. `area` describes the area under the curve; without it none is reported.
    `level` computes the height of the no-skill line from the table. `probability`: score values matter, not only their
    order. `also` names further tables derived from a multiclass table that have this curve. `placed` is the option that
    takes the threshold of a model. `stratified`: the curve does not depend on the prevalence.
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
    stratified: bool = False

    @property
    def frame(self) -> CurveFrame:
        """The axes only."""
        return CurveFrame(**{axis.name: getattr(self, axis.name) for axis in fields(CurveFrame)})

    def __call__(
        self, table: Any = None, *values: Any, positive: Any = None, weight: Any = None, **options: Any
    ) -> Shape:
        """Compute the curve of a table, or of the truth and scores; options by name, or in their declared order."""
        if values and table is not None and not isinstance(table, (*self.functions, Table)):
            with translate_errors(self.name):
                table = table_of_arrays(table, values[0], tuple(self.functions), positive=positive, weight=weight)
            values = values[1:]
        else:  # a table already has a positive class and weights
            stated = (("positive", positive), ("weight", weight))
            options |= {name: value for name, value in stated if value is not None}
        names = [option.name for option in self.options]
        if len(values) > len(names) or (twice := set(names[: len(values)]) & set(options)):
            what = "more values than options" if len(values) > len(names) else f"{', '.join(twice)} given twice"
            raise TypeError(f"{self.name}: {what}")
        given = dict(zip(names, values, strict=False)) | options
        check_options(self, given, CurveError)
        check_option_values(self, given)
        with translate_errors(self.name):
            return self._compute(table, given)

    def drawn(self, x: Array, y: Array, threshold: Array) -> Curve:
        """Make a curve of this kind from its points."""
        return Curve(self.name, x, y, threshold, self.x, self.y)

    def _compute(self, table: Any, given: dict[str, Any]) -> Any:
        for kind, function in self.functions.items():
            if isinstance(table, kind):
                return self.certified_curve(table, function(table, **given), **given)
        if not isinstance(table, Table):
            hint = f"ss.{self.name}(truth, score)"
            raise CurveError(f"{self.name} needs {table_name(self.table)}.", seen=f"{table!r:.60}", hint=hint)
        resolved = self.fit(table)
        return self.certified_curve(resolved.table, resolved.function(resolved.table, **given), **given)

    def certified_curve(self, table: Any, traced: Any, **options: Any) -> Any:
        """Add certified bounds to a curve of a binned table."""
        if not isinstance(table, Table) or not table.coarse:
            return traced
        bounds = certified_bounds.of(self)
        unknown = np.full(traced.x.shape, np.nan)
        low, high = (unknown, unknown) if bounds is None else bounds(table, traced, **options)
        return replace(traced, certified_low=low, certified_high=high)

    def fit(self, table: Table, of: str | None = None, model: str | None = None) -> ResolvedTable:
        """The implementation and the derived table that it is applied to, of a class if one is named.

        `model` is the name of the table in errors.
        """
        try:
            return resolve_table(self.functions, table, of, sized=self.probability)
        except NoTableError as error:
            raise self._error(error, table, of, model) from None

    def fits(self, table: Table, of: str | None = None) -> ResolvedTable | None:
        """Like `fit`, but None if the curve is not defined for the table."""
        try:
            return resolve_table(self.functions, table, of, sized=self.probability)
        except NoTableError:
            return None

    def _error(self, error: NoTableError, table: Table, of: str | None, model: str | None) -> CurveError:
        label = self.name if of is None or model is None else f"{self.name} of {model}[{of}]"
        hint = None if error.hint is None else error.hint.replace("{label}", self.name if of is None else model or "…")
        if of is None and table.class_names and self.fits(table, table.class_names[0]):
            by_class = f"name a class: {model}[{table.class_names[0]}]"
            hint = by_class if model else f"{self.name} needs {table_name(self.table)}, such as that of one class"
        return CurveError(f"{label} {error.reason.replace('{label}', self.name)}.", seen=error.seen, hint=hint)


CURVES: Registry[CurveKind[Any]] = Registry("curve", "curves", CurveError)
"""All registered kinds of curves, in the order of registration."""

curve = registering_decorator(CURVES, CurveKind)
unit_square = partial(curve, x_ends=UNIT, y_ends=UNIT, square=True)
"""Registers a curve whose axes are both proportions, from 0 to 1."""
unit_square_with_diagonal = partial(unit_square, chance=DIAGONAL)
"""The same, with the diagonal as the no-skill line."""
roc_space_curve = partial(unit_square_with_diagonal, x="False positive rate", y="True positive rate", stratified=True)


@dataclass(frozen=True)
class CurveExtension(Generic[Function]):
    """Functions that other modules register for kinds of curves: `band = CurveExtension()`, then `@band(roc)`."""

    functions: dict[str, Function] = field(default_factory=dict)

    def __call__(self, kind: CurveKind[Any]) -> Callable[[Function], Function]:
        """Register a function for that kind."""

        def register(function: Function) -> Function:
            self.functions[kind.name] = function
            return function

        return register

    def of(self, kind: CurveKind[Any]) -> Function | None:
        """The function registered for that kind, if there is one."""
        return self.functions.get(kind.name)


joint_curve: CurveExtension[Callable[[Mapping[str, Any]], Curve]] = CurveExtension()
"""The joint curve of all models, from their tables by name, if a kind has one."""

companion_curves: CurveExtension[Callable[[Any], dict[str, Curve]]] = CurveExtension()
"""Companion curves shown in the same chart, computed from the table; {model} in their names is replaced."""

certified_bounds: CurveExtension[Callable[..., tuple[Array, Array]]] = CurveExtension()
"""Certified bounds of the points (lowest y, highest y), from a binned table, the curve and its options."""


@dataclass(frozen=True)
class CurveDistance:
    """Area between two curves, and their largest vertical distance with its x."""

    area: float
    largest: float
    at: float


def distance(a: Curve, b: Curve) -> CurveDistance:
    """∫ |a(x) − b(x)| dx and max |a(x) − b(x)|, exact for piecewise linear curves.

    >>> line = np.array([0.0, 1.0])
    >>> step, ramp = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    >>> nothing = np.zeros(3)
    >>> distance(Curve("roc", step, ramp, nothing, "x", "y"), Curve("roc", line, line, nothing, "x", "y"))
    CurveDistance(area=0.5, largest=1.0, at=0.0)
    """
    if any(np.isnan(axis).any() for axis in (a.x, a.y, b.x, b.y)):
        return CurveDistance(np.nan, np.nan, np.nan)
    x = np.union1d(a.x, b.x)
    # At a vertical segment a curve has two heights: the limits from the left and from the right.
    low, high = np.subtract(_heights(a, x), _heights(b, x))
    start, end, width = high[:-1], low[1:], np.diff(x)
    sizes = np.abs(start) + np.abs(end)
    crossing = start * end < 0  # two triangles instead of one trapezoid
    squares = np.divide(start**2 + end**2, sizes, out=np.zeros_like(sizes), where=crossing)
    area = float((np.where(crossing, squares, sizes) / 2 * width).sum())
    gaps = np.maximum(np.abs(low), np.abs(high))
    place = int(gaps.argmax())
    return CurveDistance(area, float(gaps[place]), float(x[place]))


def _heights(curve: Curve, x: Array) -> tuple[Array, Array]:
    """Left and right limit of an increasing curve at each x."""
    low = np.interp(-x, -curve.x[::-1], curve.y[::-1])  # np.interp takes the last of equal x
    return low, np.interp(x, curve.x, curve.y)
