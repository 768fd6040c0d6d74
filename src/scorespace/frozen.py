"""Dataclasses that do not change, made in a tenth of the time: a command loads more than a hundred of them.

The standard library compiles six functions for each. Here all classes share them, and `__init__`, which cannot be
shared, is compiled when the first object is made. Fields, `replace`, `asdict`, `match` and subclasses are as usual.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers know all about it by its name
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Callable[[type], type]:
        """Make a dataclass of a class whose fields are annotated, as that of the standard library, always `frozen`.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1), Point(1) == Point(1, 0.0), dataclasses.replace(Point(1), y=2)
        (Point(x=1, y=0.0), True, Point(x=1, y=2))
        """
        if not frozen:
            raise TypeError("a class that changes is a dataclass of the standard library")

        def made(cls: type) -> type:
            _add_fields(cls, kw_only)
            shared = {"__init__": _Init(cls), "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
            shared |= {"__repr__": _repr} if repr else {}
            shared |= _compared(cls) if eq else {}
            for name, function in shared.items():
                if vars(cls).get(name) is None:  # what a class says itself holds; None: its own == takes away the hash
                    setattr(cls, name, function)
            return cls

        return made


@dataclasses.dataclass(frozen=True)
class _Plain:
    """What is said of every frozen class."""


def _add_fields(cls: Any, kw_only: bool) -> None:
    """Find the fields of a class after those of its bases: the standard library does, on a class with no more."""
    said = get_annotations(cls)
    body = {"__module__": cls.__module__, "__doc__": "Its fields.", "__annotations__": said}
    body |= {name: vars(cls)[name] for name in said if name in vars(cls)}
    alone: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(type(cls.__name__, (), body))
    for name, value in body.items():
        if isinstance(value, Field):  # which has been replaced by its default, or is gone
            setattr(cls, name, vars(alone)[name]) if name in vars(alone) else delattr(cls, name)
    of_bases = [vars(base).get("__dataclass_fields__", {}) for base in reversed(cls.__mro__[1:])]
    cls.__dataclass_fields__ = {
        name: one for own in (*of_bases, alone.__dataclass_fields__) for name, one in own.items()
    }
    cls.__dataclass_params__ = vars(_Plain)["__dataclass_params__"]
    cls.__match_args__ = tuple(one.name for one in fields(cls) if one.init and not one.kw_only)  # type: ignore[misc]


class _Init:
    """Stands for the `__init__` of a class, which is compiled when it is asked for."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, instance: Any, owner: type) -> Any:
        self._cls.__init__ = made = _compiled(self._cls)
        return made.__get__(instance, owner)


class _Unset:
    """The value of a field that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def _compiled(cls: Any) -> Any:
    """The function that sets all fields of a new object."""
    known: dict[str, Any] = {"__set": object.__setattr__, "__unset": _Unset()}
    first, named, lines = ["self"], ["*"], [""]
    for one in fields(cls):
        name, value, default = one.name, one.name, ""
        if one.default is not MISSING:
            known[f"_{name}"], default = one.default, f"=_{name}"
        elif one.default_factory is not MISSING:
            known[f"_{name}"], default = one.default_factory, "=__unset"
            value = f"_{name}() if {name} is __unset else {name}"
        if one.init:
            (named if one.kw_only else first).append(name + default)
        elif default:
            value = f"_{name}" if one.default_factory is MISSING else f"_{name}()"
        else:
            continue  # `__post_init__` sets it
        lines.append(f"__set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*first, *(named if len(named) > 1 else [])])
    exec(f"def __init__({parameters}): pass" + "; ".join(lines), known)
    made = known["__init__"]
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    made.__annotations__ = {one.name: one.type for one in fields(cls) if one.init} | {"return": None}
    return made


def _compared(cls: Any) -> dict[str, Callable[..., Any]]:
    """What compares objects of a class by their values."""
    values = attrgetter("__class__", *(one.name for one in fields(cls) if one.compare))

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


@recursive_repr()
def _repr(self: Any) -> str:
    told = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({told})"


def _refuse_to_set(self: Any, name: str, _: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
