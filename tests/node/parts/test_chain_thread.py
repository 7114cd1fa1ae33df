from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ledgerd.node.parts import chain_thread
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
    assert begun.wait(60)
    for name, rank in (("first", Rank.OTHER), ("second", Rank.OTHER), ("own", Rank.PRODUCTION)):
        last = thread.submit(lambda name=name: done.append(name), rank)  # type: ignore[misc]
    gate.set()

    thread.submit(lambda: None).result(10)

    assert last.done()
    assert done == ["own", "first", "second"]


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


def test_a_flood_of_jobs_leaves_other_events_of_the_loop_their_turn(
    thread: ChainThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peers are heard on the same loop: between two turns of jobs, whatever their number."""
    monkeypatch.setattr(chain_thread, "TURN_SECONDS", 0.0)
    begun, gate, done = threading.Event(), threading.Event(), list[str]()

    def hold() -> None:
        begun.set()
        gate.wait()

    thread.submit(hold)
    assert begun.wait(60)
    thread.call_soon(lambda: done.append("a peer"))
    jobs = [thread.submit(lambda: done.append("a job")) for _ in range(50)]
    gate.set()
    jobs[-1].result(10)
    assert done.index("a peer") < 3


def test_what_is_queued_is_done_before_the_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_thread, "TURN_SECONDS", 0.0)
    thread, done = ChainThread(Work("chain")), list[int]()
    for number in range(50):
        thread.submit(lambda number=number: done.append(number))  # type: ignore[misc]
    thread.stop()
    assert done == list(range(50))
