"""Checks that every public name and method documents its parameters and what it returns, as numpydoc has it.

`--package audit` checks the names that one package defines.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import scorespace

_SECTION = re.compile(r"^(Parameters|Attributes|Returns|Yields|Raises|See Also|Notes|References|Examples)\n-+$", re.M)


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their titles; the summary has the title ""."""
    parts = _SECTION.split(inspect.cleandoc(text))
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def problems(found: Any) -> Iterator[str]:
    """What is missing in the docstring of a function, a method or a class."""
    text = sections(found.__doc__ or "")
    if not text[""].strip():
        yield "no docstring"
        return
    stated = " ".join(text.get(title, "") for title in ("Parameters", "Attributes"))
    names = [name for name in inspect.signature(found).parameters if name not in ("self", "cls") and name[0] != "_"]
    missing = [name for name in names if not re.search(rf"^(\*{{0,2}}\w+, )*\*{{0,2}}{name}\b", stated, re.M)]
    if missing:
        yield f"undocumented: {', '.join(missing)}"
    returned = inspect.signature(found).return_annotation
    if not inspect.isclass(found) and returned not in (None, "None") and not {"Returns", "Yields"} & {*text}:
        yield "no Returns"
    if not inspect.isclass(found) and "Examples" not in text and found.__qualname__ == found.__name__:
        yield "no Examples"


def public() -> Iterator[tuple[str, Any]]:
    """Every public name, and the public methods that a public class defines itself."""
    for name in scorespace.__all__:
        found = inspect.unwrap(getattr(scorespace, name))
        found = getattr(found, "function", found)  # a declared curve
        yield name, found
        if inspect.isclass(found):
            for member, value in vars(found).items():
                value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                if inspect.isfunction(value) and not member.startswith("_"):
                    yield f"{name}.{member}", value


def main() -> int:
    """Print what is missing, and return 1 where something is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", default="", help="only names that this package defines")
    package = parser.parse_args().package
    found = [
        f"{name}: {problem}"
        for name, one in public()
        if not package or one.__module__.split(".")[1] == package
        for problem in problems(one)
        if not (is_property(one) and problem == "no Returns")
    ]
    if found:
        print("\n".join(found))
    return int(bool(found))


def is_property(found: Any) -> bool:
    """Whether a function only has `self`: its summary says what it returns."""
    return list(inspect.signature(found).parameters) == ["self"] and not is_dataclass(found)


if __name__ == "__main__":
    sys.exit(main())
