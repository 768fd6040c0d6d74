"""What a path means: a file, a pattern of several, an address, standard input, or what a shell puts for <(…)."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from scorespace.errors import DataError, listing, nearest
from scorespace.files import close_scratch, open_scratch, remember
from scorespace.frames.remote import fetch, is_remote
from scorespace.frames.source import no_rows
from scorespace.frozen import dataclass

_KINDS: Final = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".json": "JSON",
    ".jsonl": "JSON",
    ".ndjson": "JSON",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}
_STDIN: Final = "standard input"
_OPENED: Final = ("/dev/fd/", "/proc/self/fd/")
"""Where a shell puts the output of another command, <(…)."""
_spent: Any = None
"""The standard input that was read to its end."""


@dataclass(frozen=True)
class Copy:
    """What was on standard input or at an address, on the disk for as long as this run needs it."""

    path: Path
    name: str
    kind: str


@contextmanager
def copied(path: Any) -> Iterator[Any]:
    """The path, or a copy where the file can be read only once.

    >>> with copied("credit.csv") as path:
    ...     path
    'credit.csv'
    """
    if not isinstance(path, str) or not read_once(path):
        yield path
        return
    copy = copy_of(path)
    try:
        yield copy
    finally:
        close_scratch(copy.path)


def read_once(path: str) -> bool:
    """Whether a path can be read a single time: standard input, an address, or what a shell puts for <(…)."""
    return path == "-" or is_remote(path) or (path.startswith(_OPENED) and _is_pipe(path))


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def copy_of(path: str) -> Copy:
    if path.startswith(_OPENED):
        with open(path, "rb") as pipe:
            return _spooled(pipe, path)
    if path != "-":
        name = os.path.basename(urlsplit(path).path)  # the rest may hold a key
        kind = kind_of(name)
        return Copy(fetch(path, name), name, kind)
    if sys.stdin is None or sys.stdin.closed:
        raise no_rows(_STDIN, "it is closed")
    remember(0)
    global _spent
    again, _spent = _spent is sys.stdin, sys.stdin
    try:
        return _spooled(sys.stdin.buffer, _STDIN)
    except DataError:
        if not again:
            raise
        raise DataError(
            "standard input can be read once.", seen="- twice", hint="save it to a file, and name that instead"
        ) from None


def _spooled(stream: Any, name: str) -> Copy:
    """A copy of a stream, which holds CSV."""
    copy = open_scratch(".csv")
    try:
        with copy.open("wb") as spool:
            shutil.copyfileobj(stream, spool)
        if not os.path.getsize(copy):
            raise no_rows(name, "nothing")
    except BaseException:
        close_scratch(copy)
        raise
    return Copy(copy, name, "CSV")


def local_paths(path: str) -> list[str]:
    """The files that a path, a pattern or a file:// address names; it is an error if there are none."""
    local = local_path(path)
    if "\0" in local:
        raise DataError(f"{local!r} is no path.", seen="embedded null byte", hint="the name of a file")
    paths = [local] if os.path.isfile(local) else sorted(filter(os.path.isfile, glob.glob(local, recursive=True)))
    try:
        "".join([local, *paths]).encode()
    except UnicodeEncodeError:
        raise DataError(f"the name {local!r} is not UTF-8.", hint="rename the file") from None
    if not paths:
        raise _not_found(local)
    return paths


def files_read(data: Any) -> list[str | int]:
    """What is opened to read the data: paths, or the descriptor of standard input; nothing for frames and addresses."""
    if isinstance(data, (list, tuple)):
        return [each for path in data for each in files_read(path)]
    if not isinstance(data, (str, os.PathLike)):
        return []
    path = os.fspath(data)
    if path == "-":
        return [0]
    if not isinstance(path, str) or is_remote(path):
        return []
    try:
        return list(local_paths(path))
    except DataError:
        return []  # reading says what is wrong with it


def local_path(path: str) -> str:
    if "://" not in path:
        return os.path.expanduser(path)
    from urllib.request import url2pathname  # slow to load, and rarely needed

    return url2pathname(urlsplit(path).path)


def kind_of(name: str) -> str:
    """What a file holds, by its ending.

    >>> kind_of("credit.csv.gz")
    'CSV'
    """
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending not in _KINDS:
        hint = f"one of {', '.join(_KINDS)}, or .gz after it"
        raise DataError(f"{name} has an unknown ending.", seen=repr(ending) if ending else "none", hint=hint)
    return _KINDS[ending]


def _not_found(path: str) -> DataError:
    if os.path.isdir(path):
        inside = sorted(os.listdir(path))
        known = [each for each in inside if os.path.splitext(each)[1] in _KINDS]
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
        return DataError(f"no file matches {path!r}.", hint="put the pattern in quotes, and check the folder")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder or "."):
        return DataError(f"file {path!r} does not exist.", seen=f"no folder {folder!r}", hint="check the folder")
    files = sorted(each for each in os.listdir(folder or ".") if os.path.isfile(os.path.join(folder, each)))
    near = nearest(os.path.basename(path), files)
    hint = f"did you mean {os.path.join(folder, near)!r}?" if near else "check the path"
    return DataError(f"file {path!r} does not exist.", seen=listing(files) or "an empty folder", hint=hint)
