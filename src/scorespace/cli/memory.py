"""Memory of arrays that are gone serves the next ones, for as long as the command runs."""

from __future__ import annotations

import ctypes
from typing import Final

LARGEST: Final = 32 * 2**20
"""Bytes of an array above which its memory goes back to the system at once."""
_KEPT: Final = 256 * 2**20
_TRIM_THRESHOLD: Final = -1  # as malloc.h of the GNU C library numbers its settings
_MMAP_THRESHOLD: Final = -3


def keep_memory() -> bool:
    """Ask the C library to keep freed memory for what comes next; False where it does not know how.

    Otherwise each array of some megabytes is mapped, page by page, and given back: a seventh of the time of a report.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another system, or another C library
        return False
    return bool(adjust(_MMAP_THRESHOLD, LARGEST) and adjust(_TRIM_THRESHOLD, _KEPT))
