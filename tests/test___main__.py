"""The first lines of the command: streams and signals are made safe before anything slow is loaded."""

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


@pytest.fixture(scope="module")
def command() -> str:
    """Where the installed command is."""
    return str(Path(sys.executable).with_name("scorespace"))


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
    assert (done.stderr, done.returncode) == (b"", -signal.SIGPIPE)
    assert os.listdir(tmp_path / "tmp") == []


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
    assert process.returncode == -number
    assert os.listdir(tmp_path / "tmp") == []


def test_what_is_ignored_stays_so(command, tmp_path):
    # As under nohup: a shell that goes away does not end the run.
    with subprocess.Popen(
        [command, "evaluate", "-", *SHORT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    ) as process:
        _wait_for_python(process.pid)
        process.send_signal(signal.SIGHUP)
        said, complained = process.communicate(DATA.encode(), timeout=60)
    assert (process.returncode, complained) == (0, b"")
    assert b"auc" in said


def ended(body):
    """A command whose work is this, in a process of its own."""
    script = "import atexit, sys\nimport scorespace.__main__ as m, scorespace.cli as c\n"
    script += f"def work():\n    {body}\nc.main = work\nm.main()\n"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "code", "err"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.stdout.close()", 0, ""),
        ("sys.exit(1)", 1, ""),
        ("sys.exit(2)", 2, ""),
        ("sys.exit('words')", 1, "words\n"),
    ],
)
def test_the_command_ends_with_its_code(body, code, err):
    done = ended(body)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", err)


def test_an_error_that_is_let_through_is_told():
    done = ended("raise KeyError('gone')")
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: 'gone'\n")


def test_all_is_written_and_all_that_was_asked_for_is_done_before_the_end():
    work = "import threading, time; atexit.register(print, 'asked for last'); print('x' * 200_000); "
    work += "threading.Thread(target=lambda: (time.sleep(0.2), print('by a thread'))).start()"
    done = ended(work)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "x" * 200_000 + "\nby a thread\nasked for last\n"


def test_the_algebra_library_has_one_thread_unless_more_are_asked_for():
    name = "OPENBLAS_NUM_THREADS"
    body = f"import os, scorespace.cli as c; c.main = lambda: print(os.environ[{name!r}])\n"
    body += "from scorespace.__main__ import main; main()"
    surroundings = {key: value for key, value in os.environ.items() if key != name}
    for stated, seen in ({}, "1\n"), ({name: "3"}, "3\n"):
        asked = [sys.executable, "-c", body]
        done = subprocess.run(asked, env=surroundings | stated, capture_output=True, text=True, check=True)
        assert done.stdout == seen
