"""One evaluation in a process of its own, which can be ended at any moment.

The question is a line of JSON on standard input; when that is closed, the process ends. Progress and errors are lines
of JSON on standard output; the results are files in the folder that the question names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scorespace.errors import ScoreSpaceError, is_out_of_memory
from scorespace.results import Row
from scorespace.server.request import PageRequest

Tell = Callable[[str, float | None], None]
"""Called with the current step, and the share of it that is done where that is known."""


def evaluate_view(request: PageRequest, paths: Sequence[str], folder: Path, tell: Tell) -> None:
    """Write the report of a view, its form for the page, and the evaluation to compare others with."""
    from scorespace.evaluation.assemble import evaluate_data
    from scorespace.report import html, sections

    tell(f"Reading {request.file}", None)
    if request.every("rater"):
        document = _rater_document(request, paths[0])
    else:
        named = dict(zip(request.files[1:], paths[1:], strict=True))
        options = request.arguments(named.get(request.one("costs") or ""))
        baseline = named.get(request.one("baseline") or "")
        if against := request.one("against"):
            tell(f"Evaluating {against}", None)
            baseline = str(folder / "against.json")
            evaluate_data(named[against], **options).save(baseline)
        step = ["Bootstrap resampling"]
        evaluation = evaluate_data(paths[0], **options, baseline=baseline, progress=lambda share: tell(step[-1], share))
        evaluation.summary  # noqa: B018 - computed here, while its progress is shown
        evaluation.slices  # noqa: B018
        step.append("Computing the sections of the report")
        tell(step[-1], None)
        document = sections.document(evaluation, command=request.command())
        evaluation.save(folder / "evaluation.json")
    tell("Writing the report", None)
    script = html.read_asset(Path(__file__).parent / "static" / "frame.js")
    style = html.read_asset(Path(__file__).parent / "static" / "frame.css")
    parts = html.ServerParts("", style, "This page is served by your own computer, only to you.", script)
    (folder / "report.html").write_bytes(html.render(document).encode(errors="replace"))
    (folder / "framed.html").write_bytes(html.render(document, parts).encode(errors="replace"))


def _rater_document(request: PageRequest, path: str) -> Any:
    from scorespace.agreement.raters import RaterAgreement
    from scorespace.evaluation.two_samples import agree
    from scorespace.io import FilteredData
    from scorespace.report import agreement as view

    where = request.where
    found = agree(path if where is None else FilteredData(path, where), **request.rater_arguments())
    is_plain = isinstance(found, RaterAgreement)
    return (view.rating_document if is_plain else view.document)(found, Path(path).name)  # type: ignore[arg-type]


def error_row(error: Exception) -> Row:
    """An error by its parts; an error of our own says so."""
    kind = type(error).__name__
    if is_out_of_memory(error):
        kind = "MemoryError"
        error = ScoreSpaceError("not enough memory.", hint="fewer columns, or a condition on the rows")
    elif isinstance(error, OSError):
        error = ScoreSpaceError("a file cannot be read.", seen=error.strerror, hint="choose it again")
    elif not isinstance(error, ScoreSpaceError):
        kind, seen = "InternalError", " ".join(f"{kind}: {error}".split())[:200]
        error = ScoreSpaceError("an unexpected error in scorespace.", seen=seen, hint="please report it")
    return {"kind": kind, "problem": error.problem, "seen": error.seen or "", "hint": error.hint or ""}


def main() -> None:
    """Answer the question on standard input."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    question = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()

    def say(content: Row) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    request = PageRequest(question["file"], tuple((name, value) for name, value in question["stated"]))
    try:
        evaluate_view(
            request,
            question["paths"],
            Path(question["folder"]),
            lambda step, share: say({"step": step, "share": share}),
        )
    except Exception as error:
        say({"error": error_row(error)})
    else:
        say({"done": True})


def _end_with_server() -> None:
    """End by a signal when the server closes standard input or has been killed."""
    os.read(0, 1)
    signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
