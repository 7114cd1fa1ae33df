"""What is asked of both nodes: at each block, after each round, and of what a block has touched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ledgerd.client.differing import ABSENT, Difference
from ledgerd.codec.json.text import Json
from ledgerd.compare.comparison import HISTORIES, STATE
from ledgerd.compare.node import NodeAnswer
from ledgerd.compare.reads import Read

HEAD = STATE[0]
ROUND = 21
"""Blocks of a round."""

NAMES_A_READ = 100
MOST_TOUCHED = 1_000
"""Accounts and escrows that are remembered of the blocks since the last ones were asked for."""
LONGEST_NAME = 32
"""Characters of the name of an account."""
DEEPEST = 40
"""Levels of an operation that are looked through."""

BEGINNING = "1970-01-01T00:00:00"
COMMITTEE_STATES = range(6)
MARKET_STATES = range(8)
INVITE_STATES = range(3)

_NAME = re.compile(r"[a-z][a-z0-9.-]{1,31}")


def block_reads(number: int) -> Iterator[Read]:
    """A block, and the operations of it: virtual ones are what the steps of a block did."""
    yield Read("database_api", "get_block", [number])
    yield Read("operation_history", "get_ops_in_block", [number, False])


def round_reads() -> Iterator[Read]:
    """Questions that sum up the state: supply, schedule, votes for hardforks, queues, markets."""
    yield from STATE
    yield Read("validator_api", "get_validators_by_vote", ["", 100])
    yield Read("validator_api", "get_validators_by_counted_vote", ["", 100])
    yield Read("validator_api", "get_validator_count", [])
    for status in COMMITTEE_STATES:
        yield Read("committee_api", "get_committee_requests_list", [status])
    for status in INVITE_STATES:
        yield Read("invite_api", "get_invites_list", [status])
    yield Read("paid_subscription_api", "get_paid_subscriptions", [0, 100])
    yield Read("database_api", "get_accounts_on_sale", [0, 100])
    yield Read("database_api", "get_accounts_on_auction", [0, 100])
    for status in MARKET_STATES:
        yield Read("prediction_market_api", "list_markets", [status, 0, 100, True])
    yield Read("prediction_market_api", "list_oracles", [0, 100])
    yield Read("prediction_market_api", "get_lazy_pool", [])
    yield Read("prediction_market_api", "get_lazy_allocations", [0, 100])


def queue_reads(name: str) -> Iterator[Read]:
    """Questions on what waits for an account: delegations that end, withdrawals."""
    yield Read("database_api", "get_expiring_vesting_delegations", [name, BEGINNING, 100])
    yield Read("database_api", "get_withdraw_routes", [name, "all"])


def account_reads(name: str) -> Iterator[Read]:
    """All that is known of an account, besides the account itself."""
    yield from queue_reads(name)
    for kind in ("delegated", "received"):
        yield Read("database_api", "get_vesting_delegations", [name, "", 100, kind])
    yield Read("database_api", "get_recovery_request", [name])
    yield Read("database_api", "get_master_history", [name])
    yield Read("database_api", "get_proposed_transactions", [name, 0, 100])
    yield Read("database_api", "get_agent_permissions", [name])
    yield Read("validator_api", "get_validator_by_account", [name])
    yield Read("paid_subscription_api", "get_paid_subscription_options", [name])
    yield Read("paid_subscription_api", "get_active_paid_subscriptions", [name])
    yield Read("paid_subscription_api", "get_inactive_paid_subscriptions", [name])
    yield Read("prediction_market_api", "get_oracle", [name])
    yield Read("prediction_market_api", "get_creator_ban", [name])
    yield Read("prediction_market_api", "get_account_positions", [name, 0, 100])
    yield Read("prediction_market_api", "get_account_leverage_positions", [name, 0, 100])
    yield Read("prediction_market_api", "get_account_commits", [name])
    yield Read("prediction_market_api", "get_lazy_deposit", [name])
    yield Read("prediction_market_api", "get_lazy_withdraw_requests", [name])


def market_reads(number: int) -> Iterator[Read]:
    for method in ("get_market_full", "get_market_weight_sums", "get_dispute", "get_dispute_votes"):
        yield Read("prediction_market_api", method, [number])
    for method in ("get_market_bets", "get_market_liquidity", "get_market_leverage_positions", "get_deferred_claims"):
        yield Read("prediction_market_api", method, [number, 0, 100])
    yield Read("prediction_market_api", "get_market_lazy_allocation", [number])


class TouchedObjects:
    """What blocks have touched: any text in an operation that could be the name of an account counts as one, so that an
    operation that is not known yet is looked through as well.
    """

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.escrows: dict[tuple[str, int], None] = {}

    def add(self, value: Json, depth: int = 0) -> None:
        if depth > DEEPEST:
            return
        if isinstance(value, dict):
            self._add_escrow(value)
            for each in value.values():
                self.add(each, depth + 1)
        elif isinstance(value, list):
            for each in value:
                self.add(each, depth + 1)
        elif isinstance(value, str) and len(self.names) < MOST_TOUCHED and _is_name(value):
            self.names[value] = None

    def _add_escrow(self, fields: dict[str, Json]) -> None:
        sender, number = fields.get("from"), fields.get("escrow_id")
        if not isinstance(sender, str) or not isinstance(number, int) or len(self.escrows) >= MOST_TOUCHED:
            return
        if _is_name(sender) and 0 <= number < 1 << 32:
            self.escrows[sender, number] = None

    def drain(self) -> list[Read]:
        """Questions about all of it, which is forgotten."""
        names = sorted(self.names)
        reads = [
            Read("database_api", "get_accounts", [list(names[start : start + NAMES_A_READ])])
            for start in range(0, len(names), NAMES_A_READ)
        ]
        reads += [Read("database_api", "get_escrow", [sender, number]) for sender, number in self.escrows]
        self.names, self.escrows = {}, {}
        return reads


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def is_of_consensus(read: Read, difference: Difference, one: NodeAnswer, other: NodeAnswer) -> bool:
    """Whether a difference is one of the states, rather than of how they are answered: not where it is only in an
    error, a missing field, the kind of a value or the order of a list, nor in what a node keeps for itself.
    """
    if read.api in HISTORIES or one.error or other.error or ABSENT in (difference.first, difference.second):
        return False
    if _kind_of(difference.first) != _kind_of(difference.second):
        return False
    return not _is_reordered(one.value, other.value)


def _kind_of(shown: str) -> str:
    """The kind of a value, by the beginning of its JSON."""
    return "number" if shown[:1].isdigit() or shown[:1] == "-" else shown[:1]


def _is_reordered(one: Json, other: Json) -> bool:
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return False
    return sorted(map(repr, one)) == sorted(map(repr, other))
