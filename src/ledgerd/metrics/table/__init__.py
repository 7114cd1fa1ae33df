"""Every metric family of the node, by topic, in the order in which they are shown."""

from __future__ import annotations

from ledgerd.metrics.families import Family
from ledgerd.metrics.table.chain import CHAIN_FAMILIES
from ledgerd.metrics.table.peers import PEER_FAMILIES
from ledgerd.metrics.table.process import PROCESS_FAMILIES
from ledgerd.metrics.table.requests import REQUEST_FAMILIES
from ledgerd.metrics.table.storage import STORAGE_FAMILIES
from ledgerd.metrics.table.validators import VALIDATOR_FAMILIES
from ledgerd.metrics.table.webhooks import WEBHOOK_FAMILIES

TOPICS: dict[str, tuple[Family, ...]] = {
    "Chain": CHAIN_FAMILIES,
    "Validators": VALIDATOR_FAMILIES,
    "Peers": PEER_FAMILIES,
    "JSON-RPC": REQUEST_FAMILIES,
    "Storage": STORAGE_FAMILIES,
    "Webhooks": WEBHOOK_FAMILIES,
    "Processes": PROCESS_FAMILIES,
}

FAMILIES: tuple[Family, ...] = tuple(family for families in TOPICS.values() for family in families)
