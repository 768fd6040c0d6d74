"""Rows gone through in pieces: every row once, in order, whatever number of threads."""

import threading

import pytest

from scorespace.tables.chunks import CHUNK_ROWS, map_chunks


@pytest.mark.parametrize("workers", [None, 1, 2, 3, 64])
@pytest.mark.parametrize(
    "size", [0, 1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS, 4 * CHUNK_ROWS, 9 * CHUNK_ROWS + 7]
)
def test_pieces_cover_all_rows_once_and_in_order(size, workers, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: workers)
    pieces = map_chunks(lambda rows: rows, size)
    assert [row for piece in pieces for row in (piece.start, min(piece.stop, size))] == [
        row for first in range(0, size, CHUNK_ROWS) for row in (first, min(first + CHUNK_ROWS, size))
    ]


def test_few_pieces_start_no_thread_and_many_do(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    here = threading.current_thread()
    assert {here} == set(map_chunks(lambda _: threading.current_thread(), 3 * CHUNK_ROWS))
    assert here not in map_chunks(lambda _: threading.current_thread(), 4 * CHUNK_ROWS)


def test_where_memory_is_limited_no_thread_starts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**30, resource.RLIM_INFINITY))
    assert {threading.current_thread()} == set(map_chunks(lambda _: threading.current_thread(), 9 * CHUNK_ROWS))
    with pytest.raises(ZeroDivisionError):
        map_chunks(lambda rows: 1 // (5 * CHUNK_ROWS - rows.start), 6 * CHUNK_ROWS)


def test_an_error_in_a_piece_is_raised():
    with pytest.raises(ZeroDivisionError):
        map_chunks(lambda rows: 1 // (5 * CHUNK_ROWS - rows.start), 6 * CHUNK_ROWS)
