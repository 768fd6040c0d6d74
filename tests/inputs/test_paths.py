"""What a path means: files by name and pattern, standard input, pipes, and what is told where there is nothing."""

from __future__ import annotations

import http.server
import io
import os
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import scorespace as ss
from components import missing
from helpers.sources import CREDIT, refused, values, write
from scorespace.errors import DataError
from scorespace.io import read
from scorespace.io.paths import input_files, local_copy, resolve_paths

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("name", ["a[1].csv", "it's; DROP TABLE x.csv", "a*.csv", 'say "hi" ?.csv', "ä ö.csv", "A.CSV"])
def test_names_of_files_are_taken_literally(name: str) -> None:
    write("ab.csv", "other\n1\n")
    write(name)
    assert values(name) == CREDIT
    assert values(Path(name)) == CREDIT


def test_a_file_that_is_not_there() -> None:
    write("credit.csv")
    write("runs/part.csv")
    assert refused("credt.csv") == (
        "file 'credt.csv' does not exist.\n  seen: 'credit.csv'\n  hint: did you mean 'credit.csv'?"
    )
    assert refused("runs/prt.csv") == (
        "file 'runs/prt.csv' does not exist.\n  seen: 'part.csv'\n  hint: did you mean 'runs/part.csv'?"
    )
    assert refused("zzz.parquet") == (
        "file 'zzz.parquet' does not exist.\n  seen: 'credit.csv'\n  hint: check the path"
    )
    assert refused("data/credit.csv") == (
        "file 'data/credit.csv' does not exist.\n  seen: no folder 'data'\n  hint: check the folder"
    )
    Path("void").mkdir()
    assert refused("void/credit.csv") == (
        "file 'void/credit.csv' does not exist.\n  seen: an empty folder\n  hint: check the path"
    )


def test_a_folder() -> None:
    write("runs/a.parquet")
    Path("void").mkdir()
    assert refused("runs") == (
        "'runs' is a folder, not a file.\n"
        "  seen: 'a.parquet'\n"
        "  hint: a file in it, or a pattern such as runs/*.parquet"
    )
    assert refused("void") == (
        "'void' is a folder, not a file.\n"
        "  seen: an empty folder\n"
        "  hint: a file in it, or a pattern such as void/*.csv"
    )


def test_an_unknown_ending() -> None:
    known = ".csv, .tsv, .txt, .xlsx, .xls, .ods, .parquet, .json, .jsonl, .ndjson, .arrow, .feather, .ipc"
    known += ", optionally followed by .gz"
    assert refused(write("credit.sav")) == (
        f"credit.sav has an unknown extension.\n  seen: '.sav'\n  hint: one of {known}"
    )
    assert refused(write("credit")) == f"credit has an unknown extension.\n  seen: none\n  hint: one of {known}"
    assert refused("https://example.org/credit.sas?key=1") == (
        f"credit.sas has an unknown extension.\n  seen: '.sas'\n  hint: one of {known}"
    )


def test_a_pattern() -> None:
    write("part-1.csv")
    write("part-2.json", "[]")
    assert refused("data-*.csv") == ("no file matches 'data-*.csv'.\n  hint: quote the pattern, and check the folder")
    assert refused("part-*") == (
        "'part-*' names files of different formats.\n"
        "  seen: 'part-1.csv', 'part-2.json'\n"
        "  hint: a pattern for one format"
    )


def test_what_is_opened_to_read_the_data() -> None:
    write("part-1.csv")
    write("part-2.csv")
    assert input_files("part-*.csv") == resolve_paths("part-*.csv") == ["part-1.csv", "part-2.csv"]
    assert input_files(Path("part-1.csv")) == ["part-1.csv"]
    assert input_files("-") == [0]
    for nothing in ("absent.csv", "https://example.org/a.csv", {"y": [1]}, b"part-1.csv"):
        assert input_files(nothing) == []


def test_standard_input_is_kept_while_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"outcome,nb\ngood,0.2\nbad,0.7\n")))
    with local_copy("-") as copy:
        assert values(copy) == values(copy) == CREDIT
        assert copy.path.exists()
    assert not copy.path.exists()
    monkeypatch.setattr(sys, "stdin", None)
    assert refused("-") == "standard input has no rows.\n  seen: it is closed\n  hint: one row per case"


def test_names_that_are_no_paths() -> None:
    assert refused("a\x00b.csv").startswith("'a\\x00b.csv' is not a path.\n  seen: ")
    assert refused("a\ud800.csv") == "the name 'a\\ud800.csv' is not UTF-8.\n  hint: rename the file"


def test_pipes_and_devices_are_named(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path, what in ((pipe, "a pipe"), ("/dev/null", "a device or a socket")):
        with pytest.raises(DataError) as caught:
            read(path)
        assert caught.value.problem == f"{str(path)!r} is not a regular file."
        assert (caught.value.seen, caught.value.hint) == (what, "- reads standard input: scorespace … - < FILE")


def test_what_a_shell_puts_for_another_command_is_read():
    out, into = os.pipe()
    try:
        os.write(into, b"y,p\n1,0.9\n0,0.2\n")
        os.close(into)
        assert ss.evaluate(f"/dev/fd/{out}", truth="y", scores="p").models.rows == 2
    finally:
        os.close(out)


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y,p\n1,0.9\n0,0.2\n")))
    assert read("-").columns == ("y", "p")
    with pytest.raises(DataError) as caught:
        read("-")
    assert str(caught.value) == (
        "standard input can be read only once.\n  seen: - twice\n  hint: save it to a file and use that"
    )


DATA = b"y,s\n1,0.9\n0,0.1\n1,0.6\n"
ADDRESSES = [
    "http://localhost:9/a.csv",
    "https://localhost:9/a.csv",
    "s3://bucket/a.parquet",
    "gs://bucket/a.csv",
    "hf://datasets/me/a.csv",
    "ftp://host/a.csv",
    "HTTP://localhost/a.csv",
    "az://box/a.json",
]


@pytest.fixture
def no_network(monkeypatch):
    """Any attempt to connect fails the test."""
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("somebody connects to the network"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("somebody asks for an address"))


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_fetched_unless_asked_for(no_network, address):
    with pytest.raises(DataError) as caught:
        read(address)
    scheme, _, rest = address.partition("://")
    assert str(caught.value) == (
        f"{rest.rpartition('/')[2]} is a {scheme.lower()}:// URL, and remote files are not downloaded by default."
        "\n  hint: --allow-remote for https URLs, or a local copy of the file"
    )


@pytest.mark.parametrize("address", [each for each in ADDRESSES if not each.startswith("https")])
def test_only_https_is_read(no_network, address):
    with ss.allow_remote(), pytest.raises(DataError, match="only https:// URLs can"):
        read(address)


def test_allowing_ends_with_the_block(no_network):
    with ss.allow_remote():
        pass
    with pytest.raises(DataError, match=r"a\.csv is a https://"):
        read("https://localhost:9/a.csv")


class Server(http.server.BaseHTTPRequestHandler):
    """Sends the data, sends on to http, or breaks off."""

    def do_GET(self):
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://localhost:9/a.csv")
            self.end_headers()
        elif self.path.startswith("/absent"):
            self.send_error(404)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(DATA) + (5 if self.path.startswith("/short") else 0)))
            self.end_headers()
            self.wfile.write(DATA)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """An https server of our own, and the certificate that vouches for it."""
    folder = tmp_path_factory.mktemp("server")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    try:
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate),
                *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            ],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        missing("openssl is not here")
    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"https://localhost:{listening.server_port}", str(certificate)
    listening.shutdown()


@pytest.fixture
def trusting(server, monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", server[1])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return server[0]


def test_a_file_over_https(trusting, tmp_path):
    with ss.allow_remote():
        source = read(f"{trusting}/a.csv?key=secret")
        assert source.arrays(source.frame)["s"].tolist() == [0.9, 0.1, 0.6]
        assert source.name == "a.csv"
        found = ss.evaluate(f"{trusting}/a.csv", truth="y", scores="s", measures="auc")
    assert found.models.rows == 3
    del source, found
    remote_copies = [name for name in os.listdir(tmp_path) if name.endswith(".csv")]
    assert len(remote_copies) <= 1  # gone with the engine that reads them, at the latest at the end


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("away/a.csv", "redirect to http://"),
        ("absent/a.csv", "Not Found"),
        ("short/a.csv", "the connection was lost after 22 of 27 bytes"),
    ],
)
def test_answers_that_are_not_used(trusting, tmp_path, path, seen):
    with ss.allow_remote(), pytest.raises(DataError) as caught:
        read(f"{trusting}/{path}")
    assert str(caught.value).startswith(f"a.csv cannot be read.\n  seen: {seen}")
    assert os.listdir(tmp_path) == []


def test_a_server_that_nobody_vouches_for(server, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with ss.allow_remote(), pytest.raises(DataError, match="certificate"):
        read(f"{server[0]}/a.csv")


def test_the_command_line_fetches_when_told_to(trusting, tmp_path):
    import sys

    def run(*more):
        arguments = ["evaluate", f"{trusting}/a.csv", "--truth", "y", "--score", "s", "--measures", "auc", *more]
        return subprocess.run(
            [sys.executable, "-m", "scorespace", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            check=False,
        )

    refused, done = run(), run("--allow-remote")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(tmp_path) == []
