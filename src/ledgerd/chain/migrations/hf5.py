"""Hardfork 5: what is proxied to an account is divided among its votes, as its own shares are (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.discrepancies import forget
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.votes import adjust_validator_vote
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS


def recount_votes(ledger: Ledger) -> None:
    """Take all votes for validators back, and give them again at their present weight."""
    store = ledger.store
    forget(ledger, Sum.VOTES)
    for validator in store.scan(VALIDATORS):
        with ledger.editing(validator):
            validator.votes = 0
            validator.counted_votes = 0
    for vote in store.scan(VALIDATOR_VOTES):
        voter = store.get(ACCOUNTS, vote.account)
        ledger.remember(voter)
        voter.validators_vote_weight = voter.fair_vote_weight
        adjust_validator_vote(ledger, store.get(VALIDATORS, vote.validator), voter.validators_vote_weight)
