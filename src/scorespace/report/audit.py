"""Data audit: findings, a table of columns, and a small chart of each column."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, Final

from scorespace.audit.audit import Audit
from scorespace.audit.column import ColumnProfile
from scorespace.report.chart_theme import COLOURS, INK, SCHEMA, THEME, datum, field
from scorespace.report.document import Block, Document, Grid, Notes, Picture, Section, Verdict
from scorespace.results import Row, count_noun, grouped

_HEIGHT: Final = 110
_WIDTH: Final = 220
_SMALL_LABELS: Final = {
    **{"labelFlush": True, "labelFontSize": 11, "labelLimit": 90, "labelOverlap": True, "labelPadding": 2}
}
_TITLE: Final = {"anchor": "start", "color": INK, "fontSize": 13, "fontWeight": 600, "limit": 240, "offset": 8}
_CONFIG: Final[Row] = {
    **THEME,
    "axis": {**THEME["axis"], **_SMALL_LABELS, "tickSize": 3, "title": None},
    "title": _TITLE,
}
_ROW_COUNT: Final = {"field": "rows", "type": "quantitative", "axis": {"tickCount": 3, "format": "~s"}}
_ROW_TOOLTIP: Final = field("rows:Q", title="rows", format=",d")


def column_chart(column: ColumnProfile, *, has_warning: bool = False) -> Row:
    """Histogram or bar chart of a column; columns with warnings have another colour."""
    colour = COLOURS[1] if has_warning else COLOURS[0]
    bars = column.bars
    rows = [{"low": datum(bar.low), "high": datum(bar.high), "rows": bar.rows, "label": bar.label} for bar in bars]
    is_numeric = any(bar.high > bar.low for bar in bars)
    return {
        "$schema": SCHEMA,
        "config": _CONFIG,
        "title": {"text": [column.name]},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "bar", "color": colour},
        "encoding": _histogram(column) if is_numeric else _labels(column),
    }


def _histogram(column: ColumnProfile) -> Row:
    scale = {"zero": False, "nice": False}
    axis: dict[str, Any] = {"grid": False, "tickCount": 4}
    if column.kind == "date" and column.high.count("-") > 1:
        axis |= {"labelExpr": "timeFormat(datum.value * 1000, '%Y-%m')"}
    return {
        "x": {"field": "low", "bin": "binned", "type": "quantitative", "scale": scale, "axis": axis},
        "x2": {"field": "high"},
        "y": _ROW_COUNT,
        "tooltip": [field("low:Q", title="from"), field("high:Q", title="to"), _ROW_TOOLTIP],
    }


def _labels(column: ColumnProfile) -> Row:
    label = {"field": "label", "type": "nominal", "sort": None}
    tooltip = [field("label:N", title="value"), _ROW_TOOLTIP]
    if column.low:  # numbers horizontally, labels vertically
        return {"x": {**label, "axis": {"labelAngle": 0}}, "y": _ROW_COUNT, "tooltip": tooltip}
    return {"y": label, "x": _ROW_COUNT, "tooltip": tooltip}


_MAX_COLUMNS_IN_TEXT = 30


def document(audit: Audit) -> Document:
    """Document of an audit."""
    blocks: list[Block] = [Verdict(audit.verdict)]
    if audit.findings:
        blocks.append(Notes(audit.notes))
    examples = tuple(
        (
            finding.code,
            finding.title,
            ", ".join(finding.columns) or "all",
            ", ".join(grouped(row["row"]) for row in finding.examples),
        )
        for finding in audit.findings
        if finding.examples
    )
    if examples:
        caption = "Example rows, counted from 1."
        blocks.append(Grid(("code", "finding", "columns", "rows"), examples, caption, prose=True))
    sections = (
        Section("findings", "Findings", tuple(blocks), brief=True, short=_brief(audit)),
        Section("columns", "Columns", (_columns(audit.columns),)),
        Section("pictures", "Charts", tuple(_picture(audit, column) for column in audit.columns)),
    )
    return Document(audit.name, facts(audit), sections)


def _brief(audit: Audit) -> tuple[Block, ...]:
    """Text version: the columns first, findings and verdict last.

    For very many columns: their number by kind, and those with findings and the target.
    """
    blocks: list[Block] = [_columns(audit.columns)]
    if len(audit.columns) > _MAX_COLUMNS_IN_TEXT:
        kinds = Counter(column.kind for column in audit.columns)
        rows = tuple((kind, str(count)) for kind, count in kinds.most_common())
        blocks = [Grid(("kind", "columns"), rows)]
        blocks += [_columns(tuple(column for column in audit.columns if column.findings or column.target))]
    return (*blocks, *([Notes(audit.notes)] if audit.findings else []), Verdict(audit.verdict))


def facts(audit: Audit) -> str:
    parts = [count_noun(audit.size, "row"), count_noun(len(audit.columns), "column")]
    return "   ".join([*parts, f"target = {audit.target}"] if audit.target else parts)


def _columns(columns: tuple[ColumnProfile, ...]) -> Grid:
    return Grid(
        ("column", "kind", "values", "missing", "evidence"),
        tuple((column.name, _kind(column), _values(column), _missing(column), column.evidence) for column in columns),
        prose=True,
    )


def _kind(column: ColumnProfile) -> str:
    kind = f"{column.kind}, {column.spread}" if column.kind in ("interval", "ratio") else column.kind
    return f"{kind} (target)" if column.target else kind


def _values(column: ColumnProfile) -> str:
    if column.low and column.distinct > 1:
        return f"{column.low} … {column.middle} … {column.high}"
    return f"{grouped(column.distinct)} distinct"


def _missing(column: ColumnProfile) -> str:
    if not column.missing:
        return "–"
    share = 100 * column.missing / column.rows
    return f"{share:.1f} %" if share >= 0.1 else grouped(column.missing)


def _picture(audit: Audit, column: ColumnProfile) -> Picture:
    has_warning = any(finding.level != "info" and column.name in finding.columns for finding in audit.findings)

    missing = "" if not column.missing else f" {_missing(column)} missing."
    codes = f" {', '.join(dict.fromkeys(column.findings))}." if column.findings else ""
    caption = f"{_kind(column).capitalize()}.{missing}{codes}"
    draw = partial(column_chart, column, has_warning=has_warning)
    return Picture(draw, f"Distribution of {column.name}.", caption, small=True)
