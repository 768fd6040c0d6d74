"""Evaluate predictive models: performance, uncertainty, comparison, calibration and decision thresholds.

Public names are listed in `__init__.pyi` and imported on first use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return a public name, a subpackage, or a measure by its name or alias."""
    if name in __all__:
        value = _load(name)
        if isinstance(value, FunctionType):  # arguments are checked once, where users call
            value = import_module("scorespace.argument_checks").check_arguments(value)
        globals()[name] = value
        return value
    if name.startswith("_"):
        raise AttributeError(f"scorespace has no {name!r}")
    if name.isidentifier() and find_spec(f"scorespace.{name}"):
        return import_module(f"scorespace.{name}")
    catalog = import_module("scorespace.measures.catalog")
    import_module("scorespace.measures")
    try:
        return catalog.find(name)
    except ValueError:
        elsewhere = import_module("scorespace.dependencies").SCIKIT_LEARN
        if name in elsewhere:
            raise AttributeError(f"scorespace has no {name!r}; use {elsewhere[name]}") from None
        aliases = [alias for measure in catalog.measures() for alias in (measure.name, *measure.aliases)]
        hint = import_module("scorespace.errors").did_you_mean(name, [*__all__, *aliases])
        raise AttributeError(f"scorespace has no {name!r}{f'; {hint}' if hint else ''}") from None


def __dir__() -> list[str]:
    measures = import_module("scorespace.measures").measures()
    return sorted({*__all__, *(measure.name for measure in measures)})


class _Package(ModuleType):
    """Keeps public functions such as `audit` when a subpackage of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
