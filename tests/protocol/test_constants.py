"""Constants that are defined by one another, as the reference's header has them."""

from __future__ import annotations

from ledgerd.protocol import constants
from ledgerd.protocol.types.names import is_valid_name


def test_blocks_are_counted_in_intervals_of_three_seconds() -> None:
    assert constants.BLOCKS_PER_HOUR * constants.BLOCK_INTERVAL == 3_600
    assert constants.BLOCKS_PER_DAY == 24 * constants.BLOCKS_PER_HOUR
    assert constants.BLOCKS_PER_YEAR == 365 * constants.BLOCKS_PER_DAY
    assert constants.BLOCKS_PER_YEAR * constants.BLOCK_INTERVAL == constants.SECONDS_PER_YEAR


def test_the_first_block_may_be_as_large_as_three_of_the_largest_limit() -> None:
    assert constants.BLOCK_SIZE == 3 * constants.MAX_BLOCK_SIZE_LIMIT
    assert constants.MIN_BLOCK_SIZE_LIMIT == constants.MAX_TRANSACTION_SIZE


def test_a_committee_request_asks_for_a_hundredth_of_the_supply_at_most() -> None:
    assert constants.INIT_SUPPLY // 100 == constants.COMMITTEE_MAX_REQUIRED_AMOUNT


def test_the_built_in_accounts_have_valid_names_in_the_order_of_their_ids() -> None:
    assert constants.BUILT_IN_ACCOUNTS == ("null", "committee", "anonymous", "invite", "viz")
    assert all(map(is_valid_name, constants.BUILT_IN_ACCOUNTS))
