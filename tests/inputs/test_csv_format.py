"""The header and the separator of a CSV file, found by ourselves."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.sources import CREDIT, refused, values, write
from scorespace.io import read
from scorespace.io.csv_format import SEPARATORS, detect_dialect

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize(
    "text",
    [
        "outcome,nb\ngood,0.2\nbad,0.7\n",
        "outcome;nb\ngood;0.2\nbad;0.7\n",
        "outcome\tnb\ngood\t0.2\nbad\t0.7\n",
        "outcome,nb\r\ngood,0.2\r\nbad,0.7\r\n",
        '\ufeff"outcome","nb"\n"good","0.2"\n"bad","0.7"',
        "outcome, nb\ngood, 0.2\nbad, 0.7\n",
    ],
)
def test_dialects_of_csv(text: str) -> None:
    assert values(write("credit.csv", text)) == CREDIT


def test_columns_that_merely_look_renamed() -> None:
    assert read(write("fine.csv", "x,x_1\n1,1\n0,0\n")).columns == ("x", "x_1")


@given(
    separator=st.sampled_from(SEPARATORS),
    names=st.lists(st.text("ab,;|\t\"' é#", min_size=1, max_size=5).filter(str.strip), min_size=2, max_size=4),
    rows=st.integers(1, 4),
    end=st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_writer_of_csv_wrote_is_found_again(
    separator: str, names: list[str], rows: int, end: str, own_folder: object
) -> None:
    # Every value quoted, as signs of all kinds stand in the names; the values have no sign that could part them.
    names = [f"{k}{name}" for k, name in enumerate(names)]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([names, *([["1"] * len(names)] * rows)])
    file = detect_dialect(write("any.csv", text.getvalue()), "any.csv")
    assert (file.separator, file.header) == (separator, tuple(name.strip() for name in names))


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a;b\n1,5;2\n", ("a", "b")),  # a decimal comma parts nothing
        ("a|b|c\n1|2|3\n", ("a", "b", "c")),
        ("# no comment,b\n1,2\n", ("# no comment", "b")),
        ("a,,c\n1,2,3\n", ("a", "column1", "c")),
        ('"two\nlines",b\n1,2\n', ("two\nlines", "b")),
        ("one\n1\n", ("one",)),
        ('"x;"\t"y;"\n"1"\t"1"\n', ("x;", "y;")),  # cut by ; it would be one line of two values
        ("a\x00b,c\n1,2\n", ("a␀b", "c")),
        (",".join(f"column_number_{k:06}" for k in range(5000)) + "\n", None),  # longer than what is read at first
    ],
)
def test_the_header_alone_says_what_the_columns_are(text: str, header: tuple[str, ...] | None) -> None:
    found = detect_dialect(write("some.csv", text), "some.csv").header
    assert found == (header or tuple(f"column_number_{k:06}" for k in range(5000)))


def test_a_stated_separator_is_taken() -> None:
    assert detect_dialect(write("some.tsv", "a,b\tc\n1,2\t3\n"), "some.tsv", "\t").header == ("a,b", "c")


def test_heads_that_are_none() -> None:
    assert refused(write("empty.csv", ",,\n1,2,3\n")) == (
        "empty.csv cannot be read as CSV.\n  seen: the first line is empty\n  hint: column names in the first line"
    )
    assert refused(write("wide.csv", "a,b\n1,2\n".encode("utf-16"))) == (
        "wide.csv cannot be read as CSV.\n  seen: text in UTF-16\n  hint: save the file as UTF-8"
    )
