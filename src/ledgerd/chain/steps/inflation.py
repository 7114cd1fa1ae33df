"""New tokens: how many a block makes, and who has them (spec 03, sections 15.19 and 15.20)."""

from __future__ import annotations

from functools import lru_cache

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, uint32, uint128
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.vesting import create_vesting
from ledgerd.protocol.assets import fits_int64, shares
from ledgerd.protocol.constants import (
    BLOCKS_PER_YEAR,
    COMMITTEE_FUND_PERCENT,
    DIGITAL_ASSET_ISSUED_PER_BLOCK,
    FIXED_INFLATION,
    INIT_SUPPLY,
    REWARD_FUND_PERCENT,
    VESTING_FUND_PERCENT,
)
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.state.objects.validators import Validator


def recalculate_inflation(ledger: Ledger, _progress: BlockContext) -> None:
    """Let the medians count, once in a period.

    Until the first period is over both are zero, so a young chain gives everything to the reward fund (spec 03,
    section 15.19, quirk).
    """
    globals_, median = ledger.globals, ledger.median
    if uint32(globals_.inflation_calc_block_num + median.inflation_recalc_period) < ledger.head_number:
        with ledger.editing(globals_):
            globals_.inflation_calc_block_num = ledger.head_number
            globals_.inflation_validator_percent = median.inflation_validator_percent
            globals_.inflation_ratio = median.inflation_ratio_committee_vs_reward_fund


@lru_cache
def first_inflation(year: int) -> int:
    """The tokens of a block, before hardfork 11: a tenth of the year's first supply, in equal parts."""
    a_year = INIT_SUPPLY * FIXED_INFLATION // HUNDRED_PERCENT
    supply = INIT_SUPPLY + a_year
    for _ in range(year):
        a_year = supply * FIXED_INFLATION // HUNDRED_PERCENT
        supply += a_year
    return a_year // BLOCKS_PER_YEAR


def pay_inflation(ledger: Ledger, context: BlockContext) -> None:
    """Split the new tokens between the funds and the block's validator, whose part is paid in shares, even if none."""
    issued = (
        DIGITAL_ASSET_ISSUED_PER_BLOCK
        if ledger.hardfork(11)
        else first_inflation(ledger.head_number // BLOCKS_PER_YEAR)
    )
    reward = _split_as_voted(ledger, issued) if ledger.hardfork(4) else _split_by_constants(ledger, issued)
    producer = ledger.validator(context.producer.owner)
    if ledger.hardfork(13) and producer.sharing_rate > 0:
        _share_reward(ledger, producer, reward)
    else:
        _reward(ledger, producer, reward)


def _split_by_constants(ledger: Ledger, issued: int) -> int:
    """Before hardfork 4 a part makes shares dearer, even those of this block's validator."""
    content = issued * REWARD_FUND_PERCENT // HUNDRED_PERCENT
    vesting = issued * VESTING_FUND_PERCENT // HUNDRED_PERCENT
    committee = issued * COMMITTEE_FUND_PERCENT // HUNDRED_PERCENT
    _fund(ledger, issued, committee, content)
    globals_ = ledger.globals
    with ledger.editing(globals_):
        globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund + vesting)
    return issued - content - vesting - committee


def _split_as_voted(ledger: Ledger, issued: int) -> int:
    globals_ = ledger.globals
    validator = issued * globals_.inflation_validator_percent // HUNDRED_PERCENT
    committee = (issued - validator) * globals_.inflation_ratio // HUNDRED_PERCENT
    _fund(ledger, issued, committee, issued - validator - committee)
    return validator


def _fund(ledger: Ledger, issued: int, committee: int, rewards: int) -> None:
    globals_ = ledger.globals
    with ledger.editing(globals_):
        globals_.committee_fund = fits_int64(globals_.committee_fund + committee)
        globals_.total_reward_fund = fits_int64(globals_.total_reward_fund + rewards)
        globals_.current_supply = fits_int64(globals_.current_supply + issued)


def _share_reward(ledger: Ledger, producer: Validator, reward: int) -> None:
    """Put the part aside that those who vote for the validator have at the end of the epoch."""
    shared = fits_uint64(uint128(reward * producer.sharing_rate) // HUNDRED_PERCENT)
    if reward > shared:
        _reward(ledger, producer, reward - shared)
    if shared > 0:
        with ledger.editing(producer):
            producer.pending_stakeholder_reward = fits_int64(producer.pending_stakeholder_reward + shared)


def _reward(ledger: Ledger, producer: Validator, tokens: int) -> None:
    vested = create_vesting(ledger, ledger.account(producer.owner), tokens)
    ledger.emit(ValidatorReward(producer.owner, shares(vested)))
