"""What the state adds up to, and by how much that differs from the totals it keeps.

The reference's rules leave such differences; `discrepancies` has what they are by right. What is counted is the state
of the ledger as it is now, or the view of it that is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ledgerd.chain.ledger.discrepancies import note
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.offline.tokens import tally_of
from ledgerd.state.objects.accounts import ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.objects.vesting import WITHDRAW_VESTING_ROUTES
from ledgerd.state.view import View


def excess_tokens(ledger: Ledger) -> dict[int, int]:
    return _unless_zero({0: tally_of(ledger.store.passing).excess})


def excess_votes(ledger: Ledger, view: View | None = None) -> dict[int, int]:
    """What validators have beyond the present weight of the votes for them."""
    store, given = view or ledger.store.passing, Counter[int]()
    for vote in store.scan(VALIDATOR_VOTES):
        given[vote.validator] += store.get(ACCOUNTS, vote.account).validators_vote_weight
    return _unless_zero({each.id: each.votes - given[each.id] for each in store.scan(VALIDATORS)})


def excess_routes(ledger: Ledger, view: View | None = None) -> dict[int, int]:
    """How many routes accounts have noted beyond those there are."""
    store = view or ledger.store.passing
    routes = Counter(route.from_account for route in store.scan(WITHDRAW_VESTING_ROUTES))
    differing = ((each.id, each.withdraw_routes - routes[each.id]) for each in store.scan(ACCOUNTS))
    return {account: count for account, count in differing if count}


def _unless_zero(amounts: Mapping[int, int]) -> dict[int, int]:
    return {of: amount for of, amount in amounts.items() if amount}


def accept_discrepancies(ledger: Ledger, tokens: int) -> dict[Sum, dict[int, int]]:
    """Take a state of others, all of which is committed, with what rules leave out of balance in votes and routes.

    No file tells by how much they do, so what is found counts as rightful, and is returned. Of tokens, only what the
    operator knows of does: whatever else there is beyond the supply is left to the check of the supply.
    """
    with ledger.store.committed() as view:
        votes = excess_votes(ledger, view) if ledger.hardfork(5) else {}
        routes = excess_routes(ledger, view)
    note(ledger, Sum.TOKENS, tokens)
    for validator, excess in votes.items():
        note(ledger, Sum.VOTES, excess, validator)
    for account, excess in routes.items():
        note(ledger, Sum.ROUTES, excess, account)
    return {Sum.VOTES: votes, Sum.ROUTES: routes}
