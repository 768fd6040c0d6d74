"""The catalogue of measures: lookup by name, and the grammar of requests."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scorespace.errors import MeasureError, normalise_name
from scorespace.measures.average import ALL_AVERAGES, UNWEIGHTED_PAIR_AVERAGES
from scorespace.measures.measure import ARROWS, MEASURES, Best, Measure
from scorespace.options import format_call, format_value, parse_number, parse_options, split_at_commas
from scorespace.tables import Array, At, Counts, ScoreTable, TopCases
from scorespace.tables.class_scores import TOP
from scorespace.tables.columns import MAX_EXACT_INTEGER
from scorespace.tables.labels import unquote_label
from scorespace.tables.threshold import FirstDocuments, threshold_text

_REQUEST = re.compile(
    r"""\s*(?P<name>[^\s()\[\]@,=]+(?:\s+[^\s()\[\]@,=]+)*)\s*
        (?:\((?P<options>(?:[^()]|\([^()]*\))*)\))?\s*
        (?:\[(?P<of>"(?:[^"\\]|\\.)*"|[^\[\]"]*)\])?\s*
        (?:@\s*(?P<at>(?:[Tt][Oo][Pp]\s*)?[^\s\[\]()@=]+(?:\s*=\s*[^\s\[\]()@=]+)?(?:\s*%)?))?\s*""",
    re.VERBOSE,
)
_POINT_FIRST = re.compile(r"(?P<name>[^@\[]+)(?P<at>@[^@\[\]]+)(?P<of>\[.*\])\s*", re.DOTALL)
_TOP = re.compile(r"top\s*(?P<size>[^\s%]*)\s*(?P<percent>%?)", re.IGNORECASE)
_AVERAGE = "|".join(ALL_AVERAGES)
_SUFFIXED_NAME = re.compile(
    rf"(?P<first>{_AVERAGE})_(?:averaged?_)?(?P<of>.+)"
    rf"|(?P<name>.+?)_(?:(?P<last>{_AVERAGE})|at_(?:top_)?(?P<top>[1-9][0-9]*))"
)
_SIMPLE_LABEL = re.compile(r"[^\[\]\",\\\s][^\[\]\",\\]*(?<!\s)")


@dataclass(frozen=True)
class MeasureSpec:
    """A measure with its options, class or average, and operating point, as requested by the user.

    `str()` of it uses the name that the user wrote, `canonical` the registered one; both parse back to it. With a
    `prevalence`, its value is for a population of that prevalence.

    >>> str(parse("F_beta( beta=2 )[bad] @ 0.50")), parse("F_beta( beta=2 )[bad] @ 0.50").canonical
    ('F_beta(beta=2)[bad]@0.5', 'fbeta(beta=2)[bad]@0.5')
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    of: str | None = None
    at: At | None = None
    asked: str | None = field(default=None, compare=False, repr=False)
    prevalence: float | None = field(default=None, repr=False)

    @property
    def measure(self) -> Measure:
        return find(self.name)

    @property
    def label(self) -> str:
        """Name and options, without class and operating point."""
        return format_call(self.name, self.options)

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the formula: the options, and the threshold where an option defaults to it."""
        option, stated = self.measure.threshold_option, dict(self.options)
        if option is None or option in stated or self.at is None:
            return stated
        if isinstance(self.at, TopCases):
            raise MeasureError(f"{self}: a rank is no threshold.", hint=f"{self.name}({option}=0.2){self._place}")
        return {**stated, option: float(self.at)}

    @property
    def best(self) -> Best | None:
        """Which direction is better.

        >>> parse("best(measure=f1)").best, parse("best(measure=cost)").best
        ('high', 'low')
        """
        return self.measure.better(**dict(self.options))

    @property
    def arrow(self) -> str:
        """↑ if higher is better, ↓ if lower is, else a blank."""
        return ARROWS[self.best]

    @property
    def canonical(self) -> str:
        """The full request with the registered name of the measure."""
        return f"{self.label}{self._place}"

    @property
    def within(self) -> bool:
        """Whether its value does not depend on the prevalence; ranks always do.

        >>> parse("auc[hand_till]").within, parse("auc[weighted]").within
        (True, False)
        """
        is_unweighted = self.of not in ALL_AVERAGES or self.of in UNWEIGHTED_PAIR_AVERAGES
        return is_unweighted and not isinstance(self.at, TopCases) and self.measure.drawn_within(**self.arguments)

    def for_prevalence(self, share: float | None) -> MeasureSpec:
        """The request for a stated prevalence; unchanged if it does not depend on it, or states its own.

        >>> parse("ppv@0.5").for_prevalence(0.1).prevalence, parse("tpr@0.5").for_prevalence(0.1).prevalence
        (0.1, None)
        """
        return self if share is None or self.prevalence is not None or self.within else replace(self, prevalence=share)

    def along(self, counts: Counts) -> Array:
        """Values of a measure of binary decisions on outcomes, such as those along thresholds."""
        reweighted = counts if self.prevalence is None or self.within else counts.at_prevalence(self.prevalence)
        return np.asarray(self.measure(reweighted, **self.arguments), dtype=np.float64)

    def __str__(self) -> str:
        name, at_value, point = (self.asked or "").partition("@")
        if at_value:  # sens@spec=0.9
            return f"{name}{self._place}@{point}"
        return f"{format_call(self.asked or self.name, self.options)}{self._place}"

    @property
    def shown(self) -> str:
        """The request for display; a threshold chosen from data has just enough digits to classify every case alike.

        >>> from dataclasses import replace
        >>> from scorespace.tables.threshold import round_threshold
        >>> replace(parse("recall"), at=round_threshold(0.019256127188389035, below=0.0192)).shown
        'recall@0.01925'
        """
        if not isinstance(self.at, float):
            return str(self)
        return f"{str(self).rpartition('@')[0]}@{threshold_text(self.at)}"

    @property
    def _place(self) -> str:
        of = "" if self.of is None else f"[{_quoted(self.of)}]"
        return of + ("" if self.at is None else f"@{format_value(getattr(self.at, 'shown', self.at))}")


def measures() -> tuple[Measure, ...]:
    """All measures of the catalogue, including those of plug-ins."""
    return tuple(MEASURES)


def find(name: str) -> Measure:
    """Return the measure with that name or alias; case, hyphens and blanks are ignored.

    >>> find("ROC-AUC").name, find("recall").name
    ('auc', 'tpr')
    """
    try:
        return MEASURES.find(name)
    except MeasureError as error:
        rewritten = _rewrite(normalise_name(name))
        raise error if rewritten is None else MeasureError(error.problem, hint=f"write {rewritten}") from None


def _rewrite(name: str) -> str | None:
    """Translate names of other libraries that include an average or a number of cases.

    >>> _rewrite("f1_macro"), _rewrite("precision_at_10"), _rewrite("auc_at_10")
    ('f1[macro]', 'precision@top10', None)
    """
    match = _SUFFIXED_NAME.fullmatch(name)
    if match is None:
        return None
    base, average = match["of"] or match["name"], match["first"] or match["last"]
    measure = next((entry for entry in MEASURES if base in map(normalise_name, (entry.name, *entry.aliases))), None)
    if measure is None or not {Counts, ScoreTable} & set(measure.functions):
        return None
    if average is not None:
        return f"{base}[{average}]"
    return f"{base}@top{match['top']}" if Counts in measure.functions else None


def parse(text: str) -> MeasureSpec:
    """Parse one measure: NAME(options)[class or average]@threshold, @top200 or @top10% by rank, or @spec=0.9.

    >>> parse("precision@0.5")
    MeasureSpec(name='ppv', options=(), of=None, at=0.5)
    >>> str(parse("precision@Top 10%")), str(parse("precision@top10[query]"))
    ('precision@top10%', 'precision[query]@top10')
    """
    swapped = _POINT_FIRST.fullmatch(text)
    match = _REQUEST.fullmatch(text if swapped is None else f"{swapped['name']}{swapped['of']}{swapped['at']}")
    if match is None:
        raise MeasureError(
            f"the measure {text!r} cannot be parsed.",
            hint="NAME(option=value)[class]@threshold, such as fbeta(beta=2)@0.5",
        )
    measure = find(match["name"])
    if "=" in (match["at"] or ""):
        return _at_value(match, text)
    of = match["of"]
    if of is not None:
        of = _unquoted(of) if of.startswith('"') else of.strip()
        if not of:
            raise MeasureError(f"{text!r} has empty brackets.", hint=f"{measure.name}[macro], for example")
    options = parse_options(measure, match["options"], text, MeasureError)
    name = " ".join(match["name"].split())
    written_name = None if name == measure.name else name
    return MeasureSpec(measure.name, options, of, _parse_point(match["at"], text, measure), written_name)


_ON_ROC = {
    ("tpr", "fpr"): ("tpr_at", "fpr", False),
    ("tpr", "tnr"): ("tpr_at", "fpr", True),
    ("fpr", "tpr"): ("fpr_at", "tpr", False),
    ("fpr", "fnr"): ("fpr_at", "tpr", True),
    ("tnr", "tpr"): ("tnr_at", "tpr", False),
    ("tnr", "fnr"): ("tnr_at", "tpr", True),
}
"""Measures at a rate on the ROC curve: the measure, its option, and whether that is one minus the stated rate."""


def _at_value(match: re.Match[str], text: str) -> MeasureSpec:
    """The request for a measure where another has a value: on the ROC curve, or the best that is at least as good.

    >>> parse("sens@spec=0.9").canonical, parse("ppv@tpr=0.8").canonical, str(parse("sens[bad] @ spec = 9/10"))
    ('tpr_at(fpr=0.1)', 'best(measure=ppv, at_least=tpr=0.8)', 'sens[bad]@spec=0.9')
    """
    written = " ".join(match["name"].split())
    left, _, right = (part.strip() for part in match["at"].partition("="))
    measure, other = find(written), find(left)
    try:
        value = parse_number(right)
    except ValueError:
        problem = f"the value {right!r} of {left} in {text!r} is not a number."
        raise MeasureError(problem, hint=f"{written}@{left}=0.9") from None
    if not other.range[0] <= value <= other.range[1]:
        low, high = map(format_value, other.range)
        raise MeasureError(f"{left}={right} in {text!r} is outside the range of {left}.", hint=f"{low} to {high}")
    call = format_call(measure.name, parse_options(measure, match["options"], text, MeasureError))
    of = "" if match["of"] is None else f"[{match['of']}]"
    known = _ON_ROC.get((measure.name, other.name))
    if known is not None and call == measure.name:
        name, option, complement = known
        spec = parse(f"{name}({option}={format_value(round(1 - value, 12) if complement else value)}){of}")
    elif Counts not in measure.functions or Counts not in other.functions or other.best is None:
        raise MeasureError(
            f"{text!r} needs two measures of binary decisions.", hint="such as ppv@tpr=0.8 or sens@spec=0.9"
        )
    else:
        bound = "at_least" if other.best == "high" else "at_most"
        spec = parse(f"best(measure={call}, {bound}={other.name}={format_value(value)}){of}")
    return replace(
        spec, asked=f"{format_call(written, ()) if call == measure.name else call}@{left}={format_value(value)}"
    )


def read_bound(text: str, example: str = "tpr=0.9") -> tuple[str, float]:
    """Parse MEASURE=NUMBER, a constraint on a measure.

    >>> read_bound("fbeta(beta=2)=0.5")
    ('fbeta(beta=2)', 0.5)
    """
    name, _, bound = text.rpartition("=")
    with suppress(ValueError):
        if name.strip() and not math.isnan(number := parse_number(bound)):
            return name.strip(), number
    raise MeasureError(f"the bound {text!r} cannot be parsed.", hint=f"MEASURE=NUMBER, such as {example}")


def parse_list(text: str) -> list[MeasureSpec]:
    """Parse measures separated by commas outside parentheses and brackets.

    >>> [str(m) for m in parse_list("auc, pauc(fpr_high=0.2, corrected=true), f1[macro]")]
    ['auc', 'pauc(fpr_high=0.2, corrected=true)', 'f1[macro]']
    """
    return [parse(piece) for piece in split_at_commas(text, text, MeasureError) if piece.strip()]


def _parse_point(text: str | None, whole: str, measure: Measure) -> At | None:
    if text is None:
        return None
    by_rank = _TOP.fullmatch(text)
    if by_rank is not None:
        return _top(by_rank["size"], bool(by_rank["percent"]), text, whole)
    try:
        value = parse_number(text.replace("∞", "inf").replace("−", "-"))  # accept our own typography
    except ValueError:
        value = float("nan")
    if value != value:
        hint = "such as @0.5, @inf, @top200 or @top10%"
        if text.casefold() in ("best", "max", "optimal", "optimum"):
            hint = f"best(measure={measure.name}), or the threshold itself: scorespace decide --maximise {measure.name}"
        raise MeasureError(f"the threshold {text!r} in {whole!r} is not a number.", hint=hint)
    return FirstDocuments(value) if getattr(measure.table, "by_query", False) else value


def _top(size: str, percent: bool, text: str, whole: str) -> TopCases:
    try:
        number = float(size)
    except ValueError:
        number = 0.0
    if not 0 < number <= (100 if percent else MAX_EXACT_INTEGER):
        raise MeasureError(
            f"{text!r} in {whole!r} selects no cases.", hint="@top200 for a number of cases, @top10% for a share"
        )
    return TopCases(number, percent)


def _unquoted(text: str) -> str:
    """Unquote a class name; one that equals an average stays quoted, to be distinguished from it."""
    inner = re.sub(r"\\(.)", r"\1", text[1:-1])
    return f'"{inner}"' if inner in (*ALL_AVERAGES, TOP) else inner


def _quoted(label: str) -> str:
    if unquote_label(label) in (*ALL_AVERAGES, TOP) or _SIMPLE_LABEL.fullmatch(label):
        return label
    return '"' + re.sub(r'(["\\])', r"\\\1", label) + '"'
