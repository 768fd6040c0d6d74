"""Arguments are what their annotations say: checked where users come in, and told in their words."""

from __future__ import annotations

import functools
import inspect
import numbers
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from scorespace.declaration import Noun
from scorespace.errors import ScoreSpaceError, in_one_line

Checked = TypeVar("Checked", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

_WORDS: Final[dict[Any, str]] = {
    str: "text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    os.PathLike: "a path",
    NoneType: "None",
}
_UNFORESEEN: Final = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
_ENGINES: Final = ("duckdb", "narwhals", "pandas", "polars", "pyarrow")
_REPEATS: Final = ("replicates", "resamples", "folds", "bins", "groups", "most")
_MOST_REPEATS: Final = 10_000_000


def checked(function: Checked) -> Checked:
    """The function with its arguments checked against their annotations; what else it cannot use is told as that.

    >>> @checked
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double("3")
    Traceback (most recent call last):
    scorespace.errors.ScoreSpaceError: x='3' is not a number.
      seen: str
      hint: x=3
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        signature = _signature(function)  # read at the first call: few of the many methods are called
        given = signature.bind(*args, **kwargs).arguments  # a TypeError for names that are none, as everywhere
        hints = _hints(function)
        for name, value in given.items():
            if name in hints and signature.parameters[name].kind.name.startswith("VAR"):
                for key, each in value.items() if isinstance(value, Mapping) else enumerate(value):
                    check(key if isinstance(key, str) else name, each, hints[name])
            elif name in hints:
                check(name, value, hints[name])
        with foreseen(function.__name__):
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


@contextmanager
def foreseen(name: str) -> Iterator[None]:
    """What a function of that name cannot use, though it is of the right kind, is told as that."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except Exception as error:
        of_engine = type(error).__module__.partition(".")[0] in _ENGINES
        if not (of_engine or isinstance(error, (*_UNFORESEEN, NotImplementedError))):
            raise
        said = in_one_line(error, 160)
        raise ScoreSpaceError(
            f"{name} cannot be done with these arguments.",
            seen=said,
            hint=f"values as help({name}) describes them",
        ) from error


def check_values(noun: Noun, given: Mapping[str, Any]) -> None:
    """Refuse values of a noun's options that are not of the kind that they are declared with."""
    for option in noun.options:
        named = option.choices and isinstance(given.get(option.name), str)  # the noun says which name is near
        if option.name in given and not named:
            check(option.name, given[option.name], option.kind)


def checked_methods(cls: Class) -> Class:
    """The class with the arguments of its public methods checked."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            setattr(cls, name, checked(member))
    return cls


def check(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is not of a kind, by the name of the argument."""
    if not _fits(value, kind):
        shown = repr(value) if isinstance(value, (str, bytes, bool, numbers.Number, NoneType)) else "…"
        shown = shown if len(shown) <= 60 else f"{shown[:57]}…"
        example, held = _example(kind, value), type(value)
        seen = f"{held.__module__}.{held.__qualname__}".removeprefix("builtins.")
        hint = example and f"{name}={example}"
        raise ScoreSpaceError(f"{name}={shown} is not {_worded(kind)}.", seen=seen, hint=hint)
    if name in _REPEATS and isinstance(value, numbers.Integral) and int(value) > _MOST_REPEATS:
        raise ScoreSpaceError(f"{name} is so large that it would never end.", hint=f"at most {_MOST_REPEATS}")
    if name == "seed" and isinstance(value, numbers.Integral) and int(value) < 0:
        raise ScoreSpaceError(f"seed={value} is negative.", hint="a whole number from 0 on")


_signature = functools.cache(inspect.signature)


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    asked = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    try:
        return get_type_hints(SimpleNamespace(__annotations__=asked), inspect.unwrap(function).__globals__)
    except NameError:  # a type that is imported for type checkers alone
        return {}


def _fits(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if kind in (float, int):
        wanted = numbers.Real if kind is float else numbers.Integral
        is_one = isinstance(value, wanted) and type(value).__name__ not in ("bool", "bool_")
        return is_one and (kind is int or not isinstance(value, int) or abs(value) <= sys.float_info.max)
    if kind is bool:
        return type(value).__name__ in ("bool", "bool_")
    held = origin or kind
    if held in (Path, os.PathLike):
        return isinstance(value, os.PathLike)
    if held is Mapping:
        inside = value.items() if isinstance(value, Mapping) and len(inner) == 2 else ()
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in inside)
    if held is Sequence:
        array = getattr(sys.modules.get("numpy"), "ndarray", Sequence)  # who has not loaded NumPy gives none of its own
        whole = isinstance(value, (Sequence, array)) and not isinstance(value, (str, bytes))
        whole = whole and getattr(value, "ndim", 1) > 0
        return whole and all(_fits(each, inner[0]) for each in value) if inner else whole
    if held is Callable or held is not kind:
        return callable(value) if inspect.isclass(held) and held.__name__ == "Callable" else True
    ours = inspect.isclass(kind) and kind.__module__.startswith(("builtins", "scorespace"))
    return isinstance(value, kind) if ours else True  # arrays are looked at where they are used


def _worded(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        words = [_worded(one) for one in inner if one is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    held = origin or kind
    if held in _WORDS:
        return _WORDS[held]
    if held is Mapping:
        return "a dict" + (f" of {_plural(inner[1])} by {_plural(inner[0])}" if len(inner) == 2 else "")
    if held is Sequence:
        return "a list" + (f" of {_plural(inner[0])}" if inner else "")
    if getattr(held, "__name__", "") == "Callable":
        return "a function"
    name = getattr(kind, "__name__", str(kind))
    return f"an {name}" if name[:1] in "AEIOU" else f"a {name}"


def _example(kind: Any, value: Any) -> str | None:
    """How a value of a kind is typed: the value itself where only quotes are too many, else one that would do."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        found = (_example(one, value) for one in inner if one is not NoneType)
        return next(filter(None, found), None)
    if origin is Literal:
        return next((f'"{one}"' if isinstance(one, str) else repr(one) for one in inner if one is not None), None)
    if kind in (float, int):
        said = value.strip() if isinstance(value, str) else ""
        return said if said.isascii() and said.replace(".", "", kind is float).isdigit() else "1"
    examples = {str: '"…"', bool: "True", Path: 'Path("…")', Mapping: "{…}", Sequence: "[…]"}
    return examples.get(origin or kind)


def _plural(kind: Any) -> str:
    words = {str: "texts", float: "numbers", int: "whole numbers", Any: "values"}
    return words.get(kind, f"{getattr(kind, '__name__', 'value')}s")
