"""Sums of the errors of predicted numbers, added up where the rows are: one pass that checks the rows on its way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any, Final

import narwhals as nw
import numpy as np

from scorespace.frames.check import Sample, Seen, check, refuse_wrong_kinds
from scorespace.frames.roles import Roles
from scorespace.frames.source import Frame, Source
from scorespace.frames.values import number
from scorespace.frozen import dataclass
from scorespace.tables.columns import LEAST_SIZE, MOST_EXACT
from scorespace.tables.counts import ratio
from scorespace.tables.sums import NEEDED, POWERS, TERMS, ErrorSums, term_values

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
_FAR: Final = 1000  # times its variance the square of a mean error may be before errors are counted from their mean

Needs = Sequence[frozenset[str]]
"""The terms of each measure that will be asked for: what stands in one of them is multiplied by each other."""


def tally_numbers(
    source: Source, roles: Roles, *, missing: str = "error", order: Sequence[Any] = (), needs: Needs | None = None
) -> tuple[Sample, dict[str, ErrorSums]]:
    """The sample and the sums of the errors of each model, from one pass over the rows.

    The pass also sees whether all is in order, and only if it is not, a further one looks for what is wrong. Where
    relative errors are relative to the mean of the truths, a pass over the truths alone comes first. `needs` leaves out
    what no measure asks for: each sum takes about half as long as reading a column.

    >>> from scorespace.frames import read, roles
    >>> source = read({"y": [1.0, 2.0, 4.0], "m": [1.5, 2.0, 3.0]})
    >>> tally_numbers(source, roles(source, truth="y", predictions="m"))[1]["m"]
    ErrorSums: 3 cases
    """
    refuse_wrong_kinds(source, roles)
    if not (roles.group or roles.fold or roles.repeat or roles.time):  # no sum tells whether these are in order
        added = [*_passes(source, source.frame, roles, needs)]
        if all(one.in_order for one in added):
            return check(source, roles, missing, order, added[0].seen), _tables(added)
    sample = check(source, roles, missing, order)
    return sample, error_sums(sample, needs)


def error_sums(sample: Sample, needs: Needs | None = None) -> dict[str, ErrorSums]:
    """The sums of the errors of each model of a checked sample."""
    return _tables([*_passes(sample.source, sample.frame, sample.roles, needs)])


@dataclass(frozen=True)
class _Wanted:
    """The places of the terms that are added up, and of the products of two of them."""

    terms: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    def __contains__(self, term: str) -> bool:
        return TERMS.index(term) in self.terms


def _wanted(roles: Roles, needs: Needs | None, *, far: bool) -> _Wanted:
    """What measures need, and what tells sizes: the errors, their squares and those of the truths.

    Squares of errors that are counted from far away are told only together with the errors.

    >>> [TERMS[j] for j in _wanted(Roles("y"), [frozenset({"absolute"})], far=False).terms]
    ['weight', 'absolute', 'error', 'error²', 'truth²']
    """
    # The variance of the truth stands for the square of its mean as a baseline.
    pairs = [pair for pair in _PAIRS if roles.baseline is not None or _OFF_SQUARED not in pair]
    if needs is None:
        return _Wanted(tuple(range(len(TERMS))), tuple(pairs))
    own = [{0, *map(TERMS.index, one), *({2} if far and "error²" in one else ())} for one in needs]
    own.append({0, 2})
    alone = {(0, 3)}  # by which the square of an absolute error is known
    held = tuple(pair for pair in pairs if pair in alone or any(one.issuperset(pair) for one in own))
    return _Wanted(tuple(sorted({0, 3, 5}.union(*own))), held)


@dataclass(frozen=True)
class _Added:
    """What one pass added up: sums by their letters, and what was counted beside them.

    `truth` and `errors` (by model) are the origins that truths and errors are counted from.
    """

    roles: Roles
    wanted: _Wanted
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
        for j, k in self.wanted.pairs:
            products[j, k] = products[k, j] = added(twice, POWERS[j] + POWERS[k])
        origin = self.errors[model]
        weight, first, second = products[0, [0, 2, 3]]
        if "absolute" in self.wanted:
            products[1, 1] = second + 2 * origin * first + origin**2 * weight
        sums = np.full(len(TERMS), np.nan)
        for j in self.wanted.terms:
            sums[j] = added(once, POWERS[j])
        if self.roles.baseline is None:
            tilt = added(once, "t") / sums[0] if "off" in self.wanted else math.nan
            return ErrorSums(sums, (self.truth, origin), self.truth, tilt, products)
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
        if isinstance(self.roles.baseline, str) and not self.sums["b b"] > _SMALL**2 * self.beside["rows"]:
            return False
        return all(_sized(table, min(1.0, least)) for table in self.tables.values())


def _tables(added: Sequence[_Added]) -> dict[str, ErrorSums]:
    return {model: table for one in added for model, table in one.tables.items()}


def _sized(table: ErrorSums, least: float) -> bool:
    """Whether squares prove that no number is too large, and that not all are too small."""
    most = math.sqrt(np.nanmax(table.sums[[3, 5, _OFF_SQUARED]]) / least)
    origin, of_errors = table.origin[0], float(table.squared)
    squares = float(ratio(table.sums[5], table.sums[0]))
    of_truth = squares + origin * (2 * float(table.mean("truth")) + origin) if origin else squares
    if math.isnan(table.sums[6]):
        of_predicted = (math.sqrt(of_errors) - math.sqrt(max(0.0, of_truth))) ** 2  # at least
    else:
        together = float(table.together) + float(table.error) * (float(table.mean("truth")) + origin)
        of_predicted = of_errors + of_truth + 2 * together
    # What is left of large numbers is rounding.
    small = max(_SMALL**2, 1e-14 * (of_errors + of_truth))
    return max(most, *map(abs, table.origin)) < _LARGE and of_truth > _SMALL**2 and of_predicted > small


def _passes(source: Source, frame: Frame, roles: Roles, needs: Needs | None) -> Iterator[_Added]:
    """What a pass adds up, for some models at a time."""
    needs = needs if roles.baseline is None else None  # else the baseline must be looked at, too
    truth = number(roles.truth)
    of_truth = _wanted(roles, needs, far=False)
    mean = _mean(source, frame, roles) if roles.baseline is None and "off" in of_truth else None
    models = [*roles.numbers.items()]
    for start in range(0, len(models), _TOGETHER):
        predicted = {model: number(column) for model, (_, column) in models[start : start + _TOGETHER]}
        begun, errors = _begun(source, frame, truth, predicted)
        origin = (begun if "truth" in of_truth else 0.0) if mean is None else mean
        wanted = _wanted(roles, needs, far=any(errors.values()))
        yield _added(source, frame, roles, predicted, wanted, origin, errors)


def _begun(
    source: Source, frame: Frame, truth: nw.Expr, predicted: Mapping[str, nw.Expr]
) -> tuple[float, dict[str, float]]:
    """Of the first rows, the mean of the truths, and where the errors of each model are counted from.

    That is 0, unless all are far from it for how much they differ.
    """
    first = {f"e{place}": one - truth for place, one in enumerate(predicted.values())}
    squares = {f"square {name}": nw.col(name) * nw.col(name) for name in first}
    rows = frame.head(_FIRST).select(y=truth, **first).with_columns(**squares)
    found = _numbers(source, rows.select(nw.all().mean()))
    # What is no number here is none in the sums, which tell.
    y = found["y"] if math.isfinite(found["y"]) else 0.0
    errors = dict.fromkeys(predicted, 0.0)
    for model, name in zip(predicted, first, strict=True):
        mean, square = found[name], found[f"square {name}"]
        if math.isfinite(mean) and not mean * mean <= _FAR * (square - mean * mean):
            errors[model] = mean
    return y, errors


def _mean(source: Source, frame: Frame, roles: Roles) -> float:
    """The mean of the truths, which nobody can be judged by before it is known."""
    truth = number(roles.truth)
    if roles.weight is None:
        found = _numbers(source, frame.select(y=truth).select(total=nw.col("y").sum(), rows=nw.col("y").count()))
        return found["total"] / found["rows"] if found["rows"] else math.nan
    weight = number(roles.weight)
    found = _numbers(source, frame.select(w=weight, y=truth * weight).select(nw.all().sum()))
    return found["y"] / found["w"] if found["w"] else math.nan


def _added(
    source: Source,
    frame: Frame,
    roles: Roles,
    predicted: Mapping[str, nw.Expr],
    wanted: _Wanted,
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
        asked |= {once + _factors(roles, POWERS[j], place) for j in wanted.terms}
        asked |= {twice + _factors(roles, POWERS[j] + POWERS[k], place) for j, k in wanted.pairs}
    if roles.baseline is None and "off" in wanted:
        given["t"] = (truth < origin).cast(nw.Float64) - (truth > origin).cast(nw.Float64)
        asked.add((*once, "t"))
    known = [f"e{place}" for place in range(len(predicted))]
    if isinstance(roles.baseline, str):
        known.append("o")
        given["b"] = base
        asked.add(("b", "b"))
    beside = {"rows": nw.len(), **{f"known {name}": nw.col(name).count() for name in known}}
    if roles.weight is not None:
        weight = number(roles.weight)
        given |= {"w": weight, "weighing": nw.when(weight > 0).then(weight), "used": (weight != 0).cast(nw.Int64)}
        beside |= {"known w": nw.col("w").count(), "lowest": nw.col("w").min(), "least": nw.col("weighing").min()}
        beside |= {"used": nw.col("used").sum()}
    used = {name for factors in asked for name in factors}.union(known, ("weighing", "used"))
    given = {name: one for name, one in given.items() if name in used}
    # Products are made here: some engines add up plain columns only.
    made = {" ".join(factors): reduce(mul, map(nw.col, factors)) for factors in sorted(asked) if factors}
    kept = {name: nw.col(name) for name in (*known, *given) if name not in made}
    summed = {f"sum {name}": nw.col(name).sum() for name in made}
    found = _numbers(source, frame.select(**given).select(**made, **kept).select(**summed, **beside))
    sums = {name.removeprefix("sum "): one for name, one in found.items() if name.startswith("sum ")}
    counted = {name: one for name, one in found.items() if name in beside}
    return _Added(roles, wanted, origin, errors, {"": counted["rows"], **sums}, counted)


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


def _numbers(source: Source, frame: Frame) -> dict[str, float]:
    """The one row of a frame; what engines call missing, because there are no rows, is no number."""
    found = source.arrays(frame)
    return {name: math.nan if np.ma.is_masked(one) or one[0] is None else float(one[0]) for name, one in found.items()}
