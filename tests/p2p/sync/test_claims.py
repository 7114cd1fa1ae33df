"""What peers claim costs little, however often they say something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.sync.range_sync import RangeSync
from ledgerd.p2p.wire.messages import ForkStatus
from tests.p2p.scripted_talk import Talk

HIGHER, LOWER = "62.200.0.1", "62.200.0.2"


def status_at(talk: Talk, number: int) -> ForkStatus:
    return ForkStatus(0, talk.chain.head_id, number, talk.chain.head_id, 1, 0, number, Mode.FORWARD)


def test_peers_who_come_and_go_above_our_head_do_not_turn_the_mode_again_and_again(talk: Talk) -> None:
    """Each time we commit, and tell everybody."""
    honest, head = talk.meet(), talk.chain.head_number
    assert talk.is_in(Mode.FORWARD)
    talk.now += 60
    for _ in range(10):
        talk.network.lost(talk.now, talk.meet(HIGHER, head_block_num=head + 10, dlt_latest_block=head + 10))
        talk.network.lost(talk.now, talk.meet(LOWER))
    told = [message for message in talk.sent[honest] if isinstance(message, ForkStatus)]
    assert len(told) == 2  # at the start, and once in these seconds
    assert talk.is_in(Mode.FORWARD)

    talk.meet(HIGHER, head_block_num=head + 10, dlt_latest_block=head + 10)
    talk.wait(20)
    assert talk.is_in(Mode.SYNC)


def test_what_a_peer_says_while_we_sync_is_weighed_for_that_peer_alone(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = talk.chain.head_number
    peers = [talk.meet(head_block_num=head + 10, dlt_latest_block=head + 10) for _ in range(12)]
    assert talk.is_in(Mode.SYNC)
    weighed: list[int] = []
    ask: Callable[[RangeSync, Peer], None] = RangeSync._ask  # noqa: SLF001 - to count

    def count(ranges: RangeSync, peer: Peer) -> None:
        weighed.append(peer.id)
        ask(ranges, peer)

    monkeypatch.setattr(RangeSync, "_ask", count)
    for claim in range(5):
        talk.say(peers[0], status_at(talk, head + 5 + claim))
        talk.say(peers[0], replace(talk.hello(peers[0]), head_block_num=head + 5 + claim))
    assert weighed == [peers[0]] * 10
