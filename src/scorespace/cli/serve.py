"""`scorespace serve`: the local web page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from scorespace.cli import options, output
from scorespace.errors import DataError, ScoreSpaceError
from scorespace.server.asked import Asked
from scorespace.server.folder import open_folder
from scorespace.server.guard import LOCAL
from scorespace.server.serve import Server

_SERVER = "The server"
_WARNING = (
    "warning: {host} can be reached from other computers. Whoever has the address below reads every data file of the "
    "folder; nothing on the way is encrypted.\n"
)


def serve(
    data: options.MaybeData = None,
    truth: options.MaybeTruth = None,
    score: options.Score = [],  # noqa: B006 - Typer copies defaults
    decision: options.Decision = [],  # noqa: B006
    prediction: options.Prediction = [],  # noqa: B006
    positive: options.Positive = None,
    weight: options.Weight = None,
    group: options.Group = None,
    fold: options.Fold = None,
    missing: options.MissingRows = options.Missing.error,
    measures: Annotated[
        str,
        typer.Option(
            metavar="LIST", help='Which measures, such as "auc,ppv@0.5".', autocompletion=options.measure_names
        ),
    ] = "",
    cost_fp: options.CostFp = None,
    cost_fn: options.CostFn = None,
    cost_tp: options.CostTp = None,
    cost_tn: options.CostTn = None,
    prevalence: options.Prevalence = None,
    cost_under: options.CostUnder = None,
    cost_over: options.CostOver = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The only folder whose files can be listed and read; that of DATA, or the current one.",
            rich_help_panel=_SERVER,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes a free one.", rich_help_panel=_SERVER)
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="Another address to listen on; that of this computer alone if not stated.",
            rich_help_panel=_SERVER,
        ),
    ] = LOCAL,
    open: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.", rich_help_panel=_SERVER)
    ] = False,
) -> None:
    """Serve the report of any file of a folder as a local web page, with the rows behind its numbers.

    Example: scorespace serve credit.csv --truth outcome --positive bad --score nb --score tree
    """
    if isinstance(data, list):
        raise DataError("one file is shown at a time.", hint="the folder: scorespace serve --folder DIR")
    named = {"truth": truth, "positive": positive, "score": score, "decision": decision, "prediction": prediction}
    beside = {"weight": weight, "group": group, "fold": fold, "measures": measures}
    costs = {"cost-fp": cost_fp, "cost-fn": cost_fn, "cost-tp": cost_tp, "cost-tn": cost_tn, "prevalence": prevalence}
    numbers = {"cost-under": cost_under, "cost-over": cost_over}
    dropped = {"missing": "drop" if missing is options.Missing.drop else None}
    given = {name: _texts(value) for name, value in {**named, **beside, **costs, **numbers, **dropped}.items()}
    if data is None and any(given.values()):
        raise DataError("columns are named, and no file.", hint="scorespace serve DATA --truth COL --score COL")
    place = open_folder(folder if folder is not None else os.path.dirname(data or "") or ".")
    asked = Asked()
    if data is not None:
        if os.path.realpath(os.path.dirname(data)) != str(place.root) or os.path.basename(data) not in place.names():
            raise _not_in(data, str(place.root))
        asked = Asked.of(os.path.basename(data), given)
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
    return [str(one) for one in value] if isinstance(value, list) else [] if value in (None, "") else [f"{value}"]


def _not_in(data: str, folder: str) -> ScoreSpaceError:
    if not os.path.exists(data):
        return DataError(f"file {data!r} does not exist.", hint="check the path")
    return DataError(f"{data!r} is no data file in the folder.", seen=folder, hint="--folder DIR, where it is")
