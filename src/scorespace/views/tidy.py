"""Results as data: JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from scorespace.results import Row, plain

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def as_json(content: Any, ascii: bool = False) -> str:
    """Strict JSON: undefined and infinite numbers are null; with `ascii`, all other signs are escaped."""
    text = json.dumps(plain(content), ensure_ascii=ascii, indent=1, allow_nan=False)
    return text if ascii or _is_text(text) else as_json(content, ascii=True)


def as_csv(rows: list[Row], header: Sequence[str] = ()) -> str:
    """The rows with a header; undefined values are empty fields, and no text is a formula to a spreadsheet.

    `header` is that of no rows.

    >>> print(as_csv([{"model": "=1+1", "auc": -0.5}]), end="")
    model,auc
    '=1+1,-0.5
    """
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(header)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_harmless, names))
    for row in plain(rows):
        writer.writerow([_harmless(row.get(name)) for name in names])
    text = out.getvalue()
    return text if _is_text(text) else text.encode("utf-8", "backslashreplace").decode()


def _harmless(value: Any) -> Any:
    """A cell that spreadsheets take for what it is: text that they would compute begins with an apostrophe."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _is_text(text: str) -> bool:
    """Whether a file can hold the text: half a surrogate pair is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
