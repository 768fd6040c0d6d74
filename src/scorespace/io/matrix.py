"""Read a square matrix from a CSV file with class labels as header and index, or from one line of text."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing

_PREDICTED_WORDS: Final = ("decided", "predicted", "decision", "prediction")
_ACTUAL_WORDS: Final = ("actual", "truth", "true", "observed", "real")
_SIDE_WORD: Final = re.compile(rf"({'|'.join((*_PREDICTED_WORDS, *_ACTUAL_WORDS))})(?:[\s_:=]+|$)", re.IGNORECASE)

Rows = Literal["actual", "predicted"]
"""What the rows of a matrix are."""


class LabelledMatrix(NamedTuple):
    """Classes, cells with actual classes in rows and predicted ones in columns, and the original orientation."""

    classes: tuple[str, ...]
    cells: NDArray[np.float64]
    rows: Rows


DEFAULT_CLASSES: Final = ("positive", "negative")
"""Classes of an unlabelled 2 × 2 matrix, the positive one first."""


def parse_matrix(text: str, rows: Rows | None = None) -> LabelledMatrix:
    """Parse a line such as `300 200; 500 99000`, the positive class first.

    >>> parse_matrix("300 200; 500 99000")[1].tolist(), parse_matrix("300 500; 200 99000", "predicted")[1].tolist()
    ([[300.0, 200.0], [500.0, 99000.0]], [[300.0, 200.0], [500.0, 99000.0]])
    """
    shape = '"TP FN; FP TN": numbers separated by spaces, rows by semicolons'
    lines = [re.split(r"[\s,]+", line.strip()) for line in text.strip().strip(";").split(";")]
    if any(len(line) != len(lines) for line in lines) or len(lines) < 2:
        widths = sorted({len(line) for line in lines})
        seen = f"{len(lines)} rows of {' or '.join(map(str, widths))} numbers"
        raise DataError(f"the matrix {text!r} is not square.", seen=seen, hint=shape)
    try:
        cells = np.array([[float(cell) for cell in line] for line in lines])
    except ValueError as error:
        problem = f"the matrix {text!r} has a cell that is not a number."
        raise DataError(problem, seen=str(error), hint=shape) from None
    classes = DEFAULT_CLASSES if len(lines) == 2 else tuple(str(index + 1) for index in range(len(lines)))
    return _orient(classes, cells, rows)


def read_matrix(path: str | Path, rows: Rows | None = None) -> LabelledMatrix:
    """Read the classes and the matrix, with actual classes in rows.

    The file may state that its rows are predictions, in the corner cell or in the labels (`predicted yes` below
    `actual yes`). This must not contradict `rows`.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            header = file.readline()
            separator = max(",;\t", key=header.count)
            rest = csv.reader([header, *file], delimiter=separator)
            lines = [[cell.strip() for cell in line] for line in rest if any(cell.strip() for cell in line)]
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}.", hint="check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} is not a CSV file.", seen=str(error), hint="save it as CSV in UTF-8") from None
    shape = "a header with the class labels, then one line per class with its label and numbers"
    if len(lines) < 3:
        raise DataError(f"{str(path)!r} holds no matrix.", seen=f"{len(lines)} lines", hint=shape)
    corner, *columns = lines[0]
    names = [line[0] for line in lines[1:]]
    stated, columns, names = _detect_orientation(corner, columns, names)
    if rows is not None and stated is not None and stated != rows:
        raise DataError(
            f"{str(path)!r} states that its rows are {stated}, not {rows}.",
            seen=f"the header {listing(lines[0])}; the first column {listing([line[0] for line in lines[1:]])}",
            hint=f'rows="{stated}", or change the labels',
        )
    if any(len(line) != len(columns) + 1 for line in lines) or len(names) != len(columns):
        widths = sorted({len(line) - 1 for line in lines[1:]})
        seen = f"{len(names)} lines of {' or '.join(map(str, widths))} numbers under {len(columns)} labels"
        raise DataError(f"the matrix in {str(path)!r} is not square.", seen=seen, hint=shape)
    if sorted(names) != sorted(columns) or len(set(names)) != len(names):
        raise DataError(
            f"the rows and columns of {str(path)!r} name different classes.",
            seen=f"rows {listing(names)}; columns {listing(columns)}",
            hint="use the same labels in both",
        )
    try:
        cells = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    except ValueError as error:
        raise DataError(
            f"{str(path)!r} has a cell that is not a number.",
            seen=str(error),
            hint="a number in every cell below the header",
        ) from None
    cells = cells[:, [columns.index(name) for name in names]]
    return _orient(tuple(names), cells, rows or stated)


def _orient(classes: tuple[str, ...], cells: NDArray[np.float64], rows: Rows | None) -> LabelledMatrix:
    """Return the matrix with actual classes in rows; without a statement they are there already."""
    return LabelledMatrix(classes, cells.T if rows == "predicted" else cells, rows or "actual")


def _detect_orientation(corner: str, columns: list[str], names: list[str]) -> tuple[Rows | None, list[str], list[str]]:
    """Detect what the rows are from the words in labels or corner, and strip these words from the labels.

    >>> _detect_orientation("", ["actual yes", "actual no"], ["predicted yes", "predicted no"])
    ('predicted', ['yes', 'no'], ['yes', 'no'])
    """
    votes = []
    for labels, are_rows in ((names, True), (columns, False)):
        matches = [_SIDE_WORD.match(label) for label in labels]
        are_predicted = {match[1].casefold() in _PREDICTED_WORDS for match in matches if match}
        if (
            all(matches)
            and len(are_predicted) == 1
            and all(match and match.end() < len(match.string) for match in matches)
        ):
            labels[:] = [label[match.end() :] for label, match in zip(labels, matches, strict=True) if match]
            votes.append(are_predicted.pop() == are_rows)
    if votes and len(set(votes)) == 1:
        return "predicted" if votes[0] else "actual", columns, names
    match = _SIDE_WORD.match(corner)
    if match is None:
        return None, columns, names
    return "predicted" if match[1].casefold() in _PREDICTED_WORDS else "actual", columns, names
