"""A small client of a development chain: operations as JSON, signed and broadcast."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledgerd.codec import codec_of
from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.time_text import time_text
from tests.node.processes import NodeProcess

EVERYBODY = PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY)
LIFETIME = 600

Sending = tuple[str, Mapping[str, object]]
"""An operation: its name, and its fields as JSON."""


def broadcast(node: NodeProcess, *operations: Sending, key: PrivateKey = EVERYBODY) -> Any:
    """Send operations in one transaction: `{}`, or the node's error."""
    head = node.call("database_api", "get_dynamic_global_properties")
    empty = unsigned_transaction(BlockId(bytes.fromhex(head["head_block_id"])), clock(node) + LIFETIME, ())
    fields = json.loads(codec_of(Transaction).to_json(empty))
    draft = codec_of(Transaction).from_json({**fields, "operations": [list(each) for each in operations]})
    signed = draft.signed(TESTNET.chain_id, [key])
    text = codec_of(Transaction).to_json(signed)
    return node.call("network_broadcast_api", "broadcast_transaction", json.loads(text))


def clock(node: NodeProcess) -> int:
    """The time of the head, in seconds since 1970."""
    seconds: int = node.call("dev_api", "head")["time"]
    return seconds


def in_seconds(node: NodeProcess, seconds: int) -> str:
    """A time so many seconds after the head, as operations have it."""
    return time_text(clock(node) + seconds)


def last_operations(node: NodeProcess, name: str) -> list[tuple[str, dict[str, Any]]]:
    """The operations in the history of an account, oldest first."""
    rows = node.call("account_history", "get_account_history", name, -1, 1000)
    return [(row["op"][0], row["op"][1]) for _, row in rows]
