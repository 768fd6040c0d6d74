"""The page of an audit: what was found, what each column is, and a small picture of each."""

from __future__ import annotations

from collections import Counter
from functools import partial

from scorespace.auditing.audit import Audit
from scorespace.auditing.column import Profile
from scorespace.results import grouped, so_many
from scorespace.views.charts.audit import column_chart
from scorespace.views.document import Block, Document, Grid, Notes, Picture, Section, Verdict

_MOST_LINES = 30


def document(audit: Audit) -> Document:
    """The whole page."""
    found: list[Block] = [Verdict(audit.verdict)]
    if audit.findings:
        found.append(Notes(audit.notes))
    shown = tuple(
        (one.code, one.title, ", ".join(one.columns) or "all", ", ".join(grouped(row["row"]) for row in one.examples))
        for one in audit.findings
        if one.examples
    )
    if shown:
        about = "Some rows that show it, counted from 1."
        found.append(Grid(("code", "finding", "columns", "rows"), shown, about, prose=True))
    sections = (
        Section("findings", "Findings", tuple(found), brief=True, short=_brief(audit)),
        Section("columns", "Columns", (_columns(audit.columns),)),
        Section("pictures", "Pictures", tuple(_picture(audit, one) for one in audit.columns)),
    )
    return Document(audit.name, facts(audit), sections)


def _brief(audit: Audit) -> tuple[Block, ...]:
    """The page for a terminal: the columns first, what was found last, where the eye stays.

    Of very many columns, how many there are of each kind, and the target and those with findings.
    """
    blocks: list[Block] = [_columns(audit.columns)]
    if len(audit.columns) > _MOST_LINES:
        kinds = Counter(one.kind for one in audit.columns)
        rows = tuple((kind, str(number)) for kind, number in kinds.most_common())
        blocks = [Grid(("kind", "columns"), rows)]
        blocks += [_columns(tuple(one for one in audit.columns if one.findings or one.target))]
    return (*blocks, *([Notes(audit.notes)] if audit.findings else []), Verdict(audit.verdict))


def facts(audit: Audit) -> str:
    parts = [so_many(audit.size, "row"), so_many(len(audit.columns), "column")]
    return "   ".join([*parts, f"target = {audit.target}"] if audit.target else parts)


def _columns(columns: tuple[Profile, ...]) -> Grid:
    return Grid(
        ("column", "kind", "values", "missing", "evidence"),
        tuple((one.name, _kind(one), _values(one), _missing(one), one.evidence) for one in columns),
        prose=True,
    )


def _kind(one: Profile) -> str:
    kind = f"{one.kind}, {one.spread}" if one.kind in ("interval", "ratio") else one.kind
    return f"{kind} (target)" if one.target else kind


def _values(one: Profile) -> str:
    if one.low and one.distinct > 1:
        return f"{one.low} … {one.middle} … {one.high}"
    return f"{grouped(one.distinct)} different"


def _missing(one: Profile) -> str:
    if not one.missing:
        return "–"
    share = 100 * one.missing / one.rows
    return f"{share:.1f} %" if share >= 0.1 else grouped(one.missing)


def _picture(audit: Audit, one: Profile) -> Picture:
    warned = any(each.level != "info" and one.name in each.columns for each in audit.findings)

    missing = "" if not one.missing else f" {_missing(one)} missing."
    codes = f" {', '.join(dict.fromkeys(one.findings))}." if one.findings else ""
    words = f"{_kind(one).capitalize()}.{missing}{codes}"
    draw = partial(column_chart, one, warned=warned)
    return Picture(draw, f"How the values of {one.name} are distributed.", words, small=True)
