"""What is at which address: the page of a file, the rows behind a number, the report to keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.frames.behind import Behind, Wanted, behind, models
from scorespace.server import pages
from scorespace.server.answer import Answer, Query, first, moved, read_query
from scorespace.server.asked import NAMES, Asked, stem
from scorespace.server.folder import Folder
from scorespace.server.job import told
from scorespace.server.proposal import Look, look, propose
from scorespace.server.work import Job, Version, Work
from scorespace.tables.threshold import threshold_text
from scorespace.views.document import Text

SHOWN: Final = 100
"""Rows that a page shows; all of them are to be had as CSV."""

_NOWHERE: Final = DataError("there is nothing at this address.", hint="the page of the folder: /")
_ROWS: Final = ("model", "cell", "threshold", "actual", "decided", "lead", "low", "high")
_OUTCOMES: Final = {"tp": "Hits", "fp": "False alarms", "fn": "Misses", "tn": "Left alone"}

PATIENCE: Final = 1.0
"""Seconds for which a page is waited for, before the page says what is being done."""


class Site:
    """The answers of a server of one folder."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.work = Work()
        self._looks: dict[Version, Look] = {}

    def get(self, path: str, query: Query) -> Answer:
        """What is asked for by an address."""
        ways = {"/": self._page, "/rows": self._rows, "/rows.csv": self._csv, "/report.html": self._report}
        return self._answer(ways.get(path), query, query)

    def post(self, path: str, form: Query) -> Answer:
        """What is done at the wish of a form."""
        ways = {"/save": self._save, "/stop": self._stop}
        return self._answer(ways.get(path), read_query(first(form, "address")), form)

    def _answer(self, way: Callable[[Asked, Query], Answer] | None, address: Query, given: Query) -> Answer:
        """What a way answers to what is asked by an address, or what is wrong with it."""
        asked = Asked.of(first(address, "file"), address)
        if way is None:
            return self._told(asked, told(_NOWHERE), 404)
        try:
            return way(asked, given)
        except (ScoreSpaceError, OSError, MemoryError) as error:
            return self._told(asked, told(error), 400)

    def close(self) -> None:
        """End what is under way."""
        self.work.close()

    # --- pages

    def _page(self, asked: Asked, query: Query) -> Answer:
        if not asked.file:
            names = self.folder.names()
            words = (
                f"Choose one of {len(names)} data files above." if names else "There is no data file in this folder."
            )
            return Answer(pages.page(self._bar(asked, open=True), "scorespace", [Text(words)]))
        self.folder.path(asked.file)  # refuses what is not there
        choosing = "choose" in query
        if choosing or not asked.complete:
            words = "Say above which column is what, then evaluate. What is proposed is ticked, with the reason."
            bar = self._bar(asked, open=True, proposed=not asked.said)
            return Answer(pages.page(bar, asked.file, [Text(words)]))
        if any(not value.strip() or name not in ("file", *NAMES) for name in query for value in query[name]):
            return moved(f"/?{asked.query}")  # the address to keep says no more than it must
        job = self._job(asked)
        if not job.ended.wait(PATIENCE):
            return self._working(asked, job)
        if job.error is not None:
            return self._told(asked, job.error, 400)
        return Answer(pages.filled(job.page, self._bar(asked, ready=True)))

    def _working(self, asked: Asked, job: Job) -> Answer:
        share = "" if job.share is None else f", {100 * job.share:.0f} %"
        words = [f"Now {job.doing}{share}.", f"{job.seconds:.0f} s so far. This page looks again every second."]
        body = pages.page(self._bar(asked, working=True), asked.file, [Text(one) for one in words])
        return Answer(body, 202, headers={"Refresh": "1"})

    def _report(self, asked: Asked, _: Query) -> Answer:
        return Answer(self._done(asked).report, headers=_attached(f"{stem(asked.file)}.html"))

    def _save(self, asked: Asked, form: Query) -> Answer:
        saved = self.folder.save(first(form, "name"), self._done(asked).report)
        words = [Text(f"{saved.name} is in the folder.")]
        return Answer(pages.page(self._bar(asked, ready=True), "Saved", words, command=asked.command))

    def _stop(self, asked: Asked, _: Query) -> Answer:
        self.work.stop(self._versions(asked), asked)
        return moved(f"/?{asked.query}&choose=1")

    def _rows(self, asked: Asked, query: Query) -> Answer:
        known, wanted, found = self._behind(asked, query)
        given = {name: first(query, name) for name in _ROWS}
        named = [("file", asked.file), *asked.said, *((name, said) for name, said in given.items() if said)]
        about = {**given, "query": urlencode(named), "total": found.total, "models": known, "model": wanted.model}
        return Answer(pages.rows_page(self._bar(asked, rows=about), _title(wanted), found, SHOWN))

    def _csv(self, asked: Asked, query: Query) -> Answer:
        rows = pages.rows_csv(self._behind(asked, query)[2])
        return Answer(rows, kind="text/csv; charset=utf-8", headers=_attached(f"{stem(asked.file)}-rows.csv"))

    def _behind(self, asked: Asked, query: Query) -> tuple[list[str], Wanted, Behind]:
        """All models of a file, which rows of one an address asks for, and these rows."""
        if not asked.complete:
            raise DataError("rows are those of a model.", hint="choose a file and what its columns are")
        path, roles = str(self.folder.path(asked.file)), asked.roles()
        known = models(path, roles)
        wanted = _wanted(query, known[0])
        return known, wanted, behind(path, roles, wanted, asked.one("missing") or "error")

    def _told(self, asked: Asked, error: Mapping[str, str], status: int) -> Answer:
        if asked.file not in self.folder.names():
            asked = Asked()
        try:
            bar = self._bar(asked, open=True)
        except ScoreSpaceError:  # a file that cannot be read has no columns to choose from
            bar = pages.bar(self.folder, asked, None, open=True)
        return Answer(pages.page(bar, "This does not work yet", pages.error_blocks(dict(error))), status)

    # --- what they share

    def _job(self, asked: Asked) -> Job:
        return self.work.ask(self._versions(asked), asked)

    def _versions(self, asked: Asked) -> tuple[Version, ...]:
        return tuple(map(self.folder.version, asked.files))

    def _done(self, asked: Asked) -> Job:
        """An evaluation, waited for."""
        if not asked.complete:
            raise DataError("nothing is evaluated yet.", hint="choose a file and what its columns are")
        job = self._job(asked)
        job.ended.wait()
        if job.error is not None:
            error = job.error
            raise ScoreSpaceError(error["problem"], seen=error["seen"] or None, hint=error["hint"] or None)
        return job

    def _bar(self, asked: Asked, *, proposed: bool = False, **state: Any) -> str:
        found = None
        if asked.file:
            seen = self._look(asked.file)
            proposal = propose(asked.file, seen.columns)
            found = seen, proposal
            asked = proposal.asked if proposed else asked
        return pages.bar(self.folder, asked, found, **state)

    def _look(self, file: str) -> Look:
        """The columns of a file, looked at once for each of its versions."""
        version = self.folder.version(file)
        if version not in self._looks:
            while len(self._looks) > 20:
                self._looks.pop(next(iter(self._looks)), None)
            self._looks[version] = look(version[0])
        return self._looks[version]


def _attached(name: str) -> dict[str, str]:
    """The headers by which a browser keeps an answer as a file."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


def _wanted(query: Query, model: str) -> Wanted:
    """The rows that an address asks for; those of the first model if it names none."""
    given = {name: first(query, name) for name in _ROWS}
    threshold, lead, low, high = (_number(name, given[name]) for name in ("threshold", "lead", "low", "high"))
    actual, decided = (given[name] or None for name in ("actual", "decided"))
    return Wanted(given["model"] or model, given["cell"], threshold, actual, decided, lead, low, high)


def _number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DataError(f"{name} {text!r} is no number.", hint=f"{name} 0.5")
    return number


def _title(wanted: Wanted) -> str:
    """Which rows these are.

    >>> _title(Wanted("nb", "fp", 0.5)), _title(Wanted("nb", low=0.2))
    ('False alarms of nb at 0.5', 'Rows by nb, scores from 0.2')
    """
    if wanted.cell:
        at = "" if wanted.threshold is None else f" at {threshold_text(wanted.threshold)}"
        return f"{_OUTCOMES[wanted.cell]} of {wanted.model}{at}"
    if wanted.actual is not None and wanted.decided is not None:
        ahead = "" if wanted.lead is None else f", ahead by {wanted.lead:.6g} or more"
        return f"{wanted.actual} taken for {wanted.decided} by {wanted.model}{ahead}"
    ends = [f" {word} {end:g}" for word, end in (("from", wanted.low), ("to", wanted.high)) if end is not None]
    return f"Rows by {wanted.model}" + (f", scores{''.join(ends)}" if ends else "")
