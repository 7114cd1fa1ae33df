"""Clients that ask for much: names, batches, signatures, bodies that are not JSON, broadcasts that are not valid."""

from __future__ import annotations

import json
from functools import cache

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from tests.attack.aim import Aim, close
from tests.attack.forging import call_body, forged_branch, json_of, large_block, overloaded, post
from tests.attack.kind import PATIENCE, Kind, Side

NAMES, SIGNATURES_OF_BODY, BATCH = 200_000, 233_083, 1_000
BODY_BYTES = 31_000_000


class ClientKind(Kind):
    """Each round is a connection that sends requests over HTTP and reads what comes."""

    side = Side.CLIENT
    listens = 10.0
    """Seconds for answers."""

    def requests(self) -> list[bytes]:
        """What is sent, one after the other and not waiting for answers."""
        return []

    async def play(self) -> None:
        """Connect, ask, read, end."""
        reader, writer = await self.dial(self.aim.http)
        try:
            for request in self.requests():
                await self.write(writer, request)
            await self.swallow(reader, self.listens)
        finally:
            close(writer)


class ManyNames(ClientKind):
    """Requests for 200,000 accounts and keys."""

    name, row = "names", "5"

    def requests(self) -> list[bytes]:
        """One of three."""
        return [many_names()[(self.rounds + self.number) % 3]]


@cache
def many_names() -> list[bytes]:
    """1.2 MB each."""
    names = ["viz"] * NAMES
    keys = ["VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"] * (NAMES // 10)
    return [
        post(call_body("database_api", "get_accounts", names)),
        post(call_body("database_api", "lookup_account_names", names)),
        post(call_body("account_by_key", "get_key_references", keys)),
    ]


class Batches(ClientKind):
    """Batches of a thousand requests, each as large as it may be, and batches of errors."""

    name, row = "batches", "5"

    def requests(self) -> list[bytes]:
        """One of two."""
        return [batches()[self.rounds % 2]]


@cache
def batches() -> list[bytes]:
    """Blocks and accounts a thousand times; and a thousand errors."""
    good = [json.loads(call_body("database_api", "get_accounts", ["viz"] * 900))] * BATCH
    bad = [json.loads(call_body("database_api", "get_block", "x" * 2_000))] * BATCH
    return [post(json.dumps(each).encode()) for each in (good, bad)]


class LargeRequests(ClientKind):
    """Bodies of 31 MB: signatures to be recovered, and bytes that are not JSON."""

    name, row = "large-requests", "11"

    def requests(self) -> list[bytes]:
        """One of two."""
        return [large_requests(self.aim)[(self.rounds + self.number) % 2]]


@cache
def large_requests(aim: Aim) -> list[bytes]:
    """A transaction that no block could hold; and 31 MB of nearly JSON."""
    signature = '"' + "1f" + "ab" * 64 + '"'
    draft = json_of(Transaction, overloaded(aim, 0, 1))
    text = json.dumps(draft).replace(
        '"signatures": []', f'"signatures": [{",".join([signature] * SIGNATURES_OF_BODY)}]'
    )
    head = b'{"jsonrpc":"2.0","id":1,"method":"call","params":["database_api","get_potential_signatures",['
    return [post(head + text.encode() + b"]]}"), post(b'{"jsonrpc":"2.0","id":1,"x":' + b"[1," * (BODY_BYTES // 3))]


class BadJson(ClientKind):
    """Small bodies that are not JSON, JSON that is no request, and texts that errors would repeat."""

    name, row, listens = "bad-json", "11", 2.0

    def requests(self) -> list[bytes]:
        """Some of each."""
        return [
            post(b"{"),
            post(b"[" * 50_000),
            post(b"\xff\xfe" * 20_000),
            post(b'{"method":"call","params":["database_api","' + b"m" * 100_000 + b'",[]]}'),
            post(b'{"id":1e999,"method":"call","params":[NaN]}'),
        ] * 4


class BroadcastSignatures(ClientKind):
    """Broadcasts of transactions with 900 random signatures."""

    name, row = "client-signatures", "3"

    def prepare(self) -> None:
        """Five for each client."""
        salts = range(10_000 + 5 * self.number, 10_005 + 5 * self.number)
        made = (json_of(Transaction, overloaded(self.aim, 900, salt)) for salt in salts)
        self._made = [post(call_body("network_broadcast_api", "broadcast_transaction", each)) for each in made]

    def requests(self) -> list[bytes]:
        """All of them."""
        return self._made


class BroadcastBlocks(ClientKind):
    """Broadcasts of forged branches and of large blocks without parents."""

    name, row = "client-blocks", "1, 2"

    def requests(self) -> list[bytes]:
        """A branch and a large block."""
        made = client_blocks(self.aim)
        first = 7 * ((self.number + self.rounds) % 20)
        return made[first : first + 7]


@cache
def client_blocks(aim: Aim) -> list[bytes]:
    """Twenty times six blocks of a branch, and one that is large."""
    made = []
    for salt in range(20):
        blocks = [*forged_branch(aim, 1_000 + salt), large_block(aim, aim.head_number + 5 + salt, 50 + salt, 15)]
        made += [post(call_body("network_broadcast_api", "broadcast_block", json_of(Block, each))) for each in blocks]
    return made


class LargeAnswers(ClientKind):
    """Requests whose answers are large, and are read slowly."""

    name, listens = "client-large-answers", PATIENCE / 4

    def requests(self) -> list[bytes]:
        """Histories, blocks, lists."""
        head = self.aim.head_number
        asked = [
            call_body("account_history", "get_account_history", "viz", -1, 1_000),
            call_body("operation_history", "get_ops_in_block", head, False),
            call_body("database_api", "get_block", head),
            call_body("database_api", "lookup_accounts", "", 1_000),
            call_body("validator_api", "get_validators_by_vote", "", 100),
        ]
        return [post(body) for body in asked] * 5
