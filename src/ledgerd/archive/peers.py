"""The past from a peer, by ranges of blocks over P2P (spec 04, sections 7 and 10)."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from ledgerd.archive.arriving import LEAST_BLOCKS, Arriving, SourcePace
from ledgerd.archive.errors import SourceFault
from ledgerd.archive.known import KnownBlocks
from ledgerd.archive.proof import sound_part
from ledgerd.archive.sealed import SealedFile
from ledgerd.basics.closing import on_error
from ledgerd.basics.printable import printable
from ledgerd.chain.log.files import OFFSET
from ledgerd.client.blocking import Deadline
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.p2p.wire import messages
from ledgerd.p2p.wire.frames import FrameReader, PeerFault
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK

M = TypeVar("M", bound=messages.Message)

SECONDS = 30.0
"""The time that a peer has for an answer."""
READ_BYTES = 1 << 18
AT_ONCE = 1_000
"""Blocks that are asked for in one request."""
REFUSALS, PAUSE_SECONDS = 30, 2.0
"""How often a peer that sends nothing, because it has sent much, is asked again, and the pause before that."""


class PeerArchive:
    """A peer that serves blocks of the past; its blocks are written as a file of the archive."""

    def __init__(self, endpoint: Endpoint, known: KnownBlocks, size: int) -> None:
        self._endpoint = endpoint
        self._size = size
        self._frames = FrameReader()
        try:
            self._socket = socket.create_connection(endpoint, SECONDS)
        except OSError as problem:
            raise SourceFault(f"{endpoint} cannot be reached: {problem}") from problem
        with on_error(self.close):
            self._greet(known)

    def _greet(self, known: KnownBlocks) -> None:
        head = known.latest
        head_id = known.id_at(head) or NO_BLOCK
        hello = messages.Hello(
            head_block_id=head_id,
            head_block_num=head,
            lib_block_id=head_id,
            lib_block_num=head,
            dlt_earliest_block=known.earliest,
            dlt_latest_block=head,
            node_id=messages.NodeId(secrets.token_bytes(33)),
        )
        reply = self._ask(hello, messages.HelloReply)
        if not reply.fork_alignment:
            raise SourceFault(f"{self._endpoint} is on another chain")
        self._earliest = max(1, reply.our_dlt_earliest)

    def file_with(self, number: int) -> SealedFile | None:
        """A file up to this block, from the beginning of its range or from the first block that the peer has."""
        if number < self._earliest:
            return None
        return SealedFile(max(number - number % self._size, self._earliest, 1), number)

    def obtain(self, file: SealedFile, path: Path, room: int) -> None:
        """Write the blocks one after the other, beginning after those that are in the file already."""
        following, place = sound_part(path, file)
        with Arriving(path, place) as arriving:
            for block in self._blocks(following, file.last):
                entry = block.packed + OFFSET.pack(arriving.place)
                room -= len(entry)
                if room < 0:
                    raise SourceFault(f"{file.name} does not end before the disk is full")
                arriving.write(entry)

    def close(self) -> None:
        self._socket.close()

    def _blocks(self, number: int, last: int) -> Iterator[Block]:
        refusals = 0
        pace = SourcePace(str(self._endpoint), LEAST_BLOCKS, "blocks")
        while number <= last:
            request = messages.GetBlockRange(number, min(last, number + AT_ONCE - 1), NO_BLOCK)
            reply = self._ask(request, messages.BlockRangeReply)
            if reply.blocks and number + len(reply.blocks) <= last:
                pace.count(len(reply.blocks))
            for block in reply.blocks:
                if block.number != number or number > last:
                    raise SourceFault(f"{self._endpoint} was asked for block {number}, and sends {block.number}")
                yield block
                number += 1
            refusals = 0 if reply.blocks else refusals + 1
            if refusals > REFUSALS:
                raise SourceFault(f"{self._endpoint} does not send block {number}")
            if refusals:
                time.sleep(PAUSE_SECONDS)

    def _ask(self, request: messages.Message, kind: type[M]) -> M:
        """The answer; whatever else the peer sends meanwhile is passed over."""
        deadline = Deadline(SECONDS)
        try:
            self._socket.sendall(request.frame)
            while True:
                while (frame := self._frames.next_frame(time.monotonic())) is not None:
                    deadline.left()
                    if frame.number == messages.SoftBan.NUMBER:
                        raise SourceFault(f"{self._endpoint} has closed the connection: it bans this address")
                    if frame.number == kind.NUMBER:
                        return codec_of(kind).decode(frame.payload)
                self._socket.settimeout(deadline.left())
                data = self._socket.recv(READ_BYTES)
                if not data:
                    raise SourceFault(f"{self._endpoint} has closed the connection")
                self._frames.receive(data, time.monotonic())
        except (OSError, PeerFault, CodecError) as problem:
            raise SourceFault(
                f"{self._endpoint} does not answer: {printable(str(problem)) or type(problem).__name__}"
            ) from problem
