"""Measures over folds: mean and standard deviation within folds, the pooled value, and tests over folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.design import Design, PairedModels
from scorespace.comparisons.eligibility import (
    requires_folds,
    requires_measure,
    requires_no_alternative,
    requires_two_sided,
)
from scorespace.comparisons.result import ROPE, Comparison, PairTest, Posterior, check_rope, count_text
from scorespace.comparisons.t_tests import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t
from scorespace.comparisons.test import NotApplicable, test
from scorespace.errors import DataError
from scorespace.measures import MeasureSpec
from scorespace.measures.request import Request, bind
from scorespace.results import Note, Row, decimal_places, decimals, grouped, note, to_json_types
from scorespace.tables import Array, Table
from scorespace.tables.paired import PairTable

_MAX_CELLS: Final = 10_000_000


def requires_two_folds(design: Design[Any]) -> NotApplicable | None:
    """Requires at least two folds, or at least two hold-out samples of identified cases."""
    pairs = design.pairs
    if pairs is None or pairs.fold is None or (fold_indices(pairs)[1] != (1, 1) and held_out_ratio(pairs) < math.inf):
        return None
    return NotApplicable("{test} compares folds, but there is only one.", hint="fold=… a column of two or more")


def requires_five_by_two(design: Design[Any]) -> NotApplicable | None:
    """Requires five repeats of two folds."""
    if design.pairs is None or design.pairs.fold is None:
        return None
    repeats, folds = fold_indices(design.pairs)[1]
    if (repeats, folds) == (5, 2):
        return None
    return NotApplicable(
        "{test} needs five repeats of two folds.",
        seen=f"{count_text(repeats, 'repeats')} of {count_text(folds, 'folds')}",
        hint="repeat=…" if design.pairs.repeat is None else 'test="corrected_t" is for any number',
        error=DataError,
    )


_FOLD_RULES: Final = (requires_measure, requires_folds, requires_two_folds)


@test(
    title="corrected t-test",
    for_="models evaluated in folds; allows for shared training cases",
    suits=_FOLD_RULES,
    name="corrected_t",
    directed=True,
    aliases=("nadeau_bengio",),
)
def corrected_t_over_folds(design: PairedModels[Table]) -> Comparison:
    """Corrected resampled t-test over J folds (Nadeau and Bengio 2003): t = d̄ / √((1/J + n_te/n_tr) s²)."""
    return _test_over_folds(design, "corrected t", partial(corrected_t, ratio=held_out_ratio(design.cases)))


@test(
    title="paired t-test",
    for_="models evaluated in folds; p is too small, since folds share training cases",
    suits=_FOLD_RULES,
    name="paired_t",
    directed=True,
)
def paired_t_over_folds(design: PairedModels[Table]) -> Comparison:
    """Paired t-test of the differences within J folds: t = d̄ / √(s²/J)."""
    return _test_over_folds(design, "paired t", paired_t)


@test(
    title="5×2cv t-test",
    for_="five repeats of two folds",
    suits=(*_FOLD_RULES, requires_five_by_two),
    name="five_by_two_t",
    directed=True,
    aliases=("5x2cv_t", "5x2_t"),
)
def five_by_two_t_over_folds(design: PairedModels[Table]) -> Comparison:
    """5×2cv t-test (Dietterich 1998), the first difference over the spread within repeats: t = d₁₁ / √(Σ sᵢ² / 5)."""
    # The side of a one-sided test is that of the first difference.
    return _test_over_folds(design, "5×2cv", partial(five_by_two_t, alternative=design.alternative), needs_all=True)


@test(
    title="5×2cv F-test",
    for_="five repeats of two folds; uses all ten differences",
    suits=(*_FOLD_RULES, requires_five_by_two, requires_two_sided),
    name="five_by_two_f",
    aliases=("5x2cv_f", "5x2_f"),
)
def five_by_two_f_over_folds(design: PairedModels[Table]) -> Comparison:
    """5×2cv F-test (Alpaydın 1999), all ten differences over the spread within repeats: F = Σ dᵢⱼ² / (2 Σ sᵢ²)."""
    return _test_over_folds(design, "5×2cv", five_by_two_f, needs_all=True)


@test(
    title="Bayesian correlated t-test",
    for_="models evaluated in folds: probability that one is better, or both are practically equal",
    suits=(*_FOLD_RULES, requires_no_alternative),
    name="bayes_t",
    aliases=("bayes_correlated_t",),
)
def bayes_t_over_folds(
    design: PairedModels[Table],
    *,
    rope: Annotated[float, "half width of the region of practical equivalence, in units of the measure"] = ROPE,
) -> Comparison:
    """Posterior of the mean difference (Corani and Benavoli 2015): St(J − 1, d̄, (1/J + ρ/(1 − ρ)) s²)."""
    check_rope(rope)
    ratio = held_out_ratio(design.cases)

    def run(a: Array, b: Array, level: float, **settings: Any) -> Posterior:
        return replace(bayes_correlated_t(a, b, rho=ratio / (1 + ratio), rope=rope, **settings), level=level)

    return _test_over_folds(design, "Bayesian correlated t", run)


def _test_over_folds(
    design: PairedModels[Table], test: str, tested: Callable[..., PairTest | Posterior], *, needs_all: bool = False
) -> Comparison:
    """Test the differences within folds; folds in which the measure is undefined are excluded and counted.

    With `every`, all folds are needed, as repeats × folds.
    """
    values = np.stack(
        [
            measure_by_fold(design.cases, *model_and_request)
            for model_and_request in zip(design.names, design.bound, strict=True)
        ]
    )
    usable = np.isfinite(values).all(axis=0)
    n_undefined = int((~usable).sum())
    if usable.sum() < (usable.size if needs_all else 2):
        reason = "it is defined in fewer than two folds"
        reason = f"{design.spec} is undefined in {n_undefined} of the ten folds" if needs_all else reason
        return Comparison(*design.names, test, design.of, level=design.level, reason=reason)
    pair = values if needs_all else values[:, usable]
    result = tested(*pair, names=design.names, measure=design.of, level=design.level)
    excluded = note("SS019", f"{n_undefined} of {usable.size} folds are excluded: {design.spec} is undefined there.")
    return replace(result, notes=(*result.notes, *([excluded] if n_undefined else []), *design_notes(design.cases)))


def measure_by_fold(pairs: PairTable, model: str, request: Request) -> Array:
    """Return a measure of a model within each fold, shape (repeats, folds); NaN where undefined."""
    index, shape = fold_indices(pairs)
    repeats, folds = shape
    if repeats > 1 and pairs.cases * repeats * folds > _MAX_CELLS:  # a table of all folds at once would be too large
        parts = [pairs.part(np.flatnonzero(index // folds == repeat)) for repeat in range(repeats)]
        return np.concatenate(
            [measure_by_fold(part, model, bind(request.spec, part.tables[part.index(model)])) for part in parts]
        )
    table, cells, _ = fold_cells(pairs, model)
    return request.on(table.with_cells(cells)).reshape(shape)


def fold_cells(pairs: PairTable, model: str) -> tuple[Any, Array, tuple[int, int]]:
    """Return the table of a model, the weight of each fold in its cells (repeats · folds, m), and the shape."""
    index, shape = fold_indices(pairs)
    k = pairs.index(model)
    table, count = pairs.tables[k], shape[0] * shape[1]
    size = int(table.cells.shape[-1])
    cells = np.bincount(index * size + pairs.cell[k], pairs.weight, minlength=count * size).reshape(count, size)
    return table, cells, shape


def fold_indices(pairs: PairTable) -> tuple[NDArray[np.int64], tuple[int, int]]:
    """Return the index of each case in the array of repeats × folds, and its shape.

    Folds are numbered within their repeat, whether or not every repeat names its folds anew.

    >>> from scorespace.tables.paired import pair_table
    >>> fold, repeat = np.array([3, 4, 1, 2], dtype=np.int32), np.array([1, 1, 0, 0], dtype=np.int32)
    >>> pairs = replace(pair_table([1, 0, 1, 0], {"a": [4, 3, 2, 1]}), fold=fold, repeat=repeat)
    >>> fold_indices(pairs)
    (array([2, 3, 0, 1]), (2, 2))
    """
    assert pairs.fold is not None
    repeat = np.zeros(pairs.cases, dtype=np.int64) if pairs.repeat is None else pairs.repeat.astype(np.int64)
    step = int(pairs.fold.max()) + 1
    present, index = np.unique(repeat * step + pairs.fold, return_inverse=True)
    folds = np.unique(np.unique(present // step, return_counts=True)[1])
    if folds.size > 1:
        raise DataError(
            "the repeats have different numbers of folds.",
            seen=f"from {folds[0]} to {folds[-1]} folds",
            hint="all folds of every repeat",
        )
    return index, (present.size // int(folds[0]), int(folds[0]))


def held_out_ratio(pairs: PairTable) -> float:
    """Ratio of test to training cases: known, or 1/(k − 1) for k folds, or estimated for hold-out samples.

    In hold-out samples some cases may never have been tested, so that the estimate is too high rather than too low; it
    is infinite where cases have no identifiers.

    >>> from scorespace.tables.paired import pair_table
    >>> held = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> pairs = replace(pair_table([1, 0, 1, 0], {"a": [4, 3, 2, 1]}), fold=0 * held, repeat=held)
    >>> held_out_ratio(pairs), held_out_ratio(replace(pairs, group=np.array([0, 1, 1, 2], dtype=np.int32)))
    (inf, 2.0)
    """
    if pairs.ratio is not None:
        return pairs.ratio
    index, (repeats, folds) = fold_indices(pairs)
    if folds > 1:
        return 1 / (folds - 1)
    if repeats < 2 or pairs.group is None:
        return math.inf
    n_cases = int(np.unique(pairs.group).size)
    n_tested = np.unique(pairs.group.astype(np.int64) * repeats + index).size / repeats
    return n_tested / (n_cases - n_tested) if n_cases > n_tested else math.inf


def design_notes(pairs: PairTable) -> list[Note]:
    """Return a note where groups are split across folds, so that models were trained on cases related to test cases."""
    if pairs.group is None:
        return []
    index, (repeats, folds) = fold_indices(pairs)
    group_in_fold = np.unique(pairs.group.astype(np.int64) * repeats * folds + index)  # each group in each fold once
    group_in_repeat, n_folds = np.unique(
        group_in_fold // folds, return_counts=True
    )  # number of folds of a group within a repeat
    split = np.unique(group_in_repeat[n_folds > 1] // repeats)
    if not split.size:
        return []
    text = (
        f"{grouped(split.size)} of {grouped(int(pairs.group.max()) + 1)} groups are in several folds, so models were "
        "trained on cases related to their test cases: results need not hold for new groups."
    )
    return [note("SS032", text)]


@dataclass(frozen=True)
class FoldSummary:
    """A measure of a model: mean and standard deviation within folds, and the `pooled` value of all cases.

    The two differ: within a fold scores come from one fit, while pooled scores mix the scales of all fits. `undefined`
    folds are excluded from the mean.
    """

    model: str
    spec: MeasureSpec
    mean: float
    sd: float
    pooled: float
    folds: int
    undefined: int = 0

    @property
    def text(self) -> str:
        """Mean and standard deviation with the same number of decimals."""
        if math.isnan(self.mean):
            return "–"
        places = decimal_places(self.mean) if math.isnan(self.sd) else decimal_places(self.mean, self.mean + self.sd)
        return decimals(self.mean, places) + ("" if math.isnan(self.sd) else f" ± {decimals(self.sd, places)}")

    def row(self) -> Row:
        values = {"model": self.model, "measure": self.spec.canonical, "mean": self.mean, "sd": self.sd}
        return to_json_types({**values, "pooled": self.pooled, "folds": self.folds, "undefined": self.undefined})

    def __repr__(self) -> str:
        undefined = f", {self.undefined} undefined" if self.undefined else ""
        if self.folds == 1:
            return f"{self.model} {self.spec} {self.text}"
        over = f"mean over {grouped(self.folds)} folds{undefined}"
        return f"{self.model} {self.spec} {self.text} ({over}), pooled {decimals(self.pooled)}"


def summarise_folds(model: str, spec: MeasureSpec, values: Array, pooled: float) -> FoldSummary:
    """Summarise the values of a measure within folds.

    >>> from scorespace.measures import parse
    >>> summarise_folds("nb", parse("auc"), np.array([[0.8, 0.9], [0.7, math.nan]]), 0.79)
    nb auc 0.800 ± 0.100 (mean over 4 folds, 1 undefined), pooled 0.790
    """
    return FoldSummary(model, spec, *mean_and_sd(values), pooled, values.size, int((~np.isfinite(values)).sum()))


def mean_and_sd(values: Array) -> tuple[float, float]:
    """Mean and standard deviation of the finite values; NaN where there are too few."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else math.nan, float(finite.std(ddof=1)) if finite.size > 1 else math.nan


def summarise_over_folds(
    pairs: PairTable | None, requested: Mapping[str, Iterable[MeasureSpec]]
) -> tuple[FoldSummary, ...]:
    """Return measures of models over folds; empty without folds."""
    if pairs is None or pairs.fold is None or ((pairs.fold == pairs.fold[0]).all() and pairs.repeat is None):
        return ()
    tables: dict[str, Table] = dict(zip(pairs.models, pairs.tables, strict=True))
    requests = [
        (name, bind(spec, tables[name])) for name, specs in requested.items() if name in tables for spec in specs
    ]
    return tuple(
        summarise_folds(name, request.spec, measure_by_fold(pairs, name, request), request.value)
        for name, request in requests
    )
