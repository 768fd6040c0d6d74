"""Values that are no measurements: codes for missing, scales that lost their top, slips, empty dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.auditing.column import Column
from scorespace.auditing.finding import Seen, finding
from scorespace.auditing.kinds import number_text, whole
from scorespace.auditing.words import COUNT_NAMES, UNSURE, is_number, name_words
from scorespace.frames.values import GONE
from scorespace.results import grouped

_LOW_CODES: Final = (0, -1, -2, -7, -8, -9, -77, -88, -98, -99, -777, -888, -998, -999, -9999, -99999, -999999)
_HIGH_CODES: Final = (
    *(7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9998, 9999),
    *(99999, 999999, 9999999, 99999999, 999999999),
)
_EMPTY_DAYS: Final = ("1900-01-01", "1899-12-30", "1899-12-31", "1901-01-01", "1970-01-01", "1753-01-01", "0001-01-01",
                      "9999-12-31", "2099-12-31", "2999-12-31")  # fmt: skip


@finding(
    "SS110",
    "warning",
    "a number that stands for something else",
    "If it means missing, make it missing before anything is averaged or cut.",
)
def sentinel(column: Column) -> Iterator[Seen]:
    """A code such as 0, -999 or 99 that many rows share, at the end of the values and apart from the others."""
    held = column.held
    if held.stored != "number" or not (column.kind.quantity or column.kind.name == "ordinal") or held.distinct < 4:
        return
    if column.stated is not None and column.stated.levels:
        return
    above = ((-code, -near) for code, near in _apart(-held.values[::-1], held.counts[::-1], _HIGH_CODES, sign=-1))
    for value, near in (*_apart(held.values, held.counts, _LOW_CODES), *above):
        rows = column.count_of[value]
        yield column.seen(
            f"{number_text(value)} in {column.name!r} stands apart: {_rows(rows, column.known)} hold it, and the next "
            f"value is {number_text(near)}.",
            {"value": value, "rows": rows, "share": rows / column.known, "next": near},
            column.code_of(value),
        )


def _apart(
    values: NDArray[np.float64], counts: NDArray[np.int64], codes: tuple[int, ...], sign: int = 1
) -> Iterator[tuple[float, float]]:
    """Codes below all other values, the lowest first, each with the value next to it; `sign`: of what was turned."""
    for place in range(min(3, values.size - 3)):
        code, rest, rows = float(values[place]), values[place + 1 :], counts[place + 1 :]
        apart = sign * code in codes and _stands_apart(code, int(counts[place]), rest, rows)
        if sign > 0 and code in codes and -10 < code < 0:
            # A sole -1 among numbers from 0 on needs no distance, but more rows than its neighbour.
            more = rest.size >= 4 and counts[place] > max(2, rows[0])
            apart = rest[0] >= 0 and (more or (code < -1 and apart))
        if not apart:
            return
        yield code, float(rest[0])


def _stands_apart(code: float, rows: int, rest: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether a value below the rest is held by several rows and too far from the rest to be one of them.

    `rest` rises. Far means several times as far as its own lowest values are from each other, and a tenth of the way
    to its median.
    """
    gap = float(rest[0]) - code
    total = int(counts.sum())
    if rows < 3 or total < 20:
        return False
    typical = rest[counts >= max(1, 1e-4 * total)]
    steps = np.diff(typical[:12])
    step = float(np.median(steps)) if steps.size else 0.0
    middle = float(rest[np.searchsorted(np.cumsum(counts), total / 2)])
    outer = float(rest[np.searchsorted(np.cumsum(counts), 0.9 * total)])
    usual = rows >= min(0.5 * total / max(1, rest.size), 3 + 0.01 * total)  # not a lonely outlier
    return gap >= 2.9 * step and gap >= 0.1 * (middle - code) and gap >= 0.04 * (outer - code) and usual


@finding(
    "SS111",
    "warning",
    "a scale has lost its top value while 0 is frequent",
    "Look where the data were entered: zeros may be missing values and cut-off top values at once, and cannot be told "
    "apart afterwards.",
)
def swallowed(column: Column) -> Iterator[Seen]:
    """Answers from 1 to 9 and many zeros: a 10 whose first digit was lost, mixed with missing answers."""
    held = column.held
    if held.stored != "number" or column.target or not whole(held) or column.kind.name == "binary":
        return
    by_value = column.count_of
    if by_value.get(0.0, 0) < 5 or float(held.values[0]) != 0 or column.known < 50:
        return
    top = int(held.values[-1])
    stated = column.stated.levels if column.stated else ()
    wanted = {float(level) for level in stated if re.fullmatch(r"\d+", level)}
    inner = np.array([by_value.get(float(value), 0) for value in range(1, top + 1)])
    if wanted:
        lost = max(wanted) > top and 0.0 not in wanted
    else:
        counted = bool(name_words(column.name) & COUNT_NAMES)  # nobody has 0 children because an answer is missing
        lost = top + 1 in (5, 7, 10, 20, 100) and top >= 4 and not counted
        lost = lost and _is_cut_off(inner) and _is_spike(by_value[0.0], inner)
    if lost:
        full = int(max(wanted)) if wanted else top + 1
        yield column.seen(
            f"{column.name!r} holds the numbers 1 to {top}, never {full}, and 0 in "
            f"{_rows(by_value[0.0], column.known)}: as if a scale from 1 to {full} had lost its top, and missing "
            "answers were zeros too.",
            {"zeros": by_value[0.0], "share": by_value[0.0] / column.known, "top": top, "expected_top": full},
            0,
        )


def _is_cut_off(inner: NDArray[np.int64]) -> bool:
    """Whether the values run up to an edge: all occur, and the last is about as frequent as the others."""
    covered = np.count_nonzero(inner) >= 0.9 * inner.size
    return bool(covered and inner[-3:].mean() >= 0.25 * inner.mean())


def _is_spike(zeros: int, inner: NDArray[np.int64]) -> bool:
    """Whether 0 is more frequent than its neighbours lead to expect, beyond chance."""
    near = np.log(np.maximum(inner[:4], 0.5))
    slope, level = np.polyfit(np.arange(1, near.size + 1), near, 1)
    error = np.sqrt(1 / max(1.0, float(inner[:4].mean())) / 5)  # of the slope, as counts vary
    expected = max(float(inner[:3].mean()), float(np.exp(level)) if slope < -2.5 * error else 0.0, 1.0)
    return zeros >= 1.2 * expected and float(stats.poisson.sf(zeros - 1, expected)) < 1e-3


@finding(
    "SS112", "warning", "a word that means missing", "Read it as a missing value, or keep it as a label on purpose."
)
def missing_word(column: Column) -> Iterator[Seen]:
    held = column.held
    if held.stored != "text" or _is_mixed(column):
        return
    for code, value in enumerate(held.values):
        word = str(value).strip().casefold()
        if word in GONE | UNSURE:
            rows = int(held.counts[code])
            yield column.seen(
                f"{str(value)!r} in {column.name!r} seems to mean that nothing is known: {_rows(rows, column.known)}.",
                {"rows": rows, "share": rows / column.known},
                code,
                level="" if word in GONE else "info",
            )


@finding("SS113", "warning", "a value that is a slip", "Look it up; if nobody knows, make it missing.")
def slip(column: Column) -> Iterator[Seen]:
    """A lonely value far outside: a 55 on a scale from 1 to 5, a decimal point lost."""
    held = column.held
    if held.stored != "number" or not column.kind.ordered or column.kind.name == "date" or column.known < 30:
        return
    values, counts = held.values, held.counts
    for code, rest in ((held.distinct - 1, values[:-1]), (0, values[1:])):
        value, rows = float(values[code]), int(counts[code])
        if rest.size < 3 or rows > max(2, 0.002 * column.known) or not np.isfinite(value):
            continue
        near = float(rest[-1] if code else rest[0])
        gap, width = abs(value - near), float(rest[-1]) - float(rest[0])
        few = whole(held) and held.distinct <= 30
        if few and gap >= 3 * width:
            slipped = _typed_twice(value, set(rest.tolist()))
            far, words = "far outside: all other values", f", perhaps {slipped} typed twice" if slipped else ""
        elif not few and not column.target and gap >= 10 * width:
            far, words = "more than ten times as far out as all other values, which", ""
        else:
            continue
        between = f"between {number_text(float(rest[0]))} and {number_text(float(rest[-1]))}"
        text = f"{number_text(value)} in {column.name!r} is {far} lie {between}{words}."
        yield column.seen(text, {"value": value, "rows": rows, "next": near}, code)


def _typed_twice(value: float, others: set[float]) -> str:
    text = f"{abs(value):.0f}"
    return text[0] if len(text) == 2 and text[0] == text[1] and float(text[0]) in others else ""


@finding("SS114", "warning", "a date that stands for no date", "Read it as a missing value.")
def empty_date(column: Column) -> Iterator[Seen]:
    held = column.held
    if held.stored != "date" or held.distinct < 3:
        return
    usual = float(np.median(held.counts))
    for code in {*range(min(3, held.distinct)), *range(max(0, held.distinct - 3), held.distinct)}:
        day, rows = column.text(code), int(held.counts[code])
        if day[:10] in _EMPTY_DAYS and rows >= 2 and rows > 2 * usual:
            text = f"{day} in {column.name!r} ({_rows(rows, column.known)}) is what programs write for no date."
            yield column.seen(text, {"rows": rows, "share": rows / column.known}, code)


@finding(
    "SS115", "warning", "numbers and text in one column", "Decide what the texts mean, then read the column as numbers."
)
def mixed(column: Column) -> Iterator[Seen]:
    if not _is_mixed(column):
        return
    held = column.held
    texts = [code for code, value in enumerate(held.values) if not is_number(str(value))]
    shown = ", ".join(f"{str(held.values[code])!r} ({grouped(int(held.counts[code]))})" for code in texts[:4])
    others = column.known - held.numeric
    levels = held.distinct <= 10 and not any(str(held.values[code]).strip().casefold() in GONE for code in texts)
    yield column.seen(
        f"{column.name!r} holds numbers in {_rows(held.numeric, column.known)} and texts in the others: "
        f"{shown or f'{grouped(others)} different ones'}.",
        {"rows": others, "share": others / column.known},
        texts[0] if texts else None,
        level="info" if levels else "",  # such as 2, 3, 4, 5more
    )


def _is_mixed(column: Column) -> bool:
    held = column.held
    if held.stored != "text" or column.kind.name in ("identifier", "binary"):
        return False
    return held.numeric >= 0.5 * column.known and held.numeric < column.known and held.distinct >= 4


def _rows(rows: int, of: int) -> str:
    share = 100 * rows / of if of else 0
    shown = f"{share:.0f}" if share >= 10 else f"{share:.1f}"
    return f"{grouped(rows)} of {grouped(of)} rows ({shown} %)"
