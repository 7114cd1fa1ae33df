"""Findings on connections: ports before a start and while the node runs, and the nodes that this one depends on."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ledgerd.basics.durable import read_file
from ledgerd.basics.failures import reason_of
from ledgerd.doctor.examined_node import SECONDS, ExaminedNode, local
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.times import LATEST
from ledgerd.snapshot.exchange.client import FAULTS, ask
from ledgerd.supervision.tasks import all_of
from ledgerd.supervision.this_process import on_a_loop

INBOUND_FILE = "last_inbound_peer"
"""The file in the data directory with the time of the last peer that had dialled the running node, in seconds since
1970.
"""

LONGEST_NUMBER = 10
"""Digits of a time that are read."""
RECENT = 3_600
"""Seconds for which an inbound peer shows that the port is reached."""


def ports(node: ExaminedNode, now: int) -> Iterator[Finding]:
    named = (
        ("p2p-endpoint", node.p2p_endpoint),
        ("webserver-http-endpoint", node.http_endpoint),
        ("webserver-ws-endpoint", node.websocket_endpoint),
        ("metrics-endpoint", node.metrics_endpoint),
        ("explorer-endpoint", node.explorer_endpoint),
    )
    for option, endpoint in dict.fromkeys((option, each) for option, each in named if each is not None):
        yield from _closed(option, endpoint) if node.is_running else _taken(option, endpoint)
    if node.p2p_endpoint is not None:
        yield from unreached(node.p2p_endpoint, last_inbound(node.data_dir), now)


def _taken(option: str, endpoint: Endpoint) -> Iterator[Finding]:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        with closing(socket.socket(family)) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((endpoint.host, endpoint.port))
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            yield error(
                "port-taken",
                what=f"{option} = {endpoint}: another program listens there",
                why="the node cannot start: it ends with `cannot listen on`",
                do=f"find it with `ss -ltnp 'sport = :{endpoint.port}'` and stop it, or choose another port",
            )
        else:
            yield error(
                "address-not-ours",
                what=f"{option} = {endpoint}: {problem.strerror or problem}",
                why="the node cannot start: it ends with `cannot listen on`",
                do="name an address of this machine, or 0.0.0.0 for all of them; `ip address` lists them",
            )


def _closed(option: str, endpoint: Endpoint) -> Iterator[Finding]:
    try:
        socket.create_connection(local(endpoint), timeout=SECONDS).close()
    except OSError as problem:
        yield error(
            "port-closed",
            what=f"{option} = {endpoint}: the node runs, and its port does not open: {problem.strerror or problem}",
            why="peers or clients cannot reach the node, although it runs",
            do="see whether it is still starting (a replay takes hours), and whether a firewall blocks the machine's "
            "own connections; start it again if neither is so",
        )


def unreached(endpoint: Endpoint, seen: int, now: int) -> Iterator[Finding]:
    if now - seen <= RECENT:
        return
    last = f"the last inbound peer was seen at {time_text(seen)} UTC" if seen else "no inbound peer was ever seen"
    yield warning(
        "not-shown-reachable",
        what=f"p2p-endpoint = {endpoint} is not shown to be reachable from outside: {last}",
        why="where no peer can dial this node, it depends on those that it dials itself, and helps no other node",
        do=f"try from another machine: `nc -vz ADDRESS-OF-THIS-ONE {endpoint.port}`; if that fails, open the port in "
        "the firewall and forward it in the router, or leave p2p-endpoint out",
    )


def last_inbound(data_dir: Path) -> int:
    try:
        text = read_file(data_dir / INBOUND_FILE, 2 * LONGEST_NUMBER).decode("ascii", "replace")
    except OSError:
        return 0
    digits = text.strip()
    return min(int(digits), LATEST) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else 0


def record_inbound(data_dir: Path, now: int) -> None:
    (data_dir / INBOUND_FILE).write_text(f"{now}\n", encoding="ascii")


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
    """Why it is of no use; empty if it is."""
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
