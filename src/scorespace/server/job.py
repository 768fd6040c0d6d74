"""One evaluation in a process of its own: it can be ended at any moment, and gives back all that it took.

It is asked by a line of JSON on its standard input, and ends when that is closed. It answers by lines of JSON: what it
is doing, then an error, or how long the page and the report are that follow.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from scorespace.errors import ScoreSpaceError
from scorespace.results import Row
from scorespace.server.asked import Asked

Tell = Callable[[str, float | None], None]
"""Called with what is being done, and how much of it is done where that is known."""


def made(paths: Sequence[str], asked: Asked, tell: Tell) -> tuple[str, str]:
    """The page of a file as it is served, with a place for the bar, and the report to keep.

    `paths`: where the files lie that are asked for.
    """
    from scorespace.evaluation.enter import evaluate
    from scorespace.server.pages import SLOT, around
    from scorespace.views import sections
    from scorespace.views.report import page

    stage = ["drawing the cases again, for the intervals"]
    tell(f"reading {asked.file}", None)
    evaluation = evaluate(paths[0], **asked.arguments(*paths[1:]), progress=lambda share: tell(stage[-1], share))
    evaluation.summary  # noqa: B018 - computed here, while its progress is told
    evaluation.slices  # noqa: B018
    stage.append("answering the questions of the page")
    tell(stage[-1], None)
    document = sections.document(evaluation, command=asked.command)
    stage.append("drawing the page")
    tell(stage[-1], None)
    return page.render(document, around(SLOT, linked=True)), page.render(document)


def told(error: Exception) -> Row:
    """An error as the three lines that users read; what is our own fault says so."""
    kind = type(error).__name__
    if isinstance(error, MemoryError):
        error = ScoreSpaceError("there is not enough memory.", hint="only the columns in use, or a sample of the rows")
    elif not isinstance(error, ScoreSpaceError):
        kind, seen = "InternalError", " ".join(f"{kind}: {error}".split())[:200]
        error = ScoreSpaceError("scorespace failed, which is its own fault.", seen=seen, hint="please report it")
    return {"kind": kind, "problem": error.problem, "seen": error.seen or "", "hint": error.hint or ""}


def main() -> None:
    """Answer the one question on standard input."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    question: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_with, args=(sys.stdin.buffer,), daemon=True).start()

    def say(content: Row) -> None:
        answers.write(json.dumps(content).encode() + b"\n")
        answers.flush()

    asked = Asked(question["file"], tuple((name, value) for name, value in question["said"]))
    try:
        found = made(question["paths"], asked, lambda doing, share: say({"doing": doing, "share": share}))
    except Exception as error:
        say({"error": told(error)})
    else:
        texts = [one.encode(errors="replace") for one in found]
        say({"sizes": [len(one) for one in texts]})
        for text in texts:
            answers.write(text)
        answers.flush()
    os._exit(0)


def _leave_with(stdin: BinaryIO) -> None:
    """End at once when whoever asked has gone."""
    stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
