"""The files that the page may read and write: the folder, uploads in a private folder, and the bundled data."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scorespace.errors import DataError, did_you_mean, listing
from scorespace.files import check_not_an_input, check_target, write_file

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: what a killed server left cannot be recognised and remains
    fcntl = None

MAX_FILES: Final = 1000
"""Files of a folder that are listed, in alphabetical order."""

MAX_UPLOAD: Final = 200_000_000
"""Bytes of an uploaded file; larger ones are opened by their path."""

Version = tuple[str, int, int]
"""Path, time of the last change and size of a file."""

_PREFIX: Final = ".scorespace-serve-"


@dataclass(frozen=True)
class Folder:
    """A folder by its real path: only ordinary files directly in it are read or written, whatever links there are."""

    root: Path

    def names(self) -> list[str]:
        """The data files in alphabetical order; no hidden ones, no links that lead out, no saved evaluations."""
        from scorespace.io.paths import file_format
        from scorespace.io.saved_evaluations import is_saved_evaluation

        found = []
        for entry in self._entries():
            with suppress(DataError):
                file_format(entry.name)
                if not (entry.name.endswith(".json") and is_saved_evaluation(entry.path)):
                    found.append(entry.name)
        return found[:MAX_FILES]

    def saved(self) -> list[str]:
        """The saved evaluations, the latest first."""
        from scorespace.io.saved_evaluations import is_saved_evaluation

        found = [one for one in self._entries() if one.name.endswith(".json") and is_saved_evaluation(one.path)]
        return [one.name for one in sorted(found, key=lambda one: -one.stat().st_mtime)][:MAX_FILES]

    def _entries(self) -> list[os.DirEntry[str]]:
        found = []
        for entry in sorted(os.scandir(self.root), key=lambda one: one.name.casefold()):
            with suppress(OSError, UnicodeEncodeError):
                entry.name.encode()
                inside = Path(os.path.realpath(entry.path)).parent == self.root
                if not entry.name.startswith(".") and entry.is_file() and inside:
                    found.append(entry)
        return found

    def path(self, name: str) -> Path:
        """The real path of a listed file; every other name is refused."""
        names = self.names()
        if name not in names and name not in self.saved():
            raise DataError(
                f"there is no data file {name!r} in the folder.",
                seen=listing(names) or "no data files",
                hint=did_you_mean(name, names, "one of the files in the list", quoted=True),
            )
        return Path(os.path.realpath(self.root / name))

    def report(self, name: str) -> Path:
        """The saved report that belongs to a saved evaluation."""
        path = Path(os.path.realpath(self.root / f"{name.removesuffix('.json')}.html"))
        if name not in self.saved() or path.parent != self.root or not path.is_file():
            raise DataError(f"there is no saved report of {name!r}.", hint="one of the saved evaluations in the list")
        return path

    def save(self, name: str, content: bytes) -> Path:
        """Write a file into the folder under a new name: no file is ever replaced."""
        path = self.root / name
        if Path(name).name != name or "\\" in name or "\0" in name or name.startswith("."):
            raise DataError(f"{name!r} is no name of a file in the folder.", hint="report.html")
        check_target(path, (".html", ".json"))
        if os.path.lexists(path):
            raise DataError(f"{name!r} exists already.", hint=self.free(name))
        check_not_an_input(path, [self.root / each for each in self.names()])
        return write_file(path, content)

    def free(self, name: str) -> str:
        """The name, or one like it that no file has, neither as a report nor as an evaluation.

        >>> Folder(Path("/nowhere")).free("credit.html")
        'credit.html'
        """
        base, ending = os.path.splitext(name)
        first, number = base, 1
        while any(os.path.lexists(self.root / f"{base}{each}") for each in (".html", ".json")):
            number += 1
            base = f"{first}-{number}"
        return base + ending


def open_folder(path: str | os.PathLike[str]) -> Folder:
    """The folder at a path."""
    real = Path(os.path.realpath(path))
    if not real.is_dir():
        raise DataError(f"there is no folder {str(path)!r}.", hint="--folder DIR, an existing folder")
    return Folder(real)


@dataclass(frozen=True)
class Sources:
    """All files that can be opened: `NAME` in the folder, `uploads/NAME`, and `demo/NAME`."""

    folder: Folder
    private: Path

    @property
    def uploads(self) -> Folder:
        return Folder(self.private / "uploads")

    @property
    def demo(self) -> Folder:
        return Folder(Path(os.path.realpath(Path(__file__).parents[1] / "data")))

    def path(self, name: str) -> str:
        """The real path of a file; names that are not listed are refused."""
        place, slash, rest = name.partition("/")
        folders = {"uploads": self.uploads, "demo": self.demo}
        folder = folders.get(place, self.folder) if slash else self.folder
        return str(folder.path(rest if slash and place in folders else name))

    def version(self, name: str) -> Version:
        """What changes when the file does."""
        path = self.path(name)
        try:
            found = os.stat(path)
        except OSError as error:
            raise DataError(f"{name!r} cannot be read.", seen=error.strerror, hint="choose another file") from None
        return path, found.st_mtime_ns, found.st_size

    async def upload(self, name: str, pieces: AsyncIterator[bytes]) -> str:
        """Keep an uploaded file in the private folder under a free name, at most `MAX_UPLOAD` bytes."""
        from scorespace.io.paths import file_format

        name = "".join(filter(str.isprintable, name)).replace("\\", "/").rpartition("/")[2].lstrip(".")[-150:]
        file_format(name)  # refuses unknown extensions
        dot = name.find(".")
        path, number = self.uploads.root / name, 1
        while path.exists():
            number += 1
            path = self.uploads.root / f"{name[:dot]}-{number}{name[dot:]}"
        size, part = 0, path.with_name(f".{path.name}")
        try:
            with open(part, "xb") as file:
                async for piece in pieces:
                    size += len(piece)
                    if size > MAX_UPLOAD:
                        limit = f"{MAX_UPLOAD // 1_000_000} MB"
                        hint = "put the file into the folder that is served, and choose it there"
                        raise DataError(f"uploads are limited to {limit}.", seen=name, hint=hint)
                    file.write(piece)
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        return f"uploads/{path.name}"


def has_changed(version: Version) -> bool:
    """Whether a file is no longer the one that was looked at."""
    path, changed, size = version
    try:
        found = os.stat(path)
    except OSError:
        return True
    return (found.st_mtime_ns, found.st_size) != (changed, size)


class PrivateFolder:
    """A folder that only its owner can open, locked while in use and removed at the end; stale ones are removed."""

    def __init__(self) -> None:
        where = tempfile.gettempdir()
        for entry in os.scandir(where):
            if entry.name.startswith(_PREFIX) and (lock := _lock(entry.path)) is not None:
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))  # mode 0700
            self._lock = _lock(str(self.path))
            if self.path.exists():  # else another start took it for stale before it was locked
                break
        for name in ("uploads", "jobs"):
            (self.path / name).mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(path: str) -> int | None:
    """Lock a folder of this user; None if it is in use or belongs to someone else."""
    if fcntl is None:
        return None
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_uid == os.getuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
        except OSError:
            pass
        os.close(descriptor)
    return None
