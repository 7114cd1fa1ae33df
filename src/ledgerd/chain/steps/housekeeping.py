"""Removal of old objects: used invites, and requests that were cancelled or rejected (spec 03, 15.16)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.committee import COMMITTEE_VOTE_BY_REQUEST, REQUEST_BY_CONCLUSION
from ledgerd.state.objects.invites import INVITE_BY_CLAIM_TIME


def clear_used_invites(ledger: Ledger, _progress: BlockContext) -> None:
    """From then on their keys may be used again."""
    last = ledger.now - ledger.network.clear_used_invite_delay
    for invite in ledger.store.scan(INVITE_BY_CLAIM_TIME, lower=(True,), upper=(True, last - 1)):
        ledger.store.remove(invite)


def clear_closed_committee_requests(ledger: Ledger, _progress: BlockContext) -> None:
    """Requests that were cancelled or rejected go with the votes on them; those that were paid stay."""
    last = ledger.now - ledger.network.clear_closed_committee_request_delay
    for request in ledger.store.scan(REQUEST_BY_CONCLUSION, lower=(True,), upper=(True, last - 1)):
        number = request.request_id
        for vote in ledger.store.scan(COMMITTEE_VOTE_BY_REQUEST, lower=(number,), upper=(number,)):
            ledger.store.remove(vote)
        ledger.store.remove(request)
