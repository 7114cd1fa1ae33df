"""A test of the trusted peers: each is asked for a part of its snapshot (spec 06, section 14.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from ledgerd.basics.failures import reason_of
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange import client
from ledgerd.snapshot.exchange.client import SnapshotConnection, connected
from ledgerd.snapshot.exchange.download import Download, Unavailable
from ledgerd.snapshot.exchange.frames import AccessDenied, InfoReply, NoSnapshot, ProtocolFault
from ledgerd.snapshot.file.read import chain_named_by
from ledgerd.supervision.this_process import on_a_loop

PART_SECONDS = 60.0
MEGABYTE = 1 << 20
COLUMNS = ("peer", "status", "block", "size MB", "connect ms", "answer ms", "MB/s", "remark")


class Status(Enum):
    """The result of a test."""

    REACHABLE = "REACHABLE"
    NO_SNAPSHOT = "NO_SNAPSHOT"
    TIMEOUT = "TIMEOUT"
    DENIED = "DENIED"
    ERROR = "ERROR"


class Result(NamedTuple):
    """The result of testing a peer; times in seconds."""

    peer: Endpoint
    status: Status
    info: InfoReply | None = None
    connecting: float | None = None
    answering: float | None = None
    speed: float | None = None
    """Bytes a second."""
    remark: str = ""


async def probe(peer: Endpoint, chain_id: ChainId, clock: Callable[[], float]) -> Result:
    result = Result(peer, Status.ERROR)
    try:
        began = clock()
        async with connected(peer) as connection:
            result = result._replace(connecting=clock() - began)
            return await _ask(connection, result, chain_id, clock)
    except TimeoutError:
        return result._replace(status=Status.TIMEOUT)
    except (OSError, ProtocolFault, Unavailable) as problem:
        return result._replace(remark=reason_of(problem))


async def _ask(connection: SnapshotConnection, result: Result, chain_id: ChainId, clock: Callable[[], float]) -> Result:
    download, began = Download(), clock()
    answer = await connection.ask(download.connect(), client.ANSWER_SECONDS)
    result = result._replace(answering=clock() - began)
    if isinstance(answer, NoSnapshot):
        return result._replace(status=Status.NO_SNAPSHOT)
    if isinstance(answer, AccessDenied):
        return result._replace(status=Status.DENIED, remark=answer.text)
    action = download.receive(answer)
    result = result._replace(info=download.info)
    if action.request is not None:
        began = clock()
        part = download.receive(await connection.ask(action.request, PART_SECONDS)).part
        result = result._replace(speed=len(part) / max(clock() - began, 1e-6))
        if remark := _unusable(part, chain_id):
            return result._replace(remark=remark)
    return result._replace(status=Status.REACHABLE)


def _unusable(beginning: bytes, chain_id: ChainId) -> str:
    """The fault of a snapshot by its header, which names its chain; the answers about it do not."""
    try:
        theirs = chain_named_by(beginning)
    except SnapshotError as problem:
        return str(problem)
    if theirs == chain_id:
        return ""
    return f"its snapshot is of another chain, {theirs.hex()[:16]}..., and this node of {chain_id.hex()[:16]}..."


def table(results: Sequence[Result]) -> str:
    rows = [COLUMNS, *(_row(each) for each in results)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    reachable = sum(each.status is Status.REACHABLE for each in results)
    return "\n".join([*lines, f"{reachable} of {len(results)} trusted peers serve a snapshot", ""])


def _row(result: Result) -> tuple[str, ...]:
    info = result.info
    return (
        str(result.peer),
        result.status.value,
        str(info.number) if info else "-",
        _number(info.size / MEGABYTE if info else None),
        _number(result.connecting and result.connecting * 1000),
        _number(result.answering and result.answering * 1000),
        _number(result.speed and result.speed / MEGABYTE),
        result.remark,
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def run_probe(peers: Sequence[Endpoint], chain_id: ChainId) -> str:
    async def tested() -> list[Result]:
        clock = asyncio.get_running_loop().time
        return [
            await probe(peer, chain_id, clock) for peer in peers
        ]  # one after the other: they would share our bandwidth

    return table(on_a_loop(tested))
