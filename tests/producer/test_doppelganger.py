"""The doppelganger check alone: which blocks count as foreign, and how the slots of the watch are counted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.forks.outcome import Applied, OnBranch, Outcome, Refused
from ledgerd.producer.doppelganger import OLDEST, Doppelganger, WatchState, is_doppelganger_checked
from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.signing.double_sign import SignedSlot
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block, BlockHeader, sign_block
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import SEVEN

KEY, STRANGE_KEY = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
OURS = AccountName("ours")
NOW = 1_800_000_000
SLOTS = 21
ROUND = SLOTS * 3
SETTINGS = ProducerSettings(names=(OURS, COMMITTEE_ACCOUNT), keys=keyring([KEY]), checks_doppelganger=True)


def block_of(time: int, name: str = OURS, key: PrivateKey = KEY, parent: int = 100) -> Block:
    header = BlockHeader(BlockId(parent.to_bytes(4, "big") + bytes(16)), time, name, NO_TRANSACTIONS, ())
    return sign_block(header, (), key)


class Watched:
    """A check, with its clock in the test's hand."""

    def __init__(self, last_signed: SignedSlot | None = None) -> None:
        self.now = NOW
        self.told: list[WatchState] = []
        self.check = Doppelganger(SETTINGS, last_signed, SLOTS, lambda: self.now * SECOND, self.told.append)

    def see(self, block: Block, outcome: Outcome | None = None) -> str:
        self.check.inspect(block, outcome or Applied())
        return self.check.stopped

    def watch(self, slots: int, peers: int = 3) -> bool:
        """Let slots pass, with four looks in each; whether the watch is over."""
        for _ in range(slots):
            for _ in range(4):
                self.check.count(self.now, peers)
            self.now += 3
        self.check.count(self.now, peers)
        return not self.check.state.watching


def test_a_block_by_our_key_that_is_not_ours_stops_production() -> None:
    watched = Watched()

    text = watched.see(block_of(NOW - 3))

    assert text.startswith("DOPPELGANGER: another node signs with the key of ours: block #101 ")
    assert watched.told[-1].stopped == text
    assert watched.check.refusal(OURS).stopped == text


def test_a_block_on_a_branch_and_one_that_is_refused_count_as_well() -> None:
    refused = Refused(RuleViolation("it breaks a rule"))

    assert Watched().see(block_of(NOW), OnBranch())
    assert Watched().see(block_of(NOW), refused)


def test_our_own_block_is_not_foreign_however_often_it_comes() -> None:
    watched, block = Watched(), block_of(NOW)
    watched.check.remember(block)

    assert not watched.see(block)
    assert not watched.see(block, OnBranch())


def test_our_own_block_with_a_signature_that_a_stranger_has_changed_is_not_foreign() -> None:
    watched, block = Watched(), block_of(NOW)
    watched.check.remember(block)
    first, *rest = block.validator_signature
    changed = replace(block, validator_signature=Signature(bytes([first - 4, *rest])))

    assert (changed.signee, changed.id == block.id) == (KEY.public, False)
    assert not watched.see(changed)


@pytest.mark.parametrize("age", [OLDEST + 1, OLDEST + 1000])
def test_a_block_that_a_peer_replays_from_the_past_does_not_stop_us(age: int) -> None:
    assert not Watched().see(block_of(NOW - age), OnBranch())


def test_a_block_is_young_enough_up_to_a_hundred_seconds() -> None:
    assert Watched().see(block_of(NOW - OLDEST))


def test_a_block_in_our_name_with_another_key_does_not_stop_us() -> None:
    assert not Watched().see(block_of(NOW, key=STRANGE_KEY))


def test_the_committee_may_have_several_nodes() -> None:
    watched = Watched()

    assert not watched.see(block_of(NOW, name=COMMITTEE_ACCOUNT))
    assert watched.check.refusal(COMMITTEE_ACCOUNT) == WatchState()


def test_what_an_earlier_run_has_signed_is_not_foreign_and_a_second_block_of_its_slot_is() -> None:
    last = block_of(NOW - 80)
    signed = SignedSlot(last.timestamp, last.header.digest)

    assert not Watched(signed).see(last)
    assert not Watched(signed).see(block_of(NOW - 83))
    assert Watched(signed).see(block_of(NOW - 80, parent=101))
    assert Watched(signed).see(block_of(NOW - 77))


def test_nothing_is_signed_before_a_round_was_watched() -> None:
    watched = Watched()

    assert not watched.watch(SLOTS - 1)
    assert "no block is signed before 21 slots were watched" in watched.check.refusal(OURS).watching
    assert watched.watch(1)
    assert watched.check.refusal(OURS) == WatchState()
    assert watched.told == [watched.told[0], WatchState()]
    assert watched.told[0].watching


def test_slots_without_a_peer_do_not_count() -> None:
    watched = Watched()

    assert not watched.watch(SLOTS * 3, peers=0)
    assert watched.watch(SLOTS)


def test_a_node_that_is_behind_begins_to_watch_when_it_has_caught_up() -> None:
    watched = Watched()
    watched.watch(SLOTS - 1)

    watched.see(block_of(watched.now - OLDEST - 1, name="alice", key=STRANGE_KEY))

    assert not watched.watch(SLOTS - 1)
    assert watched.watch(1)


def test_old_blocks_that_do_not_become_the_head_cannot_hold_us_back() -> None:
    watched = Watched()
    for _ in range(SLOTS):
        watched.see(block_of(watched.now - OLDEST - 1, name="alice", key=STRANGE_KEY), OnBranch())
        watched.watch(1)

    assert watched.check.refusal(OURS) == WatchState()


def test_old_blocks_do_not_bring_the_watch_back() -> None:
    watched = Watched()
    watched.watch(SLOTS)
    watched.see(block_of(watched.now - OLDEST - 1, name="alice", key=STRANGE_KEY))

    assert watched.check.refusal(OURS) == WatchState()


@pytest.mark.parametrize(("age", "is_free"), [(ROUND - 1, True), (ROUND, False)])
def test_who_has_signed_within_the_last_round_need_not_watch(age: int, *, is_free: bool) -> None:
    last = block_of(NOW - age)

    assert (Watched(SignedSlot(last.timestamp, last.header.digest)).check.refusal(OURS) == WatchState()) == is_free


def test_who_need_not_watch_is_still_stopped_by_a_foreign_block() -> None:
    last = block_of(NOW - 10)
    watched = Watched(SignedSlot(last.timestamp, last.header.digest))

    assert watched.see(block_of(NOW - 7))


def test_the_check_runs_only_where_it_can_be_right() -> None:
    assert is_doppelganger_checked(SETTINGS, MAINNET)
    assert not is_doppelganger_checked(replace(SETTINGS, checks_doppelganger=False), MAINNET)
    assert not is_doppelganger_checked(replace(SETTINGS, allows_stale=True), MAINNET)
    assert not is_doppelganger_checked(replace(SETTINGS, keys={}), MAINNET)
    assert not is_doppelganger_checked(SETTINGS, replace(SEVEN, max_top_validators=1, max_support_validators=0))
