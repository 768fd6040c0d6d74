"""The server lets in its own user alone, and nothing that is asked makes it fail."""

import socket
import urllib.parse

import pytest

from scorespace.errors import DataError
from scorespace.server.guard import HEADERS
from scorespace.server.serve import Server

FORM = {"Content_Type": "application/x-www-form-urlencoded"}


def test_it_listens_on_this_computer_alone(client):
    assert client.server.server_address[0] == "127.0.0.1"


def test_the_key_moves_from_the_address_into_a_cookie(client):
    guard = client.server.guard
    address = urllib.parse.urlsplit(guard.address)
    reply = client.ask("GET", f"/?{address.query}&file=credit.csv", Cookie=None)
    assert (reply.status, reply.headers["Location"]) == (303, "/?file=credit.csv")
    assert reply.headers["Set-Cookie"] == guard.set_cookie
    assert client.ask("GET", "/", Cookie=None).status == 403
    assert client.ask("GET", "/?token=wrong", Cookie=None).status == 403
    assert client.ask("GET", "/", Cookie=f"{guard.cookie}=wrong").status == 403


@pytest.mark.parametrize("path", ["/", "/rows", "/rows.csv", "/report.html", "/nowhere"])
def test_without_the_key_nothing_is_told(client, path):
    reply = client.ask("GET", f"{path}?file=credit.csv", Cookie=None)
    assert (reply.status, reply.headers["Content-Type"]) == (403, "text/plain; charset=utf-8")
    assert reply.text == "The key is missing: open the address that scorespace serve printed.\n"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", None, ""])
def test_a_name_that_is_not_ours(client, host):
    """As a page of evil.example asks, once that name leads to 127.0.0.1: the cookie alone would not help."""
    name = None if host is None else host.format(port=client.server.guard.port)
    assert client.ask("GET", "/", Host=name).status == 403
    assert client.ask("POST", "/save", "name=a.html", Host=name).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "http://127.0.0.1:1"])
def test_a_form_of_another_page(client, origin, folder):
    reply = client.ask("POST", "/save", "name=evil.html", Origin=origin)
    assert (reply.status, reply.text) == (403, "This form was not sent from a page of this server.\n")
    assert not (folder / "evil.html").exists()


def test_too_much_is_refused_before_it_is_read(client):
    assert client.ask("POST", "/save", "", Content_Length="1000000000").status == 413
    assert client.ask("POST", "/save", "", Content_Length="-1").status == 411
    assert client.ask("POST", "/save", None).status == 411
    assert client.ask("GET", "/?" + "a" * 70_000).status == 414
    assert client.ask("GET", "/?" + "&".join(["a=1"] * 5000)).status == 400


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"])
def test_other_methods(client, method):
    assert client.ask(method, "/").status == 405


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    ],
)
def test_what_is_no_question(client, sent):
    with socket.create_connection(client.server.server_address[:2], timeout=10) as peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: peer.recv(65536), b""))
    assert b"Traceback" not in answer
    assert client.ask("GET", "/").status == 200


def test_every_answer_says_what_a_browser_may_do_with_it(client):
    for reply in (client.get(), client.get("/nowhere"), client.ask("GET", "/", Cookie=None), client.ask("PUT", "/")):
        assert {name: reply.headers[name] for name in HEADERS} == HEADERS
        assert reply.headers["Server"].strip() == "scorespace"


def test_a_failure_of_ours_is_told_without_its_inside(client, monkeypatch):
    def fail(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(type(client.server.site), "get", fail)
    reply = client.get()
    assert (reply.status, reply.text) == (500, "scorespace failed, which is its own fault.\n")
    monkeypatch.setattr(type(client.server.site), "get", lambda *_: (_ for _ in ()).throw(DataError("a problem.")))
    assert (client.get().status, client.get().text) == (400, "a problem.\n")


def test_a_port_that_is_taken(client):
    with pytest.raises(OSError, match="in use"):
        Server(client.server.folder, port=client.server.guard.port)
