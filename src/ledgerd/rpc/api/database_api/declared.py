"""The API that the families of this folder declare their methods in."""

from ledgerd.rpc.call.declarations import Api

DATABASE_API = Api(
    "database_api", "The ledger as it stands: blocks, accounts, properties, and what waits for somebody."
)
