"""SYNC and FORWARD: every transition, and what goes with it (spec 04, section 9)."""

from __future__ import annotations

import pytest

from ledgerd.p2p.shared.modes import TRANSITIONS, Cause, Mode
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    ForkStatus,
    GapFillRequest,
    GetBlockRange,
    Hello,
    Message,
    range_reply_frame,
)
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.chain.networks import Network
from tests.p2p.conftest import Begin
from tests.p2p.scripted_talk import Talk


def asked(messages: list[Message]) -> list[tuple[int, int]]:
    return [(m.start_block_num, m.end_block_num) for m in messages if isinstance(m, GetBlockRange)]


def status_at(number: int, block_id: BlockId) -> ForkStatus:
    return ForkStatus(0, block_id, number, NO_BLOCK, 0, 0, number, Mode.FORWARD)


def test_every_cause_changes_the_mode() -> None:
    assert {cause for _, cause in TRANSITIONS} == set(Cause)
    assert all(before is not after for (before, _), after in TRANSITIONS.items())


def test_a_node_starts_in_sync_and_leaves_it_when_no_peer_is_ahead(talk: Talk) -> None:
    assert talk.is_in(Mode.SYNC)
    peer = talk.meet()
    assert talk.is_in(Mode.FORWARD)
    (status,) = (m for m in talk.sent[peer] if isinstance(m, ForkStatus))
    assert (status.node_status, status.head_block_num) == (Mode.FORWARD, 112)


def test_a_node_alone_stays_in_sync(talk: Talk) -> None:
    talk.wait(300)
    assert talk.is_in(Mode.SYNC)


def test_a_range_that_ends_ends_the_sync(talk: Talk, others: Network) -> None:
    blocks = others.produce(30)
    talk.now += 100
    peer = talk.meet(head_block_num=142, head_block_id=others.chain.head_id, dlt_latest_block=142)
    assert asked(talk.sent[peer]) == [(112, 142)]
    packed = [talk.network.core.chain.read(112) or b"", *(block.packed for block in blocks)]

    talk.send_bytes(peer, range_reply_frame(packed, 0, is_last=True))

    assert talk.chain.head_number == 142
    assert talk.is_in(Mode.FORWARD)


def test_a_peer_far_ahead_turns_a_node_back_to_sync(talk: Talk, others: Network) -> None:
    others.produce(10)
    peer = talk.meet()
    talk.now += 40
    talk.say(peer, status_at(122, others.chain.head_id))
    talk.wait(10)
    assert talk.is_in(Mode.SYNC)
    assert asked(talk.sent[peer]) == [(112, 122)]


def test_two_blocks_are_no_reason_to_sync(talk: Talk, others: Network) -> None:
    others.produce(2)
    peer = talk.meet()
    talk.now += 20
    talk.say(peer, status_at(114, others.chain.head_id))
    talk.wait(10)
    assert talk.is_in(Mode.FORWARD)
    assert GapFillRequest((112, 113, 114)) in talk.sent[peer]


def test_a_head_that_stands_still_with_a_peer_ahead_turns_to_sync(talk: Talk, others: Network) -> None:
    others.produce(1)
    peer = talk.meet()
    talk.now += 10
    talk.say(peer, status_at(113, others.chain.head_id))
    talk.wait(20)
    assert talk.is_in(Mode.FORWARD)
    for _ in range(4):
        talk.network.core[peer].trust()
        talk.wait(5)
    assert talk.is_in(Mode.SYNC)


def test_the_third_stagnation_ends_the_sync(talk: Talk, others: Network) -> None:
    others.produce(10)
    peer = talk.meet()
    talk.now += 40
    talk.say(peer, status_at(122, others.chain.head_id))
    talk.wait(10)
    talk.say(peer, status_at(122, others.chain.head_id))
    modes = []
    for _ in range(25):
        talk.wait(5)
        talk.network.core[peer].trust()
        modes.append(talk.network.core.mode)
    assert Mode.FORWARD in modes


def test_a_node_without_peers_for_a_minute_dials_all_again(talk_with: Begin) -> None:
    talk = talk_with(Settings())
    peer = talk.meet()
    talk.network.core.bans.ban("62.9.9.9", talk.now, 3_600)
    talk.wait(10)
    talk.network.lost(talk.now, peer)
    talk.wait(150)
    assert talk.is_in(Mode.SYNC)
    assert not talk.network.core.bans.is_banned("62.9.9.9", talk.now)


@pytest.mark.parametrize("claimed", [1_000_000, 0xFFFFFFFF])
def test_a_claimed_height_beyond_what_the_clock_allows_is_ignored(talk: Talk, claimed: int) -> None:
    peer = talk.meet(head_block_num=claimed, dlt_latest_block=claimed)
    assert talk.network.core[peer].reach < 112 + 30


def test_the_height_of_a_peer_that_does_not_deliver_is_ignored(talk: Talk) -> None:
    peer = talk.meet(head_block_num=125, dlt_latest_block=125)
    assert talk.is_in(Mode.SYNC)
    while not talk.network.core[peer].doubted_until > talk.now:
        talk.wait(5)
    talk.meet()
    talk.wait(5)
    assert talk.is_in(Mode.FORWARD)


def test_a_producer_that_asks_at_every_tick_does_not_stop_the_sync_that_it_asked_for(
    talk: Talk, others: Network
) -> None:
    peer = talk.meet()
    blocks = others.produce(10)
    talk.now += 40
    talk.say(peer, status_at(122, blocks[-1].id))
    for _ in range(8):
        talk.now += 0.25
        talk.network.resync_from_lib(talk.now)
        talk.run_actions()
    assert talk.is_in(Mode.SYNC)
    assert asked(talk.sent[peer]) == [(107, 122)]
    assert sum(isinstance(message, Hello) for message in talk.sent[peer]) == 2
    talk.say(peer, BlockRangeReply((), 0, False))
    talk.now += 30
    talk.network.resync_from_lib(talk.now)
    talk.run_actions()
    assert sum(isinstance(message, Hello) for message in talk.sent[peer]) == 3
