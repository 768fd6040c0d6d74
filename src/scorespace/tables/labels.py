"""Class labels: convert values of any type to integer codes and class names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorespace.errors import ColumnError, DataError, PositiveError, closest_name, did_you_mean, listing
from scorespace.results import count_noun, grouped

# The only label sets from which the positive class is inferred; one of the two classes may be absent.
_POSITIVE_BY_CONVENTION = {("0", "1"): "1", ("-1", "1"): "1", ("False", "True"): "True", ("1",): "1", ("True",): "True"}


def label_text(value: Any) -> str:
    """Name of a class: integral floats lose their decimal point, other values are converted to text.

    >>> label_text(1.0), label_text(np.True_), label_text("bad")
    ('1', 'True', 'bad')
    """
    if isinstance(value, (float, np.floating, Decimal)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def unquote_label(of: str) -> str:
    """Remove the quotes of a class name: macro is the average, "macro" the class of that name.

    >>> unquote_label('"macro"'), unquote_label("bad")
    ('macro', 'bad')
    """
    return of[1:-1] if len(of) > 2 and of[0] == of[-1] == '"' else of


def is_plain_code(name: str | None) -> bool:
    """Whether a class name is a number or a boolean, which read badly in a sentence."""
    return name is None or name in ("True", "False") or natural_order(name)[0] == 0


def natural_order(name: str) -> tuple[int, float, str]:
    """Sort key: numbers in numeric order, then words in natural order (numbers inside them sort by value).

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


def class_ranks(order: Sequence[Any], classes: Sequence[str]) -> dict[str, int]:
    """Rank of each class in a stated order, lowest first; every class must be in it.

    >>> class_ranks(["low", "high"], ("high", "low"))
    {'low': 0, 'high': 1}
    """
    names = tuple(map(label_text, order))
    if len(set(names)) != len(names):
        raise DataError("the order names a class twice.", seen=listing(names), hint="name each class once")
    for name in classes:
        if name not in names:
            raise DataError(
                f"the class {name!r} is not in the order.",
                seen=f"the order {listing(names)}; classes {listing(classes)}",
                hint=did_you_mean(name, names, "name every class, lowest first", quoted=True),
            )
    return {name: place for place, name in enumerate(names)}


def at_least_index(of: str | None, classes: Sequence[str], ordinal: bool) -> int | None:
    """Index of the class in `>=class`, which means it and all above it; None for any other text.

    >>> order = ("low", "medium", "high")
    >>> at_least_index(">=medium", order, True), at_least_index("medium", order, True)
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
    """Refuse classes without an order: none is stated, and they are not numbers."""
    if not ordinal and not all(map(is_plain_code, classes)):
        raise DataError(
            "an ordinal measure needs the order of the classes.",
            seen=f"classes {listing(classes)}",
            hint=f'order="{",".join(classes)}", lowest first',
        )


def distances(classes: Sequence[str], ordinal: bool) -> NDArray[np.int64]:
    """Number of steps between every two ordered classes.

    >>> distances(("1", "2", "3"), False).tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    check_order(classes, ordinal)
    place = np.arange(len(classes))
    return np.abs(place[:, None] - place)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the missing value of a frame library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def to_array(values: Any) -> NDArray[Any]:
    """Convert to an array: masked values become None, and shape (n_cases, 1) becomes (n_cases,).

    >>> to_array([[1], [0]]).tolist(), to_array(np.ma.array([1, 0], mask=[True, False])).tolist()
    ([1, 0], [None, 0])
    """
    array = np.asarray(values)
    hidden = getattr(values, "mask", False) if isinstance(values, np.ndarray) else False
    if np.any(hidden):
        array = array.astype(object)
        array[hidden] = None
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def encode_classes(values: Any, what: str = "truth") -> tuple[NDArray[Any], tuple[str, ...]]:
    """Encode a column of classes like `encode`, but refuse values that look like continuous numbers.

    >>> encode_classes([0.9, 0.2], "decision")
    Traceback (most recent call last):
    scorespace.errors.ColumnError: decision looks like a number, not a class.
      seen: values such as 0.2, 0.9
      hint: score=… for numbers
    """
    try:
        array = to_array(values)
    except ValueError:  # rows of different lengths
        raise _not_labels(what) from None
    codes, names = encode(array, what)
    if array.dtype.kind in "fc":
        _refuse_numbers([array.dtype.type(name) for name in names], what)
    elif array.dtype == object:
        _refuse_numbers(array[np.unique(codes, return_index=True)[1]].tolist(), what)
    return codes, names


def _refuse_numbers(distinct: list[Any], what: str) -> None:
    """Refuse infinite, fractional and complex classes; one value of each class is checked."""
    numbers = [value for value in distinct if isinstance(value, (float, complex, np.inexact))]
    for kind, invalid in (
        ("complex numbers", [value for value in numbers if isinstance(value, (complex, np.complexfloating))]),
        ("infinite values", [value for value in numbers if not np.isfinite(value)]),
    ):
        if invalid:
            raise ColumnError(
                f"{what} holds {kind}, not classes.", seen=listing(invalid), hint="one label for each case"
            )
    fractions = [label_text(value) for value in numbers if not float(value).is_integer()]  # type: ignore[arg-type]
    if fractions:
        hint = "score=… for numbers" if what == "decision" else "labels, such as 0 and 1"
        seen = f"values such as {', '.join(fractions[:3])}"
        raise ColumnError(f"{what} looks like a number, not a class.", seen=seen, hint=hint)


def _not_labels(what: str) -> DataError:
    return DataError(f"{what} holds values that cannot be labels.", hint="one number or text per case")


def encode(values: Any, what: str = "truth") -> tuple[NDArray[Any], tuple[str, ...]]:
    """Encode labels as indices of the sorted class names, in the smallest integer type.

    >>> codes, classes = encode(["good", "bad", "good"])
    >>> codes.tolist(), classes
    ([1, 0, 1], ('bad', 'good'))
    """
    array = to_array(values)
    if array.ndim != 1:
        raise DataError(
            f"{what} must be one column of labels.",
            seen=f"an array of shape {array.shape}",
            hint="one label for each case",
        )
    if array.size == 0:
        raise DataError(f"{what} is empty: there is nothing to evaluate.", hint="at least one case")
    if array.dtype == bool:  # the most common case needs no conversion
        return _without_absent(array.view(np.uint8), ("False", "True"))
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 1:
        return _without_absent(array.astype(np.uint8), ("0", "1"))
    if array.dtype == object:
        return _encode_objects(array, what)
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
    """Decode ASCII bytes."""
    try:
        return array.astype(str)
    except UnicodeDecodeError:
        raise _not_labels(what) from None


def _encode_objects(array: NDArray[Any], what: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Encode values of any type; only the distinct ones are inspected.

    Avoids NumPy strings, which drop a trailing NUL.
    """
    # The key includes the type, because True == 1.
    keys = list(zip(map(type, array), array, strict=True))
    try:
        counted = Counter(keys)
    except TypeError:  # lists, arrays and the like
        raise _not_labels(what) from None
    if any(isinstance(value, (tuple, frozenset, bytes)) for _, value in counted):
        raise _not_labels(what)
    _refuse_missing(sum(n for (_, value), n in counted.items() if is_missing(value)), array.size, what)
    names = {key: label_text(key[1]) for key in counted}
    ordered = tuple(sorted(set(names.values()), key=natural_order))
    place = {name: k for k, name in enumerate(ordered)}
    codes = {key: place[name] for key, name in names.items()}
    kind = np.min_scalar_type(len(ordered))
    return np.fromiter(map(codes.__getitem__, keys), dtype=kind, count=array.size), ordered


def _without_absent(codes: NDArray[Any], names: tuple[str, str]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Both classes, or the only one that occurs."""
    ones = np.count_nonzero(codes)
    if 0 < ones < codes.size:
        return codes, names
    return np.zeros_like(codes), (names[1] if ones else names[0],)


def _refuse_missing(missing: int, size: int, what: str) -> None:
    if missing:
        raise DataError(
            f"{what} has missing values.",
            seen=f"{grouped(missing)} of {grouped(size)} cases",
            hint="drop or impute those cases",
        )


def positive_index(classes: Sequence[str], positive: Any = None, codes: NDArray[Any] | None = None) -> int:
    """Index of the positive class: the stated one, or 1 / True of {0, 1}, {-1, 1} and booleans.

    >>> positive_index(["0", "1"]), positive_index(["bad", "good"], "bad")
    (1, 0)
    """
    wanted = _POSITIVE_BY_CONVENTION.get(tuple(sorted(classes))) if positive is None else label_text(positive)
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
    """The error for a positive class that is not stated or does not occur; it lists the classes."""
    rarest = classes[int(np.argmin(counts))] if counts is not None else classes[0]
    seen = list_classes(classes, counts)
    if positive is None:
        problem = f"the positive class is not stated and cannot be inferred from the labels of {where}."
        return PositiveError(problem, seen=seen, hint=f'positive="{rarest}"')
    near = _nearest(label_text(positive), classes) or rarest
    return PositiveError(f"positive={positive!r} never occurs in {where}.", seen=seen, hint=f'positive="{near}"')


EQUIVALENT_LABELS = {"1": "True", "0": "False", "True": "1", "False": "0"}


def _nearest(wanted: str, classes: Sequence[str]) -> str | None:
    """The class that was probably meant: the same truth value, a common prefix, or a similar spelling."""
    if EQUIVALENT_LABELS.get(wanted) in classes:
        return EQUIVALENT_LABELS[wanted]
    folded = wanted.casefold()
    same_prefix = [
        name for name in classes if name and (folded.startswith(name.casefold()) or name.casefold().startswith(folded))
    ]
    return same_prefix[0] if len(same_prefix) == 1 else closest_name(wanted, classes)


def list_classes(classes: Sequence[str], counts: Sequence[float] | None = None) -> str:
    """List the classes with their numbers of cases, for messages."""
    if counts is None:
        return listing(classes)
    texts = [f"{name!r} ({count_noun(count, 'row')})" for name, count in zip(classes[:8], counts, strict=False)]
    return ", ".join(texts) + (f" and {len(classes) - 8} more" if len(classes) > 8 else "")


def add_absent_class(
    names: tuple[str, ...], positive: Any, codes: NDArray[Any]
) -> tuple[tuple[str, ...], int, NDArray[Any]]:
    """Class names, index of the positive class, and codes; if only one class occurs, the other one is added."""
    if len(names) > 1:
        return names, positive_index(names, positive, codes), codes
    opposite = {"1": "0", "0": "1", "-1": "1", "True": "False", "False": "True"}.get(names[0])
    if positive is None and opposite is not None:
        wanted = "True" if "True" in (names[0], opposite) else "1"
    elif positive is None or label_text(positive) == names[0]:
        wanted, opposite = names[positive_index(names, positive)], opposite or negative_name(names[0])
    else:
        wanted = opposite = label_text(positive)
    both = tuple(sorted((names[0], opposite), key=natural_order))
    return both, both.index(wanted), np.full_like(codes, both.index(names[0]), dtype=np.uint8)


def negative_name(positive: str) -> str:
    """Name of the negative class of a sample without negatives."""
    return f"not {positive}"
