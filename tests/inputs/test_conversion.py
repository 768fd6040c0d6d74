"""Spreadsheets, text separated by blanks, Windows-1252 and files without a header."""

from pathlib import Path

import pytest
from tests.helpers.spreadsheet import Day, Formula, write_xlsx

import scorespace as ss
from scorespace.errors import DataError
from scorespace.io.conversion import reading
from scorespace.io.csv_format import _looks_like_data
from scorespace.io.read import read


def rows(path):
    source = read(path)
    arrays = source.arrays(source.frame)
    source.accounts_for(len(next(iter(arrays.values()))))
    return {name: values.tolist() for name, values in arrays.items()}


SHEETS = {
    "notes": [["made by", "hand"], ["in", 2026]],
    "loans": [
        [],
        ["id", "outcome", "seen", "score", None, "ok"],
        [1, "bad", Day(45658), 0.25, None, True],
        [],
        [2, "good, paid", Day(45659), Formula("D3/2=0.125"), None, False],
    ],
    "empty": [],
}


@pytest.mark.parametrize("sheet", ["loans", "2"])
def test_a_sheet_by_name_or_number(tmp_path, sheet):
    path = write_xlsx(tmp_path / "book.xlsx", SHEETS)
    with reading(sheet=sheet):
        assert rows(path) == {
            "id": [1.0, 2.0],
            "outcome": ["bad", "good, paid"],
            "seen": ["2025-01-01", "2025-01-02"],
            "score": [0.25, 0.125],
            "ok": ["true", "false"],
        }
        assert read(path).notes == ()


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    path = write_xlsx(tmp_path / "book.xlsx", SHEETS)
    assert rows(path) == {"made by": ["in"], "hand": [2026.0]}
    (said,) = read(path).notes
    assert said.code == "SS101"
    for name in SHEETS:
        assert repr(name) in said.text


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        ("lones", ("no sheet 'lones'", "notes", "loans", "empty", "did you mean loans?")),
        ("4", ("no sheet '4'",)),
        ("0", ("no sheet '0'",)),
        ("empty", ("is empty", "loans")),
    ],
)
def test_sheets_that_are_refused(tmp_path, sheet, words):
    path = write_xlsx(tmp_path / "book.xlsx", SHEETS)
    with reading(sheet=sheet), pytest.raises(DataError) as refused:
        read(path)
    for word in words:
        assert word in str(refused.value)


def test_a_damaged_spreadsheet(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"y,s\n1,2\n")
    with pytest.raises(DataError, match="cannot be read as a spreadsheet"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        "y s\nyes 0.9\nno 0.2\n",
        "  y   s \n yes\t0.9\n\n no   0.2",
        '"y" "s"\n"1" "yes" 0.9\n"2" "no" 0.2\n',  # R: write.table(frame)
        "y,s\nyes,0.9\nno,0.2\n",
        "y\ts\nyes\t0.9\nno\t0.2\n",
    ],
)
def test_text_files(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    found = rows(path)
    found.pop("row", None)
    assert found == {"y": ["yes", "no"], "s": [0.9, 0.2]}


def test_quoted_blanks_stay(tmp_path):
    (tmp_path / "a.txt").write_text('y s\n"very bad" 0.9\ngood 0.2\n')
    assert rows(tmp_path / "a.txt")["y"] == ["very bad", "good"]


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "y;s\njä;0,9\nfür 5 €;0,2\n"), ("a.txt", 'y s\njä 0.9\n"für 5 €" 0.2\n')]
)
def test_windows_text_is_recognised(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode("cp1252"))
    assert rows(tmp_path / name) == {"y": ["jä", "für 5 €"], "s": [0.9, 0.2]}
    (said,) = read(tmp_path / name).notes
    assert (said.code, "Windows-1252" in said.text, "'jä'" in said.text) == ("SS101", True, True)


def test_utf8_has_no_note(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\njä,0.9\n", "utf-8-sig")
    assert (rows(tmp_path / "a.csv"), read(tmp_path / "a.csv").notes) == ({"y": ["jä"], "s": [0.9]}, ())


@pytest.mark.parametrize("content", ["y\njä\n".encode() + b"f\xfcr\n", b"y\nf\xfcr\n\x81\n"])
def test_text_that_would_be_garbled_is_refused(tmp_path, content):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="save the file as UTF-8"):
        read(tmp_path / "a.csv")


def test_temporary_copies_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = write_xlsx(tmp_path / "book.xlsx", SHEETS)
    source = read(path)
    assert len(list(tmp_path.glob(".scorespace-*.csv"))) == 1
    del source
    with reading(sheet="no"), pytest.raises(DataError):
        read(path)
    assert not list(Path(tmp_path).glob(".scorespace-*.csv"))


# --- no header


@pytest.mark.parametrize("text", ["1,0.9\n0,0.2\n", "1 0.9\n0 0.2\n"])
def test_columns_without_names(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(DataError, match="looks like data") as refused:
        read(path)
    assert "header=False" in str(refused.value)
    with reading(header=False):
        assert rows(path) == {"column_1": [1.0, 0.0], "column_2": [0.9, 0.2]}


@pytest.mark.parametrize(
    ("first", "others", "data"),
    [
        ("ill 0.7", ["well 0.2"], True),
        ("0 0.7 0.9", [], True),
        ("ill 3 4", ["well 3 1", "ill 1 4"], True),
        ("y score", ["0 0.7"], False),
        ("y 0 1 2", ["0 0.7 0.2 0.1"], False),  # classes
        ("2019 2020 2021", ["1 2 3"], False),  # years
        ("y 400.5 401 401.5 402 402.5", ["1 2 3 4 5 6"], False),  # wavelengths
        ("a b", ["x y", "b a"], False),
        ("0.7", ["0.2"], True),
        ("y", ["y"], False),
    ],
)
def test_a_first_line_that_looks_like_data(first, others, data):
    assert _looks_like_data(first.split(), [line.split() for line in others]) is data


def test_sheet_and_header_in_python(tmp_path):
    asked = {"truth": "outcome", "positive": "bad", "scores": "score"}
    book = write_xlsx(tmp_path / "book.xlsx", SHEETS)
    assert ss.evaluate(book, **asked, settings={"sheet": "loans"}).measures("auc")[0].value == 1
    with pytest.raises(DataError, match='sheet="notes"'):
        ss.evaluate(book, **asked, settings={"sheet": "wrong"})
    (tmp_path / "bare.csv").write_text("1,0.9\n0,0.2\n")
    bare = ss.evaluate(tmp_path / "bare.csv", truth="column_1", scores="column_2", settings={"header": False})
    assert bare.measures("auc")[0].value == 1
