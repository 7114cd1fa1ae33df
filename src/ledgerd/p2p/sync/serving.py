"""Serving blocks, limited by the size of a frame and the rate limits of a peer (spec 04, sections 10 and 13).

While the state is provisional (`assume-valid`), every answer is empty.
"""

from __future__ import annotations

from ledgerd.basics.addresses import charged_as
from ledgerd.codec.types.varint import pack_varint
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.sync.gap_fill import MOST_BLOCKS, REPLY_BYTES
from ledgerd.p2p.wire import messages
from ledgerd.p2p.wire.frames import MAX_PAYLOAD
from ledgerd.protocol.blocks.block import number_of_packed

RANGE_BYTES = MAX_PAYLOAD - 65_536
"""Bytes of blocks in a reply; the rest of the frame is for what comes with them."""
MOST_IN_RANGE = 1_000
"""The most blocks that are looked up for one request."""
LOOKUP_COST = 64
"""The cost of a lookup in the rate limit, in bytes."""


def _may_serve(core: Core, peer: Peer, lookups: int) -> bool:
    cost = LOOKUP_COST * lookups
    return (
        not core.chain.is_provisional
        and peer.allowance.service.spend(cost, core.now)
        and core.served.spend(charged_as(peer.address), cost, core.now)
    )


def _charge(core: Core, peer: Peer, cost: int) -> None:
    peer.allowance.service.charge(cost)
    core.served.charge(charged_as(peer.address), cost, core.now)


def serve_probe(core: Core, peer: Peer, request: messages.RangeRequest) -> None:
    """The range of blocks that this node has, if it has the named one (5102)."""
    chain = core.chain
    if not chain.is_provisional and chain.read(request.block_num) is not None:
        core.send(peer, messages.RangeReply(chain.earliest, chain.latest, has_blocks=True))
    else:
        core.send(peer, messages.RangeReply(0, 0, has_blocks=False))
    core.good(peer)


def serve_range(core: Core, peer: Peer, request: messages.GetBlockRange) -> None:
    """Consecutive blocks, as many as fit into a frame (5104)."""
    chain, latest = core.chain, core.chain.latest
    first = max(request.start_block_num, chain.earliest, 1)
    last = min(request.end_block_num, latest, first + MOST_IN_RANGE - 1)
    blocks: list[bytes] = []
    size, end, is_full = 5, last, False
    if _may_serve(core, peer, 1):
        for number, packed in chain.read_run(first, last):
            if blocks and size + len(pack_varint(len(blocks))) + len(packed) > RANGE_BYTES:
                end, is_full = number, True
                break
            blocks.append(packed)
            size += len(packed)
        _charge(core, peer, size + LOOKUP_COST * max(0, end - first + 1))
    if not blocks:
        next_available, is_last = 0, False
    elif is_full:
        next_available, is_last = end, False
    else:
        reached = number_of_packed(blocks[-1])
        next_available, is_last = (reached + 1 if reached < latest else 0), reached >= latest
    core.send_frame(
        peer, messages.BlockRangeReply.NUMBER, messages.range_reply_frame(blocks, next_available, is_last=is_last)
    )
    core.good(peer)


def serve_block(core: Core, peer: Peer, request: messages.GetBlock) -> None:
    number, latest = request.block_num, core.chain.latest
    packed = core.chain.read(number) if _may_serve(core, peer, 1) else None
    if packed is None or len(packed) + 5 > MAX_PAYLOAD:
        core.send(peer, messages.NotAvailable(number))
    else:
        _charge(core, peer, len(packed))
        frame = messages.block_frame(packed, number + 1 if number < latest else 0, is_last=number >= latest)
        core.send_frame(peer, messages.BlockReply.NUMBER, frame)
    core.good(peer)


def serve_gap(core: Core, peer: Peer, request: messages.GapFillRequest) -> None:
    """The blocks of these numbers, up to the head, in the order of the request (5115)."""
    chain, numbers = core.chain, request.block_nums
    if not 0 < len(numbers) <= MOST_BLOCKS:
        core.strike(peer, f"asks for {len(numbers)} single blocks")
        return
    blocks: list[bytes] = []
    size = 0
    if _may_serve(core, peer, len(numbers)):
        for number in dict.fromkeys(numbers):
            packed = chain.read(number) if chain.earliest <= number else None
            if packed is None:
                continue
            if size + len(packed) > REPLY_BYTES and blocks:
                break
            blocks.append(packed)
            size += len(packed)
        _charge(core, peer, size)
    core.send_frame(peer, messages.GapFillReply.NUMBER, messages.gap_reply_frame(blocks))
    core.good(peer)
