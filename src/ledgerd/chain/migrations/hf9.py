"""Hardfork 9: validators without a block go, and what nobody voted for or subscribed to (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.removal import remove_penalties, remove_votes_for
from ledgerd.state.objects.committee import CANCELLED, COMMITTEE_REQUESTS
from ledgerd.state.objects.paid_subscriptions import PAID_SUBSCRIPTIONS, SUBSCRIBE_BY_CREATOR
from ledgerd.state.objects.validators import VALIDATORS


def remove_spam(ledger: Ledger) -> None:
    """Whoever voted for such a validator is marked as invalid, until hardfork 11. The schedule keeps their names."""
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
