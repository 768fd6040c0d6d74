"""`scorespace serve`: show reports in a local web page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from scorespace.cli import options, output
from scorespace.cli.common_options import CostOptions, DataOptions
from scorespace.cli.options import flag, switch
from scorespace.cli.verbs import verb
from scorespace.errors import DataError
from scorespace.server.folder import Folder, open_folder
from scorespace.server.request import NAMES, PageRequest

_SERVER = "Server"
_EXCLUDED = {
    *("name", "model", "weights", "baseline", "time", "repeat", "dataset", "matrix", "order"),
    *("allow_remote", "memory", "precision", "engine", "master"),
}
_WARNING = (
    "warning: other computers can reach {host}. Anyone with the address below can read every data file of the folder; "
    "the connection is not encrypted.\n"
)


@verb("Reference and tools", 5, runs_without_arguments=True)
def serve(
    data_options: Annotated[DataOptions, _EXCLUDED],
    cost_options: Annotated[CostOptions, {"slope"}],
    by: options.By = [],
    measures: Annotated[
        str, flag("LIST", 'Measures, such as "auc,ppv@0.5".', autocompletion=options.measure_names)
    ] = "",
    folder: Annotated[
        Path | None,
        flag("DIR", "Folder whose files can be listed and read; by default that of DATA, or the current one.", _SERVER),
    ] = None,
    port: Annotated[int, flag("N", "Port; 0 chooses a free one.", _SERVER, min=0, max=65535)] = 0,
    host: Annotated[
        str | None, flag("HOST", "Address to listen on; by default only this computer has access.", _SERVER)
    ] = None,
    open: Annotated[bool, switch("--open", "Open the page in a browser.", _SERVER)] = False,
) -> None:
    """Serve interactive reports of the data files in a folder as a local web page, down to single cases.

    Example: scorespace serve credit.csv --truth outcome --positive bad --score naive_bayes --score tree
    """
    data = data_options.data
    if isinstance(data, str) and folder is None and os.path.isdir(data):
        folder, data = Path(data), None
    if isinstance(data, list):
        raise DataError("serve shows one file at a time.", hint="the folder: scorespace serve --folder DIR")
    settings = {**data_options._asdict(), **cost_options._asdict(), "by": by, "measures": measures}
    settings["missing"] = "drop" if data_options.missing == "drop" else None
    parameters = {name: _texts(settings.get(name.replace("-", "_"))) for name in NAMES}
    if data is None and any(parameters.values()):
        raise DataError("columns are named, but no file.", hint="scorespace serve DATA --truth COL --score COL")
    served_folder = open_folder(folder if folder is not None else os.path.dirname(data or "") or ".")
    request = PageRequest()
    if data is not None:
        parameters["costs"] = [_name_in(served_folder, path) for path in parameters["costs"]]
        cost_options.condition(data_options.rows)  # rejects incomplete costs at once
        request = PageRequest.of(_name_in(served_folder, data), parameters)
    from scorespace.server.serve import Server  # loads Starlette and uvicorn

    server = Server(served_folder, host, port)
    try:
        if host not in (None, "127.0.0.1", "localhost", "::1"):
            output.write_stderr(_WARNING.format(host=host))
        address = server.auth.address + (f"&{request.query}" if request.file else "")
        output.write_line(f"serving {served_folder.root}\npage    {address}\nend     Ctrl-C")
        output.flush()
        if open:
            import webbrowser

            webbrowser.open(server.redirect_file(address).as_uri())  # the key must not appear in a list of processes
        server.run()
    finally:
        server.close()


def _texts(value: object) -> list[str]:
    """Values of an option, as texts for the query string."""
    values = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return [f"{item:.12g}" if isinstance(item, float) else str(item) for item in values]


def _name_in(folder: Folder, path: str) -> str:
    """Name of a file in the folder; rejects files elsewhere."""
    name = os.path.basename(path)
    if os.path.realpath(os.path.dirname(path)) == str(folder.root) and name in folder.names():
        return name
    if not os.path.exists(path):
        raise DataError(f"file {path!r} does not exist.", hint="check the path")
    raise DataError(f"{path!r} is not a data file of the folder.", seen=str(folder.root), hint="--folder DIR")
