"""Screens that know only ASCII, streams that are closed or full, and interrupts at any moment."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
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


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
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


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_closed_streams(command, tmp_path, closed):
    (tmp_path / "in.csv").write_text(DATA)

    def close():
        for descriptor in closed:
            os.close(descriptor)

    done = subprocess.run(
        [command, "evaluate", "in.csv", *SHORT, "--report", "page.html"],
        cwd=tmp_path,
        capture_output=True,
        preexec_fn=close,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!")  # and nothing that was meant for the screen
    assert (tmp_path / "in.csv").read_text() == DATA


def test_nothing_to_read_from_a_closed_stream(command, tmp_path):
    done = subprocess.run(
        [command, "evaluate", "-", *ROLES],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(0),
        check=False,
        timeout=120,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)
    assert done.stderr.startswith(b"DataError: standard input has no rows.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_full_disk_behind_standard_output(shell, form):
    with open("/dev/full", "wb") as full:
        done = shell("evaluate", "in.csv", *SHORT, "--format", form, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"OSError: No space left on device: standard output\n"


def test_a_reader_that_has_gone_leaves_nothing_behind(command, tmp_path):
    (tmp_path / "tmp").mkdir()
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [command, "evaluate", "-", *SHORT],
        input=DATA.encode(),
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        check=False,
    )
    os.close(writer)
    assert (done.stderr, done.returncode) == (b"", 141)
    assert os.listdir(tmp_path / "tmp") == []


# --- interrupts


def _wait_for_python(process):
    """Until Python itself has started, which nobody can interrupt well, and our first line has taken the signals."""
    status = Path(f"/proc/{process}/status")
    for _ in range(2000):
        caught = re.search(r"SigCgt:\s*(\w+)", status.read_text()) if status.exists() else None
        if caught and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("share", range(6))
def test_an_interrupt_at_any_moment(command, tmp_path, number, share):
    """In the first half second libraries are loading; then data wait on standard input in a temporary file."""
    (tmp_path / "tmp").mkdir()
    moment = random.Random(f"{number}{share}").uniform(0, 1.25)
    with subprocess.Popen(
        [command, "evaluate", "-", *ROLES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # workers of pytest ignore it
    ) as process:
        process.stdin.write(DATA.encode())
        process.stdin.flush()
        _wait_for_python(process.pid)
        time.sleep(moment)
        process.send_signal(number)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
        said = process.stderr.read()
    assert b"Traceback" not in said
    assert said in (b"", b"stopped\n")
    assert process.returncode in (128 + number, -number)
    assert os.listdir(tmp_path / "tmp") == []


def test_memory_that_runs_out_says_so(command, tmp_path):
    """Or the work is done in what there is; a crash without a word is neither."""
    resource = pytest.importorskip("resource")
    big = "y,s\n" + "".join(f"{k % 2},{k / 1e6}\n" for k in range(400_000))
    (tmp_path / "in.csv").write_text(big)
    for megabytes in (700, 1000, 1500):
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
