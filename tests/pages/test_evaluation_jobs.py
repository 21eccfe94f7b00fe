"""Background work of the Evaluate page: progress, cancel, failure, and what of it is kept."""

from __future__ import annotations

import threading
import time

from normrag_core.evaluation.runs import Cancelled
from pages._evaluation import Job


def ended(job: Job) -> Job:
    end = time.monotonic() + 10
    while job.running and time.monotonic() < end:
        time.sleep(0.01)
    assert not job.running
    return job


def test_result_and_progress() -> None:
    def work(job: Job) -> str:
        job.report(3, 4, "bm25")
        return "made"

    job = ended(Job("x", work))
    assert (job.result, job.error, job.share, job.what) == ("made", "", 0.75, "bm25")


def test_cancel_keeps_nothing() -> None:
    begun = threading.Event()

    def work(job: Job) -> str:
        begun.set()
        job.stop.wait(10)
        raise Cancelled("stopped after 1 of 9 searches")

    job = Job("x", work)
    assert begun.wait(10)
    assert job.running
    job.stop.set()
    assert ended(job).result is None
    assert job.error == "Cancelled: stopped after 1 of 9 searches. Nothing of it is kept."


def test_a_failure_reaches_the_page() -> None:
    def work(job: Job) -> str:
        raise ValueError("expected vectors; found none")

    assert ended(Job("x", work)).error == "The run failed: expected vectors; found none"
    assert Job("x", work).share == 0.0
