"""Do two models differ over the folds and repeats that their cases were tested in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.comparisons.answer import ROPE, Comparison, PairTest, Posterior, check_rope, extent
from scorespace.comparisons.question import Paired, Question
from scorespace.comparisons.suits import both_sides, each_side_by_itself, in_folds, of_a_measure
from scorespace.comparisons.t_tests import bayes_correlated_t, corrected_t, five_by_two_f, five_by_two_t, paired_t
from scorespace.comparisons.test import Refused, test
from scorespace.errors import DataError
from scorespace.measures.request import Request, bind
from scorespace.results import Note, grouped, note
from scorespace.tables import Array, Table
from scorespace.tables.pair import PairTable

_CELLS: Final = 10_000_000


def two_folds(question: Question[Any]) -> Refused | None:
    """Two folds or more, or samples held out twice or more of cases that are named."""
    pairs = question.pairs
    if pairs is None or pairs.fold is None or (fold_places(pairs)[1] != (1, 1) and held_out_ratio(pairs) < math.inf):
        return None
    return Refused("{test} compares folds, but there is only one.", hint="fold=… a column of two or more")


def five_times_two(question: Question[Any]) -> Refused | None:
    """Five repeats of two folds."""
    if question.pairs is None or question.pairs.fold is None:
        return None
    repeats, folds = fold_places(question.pairs)[1]
    if (repeats, folds) == (5, 2):
        return None
    return Refused(
        "{test} needs five repeats of two folds.",
        seen=f"{extent(repeats, 'repeats')} of {extent(folds, 'folds')}",
        hint="repeat=…" if question.pairs.repeat is None else 'test="corrected_t" is for any number',
        error=DataError,
    )


_IN_FOLDS: Final = (of_a_measure, in_folds, two_folds)


@test(
    title="corrected t-test",
    for_="models tested in folds; allows for the training cases that folds share",
    suits=_IN_FOLDS,
    name="corrected_t",
    directed=True,
    aliases=("nadeau_bengio",),
)
def over_folds_corrected(question: Paired[Table]) -> Comparison:
    """Nadeau and Bengio's t of the differences within J folds: t = d̄ / √((1/J + n_te/n_tr) s²)."""
    return _over_folds(question, "corrected t", partial(corrected_t, ratio=held_out_ratio(question.cases)))


@test(
    title="paired t-test",
    for_="models tested in folds; too sure, since folds share training cases",
    suits=_IN_FOLDS,
    name="paired_t",
    directed=True,
)
def over_folds_plain(question: Paired[Table]) -> Comparison:
    """The plain t of the differences within J folds: t = d̄ / √(s²/J)."""
    return _over_folds(question, "paired t", paired_t)


@test(
    title="5×2cv t-test",
    for_="five repeats of two folds",
    suits=(*_IN_FOLDS, five_times_two),
    name="five_by_two_t",
    directed=True,
    aliases=("5x2cv_t", "5x2_t"),
)
def over_five_by_two_t(question: Paired[Table]) -> Comparison:
    """Dietterich's t of the first difference over the spread within repeats: t = d₁₁ / √(Σ sᵢ² / 5)."""
    # Its side is that of the first difference.
    return _over_folds(question, "5×2cv", partial(five_by_two_t, alternative=question.alternative), every=True)


@test(
    title="5×2cv F-test",
    for_="five repeats of two folds; uses all ten differences",
    suits=(*_IN_FOLDS, five_times_two, both_sides),
    name="five_by_two_f",
    aliases=("5x2cv_f", "5x2_f"),
)
def over_five_by_two_f(question: Paired[Table]) -> Comparison:
    """Alpaydın's F of all ten differences over the spread within repeats: F = Σ dᵢⱼ² / (2 Σ sᵢ²)."""
    return _over_folds(question, "5×2cv", five_by_two_f, every=True)


@test(
    title="Bayesian correlated t-test",
    for_="models tested in folds: how probable it is that one is better, or both practically equal",
    suits=(*_IN_FOLDS, each_side_by_itself),
    name="bayes_t",
    aliases=("bayes_correlated_t",),
)
def over_folds_bayes(
    question: Paired[Table],
    *,
    rope: Annotated[float, "differences within ± this are practically none, in units of the measure"] = ROPE,
) -> Comparison:
    """Corani and Benavoli's posterior of the mean difference: St(J − 1, d̄, (1/J + ρ/(1 − ρ)) s²)."""
    check_rope(rope)
    ratio = held_out_ratio(question.cases)

    def tested(a: Array, b: Array, level: float, **asked: Any) -> Posterior:
        return replace(bayes_correlated_t(a, b, rho=ratio / (1 + ratio), rope=rope, **asked), level=level)

    return _over_folds(question, "Bayesian correlated t", tested)


def _over_folds(
    question: Paired[Table], test: str, tested: Callable[..., PairTest | Posterior], *, every: bool = False
) -> Comparison:
    """The test of the differences within folds; those in which the measure is undefined are counted and left out.

    Unless it needs `every` one of them, as repeats × folds.
    """
    values = np.stack([by_fold(question.cases, *one) for one in zip(question.names, question.bound, strict=True)])
    usable = np.isfinite(values).all(axis=0)
    lost = int((~usable).sum())
    if usable.sum() < (usable.size if every else 2):
        few = "it is defined in fewer than two folds"
        few = f"{question.spec} is undefined in {lost} of the ten folds" if every else few
        return Comparison(*question.names, test, question.of, level=question.level, reason=few)
    pair = values if every else values[:, usable]
    found = tested(*pair, names=question.names, measure=question.of, level=question.level)
    told = note("SS019", f"{lost} of {usable.size} folds are left out: {question.spec} is undefined there.")
    return replace(found, notes=(*found.notes, *([told] if lost else []), *design_notes(question.cases)))


def by_fold(pairs: PairTable, model: str, request: Request) -> Array:
    """A measure of one model within each fold, as repeats × folds; NaN where it is undefined there."""
    place, shape = fold_places(pairs)
    repeats, folds = shape
    if repeats > 1 and pairs.cases * repeats * folds > _CELLS:  # a table of all folds at once would be too large
        parts = [pairs.part(np.flatnonzero(place // folds == one)) for one in range(repeats)]
        return np.concatenate(
            [by_fold(part, model, bind(request.spec, part.tables[part.index(model)])) for part in parts]
        )
    table, cells, _ = fold_cells(pairs, model)
    return request.on(table.with_cells(cells)).reshape(shape)


def fold_cells(pairs: PairTable, model: str) -> tuple[Any, Array, tuple[int, int]]:
    """The table of a model, the weight of each fold in its cells (repeats · folds, m), and the number of both."""
    place, shape = fold_places(pairs)
    k = pairs.index(model)
    table, count = pairs.tables[k], shape[0] * shape[1]
    size = int(table.cells.shape[-1])
    cells = np.bincount(place * size + pairs.cell[k], pairs.weight, minlength=count * size).reshape(count, size)
    return table, cells, shape


def fold_places(pairs: PairTable) -> tuple[NDArray[np.int64], tuple[int, int]]:
    """The place of each case in the array of repeats × folds, and the shape of that array.

    Folds are numbered within their repeat, so that it does not matter whether every repeat names its folds anew.

    >>> from scorespace.tables.pair import pair_table
    >>> fold, repeat = np.array([3, 4, 1, 2], dtype=np.int32), np.array([1, 1, 0, 0], dtype=np.int32)
    >>> pairs = replace(pair_table([1, 0, 1, 0], {"a": [4, 3, 2, 1]}), fold=fold, repeat=repeat)
    >>> fold_places(pairs)
    (array([2, 3, 0, 1]), (2, 2))
    """
    assert pairs.fold is not None
    repeat = np.zeros(pairs.cases, dtype=np.int64) if pairs.repeat is None else pairs.repeat.astype(np.int64)
    step = int(pairs.fold.max()) + 1
    present, place = np.unique(repeat * step + pairs.fold, return_inverse=True)
    folds = np.unique(np.unique(present // step, return_counts=True)[1])
    if folds.size > 1:
        raise DataError(
            "the repeats have different numbers of folds.",
            seen=f"from {folds[0]} to {folds[-1]} folds",
            hint="all folds of every repeat",
        )
    return place, (present.size // int(folds[0]), int(folds[0]))


def held_out_ratio(pairs: PairTable) -> float:
    """The ratio of test to training cases: as it is known, else 1/(k − 1) of k folds, or of samples held out by cases.

    Of these a case may never have been tested, so that the ratio is too high rather than too low; it is infinite where
    cases have no names, since nobody knows how many there are.

    >>> from scorespace.tables.pair import pair_table
    >>> held = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> pairs = replace(pair_table([1, 0, 1, 0], {"a": [4, 3, 2, 1]}), fold=0 * held, repeat=held)
    >>> held_out_ratio(pairs), held_out_ratio(replace(pairs, group=np.array([0, 1, 1, 2], dtype=np.int32)))
    (inf, 2.0)
    """
    if pairs.ratio is not None:
        return pairs.ratio
    place, (repeats, folds) = fold_places(pairs)
    if folds > 1:
        return 1 / (folds - 1)
    if repeats < 2 or pairs.group is None:
        return math.inf
    known = int(np.unique(pairs.group).size)
    tested = np.unique(pairs.group.astype(np.int64) * repeats + place).size / repeats
    return tested / (known - tested) if known > tested else math.inf


def design_notes(pairs: PairTable) -> list[Note]:
    """Whether related cases stand in different folds of a repeat: then models were trained on kin of test cases."""
    if pairs.group is None:
        return []
    place, (repeats, folds) = fold_places(pairs)
    seen = np.unique(pairs.group.astype(np.int64) * repeats * folds + place)  # each group in each fold once
    within, times = np.unique(seen // folds, return_counts=True)  # folds of a group within a repeat
    split = np.unique(within[times > 1] // repeats)
    if not split.size:
        return []
    text = (
        f"{grouped(split.size)} of {grouped(int(pairs.group.max()) + 1)} groups occur in several folds, so models "
        "were trained on cases related to those they are tested on: what holds within these groups need not hold for "
        "new ones."
    )
    return [note("SS032", text)]
