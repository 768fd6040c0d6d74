"""Fit recalibration maps to a table, or cross-fit them so that no case is mapped by a fit that used it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from scorespace.calibration.beta import BetaMap, fit_beta
from scorespace.calibration.maps import (
    KINDS,
    TEMPERATURES,
    ClassMaps,
    IsotonicMap,
    LogisticMap,
    MapInput,
    MinMaxMap,
    PlattMap,
    ScoreMap,
    TemperatureMap,
    log_probabilities,
    logits,
)
from scorespace.calibration.vector import VectorMap, fit_vector
from scorespace.calibration.venn_abers import VennAbersMap, fit_venn_abers
from scorespace.curves.hull import hull_edges
from scorespace.errors import DataError, ScoreError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures.logistic_recalibration import logistic_fit
from scorespace.results import ByValue, grouped
from scorespace.tables import Array, ClassTable, ScoreTable, score_table
from scorespace.tables.columns import validate_scores, validate_weights
from scorespace.tables.labels import encode, encode_classes, list_classes, positive_index

_ZERO_MAP = IsotonicMap(np.zeros(1), np.zeros(1))
"""Map of a class without cases in the data fitted to: probability 0 for every score."""


def fit_map(data: ScoreTable | ClassTable, method: str = "isotonic", *, on: MapInput = "score") -> ScoreMap:
    """Fit a recalibration map to a table; weights count as cases.

    For K classes, temperature scaling has one parameter for all and vector scaling two per class; other methods fit one
    map per class, one versus rest.

    Parameters
    ----------
    data : ScoreTable or ClassTable
        Scores with the classes of the cases.
    method : {"isotonic", "platt", "beta", "venn_abers", "temperature", "vector", "minmax", "logistic"}
        The method of recalibration.
    on : {"score", "logit"}
        "logit" fits Platt's map to the logit of probabilities (logistic recalibration).

    Returns
    -------
    ScoreMap
        The fitted map.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to regularized likelihood
    methods. In Advances in Large Margin Classifiers, 61-74.

    Zadrozny, B., & Elkan, C. (2002). Transforming classifier scores into accurate multiclass probability estimates. In
    Proceedings of the 8th ACM SIGKDD International Conference, 694-699.

    Kull, M., Silva Filho, T., & Flach, P. (2017). Beyond sigmoids: how to obtain well-calibrated probabilities from
    binary classifiers with beta calibration. Electronic Journal of Statistics, 11(2), 5052-5080.

    Vovk, V., & Petej, I. (2014). Venn-Abers predictors. In Proceedings of the 30th Conference on Uncertainty in
    Artificial Intelligence, 829-838.

    Guo, C., Pleiss, G., Sun, Y., & Weinberger, K. Q. (2017). On calibration of modern neural networks. In Proceedings
    of the 34th International Conference on Machine Learning, 1321-1330.

    Examples
    --------
    >>> fit_map(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])).probability
    array([0.        , 0.66666667, 0.66666667, 1.        ])
    """
    check_method(method, on)
    if not data.score.size:
        raise DataError("there are no cases to fit a map to.", hint="at least a case of each class")
    table = None if data.scores_classes else data.inside(ScoreTable)
    class_weights = data.class_totals if table is None else np.array([table.n_pos, table.n_neg])
    if is_fitted_to_truth(method) and np.count_nonzero(class_weights) < 2:
        seen = list_classes(data.classes, data.class_totals.tolist())
        raise DataError("a map needs cases of two classes.", seen=seen, hint="cases of both classes")
    return _fit_classes(data.inside(ClassTable), method, on) if table is None else _FIT_FUNCTIONS[method](table, on)


def _fit_classes(table: ClassTable, method: str, on: MapInput) -> ScoreMap:
    if method == TemperatureMap.kind:
        return _fit_temperature(log_probabilities(table.score.T), table.label, table.case_weight)
    if method == VectorMap.kind:
        return fit_vector(log_probabilities(table.score.T), table.label, table.case_weight, table.classes)
    if not is_fitted_to_truth(method):
        raise ScoreSpaceError(f"{method} maps one column of scores.", hint='method="temperature" for class columns')
    rests = (table.one_vs_rest(k) if total else None for k, total in enumerate(table.class_totals))
    return ClassMaps(
        table.classes, tuple(_ZERO_MAP if rest is None else fit_map(rest, method, on=on) for rest in rests)
    )


def check_method(method: str, on: str = "score") -> None:
    """Raise an error for an unknown method, or for on="logit" with a method other than Platt's."""
    if method not in METHODS:
        hint = did_you_mean(method, METHODS, "one of these")
        raise ScoreSpaceError(f"there is no recalibration method {method!r}.", seen=listing(METHODS), hint=hint)
    if on not in ("score", "logit") or (on == "logit" and method != PlattMap.kind):
        raise ScoreSpaceError(f"on={on!r} does not suit method {method}.", hint='on="logit" is for platt')


def is_fitted_to_truth(method: str) -> bool:
    """Whether a method is fitted to the truth, so that it must be evaluated on other cases than it was fitted to."""
    return KINDS[method].fitted_to == "truth"


def platt_targets(n_pos: float, n_neg: float) -> tuple[float, float]:
    """Target probabilities of Platt's fit (1999) instead of 1 and 0: (n₁ + 1) / (n₁ + 2) and 1 / (n₀ + 2).

    >>> platt_targets(3, 8)
    (0.8, 0.1)
    """
    return (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2)


def _fit_isotonic(table: ScoreTable, on: MapInput) -> IsotonicMap:
    """Fit isotonic regression: the edges of the ROC convex hull are its blocks; ties are pooled in the table."""
    edges = hull_edges(*table.columns)
    first = np.concatenate([[0], edges.end[:-1] + 1])
    ends = np.stack([table.score[first], table.score[edges.end]], axis=1).ravel()[::-1]
    share = np.repeat(edges.pos / (edges.pos + edges.neg), 2)[::-1]
    is_new = np.append(True, ends[1:] > ends[:-1])  # a block of a single score needs one end only
    return IsotonicMap(ends[is_new], share[is_new])


def _fit_platt(table: ScoreTable, on: MapInput) -> PlattMap:
    """Fit a logistic regression to Platt's targets, which keep it finite."""
    high, low = float(table.score[0]), float(table.score[-1])
    values = table.score
    if on == "logit":
        values = logits(table.score)
        n_infinite = float((table.pos + table.neg)[np.isinf(values)].sum())
        if n_infinite:
            raise ScoreError(
                "the logit of 0 and of 1 is infinite.",
                seen=f"{grouped(n_infinite)} of {grouped(float(table.total))} cases",
                hint='on="score", or method="isotonic"',
            )
    cases = table.pos + table.neg
    target_pos, target_neg = platt_targets(float(table.n_pos), float(table.n_neg))
    targets = target_pos * table.pos + target_neg * table.neg
    centre, scale = _standardise(values, cases)
    if not scale:
        return PlattMap(0.0, float(logit(targets.sum() / cases.sum())), on, low, high)
    # Fractional targets make the classes overlap, so the fit is finite.
    fit = logistic_fit((values - centre) / scale, targets, cases - targets)
    standardised = float(fit.slope), float(fit.intercept)
    with np.errstate(over="ignore", invalid="ignore"):
        slope = float(standardised[0] / scale)
        intercept = float(standardised[1] - standardised[0] * (centre / scale))
    if not (np.isfinite(slope) and np.isfinite(intercept)):
        seen = f"from {low:g} to {high:g}"
        raise ScoreError("the scores lie too close together for a finite slope.", seen=seen, hint='method="isotonic"')
    return PlattMap(slope, intercept, on, low, high)


def _standardise(values: Array, cases: Array) -> tuple[float, float]:
    """Mean and standard deviation of the scores, computed from halves to avoid overflow."""
    half = float(values.max() / 2 - values.min() / 2)
    if not half:
        return float(values[0]), 0.0
    middle = float(values.max() / 2 + values.min() / 2)
    relative = (values - middle) / half
    mean = float(np.average(relative, weights=cases))
    spread = float(np.sqrt(np.average((relative - mean) ** 2, weights=cases)))
    return middle + half * mean, half * spread


def _fit_min_max(table: ScoreTable, on: MapInput) -> MinMaxMap:
    high, low = float(table.score[0]), float(table.score[-1])
    if high == low:
        raise ScoreError(
            "all scores are equal, so min-max scaling is undefined.",
            seen=f"{high:g}",
            hint="another method, or scores that differ",
        )
    return MinMaxMap(low, high)


def _fit_temperature(logarithm: Array, truth: NDArray[np.intp], weight: Array) -> TemperatureMap:
    """Fit the temperature with the least log loss, from log probabilities and actual classes (Guo et al. 2017)."""
    from scipy.optimize import minimize_scalar

    actual = np.take_along_axis(logarithm, truth[:, None], axis=1)
    # Probability 0 for the actual class has an infinite loss at every temperature, so it does not affect the optimum.
    is_usable = np.isfinite(actual[:, 0]) & (weight > 0)
    if not is_usable.any():
        raise ScoreError("every case has probability 0 for its actual class.", hint="no temperature changes a zero")
    relative, weight = logarithm[is_usable] - actual[is_usable], weight[is_usable]
    # log Σ exp with the maximum subtracted: no overflow, and log1p keeps small terms.
    largest = relative.argmax(axis=1)[:, None]
    top = np.take_along_axis(relative, largest, axis=1)
    below = relative - top
    np.put_along_axis(below, largest, -np.inf, axis=1)

    def loss(log_temperature: float) -> float:
        inverse = np.exp(-log_temperature)
        return float(weight @ (np.log1p(np.exp(below * inverse).sum(axis=1)) + top[:, 0] * inverse))

    result = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded", options={"xatol": 1e-10})
    return TemperatureMap(float(np.exp(result.x)))


def _fit_binary_temperature(table: ScoreTable, on: MapInput) -> TemperatureMap:
    logits(table.score)  # raises an error for values outside [0, 1]
    with np.errstate(divide="ignore"):
        rows = np.stack([np.log(table.score), np.log1p(-table.score)], axis=1)
    truth = np.repeat([0, 1], table.score.size)
    return _fit_temperature(np.concatenate([rows, rows]), truth, np.concatenate([table.pos, table.neg]))


def _refuse_one_column(table: ScoreTable, on: MapInput) -> ScoreMap:
    raise ScoreSpaceError("vector scales the columns of multiclass scores.", hint='method="beta" for one column')


_FIT_FUNCTIONS: Final[Mapping[str, Callable[[ScoreTable, MapInput], ScoreMap]]] = {
    IsotonicMap.kind: _fit_isotonic,
    PlattMap.kind: _fit_platt,
    BetaMap.kind: lambda table, on: fit_beta(table),
    VennAbersMap.kind: lambda table, on: fit_venn_abers(table),
    TemperatureMap.kind: _fit_binary_temperature,
    VectorMap.kind: _refuse_one_column,
    MinMaxMap.kind: _fit_min_max,
    LogisticMap.kind: lambda table, on: LogisticMap(),
}
METHODS: Final = tuple(_FIT_FUNCTIONS)


# --- cross-fitting


@dataclass(frozen=True, eq=False)
class CrossFitted(ByValue):
    """Cross-fitted scores, the fold of each case, and which scores were outside the range of the fit."""

    scores: Array
    fold: NDArray[np.int64]
    outside: NDArray[np.bool_]

    @property
    def folds(self) -> int:
        return int(np.unique(self.fold).size)


def cross_fit_map(
    truth: Any,
    score: Any,
    method: str = "isotonic",
    *,
    positive: Any = None,
    classes: Sequence[str] | None = None,
    weight: Any = None,
    folds: int = 10,
    fold: Any = None,
    group: Any = None,
    on: MapInput = "score",
    seed: int = 0,
) -> CrossFitted:
    """Map every score by a map fitted without the fold of its case.

    `score` is one column, or one for each of the `classes`. Without a `fold` column, folds are stratified by class and
    keep each `group` together. With `classes`, truth holds codes into them.

    >>> truth, score = [0, 1] * 10, np.linspace(0, 1, 20)
    >>> cross_fit_map(truth, score, "platt", folds=5).folds
    5
    """
    check_method(method, on)
    codes, names = encode_classes(truth) if classes is None else (np.asarray(truth), tuple(classes))
    values = np.asarray(score)
    is_multiclass = values.ndim == 2
    if is_multiclass:
        values, codes = values.astype(np.float64), codes.astype(np.intp)
        if values.shape != (codes.size, len(names)):
            seen = f"scores of shape {values.shape}, {grouped(codes.size)} cases of {listing(names)}"
            raise ScoreError(
                "scores must have a row for each case and a column for each class.",
                seen=seen,
                hint="an array of cases × classes",
            )
    else:
        values = validate_scores(values, codes.size)
    weights = None if weight is None else validate_weights(weight, codes.size)
    positive_label = None if is_multiclass else names[positive_index(names, positive, codes)]
    has_weight = np.ones(codes.size, dtype=bool) if weights is None else weights > 0
    fold_of_case, group_of_case = (
        None if column is None else encode(column, name)[0].astype(np.int64)
        for column, name in ((fold, "fold"), (group, "group"))
    )
    if fold_of_case is None:
        fold_of_case = stratified_folds(codes, folds, group=group_of_case, seed=seed)
    elif group_of_case is not None:
        _refuse_split_groups(fold_of_case, group_of_case)
    numbers = np.unique(fold_of_case)
    if numbers.size < 2:
        raise DataError("cross-fitting needs at least two folds.", seen=f"{numbers.size} fold", hint="folds=10")
    mapped, outside = np.empty(values.shape), np.zeros(codes.size, dtype=bool)
    for number in numbers:
        in_fold, in_training = fold_of_case == number, (fold_of_case != number) & has_weight
        training_weights = None if weights is None else weights[in_training]
        try:
            if is_multiclass:
                table: ScoreTable | ClassTable = ClassTable(
                    values[in_training].T, codes[in_training], names, training_weights
                )
            else:
                table = score_table(
                    codes[in_training],
                    values[in_training],
                    classes=names,
                    positive=positive_label,
                    weight=training_weights,
                )
            fitted_map = fit_map(table, method, on=on)
        except DataError as error:
            raise DataError(
                f"no map can be fitted without one of the {numbers.size} folds: {error.problem}",
                seen=error.seen,
                hint="fewer folds, or other data to fit on",
            ) from None
        mapped[in_fold], outside[in_fold] = fitted_map.apply(values[in_fold]), fitted_map.outside(values[in_fold])
    return CrossFitted(mapped, fold_of_case, outside)


def stratified_folds(
    codes: NDArray[Any], folds: int, *, group: NDArray[np.int64] | None = None, seed: int = 0
) -> NDArray[np.int64]:
    """Assign cases to folds at random, stratified by class; cases of a group stay together.

    >>> np.bincount(stratified_folds(np.array([0] * 6 + [1] * 3), 3)).tolist()
    [3, 3, 3]
    """
    if folds < 2:
        raise DataError(f"folds={folds} is too few: cross-fitting needs at least two.", hint="folds=10")
    rng = np.random.default_rng(seed)  # assigns each case to one fold
    if group is None:
        order = np.lexsort((rng.random(codes.size), codes))
        fold = np.empty(codes.size, dtype=np.int64)
        fold[order] = np.arange(codes.size) % folds
        return fold
    # Sort groups by size and classes and assign them in serpentine order, so that folds are balanced.
    sizes = np.bincount(group)
    class_sums = np.bincount(group, codes)
    order = np.lexsort((rng.random(sizes.size), class_sums, sizes))[::-1]
    position = np.arange(sizes.size) % (2 * folds)
    fold_of_group = np.empty(sizes.size, dtype=np.int64)
    fold_of_group[order] = np.minimum(position, 2 * folds - 1 - position)
    return fold_of_group[group]


def _refuse_split_groups(fold: NDArray[np.int64], group: NDArray[np.int64]) -> None:
    pairs = np.unique(np.stack([group, fold]), axis=1)
    split = int((np.bincount(pairs[0]) > 1).sum())
    if split:
        raise DataError(
            "the folds split groups of related cases.",
            seen=f"{grouped(split)} of {grouped(int(group.max()) + 1)} groups are in more than one fold",
            hint="drop the fold column or the group column",
        )
