"""The server itself: it listens on this computer, lets in its own user, and hands questions to the site."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from scorespace.errors import ScoreSpaceError
from scorespace.later import later
from scorespace.server.answer import Answer, moved, read_query
from scorespace.server.folder import Folder
from scorespace.server.guard import HEADERS, LOCAL, MOST_BODY, Guard

if TYPE_CHECKING:
    from scorespace.server import site
else:  # pages load when one is asked for: the server starts at once
    site = later("scorespace.server.site")


class Server(ThreadingHTTPServer):
    """A server of one folder, for one user."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, folder: Folder, host: str = LOCAL, port: int = 0) -> None:
        self.folder = folder
        self._site: site.Site | None = None
        self._lock = threading.Lock()
        super().__init__((host, port), _Handler)
        self.guard = Guard(host, self.server_address[1])

    @property
    def site(self) -> site.Site:
        with self._lock:
            if self._site is None:
                self._site = site.Site(self.folder)
        return self._site

    def server_close(self) -> None:
        """Listen no more, and end what is under way."""
        super().server_close()
        if self._site is not None:
            self._site.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone is no error to tell."""


class _Handler(BaseHTTPRequestHandler):
    """One question after the other of one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "scorespace", ""
    timeout = 60

    def do_GET(self) -> None:
        if not self._is_ours():
            return
        address = urlsplit(self.path)
        words = parse_qsl(address.query, keep_blank_values=True)
        guard = self.server.guard
        given = [value for name, value in words if name == "token"]
        if given:  # the key moves from the address into a cookie
            if not guard.knows(given[-1]):
                self._refuse(403, "The key in this address is not that of this server.")
                return
            rest = urlencode([(name, value) for name, value in words if name != "token"])
            self._send(moved(f"/?{rest}" if rest else "/", **{"Set-Cookie": guard.set_cookie}))
        elif self._is_admitted():
            self._answer(lambda: self.server.site.get(address.path, read_query(address.query)))

    def do_POST(self) -> None:
        if not self._is_ours() or not self._is_admitted():
            return
        if not self.server.guard.is_same_origin(self.headers):  # type: ignore[arg-type]
            self._refuse(403, "This form was not sent from a page of this server.")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self._refuse(411, "A form must say how long it is.")
        elif int(length) > MOST_BODY:
            self._refuse(413, "This form is too long.")
        else:
            body = self.rfile.read(int(length)).decode(errors="replace")
            self._answer(lambda: self.server.site.post(urlsplit(self.path).path, read_query(body)))

    # --- who asks

    def _is_ours(self) -> bool:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) == 1 and self.server.guard.is_ours(hosts[0]):
            return True
        self._refuse(403, "This name is not that of this server: use the address that it printed.")
        return False

    def _is_admitted(self) -> bool:
        if self.server.guard.admits(self.headers.get("Cookie", "")):
            return True
        self._refuse(403, "The key is missing: open the address that scorespace serve printed.")
        return False

    # --- what goes back

    def _answer(self, found: Any) -> None:
        try:
            answer = found()
        except ScoreSpaceError as error:
            self._refuse(400, str(error))
        except Exception:
            self._refuse(500, "scorespace failed, which is its own fault.")
        else:
            self._send(answer)

    def _refuse(self, status: int, words: str) -> None:
        self.close_connection = True  # what was sent and not read is no further question
        self._send(Answer(f"{words}\n".encode(), status, "text/plain; charset=utf-8"))

    def _send(self, answer: Answer) -> None:
        body = answer.body
        self.send_response(answer.status)
        length = {"Content-Length": str(len(body))} if isinstance(body, bytes) else {"Transfer-Encoding": "chunked"}
        for name, value in {"Content-Type": answer.kind, **HEADERS, **answer.headers, **length}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if isinstance(body, bytes):
            self.wfile.write(body)
        else:
            self._send_pieces(body)

    def _send_pieces(self, pieces: Iterator[bytes]) -> None:
        """A body as it is made; one that fails ends without its end, so that the browser knows."""
        self.close_connection = True
        for piece in filter(None, pieces):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no proper question, in our words and with nothing of it repeated."""
        known = "Pages are asked for by GET, and forms sent by POST."
        self._refuse(*((405, known) if code == 501 else (code, "This question cannot be understood.")))

    def log_message(self, format: str, *args: Any) -> None:
        """Who asked what is nobody's business."""
