"""The answer of `get_config`; the order of the keys is the reference's, and part of it (spec 01, section 12)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.json.text import Json
from ledgerd.protocol import constants
from ledgerd.protocol.authorities.authority_web import MAX_DEPTH
from ledgerd.protocol.crypto.keys import ADDRESS_PREFIX, public_key_text
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL
from ledgerd.protocol.types.names import MAX_NAME_BYTES, MIN_NAME_BYTES
from ledgerd.protocol.types.texts import MAX_MEMO_LENGTH
from ledgerd.protocol.types.versions import version_text


def config_of(network: ChainParameters) -> dict[str, Json]:
    return {**_chain(network), **_limits(network)}


def _chain(network: ChainParameters) -> dict[str, Json]:
    return {
        "CHAIN_100_PERCENT": HUNDRED_PERCENT,
        "CHAIN_1_PERCENT": constants.ONE_PERCENT,
        "CHAIN_ADDRESS_PREFIX": ADDRESS_PREFIX,
        "CHAIN_BANDWIDTH_AVERAGE_WINDOW_SECONDS": network.bandwidth_average_window_seconds,
        "CHAIN_BANDWIDTH_PRECISION": constants.BANDWIDTH_PRECISION,
        "CONSENSUS_BANDWIDTH_RESERVE_PERCENT": constants.BANDWIDTH_RESERVE_PERCENT,
        "CONSENSUS_BANDWIDTH_RESERVE_BELOW": constants.BANDWIDTH_RESERVE_BELOW,
        "CHAIN_HARDFORK_VERSION": version_text(network.hardfork_version),
        "CHAIN_VERSION": version_text(network.version),
        "CHAIN_BLOCK_INTERVAL": constants.BLOCK_INTERVAL,
        "CHAIN_BLOCKS_PER_DAY": constants.BLOCKS_PER_DAY,
        "CHAIN_BLOCKS_PER_YEAR": constants.BLOCKS_PER_YEAR,
        "CHAIN_ID": network.chain_id.hex(),
        "CHAIN_HARDFORK_REQUIRED_VALIDATORS": network.hardfork_required_validators,
        "CHAIN_INITIATOR_NAME": constants.INITIATOR_ACCOUNT,
        "CHAIN_INITIATOR_PUBLIC_KEY_STR": public_key_text(network.initiator_key),
        "CHAIN_INIT_SUPPLY": constants.INIT_SUPPLY,
        "CHAIN_COMMITTEE_ACCOUNT": constants.COMMITTEE_ACCOUNT,
        "CHAIN_COMMITTEE_PUBLIC_KEY_STR": public_key_text(network.committee_key),
        "CHAIN_IRREVERSIBLE_THRESHOLD": constants.IRREVERSIBLE_THRESHOLD,
        "CHAIN_IRREVERSIBLE_SUPPORT_MIN_RUN": constants.IRREVERSIBLE_SUPPORT_MIN_RUN,
    }


def _limits(network: ChainParameters) -> dict[str, Json]:
    return {
        "CHAIN_MAX_ACCOUNT_NAME_LENGTH": MAX_NAME_BYTES,
        "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES": constants.MAX_ACCOUNT_VALIDATOR_VOTES,
        "CHAIN_BLOCK_SIZE": constants.BLOCK_SIZE,
        "CHAIN_MAX_COMMENT_DEPTH": constants.MAX_COMMENT_DEPTH,
        "CHAIN_MAX_MEMO_LENGTH": MAX_MEMO_LENGTH,
        "CHAIN_MAX_VALIDATORS": network.max_validators,
        "CHAIN_MAX_PROXY_RECURSION_DEPTH": constants.MAX_PROXY_RECURSION_DEPTH,
        "CHAIN_MAX_RESERVE_RATIO": constants.MAX_RESERVE_RATIO,
        "CHAIN_MAX_SUPPORT_VALIDATORS": network.max_support_validators,
        "CHAIN_MAX_SHARE_SUPPLY": constants.MAX_SHARE_SUPPLY,
        "CHAIN_MAX_SIG_CHECK_DEPTH": MAX_DEPTH,
        "CHAIN_MAX_TIME_UNTIL_EXPIRATION": constants.MAX_TIME_UNTIL_EXPIRATION,
        "CHAIN_MAX_TRANSACTION_SIZE": constants.MAX_TRANSACTION_SIZE,
        "CHAIN_MAX_UNDO_HISTORY": constants.MAX_UNDO_HISTORY,
        "CHAIN_MAX_VOTE_CHANGES": constants.MAX_VOTE_CHANGES,
        "CHAIN_MAX_TOP_VALIDATORS": network.max_top_validators,
        "CHAIN_MAX_WITHDRAW_ROUTES": constants.MAX_WITHDRAW_ROUTES,
        "CHAIN_MAX_VALIDATOR_URL_LENGTH": constants.MAX_VALIDATOR_URL_LENGTH,
        "CHAIN_MIN_ACCOUNT_CREATION_FEE": constants.MIN_ACCOUNT_CREATION_FEE,
        "CHAIN_MIN_ACCOUNT_NAME_LENGTH": MIN_NAME_BYTES,
        "CHAIN_MIN_BLOCK_SIZE_LIMIT": constants.MIN_BLOCK_SIZE_LIMIT,
        "CHAIN_MAX_BLOCK_SIZE_LIMIT": constants.MAX_BLOCK_SIZE_LIMIT,
        "CHAIN_NULL_ACCOUNT": constants.NULL_ACCOUNT,
        "CHAIN_NUM_INITIATORS": constants.NUM_INITIATORS,
        "CHAIN_PROXY_TO_SELF_ACCOUNT": constants.PROXY_TO_SELF_ACCOUNT,
        "CHAIN_SECONDS_PER_YEAR": constants.SECONDS_PER_YEAR,
        "CHAIN_VESTING_WITHDRAW_INTERVALS": network.vesting_withdraw_intervals,
        "CHAIN_VESTING_WITHDRAW_INTERVAL_SECONDS": network.vesting_withdraw_interval_seconds,
        "CHAIN_ENERGY_REGENERATION_SECONDS": network.energy_regeneration_seconds,
        "TOKEN_SYMBOL": TOKEN_SYMBOL,
        "SHARES_SYMBOL": SHARES_SYMBOL,
        "CHAIN_NAME": network.name,
        "CHAIN_BLOCK_GENERATION_POSTPONED_TX_LIMIT": constants.BLOCK_GENERATION_POSTPONED_TX_LIMIT,
        "CHAIN_PENDING_TRANSACTION_EXECUTION_LIMIT": (constants.PENDING_TRANSACTION_EXECUTION_LIMIT_MICROSECONDS),
        "CHAIN_DIGITAL_ASSET_ISSUED_PER_BLOCK": constants.DIGITAL_ASSET_ISSUED_PER_BLOCK,
    }
