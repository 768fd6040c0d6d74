"""No path leaves the folder, and no file in it is replaced."""

import os

import pytest

from scorespace.errors import DataError
from scorespace.server.folder import open_folder


def test_its_data_files_and_nothing_else_are_listed(folder):
    assert open_folder(folder).names() == ["credit.csv", "iris.csv"]


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.csv", "/etc/passwd", "leads_out.csv", ".hidden.csv", "notes.txt", "below/deep.csv", "below", ""),
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
    with pytest.raises(DataError, match="there is no data file"):
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


def test_a_changed_file_is_another_version(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,0.5\n")
    place = open_folder(tmp_path)
    before = place.version("a.csv")
    assert place.version("a.csv") == before
    (tmp_path / "a.csv").write_text("y,s\n1,0.75\n")
    assert place.version("a.csv") != before


@pytest.mark.parametrize(
    "name",
    [
        *("../out.html", "/tmp/out.html", "below/out.html", "..\\out.html", "a\0.html", ".out.html", "", "out.csv"),
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
    assert str(told.value) == "'a.html' is there already.\n  hint: a-2.html"
    assert os.listdir(tmp_path) == ["a.html"]
