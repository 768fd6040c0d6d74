"""Two models over many data sets: sign test, signed-rank test, and its Bayesian form; the table of results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, get_args

import numpy as np
from scipy.special import bdtr, ndtr

from scorespace.comparisons.result import (
    ROPE,
    Alternative,
    PairTest,
    Posterior,
    check_numbers,
    check_rope,
    count_text,
    rounded,
)
from scorespace.errors import DataError, ScoreSpaceError, closest_name, listing
from scorespace.measures.measure import Best
from scorespace.results import ByValue, Row, decimals
from scorespace.tables import Array

Zeros = Literal["drop", "split", "pratt"]
"""Data sets on which both models are equal: dropped (Wilcoxon), their ranks split evenly (Demšar 2006), or ranked but
not counted (Pratt 1959)."""

MAX_EXACT: Final = 25
"""Largest number of nonzero differences for which the signed-rank test is exact."""

DRAWS: Final = 50_000
PRIOR_STRENGTH: Final = 0.5
"""Prior strength of the Bayesian signed-rank test, as a number of data sets on which both models are equal."""
_NUMBERS_PER_CHUNK: Final = 2_000_000  # numbers drawn per chunk: about 16 MB
_ZEROS_TEXT: Final = {"drop": "equal data sets dropped", "split": "equal data sets split", "pratt": "Pratt's ranks"}


@dataclass(frozen=True, eq=False)
class DatasetTable(ByValue):
    """A measure of several models on the same data sets: `values` (data sets × models), and which end is best."""

    values: Array
    models: tuple[str, ...]
    best: Best
    measure: str = ""

    @property
    def datasets(self) -> int:
        return int(self.values.shape[0])

    @cached_property
    def ranks(self) -> Array:
        """Ranks within each data set: 1 for the best model; ties share the mean rank."""
        from scipy.stats import rankdata  # importing it takes half a second

        values = rounded(self.values, np.abs(self.values))  # values that differ by rounding are ties
        return rankdata(-values if self.best == "high" else values, axis=1)

    @property
    def average_ranks(self) -> Array:
        """Mean rank of each model over the data sets; 1 is best."""
        return self.ranks.mean(axis=0)

    def index(self, model: str) -> int:
        """The column of a model."""
        if model not in self.models:
            raise ScoreSpaceError(
                f"{model!r} is not a model of this table.",
                seen=listing(self.models),
                hint=closest_name(str(model), self.models) or "one of these",
            )
        return self.models.index(model)

    def only(self, *models: str) -> DatasetTable:
        """Return the table of these models only."""
        return replace(self, values=self.values[:, list(map(self.index, models))], models=models)

    @cached_property
    def gaps(self) -> Array:
        """Difference of two models on each data set, without rounding error."""
        first, second = self.values.T
        # 0.3 − 0.2 and 0.9 − 0.8 must be ties.
        return rounded(first - second, np.maximum(np.abs(first), np.abs(second)))

    def __repr__(self) -> str:
        ranked = sorted(zip(self.average_ranks, self.models, strict=True))
        text = ", ".join(f"{model} {decimals(float(rank), 2)}" for rank, model in ranked)
        return f"{count_text(self.datasets, 'data sets')}, average ranks: {text}"


def dataset_table(values: Any, models: Sequence[str] | None = None, *, best: Best, measure: str = "") -> DatasetTable:
    """Return the table of a matrix (data sets × models) with model names, or of a mapping from name to values.

    >>> dataset_table({"nb": [0.8, 0.7, 0.9], "tree": [0.7, 0.7, 0.8]}, best="high")
    3 data sets, average ranks: nb 1.17, tree 1.83
    """
    if best not in get_args(Best):
        raise ScoreSpaceError(f"best={best!r} is not a direction.", hint='best="high" or best="low"')
    if isinstance(values, Mapping):
        if models is not None:
            raise ScoreSpaceError("models= is for a matrix; a mapping names its models itself.", hint="omit models=")
        models, values = list(values), _as_rows(values)
    matrix = _check_matrix(values)
    if models is None:
        raise ScoreSpaceError("the models have no names.", hint=f"models=[…], {matrix.shape[1]} of them")
    names = tuple(map(str, models))
    if len(names) != matrix.shape[1]:
        raise DataError(
            "there must be one name for each column.",
            seen=f"{len(names)} models, {matrix.shape[1]} columns",
            hint="rows are data sets, columns are models",
        )
    duplicates = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if duplicates:
        raise DataError("two models have the same name.", seen=listing(duplicates), hint="a unique name for each model")
    missing = np.argwhere(~np.isfinite(matrix))
    if missing.size:
        row, column = missing[0]
        raise DataError(
            f"{len(missing)} of the {matrix.size} values {'is' if len(missing) == 1 else 'are'} missing or infinite.",
            seen=f"{matrix[row, column]:g} for {names[column]} on data set {row + 1}",
            hint="exclude that data set for all models",
        )
    return DatasetTable(matrix, names, best, measure)


# Two models


@dataclass(frozen=True, kw_only=True, repr=False)
class DatasetTest(PairTest):
    """A test of two models over data sets; `higher`, `lower` and `equal` count them by the value of a.

    `difference` is the median, `statistic` the number or the rank sum of the data sets on which a is higher.
    """

    best: Best
    higher: int
    lower: int
    equal: int
    zeros: Zeros
    method: Literal["exact", "normal"]

    def facts(self) -> Row:
        counts = {name: getattr(self, name) for name in ("best", "higher", "lower", "equal", "zeros", "method")}
        return super().facts() | counts

    @property
    def wins(self) -> int:
        """Data sets on which a is better."""
        return self.higher if self.best == "high" else self.lower

    @property
    def losses(self) -> int:
        """Data sets on which a is worse."""
        return self.lower if self.best == "high" else self.higher

    @property
    def _facts(self) -> str:
        measured = f" in {self.measure}" if self.measure else ""
        return (
            f"{self.a} is better than {self.b}{measured} on {self.wins} of {count_text(self.count, self.over)}, "
            f"worse on {self.losses} and equal on {self.equal}"
        )


def sign_test(
    table: DatasetTable,
    *,
    zeros: Literal["drop", "split"] = "drop",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> DatasetTest:
    """Exact sign test of two models: the number of data sets on which a is higher, Binomial(n, ½) under the null.

    Data sets on which both are equal are dropped, or split evenly, except for one if their number is odd.

    >>> sign_test(dataset_table({"nb": [5, 6, 7, 8, 9, 4], "tree": [4, 5, 6, 7, 8, 4]}, best="high")).p
    0.0625
    """
    higher, lower = int((table.gaps > 0).sum()), int((table.gaps < 0).sum())
    half = (table.datasets - higher - lower) // 2 if zeros == "split" else 0
    p = sign_p(higher + half, lower + half, alternative)
    fields: dict[str, Any] = {"statistic": float(higher + half), "method": "exact", "alternative": alternative}
    return _dataset_test(table, "sign test", p, zeros, level=level, **fields)


def sign_p(up: int, down: int, alternative: Alternative = "two-sided", share: float = 1.0) -> float:
    """Binomial p value of `up` successes among up + down fair trials; two-sided unless stated.

    `share` is the part of the observed count included in its tail: 0.5 for mid-p.

    >>> sign_p(6, 0), sign_p(6, 0, "greater"), sign_p(6, 0, "less"), sign_p(6, 0, share=0.5)
    (0.03125, 0.015625, 1.0, 0.015625)
    """
    last = {"greater": down, "less": up, "two-sided": min(up, down)}[alternative]
    total = up + down
    lower_tail = float(bdtr(last - 1, total, 0.5)) if last else 0.0
    tail = (1 - share) * lower_tail + share * float(bdtr(last, total, 0.5))
    return min(1.0, 2 * tail) if alternative == "two-sided" else tail


def wilcoxon(
    table: DatasetTable,
    *,
    zeros: Zeros = "drop",
    method: Literal["auto", "normal"] = "auto",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> DatasetTest:
    """Wilcoxon's signed-rank test of two models (1945): V is the sum of the ranks of |d| where a is higher.

    Exact for at most 25 differences, with mid-ranks for ties; otherwise, on request, or if ranks of zeros are split,
    normal with mean Σr/2 and variance Σr²/4, which allows for ties.

    >>> found = wilcoxon(dataset_table({"nb": [5, 7, 9, 6], "tree": [4, 5, 6, 7.5]}, best="high"))
    >>> found.statistic, found.p, found.method
    (8.0, 0.375, 'exact')
    """
    d = table.gaps
    value, ranks = signed_ranks(d, zeros)
    has_signs = zeros != "split" or bool(np.all(d != 0))  # split zeros have no signs
    exact = has_signs and ranks.size <= MAX_EXACT and method == "auto"
    p = (exact_p if exact else normal_p)(value, ranks, alternative) if np.any(d) else 1.0
    fields: dict[str, Any] = {"statistic": value, "method": "exact" if exact else "normal", "alternative": alternative}
    return _dataset_test(table, f"Wilcoxon signed rank, {fields['method']}", p, zeros, level=level, **fields)


def bayes_signed_rank(table: DatasetTable, *, rope: float = ROPE, seed: int = 0) -> Posterior:
    """Bayesian signed-rank test of two models (Benavoli et al. 2014), with prior strength ½ at difference 0.

    Each draw of weights w ~ Dirichlet(½, 1, …, 1) gives Σ wᵢ wⱼ over pairs whose mean difference is below, within and
    above the rope; a probability is the share of draws in which that region is the largest.

    >>> bayes_signed_rank(dataset_table({"nb": [0.9] * 9, "tree": [0.8] * 9}, best="high"))
    nb than tree: lower 0.000, equal 0.000, higher 1.000  rope ±0.01  Bayesian signed rank, 9 data sets
    """
    check_rope(rope)
    d = table.gaps
    z = np.concatenate([[0.0], d])
    sums = rounded(z[:, None] + z, np.maximum(np.abs(z)[:, None], np.abs(z)))
    is_below, is_above = (sums < -2 * rope).astype(np.float64), (sums > 2 * rope).astype(np.float64)
    rng = np.random.default_rng(seed)
    concentration = np.concatenate([[PRIOR_STRENGTH], np.ones(d.size)])
    region_counts = np.zeros(3)
    chunk = max(1, _NUMBERS_PER_CHUNK // z.size)
    for start in range(0, DRAWS, chunk):
        weights = rng.dirichlet(concentration, min(chunk, DRAWS - start))
        below, above = (((weights @ side) * weights).sum(axis=1) for side in (is_below, is_above))
        shares = np.stack([below, 1 - below - above, above], axis=1)
        largest = shares == shares.max(axis=1, keepdims=True)
        region_counts += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    left, inside, right = (region_counts / DRAWS).tolist()
    return Posterior(
        **_common_fields(table, "Bayesian signed rank"), width=rope, left=left, rope=inside, right=right, draws=DRAWS
    )


def _as_rows(values: Mapping[Any, Any]) -> list[Any]:
    """Return the values of a mapping as rows of data sets."""
    columns = [np.atleast_1d(np.asarray(column)) for column in values.values()]
    lengths = {name: column.size for name, column in zip(values, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise DataError(
            "the models were not measured on the same data sets.",
            seen=", ".join(f"{size} for {name}" for name, size in lengths.items()),
            hint="a value of every model for every data set",
        )
    return list(zip(*columns, strict=True))


def _check_matrix(values: Any) -> Array:
    hint = "a row for each data set, a column for each model"
    matrix = check_numbers(values, "the values are not a matrix of numbers.", hint)
    if matrix.ndim != 2 or not matrix.shape[0] or matrix.shape[1] < 2:
        raise DataError(
            "a comparison over data sets needs at least one data set and two models.",
            seen=f"an array of {' × '.join(map(str, matrix.shape))}" if matrix.ndim else "a single number",
            hint="rows are data sets, columns are models",
        )
    return matrix


def signed_ranks(d: Array, zeros: Zeros) -> tuple[float, Array]:
    """Return the sum of positive ranks, and the ranks with random signs."""
    from scipy.stats import rankdata  # importing it takes half a second

    used = d[d != 0] if zeros == "drop" else d
    if zeros == "split" and (d.size - np.count_nonzero(d)) % 2:
        used = np.delete(d, int(np.argmin(np.abs(d))))
    ranks = np.asarray(rankdata(np.abs(used)), dtype=np.float64)
    value = float(ranks[used > 0].sum())
    if zeros == "split":
        return value + float(ranks[used == 0].sum()) / 2, ranks
    return value, ranks[used != 0]


def exact_p(value: float, ranks: Array, alternative: Alternative) -> float:
    """Exact p value of a rank sum under random signs, over all 2ⁿ signs.

    >>> exact_p(6.0, np.array([1.0, 2.0, 3.0]), "greater")
    0.125
    """
    steps = np.rint(2 * ranks).astype(np.intp)  # mid-ranks are multiples of ½
    probabilities = np.zeros(int(steps.sum()) + 1)
    probabilities[0] = 1.0
    for step in steps:
        shifted = np.zeros_like(probabilities)
        shifted[step:] = probabilities[: probabilities.size - step]
        probabilities = (probabilities + shifted) / 2
    index = round(2 * value)
    below, above = float(probabilities[: index + 1].sum()), float(probabilities[index:].sum())
    return min(1.0, {"less": below, "greater": above, "two-sided": 2 * min(below, above)}[alternative])


def normal_p(value: float, ranks: Array, alternative: Alternative) -> float:
    """p value of a rank sum by the normal distribution with mean Σr/2 and variance Σr²/4."""
    z = (value - ranks.sum() / 2) / math.sqrt(float(ranks @ ranks) / 4)
    if alternative == "two-sided":
        return 2 * float(ndtr(-abs(z)))
    return float(ndtr(-z if alternative == "greater" else z))


def _common_fields(table: DatasetTable, test: str) -> dict[str, Any]:
    """Return the fields common to all tests of two models over data sets."""
    a, b = table.models
    return {
        "test": test,
        "a": a,
        "b": b,
        "measure": table.measure,
        "over": "data sets",
        "count": table.datasets,
        "difference": float(np.median(table.gaps)),
        "reason": None if np.any(table.gaps) else "they are equal on every data set",
    }


def _dataset_test(table: DatasetTable, test: str, p: float, zeros: Zeros, **fields: Any) -> DatasetTest:
    higher, lower = int((table.gaps > 0).sum()), int((table.gaps < 0).sum())
    equal = table.datasets - higher - lower
    return DatasetTest(
        **_common_fields(table, f"{test}, {_ZEROS_TEXT[zeros]}" if equal else test),
        p=1.0 if equal == table.datasets else p,
        best=table.best,
        higher=higher,
        lower=lower,
        equal=equal,
        zeros=zeros,
        **fields,
    )
