"""The one folder whose data files can be listed and read, and into which reports can be saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from scorespace.errors import DataError, did_you_mean, listing
from scorespace.files import check_target, refuse_overwriting, write_file
from scorespace.frozen import dataclass

MOST: Final = 1000
"""Files that are listed, the first by the alphabet."""


@dataclass(frozen=True)
class Folder:
    """A folder by its real path: nothing is read or written but ordinary files that lie in it, whatever leads there."""

    root: Path

    def names(self) -> list[str]:
        """The data files in it, by the alphabet; neither hidden ones, nor those below, nor links that lead out."""
        from scorespace.frames.paths import kind_of

        found = []
        for entry in sorted(os.scandir(self.root), key=lambda one: one.name.casefold()):
            try:
                kind_of(entry.name)
                entry.name.encode()
            except (DataError, UnicodeEncodeError):
                continue
            inside = Path(os.path.realpath(entry.path)).parent == self.root
            if not entry.name.startswith(".") and entry.is_file() and inside:
                found.append(entry.name)
        return found[:MOST]

    def path(self, name: str) -> Path:
        """The real path of one of the files that are listed; every other name is refused, whatever it is."""
        names = self.names()
        if name not in names:
            raise DataError(
                f"there is no data file {name!r} in the folder.",
                seen=listing(names) or "no data files",
                hint=did_you_mean(name, names, "one of the files in the list", quoted=True),
            )
        return Path(os.path.realpath(self.root / name))

    def version(self, name: str) -> tuple[str, int, int]:
        """What changes when the file does: its path, the time of its last change, its size."""
        path = self.path(name)
        found = path.stat()
        return str(path), found.st_mtime_ns, found.st_size

    def save(self, name: str, content: bytes) -> Path:
        """Put a page into the folder under a new name: no file is ever replaced."""
        path = self.root / name
        if Path(name).name != name or "\\" in name or "\0" in name or name.startswith("."):
            raise DataError(f"{name!r} is no name of a file in the folder.", hint="report.html")
        check_target(path, (".html",))
        if os.path.lexists(path):
            raise DataError(f"{name!r} is there already.", hint=self.free(name))
        refuse_overwriting(path, [self.root / each for each in self.names()])
        return write_file(path, content)

    def free(self, name: str) -> str:
        """The name, or one like it that no file has.

        >>> Folder(Path("/nowhere")).free("credit.html")
        'credit.html'
        """
        base, number = name.removesuffix(".html"), 1
        while os.path.lexists(self.root / name):
            number += 1
            name = f"{base}-{number}.html"
        return name


def open_folder(path: str | os.PathLike[str]) -> Folder:
    """The folder at a path."""
    real = Path(os.path.realpath(path))
    if not real.is_dir():
        raise DataError(f"there is no folder {str(path)!r}.", hint="--folder DIR, a folder that is there")
    return Folder(real)
