"""Results as data: JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from scorespace.results import Row, plain


def as_json(content: Any) -> str:
    """Strict JSON: undefined and infinite numbers are null."""
    return json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False)


def as_csv(rows: list[Row]) -> str:
    """The rows with a header; undefined values are empty fields."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(plain(rows))
    return out.getvalue()
