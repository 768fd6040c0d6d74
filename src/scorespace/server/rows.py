"""The rows behind a number: which ones an address requests, and how they are shown and exported."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scorespace.errors import DataError
from scorespace.io.drilldown import RowRequest, SelectedRows, list_models, select_rows
from scorespace.report.serialize import escape_formula
from scorespace.server.request import PageRequest
from scorespace.tables.labels import label_text
from scorespace.tables.threshold import threshold_text

PAGE: Final = 50
"""Rows on a page of the side panel."""

NAMES: Final = ("model", "cell", "threshold", "actual", "decided", "lead", "low", "high", "hard", "slice")
_CELLS: Final = {"tp": "True positives", "fp": "False positives", "fn": "False negatives", "tn": "True negatives"}
_WIDEST: Final = 120  # characters of a value that are shown


class RowsView(NamedTuple):
    """The rows behind a number, with their title and the models to choose from."""

    title: str
    models: list[str]
    wanted: RowRequest
    found: SelectedRows


def find_rows(path: str, request: PageRequest, query: Mapping[str, str]) -> RowsView:
    """Select the rows that an address requests: cell, range of scores, slice, hard cases; searched and sorted."""
    if not request.complete or request.every("rater"):
        raise DataError("there is no model whose rows could be shown.", hint="choose the columns of a model")
    if query.get("slice"):  # a condition like those of the filter
        request = request.with_values(where=[*request.every("where"), query["slice"]])
    roles = request.roles()
    models = list_models(path, roles)
    wanted = _wanted(query, models[0])
    found = select_rows(path, roles, wanted, request.one("missing") or "error")
    search, sort = query.get("search", "").strip(), query.get("sort", "")
    if search or sort:
        found = found.refined(search, sort, bool(query.get("descending")))
    title = _title(wanted) + (f", {query['slice']}" if query.get("slice") else "")
    return RowsView(title, models, wanted, found)


def as_csv(found: SelectedRows) -> Iterator[bytes]:
    """All rows as CSV, in chunks; no text becomes a formula of a spreadsheet."""
    yield _csv([("row", *found.columns)])
    for piece in found.pieces():
        yield _csv(piece)


def cell_text(value: Any) -> str:
    """A value for people, shortened."""
    text = "–" if value is None else str(_plain(value))
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def _csv(rows: Sequence[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[escape_formula(_plain(one)) for one in row] for row in rows])
    return out.getvalue().encode(errors="replace")


def _plain(value: Any) -> Any:
    return label_text(value) if isinstance(value, float) and math.isfinite(value) else value


def _wanted(query: Mapping[str, str], model: str) -> RowRequest:
    threshold, lead, low, high = (_number(name, query.get(name, "")) for name in ("threshold", "lead", "low", "high"))
    actual, decided = (query.get(name) or None for name in ("actual", "decided"))
    chosen, hard = query.get("model") or model, bool(query.get("hard"))
    return RowRequest(chosen, query.get("cell", ""), threshold, actual, decided, lead, low, high, hard)


def _number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DataError(f"“{name}” {text!r} is no number.", hint="a number such as 0.5")
    return number


def _title(wanted: RowRequest) -> str:
    """Which rows these are.

    >>> _title(RowRequest("nb", "fp", 0.5)), _title(RowRequest("nb", low=0.2))
    ('False positives of nb at 0.5', 'Rows by nb, scores from 0.2')
    """
    at = "" if wanted.threshold is None else f" at {threshold_text(wanted.threshold)}"
    if wanted.hard:
        return f"Hard cases of {wanted.model}{at}"
    if wanted.cell:
        return f"{_CELLS.get(wanted.cell, 'Rows')} of {wanted.model}{at}"
    if wanted.actual is not None and wanted.decided is not None:
        ahead = "" if wanted.lead is None else f", ahead by {wanted.lead:.6g} or more"
        return f"{wanted.actual} classified as {wanted.decided} by {wanted.model}{ahead}"
    ends = [f" {word} {end:g}" for word, end in (("from", wanted.low), ("to", wanted.high)) if end is not None]
    return f"Rows by {wanted.model}" + (f", scores{''.join(ends)}" if ends else "")
