"""`database_api`: the ledger as it stands; a module for each family of questions (spec 05, section 9)."""

from ledgerd.rpc.api.database_api import (
    account_sales,
    accounts,
    authorities,
    blocks,
    escrow,
    globals,  # noqa: A004 - the name of the family on every floor
    proposals,
    recovery,
    vesting,
)
from ledgerd.rpc.api.database_api.declared import DATABASE_API

FAMILIES = (blocks, globals, accounts, recovery, escrow, vesting, authorities, proposals, account_sales)
"""What declares the methods, as it is imported."""

__all__ = ["DATABASE_API", "FAMILIES"]
