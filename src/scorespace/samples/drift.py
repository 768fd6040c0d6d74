"""Drift: what moved between two samples of the same model, by permutation, and which cause explains it.

Four questions make up the family of tests, adjusted by Holm's method:

- prevalence: is the share of positives P(y) the same?
- scores: is the distribution of all scores P(s) the same?
- within: are the scores within the classes P(s | y) the same?
- meaning: is the share of positives at equal scores P(y | s) the same?

If no adjusted p-value is below 0.05, nothing moved. Otherwise a cause is named when one part moved and the part that
the cause leaves alone did not:

- prevalence: P(y) moved and P(s | y) did not;
- scores: P(s) moved and P(y) did not;
- calibration: P(y | s) moved and P(s) did not;
- mix: P(s) moved and P(y | s) did not.

"Moved" is p < 0.01 here (0.05 when that names nothing, and always below 0.05 when adjusted), "did not" is p ≥ 0.01.
Of several causes that fit, the one with the largest p-value of what it leaves alone is named; between prevalence and
calibration the way the scores moved decides, see `follows_prevalence`. When no cause fits, several parts moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scorespace.comparisons.adjust import holm
from scorespace.curves.distance import distance
from scorespace.curves.smooth import SmoothCurve, smooth
from scorespace.errors import ConditionError, DataError, WeightError
from scorespace.results import Progress, part_of
from scorespace.samples import permuted
from scorespace.samples.moved import CAUSES, CLEAR, FAMILY, LIKELY, TITLES, Aspect, Drift, ModelDrift, refuse_new_labels
from scorespace.samples.permuted import Outcome, Permutations, Pooled
from scorespace.tables import ScoreTable

REPLICATES: Final = 1000
_CLASSES: Final = ("positives", "negatives")
_NO_TRUTH: Final = "the sample after has no truth"
_ONE_CLASS: Final = "a sample has only one class"


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
    """What moved between two samples, by model; not `labelled`, only the scores after are known.

    `aspects` beyond the family that the verdict rests on: all when not stated. `samples` are so many that are compared
    with the one before: p-values are adjusted for all of them.

    >>> from scorespace.tables import score_table
    >>> table = score_table([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.7])
    >>> drift({"nb": table}, {"nb": table})
    Nothing can be said: 4 and 4 cases are too few to show whether anything moved.
    """
    _check(before, after, replicates, samples)
    wanted = tuple(TITLES) if aspects is None else tuple(aspects)
    pairs = {name: (before[name], after[name]) for name in before}
    steps = len(pairs) * (3 if labelled else 1)

    def permutations(step: int) -> Permutations:
        return Permutations(replicates, seed, part_of(progress, step, steps))

    both = {name: permuted.pooled(*pair) for name, pair in pairs.items()}
    first = next(iter(both.values()))
    prevalence = _prevalence(first, labelled, permutations(0))
    found = []
    for k, (name, pair) in enumerate(pairs.items()):
        if labelled:
            three = permutations(3 * k), permutations(3 * k + 1), permutations(3 * k + 2)
            found.append(_aspects(*pair, both[name], wanted, three))
        else:
            found.append(_unlabelled(*pair, both[name], permutations(k)))
    prevalence, adjusted = _adjusted(prevalence, found, samples)
    models = tuple(
        ModelDrift(
            name,
            aspects,
            _cause(prevalence, aspects, both[name], labelled),
            pairs[name],
            _curves(*pairs[name], labelled),
        )
        for name, aspects in zip(pairs, adjusted, strict=True)
    )
    table = next(iter(before.values()))
    return Drift(table.classes[table.positive], first.cases, prevalence, models, replicates, labelled)


def _prevalence(both: Pooled, labelled: bool, permutations: Permutations) -> Aspect:
    share = float(both.prevalence[0])
    if not labelled:
        return Aspect("prevalence", share, reason=_NO_TRUTH)
    tested = permuted.prevalence_test(both, permutations)
    later = float(both.prevalence[1])
    return Aspect("prevalence", share, later, later, later - share, tested.p)


def _unlabelled(before: ScoreTable, after: ScoreTable, both: Pooled, permutations: Permutations) -> tuple[Aspect, ...]:
    """All that can be said about the scores of a sample without truth."""
    gap = permuted.score_test(both, permutations)
    means = float(permuted.mean_score(before)), float(permuted.mean_score(after))
    without = "without truth only the KS is tested"
    midpoint = Aspect("midpoint", *means, change=means[1] - means[0], reason=without)
    return Aspect("scores", change=gap.value, p=gap.p), midpoint


def _aspects(
    before: ScoreTable,
    after: ScoreTable,
    both: Pooled,
    wanted: tuple[str, ...],
    permutations: tuple[Permutations, Permutations, Permutations],
) -> tuple[Aspect, ...]:
    chances = before.probabilities and after.probabilities
    shared = both.classes_shared
    names = [name for name in TITLES if name not in FAMILY and (name in wanted or name in _CLASSES)]
    sized = {name for name in names if getattr(permuted.MEASURES.get(name, smooth), "probability", False)}
    usable = [name for name in names if name in _CLASSES or (shared and (chances or name not in sized))]
    gap = permuted.score_test(both, permutations[0])
    tested = permuted.within_tests(both, ("within", *usable), permutations[1])
    meaning = permuted.meaning_test(both, permutations[2])
    reason = "at no score do the samples and classes overlap" if math.isnan(meaning.p) else None
    found = [
        Aspect("scores", change=gap.value, p=gap.p),
        _within(tested),
        Aspect("meaning", change=meaning.value, p=meaning.p, reason=reason),
    ]
    lowest, highest = min(before.score[-1], after.score[-1]), max(before.score[0], after.score[0])
    outside = f"the scores are not probabilities: they lie between {lowest:g} and {highest:g}"
    for name in names:
        if name in tested:
            found.append(_aspect(name, before, after, tested[name]))
        else:
            found.append(Aspect(name, reason=outside if shared else _ONE_CLASS))
    return tuple(found)


def _within(tested: Mapping[str, Outcome]) -> Aspect:
    """The larger distance of the two classes, with the p-value of both together."""
    gaps = [tested[name].value for name in _CLASSES if not math.isnan(tested[name].value)]
    reason = None if gaps else "the samples have no class in common"
    return Aspect("within", change=max(gaps, default=math.nan), p=tested["within"].p, reason=reason)


def _aspect(name: str, before: ScoreTable, after: ScoreTable, tested: Outcome) -> Aspect:
    """An aspect with exact values from the whole tables; `tested` saw coarsened ones."""
    if name in _CLASSES:
        missing = None if not math.isnan(tested.p) else "a sample has none"
        return Aspect(name, change=tested.value, p=tested.p, reason=missing)
    weighted = _reweighted(before, after)
    if name == "smooth":
        return Aspect(name, change=distance(smooth(before), smooth(weighted)).area, p=tested.p)
    measure = permuted.MEASURES[name]
    old, new, same = (float(measure(table)) for table in (before, after, weighted))
    return Aspect(name, old, new, same, same - old, tested.p)


def _reweighted(before: ScoreTable, after: ScoreTable) -> ScoreTable:
    """The sample after with the prevalence before; itself, when that is the same."""
    share = float(before.n_pos / before.total)
    if share == float(after.n_pos / after.total):
        return after
    return permuted.at_prevalence(after.score, (after.pos, after.neg), share)


def _curves(before: ScoreTable, after: ScoreTable, labelled: bool) -> tuple[SmoothCurve, SmoothCurve] | None:
    """The smooth ROC curves, the second at the prevalence of the first, where both are defined."""
    if not labelled or not all(table.n_pos and table.n_neg and table.probabilities for table in (before, after)):
        return None
    return smooth(before), smooth(_reweighted(before, after))


def _adjusted(
    prevalence: Aspect, models: Sequence[tuple[Aspect, ...]], samples: int
) -> tuple[Aspect, list[tuple[Aspect, ...]]]:
    """The tests of the family, over all models, with p-values adjusted by Holm's method, and for so many samples."""
    family = [prevalence, *(aspect for aspects in models for aspect in aspects if aspect.name in FAMILY)]
    chances = iter(np.minimum(1.0, samples * holm([aspect.p for aspect in family])).tolist())
    prevalence = replace(prevalence, p_adjusted=next(chances))
    adjusted = [
        tuple(replace(one, p_adjusted=next(chances)) if one.name in FAMILY else one for one in aspects)
        for aspects in models
    ]
    return prevalence, adjusted


def _cause(prevalence: Aspect, aspects: tuple[Aspect, ...], both: Pooled, labelled: bool) -> str:
    """The cause that explains what moved; see the top of this module."""
    family = [prevalence, *(aspect for aspect in aspects if aspect.name in FAMILY)]
    if not any(aspect.p_adjusted < LIKELY for aspect in family):
        return "nothing"
    if not labelled:
        return "scores"
    p = {aspect.name: aspect.p for aspect in family}
    sure = {aspect.name: aspect.p_adjusted < LIKELY for aspect in family}
    for need in (CLEAR, LIKELY):
        # A shift of prevalence is one also where no class is in both samples; nothing else is said of what is unknown.
        fitting = {
            name: p[one.alone]
            for name, one in CAUSES.items()
            if sure[one.moved]
            and p[one.moved] < need
            and (p[one.alone] >= CLEAR or (name == "prevalence" and math.isnan(p[one.alone])))
        }
        if {"prevalence", "calibration"} <= set(fitting):
            fitting.pop("calibration" if permuted.follows_prevalence(both) else "prevalence")
        if fitting:
            return max(fitting, key=lambda cause: np.nan_to_num(fitting[cause], nan=0.5))
    return "several"


def _check(before: Mapping[str, ScoreTable], after: Mapping[str, ScoreTable], replicates: int, samples: int) -> None:
    if not before or set(before) != set(after):
        raise DataError(
            "both samples need scores of the same models.",
            seen=f"{list(before)} and {list(after)}",
            hint="the same models, by the same names, in both",
        )
    tests = samples * (1 + 3 * len(before))
    if replicates < (least := math.ceil(tests / LIKELY)):
        raise ConditionError(
            f"replicates={replicates} cannot show a change: {tests} tests are made.", hint=f"at least {least}"
        )
    for name in before:
        old, new = before[name], after[name]
        if not (old.counted and new.counted):
            raise WeightError(
                "drift deals out cases, and copies that are no whole numbers count none.",
                hint="weights that say how often a row occurred, or what each case weighs",
            )
        if old.classes[old.positive] != new.classes[new.positive]:
            raise DataError(
                "the samples have different positive classes.",
                seen=f"{old.classes[old.positive]!r} before and {new.classes[new.positive]!r} after",
                hint="the same positive class in both: positive=…",
            )
        refuse_new_labels(old, new, "the sample after")
