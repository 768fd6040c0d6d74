"""Permutation tests of drift between two samples of the same model, and its most likely cause.

Four hypotheses form the family of tests, adjusted by Holm's method:

- prevalence: P(y) is unchanged;
- scores: the distribution of all scores, P(s), is unchanged;
- within: the score distributions within classes, P(s | y), are unchanged;
- meaning: the share of positives at equal scores, P(y | s), is unchanged.

Without an adjusted p-value below 0.05 there is no evidence of drift. Otherwise a cause is named if one part changed
and the part that this cause leaves unchanged did not:

- prevalence (label shift): P(y) changed and P(s | y) did not;
- scores: P(s) changed and P(y) did not;
- calibration (concept drift): P(y | s) changed and P(s) did not;
- mix (covariate shift): P(s) changed and P(y | s) did not.

"Changed" means p < 0.01 (0.05 if that names no cause, and always adjusted p < 0.05), "did not" means p ≥ 0.01. If
several causes fit, the one with the largest p-value of its unchanged part is named; between prevalence and
calibration the direction of the score change decides, see `follows_prevalence`. Otherwise several parts changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.comparisons.multiple_testing import holm
from scorespace.curves.curve import distance
from scorespace.curves.smooth import SmoothCurve, smooth
from scorespace.drift import permutation
from scorespace.drift.permutation import PermutationOutcome, Permutations, PooledSamples
from scorespace.drift.result import (
    CAUSES,
    CLEAR_P_VALUE,
    FAMILY,
    SIGNIFICANCE_LEVEL,
    TITLES,
    Drift,
    DriftAspect,
    ModelDrift,
    refuse_new_labels,
)
from scorespace.errors import ConditionError, DataError, WeightError
from scorespace.results import Progress, partial_progress
from scorespace.tables import ScoreTable

REPLICATES: Final = 1000
_CLASS_ASPECTS: Final = ("positives", "negatives")
_NO_TRUTH_REASON: Final = "the later sample has no truth"
_ONE_CLASS_REASON: Final = "a sample has only one class"


def drift(
    before: Mapping[str, ScoreTable],
    after: Mapping[str, ScoreTable],
    *,
    labelled: bool = True,
    aspects: Sequence[str] | None = None,
    samples: int = 1,
    replicates: int = REPLICATES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Drift:
    """Test what changed between two samples, by model; unless `labelled`, only the later scores are known.

    `aspects` selects aspects beyond the family of tests; by default all. `samples` is the number of samples compared
    with the same earlier one, for which p-values are adjusted.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    >>> drift({"nb": table}, {"nb": table})
    4 and 4 cases are too few to detect drift.
    """
    _check_samples(before, after, replicates, samples)
    requested = tuple(TITLES) if aspects is None else tuple(aspects)
    pairs = {name: (before[name], after[name]) for name in before}
    steps = len(pairs) * (3 if labelled else 1)

    def permutations(step: int) -> Permutations:
        return Permutations(replicates, seed, partial_progress(progress, step, steps))

    pooled_samples = {name: permutation.pooled(*pair) for name, pair in pairs.items()}
    first = next(iter(pooled_samples.values()))
    prevalence = _prevalence_aspect(first, labelled, permutations(0))
    aspects_by_model = []
    for k, (name, pair) in enumerate(pairs.items()):
        if labelled:
            streams = permutations(3 * k), permutations(3 * k + 1), permutations(3 * k + 2)
            aspects_by_model.append(_test_aspects(*pair, pooled_samples[name], requested, streams))
        else:
            aspects_by_model.append(_score_aspects(*pair, pooled_samples[name], permutations(k)))
    prevalence, adjusted = _adjust_for_family(prevalence, aspects_by_model, samples)
    models = tuple(
        ModelDrift(
            name,
            aspects,
            _find_cause(prevalence, aspects, pooled_samples[name], labelled),
            pairs[name],
            _smooth_curves(*pairs[name], labelled),
        )
        for name, aspects in zip(pairs, adjusted, strict=True)
    )
    table = next(iter(before.values()))
    return Drift(table.classes[table.positive], first.cases, prevalence, models, replicates, labelled)


def _prevalence_aspect(samples: PooledSamples, labelled: bool, permutations: Permutations) -> DriftAspect:
    """Prevalence before and after, with its test."""
    before = float(samples.prevalence[0])
    if not labelled:
        return DriftAspect("prevalence", before, reason=_NO_TRUTH_REASON)
    outcome = permutation.prevalence_test(samples, permutations)
    after = float(samples.prevalence[1])
    return DriftAspect("prevalence", before, after, after, after - before, outcome.p)


def _score_aspects(
    before: ScoreTable, after: ScoreTable, samples: PooledSamples, permutations: Permutations
) -> tuple[DriftAspect, ...]:
    """Aspects of a later sample without truth: score distribution and mean."""
    gap = permutation.score_test(samples, permutations)
    means = float(permutation.mean_score(before)), float(permutation.mean_score(after))
    reason = "without truth, only the KS distance is tested"
    midpoint = DriftAspect("midpoint", *means, change=means[1] - means[0], reason=reason)
    return DriftAspect("scores", change=gap.value, p=gap.p), midpoint


def _test_aspects(
    before: ScoreTable,
    after: ScoreTable,
    samples: PooledSamples,
    requested: tuple[str, ...],
    permutations: tuple[Permutations, Permutations, Permutations],
) -> tuple[DriftAspect, ...]:
    """Test all requested aspects of one model."""
    are_probabilities = before.probabilities and after.probabilities
    have_both_classes = samples.classes_shared
    names = [name for name in TITLES if name not in FAMILY and (name in requested or name in _CLASS_ASPECTS)]
    probability_aspects = {
        name for name in names if getattr(permutation.MEASURES.get(name, smooth), "probability", False)
    }
    usable = [
        name
        for name in names
        if name in _CLASS_ASPECTS or (have_both_classes and (are_probabilities or name not in probability_aspects))
    ]
    gap = permutation.score_test(samples, permutations[0])
    outcomes = permutation.within_tests(samples, ("within", *usable), permutations[1])
    meaning = permutation.meaning_test(samples, permutations[2])
    reason = "samples and classes overlap at no score" if math.isnan(meaning.p) else None
    results = [
        DriftAspect("scores", change=gap.value, p=gap.p),
        _within_aspect(outcomes),
        DriftAspect("meaning", change=meaning.value, p=meaning.p, reason=reason),
    ]
    lowest, highest = min(before.score[-1], after.score[-1]), max(before.score[0], after.score[0])
    outside = f"the scores are not probabilities: they lie between {lowest:g} and {highest:g}"
    for name in names:
        if name in outcomes:
            results.append(_exact_aspect(name, before, after, outcomes[name]))
        else:
            results.append(DriftAspect(name, reason=outside if have_both_classes else _ONE_CLASS_REASON))
    return tuple(results)


def _within_aspect(outcomes: Mapping[str, PermutationOutcome]) -> DriftAspect:
    """Larger KS distance of the two classes, with the joint p-value."""
    gaps = [outcomes[name].value for name in _CLASS_ASPECTS if not math.isnan(outcomes[name].value)]
    reason = None if gaps else "the samples have no class in common"
    return DriftAspect("within", change=max(gaps, default=math.nan), p=outcomes["within"].p, reason=reason)


def _exact_aspect(name: str, before: ScoreTable, after: ScoreTable, outcome: PermutationOutcome) -> DriftAspect:
    """Aspect with values from the full tables; the permutation test used coarsened ones."""
    if name in _CLASS_ASPECTS:
        missing = None if not math.isnan(outcome.p) else "a sample has no case of this class"
        return DriftAspect(name, change=outcome.value, p=outcome.p, reason=missing)
    reweighted = _at_prevalence_before(before, after)
    if name == "smooth":
        return DriftAspect(name, change=distance(smooth(before), smooth(reweighted)).area, p=outcome.p)
    measure = permutation.MEASURES[name]
    old, new, same = (float(measure(table)) for table in (before, after, reweighted))
    return DriftAspect(name, old, new, same, same - old, outcome.p)


def _at_prevalence_before(before: ScoreTable, after: ScoreTable) -> ScoreTable:
    """Later sample reweighted to the earlier prevalence, or itself if that is equal."""
    share = float(before.n_pos / before.total)
    if share == float(after.n_pos / after.total):
        return after
    return permutation.at_prevalence(after.score, (after.pos, after.neg), share)


def _smooth_curves(before: ScoreTable, after: ScoreTable, labelled: bool) -> tuple[SmoothCurve, SmoothCurve] | None:
    """Smooth ROC curves, the later one at the earlier prevalence, if both are defined."""
    if not labelled or not all(table.n_pos and table.n_neg and table.probabilities for table in (before, after)):
        return None
    return smooth(before), smooth(_at_prevalence_before(before, after))


def _adjust_for_family(
    prevalence: DriftAspect, models: Sequence[tuple[DriftAspect, ...]], samples: int
) -> tuple[DriftAspect, list[tuple[DriftAspect, ...]]]:
    """Adjust the p-values of the family over all models by Holm's method, and for the number of samples."""
    family = [prevalence, *(aspect for aspects in models for aspect in aspects if aspect.name in FAMILY)]
    p_values = iter(np.minimum(1.0, samples * holm([aspect.p for aspect in family])).tolist())
    prevalence = replace(prevalence, p_adjusted=next(p_values))
    adjusted = [
        tuple(replace(aspect, p_adjusted=next(p_values)) if aspect.name in FAMILY else aspect for aspect in aspects)
        for aspects in models
    ]
    return prevalence, adjusted


def _find_cause(
    prevalence: DriftAspect, aspects: tuple[DriftAspect, ...], samples: PooledSamples, labelled: bool
) -> str:
    """Cause that explains the changes; see the module docstring."""
    family = [prevalence, *(aspect for aspect in aspects if aspect.name in FAMILY)]
    if not any(aspect.p_adjusted < SIGNIFICANCE_LEVEL for aspect in family):
        return "nothing"
    if not labelled:
        return "scores"
    p = {aspect.name: aspect.p for aspect in family}
    is_significant = {aspect.name: aspect.p_adjusted < SIGNIFICANCE_LEVEL for aspect in family}
    for threshold in (CLEAR_P_VALUE, SIGNIFICANCE_LEVEL):
        # Untestable p-values support no cause, except prevalence if the samples have no class in common.
        candidates = {
            name: p[cause.alone]
            for name, cause in CAUSES.items()
            if is_significant[cause.moved]
            and p[cause.moved] < threshold
            and (p[cause.alone] >= CLEAR_P_VALUE or (name == "prevalence" and math.isnan(p[cause.alone])))
        }
        if {"prevalence", "calibration"} <= set(candidates):
            candidates.pop("calibration" if permutation.follows_prevalence(samples) else "prevalence")
        if candidates:
            return max(candidates, key=lambda cause: np.nan_to_num(candidates[cause], nan=0.5))
    return "several"


def _check_samples(
    before: Mapping[str, ScoreTable], after: Mapping[str, ScoreTable], replicates: int, samples: int
) -> None:
    if not before or set(before) != set(after):
        raise DataError(
            "both samples need scores of the same models.",
            seen=f"{list(before)} and {list(after)}",
            hint="use the same model names in both samples",
        )
    tests = samples * (1 + 3 * len(before))
    if replicates < (least := math.ceil(tests / SIGNIFICANCE_LEVEL)):
        raise ConditionError(
            f"replicates={replicates} is too few for {tests} tests at level 0.05.", hint=f"at least {least}"
        )
    for name in before:
        old, new = before[name], after[name]
        if not (old.counted and new.counted):
            raise WeightError(
                "permutation tests need cases, but these frequency weights are not integers.",
                hint="use integer frequency weights, or case weights",
            )
        if old.classes[old.positive] != new.classes[new.positive]:
            raise DataError(
                "the samples have different positive classes.",
                seen=f"{old.classes[old.positive]!r} before and {new.classes[new.positive]!r} after",
                hint="use the same positive class in both: positive=…",
            )
        refuse_new_labels(old, new, "the sample after")
