"""Checks that an evaluation can run at no extra cost; the others belong to the audit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorespace.audit.vocabulary import is_id_name
from scorespace.io import Sample, fetch_columns
from scorespace.results import Note, grouped

_SORTED_THRESHOLD = 0.95
_MAX_ROWS = 1_000_000
_MAX_REPEATED_SHARE = 0.05
_AUDIT_HINT = "Details: `scorespace audit`."


def check_arrays(
    truth: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    group: ArrayLike | None = None,
    fold: ArrayLike | None = None,
    repeat: ArrayLike | None = None,
) -> tuple[Note, ...]:
    """Notes from columns that an evaluation has in memory, in row order.

    Checks rows sorted by the truth, repeated identifiers, and groups tested in several folds. In repeated
    cross-validation folds are compared within repeats.

    >>> [note.code for note in check_arrays([0] * 20 + [1] * 20, ids=[*range(39), 0])]
    ['SS102', 'SS142']
    """
    codes = _encode(truth)
    notes = []
    if codes.size >= 20 and codes.any() and sortedness(codes, nominal=True) >= _SORTED_THRESHOLD:
        notes.append(
            _note("SS102", "the rows are sorted by the truth, so folds of contiguous rows differ in class.", "info")
        )
    if ids is not None:
        names = _encode(ids)
        n_repeated = int(names.size - names.max(initial=-1) - 1)
        if 0 < n_repeated <= _MAX_REPEATED_SHARE * names.size:  # many repeats mean groups
            rows = "1 row repeats" if n_repeated == 1 else f"{grouped(n_repeated)} rows repeat"
            notes.append(_note("SS142", f"{rows} an identifier, so such cases count more than once."))
    if group is not None and fold is not None:
        members = _encode(group)
        if repeat is not None:
            repeat_codes = _encode(repeat)
            members = members * (int(repeat_codes.max(initial=0)) + 1) + repeat_codes
        is_split = find_split_groups(_encode(fold), members)[2]
        if is_split.any():
            notes.append(
                _note(
                    "SS167",
                    f"{grouped(int(is_split.sum()))} of {grouped(is_split.size)} groups were tested in several folds, "
                    "so cases were tested by models trained on related cases.",
                )
            )
    return tuple(notes)


def check_sample(sample: Sample) -> tuple[Note, ...]:
    """The same for a checked sample of at most a million rows.

    >>> from scorespace.io import read, resolve_roles, validate
    >>> source = read({"y": [0] * 20 + [1] * 20, "nb": [0.5] * 40})
    >>> check_sample(validate(source, resolve_roles(source, truth="y", scores="nb")))[0].code
    'SS102'
    """
    if sample.rows > _MAX_ROWS:
        return ()
    roles = sample.roles
    used = {column for _, column in roles.columns()}
    # In repeated cross-validation identifiers repeat by design.
    id_like = (name for name in sample.source.columns if name not in used and is_id_name(name) and not roles.repeat)
    named = {"group": roles.group, "fold": roles.fold, "repeat": roles.repeat, "ids": next(id_like, None)}
    columns = [name for name in (roles.truth, *named.values()) if name]
    arrays = fetch_columns(sample, columns) if columns else {}
    # Numeric targets may rise along the rows, as in time series, so only classes are checked.
    truth = np.zeros(sample.rows, dtype=np.int64) if roles.numbers else arrays[roles.truth]
    return check_arrays(truth, **{role: arrays[name] for role, name in named.items() if name})


def sortedness(codes: NDArray[np.int64], nominal: bool) -> float:
    """How near the target is to sorted along the rows: 1 if sorted, about 0 in random order.

    For numbers: excess of rises over falls between successive different values. For classes: chance-corrected share of
    rows in the position they would have if each class were contiguous.

    >>> sortedness(np.array([0, 0, 1, 1, 2, 5]), nominal=False)
    1.0
    """
    if not nominal:
        steps = np.sign(np.diff(codes))
        n_changes = int(np.count_nonzero(steps))
        return abs(float(steps.sum())) / n_changes if n_changes else 0.0
    present, compact, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    mean_position = np.bincount(compact, np.arange(codes.size)) / sizes
    order = np.argsort(mean_position)
    contiguous = np.repeat(order, sizes[order])
    chance = float(np.sum((sizes / codes.size) ** 2))
    return (float(np.mean(contiguous == compact)) - chance) / (1 - chance) if present.size > 1 else 0.0


def find_split_groups(
    place: ArrayLike, group: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.bool_]]:
    """Group index of each row, and for each group its number of rows and whether they are in several places.

    >>> find_split_groups([0, 1, 1], [7, 7, 8])[1:]
    (array([2, 1]), array([ True, False]))
    """
    _, inverse, rows = np.unique(group, return_inverse=True, return_counts=True)
    low, high = np.full(rows.size, np.inf), np.full(rows.size, -np.inf)
    places = np.asarray(place, dtype=np.float64)  # fmin.at is slow for mixed types
    np.fmin.at(low, inverse, places)
    np.fmax.at(high, inverse, places)
    return inverse, rows, high > low


def _encode(values: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = array.astype(str)  # None and text cannot be sorted
    return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _note(code: str, text: str, level: str = "warning") -> Note:
    return Note(code, level, f"{text} {_AUDIT_HINT}")
