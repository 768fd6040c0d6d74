"""Files at an address: fetched only when that is asked for, over HTTPS alone, and read from a copy on the disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from scorespace.errors import DataError
from scorespace.files import close_scratch, open_scratch

_allowed: ContextVar[bool] = ContextVar("remote reading allowed", default=False)
_SECONDS: Final = 60.0


def is_remote(path: str) -> bool:
    """Whether a path is an address elsewhere.

    >>> is_remote("s3://bucket/credit.csv"), is_remote("file:///home/me/credit.csv"), is_remote("credit.csv")
    (True, False, False)
    """
    return "://" in path and urlsplit(path).scheme.lower() != "file"


def set_remote(allowed: bool) -> None:
    """Allow or forbid from here on that addresses are read."""
    _allowed.set(allowed)


@contextmanager
def allow_remote() -> Iterator[None]:
    """Within it, files at https addresses are read: `with ss.allow_remote(): ss.evaluate("https://…", …)`."""
    before = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(before)


def fetch(address: str, name: str) -> Path:
    """A copy of the file on the disk, to be closed with `close_scratch`."""
    scheme = urlsplit(address).scheme.lower()
    if not _allowed.get():
        raise DataError(
            f"{name} is at an address ({scheme}://), and nothing is fetched unless you ask for it.",
            hint="--allow-remote for https addresses, or a copy of the file",
        )
    if scheme != "https":
        raise DataError(f"{name} is at an address of kind {scheme}://.", hint="https:// alone is read")
    from http.client import HTTPException  # loaded only by those who fetch

    copy = open_scratch(os.path.splitext(name)[1])
    try:
        with _open(address) as answer, copy.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except (OSError, ValueError, HTTPException) as error:
        close_scratch(copy)
        said = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DataError(f"{name} cannot be read.", seen=str(said), hint="check the address and the network") from None
    return copy


def _open(address: str) -> Any:
    import ssl
    from urllib import error, request

    class Onwards(request.HTTPRedirectHandler):
        """Follows a redirection to https alone."""

        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if urlsplit(newurl).scheme.lower() != "https":
                raise error.URLError(f"it sends on to {urlsplit(newurl).scheme}://, which is not read")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = request.OpenerDirector()  # which knows https and nothing else
    secure = request.HTTPSHandler(context=ssl.create_default_context())
    for handler in (secure, Onwards(), request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener.open(request.Request(address, headers={"User-Agent": "scorespace"}), timeout=_SECONDS)
