"""Messages of attackers: blocks that nobody signed, transactions of random signatures, requests in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.p2p.wire.messages import BlockReply
from ledgerd.protocol.blocks.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, ChainId, MerkleRoot
from ledgerd.protocol.types.names import AccountName
from tests.attack.aim import Aim
from tests.p2p.noise import noise

T = TypeVar("T")

BRANCH = 6
GIFT_NOTE = "x" * 100


def block_frame(block: Block) -> bytes:
    """A pushed block."""
    return BlockReply(block, 0, True).frame


def forged_branch(aim: Aim, salt: int) -> list[Block]:
    """Six blocks in the names of validators, from an irreversible block up, signed by nobody whom the chain knows."""
    blocks: list[Block] = []
    previous, names = aim.below, aim.validators
    for place in range(BRANCH):
        when = aim.below_time + 3 * (1 + salt % 40 + place)
        header = BlockHeader(previous, when, names[(salt + place) % len(names)], MerkleRoot(bytes(20)), ())
        block = sign_block(header, (), PrivateKey((salt + 1).to_bytes(32, "big")))
        blocks.append(block)
        previous = block.id
    return blocks


def paid(aim: Aim, holder: str, *operations: Operation, salt: int = 0, key: PrivateKey | None = None) -> Transaction:
    """A valid transaction of somebody who pays."""
    draft = unsigned_transaction(aim.head, aim.head_time + 2_000 + salt % 1_000, operations)
    signer = key or PrivateKey.from_wif(aim.key)
    assert holder in aim.holders or key is not None
    return draft.signed(ChainId(bytes.fromhex(aim.chain_id)), [signer])


def large_block(aim: Aim, number: int, salt: int, count: int) -> Block:
    """A block of many operations whose parent nobody has, signed by nobody."""
    holder = AccountName(aim.holders[0])
    gifts = [Transfer(holder, holder, tokens(1), GIFT_NOTE)] * 20
    transaction = paid(aim, holder, *gifts)
    parent = BlockId((number - 1).to_bytes(4, "big") + salt.to_bytes(16, "big"))
    root = merkle_root([transaction.merkle_digest] * count)
    name = aim.validators[salt % len(aim.validators)]
    return Block(parent, aim.head_time + 3, name, root, (), Signature(bytes(65)), (transaction,) * count)


def overloaded(aim: Aim, count: int, salt: int) -> Transaction:
    """A transaction of an existing account with very many random signatures."""
    holder = AccountName(aim.holders[salt % len(aim.holders)])
    draft = unsigned_transaction(aim.head, aim.head_time + 600, [Transfer(holder, holder, tokens(1 + salt), "")])
    return replace(draft, signatures=noise(count, salt))


def json_of(kind: type[T], value: T) -> object:
    """A value as clients send it."""
    return json.loads(codec_of(kind).to_json(value))


def call_body(api: str, method: str, *arguments: object) -> bytes:
    """A request to a method."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [api, method, list(arguments)]}
    return json.dumps(body, separators=(",", ":")).encode()


def post(body: bytes, headers: Iterable[str] = (), host: str = "127.0.0.1") -> bytes:
    """A request over HTTP."""
    lines = ["POST / HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
