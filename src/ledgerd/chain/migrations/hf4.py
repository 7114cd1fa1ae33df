"""Hardfork 4: content goes, awards are paid from the reward fund, and votes are divided (spec 03, section 21)."""

from __future__ import annotations

from typing import Any

from ledgerd.chain.ledger.arithmetic import uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.content import cash_out_due
from ledgerd.chain.rules.money.rewards import FITS_AN_AMOUNT
from ledgerd.chain.rules.validators.votes import adjust_validator_vote
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.assets import MAX_AMOUNT, fits_int64
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.accounts.content import CONTENT_BY_CASHOUT, CONTENT_TYPES, CONTENT_VOTES, CONTENTS
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.tables.tables import Table

OF_CONTENT: tuple[Table[Any], ...] = (CONTENT_VOTES, CONTENTS, CONTENT_TYPES)


def end_content_era(ledger: Ledger) -> None:
    """Pay who was awarded, pay what content is due, and forget all content."""
    _pay_awarded_accounts(ledger, _bring_forward_first_content(ledger))
    cash_out_due(ledger)
    for table in OF_CONTENT:
        for record in ledger.store.scan(table):
            ledger.store.remove(record)
    ledger.remember(ledger.globals)
    ledger.globals.total_reward_shares = 0
    _divide_votes(ledger)


def _bring_forward_first_content(ledger: Ledger) -> int:
    """The shares of the one content that is paid early: the earliest, for the search ends when it is due itself."""
    first = ledger.store.first(CONTENT_BY_CASHOUT)
    if first is None or first.cashout_time <= ledger.now:
        return 0
    with ledger.editing(first):
        first.cashout_time = ledger.now
    return uint128(first.net_rshares)


def _pay_awarded_accounts(ledger: Ledger, content_shares: int) -> None:
    """The reward fund as it stands, by the shares of awards and of that content."""
    awarded = [account for account in ledger.store.scan(ACCOUNTS) if account.awarded_rshares > 0]
    total = content_shares + sum(account.awarded_rshares for account in awarded)
    fund, paid = ledger.globals.total_reward_fund, 0
    for account in awarded:
        payout = account.awarded_rshares * fund // total
        require(payout <= MAX_AMOUNT, FITS_AN_AMOUNT)
        ledger.remember(account)
        account.balance = fits_int64(account.balance + payout)
        account.awarded_rshares = 0
        paid += payout
    ledger.remember(ledger.globals)
    ledger.globals.total_reward_fund = fits_int64(fund - paid)


def _divide_votes(ledger: Ledger) -> None:
    """Each vote weighs what an account has, divided by its votes, in place of all it has."""
    store = ledger.store
    for vote in store.scan(VALIDATOR_VOTES):
        voter, validator = store.get(ACCOUNTS, vote.account), store.get(VALIDATORS, vote.validator)
        before, after = voter.vote_weight, voter.fair_vote_weight_of_hf4
        adjust_validator_vote(ledger, validator, -before)
        adjust_validator_vote(ledger, validator, after)
