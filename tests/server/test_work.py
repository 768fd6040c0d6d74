"""The same question is worked on once, an evaluation can be stopped, and old ones are forgotten."""

import threading
import time

import pytest

from scorespace.server import work
from scorespace.server.asked import Asked
from scorespace.server.work import Job, Work

VERSION = (("/a.csv", 1, 2),)


def test_a_process_that_ends_without_an_answer_is_told(monkeypatch):
    monkeypatch.setattr(work.sys, "executable", "/bin/true")
    job = Job(("/a.csv",), Asked("a.csv"))
    job.run(threading.Semaphore())
    assert job.error["problem"] == "the evaluation ended without an answer."


@pytest.fixture
def slow(monkeypatch):
    """Evaluations that take until they are allowed to end."""
    begun, may_end = [], threading.Event()

    def run(job):
        begun.append(job)
        while not may_end.wait(0.01) and not job.stopped:
            pass
        if not job.stopped:
            job.page = b"page"

    monkeypatch.setattr(Job, "_run", run)
    yield begun, may_end
    may_end.set()


def test_two_questions_start_the_work_once(slow):
    begun, may_end = slow
    site = Work()
    jobs = {id(site.ask(VERSION, Asked("a.csv"))) for _ in range(5)}
    may_end.set()
    assert site.ask(VERSION, Asked("a.csv")).ended.wait(5)
    assert (len(jobs), len(begun)) == (1, 1)
    assert site.ask(VERSION, Asked("a.csv")).page == b"page"
    site.ask((("/a.csv", 2, 2),), Asked("a.csv")).ended.wait(5)  # the file has changed
    assert len(begun) == 2
    site.ask((*VERSION, ("/costs.csv", 1, 1)), Asked("a.csv")).ended.wait(5)
    site.ask((*VERSION, ("/costs.csv", 2, 1)), Asked("a.csv")).ended.wait(5)  # or that of the costs
    assert [job.paths for job in begun[2:]] == [("/a.csv", "/costs.csv")] * 2


def test_some_run_and_the_others_wait(slow):
    begun, _ = slow
    site = Work()
    jobs = [site.ask(VERSION, Asked(f"{k}.csv")) for k in range(4)]
    until = time.monotonic() + 5
    while len(begun) < work.AT_ONCE and time.monotonic() < until:
        time.sleep(0.01)
    assert len(begun) == work.AT_ONCE
    assert {job.doing for job in jobs} == {"waiting for another evaluation"}
    site.close()
    assert all(job.ended.wait(5) for job in jobs)
    assert {job.error["problem"] for job in jobs} == {"the evaluation was stopped."}


def test_what_is_stopped_is_forgotten(slow):
    _, may_end = slow
    site = Work()
    job = site.ask(VERSION, Asked("a.csv"))
    site.stop(VERSION, Asked("a.csv"))
    assert job.ended.wait(5)
    again = site.ask(VERSION, Asked("a.csv"))
    assert again is not job
    may_end.set()
    assert again.ended.wait(5)
    assert again.page == b"page"


def test_old_ones_are_forgotten(slow):
    begun, may_end = slow
    may_end.set()
    site = Work()
    for k in range(work.KEPT + 3):
        site.ask(VERSION, Asked(f"{k}.csv")).ended.wait(5)
    site.ask(VERSION, Asked("0.csv")).ended.wait(5)
    assert sum(job.asked.file == "0.csv" for job in begun) == 2


def test_a_process_is_killed(monkeypatch):
    monkeypatch.setattr(work.sys, "executable", "/bin/cat")  # which waits for more of what it is told

    class Cat(work.subprocess.Popen):
        def __init__(self, command, **options):
            super().__init__(["/bin/cat"], **{**options, "stdout": work.subprocess.PIPE})

    monkeypatch.setattr(work.subprocess, "Popen", Cat)
    monkeypatch.setattr(Job, "_listen", lambda job, answers: answers.read())
    job = Job(("/a.csv",), Asked("a.csv"))
    thread = threading.Thread(target=job.run, args=(threading.Semaphore(),))
    thread.start()
    while job.process is None:
        time.sleep(0.01)
    job.stop()
    thread.join(5)
    assert not thread.is_alive()
    assert job.process.poll() is not None
