"""The script that draws: made once, kept whole or not at all, and never in the way."""

import hashlib
import os
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from scorespace.views.report import bundle

MADE = 'drawn("</script><!-- ");'


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Count how often the script is made, with an empty cache."""
    calls = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bundle.sys, "platform", "linux")
    monkeypatch.setattr(bundle, "_made", lambda: calls.append(1) or MADE)
    yield calls
    bundle.vega.cache_clear()


def script():
    """The script as a new process would get it."""
    bundle.vega.cache_clear()
    return bundle.vega()


def test_it_is_made_once_and_then_read(made):
    first = script()
    assert first == script() == 'drawn("<\\/script><\\!-- ");'
    assert len(made) == 1


def test_the_file_names_the_version_and_holds_its_hash(made, tmp_path):
    script()
    (kept,) = (tmp_path / "cache" / "scorespace").iterdir()
    assert kept == bundle.kept_at()
    assert kept.name.startswith(f"vega-{version('vl-convert-python')}-")
    assert kept.read_text() == f"{hashlib.sha256(MADE.encode()).hexdigest()}\n{MADE}"


@pytest.mark.parametrize("spoil", [lambda b: b[:-1], lambda b: b + b" ", lambda b: b"", lambda b: b"\xff" * 90])
def test_what_is_not_whole_is_made_again(made, spoil):
    script()
    place = bundle.kept_at()
    place.write_bytes(spoil(place.read_bytes()))
    assert script() == script()
    assert len(made) == 2


def test_another_version_or_snippet_has_a_file_of_its_own(made, monkeypatch):
    script()
    monkeypatch.setattr(bundle, "version", lambda name: "0")
    script()
    monkeypatch.setattr(bundle, "SNIPPET", "another")
    script()
    assert len(made) == 3
    assert len(list(bundle.kept_at().parent.iterdir())) == 3


def test_a_cache_that_cannot_be_written_is_no_mistake(made, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file, and no folder")
    assert script() == script()
    assert len(made) == 2


def test_a_failure_leaves_nothing_behind(made, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    script()
    assert list(bundle.kept_at().parent.iterdir()) == []


@pytest.mark.parametrize(
    ("platform", "stated", "usual"),
    [
        ("linux", "XDG_CACHE_HOME", ".cache"),
        ("darwin", "XDG_CACHE_HOME", "Library/Caches"),
        ("win32", "LOCALAPPDATA", "AppData/Local"),
    ],
)
def test_where_it_is_kept(monkeypatch, tmp_path, platform, stated, usual):
    monkeypatch.setattr(bundle.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv(stated, str(tmp_path))
    assert bundle.kept_at().parent == tmp_path / "scorespace"
    for nothing in ("", "not/absolute"):
        monkeypatch.setenv(stated, nothing)
        assert bundle.kept_at().parent == tmp_path / "home" / usual / "scorespace"


def test_without_a_home_it_is_made_every_time(made, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    assert script() == script()
    assert len(made) == 2


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_others_cannot_write_there(made):
    script()
    assert stat.S_IMODE(bundle.kept_at().parent.stat().st_mode) == 0o700


def test_the_real_script_is_kept_and_then_spares_loading_vl_convert(tmp_path):
    code = (
        "import sys\nfrom scorespace.views.report.bundle import vega\n"
        "text = vega()\nprint(len(text) > 500_000, '</script' in text, 'vl_convert' in sys.modules)"
    )
    where = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=where, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs == ["True False True\n", "True False False\n"]
