"""A clock that is set while the node runs: nothing is signed for hours to come, nothing twice, and it goes on after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.producer.loop import Producer
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.producer.time.clock import NEAR, SECOND, STEP, STILL, StepGuard
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import VIZ, VIZ_KEY, Network, start_seven

NOW, HOURS = 1_800_000_000, 5 * 3600


class Set:
    """One validator of seven, by a clock that a test sets wrong."""

    def __init__(self, folder: Path) -> None:
        self.network: Network = start_seven(folder)
        self.error = 0
        self.now = self.network.chain.head_time
        self.signed = LastSigned(folder, self.network.chain.network.chain_id)
        settings = ProducerSettings(names=(VIZ,), keys=keyring([VIZ_KEY]))
        self.producer = Producer(self.network.chain, settings, self.signed, lambda: (self.now + self.error) * SECOND)

    def slots(self, count: int) -> list[AccountName]:
        """So many slots; whose block each has: the others make theirs by the true time."""
        made = []
        for _ in range(count):
            self.now += 3
            chain = self.network.chain
            before = chain.head_number
            self.producer.tick()
            slot = chain.slot_at(self.now)
            if slot and chain.scheduled_at(slot) != VIZ:
                chain.push_block(self.network.make_at(self.now)).or_raise()
            if chain.head_number > before:
                block = chain.block_at(chain.head_number)
                assert block is not None
                made.append(AccountName(block.validator))
        return made


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Set]:
    made = Set(tmp_path)
    yield made
    made.network.chain.close()


def test_a_clock_that_jumps_by_hours_signs_nothing_and_goes_on_when_it_is_put_right(
    one: Set, caplog: pytest.LogCaptureFixture
) -> None:
    assert VIZ in one.slots(7)
    signed = one.signed.time

    one.error = HOURS
    assert VIZ not in one.slots(70)
    assert one.signed.time == signed
    assert "our clock was set forward" in caplog.text

    one.error = 0
    assert VIZ in one.slots(14)


def test_a_clock_that_is_set_back_signs_nothing_twice(one: Set) -> None:
    one.slots(7)
    signed = one.signed.time

    one.error = -HOURS
    assert VIZ not in one.slots(14)
    assert one.signed.time == signed

    one.error = 0
    assert VIZ in one.slots(14)


def test_a_head_of_about_now_confirms_the_clock() -> None:
    guard = StepGuard()
    assert not guard.is_in_doubt(NOW, NOW - 3)
    assert not guard.is_in_doubt(NOW + STEP, NOW - 3)

    assert guard.is_in_doubt(NOW + HOURS, NOW)
    assert guard.is_in_doubt(NOW + HOURS + 1, NOW + HOURS - NEAR)
    assert not guard.is_in_doubt(NOW + HOURS + 1, NOW + HOURS + 1 - NEAR)
    assert not guard.is_in_doubt(NOW + HOURS + 2, NOW)


def test_where_no_block_comes_at_all_the_clock_is_followed_after_a_while() -> None:
    guard = StepGuard()
    guard.is_in_doubt(NOW, NOW)

    for second in range(STILL):
        assert guard.is_in_doubt(NOW + HOURS + second, NOW)
    assert not guard.is_in_doubt(NOW + HOURS + STILL, NOW)


def test_as_long_as_blocks_of_another_time_come_it_stays_in_doubt() -> None:
    guard = StepGuard()
    guard.is_in_doubt(NOW, NOW)

    assert all(guard.is_in_doubt(NOW + HOURS + second, NOW + second // 3 * 3) for second in range(1_000))
