"""What each column is: one decorated function per kind, asked in the order in which they stand here.

A recogniser looks at what a column holds and at its name, and answers with its evidence in words or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scorespace.auditing.words import (
    CODE_NAMES,
    COUNT_NAMES,
    INTERVAL_NAMES,
    NUMBERED,
    ORDERS,
    SCALE_NAMES,
    UNSURE,
    is_id_name,
    name_words,
)
from scorespace.errors import ColumnError, did_you_mean, listing
from scorespace.frames.survey import Held
from scorespace.frames.values import GONE
from scorespace.frozen import dataclass
from scorespace.results import grouped

Recogniser = Callable[[Held], str | None]


@dataclass(frozen=True)
class Kind:
    """A kind of column: its scale, whether it is a quantity, and whether a model could learn from its values."""

    name: str
    scale: str
    quantity: bool = False
    ordered: bool = False
    feature: bool = True
    recognise: Recogniser = field(default=lambda held: None, repr=False, compare=False)


KINDS: Final[dict[str, Kind]] = {}
"""The kinds by name, in the order in which they are tried."""


def kind(
    scale: str, *, quantity: bool = False, ordered: bool = False, feature: bool = True
) -> Callable[[Recogniser], Recogniser]:
    """Declare a kind of column by the function that recognises it."""

    def declare(function: Recogniser) -> Recogniser:
        name = function.__name__
        KINDS[name] = Kind(name, scale, quantity, ordered, feature, function)
        return function

    return declare


@dataclass(frozen=True)
class Declared:
    """A kind that the user states, with the order of its levels where it is ordinal."""

    name: str
    levels: tuple[str, ...] = ()


def declared(text: str) -> Declared:
    """The kind that a user writes: a name, and for an ordinal its levels from low to high.

    >>> declared("ordinal(low, medium, high)").levels
    ('low', 'medium', 'high')
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    name = match[1].lower() if match else text
    if match is None or name not in KINDS:
        hint = did_you_mean(name, KINDS, "ordinal(low, high), nominal, ratio, identifier, …")
        raise ColumnError(f"{text!r} is no kind of column.", seen=", ".join(KINDS), hint=hint)
    levels = tuple(level.strip() for level in (match[2] or "").split(",") if level.strip())
    if levels and name != "ordinal":
        raise ColumnError(f"{text!r}: only an ordinal has levels in order.", hint="ordinal(low, high)")
    return Declared(name, levels)


def recognise(held: Held, stated: Declared | None = None) -> tuple[Kind, str]:
    """The kind of a column and the evidence for it; what the user states goes before all evidence.

    Stated levels of which none occurs are refused.
    """
    if stated is not None:
        found = [text_of(held, code).strip("'") for code in range(held.values.size)]
        if stated.levels and not set(stated.levels) & set(found):
            raise ColumnError(
                f"none of the stated levels of {held.name!r} occurs.",
                seen=listing(found[:8]),
                hint=f"the levels of {held.name!r} from low to high",
            )
        return KINDS[stated.name], "as stated" + (f": {' < '.join(stated.levels)}" if stated.levels else "")
    asked = ((one, one.recognise(held)) for one in KINDS.values())
    return next((one, evidence) for one, evidence in asked if evidence is not None)  # the last takes every column


def spread(held: Held, one: Kind) -> str:
    """Whether the values are discrete or continuous.

    Numbers with fractions are continuous; whole numbers are, too, where most of many rows differ.
    """
    if held.stored not in ("number", "date") or not (one.quantity or one.name == "date"):
        return "discrete"
    if one.name == "date":
        return "continuous"
    fractional = bool(np.any(held.values != np.floor(held.values)))
    return "continuous" if fractional or held.distinct > max(50, held.known // 4) else "discrete"


# --- the kinds, in the order in which they are tried


@kind("none", feature=False)
def constant(held: Held) -> str | None:
    if held.distinct > 1:
        return None
    return "every row is empty" if not held.distinct else f"every row holds {text_of(held, 0)}"


@kind("interval", feature=False, ordered=True)
def date(held: Held) -> str | None:
    if held.stored == "date":
        return "dates or times"
    words = name_words(held.name)
    if held.stored == "number" and whole(held):
        low, high = float(held.values[0]), float(held.values[-1])
        if words & {"year", "jahr", "yr", "season"} and low >= 1500 and high <= 2200:
            return "whole numbers that are years, by name and range"
        if re.fullmatch("[12][089][0-9]{6}", f"{low:.0f}") and _are_days(held.values):
            return "numbers that read as days, such as 20240131"
        timed = words & {"t", "time", "timestamp", "epoch", "day", "week", "month", "period", "step", "tick", "quarter"}
        if timed and held.distinct > 0.5 * held.known and held.distinct > 31:
            return f"a running number of time, by its name {held.name!r}"
    return None


@kind("nominal", feature=False)
def identifier(held: Held) -> str | None:
    """Numbers or short texts that name a case (or something about it) and measure nothing."""
    named = is_id_name(held.name)
    rows = held.known
    if held.stored == "text":
        short = held.words < 1.5 or _only_digits(held)
        if held.distinct == rows and rows >= 10 and short and (named or _same_shape(held)):
            return "texts of one shape, all different"
        return "named as one" if named and held.distinct > max(20, 0.1 * rows) and held.words < 1.5 else None
    if held.stored != "number" or not whole(held) or held.distinct < 3:
        return None
    unique = held.distinct == rows
    if named and held.distinct > max(10, 0.02 * rows):
        return "named as one, whole numbers" + (", all different" if unique else ", repeated")
    low, high = float(held.values[0]), float(held.values[-1])
    if unique and rows >= 10 and low >= 10_000 and name_words(held.name) <= NUMBERED:
        return f"whole numbers, all different, that are no quantity by the name {held.name!r}"
    if unique and rows >= 15 and high - low + 1 <= 1.05 * rows:
        return f"every whole number from {low:.0f} to {high:.0f}, once each"
    if unique and rows >= 50 and low >= 0 and _drawn_without_repeats(held):
        return "whole numbers of one length that never repeat, as drawn numbers would"
    steps = np.diff(held.codes[held.codes >= 0])
    if unique and rows >= 50 and low >= 0 and (np.all(steps > 0) or np.all(steps < 0)) and _evenly_spread(held):
        return "whole numbers, all different, in the order of the rows"
    return None


@kind("nominal")
def binary(held: Held) -> str | None:
    if held.distinct != 2:
        return None
    return f"two values, {text_of(held, 0)} and {text_of(held, 1)}"


@kind("ordinal", ordered=True)
def ordinal(held: Held) -> str | None:
    """Levels with an order but no distance: words that are known to have one, grades, or answers on a scale."""
    if held.stored == "text":
        levels = ordered_words([str(value) for value in held.values[: held.distinct]])
        if not levels:
            return None
        shown = levels if len(levels) <= 7 else (*levels[:3], "…", levels[-1])
        if _is_range(levels):
            return f"ranges of numbers: {', '.join(shown)}"
        return f"words with an order: {' < '.join(shown)}"
    if held.stored != "number" or not whole(held) or not 3 <= held.distinct <= 12:
        return None
    low, high = float(held.values[0]), float(held.values[-1])
    if name_words(held.name) & COUNT_NAMES:
        return None
    if name_words(held.name) & SCALE_NAMES and low >= 0 and high <= 20:
        return f"a scale from {low:.0f} to {high:.0f}, by its name {held.name!r}"
    typical = held.values[held.counts >= max(2, 0.01 * held.known)]
    if low in (0, 1) and typical.size >= 4 and set(typical[typical > 0]) >= set(range(1, int(typical[-1]) + 1)):
        top = int(typical[-1])
        if (top in (5, 7, 10) and low == 1) or (top in (5, 7, 9, 10) and low == 0 and _not_falling(held, top)):
            return f"whole numbers from {low:.0f} to {top}, as answers on a scale"
    return None


@kind("nominal")
def nominal(held: Held) -> str | None:
    rows = held.known
    if held.stored == "text":
        if held.distinct > max(50, 0.2 * rows) and held.words >= 1.5:
            return None  # free text
        return f"{grouped(held.distinct)} labels without a known order"
    if held.stored == "number" and whole(held) and name_words(held.name) & CODE_NAMES:
        return f"whole numbers that are codes, by the name {held.name!r}"
    return None


@kind("none", feature=False)
def text(held: Held) -> str | None:
    if held.stored != "text":
        return None
    return f"free text, {held.words:.0f} words on average"


@kind("interval", quantity=True, ordered=True)
def interval(held: Held) -> str | None:
    """Numbers whose differences mean something but whose zero does not."""
    words = name_words(held.name)
    if words & INTERVAL_NAMES and not words & {"kelvin", "k"}:
        return f"a scale without a natural zero, by its name {held.name!r}"
    if held.values[0] < 0 and not _one_negative_code(held):
        return "numbers below and above zero"
    return None


@kind("ratio", quantity=True, ordered=True)
def ratio(held: Held) -> str | None:
    return ("whole numbers" if whole(held) else "numbers") + " with a natural zero"


# --- evidence


def ordered_words(labels: list[str]) -> tuple[str, ...]:
    """The labels from low to high where they are words with a known order, or ranges of numbers; else nothing.

    A label that is written in several ways is one level, named as it is written first.

    >>> ordered_words(["Large", "small", "medium", "small "])
    ('small', 'medium', 'Large')
    >>> ordered_words(["30-39", "under 30", "40+"])
    ('under 30', '30-39', '40+')
    """
    levels: dict[str, str] = {}
    for label in labels:
        if level_of(label) not in GONE | UNSURE:
            levels.setdefault(level_of(label), label)
    if not 3 <= len(levels) <= 30:
        return ()
    order = next((one for one in ORDERS if set(levels) <= set(one)), None)
    ends = {level: _range_of(level) for level in levels}
    places: dict[str, Any] = {}
    if order is not None:
        places = {level: order.index(level) for level in levels}
    elif _is_range(levels) and len(set(ends.values())) == len(ends):
        places = ends
    return tuple(levels[level] for level in sorted(places, key=places.__getitem__))


def level_of(label: str) -> str:
    """A label as levels are compared: blanks, underscores and capitals do not matter."""
    return re.sub(r"[\s_]+", " ", label.strip()).casefold()


_NUMBER: Final = r"[$€£]?\s?(-?\d+(?:[.,]\d+)*)\s?([km]?)"
_BETWEEN: Final = re.compile(rf"[\[(]?{_NUMBER}\s*(?:-|–|to|\.\.|,)\s*{_NUMBER}[\])]?")
_BELOW: Final = re.compile(rf"(?:<=?|≤|under|below|less than|up to)\s*{_NUMBER}")
_ABOVE: Final = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least)\s*{_NUMBER}|{_NUMBER}\s*(?:\+|plus|(?:and|or) \w+)"
)


def _is_range(labels: Iterable[str]) -> bool:
    """Whether labels are ranges of numbers, such as 20-29, with open ends at most besides."""
    ends = [_range_of(level_of(label)) for label in labels]
    return None not in ends and any(end is not None and np.all(np.isfinite(end)) for end in ends)


def _range_of(level: str) -> tuple[float, float] | None:
    """Both ends of a range of numbers, infinite where it is open."""

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
    except ValueError:  # several points, as in 1.2.3
        return None
    return None


def whole(held: Held) -> bool:
    """Whether all values are finite whole numbers."""
    numbers: NDArray[np.float64] = held.values
    return held.stored in ("number", "boolean") and bool(np.all(np.isfinite(numbers) & (numbers == np.floor(numbers))))


def text_of(held: Held, code: int) -> str:
    """A value as people write it."""
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
    """A number with all digits that tell it from others, and no more."""
    if math.isfinite(value) and value == math.floor(value) and abs(value) < 1e15:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def _are_days(values: NDArray[np.float64]) -> bool:
    month, day = values // 100 % 100, values % 100
    return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31))) and values.size > 5


def _only_digits(held: Held) -> bool:
    """Whether texts are digits and what stands between them, as in telephone numbers."""
    return all(re.fullmatch(r"[\d\s()+./-]*\d", str(value)) for value in held.values[:200])


def _same_shape(held: Held) -> bool:
    """Whether texts differ in their digits only, as C-0017 and C-0420 do, or are long hexadecimal words."""
    texts = [str(value) for value in held.values[:200]]
    shapes = {re.sub(r"\d+", "0", each) for each in texts}
    return (len(shapes) <= 2 and any(map(str.isdigit, "".join(texts)))) or all(
        re.fullmatch(r"[0-9a-fA-F-]{8,}", each) for each in texts
    )


def _drawn_without_repeats(held: Held) -> bool:
    """Whether numbers of one length never repeat, though they would by chance: n² / 2 range > 3."""
    low, high = float(held.values[0]), float(held.values[-1])
    one_length = low >= 1000 and len(f"{low:.0f}") == len(f"{high:.0f}")
    return one_length and held.distinct**2 / (2 * (high - low + 1)) > 3


def _evenly_spread(held: Held) -> bool:
    """Whether the gaps between the sorted values are alike all along, as numbers given one after the other have."""
    quarters = np.quantile(held.values, [0, 0.25, 0.5, 0.75, 1])
    parts = np.diff(quarters)
    return bool(parts.max() <= 2 * parts.min())


def _not_falling(held: Held, top: int) -> bool:
    """Whether the highest answers are about as frequent as the others; numbers of events thin out instead."""
    by_value = dict(zip(held.values.tolist(), held.counts.tolist(), strict=True))
    inner = [by_value.get(float(value), 0) for value in range(1, top + 1)]
    return by_value.get(float(top), 0) >= 0.25 * float(np.mean(inner))


def _one_negative_code(held: Held) -> bool:
    """Whether the only value below zero is one that stands for missing: -1, -9, -99, -999."""
    below = held.values[held.values < 0]
    return below.size == 1 and float(below[0]) in (-1, -9, -99, -999, -9999, -88, -77, -8, -7)
