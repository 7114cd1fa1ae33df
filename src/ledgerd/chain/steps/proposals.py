"""The end of proposals (spec 03, section 15.13)."""

from __future__ import annotations

from contextlib import suppress

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions.proposal_execution import execute, is_authorized, remove_proposal
from ledgerd.protocol.errors import RuleViolation
from ledgerd.state.objects.proposals import PROPOSAL_BY_EXPIRATION


def expire_proposals(ledger: Ledger, _progress: BlockContext) -> None:
    """A proposal that is agreed to is tried a last time at its end; then it goes."""
    while True:
        proposal = ledger.store.first(PROPOSAL_BY_EXPIRATION, upper=(ledger.now,))
        if proposal is None:
            return
        proposal_id = proposal.id
        if is_authorized(ledger, proposal):
            with suppress(RuleViolation):
                execute(ledger, proposal)
        remove_proposal(ledger, proposal_id)
