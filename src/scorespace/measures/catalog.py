"""The catalogue of measures: lookup by any name, and the grammar users type."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

import numpy as np

from scorespace.declaration import call_text, read_options, split_list, written
from scorespace.errors import MeasureError, folded
from scorespace.frozen import dataclass
from scorespace.measures.average import ALL_AVERAGES, EVENLY
from scorespace.measures.measure import MEASURES, Measure
from scorespace.tables import Array, At, Counts, ScoreTable, Top
from scorespace.tables.classes import TOP
from scorespace.tables.columns import MOST_EXACT
from scorespace.tables.labels import bare
from scorespace.tables.threshold import threshold_text

_SHAPE = re.compile(
    r"""\s*(?P<name>[^\s()\[\]@,=]+(?:\s+[^\s()\[\]@,=]+)*)\s*
        (?:\((?P<options>(?:[^()]|\([^()]*\))*)\))?\s*
        (?:\[(?P<of>"(?:[^"\\]|\\.)*"|[^\[\]"]*)\])?\s*
        (?:@\s*(?P<at>(?:[Tt][Oo][Pp]\s*)?[^\s\[\]()@]+(?:\s*%)?))?\s*""",
    re.VERBOSE,
)
_TOP = re.compile(r"top\s*(?P<size>[^\s%]*)\s*(?P<percent>%?)", re.IGNORECASE)
_AVERAGE = "|".join(ALL_AVERAGES)
_JOINED = re.compile(
    rf"(?P<first>{_AVERAGE})_(?:averaged?_)?(?P<of>.+)"
    rf"|(?P<name>.+?)_(?:(?P<last>{_AVERAGE})|at_(?:top_)?(?P<top>[1-9][0-9]*))"
)
_SIMPLE_LABEL = re.compile(r"[^\[\]\",\\\s][^\[\]\",\\]*(?<!\s)")


@dataclass(frozen=True)
class MeasureSpec:
    """A measure with its options, class or average, and operating point: what a user asks for.

    `str()` of it has the name that the user wrote, `canonical` the one that data bear; both parse back to it. With a
    `prevalence`, its value is that of a population in which positives have that share.

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
        return call_text(self.name, self.options)

    @property
    def canonical(self) -> str:
        """The whole of it under the measure's own name."""
        return f"{self.label}{self._place}"

    @property
    def within(self) -> bool:
        """Whether its value stays when one class is multiplied; the highest-ranked cases are then others.

        >>> parse("auc[hand_till]").within, parse("auc[weighted]").within
        (True, False)
        """
        evenly = self.of not in ALL_AVERAGES or self.of in EVENLY
        return evenly and not isinstance(self.at, Top) and self.measure.drawn_within(**dict(self.options))

    def for_prevalence(self, share: float | None) -> MeasureSpec:
        """The request for a stated prevalence; one that does not depend on it, or states its own, stays.

        >>> parse("ppv@0.5").for_prevalence(0.1).prevalence, parse("tpr@0.5").for_prevalence(0.1).prevalence
        (0.1, None)
        """
        return self if share is None or self.prevalence is not None or self.within else replace(self, prevalence=share)

    def along(self, counts: Counts) -> Array:
        """The values of a measure of decisions on outcomes, such as those along thresholds."""
        held = counts if self.prevalence is None or self.within else counts.at_prevalence(self.prevalence)
        return np.asarray(self.measure(held, **dict(self.options)), dtype=np.float64)

    def __str__(self) -> str:
        return f"{call_text(self.asked or self.name, self.options)}{self._place}"

    @property
    def shown(self) -> str:
        """The same for people: of a threshold that nobody typed, the digits that keep every case on its side.

        >>> from dataclasses import replace
        >>> from scorespace.tables.threshold import rounded_threshold
        >>> replace(parse("recall"), at=rounded_threshold(0.019256127188389035, below=0.0192)).shown
        'recall@0.01925'
        """
        if not isinstance(self.at, float):
            return str(self)
        return f"{str(self).rpartition('@')[0]}@{threshold_text(self.at)}"

    @property
    def _place(self) -> str:
        of = "" if self.of is None else f"[{_quoted(self.of)}]"
        return of + ("" if self.at is None else f"@{written(getattr(self.at, 'shown', self.at))}")


def measures() -> tuple[Measure, ...]:
    """Every measure of the catalogue, third-party ones included."""
    return tuple(MEASURES)


def find(name: str) -> Measure:
    """The measure of that name or alias; case, hyphens and blanks do not matter.

    >>> find("ROC-AUC").name, find("recall").name
    ('auc', 'tpr')
    """
    try:
        return MEASURES.find(name)
    except MeasureError as error:
        meant = _meant(folded(name))
        raise error if meant is None else MeasureError(error.problem, hint=f"write {meant}") from None


def _meant(name: str) -> str | None:
    """How a name is written that other libraries make of a measure and its average or its number of cases.

    >>> _meant("f1_macro"), _meant("precision_at_10"), _meant("auc_at_10")
    ('f1[macro]', 'precision@top10', None)
    """
    match = _JOINED.fullmatch(name)
    if match is None:
        return None
    known, average = match["of"] or match["name"], match["first"] or match["last"]
    found = next((one for one in MEASURES if known in map(folded, (one.name, *one.aliases))), None)
    if found is None or not {Counts, ScoreTable} & set(found.functions):
        return None
    if average is not None:
        return f"{known}[{average}]"
    return f"{known}@top{match['top']}" if Counts in found.functions else None


def parse(text: str) -> MeasureSpec:
    """Read one measure: NAME(options)[class or average]@threshold, or @top200 or @top10% by rank.

    >>> parse("precision@0.5")
    MeasureSpec(name='ppv', options=(), of=None, at=0.5)
    >>> str(parse("precision@Top 10%"))
    'precision@top10%'
    """
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise MeasureError(
            f"the measure {text!r} cannot be read.",
            hint="NAME(option=value)[class]@threshold, such as fbeta(beta=2)@0.5",
        )
    measure = find(match["name"])
    of = match["of"]
    if of is not None:
        of = _unquoted(of) if of.startswith('"') else of.strip()
        if not of:
            raise MeasureError(f"{text!r} names no class in its brackets.", hint=f"{measure.name}[macro], for example")
    options = read_options(measure, match["options"], text, MeasureError)
    name = " ".join(match["name"].split())
    asked = None if name == measure.name else name
    return MeasureSpec(measure.name, options, of, _point(match["at"], text, measure), asked)


def read_bound(text: str, example: str = "tpr=0.9") -> tuple[str, float]:
    """A measure by its name, and the number that it is to keep to, from MEASURE=NUMBER.

    >>> read_bound("fbeta(beta=2)=0.5")
    ('fbeta(beta=2)', 0.5)
    """
    name, _, bound = text.rpartition("=")
    with suppress(ValueError):
        if name.strip() and not math.isnan(number := float(bound)):
            return name.strip(), number
    raise MeasureError(f"the bound {text!r} cannot be read.", hint=f"MEASURE=NUMBER, such as {example}")


def parse_list(text: str) -> list[MeasureSpec]:
    """Read measures separated by commas, those inside parentheses and brackets excepted.

    >>> [str(m) for m in parse_list("auc, pauc(fpr_high=0.2, corrected=true), f1[macro]")]
    ['auc', 'pauc(fpr_high=0.2, corrected=true)', 'f1[macro]']
    """
    return [parse(piece) for piece in split_list(text, text, MeasureError) if piece.strip()]


def _point(text: str | None, whole: str, measure: Measure) -> At | None:
    if text is None:
        return None
    ranked = _TOP.fullmatch(text)
    if ranked is not None:
        return _top(ranked["size"], bool(ranked["percent"]), text, whole)
    try:
        value = float(text.replace("∞", "inf").replace("−", "-"))  # as they are shown
    except ValueError:
        value = float("nan")
    if value != value:
        hint = "such as @0.5, @inf, @top200 or @top10%"
        if text.casefold() in ("best", "max", "optimal", "optimum"):
            hint = f"best(measure={measure.name}), or the threshold itself: scorespace decide --maximise {measure.name}"
        raise MeasureError(f"the threshold {text!r} in {whole!r} is not a number.", hint=hint)
    return value


def _top(size: str, percent: bool, text: str, whole: str) -> Top:
    try:
        found = float(size)
    except ValueError:
        found = 0.0
    if not 0 < found <= (100 if percent else MOST_EXACT):
        raise MeasureError(
            f"{text!r} in {whole!r} names no cases.", hint="@top200 for so many, @top10% for a share of all"
        )
    return Top(found, percent)


def _unquoted(text: str) -> str:
    """A class in quotes; they stay around one that is named like an average, because they tell it from that."""
    inner = re.sub(r"\\(.)", r"\1", text[1:-1])
    return f'"{inner}"' if inner in (*ALL_AVERAGES, TOP) else inner


def _quoted(label: str) -> str:
    if bare(label) in (*ALL_AVERAGES, TOP) or _SIMPLE_LABEL.fullmatch(label):
        return label
    return '"' + re.sub(r'(["\\])', r"\\\1", label) + '"'
