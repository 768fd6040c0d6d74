"""Write files atomically, never over an input file, and without leaving temporary files behind."""

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
except ImportError:  # Windows: without locks, files left by a killed process cannot be recognised and remain
    fcntl = None

_PREFIX: Final = ".scorespace-"
"""Prefix of our temporary files, by which a later run recognises them."""

_temporary_files: dict[str, int] = {}
"""Temporary files in use by this process, with the descriptor that holds the lock."""

_read_files: ContextVar[set[tuple[int, int]] | None] = ContextVar("files read in this run", default=None)


# --- input files are not overwritten


def start_recording_reads() -> None:
    """Start to record which files are read, so that no command overwrites one of its inputs."""
    _read_files.set(set())


def record_read(path: str | os.PathLike[str] | int) -> None:
    """Record that a file, or an open descriptor, is read in this run."""
    read = _read_files.get()
    if read is not None:
        with suppress(OSError):
            read.add(_identity(os.stat(path)))


def check_not_an_input(path: Path, read: Iterable[str | os.PathLike[str] | int]) -> None:
    """Refuse to write to an input file, also through links or other names."""
    try:
        target = _identity(os.stat(path))
    except (OSError, ValueError):
        return
    for source in read:
        try:
            same = _identity(os.stat(source)) == target
        except (OSError, ValueError):
            continue  # reading it will report the error
        if same:
            raise _input_file_error(path)


def check_target(path: Path, endings: tuple[str, ...]) -> None:
    """Check that an output file can be written before the work starts: extension, folder, permission, no device."""
    with _reporting_errors(path):
        _refuse_special(path)
        if path.suffix.lower() not in endings:
            raise DataError(f"{str(path)!r} has no known file extension.", hint=" ".join(endings))
        if not path.parent.is_dir():
            raise DataError(
                f"the folder {str(path.parent)!r} for {path.name} does not exist.",
                hint="create it, or choose another folder",
            )
        folder = Path(os.path.realpath(path)).parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataError(
                f"{str(path)!r} cannot be written.",
                seen=f"no permission to write to {str(folder)!r}",
                hint="another folder",
            )


# --- atomic writing


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file that replaces the target in one step: a reader sees the old file or the new one.

    A link stays a link: its target is replaced. The new file has the permissions of the old one.
    """
    with _reporting_errors(path):
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise DataError(
                f"{str(path)!r} cannot be written.",
                seen=f"the folder {str(path.parent)!r} does not exist",
                hint="create it, or choose another folder",
            )
        _refuse_special(path)
        read, old = _read_files.get(), _status(target)
        if old is not None and read and _identity(old) in read:
            raise _input_file_error(path)
        with temporary_file(target.suffix, target.parent) as temporary:
            reference = os.stat(temporary) if old is None else old
            os.chmod(temporary, 0o600)  # private until it is complete
            yield temporary
            os.chmod(temporary, stat.S_IMODE(reference.st_mode))
            _flush_to_disk(temporary)
            os.replace(temporary, target)


def write_file(path: Path, content: bytes) -> Path:
    """Write the content atomically.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "a.txt", b"all or nothing").read_bytes()
    b'all or nothing'
    """
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)
    return path


# --- temporary files


@contextmanager
def temporary_file(suffix: str, folder: Path | None = None) -> Iterator[Path]:
    """Yield a temporary file, removed afterwards; files left by killed processes are removed first."""
    path = open_temporary_file(suffix, folder)
    try:
        yield path
    finally:
        close_temporary_file(path)


def open_temporary_file(suffix: str, folder: Path | None = None) -> Path:
    """Create a temporary file; it is removed when closed, or by the next run if this process is killed."""
    where = Path(tempfile.gettempdir()) if folder is None else folder
    _remove_stale(where)
    while True:
        path = where / f"{_PREFIX}{os.urandom(6).hex()}{suffix[:20]}"
        # A file that replaces a target gets the default permissions of new files; any other is private.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if folder is None else 0o666)
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else another run removed it as stale before it was locked
            _temporary_files[str(path)] = descriptor
            return path
        os.close(descriptor)


def close_temporary_file(path: Path) -> None:
    """Remove a temporary file of this process."""
    descriptor = _temporary_files.pop(str(path), None)
    if descriptor is None:
        return
    with suppress(OSError):
        os.unlink(path)
    with suppress(OSError):
        os.close(descriptor)


def remove_temporary_files() -> None:
    """Remove all temporary files of this process, when it is interrupted."""
    for path in list(_temporary_files):
        close_temporary_file(Path(path))


def spill_folder() -> str:
    """Folder for data that an engine spills to disk; folders of processes that ended are removed."""
    where = tempfile.gettempdir()
    with suppress(OSError):
        for entry in os.scandir(where):
            owner = entry.name.removeprefix(f"{_PREFIX}spill-")
            if owner != entry.name and owner.isdigit() and not _is_running(int(owner)):
                shutil.rmtree(entry.path, ignore_errors=True)
    return os.path.join(where, f"{_PREFIX}spill-{os.getpid()}")


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # a process of another user
    return True


def _remove_stale(folder: Path) -> None:
    """Remove the unlocked temporary files that killed processes left in a folder."""
    if fcntl is None:
        return
    try:
        leftovers = [entry.path for entry in os.scandir(folder) if entry.name.startswith(_PREFIX)]
    except OSError:
        return
    for path in leftovers:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    os.unlink(path)
            finally:
                os.close(descriptor)


def _flush_to_disk(path: Path) -> None:
    """Flush the content to disk, so that a power cut cannot leave a truncated file."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_special(path: Path) -> None:
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        seen = "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is a device or a pipe"
        raise DataError(f"{str(path)!r} cannot be written.", seen=seen, hint="name a regular file")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _input_file_error(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is an input file and is not overwritten.", hint="choose another output file")


@contextmanager
def _reporting_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a DataError that names the file."""
    try:
        yield
    except ScoreSpaceError:
        raise
    except (OSError, ValueError) as error:  # ValueError: not a valid file name
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(
            f"{str(path)!r} cannot be written.", seen=reason or str(error), hint="choose another file or folder"
        ) from None
