"""Operating conditions: the cost of each decision, and the prevalence in use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.argument_checks import check_method_arguments, check_type
from scorespace.errors import ConditionError, did_you_mean, listing
from scorespace.options import format_value
from scorespace.results import ByValue

Array = NDArray[Any]
_MAX_COST: Final = 1e100
_MIN_PREVALENCE: Final = 1e-12


@dataclass(frozen=True)
class Condition:
    """Costs of the four outcomes, and the prevalence of the population in which the decision is used.

    Without a prevalence, that of the sample is used.

    Parameters
    ----------
    fp, fn, tp, tn : float
        Costs of a false positive, false negative, true positive and true negative; gains are negative.
    prevalence : float, optional
        Share of positives where the model will be used; that of the sample by default.

    Examples
    --------
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
            check_type(name, getattr(self, name), float)
            check_cost(name, getattr(self, name))
        check_type("prevalence", self.prevalence, float | None)
        check_prevalence(self.prevalence)
        seen = f"fp={self.fp:g}, tn={self.tn:g}, fn={self.fn:g}, tp={self.tp:g}"
        if self.fp <= self.tn or self.fn <= self.tp:
            always = "positive" if self.fp <= self.tn and self.fn >= self.tp else "negative"
            problem = f"with these costs, always deciding {always} is optimal, so no model is needed."
            if self.fp < self.tn and self.fn < self.tp:
                problem = "with these costs, every error is cheaper than the correct decision."
            raise ConditionError(
                problem,
                seen=seen,
                hint="an error must cost more than the correct decision on the same case: fp > tn and fn > tp",
            )
        _check_proportion("error", (self.fp - self.tn) / (self.fn - self.tp), seen)

    @classmethod
    def of_slope(cls, slope: float, prevalence: float) -> Condition:
        """The condition whose iso-cost lines have this slope in ROC space, with a false negative costing 1.

        Parameters
        ----------
        slope : float
            Slope of the iso-cost lines, above 0.
        prevalence : float
            Prevalence of the sample.

        Returns
        -------
        Condition
            A condition without a prevalence.

        Examples
        --------
        >>> Condition.of_slope(2, prevalence=0.5)
        Condition(fp=2.0, fn=1.0, tp=0.0, tn=0.0, prevalence=None)
        """
        if not 0 < slope < math.inf:
            raise ConditionError(
                f"slope={slope:g} is not a slope of iso-cost lines.", hint="a number above 0, such as 2"
            )
        check_prevalence(prevalence)
        return cls(fp=slope * prevalence / (1 - prevalence), fn=1.0)

    def stated(self, classes: tuple[str, ...] = ()) -> dict[str, Any]:
        """Costs as options of a measure: those of both errors, and whatever differs from its default.

        Parameters
        ----------
        classes : tuple of str
            Not used; a cost matrix needs it.

        Returns
        -------
        dict
            Costs by name.

        Examples
        --------
        >>> Condition(fp=1, fn=5).stated()
        {'fp': 1, 'fn': 5}
        """
        defaults = {"tp": 0.0, "tn": 0.0, "prevalence": None}
        values = {name: getattr(self, name) for name in ("fp", "fn", *defaults)}
        return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}

    def swapped(self) -> Condition:
        """The condition with the other class as positive."""
        share = None if self.prevalence is None else 1 - self.prevalence
        return Condition(fp=self.fn, fn=self.fp, tp=self.tn, tn=self.tp, prevalence=share)

    def share(self, of_sample: float) -> float:
        """The prevalence to use: the stated one, else that of the sample.

        Parameters
        ----------
        of_sample : float
            Prevalence of the sample, which is used if the condition states none.

        Returns
        -------
        float
            The prevalence.
        """
        return of_sample if self.prevalence is None else self.prevalence

    def slope(self, of_sample: float = math.nan) -> float:
        """Slope of the iso-cost lines in ROC space: (fp − tn)·(1 − π) / ((fn − tp)·π).

        Parameters
        ----------
        of_sample : float, optional
            Prevalence of the sample, which is used if the condition states none.

        Returns
        -------
        float
            The slope; infinite if there are no positives.

        References
        ----------
        Provost, F., & Fawcett, T. (2001). Robust classification for imprecise environments. Machine Learning, 42,
        203-231.
        """
        share = self.share(of_sample)
        if math.isnan(share):
            raise ConditionError("the slope depends on the prevalence.", hint="Condition(fp=1, fn=5, prevalence=0.3)")
        return (self.fp - self.tn) * (1 - share) / ((self.fn - self.tp) * share) if share else math.inf

    def cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Expected cost per case at points of ROC space: π·(fn·FNR + tp·TPR) + (1 − π)·(fp·FPR + tn·TNR).

        Parameters
        ----------
        fpr, tpr : array_like
            False and true positive rates.
        of_sample : float, optional
            Prevalence of the sample, which is used if the condition states none.

        Returns
        -------
        ndarray
            Cost per case.

        Examples
        --------
        >>> round(float(Condition(fp=100, fn=2000, prevalence=0.005).cost(500 / 99500, 0.6)), 9)
        4.5
        """
        fpr, tpr, share = np.asarray(fpr), np.asarray(tpr), self.share(of_sample)
        on_positives = self.fn * (1 - tpr) + self.tp * tpr
        on_negatives = self.fp * fpr + self.tn * (1 - fpr)
        return np.asarray(share * on_positives + (1 - share) * on_negatives)

    def relative_cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Cost of the errors relative to missing every positive: FNR + slope · FPR.

        Parameters
        ----------
        fpr, tpr : array_like
            False and true positive rates.
        of_sample : float, optional
            Prevalence of the sample, which is used if the condition states none.

        Returns
        -------
        ndarray
            Relative cost.
        """
        return np.asarray(1 - np.asarray(tpr) + self.slope(of_sample) * np.asarray(fpr))

    def normalised_cost(self, fpr: ArrayLike, tpr: ArrayLike, of_sample: float = math.nan) -> Array:
        """Normalised expected cost: x·FNR + (1 − x)·FPR, with x = 1 / (1 + slope).

        Parameters
        ----------
        fpr, tpr : array_like
            False and true positive rates.
        of_sample : float, optional
            Prevalence of the sample, which is used if the condition states none.

        Returns
        -------
        ndarray
            Normalised cost, 0 for a perfect model.

        References
        ----------
        Drummond, C., & Holte, R. C. (2006). Cost curves: an improved method for visualizing classifier performance.
        Machine Learning, 65, 95-130.
        """
        return self.relative_cost(fpr, tpr, of_sample) / (1 + self.slope(of_sample))

    @property
    def calibrated_threshold(self) -> float:
        """Optimal threshold for calibrated probabilities: (fp − tn) / (fp − tn + fn − tp) (Elkan 2001)."""
        return (self.fp - self.tn) / (self.fp - self.tn + self.fn - self.tp)

    def threshold_for(self, of_sample: float) -> float:
        """Optimal threshold for probabilities calibrated on the sample, when the prevalence differs.

        Parameters
        ----------
        of_sample : float
            Prevalence of the sample on which the probabilities are calibrated.

        Returns
        -------
        float
            The threshold.

        References
        ----------
        Elkan, C. (2001). The foundations of cost-sensitive learning. In Proceedings of the 17th International Joint
        Conference on Artificial Intelligence, 973-978.
        """
        if self.prevalence is None or not 0 < of_sample < 1:
            return self.calibrated_threshold
        odds = self.slope() * of_sample / (1 - of_sample)
        return odds / (1 + odds)


@dataclass(frozen=True)
class Asymmetry:
    """Costs per unit of under-prediction and of over-prediction, for regression.

    Parameters
    ----------
    under : float
        Cost per unit of under-prediction.
    over : float
        Cost per unit of over-prediction.

    Examples
    --------
    >>> round(Asymmetry(under=2, over=1).alpha, 4)
    0.6667
    """

    under: float = 1.0
    over: float = 1.0

    def __post_init__(self) -> None:
        for name in ("under", "over"):
            cost = getattr(self, name)
            check_type(name, cost, float)
            if not 0 < cost < _MAX_COST:
                hint = f"a number above 0, such as {name}=1"
                raise ConditionError(f"{name}={cost:g} is not a cost of {name}-prediction.", hint=hint)
        _check_proportion("side", self.under / self.over, f"under={self.under:g}, over={self.over:g}")

    @property
    def alpha(self) -> float:
        """The quantile of lowest expected cost: under / (under + over), 2/3 if under-prediction costs twice as much."""
        return self.under / (self.under + self.over)


@check_method_arguments
@dataclass(frozen=True, eq=False)
class CostMatrix(ByValue):
    """Costs of deciding each class for each actual class: rows actual, columns decided.

    Parameters
    ----------
    classes : tuple of str
        Names of the classes.
    matrix : array_like of shape (n_classes, n_classes)
        Costs; gains are negative.

    Examples
    --------
    >>> costs = CostMatrix(("a", "b"), [[0, 5], [1, 0]])
    >>> costs.total([[6, 2], [1, 3]])
    11.0
    >>> costs.decide([[0.3, 0.7], [0.1, 0.9]]).tolist()
    [0, 1]
    """

    classes: tuple[str, ...]
    matrix: Array

    def __post_init__(self) -> None:
        check_type("classes", self.classes, Sequence)
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        try:
            object.__setattr__(self, "matrix", np.asarray(self.matrix, dtype=np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            raise ConditionError(
                "a cost matrix must hold numbers.", seen=str(error), hint="a number in every cell"
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
            raise ConditionError("a cost matrix must hold finite numbers.", hint="finite numbers; a gain is negative")
        check_cost("a cell", float(np.abs(self.matrix).max(initial=0.0)))
        always = np.flatnonzero((self.matrix == self.matrix.min(axis=1, keepdims=True)).all(axis=0))
        if always.size:
            raise ConditionError(
                f"with these costs, always deciding {self.classes[always[0]]!r} is optimal, so no model is needed.",
                hint="rows are actual classes, columns decisions; is the matrix transposed?",
            )

    @classmethod
    def of(cls, classes: Sequence[str], matrix: ArrayLike, rows: str = "actual") -> CostMatrix:
        """Cost matrix from an array whose rows are the actual or the predicted classes.

        Parameters
        ----------
        classes : sequence of str
            Names of the classes.
        matrix : array_like of shape (n_classes, n_classes)
            Costs; gains are negative.
        rows : {"actual", "predicted"}
            What the rows of the matrix are.

        Returns
        -------
        CostMatrix
            The cost matrix, rows actual.

        Examples
        --------
        >>> CostMatrix.of(("a", "b"), [[0, 1], [5, 0]], rows="predicted").matrix.tolist()
        [[0.0, 5.0], [1.0, 0.0]]
        """
        return cls(tuple(classes), with_actual_rows(matrix, rows))

    def aligned(self, classes: tuple[str, ...]) -> CostMatrix:
        """The cost matrix with its classes in another order; both must have the same classes.

        Parameters
        ----------
        classes : tuple of str
            Names of the classes in the new order.

        Returns
        -------
        CostMatrix
            The same costs.
        """
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
        """Costs as an option of a multiclass measure, in the order of these classes.

        Parameters
        ----------
        classes : tuple of str
            Names of the classes; by default in the order of the matrix.

        Returns
        -------
        dict
            The matrix as text.

        Examples
        --------
        >>> CostMatrix(("a", "b"), [[0, 5], [1, 0]]).stated(("b", "a"))
        {'matrix': '0 1; 5 0'}
        """
        rows = self.aligned(classes).matrix if classes else self.matrix
        return {"matrix": "; ".join(" ".join(format_value(float(cost)) for cost in row) for row in rows)}

    def total(self, counts: ArrayLike) -> Any:
        """Total cost of a confusion matrix, rows actual: Σ costs ∘ counts.

        Parameters
        ----------
        counts : array_like of shape (…, n_classes, n_classes)
            Confusion matrix; leading axes are replicates.

        Returns
        -------
        float or ndarray
            The total cost, of each replicate.
        """
        total = (np.asarray(counts, dtype=np.float64) * self.matrix).sum(axis=(-2, -1))
        return float(total) if total.ndim == 0 else total

    def expected(self, probability: ArrayLike) -> Array:
        """Expected cost of each decision.

        Parameters
        ----------
        probability : array_like of shape (n_cases, n_classes)
            Class probabilities of each case.

        Returns
        -------
        ndarray of shape (n_cases, n_classes)
            Expected cost of deciding each class.
        """
        return np.asarray(probability, dtype=np.float64) @ self.matrix

    def decide(self, probability: ArrayLike) -> Array:
        """Index of the class with the lowest expected cost, for each case.

        Parameters
        ----------
        probability : array_like of shape (n_cases, n_classes)
            Class probabilities of each case.

        Returns
        -------
        ndarray of int
            Index of the decided class.

        References
        ----------
        Elkan, C. (2001). The foundations of cost-sensitive learning. In Proceedings of the 17th International Joint
        Conference on Artificial Intelligence, 973-978.
        """
        return np.asarray(self.expected(probability).argmin(axis=-1))

    def condition(self, positive: str, prevalence: float | None = None) -> Condition:
        """Convert costs of two classes to a Condition.

        Parameters
        ----------
        positive : str
            Name of the positive class.
        prevalence : float, optional
            Share of positives where the model will be used; that of the sample by default.

        Returns
        -------
        Condition
            The same costs.
        """
        if len(self.classes) != 2 or positive not in self.classes:
            raise ConditionError(
                "a condition needs the costs of two classes, one of them positive.",
                hint="a 2 × 2 cost matrix, and the name of the positive class",
            )
        order = [1 - self.classes.index(positive), self.classes.index(positive)]
        (tn, fp), (fn, tp) = self.matrix[np.ix_(order, order)].tolist()
        return Condition(fp, fn, tp, tn, prevalence)


def with_actual_rows(matrix: Any, rows: str) -> Any:
    """Transpose the matrix if its rows are the predicted classes."""
    if rows not in ("actual", "predicted"):
        raise ConditionError(f"rows={rows!r} is unknown.", hint='rows="actual", or rows="predicted"')
    if rows == "actual":
        return matrix
    with suppress(TypeError, ValueError):  # the caller reports an invalid matrix
        return np.asarray(matrix, dtype=np.float64).T
    return matrix


def parse_cost_matrix(text: str, size: int) -> Array:
    """Parse a square cost matrix: numbers separated by blanks, rows by semicolons.

    >>> parse_cost_matrix("0 5; 1 0", 2).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    try:
        rows = [[float(cost) for cost in row.split()] for row in text.strip("\"'").split(";")]
    except ValueError as error:
        raise ConditionError(
            f"the costs {text!r} must be numbers.", seen=str(error), hint="a number in every cell"
        ) from None
    if len(rows) != size or any(len(row) != size for row in rows):
        seen = f"{len(rows)} rows of {' or '.join(map(str, sorted({len(row) for row in rows})))} costs"
        raise ConditionError(
            f"the costs {text!r} do not match {size} classes.",
            seen=seen,
            hint=f"{size} rows of {size} numbers, rows actual; for two classes: 0 1; 5 0",
        )
    for cost in chain(*rows):
        check_cost("a cell", cost)
    return np.array(rows)


def condition_from_flags(
    stated: Mapping[str, float | None], matrix: Callable[[], CostMatrix] | None = None
) -> Condition | CostMatrix | Asymmetry | None:
    """Build the operating condition from command-line flags; None if no costs are given.

    `matrix` reads a cost matrix from a file; it excludes the other costs.

    >>> condition_from_flags({"cost-fp": 1, "cost-fn": 5, "prevalence": None})
    Condition(fp=1, fn=5, tp=0.0, tn=0.0, prevalence=None)
    """
    given = {name: value for name, value in stated.items() if value is not None}
    sides = [given.pop(name, None) for name in ("cost-under", "cost-over")]
    condition: Condition | CostMatrix | None = None
    if matrix is not None:
        if given:
            raise ConditionError("costs are given twice.", hint="either --costs FILE.csv or --cost-fp and --cost-fn")
        condition = matrix()
    elif given:
        if not {"cost-fp", "cost-fn"} <= set(given):
            costs = ", ".join(f"--{name} {value:g}" for name, value in given.items() if name != "prevalence")
            seen = costs or f"--prevalence {given['prevalence']:g}"
            raise ConditionError("the costs of both errors are needed.", seen=seen, hint="--cost-fp 1 --cost-fn 5")
        condition = Condition(**{name.removeprefix("cost-"): value for name, value in given.items()})
    under, over = sides
    if under is None and over is None:
        return condition
    if under is None or over is None or condition is not None:
        both = "--cost-under and --cost-over must be given together."
        mixed = "costs of classification and of regression cannot be combined."
        raise ConditionError(both if condition is None else mixed, hint="--cost-under 2 --cost-over 1")
    return Asymmetry(under, over)


def check_cost(name: str, cost: float) -> None:
    """Refuse costs that are not finite, or whose squares would overflow."""
    if not math.isfinite(cost):
        raise ConditionError(f"{name}={cost} is not a cost.", hint=f"a finite number, such as {name}=1")
    if abs(cost) > _MAX_COST:
        raise ConditionError(f"{name}={cost:g} is too large.", hint="use a larger currency unit")


def _check_proportion(what: str, proportion: float, seen: str) -> None:
    if not 1 / _MAX_COST < proportion < _MAX_COST:
        problem = f"the costs of the two {what}s differ by too much."
        raise ConditionError(problem, seen=seen, hint="a ratio below 1e100")


def check_prevalence(prevalence: float | None) -> None:
    """Refuse a prevalence outside (0, 1)."""
    if prevalence is not None and not _MIN_PREVALENCE <= prevalence <= 1 - _MIN_PREVALENCE:
        raise ConditionError(
            f"prevalence={prevalence:g} is not between 0 and 1.",
            hint="a share of positives, such as prevalence=0.3",
        )
