"""Findings on the nodes that this one depends on: seeds, and peers that it takes snapshots from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from ledgerd.basics.failures import reason_of
from ledgerd.doctor.examined_node import SECONDS
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.exchange.client import FAULTS, ask
from ledgerd.supervision.tasks import all_of
from ledgerd.supervision.this_process import on_a_loop


def peers(seeds: Sequence[Endpoint], snapshot_peers: Sequence[Endpoint]) -> Iterator[Finding]:
    """Ask all of them at the same time."""
    answers = on_a_loop(lambda: all_of([*map(_dialled, seeds), *map(_asked_for_snapshot, snapshot_peers)]))
    silent = [answer for answer in answers[: len(seeds)] if answer]
    if silent:
        make = error if len(silent) == len(seeds) else warning
        yield make(
            "seeds-silent",
            what=f"{len(silent)} of {len(seeds)} seed nodes do not answer: {', '.join(silent)}",
            why="with no seed at all a node that has no other peer cannot join the network",
            do="see whether this machine reaches others at all, then replace seeds that are gone (p2p-seed-node)",
        )
    silent = [answer for answer in answers[len(seeds) :] if answer]
    if silent:
        yield warning(
            "snapshot-peers-silent",
            what=f"{len(silent)} of {len(snapshot_peers)} trusted peers give no snapshot: {', '.join(silent)}",
            why="without one the node cannot begin, or come back after its state is lost, without a long replay",
            do="ask their operators, or name other nodes that you trust with trusted-snapshot-peer",
        )


async def _dialled(seed: Endpoint) -> str:
    """Why it is of no use; empty where it is."""
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(*seed)
    except (OSError, TimeoutError) as problem:
        return f"{seed} ({reason_of(problem)})"
    writer.transport.abort()
    return ""


async def _asked_for_snapshot(peer: Endpoint) -> str:
    try:
        await ask(peer)
    except FAULTS as problem:
        return f"{peer} ({reason_of(problem)})"
    return ""
