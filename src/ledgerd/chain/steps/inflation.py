"""New tokens: how many a block makes, and who has them (spec 03, sections 15.19 and 15.20); at the end of an epoch
validators share theirs with those who vote for them (section 15.21).
"""

from __future__ import annotations

from functools import lru_cache

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, uint32, uint128
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import create_vesting
from ledgerd.protocol import constants
from ledgerd.protocol.operations.virtual import StakeholderReward, ValidatorReward
from ledgerd.protocol.types.assets import fits_int64, shares
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATOR_BY_PENDING_REWARD, VALIDATOR_VOTE_BY_VALIDATOR, Validator


def recalculate_inflation(ledger: Ledger, _context: BlockContext) -> None:
    """Until the first period is over, all goes to the reward fund (spec 03, section 15.19, quirk)."""
    globals_, median = ledger.globals, ledger.median
    if uint32(globals_.inflation_calc_block_num + median.inflation_recalc_period) < ledger.head_number:
        ledger.remember(globals_)
        globals_.inflation_calc_block_num = ledger.head_number
        globals_.inflation_validator_percent = median.inflation_validator_percent
        globals_.inflation_ratio = median.inflation_ratio_committee_vs_reward_fund


@lru_cache
def first_inflation(year: int) -> int:
    """The tokens of a block, before hardfork 11: a tenth of the year's first supply, in equal parts."""
    a_year = constants.INIT_SUPPLY * constants.FIXED_INFLATION // HUNDRED_PERCENT
    supply = constants.INIT_SUPPLY + a_year
    for _ in range(year):
        a_year = supply * constants.FIXED_INFLATION // HUNDRED_PERCENT
        supply += a_year
    return a_year // constants.BLOCKS_PER_YEAR


def pay_inflation(ledger: Ledger, context: BlockContext) -> None:
    """Split the new tokens between the funds and the block's validator, whose part is paid in shares, even if none."""
    issued = (
        constants.DIGITAL_ASSET_ISSUED_PER_BLOCK
        if ledger.hardfork(11)
        else first_inflation(ledger.head_number // constants.BLOCKS_PER_YEAR)
    )
    reward = _split_as_voted(ledger, issued) if ledger.hardfork(4) else _split_by_constants(ledger, issued)
    producer = ledger.validator(context.producer.owner)
    if ledger.hardfork(13) and producer.sharing_rate > 0:
        _share_reward(ledger, producer, reward)
    else:
        _reward(ledger, producer, reward)


def _split_by_constants(ledger: Ledger, issued: int) -> int:
    """Before hardfork 4 a part makes shares dearer, even those of this block's validator."""
    content = issued * constants.REWARD_FUND_PERCENT // HUNDRED_PERCENT
    vesting = issued * constants.VESTING_FUND_PERCENT // HUNDRED_PERCENT
    committee = issued * constants.COMMITTEE_FUND_PERCENT // HUNDRED_PERCENT
    _fund(ledger, issued, committee, content)
    globals_ = ledger.globals
    ledger.remember(globals_)
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
    ledger.remember(globals_)
    globals_.committee_fund = fits_int64(globals_.committee_fund + committee)
    globals_.total_reward_fund = fits_int64(globals_.total_reward_fund + rewards)
    globals_.current_supply = fits_int64(globals_.current_supply + issued)


def _share_reward(ledger: Ledger, producer: Validator, reward: int) -> None:
    shared = fits_uint64(uint128(reward * producer.sharing_rate) // HUNDRED_PERCENT)
    if reward > shared:
        _reward(ledger, producer, reward - shared)
    if shared > 0:
        with ledger.editing(producer):
            producer.pending_stakeholder_reward = fits_int64(producer.pending_stakeholder_reward + shared)


def _reward(ledger: Ledger, producer: Validator, tokens: int) -> None:
    vested = create_vesting(ledger, ledger.account(producer.owner), tokens)
    ledger.emit(ValidatorReward(producer.owner, shares(vested)))


def distribute_epoch(ledger: Ledger, _context: BlockContext) -> None:
    """Validators in the order of their names as words: what one pays out changes the weights for the next."""
    length = ledger.median.distribution_epoch_length
    if length == 0 or ledger.head_number % length != 0:
        return
    start = uint32(ledger.head_number - length + 1)
    for validator in ledger.store.scan(VALIDATOR_BY_PENDING_REWARD, lower=(True,)):
        account = ledger.find_account(validator.owner)
        if account is not None:
            _distribute(ledger, validator, account, start)


def _distribute(ledger: Ledger, validator: Validator, account: Account, start: int) -> None:
    """Each voter has its part by weight and time; the validator has what is left over, or all when nobody has any."""
    reward = left = validator.pending_stakeholder_reward
    parts = _parts(ledger, validator, start)
    total = uint128(sum(part for _, part in parts))
    for voter, part in parts if total else ():
        tokens = fits_uint64(uint128(reward * part) // total)
        if tokens < constants.MIN_STAKEHOLDER_REWARD_PAYOUT:
            continue
        vested = create_vesting(ledger, voter, tokens)
        ledger.emit(StakeholderReward(validator.owner, voter.name, shares(vested)))
        left -= tokens
    if left > 0:
        vested = create_vesting(ledger, account, left)
        ledger.emit(ValidatorReward(validator.owner, shares(vested)))
    with ledger.editing(validator):
        validator.pending_stakeholder_reward = 0


def _parts(ledger: Ledger, validator: Validator, start: int) -> list[tuple[Account, int]]:
    """What each voter's vote weighs, times the blocks of the epoch that it has been there for."""
    parts = []
    for vote in ledger.store.scan(VALIDATOR_VOTE_BY_VALIDATOR, lower=(validator.id,), upper=(validator.id,)):
        voter = ledger.store.get(ACCOUNTS, vote.account)
        weight = voter.fair_vote_weight
        if weight > 0:
            first = max(vote.vote_created_block, start)
            parts.append((voter, uint128(weight * uint32(ledger.head_number - first + 1))))
    return parts
