"""Every operation of the protocol, by family (spec 01, section 7; spec 07, sections 4 to 6)."""

from __future__ import annotations

from ledgerd.protocol.operations import (
    account_market,
    accounts,
    agents,
    awards,
    bets,
    commitments,
    committee,
    content,
    custom,
    disputes,
    escrow,
    invites,
    lazy_pool,
    leverage,
    liquidity,
    markets,
    oracles,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    virtual,
    virtual_markets,
)
from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.operations.variant import declare_operations

FAMILIES = (
    account_market,
    accounts,
    agents,
    awards,
    bets,
    commitments,
    committee,
    content,
    custom,
    disputes,
    escrow,
    invites,
    lazy_pool,
    leverage,
    liquidity,
    markets,
    oracles,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    virtual,
    virtual_markets,
)
"""Modules by family: a new operation is added to the `OPERATIONS` of its own."""

DATA_OPERATIONS = (
    accounts.AccountUpdate,
    custom.Custom,
    escrow.EscrowTransfer,
    accounts.AccountCreate,
    accounts.AccountMetadata,
)
"""Operations that carry data of any size, for which more bandwidth is counted since hardfork 6."""

OPERATIONS = declare_operations(family.OPERATIONS for family in FAMILIES)
"""Every operation; the place of each is its tag."""

__all__ = ["FAMILIES", "OPERATIONS", "Authorities", "Operation", "VirtualOperation"]
