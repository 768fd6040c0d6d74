"""`scorespace serve`: the local web page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.given import Given, Stakes
from scorespace.cli.options import flag, switch
from scorespace.errors import DataError
from scorespace.server.asked import NAMES, Asked
from scorespace.server.folder import Folder, open_folder
from scorespace.server.guard import LOCAL
from scorespace.server.serve import Server

_SERVER = "The server"
_NOT_TAKEN = {
    *("name", "model", "weights", "baseline", "time", "repeat", "dataset", "matrix", "order", "scale"),
    *("allow_remote", "memory", "precision", "engine", "master"),
}
_WARNING = (
    "warning: {host} can be reached from other computers. Whoever has the address below reads every data file of the "
    "folder; nothing on the way is encrypted.\n"
)


def serve(
    given: Annotated[Given, _NOT_TAKEN],
    stakes: Annotated[Stakes, {"slope"}],
    by: options.By = [],
    measures: Annotated[
        str, flag("LIST", 'Which measures, such as "auc,ppv@0.5".', autocompletion=options.measure_names)
    ] = "",
    folder: Annotated[
        Path | None,
        flag("DIR", "The only folder whose files can be listed and read; that of DATA, or the current one.", _SERVER),
    ] = None,
    port: Annotated[int, flag("N", "Where to listen; 0 takes a free one.", _SERVER, min=0, max=65535)] = 0,
    host: Annotated[
        str, flag("HOST", "Another address to listen on than that of this computer alone.", _SERVER)
    ] = LOCAL,
    open: Annotated[bool, switch("--open", "Open the page in the browser.", _SERVER)] = False,
) -> None:
    """Serve the report of any file of a folder as a local web page, with the rows behind its numbers.

    Example: scorespace serve credit.csv --truth outcome --positive bad --score naive_bayes --score tree
    """
    data = given.data
    if isinstance(data, str) and folder is None and os.path.isdir(data):
        folder, data = Path(data), None
    if isinstance(data, list):
        raise DataError("one file is shown at a time.", hint="the folder: scorespace serve --folder DIR")
    stated = {**given._asdict(), **stakes._asdict(), "by": by, "measures": measures}
    stated["missing"] = "drop" if given.missing == "drop" else None
    said = {name: _texts(stated[name.replace("-", "_")]) for name in NAMES}
    if data is None and any(said.values()):
        raise DataError("columns are named, and no file.", hint="scorespace serve DATA --truth COL --score COL")
    place = open_folder(folder if folder is not None else os.path.dirname(data or "") or ".")
    asked = Asked()
    if data is not None:
        said["costs"] = [_name_in(place, path) for path in said["costs"]]
        stakes.condition(given.rows)  # what costs lack is told at once
        asked = Asked.of(_name_in(place, data), said)
    with Server(place, host, port) as server:
        if host not in (LOCAL, "localhost"):
            output.say(_WARNING.format(host=host))
        address = server.guard.address + (f"&{asked.query}" if asked.file else "")
        output.line(f"serving {place.root}\npage    {address}\nend     Ctrl-C")
        output.flush()
        if open:
            import webbrowser

            webbrowser.open(address)
        server.serve_forever()


def _texts(value: object) -> list[str]:
    """What is stated under a name, as an address says it."""
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return [f"{one:.12g}" if isinstance(one, float) else str(one) for one in values]


def _name_in(place: Folder, path: str) -> str:
    """The name of a file in the folder; what lies elsewhere is refused."""
    name = os.path.basename(path)
    if os.path.realpath(os.path.dirname(path)) == str(place.root) and name in place.names():
        return name
    if not os.path.exists(path):
        raise DataError(f"file {path!r} does not exist.", hint="check the path")
    raise DataError(f"{path!r} is no data file in the folder.", seen=str(place.root), hint="--folder DIR, where it is")
