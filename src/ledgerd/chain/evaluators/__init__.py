"""Evaluators: what operations do, a module for each family. Importing this one registers all of them."""

from __future__ import annotations

from ledgerd.chain.evaluators import (
    account_market,
    account_purchases,
    accounts,
    awards,
    committee,
    content,
    content_votes,
    custom,
    escrow,
    invites,
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
    awards,
    committee,
    content,
    content_votes,
    custom,
    escrow,
    invites,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    vesting,
)
"""A new family joins here."""
