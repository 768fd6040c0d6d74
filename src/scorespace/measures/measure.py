"""The registry of measures; each measure is one decorated function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np

from scorespace.argument_checks import check_option_values, translate_errors
from scorespace.errors import MeasureError
from scorespace.options import check_options
from scorespace.registry import Registry, TableFunction, registering_decorator
from scorespace.tables import Array, At, NoTableError, Table
from scorespace.tables.array_tables import table_of_arrays
from scorespace.tables.table import ResolvedTable, resolve_table

Best = Literal["high", "low"]
ARROWS: Final[Mapping[Best | None, str]] = {"high": "↑", "low": "↓", None: " "}
Formula = Callable[..., Array]
Bounds = tuple[float, float]
INF: Final = float("inf")
NO_CASES: Final = "there are no cases"
NO_POSITIVES: Final = "there are no positive cases"
ONE_CLASS: Final = "only one class is present"
NOT_SIMULATED: Final = "the coverage of its interval has not been simulated"
"""`coverage_note` of measures that docs/coverage.md does not list."""
BoundsFunction = Callable[..., Any]
"""Function of the formula, a binned table and the options; its lowest and highest values are certified bounds."""


@dataclass(frozen=True, eq=False, repr=False)
class Measure(TableFunction):
    """A formula on one or more tables, with what is needed to interpret its value.

    `trials` names the denominator of a proportion, which gets a Wilson interval; `share` maps a value to such a
    proportion and back. `stratified`: the value does not depend on the prevalence (perhaps with some options only),
    so the bootstrap resamples within classes. `area` is (a, b) for a · AUC + b, or gives them for a table. `loss`:
    a mean of one loss per error; `absolute_error`: the mean or median absolute error. `probability`: scores must be
    in [0, 1]. `biased` describes the bias in small samples, `coverage_note` where the interval covers in other than
    92 to 98 % of samples (docs/coverage.md). `conditioned`: options default to the stated costs. `threshold_option`
    names an option that defaults to the threshold of the request. `companion` names the measure shown beside it,
    `multiclass_default` the class scores used if no class is named. `bounds` gives certified bounds on binned
    scores; `monotone`: monotone in TP and in FP alone. `ranges` and `intervals` hold the range and the interval
    method for further tables if they differ; `range_with` and `best_with` compute the range and the better
    direction from the options if they depend on them, and `table_with` the table that the options need. `count`: a
    number of cases. `infinite` and `undefined` are the reasons given for such values. Without `best`, neither
    direction is better. `shorthands` maps names of the measure with options, a class or an operating point to their
    full spelling. `each` and `pairs` hold fast implementations of all one-vs-rest values (…, K) or one-vs-one
    values (…, K, K), by table.
    """

    function: Formula
    _: KW_ONLY
    title: str
    range: tuple[float, float]
    best: Best | None
    undefined: str
    aliases: tuple[str, ...] = ()
    infinite: str | None = None
    trials: str | None = None
    share: tuple[Callable[[float], float], Callable[[float], float]] | None = None
    stratified: bool | Callable[..., bool] = False
    area: tuple[float, float] | Callable[[Any], tuple[float, float]] | None = None
    loss: bool = False
    absolute_error: bool = False
    interval: str = ""
    probability: bool = False
    biased: str | None = None
    coverage_note: str | None = None
    companion: str | None = None
    multiclass_default: str | None = None
    bounds: BoundsFunction | None = None
    monotone: bool = True
    conditioned: bool = False
    threshold_option: str | None = None
    shorthands: Mapping[str, str] = field(default_factory=dict)
    range_with: Callable[..., Bounds] | None = None
    best_with: Callable[..., Best | None] | None = None
    table_with: Callable[..., type | None] | None = None
    count: bool = False
    name: str = field(init=False)
    ranges: dict[type, tuple[float, float]] = field(init=False, default_factory=dict)
    intervals: dict[type, str] = field(init=False, default_factory=dict)
    each: dict[type, Formula] = field(init=False, default_factory=dict)
    pairs: dict[type, Formula] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        default = "jeffreys" if self.table.counts_outcomes else "bootstrap"
        vars(self)["interval"] = self.interval or ("wilson" if self.trials else default)

    def __call__(
        self, table: Any = None, given: Any = None, *, positive: Any = None, weight: Any = None, **options: Any
    ) -> Any:
        """Compute the measure from a table, or from the truth and scores, decisions or numeric predictions.

        Returns a float, or an array if the table has further axes.
        """
        if given is not None:
            with translate_errors(self.name):
                table = table_of_arrays(table, given, tuple(self.functions), positive=positive, weight=weight)
        else:  # a table already has a positive class and weights
            stated = (("positive", positive), ("weight", weight))
            options |= {name: value for name, value in stated if value is not None}
        check_options(self, options, MeasureError)
        check_option_values(self, options)
        if not isinstance(table, Table):
            hint = f"ss.{self.name}(truth, score) takes arrays"
            raise MeasureError(f"{self.name} is computed from a table.", seen=type(table).__name__, hint=hint)
        with translate_errors(self.name):
            resolved = self.fit(table, options=options)
            value = np.asarray(resolved.function(resolved.table, **options), dtype=np.float64)
        return float(value) if value.ndim == 0 else value

    def fit(
        self,
        table: Table,
        of: str | None = None,
        at: At | None = None,
        label: object = None,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> ResolvedTable:
        """The implementation and the derived table that it is applied to; `label` is the request as named in errors.

        `options` are those of the measure, which may have the names of these parameters.
        """
        kind = None if self.table_with is None else self.table_with(**(options or {}))
        functions = self.functions if kind is None else {kind: self.functions[kind]}
        try:
            self.refuse_scores(table)
            if of is None and table.scores_classes:
                of = self.multiclass_default
                if of is None and self.area is not None and len(table.class_names) == 2:
                    of = table.class_names[-1]  # the AUC is the same for both of two classes
            return resolve_table(functions, table, of, at, sized=self.probability)
        except NoTableError as error:
            raise self.refused(error, str(label or self.name)) from None

    def in_auc(self, table: Any) -> tuple[float, float]:
        """The factor and the summand that give the measure from the AUC of a table."""
        if self.area is None:
            return 1.0, 0.0
        return self.area if isinstance(self.area, tuple) else self.area(table)

    def refused(self, error: NoTableError, label: str) -> MeasureError:
        """The error that explains why the measure cannot be computed from a table."""
        name = label.partition("[")[0].partition("@")[0]
        hint = None if error.hint is None else error.hint.replace("{label}", name)
        return MeasureError(f"{label} {error.reason.replace('{label}', name)}.", seen=error.seen, hint=hint)

    def refuse_scores(self, table: Table) -> None:
        """Refuse scores outside [0, 1] if the measure needs probabilities."""
        if self.probability and not table.probabilities:
            raise MeasureError(
                f"{self.name} needs probabilities.",
                seen=table.scores_seen(),
                hint="scorespace calibrate maps scores to probabilities",
            )

    def drawn_within(self, **options: Any) -> bool:
        """Whether the bootstrap resamples within classes, given these options."""
        return self.stratified(**options) if callable(self.stratified) else self.stratified

    def better(self, **options: Any) -> Best | None:
        """Which direction is better, given these options."""
        return self.best if self.best_with is None else self.best_with(**options)

    @property
    def arrow(self) -> str:
        """↑ if higher is better, ↓ if lower is, else a blank."""
        return ARROWS[self.best]

    @property
    def topic(self) -> str:
        """Topic of its module: the first line of the module docstring, up to a colon."""
        about = sys.modules[self.function.__module__].__doc__ or "Others"
        return about.strip().splitlines()[0].partition(":")[0].rstrip(".")

    def reason(self, value: float) -> str | None:
        """Why a value is undefined or infinite, or None for an ordinary number."""
        if np.isnan(value):
            return f"undefined: {self.undefined}"
        if np.isinf(value):
            return f"infinite: {self.infinite or 'the denominator is zero'}"
        return None


MEASURES: Registry[Measure] = Registry("measure", "measures", MeasureError)
"""All registered measures, in the order of registration."""

measure = registering_decorator(MEASURES, Measure)


def bounds_by_order(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure that is monotone in the ranks of positives: its values in the worst and the best order."""
    return [formula(table.ordered(best), **options) for best in (False, True)]


def bounds_by_hull(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure of the convex hull: its values for the bins, and for the best order inside them."""
    return [formula(table, **options), formula(table.ordered(best=True), **options)]


def bounds_by_score(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure that is monotone in every score: its values at both ends of the bins."""
    return [formula(replace(table, score=end), **options) for end in (table.binned.low, table.binned.high)]


def exact_from_totals(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure of class totals only, which is exact."""
    return [formula(table, **options)]
