"""Turns on the loop of a worker: who asks for much delays itself, and the loop is never held for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ledgerd.rpc.shares import loop_turns
from ledgerd.rpc.shares.loop_turns import ROUND_SECONDS, TURN_SECONDS, LoopTurns
from tests.rpc.loopback import play


class Work:
    """Pieces of work, each of so long, on a clock that only they move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.turns = LoopTurns(lambda: self.now)
        self.done: list[str] = []

    def piece(self, share: str, seconds: float, pieces: int = 1) -> Callable[[], None]:
        def work() -> None:
            self.now += seconds
            self.done.append(share)
            if pieces > 1:
                self.turns.wait(share, self.piece(share, seconds, pieces - 1))

        return work


async def rounds(work: Work, count: int) -> list[list[str]]:
    """What is done in each round of the loop."""
    seen = []
    for _ in range(count):
        before = len(work.done)
        await asyncio.sleep(0)
        seen.append(work.done[before:])
    return seen


def test_what_fits_into_a_round_is_done_at_once() -> None:
    async def scene() -> list[bool]:
        work = Work()
        at_once = []
        for _ in range(3):
            at_once.append(work.turns.has_time())
            work.now += 0.7 * ROUND_SECONDS
        await asyncio.sleep(0)
        return [*at_once, work.turns.has_time()]

    assert play(scene) == [True, True, False, True]


def test_a_round_ends_and_the_rest_is_done_in_later_ones() -> None:
    async def scene() -> list[list[str]]:
        work = Work()
        work.turns.wait("one", work.piece("one", TURN_SECONDS, 6))
        return await rounds(work, 4)

    assert [len(each) for each in play(scene)] == [2, 2, 2, 0]


def test_what_will_take_long_waits_for_what_others_do_in_an_instant() -> None:
    async def scene() -> list[str]:
        work = Work()
        for share in ("large", "larger", "largest"):
            work.turns.wait(share, work.piece(share, 0.3), expected=0.3)
        await rounds(work, 1)
        work.turns.wait("small", work.piece("small", 0.001), expected=0.00001)
        await rounds(work, 3)
        return work.done

    assert play(scene) == ["large", "small", "larger", "largest"]


def test_what_takes_long_comes_before_what_asks_again_and_again() -> None:
    async def scene() -> list[str]:
        work = Work()
        work.turns.wait("often", work.piece("often", 0.1, 9))
        work.turns.wait("large", work.piece("large", 0.3), expected=0.3)
        await rounds(work, 10)
        return work.done

    assert play(scene).index("large") <= 4


def test_who_asks_for_much_waits_for_those_who_ask_for_little() -> None:
    async def scene() -> list[str]:
        work = Work()
        for share in ("much", "much", "more"):
            work.turns.wait(share, work.piece(share, ROUND_SECONDS, 20))
        await rounds(work, 5)
        work.turns.wait("little", work.piece("little", ROUND_SECONDS / 100, 3))
        before = len(work.done)
        await rounds(work, 4)
        return work.done[before:]

    done = play(scene)
    assert done.count("little") == 3
    assert done.index("little") <= 1
    assert len(done) <= 7, "a round ends when its time is over"


def test_a_pause_gives_no_advantage() -> None:
    async def scene() -> list[str]:
        work = Work()
        work.turns.wait("busy", work.piece("busy", ROUND_SECONDS, 100))
        await rounds(work, 20)
        work.turns.wait("rested", work.piece("rested", ROUND_SECONDS, 100))
        before = len(work.done)
        await rounds(work, 20)
        return work.done[before:]

    done = play(scene)
    assert abs(done.count("busy") - done.count("rested")) <= 2


def test_a_turn_ends_and_begins_with_a_piece_of_work_however_late() -> None:
    async def scene() -> list[bool]:
        work, has_time = Work(), list[bool]()

        def turn() -> None:
            for _ in range(3):
                work.now += 0.6 * TURN_SECONDS
                has_time.append(work.turns.has_time())

        work.turns.wait("one", turn)
        await rounds(work, 2)
        return has_time

    assert play(scene) == [True, True, False]


def test_while_somebody_waits_nothing_is_done_out_of_turn() -> None:
    async def scene() -> list[bool]:
        work = Work()
        work.turns.wait("one", work.piece("one", 2 * ROUND_SECONDS, 2))
        seen = []
        for _ in range(4):
            seen.append(work.turns.has_time())
            await asyncio.sleep(0)
        return seen

    assert play(scene) == [False, False, True, True]


def test_work_whose_result_is_awaited_is_done_in_a_turn_and_its_fault_told() -> None:
    def fail() -> int:
        raise ZeroDivisionError

    async def scene() -> int:
        work = Work()
        work.turns.wait("one", work.piece("one", 2 * ROUND_SECONDS, 2))
        with pytest.raises(ZeroDivisionError):
            await work.turns.do("two", fail)
        unwanted = asyncio.ensure_future(work.turns.do("two", lambda: work.done.append("unwanted")))
        work.turns.wait("one", work.piece("one", 2 * ROUND_SECONDS, 2))
        await asyncio.sleep(0)
        unwanted.cancel()
        found = await work.turns.do("three", lambda: 7)
        assert "unwanted" not in work.done
        return found

    assert play(scene) == 7


def test_of_many_who_wait_a_bounded_number_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_turns, "MOST_REMEMBERED", 10)

    async def scene() -> int:
        work = Work()
        work.turns.wait("much", work.piece("much", ROUND_SECONDS, 1000))
        most = 0
        for place in range(100):
            work.turns.wait(str(place), work.piece(str(place), ROUND_SECONDS))
            await asyncio.sleep(0)
            most = max(most, len(work.turns._spent))  # noqa: SLF001 - nothing else tells how many are remembered
        return most

    assert play(scene) <= 12
