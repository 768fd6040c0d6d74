"""Modules that load when something of them is asked for, or beside other work: hardly a command needs all rooms."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread
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


def soon(*names: str) -> Thread:
    """Load modules that will be needed, in a thread of its own: while an engine reads a file, Python has time.

    What cannot be loaded says so to whoever asks for it.

    >>> soon("colorsys", "no_such_module").join()
    """

    def load() -> None:
        for name in names:
            with suppress(Exception):
                import_module(name)

    thread = Thread(target=load)
    thread.start()
    return thread


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
