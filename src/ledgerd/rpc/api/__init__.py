"""The APIs of the node, one module for each name; the histories are not among them."""

from ledgerd.rpc.api.blocks.block_info import BLOCK_INFO, RAW_BLOCK
from ledgerd.rpc.api.database_api import DATABASE_API
from ledgerd.rpc.api.ledger.account_by_key import ACCOUNT_BY_KEY
from ledgerd.rpc.api.ledger.committee_api import COMMITTEE_API
from ledgerd.rpc.api.ledger.custom_protocol_api import CUSTOM_PROTOCOL_API
from ledgerd.rpc.api.ledger.invite_api import INVITE_API
from ledgerd.rpc.api.ledger.paid_subscription_api import PAID_SUBSCRIPTION_API
from ledgerd.rpc.api.ledger.validator_api import VALIDATOR_API
from ledgerd.rpc.api.node.network_broadcast_api import NETWORK_BROADCAST_API
from ledgerd.rpc.api.prediction_market import PREDICTION_MARKET_API
from ledgerd.rpc.call.declarations import Api

APIS: tuple[Api, ...] = (
    DATABASE_API,
    NETWORK_BROADCAST_API,
    VALIDATOR_API,
    ACCOUNT_BY_KEY,
    COMMITTEE_API,
    INVITE_API,
    PAID_SUBSCRIPTION_API,
    PREDICTION_MARKET_API,
    CUSTOM_PROTOCOL_API,
    BLOCK_INFO,
    RAW_BLOCK,
)

__all__ = ["APIS"]
