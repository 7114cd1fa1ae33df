"""The rule of a signer: never two headers for one slot, whatever is asked for, however often, in any order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.producer.signing.signing_frames import SigningVerdict
from ledgerd.protocol.blocks.block import BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import recover
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.rule import ROUND_SECONDS, SECOND, CheckedClock, ClockReading
from tests.signer.headers import KEY, NOW, OTHER_KEY, STRANGE_KEY, Memory, at, header_of, rule_of


def test_a_header_of_now_is_signed_over_the_hash_that_the_signer_makes_itself() -> None:
    header = header_of(NOW)

    judged = rule_of().judge(KEY.public, header, at(NOW))

    assert judged.verdict is SigningVerdict.SIGNED
    assert judged.signature == sign_block(header, (), KEY).validator_signature
    assert recover(judged.signature, header.digest) == KEY.public


def test_the_same_header_again_gets_the_same_signature_at_any_time() -> None:
    rule, header = rule_of(), header_of(NOW)
    first = rule.judge(KEY.public, header, at(NOW))

    for clock in (at(NOW + 500), at(NOW - 500), at(NOW, "the clock was set")):
        assert rule.judge(KEY.public, header, clock) == first


def test_another_header_of_the_same_slot_is_refused_and_told_which_block_has_it() -> None:
    rule = rule_of()
    first = rule.judge(KEY.public, header_of(NOW), at(NOW))

    judged = rule.judge(KEY.public, header_of(NOW, 1), at(NOW))

    assert (first.verdict, judged.verdict) == (SigningVerdict.SIGNED, SigningVerdict.SIGNED_ANOTHER)
    assert sign_block(header_of(NOW), (), KEY).id.hex() in judged.reason


def test_the_same_header_with_another_key_is_a_second_signature_and_refused() -> None:
    rule = rule_of()
    rule.judge(KEY.public, header_of(NOW), at(NOW))
    assert rule.judge(OTHER_KEY.public, header_of(NOW), at(NOW)).verdict is SigningVerdict.SIGNED_ANOTHER


def test_with_two_keys_a_validator_changes_from_one_to_the_other() -> None:
    rule = rule_of()
    rule.judge(KEY.public, header_of(NOW), at(NOW))
    assert rule.judge(OTHER_KEY.public, header_of(NOW + 3), at(NOW + 3)).verdict is SigningVerdict.SIGNED


@pytest.mark.parametrize(
    ("header", "key", "verdict"),
    [
        (header_of(NOW - 3), KEY, SigningVerdict.OLDER),
        (header_of(NOW + 1), KEY, SigningVerdict.OUT_OF_STEP),
        (header_of(NOW + 2), KEY, SigningVerdict.OUT_OF_STEP),
        (header_of(NOW + 3, name="mallory"), KEY, SigningVerdict.NOT_NAMED),
        (header_of(NOW + 3), STRANGE_KEY, SigningVerdict.NO_KEY),
        (header_of(NOW + 3), KEY, SigningVerdict.SIGNED),
    ],
)
def test_what_is_refused_after_a_slot_and_what_is_signed(
    header: BlockHeader, key: PrivateKey, verdict: SigningVerdict
) -> None:
    rule = rule_of()
    rule.judge(KEY.public, header_of(NOW), at(NOW))
    assert rule.judge(key.public, header, at(NOW + 3)).verdict is verdict


@pytest.mark.parametrize(
    ("behind", "verdict"),
    [(0.0, SigningVerdict.SIGNED), (1.0, SigningVerdict.SIGNED), (1.000001, SigningVerdict.AHEAD)],
)
def test_a_slot_is_signed_up_to_a_second_ahead_of_the_clock(behind: float, verdict: SigningVerdict) -> None:
    assert rule_of().judge(KEY.public, header_of(NOW), at(NOW - behind)).verdict is verdict


@pytest.mark.parametrize(
    ("ahead", "verdict"),
    [(3.0, SigningVerdict.SIGNED), (3.000001, SigningVerdict.LATE), (9_000.0, SigningVerdict.LATE)],
)
def test_a_slot_is_signed_up_to_one_slot_behind_the_clock(ahead: float, verdict: SigningVerdict) -> None:
    assert rule_of().judge(KEY.public, header_of(NOW), at(NOW + ahead)).verdict is verdict


def test_after_an_unclean_stop_nothing_is_signed_up_to_the_start_and_a_round() -> None:
    rule = rule_of(is_ready=False)
    assert "was not stopped cleanly" in rule.problem(at(NOW))

    last = NOW + ROUND_SECONDS
    assert rule.judge(KEY.public, header_of(NOW), at(NOW + 1)).verdict is SigningVerdict.WAITING
    assert rule.judge(KEY.public, header_of(last), at(last)).verdict is SigningVerdict.WAITING
    assert rule.judge(KEY.public, header_of(last + 3), at(last + 3)).verdict is SigningVerdict.SIGNED
    assert rule.problem(at(last + 4)) == ""


def test_the_wait_begins_when_the_clock_can_be_believed() -> None:
    rule = rule_of(is_ready=False)
    assert rule.problem(at(5, "no time server has answered")) == "no time server has answered"
    assert rule.problem(at(NOW)).startswith("the signer was not stopped")
    assert (
        rule.judge(KEY.public, header_of(NOW + ROUND_SECONDS), at(NOW + ROUND_SECONDS)).verdict
        is SigningVerdict.WAITING
    )


def test_a_clock_that_is_put_forward_makes_the_wait_begin_again() -> None:
    """By a clock that was behind, a round was over before the slots that the lost record would have told of."""
    rule = rule_of(is_ready=False)
    assert rule.problem(at(NOW - 3_600)).startswith("the signer was not stopped")

    right = ClockReading(NOW * SECOND, "", 1)
    assert rule.judge(KEY.public, header_of(NOW), right).verdict is SigningVerdict.WAITING
    last = NOW + ROUND_SECONDS
    assert rule.judge(KEY.public, header_of(last), ClockReading(last * SECOND, "", 1)).verdict is SigningVerdict.WAITING
    after = ClockReading((last + 3) * SECOND, "", 1)
    assert rule.judge(KEY.public, header_of(last + 3), after).verdict is SigningVerdict.SIGNED


def test_a_clock_that_is_put_back_shortens_no_wait_and_a_clean_stop_has_none() -> None:
    rule = rule_of(is_ready=False)
    assert rule.problem(at(NOW))
    back = NOW - 3_600
    assert (
        rule.judge(KEY.public, header_of(back + 90), ClockReading((back + 90) * SECOND, "", 1)).verdict
        is SigningVerdict.WAITING
    )
    for times in range(3):
        now = NOW + 3 * times
        judged = rule_of().judge(KEY.public, header_of(now), ClockReading(now * SECOND, "", times))
        assert judged.verdict is SigningVerdict.SIGNED


def test_while_the_clock_is_in_doubt_no_new_slot_is_signed() -> None:
    judged = rule_of().judge(KEY.public, header_of(NOW), at(NOW, "the clock was set"))
    assert (judged.verdict, judged.reason) == (SigningVerdict.CLOCK, "the clock was set")


class FullDisk(Memory):
    """Takes nothing."""

    def record(self, block: object) -> None:
        raise OperatorError(f"no space for {type(block).__name__}")


def test_what_cannot_be_put_on_the_disk_is_not_signed_and_the_slot_stays_free() -> None:
    record = FullDisk()
    rule = rule_of(record)
    judged = rule.judge(KEY.public, header_of(NOW), at(NOW))

    assert (judged.verdict, judged.signature) == (SigningVerdict.FAILED, None)
    assert rule.last_slot == 0


def test_a_restart_with_its_record_changes_nothing() -> None:
    record = Memory()
    first = rule_of(record).judge(KEY.public, header_of(NOW), at(NOW))

    after = rule_of(record)
    assert after.last_slot == NOW
    assert after.judge(KEY.public, header_of(NOW), at(NOW)) == first
    assert after.judge(KEY.public, header_of(NOW, 1), at(NOW)).verdict is SigningVerdict.SIGNED_ANOTHER


STEP = st.tuples(
    st.sampled_from(["ask", "ask", "ask", "stop", "kill", "lose"]),
    st.integers(-30, 30),
    st.integers(0, 3),
    st.sampled_from([KEY, OTHER_KEY, STRANGE_KEY]),
    st.integers(0, 40),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, max_size=40))
def test_whatever_is_asked_and_whatever_befalls_the_signer_no_slot_has_two_headers(
    steps: list[tuple[str, int, int, PrivateKey, int]],
) -> None:
    """Also where the record is lost with a kill, as when an older one comes from a backup: then it waits for a round.

    All of it only while the clock goes forward, which is what the clock is checked for.
    """
    now, record = NOW, Memory()
    rule, signed = rule_of(record), dict[int, set[tuple[bytes, bytes]]]()
    for what, ahead, variant, key, passed in steps:
        now += passed
        if what == "ask":
            header = header_of(now + ahead, variant)
            judged = rule.judge(key.public, header, at(now))
            if judged.signature is not None:
                signed.setdefault(header.timestamp, set()).add((header.digest, judged.signature))
                assert header.timestamp <= now + 1
                assert header.timestamp % 3 == 0
                assert header.timestamp == max(signed)
        elif what == "stop":
            rule = rule_of(record)
        else:
            record = record if what == "kill" else Memory()
            rule = rule_of(record, is_ready=False)
            assert rule.problem(at(now))
    assert all(len(each) == 1 for each in signed.values())


def test_the_record_is_on_the_disk_before_the_signature_is_given(tmp_path: Path) -> None:
    from ledgerd.producer.signing.double_sign import LastSigned  # noqa: PLC0415 - the real one, for this alone

    seen: list[int] = []

    class Watched(LastSigned):
        def record(self, block: object) -> None:
            super().record(block)  # type: ignore[arg-type]
            on_disk = LastSigned(tmp_path, None).block
            seen.append(0 if on_disk is None else on_disk.timestamp)

    rule = rule_of(Watched(tmp_path, None))  # type: ignore[arg-type]
    assert rule.judge(KEY.public, header_of(NOW), at(NOW)).signature
    assert seen == [NOW]


START = 1_800_000_000 * SECOND


class Machine:
    """Two clocks in the test's hand."""

    def __init__(self) -> None:
        self.passed, self.error = 0, 0
        self.offset: int | None = 0
        self.clock = CheckedClock(lambda: self.passed, lambda: START + self.passed + self.error, lambda: self.offset)

    def set_by(self, seconds: float) -> None:
        self.error += int(seconds * SECOND)


def test_a_steady_clock_is_believed() -> None:
    machine = Machine()
    machine.passed = 3600 * SECOND
    assert machine.clock() == (START + 3600 * SECOND, "", 0)


@pytest.mark.parametrize("seconds", [1.1, -1.1, 3600, -3600])
def test_a_clock_that_is_set_is_not_believed_for_a_round(seconds: float) -> None:
    machine = Machine()
    machine.set_by(seconds)
    assert machine.clock().doubt == f"the signer's clock was set: nothing is signed for {ROUND_SECONDS + 1} s"

    machine.passed = (ROUND_SECONDS - 1) * SECOND
    assert machine.clock().doubt
    machine.passed = ROUND_SECONDS * SECOND
    assert machine.clock() == (START + machine.passed + machine.error, "", 1)


def test_small_steps_are_added_up() -> None:
    machine = Machine()
    machine.set_by(0.9)
    assert not machine.clock().doubt
    machine.set_by(0.9)
    assert machine.clock().doubt


def test_with_time_servers_nothing_is_believed_before_one_has_answered_and_then_by_its_time() -> None:
    machine = Machine()
    machine.offset = None
    assert machine.clock().doubt.startswith("no time server has answered yet")

    machine.offset = -2 * SECOND
    assert machine.clock() == (START - 2 * SECOND, "", 0)


def test_time_servers_that_give_another_time_at_once_set_the_clock_and_drift_does_not() -> None:
    machine = Machine()
    for _ in range(10):
        machine.offset = (machine.offset or 0) + SECOND
        assert machine.clock().settings == 0
    machine.offset += 2 * SECOND  # type: ignore[operator]

    assert machine.clock().doubt.startswith("the signer's clock was set")
    machine.passed += ROUND_SECONDS * SECOND
    assert machine.clock() == (START + machine.passed + 12 * SECOND, "", 1)
