"""Sizes of memory, and when columns stay in their engine."""

import polars as pl
import pytest

from scorespace.errors import ScoreSpaceError
from scorespace.io import fits_in_memory, parse_memory, read, resolve_roles
from scorespace.io.memory import free_memory


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("512MiB", 2**29), ("1.5 tb", 15 * 10**11), ("100", 100), (4e9, 4 * 10**9)]
)
def test_sizes_as_people_write_them(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["much", "2 elephants", "-1GB", "0GB", ""])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ScoreSpaceError, match="is not a size"):
        parse_memory(text)


def test_a_quarter_of_what_is_free_unless_stated():
    assert 0.5 < parse_memory(None) / (free_memory() / 4) < 2


def test_a_lazy_frame_fits_or_not_and_an_eager_one_is_in_memory_anyway():
    frame = pl.DataFrame({"y": [0, 1] * 500, "a": [0.1, 0.2] * 500, "b": [0.3, 0.4] * 500})
    for data, expected in ((frame, True), (frame.lazy(), False)):
        source = read(data)
        assert fits_in_memory(source, resolve_roles(source, truth="y", scores="a"), 99_999) is expected
    source = read(frame.lazy())
    assert fits_in_memory(source, resolve_roles(source, truth="y", scores="a"), 100_000)
    assert not fits_in_memory(source, resolve_roles(source, truth="y", scores=["a", "b"]), 199_999)


def test_a_short_text_file_is_not_read_to_be_counted(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("y,s\n1,0.5\n0,0.25\n")
    source = read(tmp_path / "a.csv")
    monkeypatch.setattr("scorespace.io.memory.count_rows", lambda source: pytest.fail("it was read"))
    assert fits_in_memory(source, resolve_roles(source, truth="y", scores="s"), 10_000)
