"""Hello, its answer, and whether another's chain is ours (spec 04, sections 6 to 8)."""

from __future__ import annotations

import pytest

from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import LIFE, Life, LifeEvent
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.messages import (
    ForkStatus,
    GetBlock,
    GetBlockRange,
    Hello,
    HelloReply,
    NodeId,
    PeerExchangeRequest,
    SoftBan,
)
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.p2p.conftest import Begin
from tests.p2p.scripted_talk import OWN_ID, Talk

UNKNOWN = BlockId((112).to_bytes(4, "big") + b"\7" * 16)


def test_hello_is_said_at_once_and_a_hello_is_answered(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    assert [type(message) for message in talk.sent[peer]] == [Hello]
    reply = talk.say(peer, talk.hello(peer))[0]
    assert isinstance(reply, HelloReply)
    assert (reply.exchange_enabled, reply.fork_alignment) == (True, True)
    assert reply.initiator_head_seen == talk.chain.head_id


def test_a_peer_that_is_neither_known_nor_empty_is_not_aligned(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    reply = talk.say(peer, talk.hello(peer, head_block_id=UNKNOWN, lib_block_id=NO_BLOCK))[0]
    assert isinstance(reply, HelloReply)
    assert not reply.exchange_enabled
    assert reply.initiator_head_seen == NO_BLOCK


def test_a_peer_is_recognised_by_its_irreversible_block_alone(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    lib = talk.chain.id_at(100)
    reply = talk.say(peer, talk.hello(peer, head_block_id=UNKNOWN, head_block_num=500, lib_block_id=lib))[0]
    assert isinstance(reply, HelloReply)
    assert (reply.exchange_enabled, reply.initiator_lib_seen) == (True, lib)


def test_an_empty_peer_is_aligned(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    reply = talk.say(peer, Hello())[0]
    assert isinstance(reply, HelloReply)
    assert reply.exchange_enabled


def test_a_peer_that_has_the_block_before_our_first_is_recognised(talk: Talk) -> None:
    assert talk.network.core.chain.earliest == 0
    reply = talk.say(talk.meet(), talk.hello(9, head_block_num=0, node_id=NodeId(bytes(33))))[0]
    assert isinstance(reply, HelloReply)
    assert reply.exchange_enabled


def test_exchange_is_also_on_when_only_the_peer_recognises_us(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    talk.say(peer, talk.hello(peer, head_block_id=UNKNOWN))
    assert not talk.network.core[peer].exchange
    talk.say(peer, HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, 0, 0, 1))
    assert talk.network.core[peer].exchange


def test_a_peer_of_another_protocol_version_is_kept(talk: Talk) -> None:
    peer = talk.meet(protocol_version=7)
    assert talk.network.core[peer].is_live


@pytest.mark.parametrize("message", [PeerExchangeRequest(), GetBlock(1, NO_BLOCK), GetBlockRange(1, 5, NO_BLOCK)])
def test_nothing_is_answered_before_the_hello(talk: Talk, message: GetBlock) -> None:
    peer = talk.accept()
    assert peer is not None
    assert talk.say(peer, message) == []
    assert talk.network.core[peer].strikes == 1


def test_a_connection_to_ourselves_is_closed(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    assert talk.say(peer, talk.hello(peer, node_id=OWN_ID)) == []
    assert "ourselves" in talk.closed[peer]


def test_of_two_connections_of_a_node_the_older_stays(talk: Talk) -> None:
    node = NodeId(b"\3" * 33)
    first, second = talk.meet(node_id=node), talk.accept()
    assert second is not None
    assert talk.say(second, talk.hello(second, node_id=node)) == []
    assert talk.closed == {second: "duplicate node_id"}
    assert talk.network.core[first].is_live


@pytest.mark.parametrize(("other", "survivor"), [(b"\1", "incoming"), (b"\3", "outgoing")])
def test_when_both_dial_at_once_the_smaller_id_decides(talk_with: Begin, other: bytes, survivor: str) -> None:
    seed = Endpoint("62.1.1.1", 2001)
    talk = talk_with(Settings(seeds=(seed,)))
    node = NodeId(other * 33)
    incoming = talk.meet("62.1.1.1", node_id=node)
    talk.wait(5)
    (outgoing,) = talk.dialled
    talk.network.connected(talk.now, outgoing, seed.host)
    talk.say(outgoing, talk.hello(outgoing, node_id=node))
    assert talk.closed == {}, "a reference node closes one of them itself"

    talk.wait(10)

    closed = incoming if survivor == "outgoing" else outgoing
    assert talk.closed == {closed: "duplicate node_id"}


def test_when_the_other_side_has_closed_one_of_two_crossed_connections_the_other_stays(talk_with: Begin) -> None:
    seed = Endpoint("62.1.1.1", 2001)
    talk = talk_with(Settings(seeds=(seed,)))
    node = NodeId(b"\1" * 33)
    incoming = talk.meet("62.1.1.1", node_id=node)
    talk.wait(5)
    (outgoing,) = talk.dialled
    talk.network.connected(talk.now, outgoing, seed.host)
    talk.say(outgoing, talk.hello(outgoing, node_id=node))
    talk.network.lost(talk.now, incoming)
    talk.wait(20)
    assert talk.closed == {}
    assert talk.network.core[outgoing].is_connected


def test_who_was_greeted_during_the_sync_hears_of_its_end_even_before_he_has_answered(talk: Talk) -> None:
    stranger = talk.accept()
    assert stranger is not None
    talk.meet()
    assert talk.is_in(Mode.FORWARD)
    (status,) = (message for message in talk.sent[stranger] if isinstance(message, ForkStatus))
    assert status.node_status == Mode.FORWARD


def test_a_handshake_has_a_deadline(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    talk.wait(16)
    assert talk.closed[peer] == "lifecycle timeout"


def test_an_unfinished_frame_has_a_deadline(talk: Talk) -> None:
    peer = talk.meet()
    talk.send_bytes(peer, b"\x10")
    talk.wait(70)
    assert talk.closed[peer] == "lifecycle timeout"


def test_an_exchange_begins_when_a_syncing_peer_has_caught_up(talk: Talk) -> None:
    peer = talk.accept()
    assert peer is not None
    talk.say(peer, talk.hello(peer, head_block_id=UNKNOWN, node_status=Mode.SYNC))
    assert not talk.network.core[peer].exchange
    head = talk.chain.head_id
    talk.say(peer, ForkStatus(0, head, 112, NO_BLOCK, 0, 0, 112, Mode.FORWARD))
    assert talk.network.core[peer].exchange


def test_a_soft_ban_is_respected_for_an_hour_at_most(talk_with: Begin) -> None:
    talk = talk_with(Settings(seeds=(Endpoint("62.1.1.1", 2001),)))
    talk.wait(5)
    (peer,) = talk.dialled
    talk.network.connected(talk.now, peer, "62.1.1.1")
    talk.say(peer, talk.hello(peer), SoftBan(0xFFFFFFFF, "go\x1b away" * 50))
    assert talk.closed[peer].startswith("remote: go\\x1b awaygo\\x1b away")
    assert len(talk.closed[peer]) < 120
    (contact,) = talk.network.contacts.all()
    assert 0 < contact.next_attempt - talk.now <= 4_500


def test_the_life_cycle_never_returns_to_its_beginning_nor_leaves_its_end() -> None:
    assert all(after is not Life.CONNECTING for after in LIFE.values())
    assert not any(before is Life.CLOSED for before, _ in LIFE)
    assert all(LIFE[life, LifeEvent.ENDED] is Life.CLOSED for life in Life if life is not Life.CLOSED)
