"""The last step out of a dead end: a state of trusted peers in the place of ours, if it passes all checks, has our
irreversible block in its chain, and peers confirm its head, by the signatures above it or two trusted ones.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.parts.bootstrap import FetchedState, WantedState, fetched_state
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.peers import PeersPart
from ledgerd.protocol.identifiers import BlockId
from ledgerd.snapshot.agreement import RefusedSources

log = logging.getLogger(__name__)

CONFIRM_EVERY, MOST_CONFIRM_CHECKS = 5.0, 24
"""Two minutes for peers to answer."""

MOST_STATES = 4


async def replace_state(
    configuration: Configuration, chain: ChainPart, peers: PeersPart, sleep: Callable[[float], Awaitable[None]]
) -> str:
    """Build a better state beside ours; empty where one is ready, else why there is none."""
    refused = RefusedSources.none()
    for _ in range(MOST_STATES):
        head, needed = await chain.run(lambda: _present(chain))
        trusted = configuration.snapshot.trusted_peers
        state = await fetched_state(configuration, chain, trusted, WantedState(head, needed), refused)
        if state is None:
            return f"no trusted peer has a snapshot above block {head} that passes the checks"
        found = {"block": state.number, "id": state.head_id}
        if not await _is_confirmed(state, chain, peers, sleep):
            log.error("peers do not confirm block %(block)d %(id)s, the head of the snapshot", found)
            refused.add(state.fetched)
        elif await chain.run(lambda: chain.chain.head_number) >= state.number:
            refused.add(state.fetched)
        else:
            log.warning("peers confirm block %(block)d %(id)s, the head of the snapshot", found)
            return ""
        chain.files.drop_new()
    return f"none of {MOST_STATES} snapshots can be taken"


def _present(chain: ChainPart) -> tuple[int, tuple[int, str] | None]:
    """After blocks were undone, the log knows of a later irreversible block than the state."""
    opened = chain.chain
    number = max(opened.irreversible, opened.block_log.head_number)
    return opened.head_number, (number, opened.id_at(number).hex()) if number else None


async def _is_confirmed(
    state: FetchedState, chain: ChainPart, peers: PeersPart, sleep: Callable[[float], Awaitable[None]]
) -> bool:
    await chain.run(lambda: peers.confirm(state.number, BlockId(bytes.fromhex(state.head_id))))
    for _ in range(MOST_CONFIRM_CHECKS):
        await sleep(CONFIRM_EVERY)
        found = await chain.run(lambda: peers.is_confirmed)
        if found is not None:
            return found
    return False
