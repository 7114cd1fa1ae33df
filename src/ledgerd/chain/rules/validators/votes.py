"""What shares weigh in the votes for validators, through proxies too (spec 02, sections 4.5 to 4.8); and the end of
votes and penalties in hardforks 7 and 9 (spec 03, section 21, HF7.2g).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import MAX_UINT128, DivideByZero, fits_uint64, truncated, uint128
from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import MAX_PROXY_RECURSION_DEPTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.state.objects import validators
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.discrepancies import Sum


def adjust_proxied_votes(ledger: Ledger, account: Account, delta: int) -> None:
    """Let a change of an account's own shares count where its votes are: its own, or those of its last proxy."""
    for depth in range(MAX_PROXY_RECURSION_DEPTH):
        if not account.proxy:
            break
        account = ledger.account(account.proxy)
        ledger.remember(account)
        votes = list(account.proxied_vsf_votes)
        votes[depth] = fits_int64(votes[depth] + delta)
        account.proxied_vsf_votes = tuple(votes)
    if not account.proxy:
        adjust_votes(ledger, account, delta)


def adjust_proxied_votes_by_depth(ledger: Ledger, account: Account, deltas: Sequence[int]) -> None:
    """The same for its own shares and those proxied to it, each over one hop more than the one before."""
    for depth in range(MAX_PROXY_RECURSION_DEPTH):
        if not account.proxy:
            break
        account = ledger.account(account.proxy)
        ledger.remember(account)
        votes = list(account.proxied_vsf_votes)
        for i in range(MAX_PROXY_RECURSION_DEPTH - 1 - depth, -1, -1):
            votes[i + depth] = fits_int64(votes[i + depth] + deltas[i])
        account.proxied_vsf_votes = tuple(votes)
    else:
        depth = MAX_PROXY_RECURSION_DEPTH
    if not account.proxy:
        total = 0
        for delta in deltas[: MAX_PROXY_RECURSION_DEPTH - depth + 1]:
            total = fits_int64(total + delta)
        adjust_votes(ledger, account, total)


def votes_of(ledger: Ledger, account: Account) -> Iterator[validators.ValidatorVote]:
    return ledger.store.scan(validators.VALIDATOR_VOTE_BY_ACCOUNT, lower=(account.id,), upper=(account.id,))


def adjust_votes(ledger: Ledger, account: Account, delta: int) -> None:
    """Spread a change over the validators that an account votes for.

    Since hardfork 5 each gets an equal part; what a division leaves is dropped each time, and the drift is part of
    the state. Before, each got all of it (spec 02, section 4.6, quirks).
    """
    if ledger.hardfork(5):
        if account.validators_voted_for == 0:
            return
        delta = truncated(delta, account.validators_voted_for)
        ledger.remember(account)
        account.validators_vote_weight = fits_int64(account.validators_vote_weight + delta)
    adjust_each_vote(ledger, account, delta)


def adjust_each_vote(ledger: Ledger, account: Account, delta: int) -> None:
    for vote in votes_of(ledger, account):
        adjust_validator_vote(ledger, ledger.store.get(validators.VALIDATORS, vote.validator), delta)


def counted_votes(votes: int, penalty_percent: int) -> int:
    votes = uint128(votes)
    return fits_uint64(votes - votes * min(penalty_percent, HUNDRED_PERCENT) // HUNDRED_PERCENT)


def adjust_validator_vote(ledger: Ledger, validator: validators.Validator, delta: int) -> None:
    """Change a validator's votes, and with them its place in virtual time; also for a change of nothing."""
    now = ledger.schedule.current_virtual_time
    with ledger.editing(validator):
        # The position moves by the votes as they were; before hardfork 5 those may be negative.
        moved = validator.counted_votes * (now - validator.virtual_last_update)
        validator.virtual_position = uint128(validator.virtual_position + moved)
        validator.virtual_last_update = now
        validator.votes = fits_int64(validator.votes + delta)
        if ledger.hardfork(5) and validator.votes < 0:
            record_discrepancy(ledger, Sum.VOTES, -validator.votes, validator.id)
            validator.votes = 0
        validator.counted_votes = (
            counted_votes(validator.votes, validator.penalty_percent) if ledger.hardfork(6) else validator.votes
        )
        require(
            validator.votes <= ledger.globals.total_vesting_shares,
            "w.votes <= get_dynamic_global_properties().total_vesting_shares.amount: ",
        )
        divisor = uint128(validator.counted_votes + 1)
        if divisor == 0:
            raise DivideByZero("")
        validator.virtual_scheduled_time = uint128(now + (MAX_UINT128 - validator.virtual_position) // divisor)
        if validator.virtual_scheduled_time < now:
            validator.virtual_scheduled_time = MAX_UINT128


def clear_votes(ledger: Ledger, account: Account) -> None:
    for vote in votes_of(ledger, account):
        if ledger.hardfork(5):
            record_discrepancy(ledger, Sum.VOTES, account.validators_vote_weight, vote.validator)
        ledger.store.remove(vote)
    ledger.remember(account)
    account.validators_voted_for = 0
    if ledger.hardfork(5):
        account.validators_vote_weight = 0


def remove_penalties(ledger: Ledger, validator: validators.Validator) -> None:
    for penalty in ledger.store.under(validators.PENALTY_BY_VALIDATOR, validator.owner):
        ledger.store.remove(penalty)


def remove_votes_for(ledger: Ledger, validator: validators.Validator, *, marks_voters: bool) -> None:
    """Each voter loses this vote, and the others that it has weigh accordingly more.

    The reference goes on from a vote that it has just removed; what it means to do is to go on with the next one.
    """
    votes = ledger.store.under(validators.VALIDATOR_VOTE_BY_VALIDATOR, validator.id)
    for vote in votes:
        _remove_vote(ledger, vote, marks_voter=marks_voters)


def _remove_vote(ledger: Ledger, vote: validators.ValidatorVote, *, marks_voter: bool) -> None:
    voter = ledger.store.get(ACCOUNTS, vote.account)
    adjust_each_vote(ledger, voter, -voter.validators_vote_weight)
    ledger.store.remove(vote)
    ledger.remember(voter)
    voter.validators_voted_for = voter.validators_voted_for - 1 & 0xFFFF
    if marks_voter:
        voter.valid = False
    voter.validators_vote_weight = voter.fair_vote_weight
    adjust_each_vote(ledger, voter, voter.validators_vote_weight)
