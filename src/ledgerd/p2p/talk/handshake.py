"""The handshake: our hello, and whether a peer is on our chain (spec 04, sections 7 and 8)."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.wire.messages import NO_NODE, ForkStatus, Hello, HelloReply
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

FRESH_SECONDS = 15
"""Two connections between the same nodes within this time mean that both have dialled at once."""
CROSSING_SECONDS = 5
"""Seconds that the peer has to close one of them."""
ALIVE_SECONDS = 120
"""Seconds of silence after which a connection gives its place to a new one of the same node id."""


def our_hello(core: Core) -> Hello:
    chain = core.chain
    return Hello(
        head_block_id=chain.head_id,
        head_block_num=chain.head_number,
        lib_block_id=chain.lib_id,
        lib_block_num=chain.lib_number,
        dlt_earliest_block=chain.earliest,
        dlt_latest_block=chain.latest,
        emergency_active=chain.is_emergency,
        has_emergency_key=core.settings.has_emergency_key,
        fork_status=core.fork_status,
        node_status=core.mode,
        node_id=core.node_id,
    )


def our_status(core: Core) -> ForkStatus:
    hello = our_hello(core)
    return ForkStatus(*(getattr(hello, field) for field in ForkStatus.__struct_fields__))


def answer(core: Core, hello: Hello) -> HelloReply:
    chain = core.chain
    head, lib = recognised(chain, hello)
    is_aligned = hello.head_block_num == 0 or head != NO_BLOCK or lib != NO_BLOCK
    return HelloReply(is_aligned, is_aligned, head, lib, chain.earliest, chain.latest, core.fork_status, core.mode)


def recognised(chain: ChainAccess, hello: Hello) -> tuple[BlockId, BlockId]:
    """The head and the irreversible block of a hello, each as far as we know it, zeros if we do not."""
    if hello.head_block_num == 0:
        return NO_BLOCK, NO_BLOCK
    head = hello.head_block_id if _knows_head(chain, hello) else NO_BLOCK
    lib = hello.lib_block_id if chain.is_known(hello.lib_block_id) else NO_BLOCK
    return head, lib


def _knows_head(chain: ChainAccess, hello: Hello) -> bool:
    earliest = chain.earliest
    if earliest <= hello.head_block_num <= chain.latest and chain.is_known(hello.head_block_id):
        return True
    if not 0 < earliest == (hello.head_block_num + 1) & 0xFFFFFFFF:
        return False
    packed = chain.read(earliest)
    return packed is not None and codec_of(SignedHeader).decode(packed).previous == hello.head_block_id


def loser_of_duplicates(core: Core, peer: Peer) -> Peer | None:
    """Which connection to close when a node is connected twice, if it is (spec 04, sections 7.4 and 27, item 2).

    The older one stays, unless it is silent, or came from another address with the id of a seed node that we have
    dialled. When both sides dialled at once, `loser_of_crossing` decides later.
    """
    other = _twin(core, peer)
    if other is None or _have_crossed(peer, other):
        return None
    is_from_elsewhere = other.is_incoming and not peer.is_incoming and peer.address != other.address
    if is_from_elsewhere and peer.endpoint in core.settings.seeds:
        return other
    return other if core.now - other.received_at > ALIVE_SECONDS else peer


def loser_of_crossing(core: Core, peer: Peer) -> Peer | None:
    """Which of two connections to close when both sides dialled at once, and both are still open after a while.

    The reference closes one of them at its hello, and which one cannot be known: if we closed one at once, none might
    be left. Another ledgerd waits too, and both then keep the connection that the node with the smaller id has dialled.
    """
    other = _twin(core, peer)
    if other is None or not _have_crossed(peer, other):
        return None
    if core.now - max(peer.connected_at or 0.0, other.connected_at or 0.0) < CROSSING_SECONDS:
        return None
    is_ours_kept = core.node_id < peer.node_id
    return peer if peer.is_incoming is is_ours_kept else other


def _twin(core: Core, peer: Peer) -> Peer | None:
    if peer.node_id == NO_NODE or not peer.is_connected:
        return None
    twins = (other for other in core.peers() if other.node_id == peer.node_id and other is not peer)
    return next((twin for twin in twins if twin.is_connected), None)


def _have_crossed(one: Peer, other: Peer) -> bool:
    if one.is_incoming == other.is_incoming or one.connected_at is None or other.connected_at is None:
        return False
    return abs(one.connected_at - other.connected_at) <= FRESH_SECONDS


def may_go_on(core: Core, hello: Hello, *, is_aligned: bool) -> bool:
    """Whether a hello ends the handshake before ours is answered (spec 04, section 7.2, step 6)."""
    return is_aligned or core.mode is Mode.SYNC or hello.node_status == Mode.SYNC
