"""A transaction that a node tries out for the wallet, and undoes."""

from __future__ import annotations

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.sdk.transactions.dry_run import DryRun, dry_run_of
from ledgerd.wallet.errors import NodeRefused
from ledgerd.wallet.node.client import NodeClient


def dry_run(node: NodeClient, transaction: Transaction) -> DryRun:
    text = codec_of(Transaction).to_json(transaction)
    try:
        found = node.call("node_api", "simulate_transaction", msgspec.json.decode(text))
    except NodeRefused as refused:
        return DryRun(not_told=str(refused).strip() or "it does not say why")
    with node.understood():
        return dry_run_of(found)
