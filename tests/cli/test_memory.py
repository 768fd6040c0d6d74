"""Memory of arrays that are gone serves the next ones."""

import ctypes
import resource
import sys

import numpy as np
import pytest

from components import missing
from scorespace.cli import memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the GNU C library")
def test_arrays_take_the_memory_of_those_before():
    if not memory.keep_memory():
        missing("this C library has no mallopt")

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(50):
            np.ones(2**20)  # 8 MB are 2 048 pages
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    faults()
    assert faults() < 50 * 2048 / 2


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_elsewhere_nothing_is_changed(monkeypatch, error):
    def absent(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert memory.keep_memory() is False
