"""Escrows that were not agreed to in time (spec 03, section 15.25)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.operations.virtual import ExpireEscrowRatification
from ledgerd.state.objects.escrow import ESCROW_BY_DEADLINE


def expire_escrows(ledger: Ledger, _progress: BlockContext) -> None:
    """Their tokens and fees go back. One that both have agreed to never ends by itself."""
    for escrow in ledger.store.scan(ESCROW_BY_DEADLINE, lower=(False,), upper=(False, ledger.now)):
        sender = ledger.account(escrow.sender)
        adjust_balance(ledger, sender, escrow.token_balance)
        adjust_balance(ledger, sender, escrow.pending_fee)
        ledger.emit(
            ExpireEscrowRatification(
                sender=escrow.sender,
                recipient=escrow.recipient,
                agent=escrow.agent,
                escrow_id=escrow.escrow_id,
                token_amount=tokens(escrow.token_balance),
                fee=tokens(escrow.pending_fee),
                ratification_deadline=escrow.ratification_deadline,
            )
        )
        ledger.store.remove(escrow)
