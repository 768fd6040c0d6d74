"""A square matrix of numbers, from a small CSV file with class labels as header and index, or typed in one line."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing

_DECIDED: Final = ("decided", "predicted", "decision", "prediction")
_ACTUAL: Final = ("actual", "truth", "true", "observed", "real")
_SIDE: Final = re.compile(rf"({'|'.join((*_DECIDED, *_ACTUAL))})(?:[\s_:=]+|$)", re.IGNORECASE)

Rows = Literal["actual", "predicted"]
"""What the rows of a matrix are."""


class Matrix(NamedTuple):
    """The classes, the cells with rows actual and columns decided, and what the rows were where it was read."""

    classes: tuple[str, ...]
    cells: NDArray[np.float64]
    rows: Rows


UNNAMED: Final = ("positive", "negative")
"""The classes of a matrix of two that names none: the positive one comes first."""


def read_inline(text: str, rows: Rows | None = None) -> Matrix:
    """The classes and the matrix of a line such as `300 200; 500 99000`, the positive class first.

    >>> read_inline("300 200; 500 99000")[1].tolist(), read_inline("300 500; 200 99000", "predicted")[1].tolist()
    ([[300.0, 200.0], [500.0, 99000.0]], [[300.0, 200.0], [500.0, 99000.0]])
    """
    shape = '"TP FN; FP TN": a row for each class, numbers with blanks between, rows with semicolons'
    lines = [re.split(r"[\s,]+", line.strip()) for line in text.strip().strip(";").split(";")]
    if any(len(line) != len(lines) for line in lines) or len(lines) < 2:
        widths = sorted({len(line) for line in lines})
        seen = f"{len(lines)} rows of {' or '.join(map(str, widths))} numbers"
        raise DataError(f"the matrix {text!r} is not square.", seen=seen, hint=shape)
    try:
        cells = np.array([[float(cell) for cell in line] for line in lines])
    except ValueError as error:
        problem = f"the matrix {text!r} holds something that is not a number."
        raise DataError(problem, seen=str(error), hint=shape) from None
    classes = UNNAMED if len(lines) == 2 else tuple(str(place + 1) for place in range(len(lines)))
    return _oriented(classes, cells, rows)


def read_matrix(path: str | Path, rows: Rows | None = None) -> Matrix:
    """The classes and the matrix, rows actual and columns decided.

    The file may say that its rows are decisions: in the corner cell, or in the labels themselves (`predicted yes`
    below `actual yes`). What it says must not contradict `rows`.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}.", hint="check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} is not a CSV file.", seen=str(error), hint="save it as CSV in UTF-8") from None
    shape = "a header with the class labels, then one line per class: its label and its numbers"
    if len(lines) < 3:
        raise DataError(f"{str(path)!r} holds no matrix.", seen=f"{len(lines)} lines", hint=shape)
    corner, *columns = lines[0]
    names = [line[0] for line in lines[1:]]
    told, columns, names = _told(corner, columns, names)
    if rows is not None and told is not None and told != rows:
        raise DataError(
            f"{str(path)!r} says that its rows are {told}, and not {rows}.",
            seen=f"the header {listing(lines[0])}; the first column {listing([line[0] for line in lines[1:]])}",
            hint=f'rows="{told}", or other labels',
        )
    if any(len(line) != len(columns) + 1 for line in lines) or len(names) != len(columns):
        widths = sorted({len(line) - 1 for line in lines[1:]})
        seen = f"{len(names)} lines of {' or '.join(map(str, widths))} numbers under {len(columns)} labels"
        raise DataError(f"the matrix in {str(path)!r} is not square.", seen=seen, hint=shape)
    if sorted(names) != sorted(columns) or len(set(names)) != len(names):
        raise DataError(
            f"the rows and columns of {str(path)!r} name different classes.",
            seen=f"rows {listing(names)}; columns {listing(columns)}",
            hint="the same labels in both",
        )
    try:
        cells = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    except ValueError as error:
        raise DataError(
            f"{str(path)!r} holds something that is not a number.",
            seen=str(error),
            hint="a number in every cell below the header",
        ) from None
    cells = cells[:, [columns.index(name) for name in names]]
    return _oriented(tuple(names), cells, rows or told)


def _oriented(classes: tuple[str, ...], cells: NDArray[np.float64], rows: Rows | None) -> Matrix:
    """The matrix with rows actual; what nothing is said of has them already."""
    return Matrix(classes, cells.T if rows == "predicted" else cells, rows or "actual")


def _told(corner: str, columns: list[str], names: list[str]) -> tuple[Rows | None, list[str], list[str]]:
    """What a file says its rows are, if anything, and the labels without such words.

    >>> _told("", ["actual yes", "actual no"], ["predicted yes", "predicted no"])
    ('predicted', ['yes', 'no'], ['yes', 'no'])
    """
    sides = []
    for labels, ours in ((names, True), (columns, False)):
        found = [_SIDE.match(label) for label in labels]
        words = {match[1].casefold() in _DECIDED for match in found if match}
        if all(found) and len(words) == 1 and all(match and match.end() < len(match.string) for match in found):
            labels[:] = [label[match.end() :] for label, match in zip(labels, found, strict=True) if match]
            sides.append(words.pop() == ours)
    if sides and len(set(sides)) == 1:
        return "predicted" if sides[0] else "actual", columns, names
    match = _SIDE.match(corner)
    if match is None:
        return None, columns, names
    return "predicted" if match[1].casefold() in _DECIDED else "actual", columns, names
