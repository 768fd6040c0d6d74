"""Evaluations that are asked for: each is made once, however often it is asked for, kept a while, stopped on demand."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from scorespace.results import Row
from scorespace.server.asked import Asked

KEPT: Final = 8
"""Evaluations that are remembered."""

AT_ONCE: Final = 2
"""Evaluations that run at the same time; others wait."""

Version = tuple[str, int, int]
"""The path of a file, and what changes when it does."""

Key = tuple[tuple[Version, ...], Asked]
"""The versions of the files that are read, and what is asked of them."""


@dataclass
class Job:
    """An evaluation: what it is doing, and in the end its page and report, or an error."""

    paths: tuple[str, ...]
    asked: Asked
    doing: str = "waiting for another evaluation"
    share: float | None = None
    page: bytes = b""
    report: bytes = b""
    error: Row | None = None
    stopped: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    process: Any = None

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self.began

    def run(self, turn: threading.Semaphore) -> None:
        """Do it, once it is its turn."""
        try:
            with turn:
                if not self.stopped:
                    self._run()
        finally:
            if not self.page and self.error is None:
                problem = "the evaluation was stopped." if self.stopped else "the evaluation ended without an answer."
                hint = "start it again" if self.stopped else "less memory: a sample of the rows"
                self.error = {"kind": "", "problem": problem, "seen": "", "hint": hint}
            self.ended.set()

    def _run(self) -> None:
        # -P: what lies in the folder from which it was started is data, and no code to import.
        command = [sys.executable, "-P", "-m", "scorespace.server.job"]
        question = {"paths": self.paths, "file": self.asked.file, "said": self.asked.said}
        pipe: Any = subprocess.PIPE
        with (
            suppress(OSError, ValueError),  # it has gone: its silence is told
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process,
        ):
            self.process, self.doing = process, "starting"
            if self.stopped:
                process.kill()
            process.stdin.write(json.dumps(question).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            self._listen(process.stdout)
            process.kill()

    def _listen(self, answers: Any) -> None:
        for line in answers:
            said = json.loads(line)
            if "error" in said:
                self.error = said["error"]
            elif "sizes" in said:
                page, report = (answers.read(size) for size in said["sizes"])
                if [len(page), len(report)] == said["sizes"]:
                    self.page, self.report = page, report
            else:
                self.doing, self.share = said["doing"], said["share"]

    def stop(self) -> None:
        """End it, wherever it is."""
        self.stopped = True
        if self.process is not None:
            self.process.kill()


class Work:
    """The evaluations of a server by what they are of: the same question is worked on once."""

    def __init__(self) -> None:
        self._jobs: dict[Key, Job] = {}
        self._lock = threading.Lock()
        self._turn = threading.Semaphore(AT_ONCE)

    def ask(self, versions: tuple[Version, ...], asked: Asked) -> Job:
        """The evaluation, begun if nobody has asked for it yet."""
        key = versions, asked
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None:
                job = Job(tuple(path for path, _, _ in versions), asked)
                threading.Thread(target=job.run, args=(self._turn,), daemon=True).start()
            self._jobs[key] = job  # the last asked for is the last to be forgotten
            done = [each for each, one in self._jobs.items() if one.ended.is_set()]
            for each in done[: max(0, len(done) - KEPT)]:
                del self._jobs[each]
        return job

    def stop(self, versions: tuple[Version, ...], asked: Asked) -> None:
        """End an evaluation and forget it, so that the next question begins anew."""
        with self._lock:
            job = self._jobs.pop((versions, asked), None)
        if job is not None:
            job.stop()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.stop()
