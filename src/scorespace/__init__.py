"""From scores to decisions: how good each model is, how sure that is, and which to use.

Names load on first use, so that importing the package stays light. They are listed in `__init__.pyi`.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

_LISTED = re.compile(r"^from (\S+) import \S+ as (\S+)$", re.MULTILINE)
_HOMES = {name: home for home, name in _LISTED.findall(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))}

_checked: dict[Any, Any] = {}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """A public name from its module, or a measure by its name or alias."""
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
        # Arguments are checked at this door, and not again by those who live in the house.
        if isinstance(found, FunctionType) and found not in _checked:
            _checked[found] = import_module("scorespace.arguments").checked(found)
        return _checked.get(found, found) if isinstance(found, FunctionType) else found
    if name.startswith("_"):
        raise AttributeError(f"scorespace has no {name!r}")
    catalog = import_module("scorespace.measures.catalog")
    import_module("scorespace.measures")
    try:
        return catalog.find(name)
    except ValueError:
        aliases = [alias for measure in catalog.measures() for alias in (measure.name, *measure.aliases)]
        near = import_module("scorespace.errors").did_you_mean(name, [*__all__, *aliases])
        hint = f"; did you mean {near}?" if near else ""
        raise AttributeError(f"scorespace has no {name!r}{hint}") from None


def __dir__() -> list[str]:
    measures = import_module("scorespace.measures").measures()
    return sorted({*__all__, *(measure.name for measure in measures)})
