"""The end of an epoch: validators share their rewards with those who vote for them (spec 03, section 15.21)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import fits_uint64, uint32, uint128
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.vesting import create_vesting
from ledgerd.protocol.assets import shares
from ledgerd.protocol.constants import MIN_STAKEHOLDER_REWARD_PAYOUT
from ledgerd.protocol.operations.virtual import StakeholderReward, ValidatorReward
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATOR_BY_PENDING_REWARD, VALIDATOR_VOTE_BY_VALIDATOR, Validator


def distribute_epoch(ledger: Ledger, _progress: BlockContext) -> None:
    """Pay what validators have put aside since the last epoch, one after the other.

    Their order is that of their names as words, and matters: what one pays out changes the weights for the next.
    """
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
        if tokens < MIN_STAKEHOLDER_REWARD_PAYOUT:
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
