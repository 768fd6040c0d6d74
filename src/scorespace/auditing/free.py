"""The few checks that cost nothing beside an evaluation; the others are what an audit is for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scorespace.auditing import leaks, rows  # noqa: F401 - whose rules declare the codes used here
from scorespace.auditing.association import sortedness
from scorespace.auditing.finding import FINDING_KINDS
from scorespace.auditing.split import folds
from scorespace.frames import Sample, columns
from scorespace.results import Note, grouped

_SORTED = 0.95
_MOST_ROWS = 1_000_000
_POINTER = "`scorespace audit` looks closer."


def free_checks(
    truth: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    group: ArrayLike | None = None,
    fold: ArrayLike | None = None,
    repeat: ArrayLike | None = None,
) -> tuple[Note, ...]:
    """Notes on columns that an evaluation holds anyway: the classes of the truth as whole numbers, in row order.

    Rows sorted by the truth, identifiers that repeat, groups whose cases were tested in several folds. In repeated
    cross-validation each repeat draws its own folds, so that folds are compared within repeats alone.

    >>> [one.code for one in free_checks([0] * 20 + [1] * 20, ids=[*range(39), 0])]
    ['SS102', 'SS142']
    """
    codes = _codes(truth)
    found = []
    if codes.size >= 20 and np.unique(codes).size > 1 and sortedness(codes, nominal=True) >= _SORTED:
        found.append(
            _note("SS102", "the rows are sorted by the truth: folds of neighbouring rows would differ in class.")
        )
    if ids is not None:
        names = _codes(ids)
        again = int(names.size - np.unique(names).size)
        if again:
            found.append(
                _note("SS142", f"{grouped(again)} rows repeat an identifier: their cases count more than once.")
            )
    if group is not None and fold is not None:
        places = _codes(fold).astype(np.int32)
        members = _codes(group)
        if repeat is not None:
            turn = _codes(repeat)
            members = members * (int(turn.max(initial=0)) + 1) + turn
        torn = folds("fold", "group", places, members)
        if torn.spanning:
            found.append(
                _note(
                    "SS167",
                    f"{grouped(torn.spanning)} of {grouped(torn.of)} groups were tested in several folds: a case was "
                    "judged by a model that learnt its relatives.",
                )
            )
    return tuple(found)


def free_notes(sample: Sample) -> tuple[Note, ...]:
    """The same of a checked sample, from the columns that its roles name; not of more than a million rows.

    >>> from scorespace.frames import check, read, roles
    >>> source = read({"y": [0] * 20 + [1] * 20, "nb": [0.5] * 40})
    >>> free_notes(check(source, roles(source, truth="y", scores="nb")))[0].code
    'SS102'
    """
    if sample.rows > _MOST_ROWS:
        return ()
    roles = sample.roles
    named = {"group": roles.group, "fold": roles.fold, "repeat": roles.repeat}
    found = columns(sample, [roles.truth, *(name for name in named.values() if name)])
    return free_checks(found[roles.truth], **{role: found[name] for role, name in named.items() if name})


def _codes(values: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = array.astype(str)  # None and text do not compare
    return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _note(code: str, text: str) -> Note:
    return Note(code, FINDING_KINDS[code].level, f"{text} {_POINTER}")
