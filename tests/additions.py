"""What version 4.1.0 of the reference adds to what earlier versions said of a chain that stands at hardfork 13.

Facts of earlier versions are compared with these additions in their places. `test_additions` shows that they are all
that there is: with them, everything that 3.2.0 said of `open-1` is what 4.1.0 said of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ledgerd.codec import record_kind
from ledgerd.protocol.properties import ChainPropertiesHf13, ChainPropertiesHf14

ACCOUNT = {
    "pm_liquidity_committed": "0.000 VIZ",
    "pm_bets_staked": "0.000 VIZ",
    "pm_leverage_collateral": "0.000 VIZ",
}
"""Last in the account of a snapshot, and of an answer (spec 07, section 11.1; spec 10, section 10.4)."""

GLOBALS = {
    "pm_frozen_counters_seeded": False,
    "pm_frozen_counters_reseeded_v1": False,
    "pm_active_markets_seeded": False,
    "pm_oracle_gauges_seeded": False,
    "pm_batch_settle_cursor": 0,
    "pm_batch_settle_bet_cursor": 0,
}
"""After `emergency_consensus_start_block`, in a snapshot and in an answer (spec 07, section 11.2)."""

PROPERTIES: dict[str, Any] = {
    field.name: value.json_text().strip('"') if hasattr(value := field.default(), "json_text") else value
    for field in record_kind(ChainPropertiesHf14).fields
    if field.name not in ChainPropertiesHf13.__struct_fields__
}
"""Last in `props` and in `median_props` of a snapshot, and in `median_props` of the schedule (spec 07, section 8)."""

SECTIONS = (
    "pm_oracle",
    "pm_market",
    "pm_outcome",
    "pm_bet",
    "pm_liquidity",
    "pm_commit",
    "pm_dispute",
    "pm_dispute_vote",
    "agent_permission",
    "key_history",
    "pm_lazy_pool",
    "pm_lazy_deposit",
    "pm_lazy_allocation",
    "pm_leverage_position",
    "pm_lazy_withdraw_request",
    "pm_deferred_claim",
    "pm_settlement",
    "pm_creator_ban",
)
"""Before the head block of a snapshot, empty; 0 in the header's counts (spec 07, section 15)."""

METADATA = "pm_market_meta"
"""A section that a node writes which keeps what clients say of markets. No rule reads it (spec 07, section 10.19)."""

VERSIONS = {"CHAIN_HARDFORK_VERSION": "4.1.0", "CHAIN_VERSION": "4.1.0"}
"""What `get_config` says of a node that knows hardfork 15 (spec 07, section 12)."""

HEAD_BLOCK = "fork_db_head_block"


def state_with_additions(state: dict[str, Any]) -> dict[str, Any]:
    """The sections of a snapshot, or of its plain JSON, as 4.1.0 has them."""
    changed = {
        name: [_with_additions(name, row) for row in rows] if name in RECORDS else rows for name, rows in state.items()
    }
    head = {HEAD_BLOCK: changed.pop(HEAD_BLOCK)} if HEAD_BLOCK in changed else {}
    return {**changed, **{name: [] for name in SECTIONS}, **head}


def counts_with_additions(counts: dict[str, int]) -> dict[str, int]:
    """The header's counts of objects as 4.1.0 has them."""
    return dict(sorted({**counts, **dict.fromkeys(SECTIONS, 0)}.items()))


RECORDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "account": lambda row: {**row, **ACCOUNT},
    "dynamic_global_property": lambda row: {**row, **GLOBALS},
    "validator": lambda row: {**row, "props": {**row["props"], **PROPERTIES}},
    "validator_schedule": lambda row: {**row, "median_props": {**row["median_props"], **PROPERTIES}},
}


def _with_additions(name: str, row: dict[str, Any]) -> dict[str, Any]:
    return RECORDS[name](row)


def answer_with_additions(method: str, answer: str) -> str:
    """The text of an answer as 4.1.0 gives it, where nothing but a version is asked for."""
    place = PLACES.get(method)
    return answer if place is None else place[0].sub(lambda found: found[0] + _members(place[1]), answer)


def _members(added: dict[str, Any]) -> str:
    return "," + json.dumps(added, separators=(",", ":"))[1:-1]


_LAST_OF_ACCOUNT = re.compile(r'"last_bid":"[^"]*"')
_LAST_OF_GLOBALS = re.compile(r'"emergency_consensus_start_block":\d+')
_LAST_OF_PROPERTIES = re.compile(r'"distribution_epoch_length":\d+')

PLACES: dict[str, tuple[re.Pattern[str], dict[str, Any]]] = {
    "get_accounts": (_LAST_OF_ACCOUNT, ACCOUNT),
    "lookup_account_names": (_LAST_OF_ACCOUNT, ACCOUNT),
    "get_account": (_LAST_OF_ACCOUNT, ACCOUNT),
    "get_dynamic_global_properties": (_LAST_OF_GLOBALS, GLOBALS),
    "get_validator_schedule": (_LAST_OF_PROPERTIES, PROPERTIES),
    "get_witness_schedule": (_LAST_OF_PROPERTIES, PROPERTIES),
}
"""In the answers of which methods which members stand behind which (spec 10, section 10.4)."""


def config_with_additions(answer: str) -> str:
    """The answer of `get_config` as 4.1.0 gives it."""
    for key, version in VERSIONS.items():
        answer = re.sub(f'"{key}":"[^"]*"', f'"{key}":"{version}"', answer)
    return answer
