"""No path leaves the folder, and no file in it is replaced."""

import os
import stat
import subprocess
import sys

import pytest

from scorespace.errors import DataError
from scorespace.server.folder import PrivateFolder, Sources, open_folder
from server.conftest import in_loop


def test_its_data_files_and_nothing_else_are_listed(folder):
    assert open_folder(folder).names() == ["credit.csv", "iris.csv"]


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.csv", "/etc/passwd", "leads_out.csv", ".hidden.csv", "notes.md", "below/deep.csv", "below", ""),
        *(
            "credit.csv\0",
            "..",
            ".",
            "./credit.csv",
            "below/../credit.csv",
            "C:\\secret.csv",
            "..\\secret.csv",
            "*.csv",
        ),
        *("file:///etc/passwd", "https://127.0.0.1/a.csv", "-", "~/a.csv", "/dev/stdin", "CREDIT.CSV"),
    ],
)
def test_every_other_name_is_refused(folder, name):
    if name == "CREDIT.CSV" and (folder / name).exists():
        pytest.skip("names differ in case only")
    with pytest.raises(DataError, match="data file"):
        open_folder(folder).path(name)


def test_a_folder_by_a_link_is_the_folder(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert open_folder(tmp_path / "link").path("credit.csv") == open_folder(folder).root / "credit.csv"


def test_a_link_within_the_folder_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,0.5\n")
    (tmp_path / "b.csv").symlink_to("a.csv")
    assert open_folder(tmp_path).path("b.csv").name == "a.csv"


def test_there_must_be_one(tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        open_folder(tmp_path / "none")


@pytest.mark.parametrize(
    "name",
    [
        *("../out.html", "/out.html", "below/out.html", "..\\out.html", "a\0.html", ".out.html", "", "out.csv"),
        *("credit.csv", "there.html", "dangling.html", "below"),
    ],
)
def test_nothing_is_saved_outside_or_over_anything(tmp_path, name):
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    (inside / "credit.csv").write_text("y,s\n1,0.5\n")
    (inside / "there.html").write_text("mine")
    (inside / "dangling.html").symlink_to(tmp_path / "out.html")
    before = sorted(map(str, tmp_path.rglob("*")))
    with pytest.raises(DataError):
        open_folder(inside).save(name, b"page")
    assert sorted(map(str, tmp_path.rglob("*"))) == before
    assert (inside / "there.html").read_text() == "mine"


def test_what_is_saved_is_there_whole_under_a_free_name(tmp_path):
    place = open_folder(tmp_path)
    assert place.save("a.html", b"page").read_bytes() == b"page"
    assert place.free("a.html") == "a-2.html"
    with pytest.raises(DataError) as told:
        place.save("a.html", b"other")
    assert str(told.value) == "'a.html' exists already.\n  hint: a-2.html"
    assert os.listdir(tmp_path) == ["a.html"]


async def pieces(*parts):
    for part in parts:
        yield part


def test_uploads_are_private_and_removed_at_the_end(folder):
    private = PrivateFolder()
    sources = Sources(open_folder(folder), private.path)
    for folder_mode in (private.path, private.path / "uploads"):
        assert stat.S_IMODE(folder_mode.stat().st_mode) == 0o700
    names = [in_loop(sources.upload(name, pieces(b"y,s\n", b"1,0.5\n"))) for name in ("a.csv", "a.csv", "../../b.csv")]
    assert names == ["uploads/a.csv", "uploads/a-2.csv", "uploads/b.csv"]
    assert sources.version("uploads/b.csv")[2] == 10
    for name in ("uploads/../a.csv", "uploads/", "demo/../__init__.py", "uploads/.a.csv", "jobs/a.csv"):
        with pytest.raises(DataError):
            sources.path(name)
    private.remove()
    assert not private.path.exists()


def test_an_upload_that_is_too_large_or_of_an_unknown_kind_leaves_nothing(folder, monkeypatch):
    monkeypatch.setattr("scorespace.server.folder.MAX_UPLOAD", 1_000_000)
    private = PrivateFolder()
    sources = Sources(open_folder(folder), private.path)
    with pytest.raises(DataError, match="limited to 1 MB"):
        in_loop(sources.upload("a.csv", pieces(b"x" * 900_000, b"x" * 900_000)))
    with pytest.raises(DataError, match="unknown extension"):
        in_loop(sources.upload("a.exe", pieces(b"x")))
    assert os.listdir(private.path / "uploads") == []
    private.remove()


def test_the_next_start_removes_what_a_killed_server_left(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = (
        "import os, signal; from scorespace.server.folder import PrivateFolder as P; p = P(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    (stale,) = os.listdir(tmp_path)
    alive = PrivateFolder()
    other = PrivateFolder()
    assert sorted(os.listdir(tmp_path)) == sorted([alive.path.name, other.path.name])
    assert stale not in os.listdir(tmp_path)
    alive.remove()
    other.remove()
