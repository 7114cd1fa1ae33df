"""Pushes new blocks and transactions to peers (spec 04, section 11.1)."""

from __future__ import annotations

from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Life, Peer
from ledgerd.p2p.wire.messages import NO_NODE, SYNC, BlockReply, TransactionMessage, block_frame
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import BlockId


def _is_exchanging(peer: Peer) -> bool:
    return peer.life is Life.ACTIVE and peer.exchange


def is_fit(peer: Peer) -> bool:
    return _is_exchanging(peer) and peer.node_status != SYNC


def push_set(core: Core, exclude: Peer | None = None, *, block_id: BlockId | None = None) -> list[Peer]:
    """A block goes to those that do not know it yet, a transaction to those that are not syncing; to each node once."""
    chosen, met = [], set()
    for peer in core.peers():
        if peer is exclude or not _is_exchanging(peer):
            continue
        if not is_fit(peer) if block_id is None else block_id in peer.known_blocks:
            continue
        name = peer.node_id if peer.node_id != NO_NODE else peer.endpoint
        if name not in met:
            met.add(name)
            chosen.append(peer)
    return chosen


def push_block(core: Core, block: Block, source: Peer | None = None, next_available: int = 0, *, is_last: bool) -> None:
    frame = block_frame(block.packed, next_available, is_last=is_last)
    for peer in push_set(core, source, block_id=block.id):
        core.send_frame(peer, BlockReply.NUMBER, frame)
        peer.known_blocks.append(block.id)


def push_transaction(core: Core, message: TransactionMessage, source: Peer) -> None:
    peers = push_set(core, source)
    frame = message.frame if peers else b""
    for peer in peers:
        core.send_frame(peer, message.NUMBER, frame)
