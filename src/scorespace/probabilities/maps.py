"""Recalibration maps: from a score to a probability, kept as plain numbers and saved as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError, ScoreError, did_you_mean, listing
from scorespace.results import SCHEMA, ByValue, Row, grouped, plain
from scorespace.tables import Array
from scorespace.tables.score import scores_of

On = Literal["score", "logit"]

_AS_WRITTEN: Final = "a map as scorespace calibrate --map writes it"


@runtime_checkable
class ScoreMap(Protocol):
    """What every map does: `apply` it, say which scores lie `outside` those it was fitted on, become JSON."""

    kind: ClassVar[str]

    def apply(self, scores: ArrayLike) -> Array: ...

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]: ...

    def to_dict(self) -> Row: ...


@dataclass(frozen=True)
class PlattMap:
    """Probability 1 / (1 + exp(−(slope·s + intercept))), of the score itself or of its logit.

    `low` and `high` are the lowest and the highest score it was fitted on; beyond them it goes on by its formula.

    >>> PlattMap(2.0, -1.0).apply([0.5, 1.0])
    array([0.5       , 0.73105858])
    """

    kind: ClassVar[str] = "platt"
    slope: float
    intercept: float
    on: On = "score"
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept)):
            raise DataError(
                "a platt map needs a finite slope and intercept.",
                seen=f"{self.slope}, {self.intercept}",
                hint=_AS_WRITTEN,
            )
        if self.on not in ("score", "logit"):
            raise DataError(f"on={self.on!r} is not what a platt map works on.", hint='"score" or "logit"')
        _refuse_empty_range(self.low, self.high)

    def apply(self, scores: ArrayLike) -> Array:
        from scorespace.special import expit

        values = _one_column(scores)
        if self.on == "logit":
            values = logits(values)
        # A slope of 0 forgets the score, also the infinite logit of 0 and of 1.
        linear = self.slope * values if self.slope else np.zeros_like(values)
        return np.asarray(expit(linear + self.intercept))

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return _outside(scores, self.low, self.high)

    def to_dict(self) -> Row:
        return _saved(self, slope=self.slope, intercept=self.intercept, on=self.on, low=self.low, high=self.high)


@dataclass(frozen=True, eq=False)
class IsotonicMap(ByValue):
    """The best rising map: constant inside each block of the fit, a straight line between two blocks, constant ends.

    `score` holds the ends of the blocks from below and `probability` their shares of positives. Cases inside a
    block become tied; in the gaps between blocks the line keeps their order.

    >>> IsotonicMap([0.1, 0.3, 0.5], [0.0, 0.5, 0.5]).apply([0.0, 0.2, 0.4, 0.9])
    array([0.  , 0.25, 0.5 , 0.5 ])
    """

    kind: ClassVar[str] = "isotonic"
    score: Array
    probability: Array

    def __post_init__(self) -> None:
        for name in ("score", "probability"):
            object.__setattr__(self, name, _numbers(getattr(self, name), f"{name} of an isotonic map"))
        if self.score.shape != self.probability.shape or not self.score.size:
            seen = f"{self.score.size} and {self.probability.size}"
            raise DataError(
                "an isotonic map needs as many scores as probabilities, one at least.",
                seen=seen,
                hint=_AS_WRITTEN,
            )
        if not (self.score[1:] > self.score[:-1]).all():
            raise DataError(
                "the scores of an isotonic map must rise.",
                seen=_first_fall(self.score, strictly=True),
                hint=_AS_WRITTEN,
            )
        if not (self.probability[1:] >= self.probability[:-1]).all():
            raise DataError(
                "the probabilities of an isotonic map must not fall.",
                seen=_first_fall(self.probability),
                hint=_AS_WRITTEN,
            )
        if self.probability[0] < 0 or self.probability[-1] > 1:
            seen = f"from {self.probability[0]:g} to {self.probability[-1]:g}"
            raise DataError(
                "the probabilities of an isotonic map must lie between 0 and 1.",
                seen=seen,
                hint=_AS_WRITTEN,
            )

    def apply(self, scores: ArrayLike) -> Array:
        values = _one_column(scores)
        with np.errstate(over="ignore"):
            # Half of everything has the same shape, and differences that do not overflow.
            half = 1.0 if np.isfinite(self.score[-1] - self.score[0]) else 0.5
        line = np.interp(values * half, self.score * half, self.probability)
        # Rounding may carry the line beyond the blocks on its sides.
        below = np.searchsorted(self.score, values, side="right") - 1
        above = np.searchsorted(self.score, values, side="left")
        return np.clip(
            line, self.probability[np.maximum(below, 0)], self.probability[np.minimum(above, self.score.size - 1)]
        )

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return _outside(scores, float(self.score[0]), float(self.score[-1]))

    def to_dict(self) -> Row:
        return _saved(self, score=self.score, probability=self.probability)


@dataclass(frozen=True)
class TemperatureMap:
    """Class probabilities softmax(log p / temperature), rows of K; one column counts as that of two classes.

    Above 1 it makes probabilities less extreme, below 1 more. A zero stays a zero at every temperature.

    >>> TemperatureMap(2.0).apply([[0.8, 0.2, 0.0]])
    array([[0.66666667, 0.33333333, 0.        ]])
    """

    kind: ClassVar[str] = "temperature"
    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise DataError(
                f"temperature={self.temperature} is not a positive number.",
                hint=_AS_WRITTEN,
            )

    def apply(self, scores: ArrayLike) -> Array:
        from scorespace.special import expit, softmax

        if np.ndim(scores) == 1:
            return np.asarray(expit(logits(_one_column(scores)) / self.temperature))
        return np.asarray(softmax(log_probabilities(scores) / self.temperature, axis=1))

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return np.zeros(len(np.asarray(scores)), dtype=bool)  # every probability lies in its range

    def to_dict(self) -> Row:
        return _saved(self, temperature=self.temperature)


@dataclass(frozen=True)
class MinMaxMap:
    """The place of a score between the lowest and the highest, (s − low) / (high − low), cut off at 0 and 1.

    >>> MinMaxMap(-2.0, 2.0).apply([-1.0, 5.0])
    array([0.25, 1.  ])
    """

    kind: ClassVar[str] = "minmax"
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (self.high > self.low and math.isfinite(self.high - self.low)):
            raise DataError(
                "a minmax map needs a lowest score and a higher one.",
                seen=f"{self.low:g}, {self.high:g}",
                hint=_AS_WRITTEN,
            )

    def apply(self, scores: ArrayLike) -> Array:
        return np.clip((np.clip(_one_column(scores), self.low, self.high) - self.low) / (self.high - self.low), 0, 1)

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return _outside(scores, self.low, self.high)

    def to_dict(self) -> Row:
        return _saved(self, low=self.low, high=self.high)


@dataclass(frozen=True)
class LogisticMap:
    """The plain logistic function 1 / (1 + exp(−s)), for scores that are log odds.

    >>> LogisticMap().apply([0.0])
    array([0.5])
    """

    kind: ClassVar[str] = "logistic"

    def apply(self, scores: ArrayLike) -> Array:
        from scorespace.special import expit

        return np.asarray(expit(_one_column(scores)))

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return np.zeros(len(np.asarray(scores)), dtype=bool)

    def to_dict(self) -> Row:
        return _saved(self)


def never(map: ScoreMap) -> bool:
    """Whether it is the map of a class without cases, 0 whatever the score."""
    return isinstance(map, IsotonicMap) and map.score.tolist() == [0.0] and map.probability.tolist() == [0.0]


@dataclass(frozen=True)
class ClassMaps:
    """One map for each of K classes against the rest; the mapped scores of a case are divided by their sum.

    >>> ClassMaps(("a", "b"), (LogisticMap(), LogisticMap())).apply([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    kind: ClassVar[str] = "classes"
    classes: tuple[str, ...]
    maps: tuple[ScoreMap, ...]

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.maps) or len(set(self.classes)) != len(self.classes) or not self.maps:
            seen = f"{len(self.maps)} maps for {listing(self.classes) or 'no class'}"
            raise DataError(
                "a map of several classes needs one map for each.",
                seen=seen,
                hint=_AS_WRITTEN,
            )

    def apply(self, scores: ArrayLike) -> Array:
        rows = self._rows(scores)
        mapped = np.stack([one.apply(column) for one, column in zip(self.maps, rows.T, strict=True)], axis=1)
        total = mapped.sum(axis=1, keepdims=True)
        # Where every class got probability 0, none is likelier than another.
        return np.divide(mapped, total, out=np.full_like(mapped, 1 / len(self.maps)), where=total > 0)

    @property
    def method(self) -> str:
        """How the maps were fitted; that of a class without cases does not tell."""
        return next((one.kind for one in self.maps if one.kind != IsotonicMap.kind), IsotonicMap.kind)

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        rows = self._rows(scores)
        beyond = [one.outside(column) for one, column in zip(self.maps, rows.T, strict=True) if not never(one)]
        return np.any([np.zeros(len(rows), dtype=bool), *beyond], axis=0)

    @property
    def without_cases(self) -> tuple[str, ...]:
        """The classes that had no cases to fit a map on: they get probability 0."""
        return tuple(name for name, one in zip(self.classes, self.maps, strict=True) if never(one))

    def to_dict(self) -> Row:
        return _saved(self, classes=list(self.classes), maps=[one.to_dict() for one in self.maps])

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
    """The map that `to_dict` wrote, checked.

    >>> map_from_dict({"schema": 1, "kind": "temperature", "temperature": 1.5})
    TemperatureMap(temperature=1.5)
    """
    if not isinstance(content, Mapping):
        raise DataError("this is no recalibration map.", seen=f"a {type(content).__name__}", hint="a JSON object")
    if content.get("schema") != SCHEMA:
        raise DataError(
            f"the map is not of schema {SCHEMA}.",
            seen=f"schema {content.get('schema')!r}",
            hint=_AS_WRITTEN,
        )
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in _READERS:
        near = did_you_mean(str(kind), _READERS)
        hint = f"did you mean {near}?" if near else None
        raise DataError(f"there is no map of kind {kind!r}.", seen=listing(_READERS), hint=hint)
    try:
        return _READERS[kind](content)
    except OverflowError:
        raise DataError(f"a number of the {kind} map is too large.", hint=_AS_WRITTEN) from None
    except KeyError as absent:
        raise DataError(
            f"the {kind} map lacks {absent.args[0]!r}.",
            seen=listing(content),
            hint=_AS_WRITTEN,
        ) from None


def logits(probability: Array) -> Array:
    """log(p / (1 − p)), infinite for 0 and 1; refused outside [0, 1]."""
    from scorespace.special import logit

    if probability.size and not (probability.min() >= 0 and probability.max() <= 1):
        raise _not_probabilities(probability)
    return np.asarray(logit(probability))


def log_probabilities(scores: ArrayLike) -> Array:
    """Logarithms of rows of K probabilities, −inf for 0; refused where negative or without any above 0."""
    rows = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ScoreError(
            "a row of scores is needed for each case, one per class.",
            seen=f"shape {rows.shape}",
            hint="an array of cases × classes",
        )
    if not np.isfinite(rows).all() or (rows.size and rows.min() < 0):
        raise _not_probabilities(rows)
    empty = int((rows.max(axis=1) == 0).sum())
    if empty:
        seen = f"{grouped(empty)} of {grouped(len(rows))} cases"
        raise ScoreError(
            "some cases have probability 0 for every class.",
            seen=seen,
            hint="a probability above 0 for at least one class of each case",
        )
    with np.errstate(divide="ignore"):
        return np.log(rows)


def _not_probabilities(values: Array) -> ScoreError:
    seen = f"scores from {values.min():g} to {values.max():g}"
    return ScoreError("this map needs probabilities.", seen=seen, hint='method="platt" or "isotonic" takes any scores')


def _one_column(scores: ArrayLike) -> Array:
    values = np.asarray(scores)
    if values.ndim != 1:
        raise ScoreError(
            "this map takes one score for each case.",
            seen=f"scores of shape {values.shape}",
            hint="one column of scores",
        )
    return scores_of(values, values.size)


def _outside(scores: ArrayLike, low: float, high: float) -> NDArray[np.bool_]:
    values = _one_column(scores)
    return (values < low) | (values > high)


def _refuse_empty_range(low: float, high: float) -> None:
    if not low <= high:
        raise DataError(
            "the range a map was fitted on is empty.",
            seen=f"from {low} to {high}",
            hint=_AS_WRITTEN,
        )


def _first_fall(values: Array, strictly: bool = False) -> str:
    before, after = values[:-1], values[1:]
    place = int(np.argmax(after <= before if strictly else after < before))
    return f"{values[place]:g} and then {values[place + 1]:g}"


def _saved(one: Any, **content: Any) -> Row:
    return {"schema": SCHEMA, "kind": one.kind, **plain(content)}


def _numbers(values: Any, what: str) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the {what} must be numbers.", seen=f"{values!r:.60}", hint=_AS_WRITTEN) from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError(
            f"the {what} must be a list of finite numbers.",
            seen=f"{values!r:.60}",
            hint=_AS_WRITTEN,
        )
    return array


def _number(content: Mapping[str, Any], name: str, absent: float | None = None) -> float:
    """A number of a saved map; None stands for what JSON has no number for."""
    value = content[name] if absent is None else content.get(name)
    if value is None and absent is not None:
        return absent
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise DataError(
            f"{name} of the {content['kind']} map must be a finite number.",
            seen=repr(value),
            hint=_AS_WRITTEN,
        )
    return float(value)


def _read_classes(content: Mapping[str, Any]) -> ClassMaps:
    classes, maps = content["classes"], content["maps"]
    if not (isinstance(classes, list) and all(isinstance(name, str) for name in classes) and isinstance(maps, list)):
        raise DataError(
            "a map of several classes lists their names and their maps.",
            seen=f"{classes!r:.60}",
            hint=_AS_WRITTEN,
        )
    return ClassMaps(tuple(classes), tuple(map_from_dict(one) for one in maps))


_READERS: dict[str, Callable[[Mapping[str, Any]], ScoreMap]] = {
    "isotonic": lambda content: IsotonicMap(content["score"], content["probability"]),
    "platt": lambda content: PlattMap(
        _number(content, "slope"),
        _number(content, "intercept"),
        content.get("on", "score"),
        _number(content, "low", -math.inf),
        _number(content, "high", math.inf),
    ),
    "temperature": lambda content: TemperatureMap(_number(content, "temperature")),
    "minmax": lambda content: MinMaxMap(_number(content, "low"), _number(content, "high")),
    "logistic": lambda content: LogisticMap(),
    "classes": _read_classes,
}
