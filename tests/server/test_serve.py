"""The server admits its own user alone, and no request makes it fail."""

import os
import socket
import urllib.parse

import pytest

from scorespace.server.auth import HEADERS
from scorespace.server.folder import MAX_UPLOAD, open_folder
from scorespace.server.serve import Server
from server.conftest import Client, running


def test_it_listens_on_this_computer_alone(client):
    assert client.server.socket.getsockname()[0] == "127.0.0.1"


def test_the_key_moves_from_the_address_into_a_cookie(client):
    auth = client.server.auth
    address = urllib.parse.urlsplit(auth.address)
    reply = client.ask("GET", f"/?{address.query}&file=credit.csv", Cookie=None)
    assert (reply.status, reply.headers["Location"]) == (303, "/setup?file=credit.csv")
    assert reply.headers["Set-Cookie"] == auth.set_cookie
    assert client.ask("GET", "//evil.example/?" + address.query, Cookie=None).headers["Location"] == "/"
    assert client.ask("GET", "/", Cookie=None).status == 403
    assert client.ask("GET", "/?token=wrong", Cookie=None).status == 403
    assert client.ask("GET", "/", Cookie=f"{auth.cookie}=wrong").status == 403


@pytest.mark.parametrize(
    "path", ["/", "/setup", "/view", "/rows", "/rows.csv", "/report", "/static/page.js", "/nowhere"]
)
def test_without_the_key_nothing_is_told(client, path):
    reply = client.ask("GET", f"{path}?file=credit.csv", Cookie=None)
    assert (reply.status, reply.headers["Content-Type"]) == (403, "text/plain; charset=utf-8")
    assert reply.text == "The key is missing: open the address that scorespace serve printed.\n"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:{port}", "localhost:{port}", None, ""]
)
def test_a_name_that_is_not_ours(client, host):
    """As a page of evil.example asks, once that name leads to 127.0.0.1: the cookie alone would not help."""
    name = None if host is None else host.format(port=client.server.auth.port)
    assert client.ask("GET", "/", Host=name).status in (400, 403)
    assert client.ask("POST", "/save", "", Host=name).status in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "http://127.0.0.1:1"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/save"), ("POST", "/stop"), ("PUT", "/upload?name=evil.csv")])
def test_a_request_of_another_page(client, method, path, origin, folder):
    reply = client.ask(method, path, "name=evil.html", Origin=origin)
    assert (reply.status, reply.text) == (403, "This request was not sent from a page of this server.\n")
    assert not (folder / "evil.html").exists()
    assert "evil.csv" not in os.listdir(client.server.site.private.path / "uploads")


def test_too_much_is_refused_before_it_is_read(client):
    assert client.ask("POST", "/save", "", Content_Length="1000000000").status == 413
    assert client.ask("PUT", "/upload?name=a.csv", "", Content_Length=str(MAX_UPLOAD + 1)).status == 413
    assert client.ask("POST", "/save", None).status == 411
    assert client.ask("GET", "/?" + "a" * 70_000).status == 414
    assert client.ask("GET", "/?" + "&".join(["a=1"] * 5000)).status == 414


@pytest.mark.parametrize("method", ["HEAD", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"])
def test_other_methods(client, method):
    assert client.ask(method, "/").status in (400, 405)


@pytest.mark.parametrize(
    "sent", [b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x00\xa5\x01\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"]
)
def test_what_is_no_request(client, sent):
    with socket.create_connection(client.server.socket.getsockname()[:2], timeout=10) as peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: peer.recv(65536), b""))
    assert b"Traceback" not in answer
    assert client.ask("GET", "/").status == 200


def test_every_response_says_what_a_browser_may_do_with_it(client):
    for reply in (client.get(), client.get("/nowhere"), client.ask("GET", "/", Cookie=None), client.ask("HEAD", "/")):
        assert {name: reply.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_a_failure_of_ours_is_told_without_its_inside(client, monkeypatch):
    monkeypatch.setattr("scorespace.server.site._card", lambda *_: 1 / 0)
    reply = client.get()
    assert (reply.status, "An unexpected error in scorespace." in reply.text) == (500, True)
    assert "ZeroDivision" not in reply.text
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_the_redirect_file_is_private_and_holds_the_key(client):
    path = client.server.redirect_file(client.server.auth.address)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert client.server.auth.token in path.read_text()
    assert client.server.auth.token not in path.as_uri()


def test_a_port_can_be_used_again_at_once_but_not_twice(folder):
    with running(folder) as server:
        port = server.auth.port
        assert Client(server).get().status == 200
        with pytest.raises(OSError, match="in use"):
            Server(open_folder(folder), port=port)
        private = server.site.private.path
        assert private.is_dir()
    assert not private.exists()
    with running(folder, port=port) as server:
        assert Client(server).get().status == 200
