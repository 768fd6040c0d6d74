"""The evaluations of a server, each in a process of its own: the same view is computed once, and can be cancelled."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scorespace.errors import ScoreSpaceError
from scorespace.results import Row
from scorespace.server.folder import Version, has_changed
from scorespace.server.request import PageRequest

KEPT: Final = 12
"""Finished evaluations that are kept."""

AT_ONCE: Final = max(2, os.cpu_count() or 1)
"""Evaluations that run at the same time; others wait."""

ABANDONED: Final = 20.0
"""Seconds after which an evaluation is stopped that no page waits for any more."""

Key = tuple[tuple[Version, ...], PageRequest]
"""The versions of the files that are read, and the view."""


@dataclass(eq=False)
class Job:
    """An evaluation: its progress, and in the end its files or an error."""

    request: PageRequest
    versions: tuple[Version, ...]
    folder: Path
    step: str = "Waiting for another evaluation"
    share: float | None = None
    error: Row | None = None
    task: asyncio.Task[None] | None = None
    listeners: int = 0
    began: float = field(default_factory=time.time)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    @property
    def framed(self) -> Path:
        return self.folder / "framed.html"

    async def run(self, turns: asyncio.Semaphore) -> None:
        """Compute it when it is its turn."""
        try:
            async with turns:
                await self._compute()
        except asyncio.CancelledError:
            self.error = {"kind": "Stopped", "problem": "the evaluation was stopped.", "seen": "", "hint": ""}

    async def _compute(self) -> None:
        self.folder.mkdir(mode=0o700)
        self.step = "Starting"
        # -P: files in the current folder are data, and no code to import.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "scorespace.server.work"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        question: Row = {"file": self.request.file, "stated": self.request.stated}
        question |= {"paths": [path for path, *_ in self.versions]}
        done = False
        try:
            with suppress(OSError):  # the process has ended, which is reported below
                process.stdin.write(json.dumps({**question, "folder": str(self.folder)}).encode() + b"\n")
                await process.stdin.drain()
            async for line in process.stdout:
                said = json.loads(line)
                done = done or "done" in said
                self.error = said.get("error", self.error)
                self.step, self.share = said.get("step", self.step), said.get("share")
                self._notify()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
        if changed := [name for name, one in zip(self.request.files, self.versions, strict=True) if has_changed(one)]:
            problem = f"{changed[0]} changed or was removed while it was read."  # what was computed may mix both
            self.error = {"kind": "FileChanged", "problem": problem, "seen": "", "hint": "evaluate it again"}
        elif not done and self.error is None:
            problem, hint = "the evaluation ended without a result.", "use less memory: fewer columns or rows"
            self.error = {"kind": "InternalError", "problem": problem, "seen": "", "hint": hint}

    def _notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it has ended."""
        assert self.task is not None
        await asyncio.wait({self.task}, timeout=seconds)
        return self.ended

    async def progress(self) -> AsyncIterator[Row]:
        """Yield the state after every change, and at least each second."""
        assert self.task is not None
        while not self.ended:
            yield {"step": self.step, "share": self.share, "seconds": round(time.time() - self.began)}
            change = asyncio.ensure_future(self.changed.wait())
            try:
                await asyncio.wait({self.task, change}, timeout=1, return_when=asyncio.FIRST_COMPLETED)
            finally:
                change.cancel()

    def stop(self) -> None:
        """End it, wherever it is."""
        if self.task is not None:
            self.task.cancel()

    def raise_error(self) -> None:
        """Raise the error that it ended with."""
        if self.error is not None:
            row = self.error
            raise ScoreSpaceError(row["problem"], seen=row["seen"] or None, hint=row["hint"] or None)


class Jobs:
    """The evaluations by what they are of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._jobs: dict[Key, Job] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._count = 0

    def start(self, versions: tuple[Version, ...], request: PageRequest) -> Job:
        """The evaluation of a view, started unless there is one already."""
        job = self._jobs.pop((versions, request), None)
        if job is None or (job.ended and job.error is not None):
            self._count += 1
            job = Job(request, versions, self.folder / str(self._count))
            job.task = asyncio.create_task(job.run(self._turns))
        self._jobs[versions, request] = job  # the last one requested is the last to be forgotten
        ended = [key for key, one in self._jobs.items() if one.ended and one is not job]
        for key in ended[: max(0, len(ended) - KEPT)]:
            shutil.rmtree(self._jobs.pop(key).folder, ignore_errors=True)
        return job

    def find(self, versions: tuple[Version, ...], request: PageRequest) -> Job | None:
        """The evaluation of a view, if there is one."""
        return self._jobs.get((versions, request))

    def latest(self, request: PageRequest) -> Job | None:
        """The last evaluation of a view, of whatever version of its files."""
        return next((job for job in reversed(self._jobs.values()) if job.request == request), None)

    def recent(self) -> list[Job]:
        """Finished evaluations, the latest first."""
        return [job for job in reversed(self._jobs.values()) if job.ended and job.error is None]

    async def follow(self, job: Job) -> AsyncIterator[Row]:
        """Progress of a job for one page; if the last page goes away, the job is stopped after a while."""
        job.listeners += 1
        try:
            async for state in job.progress():
                yield state
        finally:
            job.listeners -= 1
            if not job.ended and not job.listeners:
                asyncio.get_running_loop().call_later(ABANDONED, _stop_abandoned, job)

    async def close(self) -> None:
        """Stop all of them."""
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._jobs.clear()


def _stop_abandoned(job: Job) -> None:
    if not job.listeners:
        job.stop()
