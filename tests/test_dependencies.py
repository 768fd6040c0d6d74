"""What is installed: every package that is asked for, with its version, and what to do where it is missing."""

import sys
from importlib.metadata import PackageNotFoundError, requires, version

import pytest

from scorespace import dependencies as module
from scorespace.dependencies import Dependency, list_dependencies


def test_every_necessary_package_is_told_with_its_version():
    found = {one.name: one for one in list_dependencies()}
    needed = [text for text in requires("scorespace") if "extra" not in text]
    assert needed
    for text in needed:
        name = next(name for name in sorted(found, key=len, reverse=True) if text.startswith(name))
        assert found[name].version == version(name)
        assert found[name].needed
    assert found["Python"].version == ".".join(map(str, sys.version_info[:3]))
    assert all(one.use for one in found.values() if one.needed)


def test_what_is_missing_says_what_to_do(monkeypatch):
    def nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "_version", lambda name: None)
    absent = {one.name: one for one in list_dependencies() if one.version is None}
    assert absent["duckdb"].purpose_text == "reading files: pip install scorespace"
    assert absent["polars"].purpose_text == "frames of polars, where you have them: pip install polars"
    monkeypatch.undo()
    monkeypatch.setattr(module, "version", nothing)
    assert module._version("anything") is None


@pytest.mark.parametrize(("seen", "told"), [("1.0", "for pictures"), (None, "for pictures: install it")])
def test_a_hint_is_for_what_is_missing_alone(seen, told):
    part = Dependency("drawer", seen, "for pictures", needed=False, hint="install it")
    assert part.purpose_text == told
    assert part.row() == {
        "name": "drawer",
        "version": seen,
        "use": "for pictures",
        "needed": False,
        "hint": "install it",
    }
