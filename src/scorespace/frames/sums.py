"""Sums of the errors of predicted numbers, added up where the rows are: one pass that checks the rows on its way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np

from scorespace.frames.check import Sample, Seen, check, number, refuse_wrong_kinds
from scorespace.frames.roles import Roles
from scorespace.frames.source import Frame, Source
from scorespace.tables.residual import NEEDED, POWERS, TERMS, ErrorSums, term_values
from scorespace.tables.score import LEAST_SIZE, MOST_EXACT

_FIRST: Final = 100_000
"""Rows whose means are the origin: in whatever order rows come, it is at most √(n / first) standard deviations off."""

_TOGETHER: Final = 8  # models in one pass: engines plan some hundred sums quickly, but not thousands
_SMALL, _LARGE = 1e-60, 1e66
"""Numbers between these are far from where they cannot be squared twice."""

_SHARED: Final = frozenset("yotb")
"""Letters of what is the same for all models: truth, distance from the baseline, its side, and the baseline."""

_PAIRS: Final = tuple(
    (j, k)
    for j in range(len(TERMS))
    for k in range(j, len(TERMS))
    if frozenset((TERMS[j], TERMS[k])) in NEEDED and (j, k) != (1, 1)  # |e|² is e², whose sum is known
)
_OFF_SQUARED: Final = TERMS.index("off²")


def tally_numbers(
    source: Source, roles: Roles, *, missing: str = "error", order: Sequence[Any] = ()
) -> tuple[Sample, dict[str, ErrorSums]]:
    """The sample and the sums of the errors of each model, from one pass over the rows.

    The pass also sees whether all is in order, and only if it is not, a further one looks for what is wrong. Where
    relative errors are relative to the mean of the truths, a pass over the truths alone comes first.

    >>> from scorespace.frames import read, roles
    >>> source = read({"y": [1.0, 2.0, 4.0], "m": [1.5, 2.0, 3.0]})
    >>> tally_numbers(source, roles(source, truth="y", predictions="m"))[1]["m"]
    ErrorSums: 3 cases
    """
    refuse_wrong_kinds(source, roles)
    if not (roles.group or roles.fold or roles.repeat or roles.time):  # no sum tells whether these are in order
        added = [*_passes(source, source.frame, roles)]
        if all(one.in_order for one in added):
            return check(source, roles, missing, order, added[0].seen), _tables(added)
    sample = check(source, roles, missing, order)
    return sample, error_sums(sample)


def error_sums(sample: Sample) -> dict[str, ErrorSums]:
    """The sums of the errors of each model of a checked sample."""
    return _tables([*_passes(sample.source, sample.frame, sample.roles)])


@dataclass(frozen=True)
class _Added:
    """What one pass added up: sums by their letters, and what was counted beside them.

    `truth` and `errors` (by model) are the origins that truths and errors are counted from.
    """

    roles: Roles
    truth: float
    errors: Mapping[str, float]
    sums: Mapping[str, float]
    beside: Mapping[str, float]

    @property
    def tables(self) -> dict[str, ErrorSums]:
        return {model: self._table(model, place) for place, model in enumerate(self.errors)}

    def _table(self, model: str, place: int) -> ErrorSums:
        once, twice = _weights(self.roles)

        def added(weights: Factors, letters: str) -> float:
            return self.sums[" ".join(weights + _factors(self.roles, letters, place))]

        products = np.full((len(TERMS), len(TERMS)), np.nan)
        for j, k in _pairs(self.roles):
            products[j, k] = products[k, j] = added(twice, POWERS[j] + POWERS[k])
        origin = self.errors[model]
        weight, first, second = products[0, [0, 2, 3]]
        products[1, 1] = second + 2 * origin * first + origin**2 * weight
        sums = np.array([added(once, letters) for letters in POWERS])
        if self.roles.baseline is None:
            return ErrorSums(sums, (self.truth, origin), self.truth, added(once, "t") / sums[0], products)
        base = self.roles.baseline if isinstance(self.roles.baseline, float) else None
        return ErrorSums(sums, (self.truth, origin), base, None, products)

    @property
    def seen(self) -> Seen:
        return Seen(int(self.beside["rows"]), int(self.beside.get("used", self.beside["rows"])), {})

    @property
    def in_order(self) -> bool:
        """Whether nothing is missing or infinite, and all numbers and weights are of a size to calculate with."""
        known = all(one == self.beside["rows"] for name, one in self.beside.items() if name.startswith("known "))
        # The relative error of a truth of zero is infinite, and in order.
        finite = all(math.isfinite(one) or (one == math.inf and "r" in name) for name, one in self.sums.items())
        if not (known and finite and self.beside["rows"]):
            return False
        least = self.beside.get("least", 1.0)
        if self.roles.weight is not None:
            weighed = self.beside["lowest"] >= 0 and least >= LEAST_SIZE and 0 < self.sums["w"] < MOST_EXACT
            if not weighed:
                return False
        return all(_sized(table, min(1.0, least)) for table in self.tables.values()) and self._baseline_sized()

    def _baseline_sized(self) -> bool:
        if not isinstance(self.roles.baseline, str):
            return True
        return self.sums["b b"] > _SMALL**2 * self.beside["rows"]


def _tables(added: Sequence[_Added]) -> dict[str, ErrorSums]:
    return {model: table for one in added for model, table in one.tables.items()}


def _sized(table: ErrorSums, least: float) -> bool:
    """Whether fourth powers prove that no number is too large, and squares that not all are too small."""
    assert table.products is not None  # a pass adds them up
    fourth = np.nanmax(np.diagonal(table.products)[[3, 5, _OFF_SQUARED]]) / least**2
    truth = float(table.mean("truth")) + table.origin[0]
    of_truth = float(table.truth_spread) + truth**2
    of_predicted = (
        float(table.truth_spread + table.error_spread + 2 * table.together) + (truth + float(table.error)) ** 2
    )
    most = max(fourth**0.25, *map(abs, table.origin))
    return bool(most < _LARGE and min(of_truth, of_predicted) > _SMALL**2)


def _passes(source: Source, frame: Frame, roles: Roles) -> Iterator[_Added]:
    """What a pass adds up, for some models at a time."""
    truth = number(roles.truth)
    mean = _mean(source, frame, roles) if roles.baseline is None else None
    models = [*roles.numbers.items()]
    for start in range(0, len(models), _TOGETHER):
        predicted = {model: number(column) for model, (_, column) in models[start : start + _TOGETHER]}
        first = {f"e{place}": one - truth for place, one in enumerate(predicted.values())}
        begun = _numbers(source, frame.head(_FIRST).select(y=truth, **first).select(nw.all().mean()))
        # What is no number here is none in the sums, which tell.
        y, *errors = (one if math.isfinite(one) else 0.0 for one in (begun[name] for name in ("y", *first)))
        origin = y if mean is None else mean
        yield _added(source, frame, roles, predicted, origin, dict(zip(predicted, errors, strict=True)))


def _mean(source: Source, frame: Frame, roles: Roles) -> float:
    """The mean of the truths, which nobody can be judged by before it is known."""
    truth = number(roles.truth)
    if roles.weight is None:
        return _numbers(source, frame.select(y=truth).select(nw.all().mean()))["y"]
    weight = number(roles.weight)
    found = _numbers(source, frame.select(w=weight, y=truth * weight).select(nw.all().sum()))
    return found["y"] / found["w"] if found["w"] else math.nan


def _added(
    source: Source,
    frame: Frame,
    roles: Roles,
    predicted: Mapping[str, nw.Expr],
    origin: float,
    errors: Mapping[str, float],
) -> _Added:
    """The sums of all terms and of the products that are needed, each once."""
    truth, (once, twice) = number(roles.truth), _weights(roles)
    base: Any = origin if roles.baseline is None else roles.baseline
    base = number(base) if isinstance(base, str) else base
    given: dict[str, nw.Expr] = {}
    asked: set[Factors] = set()
    for place, (model, one) in enumerate(predicted.items()):
        terms = term_values(truth, one, base, (origin, errors[model]), nw.Expr.abs)
        missed, own, both = terms[0], truth.abs(), truth.abs() + one.abs()
        # Engines do not agree on x / 0.
        terms[-2] = nw.when(own > 0).then(missed / own).otherwise(nw.when(missed > 0).then(math.inf).otherwise(0.0))
        terms[-1] = nw.when(both > 0).then(2 * missed / both).otherwise(0.0)
        single = (pair for pair in zip(POWERS[1:], terms, strict=True) if len(pair[0]) == 1)
        given |= {_factors(roles, letter, place)[0]: term for letter, term in single}
        asked |= {once + _factors(roles, letters, place) for letters in POWERS}
        asked |= {twice + _factors(roles, POWERS[j] + POWERS[k], place) for j, k in _pairs(roles)}
    if roles.baseline is None:
        given["t"] = (truth < origin).cast(nw.Float64) - (truth > origin).cast(nw.Float64)
        asked.add((*once, "t"))
    known = ["o", *(f"e{place}" for place in range(len(predicted)))]
    beside = {"rows": nw.len(), **{f"known {name}": nw.col(name).count() for name in known}}
    if isinstance(roles.baseline, str):
        given["b"] = base
        asked.add(("b", "b"))
    if roles.weight is not None:
        weight = number(roles.weight)
        given |= {"w": weight, "weighing": nw.when(weight > 0).then(weight), "used": (weight != 0).cast(nw.Int64)}
        beside |= {"known w": nw.col("w").count(), "lowest": nw.col("w").min(), "least": nw.col("weighing").min()}
        beside |= {"used": nw.col("used").sum()}
    # Products are made here: some engines add up plain columns only.
    made = {" ".join(factors): _product(factors) for factors in sorted(asked) if factors}
    kept = {name: nw.col(name) for name in (*known, *given) if name not in made}
    summed = {f"sum {name}": nw.col(name).sum() for name in made}
    found = _numbers(source, frame.select(**given).select(**made, **kept).select(**summed, **beside))
    sums = {name.removeprefix("sum "): one for name, one in found.items() if name.startswith("sum ")}
    counted = {name: one for name, one in found.items() if name in beside}
    return _Added(roles, origin, errors, {"": counted["rows"], **sums}, counted)


Factors = tuple[str, ...]
"""The columns whose product is added up; the same for the same powers, so that e² · y and e · (e · y) are one."""


def _factors(roles: Roles, letters: str, place: int) -> Factors:
    """The columns that letters stand for: counted from their mean as the baseline, the square of truths is that of off.

    >>> _factors(Roles("y"), "yee", 0), _factors(Roles("y"), "oo", 0), _factors(Roles("y", baseline=3.0), "oo", 0)
    (('e0', 'e0', 'y'), ('y', 'y'), ('o', 'o'))
    """
    plain = letters.replace("oo", "yy") if roles.baseline is None else letters
    return tuple(letter if letter in _SHARED else f"{letter}{place}" for letter in sorted(plain))


def _weights(roles: Roles) -> tuple[Factors, Factors]:
    """By what terms, and products of two terms, are multiplied."""
    if roles.weight is None:
        return (), ()
    return ("w",), ("w",) if roles.copies else ("w", "w")


def _pairs(roles: Roles) -> list[tuple[int, int]]:
    """The products that are needed; the variance of the truth stands for the square of its mean as a baseline."""
    return [pair for pair in _PAIRS if roles.baseline is not None or _OFF_SQUARED not in pair]


def _product(factors: Factors) -> nw.Expr:
    found = nw.col(factors[0])
    for factor in factors[1:]:
        found = found * nw.col(factor)
    return found


def _numbers(source: Source, frame: Frame) -> dict[str, float]:
    """The one row of a frame; what engines call missing, because there are no rows, is no number."""
    found = source.arrays(frame)
    return {name: math.nan if np.ma.is_masked(one) or one[0] is None else float(one[0]) for name, one in found.items()}
