"""Stations that are no nodes: they speak the protocol of peers, and say what they like.

What each kind likes is in `hostiles`; here is what all of them need: connections, frames, a greeting.
"""

from __future__ import annotations

import itertools
from random import Random
from typing import NamedTuple

from ledgerd.p2p.shared.actions import Action, Close, Dial, Send
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import (
    BlockReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Hello,
    HelloReply,
    Message,
    NodeId,
    read_message,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.sim.station import endpoint_of

HEARD = frozenset(each.NUMBER for each in (Hello, BlockReply, GetBlock, GetBlockRange, GapFillRequest))
"""What a stranger listens to."""


class Lore(NamedTuple):
    """What everybody may know: the first blocks of the chain, and a branch of it that lost long ago."""

    trunk: tuple[Block, ...]
    dead: tuple[Block, ...]


class Stranger:
    """Connects to its victims again and again, and greets as somebody who stands where they do."""

    def __init__(self, name: str, victims: tuple[str, ...], lore: Lore, random: Random) -> None:
        self.name = name
        self.is_up = True
        self.runs = 1
        self.lore = lore
        self.random = random
        self.head = lore.trunk[-1]
        """The highest block that was pushed to it."""
        self.node_id = NodeId(b"\3" + random.randbytes(32))
        self._victims = victims
        self._numbers = itertools.count(1)
        self._readers: dict[int, FrameReader] = {}
        self._dialled: dict[int, str] = {}
        self._actions: list[Action] = []

    # -- what a kind may do otherwise

    def hello(self) -> Hello:
        """How it introduces itself."""
        return Hello(
            head_block_id=self.head.id,
            head_block_num=self.head.number,
            lib_block_id=self.lore.trunk[100].id,
            lib_block_num=self.lore.trunk[100].number,
            dlt_latest_block=self.head.number,
            node_status=Mode.FORWARD,
            node_id=self.node_id,
        )

    def hear(self, peer: int, message: Message) -> None:
        """What it answers; a hello has been answered already."""

    def act(self, peer: int) -> None:
        """What it says unasked, every five seconds."""

    # -- as a station

    def accepted(self, _endpoint: Endpoint) -> int | None:
        peer = next(self._numbers)
        self._meet(peer)
        return peer

    def connected(self, peer: int, _address: str) -> bool:
        self._meet(peer)
        return True

    def lost(self, peer: int) -> None:
        self._readers.pop(peer, None)
        self._dialled.pop(peer, None)

    def received(self, peer: int, data: bytes) -> None:
        reader = self._readers.get(peer)
        if reader is None:
            return
        reader.receive(data, 0)
        while (frame := reader.next_frame(0)) is not None:
            if frame.number in HEARD:
                self._hear(peer, read_message(frame))

    def tick(self) -> None:
        for victim in self._victims:
            if victim not in self._dialled.values() and self.random.random() < 0.5:
                peer = next(self._numbers)
                self._dialled[peer] = victim
                self._actions.append(Dial(peer, endpoint_of(victim)))
        for peer in list(self._readers):
            self.act(peer)

    def look(self) -> float | None:
        return None

    def work(self) -> bool:
        return False

    def actions(self) -> list[Action]:
        actions, self._actions = self._actions, []
        return actions

    def stop(self) -> None:
        self.is_up = False

    # -- speaking

    def say(self, peer: int, *messages: Message) -> None:
        for message in messages:
            self.shout(peer, message.frame)

    def shout(self, peer: int, frame: bytes) -> None:
        """Bytes that need be no message."""
        self._actions.append(Send(peer, int.from_bytes(frame[4:8], "little"), frame))

    def leave(self, peer: int) -> None:
        self.lost(peer)
        self._actions.append(Close(peer, "gone"))

    def _meet(self, peer: int) -> None:
        self._readers[peer] = FrameReader()
        self.say(peer, self.hello())

    def _hear(self, peer: int, message: Message) -> None:
        if isinstance(message, Hello):
            self.say(peer, HelloReply(True, True, message.head_block_id, NO_BLOCK, 0, self.head.number, 0, 1))
        if isinstance(message, BlockReply) and message.block.number > self.head.number:
            self.head = message.block
        self.hear(peer, message)
