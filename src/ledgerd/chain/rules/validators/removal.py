"""Removing a validator's penalties and the votes for it, as hardforks 7 and 9 do (spec 03, section 21, HF7.2g)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.votes import adjust_validator_vote, votes_of
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.validators import (
    PENALTY_BY_VALIDATOR,
    VALIDATOR_VOTE_BY_VALIDATOR,
    VALIDATORS,
    Validator,
    ValidatorVote,
)


def remove_penalties(ledger: Ledger, validator: Validator) -> None:
    """Nothing is left to be taken back."""
    for penalty in ledger.store.scan(PENALTY_BY_VALIDATOR, lower=(validator.owner,), upper=(validator.owner,)):
        ledger.store.remove(penalty)


def remove_votes_for(ledger: Ledger, validator: Validator, *, marks_voters: bool) -> None:
    """Each voter loses this vote, and the others that it has weigh accordingly more.

    The reference goes on from a vote that it has just removed; what it means to do is to go on with the next one.
    """
    votes = ledger.store.scan(VALIDATOR_VOTE_BY_VALIDATOR, lower=(validator.id,), upper=(validator.id,))
    for vote in votes:
        _take_back(ledger, vote, marks_voter=marks_voters)


def _take_back(ledger: Ledger, vote: ValidatorVote, *, marks_voter: bool) -> None:
    voter = ledger.store.get(ACCOUNTS, vote.account)
    _change_votes(ledger, voter, -voter.validators_vote_weight)
    ledger.store.remove(vote)
    with ledger.editing(voter):
        voter.validators_voted_for = voter.validators_voted_for - 1 & 0xFFFF
        if marks_voter:
            voter.valid = False
        voter.validators_vote_weight = voter.fair_vote_weight
    _change_votes(ledger, voter, voter.validators_vote_weight)


def _change_votes(ledger: Ledger, voter: Account, delta: int) -> None:
    for vote in votes_of(ledger, voter):
        adjust_validator_vote(ledger, ledger.store.get(VALIDATORS, vote.validator), delta)
