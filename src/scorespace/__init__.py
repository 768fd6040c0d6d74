"""From scores to decisions: how good each model is, how sure that is, and which to use.

Names load on first use, so that importing the package stays light. They are listed in `__init__.pyi`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the command begins here, too: until its signals are set, every module loaded is a moment too long
    from typing import Any

_homes: dict[str, str] = {}
_checked: dict[Any, Any] = {}


def _listed() -> dict[str, str]:
    """Where each public name lives."""
    if not _homes:
        import re
        from pathlib import Path

        text = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
        _homes.update((name, home) for home, name in re.findall(r"(?m)^from (\S+) import \S+ as (\S+)$", text))
    return _homes


def __getattr__(name: str) -> Any:
    """A public name from its module, or a measure by its name or alias."""
    from importlib import import_module
    from importlib.util import find_spec
    from types import FunctionType

    if name == "__all__":
        return sorted(_listed())
    if name.startswith("_"):
        raise AttributeError(f"scorespace has no {name!r}")
    if name in _listed():
        found = getattr(import_module(_listed()[name]), name)
        if not isinstance(found, FunctionType):
            return found
        # Arguments are checked at this door, and not again by those who live in the house.
        if found not in _checked:
            _checked[found] = import_module("scorespace.arguments").checked(found)
        return _checked[found]
    if name.isidentifier() and find_spec(f"scorespace.{name}"):  # a room: Python asks here before it loads one
        return import_module(f"scorespace.{name}")
    catalog = import_module("scorespace.measures.catalog")
    import_module("scorespace.measures")
    try:
        return catalog.find(name)
    except ValueError:
        aliases = [alias for measure in catalog.measures() for alias in (measure.name, *measure.aliases)]
        hint = import_module("scorespace.errors").did_you_mean(name, [*_listed(), *aliases])
        raise AttributeError(f"scorespace has no {name!r}{f'; {hint}' if hint else ''}") from None


def __dir__() -> list[str]:
    from importlib import import_module

    measures = import_module("scorespace.measures").measures()
    return sorted({*_listed(), *(measure.name for measure in measures)})
