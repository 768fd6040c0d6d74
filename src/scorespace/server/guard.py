"""Who may ask: the browser of the one who started the server, and nobody through it."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import field
from http.cookies import CookieError, SimpleCookie
from typing import Final

from scorespace.frozen import dataclass

LOCAL: Final = "127.0.0.1"
MOST_BODY: Final = 16_384
"""Bytes of a form that is sent; nothing here sends more."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""With every answer; what a page may run and load it says itself, by the hashes of its scripts."""


@dataclass(frozen=True)
class Guard:
    """Where the server listens, and the key that only its own user knows."""

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """Where to begin: the key is in it once, and then in a cookie."""
        name = LOCAL if _is_any(self.host) else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers share cookies between the ports of a host."""
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

    def is_ours(self, host: str | None) -> bool:
        """Whether the browser means this server: a name that somebody else made to lead here is not ours.

        >>> guard = Guard("127.0.0.1", 8000)
        >>> guard.is_ours("localhost:8000"), guard.is_ours("evil.example:8000"), guard.is_ours("127.0.0.1:9")
        (True, False, False)
        """
        name, colon, port = (host or "").rpartition(":")
        if not colon or port != str(self.port):
            return False
        name = name.lower().removeprefix("[").removesuffix("]")
        if name in (LOCAL, "localhost", self.host.lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return _is_any(self.host)

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a form was sent from a page of this server, by what the browser says and no page can forge."""
        scheme, _, name = (headers.get("Origin") or "").partition("://")
        site = headers.get("Sec-Fetch-Site")
        return scheme == "http" and name == headers.get("Host") and site in (None, "same-origin")


def _is_any(host: str) -> bool:
    """Whether a host stands for every address of the computer."""
    return host in ("0.0.0.0", "::", "")
