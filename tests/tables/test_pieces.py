"""Rows gone through in pieces: every row once, in order, whatever number of threads."""

import threading

import pytest

from scorespace.tables.pieces import PIECE, over_pieces


@pytest.mark.parametrize("workers", [None, 1, 2, 3, 64])
@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 4 * PIECE, 9 * PIECE + 7])
def test_pieces_cover_all_rows_once_and_in_order(size, workers, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: workers)
    pieces = over_pieces(lambda rows: rows, size)
    assert [row for piece in pieces for row in (piece.start, min(piece.stop, size))] == [
        row for first in range(0, size, PIECE) for row in (first, min(first + PIECE, size))
    ]


def test_few_pieces_start_no_thread_and_many_do(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    here = threading.current_thread()
    assert {here} == set(over_pieces(lambda _: threading.current_thread(), 3 * PIECE))
    assert here not in over_pieces(lambda _: threading.current_thread(), 4 * PIECE)


def test_where_memory_is_limited_no_thread_starts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**30, resource.RLIM_INFINITY))
    assert {threading.current_thread()} == set(over_pieces(lambda _: threading.current_thread(), 9 * PIECE))
    with pytest.raises(ZeroDivisionError):
        over_pieces(lambda rows: 1 // (5 * PIECE - rows.start), 6 * PIECE)


def test_an_error_in_a_piece_is_raised():
    with pytest.raises(ZeroDivisionError):
        over_pieces(lambda rows: 1 // (5 * PIECE - rows.start), 6 * PIECE)
