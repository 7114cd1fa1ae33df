"""Hello and its answer: what we say of ourselves, and whether another's chain is ours (spec 04, sections 7 and 8)."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.p2p.chain_access import ChainAccess
from ledgerd.p2p.core import Core
from ledgerd.p2p.messages import NO_NODE, ForkStatus, Hello, HelloReply
from ledgerd.p2p.modes import Mode
from ledgerd.p2p.peer import Life, Peer
from ledgerd.protocol.block import SignedHeader
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId

FRESH_SECONDS = 15
"""Two connections between the same nodes within this time came of both dialling at once."""
ALIVE_SECONDS = 120
"""Who has said nothing for so long does not keep a place from somebody with the same id."""


def our_hello(core: Core) -> Hello:
    """Where we stand."""
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
    """Where we stand by now."""
    chain = core.chain
    return ForkStatus(
        fork_status=core.fork_status,
        head_block_id=chain.head_id,
        head_block_num=chain.head_number,
        lib_block_id=chain.lib_id,
        lib_block_num=chain.lib_number,
        dlt_earliest_block=chain.earliest,
        dlt_latest_block=chain.latest,
        node_status=core.mode,
    )


def answer(core: Core, hello: Hello) -> HelloReply:
    """What we recognise of another's chain."""
    chain = core.chain
    head, lib = recognised(chain, hello)
    is_aligned = hello.head_block_num == 0 or head != NO_BLOCK or lib != NO_BLOCK
    return HelloReply(is_aligned, is_aligned, head, lib, chain.earliest, chain.latest, core.fork_status, core.mode)


def recognised(chain: ChainAccess, hello: Hello) -> tuple[BlockId, BlockId]:
    """The head and the irreversible block of a hello, each as far as we know it, zeros where we do not."""
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
    """Which connection to close when a node is connected twice, if it is (spec 04, sections 7.4 and 27.2).

    When both sides dialled at once, both keep the connection that the node with the smaller id began. Otherwise the
    older one stays, unless it is silent, or came from elsewhere with the id of a seed that we have dialled.
    """
    if peer.node_id == NO_NODE:
        return None
    twins = (other for other in core.peers() if other.node_id == peer.node_id and other is not peer)
    other = next((twin for twin in twins if twin.life not in (Life.CONNECTING, Life.CLOSED)), None)
    if other is None:
        return None
    if other.is_incoming != peer.is_incoming:
        opened = other.connected_at if other.connected_at is not None else core.now
        if core.now - opened <= FRESH_SECONDS:
            is_ours_kept = core.node_id < peer.node_id
            return peer if peer.is_incoming is is_ours_kept else other
        if other.is_incoming and peer.endpoint in core.settings.seeds and peer.address != other.address:
            return other
    return other if core.now - other.heard_at > ALIVE_SECONDS else peer


def may_go_on(core: Core, hello: Hello, *, is_aligned: bool) -> bool:
    """Whether a hello ends the handshake before our own is answered (spec 04, section 7.2, step 6)."""
    return is_aligned or core.mode is Mode.SYNC or hello.node_status == Mode.SYNC
