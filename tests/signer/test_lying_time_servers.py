"""Two of a signer's three time servers lie alike, and so are believed. What a node that was taken over gets by it."""

from __future__ import annotations

import pytest

from ledgerd.producer.settings import NtpSettings
from ledgerd.producer.signing.signing_frames import SigningVerdict
from ledgerd.producer.time.ntp import NtpAnswer, NtpOffset, Round, ntp_time, request
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.signer.rule import MOST_APART, ROUND_SECONDS, SECOND, CheckedClock, SigningRule
from tests.signer.headers import KEY, NOW, header_of, rule_of

HOUR = 3600


class LiedTo:
    """A signer's machine, whose own clock is right, and what its three time servers say of it."""

    def __init__(self, lie: int) -> None:
        self.lie = lie
        self.passed = 0
        self.known = NtpOffset(NtpSettings())
        self.clock = CheckedClock(lambda: self.passed, self.wall, lambda: self.known.offset)
        self.ask()

    def wall(self) -> int:
        return NOW * SECOND + self.passed

    def ask(self) -> None:
        """One round of questions: what is believed is what more than half say."""
        asked = Round()
        self.known.begin_round(self.wall())
        for place, lie in enumerate((self.lie, 0, self.lie)):
            server, packet = ("192.0.2.1", place), request(self.wall())
            asked.ask(server, packet)
            there = ntp_time(self.wall() + lie * SECOND).to_bytes(8, "big")
            answer = asked.answer(server, bytes(24) + packet[40:48] + there + there, self.wall())
            assert isinstance(answer, NtpAnswer)
            asked.count(server, answer)
        choice = asked.choice(is_over=True)
        assert choice is not None
        assert abs(choice.offset - self.lie * SECOND) < SECOND
        self.known.judge(choice, self.wall())

    def run(self, seconds: int) -> None:
        self.passed += seconds * SECOND


def slots_got(rule: SigningRule, machine: LiedTo, first: int, last: int, seconds: int) -> list[int]:
    """What a node gets that asks for all of these slots, again and again, for so long."""
    got = []
    for _ in range(0, seconds, BLOCK_INTERVAL):
        now = machine.clock()
        # What lies farther away than a slot from the signer's clock is refused, whatever else holds.
        passed = max(0, now.now // SECOND - first) // BLOCK_INTERVAL
        for slot in range(first, last, BLOCK_INTERVAL)[max(0, passed - 2) : passed + 3]:
            judged = rule.judge(KEY.public, header_of(slot, 7), now)
            got += [slot] if judged.verdict is SigningVerdict.SIGNED else []
        machine.run(BLOCK_INTERVAL)
    return got


@pytest.mark.parametrize("behind", [5, 30, 59, 61, 600, HOUR, 23 * HOUR])
def test_a_signer_without_its_record_signs_no_slot_that_it_may_have_signed(behind: int) -> None:
    """The lie is that it is earlier: the slots since then were signed before the record was lost."""
    machine, rule = LiedTo(-behind), rule_of(is_ready=False)
    got = slots_got(rule, machine, NOW - behind - HOUR, NOW + BLOCK_INTERVAL, min(behind, HOUR) + 3 * ROUND_SECONDS)
    assert [slot for slot in got if slot <= NOW] == []


@pytest.mark.parametrize("ahead", [61, 600, HOUR, 23 * HOUR])
@pytest.mark.parametrize("is_told_later", [False, True])
def test_no_slot_of_hours_to_come_is_signed_so_that_none_is_lost_until_then(ahead: int, is_told_later: bool) -> None:
    machine, rule = LiedTo(0 if is_told_later else ahead), rule_of()
    if is_told_later:
        machine.lie = ahead
        for _ in range(5):  # one unlike those before is believed after three
            machine.run(4)
            machine.ask()
    got = slots_got(rule, machine, NOW, NOW + ahead + HOUR, 3 * ROUND_SECONDS)
    assert [slot for slot in got if slot * SECOND > machine.wall() + MOST_APART] == []


def test_an_honest_node_is_served_again_when_the_servers_are() -> None:
    machine, rule = LiedTo(HOUR), rule_of()
    assert machine.clock().doubt.startswith("the time servers and the clock of this machine are 3600 s apart")
    machine.lie = 0
    for _ in range(5):
        machine.run(4)
        machine.ask()
    assert machine.clock().doubt.startswith("the signer's clock was set")
    machine.run(ROUND_SECONDS)
    slot = machine.wall() // SECOND // BLOCK_INTERVAL * BLOCK_INTERVAL
    assert rule.judge(KEY.public, header_of(slot), machine.clock()).verdict is SigningVerdict.SIGNED


def test_a_lie_that_is_believed_is_shorter_than_the_wait() -> None:
    assert MOST_APART + SECOND < ROUND_SECONDS * SECOND
