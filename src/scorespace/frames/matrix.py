"""A square matrix of numbers from a small CSV file, with class labels as header and index."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import DataError, listing

_ROWS_ARE_DECISIONS = ("decided", "predicted", "decision", "prediction")


def read_matrix(path: str | Path) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The classes and the matrix, rows actual and columns decided.

    The corner cell may say otherwise: when it begins with `decided` or `predicted`, rows are decisions.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} is not a CSV file.", seen=str(error)) from None
    shape = "a header with the class labels, then one line per class: its label and its numbers"
    if len(lines) < 3:
        raise DataError(f"{str(path)!r} holds no matrix.", seen=f"{len(lines)} lines", hint=shape)
    corner, *columns = lines[0]
    rows = [line[0] for line in lines[1:]]
    if any(len(line) != len(columns) + 1 for line in lines) or len(rows) != len(columns):
        widths = sorted({len(line) - 1 for line in lines[1:]})
        seen = f"{len(rows)} lines of {' or '.join(map(str, widths))} numbers under {len(columns)} labels"
        raise DataError(f"the matrix in {str(path)!r} is not square.", seen=seen, hint=shape)
    if sorted(rows) != sorted(columns) or len(set(rows)) != len(rows):
        raise DataError(
            f"the rows and columns of {str(path)!r} name different classes.",
            seen=f"rows {listing(rows)}; columns {listing(columns)}",
            hint="the same labels in both",
        )
    try:
        cells = np.array([[float(cell) for cell in line[1:]] for line in lines[1:]])
    except ValueError as error:
        raise DataError(f"{str(path)!r} holds something that is not a number.", seen=str(error)) from None
    cells = cells[:, [columns.index(name) for name in rows]]
    return tuple(rows), cells.T if corner.casefold().startswith(_ROWS_ARE_DECISIONS) else cells
