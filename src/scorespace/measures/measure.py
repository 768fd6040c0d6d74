"""The declaration of a measure: one decorated function from which everything else follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, field, replace
from typing import Any, Final, Literal

import numpy as np

from scorespace.arguments import check_values, foreseen
from scorespace.declaration import OnTables, Registry, check_options, declaring
from scorespace.errors import MeasureError
from scorespace.frozen import dataclass
from scorespace.tables import Array, At, NoTableError, Table
from scorespace.tables.arrays import table_of_arrays
from scorespace.tables.table import Way, way

Best = Literal["high", "low"]
Formula = Callable[..., Array]
Bounds = tuple[float, float]
INF: Final = float("inf")
NO_CASES: Final = "there are no cases"
NO_POSITIVES: Final = "there are no positive cases"
ONE_CLASS: Final = "only one class is present"
NOT_SIMULATED: Final = "how often it holds the true value has not been simulated"
"""What `covers` says of a measure that is in no table of docs/coverage.md."""
Certain = Callable[..., Any]
"""From the formula, a coarse table and the options to values among which the lowest and the highest are bounds."""


@dataclass(frozen=True, eq=False, repr=False)
class Measure(OnTables):
    """A formula on one table, with all that a reader needs to interpret its value.

    `trials` names the count that a proportion is a share of; such measures get a Wilson interval. `share` turns a
    value into such a share and back, where it is not one itself.
    `within_classes`: its value stays when one class is multiplied, perhaps only with some options; cases are then
    drawn within classes. `area` is (a, b) for a measure that is a · AUC + b. `loss`, of sums of errors: it is the mean
    of what each error alone costs; `sizes`: it is the middle of the sizes of errors, their mean or their median.
    `probability`: the scores must lie in [0, 1], because their size counts and not their order alone. `biased` says
    which way small samples mislead, `covers` where its interval is known to hold the truth in other than 92 to 98 % of
    samples (docs/coverage.md); `conditioned`: options that are not stated are those of the stated operating condition.
    `beside` names the measure that it is misread without; `of_several` says which scores of
    several classes it is about, where none is named.
    `ranges` and `intervals` hold the range and the interval on a further table where they are others; `range_with`
    tells the range from the options, where these narrow it. `infinite`
    and `undefined` are the reasons given for such values. `certain` bounds it on coarse scores; `monotone`, of
    outcomes, it moves one way when TP alone changes, and when FP alone does. Without `best`, neither direction is
    better. `spelled` are names that it has with options, a class or an operating point, and how each is written.
    `each` and `pairs` hold quick ways to that of all classes (…, K), each against the rest, or of all pairs of them
    (…, K, K), by table.
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
    within_classes: bool | Callable[..., bool] = False
    area: tuple[float, float] | None = None
    loss: bool = False
    sizes: bool = False
    interval: str = ""
    probability: bool = False
    biased: str | None = None
    covers: str | None = None
    beside: str | None = None
    of_several: str | None = None
    certain: Certain | None = None
    monotone: bool = True
    conditioned: bool = False
    spelled: Mapping[str, str] = field(default_factory=dict)
    range_with: Callable[..., Bounds] | None = None
    name: str = field(init=False)
    ranges: dict[type, tuple[float, float]] = field(init=False, default_factory=dict)
    intervals: dict[type, str] = field(init=False, default_factory=dict)
    each: dict[type, Formula] = field(init=False, default_factory=dict)
    pairs: dict[type, Formula] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        usual = "jeffreys" if self.table.counts_outcomes else "bootstrap"  # outcomes are drawn as they may be
        vars(self)["interval"] = self.interval or ("wilson" if self.trials else usual)

    def __call__(
        self, table: Any = None, given: Any = None, *, positive: Any = None, weight: Any = None, **options: Any
    ) -> Any:
        """The value for a table, or for the truth and what was given as scores, decisions or numbers.

        A float, or an array when the table has further axes.
        """
        if given is not None:
            with foreseen(self.name):
                table = table_of_arrays(table, given, tuple(self.functions), positive=positive, weight=weight)
        else:  # which a table knows itself
            options |= {name: said for name, said in (("positive", positive), ("weight", weight)) if said is not None}
        check_options(self, options, MeasureError)
        check_values(self, options)
        if not isinstance(table, Table):
            hint = f"ss.{self.name}(truth, score) takes arrays"
            raise MeasureError(f"{self.name} is computed from a table.", seen=type(table).__name__, hint=hint)
        with foreseen(self.name):
            found = self.fit(table)
            value = np.asarray(found.function(found.table, **options), dtype=np.float64)
        return float(value) if value.ndim == 0 else value

    def fit(self, table: Table, of: str | None = None, at: At | None = None, label: object = None) -> Way:
        """The formula and the table inside the given one that it takes; `label` is what an error calls the request."""
        try:
            self.refuse_scores(table)
            if of is None and table.scores_classes:
                of = self.of_several
                if of is None and self.area is not None and len(table.class_names) == 2:
                    of = table.class_names[-1]  # the area of either class against the other is the same
            return way(self.functions, table, of, at, sized=self.probability)
        except NoTableError as error:
            raise self.refused(error, str(label or self.name)) from None

    def refused(self, error: NoTableError, asked: str) -> MeasureError:
        """The error that says why there is no such table."""
        bare = asked.partition("[")[0].partition("@")[0]
        hint = None if error.hint is None else error.hint.replace("{label}", bare)
        return MeasureError(f"{asked} {error.reason.replace('{label}', bare)}.", seen=error.seen, hint=hint)

    def refuse_scores(self, table: Table) -> None:
        """Refuse scores that are no probabilities where such are needed."""
        if self.probability and not table.probabilities:
            raise MeasureError(
                f"{self.name} needs probabilities.",
                seen=table.scores_seen(),
                hint="scorespace calibrate maps scores to probabilities; they are never squashed silently",
            )

    def drawn_within(self, **options: Any) -> bool:
        """Whether cases are drawn within classes, with these options."""
        return self.within_classes(**options) if callable(self.within_classes) else self.within_classes

    @property
    def arrow(self) -> str:
        """↑ when higher is better, ↓ when lower is, a blank otherwise."""
        return {"high": "↑", "low": "↓", None: " "}[self.best]

    @property
    def topic(self) -> str:
        """What its file is about: the first sentence of it, up to a colon."""
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
"""Every declared measure, in the order of declaration."""

measure = declaring(MEASURES, Measure)


def by_order(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure that rises, or falls, when positives move up: its values in the worst and the best order."""
    return [formula(table.ordered(best), **options) for best in (False, True)]


def by_hull(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure of the convex hull: inside it is that of the bins' edges, outside that of the best order."""
    return [formula(table, **options), formula(table.ordered(best=True), **options)]


def by_size(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure that rises, or falls, with every score: its values at the lowest and the highest ones."""
    return [formula(replace(table, score=end), **options) for end in (table.binned.low, table.binned.high)]


def by_totals(formula: Formula, table: Any, **options: Any) -> list[Array]:
    """Bounds of a measure that depends on how many cases each class has, and on no score: it is exact."""
    return [formula(table, **options)]
