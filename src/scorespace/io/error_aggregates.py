"""Sums of errors of predicted numbers, computed inside the engine in one pass that also validates the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any, Final

import narwhals as nw
import numpy as np

from scorespace.io.column_values import as_number
from scorespace.io.roles import Roles
from scorespace.io.source import Frame, Source
from scorespace.io.validation import CountedRows, Sample, refuse_wrong_kinds, validate
from scorespace.tables.columns import MAX_EXACT_INTEGER, MIN_MAGNITUDE
from scorespace.tables.counts import ratio
from scorespace.tables.error_sums import NEEDED_PRODUCTS, POWERS, TERMS, ErrorSums, term_values

_ORIGIN_ROWS: Final = 100_000
"""First rows whose means are the origin of the sums; it is off by at most √(n / rows) standard deviations."""

_MODELS_PER_PASS: Final = 8  # engines plan a few hundred sums quickly, but not thousands
_SMALLEST_SAFE, _LARGEST_SAFE = 1e-60, 1e66
"""Numbers in this range can be raised to the fourth power without under- or overflow."""

_SHARED_LETTERS: Final = frozenset("yotb")
"""Letters of terms shared by all models: truth, distance from the baseline, its sign, and the baseline."""

_TERM_PAIRS: Final = tuple(
    (j, k)
    for j in range(len(TERMS))
    for k in range(j, len(TERMS))
    if frozenset((TERMS[j], TERMS[k])) in NEEDED_PRODUCTS and (j, k) != (1, 1)  # |e|² = e², which is already summed
)
_OFF_SQUARED: Final = TERMS.index("off²")
_MAX_SQUARED_MEAN_TO_VARIANCE: Final = 1000  # above it, errors are centred

Needs = Sequence[frozenset[str]]
"""The terms that each requested measure uses; products are summed for pairs within one measure."""


def aggregate_errors(
    source: Source, roles: Roles, *, missing: str = "error", order: Sequence[Any] = (), needs: Needs | None = None
) -> tuple[Sample, dict[str, ErrorSums]]:
    """Return the sample and the error sums of each model from one pass over the rows.

    If the sums show invalid values, a second pass finds and reports them. If relative errors refer to the mean of the
    truths, a pass over the truths comes first. `needs` skips sums that no measure uses: each sum takes about half as
    long as reading a column.

    >>> from scorespace.io import read, resolve_roles
    >>> source = read({"y": [1.0, 2.0, 4.0], "m": [1.5, 2.0, 3.0]})
    >>> aggregate_errors(source, resolve_roles(source, truth="y", predictions="m"))[1]["m"]
    ErrorSums: 3 cases
    """
    refuse_wrong_kinds(source, roles)
    if not (roles.group or roles.fold or roles.repeat or roles.time):  # sums do not validate these columns
        totals = [*_aggregate_batches(source, source.frame, roles, needs)]
        if all(batch.in_order for batch in totals):
            return validate(source, roles, missing, order, totals[0].seen), _merge_tables(totals)
    sample = validate(source, roles, missing, order)
    return sample, error_sums(sample, needs)


def error_sums(sample: Sample, needs: Needs | None = None) -> dict[str, ErrorSums]:
    """Return the error sums of each model of a checked sample."""
    return _merge_tables([*_aggregate_batches(sample.source, sample.frame, sample.roles, needs)])


@dataclass(frozen=True)
class _RequiredTerms:
    """Indices of the terms to sum, and of the pairs of terms whose products are summed."""

    terms: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    def __contains__(self, term: str) -> bool:
        return TERMS.index(term) in self.terms


def _required_terms(roles: Roles, needs: Needs | None, *, far: bool) -> _RequiredTerms:
    """Terms that measures need, plus those that show the magnitude: errors, their squares, squared truths.

    With errors centred on an origin (`far`), their squares also need the errors.

    >>> [TERMS[j] for j in _required_terms(Roles("y"), [frozenset({"absolute"})], far=False).terms]
    ['weight', 'absolute', 'error', 'error²', 'truth²']
    """
    # With the mean as baseline, the variance of the truth replaces the squared distance.
    pairs = [pair for pair in _TERM_PAIRS if roles.baseline is not None or _OFF_SQUARED not in pair]
    if needs is None:
        return _RequiredTerms(tuple(range(len(TERMS))), tuple(pairs))
    term_sets = [{0, *map(TERMS.index, terms), *({2} if far and "error²" in terms else ())} for terms in needs]
    term_sets.append({0, 2})
    always_summed = {(0, 3)}  # Σe² gives the squared absolute error
    required_pairs = tuple(
        pair for pair in pairs if pair in always_summed or any(terms.issuperset(pair) for terms in term_sets)
    )
    return _RequiredTerms(tuple(sorted({0, 3, 5}.union(*term_sets))), required_pairs)


@dataclass(frozen=True)
class _ErrorTotals:
    """Sums of one pass by their letters, and row counts.

    `truth` and `errors` (by model) are the origins that are subtracted before summing.
    """

    roles: Roles
    required: _RequiredTerms
    truth: float
    errors: Mapping[str, float]
    sums: Mapping[str, float]
    counts: Mapping[str, float]

    @property
    def tables(self) -> dict[str, ErrorSums]:
        return {model: self._table(model, place) for place, model in enumerate(self.errors)}

    def _table(self, model: str, index: int) -> ErrorSums:
        term_weights, product_weights = _weight_factors(self.roles)

        def total(factors: Factors, letters: str) -> float:
            return self.sums[" ".join(factors + _factors(self.roles, letters, index))]

        products = np.full((len(TERMS), len(TERMS)), np.nan)
        for j, k in self.required.pairs:
            products[j, k] = products[k, j] = total(product_weights, POWERS[j] + POWERS[k])
        origin = self.errors[model]
        weight, first, second = products[0, [0, 2, 3]]
        if "absolute" in self.required:
            products[1, 1] = second + 2 * origin * first + origin**2 * weight
        sums = np.full(len(TERMS), np.nan)
        for j in self.required.terms:
            sums[j] = total(term_weights, POWERS[j])
        if self.roles.baseline is None:
            tilt = total(term_weights, "t") / sums[0] if "off" in self.required else math.nan
            return ErrorSums(sums, (self.truth, origin), self.truth, tilt, products)
        base = self.roles.baseline if isinstance(self.roles.baseline, float) else None
        return ErrorSums(sums, (self.truth, origin), base, None, products)

    @property
    def seen(self) -> CountedRows:
        return CountedRows(int(self.counts["rows"]), int(self.counts.get("used", self.counts["rows"])), {})

    @property
    def in_order(self) -> bool:
        """Whether no value is missing or infinite, and all numbers and weights have safe magnitudes."""
        is_complete = all(
            count == self.counts["rows"] for name, count in self.counts.items() if name.startswith("known ")
        )
        # The relative error at a truth of zero is infinite, which is valid.
        is_finite = all(
            math.isfinite(total) or (total == math.inf and "r" in name) for name, total in self.sums.items()
        )
        if not (is_complete and is_finite and self.counts["rows"]):
            return False
        least = self.counts.get("least", 1.0)
        if self.roles.weight is not None:
            has_valid_weights = (
                self.counts["lowest"] >= 0 and least >= MIN_MAGNITUDE and 0 < self.sums["w"] < MAX_EXACT_INTEGER
            )
            if not has_valid_weights:
                return False
        if isinstance(self.roles.baseline, str) and not self.sums["b b"] > _SMALLEST_SAFE**2 * self.counts["rows"]:
            return False
        return all(_has_safe_magnitude(table, min(1.0, least)) for table in self.tables.values())


def _merge_tables(totals: Sequence[_ErrorTotals]) -> dict[str, ErrorSums]:
    return {model: table for batch in totals for model, table in batch.tables.items()}


def _has_safe_magnitude(table: ErrorSums, least: float) -> bool:
    """Whether the sums of squares show that no number is too large, and not all are too small."""
    largest = math.sqrt(np.nanmax(table.sums[[3, 5, _OFF_SQUARED]]) / least)
    origin, mean_squared_error = table.origin[0], float(table.squared)
    squares = float(ratio(table.sums[5], table.sums[0]))
    mean_squared_truth = squares + origin * (2 * float(table.mean("truth")) + origin) if origin else squares
    if math.isnan(table.sums[6]):
        mean_squared_prediction = (
            math.sqrt(mean_squared_error) - math.sqrt(max(0.0, mean_squared_truth))
        ) ** 2  # lower bound
    else:
        cross_product = float(table.together) + float(table.error) * (float(table.mean("truth")) + origin)
        mean_squared_prediction = mean_squared_error + mean_squared_truth + 2 * cross_product
    # Differences of large numbers below this are rounding error.
    rounding = max(_SMALLEST_SAFE**2, 1e-14 * (mean_squared_error + mean_squared_truth))
    return (
        max(largest, *map(abs, table.origin)) < _LARGEST_SAFE
        and mean_squared_truth > _SMALLEST_SAFE**2
        and mean_squared_prediction > rounding
    )


def _aggregate_batches(source: Source, frame: Frame, roles: Roles, needs: Needs | None) -> Iterator[_ErrorTotals]:
    """Yield the totals of a few models at a time."""
    needs = needs if roles.baseline is None else None  # a stated baseline must be validated as well
    truth = as_number(roles.truth)
    truth_terms = _required_terms(roles, needs, far=False)
    mean = _mean_truth(source, frame, roles) if roles.baseline is None and "off" in truth_terms else None
    models = [*roles.numbers.items()]
    for start in range(0, len(models), _MODELS_PER_PASS):
        predicted = {model: as_number(column) for model, (_, column) in models[start : start + _MODELS_PER_PASS]}
        first_mean, errors = _estimate_origins(source, frame, truth, predicted)
        origin = (first_mean if "truth" in truth_terms else 0.0) if mean is None else mean
        required = _required_terms(roles, needs, far=any(errors.values()))
        yield _aggregate(source, frame, roles, predicted, required, origin, errors)


def _estimate_origins(
    source: Source, frame: Frame, truth: nw.Expr, predicted: Mapping[str, nw.Expr]
) -> tuple[float, dict[str, float]]:
    """From the first rows: the mean truth, and for each model the origin of its errors.

    The origin is 0 unless the mean error is large compared with the spread of the errors.
    """
    errors_by_name = {f"e{place}": prediction - truth for place, prediction in enumerate(predicted.values())}
    squares = {f"square {name}": nw.col(name) * nw.col(name) for name in errors_by_name}
    rows = frame.head(_ORIGIN_ROWS).select(y=truth, **errors_by_name).with_columns(**squares)
    means = _read_single_row(source, rows.select(nw.all().mean()))
    # Non-finite values show up again in the sums.
    mean_truth = means["y"] if math.isfinite(means["y"]) else 0.0
    origins = dict.fromkeys(predicted, 0.0)
    for model, name in zip(predicted, errors_by_name, strict=True):
        mean, square = means[name], means[f"square {name}"]
        if math.isfinite(mean) and not mean * mean <= _MAX_SQUARED_MEAN_TO_VARIANCE * (square - mean * mean):
            origins[model] = mean
    return mean_truth, origins


def _mean_truth(source: Source, frame: Frame, roles: Roles) -> float:
    """Weighted mean of the truths, the default baseline of relative errors."""
    truth = as_number(roles.truth)
    if roles.weight is None:
        totals = _read_single_row(
            source, frame.select(y=truth).select(total=nw.col("y").sum(), rows=nw.col("y").count())
        )
        return totals["total"] / totals["rows"] if totals["rows"] else math.nan
    weight = as_number(roles.weight)
    totals = _read_single_row(source, frame.select(w=weight, y=truth * weight).select(nw.all().sum()))
    return totals["y"] / totals["w"] if totals["w"] else math.nan


def _aggregate(
    source: Source,
    frame: Frame,
    roles: Roles,
    predicted: Mapping[str, nw.Expr],
    required_terms: _RequiredTerms,
    origin: float,
    errors: Mapping[str, float],
) -> _ErrorTotals:
    """Sum all required terms and products, each once."""
    truth, (weights, product_weights) = as_number(roles.truth), _weight_factors(roles)
    base: Any = origin if roles.baseline is None else roles.baseline
    base = as_number(base) if isinstance(base, str) else base
    columns: dict[str, nw.Expr] = {}
    products: set[Factors] = set()
    for place, (model, prediction) in enumerate(predicted.items()):
        terms = term_values(truth, prediction, base, (origin, errors[model]), nw.Expr.abs)
        absolute_error, size, total_size = terms[0], truth.abs(), truth.abs() + prediction.abs()
        # Engines differ on x / 0.
        terms[-2] = (
            nw.when(size > 0)
            .then(absolute_error / size)
            .otherwise(nw.when(absolute_error > 0).then(math.inf).otherwise(0.0))
        )
        terms[-1] = nw.when(total_size > 0).then(2 * absolute_error / total_size).otherwise(0.0)
        single = (pair for pair in zip(POWERS[1:], terms, strict=True) if len(pair[0]) == 1)
        columns |= {_factors(roles, letter, place)[0]: term for letter, term in single}
        products |= {weights + _factors(roles, POWERS[j], place) for j in required_terms.terms}
        products |= {product_weights + _factors(roles, POWERS[j] + POWERS[k], place) for j, k in required_terms.pairs}
    if roles.baseline is None and "off" in required_terms:
        columns["t"] = (truth < origin).cast(nw.Float64) - (truth > origin).cast(nw.Float64)
        products.add((*weights, "t"))
    checked = [f"e{place}" for place in range(len(predicted))]
    if isinstance(roles.baseline, str):
        checked.append("o")
        columns["b"] = base
        products.add(("b", "b"))
    counts = {"rows": nw.len(), **{f"known {name}": nw.col(name).count() for name in checked}}
    if roles.weight is not None:
        weight = as_number(roles.weight)
        columns |= {"w": weight, "weighing": nw.when(weight > 0).then(weight), "used": (weight != 0).cast(nw.Int64)}
        counts |= {"known w": nw.col("w").count(), "lowest": nw.col("w").min(), "least": nw.col("weighing").min()}
        counts |= {"used": nw.col("used").sum()}
    used = {name for factors in products for name in factors}.union(checked, ("weighing", "used"))
    columns = {name: column for name, column in columns.items() if name in used}
    # Products become columns first, since some engines only sum plain columns.
    expressions = {" ".join(factors): reduce(mul, map(nw.col, factors)) for factors in sorted(products) if factors}
    plain_columns = {name: nw.col(name) for name in (*checked, *columns) if name not in expressions}
    sums_by_name = {f"sum {name}": nw.col(name).sum() for name in expressions}
    totals = _read_single_row(
        source, frame.select(**columns).select(**expressions, **plain_columns).select(**sums_by_name, **counts)
    )
    sums = {name.removeprefix("sum "): total for name, total in totals.items() if name.startswith("sum ")}
    counted = {name: total for name, total in totals.items() if name in counts}
    return _ErrorTotals(roles, required_terms, origin, errors, {"": counted["rows"], **sums}, counted)


Factors = tuple[str, ...]
"""Columns whose product is summed, sorted so that e² · y and e · (e · y) are the same sum."""


def _factors(roles: Roles, letters: str, place: int) -> Factors:
    """Columns that letters refer to; with the mean as baseline, the squared distance equals the centred y².

    >>> _factors(Roles("y"), "yee", 0), _factors(Roles("y"), "oo", 0), _factors(Roles("y", baseline=3.0), "oo", 0)
    (('e0', 'e0', 'y'), ('y', 'y'), ('o', 'o'))
    """
    plain = letters.replace("oo", "yy") if roles.baseline is None else letters
    return tuple(letter if letter in _SHARED_LETTERS else f"{letter}{place}" for letter in sorted(plain))


def _weight_factors(roles: Roles) -> tuple[Factors, Factors]:
    """Weight columns that multiply terms, and products of two terms."""
    if roles.weight is None:
        return (), ()
    return ("w",), ("w",) if roles.copies else ("w", "w")


def _read_single_row(source: Source, frame: Frame) -> dict[str, float]:
    """Return the only row of a frame; NaN for what engines return as missing because there are no rows."""
    found = source.arrays(frame)
    return {
        name: math.nan if np.ma.is_masked(column) or column[0] is None else float(column[0])
        for name, column in found.items()
    }
