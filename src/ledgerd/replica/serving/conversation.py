"""One replica at a node: its hello, a whole state where it needs one, then changes for as long as it takes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import msgspec

from ledgerd.basics.framing.frames import FrameFault, read_frame_of
from ledgerd.chain.log.rolling import ROLLING_BLOCKS
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.replica.messages import (
    MOST_HELLO,
    VERSION,
    LoggedBlocks,
    MessageKind,
    NewHead,
    NotServed,
    ReplicaHello,
    StateBegins,
    StateEnds,
    Welcome,
    packed,
    packed_block_info,
    packed_check,
    read,
)
from ledgerd.replica.serving.hub import Hub
from ledgerd.replica.source import HEADER_NUMBER, LAYOUT, NAMES, HeldCommit, NodeFiles
from ledgerd.state.files.change_frames import PART_BYTES, PART_ENTRIES, framed, opened
from ledgerd.state.files.change_log import LogGap, Place
from ledgerd.supervision.tasks import first_of

log = logging.getLogger(__name__)

HELLO_SECONDS = 5.0
"""The time that a replica has for its first message."""
STALLED_SECONDS = 30.0
"""A replica that takes nothing for so long is cut."""
STATE_SECONDS = 3600.0
"""A whole state takes no longer: while it is sent, the file of the node grows."""
HEAD_SECONDS = 5.0
MOST_MISSING = ROLLING_BLOCKS
"""Blocks that a replica without a log gets, as far as the node has them; one that lacks more begins a new log."""

_encode = msgspec.msgpack.Encoder().encode


class Cut(Exception):
    """The conversation ends; the text says why."""


class Conversation:
    """Serves one connection."""

    def __init__(self, hub: Hub, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, who: str) -> None:
        self._hub, self._source = hub, hub.source
        self._reader, self._writer = reader, writer
        self.who = who
        self._position = self._checked = b""
        self._place: Place | None = None
        self._next_block = 1
        self._sent_info = 0

    async def greet(self) -> ReplicaHello:
        """Hear its hello. `Cut`: it says none, or one that does not fit, which it is sent."""
        hello = await self._hello()
        refusal = self._refusal(hello)
        if refusal:
            await self._send(packed(MessageKind.REFUSED, NotServed(refusal)))
            raise Cut(refusal)
        return hello

    async def run(self, hello: ReplicaHello, states: asyncio.Semaphore) -> None:
        """Serve until the connection ends. `Cut`: the replica is to be cut."""
        await first_of(self._serve(hello, states), self._closed())

    async def _serve(self, hello: ReplicaHello, states: asyncio.Semaphore) -> None:
        with self._source.snapshot() as now:
            self._next_block = _first_block(self._source, now, hello)
            chain_id = now.chain_id
        await self._send(packed(MessageKind.WELCOME, Welcome(chain_id, self._hub.latest.revision, self._next_block)))
        try:
            self._position, self._place = hello.position, self._place_of(hello.position)
            log.info("the replica %(who)s goes on from its last commit", {"who": self.who})
        except LogGap:
            async with states:
                log.info("the replica %(who)s is sent a whole state", {"who": self.who})
                await self._send_state()
            log.info("the replica %(who)s has the whole state", {"who": self.who})
        with ExitStack() as stack:
            await self._follow(stack)

    async def _closed(self) -> None:
        """Wait until the replica ends the connection, or says what it should not."""
        if await self._reader.read(1):
            raise Cut("it speaks where it should listen")
        raise Cut("it has ended the connection")

    # -- hello

    async def _hello(self) -> ReplicaHello:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                frame = await read_frame_of(self._reader, MOST_HELLO)
            if frame is None:
                raise Cut("it ended before its hello")
            kind, body = opened(frame)
            if kind != MessageKind.HELLO:
                raise Cut(f"a frame of kind {kind} in place of its hello")
            return read(body, ReplicaHello)
        except TimeoutError:
            raise Cut("it said no hello") from None
        except FrameFault as fault:
            raise Cut(str(fault)) from None

    def _refusal(self, hello: ReplicaHello) -> str:
        if hello.version != VERSION:
            return f"the node speaks version {VERSION}, the replica {hello.version}: run the same version on both"
        if hello.layout != LAYOUT:
            return "the states of node and replica have other tables: run the same version on both"
        with self._source.snapshot() as now:
            if hello.chain_id and hello.chain_id != now.chain_id:
                return "the replica is of another chain: give it the --chain of the node, and a --data-dir of its own"
        return ""

    def _place_of(self, position: bytes) -> Place:
        if not position:
            raise LogGap("it has no state")
        return self._source.changes.place_of(position)

    # -- sending

    async def _send(self, data: bytes) -> None:
        """Send, and wait until there is room for more, but never for long."""
        self._writer.write(data)
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            raise Cut(f"it took nothing for {STALLED_SECONDS:g} seconds") from None

    async def _send_state(self) -> None:
        """Send a whole state. Its blocks are sent before it, so that it may be served as soon as it has arrived."""
        with self._source.snapshot() as now:
            await self._send_blocks(now.irreversible)
            await self._send_info(now.revision, now.irreversible)
            place = self._source.changes.place_of(now.position)
            begins = StateBegins(now.position, now.revision, self._source.size)
            await self._send(packed(MessageKind.STATE, begins))
            try:
                async with asyncio.timeout(STATE_SECONDS):
                    for number in (*filter(None, NAMES), HEADER_NUMBER):
                        for rows in _pieces(now, number):
                            await self._send(framed(MessageKind.ROWS, _encode({number: rows})))
            except TimeoutError:
                raise Cut(f"the whole state took more than {STATE_SECONDS:g} seconds") from None
            await self._send(packed(MessageKind.STATE_END, StateEnds(now.position)))
            self._position, self._place = now.position, place

    async def _follow(self, stack: ExitStack) -> None:
        """Send changes for ever. The digest is of use once the replica has reached the head of the node."""
        is_counted = False
        while True:
            changed = self._hub.next_change
            latest = self._hub.latest
            await self._send_blocks(latest.irreversible)
            await self._send_info(latest.revision, latest.irreversible)
            await self._send(packed(MessageKind.HEAD, NewHead(latest.revision)))
            while self._position != latest.position:
                await self._send_record()
            if not is_counted:
                is_counted = True
                stack.callback(self._hub.enter())
            await self._send_check()
            with suppress(TimeoutError):
                async with asyncio.timeout(HEAD_SECONDS):
                    await changed.wait()

    async def _send_record(self) -> None:
        if self._place is None:
            raise LogGap("there is no place in the log")
        log_of, (head, parts) = self._source.changes, self._source.changes.record_at(self._place)
        if head.before != self._position:
            raise LogGap("the log of changes goes on elsewhere")
        self._writer.write(head.packed)
        for piece in log_of.bytes_at(parts, head.size, PART_BYTES):
            await self._send(piece)
        self._position, self._place = head.after, parts._replace(offset=parts.offset + head.size)
        await self._send_check()

    async def _send_check(self) -> None:
        digest = self._hub.digests.get(self._position)
        if digest is not None and self._position != self._checked:
            self._checked = self._position
            await self._send(packed_check(self._position, digest))

    async def _send_blocks(self, irreversible: int) -> None:
        """Send blocks that became irreversible, before the changes that may delete them from the state."""
        while self._next_block <= irreversible:
            first, blocks, size = self._next_block, list[bytes](), 0
            with self._source.snapshot() as now:
                while self._next_block <= irreversible and size < PART_BYTES:
                    block = self._source.blocks.packed(now.view, self._next_block)
                    self._next_block += 1
                    if block is None:
                        break
                    if blocks and size + len(block) > PART_BYTES:
                        self._next_block -= 1
                        break
                    blocks.append(block)
                    size += len(block)
            if blocks:
                await self._send(packed(MessageKind.BLOCKS, LoggedBlocks(first, tuple(blocks))))

    async def _send_info(self, head: int, irreversible: int) -> None:
        first = max(1, self._sent_info or head - MOST_MISSING + 1)
        for start in range(min(first, head), head + 1, PART_ENTRIES):
            records = self._source.records.read(start, min(start + PART_ENTRIES, head + 1))
            if records:
                await self._send(packed_block_info(start, records))
        self._sent_info = irreversible


def _pieces(now: HeldCommit, number: int) -> Iterator[dict[bytes, bytes]]:
    rows: dict[bytes, bytes] = {}
    size = 0
    for key, value in now.rows(number):
        rows[key] = value
        size += len(key) + len(value)
        if size >= PART_BYTES or len(rows) >= 4 * PART_ENTRIES:
            yield rows
            rows, size = {}, 0
    if rows:
        yield rows


def _first_block(source: NodeFiles, now: HeldCommit, hello: ReplicaHello) -> int:
    """The first block that a replica is to be sent: after its log, where that has our blocks and is not far behind."""
    irreversible = now.irreversible
    if hello.logged > 0 and irreversible - hello.logged <= MOST_MISSING:
        block = source.blocks.packed(now.view, hello.logged)
        if block is not None and codec_of(Block).decode_exactly(block).id == hello.logged_id:
            return hello.logged + 1
    return max(1, irreversible - MOST_MISSING + 1)
