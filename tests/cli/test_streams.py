"""Screens that know only ASCII, disks and memory that are full."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = "y,s\n" + "".join(f"{k % 2},{(k * 37 % 100) / 100}\n" for k in range(60))
ROLES = ["--truth", "y", "--score", "s"]
SHORT = [*ROLES, "--measures", "auc,ppv@0.5"]


@pytest.fixture
def shell(command, tmp_path):
    """The command as users run it, with the bytes that it wrote."""
    (tmp_path / "in.csv").write_text(DATA)

    def run(*arguments, **options):
        environment = {**os.environ, **options.pop("env", {})}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "check": False, **options}
        return subprocess.run([command, *arguments], cwd=tmp_path, env=environment, timeout=120, **options)

    return run


@pytest.mark.parametrize(
    ("encoding", "form"),
    [
        *((encoding, "table") for encoding in ("ascii", "latin-1", "cp1252", "utf-8")),
        *(("ascii", form) for form in ("json", "csv", "markdown")),
    ],
)
def test_every_encoding_will_do(shell, encoding, form):
    done = shell("evaluate", "in.csv", *SHORT, "--format", form, env={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    if form == "table":
        assert ("auc ↑" if encoding == "utf-8" else "auc ^") in " ".join(text.split())
    if form == "json":
        assert json.loads(text)["data"]["rows"] == 60


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["measures"], ["measures", "auc"]])
def test_help_and_catalogue_in_ascii(shell, arguments):
    done = shell(*arguments, env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_labels_are_escaped_and_not_paraphrased_in_data(shell, tmp_path):
    (tmp_path / "in.csv").write_text(DATA.replace("\n1,", "\n≥,"), encoding="utf-8")
    done = shell(
        *("evaluate", "in.csv", *SHORT, "--positive", "≥", "--format", "json"), env={"PYTHONIOENCODING": "ascii"}
    )
    assert json.loads(done.stdout)["data"]["positive"] == "≥"


def test_errors_in_ascii(shell):
    done = shell("evaluate", "in.csv", "--truth", "y", "--score", "é≥", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert done.stderr.startswith(b"ColumnError: column '\\xe9>=' is not in in.csv.\n")


def test_arguments_that_are_no_text(shell):
    done = shell("evaluate", "in.csv", "--truth", b"\xff", "--score", "s")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    done = shell("evaluate", b"\xff.csv", *ROLES)
    assert done.returncode == 2
    assert done.stderr.startswith(b"DataError: the name '\\udcff.csv' is not UTF-8.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_full_disk_behind_standard_output(shell, form):
    with open("/dev/full", "wb") as full:
        done = shell("evaluate", "in.csv", *SHORT, "--format", form, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"OSError: No space left on device: standard output\n"


def test_memory_that_runs_out_says_so(command, tmp_path):
    """Or the work is done in what there is; a crash without a word is neither."""
    resource = pytest.importorskip("resource")
    big = "y,s\n" + "".join(f"{k % 2},{k / 1e6}\n" for k in range(400_000))
    (tmp_path / "in.csv").write_text(big)
    for megabytes in (1000, 1500):  # with less, native libraries end the process while they are loaded
        limit = megabytes << 20
        done = subprocess.run(
            [command, "evaluate", "in.csv", *SHORT],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            check=False,
            timeout=120,
        )
        assert done.returncode in (0, 2), (megabytes, done.returncode, done.stderr)
        assert "Traceback" not in done.stderr, (megabytes, done.stderr)
        if done.returncode == 2:
            assert "not enough memory" in done.stderr, (megabytes, done.stderr)


# --- what others bring along


def test_measures_of_others_that_fail_on_import_are_named_and_the_rest_goes_on(tmp_path):
    (tmp_path / "broken.py").write_text("import nothing_like_this\n")
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[scorespace.measures]\nbroken = broken\n")
    done = subprocess.run(
        [sys.executable, "-m", "scorespace", "measures", "auc"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == (
        "warning: the plug-in broken (broken) cannot be loaded: "
        "ModuleNotFoundError: No module named 'nothing_like_this'\n"
    )
    assert "auc" in done.stdout
