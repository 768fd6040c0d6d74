"""Values that are not measurements: missing-value codes, clipped scales, typing errors, placeholder dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scorespace.audit.column import AuditedColumn
from scorespace.audit.column_kinds import are_integers, number_text
from scorespace.audit.finding import Occurrence, finding
from scorespace.audit.vocabulary import COUNT_NAMES, UNKNOWN_LABELS, is_number, name_words
from scorespace.io.column_values import MISSING_VALUE_TEXTS
from scorespace.results import grouped

_LOW_CODES: Final = (0, -1, -2, -7, -8, -9, -77, -88, -98, -99, -777, -888, -998, -999, -9999, -99999, -999999)
_HIGH_CODES: Final = (
    *(7, 8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9998, 9999),
    *(99999, 999999, 9999999, 99999999, 999999999),
)
_PLACEHOLDER_DATES: Final = (
    *("1900-01-01", "1899-12-30", "1899-12-31", "1901-01-01", "1970-01-01", "1753-01-01", "0001-01-01"),
    *("9999-12-31", "2099-12-31", "2999-12-31"),
)


@finding(
    "SS110",
    "warning",
    "a number that may be a missing-value code",
    "If it means missing, recode it as missing before any analysis.",
)
def missing_value_code(column: AuditedColumn) -> Iterator[Occurrence]:
    """A code such as 0, -999 or 99 that many rows share, at the end of the values and far from the others."""
    values = column.held
    if values.stored != "number" or not (column.kind.quantity or column.kind.name == "ordinal") or values.distinct < 4:
        return
    if column.stated is not None and column.stated.levels:
        return
    above = (
        (-code, -near)
        for code, near in _isolated_codes(-values.values[::-1], values.counts[::-1], _HIGH_CODES, sign=-1)
    )
    for value, near in (*_isolated_codes(values.values, values.counts, _LOW_CODES), *above):
        rows = column.count_of[value]
        yield column.seen(
            f"{number_text(value)} in {column.name!r} is isolated: {_rows_text(rows, column.known)} have it, and the "
            f"next value is {number_text(near)}.",
            {"value": value, "rows": rows, "share": rows / column.known, "next": near},
            column.code_of(value),
        )


def _isolated_codes(
    values: NDArray[np.float64], counts: NDArray[np.int64], codes: tuple[int, ...], sign: int = 1
) -> Iterator[tuple[float, float]]:
    """Codes below all other values, lowest first, each with the next value; `sign` is -1 for negated values."""
    for index in range(min(3, values.size - 3)):
        code, rest, rows = float(values[index]), values[index + 1 :], counts[index + 1 :]
        is_isolated = sign * code in codes and _is_isolated(code, int(counts[index]), rest, rows)
        if sign > 0 and code in codes and -10 < code < 0:
            # A single -1 below numbers from 0 needs no gap, but more rows than its neighbour.
            is_frequent = rest.size >= 4 and counts[index] > max(2, rows[0])
            is_isolated = rest[0] >= 0 and (is_frequent or (code < -1 and is_isolated))
        if not is_isolated:
            return
        yield code, float(rest[0])


def _is_isolated(code: float, rows: int, rest: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether a value below the rest is frequent and too far from the rest to belong to it.

    `rest` is ascending. Far means several times the gaps between its lowest values, and a tenth of the distance to its
    median.
    """
    gap = float(rest[0]) - code
    total = int(counts.sum())
    if rows < 3 or total < 20:
        return False
    typical = rest[counts >= max(1, 1e-4 * total)]
    steps = np.diff(typical[:12])
    step = float(np.median(steps)) if steps.size else 0.0
    middle = float(rest[np.searchsorted(np.cumsum(counts), total / 2)])
    upper_decile = float(rest[np.searchsorted(np.cumsum(counts), 0.9 * total)])
    is_frequent = rows >= min(0.5 * total / max(1, rest.size), 3 + 0.01 * total)  # not a single outlier
    return gap >= 2.9 * step and gap >= 0.1 * (middle - code) and gap >= 0.04 * (upper_decile - code) and is_frequent


@finding(
    "SS111",
    "warning",
    "a scale without its top value, while 0 is frequent",
    "Check data entry: zeros may be both missing values and truncated top values, which cannot be distinguished "
    "afterwards.",
)
def clipped_scale(column: AuditedColumn) -> Iterator[Occurrence]:
    """Answers from 1 to 9 and many zeros: a 10 truncated to 0, mixed with missing answers."""
    values = column.held
    if values.stored != "number" or column.target or not are_integers(values) or column.kind.name == "binary":
        return
    by_value = column.count_of
    if by_value.get(0.0, 0) < 5 or float(values.values[0]) != 0 or column.known < 50:
        return
    top = int(values.values[-1])
    stated = column.stated.levels if column.stated else ()
    stated_levels = {float(level) for level in stated if re.fullmatch(r"\d+", level)}
    inner = np.array([by_value.get(float(value), 0) for value in range(1, top + 1)])
    if stated_levels:
        is_clipped = max(stated_levels) > top and 0.0 not in stated_levels
    else:
        is_count = bool(name_words(column.name) & COUNT_NAMES)  # zeros are valid counts
        is_clipped = top + 1 in (5, 7, 10, 20, 100) and top >= 4 and not is_count
        is_clipped = is_clipped and _is_cut_off(inner) and _is_spike(by_value[0.0], inner)
    if is_clipped:
        full = int(max(stated_levels)) if stated_levels else top + 1
        yield column.seen(
            f"{column.name!r} has values 1 to {top}, never {full}, and 0 in "
            f"{_rows_text(by_value[0.0], column.known)}, as if {full} on a scale from 1 to {full} had been "
            "truncated to 0 and missing answers coded as 0.",
            {"zeros": by_value[0.0], "share": by_value[0.0] / column.known, "top": top, "expected_top": full},
            0,
        )


def _is_cut_off(inner: NDArray[np.int64]) -> bool:
    """Whether all values up to the top occur, and the top ones about as often as the others."""
    covered = np.count_nonzero(inner) >= 0.9 * inner.size
    return bool(covered and inner[-3:].mean() >= 0.25 * inner.mean())


def _is_spike(zeros: int, inner: NDArray[np.int64]) -> bool:
    """Whether 0 is significantly more frequent than its neighbours suggest."""
    near = np.log(np.maximum(inner[:4], 0.5))
    slope, level = np.polyfit(np.arange(1, near.size + 1), near, 1)
    error = np.sqrt(1 / max(1.0, float(inner[:4].mean())) / 5)  # standard error of the slope under Poisson counts
    expected = max(float(inner[:3].mean()), float(np.exp(level)) if slope < -2.5 * error else 0.0, 1.0)
    return zeros >= 1.2 * expected and float(stats.poisson.sf(zeros - 1, expected)) < 1e-3


@finding(
    "SS112", "warning", "a word that means missing", "Read it as a missing value, or keep it as a label on purpose."
)
def missing_value_word(column: AuditedColumn) -> Iterator[Occurrence]:
    held = column.held
    if held.stored != "text" or _is_mixed(column):
        return
    for code, value in enumerate(held.values):
        word = str(value).strip().casefold()
        if word in MISSING_VALUE_TEXTS | UNKNOWN_LABELS:
            rows = int(held.counts[code])
            yield column.seen(
                f"{str(value)!r} in {column.name!r} seems to mean missing: {_rows_text(rows, column.known)}.",
                {"rows": rows, "share": rows / column.known},
                code,
                level="" if word in MISSING_VALUE_TEXTS else "info",
            )


@finding("SS113", "warning", "a probable typing error", "Check it; if unknown, recode it as missing.")
def typing_error(column: AuditedColumn) -> Iterator[Occurrence]:
    """A single value far outside: a 55 on a scale from 1 to 5, or a lost decimal point."""
    values_of_column = column.held
    if (
        values_of_column.stored != "number"
        or not column.kind.ordered
        or column.kind.name == "date"
        or column.known < 30
    ):
        return
    values, counts = values_of_column.values, values_of_column.counts
    for code, rest in ((values_of_column.distinct - 1, values[:-1]), (0, values[1:])):
        value, rows = float(values[code]), int(counts[code])
        if rest.size < 3 or rows > max(2, 0.002 * column.known) or not np.isfinite(value):
            continue
        near = float(rest[-1] if code else rest[0])
        gap, width = abs(value - near), float(rest[-1]) - float(rest[0])
        has_few_values = are_integers(values_of_column) and values_of_column.distinct <= 30
        if has_few_values and gap >= 3 * width:
            digit = _repeated_digit(value, set(rest.tolist()))
            far, words = "far outside: all other values", f", perhaps {digit} typed twice" if digit else ""
        elif not has_few_values and not column.target and gap >= 10 * width:
            far, words = "more than ten times as far out as all other values, which", ""
        else:
            continue
        between = f"between {number_text(float(rest[0]))} and {number_text(float(rest[-1]))}"
        text = f"{number_text(value)} in {column.name!r} is {far} lie {between}{words}."
        yield column.seen(text, {"value": value, "rows": rows, "next": near}, code)


def _repeated_digit(value: float, others: set[float]) -> str:
    text = f"{abs(value):.0f}"
    return text[0] if len(text) == 2 and text[0] == text[1] and float(text[0]) in others else ""


@finding("SS114", "warning", "a placeholder date", "Read it as a missing value.")
def placeholder_date(column: AuditedColumn) -> Iterator[Occurrence]:
    held = column.held
    if held.stored != "date" or held.distinct < 3:
        return
    usual = float(np.median(held.counts))
    for code in {*range(min(3, held.distinct)), *range(max(0, held.distinct - 3), held.distinct)}:
        day, rows = column.text(code), int(held.counts[code])
        if day[:10] in _PLACEHOLDER_DATES and rows >= 2 and rows > 2 * usual:
            text = f"{day} in {column.name!r} ({_rows_text(rows, column.known)}) is a common placeholder for no date."
            yield column.seen(text, {"rows": rows, "share": rows / column.known}, code)


@finding("SS115", "warning", "numbers and text in one column", "Recode the texts, then read the column as numbers.")
def mixed_types(column: AuditedColumn) -> Iterator[Occurrence]:
    if not _is_mixed(column):
        return
    held = column.held
    texts = [code for code, value in enumerate(held.values) if not is_number(str(value))]
    shown = ", ".join(f"{str(held.values[code])!r} ({grouped(int(held.counts[code]))})" for code in texts[:4])
    others = column.known - held.numeric
    levels = held.distinct <= 10 and not any(
        str(held.values[code]).strip().casefold() in MISSING_VALUE_TEXTS for code in texts
    )
    yield column.seen(
        f"{column.name!r} has numbers in {_rows_text(held.numeric, column.known)} and text in the others: "
        f"{shown or f'{grouped(others)} different ones'}.",
        {"rows": others, "share": others / column.known},
        texts[0] if texts else None,
        level="info" if levels else "",  # such as 2, 3, 4, 5more
    )


def _is_mixed(column: AuditedColumn) -> bool:
    held = column.held
    if held.stored != "text" or column.kind.name in ("identifier", "binary"):
        return False
    return held.numeric >= 0.5 * column.known and held.numeric < column.known and held.distinct >= 4


def _rows_text(rows: int, of: int) -> str:
    share = 100 * rows / of if of else 0
    shown = f"{share:.0f}" if share >= 10 else f"{share:.1f}"
    return f"{grouped(rows)} of {grouped(of)} rows ({shown} %)"
