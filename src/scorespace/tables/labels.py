"""Class labels: any kind of values in, whole-number codes and class names out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, PositiveError, did_you_mean, listing, nearest
from scorespace.results import grouped, so_many

# The only label sets from which the positive class is inferred; one of two classes may be absent.
_INFERRED = {("0", "1"): "1", ("-1", "1"): "1", ("False", "True"): "True", ("1",): "1", ("True",): "True"}


def label_text(value: Any) -> str:
    """The name of a class: whole floats lose their point, everything else is its text.

    >>> label_text(1.0), label_text(np.True_), label_text("bad")
    ('1', 'True', 'bad')
    """
    if isinstance(value, (float, np.floating, Decimal)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def bare(of: str) -> str:
    """The class that is meant: one named like an average is written in quotes, macro is the mean and "macro" the class.

    >>> bare('"macro"'), bare("bad")
    ('macro', 'bad')
    """
    return of[1:-1] if len(of) > 2 and of[0] == of[-1] == '"' else of


def is_plain_code(name: str | None) -> bool:
    """Whether a class is named by a number or a boolean, which read badly in a sentence."""
    return name is None or name in ("True", "False") or natural_order(name)[0] == 0


def natural_order(name: str) -> tuple[int, float, str]:
    """Numbers in numeric order before words in theirs, in which numbers count as such.

    >>> sorted(["class 10", "class 2", "10", "9"], key=natural_order)
    ['9', '10', 'class 2', 'class 10']
    """
    try:
        number = float(name)
    except ValueError:
        number = float("nan")
    if number == number:
        return 0, number, name
    return 1, 0.0, re.sub("[0-9]+", lambda digits: digits.group().zfill(20), name) + f"\0{name}"


def places_in(order: Sequence[Any], classes: Sequence[str]) -> dict[str, int]:
    """The place of each class in a stated order from the lowest to the highest; refused where one is not in it.

    >>> places_in(["low", "high"], ("high", "low"))
    {'low': 0, 'high': 1}
    """
    names = tuple(map(label_text, order))
    if len(set(names)) != len(names):
        raise DataError("the order names a class twice.", seen=listing(names), hint="each class once")
    for name in classes:
        if name not in names:
            raise DataError(
                f"the class {name!r} is not in the order.",
                seen=f"the order {listing(names)}; classes {listing(classes)}",
                hint=did_you_mean(name, names, "every class, from the lowest to the highest", quoted=True),
            )
    return {name: place for place, name in enumerate(names)}


def at_least(of: str | None, classes: Sequence[str], ordinal: bool) -> int | None:
    """The place of the class in `>=class`, which stands for it and all above it; None for all else.

    >>> at_least(">=medium", ("low", "medium", "high"), True), at_least("medium", ("low", "medium", "high"), True)
    (1, None)
    """
    if of is None or of in classes or not of.startswith((">=", "≥")):
        return None
    name = of.removeprefix(">=").removeprefix("≥").strip()
    if name not in classes[1:]:
        return None
    check_order(classes, ordinal)
    return classes.index(name)


def check_order(classes: Sequence[str], ordinal: bool) -> None:
    """Refuse classes that have no order: neither is one stated, nor are they numbers."""
    if not ordinal and not all(map(is_plain_code, classes)):
        raise DataError(
            "distances between classes need their order.",
            seen=f"classes {listing(classes)}",
            hint=f'order="{",".join(classes)}", from the lowest to the highest',
        )


def distances(classes: Sequence[str], ordinal: bool) -> NDArray[np.int64]:
    """How many steps each two classes are apart, where they have an order.

    >>> distances(("1", "2", "3"), False).tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    check_order(classes, ordinal)
    place = np.arange(len(classes))
    return np.abs(place[:, None] - place)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and the missing marks of the frame libraries."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def array_of(values: Any) -> NDArray[Any]:
    """The values as an array: what a masked one hides is missing, and one column (cases, 1) is a column.

    >>> array_of([[1], [0]]).tolist(), array_of(np.ma.array([1, 0], mask=[True, False])).tolist()
    ([1, 0], [None, 0])
    """
    array = np.asarray(values)
    hidden = getattr(values, "mask", False) if isinstance(values, np.ndarray) else False
    if np.any(hidden):
        array = array.astype(object)
        array[hidden] = None
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def encode_classes(values: Any, what: str = "truth") -> tuple[NDArray[Any], tuple[str, ...]]:
    """The same as `encode` of a column of classes: what looks like numbers is refused, as in files.

    >>> encode_classes([0.9, 0.2], "decision")
    Traceback (most recent call last):
    scorespace.errors.ColumnError: decision looks like a number, not a class.
      seen: values such as 0.2, 0.9
      hint: score=… for numbers
    """
    try:
        array = array_of(values)
    except ValueError:  # rows of different lengths
        raise _no_labels(what) from None
    codes, names = encode(array, what)
    if array.dtype.kind in "fc":
        _refuse_numbers([array.dtype.type(name) for name in names], what)
    elif array.dtype == object:
        _refuse_numbers(array[np.unique(codes, return_index=True)[1]].tolist(), what)
    return codes, names


def _refuse_numbers(distinct: list[Any], what: str) -> None:
    """Refuse classes that are infinite, fractions or complex: one value of each class is looked at."""
    numbers = [one for one in distinct if isinstance(one, (float, complex, np.inexact))]
    for held, found in (
        ("complex numbers", [one for one in numbers if isinstance(one, (complex, np.complexfloating))]),
        ("infinite values", [one for one in numbers if not np.isfinite(one)]),
    ):
        if found:
            raise ColumnError(f"{what} holds {held}, not classes.", seen=listing(found), hint="one label for each case")
    fractions = [label_text(one) for one in numbers if not float(one).is_integer()]  # type: ignore[arg-type]
    if fractions:
        hint = "score=… for numbers" if what == "decision" else "labels, such as 0 and 1"
        seen = f"values such as {', '.join(fractions[:3])}"
        raise ColumnError(f"{what} looks like a number, not a class.", seen=seen, hint=hint)


def _no_labels(what: str) -> DataError:
    return DataError(f"{what} holds values that are no labels.", hint="one number or text per case")


def encode(values: Any, what: str = "truth") -> tuple[NDArray[Any], tuple[str, ...]]:
    """Codes into the sorted distinct class names; the codes have the smallest type that holds them.

    >>> codes, classes = encode(["good", "bad", "good"])
    >>> codes.tolist(), classes
    ([1, 0, 1], ('bad', 'good'))
    """
    array = array_of(values)
    if array.ndim != 1:
        raise DataError(
            f"{what} must be one column of labels.",
            seen=f"an array of shape {array.shape}",
            hint="one label for each case",
        )
    if array.size == 0:
        raise DataError(f"{what} is empty: there is nothing to evaluate.", hint="at least one case")
    if array.dtype == bool:  # the commonest and cheapest case: one byte each already
        return _without_absent(array.view(np.uint8), ("False", "True"))
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 1:
        return _without_absent(array.astype(np.uint8), ("0", "1"))
    if array.dtype == object:
        return _encoded_objects(array, what)
    if array.dtype.kind == "S":
        array = _text(array, what)
    if array.dtype.kind == "f":
        _refuse_missing(int(np.isnan(array).sum()), array.size, what)
    if array.dtype.kind in "mM":
        _refuse_missing(int(np.isnat(array).sum()), array.size, what)
    distinct, codes = np.unique(array, return_inverse=True)
    names = [label_text(value) for value in distinct]
    order = sorted(range(len(names)), key=lambda k: natural_order(names[k]))
    place = np.empty(len(names), dtype=np.min_scalar_type(len(names)))
    place[order] = np.arange(len(names))
    return place[codes], tuple(names[k] for k in order)


def _text(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Bytes of ASCII as text."""
    try:
        return array.astype(str)
    except UnicodeDecodeError:
        raise _no_labels(what) from None


def _encoded_objects(array: NDArray[Any], what: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The same of values of any kind; only the distinct ones are looked at one by one.

    Not by way of NumPy's texts, which lose a NUL at the end.
    """
    # With its type, so that True and 1 stay apart although they are equal.
    keys = list(zip(map(type, array), array, strict=True))
    try:
        counted = Counter(keys)
    except TypeError:  # lists, arrays and the like
        raise _no_labels(what) from None
    if any(isinstance(value, (tuple, frozenset, bytes)) for _, value in counted):
        raise _no_labels(what)
    _refuse_missing(sum(n for (_, value), n in counted.items() if is_missing(value)), array.size, what)
    names = {key: label_text(key[1]) for key in counted}
    ordered = tuple(sorted(set(names.values()), key=natural_order))
    place = {name: k for k, name in enumerate(ordered)}
    codes = {key: place[name] for key, name in names.items()}
    kind = np.min_scalar_type(len(ordered))
    return np.fromiter(map(codes.__getitem__, keys), dtype=kind, count=array.size), ordered


def _without_absent(codes: NDArray[Any], names: tuple[str, str]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Two classes, or the only one that occurs."""
    ones = np.count_nonzero(codes)
    if 0 < ones < codes.size:
        return codes, names
    return np.zeros_like(codes), (names[1] if ones else names[0],)


def _refuse_missing(missing: int, size: int, what: str) -> None:
    if missing:
        raise DataError(
            f"{what} has missing values.",
            seen=f"{grouped(missing)} of {grouped(size)} cases",
            hint="drop or fill those cases first",
        )


def positive_index(classes: Sequence[str], positive: Any = None, codes: NDArray[Any] | None = None) -> int:
    """Which class is positive: the stated one, or 1 / True of {0, 1}, {-1, 1} and booleans.

    >>> positive_index(["0", "1"]), positive_index(["bad", "good"], "bad")
    (1, 0)
    """
    wanted = _INFERRED.get(tuple(sorted(classes))) if positive is None else label_text(positive)
    if wanted in classes:
        return classes.index(wanted)
    folded = [name.casefold() for name in classes]
    if wanted is not None and set(folded) <= {"true", "false"} and wanted.casefold() in folded:
        return folded.index(wanted.casefold())
    counts = np.bincount(codes, minlength=len(classes)).tolist() if codes is not None else None
    raise positive_error(classes, positive, counts)


def positive_error(
    classes: Sequence[str], positive: Any, counts: Sequence[float] | None, where: str = "the truth"
) -> PositiveError:
    """The error for a positive class that is not stated or never occurs, with the classes seen."""
    rarest = classes[int(np.argmin(counts))] if counts is not None else classes[0]
    seen = class_listing(classes, counts)
    if positive is None:
        problem = f"the positive class is not stated, and the labels of {where} do not tell."
        return PositiveError(problem, seen=seen, hint=f'positive="{rarest}"')
    near = _nearest(label_text(positive), classes) or rarest
    return PositiveError(f"positive={positive!r} never occurs in {where}.", seen=seen, hint=f'positive="{near}"')


_ALIKE = {"1": "True", "0": "False", "True": "1", "False": "0"}


def _nearest(wanted: str, classes: Sequence[str]) -> str | None:
    """The class that was meant: the same truth value in other words, one that begins alike, or one spelt nearly so."""
    if _ALIKE.get(wanted) in classes:
        return _ALIKE[wanted]
    folded = wanted.casefold()
    alike = [
        name for name in classes if name and (folded.startswith(name.casefold()) or name.casefold().startswith(folded))
    ]
    return alike[0] if len(alike) == 1 else nearest(wanted, classes)


def class_listing(classes: Sequence[str], counts: Sequence[float] | None = None) -> str:
    """The classes with their numbers of cases, as errors show them."""
    if counts is None:
        return listing(classes)
    shown = [f"{name!r} ({so_many(count, 'row')})" for name, count in zip(classes[:8], counts, strict=False)]
    return ", ".join(shown) + (f" and {len(classes) - 8} more" if len(classes) > 8 else "")
