"""Addresses: nothing is fetched unless asked for, and then over https alone."""

import http.server
import os
import socket
import ssl
import subprocess
import threading

import pytest

import scorespace as ss
from components import missing
from scorespace.errors import DataError
from scorespace.frames import read

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
        f"{rest.rpartition('/')[2]} is at an address ({scheme.lower()}://), and nothing is fetched unless you ask "
        "for it.\n  hint: --allow-remote for https addresses, or a copy of the file"
    )


@pytest.mark.parametrize("address", [each for each in ADDRESSES if not each.startswith("https")])
def test_only_https_is_read(no_network, address):
    with ss.allow_remote(), pytest.raises(DataError, match="https:// alone is read"):
        read(address)


def test_allowing_ends_with_the_block(no_network):
    with ss.allow_remote():
        pass
    with pytest.raises(DataError, match="nothing is fetched"):
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
        ("away/a.csv", "it sends on to http://"),
        ("absent/a.csv", "Not Found"),
        ("short/a.csv", "the connection broke off after 22 of 27 bytes"),
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
