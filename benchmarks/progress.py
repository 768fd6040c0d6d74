"""What the simulations share: the seed, and telling how far they are."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from typing import TypeVar

SEED = 1
Setting = TypeVar("Setting")


def settings(part: str, of: Collection[Setting]) -> Iterator[Setting]:
    """Each setting of a part in turn; what is done is told on standard error."""
    began = time.perf_counter()
    for done, one in enumerate(of, start=1):
        yield one
        print(
            f"  {part}: {done} of {len(of)} settings, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True
        )
