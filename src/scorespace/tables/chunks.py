"""Process large arrays in cache-sized chunks, in parallel threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

CHUNK_ROWS: Final = 2**17
ChunkResult = TypeVar("ChunkResult")


def map_chunks(function: Callable[[slice], ChunkResult], size: int) -> list[ChunkResult]:
    """Apply the function to each chunk of rows, in parallel, and return the results in order.

    >>> map_chunks(lambda rows: rows.start, 200_000)
    [0, 131072]
    """
    pieces = [slice(first, first + CHUNK_ROWS) for first in range(0, size, CHUNK_ROWS)]
    if len(pieces) < 4:
        return list(map(function, pieces))
    workers = os.cpu_count() or 1
    share = -(-len(pieces) // workers)
    runs = [pieces[first : first + share] for first in range(0, len(pieces), share)]
    with thread_pool() as pool:
        return [result for run in pool.map(lambda run: list(map(function, run)), runs) for result in run]


def thread_pool(workers: int | None = None) -> Executor:
    """Thread pool, by default with one thread per processor; imported only for large data.

    If the address space is limited, work runs in the calling thread: Python hangs when a thread cannot be started.
    """
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

    class SerialExecutor(Executor):
        def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(function(*args, **options))
            return future

    return SerialExecutor() if has_memory_limit() else ThreadPoolExecutor(workers or os.cpu_count())


def has_memory_limit() -> bool:
    """Whether the address space of this process is limited."""
    try:
        import resource
    except ImportError:  # not available on Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
