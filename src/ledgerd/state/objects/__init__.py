"""The objects of the state: a module for each family, all tables here (spec 02, section 3; spec 07, section 10).

Type 17 of the reference (block statistics) is never stored, and so has no table.
"""

from __future__ import annotations

from typing import Any

from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    AGENT_PERMISSIONS,
    KEY_HISTORY,
)
from ledgerd.state.objects.accounts.content import CONTENT_TYPES, CONTENT_VOTES, CONTENTS
from ledgerd.state.objects.accounts.proposals import PROPOSALS, REQUIRED_APPROVALS
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
)
from ledgerd.state.objects.discrepancies import DISCREPANCIES
from ledgerd.state.objects.globals import AWARD_SHARES_EXPIRE, DYNAMIC_GLOBAL_PROPERTIES, HARDFORK_PROPERTIES
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.disputes import PM_CREATOR_BANS, PM_DISPUTE_VOTES, PM_DISPUTES
from ledgerd.state.objects.markets.lazy_pool import (
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_DEPOSITS,
    PM_LAZY_POOLS,
    PM_LAZY_WITHDRAW_REQUESTS,
)
from ledgerd.state.objects.markets.leverage import LEVERAGE_ENDS, PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PM_MARKETS, PM_OUTCOMES
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PM_SETTLEMENTS
from ledgerd.state.objects.money.committee import COMMITTEE_REQUESTS, COMMITTEE_VOTES
from ledgerd.state.objects.money.escrow import ESCROWS
from ledgerd.state.objects.money.invites import INVITES
from ledgerd.state.objects.money.paid_subscriptions import PAID_SUBSCRIBES, PAID_SUBSCRIPTIONS
from ledgerd.state.objects.money.vesting import (
    FIX_VESTING_DELEGATIONS,
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
)
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, KNOWN_TRANSACTIONS, REVERSIBLE_BLOCKS
from ledgerd.state.objects.validators import (
    VALIDATOR_CONFIRMATIONS,
    VALIDATOR_PENALTIES,
    VALIDATOR_SCHEDULES,
    VALIDATOR_VOTES,
    VALIDATORS,
)
from ledgerd.state.tables.tables import Table

TABLES: tuple[Table[Any], ...] = (
    DYNAMIC_GLOBAL_PROPERTIES,
    ACCOUNTS,
    ACCOUNT_AUTHORITIES,
    VALIDATORS,
    KNOWN_TRANSACTIONS,
    BLOCK_SUMMARIES,
    VALIDATOR_SCHEDULES,
    CONTENTS,
    CONTENT_TYPES,
    CONTENT_VOTES,
    VALIDATOR_VOTES,
    HARDFORK_PROPERTIES,
    WITHDRAW_VESTING_ROUTES,
    MASTER_AUTHORITY_HISTORY,
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    ESCROWS,
    VESTING_DELEGATIONS,
    FIX_VESTING_DELEGATIONS,
    VESTING_DELEGATION_EXPIRATIONS,
    ACCOUNT_METADATA,
    PROPOSALS,
    REQUIRED_APPROVALS,
    COMMITTEE_REQUESTS,
    COMMITTEE_VOTES,
    INVITES,
    AWARD_SHARES_EXPIRE,
    PAID_SUBSCRIPTIONS,
    PAID_SUBSCRIBES,
    VALIDATOR_PENALTIES,
    VALIDATOR_CONFIRMATIONS,
    PM_ORACLES,
    PM_MARKETS,
    PM_OUTCOMES,
    PM_BETS,
    PM_LIQUIDITY,
    PM_COMMITS,
    PM_DISPUTES,
    PM_DISPUTE_VOTES,
    PM_LAZY_POOLS,
    PM_LAZY_DEPOSITS,
    PM_LAZY_ALLOCATIONS,
    PM_LEVERAGE_POSITIONS,
    PM_CREATOR_BANS,
    PM_LAZY_WITHDRAW_REQUESTS,
    PM_DEFERRED_CLAIMS,
    PM_SETTLEMENTS,
    AGENT_PERMISSIONS,
    KEY_HISTORY,
)
"""The tables of the reference, by their numbers there."""

STORED_TABLES: tuple[Table[Any], ...] = (
    *TABLES,
    REVERSIBLE_BLOCKS,
    DISCREPANCIES,
    LEVERAGE_ENDS,
)
"""What a state has: those, and what is ours."""
