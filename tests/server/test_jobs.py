"""Evaluations in processes: computed once, cancelled at any moment, and nothing is left behind."""

import asyncio
import os

import pytest

from scorespace.server.folder import open_folder
from scorespace.server.jobs import KEPT, Jobs
from scorespace.server.request import PageRequest
from server.conftest import in_loop

VIEW = PageRequest.of("credit.csv", {"truth": ["outcome"], "positive": ["bad"], "score": ["tree"], "measures": ["auc"]})


@pytest.fixture
def versions(folder):
    path = open_folder(folder).path("credit.csv")
    return ((str(path), path.stat().st_mtime_ns, path.stat().st_size),)


def workers():
    """Process numbers of the children of this process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()  # noqa: SIM115
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.append(int(name))
    return set(found)


def test_the_same_view_is_computed_once_and_its_files_are_kept(tmp_path, versions):
    async def run():
        jobs = Jobs(tmp_path)
        first = jobs.start(versions, VIEW)
        assert jobs.start(versions, VIEW) is first
        steps = [state["step"] async for state in jobs.follow(first)]
        assert first.error is None
        assert len(set(steps)) > 1
        assert b"AUC" in first.report.read_bytes()
        assert b"addRowsButton" in first.framed.read_bytes()
        assert b"addRowsButton" not in first.report.read_bytes()
        assert jobs.recent() == [first]
        await jobs.close()

    in_loop(run())


def test_an_error_is_kept_and_the_next_request_tries_again(tmp_path, versions):
    async def run():
        jobs = Jobs(tmp_path)
        view = VIEW.with_values(truth="nowhere")
        job = jobs.start(versions, view)
        await job.wait(60)
        assert (job.error["kind"], "nowhere" in job.error["problem"]) == ("ColumnError", True)
        assert jobs.find(versions, view) is job
        assert jobs.start(versions, view) is not job
        await jobs.close()

    in_loop(run())


def test_a_stopped_evaluation_leaves_no_process(tmp_path, versions):
    async def run():
        before, jobs = workers(), Jobs(tmp_path)
        job = jobs.start(versions, VIEW.with_values(measures="h, ks"))
        while job.step != "Starting" or workers() <= before:
            await asyncio.sleep(0.01)
        job.stop()
        assert await job.wait(10)
        assert job.error["kind"] == "Stopped"
        assert workers() <= before
        await jobs.close()

    in_loop(run())


def test_an_evaluation_that_no_page_waits_for_is_stopped(tmp_path, versions, monkeypatch):
    monkeypatch.setattr("scorespace.server.jobs.ABANDONED", 0.05)

    async def run():
        before, jobs = workers(), Jobs(tmp_path)
        job = jobs.start(versions, VIEW.with_values(measures="h, ks, mcc@0.3"))
        follower = jobs.follow(job)
        await anext(follower)
        await follower.aclose()
        assert await job.wait(10)
        assert job.error["kind"] == "Stopped"
        assert workers() <= before
        await jobs.close()

    in_loop(run())


@pytest.mark.parametrize("change", ["replaced", "removed", "grown"])
def test_a_file_that_changes_during_its_evaluation_gives_no_result(tmp_path, folder, change):
    file = tmp_path / "credit.csv"
    content = (folder / "credit.csv").read_text()
    file.write_text(content)
    versions = ((str(file), file.stat().st_mtime_ns, file.stat().st_size),)

    async def run():
        jobs = Jobs(tmp_path)
        job = jobs.start(versions, VIEW)
        while job.step != "Starting":
            await asyncio.sleep(0.01)
        if change == "removed":
            file.unlink()
        else:
            file.write_text(content.replace("bad", "BAD") if change == "replaced" else content + content[-40:])
        assert await job.wait(60)
        assert (job.error["kind"], job.error["problem"]) == (
            "FileChanged",
            "credit.csv changed or was removed while it was read.",
        )
        assert jobs.latest(VIEW) is job
        assert jobs.recent() == []
        await jobs.close()

    in_loop(run())


def test_old_evaluations_are_forgotten_with_their_files(tmp_path, versions):
    async def run():
        jobs = Jobs(tmp_path)
        for number in range(KEPT + 3):
            await jobs.start(versions, VIEW.with_values(truth=f"none{number}")).wait(60)
        assert len(os.listdir(tmp_path)) <= KEPT + 1
        await jobs.close()

    in_loop(run())
