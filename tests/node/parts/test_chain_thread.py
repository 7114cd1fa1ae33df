from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from ledgerd.node.parts import chain as chain_part
from ledgerd.node.parts.chain import ChainThread, Rank
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
    monkeypatch.setattr(chain_part, "TURN_SECONDS", 0.0)
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


@pytest.mark.parametrize("is_in_pieces", [False, True])
def test_production_waits_for_one_piece_of_other_work_at_most(thread: ChainThread, *, is_in_pieces: bool) -> None:
    """Thousands of blocks wait at once, or a long branch is tried in pieces that follow one another; a tick is due each
    quarter of a second, in the time that the pieces take.
    """
    piece, pieces, tick = 15, 2_000, 250
    now, left, due = 0, pieces, tick
    late = list[int]()
    ended = threading.Event()

    def produce(wanted: int) -> None:
        late.append(now - wanted)

    def apply() -> None:
        nonlocal now, left, due
        now += piece
        left -= 1
        while due <= now:
            thread.submit(partial(produce, due), Rank.PRODUCTION)
            due += tick
        if not left:
            thread.submit(ended.set)
        elif is_in_pieces:
            thread.submit(apply)

    for _ in range(1 if is_in_pieces else pieces):
        thread.submit(apply)
    assert ended.wait(60)

    assert len(late) == pieces * piece // tick
    assert max(late) < piece


def test_what_is_queued_is_done_before_the_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_part, "TURN_SECONDS", 0.0)
    thread, done = ChainThread(Work("chain")), list[int]()
    for number in range(50):
        thread.submit(lambda number=number: done.append(number))  # type: ignore[misc]
    thread.stop()
    assert done == list(range(50))
