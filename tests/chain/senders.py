"""Everybody who gives a chain a block: a caller of the chain itself, a peer, a client by `broadcast_block`, and the
producer that takes up what it has signed. Each on the code that does so in a node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

from ledgerd.chain.forks.outcome import Outcome
from ledgerd.node.parts.clients.broadcasts import Broadcasts
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.p2p.wire.messages import BlockReply
from ledgerd.producer.loop import Producer
from ledgerd.producer.settings import ProducerSettings
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.link.topics import Broadcast, packed_topic
from tests.chain.networks import VIZ, Network
from tests.p2p.scripted_talk import Talk

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.parts.chain import ChainPart
    from ledgerd.protocol.blocks.block import Block

Sender = Callable[[Network, "Block"], object]
"""Gives a block; no refusal is raised."""


def directly(network: Network, block: Block) -> Outcome:
    """A caller of the chain."""
    return network.chain.push_block(block)


class Told:
    """The strikes and replies that a peer got for a block."""

    def __init__(self, network: Network, block: Block) -> None:
        self.talk = Talk(network.chain)
        self.talk.now = max(self.talk.now, float(block.timestamp))
        self.id = self.talk.meet()
        self.talk.say(self.id, BlockReply(block, 0, True))
        peer = self.talk.network.core.find(self.id)
        self.strikes = None if peer is None else peer.strikes


def by_peer(network: Network, block: Block) -> Told:
    """A peer pushes it."""
    return Told(network, block)


class OnThisThread:
    """The part of a node that holds the chain, without a thread of its own."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    async def run(self, job: Callable[[], object]) -> object:
        return job()

    def submit(self, job: Callable[[], object]) -> Future[object]:
        done = Future[object]()
        done.set_result(job())
        return done


def by_client(network: Network, block: Block) -> RuleViolation | None:
    """A client sends it by `broadcast_block`; what it is answered."""
    time = TimeSource()
    time.shift = block.timestamp * MICRO - time.wall()
    broadcasts = Broadcasts(cast("ChainPart", OnThisThread(network.chain)), time, timeout=0)
    try:
        asyncio.run(broadcasts.block(packed_topic(Broadcast(block.packed))))
    except RuleViolation as answer:
        return answer
    return None


class SignedBefore:
    """A record of signed blocks whose last one was not applied."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def refusal(self, _slot: int, _head_time: int) -> str:
        return ""

    def record(self, _block: Block) -> None:
        raise AssertionError("nothing is signed here")

    def unapplied(self, _head_id: bytes, _head_time: int) -> Block:
        return self._block


def by_producer(network: Network, block: Block) -> None:
    """The producer signed it before a stop, and takes it up."""
    settings = ProducerSettings(names=(VIZ,), keys={})
    Producer(network.chain, settings, SignedBefore(block), lambda: block.timestamp * MICRO).begin()


SENDERS: dict[str, Sender] = {"chain": directly, "peer": by_peer, "client": by_client, "producer": by_producer}
