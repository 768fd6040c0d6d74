"""Files are put in place whole, never over what is read, and nothing is left behind."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scorespace import files
from scorespace.errors import DataError


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def left(folder="."):
    return sorted(name for name in os.listdir(folder) if name.startswith(".scorespace-"))


def test_the_old_file_or_the_new_one_whole():
    path = Path("a.csv")
    path.write_text("old")

    def fail():
        with files.atomic_write(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    files.write_file(path, b"new")
    assert path.read_text() == "new"
    assert os.listdir(".") == ["a.csv"]


def test_a_link_stays_a_link():
    Path("real.csv").write_text("old")
    Path("link.csv").symlink_to("real.csv")
    Path("dangling.csv").symlink_to("nothing yet.csv")
    files.write_file(Path("link.csv"), b"new")
    files.write_file(Path("dangling.csv"), b"newer")
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text() == "new"
    assert Path("dangling.csv").is_symlink()
    assert Path("nothing yet.csv").read_text() == "newer"


def test_permissions_stay():
    Path("secret.csv").write_text("old")
    os.chmod("secret.csv", 0o600)
    files.write_file(Path("secret.csv"), b"new")
    files.write_file(Path("new.csv"), b"new")
    Path("usual.csv").write_text("as ever")
    modes = {name: stat.S_IMODE(os.stat(f"{name}.csv").st_mode) for name in ("secret", "new", "usual")}
    assert modes["secret"] == 0o600
    assert modes["new"] == modes["usual"]


def test_a_name_as_long_as_names_can_be():
    path = Path("x" * 251 + ".csv")
    assert files.write_file(path, b"new").read_bytes() == b"new"


@pytest.mark.parametrize(("name", "seen"), [("folder.csv", "a folder"), ("pipe.csv", "a device or a pipe")])
def test_what_is_no_file_is_not_replaced(name, seen):
    if name == "pipe.csv":
        os.mkfifo(name)
    else:
        os.mkdir(name)
    for attempt in (lambda: files.write_file(Path(name), b""), lambda: files.check_target(Path(name), (".csv",))):
        with pytest.raises(DataError) as caught:
            attempt()
        assert str(caught.value) == f"'{name}' cannot be written.\n  seen: it is {seen}\n  hint: name a regular file"


def test_devices_are_not_replaced():
    Path("null.csv").symlink_to("/dev/null")
    with pytest.raises(DataError, match="a device"):
        files.write_file(Path("null.csv"), b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_places_that_cannot_be_written():
    with pytest.raises(DataError) as caught:
        files.check_target(Path("absent/a.csv"), (".csv",))
    assert (
        str(caught.value)
        == "the folder 'absent' for a.csv does not exist.\n  hint: create it, or choose another folder"
    )
    with pytest.raises(DataError) as caught:
        files.check_target(Path("a.doc"), (".csv", ".json"))
    assert str(caught.value) == "'a.doc' has no known file extension.\n  hint: .csv .json"
    with pytest.raises(DataError, match=r"'a\\x00b.csv' cannot be written"):
        files.write_file(Path("a\0b.csv"), b"")


def test_any_name_of_a_file_that_is_read_is_refused():
    Path("in.csv").write_text("data")
    os.link("in.csv", "hard.csv")
    Path("soft.csv").symlink_to("in.csv")
    Path("softer.csv").symlink_to("soft.csv")
    for name in ("in.csv", "./in.csv", "hard.csv", "soft.csv", "softer.csv"):
        with pytest.raises(DataError) as caught:
            files.check_not_an_input(Path(name), ["in.csv"])
        assert str(caught.value) == (
            f"'{Path(name)!s}' is an input file and is not overwritten.\n  hint: choose another output file"
        )
    files.check_not_an_input(Path("other.csv"), ["in.csv", "absent.csv", "a\0b"])


def test_a_run_writes_over_nothing_that_it_has_read():
    Path("in.csv").write_text("data")
    Path("soft.csv").symlink_to("in.csv")
    token = files._read_files.set(set())
    try:
        files.record_read("in.csv")
        files.record_read("absent.csv")
        with pytest.raises(DataError, match="input file"):
            files.write_file(Path("soft.csv"), b"x")
    finally:
        files._read_files.reset(token)
    assert Path("in.csv").read_text() == "data"


# --- what a kill leaves behind


SLEEPER = """
import sys, time
from pathlib import Path
from scorespace import files
with files.temporary_file(".csv", Path(".")) as path:
    path.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


def start():
    process = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_the_next_run_removes_what_a_killed_one_left_and_leaves_the_living_alone():
    killed, living = start(), start()
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert len(left()) == 2
        files.write_file(Path("a.csv"), b"new")
        assert len(left()) == 1
    finally:
        living.kill()
        living.wait()
        for process in (killed, living):
            process.stdout.close()
    files.write_file(Path("a.csv"), b"new")
    assert left() == []


def test_the_folder_for_temporary_files_is_swept_too(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stale = tmp_path / ".scorespace-0123456789ab.csv"
    stale.write_text("left by a kill")
    with files.temporary_file(".csv") as path:
        assert not stale.exists()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == []


def test_what_an_engine_spilled_is_removed_once_its_process_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for process in (gone.pid, os.getpid()):
        (tmp_path / f".scorespace-spill-{process}").mkdir()
        (tmp_path / f".scorespace-spill-{process}" / "part").write_text("half of a table")
    assert files.spill_folder() == str(tmp_path / f".scorespace-spill-{os.getpid()}")
    assert os.listdir(tmp_path) == [f".scorespace-spill-{os.getpid()}"]


def test_two_processes_that_write_one_file(tmp_path):
    """The file is always one of those written, whole."""
    writer = (
        "import sys, time\nfrom pathlib import Path\nfrom scorespace.files import write_file\n"
        "end = time.monotonic() + 2\n"
        "while time.monotonic() < end: write_file(Path('a.csv'), sys.argv[1].encode() * 200_000)"
    )
    both = [subprocess.Popen([sys.executable, "-c", writer, sign]) for sign in "xy"]
    seen = set()
    while any(process.poll() is None for process in both):
        if Path("a.csv").exists():
            content = Path("a.csv").read_bytes()
            assert len(content) == 200_000
            assert len(set(content)) == 1
            seen.add(content[:1])
        time.sleep(0.005)
    assert [process.wait() for process in both] == [0, 0]
    assert seen == {b"x", b"y"}
    assert left() == []
