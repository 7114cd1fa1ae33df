"""`database_api`: the current state of the ledger; a module for each family of methods (spec 05, section 9)."""

from ledgerd.protocol.operations.variant import modules_of
from ledgerd.rpc.api.database_api.declared import DATABASE_API

modules_of(__name__, __path__[0])

__all__ = ["DATABASE_API"]
