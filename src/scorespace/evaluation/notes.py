"""What a reader should know before trusting the numbers: a finding each, about one model's table or the sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scorespace.curves.smooth import smooth
from scorespace.evaluation.finding import Look, finding
from scorespace.later import later
from scorespace.measures.average import undefined_classes
from scorespace.measures.classes import impossible_cases
from scorespace.measures.confusion import fpr, ppv, youden
from scorespace.measures.decomposition import cal, ref
from scorespace.measures.probability import clipped_cases, logloss
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import smauc
from scorespace.resampling.area import delong_variance, weighted_variance
from scorespace.resampling.estimate import Estimate
from scorespace.results import Note, decimals, grouped, note, per_thousand
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, ScoreTable, Table, ratio
from scorespace.tables.models import Models
from scorespace.tables.threshold import threshold_text

if TYPE_CHECKING:
    from scorespace.decisions import honest
    from scorespace.probabilities import summary as calibrated
else:
    honest = later("scorespace.decisions.honest")
    calibrated = later("scorespace.probabilities.summary")

FEW_CASES: Final = 20
SMALL_FPR: Final = 0.1
_MANY_TIES: Final = 10  # cases per distinct score, on average
_LONG: Final = 0.05  # share of a class that one score holds, from which on the curve is seen to be straight there


# --- scores of two classes


@finding("SS002")
def below_chance(table: ScoreTable, look: Look) -> str | None:
    area = auc(table)
    if not area < 0.5:
        return None
    shown = (one.high for one in look.estimates if one.spec.measure is auc and one.spec.of is None)
    if not is_reversed(table, next(shown, None)):
        return f"{look.model} ranks no better than chance (AUC {decimals(area)})."
    return (
        f"{reversed_text(look.model, area)} Scores are never flipped: if the other class is positive, name it instead."
    )


def is_reversed(table: ScoreTable, high: float | None = None) -> bool:
    """Whether low scores go with positives by more than chance: the upper limit of the AUC is below one half."""
    if high is None:
        high = auc(table) + 1.96 * math.sqrt(delong_variance(table))
    return high < 0.5


def reversed_text(model: str, area: float) -> str:
    """What to do with a score that ranks worse than chance."""
    return (
        f"{model} ranks worse than chance (AUC {decimals(area)}); its direction is probably reversed: "
        f'--score "{model}=minus({model})".'
    )


@finding("SS012")
def no_variance(table: ScoreTable, look: Look) -> str | None:
    if delong_variance(table) != 0:
        return None
    if table.score.size == 1:
        return f"{look.model} gives every case the same score: it ranks nothing."
    smallest = min(float(table.n_pos), float(table.n_neg))
    perfect = (
        f"; with {grouped(smallest)} {'case' if smallest == 1 else 'cases'} in the smaller class an AUC as low as "
        f"{decimals(0.025 ** (1 / smallest))} could still look perfect"
    )
    return (
        f"DeLong's variance for {look.model} is zero, so its DeLong interval would be too narrow to believe"
        f"{perfect if auc(table) == 1 else ''}."
    )


@finding("SS007")
def tied(table: ScoreTable, look: Look) -> str | None:
    cases = table.cases
    if table.coarse:  # of the scores themselves nothing is known
        return None
    if table.score.size * _MANY_TIES > cases or cases < 50:
        return None
    if table.score.size == 1:  # SS012 has told
        return None
    if max(float(ratio(side.max(), side.sum())) for side in (table.pos, table.neg) if side.any()) < _LONG:
        return None  # many cases with two decimals each: ties, but no curve shows them
    rows = "" if table.squares is not None else f" for {grouped(cases)} cases"
    return f"{look.model} has {grouped(table.score.size)} distinct scores{rows}: its curve has long straight segments."


@finding("SS008")
def coarse(table: ScoreTable, look: Look) -> str | None:
    if not table.resolution:
        return None
    inside = float(np.sum(table.pos * table.neg) / (2 * table.n_pos * table.n_neg))
    if table.coarse:
        return (
            f"the scores of {look.model} were counted in {grouped(table.score.size)} bins: ± is what the order inside "
            "them leaves open; its AUC is certain to ±"
            f"{float(table.open_pairs.sum()) / 2:.2g}."
        )
    return f"the scores of {look.model} were coarsened to {table.resolution:g}: its AUC is certain to ±{inside:.2g}."


@finding("SS003")
def no_probabilities(table: ScoreTable, look: Look) -> str | None:
    if table.probabilities:
        return None
    ends = f"from {table.score[-1]:g} to {table.score[0]:g}"
    text = f"the scores of {look.model} run {ends}, so they are not probabilities"
    if look.chosen and look.at is not None:
        here, found = float(youden(table.at(look.at))), None if look.judged is None else look.judged()
        known = found is not None and not math.isnan(found.value)
        value = found.named(youden.name, here, None) if found and known else f"apparent youden {decimals(here)}"
        text += f"; it is shown at {threshold_text(look.at)}, where Youden's index is highest on these cases, so values"
        text += f" at it are apparent: {value}"
    return f"{text}."


# --- decisions of two classes


@finding("SS004")
def nothing_positive(counts: Counts, look: Look) -> str | None:
    if not math.isnan(ppv(counts)):
        return None
    told = f"{look.model} predicts nothing positive{look.where}: precision is undefined there."
    ranks = look.at is not None and look.at >= 2 and float(look.at).is_integer()  # who writes @10 may mean a rank
    return f"{told} @top{look.at:g} takes the {look.at:g} highest scores." if ranks else told


@finding("SS005")
def flood(counts: Counts, look: Look) -> str | None:
    rate, told = fpr(counts), f"{_many(counts.fp, 'false alarm')} for {_many(counts.tp, 'hit')}"
    if look.prevalence is not None:
        counts = counts.at_prevalence(look.prevalence)
        alarms, hits = (per_thousand(float(1000 * part / counts.total)) for part in (counts.fp, counts.tp))
        told = f"{alarms} false alarms for {hits} hits among 1 000 cases"
    if not (rate < SMALL_FPR and counts.fp > counts.tp):
        return None
    return (
        f"{look.model} raises false alarms for only {100 * rate:.2g} % of the negatives{look.where}, yet that means "
        f"{told}."
    )


def _many(count: Array, what: str) -> str:
    return f"{grouped(float(count))} {what}{'' if count == 1 else 's'}"


# --- scores of several classes


@finding("SS033")
def do_not_add_up(table: ClassTable, look: Look) -> str | None:
    if table.probabilities:
        return None
    lowest, highest = float(table.score.min()), float(table.score.max())
    what = (
        f"run from {lowest:g} to {highest:g}"
        if lowest < 0 or highest > 1
        else f"miss one by up to {table.excess:.2g} when added up over the classes"
    )
    return f"the scores of {look.model} {what}: they rank and decide, but are not probabilities."


@finding("SS034")
def absent_classes(table: ClassTable, look: Look) -> str | None:
    absent = [name for name, total in zip(table.classes, table.class_totals, strict=True) if not total]
    if not absent:
        return None
    named = ", ".join(map(repr, absent))
    return f"{look.model} scores classes that never occur: {named}; areas leave them out, decisions may fall on them."


@finding("SS021")
def no_chance(table: ClassTable, look: Look) -> str | None:
    lost = [one for one in look.estimates if one.spec.measure is logloss and one.spec.of is None]
    if not any(math.isinf(one.value) for one in lost):
        return None
    return calibrated.no_chance_text(look.model, impossible_cases(table))


# --- averages


@finding("SS011", also=(ConfusionTable,))
def averages(table: ClassTable, look: Look) -> Iterator[str]:
    for one in look.estimates:
        spec = one.spec
        if spec.of not in ("macro", "weighted"):
            continue
        absent = undefined_classes(spec.measure, table, **dict(spec.options))
        if absent:
            used = len(table.class_names) - len(absent)
            yield (
                f"{spec} of {look.model} averages {used} of {len(table.class_names)} classes; "
                f"undefined for {', '.join(map(repr, absent))} ({spec.measure.undefined})."
            )


# --- what intervals do not promise

# Of samples with 20 positives in 2 000 cases, the per cent in which intervals hold the truth: docs/coverage.md.
_RARE: Final = {"fpr_at": 87, "brier_skill": 89, "sauc": 91}
_FEW_OF_MANY: Final = 30
_FEW_WEIGHTS: Final = 4.0
_FEW_GROUPS: Final = 150


@finding("SS100")
def few_bear_the_number(table: ScoreTable, look: Look) -> Iterator[str]:
    shown = dict.fromkeys(one.spec.name for one in look.estimates if one.method is not None)
    rarer = min(float(table.n_pos), float(table.n_neg))
    named = [name for name in _RARE if name in shown]
    if named and table.squares is None and rarer <= _FEW_OF_MANY and rarer <= 0.02 * float(table.total):
        percent = ", ".join(f"{name} {_RARE[name]} %" for name in named)
        cases = f"{grouped(rarer)} of {grouped(float(table.total))} cases"
        yield f"a class has {cases}: intervals of {look.model} hold the true value in fewer than 95 % ({percent})."
    areas = [name for name in ("auc", "gini") if name in shown]
    if areas and table.squares is not None and not table.coarse and rarer > 0:
        borne = weighted_variance(table).borne
        if borne <= _FEW_WEIGHTS:
            yield (
                f"{borne:.0f} weighted cases bear most of what is uncertain in the {areas[0]} of {look.model}: of such "
                "samples, intervals hold the true value in 86 to 90 %, not in 95 %."
            )


# --- the sample and all estimates together


def sample_notes(classes: Sequence[str], counts: Sequence[float]) -> Iterator[Note]:
    """Notes on the sample as a whole."""
    for name, count in zip(classes, counts, strict=True):
        if count < FEW_CASES:
            some = "no cases" if not count else "only 1 case" if count == 1 else f"only {grouped(count)} cases"
            rough = "rough" if count else "undefined"
            yield note("SS001", f"class {name!r} has {some}: numbers that depend on it are {rough}.")


def weight_notes(tables: Iterable[Table]) -> Iterator[Note]:
    """What the intervals take weighted rows for."""
    held = list(tables)
    if any(table.cell_squares is not None for table in held):
        text = "values count the weights; intervals take each row as one case. If weights are copies, say so: "
        yield note("SS006", f'{text}--weights copies, in Python weights="copies".')
    elif any(not table.counted for table in held):
        yield note("SS006", "the weights are said to be copies, but are not whole numbers: intervals are left out.")


def prevalence_notes(models: Models, stated: float | None) -> Iterator[Note]:
    """Which numbers are for a stated prevalence."""
    sample = models.prevalence
    if stated is not None and not math.isnan(sample) and not math.isclose(sample, stated):
        text = f"numbers that depend on how common positives are (ppv, f1, brier …) are for {100 * stated:.3g} %"
        yield note("SS035", f"{text}, as stated; the sample has {100 * sample:.3g} %.")


def role_notes(fold: str | None, repeat: str | None = None, time: str | None = None) -> Iterator[Note]:
    """Notes on roles that the numbers make no use of."""
    if fold is not None:
        text = f"numbers are pooled over the folds of {fold!r}: means over folds, as of differences, are not the same."
        yield note("SS019", text)
    if repeat is not None:
        text = (
            f"every case has a row in each repeat of {repeat!r}, and intervals take them for as many cases: they are "
            "too narrow. Name the column that says which case it is as the group; comparisons over folds allow for it."
        )
        yield note("SS032", text)
    if time is not None:
        text = f"intervals take rows as independent: the order in time {time!r} is used for regression alone."
        yield note("SS098", text)


def group_notes(estimates: Iterable[Estimate], groups: int) -> Iterator[Note]:
    """Notes on intervals where cases come in so many groups: which allow for it, and which do not."""
    held = [one for one in estimates if one.method is not None]
    fitted = dict.fromkeys(str(one.spec) for one in held if one.spec.name in ("ks", "h"))
    if fitted and groups < _FEW_GROUPS:
        text = f"with {grouped(groups)} groups, intervals of {', '.join(fitted)} hold the true value in about 87 %"
        yield note("SS100", f"{text} of samples, not in 95 %.")
    if any(one.method.endswith("of groups") for one in held if one.method):
        yield note("SS016", "whole groups of cases are drawn for the intervals, since cases of a group are alike.")
    alone = dict.fromkeys(one.model for one in held if one.method and not one.method.endswith("of groups"))
    if alone:
        yield note(
            "SS020", f"intervals of {', '.join(alone)} take cases of a group as independent: they are too narrow."
        )


def interval_notes(estimates: Iterable[Estimate], asked: str | None = None) -> Iterator[Note]:
    """Notes on intervals without width, wherever they are, and on measures that a method asked for does not suit."""
    flat: dict[str, list[str]] = {}
    held = list(estimates)
    other = [str(one.spec) for one in held if one.method and asked and not one.method.startswith(asked)]
    if other:
        named = ", ".join(dict.fromkeys(other))
        yield note("SS036", f"intervals by {asked} do not suit {named}: these have their usual ones.")
    for one in held:
        if one.method is not None and one.low == one.high:
            flat.setdefault(one.model, []).append(str(one.spec))
    for model, names in flat.items():
        yield note("SS012", f"no replicate changes {', '.join(names)} of {model}: no width is not certainty.")


def smooth_notes(estimates: Iterable[Estimate], models: Mapping[str, Table]) -> Iterator[Note]:
    """Notes on smooth areas: the class that they mostly measure, and classes that do not overlap."""
    for one in estimates:
        if one.spec.measure is smauc and one.spec.of is None and math.isfinite(one.value):
            table = models[one.model].inside(ScoreTable)
            yield from smooth(table, **dict(one.spec.options)).findings(one.model)


def calibration_notes(
    summaries: Iterable[calibrated.CalibrationSummary], estimates: Iterable[Estimate], models: Mapping[str, Table]
) -> Iterator[Note]:
    """Notes on scores taken as probabilities; how far CAL is too high matters only where it is shown."""
    held = list(estimates)
    shown = {one.model for one in held if one.spec.measure in (cal, ref)}
    for summary in summaries:
        yield from (one for one in summary.notes if one.code != "SS024" or summary.model in shown)
    for one in held:
        eps = dict(one.spec.options).get("eps", 0.0)
        if one.spec.measure is logloss and one.spec.of is None and eps > 0 and models[one.model].thresholded:
            moved = clipped_cases(models[one.model].inside(ScoreTable), eps)
            yield note("SS021", f"{one.spec} of {one.model} clips the scores of {grouped(moved)} cases.")
