"""What a reader should know before trusting the numbers: notes on one model's table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from scorespace.curves.smooth import smooth
from scorespace.measures.average import undefined_classes
from scorespace.measures.catalog import MeasureSpec
from scorespace.measures.confusion import fpr, ppv
from scorespace.measures.probability import clipped_cases
from scorespace.measures.ranking import auc
from scorespace.probabilities.summary import CalibrationSummary
from scorespace.resampling.estimate import Estimate, delong_variance
from scorespace.results import Note, decimals, grouped, note
from scorespace.tables import ClassTable, ConfusionTable, Counts, ScoreTable, Table

FEW_CASES: Final = 20
SMALL_FPR: Final = 0.1
_MANY_TIES: Final = 10  # cases per distinct score, on average


def sample_notes(classes: Sequence[str], counts: Sequence[float]) -> Iterator[Note]:
    """Notes on the sample as a whole."""
    for name, count in zip(classes, counts, strict=True):
        if count < FEW_CASES:
            some = "no cases" if not count else "only 1 case" if count == 1 else f"only {grouped(count)} cases"
            yield note("SS001", f"class {name!r} has {some}: numbers that depend on it are rough.")


def role_notes(fold: str | None, repeat: str | None = None) -> Iterator[Note]:
    """Notes on roles that the numbers make no use of."""
    if fold is not None:
        yield note("SS019", f"numbers are pooled over the folds of {fold!r}: means over folds would differ a little.")
    if repeat is not None:
        text = (
            f"every case has a row in each repeat of {repeat!r}, and intervals take them for as many cases: they are "
            "too narrow; comparisons over folds allow for it."
        )
        yield note("SS032", text)


def group_notes(estimates: Iterable[Estimate]) -> Iterator[Note]:
    """Notes on intervals where cases come in groups: which allow for it, and which do not."""
    drawn = [one for one in estimates if one.method == "bootstrap of groups"]
    if drawn:
        yield note("SS016", "whole groups of cases are drawn for the intervals, since cases of a group are alike.")
    alone = dict.fromkeys(one.model for one in estimates if one.method not in ("bootstrap of groups", None))
    if alone:
        yield note(
            "SS020", f"intervals of {', '.join(alone)} take cases of a group as independent: they are too narrow."
        )


def score_notes(model: str, table: ScoreTable, at: float, chosen: bool) -> Iterator[Note]:
    """Notes on a scoring model and on its decisions at a threshold; `chosen` when Youden's index chose it."""
    yield from _ranking_notes(model, table)
    yield from _shape_notes(model, table)
    if not table.probabilities:
        text = (
            f"the scores of {model} run from {table.score[-1]:g} to {table.score[0]:g}, so they are not probabilities"
        )
        if chosen:
            text += (
                f"; it is shown at {at:g}, where Youden's index is highest on these very cases: expect less on new ones"
            )
        yield note("SS003", f"{text}.")
    yield from decision_notes(model, table.at(at), f" at {at:g}")


def decision_notes(model: str, counts: Counts, where: str = "") -> Iterator[Note]:
    """Notes on two-class decisions."""
    if math.isnan(ppv(counts)):
        yield note("SS004", f"{model} predicts nothing positive{where}: precision is undefined there.")
    rate = fpr(counts)
    if rate < SMALL_FPR and counts.fp > counts.tp:
        yield note(
            "SS005",
            f"{model} raises false alarms for only {100 * rate:.2g} % of the negatives{where}, yet that means "
            f"{grouped(float(counts.fp))} false alarms for {grouped(float(counts.tp))} hits.",
        )


def interval_notes(estimates: Iterable[Estimate]) -> Iterator[Note]:
    """Notes on intervals without width at the end of a measure's range."""
    flat: dict[str, list[str]] = {}
    for one in estimates:
        resampled = (one.method or "").startswith("bootstrap")
        if resampled and one.low == one.high and one.value in one.spec.measure.range:
            flat.setdefault(one.model, []).append(str(one.spec))
    for model, names in flat.items():
        yield note("SS012", f"no replicate changes {', '.join(names)} of {model}: no width is not certainty.")


def smooth_notes(estimates: Iterable[Estimate], models: Mapping[str, object]) -> Iterator[Note]:
    """Notes on smooth areas: the class that they mostly measure, and classes that do not overlap."""
    for one in estimates:
        table = models[one.model]
        if one.spec.name == "smauc" and isinstance(table, ScoreTable) and math.isfinite(one.value):
            yield from smooth(table, **dict(one.spec.options)).findings(one.model)


def class_notes(model: str, table: ClassTable) -> Iterator[Note]:
    """Notes on scores of several classes."""
    if not table.probabilities:
        lowest, highest = float(table.score.min()), float(table.score.max())
        what = (
            f"run from {lowest:g} to {highest:g}"
            if lowest < 0 or highest > 1
            else f"miss one by up to {table.excess:.2g} when added up over the classes"
        )
        yield note("SS033", f"the scores of {model} {what}: they rank and decide, but are not probabilities.")
    if not table.whole:
        yield note("SS006", f"the weights of {model} are not whole numbers: values hold, intervals are left out.")
    absent = [name for name, total in zip(table.classes, table.class_totals, strict=True) if not total]
    if absent:
        named = ", ".join(map(repr, absent))
        text = f"{model} scores classes that never occur: {named}; areas leave them out, decisions may fall on them."
        yield note("SS034", text)


def calibration_notes(
    summaries: Iterable[CalibrationSummary], estimates: Iterable[Estimate], models: Mapping[str, Table]
) -> Iterator[Note]:
    """Notes on scores taken as probabilities; how far CAL is too high matters only where it is shown."""
    shown = {one.model for one in estimates if one.spec.name in ("cal", "ref")}
    for summary in summaries:
        yield from (one for one in summary.notes if one.code != "SS024" or summary.model in shown)
    for one in estimates:
        eps, table = dict(one.spec.options).get("eps", 0.0), models[one.model]
        if one.spec.name == "logloss" and eps > 0 and isinstance(table, ScoreTable):
            moved = clipped_cases(table, eps)
            yield note("SS021", f"{one.spec} of {one.model} clips the scores of {grouped(moved)} cases.")


def average_notes(model: str, specs: Sequence[MeasureSpec], table: ConfusionTable | ClassTable) -> Iterator[Note]:
    """Notes on averages that leave out classes."""
    for spec in specs:
        if spec.of not in ("macro", "weighted"):
            continue
        absent = undefined_classes(spec.measure, table, **dict(spec.options))
        if absent:
            used = len(table.classes) - len(absent)
            yield note(
                "SS011",
                f"{spec} of {model} averages {used} of {len(table.classes)} classes; "
                f"undefined for {', '.join(map(repr, absent))} ({spec.measure.undefined}).",
            )


def _ranking_notes(model: str, table: ScoreTable) -> Iterator[Note]:
    area = auc(table)
    if area < 0.5:
        yield note(
            "SS002",
            f"{model} ranks worse than chance (AUC {decimals(area)}). If its scores mean the other class, "
            "say so with the positive class; they are never flipped.",
        )
    if delong_variance(table) == 0:
        smallest = min(float(table.n_pos), float(table.n_neg))
        bound = 0.025 ** (1 / smallest)
        yield note(
            "SS012",
            f"DeLong's variance for {model} is zero, so its interval is too narrow to believe"
            + (f"; with {grouped(smallest)} cases in the smaller class an AUC as low as {decimals(bound)} "
               "could still look perfect." if area == 1 else "."),
        )  # fmt: skip


def _shape_notes(model: str, table: ScoreTable) -> Iterator[Note]:
    cases = float(table.total)
    if table.score.size * _MANY_TIES <= cases and cases >= 50:
        yield note(
            "SS007",
            f"{model} has {grouped(table.score.size)} distinct scores for {grouped(cases)} cases: "
            "its curve has long straight segments.",
        )
    if not table.whole:
        yield note("SS006", f"the weights of {model} are not whole numbers: values hold, intervals are left out.")
    if table.resolution:
        inside = float(np.sum(table.pos * table.neg) / (2 * table.n_pos * table.n_neg))
        yield note(
            "SS008",
            f"the scores of {model} were coarsened to {table.resolution:g}: its AUC is certain to ±{inside:.2g}.",
        )
