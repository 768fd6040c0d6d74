"""Faults at random moments: a kill, an interrupt, a full disk. The previous file is there or the new one, whole."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components import missing
from scorespace.cli.verbs import load, verbs

ROLES = ["--truth", "y", "--score", "s"]
RESULTS = "data,a,b,c\n" + "".join(f"d{k},0.{k + 1},0.{9 - k},0.{(k * 3) % 9 + 1}\n" for k in range(8))
DATA = "y,s,t,d,e\n" + "".join(
    f"{k % 2},{(k * 37 % 997) / 997},{(k * 53 % 991) / 991},{k % 2},{(k // 2) % 2}\n" for k in range(3000)
)
WRITING = {
    "evaluate": (["in.csv", *ROLES, "--measures", "auc"], "--report", "out.html"),
    "compare": (["in.csv", *ROLES, "--score", "t"], "--report", "out.html"),
    "curve": (["in.csv", *ROLES], "--out", "out.csv"),
    "curve picture": (["in.csv", *ROLES], "--out", "out.svg"),
    "calibrate": (["in.csv", *ROLES], "--out", "out.csv"),
    "calibrate parquet": (["in.csv", *ROLES], "--out", "out.parquet"),
    "calibrate map": (["in.csv", *ROLES], "--map", "out.json"),
    "calibrate page": (["in.csv", *ROLES], "--report", "out.html"),
    "cases": (["in.csv", *ROLES], "--out", "out.csv"),
    "agree": (["in.csv", "--rater", "A=d,s", "--rater", "B=e,t"], "--out", "out.json"),
    "drift": (["in.csv", "in.csv", *ROLES, "--replicates", "300"], "--out", "out.json"),
    "ranks": (["results.csv", "--measure", "auc"], "--out", "out.svg"),
    "demo": ([], "--report", "out.html"),
    "decide": (["in.csv", *ROLES, "--slope", "1"], "--out", "out.svg"),
    "decide page": (["in.csv", *ROLES, "--slope", "1"], "--report", "out.html"),
    "table": (["in.csv", *ROLES, "--memory", "1KB"], "--out", "out.parquet"),
    "audit": (["in.csv", "--target", "y"], "--report", "out.html"),
    "clusters": (["in.csv", "--label", "d", "--feature", "s", "--resamples", "2"], "--report", "out.html"),
    "rules": (["in.csv", "--item", "d", "--item", "e"], "--report", "out.html"),
}
LEARNT = ["--target", "y", "--learner", "majority", "--resampling", "2"]
WRITING |= {
    "study": (["learning", "in.csv", *LEARNT], "--out", "out.svg"),
    "benchmark": (["--data", "in.csv", *LEARNT], "--report", "out.html"),
}
ALIKE = ("decide", "decide page", "audit", "rules", "study", "benchmark")  # by the same functions as others
VERBS_THAT_WRITE = [kind for kind in WRITING if " " not in kind]
SIGNALS = [
    (kind, number)
    for place, kind in enumerate(WRITING)
    for number in (
        (signal.SIGKILL, signal.SIGINT)[place % 2 :][:1] if kind in ALIKE else (signal.SIGKILL, signal.SIGINT)
    )
]
"""Verbs that write by the same functions as others meet one of the two signals, in turn."""
OLD = "what was there before"


def start(folder, kind):
    arguments, option, out = WRITING[kind]
    (folder / "in.csv").write_text(DATA)
    (folder / "results.csv").write_text(RESULTS)
    (folder / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "scorespace", kind.split()[0], *arguments, option, out]
    return out, subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """By kind, what the file holds when nothing happens, and how long that takes."""
    done = {}

    def of(kind):
        if kind not in done:
            folder = tmp_path_factory.mktemp("whole")
            began = time.monotonic()
            out, process = start(folder, kind)
            _, said = process.communicate(timeout=120)
            assert process.returncode == 0, said
            done[kind] = (folder / out).read_bytes(), time.monotonic() - began
        return done[kind]

    return of


@pytest.mark.parametrize(("kind", "number"), SIGNALS)
def test_the_old_file_or_the_new_one(tmp_path, whole, kind, number):
    new, takes = whole(kind)
    moment = random.Random(f"{kind}{number}").uniform(0.5, 1.05) * takes
    (tmp_path / WRITING[kind][2]).write_text(OLD)
    out, process = start(tmp_path, kind)
    time.sleep(moment)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert b"Traceback" not in said
    held = (tmp_path / out).read_bytes()
    assert held == OLD.encode() or alike(held, new, out)
    assert hashlib.sha256((tmp_path / "in.csv").read_bytes()).digest() == hashlib.sha256(DATA.encode()).digest()
    if number == signal.SIGINT:
        assert remains(tmp_path) == []
        return
    _, again = start(tmp_path, kind)  # the next run removes what a kill left
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert alike((tmp_path / out).read_bytes(), new, out)
    assert remains(tmp_path) == []


@pytest.mark.parametrize("kind", [kind for kind in VERBS_THAT_WRITE if kind not in ALIKE])
def test_memory_that_runs_out_leaves_the_old_file_and_says_so(tmp_path, kind):
    """At one of these limits each verb fails; what a native library ends by itself still changes no file."""
    resource = pytest.importorskip("resource")
    arguments, option, out = WRITING[kind]
    rows = DATA.splitlines(keepends=True)
    (tmp_path / "in.csv").write_text(rows[0] + "".join(rows[1:]) * 30)
    (tmp_path / "results.csv").write_text(RESULTS)
    for megabytes in (500, 700):
        (tmp_path / out).write_text(OLD)
        limit = megabytes << 20
        done = subprocess.run(
            [sys.executable, "-m", "scorespace", kind.split()[0], *arguments, option, out],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr
        if done.returncode != 0:
            assert (tmp_path / out).read_text() == OLD
        if done.returncode == 2:  # what a crash leaves, the next run removes
            assert "not enough memory" in done.stderr
            assert remains(tmp_path) == []
            break


def test_every_verb_that_writes_meets_its_faults():
    commands = {name: load(verb) for name, verb in verbs().items()}
    writes = {verb for verb, one in commands.items() if {"out", "report", "map"} & {each.name for each in one.params}}
    by_the_functions_of_others = {"check", "label", "ledger"}
    assert writes == {*VERBS_THAT_WRITE, *by_the_functions_of_others}


def alike(held, new, out):
    """Pictures and pages may name their parts at random; they are as long and end alike."""
    return held == new or (
        out.endswith((".svg", ".html")) and abs(len(held) - len(new)) < 200 and held[-9:] == new[-9:]
    )


def remains(folder):
    return [str(each) for each in folder.rglob(".scorespace-*")]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """On a file system of a quarter of a megabyte, where it can be mounted."""
    room = tmp_path / "room"
    room.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", room], capture_output=True, check=False
    ).returncode
    if not mounted:
        missing("no right to mount a small file system")
    try:
        (tmp_path / "in.csv").write_text(DATA)
        for verb, option, name in [
            ("evaluate", "--report", "out.html"),
            ("calibrate", "--out", "out.csv"),
            ("calibrate", "--out", "out.parquet"),
            ("table", "--out", "out.parquet"),
        ]:
            (room / name).write_text(OLD)
            (room / "filler").write_bytes(b"x" * 240_000)
            done = subprocess.run(
                [sys.executable, "-m", "scorespace", verb, "in.csv", *ROLES, option, str(room / name)],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 2, (name, done.stderr)
            assert done.stdout == ""
            assert done.stderr.startswith(f"DataError: '{room / name}' cannot be written.\n  seen: ")
            assert (room / name).read_text() == OLD
            assert remains(room) == []
    finally:
        subprocess.run(["umount", room], check=False, capture_output=True)


def test_two_runs_that_write_one_file(tmp_path, whole):
    new, _ = whole("calibrate")
    runs = [start(tmp_path, "calibrate") for _ in range(2)]
    for _, process in runs:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert (tmp_path / "out.csv").read_bytes() == new
    assert remains(tmp_path) == []
    assert Path(tmp_path / "in.csv").read_text() == DATA
