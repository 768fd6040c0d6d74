"""The server: it listens on this computer, and serves one folder to one user until it is interrupted."""

from __future__ import annotations

import socket
from html import escape
from pathlib import Path
from typing import Any

import uvicorn

from scorespace.server.auth import LOCAL, Auth
from scorespace.server.folder import Folder
from scorespace.server.site import Site


class Server:
    """A server of one folder; the port is bound at once, and `run` serves until it is stopped.

    Without a `host` it listens on 127.0.0.1 under a random name, so that its cookies reach no other local server.
    """

    def __init__(self, folder: Folder, host: str | None = None, port: int = 0) -> None:
        self.folder = folder
        address = host if host is not None else LOCAL
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.create_server((address, port), family=family)  # reuses a port that was just closed
        self.auth = Auth(host, self.socket.getsockname()[1])
        self.site = Site(folder, self.auth)
        config = uvicorn.Config(
            self._app,
            log_config=None,
            log_level="critical",
            access_log=False,
            interface="asgi3",
            lifespan="on",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=65_536,
            http="h11",
            ws="none",
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until a signal or `stop`."""
        self._server.run([self.socket])

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Release the port and the private folder, if `run` has not done so."""
        self.socket.close()
        self.site.private.remove()

    def redirect_file(self, address: str) -> Path:
        """A private file that leads to the address: a browser is started with its path, which holds no key."""
        path = self.site.private.path / "open.html"
        path.touch(mode=0o600)
        link = escape(address)
        head = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={link}">'
        path.write_text(f'<!doctype html>{head}<a href="{link}">Open scorespace</a>', encoding="utf-8")
        return path

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        """The site, with its end: evaluations are stopped and uploads removed when the server shuts down."""
        if scope["type"] != "lifespan":
            await self.site.app(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.site.close()
        await send({"type": "lifespan.shutdown.complete"})
