"""Slices of a sample: every measure of each slice with its interval, and its tested difference from the rest.

A slice and the rest are two independent samples, compared by the tests for these; p values are adjusted by Holm's
method over all slices and measures of a model, as the verdict pools them. Two slices are each other's rest: one test.
Nothing is tested where a difference says nothing about the model: in bands of its own score, and where a slice or the
rest has one class or one score only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from scorespace.comparisons.design import RANKS_NOTHING
from scorespace.comparisons.eligibility import MIN_RAREST_CASES
from scorespace.comparisons.multiple_testing import holm
from scorespace.comparisons.parity import Parity, fairness_criteria
from scorespace.comparisons.result import UNTESTED
from scorespace.comparisons.slice_gap import REST, SliceGap, gap_between, mirror_pair
from scorespace.inference.bootstrap import BootstrapDraws, stream_seed
from scorespace.inference.estimate import estimates
from scorespace.measures.catalog import MeasureSpec
from scorespace.results import (
    Note,
    Progress,
    Result,
    Row,
    decimals,
    format_signed,
    grouped,
    join_words,
    note,
    p_text,
)
from scorespace.tables.models import Models, SubgroupModels

SliceDraws = Callable[[str, int], BootstrapDraws]
_MAX_NAMED: Final = 3  # gaps named in the verdict


@dataclass(frozen=True, repr=False)
class Slices(Result):
    """Results of models in every slice, as tidy rows; `rows_of` counts the cases of each slice.

    `by` are columns that are crossed; if several columns make slices separately, `columns` has that of each slice.
    """

    by: tuple[str, ...]
    rows_of: Mapping[str, int]
    gaps: tuple[SliceGap, ...]
    parity: tuple[Parity, ...]
    leads: Mapping[str, MeasureSpec]
    small: Mapping[str, str]
    shared: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        return [gap.row() for gap in self.gaps]

    def facts(self) -> Row:
        by = self.by if self.columns else (self.title,)
        return {"by": by, "slices": self.rows_of, "parity": [parity.row() for parity in self.parity]}

    def of(self, model: str, spec: MeasureSpec | None = None) -> list[SliceGap]:
        """Return the gaps of a model: all, or those of one measure."""
        gaps = [gap for gap in self.gaps if gap.estimate.model == model]
        return gaps if spec is None else [gap for gap in gaps if gap.estimate.spec == spec]

    @property
    def title(self) -> str:
        return join_words(self.by) if self.columns else " × ".join(self.by)

    @property
    def cases(self) -> int:
        """Number of cases in all slices of a column."""
        names = next(iter(self.by_column.values()))
        return sum(self.rows_of[name] for name in names)

    @property
    def by_column(self) -> dict[str, list[str]]:
        """Slices of each column, or of the crossed columns, by title."""
        slices_: dict[str, list[str]] = {}
        for name in self.rows_of:
            slices_.setdefault(self.columns.get(name, self.title), []).append(name)
        return slices_

    def label(self, name: str) -> str:
        """Name of a slice without its column."""
        return name.removeprefix(f"{self.columns[name]} = ") if name in self.columns else name

    def test_key(self, gap: SliceGap) -> tuple[MeasureSpec, str]:
        """What tells the tests of a model apart; the two slices of a column are one test."""
        column = self.columns.get(gap.slice, self.title)
        return gap.estimate.spec, column if len(self.by_column[column]) == 2 else gap.slice

    @property
    def worse(self) -> list[SliceGap]:
        """The gaps by which a slice is significantly worse than the rest, the smallest p first."""
        return _by_p(gap for gap in self.gaps if gap.is_significant and gap.worse)

    @property
    def words(self) -> str:
        """Which slices are significantly worse than the rest, in one sentence over all models and measures."""
        by, worse = f"By {self.title}", self.worse
        if worse:
            more = f"; {len(worse) - _MAX_NAMED} more" if len(worse) > _MAX_NAMED else ""
            return f"{by}, worse than in the rest: {_gaps_text(worse)}{more}."
        tested = [gap for gap in self.gaps if not math.isnan(gap.test.p)]
        if not tested:
            reasons = {gap.test.reason for gap in self.gaps}
            why = f": {str(reasons.pop()).removeprefix(f'{UNTESTED}: ')}" if len(reasons) == 1 else ""
            return f"{by}, no gap can be tested{why}."
        others = _by_p(gap for gap in tested if gap.is_significant)
        specs = {gap.estimate.spec.shown: gap.estimate.spec for gap in tested if gap.estimate.spec.best is not None}
        if not specs:
            differing = f"different from the rest: {_gaps_text(others)}" if others else "no gap is significant"
            return f"{by}, {differing}."
        names = join_words(list(specs), "or") if len(specs) <= _MAX_NAMED else f"any of {len(specs)} measures"
        text = f"{by}, no slice is clearly worse than the rest in {names}"
        if others:
            return f"{text}; clear differences: {_gaps_text(others)}."
        return f"{text}{_excluded(tested, *specs.values()) if len(specs) == 1 else ''}."

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the slices."""
        notes: list[Note] = []
        if len(self.worse) > _MAX_NAMED:
            by_measure: dict[str, list[str]] = {}
            for gap in self.worse[_MAX_NAMED:]:
                by_measure.setdefault(f"{gap.estimate.spec.shown} of {gap.estimate.model}", []).append(gap.slice)
            text_ = _first([f"{name} for {join_words(slices)}" for name, slices in by_measure.items()])
            notes.append(note("SS091", f"also significantly worse than in the rest: {text_}."))
        for model in dict.fromkeys(gap.estimate.model for gap in self.gaps):
            constant = dict.fromkeys(gap.slice for gap in self.of(model) if _is_constant(gap))
            if constant:
                text = (
                    f"all scores of {model} {RANKS_NOTHING}, for {join_words(list(constant))}: no gap is tested there."
                )
                notes.append(note("SS012", text))
            flat: dict[str, list[str]] = {}
            for gap in self.of(model):
                if gap.estimate.method is not None and gap.estimate.low == gap.estimate.high:
                    flat.setdefault(gap.estimate.spec.shown, []).append(gap.slice)
            if flat:
                text_ = "; ".join(f"{name} of {model} for {join_words(slices)}" for name, slices in flat.items())
                notes.append(
                    note(
                        "SS012",
                        f"all bootstrap replicates gave the same value of {text_}: this interval is not informative.",
                    )
                )
        notes += [note("SS093", words) for gap in self.parity if (words := gap.words) is not None]
        if self.small:
            text_ = _first([f"{name} ({reason})" for name, reason in self.small.items()])
            notes.append(note("SS092", f"slices too small for reliable results by {self.title}: {text_}."))
        if self.shared:
            groups = f"{grouped(self.shared)} group{'s are' if self.shared > 1 else ' is'}"
            text_ = f"{groups} in several slices, so a slice and the rest are not independent, as the tests assume."
            notes.append(note("SS094", text_))
        if any(not math.isnan(gap.test.p_adjusted) for gap in self.gaps):
            text_ = "p-values of a model are adjusted by Holm's method over its slices and measures"
            notes.append(note("SS015", f"{text_}; intervals are those of single gaps."))
        return tuple(notes)


def _first(texts: Sequence[str]) -> str:
    """The first texts of a list, and how many more there are."""
    return "; ".join([*texts[:_MAX_NAMED], *([f"{len(texts) - _MAX_NAMED} more"] if len(texts) > _MAX_NAMED else [])])


def _by_p(gaps: Iterable[SliceGap]) -> list[SliceGap]:
    return sorted(gaps, key=lambda gap: gap.test.reported_p)


def _gaps_text(gaps: Sequence[SliceGap]) -> str:
    """The first gaps: value, difference and p; intervals are not adjusted, so they are left to the tables."""
    return "; ".join(
        f"{gap.estimate.spec.shown} of {gap.estimate.model} for {gap.slice}, {gap.estimate.value_text} "
        f"({format_signed(gap.test.difference)}, "
        f"{'' if math.isnan(gap.test.p_adjusted) else 'adjusted '}{p_text(gap.test.reported_p)})"
        for gap in gaps[:_MAX_NAMED]
    )


def _excluded(gaps: Sequence[SliceGap], spec: MeasureSpec) -> str:
    """How much worse a slice could be by the intervals of all gaps."""
    tested = [test.test for test in gaps if not math.isnan(test.test.low)]
    if not tested:
        return ""
    low, high = min(test.low for test in tested), max(test.high for test in tested)
    intervals = f"the single {100 * tested[0].level:g} % intervals exclude"
    loss = -low if spec.best == "high" else high
    return f"; {intervals} that a slice is worse than the rest by more than {decimals(max(loss, 0.0))}"


def _is_constant(gap: SliceGap) -> bool:
    return (gap.estimate.reason or "").endswith(RANKS_NOTHING)


def slices(
    parts: SubgroupModels,
    requested: Mapping[str, Sequence[MeasureSpec]],
    *,
    at: Mapping[str, float | None] | None = None,
    leads: Mapping[str, MeasureSpec] | None = None,
    prevalence: float | None = None,
    parity_columns: int = 0,
    level: float = 0.95,
    method: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Slices:
    """Compute every measure in each slice, its gap to the rest, and, with `parity_columns`, parity between slices.

    `at` are the thresholds for parity, `leads` the measures to show first; `prevalence` is that for parity, as measures
    have their own. Intervals of parity are simultaneous over that many columns.
    """
    gaps: list[SliceGap] = []
    parity: list[Parity] = []
    steps = max(1, len(requested))
    for step, (model, specs) in enumerate(requested.items()):
        draws = _slice_draws(parts, model, seed)
        by_slice = []
        for number, name in enumerate(parts.slices):
            reason = _incomparable(parts, model, name)
            by_slice.append(_compare_slice(model, name, specs, draws, level, method, reason))
            if progress is not None:
                progress((step + (number + 1) / len(parts.slices)) / steps)
        for gaps_of_measure in zip(*by_slice, strict=True):
            gaps += mirror_pair(gaps_of_measure)
        if parity_columns and model not in parts.bands:
            threshold = None if at is None else at.get(model)
            samples = {name: draws(name, 0) for name in parts.slices}
            parity += fairness_criteria(
                model, samples, threshold, prevalence=prevalence, level=level, columns=parity_columns
            )
    rows = {name: models.rows for name, models in parts.slices.items()}
    small = {name: reason for name, models in parts.slices.items() if (reason := _too_small(models)) is not None}
    leading = leads or {model: specs[0] for model, specs in requested.items() if specs}
    return _adjust(Slices(parts.by, rows, tuple(gaps), tuple(parity), leading, small, parts.shared))


def slices_of_columns(
    parts: Sequence[SubgroupModels],
    requested: Mapping[str, Sequence[MeasureSpec]],
    *,
    parity: bool = False,
    **options: Any,
) -> Slices:
    """Compute slices of several columns, each by itself.

    p values are adjusted over the slices of all columns; intervals of parity are simultaneous over all columns, too.
    """
    columns = len(parts) if parity else 0
    results = [slices(column_parts, requested, parity_columns=columns, **options) for column_parts in parts]
    return results[0] if len(results) == 1 else _combine_columns(results)


def _combine_columns(results: Sequence[Slices]) -> Slices:
    """Combine the slices of several columns into one result, with slices named by column."""

    def name(column: Slices, slice: str) -> str:
        return f"{column.title} = {slice}"

    combined_slices = Slices(
        by=tuple(result.title for result in results),
        rows_of={name(result, slice): rows for result in results for slice, rows in result.rows_of.items()},
        gaps=tuple(
            replace(gap, slice=name(result, gap.slice), test=replace(gap.test, a=name(result, gap.slice)))
            for result in results
            for gap in result.gaps
        ),
        parity=tuple(
            replace(
                parity_result, highest=name(result, parity_result.highest), lowest=name(result, parity_result.lowest)
            )
            if parity_result.highest
            else parity_result
            for result in results
            for parity_result in result.parity
        ),
        leads=results[0].leads,
        small={name(result, slice): reason for result in results for slice, reason in result.small.items()},
        shared=max(result.shared for result in results),
        columns={name(result, slice): result.title for result in results for slice in result.rows_of},
    )
    return _adjust(combined_slices)


def _adjust(found: Slices) -> Slices:
    """Adjust the p values of each model over all of its slices and measures; a single test stays as it is."""
    gaps: list[SliceGap] = []
    for model in dict.fromkeys(gap.estimate.model for gap in found.gaps):
        own = found.of(model)
        tests = {found.test_key(gap): gap.test.p for gap in own}
        several = sum(not math.isnan(p) for p in tests.values()) > 1
        adjusted = dict(zip(tests, holm(list(tests.values())).tolist(), strict=True)) if several else {}
        gaps += [
            replace(gap, test=replace(gap.test, p_adjusted=adjusted.get(found.test_key(gap), math.nan))) for gap in own
        ]
    return replace(found, gaps=tuple(gaps))


def _slice_draws(parts: SubgroupModels, model: str, seed: int) -> SliceDraws:
    """Return the bootstrap of a model in a slice (side 0) or in its rest (side 1), drawn once for all measures."""

    @cache
    def draws(name: str, side: int) -> BootstrapDraws:
        models = (parts.slices, parts.rests)[side][name]
        pairs = None if models.pairs is None else models.pairs.only(model)
        return BootstrapDraws({model: models[model]}, pairs, seed=stream_seed(seed, side))

    return draws


def _compare_slice(
    model: str,
    name: str,
    specs: Sequence[MeasureSpec],
    draws: SliceDraws,
    level: float,
    method: str | None,
    reason: str | None,
) -> list[SliceGap]:
    """Return all measures of a slice with those of the rest, untested if there is a reason."""
    first, second = (draws(name, side) for side in (0, 1))
    slice_estimates = estimates({model: specs}, first, level=level, method=method, strict=False)
    return [gap_between(name, estimate, first, second, level, reason=reason) for estimate in slice_estimates]


def _incomparable(parts: SubgroupModels, model: str, name: str) -> str | None:
    """Why no difference between a slice and the rest says that the model is worse in the slice."""
    if model in parts.bands:
        return f"the slices are made from the scores of {model}"
    for side, models in ((name, parts.slices[name]), (REST, parts.rests[name])):
        present = [label for label, weight in models.classes.items() if weight]
        if len(present) == 1:
            return f"all cases in {side} are {present[0]}"
        if models[model].constant:
            return f"all scores in {side} {RANKS_NOTHING}"
    return None


def _too_small(models: Models) -> str | None:
    """Why a slice is too small: a class is absent or rare, or there are few cases."""
    absent = [name for name, weight in models.classes.items() if not weight]
    if absent:
        return f"{_cases_text(models.rows)}, none of {join_words(absent)}"
    rarest = min(models.classes, key=lambda name: models.classes[name], default=None)
    if rarest is not None and models.classes[rarest] < MIN_RAREST_CASES:
        return f"{grouped(models.classes[rarest])} of {rarest}"
    return _cases_text(models.rows) if models.rows < MIN_RAREST_CASES else None


def _cases_text(rows: int) -> str:
    return f"{grouped(rows)} case{'' if rows == 1 else 's'}"
