"""Access: only the browser of the user who started the server, and no other website through it."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL: Final = "127.0.0.1"
MAX_FORM: Final = 65_536
"""Bytes of a form; an upload has a limit of its own."""

MAX_PARAMETERS: Final = 2000

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every response; a report in the frame has a policy of its own, by the hashes of its scripts."""


@dataclass(frozen=True)
class Auth:
    """Where the server listens, its private name, and the key that only its own user knows.

    Browsers share the cookies of a host between its ports. A random name under localhost has cookies of its own.
    """

    host: str | None
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    name: str = field(default_factory=lambda: f"scorespace-{secrets.token_hex(6)}.localhost")

    @property
    def origin(self) -> str:
        """Scheme, name and port of the page."""
        name = self.name if self.host is None else LOCAL if _is_any(self.host) else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def address(self) -> str:
        """The address to open first; the key then moves into a cookie."""
        return f"{self.origin}/?token={self.token}"

    @property
    def cookie(self) -> str:
        return f"scorespace-{self.port}"

    @property
    def set_cookie(self) -> str:
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def knows(self, token: str) -> bool:
        """Whether it is the key."""
        return secrets.compare_digest(token.encode(errors="replace"), self.token.encode())

    def admits(self, cookies: str) -> bool:
        """Whether the key is among the cookies."""
        try:
            found = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return found is not None and self.knows(found.value)

    def is_ours(self, host: str) -> bool:
        """Whether a request is meant for this server: a foreign name that resolves to it (DNS rebinding) is not ours.

        >>> auth = Auth(None, 8000, name="scorespace-1.localhost")
        >>> [auth.is_ours(f"{name}:8000") for name in ("scorespace-1.localhost", "127.0.0.1", "evil.example")]
        [True, False, False]
        """
        name, _, port = host.rpartition(":")
        name = name.lower().removeprefix("[").removesuffix("]")
        if port != str(self.port):
            return False
        if self.host is None or not _is_any(self.host):
            return name == (self.name if self.host is None else self.host.lower())
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def is_same_origin(self, headers: Headers) -> bool:
        """Whether a request comes from a page of this server, by headers that no page can forge."""
        scheme, _, name = headers.get("origin", "").partition("://")
        return scheme == "http" and name == headers["host"] and headers.get("sec-fetch-site") in (None, "same-origin")


def _is_any(host: str) -> bool:
    """Whether a host means every address of the computer."""
    return host in ("0.0.0.0", "::", "")


class AccessControl:
    """ASGI middleware: refuses what is not allowed before anything reads it, and adds the headers to each response."""

    def __init__(self, app: ASGIApp, auth: Auth, max_upload: int) -> None:
        self.app, self.auth, self.max_upload = app, auth, max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._refused(scope) or self.app)(scope, receive, send_with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """The response to a request that does not reach the page; None if it does."""
        auth, headers, method = self.auth, Headers(scope=scope), scope["method"]
        hosts, query = headers.getlist("host"), scope["query_string"].decode("latin-1")
        if method not in ("GET", "POST", "PUT"):
            return _refuse(405, "This method is not supported.")
        if len(hosts) != 1 or not auth.is_ours(hosts[0]):
            return _refuse(403, "Unknown host name: use the address that scorespace serve printed.")
        if len(query) > MAX_FORM or query.count("&") > MAX_PARAMETERS:
            return _refuse(414, "The address is too long.")
        words = parse_qsl(query, keep_blank_values=True)
        if given := [value for name, value in words if name == "token"]:  # it moves from the address into a cookie
            if not auth.knows(given[-1]):
                return _refuse(403, "The key in this address is not valid for this server.")
            rest = urlencode([(name, value) for name, value in words if name != "token"])
            path = "/setup" if rest and scope["path"] == "/" else scope["path"]
            path = path if path in ("/", "/setup", "/view") else "/"
            return RedirectResponse(f"{path}?{rest}" if rest else path, 303, {"Set-Cookie": auth.set_cookie})
        if not auth.admits(headers.get("cookie", "")):
            return _refuse(403, "The key is missing: open the address that scorespace serve printed.")
        return None if method == "GET" else self._refused_body(headers, method)

    def _refused_body(self, headers: Headers, method: str) -> Response | None:
        if not self.auth.is_same_origin(headers):
            return _refuse(403, "This request was not sent from a page of this server.")
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return _refuse(411, "The length of the content is missing.")
        if int(length) > (self.max_upload if method == "PUT" else MAX_FORM):
            return _refuse(413, "The content is too long.")
        return None


def _refuse(status: int, words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status, {"Connection": "close"})
