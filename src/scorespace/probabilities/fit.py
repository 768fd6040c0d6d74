"""Fitting recalibration maps: on a table, or across folds so that no case is mapped by a fit that saw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.curves.hull import hull_edges
from scorespace.errors import DataError, ScoreError, ScoreSpaceError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.measures.cox import logistic_fit
from scorespace.probabilities.maps import (
    KINDS,
    TEMPERATURES,
    ClassMaps,
    IsotonicMap,
    LogisticMap,
    MinMaxMap,
    On,
    PlattMap,
    ScoreMap,
    TemperatureMap,
    log_probabilities,
    logits,
)
from scorespace.results import ByValue, grouped
from scorespace.special import logit
from scorespace.tables import Array, ClassTable, ScoreTable, score_table
from scorespace.tables.columns import scores_of, weights_of
from scorespace.tables.labels import class_listing, encode, encode_classes, positive_index

_NEVER = IsotonicMap(np.zeros(1), np.zeros(1))
"""The map of a class that does not occur where the maps are fitted: it gets no probability."""


def fit_map(given: ScoreTable | ClassTable, method: str = "isotonic", *, on: On = "score") -> ScoreMap:
    """The map of a method, fitted to a table; weights count as cases.

    `on="logit"` makes Platt's a map of the logit of probabilities (logistic recalibration). The scores of
    K classes share one temperature, or get a map of each class against the rest.

    >>> fit_map(score_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])).probability
    array([0.        , 0.66666667, 0.66666667, 1.        ])
    """
    check_method(method, on)
    if not given.score.size:
        raise DataError("there are no cases to fit a map to.", hint="at least a case of each class")
    table = None if given.scores_classes else given.inside(ScoreTable)
    sides = given.class_totals if table is None else np.array([table.n_pos, table.n_neg])
    if learns(method) and np.count_nonzero(sides) < 2:
        seen = class_listing(given.classes, given.class_totals.tolist())
        raise DataError("a map needs cases of two classes.", seen=seen, hint="cases of both classes")
    return _fit_classes(given.inside(ClassTable), method, on) if table is None else _FITS[method](table, on)


def _fit_classes(table: ClassTable, method: str, on: On) -> ScoreMap:
    if method == TemperatureMap.kind:
        return _temperature(log_probabilities(table.score.T), table.label, table.case_weight)
    if not learns(method):
        raise ScoreSpaceError(f"{method} maps one column of scores.", hint='method="temperature" for class columns')
    rests = (table.one_vs_rest(k) if total else None for k, total in enumerate(table.class_totals))
    return ClassMaps(table.classes, tuple(_NEVER if rest is None else fit_map(rest, method, on=on) for rest in rests))


def check_method(method: str, on: str = "score") -> None:
    """Refuse a method that is not there, and a logit for any but Platt's."""
    if method not in METHODS:
        hint = did_you_mean(method, METHODS, "one of these")
        raise ScoreSpaceError(f"there is no recalibration method {method!r}.", seen=listing(METHODS), hint=hint)
    if on not in ("score", "logit") or (on == "logit" and method != PlattMap.kind):
        raise ScoreSpaceError(f"on={on!r} does not suit method {method}.", hint='on="logit" is for platt')


def learns(method: str) -> bool:
    """Whether a method looks at the truth, and so must not be judged on the cases that it was fitted to."""
    return KINDS[method].fitted_to == "truth"


def platt_targets(n_pos: float, n_neg: float) -> tuple[float, float]:
    """What Platt's fit aims at instead of 1 and 0: (n₁ + 1) / (n₁ + 2) and 1 / (n₀ + 2).

    >>> platt_targets(3, 8)
    (0.8, 0.1)
    """
    return (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2)


def _isotonic(table: ScoreTable, on: On) -> IsotonicMap:
    """The edges of the ROC hull are the blocks of the isotonic regression; ties are pooled in the table."""
    edges = hull_edges(*table.columns)
    first = np.concatenate([[0], edges.end[:-1] + 1])
    ends = np.stack([table.score[first], table.score[edges.end]], axis=1).ravel()[::-1]
    share = np.repeat(edges.pos / (edges.pos + edges.neg), 2)[::-1]
    kept = np.append(True, ends[1:] > ends[:-1])  # a block of one score needs one end only
    return IsotonicMap(ends[kept], share[kept])


def _platt(table: ScoreTable, on: On) -> PlattMap:
    """The logistic fit to Platt's targets, which keep it finite."""
    high, low = float(table.score[0]), float(table.score[-1])
    values = table.score
    if on == "logit":
        values = logits(table.score)
        sure = float((table.pos + table.neg)[np.isinf(values)].sum())
        if sure:
            raise ScoreError(
                "the logit of 0 and of 1 is infinite.",
                seen=f"{grouped(sure)} of {grouped(float(table.total))} cases",
                hint='on="score", or method="isotonic"',
            )
    cases = table.pos + table.neg
    target_pos, target_neg = platt_targets(float(table.n_pos), float(table.n_neg))
    wanted = target_pos * table.pos + target_neg * table.neg
    centre, scale = _standard(values, cases)
    if not scale:
        return PlattMap(0.0, float(logit(wanted.sum() / cases.sum())), on, low, high)
    # Every case is so much of a positive and so much of a negative, so the classes overlap and the fit is finite.
    found = logistic_fit((values - centre) / scale, wanted, cases - wanted)
    place = float(found.slope), float(found.intercept)
    with np.errstate(over="ignore", invalid="ignore"):
        slope = float(place[0] / scale)
        intercept = float(place[1] - place[0] * (centre / scale))
    if not (np.isfinite(slope) and np.isfinite(intercept)):
        seen = f"from {low:g} to {high:g}"
        raise ScoreError("the scores lie too close together for a finite slope.", seen=seen, hint='method="isotonic"')
    return PlattMap(slope, intercept, on, low, high)


def _standard(values: Array, cases: Array) -> tuple[float, float]:
    """Centre and spread of the scores; halves first, so that no difference overflows."""
    half = float(values.max() / 2 - values.min() / 2)
    if not half:
        return float(values[0]), 0.0
    middle = float(values.max() / 2 + values.min() / 2)
    place = (values - middle) / half
    mean = float(np.average(place, weights=cases))
    spread = float(np.sqrt(np.average((place - mean) ** 2, weights=cases)))
    return middle + half * mean, half * spread


def _min_max(table: ScoreTable, on: On) -> MinMaxMap:
    high, low = float(table.score[0]), float(table.score[-1])
    if high == low:
        raise ScoreError(
            "all scores are equal, so there is no range to spread.",
            seen=f"{high:g}",
            hint="another method, or scores that differ",
        )
    return MinMaxMap(low, high)


def _temperature(logarithm: Array, truth: NDArray[np.intp], weight: Array) -> TemperatureMap:
    """The temperature of least log loss, from rows of log probabilities and the actual classes."""
    from scipy.optimize import minimize_scalar

    own = np.take_along_axis(logarithm, truth[:, None], axis=1)
    # Probability 0 for the actual class costs infinitely much at every temperature: it cannot say which is best.
    kept = np.isfinite(own[:, 0]) & (weight > 0)
    if not kept.any():
        raise ScoreError("every case has probability 0 for its actual class.", hint="no temperature changes a zero")
    relative, weight = logarithm[kept] - own[kept], weight[kept]
    # log Σ exp, the largest taken out: then nothing overflows, and log1p sees how small the others are.
    largest = relative.argmax(axis=1)[:, None]
    top = np.take_along_axis(relative, largest, axis=1)
    below = relative - top
    np.put_along_axis(below, largest, -np.inf, axis=1)

    def loss(log_temperature: float) -> float:
        cold = np.exp(-log_temperature)
        return float(weight @ (np.log1p(np.exp(below * cold).sum(axis=1)) + top[:, 0] * cold))

    found = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded", options={"xatol": 1e-10})
    return TemperatureMap(float(np.exp(found.x)))


def _temperature_of_two(table: ScoreTable, on: On) -> TemperatureMap:
    logits(table.score)  # refuses what is no probability
    with np.errstate(divide="ignore"):
        rows = np.stack([np.log(table.score), np.log1p(-table.score)], axis=1)
    truth = np.repeat([0, 1], table.score.size)
    return _temperature(np.concatenate([rows, rows]), truth, np.concatenate([table.pos, table.neg]))


_FITS: Final[Mapping[str, Callable[[ScoreTable, On], ScoreMap]]] = {
    IsotonicMap.kind: _isotonic,
    PlattMap.kind: _platt,
    TemperatureMap.kind: _temperature_of_two,
    MinMaxMap.kind: _min_max,
    LogisticMap.kind: lambda table, on: LogisticMap(),
}
METHODS: Final = tuple(_FITS)


# --- folds


@dataclass(frozen=True, eq=False)
class CrossFitted(ByValue):
    """Scores of which each was mapped by a map fitted without its fold, the folds, and which lay outside the fit."""

    scores: Array
    fold: NDArray[np.int64]
    outside: NDArray[np.bool_]

    @property
    def folds(self) -> int:
        return int(np.unique(self.fold).size)


def cross_fitted(
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
    on: On = "score",
    seed: int = 0,
) -> CrossFitted:
    """The scores of all cases, each mapped by a map that was fitted without its fold.

    `score` is one column, or one for each of the `classes`. Without a `fold` column the folds are
    stratified by class, and a `group` stays whole. `classes` given: truth holds codes into them.

    >>> truth, score = [0, 1] * 10, np.linspace(0, 1, 20)
    >>> cross_fitted(truth, score, "platt", folds=5).folds
    5
    """
    check_method(method, on)
    codes, names = encode_classes(truth) if classes is None else (np.asarray(truth), tuple(classes))
    values = np.asarray(score)
    several = values.ndim == 2
    if several:
        values, codes = values.astype(np.float64), codes.astype(np.intp)
        if values.shape != (codes.size, len(names)):
            seen = f"scores of shape {values.shape}, {grouped(codes.size)} cases of {listing(names)}"
            raise ScoreError(
                "scores must have a row for each case and a column for each class.",
                seen=seen,
                hint="an array of cases × classes",
            )
    else:
        values = scores_of(values, codes.size)
    weights = None if weight is None else weights_of(weight, codes.size)
    wanted = None if several else names[positive_index(names, positive, codes)]
    kept = np.ones(codes.size, dtype=bool) if weights is None else weights > 0
    place, part = (
        None if one is None else encode(one, name)[0].astype(np.int64)
        for one, name in ((fold, "fold"), (group, "group"))
    )
    if place is None:
        place = stratified_folds(codes, folds, group=part, seed=seed)
    elif part is not None:
        _refuse_split_groups(place, part)
    numbers = np.unique(place)
    if numbers.size < 2:
        raise DataError("cross-fitting needs two folds at least.", seen=f"{numbers.size} fold", hint="folds=10")
    mapped, outside = np.empty(values.shape), np.zeros(codes.size, dtype=bool)
    for number in numbers:
        here, rest = place == number, (place != number) & kept
        others = None if weights is None else weights[rest]
        try:
            if several:
                table: ScoreTable | ClassTable = ClassTable(values[rest].T, codes[rest], names, others)
            else:
                table = score_table(codes[rest], values[rest], classes=names, positive=wanted, weight=others)
            found = fit_map(table, method, on=on)
        except DataError as error:
            raise DataError(
                f"without one of the {numbers.size} folds no map can be fitted: {error.problem}",
                seen=error.seen,
                hint="fewer folds, or other data to fit on",
            ) from None
        mapped[here], outside[here] = found.apply(values[here]), found.outside(values[here])
    return CrossFitted(mapped, place, outside)


def stratified_folds(
    codes: NDArray[Any], folds: int, *, group: NDArray[np.int64] | None = None, seed: int = 0
) -> NDArray[np.int64]:
    """The fold of each case: drawn by lot, every class dealt out evenly; cases of a group stay together.

    >>> np.bincount(stratified_folds(np.array([0] * 6 + [1] * 3), 3)).tolist()
    [3, 3, 3]
    """
    if folds < 2:
        raise DataError(f"folds={folds} is too few: cross-fitting needs two at least.", hint="folds=10")
    chance = np.random.default_rng(seed)  # deals cases out to folds, each once
    if group is None:
        order = np.lexsort((chance.random(codes.size), codes))
        fold = np.empty(codes.size, dtype=np.int64)
        fold[order] = np.arange(codes.size) % folds
        return fold
    # Groups alike in size and classes are neighbours; dealt to and fro, each fold gets some of every kind.
    sizes = np.bincount(group)
    leaning = np.bincount(group, codes)
    order = np.lexsort((chance.random(sizes.size), leaning, sizes))[::-1]
    turn = np.arange(sizes.size) % (2 * folds)
    dealt = np.empty(sizes.size, dtype=np.int64)
    dealt[order] = np.minimum(turn, 2 * folds - 1 - turn)
    return dealt[group]


def _refuse_split_groups(fold: NDArray[np.int64], group: NDArray[np.int64]) -> None:
    pairs = np.unique(np.stack([group, fold]), axis=1)
    split = int((np.bincount(pairs[0]) > 1).sum())
    if split:
        raise DataError(
            "the folds split groups of related cases.",
            seen=f"{grouped(split)} of {grouped(int(group.max()) + 1)} groups lie in several folds",
            hint="leave out the fold column, or the group column",
        )
