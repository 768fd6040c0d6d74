"""Modules that load when something of them is asked for."""

import subprocess
import sys

import pytest

from scorespace.later import later

LAZY = """
import sys
from scorespace.later import later
colours = later("colorsys")
print("colorsys" in sys.modules, colours.hsv_to_rgb(0, 0, 1), "colorsys" in sys.modules)
"""


def test_a_module_loads_at_the_first_question():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True)
    assert done.stdout == "False (1, 1, 1) True\n"


def test_what_it_holds_is_the_modules_own():
    import colorsys

    assert later("colorsys").hsv_to_rgb is colorsys.hsv_to_rgb


def test_what_is_replaced_in_the_module_is_replaced_here(monkeypatch):
    monkeypatch.setattr("colorsys.hsv_to_rgb", "another")
    assert later("colorsys").hsv_to_rgb == "another"


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="colorsys"):
        later("colorsys").nothing  # noqa: B018


def test_a_module_that_is_not_there_is_told_at_the_first_question():
    absent = later("scorespace.nowhere")
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        absent.anything  # noqa: B018


def test_what_is_needed_soon_loads_in_a_thread_and_says_nothing_of_what_cannot():
    code = (
        "import sys\nfrom scorespace.later import soon\nsoon('scorespace.nowhere', 'colorsys').join()\n"
        "print('colorsys' in sys.modules, 'scorespace.nowhere' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True False\n", "")
