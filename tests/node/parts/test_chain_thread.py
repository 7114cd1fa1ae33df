from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ledgerd.node.parts.chain_thread import ChainThread, Rank
from ledgerd.supervision.work import Work


@pytest.fixture
def thread() -> Iterator[ChainThread]:
    thread = ChainThread(Work("chain"))
    yield thread
    thread.stop()


def test_jobs_that_wait_are_done_by_rank(thread: ChainThread) -> None:
    begun, gate, done = threading.Event(), threading.Event(), list[str]()

    def hold() -> None:
        begun.set()
        gate.wait()

    thread.submit(hold)
    assert begun.wait(10)
    for name, rank in (("first", Rank.OTHER), ("second", Rank.OTHER), ("block", Rank.BLOCK), ("own", Rank.PRODUCTION)):
        last = thread.submit(lambda name=name: done.append(name), rank)  # type: ignore[misc]
    gate.set()

    thread.submit(lambda: None).result(10)

    assert last.done()
    assert done == ["own", "block", "first", "second"]


def test_an_exception_goes_to_who_waits_and_the_thread_goes_on(thread: ChainThread) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        thread.submit(fail).result(10)
    assert thread.submit(lambda: 7).result(10) == 7


def test_a_job_that_nobody_wants_any_more_is_not_done(thread: ChainThread) -> None:
    gate, done = threading.Event(), list[int]()
    thread.submit(gate.wait)
    unwanted = thread.submit(lambda: done.append(1))
    assert unwanted.cancel()
    gate.set()

    thread.submit(lambda: None).result(10)

    assert done == []
