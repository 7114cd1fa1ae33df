"""Applying the hardforks that validators have voted for, at their time (spec 03, section 21): what each changes in
the state once, and that from now on its rules hold. Which hardforks there are is in the network's parameters. Those
that change much have a module of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf4 import end_content_era
from ledgerd.chain.migrations.hf5 import recount_votes
from ledgerd.chain.migrations.hf6 import convert_shares
from ledgerd.chain.migrations.hf7 import remove_invalid_accounts
from ledgerd.chain.rules.money.balances import adjust_delegated, adjust_received
from ledgerd.chain.rules.validators.votes import remove_penalties, remove_votes_for
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import Hardfork
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS, PmLazyPool
from ledgerd.state.objects.money.committee import CANCELLED, COMMITTEE_REQUESTS
from ledgerd.state.objects.money.paid_subscriptions import PAID_SUBSCRIPTIONS, SUBSCRIBE_BY_CREATOR
from ledgerd.state.objects.money.vesting import VESTING_DELEGATION_EXPIRATIONS, VESTING_DELEGATIONS
from ledgerd.state.objects.validators import VALIDATORS


def recount_delegations(ledger: Ledger) -> None:
    """Hardfork 8: of delegations as they stand, and of those on their way back."""
    for account in ledger.store.scan(ACCOUNTS):
        if account.delegated_vesting_shares or account.received_vesting_shares:
            ledger.remember(account)
            account.delegated_vesting_shares = 0
            account.received_vesting_shares = 0
    for delegation in ledger.store.scan(VESTING_DELEGATIONS):
        adjust_delegated(ledger, ledger.account(delegation.delegator), delegation.vesting_shares)
        adjust_received(ledger, ledger.account(delegation.delegatee), delegation.vesting_shares)
    for returning in ledger.store.scan(VESTING_DELEGATION_EXPIRATIONS):
        adjust_delegated(ledger, ledger.account(returning.delegator), returning.vesting_shares)


def remove_spam(ledger: Ledger) -> None:
    """Hardfork 9: validators without a block go, and what nobody voted for or subscribed to. Whoever voted for such a
    validator is marked as invalid, until hardfork 11. The schedule keeps their names.
    """
    store = ledger.store
    for validator in store.scan(VALIDATORS):
        if validator.last_confirmed_block_num == 0:
            remove_penalties(ledger, validator)
            remove_votes_for(ledger, validator, marks_voters=True)
            store.remove(validator)
    for request in store.scan(COMMITTEE_REQUESTS):
        if request.status == CANCELLED and request.votes_count == 0:
            store.remove(request)
    for offer in store.scan(PAID_SUBSCRIPTIONS):
        if store.lookup(SUBSCRIBE_BY_CREATOR, offer.creator) is None:
            store.remove(offer)


def make_accounts_valid(ledger: Ledger) -> None:
    """Hardfork 11: those that hardfork 9 marked invalid are valid again."""
    for account in ledger.store.scan(ACCOUNTS):
        if not account.valid:
            ledger.remember(account)
            account.valid = True


def begin_lazy_pool(ledger: Ledger) -> None:
    """Hardfork 14: the only one that there will be, empty (spec 07, section 1)."""
    ledger.store.create(PM_LAZY_POOLS, PmLazyPool())


MIGRATIONS: Mapping[int, Callable[[Ledger], None]] = {
    4: end_content_era,
    5: recount_votes,
    6: convert_shares,
    7: remove_invalid_accounts,
    8: recount_delegations,
    9: remove_spam,
    11: make_accounts_valid,
    14: begin_lazy_pool,
}
"""What a hardfork changes in the state, by its number; a new one with a change of its own is a new line here."""


class UnknownHardfork(RuleViolation):
    """The validators have agreed on a hardfork that this program does not know: it is too old to go on."""

    code, name, what = 4090000, "unknown_hardfork_exception", "chain attempted to apply unknown hardfork"


def is_hardfork_due(ledger: Ledger) -> bool:
    hardforks = ledger.hardforks
    current = ledger.network.hardforks[hardforks.last_hardfork].version
    return current < hardforks.next_hardfork and hardforks.next_hardfork_time <= ledger.now


def apply_next_hardfork(ledger: Ledger) -> None:
    """Apply the hardfork after the last one; while it changes the state, its own rules do not hold yet."""
    hardforks = ledger.hardforks
    number = hardforks.last_hardfork + 1
    if number > ledger.network.last_hardfork.number:
        raise UnknownHardfork("")
    migrate = MIGRATIONS.get(number)
    if migrate is not None:
        migrate(ledger)
    applied = ledger.network.hardforks[number]
    ledger.remember(hardforks)
    hardforks.processed_hardforks = (*hardforks.processed_hardforks, applied.time)
    hardforks.last_hardfork = number
    hardforks.current_hardfork_version = applied.version
    ledger.emit(Hardfork(number))


def process_hardforks(ledger: Ledger, _context: BlockContext) -> None:
    """A vote for a later version brings all hardforks up to it in one block."""
    while is_hardfork_due(ledger):
        apply_next_hardfork(ledger)
