"""Progress: on a terminal, once the work takes long, and never among the results."""

import io
import sys

import pytest

from scorespace.cli import output


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_without_a_terminal_there_is_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with output.progress("bootstrap") as advance:
        assert advance is None


@pytest.mark.parametrize(("patience", "shown"), [(60, False), (-1, True)])
def test_only_long_work_shows_a_bar(monkeypatch, capsys, patience, shown):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(output, "_PROGRESS_DELAY", patience)
    with output.progress("bootstrap") as advance:
        for share in (0.0, 0.5, 1.0):
            advance(share)
    assert ("bootstrap" in screen.getvalue()) == shown
    assert capsys.readouterr().out == ""
