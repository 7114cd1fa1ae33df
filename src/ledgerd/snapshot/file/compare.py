"""Whether two snapshots of the same block hold the same records, but for what an import counts again or sets by itself,
what the reference loses, and the metadata of markets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ledgerd.codec import DecodeError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME, HEAD_BLOCK, METADATA, OLD_SECTIONS

NOT_COMPARED: Mapping[str, frozenset[str]] = {
    "dynamic_global_property": frozenset(
        {
            "last_irreversible_block_id",
            "last_irreversible_block_num",
            "last_irreversible_block_ref_num",
            "last_irreversible_block_ref_prefix",
            "pm_active_markets_seeded",
            "pm_frozen_counters_reseeded_v1",
            "pm_frozen_counters_seeded",
            "pm_oracle_gauges_seeded",
        }
    ),
    "account": frozenset({"pm_bets_staked", "pm_leverage_collateral", "pm_liquidity_committed"}),
    "pm_dispute": frozenset({"ballots"}),
    "pm_oracle": frozenset(
        {
            "active_markets",
            "banned_by",
            "disputes_awaiting_decision",
            "disputes_awaiting_response",
            "markets_in_dispute_window",
        }
    ),
}


def differing(one: Snapshot, two: Snapshot, network: ChainParameters) -> list[str]:
    if (one.head_number, one.chain_id) != (two.head_number, two.chain_id):
        raise SnapshotError(
            f"they are of blocks {one.head_number} and {two.head_number}: only snapshots of one block can be compared"
        )
    if one.head_id != two.head_id:
        return [HEAD_BLOCK]
    if one.header["payload_checksum"] == two.header["payload_checksum"]:
        return []
    with json_defaults_of(network):
        ours, theirs = _digests(one), _digests(two)
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def _digests(snapshot: Snapshot) -> dict[str, bytes]:
    found: dict[str, Any] = {}
    for raw_name, record in snapshot.records():
        name = OLD_SECTIONS.get(raw_name, raw_name)
        section = BY_NAME.get(name)
        if section is None or name in {HEAD_BLOCK, METADATA.name}:
            continue
        try:
            entity = section.parse(record)
        except DecodeError as error:
            raise SnapshotError(f"a record of {name} in the snapshot cannot be read: {error}") from error
        for field in NOT_COMPARED.get(name, ()):
            setattr(entity, field, getattr(section.table.record(), field))
        found.setdefault(name, hashlib.sha256()).update(section.text(entity).encode("utf-8", "surrogateescape"))
    return {name: digest.digest() for name, digest in found.items()}
