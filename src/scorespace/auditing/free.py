"""The few checks that cost nothing beside an evaluation; the others are what an audit is for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.auditing.words import is_id_name
from scorespace.frames import Sample, columns
from scorespace.results import Note, grouped

_SORTED = 0.95
_MOST_ROWS = 1_000_000
_FEW_AGAIN = 0.05
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
    if codes.size >= 20 and codes.any() and sortedness(codes, nominal=True) >= _SORTED:
        found.append(
            _note("SS102", "the rows are sorted by the truth: folds of neighbouring rows differ in class.", "info")
        )
    if ids is not None:
        names = _codes(ids)
        again = int(names.size - names.max(initial=-1) - 1)
        if 0 < again <= _FEW_AGAIN * names.size:  # where many repeat, they name groups
            rows = "1 row repeats" if again == 1 else f"{grouped(again)} rows repeat"
            found.append(_note("SS142", f"{rows} an identifier: such cases count more than once."))
    if group is not None and fold is not None:
        members = _codes(group)
        if repeat is not None:
            turn = _codes(repeat)
            members = members * (int(turn.max(initial=0)) + 1) + turn
        torn = torn_apart(_codes(fold), members)[2]
        if torn.any():
            found.append(
                _note(
                    "SS167",
                    f"{grouped(int(torn.sum()))} of {grouped(torn.size)} groups were tested in several folds: a case "
                    "was judged by a model that learnt its relatives.",
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
    taken = {column for _, column in roles.columns()}
    # Repeated cross-validation tests every case several times, so its identifiers do repeat.
    id_like = (name for name in sample.source.columns if name not in taken and is_id_name(name) and not roles.repeat)
    named = {"group": roles.group, "fold": roles.fold, "repeat": roles.repeat, "ids": next(id_like, None)}
    found = columns(sample, [roles.truth, *(name for name in named.values() if name)])
    # Numbers may well rise from row to row, as in a series; only classes stand together by design.
    truth = np.zeros(sample.rows, dtype=np.int64) if roles.numbers else found[roles.truth]
    return free_checks(truth, **{role: found[name] for role, name in named.items() if name})


def sortedness(codes: NDArray[np.int64], nominal: bool) -> float:
    """How near the targets of successive rows are to sorted: 1 where they are, about 0 for rows in any order.

    Of numbers: how much more often the next different one lies on the same side than not. Of classes: the share
    of rows that stand where they would if each class stood together, beyond chance.

    >>> sortedness(np.array([0, 0, 1, 1, 2, 5]), nominal=False)
    1.0
    """
    if not nominal:
        steps = np.sign(np.diff(codes))
        moved = int(np.count_nonzero(steps))
        return abs(float(steps.sum())) / moved if moved else 0.0
    present, compact, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    middle = np.bincount(compact, np.arange(codes.size)) / sizes
    order = np.argsort(middle)
    ideal = np.repeat(order, sizes[order])
    chance = float(np.sum((sizes / codes.size) ** 2))
    return (float(np.mean(ideal == compact)) - chance) / (1 - chance) if present.size > 1 else 0.0


def torn_apart(place: ArrayLike, group: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.bool_]]:
    """The number of each row's group, and for each group its rows and whether they are in several places; NaN is none.

    >>> torn_apart([0, 1, 1], [7, 7, 8])[1:]
    (array([2, 1]), array([ True, False]))
    """
    _, inverse, rows = np.unique(group, return_inverse=True, return_counts=True)
    low, high = np.full(rows.size, np.inf), np.full(rows.size, -np.inf)
    places = np.asarray(place, dtype=np.float64)  # of another type than what they are put into, they take ages
    np.fmin.at(low, inverse, places)
    np.fmax.at(high, inverse, places)
    return inverse, rows, high > low


def _codes(values: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = array.astype(str)  # None and text do not compare
    return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _note(code: str, text: str, level: str = "warning") -> Note:
    return Note(code, level, f"{text} {_POINTER}")
