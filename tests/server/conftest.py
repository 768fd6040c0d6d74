"""A real server on a free port, and a browser's questions to it without a browser."""

from __future__ import annotations

import asyncio
import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import urlencode

import pytest

from scorespace.server.folder import open_folder
from scorespace.server.serve import Server

CREDIT = {"file": "credit.csv", "truth": "outcome", "positive": "bad", "score": ["naive_bayes", "tree"]}
"""What is asked of the bundled predictions."""


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Client:
    """Asks a server as a browser would: with its key, its name, and its own origin; each can be changed."""

    server: Server

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str | None) -> Reply:
        auth = self.server.auth
        host = auth.origin.removeprefix("http://")
        usual = {"Host": host, "Cookie": f"{auth.cookie}={auth.token}"}
        if method != "GET":
            usual |= {"Origin": auth.origin}
        stated = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", auth.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**usual, **stated}.items():
            if value is not None:
                connection.putheader(name, value)
        sent = body.encode() if isinstance(body, str) else body
        if sent is not None and "Content-Length" not in stated:
            connection.putheader("Content-Length", str(len(sent)))
        connection.endheaders(sent)
        found = connection.getresponse()
        reply = Reply(found.status, found.headers, found.read())
        connection.close()
        return reply

    def get(self, path: str = "/", /, **words: object) -> Reply:
        """A page by its path and the parameters of its address."""
        return self.ask("GET", f"{path}?{urlencode(words, doseq=True)}" if words else path)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the bundled data, and what must not be seen beside it."""
    outside = tmp_path_factory.mktemp("outside")
    inside = outside / "inside"
    inside.mkdir()
    (outside / "secret.csv").write_text("y,s\n1,0.5\n0,0.25\n")
    for name, bundled in {"credit.csv": "german_credit.csv", "iris.csv": "iris.csv"}.items():
        (inside / name).write_bytes((files("scorespace.data") / bundled).read_bytes())
    (inside / "leads_out.csv").symlink_to(outside / "secret.csv")
    (inside / ".hidden.csv").write_text("y,s\n1,0.5\n")
    (inside / "notes.md").write_text("not for you")
    (inside / "below").mkdir()
    (inside / "below" / "deep.csv").write_text("y,s\n1,0.5\n")
    return inside


def in_loop(coroutine):
    """Run a coroutine in a thread of its own: Playwright keeps a loop running in the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@contextmanager
def running(folder, **options):
    """A server in a thread."""
    server = Server(open_folder(folder), **options)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)
        server.close()


@pytest.fixture(scope="session")
def client(folder):
    """Of a server that runs while the tests of this folder do."""
    with running(folder) as server:
        yield Client(server)
