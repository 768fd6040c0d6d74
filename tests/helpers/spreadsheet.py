"""Write small .xlsx files, cell by cell: numbers, texts, booleans, dates (days since 1899-12-30) and formulas."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZipFile

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class Day(int):
    """A date as a spreadsheet stores it."""


class Formula(str):
    """A formula with the value that was saved: "A1+1=2"."""


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Formula):
        formula, _, saved = value.rpartition("=")
        return f'<c r="{place}"><f>{escape(formula)}</f><v>{saved}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, Day):
        return f'<c r="{place}" s="1"><v>{int(value)}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def write_xlsx(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Write sheets by name, each a list of rows; an empty row has no cells."""
    names = "".join(f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(sheets, 1))
    relations = "".join(
        f'<Relationship Id="r{k}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(sheets) + 1)
    )
    with ZipFile(path, "w") as book:
        start = f'<Relationship Id="b" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        book.writestr("_rels/.rels", f'<Relationships xmlns="{_RELATIONS}">{start}</Relationships>')
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>'
        )
        styles = f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_RELATIONS}">{relations}{styles}</Relationships>'
        )
        book.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{_MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        )
        for k, rows in enumerate(sheets.values(), 1):
            lines = "".join(
                f'<row r="{r}">{"".join(_cell(f"{chr(65 + c)}{r}", value) for c, value in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            book.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'
            )
    return path
