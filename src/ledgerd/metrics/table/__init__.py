"""Every metric family of the node, by topic, in the order in which they are declared and shown."""

from __future__ import annotations

from types import ModuleType

from ledgerd.metrics.families import Family
from ledgerd.metrics.table import chain, peers, plugins, process, requests, shadow, storage, validators, webhooks


def declared_in(topic: ModuleType) -> tuple[Family, ...]:
    return tuple(each for each in vars(topic).values() if isinstance(each, Family))


TOPICS: dict[str, tuple[Family, ...]] = {
    "Chain": declared_in(chain),
    "Validators": declared_in(validators),
    "Peers": declared_in(peers),
    "JSON-RPC": declared_in(requests),
    "Storage": declared_in(storage),
    "Webhooks": declared_in(webhooks),
    "Shadow": declared_in(shadow),
    "Plugins": declared_in(plugins),
    "Processes": declared_in(process),
}

FAMILIES: tuple[Family, ...] = tuple(family for families in TOPICS.values() for family in families)
