"""Which test for which question: all pairs of models on the same cases, each by the test that suits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from scorespace.comparisons.adjust import holm
from scorespace.comparisons.bootstrap import REPLICATES
from scorespace.comparisons.comparison import Comparison, Comparisons
from scorespace.comparisons.delong import delong_covariance, delong_omnibus, delong_pair
from scorespace.comparisons.folds import corrected_t, paired_t
from scorespace.comparisons.interval import check_level
from scorespace.comparisons.mcnemar import METHODS, cochran_q, mcnemar
from scorespace.comparisons.paired import by_fold, paired_bootstrap, permutation
from scorespace.comparisons.repeated import PairTest
from scorespace.errors import MeasureError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import Note, Progress, grouped, note
from scorespace.tables import Array
from scorespace.tables.pair import PairTable

OVER_FOLDS: Final = ("corrected-t", "paired-t")
MCNEMARS: Final = ("mcnemar", *(f"mcnemar-{method}" for method in METHODS))
TESTS: Final = ("delong", "bootstrap", "permutation", *MCNEMARS, *OVER_FOLDS)
FEW_DISCORDANT: Final = 10


def compare(
    pairs: PairTable,
    *,
    test: str | None = None,
    spec: MeasureSpec | None = None,
    thresholds: Mapping[str, float] | None = None,
    chosen: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> Comparisons:
    """Test all pairs of the chosen models, or of all, adjusted by Holm where there are several.

    Without a test: McNemar when decisions at thresholds are compared, DeLong for the AUC of ungrouped
    cases, the corrected t-test where folds are named, and the bootstrap otherwise. Three or more models
    are first tested all at once.

    >>> from scorespace.tables.pair import pair_table
    >>> scores = {"a": [0.9, 0.4, 0.6, 0.7, 0.2], "b": [0.9, 0.4, 0.6, 0.7, 0.2]}
    >>> compare(pair_table([1, 0, 1, 0, 0], scores))
    a and b: auc differs by 0.000 [0.000, 0.000], not distinguishable from chance here (p = 1.000).
    """
    check_level(level)
    names = tuple(chosen) or pairs.models
    if len(names) < 2:
        raise ScoreSpaceError("a comparison needs two models.", seen=listing(names))
    places = [pairs.index(name) for name in names]
    measure = spec or MeasureSpec("auc")
    kind = _kind(test, measure, thresholds, pairs)
    found: list[Comparison]
    if kind == "delong":
        areas, covariance = delong_covariance(pairs)
        found = [
            delong_pair(areas, covariance, (pairs.models[i], pairs.models[j]), i, j, level)
            for i, j in combinations(places, 2)
        ]
    elif kind in MCNEMARS:
        right = _right(pairs, thresholds or {})
        method = None if kind == "mcnemar" else next(m for m in METHODS if kind.endswith(f"-{m}"))
        found = [
            mcnemar(right[i], right[j], names=(pairs.models[i], pairs.models[j]), method=method, level=level)
            for i, j in combinations(places, 2)
        ]
    else:
        found = []
        couples = list(combinations(places, 2))
        for number, (i, j) in enumerate(couples):
            found.append(_resampled(kind, pairs, i, j, measure, level, seed, replicates))
            if progress is not None:
                progress((number + 1) / len(couples))
    notes = list(_notes(found, pairs))
    adjusted = _adjusted(found)
    if len(found) > 1:
        notes.append(note("SS015", f"p-values of the {len(found)} pairs are adjusted by Holm's method."))
    return Comparisons(
        names,
        (*_together(kind, pairs, places, thresholds), *adjusted),
        "holm" if len(found) > 1 else None,
        tuple(notes),
    )


def _kind(test: str | None, spec: MeasureSpec, thresholds: Mapping[str, float] | None, pairs: PairTable) -> str:
    if test is not None and test not in TESTS:
        near = did_you_mean(test, TESTS)
        raise ScoreSpaceError(
            f"there is no test {test!r}.",
            seen=listing(TESTS, most=len(TESTS)),
            hint=f"did you mean {near}?" if near else None,
        )
    if test == "delong" and spec != MeasureSpec("auc"):
        raise MeasureError(
            f"DeLong's test is for auc, not for {spec}.", hint="test bootstrap, which is for any measure"
        )
    if test in MCNEMARS and thresholds is None:
        raise ScoreSpaceError("McNemar's test compares decisions.", hint="state the threshold: at=0.5")
    if test in OVER_FOLDS and pairs.fold is None:
        raise ScoreSpaceError(f"{test} compares folds, but no fold is named.", hint="fold=…")
    if test is not None:
        return test
    if thresholds is not None:
        return "mcnemar"
    if pairs.fold is not None:
        return "corrected-t"
    return "delong" if spec == MeasureSpec("auc") and pairs.group is None else "bootstrap"


def _resampled(
    kind: str, pairs: PairTable, i: int, j: int, spec: MeasureSpec, level: float, seed: int, replicates: int
) -> Comparison:
    if kind in OVER_FOLDS:
        return _over_folds(kind, pairs, i, j, spec, level)
    if kind == "permutation":
        return permutation(pairs, i, j, spec, replicates=replicates, seed=seed)
    return paired_bootstrap(pairs, i, j, spec, level=level, replicates=replicates, seed=seed)


def _over_folds(kind: str, pairs: PairTable, i: int, j: int, spec: MeasureSpec, level: float) -> Comparison:
    """The t-test of the differences within folds; folds in which the measure is undefined are counted."""
    values = [by_fold(pairs, k, spec) for k in (i, j)]
    usable = np.isfinite(values[0]) & np.isfinite(values[1])
    names = (pairs.models[i], pairs.models[j])
    if usable.sum() < 2:
        return Comparison(*names, kind, str(spec), level=level, reason="it is defined in fewer than two folds")
    a, b = (column[usable] for column in values)
    if kind == "paired-t":
        found = paired_t(a, b, names=names, measure=str(spec), level=level)
    else:
        found = corrected_t(a, b, ratio=1 / (usable.size - 1), names=names, measure=str(spec), level=level)
    lost = int((~usable).sum())
    if not lost:
        return found
    text = f"{lost} of {usable.size} folds are left out: {spec} is undefined there."
    return replace(found, notes=(*found.notes, note("SS019", text)))


def _right(pairs: PairTable, thresholds: Mapping[str, float]) -> Array:
    """Which decisions are right, by model and case."""
    decided = [pairs.decisions(k, thresholds[name]) for k, name in enumerate(pairs.models)]
    return np.stack(decided) == (pairs.label == 1)


def _together(
    kind: str, pairs: PairTable, places: Sequence[int], thresholds: Mapping[str, float] | None
) -> list[Comparison]:
    """The test of all models at once, where there are more than two and such a test exists."""
    if len(places) < 3:
        return []
    several = replace(
        pairs,
        models=tuple(pairs.models[k] for k in places),
        place=pairs.place[list(places)],
        tables=tuple(pairs.tables[k] for k in places),
    )
    if kind == "delong":
        return [delong_omnibus(several)]
    return [cochran_q(_right(several, thresholds or {}), names=several.models)] if kind in MCNEMARS else []


def _adjusted(found: list[Comparison]) -> list[Comparison]:
    tested = [k for k, one in enumerate(found) if not math.isnan(one.p)]
    if len(found) < 2 or not tested:
        return found
    values = holm([found[k].p for k in tested])
    by_place = dict(zip(tested, values, strict=True))
    return [replace(one, p_adjusted=float(by_place[k])) if k in by_place else one for k, one in enumerate(found)]


def _notes(found: Sequence[Comparison], pairs: PairTable) -> list[Note]:
    notes = list(dict.fromkeys(one for test in found if isinstance(test, PairTest) for one in test.notes))
    for one in found:
        if one.table is not None:
            discordant = one.table[0][1] + one.table[1][0]
            if discordant < FEW_DISCORDANT:
                text = (
                    f"{one.a} and {one.b} disagree on {grouped(discordant)} cases only: from so few no test tells much."
                )
                notes.append(note("SS014", text))
    if any(one.test == "bootstrap of groups" for one in found):
        text = "cases of a group are not independent, so whole groups are drawn; DeLong's test would be too sure."
        notes.append(note("SS016", text))
    elif pairs.group is not None:
        text = "cases of a group are not independent, but this test takes them for it: it is too sure; try bootstrap."
        notes.append(note("SS016", text))
    return notes
