"""`scorespace serve`: the address is printed at once, Ctrl-C ends it, and what cannot be served is told."""

import os
import re
import signal
import subprocess
import time
import urllib.request

import pytest


@pytest.fixture
def served(command, tmp_path):
    """The command as users run it, with what it printed."""
    processes = []

    def start(*arguments):
        words = [command, "serve", *arguments]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process, [process.stdout.readline() for _ in range(3)]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_it_prints_the_address_serves_and_ends_by_ctrl_c(served, credit, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process, lines = served(*credit, "--score", "tree", "--cost-fp", "1", "--cost-fn", "5")
    assert lines[0] == f"serving {os.path.realpath(tmp_path)}\n"
    found = re.fullmatch(
        r"page    (http://scorespace-\w{12}\.localhost:\d+/\?token=[\w-]{32}&file=credit\.csv&\S*)\n", lines[1]
    )
    assert found[1].endswith("&truth=outcome&positive=bad&score=tree&cost-fp=1&cost-fn=5")
    assert lines[2] == "end     Ctrl-C\n"
    port = re.search(r":(\d+)/", found[1])[1]
    wrong = urllib.request.Request(f"http://127.0.0.1:{port}/?token=x")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(wrong)
    private = [name for name in os.listdir(temporary) if name.startswith(".scorespace-serve-")]
    assert len(private) == 1
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=10)
    assert (out, err, process.returncode) == ("", "stopped\n", -signal.SIGINT)
    assert time.monotonic() - began < 5
    assert not [name for name in os.listdir(temporary) if name.startswith(".scorespace-serve-")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--truth", "y"],
            "DataError: columns are named, but no file.\n  hint: scorespace serve DATA --truth COL --score COL\n",
        ),
        (["--folder", "none"], "DataError: there is no folder 'none'.\n  hint: --folder DIR, an existing folder\n"),
        (["none.csv"], "DataError: file 'none.csv' does not exist.\n  hint: check the path\n"),
        (
            ["a.csv", "b.csv"],
            "DataError: serve shows one file at a time.\n  hint: the folder: scorespace serve --folder DIR\n",
        ),
    ],
)
def test_what_cannot_be_served(run, arguments, message):
    done = run("serve", *arguments)
    assert (done.code, done.out, done.err) == (2, "", message)


def test_a_file_outside_the_folder(run, write, tmp_path):
    write("a.csv", "y,s\n1,0.5\n")
    (tmp_path / "in").mkdir()
    done = run("serve", "a.csv", "--folder", "in")
    folder = os.path.realpath(tmp_path / "in")
    message = f"DataError: 'a.csv' is not a data file of the folder.\n  seen: {folder}\n  hint: --folder DIR\n"
    assert (done.code, done.err) == (2, message)


def test_another_host_is_warned_of_and_nothing_opens_a_browser_unasked(run, monkeypatch):
    monkeypatch.setattr("scorespace.server.serve.Server.run", lambda server: None)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = run("serve", "--host", "0.0.0.0")
    assert done.err.startswith("warning: ")
    assert "0.0.0.0" in done.err
    assert opened == []
    done = run("serve", "--open")
    assert done.err == ""
    assert opened[0].startswith("file://")  # not the address, which would show the key in a list of processes
    token = re.search(r"token=([\w-]+)", done.out)[1]
    assert token not in opened[0]
    assert not os.path.exists(opened[0].removeprefix("file://"))  # removed at the end


def test_slices_rows_and_costs_are_in_the_address_and_what_they_lack_is_told(run, write, tmp_path, monkeypatch):
    monkeypatch.setattr("scorespace.server.serve.Server.run", lambda server: None)
    write("a.csv", "y,s\n1,0.5\n")
    write("costs.csv", ",1,0\n1,0,5\n0,1,0\n")
    roles = ["serve", "a.csv", "--truth", "y", "--score", "s"]
    done = run(*roles, "--where", "s > 0", "--by", "s(bins=2)", "--costs", "costs.csv")
    assert done.out.splitlines()[1].endswith(
        "&file=a.csv&truth=y&score=s&where=s+%3E+0&by=s%28bins%3D2%29&costs=costs.csv"
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "costs.csv").rename(tmp_path / "in" / "costs.csv")
    done = run(*roles, "--costs", "in/costs.csv")
    assert (done.code, done.err.splitlines()[0]) == (2, "DataError: 'in/costs.csv' is not a data file of the folder.")
    done = run(*roles, "--cost-fp", "1")
    assert (done.code, done.err.splitlines()[0]) == (2, "ConditionError: the costs of both errors are needed.")


def test_a_folder_is_served_as_one(run, monkeypatch, tmp_path):
    monkeypatch.setattr("scorespace.server.serve.Server.run", lambda server: None)
    done = run("serve", ".")
    assert (done.code, done.out.splitlines()[0]) == (0, f"serving {os.path.realpath(tmp_path)}")
