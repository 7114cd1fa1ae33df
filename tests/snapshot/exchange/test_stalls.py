"""Stalls, in virtual time: when peers are told again, when a snapshot is fetched, and what begins the wait again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.snapshot.exchange.stalls import ANNOUNCED_SECONDS, CHECK_SECONDS, StallVerdict, StallWatch

TIMEOUT = 300.0


def verdicts(
    watch: StallWatch, start: float, end: float, *, is_master: bool = False
) -> list[tuple[float, StallVerdict]]:
    """What the checks say besides to wait."""
    found: list[tuple[float, StallVerdict]] = []
    now = start
    while now <= end:
        verdict = watch.check(now, is_master=is_master)
        if verdict is not StallVerdict.WAIT:
            found.append((now, verdict))
        now += CHECK_SECONDS
    return found


def test_peers_are_told_first_and_a_snapshot_is_fetched_a_minute_later() -> None:
    assert verdicts(StallWatch(TIMEOUT, 0), 0, 400) == [(330, StallVerdict.ANNOUNCE), (390, StallVerdict.FETCH)]


def test_a_block_begins_the_wait_anew() -> None:
    watch = StallWatch(TIMEOUT, 0)
    assert verdicts(watch, 0, 360) == [(330, StallVerdict.ANNOUNCE)]

    watch.restart(380)

    assert verdicts(watch, 390, 750) == [(690, StallVerdict.ANNOUNCE), (750, StallVerdict.FETCH)]


def test_nothing_happens_while_blocks_come() -> None:
    watch = StallWatch(TIMEOUT, 0)
    for now in range(0, 3000, 100):
        watch.restart(now)
        assert verdicts(watch, now, now + 90) == []


def test_the_master_of_an_emergency_waits_for_nobody() -> None:
    assert verdicts(StallWatch(TIMEOUT, 0), 0, 3000, is_master=True) == []


@given(blocks=st.lists(st.integers(0, 5_000), max_size=20))
def test_nothing_is_fetched_within_the_time_and_a_minute_after_a_block(blocks: list[int]) -> None:
    watch, last = StallWatch(TIMEOUT, 0), 0
    for now in range(0, 6_000, CHECK_SECONDS):
        for block in sorted(each for each in blocks if now - CHECK_SECONDS < each <= now):
            watch.restart(block)
            last = block
        if watch.check(now) is StallVerdict.FETCH:
            assert now - last > TIMEOUT + ANNOUNCED_SECONDS
            watch.restart(now)
            last = now
