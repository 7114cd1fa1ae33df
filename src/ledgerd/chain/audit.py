"""What the state adds up to, and by how much that differs from the totals it keeps.

The reference's rules leave such differences; `discrepancies` has what they are by right.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ledgerd.chain.discrepancies import note
from ledgerd.state.objects.accounts import ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.escrow import ESCROWS
from ledgerd.state.objects.invites import INVITES
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.objects.vesting import WITHDRAW_VESTING_ROUTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledgerd.chain.ledger import Ledger


def tokens_found(ledger: Ledger) -> int:
    """Every token that is somewhere."""
    globals_, store = ledger.globals, ledger.store
    found = globals_.total_vesting_fund + globals_.total_reward_fund + globals_.committee_fund
    # A live bid is out of the bidder's balance, and stands in `reserved_balance` until it is paid or given back.
    found += sum(account.balance + account.reserved_balance for account in store.scan(ACCOUNTS))
    found += sum(escrow.token_balance + escrow.pending_fee for escrow in store.scan(ESCROWS))
    found += sum(invite.balance for invite in store.scan(INVITES))
    return found + sum(validator.pending_stakeholder_reward for validator in store.scan(VALIDATORS))


def excess_tokens(ledger: Ledger) -> dict[int, int]:
    """What there is beyond the supply."""
    return _unless_zero({0: tokens_found(ledger) - ledger.globals.current_supply})


def excess_votes(ledger: Ledger) -> dict[int, int]:
    """What validators have beyond the present weight of the votes for them."""
    given: Counter[int] = Counter()
    for vote in ledger.store.scan(VALIDATOR_VOTES):
        given[vote.validator] += ledger.store.get(ACCOUNTS, vote.account).validators_vote_weight
    return _unless_zero({each.id: each.votes - given[each.id] for each in ledger.store.scan(VALIDATORS)})


def excess_routes(ledger: Ledger) -> dict[int, int]:
    """How many routes accounts have noted beyond those there are."""
    routes = Counter(route.from_account for route in ledger.store.scan(WITHDRAW_VESTING_ROUTES))
    return _unless_zero({each.id: each.withdraw_routes - routes[each.id] for each in ledger.store.scan(ACCOUNTS)})


def _unless_zero(amounts: Mapping[int, int]) -> dict[int, int]:
    return {of: amount for of, amount in amounts.items() if amount}


def accept_discrepancies(ledger: Ledger) -> None:
    """Take a state of others as it is: what differs in it now differed by right."""
    note(ledger, Sum.TOKENS, excess_tokens(ledger).get(0, 0))
    if ledger.hardfork(5):
        for validator, votes in excess_votes(ledger).items():
            note(ledger, Sum.VOTES, votes, validator)
    for account, routes in excess_routes(ledger).items():
        note(ledger, Sum.ROUTES, routes, account)
