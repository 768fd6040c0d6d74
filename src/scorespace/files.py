"""Files that are written: put in place whole or not at all, never over what is read, and with nothing left behind."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError, ScoreSpaceError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a kill leaves behind is not told from what is in use, and stays
    fcntl = None

_MARK: Final = ".scorespace-"
"""What the names of our temporary files begin with, so that a later run knows them."""

_scratch: dict[str, int] = {}
"""The temporary files of this process that are in use, each with the descriptor that holds its lock."""

_read: ContextVar[set[tuple[int, int]] | None] = ContextVar("files read in this run", default=None)


# --- what is read is not overwritten


def begin_run() -> None:
    """Remember from here on which files are read: no verb of the command line writes over one of them."""
    _read.set(set())


def remember(path: str | os.PathLike[str] | int) -> None:
    """Note that a file, or an open descriptor, is read in this run."""
    read = _read.get()
    if read is not None:
        with suppress(OSError):
            read.add(_identity(os.stat(path)))


def refuse_overwriting(path: Path, read: Iterable[str | os.PathLike[str] | int]) -> None:
    """Refuse to write to a file that is read, whatever names and links lead to it."""
    try:
        target = _identity(os.stat(path))
    except (OSError, ValueError):
        return
    for each in read:
        try:
            same = _identity(os.stat(each)) == target
        except (OSError, ValueError):
            continue  # reading says what is wrong with it
        if same:
            raise _is_read(path)


def check_target(path: Path, endings: tuple[str, ...]) -> None:
    """Refuse a file of unknown kind, one in no folder, and what is no ordinary file: before the work, not after it."""
    with _told(path):
        _refuse_special(path)
        if path.suffix.lower() not in endings:
            raise DataError(f"{str(path)!r} has no known ending.", hint=" ".join(endings))
        if not path.parent.is_dir():
            raise DataError(
                f"there is no folder {str(path.parent)!r} to write {path.name} into.",
                hint="make the folder first, or name another",
            )
        folder = Path(os.path.realpath(path)).parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataError(
                f"{str(path)!r} cannot be written.",
                seen=f"no right to write into {str(folder)!r}",
                hint="another folder",
            )


# --- in one step


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file to write to, put in place in one step: a reader sees the old file or the new one.

    A link stays a link: what it points to is replaced. The new file has the permissions of the old one.
    """
    with _told(path):
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise DataError(
                f"{str(path)!r} cannot be written.",
                seen=f"there is no folder {str(path.parent)!r}",
                hint="make the folder first, or name another",
            )
        _refuse_special(path)
        read, old = _read.get(), _status(target)
        if old is not None and read and _identity(old) in read:
            raise _is_read(path)
        with scratch(target.suffix, target.parent) as temporary:
            usual = os.stat(temporary) if old is None else old
            os.chmod(temporary, 0o600)  # until it is in its place, nobody else reads along
            yield temporary
            os.chmod(temporary, stat.S_IMODE(usual.st_mode))
            _to_disk(temporary)
            os.replace(temporary, target)


def write_file(path: Path, content: bytes) -> Path:
    """Put the content in place in one step.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "a.txt", b"all or nothing").read_bytes()
    b'all or nothing'
    """
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return path


# --- temporary files


@contextmanager
def scratch(suffix: str, folder: Path | None = None) -> Iterator[Path]:
    """A temporary file of this process, gone afterwards; those of processes that were killed are removed first."""
    path = open_scratch(suffix, folder)
    try:
        yield path
    finally:
        close_scratch(path)


def open_scratch(suffix: str, folder: Path | None = None) -> Path:
    """A temporary file that is there until it is closed, or until the next run after a kill."""
    where = Path(tempfile.gettempdir()) if folder is None else folder
    _remove_stale(where)
    while True:
        path = where / f"{_MARK}{os.urandom(6).hex()}{suffix[:20]}"
        # What is to be put in place has the permissions that new files have here; anything else is private.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if folder is None else 0o666)
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else another run took it for left behind, before it was locked
            _scratch[str(path)] = descriptor
            return path
        os.close(descriptor)


def close_scratch(path: Path) -> None:
    """Remove a temporary file, if it has not become another one."""
    descriptor = _scratch.pop(str(path), None)
    if descriptor is None:
        return
    with suppress(OSError):
        os.unlink(path)
    with suppress(OSError):
        os.close(descriptor)


def remove_scratch() -> None:
    """Remove all temporary files of this process: for an end in the midst of work."""
    for path in list(_scratch):
        close_scratch(Path(path))


def spill_folder() -> str:
    """Where an engine may put what does not fit into memory; those of processes that are gone are removed."""
    where = tempfile.gettempdir()
    with suppress(OSError):
        for entry in os.scandir(where):
            owner = entry.name.removeprefix(f"{_MARK}spill-")
            if owner != entry.name and owner.isdigit() and not _lives(int(owner)):
                shutil.rmtree(entry.path, ignore_errors=True)
    return os.path.join(where, f"{_MARK}spill-{os.getpid()}")


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # somebody else's
    return True


def _remove_stale(folder: Path) -> None:
    """Remove what killed processes left in a folder: what still bears our mark and is locked by nobody."""
    if fcntl is None:
        return
    try:
        found = [entry.path for entry in os.scandir(folder) if entry.name.startswith(_MARK)]
    except OSError:
        return
    for path in found:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    os.unlink(path)
            finally:
                os.close(descriptor)


def _to_disk(path: Path) -> None:
    """Wait until the content is on the disk, so that not even a power cut leaves the new name with half of it."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_special(path: Path) -> None:
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        seen = "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is a device or a pipe, not a file"
        raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint="the name of a file")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_read(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is read here and is not overwritten.", hint="another name for the output")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says against writing, with the name of the file."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name that is none
        said = error.strerror if isinstance(error, OSError) else None
        raise DataError(
            f"{str(path)!r} cannot be written.", seen=said or str(error), hint="another file or folder"
        ) from None
