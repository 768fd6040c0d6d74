"""The operating condition: what each decision costs and how common the classes are in use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.arguments import check, checked_methods
from scorespace.declaration import written
from scorespace.errors import ConditionError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.results import ByValue

Array = NDArray[Any]
_MOST: Final = 1e100
_RAREST: Final = 1e-12
_SIDES: Final = {"under": "low", "over": "high"}


@dataclass(frozen=True)
class Condition:
    """Costs of the four outcomes and the prevalence of the population the decision is for.

    Costs may be negative (gains). Without a prevalence, that of the sample holds.

    >>> round(Condition(fp=1, fn=5, prevalence=0.3).slope(), 4)
    0.4667
    """

    fp: float = 1.0
    fn: float = 1.0
    tp: float = 0.0
    tn: float = 0.0
    prevalence: float | None = None

    def __post_init__(self) -> None:
        for name in ("fp", "fn", "tp", "tn"):
            check(name, getattr(self, name), float)
            check_cost(name, getattr(self, name))
        check("prevalence", self.prevalence, float | None)
        check_prevalence(self.prevalence)
        seen = f"fp={self.fp:g}, tn={self.tn:g}, fn={self.fn:g}, tp={self.tp:g}"
        if self.fp <= self.tn or self.fn <= self.tp:
            always = "positive" if self.fp <= self.tn and self.fn >= self.tp else "negative"
            problem = f"under these costs deciding {always} is never worse, so no model is needed."
            if self.fp < self.tn and self.fn < self.tp:
                problem = "under these costs every error is better than the right decision."
            raise ConditionError(
                problem,
                seen=seen,
                hint="each error must cost more than the right decision on the same case: fp > tn and fn > tp",
            )
        _check_proportion("error", (self.fp - self.tn) / (self.fn - self.tp), seen)

    @classmethod
    def of_slope(cls, slope: float, prevalence: float) -> Condition:
        """The condition whose lines of equal cost have that slope in ROC space, a false negative costing 1.

        >>> Condition.of_slope(2, prevalence=0.5)
        Condition(fp=2.0, fn=1.0, tp=0.0, tn=0.0, prevalence=None)
        """
        if not 0 < slope < math.inf:
            raise ConditionError(f"slope={slope:g} is no slope of equal cost.", hint="a number above 0, such as 2")
        check_prevalence(prevalence)
        return cls(fp=slope * prevalence / (1 - prevalence), fn=1.0)

    def stated(self, classes: tuple[str, ...] = ()) -> dict[str, Any]:
        """What differs from nothing, as options of a measure, the costs of both errors always.

        >>> Condition(fp=1, fn=5).stated()
        {'fp': 1, 'fn': 5}
        """
        unset = {"tp": 0.0, "tn": 0.0, "prevalence": None}
        every = {name: getattr(self, name) for name in ("fp", "fn", *unset)}
        return {name: value for name, value in every.items() if name not in unset or value != unset[name]}

    def swapped(self) -> Condition:
        """The same condition with the other class as positive."""
        share = None if self.prevalence is None else 1 - self.prevalence
        return Condition(fp=self.fn, fn=self.fp, tp=self.tn, tn=self.tp, prevalence=share)

    def share(self, of_sample: float) -> float:
        """The prevalence in use: the stated one, or that of the sample."""
        return of_sample if self.prevalence is None else self.prevalence

    def slope(self, of_sample: float = math.nan) -> float:
        """Slope of the lines of equal cost in ROC space: (fp − tn)·(1 − π) / ((fn − tp)·π)."""
        share = self.share(of_sample)
        if math.isnan(share):
            raise ConditionError("the slope needs a prevalence.", hint="Condition(fp=1, fn=5, prevalence=0.3)")
        return (self.fp - self.tn) * (1 - share) / ((self.fn - self.tp) * share) if share else math.inf

    def cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Expected cost per case at points of ROC space: π·(fn·FNR + tp·TPR) + (1 − π)·(fp·FPR + tn·TNR).

        >>> round(float(Condition(fp=100, fn=2000, prevalence=0.005).cost(500 / 99500, 0.6)), 9)
        4.5
        """
        fpr, tpr, share = np.asarray(fpr), np.asarray(tpr), self.share(of_sample)
        on_positives = self.fn * (1 - tpr) + self.tp * tpr
        on_negatives = self.fp * fpr + self.tn * (1 - fpr)
        return np.asarray(share * on_positives + (1 - share) * on_negatives)

    def relative_cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Cost of the errors in units of missing every positive: FNR + slope · FPR."""
        return np.asarray(1 - np.asarray(tpr) + self.slope(of_sample) * np.asarray(fpr))

    def normalised_cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Cost of the errors in units of making every error: x·FNR + (1 − x)·FPR, with x = 1 / (1 + slope)."""
        return self.relative_cost(fpr, tpr, of_sample) / (1 + self.slope(of_sample))

    @property
    def calibrated_threshold(self) -> float:
        """Least-cost threshold for calibrated probabilities of the sample: (fp − tn) / (fp − tn + fn − tp)."""
        return (self.fp - self.tn) / (self.fp - self.tn + self.fn - self.tp)

    def threshold_for(self, of_sample: float) -> float:
        """Least-cost threshold for probabilities calibrated on the sample, used at another prevalence."""
        if self.prevalence is None or not 0 < of_sample < 1:
            return self.calibrated_threshold
        odds = self.slope() * of_sample / (1 - of_sample)
        return odds / (1 + odds)


@dataclass(frozen=True)
class Asymmetry:
    """What a unit costs by which a number is predicted too low, and one by which it is too high.

    `alpha` is the share of the loss that under-prediction has: 2/3 where it costs twice as much.

    >>> round(Asymmetry(under=2, over=1).alpha, 4)
    0.6667
    """

    under: float = 1.0
    over: float = 1.0

    def __post_init__(self) -> None:
        for name in ("under", "over"):
            cost = getattr(self, name)
            check(name, cost, float)
            if not 0 < cost < _MOST:
                hint = f"a number above 0, such as {name}=1"
                raise ConditionError(f"{name}={cost:g} is not a cost of predicting too {_SIDES[name]}.", hint=hint)
        _check_proportion("side", self.under / self.over, f"under={self.under:g}, over={self.over:g}")

    @property
    def alpha(self) -> float:
        return self.under / (self.under + self.over)


@checked_methods
@dataclass(frozen=True, eq=False)
class CostMatrix(ByValue):
    """What it costs to decide each class for each actual class: rows actual, columns decided.

    >>> costs = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    >>> costs.total([[6, 2], [1, 3]])
    11.0
    >>> costs.decide([[0.3, 0.7], [0.1, 0.9]]).tolist()
    [0, 1]
    """

    classes: tuple[str, ...]
    matrix: Array

    def __post_init__(self) -> None:
        check("classes", self.classes, Sequence)
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        try:
            object.__setattr__(self, "matrix", np.asarray(self.matrix, dtype=np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            raise ConditionError(
                "a cost matrix holds something that is no number.", seen=str(error), hint="a number in every cell"
            ) from None
        size = len(self.classes)
        if self.matrix.shape != (size, size):
            raise ConditionError(
                "a cost matrix needs one row and one column for each class.",
                seen=f"shape {self.matrix.shape} for the classes {listing(self.classes)}",
                hint="as many rows and columns as classes",
            )
        if len(set(self.classes)) != size:
            raise ConditionError(
                "a cost matrix names a class twice.", seen=listing(self.classes), hint="each class once"
            )
        if not np.isfinite(self.matrix).all():
            raise ConditionError(
                "a cost matrix holds something that is not a finite number.", hint="finite numbers; a gain is negative"
            )
        check_cost("a cell", float(np.abs(self.matrix).max(initial=0.0)))
        always = np.flatnonzero((self.matrix == self.matrix.min(axis=1, keepdims=True)).all(axis=0))
        if always.size:
            raise ConditionError(
                f"under these costs deciding {self.classes[always[0]]!r} is never worse, so no model is needed.",
                hint="rows are actual classes, columns decisions; is the matrix transposed?",
            )

    @classmethod
    def of(cls, classes: Sequence[str], matrix: ArrayLike, rows: str = "actual") -> CostMatrix:
        """The costs of a matrix whose rows are the actual classes, or the predicted ones.

        >>> CostMatrix.of(("a", "b"), [[0, 1], [5, 0]], rows="predicted").matrix.tolist()
        [[0.0, 5.0], [1.0, 0.0]]
        """
        return cls(tuple(classes), actual_rows(matrix, rows))

    def aligned(self, classes: tuple[str, ...]) -> CostMatrix:
        """The same costs with the classes in another order; refused when the classes differ."""
        for name in (*classes, *self.classes):
            if name not in self.classes or name not in classes:
                others = classes if name in self.classes else self.classes
                raise ConditionError(
                    f"the cost matrix and the data disagree on the class {name!r}.",
                    seen=f"costs for {listing(self.classes)}; data with {listing(classes)}",
                    hint=did_you_mean(name, others, "the same classes in both", quoted=True),
                )
        order = [self.classes.index(name) for name in classes]
        return CostMatrix(classes, self.matrix[np.ix_(order, order)])

    def stated(self, classes: tuple[str, ...] = ()) -> dict[str, Any]:
        """The costs as an option of a measure of decisions between these classes.

        >>> CostMatrix(("a", "b"), [[0, 5], [1, 0]]).stated(("b", "a"))
        {'matrix': '0 1; 5 0'}
        """
        rows = self.aligned(classes).matrix if classes else self.matrix
        return {"matrix": "; ".join(" ".join(written(float(cost)) for cost in row) for row in rows)}

    def total(self, counts: ArrayLike) -> Any:
        """Cost of all decisions of a confusion matrix, rows actual: Σ costs ∘ counts."""
        found = (np.asarray(counts, dtype=np.float64) * self.matrix).sum(axis=(-2, -1))
        return float(found) if found.ndim == 0 else found

    def expected(self, probability: ArrayLike) -> Array:
        """Expected cost of each decision for cases (rows) with these class probabilities (columns)."""
        return np.asarray(probability, dtype=np.float64) @ self.matrix

    def decide(self, probability: ArrayLike) -> Array:
        """The decision of least expected cost for each case, as an index into the classes."""
        return np.asarray(self.expected(probability).argmin(axis=-1))

    def condition(self, positive: str, prevalence: float | None = None) -> Condition:
        """The costs of two classes as the condition of a two-class decision."""
        if len(self.classes) != 2 or positive not in self.classes:
            raise ConditionError(
                "only costs of two classes, one of them positive, make a two-class condition.",
                hint="costs of the two classes, and which is positive",
            )
        order = [1 - self.classes.index(positive), self.classes.index(positive)]
        (tn, fp), (fn, tp) = self.matrix[np.ix_(order, order)].tolist()
        return Condition(fp, fn, tp, tn, prevalence)


def actual_rows(matrix: Any, rows: str) -> Any:
    """A matrix with a row for each actual class; `rows` says what its rows are."""
    if rows not in ("actual", "predicted"):
        raise ConditionError(f"rows={rows!r} is no side of a matrix.", hint='rows="actual", or rows="predicted"')
    if rows == "actual":
        return matrix
    with suppress(TypeError, ValueError):  # what is no matrix is refused by whoever takes it
        return np.asarray(matrix, dtype=np.float64).T
    return matrix


def read_costs(text: str, size: int) -> Array:
    """A square matrix of costs from its rows: numbers with blanks between, rows with semicolons.

    >>> read_costs("0 5; 1 0", 2).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    try:
        rows = [[float(cost) for cost in row.split()] for row in text.strip("\"'").split(";")]
    except ValueError as error:
        raise ConditionError(
            f"the costs {text!r} hold something that is no number.", seen=str(error), hint="a number in every cell"
        ) from None
    if len(rows) != size or any(len(row) != size for row in rows):
        seen = f"{len(rows)} rows of {' or '.join(map(str, sorted({len(row) for row in rows})))} costs"
        raise ConditionError(
            f"the costs {text!r} are not of {size} classes.",
            seen=seen,
            hint=f"{size} rows of {size} numbers, rows actual: 0 1; 5 0 are those of two classes",
        )
    for cost in chain(*rows):
        check_cost("a cell", cost)
    return np.array(rows)


def condition_of(
    stated: Mapping[str, float | None], matrix: Callable[[], CostMatrix] | None = None
) -> Condition | CostMatrix | Asymmetry | None:
    """The condition that costs and a prevalence state, by the names of their flags, or None where they state none.

    `matrix` reads the costs of a file, which stand alone.

    >>> condition_of({"cost-fp": 1, "cost-fn": 5, "prevalence": None})
    Condition(fp=1, fn=5, tp=0.0, tn=0.0, prevalence=None)
    """
    given = {name: value for name, value in stated.items() if value is not None}
    sides = [given.pop(name, None) for name in ("cost-under", "cost-over")]
    found: Condition | CostMatrix | None = None
    if matrix is not None:
        if given:
            raise ConditionError("costs are stated twice.", hint="either --costs FILE.csv or --cost-fp and --cost-fn")
        found = matrix()
    elif given:
        if not {"cost-fp", "cost-fn"} <= set(given):
            costs = ", ".join(f"--{name} {value:g}" for name, value in given.items() if name != "prevalence")
            seen = costs or f"--prevalence {given['prevalence']:g}"
            raise ConditionError("the costs of both errors are needed.", seen=seen, hint="--cost-fp 1 --cost-fn 5")
        found = Condition(**{name.removeprefix("cost-"): value for name, value in given.items()})
    under, over = sides
    if under is None and over is None:
        return found
    if under is None or over is None or found is not None:
        two = "the costs of both sides are needed." if found is None else "these are costs of two kinds of models."
        raise ConditionError(two, hint="--cost-under 2 --cost-over 1")
    return Asymmetry(under, over)


def check_cost(name: str, cost: float) -> None:
    """Refuse a cost that is no number, or whose square is none: spreads could not be told."""
    if not math.isfinite(cost):
        raise ConditionError(f"{name}={cost} is not a cost.", hint=f"a finite number, such as {name}=1")
    if abs(cost) > _MOST:
        raise ConditionError(f"{name}={cost:g} is more than can be reckoned with.", hint="a larger unit")


def _check_proportion(what: str, proportion: float, seen: str) -> None:
    if not 1 / _MOST < proportion < _MOST:
        problem = f"one {what} costs beyond measure more than the other."
        raise ConditionError(problem, seen=seen, hint="costs that differ by less than a googol")


def check_prevalence(prevalence: float | None) -> None:
    """Refuse a prevalence that is no share of positives."""
    if prevalence is not None and not _RAREST <= prevalence <= 1 - _RAREST:
        raise ConditionError(
            f"prevalence={prevalence:g} is not a share of positives.",
            hint="a number between 0 and 1, such as prevalence=0.3",
        )
