"""Check the arguments of public functions against their annotations."""

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

from scorespace.errors import ScoreSpaceError, one_line_message
from scorespace.options import Registered

CheckedFunction = TypeVar("CheckedFunction", bound=Callable[..., Any])
CheckedClass = TypeVar("CheckedClass", bound=type)

_TYPE_NAMES: Final[dict[Any, str]] = {
    str: "text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    os.PathLike: "a path",
    NoneType: "None",
}
_TRANSLATED_ERRORS: Final = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
_ENGINES: Final = ("duckdb", "narwhals", "pandas", "polars", "pyarrow")
_COUNT_ARGUMENTS: Final = ("replicates", "resamples", "folds", "bins", "groups", "most")
_MAX_COUNT: Final = 10_000_000


def check_arguments(function: CheckedFunction) -> CheckedFunction:
    """Check the function's arguments against their annotations, and turn unexpected exceptions into a ScoreSpaceError.
    >>> @check_arguments
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
        signature = _signature(function)  # computed on the first call, because most methods are never called
        arguments = signature.bind(*args, **kwargs).arguments  # raises the usual TypeError for unknown names
        hints = _hints(function)
        for name, value in arguments.items():
            if name in hints and signature.parameters[name].kind.name.startswith("VAR"):
                for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
                    check_type(key if isinstance(key, str) else name, item, hints[name])
            elif name in hints:
                check_type(name, value, hints[name])
        with translate_errors(function.__name__):
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Turn unexpected exceptions of the named function into a ScoreSpaceError that names it."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except Exception as error:
        is_engine_error = type(error).__module__.partition(".")[0] in _ENGINES
        if not (is_engine_error or isinstance(error, (*_TRANSLATED_ERRORS, NotImplementedError))):
            raise
        raise ScoreSpaceError(
            f"{name} failed with these arguments.",
            seen=one_line_message(error, 160),
            hint=f"see help({name}) for valid values",
        ) from error


def check_option_values(noun: Registered, given: Mapping[str, Any]) -> None:
    """Check the type of option values against the declaration."""
    for option in noun.options:
        is_choice = option.choices and isinstance(given.get(option.name), str)  # checked elsewhere, with a suggestion
        if option.name in given and not is_choice:
            check_type(option.name, given[option.name], option.kind)


def check_method_arguments(cls: CheckedClass) -> CheckedClass:
    """Check the arguments of all public methods of a class."""
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            setattr(cls, name, check_arguments(member))
    return cls


def check_type(name: str, value: Any, kind: Any) -> None:
    """Raise an error that names the argument unless the value has the annotated type."""
    if not _is_of_type(value, kind):
        text = repr(value) if isinstance(value, (str, bytes, bool, numbers.Number, NoneType)) else "…"
        text = text if len(text) <= 60 else f"{text[:57]}…"
        example, value_type = _example(kind, value), type(value)
        seen = f"{value_type.__module__}.{value_type.__qualname__}".removeprefix("builtins.")
        hint = example and f"{name}={example}"
        raise ScoreSpaceError(f"{name}={text} is not {_type_name(kind)}.", seen=seen, hint=hint)
    if name in _COUNT_ARGUMENTS and isinstance(value, numbers.Integral) and int(value) > _MAX_COUNT:
        raise ScoreSpaceError(f"{name}={value} is too large.", hint=f"at most {_MAX_COUNT}")
    if name == "seed" and isinstance(value, numbers.Integral) and int(value) < 0:
        raise ScoreSpaceError(f"seed={value} is negative.", hint="a whole number ≥ 0")


_signature = functools.cache(inspect.signature)


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    annotations = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    try:
        return get_type_hints(SimpleNamespace(__annotations__=annotations), inspect.unwrap(function).__globals__)
    except NameError:  # a type imported under TYPE_CHECKING only
        return {}


def _is_of_type(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(_is_of_type(value, alternative) for alternative in inner)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in inner)
    if kind in (float, int):
        number_type = numbers.Real if kind is float else numbers.Integral
        is_number = isinstance(value, number_type) and type(value).__name__ not in ("bool", "bool_")
        return is_number and (kind is int or not isinstance(value, int) or abs(value) <= sys.float_info.max)
    if kind is bool:
        return type(value).__name__ in ("bool", "bool_")
    container = origin or kind
    if container in (Path, os.PathLike):
        return isinstance(value, os.PathLike)
    if container is Mapping:
        items = value.items() if isinstance(value, Mapping) and len(inner) == 2 else ()
        return isinstance(value, Mapping) and all(
            _is_of_type(k, inner[0]) and _is_of_type(v, inner[1]) for k, v in items
        )
    if container is Sequence:
        array = getattr(sys.modules.get("numpy"), "ndarray", Sequence)  # if NumPy is not loaded, value is no array
        is_list = isinstance(value, (Sequence, array)) and not isinstance(value, (str, bytes))
        is_list = is_list and getattr(value, "ndim", 1) > 0
        return is_list and all(_is_of_type(item, inner[0]) for item in value) if inner else is_list
    if container is Callable or container is not kind:
        return callable(value) if inspect.isclass(container) and container.__name__ == "Callable" else True
    is_checkable = inspect.isclass(kind) and kind.__module__.startswith(("builtins", "scorespace"))
    return isinstance(value, kind) if is_checkable else True  # array-likes are checked where they are used


def _type_name(kind: Any) -> str:
    """Describe a type in words: "a number", "a list of texts"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        words = [_type_name(alternative) for alternative in inner if alternative is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    container = origin or kind
    if container in _TYPE_NAMES:
        return _TYPE_NAMES[container]
    if container is Mapping:
        return "a dict" + (f" of {_plural(inner[1])} by {_plural(inner[0])}" if len(inner) == 2 else "")
    if container is Sequence:
        return "a list" + (f" of {_plural(inner[0])}" if inner else "")
    if getattr(container, "__name__", "") == "Callable":
        return "a function"
    name = getattr(kind, "__name__", str(kind))
    return f"an {name}" if name[:1] in "AEIOU" else f"a {name}"


def _example(kind: Any, value: Any) -> str | None:
    """Example of a valid value for a hint: the given text without quotes if that is valid, else a placeholder."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        examples = (_example(alternative, value) for alternative in inner if alternative is not NoneType)
        return next(filter(None, examples), None)
    if origin is Literal:
        return next((f'"{c}"' if isinstance(c, str) else repr(c) for c in inner if c is not None), None)
    if kind in (float, int):
        text = value.strip() if isinstance(value, str) else ""
        return text if text.isascii() and text.replace(".", "", kind is float).isdigit() else "1"
    placeholders = {str: '"…"', bool: "True", Path: 'Path("…")', Mapping: "{…}", Sequence: "[…]"}
    return placeholders.get(origin or kind)


def _plural(kind: Any) -> str:
    words = {str: "texts", float: "numbers", int: "whole numbers", Any: "values"}
    return words.get(kind, f"{getattr(kind, '__name__', 'value')}s")
