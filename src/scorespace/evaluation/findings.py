"""Findings: what a reader should know about a model, a sample or the intervals; `@finding` declares one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scorespace.calibration import summary as calibrated
from scorespace.curves.smooth import smooth
from scorespace.inference.any_look import CASES, is_any_look
from scorespace.inference.auc_variance import delong_variance, weighted_variance
from scorespace.inference.case_values import MIN_UNITS
from scorespace.inference.estimate import Estimate
from scorespace.inference.interval import INTERVALS
from scorespace.measures.average import undefined_classes
from scorespace.measures.confusion import fpr, ppv, youden
from scorespace.measures.decomposition import cal, ref
from scorespace.measures.multiclass import zero_probability_weight
from scorespace.measures.probability import clipped_cases, logloss
from scorespace.measures.ranking import auc
from scorespace.measures.smooth import smauc
from scorespace.registry import load_plugins, required_table
from scorespace.results import NOTE_KINDS, Note, NoteKind, decimals, format_per_thousand, grouped, join_words, note
from scorespace.tables import Array, ClassTable, ConfusionTable, Counts, NoTableError, ScoreTable, Table, ratio
from scorespace.tables.models import Models
from scorespace.tables.threshold import threshold_text

if TYPE_CHECKING:
    from scorespace.decisions.out_of_sample import CostEstimate

FEW_CASES: Final = 20
SMALL_FPR: Final = 0.1
_MIN_CASES_PER_SCORE: Final = 10  # on average, from which on ties are reported
_MIN_SHARE_OF_TIE: Final = 0.05  # of a class at one score, from which on the segment shows in the curve
_MIN_CASES_FOR_TIES: Final = 50


@dataclass(frozen=True)
class FindingContext:
    """A model as it is shown: its threshold and estimates.

    Attributes
    ----------
    model : str
        Name of the model.
    at : float or None
        The threshold.
    chosen : bool
        Whether the threshold was chosen on these cases.
    estimates : tuple of Estimate
        Its estimates.
    times : int
        Number of distinct times of a series; 0 without times.
    prevalence : float or None
        The stated prevalence.
    youden : callable or None
        Gives the cross-fitted Youden index at the threshold that maximises it.
    """

    model: str
    at: float | None = None
    chosen: bool = False
    estimates: tuple[Estimate, ...] = field(default=(), repr=False)
    times: int = 0
    prevalence: float | None = None
    youden: Callable[[], CostEstimate] | None = field(default=None, repr=False)

    @property
    def at_text(self) -> str:
        """The threshold, to append to a sentence."""
        return "" if self.at is None else f" at {threshold_text(self.at)}"


FindingText = str | None | Iterator[str]
FindingFunction = Callable[[Any, FindingContext], FindingText]


@dataclass(frozen=True)
class FindingRule:
    """A declared finding: the code of its notes, the tables it applies to, and the function that writes them."""

    code: str
    tables: tuple[type, ...]
    function: FindingFunction


FINDINGS: list[FindingRule] = []
"""Every declared finding, in the order of declaration."""


def finding(
    code: str, *, also: tuple[type, ...] = (), level: str | None = None, title: str | None = None
) -> Callable[..., Any]:
    """Declare a finding on the table that the first parameter is annotated with; a new code states level and title.

    The function returns a sentence, or None, or yields sentences. `also` names further tables that it applies to.
    """

    def declare(function: FindingFunction) -> FindingFunction:
        if level is not None and title is not None:
            NOTE_KINDS.setdefault(code, NoteKind(level, title))
        FINDINGS.append(FindingRule(code, (required_table(function), *also), function))
        return function

    return declare


def notes_on(table: Table, context: FindingContext) -> Iterator[Note]:
    """The notes on a model's table, and on its binary counts."""
    load_plugins()
    for rule in FINDINGS:
        subject: Table | None = table
        if not isinstance(table, rule.tables):
            subject = _counts(table, context) if Counts in rule.tables else None
        text = None if subject is None else rule.function(subject, context)
        yield from (note(rule.code, one) for one in ([text] if isinstance(text, str) else text or ()))


def for_all(notes: Iterable[Note], models: Iterable[str]) -> list[Note]:
    """The notes, with equal sentences about several models merged into one.

    >>> alike = [Note("SS004", "warning", f"{name} predicts no case positive.") for name in ("nb", "tree")]
    >>> for_all(alike, ["nb", "tree"])[0].text
    'each of nb and tree predicts no case positive.'
    """
    merged: dict[tuple[str, str, str], dict[str, None]] = {}
    names = sorted(models, key=len, reverse=True)
    for one in notes:
        blanked = ((name, re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", "\0", one.text)) for name in names)
        name, text = next(((name, text) for name, text in blanked if text != one.text), ("", one.text))
        merged.setdefault((one.code, one.level, text), {})[name] = None
    return [
        Note(code, level, text.replace("\0", f"{'each of ' * (len(subjects) > 1)}{join_words(list(subjects))}"))
        for (code, level, text), subjects in merged.items()
    ]


def _counts(table: Table, context: FindingContext) -> Table | None:
    """The binary counts of a model at its threshold, if it has them."""
    if table.positive_name is None:
        return None
    try:
        return table.inside(Counts, None, context.at if table.thresholded else None)
    except NoTableError:
        return None


# --- binary scores


@finding("SS002")
def below_chance(table: ScoreTable, context: FindingContext) -> str | None:
    area = auc(table)
    if not area < 0.5:
        return None
    upper = (one.high for one in context.estimates if one.spec.measure is auc and one.spec.of is None)
    if not is_reversed(table, next(upper, None)):
        return f"{context.model} ranks no better than chance (AUC {decimals(area)})."
    return reversed_text(context.model, area)


def is_reversed(table: ScoreTable, high: float | None = None) -> bool:
    """Whether positives have significantly lower scores: the upper limit of the AUC is below one half."""
    if high is None:
        high = auc(table) + 1.96 * math.sqrt(delong_variance(table))
    return high < 0.5


def reversed_text(model: str, area: float) -> str:
    """The sentence about a score that ranks worse than chance, with the remedy."""
    return (
        f"{model} ranks worse than chance (AUC {decimals(area)}); its direction is probably reversed: "
        f'--score "reversed=minus({model})".'
    )


@finding("SS012")
def no_variance(table: ScoreTable, context: FindingContext) -> str | None:
    if delong_variance(table) != 0:
        return None
    if table.score.size == 1:
        return f"{context.model} gives every case the same score, so it does not rank."
    text = f"DeLong's variance of the AUC of {context.model} is 0, so DeLong's interval has no width"
    if auc(table) == 1:
        smaller = min(float(table.n_pos), float(table.n_neg))
        cases = f"{grouped(smaller)} {'case' if smaller == 1 else 'cases'}"
        lowest = decimals(0.025 ** (1 / smaller))
        text += f"; with {cases} in the smaller class, a true AUC of {lowest} could also look perfect"
    return f"{text}."


@finding("SS007")
def tied(table: ScoreTable, context: FindingContext) -> str | None:
    cases, scores = table.cases, table.score.size
    if table.coarse or scores == 1 or cases < _MIN_CASES_FOR_TIES or scores * _MIN_CASES_PER_SCORE > cases:
        return None
    largest = max(float(ratio(counts.max(), counts.sum())) for counts in (table.pos, table.neg) if counts.any())
    if largest < _MIN_SHARE_OF_TIE:
        return None  # many ties, none of which shows in a curve
    total = "" if table.squares is not None else f" for {grouped(cases)} cases"
    return f"{context.model} has {grouped(scores)} distinct scores{total}: its curves have long straight segments."


@finding("SS008")
def coarse(table: ScoreTable, context: FindingContext) -> str | None:
    if not table.resolution:
        return None
    if table.coarse:
        bound = float(table.open_pairs.sum()) / 2
        return (
            f"the scores of {context.model} are in {grouped(table.score.size)} bins; ± is the certified binning error, "
            f"of the AUC ±{bound:.2g}."
        )
    bound = float(np.sum(table.pos * table.neg) / (2 * table.n_pos * table.n_neg))
    step = f"{table.resolution:g}"
    return f"the scores of {context.model} are rounded to {step}; certified error of its AUC ±{bound:.2g}."


@finding("SS003")
def no_probabilities(table: ScoreTable, context: FindingContext) -> str | None:
    if table.probabilities:
        return None
    ends = f"from {table.score[-1]:g} to {table.score[0]:g}"
    text = f"the scores of {context.model} range {ends}: they are no probabilities"
    if context.chosen and context.at is not None:
        apparent, fitted = float(youden(table.at(context.at))), None if context.youden is None else context.youden()
        value = f"apparent youden {decimals(apparent)}"
        if fitted is not None and not math.isnan(fitted.value):
            value = fitted.named(youden.name, apparent, None)
        text += f". Threshold {threshold_text(context.at)} maximises Youden's index on these cases: {value}"
    return f"{text}."


# --- binary decisions


@finding("SS004")
def nothing_positive(counts: Counts, context: FindingContext) -> str | None:
    if not math.isnan(ppv(counts)):
        return None
    text = f"{context.model} predicts no case positive{context.at_text}, so precision is undefined."
    maybe_rank = context.at is not None and context.at >= 2 and float(context.at).is_integer()
    return f"{text} @top{context.at:g} takes the {context.at:g} highest scores." if maybe_rank else text


@finding("SS005")
def many_false_positives(counts: Counts, context: FindingContext) -> str | None:
    rate, text = fpr(counts), f"{_counted(counts.fp, 'false positive')} for {_counted(counts.tp, 'true positive')}"
    if context.prevalence is not None:
        counts = counts.at_prevalence(context.prevalence)
        wrong, right = (format_per_thousand(float(1000 * part / counts.total)) for part in (counts.fp, counts.tp))
        text = f"{wrong} false positives for {right} true positives in 1 000 cases"
    if not (rate < SMALL_FPR and counts.fp > counts.tp):
        return None
    return f"the FPR of {context.model}{context.at_text} is only {100 * rate:.2g} %, but that means {text}."


def _counted(count: Array, what: str) -> str:
    return f"{grouped(float(count))} {what}{'' if count == 1 else 's'}"


# --- multiclass scores


@finding("SS033")
def do_not_add_up(table: ClassTable, context: FindingContext) -> str | None:
    if table.probabilities:
        return None
    lowest, highest = float(table.score.min()), float(table.score.max())
    what = f"do not sum to 1 over the classes (by up to {table.excess:.2g})"
    if lowest < 0 or highest > 1:
        what = f"range from {lowest:g} to {highest:g}"
    return f"the scores of {context.model} {what}: they rank and classify, but are no probabilities."


@finding("SS034")
def absent_classes(table: ClassTable, context: FindingContext) -> str | None:
    absent = [name for name, total in zip(table.classes, table.class_totals, strict=True) if not total]
    if not absent:
        return None
    named = ", ".join(map(repr, absent))
    return f"{context.model} scores classes without cases: {named}. AUCs leave them out; they may be predicted."


@finding("SS021")
def impossible_outcomes(table: ClassTable, context: FindingContext) -> str | None:
    losses = [one for one in context.estimates if one.spec.measure is logloss and one.spec.of is None]
    if not any(math.isinf(one.value) for one in losses):
        return None
    return calibrated.infinite_log_loss_text(context.model, zero_probability_weight(table))


@finding("SS011", also=(ConfusionTable,))
def undefined_averages(table: ClassTable, context: FindingContext) -> Iterator[str]:
    for one in context.estimates:
        spec = one.spec
        if spec.of not in ("macro", "weighted"):
            continue
        absent = undefined_classes(spec.measure, table, **dict(spec.options))
        if absent:
            defined = len(table.class_names) - len(absent)
            yield (
                f"{spec} of {context.model} averages {defined} of {len(table.class_names)} classes; "
                f"undefined for {', '.join(map(repr, absent))} ({spec.measure.undefined})."
            )


# --- intervals whose coverage is below nominal (docs/coverage.md)

_COVERAGE_OF_RARE: Final = {"fpr_at": 87, "brier_skill": 89, "sauc": 91}  # per cent, 20 positives in 2 000 cases
_MAX_RARE_CASES: Final = 30
_MIN_EFFECTIVE_CASES: Final = 4.0
_MIN_GROUPS: Final = 150


@finding("SS100")
def low_coverage(table: ScoreTable, context: FindingContext) -> Iterator[str]:
    names = dict.fromkeys(one.spec.name for one in context.estimates if one.method is not None)
    rarer = min(float(table.n_pos), float(table.n_neg))
    affected = [name for name in _COVERAGE_OF_RARE if name in names]
    if affected and table.squares is None and rarer <= _MAX_RARE_CASES and rarer <= 0.02 * float(table.total):
        percent = ", ".join(f"{name} {_COVERAGE_OF_RARE[name]} %" for name in affected)
        cases = f"{grouped(rarer)} of {grouped(float(table.total))} cases"
        yield f"a class has {cases}: 95 % intervals of {context.model} cover less often in such samples ({percent})."
    areas = [name for name in ("auc", "gini") if name in names]
    if areas and table.squares is not None and not table.coarse and rarer > 0:
        effective = weighted_variance(table).df_cases
        if effective <= _MIN_EFFECTIVE_CASES:
            yield (
                f"{effective:.0f} cases with large weights dominate the variance of the {areas[0]} of {context.model}: "
                "95 % intervals cover 86 to 90 % in such samples."
            )


# --- notes on the sample and on all estimates


def sample_notes(classes: Sequence[str], counts: Sequence[float]) -> Iterator[Note]:
    """Notes on classes with few cases."""
    for name, count in zip(classes, counts, strict=True):
        if count < FEW_CASES:
            some = "no cases" if not count else "only 1 case" if count == 1 else f"only {grouped(count)} cases"
            rough = "imprecise" if count else "undefined"
            yield note("SS001", f"class {name!r} has {some}: measures that depend on it are {rough}.")


def weight_notes(tables: Iterable[Table]) -> Iterator[Note]:
    """Notes on how intervals treat weighted rows."""
    weighted = list(tables)
    if any(table.cell_squares is not None for table in weighted):
        text = "weights enter the values; intervals treat each row as one case. If weights count copies: "
        yield note("SS006", f'{text}--weights copies, in Python weights="copies".')
    elif any(not table.counted for table in weighted):
        yield note("SS006", "weights are stated to count copies, but are not whole numbers, so there are no intervals.")


def prevalence_notes(models: Models, stated: float | None) -> Iterator[Note]:
    """Note that measures are for a stated prevalence."""
    sample = models.prevalence
    if stated is not None and not math.isnan(sample) and not math.isclose(sample, stated):
        text = f"measures that depend on prevalence (ppv, f1, brier …) are for the stated {100 * stated:.3g} %"
        yield note("SS035", f"{text}; the sample has {100 * sample:.3g} %.")


def role_notes(fold: str | None, repeat: str | None = None, time: str | None = None) -> Iterator[Note]:
    """Notes on roles that the estimates do not use."""
    if fold is not None:
        text = f"values are pooled over the folds of {fold!r}; means over folds are different numbers."
        yield note("SS019", text)
    if repeat is not None:
        text = (
            f"every case has a row in each repeat of {repeat!r}, and intervals treat these as different cases, so they "
            "are too narrow. State the column that identifies the case as the group; tests over folds allow for it."
        )
        yield note("SS032", text)
    if time is not None:
        yield note("SS098", f"intervals assume independent rows: the time {time!r} is used in regression only.")


def group_notes(estimates: Iterable[Estimate], groups: int) -> Iterator[Note]:
    """Notes on which intervals allow for grouped cases."""
    with_interval = [one for one in estimates if one.method is not None]
    fitted = dict.fromkeys(str(one.spec) for one in with_interval if one.spec.name in ("ks", "h"))
    if fitted and groups < _MIN_GROUPS:
        text = f"with {grouped(groups)} groups, 95 % intervals of {', '.join(fitted)} cover about 87 %"
        yield note("SS100", f"{text} in simulations.")
    if groups < MIN_UNITS and any((one.method or "").startswith("mean-t") for one in with_interval):
        yield note("SS183", f"only {grouped(groups)} groups: intervals of means are imprecise.")
    if any(one.method.endswith("of groups") for one in with_interval if one.method):
        yield note("SS016", "the bootstrap resamples whole groups, because cases of a group are correlated.")
    ungrouped = dict.fromkeys(one.model for one in with_interval if one.method and not one.method.endswith("of groups"))
    if ungrouped:
        text = f"intervals of {', '.join(ungrouped)} treat cases of a group as independent, so they are too narrow."
        yield note("SS020", text)


def interval_notes(estimates: Iterable[Estimate], method: str | None = None) -> Iterator[Note]:
    """Notes on intervals of zero width, and on measures for which the requested method is not available."""
    held = list(estimates)
    named_method = (method or "").partition("(")[0]
    other = [str(one.spec) for one in held if one.method and method and not one.method.startswith(named_method)]
    if other:
        named = ", ".join(dict.fromkeys(other))
        yield note("SS036", f"{method} intervals are not available for {named}; these have their default intervals.")
    flat: dict[str, list[str]] = {}
    for one in held:
        if one.method is not None and one.low == one.high:
            flat.setdefault(one.model, []).append(str(one.spec))
    for model, names in flat.items():
        same = f"all bootstrap replicates gave the same {', '.join(names)} of {model}"
        yield note("SS012", f"{same}, so this interval is not informative.")


def notes_on_looks(estimates: Iterable[Estimate], method: str | None) -> Iterator[Note]:
    """Note on what holds at every look, and what does not."""
    if is_any_look(method):
        held = [one for one in estimates if not math.isnan(one.value)]
        without = list(dict.fromkeys(str(one.spec) for one in held if math.isnan(one.low)))
        if without and all(math.isnan(one.low) for one in held):
            reasons = dict.fromkeys((one.reason or "").removeprefix("no interval: ") for one in held)
            yield note("SS197", f"There are no intervals: {'; '.join(filter(None, reasons))}.")
            return
        none = f" There is no such interval of {join_words(without, 'or')}." if without else ""
        cases = INTERVALS.parse(str(method)).options.get("cases", CASES)
        text = (
            f"Intervals and requirements at stated thresholds hold at every look, and are tightest at {grouped(cases)} "
            f"cases; p-values, differences and other findings hold at one look.{none} Cases come independently from "
            "one population; if it drifts, this is about the average so far."
        )
        yield note("SS197", text)


def smooth_notes(estimates: Iterable[Estimate], models: Mapping[str, Table]) -> Iterator[Note]:
    """Notes on smooth AUCs: imbalanced classes, and classes that do not overlap."""
    for one in estimates:
        if one.spec.measure is smauc and one.spec.of is None and math.isfinite(one.value):
            table = models[one.model].inside(ScoreTable)
            yield from smooth(table, **dict(one.spec.options)).findings(one.model)


def calibration_notes(
    summaries: Iterable[calibrated.CalibrationSummary], estimates: Iterable[Estimate], models: Mapping[str, Table]
) -> Iterator[Note]:
    """Notes on calibration; that of the bias of CAL only where CAL is shown."""
    held = list(estimates)
    with_cal = {one.model for one in held if one.spec.measure in (cal, ref)}
    for summary in summaries:
        yield from (one for one in summary.notes if one.code != "SS024" or summary.model in with_cal)
    for one in held:
        eps = dict(one.spec.options).get("eps", 0.0)
        if one.spec.measure is logloss and one.spec.of is None and eps > 0 and models[one.model].thresholded:
            clipped = clipped_cases(models[one.model].inside(ScoreTable), eps)
            yield note("SS021", f"{one.spec} of {one.model} clips the scores of {grouped(clipped)} cases.")
