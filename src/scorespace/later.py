"""Modules that load when something of them is asked for: hardly a command needs all rooms of the house."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


def later(name: str) -> Any:
    """The module of that name, which loads at the first question to it.

    Beside it, the same import for type checkers says what it is, and is held to the directions of the house:
    `if TYPE_CHECKING: from scorespace import decisions`, and `else: decisions = later("scorespace.decisions")`.

    >>> later("colorsys").hsv_to_rgb(0, 0, 1)
    (1, 1, 1)
    """
    return _Later(name)


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
