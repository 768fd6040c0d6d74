"""Models that score several classes, compared on the same cases: any measure by bootstrap, decisions by McNemar."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from scorespace.comparisons.compare import MCNEMARS, discordance_notes
from scorespace.comparisons.comparison import Comparison, Comparisons, adjusted_by_holm
from scorespace.comparisons.mcnemar import METHODS, cochran_q, mcnemar
from scorespace.comparisons.paired import judged
from scorespace.errors import ScoreSpaceError, did_you_mean, listing
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES, WITHIN_CLASSES, mixed_resampler, replicated, resampler
from scorespace.resampling.estimate import check_level
from scorespace.resampling.interval import thinned, thinning
from scorespace.results import Progress
from scorespace.tables import Array, ClassTable

CLASS_TESTS: Final = ("bootstrap", *MCNEMARS)
USUAL: Final = MeasureSpec("auc", of="hand_till")


def compare_classes(
    models: Mapping[str, ClassTable],
    *,
    test: str | None = None,
    spec: MeasureSpec | None = None,
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> Comparisons:
    """Test all pairs of models on the same cases, adjusted by Holm: Hand and Till's area unless stated otherwise.

    >>> from scorespace.tables import class_table
    >>> table = class_table(["a", "b", "c"], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]])
    >>> compare_classes({"one": table, "other": table})[0].p
    1.0
    """
    check_level(level)
    if len(models) < 2:
        raise ScoreSpaceError("a comparison needs two models.", seen=listing(models))
    kind = test or "bootstrap"
    if kind not in CLASS_TESTS:
        near = did_you_mean(kind, CLASS_TESTS)
        raise ScoreSpaceError(
            f"there is no test {kind!r} of scores of several classes.",
            seen=listing(CLASS_TESTS, most=len(CLASS_TESTS)),
            hint=f"did you mean {near}?" if near else None,
        )
    if any(table.weight is not None for table in models.values()):
        raise ScoreSpaceError("weighted cases cannot be compared pair by pair.", hint="leave out the weights")
    if kind in MCNEMARS:
        right = {name: table.decided == table.label for name, table in models.items()}
        return compare_decisions(right, test=kind, level=level)
    found: list[Comparison] = []
    couples = list(combinations(models, 2))
    for number, couple in enumerate(couples):
        found.append(_bootstrapped(models, couple, spec or USUAL, level, seed, replicates))
        if progress is not None:
            progress((number + 1) / len(couples))
    adjusted, notes = adjusted_by_holm(found, "pairs")
    return Comparisons(tuple(models), tuple(adjusted), "holm" if notes else None, notes)


def compare_decisions(right: Mapping[str, Array], *, test: str | None = None, level: float = 0.95) -> Comparisons:
    """McNemar's test for all pairs of models, from which of their decisions are right; Cochran's Q for several.

    >>> compare_decisions({"a": np.array([True, True, False]), "b": np.array([True, False, True])})[0].table
    ((1, 1), (1, 0))
    """
    kind = test or "mcnemar"
    if kind not in MCNEMARS:
        raise ScoreSpaceError(
            f"decisions between several classes are not compared by {kind}.", seen=listing(MCNEMARS, most=len(MCNEMARS))
        )
    names = tuple(right)
    method = None if kind == "mcnemar" else next(each for each in METHODS if kind.endswith(f"-{each}"))
    found = [mcnemar(right[a], right[b], names=(a, b), method=method, level=level) for a, b in combinations(names, 2)]
    together = [cochran_q(np.stack(list(right.values())), names=names)] if len(names) > 2 else []
    adjusted, holms = adjusted_by_holm(found, "pairs")
    notes = (*discordance_notes(found), *holms)
    return Comparisons(names, (*together, *adjusted), "holm" if holms else None, notes)


def _bootstrapped(
    models: Mapping[str, ClassTable],
    names: tuple[str, str],
    spec: MeasureSpec,
    level: float,
    seed: int,
    replicates: int,
) -> Comparison:
    """The difference of a measure, the same cases drawn for both; of many cases, a part is drawn from."""
    a, b = (models[name] for name in names)
    difference = _value(spec, a) - _value(spec, b)
    test = "bootstrap" if a.group is None else "bootstrap of groups"
    found = Comparison(*names, test, str(spec), float(difference), level=level)
    if math.isnan(difference):
        return replace(found, reason=spec.measure.reason(math.nan))
    step = thinning(a)
    part = tuple(thinned(table, step) for table in (a, b)) if step > 1 else (a, b)
    centre = _value(spec, part[0]) - _value(spec, part[1])

    def gaps(drawn: ClassTable) -> Array:
        return _value(spec, drawn) - _value(spec, part[1].with_cells(drawn.case_weight))

    apart = a.group is not None or (spec.name in WITHIN_CLASSES and spec.of not in ("weighted", "micro"))
    draw = resampler(part[0]) if apart else mixed_resampler(part[0])
    values = replicated(draw, gaps, 2 * part[0].score.size, replicates=replicates, seed=seed)
    spread = difference + (values - centre) / math.sqrt(step)
    return judged(found, spread, "both models behave alike on every case")


def _value(spec: MeasureSpec, table: ClassTable) -> Array:
    found = bind(spec, table)
    return np.asarray(found.formula(found.table), dtype=np.float64)
