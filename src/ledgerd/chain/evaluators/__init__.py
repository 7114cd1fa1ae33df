"""What operations do: a module for each family. Importing this one makes all rules known to `evaluation`."""

from __future__ import annotations

from ledgerd.chain.evaluators import (
    account_market,
    account_purchases,
    accounts,
    agents,
    awards,
    bets,
    commitments,
    committee,
    content,
    content_votes,
    custom,
    disputes,
    escrow,
    invites,
    markets,
    oracles,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    vesting,
)

FAMILIES = (
    account_market,
    account_purchases,
    accounts,
    agents,
    awards,
    bets,
    commitments,
    committee,
    content,
    content_votes,
    custom,
    disputes,
    escrow,
    invites,
    markets,
    oracles,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    vesting,
)
"""A new family joins here."""
