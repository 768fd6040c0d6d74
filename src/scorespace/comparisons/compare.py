"""Which test for which question: all pairs of models on the same cases, each by the test that suits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from scorespace.comparisons.comparison import Comparison, Comparisons, adjusted_by_holm, group_notes
from scorespace.comparisons.crossvalidation import OVER_FOLDS, design_notes, over_folds
from scorespace.comparisons.delong import delong_covariance, delong_omnibus, delong_pair
from scorespace.comparisons.mcnemar import METHODS, cochran_q, mcnemar
from scorespace.comparisons.paired import paired_bootstrap, permutation
from scorespace.comparisons.repeated import ROPE, PairTest, Posterior, check_rope
from scorespace.errors import MeasureError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures.catalog import MeasureSpec
from scorespace.resampling.draw import REPLICATES
from scorespace.resampling.estimate import check_level
from scorespace.results import Note, Progress, grouped, note
from scorespace.tables import Array
from scorespace.tables.pair import PairTable

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
    rope: float | None = None,
    progress: Progress | None = None,
) -> Comparisons:
    """Test all pairs of the chosen models, or of all, adjusted by Holm where there are several.

    Without a test: McNemar when decisions at thresholds are compared, DeLong for the AUC of ungrouped
    cases, the corrected t-test where folds are named, and the bootstrap otherwise. Three or more models
    are first tested all at once. `rope` is the half width of practical equivalence of the test bayes-t.

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
    if rope is not None and kind != "bayes-t":
        raise ScoreSpaceError(f"rope={rope:g} is for the test bayes-t, and not for {kind}.", hint='test="bayes-t"')
    check_rope(width := ROPE if rope is None else rope)
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
            if kind in OVER_FOLDS:
                found.append(over_folds(kind, pairs, i, j, measure, level=level, rope=width))
            elif kind == "permutation":
                found.append(permutation(pairs, i, j, measure, replicates=replicates, seed=seed))
            else:
                found.append(paired_bootstrap(pairs, i, j, measure, level=level, replicates=replicates, seed=seed))
            if progress is not None:
                progress((number + 1) / len(couples))
    notes = list(_notes(found, pairs, kind))
    adjusted, holms = adjusted_by_holm(found, "pairs")
    tested = [replace(one, level=level) for one in (*_together(kind, pairs, places, thresholds), *adjusted)]
    return Comparisons(names, tuple(tested), "holm" if holms else None, (*notes, *holms))


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
    if pairs.repeat is not None and (pairs.fold is None or thresholds is not None or test not in (None, *OVER_FOLDS)):
        raise ScoreSpaceError(
            f"with repeats every case occurs several times, which {test or 'this test'} would count as several cases.",
            seen=f"{grouped(pairs.cases)} rows in {int(pairs.repeat.max()) + 1} repeats",
            hint=f"fold=… and one of {', '.join(OVER_FOLDS)}",
        )
    if test is not None:
        return test
    if thresholds is not None:
        return "mcnemar"
    if pairs.fold is not None:
        return "corrected-t"
    return "delong" if spec == MeasureSpec("auc") and pairs.group is None else "bootstrap"


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
    several = pairs.only(*(pairs.models[k] for k in places))
    if kind == "delong":
        return [delong_omnibus(several)]
    return [cochran_q(_right(several, thresholds or {}), names=several.models)] if kind in MCNEMARS else []


def _notes(found: Sequence[Comparison], pairs: PairTable, kind: str) -> list[Note]:
    over = [test for test in found if isinstance(test, (PairTest, Posterior))]
    notes = list(dict.fromkeys(one for test in over for one in test.notes))
    if kind in OVER_FOLDS:
        return [*notes, *design_notes(pairs)]
    return [*notes, *discordance_notes(found), *(group_notes(found) if pairs.group is not None else ())]


def discordance_notes(found: Sequence[Comparison]) -> Iterator[Note]:
    """Notes on pairs of models that disagree on few cases."""
    for one in found:
        if one.table is not None and (discordant := one.table[0][1] + one.table[1][0]) < FEW_DISCORDANT:
            text = f"{one.a} and {one.b} disagree on {grouped(discordant)} cases only: from so few no test tells much."
            yield note("SS014", text)
