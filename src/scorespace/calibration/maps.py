"""Recalibration maps from scores to probabilities; saved as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, softmax

from scorespace.errors import DataError, ScoreError, did_you_mean, listing
from scorespace.results import SCHEMA, ByValue, Row, grouped, to_json_types
from scorespace.tables import Array
from scorespace.tables.columns import validate_scores

MapInput = Literal["score", "logit"]
FittedTo = Literal["truth", "scores", "nothing"]

TEMPERATURES: Final = (0.01, 100.0)
"""Search range of the temperature; perfect or uninformative scores would drive it to 0 or infinity."""

_MAP_FORMAT_HINT: Final = "a map as scorespace calibrate --map writes it"


class ScoreMap:
    """Base class of recalibration maps: apply them to scores, flag extrapolation, and read or write JSON.

    `title` begins a sentence about the map, `beyond` says how scores outside the fitted range are mapped, and `doubts`
    yields remarks on a fitted map (`impossible`: cases with probability 0 for their actual class). A map `fitted_to`
    the truth must be evaluated on other cases than it was fitted to.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    beyond: ClassVar[str] = "the map extrapolates there"
    fitted_to: ClassVar[FittedTo] = "truth"
    reverses_ranking: bool = False  # whether the map reverses the ranking
    classes: tuple[str, ...] = ()  # the classes of a map per class

    def apply(self, scores: ArrayLike) -> Array:
        raise NotImplementedError

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return np.zeros(len(np.asarray(scores)), dtype=bool)

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        yield from ()

    def remarks(self, scores: ArrayLike) -> Iterator[str]:
        """Remarks on the mapped scores."""
        yield from ()

    @property
    def method(self) -> str:
        """Name of the fitting method."""
        return self.kind

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "kind": self.kind, **to_json_types(vars(self))}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read the map that `to_dict` wrote."""
        values = {}
        for field_ in fields(cls):  # type: ignore[arg-type]
            default = None if field_.default is MISSING else field_.default
            if field_.type == "float":
                values[field_.name] = _read_number(content, field_.name, default)
            else:
                values[field_.name] = content[field_.name] if default is None else content.get(field_.name, default)
        return cls(**values)


@dataclass(frozen=True)
class PlattMap(ScoreMap):
    """Probability 1 / (1 + exp(−(slope·s + intercept))), of the score itself or of its logit.

    `low` and `high` are the lowest and the highest score it was fitted to; beyond them it extrapolates.

    >>> PlattMap(2.0, -1.0).apply([0.5, 1.0])
    array([0.5       , 0.73105858])
    """

    kind: ClassVar[str] = "platt"
    title: ClassVar[str] = "Platt's map"
    beyond: ClassVar[str] = "the map extrapolates there"
    slope: float
    intercept: float
    on: MapInput = "score"
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept)):
            raise map_error("a platt map needs a finite slope and intercept.", f"{self.slope}, {self.intercept}")
        if self.on not in ("score", "logit"):
            raise DataError(f"on={self.on!r} is not supported by a platt map.", hint='"score" or "logit"')
        if not self.low <= self.high:
            raise map_error("the range of a map is empty.", f"from {self.low} to {self.high}")

    @property
    def reverses_ranking(self) -> bool:  # type: ignore[override]
        return self.slope < 0

    def apply(self, scores: ArrayLike) -> Array:
        values = check_column(scores)
        if self.on == "logit":
            values = logits(values)
        # With slope 0 the result is constant, also for the infinite logits of 0 and 1.
        linear = self.slope * values if self.slope else np.zeros_like(values)
        return np.asarray(expit(linear + self.intercept))

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return is_outside(scores, self.low, self.high)


@dataclass(frozen=True, eq=False)
class IsotonicMap(ScoreMap, ByValue):
    """Isotonic map: constant within each block of the fit, linear between blocks, constant beyond the ends.

    `score` holds the ends of the blocks in increasing order and `probability` their shares of positives. Cases within a
    block become tied; between blocks interpolation keeps their order.

    >>> IsotonicMap([0.1, 0.3, 0.5], [0.0, 0.5, 0.5]).apply([0.0, 0.2, 0.4, 0.9])
    array([0.  , 0.25, 0.5 , 0.5 ])
    """

    kind: ClassVar[str] = "isotonic"
    title: ClassVar[str] = "Isotonic"
    beyond: ClassVar[str] = "they get the probability at the end of the range"
    score: Array
    probability: Array

    def __post_init__(self) -> None:
        for name in ("score", "probability"):
            object.__setattr__(self, name, check_array(getattr(self, name), f"{name} of an isotonic map"))
        score, share = self.score, self.probability
        if score.shape != share.shape or not score.size:
            seen = f"{score.size} and {share.size}"
            raise map_error("an isotonic map needs as many scores as probabilities, at least one.", seen)
        if not (score[1:] > score[:-1]).all():
            raise map_error("the scores of an isotonic map must increase.", _first_decrease(score, strictly=True))
        if not (share[1:] >= share[:-1]).all():
            raise map_error("the probabilities of an isotonic map must not decrease.", _first_decrease(share))
        if share[0] < 0 or share[-1] > 1:
            seen = f"from {share[0]:g} to {share[-1]:g}"
            raise map_error("the probabilities of an isotonic map must lie between 0 and 1.", seen)

    def apply(self, scores: ArrayLike) -> Array:
        values = check_column(scores)
        with np.errstate(over="ignore"):
            # Scaling by one half keeps the shape and avoids overflow of differences.
            scale = 1.0 if np.isfinite(self.score[-1] - self.score[0]) else 0.5
        interpolated = np.interp(values * scale, self.score * scale, self.probability)
        # Rounding must not move interpolated values beyond the neighbouring blocks.
        below = np.searchsorted(self.score, values, side="right") - 1
        above = np.searchsorted(self.score, values, side="left")
        return np.clip(
            interpolated,
            self.probability[np.maximum(below, 0)],
            self.probability[np.minimum(above, self.score.size - 1)],
        )

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return is_outside(scores, float(self.score[0]), float(self.score[-1]))


@dataclass(frozen=True)
class TemperatureMap(ScoreMap):
    """Temperature scaling, softmax(log p / temperature) over rows of K classes; one column is treated as two classes.

    Above 1 it makes probabilities less extreme, below 1 more. A zero stays zero at every temperature.

    >>> TemperatureMap(2.0).apply([[0.8, 0.2, 0.0]])
    array([[0.66666667, 0.33333333, 0.        ]])
    """

    kind: ClassVar[str] = "temperature"
    title: ClassVar[str] = "The temperature"
    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise map_error(f"temperature={self.temperature} is not a positive number.")

    def apply(self, scores: ArrayLike) -> Array:
        if np.ndim(scores) == 1:
            return np.asarray(expit(logits(check_column(scores)) / self.temperature))
        return np.asarray(softmax(log_probabilities(scores) / self.temperature, axis=1))

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        if impossible:
            have = "case has" if impossible == 1 else "cases have"
            yield (
                f"{grouped(impossible)} {have} probability 0 for the actual class, which no temperature changes; "
                "the log loss stays infinite, and the fit ignores them."
            )
        low, high = TEMPERATURES
        if not low * 1.001 < self.temperature < high / 1.001:
            yield f"the temperature is at the limit of its search range, {low:g} to {high:g}."


@dataclass(frozen=True)
class MinMaxMap(ScoreMap):
    """Min-max scaling (s − low) / (high − low), clipped to [0, 1].

    >>> MinMaxMap(-2.0, 2.0).apply([-1.0, 5.0])
    array([0.25, 1.  ])
    """

    kind: ClassVar[str] = "minmax"
    title: ClassVar[str] = "Min-max"
    fitted_to: ClassVar[FittedTo] = "scores"
    beyond: ClassVar[str] = "they get 0 or 1"
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (self.high > self.low and math.isfinite(self.high - self.low)):
            raise map_error("a minmax map needs low below high.", f"{self.low:g}, {self.high:g}")

    def apply(self, scores: ArrayLike) -> Array:
        return np.clip((np.clip(check_column(scores), self.low, self.high) - self.low) / (self.high - self.low), 0, 1)

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return is_outside(scores, self.low, self.high)


@dataclass(frozen=True)
class LogisticMap(ScoreMap):
    """The plain logistic function 1 / (1 + exp(−s)), for scores that are log odds.

    >>> LogisticMap().apply([0.0])
    array([0.5])
    """

    kind: ClassVar[str] = "logistic"
    title: ClassVar[str] = "The logistic map"
    fitted_to: ClassVar[FittedTo] = "nothing"

    def apply(self, scores: ArrayLike) -> Array:
        return np.asarray(expit(check_column(scores)))


def is_zero_map(map: ScoreMap) -> bool:
    """Whether it is the map of a class without cases, 0 for every score."""
    return isinstance(map, IsotonicMap) and map.score.tolist() == [0.0] and map.probability.tolist() == [0.0]


@dataclass(frozen=True)
class ClassMaps(ScoreMap):
    """One map per class, one versus rest; the mapped scores of a case are normalised to sum 1.

    >>> ClassMaps(("a", "b"), (LogisticMap(), LogisticMap())).apply([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    kind: ClassVar[str] = "classes"
    classes: tuple[str, ...] = ()
    maps: tuple[ScoreMap, ...] = ()

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.maps) or len(set(self.classes)) != len(self.classes) or not self.maps:
            seen = f"{len(self.maps)} maps for {listing(self.classes) or 'no class'}"
            raise map_error("a multiclass map needs one map for each class.", seen)

    def apply(self, scores: ArrayLike) -> Array:
        rows = self._rows(scores)
        mapped = np.stack(
            [class_map.apply(column) for class_map, column in zip(self.maps, rows.T, strict=True)], axis=1
        )
        total = mapped.sum(axis=1, keepdims=True)
        # Where every class got probability 0, all are equally likely.
        return np.divide(mapped, total, out=np.full_like(mapped, 1 / len(self.maps)), where=total > 0)

    @property
    def method(self) -> str:
        """Method of the maps; classes without cases do not count."""
        return next((class_map.kind for class_map in self.maps if class_map.kind != IsotonicMap.kind), IsotonicMap.kind)

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        rows = self._rows(scores)
        beyond = [
            class_map.outside(column)
            for class_map, column in zip(self.maps, rows.T, strict=True)
            if not is_zero_map(class_map)
        ]
        return np.any([np.zeros(len(rows), dtype=bool), *beyond], axis=0)

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        names = [name for name, class_map in zip(self.classes, self.maps, strict=True) if is_zero_map(class_map)]
        if names:
            yield f"there were no cases of {listing(names)} to fit a map to, so its probability is 0 for every case."

    def to_dict(self) -> Row:
        maps = [class_map.to_dict() for class_map in self.maps]
        return {"schema": SCHEMA, "kind": self.kind, "classes": list(self.classes), "maps": maps}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        classes, maps = content["classes"], content["maps"]
        named = isinstance(classes, list) and all(isinstance(name, str) for name in classes)
        if not (named and isinstance(maps, list)):
            raise map_error("a multiclass map lists its classes and their maps.", f"{classes!r:.60}")
        return cls(tuple(classes), tuple(map_from_dict(class_map) for class_map in maps))

    def _rows(self, scores: ArrayLike) -> Array:
        rows = np.asarray(scores, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.maps):
            seen = f"scores of shape {rows.shape}"
            raise ScoreError(
                f"this map needs {len(self.maps)} scores for each case, one per class.",
                seen=seen,
                hint="an array of cases × classes, as the map was fitted to",
            )
        return rows


def map_from_dict(content: Any) -> ScoreMap:
    """Read and check the map that `to_dict` wrote.

    >>> map_from_dict({"schema": 1, "kind": "temperature", "temperature": 1.5})
    TemperatureMap(temperature=1.5)
    """
    if not isinstance(content, Mapping):
        raise DataError("this is not a recalibration map.", seen=f"a {type(content).__name__}", hint="a JSON object")
    if content.get("schema") != SCHEMA:
        raise map_error(f"the map does not have schema {SCHEMA}.", f"schema {content.get('schema')!r}")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS)
        raise DataError(f"there is no map of kind {kind!r}.", seen=listing(KINDS), hint=hint)
    try:
        return KINDS[kind].read(content)
    except OverflowError:
        raise map_error(f"a number of the {kind} map is too large.") from None
    except KeyError as absent:
        raise map_error(f"the {kind} map lacks {absent.args[0]!r}.", listing(content)) from None


def logits(probability: Array) -> Array:
    """Logit log(p / (1 − p)), infinite for 0 and 1; an error outside [0, 1]."""
    check_probabilities(probability)
    return np.asarray(logit(probability))


def check_probabilities(values: Array) -> None:
    """Raise an error for values outside [0, 1]."""
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise _probability_error(values)


def log_probabilities(scores: ArrayLike) -> Array:
    """Logarithms of rows of K probabilities, −inf for 0; an error for negative values and rows of zeros."""
    rows = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ScoreError(
            "a row of scores is needed for each case, one per class.",
            seen=f"shape {rows.shape}",
            hint="an array of cases × classes",
        )
    if not np.isfinite(rows).all() or (rows.size and rows.min() < 0):
        raise _probability_error(rows)
    n_zero_rows = int((rows.max(axis=1) == 0).sum())
    if n_zero_rows:
        seen = f"{grouped(n_zero_rows)} of {grouped(len(rows))} cases"
        raise ScoreError(
            "some cases have probability 0 for every class.",
            seen=seen,
            hint="a probability above 0 for at least one class of each case",
        )
    with np.errstate(divide="ignore"):
        return np.log(rows)


def _probability_error(values: Array) -> ScoreError:
    seen = f"scores from {values.min():g} to {values.max():g}"
    return ScoreError("this map needs probabilities.", seen=seen, hint='method="platt" or "isotonic" takes any scores')


def check_column(scores: ArrayLike) -> Array:
    values = np.asarray(scores)
    if values.ndim != 1:
        raise ScoreError(
            "this map takes one score for each case.",
            seen=f"scores of shape {values.shape}",
            hint="one column of scores",
        )
    return validate_scores(values, values.size)


def is_outside(scores: ArrayLike, low: float, high: float) -> NDArray[np.bool_]:
    values = check_column(scores)
    return (values < low) | (values > high)


def map_error(problem: str, seen: str | None = None) -> DataError:
    return DataError(problem, seen=seen, hint=_MAP_FORMAT_HINT)


def _first_decrease(values: Array, strictly: bool = False) -> str:
    before, after = values[:-1], values[1:]
    index = int(np.argmax(after <= before if strictly else after < before))
    return f"{values[index]:g} and then {values[index + 1]:g}"


def check_array(values: Any, what: str) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise map_error(f"the {what} must be numbers.", f"{values!r:.60}") from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise map_error(f"the {what} must be a list of finite numbers.", f"{values!r:.60}")
    return array


def _read_number(content: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Read a number of a saved map; null in JSON means the default."""
    value = content[name] if default is None else content.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise map_error(f"{name} of the {content['kind']} map must be a finite number.", repr(value))
    return float(value)


KINDS: Final[dict[str, type[ScoreMap]]] = {
    one.kind: one for one in (IsotonicMap, PlattMap, TemperatureMap, MinMaxMap, LogisticMap, ClassMaps)
}
"""Map classes by the `kind` in JSON; further modules of this package add theirs."""
