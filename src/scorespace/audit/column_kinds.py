"""Kinds of columns: one recogniser per kind, tried in the order of their declaration.

A recogniser looks at the values and the name of a column, and returns its evidence as text, or None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.audit.vocabulary import (
    CODE_NAMES,
    COUNT_NAMES,
    INTERVAL_NAMES,
    LABEL_ORDERS,
    NUMBERED_THINGS,
    SCALE_NAMES,
    UNKNOWN_LABELS,
    is_id_name,
    name_words,
)
from scorespace.errors import ColumnError, did_you_mean, listing
from scorespace.io.column_profile import ColumnValues
from scorespace.io.column_values import MISSING_VALUE_TEXTS
from scorespace.results import grouped

Recogniser = Callable[[ColumnValues], str | None]


@dataclass(frozen=True)
class ColumnKind:
    """A kind of column: its scale of measurement, whether it is a quantity, and whether it can be a feature."""

    name: str
    scale: str
    quantity: bool = False
    ordered: bool = False
    feature: bool = True
    recognise: Recogniser = field(default=lambda held: None, repr=False, compare=False)


KINDS: Final[dict[str, ColumnKind]] = {}
"""Kinds by name, in the order in which they are tried."""


def column_kind(
    scale: str, *, quantity: bool = False, ordered: bool = False, feature: bool = True
) -> Callable[[Recogniser], Recogniser]:
    """Register a kind of column by the function that recognises it."""

    def declare(function: Recogniser) -> Recogniser:
        name = function.__name__
        KINDS[name] = ColumnKind(name, scale, quantity, ordered, feature, function)
        return function

    return declare


@dataclass(frozen=True)
class StatedKind:
    """A kind stated by the user, with the order of levels of an ordinal column."""

    name: str
    levels: tuple[str, ...] = ()


def parse_kind(text: str) -> StatedKind:
    """Parse a stated kind: a name, and for an ordinal column its levels from low to high.

    >>> parse_kind("ordinal(low, medium, high)").levels
    ('low', 'medium', 'high')
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    name = match[1].lower() if match else text
    if match is None or name not in KINDS:
        hint = did_you_mean(name, KINDS, "ordinal(low, high), nominal, ratio, identifier, …")
        raise ColumnError(f"{text!r} is not a kind of column.", seen=", ".join(KINDS), hint=hint)
    levels = tuple(level.strip() for level in (match[2] or "").split(",") if level.strip())
    if levels and name != "ordinal":
        raise ColumnError(f"{text!r}: only an ordinal column has ordered levels.", hint="ordinal(low, high)")
    return StatedKind(name, levels)


def recognise_kind(held: ColumnValues, stated: StatedKind | None = None) -> tuple[ColumnKind, str]:
    """Kind of a column and the evidence for it; a stated kind takes precedence.

    Stated levels are refused if none occurs.
    """
    if stated is not None:
        texts = [value_text(held, code).strip("'") for code in range(held.values.size)]
        if stated.levels and not set(stated.levels) & set(texts):
            raise ColumnError(
                f"none of the stated levels occurs in {held.name!r}.",
                seen=listing(texts[:8]),
                hint=f"state the levels of {held.name!r} from low to high",
            )
        return KINDS[stated.name], "as stated" + (f": {' < '.join(stated.levels)}" if stated.levels else "")
    candidates = ((kind, kind.recognise(held)) for kind in KINDS.values())
    return next((kind, evidence) for kind, evidence in candidates if evidence is not None)  # the last always matches


def value_spread(values: ColumnValues, kind: ColumnKind) -> str:
    """Whether the values are discrete or continuous.

    Fractional numbers are continuous, and so are integers if most of many rows differ.
    """
    if values.stored not in ("number", "date") or not (kind.quantity or kind.name == "date"):
        return "discrete"
    if kind.name == "date":
        return "continuous"
    fractional = bool(np.any(values.values != np.floor(values.values)))
    return "continuous" if fractional or values.distinct > max(50, values.known // 4) else "discrete"


# --- kinds in the order in which they are tried


@column_kind("none", feature=False)
def constant(held: ColumnValues) -> str | None:
    if held.distinct > 1:
        return None
    return "every row is empty" if not held.distinct else f"every row holds {value_text(held, 0)}"


@column_kind("interval", feature=False, ordered=True)
def date(held: ColumnValues) -> str | None:
    if held.stored == "date":
        return "dates or times"
    words = name_words(held.name)
    if held.stored == "number" and are_integers(held):
        low, high = float(held.values[0]), float(held.values[-1])
        if words & {"year", "jahr", "yr", "season"} and low >= 1500 and high <= 2200:
            return "years, by name and range"
        if re.fullmatch("[12][089][0-9]{6}", f"{low:.0f}") and _are_dates(held.values):
            return "dates as numbers, such as 20240131"
        timed = words & {"t", "time", "timestamp", "epoch", "day", "week", "month", "period", "step", "tick", "quarter"}
        if timed and held.distinct > 0.5 * held.known and held.distinct > 31:
            return f"a time index, by its name {held.name!r}"
    return None


@column_kind("nominal", feature=False)
def identifier(held: ColumnValues) -> str | None:
    """Numbers or short texts that identify a case and measure nothing."""
    named = is_id_name(held.name)
    rows = held.known
    if held.stored == "text":
        short = held.words < 1.5 or _only_digits(held)
        if held.distinct == rows and rows >= 10 and short and (named or _same_shape(held)):
            return "texts of one pattern, all distinct"
        return "identifier by name" if named and held.distinct > max(20, 0.1 * rows) and held.words < 1.5 else None
    if held.stored != "number" or not are_integers(held) or held.distinct < 3:
        return None
    unique = held.distinct == rows
    if named and held.distinct > max(10, 0.02 * rows):
        return "identifier by name, integers" + (", all distinct" if unique else ", repeated")
    low, high = float(held.values[0]), float(held.values[-1])
    if unique and rows >= 10 and low >= 10_000 and name_words(held.name) <= NUMBERED_THINGS:
        return f"distinct integers that are not a quantity, by the name {held.name!r}"
    if unique and rows >= 15 and high - low + 1 <= 1.05 * rows:
        return f"every integer from {low:.0f} to {high:.0f} once"
    if unique and rows >= 50 and low >= 0 and _never_repeats_unlike_chance(held):
        return "integers of equal length that never repeat, unlike random numbers"
    steps = np.diff(held.codes[held.codes >= 0])
    if unique and rows >= 50 and low >= 0 and (np.all(steps > 0) or np.all(steps < 0)) and _evenly_spread(held):
        return "distinct integers in row order"
    return None


@column_kind("nominal")
def binary(held: ColumnValues) -> str | None:
    if held.distinct != 2:
        return None
    return f"two values, {value_text(held, 0)} and {value_text(held, 1)}"


@column_kind("ordinal", ordered=True)
def ordinal(held: ColumnValues) -> str | None:
    """Ordered levels without distances: words with a known order, grades, or rating scales."""
    if held.stored == "text":
        levels = ordered_words([str(value) for value in held.values[: held.distinct]])
        if not levels:
            return None
        shown = levels if len(levels) <= 7 else (*levels[:3], "…", levels[-1])
        if _is_range(levels):
            return f"ranges of numbers: {', '.join(shown)}"
        return f"words with an order: {' < '.join(shown)}"
    if held.stored != "number" or not are_integers(held) or not 3 <= held.distinct <= 12:
        return None
    low, high = float(held.values[0]), float(held.values[-1])
    if name_words(held.name) & COUNT_NAMES:
        return None
    if name_words(held.name) & SCALE_NAMES and low >= 0 and high <= 20:
        return f"a scale from {low:.0f} to {high:.0f}, by its name {held.name!r}"
    typical = held.values[held.counts >= max(2, 0.01 * held.known)]
    if low in (0, 1) and typical.size >= 4 and set(typical[typical > 0]) >= set(range(1, int(typical[-1]) + 1)):
        top = int(typical[-1])
        if (top in (5, 7, 10) and low == 1) or (top in (5, 7, 9, 10) and low == 0 and _is_top_frequent(held, top)):
            return f"integers from {low:.0f} to {top}, like a rating scale"
    return None


@column_kind("nominal")
def nominal(held: ColumnValues) -> str | None:
    rows = held.known
    if held.stored == "text":
        if held.distinct > max(50, 0.2 * rows) and held.words >= 1.5:
            return None  # free text
        return f"{grouped(held.distinct)} labels without a known order"
    if held.stored == "number" and are_integers(held) and name_words(held.name) & CODE_NAMES:
        return f"integer codes, by the name {held.name!r}"
    return None


@column_kind("none", feature=False)
def text(held: ColumnValues) -> str | None:
    if held.stored != "text":
        return None
    return f"free text, {held.words:.0f} words on average"


@column_kind("interval", quantity=True, ordered=True)
def interval(held: ColumnValues) -> str | None:
    """Numbers with meaningful differences, but without a natural zero."""
    words = name_words(held.name)
    if words & INTERVAL_NAMES and not words & {"kelvin", "k"}:
        return f"a scale without a natural zero, by its name {held.name!r}"
    if held.values[0] < 0 and not _has_single_negative_code(held):
        return "numbers below and above zero"
    return None


@column_kind("ratio", quantity=True, ordered=True)
def ratio(held: ColumnValues) -> str | None:
    return ("integers" if are_integers(held) else "numbers") + " with a natural zero"


# --- evidence


def ordered_words(labels: list[str]) -> tuple[str, ...]:
    """Labels from low to high if they are words with a known order or numeric ranges; otherwise empty.

    Spelling variants of a label are one level, named by the first spelling.

    >>> ordered_words(["Large", "small", "medium", "small "])
    ('small', 'medium', 'Large')
    >>> ordered_words(["30-39", "under 30", "40+"])
    ('under 30', '30-39', '40+')
    """
    levels: dict[str, str] = {}
    for label in labels:
        if normalise_label(label) not in MISSING_VALUE_TEXTS | UNKNOWN_LABELS:
            levels.setdefault(normalise_label(label), label)
    if not 3 <= len(levels) <= 30:
        return ()
    order = next((words for words in LABEL_ORDERS if set(levels) <= set(words)), None)
    ends = {level: _range_of(level) for level in levels}
    places: dict[str, Any] = {}
    if order is not None:
        places = {level: order.index(level) for level in levels}
    elif _is_range(levels) and len(set(ends.values())) == len(ends):
        places = ends
    return tuple(levels[level] for level in sorted(places, key=places.__getitem__))


def normalise_label(label: str) -> str:
    """Label without differences in whitespace, underscores and case."""
    return re.sub(r"[\s_]+", " ", label.strip()).casefold()


_NUMBER: Final = r"[$€£]?\s?(-?\d+(?:[.,]\d+)*)\s?([km]?)"
_BETWEEN: Final = re.compile(rf"[\[(]?{_NUMBER}\s*(?:-|–|to|\.\.|,)\s*{_NUMBER}[\])]?")
_BELOW: Final = re.compile(rf"(?:<=?|≤|under|below|less than|up to)\s*{_NUMBER}")
_ABOVE: Final = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least)\s*{_NUMBER}|{_NUMBER}\s*(?:\+|plus|(?:and|or) \w+)"
)


def _is_range(labels: Iterable[str]) -> bool:
    """Whether labels are numeric ranges such as 20-29, possibly with open ends."""
    ends = [_range_of(normalise_label(label)) for label in labels]
    return None not in ends and any(end is not None and np.all(np.isfinite(end)) for end in ends)


def _range_of(level: str) -> tuple[float, float] | None:
    """Ends of a numeric range, infinite if open."""

    def number(digits: str, unit: str) -> float:
        return float(digits.replace(",", "")) * {"": 1.0, "k": 1e3, "m": 1e6}[unit]

    try:
        if found := _BETWEEN.fullmatch(level):
            low, high = number(*found.group(1, 2)), number(*found.group(3, 4))
            return (low, high) if low < high else None
        if found := _BELOW.fullmatch(level):
            return -math.inf, number(*found.group(1, 2))
        if found := _ABOVE.fullmatch(level):
            return number(*(found.group(1, 2) if found[1] else found.group(3, 4))), math.inf
    except ValueError:  # several decimal points, as in 1.2.3
        return None
    return None


def are_integers(held: ColumnValues) -> bool:
    """Whether all values are finite integers."""
    numbers: NDArray[np.float64] = held.values
    return held.stored in ("number", "boolean") and bool(np.all(np.isfinite(numbers) & (numbers == np.floor(numbers))))


def value_text(held: ColumnValues, code: int) -> str:
    """Value as text for messages."""
    value = held.values[code] if code < held.values.size else "…"
    if held.stored == "text":
        return repr(str(value))
    if held.stored == "boolean":
        return "true" if value else "false"
    if held.stored == "date":
        moment = np.datetime64(int(value), "s") if math.isfinite(float(value)) else value
        return str(moment).removesuffix("T00:00:00")
    return number_text(float(value))


def number_text(value: float) -> str:
    """Number with six significant digits, integers in full."""
    if math.isfinite(value) and value == math.floor(value) and abs(value) < 1e15:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def _are_dates(values: NDArray[np.float64]) -> bool:
    month, day = values // 100 % 100, values % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31))) and values.size > 5


def _only_digits(held: ColumnValues) -> bool:
    """Whether texts consist of digits and separators, like telephone numbers."""
    return all(re.fullmatch(r"[\d\s()+./-]*\d", str(value)) for value in held.values[:200])


def _same_shape(held: ColumnValues) -> bool:
    """Whether texts differ only in their digits, like C-0017 and C-0420, or are long hexadecimal strings."""
    texts = [str(value) for value in held.values[:200]]
    shapes = {re.sub(r"\d+", "0", text) for text in texts}
    return (len(shapes) <= 2 and any(map(str.isdigit, "".join(texts)))) or all(
        re.fullmatch(r"[0-9a-fA-F-]{8,}", text) for text in texts
    )


def _never_repeats_unlike_chance(held: ColumnValues) -> bool:
    """Whether integers of equal length never repeat although random ones would: n² / 2 range > 3."""
    low, high = float(held.values[0]), float(held.values[-1])
    one_length = low >= 1000 and len(f"{low:.0f}") == len(f"{high:.0f}")
    return one_length and held.distinct**2 / (2 * (high - low + 1)) > 3


def _evenly_spread(held: ColumnValues) -> bool:
    """Whether the gaps between sorted values are similar throughout, as in consecutive numbering."""
    quarters = np.quantile(held.values, [0, 0.25, 0.5, 0.75, 1])
    parts = np.diff(quarters)
    return bool(parts.max() <= 2 * parts.min())


def _is_top_frequent(held: ColumnValues, top: int) -> bool:
    """Whether the highest answer is about as frequent as the others; counts of events thin out instead."""
    by_value = dict(zip(held.values.tolist(), held.counts.tolist(), strict=True))
    inner = [by_value.get(float(value), 0) for value in range(1, top + 1)]
    return by_value.get(float(top), 0) >= 0.25 * float(np.mean(inner))


def _has_single_negative_code(held: ColumnValues) -> bool:
    """Whether the only negative value is a common missing-value code such as -1 or -99."""
    below = held.values[held.values < 0]
    return below.size == 1 and float(below[0]) in (-1, -9, -99, -999, -9999, -88, -77, -8, -7)
