"""`database_api`: the current state of the ledger; a module for each family of methods (spec 05, section 9)."""

from ledgerd.rpc.api.database_api import (
    account_sales,
    accounts,
    agents,
    authorities,
    blocks,
    escrow,
    globals,  # noqa: A004 - the name of the family on every floor
    key_history,
    proposals,
    vesting,
)
from ledgerd.rpc.api.database_api.declared import DATABASE_API

FAMILIES = (
    blocks,
    globals,
    accounts,
    escrow,
    vesting,
    authorities,
    proposals,
    account_sales,
    agents,
    key_history,
)

__all__ = ["DATABASE_API", "FAMILIES"]
