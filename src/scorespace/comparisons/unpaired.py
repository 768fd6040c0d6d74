"""Differences without pairs: one model on two independent samples, and a model against a fixed value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scorespace.comparisons.classes import USUAL
from scorespace.comparisons.comparison import Comparison, Comparisons, adjusted_by_holm, group_notes
from scorespace.comparisons.delong import auc_against, delong_unpaired
from scorespace.comparisons.paired import drawn_by_groups, judged
from scorespace.errors import MeasureError, ScoreSpaceError, did_you_mean, listing
from scorespace.measures.catalog import MeasureSpec, parse
from scorespace.measures.request import bind
from scorespace.resampling.draw import REPLICATES, WITHIN_CLASSES
from scorespace.resampling.estimate import check_level
from scorespace.resampling.interval import Resampling
from scorespace.results import Note, Progress, decimals, note, signed
from scorespace.tables import Array, ClassTable, ConfusionTable, ScoreTable, Table
from scorespace.tables.pair import PairTable

TESTS: Final = ("delong", "bootstrap")
"""The tests that need no pairs."""

Sample = Table | PairTable
"""A table, or the pair table of one model whose cases come in groups."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ValueTest(Comparison):
    """A test of one number against a fixed value."""

    value: float

    @property
    def words(self) -> str:
        """The number, how far it is from the value, and whether chance alone could have done it."""
        if math.isnan(self.difference):
            return f"{self.a}: {self.reason or 'the difference is undefined'}."
        size = f"{self.measure} is {decimals(self.value + self.difference)}, {signed(self.difference)}"
        if not math.isnan(self.low):
            size += f" [{signed(self.low)}, {signed(self.high)}]"
        size += f" from {self.value:g}"
        if math.isnan(self.p):
            return f"{self.a}: {size}; no test is possible: {self.reason}."
        return f"{self.a}: {size}, {self.judgement}."


def compare_samples(
    a: Sample,
    b: Sample,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    names: tuple[str, str] = ("the first sample", "the second sample"),
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> Comparison:
    """A measure on two independent samples: DeLong's unpaired test for the AUC, and the bootstrap for any measure.

    The bootstrap draws cases within the classes of each sample, or its groups, by streams of their own.

    >>> from scorespace.tables import score_table
    >>> first = score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.5, 0.2, 0.1])
    >>> second = score_table([1, 1, 0, 0, 0], [0.7, 0.3, 0.6, 0.4, 0.1])
    >>> compare_samples(first, second, names=("before", "after"))
    before and after: auc differs by +0.222 [−0.794, +1.239], not distinguishable from chance here \
(two independent samples, p = 0.605).
    """
    check_level(level)
    wanted = _spec(spec)
    if check_test(test, wanted, (a, b)) == "delong":
        return delong_unpaired(_ranked(a), _ranked(b), names, level)
    first, second = (_draws(each, wanted, seed, k, replicates, progress) for k, each in enumerate((a, b)))
    kind = "bootstrap of groups, unpaired" if first.grouped or second.grouped else "bootstrap, unpaired"
    found = Comparison(*names, kind, str(wanted), first.value - second.value, level=level, independent=True)
    reason = first.reason or second.reason
    if reason is not None:
        return replace(found, difference=_finite(found.difference), reason=reason)
    return judged(found, first.values - second.values)


def against_value(
    sample: Sample,
    value: float,
    spec: MeasureSpec | str | None = None,
    *,
    test: str | None = None,
    name: str = "",
    level: float = 0.95,
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> ValueTest:
    """Whether a measure differs from a value: DeLong's z for the AUC, and the bootstrap for any measure.

    >>> from scorespace.tables import score_table
    >>> against_value(score_table([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.4, 0.5, 0.2, 0.1]), 0.5, name="nb")
    nb: auc is 0.889, +0.389 [+0.081, +0.697] from 0.5, more than chance explains (p = 0.013).
    """
    check_level(level)
    if not math.isfinite(value):
        raise ScoreSpaceError(f"against={value:g} is not a value to test against.", hint="against=0.5")
    wanted = _spec(spec)
    low, high = wanted.measure.range
    if not low <= value <= high:
        raise ScoreSpaceError(f"against={value:g} is no value of {wanted}.", hint=f"from {low:g} to {high:g}")
    if check_test(test, wanted, (sample,)) == "delong":
        return _against(auc_against(_ranked(sample), value, level, name), value)
    draws = _draws(sample, wanted, seed, 0, replicates, progress)
    kind = "bootstrap of groups" if draws.grouped else "bootstrap"
    gap = _finite(draws.value - value)
    found = Comparison(name, f"{value:g}", kind, str(wanted), gap, level=level, reason=draws.reason)
    if draws.reason is not None:
        return _against(found, value)
    return _against(judged(found, draws.values - value), value)


def compare_models(
    first: Mapping[str, Sample],
    second: Mapping[str, Sample],
    spec: MeasureSpec | None = None,
    *,
    sides: tuple[str, str] = ("first", "second"),
    test: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Comparisons:
    """Each model on one sample against itself on another, adjusted by Holm where there are several models.

    Without a measure, scores are compared by AUC and decisions by accuracy.
    """
    found, values, same = [], {}, []
    for model, one in first.items():
        other = second[model]
        wanted = spec or usual(one)
        names = (f"{model} in {sides[0]}", f"{model} in {sides[1]}")
        found.append(compare_samples(one, other, wanted, test=test, names=names, level=level, seed=seed))
        values[model] = (_value(one, wanted), _value(other, wanted))
        if isinstance(_table(one), ScoreTable) and _table(one) == _table(other):
            same.append(model)
    text = (
        f"the scores of {', '.join(same)} are the same in both samples, class by class: these look like the same "
        "cases, which are not independent; compare models on the same cases as columns of one file."
    )
    notes = [note("SS032", text)] if same else []
    return _all(first, (*first.values(), *second.values()), found, notes, sides, values)


def compare_with_value(
    samples: Mapping[str, Sample],
    value: float,
    spec: MeasureSpec | None = None,
    *,
    test: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Comparisons:
    """Each model against a fixed value, adjusted by Holm where there are several models."""
    found = [
        against_value(one, value, spec or usual(one), test=test, name=model, level=level, seed=seed)
        for model, one in samples.items()
    ]
    values = {model: (_value(one, spec or usual(one)), value) for model, one in samples.items()}
    sides = (" or ".join(dict.fromkeys(one.measure for one in found)), "value")
    return _all(samples, tuple(samples.values()), found, [], sides, values)


def _all(
    models: Iterable[str],
    samples: Sequence[Sample],
    found: Sequence[Comparison],
    notes: Sequence[Note],
    sides: tuple[str, str],
    values: Mapping[str, tuple[float, float]],
) -> Comparisons:
    adjusted, holms = adjusted_by_holm(found, "models")
    grouped = group_notes(found) if any(isinstance(one, PairTable) for one in samples) else ()
    told = (*notes, *grouped, *holms)
    return Comparisons(tuple(models), tuple(adjusted), "holm" if holms else None, told, sides, values)


def usual(sample: Sample) -> MeasureSpec:
    """What is compared when nothing is asked for: the AUC of scores, the accuracy of decisions."""
    table = _table(sample)
    if isinstance(table, ClassTable):
        return USUAL
    return MeasureSpec("auc" if isinstance(table, ScoreTable) else "acc")


def check_test(test: str | None, spec: MeasureSpec, samples: Sequence[Sample]) -> str:
    """The test that suits, or the one named if it needs no pairs and suits the measure.

    >>> check_test(None, MeasureSpec("ks"), ())
    'bootstrap'
    """
    grouped = any(isinstance(sample, PairTable) for sample in samples)
    if test is None:
        return "delong" if spec == MeasureSpec("auc") and not grouped else "bootstrap"
    if test not in TESTS:
        near = did_you_mean(test, TESTS)
        raise ScoreSpaceError(
            f"{test!r} cannot be used: these are not two models on the same cases, so the test must do without pairs.",
            seen=f"without pairs there are {listing(TESTS)}",
            hint=f'test="{near or "bootstrap"}"',
        )
    if test == "delong" and spec != MeasureSpec("auc"):
        raise MeasureError(
            f"DeLong's test is for auc, not for {spec}.", hint="test bootstrap, which is for any measure"
        )
    return test


@dataclass(frozen=True, eq=False)
class _Draws:
    """A measure of a sample and of its replicates, or the reason why there are none."""

    value: float
    values: Array
    grouped: bool
    reason: str | None = None


def _draws(
    sample: Sample, spec: MeasureSpec, seed: int, stream: int, replicates: int, progress: Progress | None
) -> _Draws:
    grouped, table = isinstance(sample, PairTable), _table(sample)
    request = bind(spec, table)
    function, suitable = request.formula, request.table
    value = float(np.asarray(function(suitable)))
    if not math.isfinite(value) or not table.whole:
        reason = spec.measure.reason(value) or "the weights are not whole numbers, so cases cannot be drawn"
        return _Draws(value, np.empty(0), grouped, reason)
    # The same table twice must not be drawn the same way twice.
    own = int(np.random.SeedSequence([seed, stream]).generate_state(1)[0])
    if isinstance(sample, PairTable):
        drawn = drawn_by_groups(sample, spec, replicates=replicates, seed=own, progress=progress)
        return _Draws(value, drawn, grouped)
    apart = spec.name in WITHIN_CLASSES and spec.of not in ("weighted", "micro")
    plan = Resampling(
        function, suitable, value, replicates=replicates, seed=own, progress=progress, stratified=apart
    ).lightened()
    spread = plan.value + plan.scale * (plan.draws() - plan.value) + plan.shift
    return _Draws(value, spread, grouped)


def _spec(spec: MeasureSpec | str | None) -> MeasureSpec:
    return parse(spec) if isinstance(spec, str) else spec or MeasureSpec("auc")


def _table(sample: Sample) -> Table:
    return sample.tables[0] if isinstance(sample, PairTable) else sample


def _value(sample: Sample, spec: MeasureSpec) -> float:
    return bind(spec, _table(sample)).value


def _finite(number: float) -> float:
    return number if math.isfinite(number) else math.nan


def _ranked(sample: Sample) -> ScoreTable:
    """The score table of a sample; a crisp decision is a score of 1 or 0."""
    table = _table(sample)
    if isinstance(table, ScoreTable):
        return table
    if isinstance(table, ConfusionTable):
        return table.score_table()
    raise MeasureError("DeLong's test is for two classes.", hint="test bootstrap, which is for any measure")


def _against(found: Comparison, value: float) -> ValueTest:
    return ValueTest(**vars(found), value=value)
