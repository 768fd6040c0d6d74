"""Slices of a sample: every measure of each slice with its interval, and its gap to the rest, tested.

A slice and the rest are two independent samples, so the tests of such compare them; p is adjusted by Holm's method over
the slices, measure by measure. Two slices are each other's rest: one test, nothing to adjust. A warning that pools
measures is adjusted over all tests that it pools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Any, Final

from scorespace.comparisons.adjust import holm
from scorespace.comparisons.answer import UNTESTED, Comparison
from scorespace.comparisons.delong import delong
from scorespace.comparisons.difference import combined, interval_at
from scorespace.comparisons.parity import Parity, parities
from scorespace.comparisons.question import RANKS_NOTHING, Unpaired
from scorespace.comparisons.suits import FEW
from scorespace.comparisons.test import chosen
from scorespace.comparisons.unpaired import by_intervals
from scorespace.errors import listing
from scorespace.frozen import dataclass
from scorespace.measures.average import MACRO, OVER_PAIRS
from scorespace.measures.catalog import MeasureSpec
from scorespace.resampling.draw import Draws, stream_seed
from scorespace.resampling.estimate import Estimate, estimates
from scorespace.results import Note, Progress, Result, Row, decimals, grouped, joined, note, p_text, plain, signed
from scorespace.tables import Table
from scorespace.tables.models import Models, Parts, class_weights
from scorespace.tables.table import Top

Sides = Callable[[str, int], Draws]
REST: Final = "the rest"
_DEPENDS: Final = f"{UNTESTED}: the measure depends on how many cases there are"


@dataclass(frozen=True)
class Gap:
    """A number of a slice with its interval, and how it differs from that of all other cases."""

    slice: str
    estimate: Estimate
    rest: float
    test: Comparison

    @property
    def sure(self) -> bool:
        return self.test.sure

    @property
    def worse(self) -> bool:
        """Whether it is on the wrong side of the rest; False for measures without a better side."""
        best, gap = self.estimate.spec.measure.best, self.test.difference
        return (best == "high" and gap < 0) or (best == "low" and gap > 0)

    def row(self) -> Row:
        """The row of the estimate, with the slice and the gap beside it."""
        return {"slice": self.slice, **self.beside("rest", "gap")}

    def beside(self, rest: str, gap: str) -> Row:
        """The row of the estimate with what the other side is and how far it is, under these names."""
        test = self.test
        sizes = {gap: test.difference, f"{gap}_low": test.low, f"{gap}_high": test.high}
        judged = {"test": test.test or None, "p": test.p, "p_adjusted": test.telling_p, f"{gap}_reason": test.reason}
        return {**self.estimate.row(), **plain({rest: self.rest, **sizes, **judged})}


@dataclass(frozen=True, repr=False)
class Slices(Result):
    """What a sample says of its models in every slice, as tidy rows; `rows_of` counts the cases of each slice.

    `by` are columns that are crossed; where several make slices by themselves, `columns` has that of each slice.
    """

    by: tuple[str, ...]
    rows_of: Mapping[str, int]
    gaps: tuple[Gap, ...]
    parity: tuple[Parity, ...]
    leads: Mapping[str, MeasureSpec]
    small: Mapping[str, str]
    shared: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        return [one.row() for one in self.gaps]

    def facts(self) -> Row:
        by = self.by if self.columns else (self.title,)
        return {"by": by, "slices": self.rows_of, "parity": [one.row() for one in self.parity]}

    def of(self, model: str, spec: MeasureSpec | None = None) -> list[Gap]:
        """The gaps of a model: all, or those of one measure."""
        own = [one for one in self.gaps if one.estimate.model == model]
        return own if spec is None else [one for one in own if one.estimate.spec == spec]

    @property
    def title(self) -> str:
        return joined(self.by) if self.columns else " × ".join(self.by)

    @property
    def cases(self) -> int:
        """How many cases all slices of a column have."""
        names = next(iter(self.by_column.values()))
        return sum(self.rows_of[name] for name in names)

    @property
    def by_column(self) -> dict[str, list[str]]:
        """The slices of each column, or of the columns that are crossed, by its title."""
        found: dict[str, list[str]] = {}
        for name in self.rows_of:
            found.setdefault(self.columns.get(name, self.title), []).append(name)
        return found

    def label(self, name: str) -> str:
        """A slice without its column, as it stands below the title of that."""
        return name.removeprefix(f"{self.columns[name]} = ") if name in self.columns else name

    def adjusted_together(self, gaps: Sequence[Gap]) -> list[float]:
        """p of gaps, adjusted by Holm's method over all of them; the two slices of a column are one test."""
        pairs = {title for title, names in self.by_column.items() if len(names) == 2}
        tests: dict[tuple[str, MeasureSpec, str], float] = {}
        keys = []
        for one in gaps:
            column = self.columns.get(one.slice, self.title)
            keys.append((one.estimate.model, one.estimate.spec, column if column in pairs else one.slice))
            tests[keys[-1]] = one.test.p
        chances = dict(zip(tests, holm(list(tests.values())).tolist(), strict=True))
        return [chances[key] for key in keys]

    @property
    def words(self) -> str:
        """Which slices are worse than the rest by more than chance explains, model by model, in the leading measure."""
        return " ".join(self._told(model, spec) for model, spec in self.leads.items())

    def _told(self, model: str, spec: MeasureSpec) -> str:
        gaps = self.of(model, spec)
        sure = sorted((one for one in gaps if one.sure), key=lambda one: one.test.telling_p)
        worse = [one for one in sure if one.worse]
        if worse:
            told = [f"{_of(one)} ({one.test.size}, {p_text(one.test.telling_p)})" for one in worse]
            return f"By {self.title}, {spec.shown} of {model} is worse than in the rest for {joined(told)}."
        if sure:
            named = joined([one.slice for one in sure])
            if spec.measure.best is None:
                return f"By {self.title}, {spec.shown} of {model} differs from the rest for {named}."
            return (
                f"By {self.title}, {spec.shown} of {model} is better than in the rest for {named}; that it is worse is "
                "shown for no slice."
            )
        if all(math.isnan(one.test.p) for one in gaps):
            return f"By {self.title}, nothing can be said of {spec.shown} of {model}: no gap can be tested."
        return f"By {self.title}, no gap in {spec.shown} of {model} is shown{_excluded(gaps, spec)}."

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know of the slices."""
        found: list[Note] = []
        for model in dict.fromkeys(one.estimate.model for one in self.gaps):
            lead = self.leads.get(model)
            others = [one for one in self.of(model) if one.estimate.spec != lead and not math.isnan(one.test.p)]
            by_measure: dict[str, list[str]] = {}
            for one, p in zip(others, self.adjusted_together(others), strict=True):
                if one.worse and p < round(1 - one.test.level, 12):
                    by_measure.setdefault(one.estimate.spec.shown, []).append(one.slice)
            if by_measure:
                told = "; ".join(f"{name} for {joined(slices)}" for name, slices in by_measure.items())
                over = "adjusted over all of its other measures"
                found.append(note("SS091", f"{model} is worse than in the rest, beyond chance ({over}), in {told}."))
            constant = dict.fromkeys(one.slice for one in self.of(model) if _ranks_nothing(one))
            if constant:
                text = f"all scores of {model} {RANKS_NOTHING}, for {joined(list(constant))}: no gap is tested there."
                found.append(note("SS012", text))
            flat: dict[str, list[str]] = {}
            for one in self.of(model):
                if one.estimate.method is not None and one.estimate.low == one.estimate.high:
                    flat.setdefault(one.estimate.spec.shown, []).append(one.slice)
            if flat:
                told = "; ".join(f"{name} of {model} for {joined(slices)}" for name, slices in flat.items())
                found.append(note("SS012", f"no replicate changes {told}: no width is not certainty."))
        found += [note("SS093", words) for one in self.parity if (words := one.words) is not None]
        if self.small:
            told = "; ".join(f"{name} ({why})" for name, why in self.small.items())
            found.append(note("SS092", f"too small to tell by {self.title}: {told}."))
        if self.shared:
            groups = f"{grouped(self.shared)} group{'s lie' if self.shared > 1 else ' lies'}"
            told = f"{groups} in several slices: a slice and the rest are not independent, and tests take them for it."
            found.append(note("SS094", told))
        tested = {one.slice for one in self.gaps if not math.isnan(one.test.p)}
        if len(self.rows_of) > 2 and tested:
            told = f"p-values of the {len(tested)} slices are adjusted by Holm's method, for each measure alone"
            found.append(note("SS015", f"{told}; intervals are those of single gaps."))
        return tuple(found)


def _excluded(gaps: Sequence[Gap], spec: MeasureSpec) -> str:
    """What the intervals of all gaps exclude: of a measure with a better side, how much worse a slice could be."""
    tested = [one.test for one in gaps if not math.isnan(one.test.low)]
    if not tested:
        return ""
    low, high = min(one.low for one in tested), max(one.high for one in tested)
    single = f"the single {100 * tested[0].level:g} % intervals exclude"
    if spec.measure.best is None:
        return f"; {single} gaps below {signed(low)} and above {signed(high)}"
    loss = -low if spec.measure.best == "high" else high
    return f"; {single} that a slice is worse than the rest by more than {decimals(max(loss, 0.0))}"


def _ranks_nothing(one: Gap) -> bool:
    return (one.estimate.reason or "").endswith(RANKS_NOTHING)


def _of(one: Gap) -> str:
    return f"{one.slice}, {one.estimate.text}"


def slices(
    parts: Parts,
    asked: Mapping[str, Sequence[MeasureSpec]],
    *,
    at: Mapping[str, float | None] | None = None,
    leads: Mapping[str, MeasureSpec] | None = None,
    prevalence: float | None = None,
    level: float = 0.95,
    method: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Slices:
    """Every measure that is asked of a model in each slice, its gap to the rest, and parity between the slices.

    `at` are the thresholds that parity is told at, `leads` the measures that the words are about; `prevalence` is that
    which parity is told for, as measures have their own.
    """
    gaps: list[Gap] = []
    parity: list[Parity] = []
    steps = max(1, len(asked))
    for step, (model, specs) in enumerate(asked.items()):
        draws = _sides(parts, model, seed)
        found = []
        for number, name in enumerate(parts.slices):
            found.append(_of_slice(model, name, specs, draws, level, method))
            if progress is not None:
                progress((step + (number + 1) / len(parts.slices)) / steps)
        for own in zip(*found, strict=True):
            gaps += _adjusted(own)
        threshold = None if at is None else at.get(model)
        samples = {name: draws(name, 0) for name in parts.slices}
        parity += parities(model, samples, threshold, prevalence=prevalence, level=level)
    rows = {name: models.rows for name, models in parts.slices.items()}
    small = {name: why for name, models in parts.slices.items() if (why := _too_small(models)) is not None}
    first = leads or {model: specs[0] for model, specs in asked.items() if specs}
    return Slices(parts.by, rows, tuple(gaps), tuple(parity), first, small, parts.shared)


def slices_of_columns(parts: Sequence[Parts], asked: Mapping[str, Sequence[MeasureSpec]], **options: Any) -> Slices:
    """The same where several columns make slices, each by itself: p is adjusted over the slices of all columns."""
    found = [slices(one, asked, **options) for one in parts]
    return found[0] if len(found) == 1 else _gathered(found)


def _gathered(found: Sequence[Slices]) -> Slices:
    """The slices of several columns as one result, in which a slice is named with its column."""

    def name(column: Slices, slice: str) -> str:
        return f"{column.title} = {slice}"

    every = Slices(
        by=tuple(one.title for one in found),
        rows_of={name(one, slice): rows for one in found for slice, rows in one.rows_of.items()},
        gaps=tuple(
            replace(gap, slice=name(one, gap.slice), test=replace(gap.test, a=name(one, gap.slice)))
            for one in found
            for gap in one.gaps
        ),
        parity=tuple(
            replace(each, highest=name(one, each.highest), lowest=name(one, each.lowest)) if each.highest else each
            for one in found
            for each in one.parity
        ),
        leads=found[0].leads,
        small={name(one, slice): why for one in found for slice, why in one.small.items()},
        shared=max(one.shared for one in found),
        columns={name(one, slice): one.title for one in found for slice in one.rows_of},
    )
    gaps: list[Gap] = []
    for model, spec in dict.fromkeys((gap.estimate.model, gap.estimate.spec) for gap in every.gaps):
        own = every.of(model, spec)
        chances = every.adjusted_together(own)
        gaps += [replace(gap, test=replace(gap.test, p_adjusted=p)) for gap, p in zip(own, chances, strict=True)]
    return replace(every, gaps=tuple(gaps))


def _sides(parts: Parts, model: str, seed: int) -> Sides:
    """What gives a model in a slice (side 0) and in its rest (side 1), each drawn once for all measures."""

    @cache
    def draws(name: str, side: int) -> Draws:
        models = (parts.slices, parts.rests)[side][name]
        pairs = None if models.pairs is None else models.pairs.only(model)
        return Draws({model: models[model]}, pairs, seed=stream_seed(seed, side))

    return draws


def _of_slice(
    model: str, name: str, specs: Sequence[MeasureSpec], draws: Sides, level: float, method: str | None
) -> list[Gap]:
    """All measures of a slice beside those of the rest; of two slices, one test serves both."""
    first, second = (draws(name, side) for side in (0, 1))
    told = estimates({model: specs}, first, level=level, method=method, strict=False)
    return [gap_between(name, one, first, second, level) for one in told]


def gap_between(name: str, one: Estimate, first: Draws, second: Draws, level: float, *, other: str = REST) -> Gap:
    """A number of one sample beside that of another; numbers that depend on how many cases there are, untested."""
    question: Unpaired[Table] = Unpaired(spec=one.spec, level=level, first=first, second=second, names=(name, other))
    if question.constant is not None:
        test = question.answer("interval, unpaired", asked=str(one.spec))
        if question.bound[0].table.constant:  # else the other side is
            one = replace(one, low=math.nan, high=math.nan, method=None, reason=question.constant)
        return Gap(name, one, question.bound[1].value, test)
    # By what misleads where cases are few, a small slice differs from a large rest without any gap, and tests would
    # call it one (in 9 % of 400 samples without any, for ks).
    # The first 200 of a small slice are more of it than the first 200 of the rest: there is a gap without any.
    counted = isinstance(one.spec.at, Top) and not one.spec.at.percent and other == REST
    # A class that no case is of, though some are decided for it, lowers a mean over the classes without any gap.
    if one.spec.of in (MACRO, *OVER_PAIRS) and (lone := _present(first) ^ _present(second)):
        told = f"{listing(sorted(lone))} {'is' if len(lone) == 1 else 'are'} absent on one side"
        found = question.answer(
            "interval, unpaired", reason=one.reason or f"{told}, and the mean is over other classes"
        )
        return Gap(name, one, question.bound[1].value, replace(found, asked=str(one.spec)))
    if one.spec.measure.biased is not None or counted:
        return Gap(name, one, question.bound[1].value, replace(_untested(question, one), asked=str(one.spec)))
    choice = chosen(None, question)
    if choice.kind is delong and other == REST:
        # Areas of a small slice are skewed and those of a large rest are not: Z rejected in 8 to 15 % of samples
        # without any gap (6 slices, 600 to 2 400 cases, AUC 0.80 and 0.94), the intervals shown in 1 to 3 %.
        choice = chosen(by_intervals.name, question)
    test = choice.kind(question, **choice.call.options)
    return Gap(name, one, question.bound[1].value, replace(test, asked=str(one.spec)))


def _present(draws: Draws) -> set[str]:
    """The classes that some case of a sample is of."""
    (table,) = draws.tables.values()
    return {name for name, weight in class_weights(table).items() if weight}


def _untested(question: Unpaired[Table], one: Estimate) -> Comparison:
    """The gap with an interval alone, from the corrected intervals of both numbers."""
    request = question.bound[1]
    found = question.answer("interval, unpaired", reason=one.reason or request.reason(request.value))
    if found.reason is not None:
        return found
    other = interval_at(request, one.model, question.second, one.level)
    low, high = combined(one.value, (one.low, one.high), request.value, (other.low, other.high))
    return replace(found, low=low, high=high, reason=_DEPENDS)


def _adjusted(own: Sequence[Gap]) -> list[Gap]:
    """The gaps of one measure in all slices, adjusted; of two slices the second is the first turned round."""
    if len(own) == 2:
        first, second = own
        test = first.test
        turned = replace(
            test,
            a=second.slice,
            difference=-test.difference,
            low=-test.high,
            high=-test.low,
            statistic=-test.statistic,
            certified=None if test.certified is None else (-test.certified[1], -test.certified[0]),
        )
        return [first, replace(second, test=turned)]
    chances = holm([one.test.p for one in own]).tolist()
    return [replace(one, test=replace(one.test, p_adjusted=p)) for one, p in zip(own, chances, strict=True)]


def _too_small(models: Models) -> str | None:
    """Why a slice is too small to tell: a class is absent or rare in it, or its cases are few."""
    absent = [name for name, weight in models.classes.items() if not weight]
    if absent:
        return f"{_cases(models.rows)}, none of {joined(absent)}"
    fewest = min(models.classes, key=lambda name: models.classes[name], default=None)
    if fewest is not None and models.classes[fewest] < FEW:
        return f"{grouped(models.classes[fewest])} of {fewest}"
    return _cases(models.rows) if models.rows < FEW else None


def _cases(rows: int) -> str:
    return f"{grouped(rows)} case{'' if rows == 1 else 's'}"
