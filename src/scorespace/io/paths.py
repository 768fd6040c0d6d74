"""Resolve paths: files, glob patterns, URLs, standard input and process substitution <(…)."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from scorespace.errors import DataError, closest_name, listing
from scorespace.files import close_temporary_file, open_temporary_file, record_read
from scorespace.io.source import no_rows_error

_remote_allowed: ContextVar[bool] = ContextVar("remote reading allowed", default=False)
_TIMEOUT_SECONDS: Final = 60.0


def is_remote(path: str) -> bool:
    """Whether a path is a remote URL.

    >>> is_remote("s3://bucket/credit.csv"), is_remote("file:///home/me/credit.csv"), is_remote("credit.csv")
    (True, False, False)
    """
    return "://" in path and urlsplit(path).scheme.lower() != "file"


@contextmanager
def allow_remote() -> Iterator[None]:
    """Allow reading https URLs inside a block.

    Yields
    ------
    None
        Reading is allowed until the block ends.

    Examples
    --------
    >>> import scorespace as ss
    >>> with ss.allow_remote():  # doctest: +SKIP
    ...     found = ss.evaluate("https://example.org/credit.csv", truth="y", scores="s")
    """
    before = _remote_allowed.set(True)
    try:
        yield
    finally:
        _remote_allowed.reset(before)


def download(address: str, name: str) -> Path:
    """Download a file to a temporary copy, to be removed with `close_temporary_file`."""
    scheme = urlsplit(address).scheme.lower()
    if not _remote_allowed.get():
        raise DataError(
            f"{name} is a {scheme}:// URL, and remote files are not downloaded by default.",
            hint="--allow-remote for https URLs, or a local copy of the file",
        )
    if scheme != "https":
        raise DataError(f"{name} is a {scheme}:// URL.", hint="only https:// URLs can be read")
    from http.client import HTTPException  # slow to import, and needed for downloads only

    copy = open_temporary_file(os.path.splitext(name)[1])
    try:
        with _open_https(address) as response, copy.open("wb") as file:
            shutil.copyfileobj(response, file)
            expected = response.headers.get("Content-Length")
            if expected is not None and int(expected) != file.tell():  # chunked reads do not detect truncation
                raise ValueError(f"the connection was lost after {file.tell()} of {expected} bytes")
    except (OSError, ValueError, HTTPException) as error:
        close_temporary_file(copy)
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DataError(f"{name} cannot be read.", seen=str(reason), hint="check the URL and the network") from None
    return copy


def _open_https(address: str) -> Any:
    import ssl
    from urllib import error, request

    class HttpsRedirect(request.HTTPRedirectHandler):
        """Follows redirects to https only."""

        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if urlsplit(newurl).scheme.lower() != "https":
                raise error.URLError(f"redirect to {urlsplit(newurl).scheme}://, which is not supported")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = request.OpenerDirector()  # handles https only
    secure = request.HTTPSHandler(context=ssl.create_default_context())
    for handler in (secure, HttpsRedirect(), request.HTTPDefaultErrorHandler(), request.HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener.open(request.Request(address, headers={"User-Agent": "scorespace"}), timeout=_TIMEOUT_SECONDS)


_FORMATS_BY_EXTENSION: Final = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".txt": "TXT",
    ".xlsx": "spreadsheet",
    ".xls": "spreadsheet",
    ".ods": "spreadsheet",
    ".parquet": "Parquet",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
_STDIN_NAME: Final = "standard input"
_PROCESS_SUBSTITUTION: Final = ("/dev/fd/", "/proc/self/fd/")
"""Where a shell puts the output of another command, <(…)."""
_consumed_stdin: Any = None
"""Standard input, once it has been read to its end."""


@dataclass(frozen=True)
class LocalCopy:
    """Temporary copy of standard input or of a downloaded file."""

    path: Path
    name: str
    kind: str


@contextmanager
def local_copy(path: Any) -> Iterator[Any]:
    """Yield the path, or a temporary copy if the input can be read only once.

    >>> with local_copy("credit.csv") as path:
    ...     path
    'credit.csv'
    """
    if not isinstance(path, str) or not is_single_use(path):
        yield path
        return
    copy = make_copy(path)
    try:
        yield copy
    finally:
        close_temporary_file(copy.path)


def is_single_use(path: str) -> bool:
    """Whether an input can be read only once: standard input, a URL or process substitution."""
    return path == "-" or is_remote(path) or (path.startswith(_PROCESS_SUBSTITUTION) and _is_pipe(path))


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def make_copy(path: str) -> LocalCopy:
    if path.startswith(_PROCESS_SUBSTITUTION):
        with open(path, "rb") as pipe:
            return _copy_stream(pipe, path)
    if path != "-":
        name = os.path.basename(urlsplit(path).path)  # the query string may hold a key
        kind = file_format(name)
        return LocalCopy(download(path, name), name, kind)
    if sys.stdin is None or sys.stdin.closed:
        raise no_rows_error(_STDIN_NAME, "it is closed")
    record_read(0)
    global _consumed_stdin
    again, _consumed_stdin = _consumed_stdin is sys.stdin, sys.stdin
    try:
        return _copy_stream(sys.stdin.buffer, _STDIN_NAME)
    except DataError:
        if not again:
            raise
        raise DataError(
            "standard input can be read only once.", seen="- twice", hint="save it to a file and use that"
        ) from None


def _copy_stream(stream: Any, name: str) -> LocalCopy:
    """Copy a stream of CSV to a temporary file."""
    copy = open_temporary_file(".csv")
    try:
        with copy.open("wb") as spool:
            shutil.copyfileobj(stream, spool)
        if not os.path.getsize(copy):
            raise no_rows_error(name, "nothing")
    except BaseException:
        close_temporary_file(copy)
        raise
    return LocalCopy(copy, name, "CSV")


def resolve_paths(path: str) -> list[str]:
    """Files that a path, glob pattern or file:// URL names; an error if there are none."""
    local = expand_path(path)
    if "\0" in local:
        raise DataError(f"{local!r} is not a path.", seen="embedded null byte", hint="the name of a file")
    paths = [local] if os.path.isfile(local) else sorted(filter(os.path.isfile, glob.glob(local, recursive=True)))
    try:
        "".join([local, *paths]).encode()
    except UnicodeEncodeError:
        raise DataError(f"the name {local!r} is not UTF-8.", hint="rename the file") from None
    if not paths:
        raise _not_found_error(local)
    return paths


def input_files(data: Any) -> list[str | int]:
    """Files or descriptors that reading the data opens; none for frames and URLs."""
    if isinstance(data, (list, tuple)):
        return [file for path in data for file in input_files(path)]
    if not isinstance(data, (str, os.PathLike)):
        return []
    path = os.fspath(data)
    if path == "-":
        return [0]
    if not isinstance(path, str) or is_remote(path):
        return []
    try:
        return list(resolve_paths(path))
    except DataError:
        return []  # reading reports the error


def expand_path(path: str) -> str:
    if "://" not in path:
        return os.path.expanduser(path)
    from urllib.request import url2pathname  # slow to import, rarely needed

    return url2pathname(urlsplit(path).path)


def file_format(name: str) -> str:
    """Format of a file by its extension.

    >>> file_format("credit.csv.gz")
    'CSV'
    """
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending not in _FORMATS_BY_EXTENSION:
        hint = f"one of {', '.join(_FORMATS_BY_EXTENSION)}, optionally followed by .gz"
        raise DataError(f"{name} has an unknown extension.", seen=repr(ending) if ending else "none", hint=hint)
    return _FORMATS_BY_EXTENSION[ending]


def _not_found_error(path: str) -> DataError:
    if os.path.isdir(path):
        inside = sorted(os.listdir(path))
        known = [file for file in inside if os.path.splitext(file)[1] in _FORMATS_BY_EXTENSION]
        pattern = "*" + (os.path.splitext(known[0])[1] if known else ".csv")
        hint = f"a file in it, or a pattern such as {os.path.join(path, pattern)}"
        return DataError(f"{path!r} is a folder, not a file.", seen=listing(inside) or "an empty folder", hint=hint)
    if os.path.exists(path):
        return DataError(
            f"{path!r} is not a regular file.",
            seen="a pipe" if _is_pipe(path) else "a device or a socket",
            hint="- reads standard input: scorespace … - < FILE",
        )
    if glob.has_magic(path):
        return DataError(f"no file matches {path!r}.", hint="quote the pattern, and check the folder")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder or "."):
        return DataError(f"file {path!r} does not exist.", seen=f"no folder {folder!r}", hint="check the folder")
    files = sorted(file for file in os.listdir(folder or ".") if os.path.isfile(os.path.join(folder, file)))
    suggestion = closest_name(os.path.basename(path), files)
    hint = f"did you mean {os.path.join(folder, suggestion)!r}?" if suggestion else "check the path"
    return DataError(f"file {path!r} does not exist.", seen=listing(files) or "an empty folder", hint=hint)
