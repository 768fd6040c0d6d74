"""The header and the separator of a CSV file, found by ourselves."""

from __future__ import annotations

import pytest

from frames.sources import CREDIT, values, write
from scorespace.frames import read

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
