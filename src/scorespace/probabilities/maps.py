"""Recalibration maps: from a score to a probability, kept as plain numbers and saved as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.errors import DataError, ScoreError, did_you_mean, listing
from scorespace.frozen import dataclass
from scorespace.results import SCHEMA, ByValue, Row, grouped, plain
from scorespace.special import expit, logit, softmax
from scorespace.tables import Array
from scorespace.tables.columns import scores_of

On = Literal["score", "logit"]
FittedTo = Literal["truth", "scores", "nothing"]

TEMPERATURES: Final = (0.01, 100.0)
"""Where a temperature is looked for; perfect or worthless scores would send it to 0 or to infinity."""

_AS_WRITTEN: Final = "a map as scorespace calibrate --map writes it"


class ScoreMap:
    """What every map does: `apply` it, say which scores lie `outside` those it was fitted on, become JSON and back.

    `title` begins a sentence about it, `beyond` says what scores outside get, `doubts` what to know of a fitted one
    where some cases were given probability 0 for their actual class. What is `fitted_to` the truth must not be judged
    on the cases it was fitted to.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    beyond: ClassVar[str] = "there the map has no cases to go by"
    fitted_to: ClassVar[FittedTo] = "truth"
    turned: bool = False  # whether it turns the ranking round
    classes: tuple[str, ...] = ()  # those that it has a map for each, where it is not one for all

    def apply(self, scores: ArrayLike) -> Array:
        raise NotImplementedError

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return np.zeros(len(np.asarray(scores)), dtype=bool)

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        yield from ()

    @property
    def method(self) -> str:
        """How it was fitted."""
        return self.kind

    def to_dict(self) -> Row:
        return {"schema": SCHEMA, "kind": self.kind, **plain(vars(self))}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """The map that `to_dict` wrote: numbers and lists of them, by the names of its fields."""
        found = {}
        for one in fields(cls):  # type: ignore[arg-type]
            absent = None if one.default is MISSING else one.default
            if one.type == "float":
                found[one.name] = _number(content, one.name, absent)
            else:
                found[one.name] = content[one.name] if absent is None else content.get(one.name, absent)
        return cls(**found)


@dataclass(frozen=True)
class PlattMap(ScoreMap):
    """Probability 1 / (1 + exp(−(slope·s + intercept))), of the score itself or of its logit.

    `low` and `high` are the lowest and the highest score it was fitted on; beyond them it goes on by its formula.

    >>> PlattMap(2.0, -1.0).apply([0.5, 1.0])
    array([0.5       , 0.73105858])
    """

    kind: ClassVar[str] = "platt"
    title: ClassVar[str] = "Platt's map"
    beyond: ClassVar[str] = "its formula goes on there"
    slope: float
    intercept: float
    on: On = "score"
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept)):
            raise _wrong("a platt map needs a finite slope and intercept.", f"{self.slope}, {self.intercept}")
        if self.on not in ("score", "logit"):
            raise DataError(f"on={self.on!r} is not what a platt map works on.", hint='"score" or "logit"')
        if not self.low <= self.high:
            raise _wrong("the range a map was fitted on is empty.", f"from {self.low} to {self.high}")

    @property
    def turned(self) -> bool:  # type: ignore[override]
        return self.slope < 0

    def apply(self, scores: ArrayLike) -> Array:
        values = _one_column(scores)
        if self.on == "logit":
            values = logits(values)
        # A slope of 0 forgets the score, also the infinite logit of 0 and of 1.
        linear = self.slope * values if self.slope else np.zeros_like(values)
        return np.asarray(expit(linear + self.intercept))

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return _outside(scores, self.low, self.high)


@dataclass(frozen=True, eq=False)
class IsotonicMap(ScoreMap, ByValue):
    """The best rising map: constant inside each block of the fit, a straight line between two blocks, constant ends.

    `score` holds the ends of the blocks from below and `probability` their shares of positives. Cases inside a
    block become tied; in the gaps between blocks the line keeps their order.

    >>> IsotonicMap([0.1, 0.3, 0.5], [0.0, 0.5, 0.5]).apply([0.0, 0.2, 0.4, 0.9])
    array([0.  , 0.25, 0.5 , 0.5 ])
    """

    kind: ClassVar[str] = "isotonic"
    title: ClassVar[str] = "Isotonic"
    beyond: ClassVar[str] = "they get the probability at its end"
    score: Array
    probability: Array

    def __post_init__(self) -> None:
        for name in ("score", "probability"):
            object.__setattr__(self, name, _numbers(getattr(self, name), f"{name} of an isotonic map"))
        score, share = self.score, self.probability
        if score.shape != share.shape or not score.size:
            seen = f"{score.size} and {share.size}"
            raise _wrong("an isotonic map needs as many scores as probabilities, one at least.", seen)
        if not (score[1:] > score[:-1]).all():
            raise _wrong("the scores of an isotonic map must rise.", _first_fall(score, strictly=True))
        if not (share[1:] >= share[:-1]).all():
            raise _wrong("the probabilities of an isotonic map must not fall.", _first_fall(share))
        if share[0] < 0 or share[-1] > 1:
            seen = f"from {share[0]:g} to {share[-1]:g}"
            raise _wrong("the probabilities of an isotonic map must lie between 0 and 1.", seen)

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


@dataclass(frozen=True)
class TemperatureMap(ScoreMap):
    """Class probabilities softmax(log p / temperature), rows of K; one column counts as that of two classes.

    Above 1 it makes probabilities less extreme, below 1 more. A zero stays a zero at every temperature.

    >>> TemperatureMap(2.0).apply([[0.8, 0.2, 0.0]])
    array([[0.66666667, 0.33333333, 0.        ]])
    """

    kind: ClassVar[str] = "temperature"
    title: ClassVar[str] = "The temperature"
    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise _wrong(f"temperature={self.temperature} is not a positive number.")

    def apply(self, scores: ArrayLike) -> Array:
        if np.ndim(scores) == 1:
            return np.asarray(expit(logits(_one_column(scores)) / self.temperature))
        return np.asarray(softmax(log_probabilities(scores) / self.temperature, axis=1))

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        if impossible:
            have = "case has" if impossible == 1 else "cases have"
            yield (
                f"{grouped(impossible)} {have} probability 0 for the actual class, which no temperature changes; "
                "the log loss stays infinite, and the fit leaves them out."
            )
        low, high = TEMPERATURES
        if not low * 1.001 < self.temperature < high / 1.001:
            yield f"the temperature reached the end of the range {low:g} to {high:g} in which it is looked for."


@dataclass(frozen=True)
class MinMaxMap(ScoreMap):
    """The place of a score between the lowest and the highest, (s − low) / (high − low), cut off at 0 and 1.

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
            raise _wrong("a minmax map needs a lowest score and a higher one.", f"{self.low:g}, {self.high:g}")

    def apply(self, scores: ArrayLike) -> Array:
        return np.clip((np.clip(_one_column(scores), self.low, self.high) - self.low) / (self.high - self.low), 0, 1)

    def outside(self, scores: ArrayLike) -> NDArray[np.bool_]:
        return _outside(scores, self.low, self.high)


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
        return np.asarray(expit(_one_column(scores)))


def never(map: ScoreMap) -> bool:
    """Whether it is the map of a class without cases, 0 whatever the score."""
    return isinstance(map, IsotonicMap) and map.score.tolist() == [0.0] and map.probability.tolist() == [0.0]


@dataclass(frozen=True)
class ClassMaps(ScoreMap):
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
            raise _wrong("a map of several classes needs one map for each.", seen)

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

    def doubts(self, impossible: int = 0) -> Iterator[str]:
        names = [name for name, one in zip(self.classes, self.maps, strict=True) if never(one)]
        if names:
            yield f"no cases of {listing(names)} were there to fit a map on: every case gets probability 0 for it."

    def to_dict(self) -> Row:
        maps = [one.to_dict() for one in self.maps]
        return {"schema": SCHEMA, "kind": self.kind, "classes": list(self.classes), "maps": maps}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        classes, maps = content["classes"], content["maps"]
        named = isinstance(classes, list) and all(isinstance(name, str) for name in classes)
        if not (named and isinstance(maps, list)):
            raise _wrong("a map of several classes lists their names and their maps.", f"{classes!r:.60}")
        return cls(tuple(classes), tuple(map_from_dict(one) for one in maps))

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
        raise _wrong(f"the map is not of schema {SCHEMA}.", f"schema {content.get('schema')!r}")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS)
        raise DataError(f"there is no map of kind {kind!r}.", seen=listing(KINDS), hint=hint)
    try:
        return KINDS[kind].read(content)
    except OverflowError:
        raise _wrong(f"a number of the {kind} map is too large.") from None
    except KeyError as absent:
        raise _wrong(f"the {kind} map lacks {absent.args[0]!r}.", listing(content)) from None


def logits(probability: Array) -> Array:
    """log(p / (1 − p)), infinite for 0 and 1; refused outside [0, 1]."""
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


def _wrong(problem: str, seen: str | None = None) -> DataError:
    return DataError(problem, seen=seen, hint=_AS_WRITTEN)


def _first_fall(values: Array, strictly: bool = False) -> str:
    before, after = values[:-1], values[1:]
    place = int(np.argmax(after <= before if strictly else after < before))
    return f"{values[place]:g} and then {values[place + 1]:g}"


def _numbers(values: Any, what: str) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise _wrong(f"the {what} must be numbers.", f"{values!r:.60}") from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise _wrong(f"the {what} must be a list of finite numbers.", f"{values!r:.60}")
    return array


def _number(content: Mapping[str, Any], name: str, absent: float | None = None) -> float:
    """A number of a saved map; None stands for what JSON has no number for."""
    value = content[name] if absent is None else content.get(name)
    if value is None and absent is not None:
        return absent
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(f"{name} of the {content['kind']} map must be a finite number.", repr(value))
    return float(value)


KINDS: Final[Mapping[str, type[ScoreMap]]] = {
    one.kind: one for one in (IsotonicMap, PlattMap, TemperatureMap, MinMaxMap, LogisticMap, ClassMaps)
}
"""The maps by their kind, as JSON names it."""
