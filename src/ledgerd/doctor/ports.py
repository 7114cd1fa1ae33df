"""Findings on ports: whether they are free before a start, open while the node runs, and reached from outside."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ledgerd.doctor.examined_node import SECONDS, ExaminedNode, local
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.times import LATEST

INBOUND_FILE = "last_inbound_peer"
"""In the data directory: when the running node last had a peer that had dialled it, in seconds since 1970."""

LONGEST_NUMBER = 10
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
        text = (data_dir / INBOUND_FILE).read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    digits = text.strip()
    return min(int(digits), LATEST) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else 0


def record_inbound(data_dir: Path, now: int) -> None:
    (data_dir / INBOUND_FILE).write_text(f"{now}\n", encoding="ascii")
