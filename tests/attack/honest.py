"""Honest peers and clients, which go on meanwhile: they bring the load of the network, and measure what they get.

Half of the transactions come by peers and half by clients. Each has an address of its own, which no attacker uses.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

from ledgerd.codec import codec_of
from ledgerd.p2p.wire.frames import Frame, FrameReader
from ledgerd.p2p.wire.messages import BlockReply, NodeId, TransactionMessage, read_message
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from tests.attack.aim import HOST, Aim, Line, address_of, close, dial, read_aim
from tests.attack.attacker import GO, READY
from tests.attack.forging import call_body, json_of, paid, post
from tests.attack.kind import FAILURES, greeting_of, next_frame
from tests.attack.time_server import TimeServer

PEERS = CLIENTS = 10
PEER_GROUP, CLIENT_GROUP = 1, 2
BLOCK_SECONDS = 3.0
OPERATIONS = 20
LONGEST = 30.0
HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
SETTLES = 4.0
"""Seconds for the last transactions to get into a block."""


class Load(msgspec.Struct, frozen=True):
    """How much they send, and where the honest time servers are."""

    transactions: int
    """A block."""
    seconds: float
    time_servers: tuple[int, ...] = ()
    first: int = 0
    """Numbers begin here, so that no transaction is sent twice."""


class Heard(msgspec.Struct):
    """What they have seen."""

    sent: int = 0
    accepted: int = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    broadcasts: list[float] = msgspec.field(default_factory=list)
    """Seconds of each answer."""
    healths: list[float] = msgspec.field(default_factory=list)
    blocks: dict[str, str] = msgspec.field(default_factory=dict)
    """The validator of each block, by its id."""
    late: list[tuple[str, float]] = msgspec.field(default_factory=list)
    """Validator, and seconds from its slot to where a peer had its block."""
    lost: int = 0
    """Connections of honest peers that have ended, or could not begin."""
    transactions: int = 0
    """All that are in blocks."""


def load_of(aim: Aim, load: Load) -> list[Transaction]:
    """All transactions of a run, signed before it."""
    count = int(load.transactions * load.seconds / BLOCK_SECONDS) + 1
    receiver, key = AccountName(aim.holders[0]), PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
    payer = INITIATOR_ACCOUNT
    made = []
    for number in range(load.first, load.first + count):
        gifts = [Transfer(payer, receiver, tokens(1 + number % 997), "")] * (OPERATIONS - 1)
        gifts.append(Transfer(payer, receiver, tokens(1_000 + number), ""))
        made.append(paid(aim, payer, *gifts, salt=number, key=key))
    return made


class Company:
    """All of them, on one loop."""

    def __init__(self, aim: Aim, transactions: list[Transaction], seconds: float, settles: float = SETTLES) -> None:
        self._aim = aim
        self._seconds = seconds
        self._settles = settles
        self.made = transactions
        self._frames = [TransactionMessage(each).frame for each in transactions]
        self._requests = [
            post(call_body("network_broadcast_api", "broadcast_transaction", json_of(Transaction, each)))
            for each in transactions
        ]
        self._wanted = {bytes(each.id) for each in transactions}
        self._lines: dict[int, asyncio.StreamWriter] = {}
        self.heard = Heard()
        self._fault = ""
        """Why the latest request had no answer."""

    async def run(self) -> Heard:
        """For so many seconds, and a little longer for what was sent last."""
        tasks = [asyncio.ensure_future(self._listen(number)) for number in range(PEERS)]
        tasks += [asyncio.ensure_future(self._look_after_health(number)) for number in range(CLIENTS)]
        await asyncio.sleep(1)
        await self._send_all()
        await asyncio.sleep(self._settles)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return self.heard

    async def _send_all(self) -> None:
        """At an even pace, by turns of peers and clients."""
        began, asking = time.monotonic(), set()
        apart = self._seconds / max(1, len(self.made))
        for number in range(len(self.made)):
            await asyncio.sleep(max(0.0, began + number * apart - time.monotonic()))
            self.heard.sent += 1
            place = number // 2 % PEERS
            if number % 2 == 0 and place in self._lines:
                self._lines[place].write(self._frames[number])
                continue
            task = asyncio.ensure_future(self._ask(place, number))
            asking.add(task)
            task.add_done_callback(asking.discard)
        if asking:
            await asyncio.wait(asking, timeout=LONGEST)

    # -- peers

    async def _listen(self, number: int) -> None:
        """Be a peer, and come back when the connection ends."""
        while True:
            with suppress(*FAILURES):
                line = await dial(address_of(PEER_GROUP, number + 1), self._aim.p2p)
                await self._hear(number, line)
            self._lines.pop(number, None)
            self.heard.lost += 1
            await asyncio.sleep(1)

    async def _hear(self, number: int, line: Line) -> None:
        reader, writer = line
        frames = FrameReader()
        try:
            writer.write(greeting_of(self._aim, NodeId(b"\2" + (number + 1).to_bytes(32, "big"))))
            self._lines[number] = writer
            while True:
                frame = await next_frame(reader, frames)
                if frame.number == BlockReply.NUMBER:
                    self._take(frame)
        finally:
            close(writer)

    def _take(self, frame: Frame) -> None:
        header = codec_of(SignedHeader).decode(frame.payload)
        self.heard.late.append((header.validator, time.time() - header.timestamp))
        if header.id.hex() in self.heard.blocks:
            return
        self.heard.blocks[header.id.hex()] = header.validator
        block = cast("BlockReply", read_message(frame)).block
        self.heard.transactions += len(block.transactions)
        self.heard.accepted += sum(bytes(each.id) in self._wanted for each in block.transactions)

    # -- clients

    async def _ask(self, number: int, place: int) -> None:
        seconds, answer = await self._timed(number, self._requests[place])
        self.heard.broadcasts.append(seconds)
        if b'"error"' in answer or not answer:
            text = answer.partition(b'"message":"')[2][:80].decode("utf-8", "replace")
            self._refused(text or f"no answer: {self._fault}")

    async def _look_after_health(self, number: int) -> None:
        while True:
            seconds, answer = await self._timed(number, HEALTH)
            self.heard.healths.append(seconds if b"200 OK" in answer else LONGEST)
            if b"200 OK" not in answer:
                said = answer.partition(b" ")[2].partition(b"\r")[0].decode("latin-1")
                self._refused(f"/health: {said or self._fault}")
            await asyncio.sleep(1)

    def _refused(self, text: str) -> None:
        self.heard.refused[text] = self.heard.refused.get(text, 0) + 1

    async def _timed(self, number: int, request: bytes) -> tuple[float, bytes]:
        """Seconds from the first byte out to the end of the answer; the longest where there is none."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(LONGEST):
                reader, writer = await dial(address_of(CLIENT_GROUP, number + 1), self._aim.http)
                try:
                    writer.write(request)
                    head = await reader.readuntil(b"\r\n\r\n")
                    size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                    return time.monotonic() - began, head + await reader.readexactly(size)
                finally:
                    close(writer)
        except FAILURES as fault:
            self._fault = type(fault).__name__
            return LONGEST, b""


async def _run(company: Company, time_servers: tuple[int, ...]) -> Heard:
    loop = asyncio.get_running_loop()
    for port in time_servers:
        await loop.create_datagram_endpoint(TimeServer, local_addr=(HOST, port))
    return await company.run()


def main() -> None:
    """Sign, wait for the word, send and listen, and print what was seen."""
    aim = read_aim(Path(sys.argv[1]))
    load = msgspec.json.decode(sys.argv[2], type=Load)
    company = Company(aim, load_of(aim, load), load.seconds)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != GO:
        return
    heard = asyncio.run(_run(company, load.time_servers))
    sys.stdout.write(json.dumps(msgspec.to_builtins(heard)) + "\n")


if __name__ == "__main__":
    main()
