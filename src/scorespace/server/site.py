"""The page: home, set-up, report, and the rows behind its numbers."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from scorespace.errors import DataError, ScoreSpaceError
from scorespace.evaluation.proposal import FilePreview, ProposedColumn, preview
from scorespace.profiles import PROFILES
from scorespace.report.html import templates
from scorespace.results import Row, grouped
from scorespace.server import rows, setup
from scorespace.server.auth import AccessControl, Auth
from scorespace.server.folder import MAX_UPLOAD, Folder, PrivateFolder, Sources, Version
from scorespace.server.jobs import Job, Jobs
from scorespace.server.request import PageRequest, stem
from scorespace.server.work import error_row

_HERE: Final = Path(__file__).parent
_LARGE: Final = 200_000_000  # bytes of a file from which on an evaluation gets a limit of its memory
_MEMORY: Final = "400MB"
_QUICK: Final = 0.4  # seconds for which a page is waited for before it shows progress
_MAX_COUNTED: Final = 500_000_000  # bytes of a file whose rows are counted on the home page
_FRAMED: Final = {"Content-Security-Policy": "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"}
_FOREIGN: Final = {  # a saved report may have been changed by anyone, so it runs without access to this server
    "Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; frame-ancestors 'none'"
}


class Site:
    """The endpoints of a server of one folder."""

    def __init__(self, folder: Folder, auth: Auth) -> None:
        self.private = PrivateFolder()
        self.sources = Sources(folder, self.private.path)
        self.jobs = Jobs(self.private.path / "jobs")
        self._previews: dict[Version, FilePreview] = {}
        routes = [
            Route("/", self.home),
            Route("/card", self.card),
            Route("/setup", self.setup),
            Route("/check", self.check),
            Route("/view", self.view),
            Route("/events", self.events),
            Route("/report", self.report),
            Route("/rows", self.rows),
            Route("/rows.csv", self.rows_csv),
            Route("/copy", self.copy),
            Route("/saved", self.saved),
            Route("/save", self.save, methods=["POST"]),
            Route("/stop", self.stop, methods=["POST"]),
            Route("/upload", self.upload, methods=["PUT"]),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
        ]
        handlers: Any = {ScoreSpaceError: self._failure, HTTPException: self._failure, Exception: self._failure}
        self.app = AccessControl(Starlette(routes=routes, exception_handlers=handlers), auth, MAX_UPLOAD)

    async def close(self) -> None:
        """Stop the evaluations and remove what was uploaded and computed."""
        await self.jobs.close()
        self.private.remove()

    # --- pages

    def home(self, request: Request) -> Response:
        """Upload, files of the folder, recent and saved evaluations, demo."""
        folder = self.sources.folder
        cards = {prefix: [_card(one, prefix, name) for name in one.names()] for prefix, one in self._folders().items()}
        recent = [
            {"query": job.request.query, "file": job.request.file, **_about(job.request)} for job in self.jobs.recent()
        ]
        saved = [_card(folder, "", name) | {"report": _has_report(folder, name)} for name in folder.saved()]
        return _page("home.html", cards=cards, recent=recent, saved=saved, root=folder.root, limit=MAX_UPLOAD // 10**6)

    def card(self, request: Request) -> Response:
        """Rows and columns of a file, in words."""
        import narwhals as nw

        from scorespace.io import read

        path, _, size = self.sources.version(request.query_params.get("file", ""))
        try:
            source = read(path)
        except ScoreSpaceError:
            return JSONResponse({"text": "cannot be read as a table"})
        columns = f"{grouped(len(source.columns))} columns"
        if size > _MAX_COUNTED:
            return JSONResponse({"text": columns})
        return JSONResponse({"text": f"{grouped(source.counts(rows=nw.len())['rows'])} rows · {columns}"})

    async def setup(self, request: Request) -> Response:
        """Roles of the columns of a file, with a proposal where none are stated."""
        view = _view(request)
        failed = None
        if "failed" in request.query_params:
            job = self.jobs.latest(view)
            failed = job.error if job is not None else None
        return await run_in_threadpool(self._setup_page, view, failed)

    def _setup_page(self, view: PageRequest, failed: Row | None) -> Response:
        version = self.sources.version(view.file)
        look = self._preview(version)
        view = view if view.stated else setup.proposed(view.file, look)
        menus, hidden = setup.menus(view, look)
        files = [name for name in self.sources.folder.names() if name.casefold().endswith(".csv") and name != view.file]
        found = setup.describe(view, look, version[0], version[2], failed)
        content: Row = {"menus": menus, "hidden": hidden, "sample": setup.sample_rows(version[0]), "preview": look}
        content |= {"fields": setup.FIELDS, "profiles": sorted(PROFILES), "matrices": files, "setup": found}
        return _page("setup.html", view=view, **content)

    def check(self, request: Request) -> Response:
        """Sentence and problems of what is chosen at the moment."""
        view = _view(request)
        version = self.sources.version(view.file)
        found = setup.describe(view, self._preview(version), version[0], version[2])
        return _page("check.html", view=view, setup=found)

    async def view(self, request: Request) -> Response:
        """The report in its frame, or the progress of its evaluation."""
        view = _view(request)
        if not view.complete:
            return RedirectResponse(f"/setup?{view.query}" if view.file else "/", 303)
        if request.url.query != view.query:  # one address for each view
            return RedirectResponse(f"/view?{view.query}", 303)
        versions = await run_in_threadpool(self._versions, view)
        if versions[0][2] > _LARGE and view.one("memory") is None:
            return RedirectResponse(f"/view?{view.with_values(memory=_MEMORY).query}", 303)
        job = self.jobs.start(versions, view)
        if await job.wait(_QUICK) and job.error is not None:
            return RedirectResponse(f"/setup?{view.query}&failed=1", 303)
        return await run_in_threadpool(self._report_page, view, job)

    def _report_page(self, view: PageRequest, job: Job) -> Response:
        look = self._preview(self.sources.version(view.file))
        folder = self.sources.folder
        others = [name for name in self._files() if name != view.file]
        cuts = [(one.name, setup.slice_of(one, view)) for one in look.columns if one.kind != "identifier"]
        slices = [(name, view.with_values(by=[*view.every("by"), cut]).query) for name, cut in cuts if cut]
        used = {value for name, value in view.stated if name not in ("by", "group", "fold")}
        filters = {}
        for one in look.columns:
            if 2 <= len(one.labels) <= 12 and one.name not in used:
                conditions = {label: [*view.every("where"), _condition(one, label)] for label in one.labels}
                filters[one.name] = [(label, view.with_values(where=each).query) for label, each in conditions.items()]
        content: Row = {"ready": job.ended, "chips": _chips(view), "others": others, "saved": folder.saved()}
        content |= {"name": folder.free(f"{stem(view.file)}.html"), "raters": bool(view.every("rater"))}
        return _page("report.html", view=view, slices=slices, filters=filters, **content)

    # --- work

    async def events(self, request: Request) -> Response:
        """Progress of an evaluation as server-sent events: `progress`, then `done` or `failed`."""
        view = _view(request)
        job = self.jobs.start(await run_in_threadpool(self._versions, view), view)

        async def stream() -> AsyncIterator[str]:
            async for state in self.jobs.follow(job):
                yield f"event: progress\ndata: {json.dumps(state)}\n\n"
            yield f"event: {'failed' if job.error else 'done'}\ndata: {{}}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def stop(self, request: Request) -> Response:
        """Cancel an evaluation."""
        view = _of_query((await request.body()).decode(errors="replace"))
        job = self.jobs.find(await run_in_threadpool(self._versions, view), view)
        if job is not None:
            job.stop()
        return JSONResponse({})

    async def report(self, request: Request) -> Response:
        """The report, for the frame or as a file."""
        view = _view(request)
        job = await self._finished(view)
        if "download" not in request.query_params:
            return FileResponse(job.framed, media_type="text/html", headers=_FRAMED)
        return FileResponse(job.report, media_type="text/html", headers=_attached(f"{stem(view.file)}.html"))

    async def save(self, request: Request) -> Response:
        """Save the report and the evaluation into the folder, under a new name."""
        form = parse_qs((await request.body()).decode(errors="replace"))
        view, name = _of_query(form.get("address", [""])[0]), form.get("name", [""])[0]
        job = await self._finished(view)
        folder = self.sources.folder
        path = folder.save(name, job.report.read_bytes())
        evaluation = job.folder / "evaluation.json"
        if evaluation.exists():
            folder.save(path.with_suffix(".json").name, evaluation.read_bytes())
        return JSONResponse({"saved": path.name, "next": folder.free(name)})

    def saved(self, request: Request) -> Response:
        """A saved report, which runs without access to this server."""
        path = self.sources.folder.report(request.query_params.get("name", ""))
        return FileResponse(path, media_type="text/html", headers=_FOREIGN)

    async def upload(self, request: Request) -> Response:
        """Keep a file that was dropped on the page until the server ends."""
        name = await self.sources.upload(request.query_params.get("name", ""), request.stream())
        return JSONResponse({"address": f"/setup?{urlencode({'file': name})}"})

    # --- rows

    def rows(self, request: Request) -> Response:
        """A page of the rows behind a number, for the side panel."""
        view, query = _view(request), dict(request.query_params)
        found = rows.find_rows(self.sources.path(view.file), view, query)
        number = max(1, int(query["page"]) if query.get("page", "").isdecimal() else 1)
        kept = {name: query[name] for name in (*rows.NAMES, "search", "sort", "descending") if query.get(name)}
        content: Row = {"shown": found, "query": kept, "address": f"{view.query}&{urlencode(kept)}", "number": number}
        lines = [list(map(rows.cell_text, row)) for row in found.found.first(rows.PAGE, rows.PAGE * (number - 1))]
        return _page("rows.html", view=view, lines=lines, pages=-(-found.found.total // rows.PAGE), **content)

    def rows_csv(self, request: Request) -> Response:
        """All rows behind a number as CSV."""
        view = _view(request)
        found = rows.find_rows(self.sources.path(view.file), view, dict(request.query_params)).found
        headers = _attached(f"{stem(view.file)}-rows.csv")
        return StreamingResponse(rows.as_csv(found), media_type="text/csv; charset=utf-8", headers=headers)

    def copy(self, request: Request) -> Response:
        """The command and the Python code of a view; the operating point is in the parameter `fragment`."""
        fragment = {name: values[-1] for name, values in parse_qs(request.query_params.get("fragment", "")).items()}
        view = _view(request).at_view(fragment)
        paths = {
            name: os.path.relpath(self.sources.path(name)) for name in view.files if not name.startswith("uploads/")
        }
        paths |= {name: name.partition("/")[2] for name in view.files if name.startswith("uploads/")}
        return JSONResponse({"command": view.command(paths), "python": view.python(paths)})

    # --- shared

    def _folders(self) -> dict[str, Folder]:
        return {"": self.sources.folder, "uploads/": self.sources.uploads, "demo/": self.sources.demo}

    def _files(self) -> list[str]:
        return [f"{prefix}{name}" for prefix, folder in self._folders().items() for name in folder.names()]

    def _preview(self, version: Version) -> FilePreview:
        """The columns of a file, described once for each of its versions."""
        if version not in self._previews:
            while len(self._previews) > 20:
                self._previews.pop(next(iter(self._previews)), None)
            self._previews[version] = preview(version[0])
        return self._previews[version]

    def _versions(self, view: PageRequest) -> tuple[Version, ...]:
        return tuple(map(self.sources.version, view.files))

    async def _finished(self, view: PageRequest) -> Job:
        """The evaluation of a view, waited for."""
        if not view.complete:
            raise DataError("there is no evaluation yet.", hint="choose a file and the roles of its columns")
        job = self.jobs.start(await run_in_threadpool(self._versions, view), view)
        await job.wait(3600)
        job.raise_error()
        return job

    def _failure(self, request: Request, error: Exception) -> Response:
        """An error as a page, or as JSON for scripts; without its inside."""
        status = getattr(error, "status_code", 400 if isinstance(error, ScoreSpaceError) else 500)
        row = error_row(error) if isinstance(error, ScoreSpaceError) else {"kind": "", "seen": "", "hint": ""}
        unknown = "There is nothing at this address." if status == 404 else "An unexpected error in scorespace."
        view = _view(request)
        problem = setup.explain(row, view, FilePreview((), 0, True)) if "problem" in row else setup.Problem(unknown)
        if request.method != "GET" or request.url.path in ("/card", "/copy", "/rows", "/check"):
            return JSONResponse({"problem": problem.text}, status)
        return _page("error.html", status, problem=problem, view=view)


def _view(request: Request) -> PageRequest:
    return _of_query(request.url.query)


def _of_query(text: str) -> PageRequest:
    query = parse_qs(text, errors="replace")
    return PageRequest.of(query.get("file", [""])[0], query)


def _page(template: str, status: int = 200, **content: Any) -> Response:
    return HTMLResponse(templates(_HERE / "templates").get_template(template).render(**content), status)


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


def _card(folder: Folder, prefix: str, name: str) -> Row:
    status = (folder.root / name).stat()
    date = datetime.fromtimestamp(status.st_mtime).strftime("%d %b %Y, %H:%M").lstrip("0")
    size = f"{status.st_size / 1e6:.1f} MB" if status.st_size >= 1e5 else f"{max(1, round(status.st_size / 1e3))} kB"
    return {"name": name, "query": urlencode({"file": f"{prefix}{name}"}), "date": date, "size": size}


def _has_report(folder: Folder, name: str) -> bool:
    try:
        return folder.report(name).is_file()
    except DataError:
        return False


def _about(view: PageRequest) -> Row:
    models = [value for name in ("score", "decision", "prediction", "value", "rater") for value in view.every(name)]
    named = {
        "truth": view.one("truth") or ("values per case" if view.one("value") else "raters"),
        "models": ", ".join(one.partition("=")[0] for one in models),
    }
    return {"query": view.query, "file": view.file, **named}


def _condition(column: ProposedColumn, label: str) -> str:
    """A condition on rows: a column equals a label.

    >>> print(_condition(ProposedColumn("blood type", labels=("0", "A")), "A"))
    "blood type" = 'A'
    """
    name, quoted = column.name.replace('"', '""'), label.replace("'", "''")
    return f'"{name}" = {label}' if column.ends else f"\"{name}\" = '{quoted}'"


def _chips(view: PageRequest) -> list[tuple[str, str]]:
    """What restricts or extends the report, each as text and the query of the view without it."""
    found = []
    words_by_name = {"where": "only ", "by": "slices by ", "against": "compared with ", "baseline": "compared with "}
    for name, words in words_by_name.items():
        for value in view.every(name):
            rest = [one for one in view.every(name) if one != value]
            text = value.replace('"', "") if name == "where" else value.partition("(")[0] if name == "by" else value
            found.append((words + text, view.with_values(**{name: rest}).query))
    if view.one("missing") == "drop":
        found.append(("without rows with gaps", view.with_values(missing=None).query))
    return found
