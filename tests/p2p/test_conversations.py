"""Recorded conversations of two reference nodes, with ours in the place of one of them (spec 04, sections 7 to 16).

What the other side said is fed to our state machine, byte by byte as it was; what ours answers must be what the
reference answered. Only when to ask for peers (5110) is left to each node, and so is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.actions import Dial, Send
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.frames import Frame
from ledgerd.p2p.wire.messages import (
    BlockRangeReply,
    BlockReply,
    Hello,
    HelloReply,
    NodeId,
    TransactionMessage,
    range_reply_frame,
    read_message,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.p2p.conversations import Said, chain_from_snapshot, conversation
from tests.p2p.receiving import receive_all

LISTENER, OTHER = Endpoint("10.0.0.1", 2001), Endpoint("10.0.7.2", 2001)
ASKS_FOR_PEERS = 5110
SPEED = 4
"""Block time against recorded time."""


def parsed(said: Said) -> object:
    return read_message(Frame(said.number, said.payload))


def hello_of(name: str, by: str) -> Hello:
    return next(m for said in conversation(name) if said.by == by and isinstance(m := parsed(said), Hello))


def recorded_blocks() -> dict[int, Block]:
    """Every block of the conversations, by number."""
    blocks = {}
    for said in (*conversation("join"), *conversation("third")):
        message = parsed(said) if said.number in (5105, 5107) else None
        if isinstance(message, BlockRangeReply):
            blocks.update({block.number: block for block in message.blocks})
        elif isinstance(message, BlockReply):
            blocks[message.block.number] = message.block
    return blocks


class Role:
    """Our node in the place of a recorded one."""

    def __init__(self, name: str, by: str, folder: Path, *, start_at: int = 0) -> None:
        self.said = conversation(name)
        self.by = by
        self.chain = chain_from_snapshot(folder)
        blocks = recorded_blocks()
        for number in range(self.chain.head_number + 1, start_at + 1):
            self.chain.push_block(blocks[number]).or_raise()
        first = next(said for said in self.said if said.number == 5107)
        push = parsed(first)
        assert isinstance(push, BlockReply)
        self._epoch, self._zero = push.block.timestamp, first.at
        settings = Settings(seeds=(LISTENER, OTHER), has_emergency_key=by == "listener")
        own = hello_of(name, by)
        random = Random(1)  # noqa: S311 - the same in every run
        self.network = NetworkState(
            ChainAccess(self.chain, 0), settings, own.node_id, random, self.now(self.said[0].at)
        )
        self.sent: dict[int, list[bytes]] = {}

    def now(self, at: float) -> float:
        return self._epoch + (at - self._zero) * SPEED

    def run_actions(self, at: float) -> None:
        """Let our side do all it wants to."""
        while self.network.work(self.now(at)):
            pass
        for action in self.network.actions():
            assert isinstance(action, Send | Dial), action
            if isinstance(action, Send):
                self.sent.setdefault(action.peer, []).append(action.frame)

    def dial(self, endpoint: Endpoint) -> int:
        """Our side dials an endpoint that answers; its id."""
        at = self.said[0].at
        if not any(peer.endpoint == endpoint for peer in self.network.core.peers()):
            self.network.tick(self.now(at))
        peer = next(peer for peer in self.network.core.peers() if peer.endpoint == endpoint)
        assert self.network.connected(self.now(at), peer.id, endpoint.host)
        self.run_actions(at)
        return peer.id

    def accept(self) -> int:
        """Somebody dials our side; its id."""
        at = self.said[0].at
        peer = self.network.accepted(self.now(at), Endpoint("10.0.0.9", 50_000))
        assert peer is not None
        self.run_actions(at)
        return peer

    def hear(self, at: float, peer: int, frame: bytes) -> None:
        receive_all(self.network, self.now(at), peer, frame)
        self.run_actions(at)

    def meet_equal(self) -> int:
        """Another peer that stands where we do; its id."""
        peer = self.dial(OTHER)
        chain, at = self.chain, self.said[0].at
        node = NodeId(bytes([2]) * 33)
        self.hear(at, peer, Hello(1, chain.head_id, chain.head_number, node_status=1, node_id=node).frame)
        self.hear(at, peer, HelloReply(True, True, chain.head_id, NO_BLOCK, 0, 0, 0, 1).frame)
        return peer

    def make_own(self, said: Said) -> None:
        """What the recorded node got from its producer or its clients, ours gets too."""
        message = parsed(said)
        if isinstance(message, BlockReply):
            self.chain.push_block(message.block).or_raise()
            self.network.broadcast_block(self.now(said.at), message.block)
        elif isinstance(message, TransactionMessage):
            with suppress(RuleViolation):  # the reference tells peers all the same
                self.chain.push_transaction(message.trx)
            self.network.broadcast_transaction(self.now(said.at), message.trx)
        self.run_actions(said.at)

    def recorded(self, *left_out: int) -> list[bytes]:
        """What the reference said in this role."""
        numbers = {ASKS_FOR_PEERS, *left_out}
        return [said.frame for said in self.said if said.by == self.by and said.number not in numbers]

    def said_to(self, peer: int, *left_out: int) -> list[bytes]:
        numbers = {ASKS_FOR_PEERS, *left_out}
        return [frame for frame in self.sent[peer] if int.from_bytes(frame[4:8], "little") not in numbers]


Play = Callable[..., Role]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    roles: list[Role] = []

    def begin(name: str, by: str, *, start_at: int = 0) -> Role:
        roles.append(Role(name, by, tmp_path, start_at=start_at))
        return roles[-1]

    yield begin
    for role in roles:
        role.chain.close()


def test_a_node_that_joins_says_what_the_reference_said(play: Play) -> None:
    role = play("join", "dialer")
    listener = role.dial(LISTENER)
    for said in role.said:
        if said.by == "listener":
            role.hear(said.at, listener, said.frame)

    assert role.said_to(listener) == role.recorded(5107, 5113)
    assert role.chain.head_number == 2877
    assert role.network.core.mode is Mode.FORWARD
    assert role.network.core[listener].strikes == 0


@pytest.mark.parametrize(("name", "head"), [("join", 2761), ("third", 2804)])
def test_a_node_that_is_joined_says_what_the_reference_said(play: Play, name: str, head: int) -> None:
    role = play(name, "listener", start_at=head)
    if name == "third":
        role.meet_equal()
        assert role.network.core.mode is Mode.FORWARD
    dialer = role.accept()
    for said in role.said:
        if said.by == "dialer":
            role.hear(said.at, dialer, said.frame)
        else:
            role.make_own(said)

    assert role.said_to(dialer) == role.recorded()
    assert role.network.core[dialer].strikes == 0


def test_a_node_that_joins_two_relays_between_them_as_the_reference_did(play: Play) -> None:
    role = play("third", "dialer")
    blocks, listener_hello = recorded_blocks(), hello_of("third", "listener")
    other, begin = role.dial(OTHER), role.said[0].at
    node = NodeId(bytes([2]) * 33)
    role.hear(begin, other, Hello(1, listener_hello.head_block_id, 2804, node_status=1, node_id=node).frame)
    role.hear(begin, other, HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, 0, 0, 1).frame)
    listener = role.dial(LISTENER)
    relayed = [said for said in role.said if said.by == "dialer" and said.number in (5107, 5113)]
    for said in role.said:
        # What the dialer told the listener, it had from the other peer, just before the listener told it the same.
        for early in [each for each in relayed if each.at <= said.at or each.payload == said.payload]:
            relayed.remove(early)
            role.hear(said.at, other, early.frame)
        if said.by == "listener":
            role.hear(said.at, listener, said.frame)
        elif said.number == 5109:
            packed = [blocks[number].packed for number in range(2719, 2805)]
            role.hear(said.at, other, range_reply_frame(packed, 0, is_last=True))

    assert role.chain.head_number == 2865
    assert role.said_to(listener, 5113) == role.recorded(5113)
    pushed = [frame for frame in role.said_to(listener) if frame[4:8] == (5113).to_bytes(4, "little")]
    recorded = [said.frame for said in role.said if said.by == "dialer" and said.number == 5113]
    assert [frame for frame in recorded if frame in pushed] == pushed
    assert len(pushed) > len(recorded) // 2
